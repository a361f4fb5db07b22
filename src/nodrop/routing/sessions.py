"""Which BGP sessions come up, between whom, and why the others do not.

A session needs a neighbor statement at both ends, AS numbers that agree, an address of the other end in a subnet of a
port that works, and a cable that leads there. One over an interface finds its other end by router advertisements, or
by the address that is left in a /31 or /30 (FRR, bgpd/bgp_fsm.c, bgp_peer_conf_if_to_su_update).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor, StaticRoute, format_next_hop
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.model.subject import Subject
from nodrop.routing.agreement import (
    can_open_from_expected_address,
    find_session_mismatch,
    is_family_activated,
    may_reach_neighbor_over_routers,
    may_use_ipv4_next_hops,
)
from nodrop.routing.legs import RoutedInterface, WorkingPorts, is_port_list_complete
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.routers import BgpSession, DownSession, SessionDownReason, SessionSide, VrfRouter
from nodrop.routing.session_filters import BlockingAccessList, SessionPacketEnd, find_blocking_list, has_bound_lists
from nodrop.routing.session_packets import IPV6_LINK_LOCAL_RANGE, single_address_range
from nodrop.routing.static_routes import find_outgoing_interface, is_discard_route, readable_static_routes

_SessionEnd = tuple[VrfRouter, BgpNeighbor, RoutedInterface]


class FarNeighborStatement(NamedTuple):
    """A statement to an address of another router, and the leg that the address is on."""

    to: Address
    leg: RoutedInterface
    neighbor: BgpNeighbor


FarStatementsByFamily = Mapping[AddressFamily, Sequence[FarNeighborStatement]]


class FabricSessions:
    """The sessions of a fabric: those that are `up`, and those that are `down` with the reason."""

    def __init__(
        self,
        index: Index,
        own_routers: tuple[VrfRouter, ...],
        up: Sequence[Mapping[str, bool]],
        failed: frozenset[End] = frozenset(),
    ) -> None:
        """Find the sessions of routers; `up` gives for each leg of each router whether it works without `failed`."""
        self.index, self._routers, self._up, self._failed = index, own_routers, up, failed
        self._cabling = WorkingPorts(index)
        self._owners: defaultdict[Address, list[tuple[VrfRouter, RoutedInterface]]] = defaultdict(list)
        self._by_port: dict[tuple[str, str], list[tuple[VrfRouter, RoutedInterface]]] = defaultdict(list)
        self._far_statements: dict[tuple[int, int], FarStatementsByFamily] = {}
        self._unread = {device.name for device in index.fabric.devices if isinstance(device.bgp, Unknown)}
        for router in own_routers:
            for leg in router.legs:
                for own_address in leg.addresses:
                    self._owners[own_address].append((router, leg))
                for port in leg.ports:
                    self._by_port[router.device.name, port].append((router, leg))
        self.up: list[BgpSession] = []
        self.down: list[DownSession] = []
        self.far: list[DownSession] = []
        """Statements whose session needs routes that other sessions carry (`routing/far_sessions.py`)."""
        self._unpaired: set[tuple[int, str]] = set()
        """Statements over a link without a session there, which may have one elsewhere, by router and neighbor."""
        self._paired: dict[tuple[int, str], BgpSession] = {}
        """The session of a statement, by the router and neighbor of the other end, until that one is reached."""
        self._answers: dict[tuple[int, str], BgpNeighbor] = {}
        """The other end's statement at the link of a statement, by router and neighbor."""
        for router in own_routers:
            for neighbor in router.neighbors:
                outcome = self._resolve_neighbor_session(router, neighbor)
                if (
                    isinstance(outcome, DownSession)
                    and outcome.reason in ("no-route", "no-subnet")
                    and outcome.leg is None
                ):
                    self.far.append(outcome)
                elif isinstance(outcome, DownSession):
                    self.down.append(outcome)
                    if _is_down_by_dead_link(outcome) or _has_unfit_far_statement(outcome):
                        self._unpaired.add((router.number, neighbor.key))
                elif (outcome.a.router, outcome.a.neighbor.key) < (outcome.b.router, outcome.b.neighbor.key):
                    self.up.append(outcome)
        self._up_over_links = {
            (side.router, side.neighbor.key) for session in self.up for side in (session.a, session.b)
        }
        for down in self.down if self._unpaired else ():
            if self._may_run_over_routes(down):
                self.far.append(down)
        named_elsewhere = {(down.router.number, down.neighbor.key) for down in self.far}
        self.down = [down for down in self.down if (down.router.number, down.neighbor.key) not in named_elsewhere]

    def _may_run_over_routes(self, down: DownSession) -> bool:
        """Whether a statement over a link without a session there may have one over routes.

        The link is dead and the session may go over several hops, or the other end names another address of this
        router.
        """
        if _is_down_by_dead_link(down):
            return may_reach_neighbor_over_routers(down.router, down.neighbor)
        to = parse_address(down.neighbor.address or "") if _has_unfit_far_statement(down) else None
        owner = None if to is None else self.address_owner_in_vrf(to, down.router)
        if to is None or owner is None:
            return False
        answer = self.far_statement_over_link(down.router, down.neighbor)
        return any(
            row.neighbor is not answer for row in self.unpaired_statements_about(owner[0], down.router)[to.family]
        )

    def is_up_over_link(self, router: VrfRouter, neighbor: BgpNeighbor) -> bool:
        """Return whether the session of a statement is up over the link that its address is on."""
        return (router.number, neighbor.key) in self._up_over_links

    def far_statement_over_link(self, router: VrfRouter, neighbor: BgpNeighbor) -> BgpNeighbor | None:
        """Return the other end's statement at the link of a statement, if the link works and there is any."""
        return self._answers.get((router.number, neighbor.key))

    def unpaired_statements_about(self, router: VrfRouter, about: VrfRouter) -> FarStatementsByFamily:
        """Return a router's statements to addresses of another that have no session over a link."""
        pair = (router.number, about.number)
        if pair not in self._far_statements:
            rows = [
                FarNeighborStatement(far, about.leg_by_address[far], statement)
                for far, statement in router.neighbor_by_address.items()
                if far in about.leg_by_address
                and (router.leg_towards(far) is None or (router.number, statement.key) in self._unpaired)
            ]
            self._far_statements[pair] = {
                family: [row for row in rows if row.to.family == family] for family in ADDRESS_FAMILIES
            }
        return self._far_statements[pair]

    def _resolve_neighbor_session(self, router: VrfRouter, neighbor: BgpNeighbor) -> BgpSession | DownSession:
        """Return the session of a neighbor statement, or why it stays down."""
        leg = self._leg_to_neighbor(router, neighbor)
        down = partial(_make_down_session, (router, neighbor, leg))
        if not neighbor.enabled:
            return down("shutdown", where=router.name)
        if leg is None:
            if missing := router.unknown_leg_fact_path or _unknown_fact_of_absent_interface(router, neighbor):
                return down("unread", node="", missing=missing)
            if may_reach_neighbor_over_routers(router, neighbor):
                return down("no-route")
            to = parse_address(neighbor.address or "")
            leg = None if to is None else router.portless_leg_towards(to)
            down = partial(_make_down_session, (router, neighbor, leg))
        if leg is None:
            return down("no-subnet")
        if leg.has_no_member_ports and _may_lead_over_tunnel(router, leg):
            return down("unread", node="", missing="the other end of a session")
        if leg.has_no_member_ports:
            return down("no-member", leg.subject, port=leg.name)
        if not self._is_leg_up(router, leg):
            shut = self._is_leg_shut(router, leg)
            return down("port-down", leg.subject, port=leg.name, there=not shut)
        node = self._find_far_end(router, neighbor, leg)
        if isinstance(node, str):
            return down("unread", node=node)
        if leg.tag and (node is None or node[0].neighbors_by_interface.get(node[1].name) is None):
            return down("unread", node="", missing="interface.addresses")
        if node is None:
            return down("nobody", port=leg.name)
        far, far_leg, cabled = node
        if far_leg.has_no_member_ports and _may_lead_over_tunnel(far, far_leg):
            return down("unread", node="", missing="the other end of a session")
        if far_leg.has_no_member_ports and self._is_far_end_only_on_portless_leg(far, far_leg, leg, neighbor):
            return down("no-member", far_leg.subject, port=far_leg.name, there=True)
        if not cabled:
            ends = self._cabling.far_ends(router.device.name, leg)
            return down("cabled-elsewhere", far_leg.subject, owner=far.name, port=leg.name, far=str(ends[0]))
        if not self._is_leg_up(far, far_leg):
            return down("port-down", far_leg.subject, port=leg.name)
        back = self._find_return_neighbor(far, far_leg, leg, neighbor)
        if back is None:
            if self.are_sessions_unknown(far):
                return down("unread", node=far.device.name)
            return down("missing-there", far.bgp_subject, peer=far.name, port=leg.name)
        self._answers[router.number, neighbor.key] = back
        if not back.enabled:
            return down("shutdown", far.subject_of_neighbor(back), where=far.name, there=True)
        return self._resolve_pair_once((router, neighbor, leg), (far, back, far_leg))

    def _resolve_pair_once(self, own_end: _SessionEnd, far_end: _SessionEnd) -> BgpSession | DownSession:
        """Return the session of two statements; one that is up for the other end is up for this one, too."""
        (router, neighbor, leg), (far, back, far_leg) = own_end, far_end
        paired = self._paired.pop((router.number, neighbor.key), None)
        if paired is not None:
            far_side, own_side, *_ = paired
            if (
                own_side.neighbor is neighbor
                and own_side.leg is leg
                and far_side.router == far.number
                and far_side.neighbor is back
                and far_side.leg is far_leg
            ):
                return paired._replace(a=own_side, b=far_side)
        outcome = self._resolve_pair_session(own_end, far_end)
        if isinstance(outcome, BgpSession):
            self._paired[far.number, back.key] = outcome
        return outcome

    def _resolve_pair_session(self, own_end: _SessionEnd, far_end: _SessionEnd) -> BgpSession | DownSession:
        """Return the session of two statements that name each other, or why it stays down."""
        (router, neighbor, leg), (far, back, far_leg) = own_end, far_end
        down = partial(_make_down_session, own_end)
        wrong = find_session_mismatch((router, neighbor), (far, back), (1, 1))
        if wrong is not None:
            return wrong._replace(leg=leg)
        if not (
            can_open_from_expected_address(router, neighbor, back)
            or can_open_from_expected_address(far, back, neighbor)
        ):
            peer_first = (router.number, neighbor.key) > (far.number, back.key)
            return down("source", far.subject_of_neighbor(back), there=peer_first, peer=far.name, address=back.key)
        for own_router, to, port in (own_end, far_end):
            hidden = self._diverting_static_route(own_router, to, port)
            if hidden is not None:
                at = (own_router.device.name, "@static_routes")
                named = {"prefix": hidden.prefix, "via": hidden.next_hop, "hop": format_next_hop(hidden)}
                return down("static", at, there=own_router is not router, **named)
        stop = self._find_blocking_access_list(own_end, far_end)
        if stop is not None:
            stop_at_peer = stop.device != router.device.name
            facts = {"where": stop.device, "list": stop.rules.name, "what": stop.what}
            return down(stop.reason, stop.subject, there=stop_at_peer, **facts)
        families = tuple(
            family
            for family in ADDRESS_FAMILIES
            if is_family_activated(neighbor, family) and is_family_activated(back, family)
        )
        sides = SessionSide(router.number, neighbor, leg), SessionSide(far.number, back, far_leg)
        if not (families or (neighbor.evpn and back.evpn) or may_use_ipv4_next_hops(self._routers, *sides)):
            there_is = any(is_family_activated(neighbor, family) for family in ADDRESS_FAMILIES)
            lacks = not any(is_family_activated(back, family) for family in ADDRESS_FAMILIES)
            return down("families", far.subject_of_neighbor(back), peer=far.name, there=there_is and lacks)
        return BgpSession(*sides, families)

    def _find_blocking_access_list(self, own_end: _SessionEnd, far: _SessionEnd) -> BlockingAccessList | None:
        """Return the access list that drops a session's packets."""
        if not (has_bound_lists(own_end[0].device) or has_bound_lists(far[0].device)):
            return None
        halves = []
        for (router, neighbor, leg), (_, back, far_leg) in ((own_end, far), (far, own_end)):
            named_address = peer_address_stated_or_derived(back, far_leg)
            own_address = IPV6_LINK_LOCAL_RANGE if named_address is None else single_address_range(named_address)
            halves.append(
                SessionPacketEnd(
                    router.device, (leg,), own_address, can_open_from_expected_address(router, neighbor, back)
                )
            )
        return find_blocking_list(self.index, *halves)

    def _diverting_static_route(
        self, router: VrfRouter, neighbor: BgpNeighbor, leg: RoutedInterface
    ) -> StaticRoute | None:
        """Return the static route that leads packets to a neighbor away from its link, the longest; None for none."""
        far = parse_address(neighbor.address or "") if known_rows(router.device.static_routes) else None
        if far is None:
            return None
        subnet = max((prefix.length for prefix in leg.subnets if prefix.contains_address(far)), default=0)
        found = [
            (to.length, route)
            for route, to in readable_static_routes(router, far.family)
            if to.contains_address(far) and to.length > subnet and self._is_route_installed(router, route)
        ]
        longest = max((length for length, _ in found), default=0)
        routes = [route for length, route in found if length == longest]
        return (
            None if any(find_outgoing_interface(router, route) is leg for route in routes) else next(iter(routes), None)
        )

    def _is_route_installed(self, router: VrfRouter, route: StaticRoute) -> bool:
        """Whether a static route drops packets, or leads over a leg that works."""
        leg = find_outgoing_interface(router, route)
        return is_discard_route(route) or (leg is not None and self._is_leg_up(router, leg))

    def _is_leg_up(self, router: VrfRouter, leg: RoutedInterface) -> bool:
        """Whether a leg carries anything; of two legs with one name, `up` has the state of the last."""
        states = self._up[router.number]
        if len(states) == len(router.legs):
            return states[leg.name]
        return self._cabling.is_leg_up(router.device.name, leg, self._failed)

    def _is_leg_shut(self, router: VrfRouter, leg: RoutedInterface) -> bool:
        ports = [self._is_port_shut_or_missing(router.device.name, port) for port in leg.ports]
        return not leg.enabled or (bool(ports) and all(ports))

    def is_address_unanswered(self, router: VrfRouter, leg: RoutedInterface, own_address: Address) -> bool:
        """Whether a router does not answer at its address, as Linux does not at one of IPv6 on a shut interface."""
        return own_address.family == "ipv6" and self._is_leg_shut(router, leg)

    def _is_port_shut_or_missing(self, device: str, port: str) -> bool:
        """Whether a port is shut or missing at this end."""
        own_interface = self.index.interface(device, port)
        return own_interface is None or is_known_off(own_interface.enabled)

    def _leg_to_neighbor(self, router: VrfRouter, neighbor: BgpNeighbor) -> RoutedInterface | None:
        if neighbor.interface is not None:
            return router.leg_by_name.get(neighbor.interface)
        far = parse_address(neighbor.address or "")
        return None if far is None else router.leg_towards(far)

    def _is_far_end_only_on_portless_leg(
        self, far: VrfRouter, far_leg: RoutedInterface, leg: RoutedInterface, neighbor: BgpNeighbor
    ) -> bool:
        """Whether the other end, whose address is on a leg without ports, has neither a link here nor takes routes."""
        back = self._find_return_neighbor(far, far_leg, leg, neighbor)
        over_routes = back is not None and may_reach_neighbor_over_routers(far, back)
        return not over_routes and all(far.leg_towards(own_address) is None for own_address in leg.addresses)

    def _find_far_end(
        self, router: VrfRouter, neighbor: BgpNeighbor, leg: RoutedInterface
    ) -> tuple[VrfRouter, RoutedInterface, bool] | str | None:
        """Return the other end and whether the cable leads there; the name of an unread node, None for nobody."""
        ends = self._cabling.far_ends(router.device.name, leg)
        at_ends = [holder for end in ends for holder in self._by_port.get(end, ()) if holder[1].tag == leg.tag]
        wanted_address = peer_address_stated_or_derived(neighbor, leg)
        if wanted_address is None:
            if at_ends:
                return (*at_ends[0], True)
            return self._unread_far_node(ends)
        for far, far_leg in at_ends:
            if wanted_address in far_leg.addresses:
                return far, far_leg, True
        owners = [owner for owner in self._owners.get(wanted_address, ()) if owner[0] is not router]
        if not owners:
            return self._unread_far_node(ends)
        return (*owners[0], not ends)

    def _unread_far_node(self, ends: tuple[End, ...]) -> str | None:
        """Return the unread node at the other end, "" if nothing is known; None if all of it was read."""
        if not ends:
            return ""
        return next((end.node for end in ends if end.node not in self.index.devices), None)

    def address_owner_in_vrf(self, ip: Address, router: VrfRouter) -> tuple[VrfRouter, RoutedInterface] | None:
        """Return the router of the same VRF that has an address, other than the one that asks, and its leg."""
        owners = (row for row in self._owners.get(ip, ()) if row[0] is not router and row[0].vrf == router.vrf)
        return next(owners, None)

    def are_sessions_unknown(self, router: VrfRouter) -> bool:
        """Whether the sessions of a router are not known."""
        unknown = router.bgp is not None and isinstance(router.bgp.neighbors, Unknown)
        return unknown or router.device.name in self._unread

    def router_with_address(self, far: Address, router: VrfRouter) -> int | None:
        """Return the router that has an address, other than the one that asks."""
        numbers = (owner.number for owner, _ in self._owners.get(far, ()) if owner is not router)
        return next(numbers, None)

    def _find_return_neighbor(
        self, far: VrfRouter, far_leg: RoutedInterface, leg: RoutedInterface, neighbor: BgpNeighbor
    ) -> BgpNeighbor | None:
        """Return the other end's statement about this end: of the same kind, or over the interface."""
        wanted_address = peer_address_stated_or_derived(neighbor, leg)
        neighbors = (
            far.neighbor_by_address.get(own_address)
            for own_address in leg.addresses
            if wanted_address is None or own_address.family == wanted_address.family
        )
        return next((peer for peer in neighbors if peer is not None), far.neighbors_by_interface.get(far_leg.name))


def _is_down_by_dead_link(down: DownSession) -> bool:
    """Whether a statement's link carries nothing: packets to the other end follow other routes."""
    return down.neighbor.address is not None and down.reason in ("port-down", "no-member")


def _has_unfit_far_statement(down: DownSession) -> bool:
    """Whether the other end of a link that works has no statement that fits, and may have one about another address.

    It accepts a connection to any of its addresses from one that it names (FRR, bgpd/bgp_network.c, bgp_accept).
    """
    is_answer_shut = down.reason == "shutdown" and down.there
    return is_answer_shut or down.reason in ("missing-there", "asn", "passive", "password", "hops", "source")


def _make_down_session(
    end: tuple[VrfRouter, BgpNeighbor, RoutedInterface | None],
    reason: SessionDownReason,
    *related: Subject,
    there: bool = False,
    **facts: str | int,
) -> DownSession:
    router, neighbor, leg = end
    return DownSession(router, neighbor, reason, leg, facts, related, there)


def _unknown_fact_of_absent_interface(router: VrfRouter, neighbor: BgpNeighbor) -> str:
    """Return the unknown fact of a session whose interface the model does not have; "" for others.

    The interface is unknown if no file states it and the files need not list all ports.
    """
    if neighbor.interface is None:
        return ""
    return "" if is_port_list_complete(router.device) else "interface.enabled"


def _may_lead_over_tunnel(router: VrfRouter, leg: RoutedInterface) -> bool:
    """Whether a VLAN without ports may lead to other switches over VXLAN: the model has no VNIs."""
    return leg.name.startswith("VLAN ") and (isinstance(router.device.tunnels, Unknown) or bool(router.device.tunnels))


def peer_address_stated_or_derived(neighbor: BgpNeighbor, routed_interface: RoutedInterface) -> Address | None:
    """Return the address of a session's other end: as stated, or as a /31 or /30 leaves it; None for link-local."""
    if neighbor.address is not None:
        return parse_address(neighbor.address)
    for own_address, subnet in zip(routed_interface.addresses, routed_interface.subnets, strict=True):
        if own_address.family == "ipv4" and subnet.length in (30, 31):
            return Address("ipv4", own_address.number ^ (1 if subnet.length == 31 else 3))
    return None
