"""Addresses and prefixes as numbers, which routing compares by the thousand."""

import re
from functools import cache, lru_cache
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.units import parse_whole_number

_IPV4_ADDRESS_PATTERN = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?!$)|$)){4}")
"""As ipaddress takes it, which needs ten times as long."""
_MAX_KEPT_ADDRESSES = 1 << 21
"""More than the ports and sessions of 10,000 switches state: a smaller cache forgets each before it is read again."""


class Prefix(NamedTuple):
    """A prefix: its family, its first address as a number, and its length in bits."""

    family: AddressFamily
    first: int
    length: int

    def __str__(self) -> str:
        return _format_prefix(self.family, self.first, self.length)

    @property
    def is_link_local(self) -> bool:
        """Whether its addresses mean something on one link only."""
        return _IPV6_LINK_LOCAL_PREFIX.covers(self)

    def covers(self, subnet: "Prefix") -> bool:
        """Whether `subnet` lies in it, or is the same."""
        return (
            self.family == subnet.family
            and self.length <= subnet.length
            and self.first_address_around(subnet) == self.first
        )

    def contains_address(self, address: "Address") -> bool:
        """Whether an address lies in it."""
        return self.family == address.family and network_address(self.family, address.number, self.length) == self.first

    def first_address_around(self, subnet: "Prefix") -> int:
        """Return the first address of the prefix around `subnet` that has this prefix's length."""
        return network_address(subnet.family, subnet.first, self.length)


class Address(NamedTuple):
    """An address as a number, with its family."""

    family: AddressFamily
    number: int

    def __str__(self) -> str:
        return str(ip_address(self.number) if self.family == "ipv4" else IPv6Address(self.number))

    @property
    def is_link_local(self) -> bool:
        """Whether it means something on one link only (RFC 4291, section 2.5.6)."""
        return _IPV6_LINK_LOCAL_PREFIX.contains_address(self)


@lru_cache(maxsize=1 << 18)
def _format_prefix(family: AddressFamily, first: int, length: int) -> str:
    return f"{Address(family, first)}/{length}"


_IPV6_LINK_LOCAL_PREFIX = Prefix("ipv6", 0xFE80 << 112, 10)


def network_address(family: AddressFamily, number: int, length: int) -> int:
    """Return the first address of the prefix of that length around an address."""
    spare = ADDRESS_BITS[family] - length
    return number >> spare << spare


@lru_cache(maxsize=_MAX_KEPT_ADDRESSES)
def parse_address(text: str) -> Address | None:
    """Read an address, with or without a prefix length behind it; None where it is none."""
    alone = text.partition("/")[0]
    if _IPV4_ADDRESS_PATTERN.fullmatch(alone):
        return Address("ipv4", int.from_bytes(map(int, alone.split(".")), "big"))
    try:
        read = ip_address(alone)
    except ValueError:
        return None
    return Address("ipv4" if read.version == 4 else "ipv6", int(read))


@cache
def _default_prefix(family: AddressFamily) -> Prefix:
    return Prefix(family, 0, 0)


@lru_cache(maxsize=_MAX_KEPT_ADDRESSES)
def parse_prefix(text: str) -> Prefix | None:
    """Read a prefix, whose host bits may be set; without a length it is an address alone. None where it is none."""
    if text in ("default", "default6"):
        return _default_prefix("ipv6" if text.endswith("6") else "ipv4")
    found_address = parse_address(text)
    if found_address is None:
        return None
    _, slash, length = text.partition("/")
    most = ADDRESS_BITS[found_address.family]
    bits = parse_whole_number(length, most) if slash else most
    if bits is None:
        return None
    return Prefix(found_address.family, network_address(found_address.family, found_address.number, bits), bits)
