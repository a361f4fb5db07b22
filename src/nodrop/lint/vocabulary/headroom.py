"""Words about headroom: what a port's cable needs, by the rule that holds for its switch."""

from nodrop.fabric.fabric import Device, Interface
from nodrop.fabric.index import Index
from nodrop.fabric.states import Unknown, UnknownFact, known
from nodrop.hardware import switch, switches
from nodrop.hardware.dynamic import budget, chip, compensates
from nodrop.hardware.headroom import computed, ieee_bound_bytes, table_xoff
from nodrop.lint.vocabulary import word

STATIC_PATTERN_MTU_BYTES = 1024
STATIC_SMALL_PACKET_PERCENT = 100
"""The pattern by which the formula gives the static tables of NVIDIA's newer SKUs (every row of ACS-SN5600)."""


@word("function", rests_on=("cables",))
def cable_m(device: Device, interface: Interface, *, index: Index) -> int:
    """The length of a port's cable in metres: the stated one, else the configured one."""
    link = index.link(device.name, interface.name)
    length = link.length_m if link else None
    if isinstance(length, Unknown) or length is None:
        length = known(interface.cable_length_m, "interface.cable_length_m")
    if length is None:
        raise UnknownFact("link.length_m")
    return length


@word("function", rests_on=("cables",))
def headroom_needed_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """The least xoff that holds for a port's cable: the dynamic model's formula, else the SKU's own table.

    UNKNOWN where the switch has no dynamic buffers and its model no table that reaches the length.
    """
    length = cable_m(device, interface, index=index)
    if known(device.buffer_model, "device.buffer_model") == "dynamic":
        return budget(device, interface, length_m=length).xoff
    model, speed = known(device.model, "device.model"), known(interface.speed_mbps, "interface.speed_mbps")
    rows = switch(model).sonic.headroom_table if model in switches() else ()
    xoff = None if speed is None else table_xoff(rows, speed, length)
    if xoff is None:
        raise UnknownFact("device.model")
    return xoff


@word("function", rests_on=("cables",))
def headroom_by_formula_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """The xoff by the ASIC's published formula for a static profile, else the lower bound of IEEE 802.1Q."""
    length = cable_m(device, interface, index=index)
    speed = known(interface.speed_mbps, "interface.speed_mbps")
    mtu = known(interface.mtu_bytes, "interface.mtu_bytes")
    lanes = known(interface.lanes, "interface.lanes")
    if speed is None or mtu is None:
        raise UnknownFact("interface.speed_mbps")
    bound = ieee_bound_bytes(speed_mbps=speed, mtu_bytes=mtu, cable_length_m=length)
    try:
        return computed(
            chip(device),
            speed_mbps=speed,
            lanes=lanes or 1,
            mtu_bytes=mtu,
            cable_length_m=length,
            pattern_mtu_bytes=STATIC_PATTERN_MTU_BYTES,
            small_packet_percent=STATIC_SMALL_PACKET_PERCENT,
            shared=False,
            compensated=_compensated(device),
        ).xoff
    except UnknownFact:
        if bound is None:
            raise UnknownFact("interface.speed_mbps") from None
        return bound


def _compensated(device: Device) -> bool:
    """Whether the release compensates; at 100 % small packets that changes nothing but the ASIC's own extra."""
    return False if isinstance(device.version, Unknown) else compensates(device.version)
