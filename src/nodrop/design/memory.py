"""Whether the headroom of a switch's lossless ports leaves any of its packet memory to share."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from nodrop.design.boxes import PlannedSwitch, PlannedSwitches
from nodrop.design.buffers import INGRESS_LOSSLESS
from nodrop.design.faults import KeyFault
from nodrop.design.modes import has_pfc
from nodrop.design.ports import PortCables
from nodrop.design.static_buffers import has_static_headroom
from nodrop.hardware.dynamic import (
    fill_in_computed_buffer_sizes,
    omit_computed_shared_headroom,
    require_asic_with_formula,
)
from nodrop.hardware.sharing import shared_headroom_limit_bytes, taken_shared_headroom_bytes
from nodrop.intent.schema import Buffers
from nodrop.model.fabric import Device, Interface, Mode, Port
from nodrop.units import show_bytes


def memory_faults(
    mode: Mode,
    buffers: Buffers,
    switches: PlannedSwitches,
    devices: Mapping[str, Device],
    cables: Mapping[str, PortCables],
) -> Iterator[KeyFault]:
    """Yield the worst switch of each tier whose headroom fills the memory, and the length that fits."""
    if not has_pfc(mode):
        return
    for tier in switches:
        if has_static_headroom(tier[0].model):
            continue
        node = min(tier, key=lambda node: _lossless_pool_bytes(devices[node.name]))
        if _lossless_pool_bytes(devices[node.name]) <= 0:
            yield _memory_fault(node, devices[node.name], cables[node.name])
        elif buffers.headroom_over_subscription is not None:
            yield from _shared_headroom_faults(buffers, node, devices[node.name], cables[node.name])


def _shared_headroom_faults(
    buffers: Buffers, node: PlannedSwitch, device: Device, wires: PortCables
) -> Iterator[KeyFault]:
    """Yield a ratio that leaves too little for a port, and the worst port that takes more of the pool than one may."""
    yield from _shared_headroom_ratio_faults(buffers, node, device)
    over = [port for port in device.interfaces if port.enabled and _shared_headroom_over_limit_bytes(device, port) > 0]
    if over:
        worst = max(over, key=lambda port: _shared_headroom_over_limit_bytes(device, port))
        most = shared_headroom_limit_bytes(device, worst)
        assert most is not None
        wire = next(wire for wire in wires.values() if wire.port == worst.port)
        lengths = range(1, wire.cabling.length_m)
        fits = bisect_left(lengths, True, key=lambda length: _headroom_excess_at_length(device, worst, length) > 0)
        taken = (
            f"{worst.name} of {node.name} takes {show_bytes(taken_shared_headroom_bytes(worst))} of the shared headroom"
        )
        fault = f"{taken}, and a port may take {show_bytes(most)}"
        yield KeyFault((*wire.cabling.keys, "length"), fault, f"at most {fits}m", "or shared_headroom: off")


def _shared_headroom_ratio_faults(buffers: Buffers, node: PlannedSwitch, device: Device) -> Iterator[KeyFault]:
    """Yield a ratio that leaves the pool too small for a single port's headroom, beyond each port's private part."""
    private_bytes = require_asic_with_formula(device).private_headroom_bytes
    taken = [use for port in device.interfaces if port.enabled and (use := taken_shared_headroom_bytes(port)) > 0]
    ratio, worst = buffers.headroom_over_subscription, max(taken, default=0) - private_bytes
    most = sum(use - private_bytes for use in taken) // worst if worst > 0 else ratio
    if ratio is not None and most is not None and ratio > most:
        fault = f"{ratio} leaves {node.name} less than the {show_bytes(worst)} that one of its ports needs"
        yield KeyFault(("buffers", "shared_headroom"), fault, f"at most {most}")


def _shared_headroom_over_limit_bytes(device: Device, port: Interface) -> int:
    """Return by how much a port takes more of the shared headroom than it may; less than nothing where it does not."""
    limit = shared_headroom_limit_bytes(device, port)
    return 0 if limit is None else taken_shared_headroom_bytes(port) - limit


def _headroom_excess_at_length(device: Device, port: Interface, length_m: int) -> int:
    changed = _replace_cable_length(device, {port.port} if isinstance(port.port, Port) else set(), length_m)
    return _shared_headroom_over_limit_bytes(
        changed, next(interface for interface in changed.interfaces if interface.name == port.name)
    )


def _memory_fault(node: PlannedSwitch, device: Device, wires: PortCables) -> KeyFault:
    longest = max((wire.cabling for wire in wires.values()), key=lambda cabling: cabling.length_m)
    ports = {wire.port for wire in wires.values() if wire.cabling is longest}
    lengths = range(1, longest.length_m)
    fits = bisect_left(
        lengths, True, key=lambda length: _lossless_pool_bytes(_replace_cable_length(device, ports, length)) <= 0
    )
    memory = show_bytes(node.model.buffer_bytes or 0)
    fault = f"the headroom of {len(ports)} ports at {longest.length_m}m fills the {memory} of {node.name}"
    return KeyFault((*longest.keys, "length"), fault, f"at most {fits}m" if fits else "fewer lossless ports")


def _lossless_pool_bytes(device: Device) -> int:
    """Return the size of the lossless pool; zero and less is memory that is not there."""
    assert isinstance(device.buffer_pools, tuple)
    size = next(pool.size_bytes for pool in device.buffer_pools if pool.name == INGRESS_LOSSLESS)
    assert isinstance(size, int)
    return size


def _replace_cable_length(device: Device, ports: Set[Port], length_m: int) -> Device:
    """Return the device as it would be if some of its cables had another length."""

    def set_cable_length(interface: Interface) -> Interface:
        return replace(interface, cable_length_m=length_m) if interface.port in ports else interface

    return fill_in_computed_buffer_sizes(
        omit_computed_shared_headroom(replace(device, interfaces=tuple(map(set_cable_length, device.interfaces))))
    )
