"""A fabric as a page for a terminal: what `nodrop show` prints."""

import textwrap
from collections.abc import Iterator, Sequence

from nodrop.proofs.claims import Claims
from nodrop.report import headroom_page, lossless_memory
from nodrop.report.claims import describe_deadlock, describe_reach
from nodrop.report.escape import escape_terminal
from nodrop.report.fabric import Facts
from nodrop.report.headroom_page import format_cable_length
from nodrop.report.names import format_count, format_name_list
from nodrop.report.table import TABLE_COLUMNS, format_table_section
from nodrop.units import show_bytes, show_ids, show_speed, show_us

TableRows = Iterator[Sequence[str]]


def format_fabric_page(facts: Facts) -> str:
    """Return the facts as a page for a terminal, without color, every line ended."""
    return "\n".join(line.rstrip() for line in _page_lines(facts)) + "\n"


def _page_lines(facts: Facts) -> Iterator[str]:
    wide = facts["bandwidth"]
    size = f"{format_count(len(facts['devices']), 'switch')} and {format_count(wide['hosts'], 'host')}"
    yield f"{facts['fabric']}: {facts['mode']} fabric of {size}"
    drained = [row["name"] for row in facts["devices"] if row["drained"]]
    if drained:
        yield f"drained, routed around by all others: {escape_terminal(', '.join(drained))}"
    yield ""
    yield from _bandwidth_lines(facts)
    yield from _claim_lines(facts)
    yield from format_table_section(
        "Switches", ("name", "role", "model", "platform", "AS", "loopback", "management", "ports"), _device_rows(facts)
    )
    of_pods = (
        "pod",
        "switches",
        "hosts",
        "GPUs",
        "injection",
        "bisection",
        "up",
        "oversubscription",
        "most ports in use",
    )
    yield from format_table_section("Pods", of_pods, _pod_rows(facts))
    head = ("group", "hosts", "NIC", "ports of each", "leaves of each", "injection", "GPUs", "per GPU")
    yield from format_table_section("Hosts", head, _endpoint_rows(facts))
    yield from format_table_section("Links", ("from", "to", "count", "speed", "medium", "length"), _link_rows(facts))
    yield from format_table_section(
        "Classes", ("class", "TC", "DSCP", "", "scheduling", "ECN from, to, probability"), _class_rows(facts)
    )
    head = ("at", "towards", "platform", "priorities", "detection", "restoration", "action", "polling")
    yield from format_table_section("PFC watchdogs", head, _watchdog_rows(facts))
    yield from headroom_page.render_headroom_tables(facts["headroom"])
    yield from format_table_section(
        "Marking before pause",
        ("at", "model", "queue", "marks from", "all from", "senders paused from"),
        _marking_rows(facts),
    )
    yield from format_table_section("Buffer pools", ("at", "model", "pool", "size", "share"), _pool_rows(facts))
    yield from lossless_memory.format_memory_table(facts["further_lossless"])
    yield from format_table_section(
        "High-frequency telemetry (bandwidth without compression)",
        ("at", "model", "objects", "interval", "counters", "bandwidth", "management port"),
        _stream_rows(facts),
    )
    yield from _format_first_apply(facts)
    yield from _format_deviations(facts)
    defaults = ((row["key"], row["value"], row["source"]) for row in facts["defaults"])
    yield from format_table_section("Defaults in effect", ("key", "value", "because"), defaults)


def _format_deviations(facts: Facts) -> Iterator[str]:
    """Yield the deviations of a platform from the wanted values, each with its reason below: too much for columns."""
    if facts["deviations"]:
        yield ""
        yield "Platform deviations"
    for row in facts["deviations"]:
        line = escape_terminal(f"{row['path']}: {row['actual']} instead of {row['intended']}")
        yield from textwrap.wrap(line, TABLE_COLUMNS, initial_indent="  ", subsequent_indent="      ")
        yield from textwrap.wrap(
            escape_terminal(row["reason"]), TABLE_COLUMNS, initial_indent="    ", subsequent_indent="    "
        )


def _format_first_apply(facts: Facts) -> Iterator[str]:
    """Yield what restarts services or brings all ports down at the first apply, each with its source below it."""
    if facts["first_apply"]:
        yield ""
        yield "Restarts and port resets at the first apply"
    for row in facts["first_apply"]:
        where = f"{format_name_list(row['devices'])} ({row['platform']} {row['version']})"
        yield from textwrap.wrap(
            escape_terminal(f"{where}: {row['setting']}: {row['reason']}"),
            TABLE_COLUMNS,
            initial_indent="  ",
            subsequent_indent="      ",
        )
        yield from textwrap.wrap(
            escape_terminal(row["source"]), TABLE_COLUMNS, initial_indent="    ", subsequent_indent="    "
        )


def _format_rate(mbps: int) -> str:
    return f"{show_speed(mbps)}b/s"


def _bandwidth_lines(facts: Facts) -> Iterator[str]:
    wide = facts["bandwidth"]
    yield f"  injection         {_format_rate(wide['injection_mbps'])}, the sum of {_format_host_ports(facts)}"
    for row in facts["endpoints"]:
        if row["per_gpu_mbps"] is not None:
            gpus = f"{row['gpus']} GPUs of {escape_terminal(row['group'])}"
            yield f"  per GPU           {_format_rate(row['per_gpu_mbps'])} for {gpus}"
    climbing = [row for row in wide["tiers"] if row["bisection_mbps"]]
    for row in wide["tiers"]:
        yield from _oversubscription_lines(row)
        if row in climbing[1:] or row in climbing[:-1]:
            roles = escape_terminal(", ".join(row["roles"]))
            yield f"  bisection         {_format_rate(row['bisection_mbps'])} one way over the uplinks of {roles}"
    bisection = _format_rate(wide["bisection_mbps"])
    yield f"  bisection         {bisection} one way, from one half of the fabric to the other"


def _oversubscription_lines(tier: Facts) -> Iterator[str]:
    """Yield the oversubscription of a tier, or that of its groups where it differs."""
    groups_by_ratio: dict[float, list[Facts]] = {}
    for group in tier["groups"]:
        if group["oversubscription"] is not None:
            groups_by_ratio.setdefault(group["oversubscription"], []).append(group)
    parts = [(ratio, [row["group"] for row in rows], rows) for ratio, rows in groups_by_ratio.items()]
    if len(parts) < 2 and tier["oversubscription"] is not None:
        parts = [(tier["oversubscription"], tier["roles"], [tier])]
    for ratio, names, rows in parts:
        down, up = (show_speed(sum(row[key] for row in rows)) for key in ("down_mbps", "up_mbps"))
        where = escape_terminal(", ".join(names))
        yield f"  oversubscription  {ratio:g}:1 at {where} ({down} down, {up} up; at the worst switch)"


def _claim_lines(facts: Facts) -> Iterator[str]:
    if facts["claims"] is not None:
        claims = Claims(**facts["claims"])
        yield f"  deadlock          {describe_deadlock(claims)}"
        yield f"  pause             {describe_reach(claims)}"


def _format_host_ports(facts: Facts) -> str:
    ports = sum(row["hosts"] * row["ports_per_host"] for row in facts["endpoints"])
    return f"{ports} host ports"


def _device_rows(facts: Facts) -> TableRows:
    for row in facts["devices"]:
        split = f" as {row['interfaces_used']}" if row["interfaces_used"] != row["ports_used"] else ""
        yield (
            row["name"],
            str(row["role"]),
            str(row["model"]),
            f"{row['platform']} {row['version']}",
            str(row["asn"] or ""),
            ", ".join(row["loopback"]),
            ", ".join(row["management"]),
            f"{row['ports_used']} of {row['ports']}{split}",
        )


def _pod_rows(facts: Facts) -> TableRows:
    for number, row in enumerate(facts["pods"], start=1):
        ratio = "" if row["oversubscription"] is None else f"{row['oversubscription']:g}:1"
        fullest = row["fullest"]
        yield (
            str(number),
            format_name_list(row["switches"]),
            str(row["hosts"]),
            str(row["gpus"] or ""),
            _format_rate(row["injection_mbps"]),
            _format_rate(row["bisection_mbps"]),
            _format_rate(row["up_mbps"]) if row["up_mbps"] else "none",
            ratio,
            f"{fullest['name']}: {fullest['ports_used']} of {fullest['ports']}",
        )


def _endpoint_rows(facts: Facts) -> TableRows:
    for row in facts["endpoints"]:
        speeds = ", ".join(map(show_speed, row["port_mbps"]))
        per_gpu = "" if row["per_gpu_mbps"] is None else _format_rate(row["per_gpu_mbps"])
        yield (
            row["group"],
            str(row["hosts"]),
            ", ".join(row["nics"]),
            f"{row['ports_per_host']} × {speeds}",
            str(row["leaves_per_host"]),
            _format_rate(row["injection_mbps"]),
            str(row["gpus"] or ""),
            per_gpu,
        )


def _link_rows(facts: Facts) -> TableRows:
    for row in facts["links"]:
        speed = show_speed(row["speed_mbps"]) if row["speed_mbps"] else "unknown"
        yield (
            row["lower"],
            row["upper"],
            str(row["count"]),
            speed,
            row["media"] or "unknown",
            format_cable_length(row["length_m"]),
        )


def _class_rows(facts: Facts) -> TableRows:
    for row in facts["classes"]:
        ecn = row["ecn"]
        marks = f"{show_bytes(ecn['min'])}, {show_bytes(ecn['max'])}, {ecn['probability_percent']}%" if ecn else ""
        kind = "lossless" if row["lossless"] else "lossy"
        yield (row["name"], str(row["tc"]), show_ids(tuple(row["dscp"])), kind, row["scheduling"], marks)


def _format_ms(time: int | None) -> str:
    return "" if time is None else f"{time} ms"


def _watchdog_rows(facts: Facts) -> TableRows:
    for row in facts["watchdogs"]:
        side = {"host": "hosts", "fabric": "switches"}.get(row["side"], "unknown")
        where = (str(row["role"]), side, row["platform"])
        watchdog = row["watchdog"]
        if watchdog is None:
            yield (*where, "off", "", "", "", "")
            continue
        priorities = "unknown" if watchdog["priorities"] is None else show_ids(watchdog["priorities"])
        times = (_format_ms(watchdog["detection_ms"]), _format_ms(watchdog["restoration_ms"]) or "none")
        yield (*where, priorities, *times, watchdog["action"] or "none", _format_ms(row["polling_ms"]))


def _marking_rows(facts: Facts) -> TableRows:
    for row in facts["marking"]:
        ecn = row["ecn"] or {"min": None, "max": None}
        cells = [show_bytes(value) if value is not None else "never" for value in (ecn["min"], ecn["max"])]
        paused = row["pause_threshold"]
        pause_text = "never" if paused is None else paused if isinstance(paused, str) else show_bytes(paused)
        yield (f"{row['role']} ({row['platform']})", str(row["model"]), str(row["queue"]), *cells, pause_text)


def _stream_rows(facts: Facts) -> TableRows:
    for row in facts["streams"]:
        size = "" if row["counter_bytes"] is None else f" of {show_bytes(row['counter_bytes'])}"
        yield (
            f"{row['role']} ({row['platform']})",
            str(row["model"]),
            ", ".join(row["objects"]),
            "unknown" if row["interval_us"] is None else show_us(row["interval_us"]),
            f"{row['counters']}{size}",
            "unknown" if row["mbps"] is None else _format_rate(row["mbps"]),
            "unknown" if row["management_mbps"] is None else _format_rate(row["management_mbps"]),
        )


def _pool_rows(facts: Facts) -> TableRows:
    for row in facts["pools"]:
        size = (
            "unknown" if row["size"] is None else f"{show_bytes(row['size'])}{', computed' if row['computed'] else ''}"
        )
        if row["shared_headroom"]:
            size += f", {show_bytes(row['shared_headroom'])} of it for headroom"
        share = "" if row["percentage"] is None else f"{row['percentage']}% of the rest"
        yield (f"{row['role']} ({row['platform']})", str(row["model"]), row["pool"], size, share)
