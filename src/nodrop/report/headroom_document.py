"""Headroom as tables: the headroom of each kind of port, its parts, and its reference values."""

from collections.abc import Iterator, Sequence
from typing import Literal

from nodrop.hardware.bounds import STOCK_PATTERN_MTU_BYTES, STOCK_SMALL_PACKET_PERCENT
from nodrop.report.buffering import CabledPortHeadroom, XoffParts
from nodrop.report.document import Paragraph, ReportDocument, Table
from nodrop.units import show_speed

XoffTerm = Literal["port_mtu", "cable", "mac_phy", "peer_response", "tile", "cell_occupancy", "pattern_mtu", "rounding"]


def build_headroom_document(fabric: str, rows: Sequence[CabledPortHeadroom]) -> ReportDocument:
    """Return what `nodrop show --headroom` shows; `rows` are those of `buffering.headroom`."""
    if not rows:
        return ReportDocument(body=(Paragraph(f"{fabric}: no port is lossless, so none has headroom"),))
    title = Paragraph(f"{fabric}: headroom of lossless ports")
    return ReportDocument(body=(title, *tabulate_headroom(rows), _tabulate_xoff_references(rows)))


def format_cable_length(length: int | None) -> str:
    """Return the length of a cable in words."""
    return "unknown" if length is None else f"{length} m"


def tabulate_headroom(fact_rows: Sequence[CabledPortHeadroom]) -> Iterator[Table]:
    """Yield the headroom of every kind of port, and the terms of headroom that switches compute."""
    yield Table(title="Headroom of a port, bytes", heads=_HEADROOM_TABLE_HEADS, rows=tuple(_headroom_rows(fact_rows)))
    yield from _tabulate_computed_xoff_terms([(row, parts) for row in fact_rows if (parts := row["parts"])])


def _format_count(value: int | None) -> str:
    return "unknown" if value is None else str(value)


_HEADROOM_TABLE_HEADS = ("at", "from", "ports", "model", "speed", "length", "priority group", "xoff", "xon", "size")


def _headroom_rows(fact_rows: Sequence[CabledPortHeadroom]) -> Iterator[Sequence[str]]:
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


_HEAD_BY_XOFF_TERM: dict[XoffTerm, str] = {
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


def _tabulate_computed_xoff_terms(computed_rows: Sequence[tuple[CabledPortHeadroom, XoffParts]]) -> Iterator[Table]:
    if not computed_rows:
        return
    shown = [key for key in _HEAD_BY_XOFF_TERM if key != "tile" or any(parts[key] for _, parts in computed_rows)]
    cells = (
        (
            row["role"],
            row["facing"],
            format_cable_length(row["length_m"]),
            *(_format_part(key, parts[key]) for key in shown),
            str(row["xoff"]),
        )
        for row, parts in computed_rows
    )
    heads = [_HEAD_BY_XOFF_TERM[key] for key in shown]
    sum_of = " + ".join(_HEAD_BY_XOFF_TERM[key] for key in shown[: shown.index("cell_occupancy")])
    explanation = (
        f"xoff = ({sum_of}) × in cells + pattern + rounding. The bytes in brackets arrive after the pause is sent. "
        "They are a packet that the port was sending, the cable both ways, MAC and PHY, and pause quanta. "
        "During these quanta the peer still sends (IEEE 802.3 31B.3.7). "
        "The factor is for partly filled cells; pattern adds one packet."
    )
    yield Table(
        title="Terms of xoff, as the switch computes it",
        heads=("at", "from", "length", *heads, "xoff"),
        rows=tuple(cells),
        explanation=explanation,
    )


def _format_part(key: str, value: float) -> str:
    return f"× {value:g}" if key == "cell_occupancy" else str(value)


_COMPARISON_TABLE_HEADS = ("at", "from", "model", "speed", "length", "xoff", "", "SKU's row", "formula", "IEEE 802.1Q")


def _tabulate_xoff_references(rows: Sequence[CabledPortHeadroom]) -> Table:
    """Return the values that a xoff is compared with: of a stated one, the SKU's row, the formula, the IEEE bound."""
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
    explanation = (
        "A computed xoff follows from the configured traffic pattern. A stated one is compared with two bounds: the "
        "row of the SKU's table for the next longer cable, and the ASIC's published formula. It is an error below "
        "both, and a warning below one. Where neither exists, it is a warning below the bound of IEEE 802.1Q Annex N. "
        f"Without a stated pattern the formula is for packets of {STOCK_PATTERN_MTU_BYTES} bytes, "
        f"{STOCK_SMALL_PACKET_PERCENT} % of them small."
    )
    return Table(
        title="What xoff is held against, bytes",
        heads=_COMPARISON_TABLE_HEADS,
        rows=tuple(cells),
        explanation=explanation,
    )
