"""Words about configured cable lengths: whether the switch has a headroom for them, and whether both ends agree."""

from nodrop.fabric import effects
from nodrop.fabric.fabric import Device, Interface, Link
from nodrop.fabric.index import Index
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import Unknown, UnknownFact, known
from nodrop.hardware import switch, switches
from nodrop.lint.vocabulary import word
from nodrop.lint.vocabulary.general import length, listed, speed
from nodrop.lint.vocabulary.headroom import headroom_needed_bytes


@word("function")
def priorities_without_headroom(qos: QosProfile) -> tuple[int, ...]:
    """The PFC priorities whose priority group of the same number has no headroom.

    The traditional buffer model gives headroom by the numbers of `pfc_enable`, whatever the maps say (sonic-swss
    cfgmgr/buffermgr.cpp).
    """
    paused = known(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    return tuple(one for one in paused if (buffer := effects.group_buffer(qos, one)) is None or not buffer.lossless)


@word("function")
def has_headroom_row(device: Device, interface: Interface) -> bool:
    """Whether the table of the switch's SKU has a row for the port's speed and configured cable length.

    UNKNOWN where the model is not known, or its table is not in the catalogue.
    """
    return known(interface.cable_length_m, "interface.cable_length_m") in _lengths(device, interface)


@word("function")
def rows_there_are(device: Device, interface: Interface) -> str:
    """The cable lengths that the SKU's table has at the port's speed, as a sentence lists them."""
    lengths = _lengths(device, interface)
    at = speed(known(interface.speed_mbps, "interface.speed_mbps"))
    return listed(tuple(map(length, lengths))) if lengths else f"none at {at}"


def _lengths(device: Device, interface: Interface) -> tuple[int, ...]:
    model, mbps = known(device.model, "device.model"), known(interface.speed_mbps, "interface.speed_mbps")
    rows = switch(model).sonic.headroom_table if model in switches() else ()
    if not rows:
        raise UnknownFact("device.model")
    return tuple(sorted(row[1] for row in rows if row[0] == mbps))


@word("function", rests_on=("cables",))
def lengths_at_odds(
    link: Link, device_a: Device, a: Interface, device_b: Device, b: Interface, *, index: Index
) -> bool:
    """Whether the lengths configured at a cable's ends cannot both be right.

    Where the cable's length is stated, an end may also round it up to the next row of its SKU's table, and an end that
    is configured too short is at odds with it, unless its headroom is too small for that reason: a fault of its own.
    """
    ends = ((device_a, a), (device_b, b))
    lengths = [known(port.cable_length_m, "interface.cable_length_m") for _, port in ends]
    if isinstance(link.length_m, Unknown) or link.length_m is None:
        return lengths[0] != lengths[1]
    true_m = link.length_m
    if lengths == [true_m, true_m]:
        return False
    if any(_too_small(device, port, index) for device, port in ends):
        return False
    if any(one is not None and one < true_m for one in lengths):
        return True
    return lengths[0] != lengths[1] and not all(_is_right(device, port, true_m) for device, port in ends)


def _is_right(device: Device, port: Interface, true_m: int) -> bool:
    """Whether a port has the length of its cable, or the next row of its SKU's table above it."""
    if port.cable_length_m == true_m:
        return True
    try:
        above = [row for row in _lengths(device, port) if row >= true_m]
    except UnknownFact:
        return False
    return (
        not isinstance(device.buffer_model, Unknown)
        and device.buffer_model == "traditional"
        and bool(above and port.cable_length_m == above[0])
    )


def _too_small(device: Device, port: Interface, index: Index) -> bool:
    """Whether a priority group of the port is known to have less headroom than its cable needs."""
    try:
        needed = headroom_needed_bytes(device, port, index=index)
        qos = known(port.qos, "interface.qos")
        groups = known(qos.priority_groups, "interface.qos.priority_groups") if qos else ()
        buffers = [known(group.buffer, "priority_group.buffer") for group in groups]
        rooms = [known(buffer.headroom, "priority_group.buffer.headroom") for buffer in buffers if buffer is not None]
        return any(known(room.xoff_bytes, "xoff_bytes") < needed for room in rooms if room is not None)
    except UnknownFact:
        return False


@word("filter")
def stated_length(metres: int | None | Unknown) -> str:
    """What the owner states of a cable's length, as the end of a sentence; nothing where nothing is stated."""
    return "" if isinstance(metres, Unknown) or metres is None else f"; the cable is {length(metres)} long"
