"""The first step of the design: the cable between each pair of ports of switches and hosts.

Ports follow from ids: nothing moves when a switch, an endpoint or an uplink is added.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from nodrop.design.boxes import PlannedSwitches, format_panel_ports
from nodrop.design.cabling import FabricCable, HostCable
from nodrop.design.closing import suggest_smallest_fabric
from nodrop.design.endpoints import host_cables
from nodrop.design.external import ExternalCable, external_cables
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.naming import NamingScheme
from nodrop.design.spares import drop_spare_cables, spare_faults, spare_panels
from nodrop.design.splits import split_faults
from nodrop.design.stated_cables import host_row_faults, stated_cables
from nodrop.design.topology import TierSwitchGroup, Topology, model_of
from nodrop.design.uplinks import fabric_cables
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.external import ExternalNeighbor
from nodrop.intent.schema import DeviceSettings
from nodrop.units import show_ids, show_speed


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLayout:
    """The fabric's switches and cables, before anything is configured."""

    switches: PlannedSwitches
    fabric_cables: tuple[FabricCable, ...]
    host_cables: tuple[HostCable, ...]
    external_cables: tuple[ExternalCable, ...]


def lay_out(
    topology: Topology,
    naming: NamingScheme,
    devices: Mapping[str, DeviceSettings],
    external: Mapping[str, ExternalNeighbor],
    switches: PlannedSwitches,
    problems: list[IntentFault],
) -> FabricLayout:
    """Return switches and cables; what cannot be is added to `problems`."""
    faults = list[IntentFault](split_faults(topology))
    fault_count = len(faults)
    hosts = host_cables(topology, naming, switches, faults)
    down: Counter[str] = Counter()
    if len(faults) == fault_count:
        for cable in hosts:
            down[cable.switch.name] += cable.cabling.speed_mbps
    faults += _panel_port_list_faults(topology, hosts)
    if sheet := topology.sheet:
        uplinks = stated_cables(topology, switches, down, faults)
        faults += host_row_faults(sheet, hosts)
    else:
        uplinks = fabric_cables(topology, switches, down, faults)
    if devices:
        faults += spare_faults(topology, naming, devices, switches, hosts, uplinks)
        uplinks = drop_spare_cables(uplinks, spare_panels(devices, switches))
    outside = external_cables(topology, external, devices, switches, (uplinks, hosts), faults)
    problems += faults
    return FabricLayout(switches=switches, fabric_cables=uplinks, host_cables=hosts, external_cables=outside)


def _panel_port_list_faults(topology: Topology, hosts: tuple[HostCable, ...]) -> Iterator[KeyFault]:
    """Yield ports that a group's model does not have, and ports in two lists."""
    for group in topology.groups:
        model, uses = model_of(group), tuple(_port_uses(topology, group))
        too_many = len({panel for use in uses for panel in use.panels}) > len(model.panels)
        hint = suggest_smallest_fabric(topology) if too_many else ""
        for use in uses:
            lacking = tuple(panel for panel in use.panels if panel not in model.panels)
            if lacking:
                fault = f"{model.name} has no {format_panel_ports(lacking)} for the fabric"
                if use.leads_up:
                    fault += _describe_switch_full_of_hosts(model, hosts)
                yield KeyFault(use.keys, fault, f"some of {show_ids(model.panels)}", hint)
        for first_use, second_use in combinations(uses, 2):
            both_panels = set(first_use.panels) & set(second_use.panels)
            if both_panels:
                fault = f"{format_panel_ports(both_panels)}, in {first_use.name} too"
                yield KeyFault(second_use.keys, fault, "one use for each port")


class _ListedPanelPorts(NamedTuple):
    """Panel ports that an intent lists for something."""

    name: str
    keys: tuple[str, ...]
    panels: tuple[int, ...]
    leads_up: bool = False


def _port_uses(topology: Topology, group: TierSwitchGroup) -> Iterator[_ListedPanelPorts]:
    """Yield the lists of a group's panel ports."""
    if group.tier == 0:
        yield _ListedPanelPorts("endpoints", (*group.ports_keys, "endpoints"), group.endpoints)
    for join in () if topology.sheet else topology.joins_above(group):
        name = ".".join(join.ports_keys[len(group.keys) :]).removeprefix("ports.")
        yield _ListedPanelPorts(name, join.ports_keys, join.lower_ports, leads_up=True)
    for join in topology.joins_below(group):
        if join.upper_ports is not None and not topology.sheet:
            yield _ListedPanelPorts(f"peer_ports of {join.lower.name}", join.upper_ports_keys, join.upper_ports)
    yield _ListedPanelPorts("dead", (*group.ports_keys, "dead"), group.dead)


def _describe_switch_full_of_hosts(model: SwitchModel, hosts: tuple[HostCable, ...]) -> str:
    """Return, in words, that some switch has all its ports taken by hosts; empty if none has."""
    cables_by_switch: dict[str, list[HostCable]] = {}
    for cable in hosts:
        cables_by_switch.setdefault(cable.switch.name, []).append(cable)
    for cables in cables_by_switch.values():
        if {cable.switch_port.panel for cable in cables} == set(model.panels):
            speeds = Counter(cable.cabling.speed_mbps for cable in cables)
            count = ", ".join(f"{number} × {show_speed(speed)}" for speed, number in sorted(speeds.items()))
            return f", and {count} host ports leave none for uplinks"
    return ""
