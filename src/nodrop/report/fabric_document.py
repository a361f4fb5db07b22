"""A fabric as a document: what `nodrop show` prints."""

from collections.abc import Iterator, Sequence

from nodrop.engine.vocabulary.qos import MAX_PFC_PRIORITIES
from nodrop.proofs.claims import DeadlockAndPauseClaims
from nodrop.report.claims import describe_deadlock, describe_pause_reach
from nodrop.report.document import FactList, ListItem, ReportDocument, Section, Table, list_lines
from nodrop.report.fabric import FactsByKey
from nodrop.report.headroom_document import format_cable_length, tabulate_headroom
from nodrop.report.lossless_memory import tabulate_memory
from nodrop.report.names import format_count, format_name_list
from nodrop.report.outside import OUTSIDE_HEADS, outside_session_rows
from nodrop.units import show_bytes, show_ids, show_speed, show_us

TableRows = Iterator[Sequence[str]]
_POD_HEADS = (
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
_HOST_HEADS = ("group", "hosts", "NIC", "ports of each", "leaves of each", "injection", "GPUs", "per GPU")
_LINK_HEADS = ("from", "to", "count", "speed", "medium", "length")
_CLASS_HEADS = ("class", "TC", "DSCP", "", "scheduling", "ECN from, to, probability")
_WATCHDOG_HEADS = ("at", "towards", "platform", "priorities", "detection", "restoration", "action", "polling")
_MARKING_HEADS = ("at", "model", "queue", "marks from", "all from", "senders paused from")
_STREAM_HEADS = ("at", "model", "objects", "interval", "counters", "bandwidth", "management port")


def build_fabric_document(facts: FactsByKey) -> ReportDocument:
    """Return the facts as a document."""
    size = f"{format_count(len(facts['devices']), 'switch')} and {format_count(facts['bandwidth']['hosts'], 'host')}"
    head = [f"{facts['fabric']}: {facts['mode']} fabric of {size}"]
    if drained := [row["name"] for row in facts["devices"] if row["drained"]]:
        head.append(f"drained, routed around by all others: {', '.join(drained)}")
    lossless = [row["name"] for row in facts["classes"] if row["lossless"]]
    if len(lossless) > MAX_PFC_PRIORITIES:
        fault = f"{len(lossless)} lossless classes ({', '.join(lossless)}); expected at most {MAX_PFC_PRIORITIES}"
        head.append(f"{fault}, as `nodrop build` checks (too-many-lossless-classes)")
    defaults = ((row["key"], row["value"], row["source"]) for row in facts["defaults"])
    return ReportDocument(
        body=(
            list_lines(head),
            FactList((*_bandwidth_lines(facts), *_claim_lines(facts))),
            Table(
                title="Switches",
                heads=("name", "role", "model", "platform", "AS", "loopback", "management", "ports"),
                rows=tuple(_device_rows(facts)),
            ),
            Table(title="Pods", heads=_POD_HEADS, rows=tuple(_pod_rows(facts))),
            Table(title="Hosts", heads=_HOST_HEADS, rows=tuple(_endpoint_rows(facts))),
            Table(title="Links", heads=_LINK_HEADS, rows=tuple(_link_rows(facts))),
            Table(
                title="Sessions with neighbors outside",
                heads=OUTSIDE_HEADS,
                rows=tuple(outside_session_rows(facts["outside"])),
            ),
            Table(title="Classes", heads=_CLASS_HEADS, rows=tuple(_traffic_class_rows(facts))),
            Table(title="PFC watchdogs", heads=_WATCHDOG_HEADS, rows=tuple(_watchdog_rows(facts))),
            *tabulate_headroom(facts["headroom"]),
            Table(title="Marking before pause", heads=_MARKING_HEADS, rows=tuple(_marking_rows(facts))),
            Table(title="Buffer pools", heads=("at", "model", "pool", "size", "share"), rows=tuple(_pool_rows(facts))),
            *tabulate_memory(facts["further_lossless"]),
            Table(
                title="High-frequency telemetry (bandwidth without compression)",
                heads=_STREAM_HEADS,
                rows=tuple(_stream_rows(facts)),
            ),
            Section(
                title="Restarts and port resets at the first apply",
                items=tuple(_format_first_apply(row) for row in facts["first_apply"]),
            ),
            Section(title="Platform deviations", items=tuple(map(_format_deviation, facts["deviations"]))),
            Table(title="Defaults in effect", heads=("key", "value", "because"), rows=tuple(defaults)),
        )
    )


def _format_deviation(row: FactsByKey) -> ListItem:
    """Return the deviation of a platform from the wanted value, with its reason below: too much for columns."""
    return ListItem(
        (f"{row['path']}: {row['actual']} instead of {row['intended']}",), details=(ListItem((row["reason"],)),)
    )


def _format_first_apply(row: FactsByKey) -> ListItem:
    """Return what restarts services or brings all ports down at the first apply, with its source below it."""
    where = f"{format_name_list(row['devices'])} ({row['platform']} {row['version']})"
    return ListItem((f"{where}: {row['setting']}: {row['reason']}",), details=(ListItem((row["source"],)),))


def _format_rate(mbps: int) -> str:
    return f"{show_speed(mbps)}b/s"


def _bandwidth_lines(facts: FactsByKey) -> Iterator[tuple[str, str]]:
    wide = facts["bandwidth"]
    yield "injection", f"{_format_rate(wide['injection_mbps'])}, the sum of {_format_host_ports(facts)}"
    for row in facts["endpoints"]:
        if row["per_gpu_mbps"] is not None:
            yield "per GPU", f"{_format_rate(row['per_gpu_mbps'])} for {row['gpus']} GPUs of {row['group']}"
    climbing = [row for row in wide["tiers"] if row["bisection_mbps"]]
    for row in wide["tiers"]:
        yield from _oversubscription_lines(row)
        if row in climbing[1:] or row in climbing[:-1]:
            roles = ", ".join(row["roles"])
            yield "bisection", f"{_format_rate(row['bisection_mbps'])} one way over the uplinks of {roles}"
    halves = "from one half of the fabric to the other"
    if wide["parts"] > 1:
        apart = "; hosts of different parts cannot reach each other" if wide["hosts_apart"] else ""
        halves = f"the sum over {wide['parts']} parts that no cable joins{apart}"
    yield "bisection", f"{_format_rate(wide['bisection_mbps'])} one way, {halves}"


def _oversubscription_lines(tier: FactsByKey) -> Iterator[tuple[str, str]]:
    """Yield the oversubscription of a tier, or that of its groups where it differs."""
    groups_by_ratio: dict[float, list[FactsByKey]] = {}
    for group in tier["groups"]:
        if group["oversubscription"] is not None:
            groups_by_ratio.setdefault(group["oversubscription"], []).append(group)
    parts = [(ratio, [row["group"] for row in rows], rows) for ratio, rows in groups_by_ratio.items()]
    if len(parts) < 2 and tier["oversubscription"] is not None:
        parts = [(tier["oversubscription"], tier["roles"], [tier])]
    for ratio, names, rows in parts:
        keys = ("down_mbps", "up_mbps", "usable_up_mbps")
        down, up, usable = (show_speed(sum(row[key] for row in rows)) for key in keys)
        shares = "" if usable == up else f", of which equal shares of unequal uplinks fill {usable}"
        rates = f"{down} down, {up} up{shares}; at the worst switch"
        yield "oversubscription", f"{ratio:.4g}:1 at {', '.join(names)} ({rates})"


def _claim_lines(facts: FactsByKey) -> Iterator[tuple[str, str]]:
    if facts["claims"] is not None:
        claims = DeadlockAndPauseClaims(**facts["claims"])
        yield "deadlock", describe_deadlock(claims)
        yield "pause", describe_pause_reach(claims)


def _format_host_ports(facts: FactsByKey) -> str:
    ports = sum(row["hosts"] * row["ports_per_host"] for row in facts["endpoints"])
    return f"{ports} host ports"


def _device_rows(facts: FactsByKey) -> TableRows:
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


def _pod_rows(facts: FactsByKey) -> TableRows:
    for number, row in enumerate(facts["pods"], start=1):
        ratio = "" if row["oversubscription"] is None else f"{row['oversubscription']:.4g}:1"
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


def _endpoint_rows(facts: FactsByKey) -> TableRows:
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


def _link_rows(facts: FactsByKey) -> TableRows:
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


def _traffic_class_rows(facts: FactsByKey) -> TableRows:
    for row in facts["classes"]:
        ecn = row["ecn"]
        marks = f"{show_bytes(ecn['min'])}, {show_bytes(ecn['max'])}, {ecn['probability_percent']}%" if ecn else ""
        kind = "lossless" if row["lossless"] else "lossy"
        yield (row["name"], str(row["tc"]), show_ids(tuple(row["dscp"])), kind, row["scheduling"], marks)


def _format_ms(time: int | None) -> str:
    return "" if time is None else f"{time} ms"


def _watchdog_rows(facts: FactsByKey) -> TableRows:
    for row in facts["watchdogs"]:
        side = {"host": "hosts", "fabric": "switches"}.get(row["side"], "unknown")
        where = (str(row["role"]), side, row["platform"])
        watchdog = row["watchdog"]
        if watchdog is None:
            yield (*where, "off", "", "", "", "")
            continue
        priorities = "unknown" if watchdog["priorities"] is None else show_ids(watchdog["priorities"])
        times = (_format_ms(watchdog["detection_ms"]), _format_ms(watchdog["restoration_ms"]) or "none")
        yield (*where, priorities, *times, watchdog["action"] or "unknown", _format_ms(row["polling_ms"]))


def _marking_rows(facts: FactsByKey) -> TableRows:
    for row in facts["marking"]:
        ecn = row["ecn"] or {"min": None, "max": None}
        cells = [show_bytes(value) if value is not None else "never" for value in (ecn["min"], ecn["max"])]
        paused = row["pause_threshold"]
        pause_text = "never" if paused is None else paused if isinstance(paused, str) else show_bytes(paused)
        yield (f"{row['role']} ({row['platform']})", str(row["model"]), str(row["queue"]), *cells, pause_text)


def _stream_rows(facts: FactsByKey) -> TableRows:
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


def _pool_rows(facts: FactsByKey) -> TableRows:
    for row in facts["pools"]:
        size = (
            "unknown" if row["size"] is None else f"{show_bytes(row['size'])}{', computed' if row['computed'] else ''}"
        )
        if row["shared_headroom"]:
            size += f", {show_bytes(row['shared_headroom'])} of it for headroom"
        share = "" if row["percentage"] is None else f"{row['percentage']}% of the rest"
        yield (f"{row['role']} ({row['platform']})", str(row["model"]), row["pool"], size, share)
