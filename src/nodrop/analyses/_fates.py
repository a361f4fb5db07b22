"""The fate of RoCE packets from each leaf to each destination, by routes and by access lists.

Access lists may treat data and CNPs differently; the packets of each DSCP therefore have a separate fate.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from nodrop.analyses._aims import LongestPrefixLookup, RequiredDestination, required_destinations_per_leaf
from nodrop.analyses._hosts import hosts_with_cabled_ports
from nodrop.analyses._separate_subnets import are_surely_separate
from nodrop.model.access import FORWARDING_STAGES
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.effects import DEFAULT_RDMA_DSCP, dscps_of_probe_packets, roce_dscps
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.model.subject import Subject
from nodrop.routing import ControlPlane
from nodrop.routing.filtering import AddressRange, FilterDecision, PacketSet, decide_packets, parse_prefixes
from nodrop.routing.hop_filters import FilterResult, access_list_results_at_legs
from nodrop.routing.legs import routed_interfaces_at
from nodrop.routing.observation import DELIVERY_FATES, DeliveryFate, route_item
from nodrop.routing.prefixes import Address, Prefix, parse_address
from nodrop.routing.roce_packets import roce_packets_of_dscp, roce_packets_of_kinds
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import NextHop, RouterRoute

_ALL_ADDRESSES_PER_FAMILY: Final = tuple((family, AddressRange(Prefix(family, 0, 0))) for family in ADDRESS_FAMILIES)
_Direction = Literal["ingress", "egress"]


class PacketFate(NamedTuple):
    """What becomes of packets to an address; `doubt` names the access list that drops some of them, or may."""

    fate: DeliveryFate
    doubt: str = ""


class DestinationFate(NamedTuple):
    """An item of the check `reach` for packets of a DSCP: the worst fate of all addresses and equal paths.

    `to` is an address that has it.
    """

    item: Subject
    dscp: int
    fate: DeliveryFate
    to: Address
    doubt: str


def find_packet_fates(index: Index, plane: ControlPlane) -> Sequence[DestinationFate]:
    """Return what becomes of packets to every destination: of those of each DSCP where a list acts on any of them."""
    return index.compute_once("fates", lambda: list(_find_fates(index, plane)))


def _find_fates(index: Index, plane: ControlPlane) -> Iterator[DestinationFate]:
    dscps = dscps_of_probe_packets(index.fabric)
    filtered = any(_acl_doubts_for_dscps(index, frozenset(dscps)))
    fates_by_dscp = {
        dscp: _PacketFateTracer(index, plane, dscp, filtered=filtered) for dscp in (dscps if filtered else dscps[:1])
    }
    for router, aim in required_destinations_per_leaf(index, plane):
        item = route_item(router.device, str(aim.prefix), router.vrf, "reach")
        for dscp, found_fates in fates_by_dscp.items():
            rows = [
                (found_fates.fate_of_packets_at_router(router.number, to, frozenset()), to)
                for to in found_fates.sample_addresses_of_destination(aim)
            ]
            worst, to = min(rows, key=lambda row: DELIVERY_FATES.index(row[0].fate))
            doubts = (ending.doubt for ending, _ in rows if ending.doubt)
            doubt = next(doubts, "") or found_fates.doubt_about_host_packets(router, rows[0][1])
            yield DestinationFate(item, dscp, worst.fate, to, doubt)


def explain_acl_doubt(index: Index) -> str:
    """Return a doubt about what failures lose; "" where no list acts on forwarded RoCE data."""
    dscps = frozenset(roce_dscps(index.fabric)) | {DEFAULT_RDMA_DSCP}
    return index.compute_once("lists on data", lambda: next(_acl_doubts_for_dscps(index, dscps), ""))


def _acl_doubts_for_dscps(index: Index, dscps: frozenset[int]) -> Iterator[str]:
    for device in index.fabric.devices:
        for rules in known_rows(device.access_lists):
            ports = {port for access_entry in known_rows(rules.entries) for port in access_entry.interfaces}
            bound = {binding.interface for binding in rules.bindings if binding.stage in FORWARDING_STAGES}
            at = {*(name for name in bound if name), *(ports | {""} if None in bound else ())}
            packets = [
                roce_packets_of_kinds(index.fabric, family, (anywhere,), (anywhere,), dscps, ("data", "cnp"))
                for family, anywhere in _ALL_ADDRESSES_PER_FAMILY
            ]
            if any(
                _filters_or_redirects(decision)
                for port in at
                for packet in packets
                for decision in decide_packets(rules, port, packet)
            ):
                yield f"what access list {rules.name} of {device.name} drops after a failure is not computed"


def _filters_or_redirects(decision: FilterDecision) -> bool:
    """Whether a list does anything but let packets pass by the way that they have."""
    return decision.action != "permit" or decision.marks.redirects is not None


class _PacketFateTracer:
    """The fates of packets of a DSCP from each router to each address, each computed once."""

    def __init__(self, index: Index, plane: ControlPlane, dscp: int, *, filtered: bool) -> None:
        self._index, self._plane, self._dscp = index, plane, dscp
        self._tables: dict[tuple[int, str], LongestPrefixLookup] = {}
        self._fates: dict[tuple[int, Address], PacketFate] = {}
        self._filtered = filtered
        self._host_ends = index.compute_once("ends of host addresses", lambda: _switch_ports_by_host_address(index))
        self._ports = self._host_ends if self._filtered else {}
        """The switch port of each address of a host."""

    def sample_addresses_of_destination(self, required_destination: RequiredDestination) -> Sequence[Address]:
        """Return addresses of a destination, one of each kind that routes and access lists treat alike."""
        if not self._filtered:
            return required_destination.samples
        kinds: dict[tuple[object, ...], Address] = {}
        for to in required_destination.to:
            inside = tuple(
                number for number, prefix in enumerate(self._access_list_destinations) if prefix.contains_address(to)
            )
            kinds.setdefault((inside, self._ports.get(to)), to)
        return tuple(dict.fromkeys((*required_destination.samples, *kinds.values())))

    @property
    def _access_list_destinations(self) -> tuple[Prefix, ...]:
        """The destinations that entries of access lists name."""

        def find_destinations() -> tuple[Prefix, ...]:
            lists = [
                access_list for device in self._index.fabric.devices for access_list in known_rows(device.access_lists)
            ]
            entries = [entry for access_list in lists for entry in known_rows(access_list.entries)]
            return parse_prefixes(tuple(sorted({text for entry in entries for text in entry.destinations})))

        return self._index.compute_once("destinations of access lists", find_destinations)

    def fate_of_packets_at_router(self, number: int, to: Address, behind: frozenset[int]) -> PacketFate:
        """Return what becomes of packets at a router, which came over others."""
        if number in behind:
            return PacketFate("loop")
        if (number, to) not in self._fates:
            self._fates[number, to] = self._compute_fate_of_packets_at_router(number, to, behind)
        return self._fates[number, to]

    def _compute_fate_of_packets_at_router(self, number: int, to: Address, behind: frozenset[int]) -> PacketFate:
        table_row = self._route_lookup_of_router(number, to)(to)
        route = table_row[1] if table_row else None
        if not isinstance(route, RouterRoute) or route.discard:
            return PacketFate("no route")
        if route.source == "connected" or any(hop.router is None for hop in route.hops):
            return self._fate_on_last_leg(number, route, to)
        ends: list[PacketFate] = []
        alike = route.hops if self._filtered else {hop.router: hop for hop in route.hops}.values()
        for hop in alike:
            if hop.router is None:
                continue
            leaves = self._fate_at_legs(number, (hop.leg,), "egress", to)
            enters = self._fate_at_next_router_ingress(hop, to)
            onward = self.fate_of_packets_at_router(hop.router, to, behind | {number})
            doubt = leaves.doubt or enters.doubt or onward.doubt
            if leaves.fate == "denied":  # probes of validators that the switch sends itself may pass
                doubt = doubt or self._describe_filter(number, (hop.leg,), "egress", to)
            denied = "denied" in (leaves.fate, enters.fate)
            ends.append(PacketFate("denied" if denied else onward.fate, doubt))
        worst = min(ends, key=lambda ending: DELIVERY_FATES.index(ending.fate), default=PacketFate("delivered"))
        return PacketFate(worst.fate, next((end.doubt for end in ends if end.doubt), ""))

    def _route_lookup_of_router(self, number: int, to: Address) -> LongestPrefixLookup:
        if (number, to.family) not in self._tables:
            routes = self._plane.of(to.family)
            self._tables[number, to.family] = LongestPrefixLookup(
                {route.prefix: route for route in routes.routes(number)}
            )
        return self._tables[number, to.family]

    def _fate_on_last_leg(self, number: int, route: RouterRoute, to: Address) -> PacketFate:
        """Return what becomes of packets on their last leg; those to the switch itself do not leave it."""
        router = self._plane.routers[number]
        legs = tuple(hop.leg for hop in route.hops)
        if self._is_host_elsewhere(router, legs, to):
            return PacketFate("no route")
        if not self._filtered or any(to in leg.addresses for leg in router.legs):
            return PacketFate("delivered")
        ending = self._fate_at_legs(number, legs, "egress", to)
        if (
            ending.fate == "denied"
            and to not in self._ports
            and any(len(router.leg_by_name[leg].ports) > 1 for leg in legs)
        ):
            return PacketFate("delivered", self._describe_filter(number, legs, "egress", to))
        return ending

    def _is_host_elsewhere(self, router: VrfRouter, legs: Sequence[str], to: Address) -> bool:
        """Return whether an address is of a host at another switch that has the subnet too: nobody answers here."""
        end = self._host_ends.get(to)
        if end is None or end.node == router.device.name:
            return False
        device = self._index.devices[end.node]
        there = [
            leg
            for leg in routed_interfaces_at(self._index, end)
            if any(subnet.contains_address(to) for subnet in leg.subnets)
        ]
        here = [leg for name in legs if (leg := router.leg_by_name.get(name)) is not None]
        return bool(here and there) and all(
            are_surely_separate(self._index, (router.device, near), (device, far)) for near in here for far in there
        )

    def _fate_at_next_router_ingress(self, hop: NextHop, to: Address) -> PacketFate:
        """Return what lists do where packets enter the next router."""
        if not self._filtered or hop.router is None:
            return PacketFate("delivered")
        if hop.session is None:
            lists = known_rows(self._plane.routers[hop.router].device.access_lists)
            doubtful = next((access_list for access_list in lists if access_list.bindings), None)
            return PacketFate(
                "delivered", "" if doubtful is None else self._describe_drop_by_list(hop.router, doubtful.name)
            )
        return self._fate_at_legs(hop.router, (self._plane.side(hop.router, hop.session).leg.name,), "ingress", to)

    def doubt_about_host_packets(self, router: VrfRouter, destination: Address) -> str:
        """Return a doubt where a list acts on what hosts at a router send: it is not the router that sends it."""
        for end in dict.fromkeys(self._ports.values()):
            if end[0] == router.device.name:
                legs = tuple(leg.name for leg in router.legs if end[1] in leg.ports)
                if legs and self._non_permit_decisions(router.number, legs, "ingress", destination, end[1]):
                    return self._describe_filter(router.number, legs, "ingress", destination, end[1])
        return ""

    def _fate_at_legs(self, number: int, legs: tuple[str, ...], direction: _Direction, to: Address) -> PacketFate:
        """Return the effect of the lists at legs of a router on packets to an address."""
        decisions = self._non_permit_decisions(number, legs, direction, to)
        if not decisions:
            return PacketFate("delivered")
        packet = self._build_packet(to)
        denies_all = any(decision.action == "deny" and decision.decision.packets == packet for decision in decisions)
        return (
            PacketFate("denied")
            if denies_all
            else PacketFate("delivered", self._describe_drop_by_list(number, decisions[0].rules.name))
        )

    def _describe_filter(
        self, router_number: int, legs: tuple[str, ...], direction: _Direction, destination: Address, port: str = ""
    ) -> str:
        decisions = self._non_permit_decisions(router_number, legs, direction, destination, port)
        return self._describe_drop_by_list(router_number, decisions[0].rules.name) if decisions else ""

    def _describe_drop_by_list(self, number: int, name: str) -> str:
        return f"access list {name} of {self._plane.routers[number].device.name} drops some of the packets, or may"

    def _non_permit_decisions(
        self, number: int, legs: tuple[str, ...], direction: _Direction, to: Address, port: str = ""
    ) -> list[FilterResult]:
        """Return what lists do to packets other than to let them pass."""
        if not self._filtered:
            return []
        at_host = port or (self._ports[to][1] if direction == "egress" and to in self._ports else "")
        every = access_list_results_at_legs(self._plane, number, direction, legs, self._build_packet(to), port=at_host)
        return [
            decision for decision in every if decision.action != "permit" or _filters_or_redirects(decision.decision)
        ]

    def _build_packet(self, to: Address) -> PacketSet:
        return roce_packets_of_dscp(self._index.fabric, None, to, self._dscp)


def _switch_ports_by_host_address(index: Index) -> Mapping[Address, End]:
    """Return the switch port of each address of a host; of one with several ports the last."""
    return {
        own_address: port.far
        for _, ports in hosts_with_cabled_ports(index)
        for port in ports
        for text in port.port.addresses
        if (own_address := parse_address(text)) is not None
    }
