"""Identifiers that must be unique in one command: names, management addresses, cable ends, prefixes, AS numbers.

`FabricIdentifiers` belong to one fabric, in a form small enough to travel between processes and into the cache.
Comparing them with those of other fabrics shows which fabrics have something in common; the analyses then compare these
fabrics alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from socket import inet_aton
from typing import Literal, NamedTuple

from nodrop.model.addresses import LINK_OR_SWITCH_LOCAL_PREFIXES, interface_of, strip_prefixes_and_link_locals
from nodrop.model.assemble import DEFAULT_FABRIC_NAME
from nodrop.model.fabric import Device, Fabric
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject

IdentifierKind = Literal["loopback addresses", "link prefixes", "host prefixes", "AS numbers"]
"""What may repeat in fabrics that no cable joins."""

_LINK_PREFIXES: IdentifierKind = "link prefixes"
_HOST_PREFIXES: IdentifierKind = "host prefixes"

AddressOrNumberRange = tuple[int, int, int]
"""The version of IP, or 0 for other numbers, and the first and the last of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricIdentifiers:
    """The identifiers of one fabric."""

    fabric: str
    """The stated name, or nothing."""
    devices: tuple[str, ...] = ()
    management: tuple[str, ...] = ()
    """Out-of-band addresses without their prefix lengths."""
    nodes: tuple[str, ...] = ()
    """What cables lead to and no file describes: hosts, and switches of other fabrics."""
    numbers: tuple[tuple[str, str, str], ...] = ()
    """Kind, first and last of all that may repeat; what is adjacent is one row. Prefixes are widened to blocks.

    A block is 256 addresses, of IPv6 a /64: fabrics with a block in common may have prefixes in common.
    """


def identifiers_of(fabric: Fabric) -> FabricIdentifiers:
    """Return the identifiers of a fabric."""
    own_names = {device.name for device in fabric.devices}
    ends = {end.node for link in fabric.links for end in (link.a, link.b)}
    number_ranges = _number_ranges_by_kind(fabric)
    return FabricIdentifiers(
        fabric="" if fabric.name == DEFAULT_FABRIC_NAME else fabric.name,
        devices=tuple(sorted(own_names)),
        management=tuple(sorted({address for device in fabric.devices for address in management_addresses(device)})),
        nodes=tuple(sorted(ends - own_names)),
        numbers=tuple((kind, *ends) for kind in sorted(number_ranges) for ends in _merge_ranges(number_ranges[kind])),
    )


def _number_ranges_by_kind(fabric: Fabric) -> dict[IdentifierKind, set[AddressOrNumberRange]]:
    """Return the numbers of a fabric by kind, prefixes as blocks; most of them by the text before their last dot."""
    blocks: dict[IdentifierKind, set[str]] = {_LINK_PREFIXES: set(), _HOST_PREFIXES: set()}
    numbers_by_kind: dict[IdentifierKind, set[AddressOrNumberRange]] = {}
    for kind, subject, texts in find_addresses_and_as_numbers(fabric):
        if kind not in blocks:
            numbers_by_kind.setdefault(kind, set()).update(
                [span for _, span in IdentifierNumbersOfPart(kind, subject, texts).texts_with_ranges()]
            )
            continue
        for text in texts:
            if text[-3:-2] == "/" and text[-2:] >= "24" and ":" not in text:
                blocks[kind].add(text.rpartition(".")[0])
            elif (span := _network_range_of_address(text)) is not None:
                version, low, high = span
                within = 0xFF if version == 4 else (1 << 64) - 1
                numbers_by_kind.setdefault(kind, set()).add((version, low & ~within, high | within))
    for kind, heads in blocks.items():
        spans = [_network_range_of_address(f"{head}.0/24") for head in heads]
        if spans:
            numbers_by_kind.setdefault(kind, set()).update(span for span in spans if span is not None)
    return numbers_by_kind


def management_addresses(device: Device) -> tuple[str, ...]:
    """Return the out-of-band addresses of a switch, as far as they are known."""
    management = device.management
    return (
        ()
        if isinstance(management, Unknown) or management is None
        else strip_prefixes_and_link_locals(management.addresses)
    )


class IdentifierNumbersOfPart(NamedTuple):
    """Numbers of one kind that one part of a fabric has, as its files have them."""

    kind: IdentifierKind
    subject: Subject
    texts: tuple[str, ...]

    def texts_with_ranges(self) -> Iterator[tuple[str, AddressOrNumberRange]]:
        """Yield each number or prefix as a text and as a range, without addresses of one link only."""
        for text in self.texts:
            span = (0, int(text), int(text)) if self.kind == "AS numbers" else _network_range_of_address(text)
            if span is not None:
                yield text, span


def find_addresses_and_as_numbers(fabric: Fabric) -> Iterator[IdentifierNumbersOfPart]:
    """Yield all numbers of a fabric that may repeat, those of VRFs left out: each VRF is a separate network."""
    for device in fabric.devices:
        name = device.name
        for port in device.interfaces:
            addresses = port.addresses
            if (
                not isinstance(addresses, Unknown)
                and addresses
                and (port.vrf is None or not _is_non_default_vrf(port.vrf))
            ):
                to_host = not isinstance(port.side, Unknown) and port.side == "host"
                yield IdentifierNumbersOfPart(
                    _HOST_PREFIXES if to_host else _LINK_PREFIXES, (name, port.name, "addresses"), addresses
                )
        for channel in known_rows(device.port_channels):
            if not _is_non_default_vrf(channel.vrf):
                yield IdentifierNumbersOfPart(
                    _LINK_PREFIXES, (name, "@port_channels", channel.name, "addresses"), channel.addresses
                )
        for vlan in known_rows(device.vlans):
            if not _is_non_default_vrf(vlan.vrf):
                yield IdentifierNumbersOfPart(_HOST_PREFIXES, (name, "@vlans", vlan.key, "addresses"), vlan.addresses)
        yield from _loopback_addresses_and_as_number(device)


def _loopback_addresses_and_as_number(device: Device) -> Iterator[IdentifierNumbersOfPart]:
    bgp = None if isinstance(device.bgp, Unknown) else device.bgp
    shared = possible_anycast_addresses(device)
    for loopback in known_rows(device.loopbacks):
        own_texts = tuple(
            text for text in loopback.addresses if shared.isdisjoint(strip_prefixes_and_link_locals((text,)))
        )
        if not _is_non_default_vrf(loopback.vrf):
            yield IdentifierNumbersOfPart(
                "loopback addresses", (device.name, "@loopbacks", loopback.name, "addresses"), own_texts
            )
    if bgp is not None:
        yield IdentifierNumbersOfPart("AS numbers", (device.name, "@bgp", "asn"), (str(bgp.asn),))


def possible_anycast_addresses(device: Device) -> frozenset[str]:
    """Return the addresses that other switches may share: loopback addresses, if several, except the router id."""
    bgp = None if isinstance(device.bgp, Unknown) else device.bgp
    every = [
        address
        for loopback in known_rows(device.loopbacks)
        for address in strip_prefixes_and_link_locals(loopback.addresses)
    ]
    return frozenset(every if len(every) > 1 else ()) - {None if bgp is None else bgp.router_id}


def _is_non_default_vrf(vrf: str | None | Unknown) -> bool:
    return not isinstance(vrf, Unknown) and bool(vrf)


def _network_range_of_address(text: str) -> AddressOrNumberRange | None:
    """Return the first and the last address of the network that an address with a prefix length lies in."""
    if text.startswith(LINK_OR_SWITCH_LOCAL_PREFIXES):
        return None
    address, _, length = text.partition("/")
    if ":" not in address:
        try:
            hosts = (1 << (32 - int(length or 32))) - 1
            number = int.from_bytes(inet_aton(address), "big")
        except (OSError, ValueError):
            return None
        return 4, number & ~hosts, number | hosts
    interface = interface_of(text)
    if interface is None or not strip_prefixes_and_link_locals((text,)):
        return None
    return 6, int(interface.network[0]), int(interface.network[-1])


def _merge_ranges(spans: Iterable[AddressOrNumberRange]) -> Iterator[tuple[str, str]]:
    """Yield ranges as few as possible, as texts that sort as the numbers do: what overlaps or is adjacent is one."""
    version, first_number, last = -1, 0, -1
    for family, low, high in sorted(spans):
        if family == version and low <= last + 1:
            last = max(last, high)
            continue
        if version >= 0:
            yield _format_address_number(version, first_number), _format_address_number(version, last)
        version, first_number, last = family, low, high
    if version >= 0:
        yield _format_address_number(version, first_number), _format_address_number(version, last)


def _format_address_number(version: int, number: int) -> str:
    return f"{version}:{number:032x}" if version == 6 else f"{version}:{number:08x}"


def is_same_fabric(identifiers: FabricIdentifiers, other_identifiers: FabricIdentifiers, *, an_intent: bool) -> bool:
    """Whether two fabrics are states of the same fabric: an intent and its build, or switches that were collected.

    `an_intent` states that exactly one of them is an intent. Files of switches without a stated fabric are states of
    another fabric's switches where they have the same names and management addresses.
    """
    if an_intent and identifiers.fabric and identifiers.fabric == other_identifiers.fabric:
        return True
    fewer, further_identifiers = (
        (identifiers, other_identifiers) if not identifiers.fabric else (other_identifiers, identifiers)
    )
    collected = not fewer.fabric and bool(further_identifiers.fabric) and bool(fewer.devices)
    return (
        collected
        and set(fewer.devices) <= set(further_identifiers.devices)
        and set(fewer.management) <= set(further_identifiers.management)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIdentifiers:
    """Which fabrics have something in common: for each the earlier ones, and which of all belong together by cables."""

    pairs: Mapping[int, tuple[int, ...]]
    joined: Sequence[int]
    """By fabric, a number that is equal for fabrics that cables between their switches join."""


def find_shared_identifiers(fabrics: Sequence[FabricIdentifiers], *, one_site: bool) -> SharedIdentifiers:
    """Return which fabrics have an identifier in common, in time that is linear in the number of switches.

    Of several fabrics with one identifier each later one is paired with the first. In one site a name means the same
    switch or host in every fabric; else only in fabrics without a switch of the same name.
    """
    overlaps = _overlapping_fabric_pairs(fabrics) | _pairs_with_shared_text(
        [fabric_ids.management for fabric_ids in fabrics]
    )
    if one_site:
        overlaps |= _pairs_with_shared_text([fabric_ids.devices for fabric_ids in fabrics])
    overlaps |= {
        (later, earlier)
        for later, earlier in _pairs_with_shared_text([fabric_ids.nodes for fabric_ids in fabrics])
        if are_equal_names_same_device(fabrics[later], fabrics[earlier], one_site=one_site)
    }
    owners: dict[str, list[int]] = {}
    for at, fabric in enumerate(fabrics):
        for name in fabric.devices:
            owners.setdefault(name, []).append(at)
    joined = list(range(len(fabrics)))
    for at, identifiers in enumerate(fabrics):
        for node in identifiers.nodes:
            for owner in owners.get(node, ()):
                if are_equal_names_same_device(identifiers, fabrics[owner], one_site=one_site):
                    overlaps.add((max(at, owner), min(at, owner)))
                    old, new = sorted((joined[at], joined[owner]))[::-1]
                    joined = [new if number == old else number for number in joined]
    pairs: dict[int, list[int]] = {}
    for later, earlier in sorted(overlaps):
        pairs.setdefault(later, []).append(earlier)
    return SharedIdentifiers(
        pairs={later: tuple(earlier_fabrics) for later, earlier_fabrics in pairs.items()}, joined=joined
    )


def are_equal_names_same_device(
    identifiers: FabricIdentifiers, other_identifiers: FabricIdentifiers, *, one_site: bool
) -> bool:
    """Whether a name means the same switch or host in both fabrics."""
    return one_site or set(identifiers.devices).isdisjoint(other_identifiers.devices)


def _pairs_with_shared_text(rows: Sequence[Sequence[str]]) -> set[tuple[int, int]]:
    index_by_text: dict[str, int] = {}
    pairs = set()
    for at, texts in enumerate(rows):
        for text in texts:
            if (holder := index_by_text.setdefault(text, at)) != at:
                pairs.add((at, holder))
    return pairs


def _overlapping_fabric_pairs(fabrics: Sequence[FabricIdentifiers]) -> set[tuple[int, int]]:
    """Return pairs of fabrics whose numbers overlap: each range with the one that reaches furthest before it."""
    rows = sorted(
        ((kind, low, high, at) for at, fabric in enumerate(fabrics) for kind, low, high in fabric.numbers),
        key=itemgetter(0, 1, 3),
    )
    overlaps = set()
    reach: tuple[str, str, int] = ("", "", 0)
    for kind, low, high, at in rows:
        furthest, last, holder = reach
        if kind == furthest and low <= last:
            if holder != at:
                overlaps.add((max(at, holder), min(at, holder)))
            if high <= last:
                continue
        reach = (kind, high, at)
    return overlaps
