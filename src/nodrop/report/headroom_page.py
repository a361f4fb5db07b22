"""Headroom as tables for a terminal: the headroom of each kind of port, its parts, and its reference values."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from nodrop.hardware.bounds import STOCK_PATTERN_MTU_BYTES, STOCK_SMALL_PACKET_PERCENT
from nodrop.report.escape import escape_terminal
from nodrop.report.table import TABLE_COLUMNS, format_table_section
from nodrop.units import show_speed

Facts = dict[str, Any]


def format_headroom_page(fabric: str, rows: Sequence[Facts]) -> str:
    """Return the page of `nodrop show --headroom`, every line ended; `fact_rows` are those of `buffering.headroom`."""
    if not rows:
        return f"{escape_terminal(fabric)}: no port is lossless, so none has headroom\n"
    lines = (
        f"{escape_terminal(fabric)}: headroom of lossless ports",
        *render_headroom_tables(rows),
        *_comparison_lines(rows),
    )
    return "\n".join(line.rstrip() for line in lines) + "\n"


def format_cable_length(length: int | None) -> str:
    """Spell the length of a cable."""
    return "unknown" if length is None else f"{length} m"


def render_headroom_tables(fact_rows: Sequence[Facts]) -> Iterator[str]:
    """Yield the headroom of every kind of port, and the terms of headroom that switches compute."""
    yield from format_table_section("Headroom of a port, bytes", _HEADROOM_TABLE_HEADS, _headroom_rows(fact_rows))
    yield from _headroom_parts(fact_rows)


def _format_count(value: int | None) -> str:
    return "unknown" if value is None else str(value)


_HEADROOM_TABLE_HEADS = ("at", "from", "ports", "model", "speed", "length", "priority group", "xoff", "xon", "size")


def _headroom_rows(fact_rows: Sequence[Facts]) -> Iterator[Sequence[str]]:
    for row in fact_rows:
        yield (
            row["role"],
            row["facing"],
            str(row["ports"]),
            str(row["model"]),
            "unknown" if row["speed_mbps"] is None else show_speed(row["speed_mbps"]),
            format_cable_length(row["length_m"]),
            str(row["priority_group"]),
            *map(_format_count, (row["xoff"], row["xon"], row["size"])),
        )


_HEAD_BY_XOFF_TERM = {
    "port_mtu": "port MTU",
    "cable": "cable",
    "mac_phy": "MAC/PHY",
    "peer_response": "peer",
    "tile": "tile",
    "cell_occupancy": "in cells",
    "pattern_mtu": "pattern",
    "rounding": "rounding",
}
"""The terms of xoff, in the order of the formula."""


def _headroom_parts(fact_rows: Sequence[Facts]) -> Iterator[str]:
    new_rows = [row for row in fact_rows if row["parts"]]
    shown = [key for key in _HEAD_BY_XOFF_TERM if key != "tile" or any(row["parts"][key] for row in new_rows)]
    cells = (
        (
            row["role"],
            row["facing"],
            format_cable_length(row["length_m"]),
            *(_format_part(key, row["parts"][key]) for key in shown),
            str(row["xoff"]),
        )
        for row in new_rows
    )
    heads = [_HEAD_BY_XOFF_TERM[key] for key in shown]
    yield from format_table_section(
        "Terms of xoff, as the switch computes it", ("at", "from", "length", *heads, "xoff"), cells
    )
    if new_rows:
        sum_of = " + ".join(_HEAD_BY_XOFF_TERM[key] for key in shown[: shown.index("cell_occupancy")])
        explanation = (
            f"xoff = ({sum_of}) × in cells + pattern + rounding. The bytes in brackets arrive after the pause is sent. "
            "They are a packet that the port was sending, the cable both ways, MAC and PHY, and pause quanta. "
            "During these quanta the peer still sends (IEEE 802.3 31B.3.7). "
            "The factor is for partly filled cells; pattern adds one packet."
        )
        yield from textwrap.wrap(explanation, TABLE_COLUMNS, initial_indent="  ", subsequent_indent="  ")


def _format_part(key: str, value: float) -> str:
    return f"× {value:g}" if key == "cell_occupancy" else str(value)


_COMPARISON_TABLE_HEADS = ("at", "from", "model", "speed", "length", "xoff", "", "SKU's row", "formula", "IEEE 802.1Q")


def _comparison_lines(rows: Sequence[Facts]) -> Iterator[str]:
    """Yield the values that each xoff is compared with: of a stated one, the SKU's row, the formula, the IEEE bound."""
    cells = (
        (
            row["role"],
            row["facing"],
            str(row["model"]),
            "unknown" if row["speed_mbps"] is None else show_speed(row["speed_mbps"]),
            format_cable_length(row["length_m"]),
            _format_count(row["xoff"]),
            "computed" if row["computed"] else "stated",
            *("none" if bound is None else str(bound) for bound in row["bounds"].values()),
        )
        for row in rows
    )
    yield from format_table_section("What xoff is held against, bytes", _COMPARISON_TABLE_HEADS, cells)
    explanation = (
        "A computed xoff follows from the configured traffic pattern. A stated one is compared with two bounds: the "
        "row of the SKU's table for the next longer cable, and the ASIC's published formula. It is an error below "
        "both, and a warning below one. Where neither exists, it is a warning below the bound of IEEE 802.1Q Annex N. "
        f"Without a stated pattern the formula is for packets of {STOCK_PATTERN_MTU_BYTES} bytes, "
        f"{STOCK_SMALL_PACKET_PERCENT} % of them small."
    )
    yield from textwrap.wrap(explanation, TABLE_COLUMNS, initial_indent="  ", subsequent_indent="  ")
