"""Routers and their sessions, as the computation of routes knows them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import Literal, NamedTuple

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.routing.legs import (
    RoutedInterface,
    build_sub_interface,
    parse_sub_interface,
    routed_interfaces,
    unknown_leg_fact,
)
from nodrop.routing.prefixes import Address, Prefix, network_address, parse_address
from nodrop.routing.stand_ins import is_stand_in

SessionDownReason = Literal[
    "shutdown",
    "no-subnet",
    "no-route",
    "no-member",
    "source",
    "static",
    "port-down",
    "nobody",
    "cabled-elsewhere",
    "missing-there",
    "asn",
    "router-id",
    "passive",
    "hops",
    "password",
    "families",
    "filtered",
    "may-be-filtered",
    "limit",
    "unread",
]


class VrfRouter:
    """A routing table of a device: of its default VRF or another, with the BGP process that fills it, if any."""

    def __init__(
        self, number: int, device: Device, vrf: str | None, bgp: Bgp | None, own_legs: tuple[RoutedInterface, ...]
    ) -> None:
        self.number, self.device, self.vrf, self.bgp, self.legs = number, device, vrf, bgp, own_legs

    @property
    def is_stand_in(self) -> bool:
        """Whether it represents a neighbor outside the fabric."""
        return is_stand_in(self.device)

    @property
    def name(self) -> str:
        """How a message names it."""
        return f"{self.device.name} VRF {self.vrf}" if self.vrf else self.device.name

    @cached_property
    def unknown_leg_fact_path(self) -> str:
        """Return the model path of an unknown fact that may be a leg or static route of it; "" if all are known."""
        return unknown_leg_fact(self.device)

    @property
    def bgp_subject(self) -> Subject:
        """The subject of its BGP process."""
        return (self.device.name, "@bgp") if self.vrf is None else (self.device.name, "@vrf_bgp", self.vrf)

    def subject_of_neighbor(self, neighbor: BgpNeighbor) -> Subject:
        """Return the subject of one of its neighbors."""
        inside = (self.device.name,) if self.vrf is None else self.bgp_subject
        return (*inside, "@neighbors" if self.vrf is None else "neighbors", neighbor.key)

    @cached_property
    def neighbors(self) -> tuple[BgpNeighbor, ...]:
        """Its neighbors; none where it has no BGP or they are not known."""
        return () if self.bgp is None else known_rows(self.bgp.neighbors)

    @cached_property
    def router_id(self) -> int:
        """Its router id: as stated, else the highest IPv4 address of a loopback, else of any interface.

        That is FRR's choice (zebra/router-id.c, router_id_get). One without any has a number that no other router has.
        """
        stated = None if self.bgp is None else parse_address(self.bgp.router_id or "")
        if stated is not None:
            return stated.number
        candidates = [(not leg.ports, ip.number) for leg in self.legs for ip in leg.addresses if ip.family == "ipv4"]
        return max(candidates)[1] if candidates else -1 - self.number

    def local_asn(self, neighbor: BgpNeighbor) -> int | None:
        """Return the local AS number of a session, None where there is none or bgpd refuses it."""
        refused = self.bgp is None or neighbor.has_refused_local_asn(self.bgp.asn)
        return None if refused else neighbor.local_asn

    def local_asn_depends_on_line_order(self, neighbor: BgpNeighbor) -> bool:
        """Whether it depends on the order of lines that bgpd takes the local AS number of a session.

        A peer group that has one before it has a neighbor for which bgpd refuses it gives it to that neighbor
        nevertheless (FRR, bgpd/bgpd.c, peer_group2peer_config_copy); it never has the own number.
        """
        bgp = self.bgp
        if bgp is None or not neighbor.local_asn_of_group or neighbor.local_asn == bgp.asn:
            return False
        return neighbor.remote_asn is not None and neighbor.has_refused_local_asn(bgp.asn)

    def shown_asn(self, neighbor: BgpNeighbor) -> int:
        """Return the AS number that it shows to a neighbor, 0 without BGP."""
        return self.local_asn(neighbor) or (0 if self.bgp is None else self.bgp.asn)

    @cached_property
    def neighbor_by_address(self) -> Mapping[Address, BgpNeighbor]:
        """Its neighbors by their addresses."""
        rows = (
            (parse_address(neighbor.address), neighbor) for neighbor in self.neighbors if neighbor.address is not None
        )
        return {key: neighbor for key, neighbor in rows if key is not None}

    @cached_property
    def leg_by_address(self) -> Mapping[Address, RoutedInterface]:
        """Its legs by their addresses, the first of several with one address."""
        return {own_address: leg for leg in reversed(self.legs) for own_address in leg.addresses}

    @cached_property
    def neighbors_by_interface(self) -> Mapping[str, BgpNeighbor]:
        """Its neighbors by the interface that they are over."""
        return {neighbor.interface: neighbor for neighbor in self.neighbors if neighbor.interface is not None}

    @cached_property
    def interfaces_by_subnet(self) -> Mapping[Prefix, RoutedInterface]:
        """Its legs with ports by the subnets that they are in."""
        return {subnet: leg for leg in self.legs if leg.ports for subnet in leg.subnets}

    @cached_property
    def leg_by_name(self) -> Mapping[str, RoutedInterface]:
        """Its legs by name."""
        return {leg.name: leg for leg in self.legs}

    @cached_property
    def _subnet_lengths_by_family(self) -> Mapping[AddressFamily, tuple[int, ...]]:
        lengths = {(subnet.family, subnet.length) for subnet in self.interfaces_by_subnet}
        return {
            family: tuple(sorted((n for f, n in lengths if f == family), reverse=True)) for family in ADDRESS_FAMILIES
        }

    @cached_property
    def subnets_with_neighbors(self) -> Set[Prefix]:
        """Return its subnets with addresses of its neighbors, except loopbacks."""
        return {
            subnet
            for far in self.neighbor_by_address
            for length in self._subnet_lengths_by_family[far.family]
            if (subnet := Prefix(far.family, network_address(far.family, far.number, length), length))
            in self.interfaces_by_subnet
        }

    def portless_leg_towards(self, far: Address) -> RoutedInterface | None:
        """Return the leg without ports, no loopback, in whose subnet an address is; nothing leads out of it."""
        pairs = (
            (subnet, leg)
            for leg in self.legs
            if leg.has_no_member_ports
            for subnet in leg.subnets
            if subnet.contains_address(far)
        )
        return max(pairs, key=lambda pair: pair[0].length, default=(None, None))[1]

    def leg_towards(self, far_address: Address) -> RoutedInterface | None:
        """Return the leg with ports in whose subnet an address is, the longest first."""
        for length in self._subnet_lengths_by_family[far_address.family]:
            leg = self.interfaces_by_subnet.get(
                Prefix(far_address.family, network_address(far_address.family, far_address.number, length), length)
            )
            if leg is not None:
                return leg
        return None


class SessionSide(NamedTuple):
    """One end of a session."""

    router: int
    neighbor: BgpNeighbor
    leg: RoutedInterface


class BgpSession(NamedTuple):
    """A session that comes up, and the families that both ends carry on it."""

    a: SessionSide
    b: SessionSide
    families: tuple[AddressFamily, ...]
    far: bool = False
    """Whether it is to an address that is in no subnet of both ends."""


class DownSession(NamedTuple):
    """A neighbor statement that gets no session: the reason, and the facts found instead, in the words of a message."""

    router: VrfRouter
    neighbor: BgpNeighbor
    reason: SessionDownReason
    leg: RoutedInterface | None
    """Over what it would go, where that is there."""
    facts: Mapping[str, str | int]
    related: tuple[Subject, ...] = ()
    there: bool = False
    """Whether the fault is at the other end, whose own statement gets no session either."""


def build_routers(index: Index) -> Iterator[VrfRouter]:
    """Yield the routing tables of all devices whose BGP is known, numbered from 0."""
    number = 0
    for device in index.fabric.devices:
        by_vrf: defaultdict[str | None, list[RoutedInterface]] = defaultdict(list)
        legs = tuple(routed_interfaces(device))
        for leg in (*legs, *_sub_interfaces_of_legs(device, legs)):
            by_vrf[leg.vrf].append(leg)
        processes = _processes_by_vrf(device)
        for vrf in dict.fromkeys((*processes, *by_vrf)):
            yield VrfRouter(number, device, vrf, processes.get(vrf), tuple(by_vrf[vrf]))
            number += 1


def _processes_by_vrf(device: Device) -> Mapping[str | None, Bgp | None]:
    return {
        None: None if isinstance(device.bgp, Unknown) else device.bgp,
        **{bgp.vrf: bgp for bgp in known_rows(device.vrf_bgp)},
    }


def find_sub_interfaces(device: Device) -> Iterator[RoutedInterface]:
    """Yield the sub-interfaces that BGP sessions of a device are over, each in the VRF of its process."""
    return _sub_interfaces_of_legs(device, routed_interfaces(device))


def _sub_interfaces_of_legs(device: Device, legs: Iterable[RoutedInterface]) -> Iterator[RoutedInterface]:
    named_leg = {leg.name: leg for leg in legs}
    for vrf, process in _processes_by_vrf(device).items():
        for neighbor in () if process is None else known_rows(process.neighbors):
            if neighbor.interface is not None and neighbor.interface not in named_leg:
                base_and_tag = parse_sub_interface(neighbor.interface)
                base = None if base_and_tag is None else named_leg.get(base_and_tag[0])
                if base_and_tag is not None and base is not None and base.ports:
                    yield build_sub_interface(base, base_and_tag[1], vrf)
