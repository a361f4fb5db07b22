"""Addresses with two holders: ports, port channels, VLANs, loopbacks, out-of-band ports, and hosts as stated.

Out-of-band ports are compared with one another only, because they are a separate network; so is every VRF. A loopback
address that several switches share on purpose (anycast) is an address that each has in addition to another and none
uses as its router id; the gateway's address of a VLAN may be on every switch that has the VLAN. Addresses that mean
something on one link only are left out, and so is a loopback's own address that the switch's unnumbered ports borrow.
"""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.model.addresses import strip_prefixes_and_link_locals
from nodrop.model.fabric import Device
from nodrop.model.identifiers import possible_anycast_addresses
from nodrop.model.index import Index
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import FABRIC_HEAD, Subject

RESTS_ON = frozenset({"hosts"})
GIVES_CHANGES = True
LOOKS_AT = frozenset({"addresses", "vrf", "loopbacks", "port_channels", "vlans", "bgp", "management"})

_MAX_LISTED_ADDRESSES = 3


class _AddressHolder(NamedTuple):
    """A holder of an address: the node, its part, its subject, whether it is in a file, whether others may have it."""

    node: str
    part: str
    subject: Subject
    in_file: bool = True
    anycast: bool = False

    @property
    def words(self) -> str:
        """The holder in a message."""
        return f"{self.node} {self.part}"


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield a hit for every pair of nodes that share addresses, at the later one; several addresses are one hit.

    Of one node it is every pair of its holders.
    """
    first_holder: dict[tuple[str, str], _AddressHolder] = {}
    shared: dict[tuple[str, str], list[tuple[str, _AddressHolder, _AddressHolder]]] = {}
    for area, address, holder in _addresses_with_uniqueness_scope(index):
        earlier = first_holder.setdefault((area, address), holder)
        if earlier != holder and not (earlier.anycast and holder.anycast):
            within = earlier.node == holder.node
            pair = (earlier.words, holder.words) if within else (earlier.node, holder.node)
            shared.setdefault(pair, []).append((address, earlier, holder))
    for (other_discriminator, node), rows in shared.items():
        is_single_pair = len({(earlier, holder) for _, earlier, holder in rows}) == 1
        _, earlier, holder = rows[0]
        at = holder if holder.in_file else earlier
        addresses = [address for address, _, _ in rows]
        count_suffix = f" and {len(rows) - _MAX_LISTED_ADDRESSES} more" if len(rows) > _MAX_LISTED_ADDRESSES else ""
        yield AnalysisHit(
            subject=holder.subject if is_single_pair or not holder.in_file else (node,),
            at=_addresses_subject(at),
            facts={
                "holder": holder.words if is_single_pair else node,
                "other": earlier.words if is_single_pair else other_discriminator,
                "addresses": ", ".join(addresses[:_MAX_LISTED_ADDRESSES]) + count_suffix,
            },
            related=((_addresses_subject(earlier), "the same address"),)
            if earlier.in_file and at is not earlier
            else (),
            discriminator=other_discriminator,
            changes=_loopback_address_change(index, (earlier, holder), addresses, first_holder)
            if is_single_pair
            else (),
        )
    for device in index.fabric.devices:
        if any(isinstance(port.addresses, Unknown) for port in device.interfaces):
            yield UndecidedSubject(subject=(device.name,), missing="interface.addresses")


def _loopback_address_change(
    index: Index, pair: Sequence[_AddressHolder], addresses: Sequence[str], taken: Container[tuple[str, str]]
) -> tuple[tuple[Subject, object], ...]:
    """Return the change that gives a loopback its switch's router id, if the switch also announces that address.

    Nothing where another part has the address, or where this may be so at both holders.
    """
    changes: list[tuple[Subject, object]] = []
    for holder in pair:
        device = index.devices.get(holder.node)
        bgp = None if device is None or isinstance(device.bgp, Unknown) else device.bgp
        if device is None or bgp is None or holder.subject[1:2] != ("@loopbacks",):
            continue
        own = f"{bgp.router_id}/32"
        stated = bgp.networks if isinstance(bgp.networks, tuple) else ()
        loopback = next(row for row in known_rows(device.loopbacks) if row.name == holder.subject[2])
        free = (_uniqueness_scope_of_vrf(loopback.vrf), str(bgp.router_id)) not in taken
        if len(addresses) == 1 and f"{addresses[0]}/32" in loopback.addresses and own in stated and free:
            kept = tuple(own if address == f"{addresses[0]}/32" else address for address in loopback.addresses)
            changes.append((_addresses_subject(holder), kept))
    return tuple(changes) if len(changes) == 1 else ()


def _sharable_loopback_addresses(device: Device) -> frozenset[str]:
    """Return the addresses of a switch's loopbacks that unnumbered ports may have too: those without a network."""
    loopbacks = known_rows(device.loopbacks)
    return frozenset(
        address for loopback in loopbacks for address in loopback.addresses if address.endswith(("/32", "/128"))
    )


def _addresses_subject(holder: _AddressHolder) -> Subject:
    return (*holder.subject, "addresses")


def _addresses_with_uniqueness_scope(index: Index) -> Iterator[tuple[str, str, _AddressHolder]]:
    """Yield every address with the area that must have it only once."""
    for device in index.fabric.devices:
        lent = _sharable_loopback_addresses(device)
        for port in device.interfaces:
            if isinstance(port.addresses, Unknown) or not port.addresses:
                continue
            area = _uniqueness_scope_of_vrf(None if isinstance(port.vrf, Unknown) else port.vrf)
            holder = _AddressHolder(device.name, port.name, (device.name, port.name))
            own_addresses = port.addresses
            if not lent.isdisjoint(own_addresses):
                own_addresses = tuple(own_address for own_address in own_addresses if own_address not in lent)
            for address in strip_prefixes_and_link_locals(own_addresses):
                yield area, address, holder
        yield from _channel_and_vlan_addresses(device)
        yield from _loopback_and_oob_addresses(device)
    for host in index.fabric.hosts:
        for host_port in host.ports:
            subject = (FABRIC_HEAD, "hosts", host.name)
            holder = _AddressHolder(host.name, host_port.bond or host_port.name, subject, in_file=False)
            for address in strip_prefixes_and_link_locals(host_port.addresses):
                yield _uniqueness_scope_of_vrf(None), address, holder


def _uniqueness_scope_of_vrf(vrf: str | None) -> str:
    """Return the routing table that must have an address only once."""
    return f"vrf {vrf}" if vrf else "vrf default"


def _channel_and_vlan_addresses(device: Device) -> Iterator[tuple[str, str, _AddressHolder]]:
    """Yield the addresses of port channels and VLANs; where they are not known there is none to compare."""
    channels = known_rows(device.port_channels)
    vlans = known_rows(device.vlans)
    for channel in channels:
        holder = _AddressHolder(device.name, channel.name, (device.name, "@port_channels", channel.name))
        yield from (
            (_uniqueness_scope_of_vrf(channel.vrf), address, holder)
            for address in strip_prefixes_and_link_locals(channel.addresses)
        )
    for vlan in vlans:
        holder = _AddressHolder(device.name, f"VLAN {vlan.id}", (device.name, "@vlans", vlan.key), anycast=True)
        yield from (
            (_uniqueness_scope_of_vrf(vlan.vrf), address, holder)
            for address in strip_prefixes_and_link_locals(vlan.all_addresses)
        )


def _loopback_and_oob_addresses(device: Device) -> Iterator[tuple[str, str, _AddressHolder]]:
    name = device.name
    shared = possible_anycast_addresses(device)
    for loopback in known_rows(device.loopbacks):
        for address in strip_prefixes_and_link_locals(loopback.addresses):
            subject = (name, "@loopbacks", loopback.name)
            holder = _AddressHolder(name, loopback.name, subject, anycast=address in shared)
            yield _uniqueness_scope_of_vrf(loopback.vrf), address, holder
    management = device.management
    if not isinstance(management, Unknown) and management is not None:
        holder = _AddressHolder(name, management.interface, (name, "@management"))
        for address in strip_prefixes_and_link_locals(management.addresses):
            yield "out of band", address, holder
