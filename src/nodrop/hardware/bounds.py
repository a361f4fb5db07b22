"""What a lossless priority group's xoff is held against: the SKU's own table, the ASIC's formula, IEEE 802.1Q.

A static headroom below its SKU's row is too small; one below the formula, or where none is published below the IEEE
bound, holds for less traffic than a GPU cluster has.
"""

from typing import NamedTuple

from nodrop.hardware import switch, switches
from nodrop.hardware.dynamic import chip
from nodrop.hardware.formulas import formula
from nodrop.hardware.headroom import computed, ieee_bound_bytes, table_xoff
from nodrop.hardware.schema import HeadroomRow, SonicSku
from nodrop.model.fabric import Device, Interface
from nodrop.model.states import Unknown, UnknownFact, known

STATIC_PATTERN_MTU_BYTES = 4096
STATIC_SMALL_PACKET_PERCENT = 50
"""The least demanding traffic for which the formula gives a shipped table: every row of the SN5640 SKUs.

Others are made for more, to all packets being small (ACS-SN5600: 1024 bytes, 100 %); RoCE sends packets of up to 4096.
"""

ROW_OF = "a headroom row of"
"""How the reason begins why a static headroom cannot be compared: its SKU ships no row."""


class Bounds(NamedTuple):
    """The least xoff by each source, in bytes; None where it says nothing of the port."""

    row: int | None
    """The SKU's own table, the cable rounded up to its next row; else the least of the model's other SKUs."""
    formula: int | None
    """The ASIC's published formula, of packets of 4096 bytes among as many small ones."""
    ieee: int | None
    """IEEE 802.1Q Annex N, a lower bound."""

    @property
    def published(self) -> int | None:
        """The formula's, else the IEEE bound."""
        return self.ieee if self.formula is None else self.formula


def bounds(device: Device, interface: Interface, *, length_m: int) -> Bounds:
    """Return what a port's xoff is held against with a cable of `length_m`.

    UnknownFact where the port's speed or MTU, or the release of a switch whose formula depends on it, is not known.
    """
    speed = known(interface.speed_mbps, "interface.speed_mbps")
    mtu = known(interface.mtu_bytes, "interface.mtu_bytes")
    lanes = known(interface.lanes, "interface.lanes")
    if speed is None or mtu is None:
        raise UnknownFact("interface.speed_mbps")
    try:
        formula = computed(
            chip(device),
            speed_mbps=speed,
            lanes=lanes or 1,
            mtu_bytes=mtu,
            cable_length_m=length_m,
            pattern_mtu_bytes=STATIC_PATTERN_MTU_BYTES,
            small_packet_percent=STATIC_SMALL_PACKET_PERCENT,
            shared=False,
            compensated=_compensated(device),
            gearbox_delay_ns=switch(known(device.model)).gearbox_delay_ns,
        ).xoff
    except UnknownFact:
        formula = None
    return Bounds(
        row=None if isinstance(device.model, Unknown) else row_xoff(device, speed, length_m),
        formula=formula,
        ieee=ieee_bound_bytes(speed_mbps=speed, mtu_bytes=mtu, cable_length_m=length_m),
    )


def row_xoff(device: Device, speed_mbps: int, length_m: int) -> int | None:
    """Return the xoff of the device's SKU for a cable, rounded up to the next row; None where there is no such row.

    Where its own table has none, it is the least of the model's other SKUs that have ports of that speed. UnknownFact
    where the device's model is not known.
    """
    own = table_xoff(headroom_rows(device.model, device.hwsku), speed_mbps, length_m)
    return _least_of_others(device, speed_mbps, length_m) if own is None else own


def _least_of_others(device: Device, speed_mbps: int, length_m: int) -> int | None:
    model = known(device.model, "device.model")
    sonic = switch(model).sonic if model in switches() else SonicSku()
    having = [one for one in sonic.layouts if any(speed == speed_mbps for _, speed in one.ports.values())]
    tables = [table for one in having for hwsku in one.hwskus if (table := sonic.table(hwsku))]
    found = [table_xoff(table.rows, speed_mbps, length_m) for table in tables]
    return min((xoff for xoff in found if xoff is not None), default=None)


def missing_row(device: Device, at: str = "") -> str:
    """Return what a static headroom is compared with and is missing: the model, or a row of the table of its SKU.

    `at` says the speed and the length; without it the SKU has no table at all.
    """
    model = known(device.model, "device.model")
    if model not in switches():
        return "device.model"
    hwsku = known(device.hwsku, "device.hwsku") or switch(model).sonic.hwsku
    return f"{ROW_OF} {hwsku}" + (f" for {at}" if at else "")


def headroom_rows(model: str | Unknown, hwsku: str | None | Unknown) -> tuple[HeadroomRow, ...]:
    """Return the headroom table of a device's SKU; none where the catalogue has none.

    UnknownFact where the device's model or SKU is not known.
    """
    model, hwsku = known(model, "device.model"), known(hwsku, "device.hwsku")
    table = switch(model).sonic.table(hwsku) if model in switches() else None
    return table.rows if table else ()


def _compensated(device: Device) -> bool:
    """Return whether the formula of the release compensates; False if the release is not known."""
    return False if isinstance(device.version, Unknown) else formula(device.platform, device.version).compensated
