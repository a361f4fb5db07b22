"""Whether the largest packet that either end of a cable may send gets to the other: check `packets`."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.fabric import Link
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.validating.twin.packets import PortLocation, ProbePacket, TwinSockets
from nodrop.validating.twin.plan import TwinInterface, TwinPlan

_LINK_LOCAL_ADDRESS: Final[Mapping[AddressFamily, Address]] = {
    "ipv4": Address("ipv4", 0xA9FE0001),
    "ipv6": Address("ipv6", 0xFE80 << 112 | 1),
}
"""Addresses of one link (RFC 3927, RFC 4291) for frames between ports that have none of their own."""


class CableCrossingResult(NamedTuple):
    """The observation of a cable, and the words for it."""

    crosses: bool
    said: str


class _CableDirection(NamedTuple):
    """A cable in one direction."""

    links: tuple[Link, ...]
    near: TwinInterface
    far: TwinInterface


def send_largest_packets_over_cables(twin_sockets: TwinSockets, plan: TwinPlan) -> dict[Link, CableCrossingResult]:
    """Send over each cable, both ways and in each family, the largest packet that the sending port may.

    It goes to the MAC address at the other end, as IP would send it that has found it: a kernel keeps about a thousand
    neighbors for all of its namespaces (`net.ipv4.neigh.default.gc_thresh3`). Ports that route have to be in
    each other's subnet; those without addresses, or in a VLAN, send from and to addresses of the link.
    """
    packets: list[ProbePacket] = []
    directions: list[_CableDirection] = []
    lost: dict[Link, dict[str, set[AddressFamily]]] = {}
    tried: dict[Link, set[tuple[AddressFamily, int]]] = {}
    for wire in plan.wires:
        if wire.b is not None:
            for near, far in ((wire.a, wire.b), (wire.b, wire.a)):
                direction = _CableDirection(wire.links, near, far)
                new_packets = list(_largest_packets(twin_sockets, direction))
                packets += new_packets
                directions += [direction] * len(new_packets)
            if not new_packets:
                for link in wire.links:
                    lost[link] = {f"{link.a} and {link.b} have no addresses in one subnet": set()}
                    tried[link] = set()
    to: dict[int, PortLocation] = {
        place: (one_way.far.space, one_way.far.name) for place, one_way in enumerate(directions)
    }
    for place, flight in enumerate(twin_sockets.send_and_trace(packets, expected_ports=to)):
        packet, direction = packets[place], directions[place]
        for link in direction.links:
            tried.setdefault(link, set()).add((packet.target.family, packet.size_bytes))
            if to[place] not in flight.arrivals:
                end, far_end = (link.a, link.b) if link.a in direction.near.ends else (link.b, link.a)
                why = f" ({flight.refused})" if flight.refused else ""
                loss_text = f"{packet.size_bytes} B from {end} do not arrive at {far_end}{why}"
                lost.setdefault(link, {}).setdefault(loss_text, set()).add(packet.target.family)
    return {
        link: CableCrossingResult(False, _format_packet_losses(lost[link], family_sizes))
        if link in lost
        else CableCrossingResult(True, _format_packet_sizes(family_sizes))
        for link, family_sizes in tried.items()
    }


def _largest_packets(posts: TwinSockets, one_way: _CableDirection) -> Iterable[ProbePacket]:
    """Yield the largest packets of one end of a cable, in each family that it can send in."""
    sender = posts.posts[one_way.near.space].devices[one_way.near.name]
    receiver = posts.posts[one_way.far.space].devices[one_way.far.name]
    loose = bool(one_way.near.bridge or one_way.far.bridge) or not (one_way.near.addresses or one_way.far.addresses)
    near, far = _addresses_with_subnets(one_way.near), _addresses_with_subnets(one_way.far)
    for family in ADDRESS_FAMILIES:
        source, target = (
            (_LINK_LOCAL_ADDRESS[family],) * 2 if loose else _find_addresses_in_common_subnet(family, near, far)
        )
        if source is not None and target is not None:
            yield ProbePacket(
                one_way.near.space,
                target,
                source,
                sender.name,
                size_bytes=sender.mtu_bytes,
                frame=receiver.mac,
            )


def _addresses_with_subnets(nic: TwinInterface) -> list[tuple[Address, Prefix]]:
    rows = ((parse_address(text), parse_prefix(text)) for text in nic.addresses)
    return [(own_address, subnet) for own_address, subnet in rows if own_address is not None and subnet is not None]


def _find_addresses_in_common_subnet(
    family: AddressFamily, near: Iterable[tuple[Address, Prefix]], far: Iterable[tuple[Address, Prefix]]
) -> tuple[Address, Address] | tuple[None, None]:
    """Return addresses of both ends of a cable, each in the other's subnet; None if there are none."""
    for far_address, subnet in far:
        for near_address, own_prefix in near:
            if (
                near_address != far_address
                and near_address.family == family
                and own_prefix.contains_address(far_address)
                and subnet.contains_address(near_address)
            ):
                return near_address, far_address
    return None, None


def _format_packet_losses(rows: Mapping[str, set[AddressFamily]], tried: Iterable[tuple[AddressFamily, int]]) -> str:
    """Return the lost packets, with the family where packets of the other family get through."""
    families = {family for family, _ in tried}
    return "; ".join(
        loss_text if found_rows == families else f"{min(found_rows).replace('ip', 'IP')}: {loss_text}"
        for loss_text, found_rows in rows.items()
    )


def _format_packet_sizes(tried: Iterable[tuple[AddressFamily, int]]) -> str:
    return " and ".join(f"{size} B" for size in sorted({size for _, size in tried}))
