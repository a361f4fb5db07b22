"""Pools of addresses: those that policies name, else the least that hold what switches have by the plan's rule."""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from itertools import pairwise, repeat
from typing import Any, NamedTuple

from nodrop.design.addressing import TIER_SHARES_PER_POOL, pool_divisor_of_tier, power_of_two_port_slots
from nodrop.importing.parts import DerivedIntentPart, KeyPath, KeyTree, MissingIntentKey
from nodrop.importing.pools import (
    ROUND_PREFIX_LENGTH_BY_VERSION,
    InterfaceAddress,
    Network,
    address_bits,
    addresses_of,
    can_be_pool,
    find_smallest_network,
    find_spanning_pool,
    holds_addresses,
    widen_pool,
)
from nodrop.importing.tier_view import (
    CableLookup,
    GroupedSwitch,
    SwitchGroup,
    TierView,
    are_switches_unlinked,
    is_port_facing,
    most_common_value,
)
from nodrop.importing.tiers import likely_model
from nodrop.model.addresses import network_of
from nodrop.model.fabric import Device, Management, Port
from nodrop.model.routing import Bgp
from nodrop.model.states import known_rows

_IPV6_BLOCK_ADDRESSES = 2**64
_IP_VERSIONS = (4, 6)
_PRIVATE_IPV4_NETWORKS = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"))
"""Addresses for private networks (RFC 1918)."""
_OOB, _LINKS_IPV6 = "192.168.100.0/24", "fd00:1::/48"


class _AddressOffset(NamedTuple):
    """An address of a switch's link, and where it is behind the beginning of its block by the plan's rule."""

    tier: int
    number: int
    address: int
    behind: int


def derive_addressing(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return the pools, the least blocks of links, and what addresses cannot be had by the plan's rule."""
    named_pools = list(_prefix_list_pools(tier_view))
    slots = _count_ipv4_link_slots(tier_view, cables)
    least = _default_slots_per_device(tier_view)
    most = _PoolDemand.of(tier_view, slots or least)
    keys: KeyTree = {}
    guessed: dict[KeyPath, str] = {}
    lacking: list[str] = []
    for key, pools, needed in (
        (
            "loopbacks",
            [_find_loopback_pool(tier_view, named_pools, version) for version in _IP_VERSIONS],
            most.addresses_for_tiers,
        ),
        (
            "links",
            [_find_link_pool(tier_view, cables, version, slots) for version in _IP_VERSIONS],
            most.addresses_for_link_blocks,
        ),
        (
            "endpoints",
            [_find_endpoint_pool(tier_view, named_pools, version) for version in _IP_VERSIONS],
            most.addresses_for_host_blocks,
        ),
        ("oob", [_find_oob_network(tier_view)], most.addresses_for_tiers),
    ):
        found_pools = [pool for pool in pools if pool is not None and can_be_pool(pool)]
        wide = [widen_pool(pool, needed(pool.version)) for pool in found_pools]
        if found_pools != wide:
            guessed["addressing", key] = (
                f"addresses are not given out as here; {_render_pools(found_pools)} made wide enough for it"
            )
        if wide:
            keys[key] = _render_pools(wide)
        elif key != "links" or not (_has_unnumbered_sessions(tier_view) or are_switches_unlinked(tier_view, cables)):
            lacking.append(key)
    vlans, remarks = _vlan_pools(tier_view, named_pools, most)
    topology = {"slots_per_device": slots} if slots is not None and slots != least else {}
    tree: KeyTree = {"addressing": keys} if keys else {}
    if topology:
        tree["topology"] = topology
    if vlans:
        tree["vlans"] = vlans
    why = "no file has such addresses"
    texts = [text for subtree in (keys, vlans) for value in subtree.values() for text in _wrap_text_in_list(value)]
    free = _unused_pool_candidates(texts)
    examples: dict[str, object] = {key: next(free) if key != "oob" else _OOB for key in lacking}
    if "links" in examples and any(":" in text for text in texts):
        examples["links"] = [examples["links"], _LINKS_IPV6]
    return DerivedIntentPart(
        keys=tree,
        guessed=guessed,
        lacking={("addressing", key): MissingIntentKey(why, example) for key, example in examples.items()},
        left=tuple(remarks),
    )


def _render_pools(pools: list[Network]) -> object:
    return str(pools[0]) if len(pools) == 1 else [str(pool) for pool in pools]


def _wrap_text_in_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _unused_pool_candidates(taken: Iterable[str]) -> Iterator[str]:
    """Yield pools as they may be, without end: first those that overlap none that is taken."""
    networks = [taken_network for text in taken if isinstance(taken_network := network_of(text), IPv4Network)]
    every = [
        network
        for space in _PRIVATE_IPV4_NETWORKS
        for network in space.subnets(new_prefix=ROUND_PREFIX_LENGTH_BY_VERSION[4])
    ]
    yield from (
        str(network) for network in every if not any(network.overlaps(other_network) for other_network in networks)
    )
    yield from repeat(str(every[0]))


class _PoolDemand(NamedTuple):
    """The largest numbers, and for how many links a switch has addresses: what pools have to be wide enough for."""

    switches_needed: int
    """Addresses of a pool of which each switch has one, in its tier's share."""
    lowest: int
    blocks_needed: int
    """Blocks of a pool of which each switch with links upwards has one, in its tier's share."""
    slots: int

    @classmethod
    def of(cls, sight: TierView, slots: int) -> "_PoolDemand":
        """Return those of a fabric, of two switches at least."""
        lowest = max((box.number_in_tier for box in sight.host_facing_switches), default=0)
        switches, blocks = (
            max(
                (
                    pool_divisor_of_tier(group.tier) * (box.number_in_tier + 1)
                    for group in groups
                    for box in group.boxes
                ),
                default=0,
            )
            for groups in (sight.groups, _groups_owning_link_addresses(sight))
        )
        return cls(max(3 * TIER_SHARES_PER_POOL, switches), lowest, max(TIER_SHARES_PER_POOL, blocks), slots)

    def addresses_for_tiers(self, _version: int) -> int:
        """Return how many addresses a pool needs to give each tier a quarter."""
        return self.switches_needed

    def addresses_for_host_blocks(self, version: int) -> int:
        """Return how many addresses a pool needs to give each switch next to hosts a block."""
        return self._block_size(version) * (self.lowest + 1)

    def addresses_for_link_blocks(self, version: int) -> int:
        """Return how many addresses a pool needs to give each tier's share a block for each switch with links up."""
        return self._block_size(version) * self.blocks_needed

    def _block_size(self, version: int) -> int:
        return _IPV6_BLOCK_ADDRESSES if version == 6 else 2 * self.slots


def _groups_owning_link_addresses(sight: TierView) -> tuple[SwitchGroup, ...]:
    """Return the groups whose switches links take their addresses from: all but the top tier, and those at hosts."""
    top = max((group.tier for group in sight.groups), default=0)
    return tuple(group for group in sight.groups if group.tier == 0 or group.tier < top)


def _has_unnumbered_sessions(sight: TierView) -> bool:
    neighbors = [
        neighbor
        for box in sight.switches_from_lowest_tier
        if isinstance(box.device.bgp, Bgp)
        for neighbor in known_rows(box.device.bgp.neighbors)
    ]
    return any(neighbor.interface is not None for neighbor in neighbors)


def _default_slots_per_device(sight: TierView) -> int:
    """Return the slots that switches have unless an intent states more; of an unknown model, those of one that fits."""
    models = [likely_model(group.boxes) for group in _groups_owning_link_addresses(sight)]
    return max(map(power_of_two_port_slots, models or [likely_model(())]))


def _prefix_list_pools(sight: TierView) -> Iterator[tuple[Network, int]]:
    """Yield the networks that prefix lists let pass with longer prefixes, and the length of these."""
    seen = set()
    for box in sight.switches_from_lowest_tier:
        if not isinstance(box.device.bgp, Bgp):
            continue
        for names in box.device.bgp.prefix_lists:
            for rule in names.rules:
                if rule.action == "permit" and rule.ge is not None and (rule.prefix, rule.ge) not in seen:
                    seen.add((rule.prefix, rule.ge))
                    network = network_of(rule.prefix, host_bits=False)
                    if network is not None:
                        yield network, rule.ge


def _loopback_host_address(device: Device, version: int) -> InterfaceAddress | None:
    """Return a switch's own address: that of a loopback alone in its prefix."""
    texts = [text for loopback in known_rows(device.loopbacks) if loopback.vrf is None for text in loopback.addresses]
    return next((address for address in addresses_of(texts, version) if address.network.num_addresses == 1), None)


def _find_loopback_pool(sight: TierView, named_pools: list[tuple[Network, int]], version: int) -> Network | None:
    loopbacks: dict[int, list[tuple[int, int]]] = {}
    for group in sight.groups:
        loopbacks.setdefault(group.tier, []).extend(
            (box.number_in_tier, int(interface.ip))
            for box in group.boxes
            if (interface := _loopback_host_address(box.device, version))
        )
    every = [address for pairs in loopbacks.values() for _, address in pairs]
    if not every:
        return None
    for pool, longer in named_pools:
        if pool.version == version and longer == address_bits(version) and holds_addresses(pool, every):
            return pool
    starts = {
        tier: most_common_value(address - number for number, address in pairs) for tier, pairs in loopbacks.items()
    }
    if loopback := _pool_of_quarters({tier: start for tier, start in starts.items() if start is not None}, version):
        return loopback
    return find_smallest_network(every, version)


def _pool_of_quarters(starts: Mapping[int, int], version: int) -> Network | None:
    """Return the pool of which each tier has a quarter that begins there; None where these are no quarters of one."""
    for tier, start in starts.items():
        if tier and 0 in starts and (start - starts[0]) % tier == 0:
            size = (start - starts[0]) // tier * TIER_SHARES_PER_POOL
            if size > 0 and size & (size - 1) == 0:
                length = address_bits(version) - size.bit_length() + 1
                if pool := find_spanning_pool(starts[0], starts[0] + size - 1, version, length):
                    return pool
    return None


def _link_offsets(sight: TierView, cables: CableLookup, version: int, *, fabric: bool) -> list[_AddressOffset]:
    """Return the addresses of links by the plan's rule: twice the slot of a port behind the beginning of a block.

    A link between switches has those of its lower switch, a link to a host those of the switch.
    """
    offsets = []
    for group in _groups_owning_link_addresses(sight) if fabric else sight.groups_of_tier(0):
        likely = likely_model(group.boxes)
        for box in group.boxes:
            width = (box.model or likely).max_split
            downwards = cables.downward_ports(box.device.name)
            for name, port, texts in _ports_with_addresses(box):
                is_link = (box.device.name, name) in cables.switch_link_ends
                if is_link is not fabric or name in downwards:
                    continue
                for address in addresses_of(texts, version):
                    panel = port.panel - 1 if version == 4 else port.panel
                    if address.network.num_addresses == 2:
                        behind = 2 * (panel * width + port.split)
                        offsets.append(_AddressOffset(group.tier, box.number_in_tier, int(address.ip), behind))
    return offsets


def _ports_with_addresses(box: GroupedSwitch) -> Iterator[tuple[str, Port, tuple[str, ...]]]:
    """Yield the ports of a switch with their addresses, or those of the port channel that they are the first of."""
    of_channel = {
        channel.members[0]: channel.addresses for channel in known_rows(box.device.port_channels) if channel.members
    }
    for port in box.device.interfaces:
        if isinstance(port.port, Port):
            own_addresses = port.addresses if isinstance(port.addresses, tuple) else ()
            yield port.name, port.port, own_addresses or of_channel.get(port.name, ())


def _count_ipv4_link_slots(sight: TierView, cables: CableLookup) -> int | None:
    """Return the number of links that a switch has IPv4 addresses for; None where nothing states it."""
    for box in sight.host_facing_switches:
        for route in known_rows(box.device.static_routes):
            if route.next_hop == "blackhole" and ":" not in route.prefix:
                network = network_of(route.prefix, host_bits=False)
                if network is not None and network.num_addresses >= 2:
                    return network.num_addresses // 2
    for fabric in (True, False):
        starts: dict[tuple[int, int], set[int]] = {}
        for offset in _link_offsets(sight, cables, 4, fabric=fabric):
            starts.setdefault((offset.tier, offset.number), set()).add(offset.address - offset.behind)
        plain = sorted(
            (number, found.pop()) for (tier, number), found in starts.items() if not tier and len(found) == 1
        )
        steps = {
            (after - before) // (number - previous)
            for (previous, before), (number, after) in pairwise(plain)
            if number > previous and (after - before) % (number - previous) == 0
        }
        if len(steps) == 1 and (step := steps.pop()) >= 64 and step & (step - 1) == 0:
            return step // 2
    return None


def _find_link_pool(tier_view: TierView, cables: CableLookup, version: int, slots: int | None) -> Network | None:
    offsets = _link_offsets(tier_view, cables, version, fabric=True)
    block = _IPV6_BLOCK_ADDRESSES if version == 6 else 2 * (slots or _default_slots_per_device(tier_view))
    starts = {
        tier: most_common_value(
            each.address - each.behind - each.number * block for each in offsets if each.tier == tier
        )
        for tier in sorted({offset.tier for offset in offsets})
    }
    known = {tier: start for tier, start in starts.items() if start is not None}
    if 0 not in known:
        return find_smallest_network([offset.address for offset in offsets], version) if offsets else None
    if pool := _pool_of_quarters(known, version):
        return pool
    last = known[0] + block * (max(offset.number for offset in offsets) + 1) - 1
    fits = sum(each.address - each.behind - each.number * block == known.get(each.tier) for each in offsets)
    if fits * 2 > len(offsets):
        wide = find_spanning_pool(known[0], known[0] + (last - known[0] + 1) * TIER_SHARES_PER_POOL - 1, version)
        if wide is not None:
            return wide
    return find_smallest_network([offset.address for offset in offsets], version)


def _find_endpoint_pool(sight: TierView, named_pools: list[tuple[Network, int]], version: int) -> Network | None:
    blocks = [
        (box.number_in_tier, network)
        for box in sight.host_facing_switches
        for route in known_rows(box.device.static_routes)
        if route.next_hop == "blackhole"
        and (network := network_of(route.prefix)) is not None
        and network.version == version
    ]
    firsts = [int(block.network_address) for _, block in blocks]
    for pool, longer in named_pools:
        if firsts and pool.version == version and holds_addresses(pool, firsts) and longer == blocks[0][1].prefixlen:
            return pool
    if not blocks:
        return _find_host_network(sight, version)
    block_size = blocks[0][1].num_addresses
    first_address = most_common_value(int(block.network_address) - number * block_size for number, block in blocks)
    assert first_address is not None
    span = find_spanning_pool(
        first_address, first_address + block_size * (max(number for number, _ in blocks) + 1) - 1, version
    )
    return span or find_smallest_network(firsts, version)


def _find_host_network(sight: TierView, version: int) -> Network | None:
    """Return what holds the addresses of switches towards hosts, where no block is announced."""
    addresses = [
        int(address.ip)
        for box in sight.host_facing_switches
        for port in box.device.interfaces
        if not is_port_facing(port, "fabric") and isinstance(port.addresses, tuple)
        for address in addresses_of(port.addresses, version)
    ]
    return find_smallest_network(addresses, version) if addresses else None


def _vlan_pools(
    tier_view: TierView, named_pools: list[tuple[Network, int]], most: _PoolDemand
) -> tuple[dict[int, str | list[str]], list[str]]:
    """Return the pools of VLANs by number, and the parts of them that no key expresses.

    Each switch has a block of a pool, whose first address is its own. They are in the order of the policies that name
    them, which is that of their groups.
    """
    remarks = []
    gateways: dict[int, list[tuple[int, InterfaceAddress]]] = {}
    for box in tier_view.host_facing_switches:
        for vlan in known_rows(box.device.vlans):
            for version in _IP_VERSIONS:
                for address in addresses_of(vlan.addresses, version):
                    gateways.setdefault(vlan.id, []).append((box.number_in_tier, address))
    pools_by_vlan: dict[int, str | list[str]] = {}
    for number, own_gateways in gateways.items():
        pools = []
        for version in _IP_VERSIONS:
            rows = [(own, gateway) for own, gateway in own_gateways if gateway.version == version]
            if not rows:
                continue
            networks = [int(gateway.network.network_address) for _, gateway in rows]
            longer = rows[0][1].network.prefixlen
            fitting = (network for network, length in named_pools if network.version == version and length == longer)
            pool = next((candidate for candidate in fitting if holds_addresses(candidate, networks)), None)
            if pool is None:
                block_size = rows[0][1].network.num_addresses
                start = most_common_value(
                    int(gateway.network.network_address) - own * block_size for own, gateway in rows
                )
                assert start is not None
                ends = [*networks, max(networks) + block_size - 1]
                pool = (
                    find_spanning_pool(start, max(ends), version)
                    or find_smallest_network(ends, version)
                    or rows[0][1].network
                )
                if len({own for own, _ in rows}) > 1 and len(set(networks)) == 1:
                    pool = rows[0][1].network
                    remarks.append(f"VLAN {number} is {pool} on several switches; an intent has a subnet for each")
            pools.append(str(widen_pool(pool, most.addresses_for_host_blocks(version))))
        pools_by_vlan[number] = pools[0] if len(pools) == 1 else pools
    order = [str(pool) for pool, _ in named_pools]

    def place(number: int) -> int:
        pool = pools_by_vlan[number]
        first_pool = pool if isinstance(pool, str) else pool[0]
        return order.index(first_pool) if first_pool in order else len(order)

    return {number: pools_by_vlan[number] for number in sorted(pools_by_vlan, key=place)}, remarks


def _find_oob_network(sight: TierView) -> Network | None:
    texts = [
        text
        for box in sight.switches_from_lowest_tier
        if isinstance(box.device.management, Management)
        for text in box.device.management.addresses
    ]
    networks = [address.network for address in addresses_of(texts, 4) if address.network.prefixlen < 31]
    return most_common_value(networks)
