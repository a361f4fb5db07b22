"""Headroom of switches that have it from tables: a row of the vendor, or a value that nodrop derives from its rows.

A written row of the HWSKU is used unchanged. Where its table has none, the rows of the model's other HWSKUs count: the
headroom is no less than any of them at the same or a lower speed and length. A cable longer than all rows of its speed
adds its additional content, each packet of 84 bytes on the wire in separate cells; the rows of Tomahawk 5 grow at that
rate (7060X6-64PE-B-P32O64: 3031 bytes a metre at 800G, by this rule 3024). The headroom is no less than the bound of
IEEE 802.1Q with all its packets in such cells.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from nodrop.hardware import asic
from nodrop.hardware.headroom import ieee_headroom_bound_bytes, next_headroom_row, round_trip_bytes
from nodrop.hardware.schema import HeadroomTable, SwitchModel
from nodrop.model.buffers import HeadroomRow

FALLBACK_CELL_BYTES = 256
_MINIMAL_FRAME_WIRE_BYTES = 84
"""The least packet on the wire, 64 bytes, with preamble and gap: in the worst case each fills a cell."""


class TableHeadroom(NamedTuple):
    """The headroom of a lossless priority group by the tables of a model's HWSKUs."""

    xoff_bytes: int
    cable_m: int
    """The length that the switch is configured with: that of the row of its HWSKU, else the true one."""
    row: HeadroomRow
    """The row that its other sizes are of."""
    static: bool
    """Whether the row's threshold is in bytes."""
    hwsku: str
    """The first of the HWSKUs whose row it is."""
    derived: bool
    """Whether the HWSKU that is written has no such row."""


def cell_bytes(switch_model: SwitchModel) -> int:
    """Return the size of a cell of a model's packet memory."""
    return asic(switch_model.asic).cell_bytes or FALLBACK_CELL_BYTES


def table_headroom(
    switch_model: SwitchModel, hwsku: str | None, *, speed_mbps: int, length_m: int, mtu_bytes: int
) -> TableHeadroom | None:
    """Return the headroom of a port of a model; None where no HWSKU of it has a row for the speed.

    `hwsku` is the one that is written, None the base one.
    """
    own_headroom_table = switch_model.sonic.headroom_table_of_hwsku(hwsku)
    row = next_headroom_row(own_headroom_table.rows, speed_mbps, length_m) if own_headroom_table else None
    if own_headroom_table and row:
        return TableHeadroom(
            row.xoff_bytes,
            row.cable_m,
            row,
            own_headroom_table.kind == "static",
            own_headroom_table.hwskus[0],
            derived=False,
        )
    if speed_mbps not in switch_model.sonic.headroom_speeds_mbps:
        return None
    cell = cell_bytes(switch_model)
    packed = max(cell / _MINIMAL_FRAME_WIRE_BYTES, 1)
    candidates = list(_reaching_rows(switch_model, speed_mbps, length_m))
    bound: float = ieee_headroom_bound_bytes(speed_mbps=speed_mbps, mtu_bytes=mtu_bytes, cable_length_m=length_m) or 0
    if not candidates:
        candidates = list(_extrapolated_rows(switch_model, speed_mbps, length_m, cell, packed))
        bound *= packed
    xoff, row, table = max(candidates, key=lambda candidate: candidate[0])
    xoff = max(xoff, _xoff_floor_of_model_rows(switch_model, speed_mbps, length_m), _round_up_to_cells(bound, cell))
    return TableHeadroom(xoff, length_m, row, table.kind == "static", table.hwskus[0], derived=True)


def _reaching_rows(
    model: SwitchModel, speed_mbps: int, length_m: int
) -> Iterator[tuple[int, HeadroomRow, HeadroomTable]]:
    """Yield (xoff, row, table) of each table with a row that reaches the length."""
    for table in model.sonic.headroom:
        if row := next_headroom_row(table.rows, speed_mbps, length_m):
            yield row.xoff_bytes, row, table


def _extrapolated_rows(
    model: SwitchModel, speed_mbps: int, length_m: int, cell: int, packed: float
) -> Iterator[tuple[int, HeadroomRow, HeadroomTable]]:
    """Yield (xoff, row, table) of each table's longest row of a speed, with the content of the rest of the cable."""
    for table in model.sonic.headroom:
        rows = [row for row in table.rows if row.speed_mbps == speed_mbps]
        if rows:
            row = max(rows, key=lambda row: row.cable_m)
            remaining_count = round_trip_bytes(speed_mbps, length_m - row.cable_m) * packed
            yield row.xoff_bytes + _round_up_to_cells(remaining_count, cell), row, table


def _xoff_floor_of_model_rows(model: SwitchModel, speed_mbps: int, length_m: int) -> int:
    """Return the most that a row of the model has at the speed or a lower one, and the length or a lower one."""
    rows = (row for table in model.sonic.headroom for row in table.rows)
    return max((row.xoff_bytes for row in rows if row.speed_mbps <= speed_mbps and row.cable_m <= length_m), default=0)


def _round_up_to_cells(count: float, cell: int) -> int:
    """Return bytes rounded up to whole cells."""
    return math.ceil(round(count / cell, 6)) * cell
