"""Whether the headroom of a switch's lossless ports leaves any of its packet memory to share."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from nodrop.design.boxes import Boxes, Node
from nodrop.design.buffers import INGRESS_LOSSLESS
from nodrop.design.modes import has_pfc
from nodrop.design.ports import Wires
from nodrop.errors import Problem
from nodrop.fabric.fabric import Device, Interface, Port
from nodrop.hardware.dynamic import resolve
from nodrop.intent.schema import Intent
from nodrop.units import show_bytes


def memory_faults(
    intent: Intent, switches: Boxes, devices: Mapping[str, Device], cables: Mapping[str, Wires]
) -> Iterator[Problem]:
    """Yield, for each tier whose headroom fills a switch's memory, the worst switch and the length that fits."""
    if not has_pfc(intent):
        return
    for tier in (switches.leaves, switches.spines):
        node = min(tier, key=lambda node: _left_bytes(devices[node.name]))
        if _left_bytes(devices[node.name]) <= 0:
            yield _fault(intent, node, devices[node.name], cables[node.name])


def _fault(intent: Intent, node: Node, device: Device, wires: Wires) -> Problem:
    longest = max((wire.cabling for wire in wires.values()), key=lambda cabling: cabling.length_m)
    ports = {wire.port for wire in wires.values() if wire.cabling is longest}
    lengths = range(1, longest.length_m)
    fits = bisect_left(lengths, True, key=lambda length: _left_bytes(_with_length(device, ports, length)) <= 0)
    memory = show_bytes(node.model.buffer_bytes)
    found = f"the headroom of {len(ports)} ports at {longest.length_m}m fills the {memory} of {node.name}"
    return intent.problem((*longest.keys, "length"), found, f"at most {fits}m" if fits else "fewer lossless ports")


def _left_bytes(device: Device) -> int:
    """Return the size of the lossless pool; zero and less is memory that is not there."""
    assert isinstance(device.buffer_pools, tuple)
    size = next(pool.size_bytes for pool in device.buffer_pools if pool.name == INGRESS_LOSSLESS)
    assert isinstance(size, int)
    return size


def _with_length(device: Device, ports: Set[Port], length_m: int) -> Device:
    """Return the device as it would be if some of its cables had another length."""

    def changed(interface: Interface) -> Interface:
        return replace(interface, cable_length_m=length_m) if interface.port in ports else interface

    return resolve(replace(device, interfaces=tuple(map(changed, device.interfaces))))
