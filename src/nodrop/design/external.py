"""The neighbors outside the fabric (`external`): their links, the routes accepted from them, and those announced.

A switch announces only networks of the fabric's own pools to them, and passes what they announce on to the fabric
alone. So the fabric carries no traffic between two networks outside it.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import netaddr

from nodrop.design.addressing import AddressPlan, AddressPoolRange
from nodrop.design.boxes import PlannedSwitch, PlannedSwitches, format_panel_ports, stated_settings
from nodrop.design.cabling import CableProperties, FabricCable, HostCable, LinkEndKind, resolve_cabling
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.splits import SplitPort, blocked_panels
from nodrop.design.static_buffers import has_static_headroom
from nodrop.design.topology import Topology
from nodrop.intent.external import AcceptedPrefix, ExternalNeighbor, PanelPort
from nodrop.intent.schema import DeviceSettings
from nodrop.model import external as model
from nodrop.model.addresses import AddressFamily, other_address_of_pair
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY
from nodrop.model.subject import natural_sort_key
from nodrop.units import show_ids

_KeyPath = tuple[str, ...]
_OWN_POOLS_BY_WORD = ("endpoints", "loopbacks")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalCable:
    """A link from a switch next to hosts to a neighbor outside the fabric."""

    switch: PlannedSwitch
    switch_port: SplitPort
    neighbor: str
    """Its name in the intent."""
    addresses: tuple[str, ...]
    """Of the switch, with their prefix lengths, IPv4 first."""
    cabling: CableProperties
    mtu_bytes: int | None
    """Of the port, where it is not that of the fabric."""
    keys: _KeyPath

    @property
    def far_addresses(self) -> tuple[str, ...]:
        """The addresses of the neighbor, in the same order."""
        return tuple(far for address in self.addresses if (far := other_address_of_pair(address)) is not None)

    @property
    def far_port(self) -> str:
        """How the fabric names the neighbor's port: by the port that it leads to."""
        return f"to-{self.switch.name}-{str(self.switch_port).replace('/', '-')}"


class AnnouncedNetworks(NamedTuple):
    """Networks of a pool that are announced: those inside a prefix, of one length."""

    family: AddressFamily
    prefix: str
    length: int


def family_of_address(text: str) -> AddressFamily:
    """Return the family of an address or prefix."""
    return "ipv6" if ":" in text else "ipv4"


def external_cables(
    topology: Topology,
    external: Mapping[str, ExternalNeighbor],
    devices: Mapping[str, DeviceSettings],
    switches: PlannedSwitches,
    cables: tuple[tuple[FabricCable, ...], tuple[HostCable, ...]],
    problems: list[IntentFault],
) -> tuple[ExternalCable, ...]:
    """Return the links to all neighbors outside; `cables` are those between switches, and to hosts."""
    if not external:
        return ()
    nodes = {word: node for node in switches.all for word in reversed(node.words)}
    users = _panel_users(topology, devices, switches, *cables)
    made: list[ExternalCable] = []
    names = {node.name for node in switches.all} | {cable.host for cable in cables[1]}
    for name, wanted in external.items():
        keys = ("external", name)
        if name in names:
            problems.append(KeyFault(keys, f"{name} is a switch or host of the fabric", "a name of nothing else"))
        for word, ports in wanted.links.items():
            at = (*keys, "links", word)
            node = nodes.get(word)
            if node is None or node.tier:
                problems.append(_switch_fault(at, word, node, nodes))
                continue
            jacks = {}
            for port in ports:
                fault = _claim_panel_port(users.setdefault(node.name, {}), node, name, wanted, port, (*at, str(port)))
                if fault:
                    problems.append(fault)
                else:
                    jacks[port] = SplitPort(port.panel, max(port.part - 1, 0), wanted.split)
            panels = tuple(sorted({port.panel for port in jacks}))
            if not panels:
                continue
            end = LinkEndKind.of(node.model, wanted.split, panels, wanted.lanes)
            found: list[IntentFault] = []
            link = resolve_cabling(keys, wanted, (end, end), found, lambda _: False)
            problems += [fault for fault in found if fault not in problems]
            if link is not None:
                made += [
                    ExternalCable(
                        switch=node,
                        switch_port=jack,
                        neighbor=name,
                        addresses=tuple(sorted(ports[port], key=lambda text: ":" in text)),
                        cabling=link,
                        mtu_bytes=wanted.mtu,
                        keys=(*at, str(port)),
                    )
                    for port, jack in jacks.items()
                ]
    return tuple(sorted(made, key=lambda cable: (natural_sort_key(cable.switch.name), cable.switch_port)))


def _switch_fault(
    keys: _KeyPath, word: str, node: PlannedSwitch | None, nodes: Mapping[str, PlannedSwitch]
) -> KeyFault:
    """Return why no neighbor outside can be at a switch."""
    lowest = [name for name, one in nodes.items() if one.tier == 0 and name == one.name]
    if node is not None:
        return KeyFault(keys, f"{node.name} is in tier {node.tier + 1}", "a switch of tier 1", f"such as {lowest[0]}")
    close = difflib.get_close_matches(word, lowest, n=1)
    return KeyFault(keys, f"no switch {word}", "a switch of tier 1", f"did you mean {(close or lowest)[0]}?")


def _panel_users(
    topology: Topology,
    devices: Mapping[str, DeviceSettings],
    switches: PlannedSwitches,
    fabric_cables: Iterable[FabricCable],
    host_cables: Iterable[HostCable],
) -> dict[str, dict[int, tuple[str, int]]]:
    """Return what uses the panel ports of each switch next to hosts, and into how many parts each is split."""
    users: dict[str, dict[int, tuple[str, int]]] = {}
    for node in switches.lowest:
        group = node.group
        own = users.setdefault(node.name, {})
        own |= dict.fromkeys(group.endpoints, ("endpoints", 1))
        own |= dict.fromkeys(group.dead, ("dead", 1))
        for join in topology.joins_above(group) if not topology.sheet else ():
            own |= dict.fromkeys(join.lower_ports, (f"uplinks to {join.upper.name}", join.split))
        spare = stated_settings(devices, node)[1].spare
        own |= dict.fromkeys(node.model.panels if spare == "all" else spare, ("spare", 1))
    for cable in fabric_cables:
        for node, jack, far in (
            (cable.lower, cable.lower_port, cable.upper),
            (cable.upper, cable.upper_port, cable.lower),
        ):
            users.setdefault(node.name, {})[jack.panel] = (f"a cable to {far.name}", jack.splits)
    for host in host_cables:
        jack = host.switch_port
        users.setdefault(host.switch.name, {})[jack.panel] = (f"a cable to {host.host}", jack.splits)
    return users


def _claim_panel_port(
    users: dict[int, tuple[str, int]],
    node: PlannedSwitch,
    name: str,
    wanted: ExternalNeighbor,
    port: PanelPort,
    keys: _KeyPath,
) -> KeyFault | None:
    """Take a panel port of a switch for a neighbor; return why it cannot be taken."""
    panel, model = port.panel, node.model
    if panel not in model.panels:
        fault = f"{model.name} has no {format_panel_ports((panel,))} for the fabric"
        return KeyFault(keys, fault, f"one of {show_ids(model.panels)}")
    if bool(port.part) != (wanted.split > 1) or port.part > wanted.split:
        parts = f"{panel}/1 to {panel}/{wanted.split}" if wanted.split > 1 else f"{panel}, which is whole"
        return KeyFault(keys, str(port), parts, f"split is {wanted.split}")
    free = show_ids(sorted(set(model.panels) - users.keys() - blocked_panels(model, _splits_of(users)))) or "none"
    owner = users.get(panel)
    if owner is not None and owner != (f"external.{name}", wanted.split):
        return KeyFault(keys, f"port {panel} of {node.name} is in use: {owner[0]}", f"a free port: {free}")
    breakout = model.find_breakout(wanted.split, (panel,))
    if breakout is None or (breakout.platforms and node.declaration.platform not in breakout.platforms):
        fault = f"{model.name} has no port {panel} that is split into {wanted.split}"
        return KeyFault((*keys[:2], "split"), fault, "another split")
    if wanted.split > 1 and has_static_headroom(model):
        fault = f"split into {wanted.split}, and the headroom of {model.name} is in tables by its ports"
        return KeyFault((*keys[:2], "split"), fault, "split: 1")
    lost = blocked_panels(model, {**_splits_of(users), panel: wanted.split})
    if panel in lost or any(other in lost for other in users):
        return KeyFault(keys, f"port {panel} of {node.name}: a split port takes the one after it", f"a port of {free}")
    users[panel] = f"external.{name}", wanted.split
    return None


def _splits_of(users: Mapping[int, tuple[str, int]]) -> dict[int, int]:
    return {panel: split_count for panel, (_, split_count) in users.items()}


def external_routing_faults(
    external: Mapping[str, ExternalNeighbor],
    plan: AddressPlan,
    switches: PlannedSwitches,
    asns: Mapping[str, int],
) -> Iterator[KeyFault]:
    """Yield AS numbers, addresses and prefixes of neighbors outside that the fabric cannot have."""
    pools = dict(_pools_by_word(plan))
    taken: dict[netaddr.IPNetwork, str] = {}
    owners = {asn: name for name, asn in sorted(asns.items(), reverse=True)}
    for name, wanted in external.items():
        keys = ("external", name)
        if wanted.asn in owners:
            yield KeyFault((*keys, "asn"), f"{wanted.asn}, the number of {owners[wanted.asn]}", "another AS number")
        for word, ports in wanted.links.items():
            for port, addresses in ports.items():
                yield from _address_faults((*keys, "links", word, str(port)), addresses, plan, pools, taken)
        for accepted in wanted.accept:
            if fault := _accept_fault(accepted, plan, pools):
                yield KeyFault((*keys, "accept"), *fault)
        for announced in wanted.announce:
            if fault := _announce_fault(announced, plan, switches):
                yield KeyFault((*keys, "announce"), *fault)


def _address_faults(
    keys: _KeyPath,
    addresses: tuple[str, ...],
    plan: AddressPlan,
    pools: Mapping[str, tuple[AddressPoolRange, ...]],
    taken: dict[netaddr.IPNetwork, str],
) -> Iterator[KeyFault]:
    families = [family_of_address(address) for address in addresses]
    for address, family in zip(addresses, families, strict=True):
        title = TITLE_BY_ADDRESS_FAMILY[family]
        network = netaddr.IPNetwork(address).cidr
        if families.count(family) > 1:
            yield KeyFault(keys, f"{families.count(family)} addresses of {title}", "one of each family")
            return
        if family not in plan.families:
            yield KeyFault(keys, f"{address}, and the fabric routes no {title}", "an address of its families")
        for word, own_pools in pools.items():
            if pool := next((pool for pool in own_pools if _overlaps(network, pool)), None):
                yield KeyFault(keys, f"{address} overlaps {word}, {pool}", "addresses of no pool")
        clash = next((owner for other, owner in taken.items() if other in network or network in other), None)
        if clash:
            yield KeyFault(keys, f"{network}, which {clash} has", "a network for each link")
        taken[network] = ".".join(keys)


def _accept_fault(
    accepted: AcceptedPrefix, plan: AddressPlan, pools: Mapping[str, tuple[AddressPoolRange, ...]]
) -> tuple[str, str] | None:
    """Return why a prefix cannot be accepted: its family, or that it is of a pool of the fabric."""
    family = family_of_address(accepted.prefix)
    network = netaddr.IPNetwork(accepted.prefix)
    if family not in plan.families:
        return f"{accepted}, and the fabric routes no {TITLE_BY_ADDRESS_FAMILY[family]}", "prefixes of its families"
    for word, own_pools in pools.items():
        for pool in own_pools:
            if pool.family == family and _overlaps(network, pool) and network.prefixlen >= pool.prefix_length:
                return f"{accepted} is in {word}, {pool}", "prefixes outside the fabric's pools"
    return None


def _announce_fault(announced: str, plan: AddressPlan, switches: PlannedSwitches) -> tuple[str, str] | None:
    """Return why a pool or prefix cannot be announced: it is not there, or no network of the fabric is in it."""
    words = announceable_words(plan)
    if "/" not in announced:
        if announced in words:
            return None
        close = difflib.get_close_matches(announced, words, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"no pool {announced}", f"{', '.join(words)}, or a prefix of one of them{hint}"
    found = networks_announced((announced,), plan)
    if not found:
        return f"{announced} is in no pool of {', '.join(words)}", "a prefix of one of them"
    inside = netaddr.IPNetwork(announced)
    if found[0].length < inside.prefixlen:
        return f"{announced}, a part of a switch's /{found[0].length}", f"a /{found[0].length} or shorter"
    if not any(netaddr.IPNetwork(network) in inside for network in _own_networks(plan, switches)):
        return f"{announced}, in which no switch has a network", "a prefix with networks of the fabric"
    return None


def _own_networks(plan: AddressPlan, switches: PlannedSwitches) -> Iterator[str]:
    """Yield all networks that switches originate."""
    for node in switches.all:
        yield from plan.loopback(node)
        if node.tier == 0:
            yield from map(str, plan.endpoint_blocks(node))
            for group in plan.vlans:
                yield from map(str, plan.vlan_blocks(group, node))


def _pools_by_word(plan: AddressPlan) -> Iterator[tuple[str, tuple[AddressPoolRange, ...]]]:
    yield "addressing.loopbacks", plan.loopbacks
    yield "addressing.links", plan.links
    yield "addressing.endpoints", plan.endpoints
    yield "addressing.oob", (plan.oob,)
    yield from ((f"endpoints.{name}.vlan.pool", pools) for name, pools in plan.vlans.items())


def _overlaps(network: netaddr.IPNetwork, pool: AddressPoolRange) -> bool:
    same = (network.version == 6) == (pool.family == "ipv6")
    return same and network.first < pool.first + pool.size and pool.first <= network.last


def announceable_words(plan: AddressPlan) -> tuple[str, ...]:
    """Return the words for pools whose networks can be announced to neighbors outside."""
    return (*_OWN_POOLS_BY_WORD, *plan.vlans)


def networks_announced(announce: Iterable[str], plan: AddressPlan) -> tuple[AnnouncedNetworks, ...]:
    """Return the networks that words and prefixes of `announce` mean, each once."""
    found: set[AnnouncedNetworks] = set()
    for text in announce:
        for word in announceable_words(plan):
            for pool, length in _pools_with_lengths(plan, word):
                if text == word:
                    found.add(AnnouncedNetworks(pool.family, str(pool), length))
                elif "/" in text and pool.family == family_of_address(text):
                    network = netaddr.IPNetwork(text)
                    if pool.first <= network.first and network.last < pool.first + pool.size:
                        found.add(AnnouncedNetworks(pool.family, text, length))
    return tuple(sorted(found, key=lambda row: (netaddr.IPNetwork(row.prefix), row.length)))


def _pools_with_lengths(plan: AddressPlan, word: str) -> Iterator[tuple[AddressPoolRange, int]]:
    """Yield the pools of a word, with the length of the networks that switches announce of each."""
    if word == "loopbacks":
        yield from ((pool, pool.bits) for pool in plan.loopbacks)
    else:
        pools = plan.endpoints if word == "endpoints" else plan.vlans[word]
        yield from ((pool, plan.block_prefix_length(pool)) for pool in pools)


def external_neighbors(
    external: Mapping[str, ExternalNeighbor], plan: AddressPlan, cables: Iterable[ExternalCable]
) -> tuple[model.ExternalNeighbor, ...]:
    """Return the neighbors outside as the model has them: each announces all prefixes that are accepted from it."""
    ports: dict[str, list[model.ExternalPort]] = {}
    for cable in cables:
        addresses = (
            f"{far}/{own.partition('/')[2]}" for far, own in zip(cable.far_addresses, cable.addresses, strict=True)
        )
        ports.setdefault(cable.neighbor, []).append(
            model.ExternalPort(name=cable.far_port, addresses=model.sort_addresses(addresses))
        )
    return tuple(
        model.ExternalNeighbor(
            name=name,
            asn=external[name].asn,
            ports=tuple(sorted(ports[name], key=lambda port: natural_sort_key(port.name))),
            announces=model.sort_addresses(map(str, external[name].accept)),
            receives=model.sort_addresses(
                row.prefix if row.prefix.endswith(f"/{row.length}") else f"{row.prefix} le {row.length}"
                for row in networks_announced(external[name].announce, plan)
            ),
        )
        for name in sorted(ports)
    )


def own_pool_prefixes(plan: AddressPlan, family: AddressFamily) -> tuple[str, ...]:
    """Return the prefixes of a family that no neighbor outside may announce."""
    return tuple(str(pool) for _, pools in _pools_by_word(plan) for pool in pools if pool.family == family)


def accepted_prefixes(external: Mapping[str, ExternalNeighbor], family: AddressFamily) -> tuple[AcceptedPrefix, ...]:
    """Return the prefixes of a family that the fabric accepts from any neighbor outside, each once."""
    every = {accepted for wanted in external.values() for accepted in wanted.accept}
    return sort_accepted(accepted for accepted in every if family_of_address(accepted.prefix) == family)


def sort_accepted(prefixes: Iterable[AcceptedPrefix]) -> tuple[AcceptedPrefix, ...]:
    """Return accepted prefixes by address and length, whatever the order of a list in the intent."""
    return tuple(sorted(prefixes, key=lambda one: (netaddr.IPNetwork(one.prefix), one.most or 0)))
