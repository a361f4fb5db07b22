"""Sessions that take paths with the router's own AS number, where the fabric relies on their refusal.

Leaves that share one number need such paths. Whether others share it shows in their own files, or in a neighbor that
was read: it has sessions to each of them.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._plane import control_plane_of
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import Unknown
from nodrop.routing import ControlPlane
from nodrop.routing.prefixes import parse_address
from nodrop.routing.routers import VrfRouter
from nodrop.routing.tiers import tier_of_device
from nodrop.routing.words import neighbor_family_statement

RESTS_ON = frozenset({"roles"})
NEEDS_ROUTING = True
GIVES_CHANGES = True

_LEAF_TIER = 0
_UNREAD_SESSION_END_FACT = "the other end of a session"


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each router with such sessions once, unless it is a leaf that shares its number with other leaves."""
    plane = control_plane_of(index)
    taking = [(router, rows) for router in plane.routers if (rows := list(_neighbors_with_allowas_in(router)))]
    if not taking:
        return
    peerings = _Peerings(plane, index)
    for router, rows in taking:
        tier, others = peerings.tier_if_certain(router), peerings.count_same_tier_and_asn(router)
        below = tier in (_LEAF_TIER, None)
        if below and (others or peerings.may_unread_router_share_asn(router)):
            continue
        unread = frozenset() if others else peerings.unread_peers_that_decide_tier(router, below=below)
        if unread:
            yield UndecidedSubject(subject=(router.device.name,), missing=_UNREAD_SESSION_END_FACT, others=unread)
        else:
            yield _build_hit(router, rows, _describe_shared_asn(others, below=below))


def _describe_shared_asn(others: int, *, below: bool) -> str:
    """Return how many routers have the same AS number, in brackets; "" for a spine if only leaves were read."""
    if others:
        return f" (which {others} more of its tier {'have' if others > 1 else 'has'})"
    return " (which no other router has)" if below else ""


def _build_hit(router: VrfRouter, rows: list[tuple[BgpNeighbor, str]], alike: str) -> AnalysisHit:
    key, field = rows[0]
    count_suffix = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    asn = 0 if router.bgp is None else router.bgp.asn
    return AnalysisHit(
        subject=(*router.subject_of_neighbor(key), *field.split("/")),
        facts={"device": router.name, "session": key.key + count_suffix, "asn": asn, "alike": alike},
        changes=tuple(
            ((*router.subject_of_neighbor(neighbor), *field.split("/")), None)
            for neighbor in router.neighbors
            for field in _fields_with_allowas_in(neighbor)
        ),
        left_out=names_left_out([neighbor.key for neighbor, _ in rows]),
    )


def _neighbors_with_allowas_in(router: VrfRouter) -> Iterator[tuple[BgpNeighbor, str]]:
    for neighbor in router.neighbors:
        if neighbor.enabled and (fields := _fields_with_allowas_in(neighbor)):
            yield neighbor, fields[0]


def _fields_with_allowas_in(neighbor: BgpNeighbor) -> list[str]:
    """Return the fields of a neighbor that allow the own AS number, one for each address family."""
    return [
        "allowas_in" if family == "ipv4" else f"{family}/allowas_in"
        for family in ADDRESS_FAMILIES
        if neighbor_family_statement(neighbor, family).allowas_in
    ]


class _Peerings:
    """Which routers of a fabric have sessions with each other, and what these show of tiers and AS numbers."""

    def __init__(self, plane: ControlPlane, index: Index) -> None:
        self._routers, self._index = plane.routers, index
        self._far: defaultdict[int, dict[str, int]] = defaultdict(dict)
        """By router and key of a session, the router at its far end."""
        for session in plane.sessions:
            for near, far in ((session.a, session.b), (session.b, session.a)):
                self._far[near.router][near.neighbor.key] = far.router
        self._node = {(down.router.number, down.neighbor.key): down.facts.get("node") for down in plane.down}
        self._read = {name for name, device in index.devices.items() if _has_known_bgp(device)}
        """The devices whose AS numbers are all known."""
        self._read_addresses = {
            own_address
            for router in plane.routers
            if router.device.name in self._read
            for leg in router.legs
            for own_address in leg.addresses
            if not own_address.is_link_local
        }
        self._alike: defaultdict[tuple[int, int | None], set[str]] = defaultdict(set)
        """By AS number and tier, the devices."""
        for router in plane.routers:
            if router.bgp is not None:
                self._alike[router.bgp.asn, self.tier_if_certain(router)].add(router.device.name)

    def tier_if_certain(self, router: VrfRouter) -> int | None:
        """Return the tier of a router; None if it is unknown, or a router of another AS has the same above leaves.

        The routers of a tier have no sessions with each other. The type of a SONiC switch, LeafRouter or another, often
        gives no evidence of its tier: some files give it to all switches.
        """
        tier = tier_of_device(router.device)
        if tier in (_LEAF_TIER, None):
            return tier
        return None if any(self._is_same_tier_other_as(router, far) for far in self._peers(router)) else tier

    def count_same_tier_and_asn(self, router: VrfRouter) -> int:
        """Return the number of other devices of its tier that were read and have its AS number."""
        return (
            0
            if router.bgp is None
            else len(self._alike[router.bgp.asn, self.tier_if_certain(router)] - {router.device.name})
        )

    def unread_peers_that_decide_tier(self, router: VrfRouter, *, below: bool) -> frozenset[str]:
        """Return the unread peers that would show its tier, and for a leaf who shares its number: names or addresses.

        A session with a router of another tier shows both, unless AS numbers of that router's other sessions are open.
        """
        peers = self._peers(router)
        tier = self.tier_if_certain(router)
        joins_tiers = any(self.tier_if_certain(far) not in (tier, None) for far in peers)
        own_open = () if joins_tiers else ((router, neighbor) for neighbor in self._neighbors_without_session(router))
        far_open = (
            (far, neighbor)
            for far in (peers if below else ())
            for neighbor in self._neighbors_without_session(far)
            if not isinstance(neighbor.remote_asn, int) and not self._leads_to_known_router(far, neighbor, router)
        )
        return frozenset(
            str(self._node.get((near.number, neighbor.key)) or neighbor.key)
            for near, neighbor in chain(own_open, far_open)
        )

    def may_unread_router_share_asn(self, router: VrfRouter) -> bool:
        """Whether a peer states its AS number for a neighbor that was not read; sessions that are down may be read."""
        return any(
            router.bgp is not None
            and neighbor.remote_asn == router.bgp.asn
            and not self._leads_to_known_router(far, neighbor, router)
            for far in self._peers(router)
            for neighbor in self._neighbors_without_session(far)
        )

    def _leads_to_known_router(self, near: VrfRouter, neighbor: BgpNeighbor, router: VrfRouter) -> bool:
        """Whether a statement is for an address or a cable of a router, or of a device whose AS numbers are known."""
        far_address = None if neighbor.address is None else parse_address(neighbor.address)
        own_addresses = (own_address for leg in router.legs for own_address in leg.addresses)
        if far_address is not None and (far_address in self._read_addresses or far_address in own_addresses):
            return True
        leg = near.leg_by_name.get(neighbor.interface or "") if far_address is None else near.leg_towards(far_address)
        ends = [self._index.far_end(near.device.name, port) for port in (() if leg is None else leg.ports)]
        return bool(ends) and all(
            end is not None and (end.node == router.device.name or end.node in self._read) for end in ends
        )

    def _neighbors_without_session(self, router: VrfRouter) -> Iterator[BgpNeighbor]:
        for neighbor in router.neighbors:
            if neighbor.enabled and neighbor.key not in self._far[router.number]:
                yield neighbor

    def _peers(self, router: VrfRouter) -> list[VrfRouter]:
        return [self._routers[number] for number in dict.fromkeys(self._far[router.number].values())]

    def _is_same_tier_other_as(self, router: VrfRouter, far: VrfRouter) -> bool:
        unlike = router.bgp is not None and far.bgp is not None and router.bgp.asn != far.bgp.asn
        return (
            unlike and router.device is not far.device and tier_of_device(router.device) == tier_of_device(far.device)
        )


def _has_known_bgp(device: Device) -> bool:
    return not isinstance(device.bgp, Unknown) and not isinstance(device.vrf_bgp, Unknown)
