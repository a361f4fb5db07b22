"""Words about headroom: what a port's cable needs, by the rule that holds for its switch."""

from nodrop.hardware import asic_of
from nodrop.hardware.bounds import bounds, missing_row, row_xoff
from nodrop.hardware.dynamic import budget
from nodrop.hardware.pausing import headroom_before
from nodrop.lint.vocabulary import word
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown, UnknownFact, known
from nodrop.units import show_speed


@word("function", rests_on=("cables",))
def cable_m(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the length of a port's cable in metres: the stated one, else the configured one."""
    link = index.link(device.name, interface.name)
    length = link.length_m if link else None
    if isinstance(length, Unknown) or length is None:
        length = known(interface.cable_length_m, "interface.cable_length_m")
    if length is None:
        raise UnknownFact("link.length_m")
    return length


@word("function", rests_on=("cables",))
def headroom_needed_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the least xoff for a port's cable: the dynamic model's formula, else the SKU's own table.

    Where that has no row, it is the least of the model's other SKUs that have ports of that speed. UNKNOWN where none
    has a row that reaches the length.
    """
    length = cable_m(device, interface, index=index)
    if known(device.buffer_model, "device.buffer_model") == "dynamic":
        return budget(device, interface, length_m=length).xoff
    speed = known(interface.speed_mbps, "interface.speed_mbps")
    if speed is None:
        raise UnknownFact("interface.speed_mbps")
    xoff = row_xoff(device, speed, length)
    if xoff is None:
        raise UnknownFact(missing_row(device, f"{show_speed(speed)} and {length} m"))
    return xoff


@word("function", rests_on=("cables",))
def headroom_rule(device: Device, interface: Interface, *, index: Index) -> str:
    """Return by what `headroom_by_formula_bytes` goes: the formula of the chip, or the bound of IEEE 802.1Q."""
    found = bounds(device, interface, length_m=cable_m(device, interface, index=index))
    return "IEEE 802.1Q" if found.formula is None else "the formula of its chip"


@word("function", rests_on=("cables",))
def headroom_by_formula_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the xoff by the ASIC's published formula for a static profile, else the lower bound of IEEE 802.1Q."""
    length = cable_m(device, interface, index=index)
    published = bounds(device, interface, length_m=length).published
    if published is None:
        raise UnknownFact("interface.speed_mbps")
    return published


@word("function", rests_on=("cables", "models"))
def headroom_for_peer_bytes(device: Device, interface: Interface, *, index: Index) -> int | None:
    """Return the xoff that a port needs for the chip at its far end, None if no source says that it pauses slowly."""
    peer = _peer(device, interface, index)
    chip = None if peer is None else asic_of(peer.model)
    if chip is None or not chip.headroom_before_bytes:
        return None
    speed = known(interface.speed_mbps, "interface.speed_mbps")
    return None if speed is None else headroom_before(chip, speed)


@word("function", rests_on=("cables", "models"))
def model_of_peer(device: Device, interface: Interface, *, index: Index) -> str:
    """Return the model of the switch at the far end of a port's cable; "" if there is none or its model is unknown."""
    peer = _peer(device, interface, index)
    return "" if peer is None or isinstance(peer.model, Unknown) else peer.model


def _peer(device: Device, interface: Interface, index: Index) -> Device | None:
    end = index.far_end(device.name, interface.name)
    return None if end is None else index.devices.get(end.node)
