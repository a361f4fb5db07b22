"""Pools of addresses: those that policies name, else the least that hold what switches have by the plan's rule."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network, ip_interface, ip_network
from itertools import pairwise
from typing import NamedTuple

from nodrop.design.addressing import slots_of
from nodrop.fabric.fabric import Device, Management, Port
from nodrop.fabric.routing import Bgp
from nodrop.fabric.states import those_known
from nodrop.importing.found import Found, Keys, Tree
from nodrop.importing.sight import LEAF, ROLES, Box, Cables, Sight, faces, usual

Network = IPv4Network | IPv6Network
Address = IPv4Interface | IPv6Interface
_BLOCK = 2**64
_TIER_SHARES = 4
_ROUND = {4: 16, 6: 48}
"""The prefix length of a pool that people write, where one of that length holds all."""
_FAMILIES = (4, 6)


class _Offset(NamedTuple):
    """An address of a leaf's link, and where it is behind the beginning of the leaf's block by the plan's rule."""

    leaf: int
    address: int
    behind: int


def addressing(sight: Sight, cables: Cables) -> Found:
    """Return the pools, the least blocks of links, and what addresses cannot be had by the plan's rule."""
    named = list(_named_pools(sight))
    keys: Tree = {}
    guessed: dict[Keys, str] = {}
    lacking: dict[Keys, str] = {}
    loopbacks = [_loopbacks(sight, named, version) for version in _FAMILIES]
    slots = _slots(sight, cables)
    links = [_links(sight, cables, version, slots) for version in _FAMILIES]
    blocks = [_endpoints(sight, named, version, slots) for version in _FAMILIES]
    oob = _oob(sight)
    for key, pools, example in (
        ("loopbacks", loopbacks, "10.0.0.0/16"),
        ("links", links, "10.1.0.0/16"),
        ("endpoints", blocks, "10.2.0.0/16"),
        ("oob", [oob], "192.168.100.0/24"),
    ):
        found = [str(pool) for pool in pools if pool is not None and _is_pool(pool)]
        if found:
            keys[key] = found[0] if len(found) == 1 else found
        elif key != "links" or not _unnumbered(sight):
            lacking["addressing", key] = f"no file says such addresses; such as {example}"
    vlans = _vlan_pools(sight, named)
    topology = {"slots_per_device": slots} if slots is not None and slots != _least(sight) else {}
    tree: Tree = {"addressing": keys} if keys else {}
    if topology:
        tree["topology"] = topology
    if vlans:
        tree["vlans"] = vlans
    return Found(keys=tree, guessed=guessed, lacking=lacking)


def _is_pool(network: Network) -> bool:
    """Whether a network can be a pool: of unicast addresses, and not all of them."""
    return network.prefixlen >= 8 and not (network.is_multicast or network.is_loopback or network.is_unspecified)


def _unnumbered(sight: Sight) -> bool:
    neighbors = [
        one for box in sight.boxes if isinstance(box.device.bgp, Bgp) for one in those_known(box.device.bgp.neighbors)
    ]
    return any(one.interface is not None for one in neighbors)


def _least(sight: Sight) -> int | None:
    models = [model for box in sight.leaves if (model := box.model)]
    return slots_of(models[0]) if models else None


def _named_pools(sight: Sight) -> Iterator[tuple[Network, int]]:
    """Yield the networks that prefix lists let pass with longer prefixes, and the length of these."""
    seen = set()
    for box in sight.boxes:
        if not isinstance(box.device.bgp, Bgp):
            continue
        for names in box.device.bgp.prefix_lists:
            for rule in names.rules:
                if rule.action == "permit" and rule.ge is not None and (rule.prefix, rule.ge) not in seen:
                    seen.add((rule.prefix, rule.ge))
                    try:
                        yield ip_network(rule.prefix), rule.ge
                    except ValueError:
                        continue


def _addresses(texts: Iterable[str], version: int) -> list[Address]:
    found = []
    for text in texts:
        try:
            one = ip_interface(text)
        except ValueError:
            continue
        if one.version == version and not one.ip.is_link_local:
            found.append(one)
    return found


def _own(device: Device, version: int) -> Address | None:
    """Return a switch's own address: that of a loopback alone in its prefix."""
    texts = [text for one in those_known(device.loopbacks) if one.vrf is None for text in one.addresses]
    return next((one for one in _addresses(texts, version) if one.network.num_addresses == 1), None)


def _bits(version: int) -> int:
    return 32 if version == 4 else 128


def _pool(first: int, last: int, version: int, length: int | None = None) -> Network | None:
    """Return a pool that begins at an address and holds another: of a round length where that can be."""
    made = IPv4Network if version == 4 else IPv6Network
    least = _bits(version) - (last - first).bit_length()
    if first < 0:
        return None
    for wanted in [length] if length is not None else [_ROUND[version], *range(least, 0, -1)]:
        if wanted <= least and first % (1 << (_bits(version) - wanted)) == 0:
            return made((first, wanted))
    return None


def _loopbacks(sight: Sight, named: list[tuple[Network, int]], version: int) -> Network | None:
    own = {
        role: [(box.id, int(one.ip)) for box in sight.tier(role) if (one := _own(box.device, version))]
        for role in ROLES
    }
    every = [address for pairs in own.values() for _, address in pairs]
    if not every:
        return None
    for pool, longer in named:
        if pool.version == version and longer == _bits(version) and _holds(pool, every):
            return pool
    first = {role: usual(address - number for number, address in pairs) for role, pairs in own.items()}
    low, high = first[LEAF], first[ROLES[1]]
    if low is not None and high is not None and high > low:
        size = (high - low) * _TIER_SHARES
        if size & (size - 1) == 0:
            found = _pool(low, low + size - 1, version, _bits(version) - size.bit_length() + 1)
            if found is not None:
                return found
    return _around(every, version)


def _holds(pool: Network, addresses: Iterable[int]) -> bool:
    low, high = int(pool.network_address), int(pool.broadcast_address)
    return all(low <= one <= high for one in addresses)


def _around(addresses: list[int], version: int) -> Network | None:
    """Return the least network that holds addresses."""
    made = IPv4Network if version == 4 else IPv6Network
    low, high = min(addresses), max(addresses)
    length = min(_bits(version) - (low ^ high).bit_length(), 30 if version == 4 else 112)
    shift = _bits(version) - length
    return made((low >> shift << shift, length))


def _offsets(sight: Sight, cables: Cables, version: int, *, fabric: bool) -> list[_Offset]:
    """Return the addresses of leaves' links by the plan's rule: twice the slot of a port behind a block's beginning."""
    found = []
    for box in sight.leaves:
        width = model.max_split if (model := box.model) else 1
        for name, port, texts in _links_of(box):
            if ((box.device.name, name) in cables.joined) is fabric:
                for one in _addresses(texts, version):
                    panel = port.panel - 1 if version == 4 else port.panel
                    if one.network.num_addresses == 2:
                        found.append(_Offset(box.id, int(one.ip), 2 * (panel * width + port.split)))
    return found


def _links_of(box: Box) -> Iterator[tuple[str, Port, tuple[str, ...]]]:
    """Yield the ports of a leaf with their addresses, or those of the port channel that they are the first of."""
    of_channel = {
        channel.members[0]: channel.addresses for channel in those_known(box.device.port_channels) if channel.members
    }
    for port in box.device.interfaces:
        if isinstance(port.port, Port):
            own = port.addresses if isinstance(port.addresses, tuple) else ()
            yield port.name, port.port, own or of_channel.get(port.name, ())


def _slots(sight: Sight, cables: Cables) -> int | None:
    """Return for how many links a leaf has IPv4 addresses; None where nothing says it."""
    for box in sight.leaves:
        for route in those_known(box.device.static_routes):
            if route.next_hop == "blackhole" and ":" not in route.prefix:
                try:
                    size = ip_network(route.prefix).num_addresses
                except ValueError:
                    continue
                if size >= 2:
                    return size // 2
    for fabric in (True, False):
        starts: dict[int, set[int]] = {}
        for one in _offsets(sight, cables, 4, fabric=fabric):
            starts.setdefault(one.leaf, set()).add(one.address - one.behind)
        plain = sorted((leaf, found.pop()) for leaf, found in starts.items() if len(found) == 1)
        steps = {
            (after - before) // (leaf - other)
            for (other, before), (leaf, after) in pairwise(plain)
            if (after - before) % (leaf - other) == 0
        }
        if len(steps) == 1 and (step := steps.pop()) >= 64 and step & (step - 1) == 0:
            return step // 2
    return None


def _start(offsets: list[_Offset], each: int) -> tuple[int, int] | None:
    """Return where a pool begins by most of its addresses, and the last address that its leaves need."""
    first = usual(one.address - one.behind - one.leaf * each for one in offsets)
    if first is None:
        return None
    return first, first + each * (max(one.leaf for one in offsets) + 1) - 1


def _links(sight: Sight, cables: Cables, version: int, slots: int | None) -> Network | None:
    offsets = _offsets(sight, cables, version, fabric=True)
    each = _BLOCK if version == 6 else 2 * (slots or _least(sight) or 0)
    found = _start(offsets, each)
    if found is None:
        return None
    first, last = found
    fits = sum(one.address - one.behind - one.leaf * each == first for one in offsets)
    if fits * 2 > len(offsets):
        pool = _pool(first, first + (last - first + 1) * _TIER_SHARES - 1, version)
        if pool is not None:
            return pool
    return _around([one.address for one in offsets], version)


def _endpoints(sight: Sight, named: list[tuple[Network, int]], version: int, slots: int | None) -> Network | None:
    blocks = [
        (box.id, ip_network(route.prefix, strict=False))
        for box in sight.leaves
        for route in those_known(box.device.static_routes)
        if route.next_hop == "blackhole" and (":" in route.prefix) == (version == 6)
    ]
    firsts = [int(block.network_address) for _, block in blocks]
    for pool, longer in named:
        if firsts and pool.version == version and _holds(pool, firsts) and longer == blocks[0][1].prefixlen:
            return pool
    if not blocks:
        return _of_ports(sight, version)
    each = blocks[0][1].num_addresses
    first = usual(int(block.network_address) - number * each for number, block in blocks)
    assert first is not None
    found = _pool(first, first + each * (max(number for number, _ in blocks) + 1) - 1, version)
    return found or _around(firsts, version)


def _of_ports(sight: Sight, version: int) -> Network | None:
    """Return what holds the addresses of leaves towards hosts, where no block is announced."""
    found = [
        int(one.ip)
        for box in sight.leaves
        for port in box.device.interfaces
        if not faces(port, "fabric") and isinstance(port.addresses, tuple)
        for one in _addresses(port.addresses, version)
    ]
    return _around(found, version) if found else None


def _vlan_pools(sight: Sight, named: list[tuple[Network, int]]) -> dict[int, str | list[str]]:
    """Return the pools of VLANs by number: each leaf has a block of it, whose first address is its own.

    They are in the order in which policies name them, which is that of their groups.
    """
    gateways: dict[int, list[tuple[int, Address]]] = {}
    for box in sight.leaves:
        for vlan in those_known(box.device.vlans):
            for version in _FAMILIES:
                for one in _addresses(vlan.addresses, version):
                    gateways.setdefault(vlan.id, []).append((box.id, one))
    found: dict[int, str | list[str]] = {}
    for number, own in gateways.items():
        pools = []
        for version in _FAMILIES:
            of = [(leaf, one) for leaf, one in own if one.version == version]
            if not of:
                continue
            networks = [int(one.network.network_address) for _, one in of]
            longer = of[0][1].network.prefixlen
            fitting = (one for one, length in named if one.version == version and length == longer)
            pool = next((one for one in fitting if _holds(one, networks)), None)
            if pool is None:
                each = of[0][1].network.num_addresses
                first = usual(int(one.network.network_address) - leaf * each for leaf, one in of)
                assert first is not None
                pool = _pool(first, max(networks) + each - 1, version) or _around(networks, version)
            pools.append(str(pool))
        found[number] = pools[0] if len(pools) == 1 else pools
    order = [str(pool) for pool, _ in named]

    def place(number: int) -> int:
        pool = found[number]
        first = pool if isinstance(pool, str) else pool[0]
        return order.index(first) if first in order else len(order)

    return {number: found[number] for number in sorted(found, key=place)}


def _oob(sight: Sight) -> Network | None:
    found = [
        text
        for box in sight.boxes
        if isinstance(box.device.management, Management)
        for text in box.device.management.addresses
    ]
    networks = [one.network for one in _addresses(found, 4) if one.network.prefixlen < 31]
    return usual(networks)
