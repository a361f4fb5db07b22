"""The tier of every switch, by the graph of cables: those next to hosts are the lowest, and so on upwards.

Stated roles come first. Names of switches are no evidence.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodrop.importing.tier_view import find_bgp_session_ports, is_port_facing
from nodrop.intent.topology import MOST_TIERS
from nodrop.model.addresses import interface_of
from nodrop.model.fabric import Device, End, Fabric, Interface
from nodrop.model.far_ends import parse_host_name
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import natural_sort_key
from nodrop.routing.tiers import tier_of_device

_BY_CABLES, _BY_PORTS = "their cables", "their ports"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchTiers:
    """The tiers of switches by name, 0 next to the hosts, and by tier how it was guessed which switches are of it."""

    tiers: Mapping[str, int]
    guessed: Mapping[int, str]


def find_switch_tiers(fabric: Fabric, known: Mapping[str, int]) -> SwitchTiers:
    """Return the tiers of switches; those that are `known` keep theirs. A switch of a role without a tier has none."""
    roles = {device.name: device.role for device in fabric.devices}
    stated = {device.name: tier for device in fabric.devices if (tier := tier_of_device(device)) is not None} | dict(
        known
    )
    graph = _SwitchGraph.of(fabric)
    unknown = [name for name, role in roles.items() if isinstance(role, Unknown) and name not in known]
    if not unknown and not known and (lowest := min(stated.values(), default=0)) and len(set(stated.values())) > 1:
        why = "roles that are stated: nothing is below the lowest"
        lowered = {name: tier - lowest for name, tier in stated.items()}
        return SwitchTiers(tiers=lowered, guessed=dict.fromkeys(lowered.values(), why))
    if not known and len(set(roles.values())) == 1 and graph.has_cables:
        stated, unknown = {}, list(roles)  # one role for both ends of a cable, as SONiC's own default has it
    if not unknown:
        return SwitchTiers(tiers=stated, guessed={})
    tiers, why = _tiers_by_graph(fabric, graph, unknown, stated)
    found = {name: tier for name, tier in tiers.items() if tier < MOST_TIERS}
    return SwitchTiers(tiers=stated | found, guessed=dict.fromkeys(found.values(), why))


@dataclass(frozen=True, slots=True)
class _SwitchGraph:
    """The cables between the switches of a fabric."""

    cables: Mapping[str, Counter[str]]
    """By switch, how many cables it has to each other switch."""
    low_ends: Mapping[str, frozenset[str]]
    """By switch, the others to which it has the lower address of links."""
    ends: frozenset[End]

    @classmethod
    def of(cls, fabric: Fabric) -> "_SwitchGraph":
        cables: dict[str, Counter[str]] = {device.name: Counter() for device in fabric.devices}
        addresses = {
            End(device.name, port.name): int(own[0].ip)
            for device in fabric.devices
            for port in device.interfaces
            if (own := [address for text in known_rows(port.addresses) if (address := interface_of(text))])
        }
        low_ends: dict[str, set[str]] = {name: set() for name in cables}
        ends: set[End] = set()
        for link in fabric.links:
            if link.a.node in cables and link.b.node in cables:
                ends |= {link.a, link.b}
                for near, far in ((link.a, link.b), (link.b, link.a)):
                    cables[near.node][far.node] += 1
                    if near in addresses and far in addresses and addresses[near] < addresses[far]:
                        low_ends[near.node].add(far.node)
        return cls(cables, {name: frozenset(far) for name, far in low_ends.items()}, frozenset(ends))

    @property
    def has_cables(self) -> bool:
        """Whether a cable joins two of the switches."""
        return bool(self.ends)


def _tiers_by_graph(
    fabric: Fabric, graph: _SwitchGraph, unknown: list[str], stated: Mapping[str, int]
) -> tuple[dict[str, int], str]:
    """Return the tiers of switches without a stated one, and the evidence for them."""
    devices = {device.name: device for device in fabric.devices}
    hosts = {host.name for host in fabric.hosts}
    at_hosts = {end.node for link in fabric.links for end in (link.a, link.b) if hosts & {link.a.node, link.b.node}}
    for shows_hosts in (_shows_hosts, _may_have_hosts):
        lowest = {name for name in unknown if name in at_hosts or shows_hosts(devices[name], graph)}
        if (lowest or 0 in stated.values()) and (len(lowest) < len(devices) or not graph.has_cables):
            break  # else a port that is up without a cable would show hosts, as NVUE needs one for trimming
    else:
        lowest = set()
    if not graph.has_cables:
        upper = {name for name in unknown if name not in lowest and find_bgp_session_ports(devices[name])}
        return {name: int(name in upper) for name in unknown}, _BY_PORTS
    seeds = dict(stated) | dict.fromkeys(lowest, 0)
    if not seeds:
        return _two_tiers_by_degree(graph, unknown), _BY_CABLES
    tiers = _find_tiers(graph, seeds)
    return {name: tiers.get(name, 0) for name in unknown}, _BY_CABLES


def _find_tiers(graph: _SwitchGraph, seeds: Mapping[str, int]) -> dict[str, int]:
    """Return the tiers of all switches that cables reach from some of known tiers.

    Where switches next to hosts have the lower address of every link, so has the lower end of any link. Else a switch
    without hosts, such as one with links to other sites alone, is in the tier of those that are cabled alike.
    """
    lowest = [name for name, tier in seeds.items() if tier == 0 and graph.cables[name]]
    if lowest and all(graph.cables[name].keys() == graph.low_ends[name] for name in lowest):
        tiers = _tiers_by_addresses(graph, seeds)
        if min(tiers.values()) >= 0:
            return tiers
    return _tiers_by_cabling(graph, seeds)


def _tiers_by_addresses(graph: _SwitchGraph, seeds: Mapping[str, int]) -> dict[str, int]:
    """Return the tiers of switches where the lower end of each link has its lower address."""
    tiers, waiting = dict(seeds), list(seeds)
    while waiting:
        name = waiting.pop()
        for far in graph.cables[name]:
            if far not in tiers:
                tiers[far] = tiers[name] + (1 if far in graph.low_ends[name] else -1)
                waiting.append(far)
    return tiers


def _tiers_by_cabling(graph: _SwitchGraph, seeds: Mapping[str, int]) -> dict[str, int]:
    """Return the tiers of switches, tier by tier upwards, where those that are cabled alike are in one tier."""
    tiers = dict(seeds)
    layer = list(seeds)
    shapes = {(tier, _cabling_shape_of_switch(graph, name)) for name, tier in seeds.items()}
    while layer:
        above = {far: tiers[name] + 1 for name in layer for far in graph.cables[name] if far not in tiers}
        layer = sorted(above, key=natural_sort_key)
        for name in layer:
            tiers[name] = (
                above[name] - 2 if (above[name] - 2, _cabling_shape_of_switch(graph, name)) in shapes else above[name]
            )
        shapes |= {(tiers[name], _cabling_shape_of_switch(graph, name)) for name in layer}
    return tiers


def _cabling_shape_of_switch(graph: _SwitchGraph, name: str) -> tuple[frozenset[tuple[str, int]], bool]:
    """Return the cables of a switch, and whether it has the lower addresses of links, as the lower end of each has."""
    return frozenset(graph.cables[name].items()), bool(graph.low_ends[name])


def _two_tiers_by_degree(graph: _SwitchGraph, names: list[str]) -> dict[str, int]:
    """Return tiers where nothing shows hosts: switches with most neighbors are above those with few."""
    most = max(len(graph.cables[name]) for name in names)
    tiers: dict[str, int] = {}
    for name in sorted(names, key=lambda name: (-len(graph.cables[name]), natural_sort_key(name))):
        beside = {tiers[far] for far in graph.cables[name] if far in tiers}
        tiers[name] = int(0 in beside or (not beside and len(graph.cables[name]) == most > 1)) if 1 not in beside else 0
    return tiers


def _shows_hosts(device: Device, graph: _SwitchGraph) -> bool:
    """Whether evidence shows that a switch has hosts: a side, an untagged VLAN with an address, or a description."""
    if any(vlan.addresses and not all(member.tagged for member in vlan.members) for vlan in known_rows(device.vlans)):
        return True
    return any(
        is_port_facing(port, "host") or (isinstance(port.side, Unknown) and parse_host_name(port.description))
        for port in _ports_without_cable_or_session(device, graph)
    )


def _may_have_hosts(device: Device, graph: _SwitchGraph) -> bool:
    """Whether a switch has ports in use that lead to no switch and have no session."""
    return any(
        port.enabled is True and not is_port_facing(port, "fabric")
        for port in _ports_without_cable_or_session(device, graph)
    )


def _ports_without_cable_or_session(device: Device, graph: _SwitchGraph) -> Iterator[Interface]:
    """Yield the ports that are not shut, and have neither a cable to a switch nor a BGP session."""
    sessions = find_bgp_session_ports(device)
    return (
        port
        for port in device.interfaces
        if port.enabled is not False and port.name not in sessions and End(device.name, port.name) not in graph.ends
    )
