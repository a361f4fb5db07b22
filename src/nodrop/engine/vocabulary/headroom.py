"""Words about headroom: the need of a port's cable, by the rule that applies to its switch."""

from nodrop.engine.vocabulary import declare_word
from nodrop.hardware import asic_of
from nodrop.hardware.bounds import (
    XoffBounds,
    find_xoff_bounds,
    lossless_in_flight_bytes,
    missing_headroom_source,
    sku_xoff_bytes,
)
from nodrop.hardware.dynamic import compute_headroom_budget
from nodrop.hardware.formulas import headroom_depends_on_release
from nodrop.hardware.pausing import xoff_for_peer_chip_bytes
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown, UnknownFact, require_fact
from nodrop.units import show_bytes, show_speed


@declare_word("function", rests_on=("cables",))
def stated_or_configured_cable_m(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the length of a port's cable in metres: the stated one, else the configured one."""
    link = index.link(device.name, interface.name)
    length = link.length_m if link else None
    if isinstance(length, Unknown) or length is None:
        length = require_fact(interface.cable_length_m, "interface.cable_length_m")
    if length is None:
        raise UnknownFact("link.length_m")
    return length


@declare_word("function", rests_on=("cables",))
def headroom_needed_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the least xoff for a port's cable: the dynamic model's formula, else the less of table and formula.

    In the traditional model a headroom below it is below both the SKU's row and the formula of the chip (`Bounds`).
    UNKNOWN where neither the model's tables nor a published formula reach the length.
    """
    length = stated_or_configured_cable_m(device, interface, index=index)
    if require_fact(device.buffer_model, "device.buffer_model") == "dynamic":
        return compute_headroom_budget(device, interface, length_m=length).xoff
    speed = require_fact(interface.speed_mbps, "interface.speed_mbps")
    if speed is None:
        raise UnknownFact("interface.speed_mbps")
    row = sku_xoff_bytes(device, speed, length)
    least = find_xoff_bounds(device, interface, length_m=length).least_of_row_and_formula
    if least is None or row is None:
        raise UnknownFact(missing_headroom_source(device, f"{show_speed(speed)} and {length} m"))
    return least


@declare_word("function", rests_on=("cables",))
def headroom_in_any_release_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the least xoff for a port's cable whatever the release of its network OS.

    That is `headroom_needed_bytes` where all releases compute alike, else what is on its cable when the peer stops at
    once.
    """
    if not headroom_depends_on_release(device.platform):
        return headroom_needed_bytes(device, interface, index=index)
    return lossless_in_flight_bytes(
        device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index)
    )


@declare_word("function", rests_on=("cables",))
def headroom_source(device: Device, interface: Interface, *, index: Index) -> str:
    """Return the source of `headroom_chosen_by_switch_bytes`: the SKU's table, the chip's formula, or IEEE 802.1Q."""
    found_bounds = find_xoff_bounds(
        device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index)
    )
    if found_bounds.does_newer_row_decide:
        return "today's table of its SKU"
    return "its SKU's table" if found_bounds.does_row_decide else _headroom_formula_name(found_bounds)


@declare_word("function", rests_on=("cables",))
def computed_headroom_source(device: Device, interface: Interface, *, index: Index) -> str:
    """Return the source of `computed_headroom_bytes`: the formula of the chip, or IEEE 802.1Q."""
    return _headroom_formula_name(
        find_xoff_bounds(device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index))
    )


def _headroom_formula_name(found_bounds: XoffBounds) -> str:
    return "IEEE 802.1Q" if found_bounds.formula is None else "its chip's formula"


@declare_word("function", rests_on=("cables",))
def assumed_lossless_mtu(device: Device, interface: Interface, needed_bytes: int, *, index: Index) -> str:
    """Return the lossless MTU that a headroom in bytes assumes: ` (lossless MTU assumed: 1.024 kB)`.

    Nothing where the headroom is not the formula's, or where the configuration states the MTU.
    """
    found_bounds = find_xoff_bounds(
        device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index)
    )
    if (
        found_bounds.assumed_mtu_bytes is None
        or device.buffer_model == "dynamic"
        or needed_bytes != found_bounds.formula
    ):
        return ""
    return f" (assumed lossless MTU: {found_bounds.assumed_mtu_bytes} bytes)"


@declare_word("function", rests_on=("cables",))
def headroom_chosen_by_switch_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the xoff that the switch itself would take for a port: the SKU's row, else the formula of its chip.

    The lower bound of IEEE 802.1Q where no formula of the chip is published.
    """
    usual = find_xoff_bounds(
        device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index)
    ).value_switch_would_take
    if usual is None:
        raise UnknownFact("interface.speed_mbps")
    return usual


@declare_word("function", rests_on=("cables",))
def takes_table_row(device: Device, interface: Interface, *, index: Index) -> bool:
    """Whether a port takes a row of its SKU's table with room for the data on its cable; not in the dynamic model."""
    if require_fact(device.buffer_model, "device.buffer_model") == "dynamic":
        return False
    return find_xoff_bounds(
        device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index)
    ).does_row_decide


@declare_word("function", rests_on=("cables",))
def computed_headroom_bytes(device: Device, interface: Interface, *, index: Index) -> int:
    """Return the xoff by the published formula of a port's chip, else by IEEE 802.1Q; UNKNOWN where there is none."""
    xoff = find_xoff_bounds(
        device, interface, length_m=stated_or_configured_cable_m(device, interface, index=index)
    ).computed_bytes
    if xoff is None:
        raise UnknownFact("device.model")
    return xoff


@declare_word("function", rests_on=("cables", "models"))
def headroom_for_slow_peer_bytes(device: Device, interface: Interface, *, index: Index) -> int | None:
    """Return the xoff that a port needs for the chip at its far end, None if no source shows that it pauses slowly."""
    peer = _peer_device(device, interface, index)
    chip = None if peer is None else asic_of(peer.model)
    if chip is None or not chip.headroom_before_bytes:
        return None
    speed = require_fact(interface.speed_mbps, "interface.speed_mbps")
    return None if speed is None else xoff_for_peer_chip_bytes(chip, speed)


@declare_word("function", rests_on=("cables",))
def cable_headroom_in_brackets(device: Device, interface: Interface, *, index: Index) -> str:
    """Return the headroom of a port's cable alone, as ` (its cable needs 94.21 kB)`; else nothing."""
    try:
        return f" (its cable needs {show_bytes(headroom_needed_bytes(device, interface, index=index))})"
    except UnknownFact:
        return ""


@declare_word("function", rests_on=("cables", "models"))
def model_of_peer(device: Device, interface: Interface, *, index: Index) -> str:
    """Return the model of the switch at the far end of a port's cable; "" if there is none or its model is unknown."""
    peer = _peer_device(device, interface, index)
    return "" if peer is None or isinstance(peer.model, Unknown) else peer.model


def _peer_device(device: Device, interface: Interface, index: Index) -> Device | None:
    end = index.far_end(device.name, interface.name)
    return None if end is None else index.devices.get(end.node)
