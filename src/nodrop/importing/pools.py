"""Pools of addresses as people write them: networks around addresses, wide enough, and no longer than needed."""

from collections.abc import Iterable
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network

from nodrop.model.addresses import interface_of

Network = IPv4Network | IPv6Network
InterfaceAddress = IPv4Interface | IPv6Interface
ROUND_PREFIX_LENGTH_BY_VERSION = {4: 16, 6: 48}
"""The prefix length of a pool that people write, where one of that length holds all."""


def addresses_of(texts: Iterable[str], version: int) -> list[InterfaceAddress]:
    """Return the addresses of a version, 4 or 6, among texts; none of those that a link has by itself."""
    addresses = []
    for text in texts:
        interface = interface_of(text)
        if interface is not None and interface.version == version and not interface.ip.is_link_local:
            addresses.append(interface)
    return addresses


def address_bits(version: int) -> int:
    """Return the length of an address of a version."""
    return 32 if version == 4 else 128


def find_spanning_pool(first_address: int, last: int, version: int, length: int | None = None) -> Network | None:
    """Return a pool that begins at an address and holds another: of a round length where that can be."""
    network_class = IPv4Network if version == 4 else IPv6Network
    least = address_bits(version) - (last - first_address).bit_length()
    if first_address < 0:
        return None
    for prefix_length in (
        [length] if length is not None else [ROUND_PREFIX_LENGTH_BY_VERSION[version], *range(least, 0, -1)]
    ):
        if prefix_length <= least and first_address % (1 << (address_bits(version) - prefix_length)) == 0:
            return network_class((first_address, prefix_length))
    return None


def holds_addresses(pool: Network, addresses: Iterable[int]) -> bool:
    """Whether a pool has addresses, all of them."""
    low, high = int(pool.network_address), int(pool.broadcast_address)
    return all(low <= address <= high for address in addresses)


def find_smallest_network(addresses: list[int], version: int) -> Network | None:
    """Return the least network that holds addresses."""
    network_class = IPv4Network if version == 4 else IPv6Network
    low, high = min(addresses), max(addresses)
    length = min(address_bits(version) - (low ^ high).bit_length(), 30 if version == 4 else 112)
    shift = address_bits(version) - length
    return network_class((low >> shift << shift, length))


def widen_pool(pool: Network, needed: int) -> Network:
    """Return a pool, or the least around it that has so many addresses."""
    length = max(address_bits(pool.version) - (needed - 1).bit_length(), 8)
    return pool if pool.prefixlen <= length else pool.supernet(new_prefix=length)


def can_be_pool(network: Network) -> bool:
    """Whether a network can be a pool: of unicast addresses, and not all of them."""
    return network.prefixlen >= 8 and not (network.is_multicast or network.is_loopback or network.is_unspecified)
