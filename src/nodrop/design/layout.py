"""The first step of the design: the cable between each pair of ports of switches and hosts.

Ports follow from ids: nothing moves when a switch, an endpoint or an uplink is added.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from nodrop.design.boxes import Boxes, format_panel_ports
from nodrop.design.cabling import FabricCable, HostCable
from nodrop.design.closing import suggest_smallest_fabric
from nodrop.design.endpoints import host_cables
from nodrop.design.splits import split_faults
from nodrop.design.uplinks import fabric_cables
from nodrop.errors import Problem
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import Intent
from nodrop.units import show_ids, show_speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The fabric's switches and cables, before anything is configured."""

    switches: Boxes
    fabric_cables: tuple[FabricCable, ...]
    host_cables: tuple[HostCable, ...]


def lay_out(intent: Intent, switches: Boxes, problems: list[Problem]) -> Layout:
    """Return switches and cables; what cannot be is added to `problems`."""
    faults = list(split_faults(intent, switches.leaves[0].model, switches.spines[0].model))
    fault_count = len(faults)
    hosts = host_cables(intent, switches, faults)
    down: Counter[str] = Counter()
    if len(faults) == fault_count:
        for cable in hosts:
            down[cable.leaf.name] += cable.cabling.speed_mbps
    faults += _leaf_port_faults(intent, switches, hosts)
    uplinks = fabric_cables(intent, switches, down, faults)
    problems += faults
    return Layout(switches=switches, fabric_cables=uplinks, host_cables=hosts)


def _leaf_port_faults(intent: Intent, switches: Boxes, hosts: tuple[HostCable, ...]) -> Iterator[Problem]:
    """Yield leaf ports that the model does not have, and ports in two lists."""
    keys, model = ("topology", "leaves", "ports"), switches.leaves[0].model
    uses: dict[str, tuple[int, ...]] = dict(intent.topology.leaves.ports)
    too_many = len(set().union(*uses.values())) > len(model.panels)
    hint = suggest_smallest_fabric(intent, switches) if too_many else ""
    for key, panels in uses.items():
        lacking = tuple(panel for panel in panels if panel not in model.panels)
        if lacking:
            fault = f"{model.name} has no {format_panel_ports(lacking)} for the fabric"
            if key == "uplinks":
                fault += _describe_full_leaf(model, hosts)
            yield intent.problem((*keys, key), fault, f"some of {show_ids(model.panels)}", hint)
    for (first_use, panels), (second_use, second_panels) in combinations(uses.items(), 2):
        both_panels = set(panels) & set(second_panels)
        if both_panels:
            fault = f"{format_panel_ports(both_panels)}, in {first_use} too"
            yield intent.problem((*keys, second_use), fault, "one use for each port")


def _describe_full_leaf(model: Switch, hosts: tuple[HostCable, ...]) -> str:
    """Return, in words, that some leaf has all its ports taken by hosts; empty if none has."""
    leaves: dict[str, list[HostCable]] = {}
    for cable in hosts:
        leaves.setdefault(cable.leaf.name, []).append(cable)
    for cables in leaves.values():
        if {cable.leaf_port.panel for cable in cables} == set(model.panels):
            speeds = Counter(cable.cabling.speed_mbps for cable in cables)
            count = ", ".join(f"{number} × {show_speed(speed)}" for speed, number in sorted(speeds.items()))
            return f", and {count} host ports leave none for uplinks"
    return ""
