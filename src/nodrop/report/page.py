"""A fabric as a page for a terminal: what `nodrop show` prints."""

from collections.abc import Iterable, Iterator, Sequence

from nodrop.report.escape import terminal
from nodrop.report.fabric import Facts
from nodrop.units import show_bytes, show_ids, show_speed


def text(of: Facts) -> str:
    """Return the facts as a page for a terminal, without color, every line ended."""
    return "\n".join(line.rstrip() for line in _page(of)) + "\n"


def _page(of: Facts) -> Iterator[str]:
    wide = of["bandwidth"]
    yield f"{of['fabric']}: {of['mode']} fabric of {len(of['devices'])} switches and {wide['hosts']} hosts"
    yield ""
    yield f"  injection          {show_speed(wide['injection_mbps'])}b/s from {wide['hosts']} hosts"
    if wide["gpus"]:
        yield f"  per GPU            {show_speed(wide['per_gpu_mbps'])}b/s for {wide['gpus']} GPUs"
    if wide["oversubscription"] is not None:
        yield f"  oversubscription   {wide['oversubscription']:g}:1 at the worst leaf"
    yield f"  bisection          {show_speed(wide['bisection_mbps'])}b/s, one way"
    yield from _section(
        "Devices", ("name", "role", "model", "platform", "AS", "loopback", "management", "ports used"), _device_rows(of)
    )
    yield from _section("Links", ("from", "to", "count", "speed", "medium", "length"), _link_rows(of))
    yield from _section(
        "Classes", ("class", "TC", "DSCP", "", "scheduling", "ECN: min, max, probability"), _class_rows(of)
    )
    yield from _section(
        "PFC watchdogs", ("side", "priorities", "detection", "restoration", "action"), _watchdog_rows(of)
    )
    yield from _section(
        "Headroom, as the switch computes it",
        ("ports", "of", "speed", "cable", "xoff", "xon", "size", "xoff is made of"),
        _headroom_rows(of),
    )
    yield from _section(
        "Marking before pause", ("role", "queue", "marks from", "all from", "senders paused from"), _marking_rows(of)
    )
    yield from _section("Buffer pools", ("role", "pool", "size", "share"), _pool_rows(of))
    if of["defaults"]:
        rows = [(row["key"], row["value"], row["source"]) for row in of["defaults"]]
        yield from _section("Defaults that hold", ("key", "value", "because"), rows)


def _section(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    table = [[terminal(cell) for cell in row] for row in rows]
    if not table:
        return
    widths = [max(len(row[column]) for row in (head, *table)) for column in range(len(head))]
    yield ""
    yield title
    for row in (head, *table):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _device_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["devices"]:
        yield (
            row["name"],
            str(row["role"]),
            str(row["model"]),
            f"{row['platform']} {row['version']}",
            str(row["asn"] or ""),
            ", ".join(row["loopback"]),
            ", ".join(row["management"]),
            f"{row['ports_used']} of {row['ports']}",
        )


def _link_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["links"]:
        speed = show_speed(row["speed_mbps"]) if row["speed_mbps"] else "unknown"
        length = "unknown" if row["length_m"] is None else f"{row['length_m']} m"
        yield (row["from"], row["to"], str(row["count"]), speed, row["media"] or "unknown", length)


def _class_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["classes"]:
        ecn = row["ecn"]
        marks = f"{show_bytes(ecn['min'])}, {show_bytes(ecn['max'])}, {ecn['probability_percent']}%" if ecn else ""
        kind = "lossless" if row["lossless"] else "lossy"
        yield (row["name"], str(row["tc"]), show_ids(tuple(row["dscp"])), kind, row["scheduling"], marks)


def _watchdog_rows(of: Facts) -> Iterator[Sequence[str]]:
    for side in ("hosts", "fabric"):
        row = of["watchdogs"][side]
        if row is None:
            yield (side, "off", "", "", "")
        else:
            yield (
                side,
                show_ids(tuple(row["priorities"])),
                f"{row['detection_ms']} ms",
                f"{row['restoration_ms']} ms",
                row["action"],
            )
    yield ("polling", "", ", ".join(f"{one} ms" for one in of["watchdogs"]["polling_ms"]), "", "")


def _headroom_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["headroom"]:
        parts = row["parts"]
        made = " + ".join(
            str(parts[key]) for key in ("port_mtu", "cable", "mac_phy", "peer_response", "tile") if parts[key]
        )
        yield (
            f"{row['ports']} {row['side']} ports",
            str(row["model"]),
            show_speed(row["speed_mbps"]),
            f"{row['length_m']} m",
            str(row["xoff"]),
            str(row["xon"]),
            str(row["size"]),
            f"({made}) × {row['cell_occupancy']} + {parts['pattern_mtu']} + {parts['rounding']}",
        )
    if of["headroom"]:
        yield (
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "(port MTU + cable + MAC/PHY + peer response + tile) × cell occupancy + pattern MTU + rounding",
        )


def _marking_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["marking"]:
        ecn = row["ecn"] or {"min": None, "max": None}
        cells = [show_bytes(value) if value is not None else "never" for value in (ecn["min"], ecn["max"])]
        paused = "unknown" if row["pause_from"] is None else show_bytes(row["pause_from"])
        yield (str(row["role"]), str(row["queue"]), *cells, paused)


def _pool_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["pools"]:
        size = (
            "unknown" if row["size"] is None else f"{show_bytes(row['size'])}{', computed' if row['computed'] else ''}"
        )
        share = "" if row["percentage"] is None else f"{row['percentage']}% of what is left"
        yield (str(row["role"]), row["pool"], size, share)
