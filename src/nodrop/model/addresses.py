"""Texts of addresses as values, None if a text is no address: the model holds the content of files, also nonsense."""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Literal

Address = IPv4Address | IPv6Address
InterfaceAddress = IPv4Interface | IPv6Interface
Network = IPv4Network | IPv6Network
AddressFamily = Literal["ipv4", "ipv6"]
ADDRESS_FAMILIES: tuple[AddressFamily, ...] = ("ipv4", "ipv6")
ADDRESS_BITS: Mapping[AddressFamily, int] = {"ipv4": 32, "ipv6": 128}
"""By family: the length of an address, and of the longest prefix."""
DEFAULT_ROUTE_BY_FAMILY: Mapping[AddressFamily, str] = {"ipv4": "0.0.0.0/0", "ipv6": "::/0"}


_OCTET_PATTERN = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4_PATTERN = re.compile(rf"{_OCTET_PATTERN}(?:\.{_OCTET_PATTERN}){{3}}(?:/(?:3[0-2]|[12]?[0-9]))?")
"""As `ipaddress` takes it, which needs ten times as long."""


def is_address_or_prefix(subject_text: str) -> bool:
    """Whether a text is an address, with or without the length of its prefix."""
    if _IPV4_PATTERN.fullmatch(subject_text) is not None:
        return True
    return (
        "." not in subject_text.partition("/")[2] and interface_of(subject_text) is not None
    )  # `ipaddress` takes masks too


@lru_cache(maxsize=1 << 16)
def address_of(text: str) -> Address | None:
    """Return the address that a text contains, without a prefix length; None if the text is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


@lru_cache(maxsize=1 << 16)
def interface_of(text: str) -> InterfaceAddress | None:
    """Return the address and network of a text; a missing length means the address alone. None if it is neither."""
    try:
        return ip_interface(text)
    except ValueError:
        return None


@lru_cache(maxsize=1 << 16)
def network_of(text: str, *, host_bits: bool = True) -> Network | None:
    """Return the network of a text; None if the text is none, or sets `host_bits` that it must not set."""
    try:
        return ip_network(text, strict=not host_bits)
    except ValueError:
        return None


def other_address_of_pair(text: str) -> str | None:
    """Return the other address of a network of two, such as 192.0.2.1 of 192.0.2.0/31; None in any other network."""
    interface = interface_of(text)
    if interface is None:
        return None
    number, spare_bits = int(interface.ip), interface.max_prefixlen - interface.network.prefixlen
    if spare_bits == 1:
        return str(type(interface.ip)(number ^ 1))
    return str(type(interface.ip)(number ^ 3)) if spare_bits == 2 and number & 3 in (1, 2) else None


LINK_OR_SWITCH_LOCAL_PREFIXES = ("127.", "169.254.", "fe80:", "::1")
"""How addresses begin that mean something on one link or switch only."""


def strip_prefixes_and_link_locals(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses without their prefix lengths, each written in one way, without those of one link."""
    texts = [text.partition("/")[0] for text in addresses]
    spelled = [_normalize_address(text) if ":" in text else text for text in texts]
    return tuple([text for text in spelled if not text.startswith(LINK_OR_SWITCH_LOCAL_PREFIXES)])


def _normalize_address(text: str) -> str:
    address = address_of(text)
    return text if address is None else str(address)
