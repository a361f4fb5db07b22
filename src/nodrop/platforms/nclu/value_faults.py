"""Values that NCLU refuses when a command is typed: the switch goes on without the command.

Values that the reader of the translated commands checks (MTU, speed, FEC, VLANs, breakout) are left to it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nodrop.model.addresses import interface_of
from nodrop.units import parse_whole_number

_NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_RANGE_PATTERN = re.compile(r"([A-Za-z][A-Za-z0-9_.]*?|)([0-9]{1,9})-([A-Za-z][A-Za-z0-9_.]*?|)([0-9]{1,9})")
_HOST_PATTERN = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_MOST_ASN, _MOST_PATHS, _MOST_SEQUENCE = 4_294_967_295, 256, 4_294_967_295
_ROUTE_SOURCES = (
    "babel", "connected", "eigrp", "isis", "kernel", "nhrp", "ospf", "ospf6", "pim", "rip", "ripng", "static",
)  # fmt: skip
_FLAG_WORDS = ("on", "off", "yes", "no")
_DISCARDING_HOPS = ("blackhole", "null0", "reject")


class ValueFault(NamedTuple):
    """A refused value, and the values that NCLU takes in its place."""

    found: str
    expected: str


def find_value_fault(words: Sequence[str]) -> ValueFault | None:
    """Return the first refused value of a command without its `net add`; None where there is none."""
    return next(_value_faults(list(words)), None)


def _value_faults(words: Sequence[str]) -> Iterator[ValueFault]:
    match words:
        case ["interface", names, *rest]:
            yield from _fault_of_names(names)
            yield from _faults_of_interface(rest)
        case [("loopback" | "loop"), "lo", *rest] | ["vlan", _, *rest]:
            yield from _faults_of_interface(rest)
        case ["bond", _, "bond", "slaves", *members]:
            yield from _fault_of_names(",".join(members))
        case ["time", "ntp", "server", server, *_]:
            yield from _fault_unless(_is_host, server, "an address or the name of a server")
        case ["dns", "nameserver", ("ipv4" | "ipv6"), server, *_] | ["syslog", "host", ("ipv4" | "ipv6"), server, *_]:
            yield from _fault_unless(_is_address, server, "an address")
        case ["bgp", "vrf", _, *rest] | ["bgp", *rest]:
            yield from _faults_of_bgp(rest)
        case ["routing", *rest]:
            yield from _faults_of_routing(rest)


def _faults_of_interface(words: Sequence[str]) -> Iterator[ValueFault]:
    match words:
        case [("ip" | "ipv6"), ("address" | "add"), "dhcp"]:
            return
        case [("ip" | "ipv6"), ("address" | "add"), address, *_]:
            yield from _fault_unless(_is_prefix, address, "an address and its length, such as 10.1.0.0/31")
        case [("ip" | "ipv6"), "address-virtual", _, address, *_]:
            yield from _fault_unless(_is_prefix, address, "an address and its length, such as 10.1.0.254/24")
        case ["ip", "gateway", address, *_]:
            yield from _fault_unless(_is_address, address, "an address")
        case ["link", "autoneg", value]:
            yield from _fault_unless(_FLAG_WORDS.__contains__, value, "on or off")


def _faults_of_bgp(words: Sequence[str]) -> Iterator[ValueFault]:
    match words:
        case ["autonomous-system", number]:
            yield from _fault_unless(_is_asn, number, f"a number from 1 to {_MOST_ASN}")
        case ["router-id", address]:
            yield from _fault_unless(_is_ipv4_address, address, "an IPv4 address")
        case [("ipv4" | "ipv6"), "unicast", *rest] | ["l2vpn", "evpn", *rest]:
            yield from _faults_of_bgp(rest)
        case ["neighbor", names, *rest]:
            yield from _fault_of_neighbors(names)
            yield from _faults_of_neighbor(rest)
        case ["network", prefix, *_]:
            yield from _fault_unless(_is_prefix, prefix, "a prefix, such as 10.2.0.0/24")
        case ["maximum-paths", "ibgp", number, *_] | ["maximum-paths", number, *_] if number != "ibgp":
            yield from _fault_unless(_is_number_to(_MOST_PATHS), number, f"a number from 1 to {_MOST_PATHS}")
        case ["redistribute", source, *_]:
            yield from _fault_unless(_ROUTE_SOURCES.__contains__, source, ", ".join(_ROUTE_SOURCES))


def _faults_of_neighbor(words: Sequence[str]) -> Iterator[ValueFault]:
    match words:
        case ["remote-as", number] | ["interface", "remote-as", number]:
            if number not in ("external", "internal"):
                yield from _fault_unless(_is_asn, number, f"external, internal or a number from 1 to {_MOST_ASN}")


def _faults_of_routing(words: Sequence[str]) -> Iterator[ValueFault]:
    match words:
        case ["route", prefix, hop, *_]:
            yield from _fault_unless(_is_prefix, prefix, "a prefix, such as 10.2.0.0/24")
            yield from _fault_unless(_is_next_hop, hop, "an address, an interface or blackhole")
        case ["prefix-list", ("ipv4" | "ipv6"), _, "seq", number, *rest]:
            yield from _fault_unless(_is_number_to(_MOST_SEQUENCE), number, f"a number from 1 to {_MOST_SEQUENCE}")
            yield from _faults_of_entry(rest)
        case ["route-map", _, action, number, *_]:
            yield from _fault_unless(("permit", "deny").__contains__, action, "permit or deny")
            yield from _fault_unless(_is_number_to(65_535), number, "a number from 1 to 65535")


def _faults_of_entry(words: Sequence[str]) -> Iterator[ValueFault]:
    match words:
        case [action, prefix, *_]:
            yield from _fault_unless(("permit", "deny").__contains__, action, "permit or deny")
            if prefix != "any":
                yield from _fault_unless(_is_prefix, prefix, "any or a prefix, such as 10.2.0.0/24")


def _fault_of_names(names: str) -> Iterator[ValueFault]:
    """Yield the fault of a list of interfaces: a range without an end, or one that ends before it begins."""
    has_prefix = False
    for name in names.split(","):
        if not (_is_name_or_range(name, has_prefix=has_prefix) or (has_prefix and name.isdecimal())):
            yield ValueFault(name, "interfaces, such as swp1-4,swp6")
            return
        has_prefix = True


def _is_name_or_range(name: str, *, has_prefix: bool) -> bool:
    """Whether a text is an interface, or a range of them, whose numbers may follow a prefix before it."""
    if scope := _RANGE_PATTERN.fullmatch(name):
        return (has_prefix or bool(scope[1])) and int(scope[2]) <= int(scope[4])
    return _NAME_PATTERN.fullmatch(name) is not None and not name.endswith("-")


def _fault_of_neighbors(names: str) -> Iterator[ValueFault]:
    if names[:1].isdigit() or ":" in names:
        yield from _fault_unless(_is_address, names, "an address, interfaces or a peer group")
    else:
        yield from _fault_of_names(names)


def _fault_unless(is_right: Callable[[str], bool], value: str, expected: str) -> Iterator[ValueFault]:
    if not is_right(value):
        yield ValueFault(value, expected)


def _is_prefix(text: str) -> bool:
    return interface_of(text) is not None


def _is_address(text: str) -> bool:
    return "/" not in text and interface_of(text) is not None


def _is_ipv4_address(text: str) -> bool:
    return ":" not in text and interface_of(text) is not None


def _is_host(text: str) -> bool:
    return _is_address(text) or _HOST_PATTERN.fullmatch(text) is not None


def _is_next_hop(text: str) -> bool:
    return _is_address(text) or text.lower() in _DISCARDING_HOPS or _NAME_PATTERN.fullmatch(text) is not None


def _is_asn(text: str) -> bool:
    return (parse_whole_number(text, _MOST_ASN) or 0) > 0


def _is_number_to(most: int) -> Callable[[str], bool]:
    return lambda text: (parse_whole_number(text, most) or 0) > 0
