"""Ports that an intent holds back on single switches (`devices.*.spare`): cables between switches leave them out.

The far end of such a cable has none either. Hosts are placed by their ids, so a host's port is never held back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from math import ceil

from nodrop.design.boxes import PlannedSwitch, PlannedSwitches, format_panel_ports, stated_settings
from nodrop.design.cabling import FabricCable, HostCable
from nodrop.design.faults import KeyFault
from nodrop.design.naming import NamingScheme, host_identity, name_of
from nodrop.design.topology import Topology
from nodrop.design.uplinks import sum_down_mbps
from nodrop.intent.schema import DeviceSettings, EndpointGroup
from nodrop.model.modes import abbreviate_names
from nodrop.units import show_ids, show_speed

SparePanels = Mapping[str, Set[int]]
"""The panel ports that are held back, by the name of the switch."""


def spare_panels(devices: Mapping[str, DeviceSettings], switches: PlannedSwitches) -> SparePanels:
    """Return the panel ports that are held back, by the name of the switch; `all` is each of them."""
    stated = (
        (node, stated_settings(devices, node)[1].spare) for node in _switches_with_stated_settings(devices, switches)
    )
    return {node.name: set(node.model.panels if spare == "all" else spare) for node, spare in stated if spare}


def drop_spare_cables(cables: Iterable[FabricCable], spares: SparePanels) -> tuple[FabricCable, ...]:
    """Return the cables of which neither end is held back."""
    none: Set[int] = frozenset()
    return tuple(
        cable
        for cable in cables
        if cable.lower_port.port.panel not in spares.get(cable.lower.name, none)
        and cable.upper_port.port.panel not in spares.get(cable.upper.name, none)
    )


def spare_faults(
    topology: Topology,
    naming: NamingScheme,
    devices: Mapping[str, DeviceSettings],
    switches: PlannedSwitches,
    hosts: tuple[HostCable, ...],
    cables: tuple[FabricCable, ...],
) -> Iterator[KeyFault]:
    """Yield ports that cannot be held back: that the model lacks, that hosts use, or that leave too few uplinks.

    `cables` are those between switches before any is left out.
    """
    spares = spare_panels(devices, switches)
    faults = [
        fault
        for node in _switches_with_stated_settings(devices, switches)
        for fault in _unusable_spare_port_faults(naming, topology.endpoints, devices, node, hosts)
    ]
    yield from faults
    if not faults and spares:
        yield from _uplink_bandwidth_lost_to_spares_faults(topology, devices, switches, hosts, cables, spares)


def _switches_with_stated_settings(
    devices: Mapping[str, DeviceSettings], switches: PlannedSwitches
) -> tuple[PlannedSwitch, ...]:
    """Return the switches that the intent states settings for."""
    return tuple(node for node in switches.all if stated_settings(devices, node)[0]) if devices else ()


def _unusable_spare_port_faults(
    naming: NamingScheme,
    endpoints: Mapping[str, EndpointGroup],
    devices: Mapping[str, DeviceSettings],
    node: PlannedSwitch,
    hosts: tuple[HostCable, ...],
) -> Iterator[KeyFault]:
    word, settings = stated_settings(devices, node)
    keys = ("devices", word, "spare")
    if settings.spare != "all" and (lacking := set(settings.spare) - set(node.model.panels)):
        fault = f"{node.model.name} has no {format_panel_ports(lacking)} for the fabric"
        yield KeyFault(keys, fault, f"some of {show_ids(node.model.panels)}")
    panels = set(node.model.panels if settings.spare == "all" else settings.spare)
    used = [cable for cable in hosts if cable.switch.name == node.name and cable.switch_port.port.panel in panels]
    if used:
        hosts_there = {cable.host for cable in used}
        taken = format_panel_ports({cable.switch_port.port.panel for cable in used})
        fault = f"{taken} of {node.name}: cables of {abbreviate_names(hosts_there)}"
        yield KeyFault(keys, fault, "ports without hosts", _suggest_fewer_hosts(naming, endpoints, used))


def _suggest_fewer_hosts(
    naming: NamingScheme, endpoints: Mapping[str, EndpointGroup], used: Iterable[HostCable]
) -> str:
    """Return the ids of hosts without those of some cables; empty if a group would have none left."""
    gone: dict[str, set[str]] = {}
    for cable in used:
        gone.setdefault(cable.group, set()).add(cable.host)
    changes = []
    for name, hosts in gone.items():
        ids = endpoints[name].ids
        kept = {number for number in ids if name_of(naming, host_identity(name, number)) not in hosts}
        if not kept:
            return ""
        changes.append(f"endpoints.{name}.ids: {show_ids(kept)}")
    return " and ".join(changes)


def _uplink_bandwidth_lost_to_spares_faults(
    topology: Topology,
    devices: Mapping[str, DeviceSettings],
    switches: PlannedSwitches,
    hosts: tuple[HostCable, ...],
    cables: tuple[FabricCable, ...],
    spares: SparePanels,
) -> Iterator[KeyFault]:
    """Yield the switch of each group with the most bandwidth downwards for its uplinks, if cables held back are why."""
    kept = drop_spare_cables(cables, spares)
    down, up = sum_down_mbps(kept), Counter[str]()
    for host_cable in hosts:
        down[host_cable.switch.name] += host_cable.cabling.speed_mbps
    for cable in kept:
        up[cable.lower.name] += cable.cabling.speed_mbps
    holders = _keys_holding_uplinks_back_by_switch(devices, cables, spares)
    for group in topology.groups:
        names = [node.name for node in switches.groups[group] if node.name in holders and down[node.name]]
        if cut_off := next((name for name in names if not up[name]), None):
            yield KeyFault(holders[cut_off], f"{cut_off} keeps no cable to a higher tier", "one at least")
            continue
        worst = max(names, key=lambda name: down[name] / up[name], default="")
        if worst and down[worst] > up[worst] * group.limit:
            ratio = down[worst] / up[worst]
            fault = f"{worst} is {ratio:.4g}:1 oversubscribed without these ports, {show_speed(down[worst])} down and"
            limit = ".".join(group.limit_keys)
            hint = f"{limit}: {ceil(100 * ratio) / 100:g}, or fewer ports"
            fault += f" {show_speed(up[worst])} up"
            yield KeyFault(holders[worst], fault, f"at most {group.limit:g}:1", hint)


def _keys_holding_uplinks_back_by_switch(
    devices: Mapping[str, DeviceSettings], cables: tuple[FabricCable, ...], spares: SparePanels
) -> dict[str, tuple[str, str, str]]:
    """Return by the name of a switch without some uplinks the keys that hold the first of them back."""
    holders: dict[str, tuple[str, str, str]] = {}
    for cable in cables:
        for node, jack in ((cable.upper, cable.upper_port), (cable.lower, cable.lower_port)):
            if jack.port.panel in spares.get(node.name, ()):
                holders.setdefault(cable.lower.name, ("devices", stated_settings(devices, node)[0], "spare"))
    return holders
