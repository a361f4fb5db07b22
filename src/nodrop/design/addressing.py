"""Addresses: all follow from a device's id and port and from declared pools, never from an order.

Every tier has a separate quarter of a pool, the fourth and fifth an eighth, so a tier added later moves nothing. A
link's /31 belongs to its lower switch and the slot of its port there, (panel port - 1) × maximum split + split, in the
switch's block of slots.

In IPv6 a switch has a /64 for the links to its hosts and one for those upwards, which keeps routes no longer than
filters accept (SONiC's own stop at /64, sonic-buildimage files/image_config/constants/constants.yml.j2). Inside it a
link's /127 begins at 2 × (panel port × maximum split + split): never at the address whose last 64 bits are zero, which
routers have in common (RFC 6164, section 5).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from socket import AF_INET6, inet_ntop
from typing import NamedTuple

import netaddr

from nodrop.design.boxes import PlannedSwitch, PlannedSwitches
from nodrop.design.cabling import FabricCable, HostCable
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.splits import SplitPort
from nodrop.design.topology import TierSwitchGroup, Topology, model_of, topology_of
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.network import Routing
from nodrop.intent.schema import Intent
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY

TIER_SHARES_PER_POOL = 4
"""In how many parts a pool is divided, one for each tier."""
_FRACTION_WORD_BY_PARTS = {4: "quarter", 8: "eighth"}
_POOL_KEYS = ("loopbacks", "links", "endpoints", "oob")
_SHORTEST_POOL_PREFIX_LENGTH = {"ipv4": 8, "ipv6": 16}
"""The shortest prefix that a hint offers: IPv4 has no larger pool for private use, and nobody has one of IPv6."""
_IPV6_BLOCK_ADDRESSES = 2**64
"""Addresses of IPv6 that a switch has for its links of a kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPoolRange:
    """A range of addresses of one family as integers."""

    first: int
    size: int
    family: AddressFamily = "ipv4"

    def share_of_tier(self, index: int) -> "AddressPoolRange":
        """Return the part of a tier: a quarter, or half of the last one where a fifth tier may be."""
        size, last = self.size // TIER_SHARES_PER_POOL, TIER_SHARES_PER_POOL - 1
        first = self.first + min(index, last) * size
        if index >= last:
            size //= 2
            first += (index - last) * size
        return AddressPoolRange(first=first, size=size, family=self.family)

    def spell(self, address: int) -> str:
        """Spell an address of the pool's family."""
        return (
            format_ipv4_address(address) if self.family == "ipv4" else inet_ntop(AF_INET6, address.to_bytes(16, "big"))
        )

    @property
    def bits(self) -> int:
        """The length of an address in bits."""
        return ADDRESS_BITS[self.family]

    @property
    def prefix_length(self) -> int:
        """The length of the prefix that the range is."""
        return self.bits - (self.size - 1).bit_length()

    def __str__(self) -> str:
        return f"{self.spell(self.first)}/{self.prefix_length}"


class LinkAddresses(NamedTuple):
    """The addresses of a link's ends: the lower switch's, then the other's, which are a /31 or a /127."""

    family: AddressFamily
    lower: str
    far: str

    @property
    def length(self) -> int:
        """The length of the prefix of both."""
        return ADDRESS_BITS[self.family] - 1


def format_ipv4_address(address: int) -> str:
    """Spell an IPv4 address."""
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPlan:
    """Where every address of the fabric comes from; of each kind a pool of IPv4, of IPv6 or of both, IPv4 first."""

    loopbacks: tuple[AddressPoolRange, ...]
    links: tuple[AddressPoolRange, ...]
    """None where BGP goes by interfaces."""
    endpoints: tuple[AddressPoolRange, ...]
    oob: AddressPoolRange
    vlans: Mapping[str, tuple[AddressPoolRange, ...]]
    """Pools of the groups whose ports share a VLAN on each switch, by group."""
    slots: int
    """Links to hosts, and as many upwards, for which a switch has IPv4 addresses."""

    @property
    def families(self) -> tuple[AddressFamily, ...]:
        """The families that are routed."""
        of_vlans = (pool for pools in self.vlans.values() for pool in pools)
        used = {pool.family for pool in (*self.loopbacks, *self.endpoints, *of_vlans)}
        return tuple(family for family in ADDRESS_FAMILIES if family in used)

    def loopback(self, node: PlannedSwitch) -> tuple[str, ...]:
        """Return a device's loopback addresses with their prefix lengths."""
        return tuple(
            f"{pool.spell(pool.share_of_tier(node.tier).first + node.number_in_tier)}/{pool.bits}"
            for pool in self.loopbacks
        )

    def router_id(self, node: PlannedSwitch) -> str:
        """Return a device's own number in BGP, 32 bits as RFC 4271 has it: its IPv4 loopback, else its own port's."""
        loopback_address = self.loopback(node)[0].partition("/")[0]
        return format_ipv4_address(self.management(node)) if ":" in loopback_address else loopback_address

    def management(self, node: PlannedSwitch) -> int:
        """Return a device's out-of-band address."""
        return self.oob.share_of_tier(node.tier).first + node.number_in_tier

    @property
    def management_gateway(self) -> int:
        """The out-of-band gateway: the last usable address of the subnet."""
        return self.oob.first + self.oob.size - 2

    def link(self, cable: FabricCable) -> tuple[LinkAddresses, ...]:
        """Return the addresses of a fabric link: the upper switch has the upper one."""
        lower, port = cable.lower, cable.lower_port
        return tuple(self._pair(pool, pool.share_of_tier(lower.tier).first, lower, port) for pool in self.links)

    def host(self, cable: HostCable) -> tuple[str, ...]:
        """Return the addresses of a host's port with their prefix lengths: of its link, or in its group's VLAN.

        In a VLAN the gateway has the first address of the switch's subnet, and a port that of its slot behind it.
        """
        if cable.group not in self.vlans:
            return tuple(f"{pair.far}/{pair.length}" for pair in self.endpoint(cable))
        port = cable.address_port
        slot = (port.panel - 1) * cable.switch.model.max_split + port.split
        blocks = self.vlan_blocks(cable.group, cable.switch)
        return tuple(f"{block.spell(block.first + 2 + slot)}/{block.prefix_length}" for block in blocks)

    def endpoint(self, cable: HostCable) -> tuple[LinkAddresses, ...]:
        """Return the addresses of an endpoint link: the host has the upper one; none where it is in a VLAN."""
        if cable.group in self.vlans:
            return ()
        return tuple(self._pair(pool, pool.first, cable.switch, cable.address_port) for pool in self.endpoints)

    def endpoint_blocks(self, switch: PlannedSwitch) -> tuple[AddressPoolRange, ...]:
        """Return the blocks that hold all endpoint links of a switch."""
        return self._blocks_of_switch(self.endpoints, switch)

    def vlan_blocks(self, group: str, switch: PlannedSwitch) -> tuple[AddressPoolRange, ...]:
        """Return the subnets of a group's VLAN on a switch."""
        return self._blocks_of_switch(self.vlans[group], switch)

    def gateway_addresses(self, group: str, switch: PlannedSwitch) -> tuple[str, ...]:
        """Return a switch's own addresses in a group's VLAN with their prefix lengths."""
        blocks = self.vlan_blocks(group, switch)
        return tuple(f"{block.spell(block.first + 1)}/{block.prefix_length}" for block in blocks)

    def _blocks_of_switch(
        self, pools: tuple[AddressPoolRange, ...], switch: PlannedSwitch
    ) -> tuple[AddressPoolRange, ...]:
        return tuple(
            AddressPoolRange(first=pool.first + size * switch.number_in_tier, size=size, family=pool.family)
            for pool in pools
            for size in (self._block_size(pool),)
        )

    def block_prefix_length(self, pool: AddressPoolRange) -> int:
        """Return the length of the network that each switch has of a pool for links to hosts, or for a VLAN."""
        return pool.bits - (self._block_size(pool) - 1).bit_length()

    def _block_size(self, pool: AddressPoolRange) -> int:
        return 2 * self.slots if pool.family == "ipv4" else _IPV6_BLOCK_ADDRESSES

    def _pair(self, pool: AddressPoolRange, base_address: int, switch: PlannedSwitch, port: SplitPort) -> LinkAddresses:
        panel = port.panel - 1 if pool.family == "ipv4" else port.panel
        low = (
            base_address
            + switch.number_in_tier * self._block_size(pool)
            + 2 * (panel * switch.model.max_split + port.split)
        )
        return LinkAddresses(pool.family, pool.spell(low), pool.spell(low + 1))


def power_of_two_port_slots(switch_model: SwitchModel) -> int:
    """Return the smallest power of two that holds the ports times splits of a switch's model."""
    return 1 << (_max_split_port_count(switch_model) - 1).bit_length()


def _max_split_port_count(switch_model: SwitchModel) -> int:
    return max(switch_model.panels) * switch_model.max_split


def plan_addresses(intent: Intent, switches: PlannedSwitches, problems: list[IntentFault]) -> AddressPlan:
    """Return the plan; pools that overlap, or that a device's number exceeds, are problems."""
    topology = topology_of(intent)
    pools = {key: _parse_pools(("addressing", key), getattr(intent.addressing, key), problems) for key in _POOL_KEYS}
    vlans = {
        name: _parse_pools(("endpoints", name, "vlan", "pool"), group.vlan.pool, problems)
        for name, group in intent.endpoints.items()
        if group.vlan is not None
    }
    plan = AddressPlan(
        slots=_slots_per_device(topology, intent.topology.slots_per_device, problems),
        loopbacks=pools["loopbacks"],
        links=pools["links"],
        endpoints=pools["endpoints"],
        oob=pools["oob"][0],
        vlans=vlans,
    )
    problems += _pool_overlaps(_pools_by_keys(plan))
    problems += _exhausted_pools(topology, switches, plan)
    problems += _link_pool_faults(topology, intent.routing, plan)
    return plan


_KeyPath = tuple[str, ...]


def _pools_by_keys(plan: AddressPlan) -> dict[_KeyPath, tuple[AddressPoolRange, ...]]:
    """Return all pools by the keys of an intent that declare them."""
    of_fabric: dict[_KeyPath, tuple[AddressPoolRange, ...]] = {
        ("addressing", "loopbacks"): plan.loopbacks,
        ("addressing", "links"): plan.links,
        ("addressing", "endpoints"): plan.endpoints,
        ("addressing", "oob"): (plan.oob,),
    }
    return of_fabric | {("endpoints", name, "vlan", "pool"): pools for name, pools in plan.vlans.items()}


def _render_keys(keys: _KeyPath) -> str:
    """Return keys in the form of a message, without a leading `addressing`."""
    return ".".join(keys[1:] if keys[0] == "addressing" else keys)


def _parse_pools(
    keys: _KeyPath, declared: tuple[str, ...] | str | None, problems: list[IntentFault]
) -> tuple[AddressPoolRange, ...]:
    """Return the pools that are declared for something, IPv4 first."""
    declared = declared or ()
    pools: dict[AddressFamily, AddressPoolRange] = {}
    networks = [netaddr.IPNetwork(text) for text in ([declared] if isinstance(declared, str) else declared)]
    for network in networks:
        family: AddressFamily = "ipv4" if network.version == 4 else "ipv6"
        if family in pools:
            count = sum(pool_network.version == network.version for pool_network in networks)
            several = KeyFault(
                keys, f"{count} {TITLE_BY_ADDRESS_FAMILY[family]} pools", f"one {TITLE_BY_ADDRESS_FAMILY[family]} pool"
            )
            problems += [several] if several not in problems else []
        else:
            pools[family] = AddressPoolRange(first=network.first, size=network.size, family=family)
    return tuple(pools[family] for family in sorted(pools))


def model_with_most_slots(topology: Topology) -> SwitchModel:
    """Return the model with the most ports times splits, of switches that links take their addresses from."""
    return max(map(model_of, _groups_owning_link_addresses(topology)), key=_max_split_port_count)


def _groups_owning_link_addresses(topology: Topology) -> list[TierSwitchGroup]:
    """Return the groups whose switches links take their addresses from: those with hosts, or with links upwards."""
    return [group for group in topology.groups if group.tier == 0 or topology.joins_above(group)]


def pool_divisor_of_tier(tier: int) -> int:
    """Return how many parts as large as that of a tier, 0 next to the hosts, a pool has."""
    return TIER_SHARES_PER_POOL if tier < TIER_SHARES_PER_POOL - 1 else 2 * TIER_SHARES_PER_POOL


def _pool_blocks_needed(node: PlannedSwitch) -> int:
    return (node.number_in_tier + 1) * pool_divisor_of_tier(node.tier)


def _slots_per_device(topology: Topology, stated: int | None, problems: list[IntentFault]) -> int:
    model = model_with_most_slots(topology)
    least = power_of_two_port_slots(model)
    declared = stated or least
    if declared < least:
        expected = f"at least {least}, for {model.name} has {max(model.panels)} ports of up to {model.max_split} splits"
        problems.append(KeyFault(("topology", "slots_per_device"), str(declared), expected))
    return declared


def _link_pool_faults(topology: Topology, routing: Routing, plan: AddressPlan) -> Iterator[KeyFault]:
    """Yield pools of links that are missing, and those that nothing needs."""
    keys, families = ("addressing", "links"), {pool.family for pool in plan.links}
    if not topology.joins:
        if plan.links:
            fault = f"{', '.join(map(str, plan.links))}, where no switches are linked"
            yield KeyFault(keys, fault, "no pool")
        return
    if routing.sessions == "unnumbered":
        if plan.links:
            fault = f"{', '.join(map(str, plan.links))}, where sessions are unnumbered"
            yield KeyFault(keys, fault, "no pool: ports between switches have link-local addresses alone")
        return
    for family in plan.families:
        if family not in families:
            pool_names = (
                _render_keys(keys) for keys, pools in _pools_by_keys(plan).items() if _has_family(pools, family)
            )
            routed = " and ".join(name for name in pool_names if name != "oob")
            fault = f"no {TITLE_BY_ADDRESS_FAMILY[family]} pool, but {routed} of {TITLE_BY_ADDRESS_FAMILY[family]}"
            hint = "or routing: {sessions: unnumbered}, which carries both families and needs no pool of links"
            yield KeyFault(keys, fault, f"one {TITLE_BY_ADDRESS_FAMILY[family]} pool", hint)
    for pool in plan.links:
        if pool.family not in plan.families:
            fault = f"{pool}, but no loopbacks or endpoints of {TITLE_BY_ADDRESS_FAMILY[pool.family]}"
            yield KeyFault(keys, fault, "pools of the families of loopbacks and endpoints")


def _has_family(pools: tuple[AddressPoolRange, ...], family: AddressFamily) -> bool:
    return any(pool.family == family for pool in pools)


def _pool_overlaps(pools: Mapping[_KeyPath, tuple[AddressPoolRange, ...]]) -> Iterator[KeyFault]:
    every = [(keys, pool) for keys, own_pools in pools.items() for pool in own_pools]
    for index, (keys, pool) in enumerate(every):
        for other_keys, other_pool in every[:index]:
            if pool.family != other_pool.family:
                continue
            if pool.first < other_pool.first + other_pool.size and other_pool.first < pool.first + pool.size:
                fault = f"{pool} overlaps {_render_keys(other_keys)}, {other_pool}"
                yield KeyFault(keys, fault, "a separate pool")


def _exhausted_pools(topology: Topology, switches: PlannedSwitches, plan: AddressPlan) -> Iterator[KeyFault]:
    """Yield the pools that are too small for the largest id, with the prefix length that is enough."""
    last = max(switches.all, key=_pool_blocks_needed)
    last_at_hosts = max(switches.lowest, key=_pool_blocks_needed)
    last_below = max(
        (node for group in _groups_owning_link_addresses(topology) for node in switches.groups[group]),
        key=_pool_blocks_needed,
    )
    for keys, pools in _pools_by_keys(plan).items():
        links = keys[-1] not in ("loopbacks", "oob")
        whole = keys[-1] in ("endpoints", "pool")
        node = last if not links else last_at_hosts if whole else last_below
        shares = 1 if whole else pool_divisor_of_tier(node.tier)
        for pool in pools:
            blocks = links and pool.family == "ipv6"
            block = _IPV6_BLOCK_ADDRESSES if blocks else 2 * plan.slots if links else 1
            needed, size = block * (node.number_in_tier + 1), pool.size // shares
            if needed > size:
                share = f"the {pool} pool" if len(pools) > 1 else "the pool"
                share = share if whole else f"its tier's {_FRACTION_WORD_BY_PARTS[shares]} of {share}"
                noun, unit = ("/64s", _IPV6_BLOCK_ADDRESSES) if blocks else ("addresses", 1)
                fault = f"{node.name} needs {needed // unit} {noun} from the start of {share}, which has {size // unit}"
                length = pool.bits - (needed * shares - 1).bit_length()
                enough = length >= _SHORTEST_POOL_PREFIX_LENGTH[pool.family]
                hint = f"a /{length} holds it" if enough else "no pool is that large; use smaller ids"
                yield KeyFault(keys, fault, hint=hint)
