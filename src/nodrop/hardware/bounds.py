"""The references for a lossless priority group's xoff: the SKU's own table, the ASIC's formula, IEEE 802.1Q.

Both rules on a stated headroom use `find_xoff_bounds`. A headroom below every figure that the vendor has for the port,
in the SKU's table and in the formula, is too small. A headroom less than the switch itself would take (`Bounds.usual`)
is enough for less traffic. The switch takes the row of its table in the traditional buffer model (sonic-swss
cfgmgr/buffermgr.cpp), else the result of its release's formula.
"""

import math
from typing import NamedTuple

from nodrop.hardware import switch, switches
from nodrop.hardware.dynamic import require_asic_with_formula, shares_headroom
from nodrop.hardware.formulas import headroom_formula_of
from nodrop.hardware.headroom import compute_headroom, ieee_headroom_bound_bytes, in_flight_bytes, table_xoff_bytes
from nodrop.hardware.schema import SonicSku
from nodrop.model.buffers import DynamicBuffers, HeadroomRow
from nodrop.model.fabric import Device, Interface
from nodrop.model.states import Unknown, UnknownFact, require_fact

STOCK_PATTERN_MTU_BYTES = 1024
STOCK_SMALL_PACKET_PERCENT = 50
"""SONiC's own LOSSLESS_TRAFFIC_PATTERN since 202411, assumed where a configuration states none.

Source: sonic-buildimage files/build_templates/buffers_config.j2. Up to 202405 all packets are small, which asks for
more.
"""

MISSING_ROW_TEXT_START = "a headroom row of"
"""How the reason begins why a static headroom cannot be compared: its SKU ships no row."""


class XoffBounds(NamedTuple):
    """The least xoff by each source, in bytes; None where the source does not cover the port."""

    row: int | None
    """The SKU's own table, the cable rounded up to its next row; else the least of the model's other SKUs."""
    formula: int | None
    """The ASIC's published formula in the switch's release, for the stated traffic pattern or SONiC's own."""
    ieee: int | None
    """IEEE 802.1Q Annex N, a lower bound."""
    tabled: bool | Unknown = False
    """Whether the switch takes its headroom from the row: the SKU's own, in the traditional buffer model."""
    assumed_mtu_bytes: int | None = None
    """The lossless MTU that the formula assumes; None where the configuration states it."""
    in_flight: int = 0
    """What is on the cable when the peer stops at once."""
    former: bool = False
    """Whether the switch has an older table than the row's."""

    @property
    def least_of_row_and_formula(self) -> int | None:
        """Return the lesser of the row's and the formula's requirement; a value below it is below both."""
        return min((xoff for xoff in (self.row, self.formula) if xoff is not None), default=None)

    @property
    def value_switch_would_take(self) -> int | None:
        """Return the value that the switch itself would take; the IEEE bound where that is not published.

        Where the table is older than those known, it is the lesser of today's row and what is computed.
        """
        return self.row if self.does_row_decide or self.does_newer_row_decide else self.computed_bytes

    @property
    def does_row_decide(self) -> bool:
        """Whether the row decides: the switch takes it, and it covers at least the bytes on the cable."""
        has_row = self.row is not None and self.row >= self.in_flight
        return has_row and require_fact(self.tabled, "device.buffer_model")

    @property
    def does_newer_row_decide(self) -> bool:
        """Whether the row, of a newer table than the switch has, asks for less than what is computed."""
        computed = self.computed_bytes
        return self.former and self.row is not None and (computed is None or self.row < computed)

    @property
    def computed_bytes(self) -> int | None:
        """Return the result of its chip's formula; the IEEE bound where none is published."""
        return self.ieee if self.formula is None else self.formula


def find_xoff_bounds(device: Device, interface: Interface, *, length_m: int) -> XoffBounds:
    """Return the references for a port's xoff with a cable of `length_m`.

    UnknownFact where the port's speed or MTU is not known.
    """
    speed = require_fact(interface.speed_mbps, "interface.speed_mbps")
    mtu = require_fact(interface.mtu_bytes, "interface.mtu_bytes")
    require_fact(interface.lanes, "interface.lanes")
    if speed is None or mtu is None:
        raise UnknownFact("interface.speed_mbps")
    settings = None if isinstance(device.dynamic_buffers, Unknown) else device.dynamic_buffers
    pattern_mtu = settings.pattern_mtu_bytes if settings else None
    by_formula = _formula_xoff_bytes(device, interface, settings, length_m=length_m)
    row = own_table_xoff = None
    former = device.headroom_table is None
    if not isinstance(device.model, Unknown):
        row = sku_xoff_bytes(device, speed, length_m)
        own_table_xoff = table_xoff_bytes(_reference_headroom_rows(device), speed, length_m)
    return XoffBounds(
        row=row,
        formula=by_formula,
        ieee=ieee_headroom_bound_bytes(speed_mbps=speed, mtu_bytes=mtu, cable_length_m=length_m),
        tabled=not former and own_table_xoff is not None and _may_use_headroom_table(device.buffer_model),
        assumed_mtu_bytes=STOCK_PATTERN_MTU_BYTES if by_formula is not None and pattern_mtu is None else None,
        in_flight=lossless_in_flight_bytes(device, interface, length_m=length_m),
        former=former,
    )


def _may_use_headroom_table(buffer_model: str | None | Unknown) -> bool | Unknown:
    """Whether a switch takes headroom from its table; UNKNOWN where its buffer model is."""
    return buffer_model if isinstance(buffer_model, Unknown) else buffer_model != "dynamic"


def lossless_in_flight_bytes(device: Device, interface: Interface, *, length_m: int) -> int:
    """Return what arrives on a port's cable in bytes after a pause that its peer obeys at once, in any release.

    Its frames have the lossless MTU. UnknownFact without a speed.
    """
    speed = require_fact(interface.speed_mbps, "interface.speed_mbps")
    settings = None if isinstance(device.dynamic_buffers, Unknown) else device.dynamic_buffers
    mtu = settings.pattern_mtu_bytes if settings and settings.pattern_mtu_bytes else STOCK_PATTERN_MTU_BYTES
    if speed is None:
        raise UnknownFact("interface.speed_mbps")
    return math.ceil(in_flight_bytes(speed_mbps=speed, mtu_bytes=mtu, cable_length_m=length_m))


def _formula_xoff_bytes(
    device: Device, interface: Interface, settings: DynamicBuffers | None, *, length_m: int
) -> int | None:
    """Return the least xoff by the formulas that the switch's release can have; None where its ASIC has none."""
    pattern_mtu = settings.pattern_mtu_bytes if settings else None
    small = settings.small_packet_percent if settings else None
    try:
        release = None if isinstance(device.version, Unknown) else headroom_formula_of(device.platform, device.version)
        return min(
            compute_headroom(
                require_asic_with_formula(device),
                speed_mbps=require_fact(interface.speed_mbps) or 0,
                lanes=require_fact(interface.lanes) or 1,
                mtu_bytes=require_fact(interface.mtu_bytes) or 0,
                cable_length_m=length_m,
                pattern_mtu_bytes=STOCK_PATTERN_MTU_BYTES if pattern_mtu is None else pattern_mtu,
                small_packet_percent=STOCK_SMALL_PACKET_PERCENT if small is None else small,
                shared=shares_headroom(device, settings),
                compensated=release.compensated if release else False,
                early=early,
                gearbox_delay_ns=switch(require_fact(device.model)).gearbox_delay_ns,
            ).xoff
            for early in ((release.early,) if release else (False, True))
        )
    except UnknownFact:
        return None


def sku_xoff_bytes(device: Device, speed_mbps: int, length_m: int) -> int | None:
    """Return the xoff of the device's SKU for a cable, rounded up to the next row; None where there is no such row.

    Where its own table has none, it is the least of the model's other SKUs that have ports of that speed. UnknownFact
    where the device's model is not known.
    """
    own_table_xoff = table_xoff_bytes(_reference_headroom_rows(device), speed_mbps, length_m)
    return _least_xoff_of_other_skus(device, speed_mbps, length_m) if own_table_xoff is None else own_table_xoff


def _least_xoff_of_other_skus(device: Device, speed_mbps: int, length_m: int) -> int | None:
    model = require_fact(device.model, "device.model")
    sonic = switch(model).sonic if model in switches() else SonicSku()
    having = [layout for layout in sonic.layouts if any(speed == speed_mbps for _, speed in layout.ports.values())]
    tables = [table for layout in having for hwsku in layout.hwskus if (table := sonic.headroom_table_of_hwsku(hwsku))]
    xoffs = [table_xoff_bytes(table.rows, speed_mbps, length_m) for table in tables]
    return min((xoff for xoff in xoffs if xoff is not None), default=None)


def missing_headroom_source(device: Device, at: str = "") -> str:
    """Return the missing reference of a static headroom: the model, or a row of the table of its SKU.

    `at` gives the speed and the length; without it the SKU has no table at all.
    """
    model = require_fact(device.model, "device.model")
    if model not in switches():
        return "device.model"
    hwsku = require_fact(device.hwsku, "device.hwsku") or switch(model).sonic.hwsku
    return f"{MISSING_ROW_TEXT_START} {hwsku}" + (f" for {at}" if at else "")


def headroom_rows(device: Device) -> tuple[HeadroomRow, ...]:
    """Return a device's own headroom table, else the one that its SKU ships; none where the catalogue has none.

    UnknownFact where it has neither, and its model or SKU is not known, and where its release had another table.
    """
    own = device.headroom_table
    if own is None:
        raise UnknownFact("device.headroom_table")
    return shipped_headroom_rows(device.model, device.hwsku) if isinstance(own, Unknown) else own


def _reference_headroom_rows(device: Device) -> tuple[HeadroomRow, ...]:
    """Return the rows that a headroom is compared with: today's where the release had another table."""
    return shipped_headroom_rows(device.model, device.hwsku) if device.headroom_table is None else headroom_rows(device)


def shipped_headroom_rows(model: str | Unknown, hwsku: str | None | Unknown) -> tuple[HeadroomRow, ...]:
    """Return the headroom table that a SKU ships; none where the catalogue has none.

    UnknownFact where the model or the SKU is not known.
    """
    model, hwsku = require_fact(model, "device.model"), require_fact(hwsku, "device.hwsku")
    table = switch(model).sonic.headroom_table_of_hwsku(hwsku) if model in switches() else None
    return table.rows if table else ()
