"""The neighbors outside the fabric: routers, gateways and firewalls to which switches next to hosts speak BGP."""

import re
from typing import Annotated, NamedTuple

import netaddr
from pydantic import Field

from nodrop.intent.part import SchemaMapping
from nodrop.intent.topology import LANES_DESCRIPTION, Split
from nodrop.intent.types import (
    MAX_ASN,
    NAME_PATTERN,
    Bool,
    LengthM,
    ListOrOnlyEntry,
    Name,
    SpeedMbps,
    Text,
    scalar_of_parsed_text,
    scalar_of_whole,
)
from nodrop.units import MalformedText, parse_whole_number

DEFAULT_MAX_PREFIXES = 1000
"""Prefixes of a family that a session accepts until it is closed, if the intent states no other number."""
_ADDRESS_CHARACTERS = r"[0-9A-Fa-f.:]+"


class PanelPort(NamedTuple):
    """A panel port, and the part of it from 1 where it is split; 0 where it is whole."""

    panel: int
    part: int

    def __str__(self) -> str:
        return f"{self.panel}/{self.part}" if self.part else str(self.panel)


class AcceptedPrefix(NamedTuple):
    """A prefix that is accepted, and the length up to which longer ones inside it are; None accepts none of these."""

    prefix: str
    most: int | None

    def __str__(self) -> str:
        return self.prefix if self.most is None else f"{self.prefix} le {self.most}"


def _parse_panel_port(text: str) -> PanelPort:
    panel, slash, part = text.partition("/")
    numbers = parse_whole_number(panel), parse_whole_number(part) if slash else 0
    if numbers[0] and numbers[1] is not None and (numbers[1] or not slash):
        return PanelPort(numbers[0], numbers[1])
    raise MalformedText("a panel port such as 31, or 31/1 for the first part of one that is split")


def _parse_network(text: str) -> netaddr.IPNetwork | None:
    """Return an address with its prefix length; None where a text is none."""
    try:
        return netaddr.IPNetwork(text) if re.search("/[0-9]{1,3}$", text) else None
    except (netaddr.AddrFormatError, ValueError):
        return None


def _parse_link_address(text: str) -> str:
    network = _parse_network(text)
    bits = _address_bits(network) if network else 0
    if network is None or bits - network.prefixlen not in (1, 2) or not _is_unicast(network):
        raise MalformedText("the switch's own address in a /30, /31, /126 or /127, such as 192.0.2.0/31")
    if bits - network.prefixlen == 2 and int(network.ip) & 3 in (0, 3):
        raise MalformedText("one of the two addresses in the middle", f"{text}, the first or last of its network")
    return f"{network.ip}/{network.prefixlen}"


def _address_bits(network: netaddr.IPNetwork) -> int:
    return 32 if network.version == 4 else 128


def _is_unicast(network: netaddr.IPNetwork) -> bool:
    if network.version == 6:
        return network.first >> 125 == 0b001 or network.first >> 121 == 0b1111110
    return network.first >> 24 not in (0, 127) and network.first >> 28 < 0b1110


def _parse_accepted_prefix(text: str) -> AcceptedPrefix:
    match = re.fullmatch(rf"({_ADDRESS_CHARACTERS}/[0-9]{{1,3}})(?: le ([0-9]{{1,3}}))?", text)
    expected = "a prefix such as 0.0.0.0/0, or 10.64.0.0/10 le 24 with those inside it"
    network = _parse_network(match[1]) if match else None
    if match is None or network is None:
        raise MalformedText(expected)
    if network.ip != network.network:
        raise MalformedText(str(network.cidr), f"{match[1]} has host bits set")
    most = parse_whole_number(match[2]) if match[2] else None
    if match[2] and not (most is not None and network.prefixlen < most <= _address_bits(network)):
        raise MalformedText(f"le {network.prefixlen + 1} to {_address_bits(network)}", text)
    return AcceptedPrefix(str(network.cidr), most)


def _parse_announced(text: str) -> str:
    if "/" not in text:
        if re.fullmatch(NAME_PATTERN, text):
            return text
    elif network := _parse_network(text):
        if network.ip != network.network:
            raise MalformedText(str(network.cidr), f"{text} has host bits set")
        return str(network.cidr)
    raise MalformedText("endpoints, loopbacks, a group of hosts with a VLAN, or a prefix of one of these pools")


_PanelPortKey = Annotated[PanelPort, scalar_of_parsed_text(_parse_panel_port, "[0-9]{1,3}(/[0-9])?", numeric="integer")]
LinkAddresses = Annotated[
    tuple[Annotated[str, scalar_of_parsed_text(_parse_link_address, _ADDRESS_CHARACTERS + "/[0-9]{1,3}")], ...],
    ListOrOnlyEntry(),
]
AcceptedPrefixes = Annotated[
    tuple[
        Annotated[
            AcceptedPrefix,
            scalar_of_parsed_text(_parse_accepted_prefix, _ADDRESS_CHARACTERS + "/[0-9]{1,3}( le [0-9]{1,3})?"),
        ],
        ...,
    ],
    ListOrOnlyEntry(empty=True),
]
_Announced = Annotated[
    tuple[Annotated[str, scalar_of_parsed_text(_parse_announced, "[0-9A-Za-z.:_/-]+")], ...],
    ListOrOnlyEntry(empty=True),
]


class ExternalNeighbor(SchemaMapping):
    """A neighbor outside the fabric, by BGP: a WAN router, a storage gateway or a firewall, or several alike."""

    asn: Annotated[int, scalar_of_whole(1, MAX_ASN)] = Field(description="AS number of the neighbor")
    links: dict[Name, dict[_PanelPortKey, LinkAddresses]] = Field(
        min_length=1,
        description="by switch, next to hosts, and its panel port, the switch's address in a network of two: "
        "{leaf7: {31: 192.0.2.0/31}}; the neighbor has the other one; one of each family at most",
    )
    speed: SpeedMbps = Field(description="speed of each link, such as 100G")
    media: Text = Field(description="kind of cable or transceiver, such as DR4, SR4, AOC or DAC")
    length: LengthM = Field(description="cable length in metres, the longest of the links")
    split: Split = Field(1, description="into how many ports the panel ports of these links are broken out")
    lanes: Split | None = Field(None, description=LANES_DESCRIPTION)
    mtu: Annotated[int, scalar_of_whole(1280, 9216)] | None = Field(
        None, description="MTU of the ports, bytes; default: that of the fabric"
    )
    accept: AcceptedPrefixes = Field(
        (),
        description="prefixes that are accepted from it, and passed on in the fabric: 0.0.0.0/0 is the default route, "
        "10.64.0.0/10 le 24 a prefix and those inside it up to /24; never one of the fabric's pools; default: none",
    )
    max_prefixes: Annotated[int, scalar_of_whole(1, 4_000_000)] = Field(
        DEFAULT_MAX_PREFIXES, description="accepted prefixes of a family that close the session if there are more"
    )
    announce: _Announced = Field(
        ("endpoints",),
        description="pools whose networks are announced to it: endpoints, loopbacks, a group of hosts with a VLAN; or "
        "prefixes of a pool, such as 10.2.4.0/22; never what another neighbor outside announces",
        json_schema_extra={"default": "endpoints"},
    )
    bfd: Bool = Field(False, description="watch the sessions by BFD")
