"""Stand-ins for neighbors outside the fabric: devices that do what the owner states of them, and no more.

A stand-in has the stated addresses at its ports, a session with every switch there, and announces the stated prefixes.
It has an address in each, to which packets can be sent. What its owner does not state, it does as the switch does.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address

from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily, other_address_of_pair
from nodrop.model.external import ExternalNeighbor
from nodrop.model.fabric import Device, Fabric, Interface, Loopback
from nodrop.model.index import Index
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import (
    Bgp,
    BgpNeighbor,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import Unknown, known_rows
from nodrop.model.values import replace_fields
from nodrop.routing.prefixes import Address, Prefix, network_address, parse_address, parse_prefix
from nodrop.units import parse_whole_number

STAND_IN_PLATFORM = "outside"
"""The platform of a stand-in, which no reader has: it has no files."""
_FIRST_ROUTER_ID = 0xC0000001
"""192.0.0.1: no network of a fabric has it (RFC 6890)."""
_MAX_EQUAL_PATHS = 64
_OWN_LIST_BY_FAMILY: Mapping[AddressFamily, str] = {"ipv4": "ANNOUNCED", "ipv6": "ANNOUNCED6"}
_TEST_ADDRESSES: Mapping[AddressFamily, Sequence[str]] = {
    "ipv4": ("203.0.113.254", "198.51.100.254", "192.0.2.254"),
    "ipv6": ("2001:db8:ffff:ffff::fffe",),
}
"""Addresses of networks for documentation (RFC 5737, RFC 3849), which are tried first."""
_MAX_TRIED_BLOCKS = 1024


def with_stand_ins(fabric: Fabric) -> Fabric:
    """Return a fabric with a stand-in for each neighbor outside whose number and announcements are stated."""
    devices = tuple(_stand_ins(fabric)) if fabric.external else ()
    return replace_fields(fabric, devices=(*fabric.devices, *devices)) if devices else fabric


def index_with_stand_ins(index: Index) -> Index:
    """Return the index of a fabric with its stand-ins; both keep the same results of analyses."""
    return index.enlarge(with_stand_ins) if index.fabric.external else index


def is_stand_in(device: Device) -> bool:
    """Whether a device is the stand-in for a neighbor outside."""
    return device.platform == STAND_IN_PLATFORM


def receives_prefix(fabric: Fabric, name: str, prefix: Prefix) -> bool:
    """Whether a neighbor outside receives a prefix by its statement, over a link of the same family."""
    for neighbor in fabric.external:
        if neighbor.name == name and prefix.family in _families(neighbor):
            return any(_permits(text, prefix) for text in known_rows(neighbor.receives))
    return False


def leaves_fabric(fabric: Fabric, name: str, to: Address) -> bool:
    """Whether packets to an address have arrived at a neighbor outside: it is in nothing that the fabric announces."""
    receives = (row for neighbor in fabric.external if neighbor.name == name for row in known_rows(neighbor.receives))
    return not any(prefix is not None and prefix.contains_address(to) for prefix in map(_widest_prefix, receives))


def addresses_outside(fabric: Fabric) -> Mapping[Prefix, tuple[Address, ...]]:
    """Return the addresses of a fabric's stand-ins by the prefix that they are announced in."""
    found: dict[Prefix, dict[Address, None]] = {}
    for device in filter(is_stand_in, fabric.devices):
        networks = [prefix for process in device.known_bgp_processes for prefix in map(parse_prefix, process.networks)]
        for text in (text for loopback in known_rows(device.loopbacks) for text in loopback.addresses):
            address = parse_address(text)
            around = [prefix for prefix in networks if prefix and address and prefix.contains_address(address)]
            if address is not None and around:
                found.setdefault(max(around, key=lambda prefix: prefix.length), {})[address] = None
    return {prefix: tuple(addresses) for prefix, addresses in found.items()}


def _widest_prefix(text: str) -> Prefix | None:
    """Return the prefix of a statement, which may add how long those inside it can be: `10.2.0.0/16 le 24`."""
    return parse_prefix(text.partition(" ")[0])


def _permits(text: str, prefix: Prefix) -> bool:
    wider, most = _widest_prefix(text), text.partition(" le ")[2]
    longest = parse_whole_number(most) if most else None
    return wider is not None and wider.covers(prefix) and prefix.length <= (longest or wider.length)


def _families(neighbor: ExternalNeighbor) -> Container[AddressFamily]:
    return {
        address.family
        for port in neighbor.ports
        for text in port.addresses
        if (address := parse_address(text)) is not None
    }


def _stand_ins(fabric: Fabric) -> Iterator[Device]:
    index = Index(fabric)
    stated = [
        (number, neighbor)
        for number, neighbor in enumerate(fabric.external)
        if neighbor.name not in index.devices
        and neighbor.ports
        and not isinstance(neighbor.asn, Unknown)
        and not isinstance(neighbor.announces, Unknown)
    ]
    announced = {
        neighbor.name: [
            prefix
            for text in known_rows(neighbor.announces)
            if (prefix := _widest_prefix(text)) is not None and prefix.family in _families(neighbor)
        ]
        for _, neighbor in stated
    }
    every = {prefix for prefixes in announced.values() for prefix in prefixes}
    samples = dict(_sample_addresses(fabric, every)) if every else {}
    for number, neighbor in stated:
        yield _stand_in(index, neighbor, number, announced[neighbor.name], samples)


def _stand_in(
    index: Index,
    neighbor: ExternalNeighbor,
    number: int,
    announced: Sequence[Prefix],
    samples: Mapping[Prefix, Address],
) -> Device:
    addresses = [samples[prefix] for prefix in announced if prefix in samples]
    bgp = Bgp(
        asn=neighbor.asn if isinstance(neighbor.asn, int) else 0,
        router_id=str(IPv4Address(_FIRST_ROUTER_ID + number)),
        networks=tuple(map(str, announced)),
        maximum_paths=_MAX_EQUAL_PATHS,
        maximum_paths_ipv6=_MAX_EQUAL_PATHS,
        multipath_relax=True,
        prefix_lists=tuple(_own_prefix_lists(announced)),
        route_maps=tuple(_own_route_maps()),
        neighbors=tuple(_sessions(index, neighbor)),
    )
    return Device(
        name=neighbor.name,
        platform=STAND_IN_PLATFORM,
        version=None,
        interfaces=tuple(_ports(index, neighbor)),
        loopbacks=(
            Loopback(name="lo", addresses=tuple(f"{address}/{ADDRESS_BITS[address.family]}" for address in addresses)),
        ),
        bgp=bgp,
        static_routes=tuple(
            StaticRoute(prefix=str(prefix), next_hop="blackhole")
            for prefix in announced
            if prefix.length < ADDRESS_BITS[prefix.family]
        ),
        extra=(),
        extra_lines=(),
    )


def _own_prefix_lists(announced: Sequence[Prefix]) -> Iterator[PrefixList]:
    """Yield a list for each family: a stand-in passes on nothing that it has from a switch."""
    for family in ADDRESS_FAMILIES:
        own = [str(prefix) for prefix in announced if prefix.family == family]
        rules = [PrefixRule(sequence=number, action="permit", prefix=text) for number, text in enumerate(own, 1)] or [
            PrefixRule(sequence=1, action="deny", prefix="any")
        ]
        yield PrefixList(name=_OWN_LIST_BY_FAMILY[family], family=family, rules=tuple(rules))


def _own_route_maps() -> Iterator[RouteMap]:
    for family, words in PREFIX_LIST_MATCH_BY_FAMILY.items():
        name = _OWN_LIST_BY_FAMILY[family]
        rule = RouteMapRule(sequence=10, action="permit", matches=((words, name),))
        yield RouteMap(name=name, rules=(rule,))


def _ports(index: Index, neighbor: ExternalNeighbor) -> Iterator[Interface]:
    for port in neighbor.ports:
        end = index.far_end(neighbor.name, port.name)
        near = None if end is None else index.interface(*end)
        yield Interface(
            name=port.name,
            addresses=port.addresses,
            mtu_bytes=None if near is None else near.mtu_bytes,
            speed_mbps=None if near is None else near.speed_mbps,
            side="fabric",
        )


def _sessions(index: Index, neighbor: ExternalNeighbor) -> Iterator[BgpNeighbor]:
    """Yield the sessions of a stand-in: with the other address of each pair, as the switch states it."""
    for port in neighbor.ports:
        end = index.far_end(neighbor.name, port.name)
        device = None if end is None else index.devices.get(end.node)
        for text in port.addresses:
            own, far = parse_address(text), other_address_of_pair(text)
            if own is None or far is None or device is None:
                continue
            process, statement = _statement_about(device, own)
            asn = None if process is None else process.asn
            if process is not None and statement is not None and not statement.has_refused_local_asn(process.asn):
                asn = statement.local_asn or asn
            if asn is None:
                continue
            wanted = statement or BgpNeighbor(
                address=str(own), active=own.family == "ipv4", ipv6=Ipv6Unicast(active=own.family == "ipv6")
            )
            yield BgpNeighbor(
                address=far,
                remote_asn=asn,
                active=wanted.active,
                export_policy=_OWN_LIST_BY_FAMILY["ipv4"],
                bfd=wanted.bfd,
                ttl_security_hops=wanted.ttl_security_hops,
                ebgp_multihop=wanted.ebgp_multihop,
                password=wanted.password,
                ipv6=Ipv6Unicast(active=wanted.ipv6.active, export_policy=_OWN_LIST_BY_FAMILY["ipv6"]),
                extended_next_hop=wanted.extended_next_hop,
            )


def _statement_about(device: Device, address: Address) -> tuple[Bgp | None, BgpNeighbor | None]:
    """Return the process of a switch with a statement about an address, and the statement; else its default process."""
    for process in device.known_bgp_processes:
        for statement in known_rows(process.neighbors):
            if statement.address is not None and parse_address(statement.address) == address:
                return process, statement
    return next(iter(device.known_bgp_processes), None), None


def _sample_addresses(fabric: Fabric, announced: Iterable[Prefix]) -> Iterator[tuple[Prefix, Address]]:
    """Yield an address in each announced prefix that is in no longer one, and in no network of the fabric."""
    inside = set(_networks_of_fabric(fabric))
    lengths = {
        family: sorted({prefix.length for prefix in inside if prefix.family == family}) for family in ADDRESS_BITS
    }
    all_announced = tuple(announced)
    for prefix in all_announced:
        longer = [other for other in all_announced if other != prefix and prefix.covers(other)]
        for address in _candidates(prefix):
            around = (
                Prefix(address.family, network_address(address.family, address.number, length), length)
                for length in lengths[address.family]
                if length > prefix.length
            )
            if not any(other.contains_address(address) for other in longer) and inside.isdisjoint(around):
                yield prefix, address
                break


def _candidates(prefix: Prefix) -> Iterator[Address]:
    """Yield addresses in a prefix: those of documentation first, then the first ones of its blocks."""
    for text in _TEST_ADDRESSES[prefix.family]:
        address = parse_address(text)
        if address is not None and prefix.contains_address(address):
            yield address
    bits = ADDRESS_BITS[prefix.family]
    block = min(8 if prefix.family == "ipv4" else 64, bits - prefix.length)
    for number in range(min(_MAX_TRIED_BLOCKS, 1 << (bits - prefix.length - block))):
        first = prefix.first + (number << block)
        yield Address(prefix.family, first + (1 if block > 1 else 0))


def _networks_of_fabric(fabric: Fabric) -> Iterator[Prefix]:
    for device in fabric.devices:
        texts = [address for port in device.interfaces for address in known_rows(port.addresses)]
        texts += [address for loopback in known_rows(device.loopbacks) for address in loopback.addresses]
        texts += [address for vlan in known_rows(device.vlans) for address in vlan.addresses]
        texts += [address for channel in known_rows(device.port_channels) for address in channel.addresses]
        texts += [route.prefix for route in known_rows(device.static_routes)]
        texts += [network for process in device.known_bgp_processes for network in process.networks]
        yield from (prefix for text in texts if (prefix := parse_prefix(text)) is not None)
    for neighbor in fabric.external:
        texts = [address for port in neighbor.ports for address in port.addresses]
        texts += known_rows(neighbor.receives)
        yield from (prefix for text in texts if (prefix := _widest_prefix(text)) is not None)
