"""Which BGP sessions come up, between whom, and why the others do not.

A session needs a neighbor statement at both ends, AS numbers that agree, an address of the other end in a subnet of a
port that works, and a cable that leads there. One over an interface finds its other end by router advertisements, or
by the address that is left in a /31 or /30 (FRR, bgpd/bgp_fsm.c, bgp_peer_conf_if_to_su_update).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import Literal, NamedTuple

from nodrop.model.fabric import Device, End
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, surely_off, those_known
from nodrop.model.subject import Subject
from nodrop.routing.legs import Cabling, Leg, legs, unsaid
from nodrop.routing.prefixes import FAMILIES, Address, Family, Prefix, address, cut

Reason = Literal[
    "shutdown",
    "no-subnet",
    "no-route",
    "source",
    "port-down",
    "nobody",
    "cabled-elsewhere",
    "missing-there",
    "asn",
    "passive",
    "hops",
    "password",
    "families",
    "limit",
    "unread",
]


class Router:
    """A routing table of a device: of its default VRF or another, with the BGP process that fills it, if any."""

    def __init__(self, number: int, device: Device, vrf: str | None, bgp: Bgp | None, own: tuple[Leg, ...]) -> None:
        self.number, self.device, self.vrf, self.bgp, self.legs = number, device, vrf, bgp, own

    @property
    def name(self) -> str:
        """How a message names it."""
        return f"{self.device.name} VRF {self.vrf}" if self.vrf else self.device.name

    @cached_property
    def unsaid(self) -> str:
        """The model path of what may be one of its legs or static routes and is not known; "" where all is."""
        return unsaid(self.device)

    @property
    def subject(self) -> Subject:
        """The subject of its BGP process."""
        return (self.device.name, "@bgp") if self.vrf is None else (self.device.name, "@vrf_bgp", self.vrf)

    def at(self, neighbor: BgpNeighbor) -> Subject:
        """Return the subject of one of its neighbors."""
        inside = (self.device.name,) if self.vrf is None else self.subject
        return (*inside, "@neighbors" if self.vrf is None else "neighbors", neighbor.key)

    @cached_property
    def neighbors(self) -> tuple[BgpNeighbor, ...]:
        """Its neighbors; none where it has no BGP or they are not known."""
        return () if self.bgp is None else those_known(self.bgp.neighbors)

    @cached_property
    def by_address(self) -> Mapping[Address, BgpNeighbor]:
        """Its neighbors by their addresses."""
        found = ((address(one.address), one) for one in self.neighbors if one.address is not None)
        return {key: one for key, one in found if key is not None}

    @cached_property
    def by_interface(self) -> Mapping[str, BgpNeighbor]:
        """Its neighbors by the interface that they are over."""
        return {one.interface: one for one in self.neighbors if one.interface is not None}

    @cached_property
    def by_subnet(self) -> Mapping[Prefix, Leg]:
        """Its legs by the subnets that they are in, loopbacks aside."""
        return {subnet: leg for leg in self.legs if leg.ports for subnet in leg.subnets}

    @cached_property
    def by_name(self) -> Mapping[str, Leg]:
        """Its legs by name."""
        return {leg.name: leg for leg in self.legs}

    @cached_property
    def _lengths(self) -> Mapping[Family, tuple[int, ...]]:
        found = {(subnet.family, subnet.length) for subnet in self.by_subnet}
        return {family: tuple(sorted((n for f, n in found if f == family), reverse=True)) for family in FAMILIES}

    @cached_property
    def subnets_with_neighbors(self) -> Set[Prefix]:
        """Its subnets, loopbacks aside, in which addresses of its neighbors are."""
        return {
            subnet
            for far in self.by_address
            for length in self._lengths[far.family]
            if (subnet := Prefix(far.family, cut(far.family, far.number, length), length)) in self.by_subnet
        }

    def leg_towards(self, far: Address) -> Leg | None:
        """Return the leg in whose subnet an address is, the longest first."""
        for length in self._lengths[far.family]:
            leg = self.by_subnet.get(Prefix(far.family, cut(far.family, far.number, length), length))
            if leg is not None:
                return leg
        return None


class Side(NamedTuple):
    """One end of a session."""

    router: int
    neighbor: BgpNeighbor
    leg: Leg


class Session(NamedTuple):
    """A session that comes up, and the families that both ends carry on it."""

    a: Side
    b: Side
    families: tuple[Family, ...]


class Down(NamedTuple):
    """A neighbor statement that gets no session: why, and what it found instead, in the words of a message."""

    router: Router
    neighbor: BgpNeighbor
    reason: Reason
    leg: Leg | None
    """Over what it would go, where that is there."""
    facts: Mapping[str, str | int]
    related: tuple[Subject, ...] = ()
    there: bool = False
    """Whether what is at fault stands at the other end, whose own statement gets no session for it either."""


def routers(index: Index) -> Iterator[Router]:
    """Yield the routing tables of all devices whose BGP is known, numbered from 0."""
    number = 0
    for device in index.fabric.devices:
        by_vrf: defaultdict[str | None, list[Leg]] = defaultdict(list)
        for leg in legs(device):
            by_vrf[leg.vrf].append(leg)
        processes: dict[str | None, Bgp | None] = {
            None: None if isinstance(device.bgp, Unknown) else device.bgp,
            **{one.vrf: one for one in those_known(device.vrf_bgp)},
        }
        for vrf in dict.fromkeys((*processes, *by_vrf)):
            yield Router(number, device, vrf, processes.get(vrf), tuple(by_vrf[vrf]))
            number += 1


class Sessions:
    """The sessions of a fabric: those that are `up`, and those that are `down` with the reason."""

    def __init__(self, index: Index, own: tuple[Router, ...], failed: frozenset[End] = frozenset()) -> None:
        self._index, self._routers, self._failed = index, own, failed
        self._cabling = Cabling(index)
        self._owners: defaultdict[Address, list[tuple[Router, Leg]]] = defaultdict(list)
        self._by_port: dict[tuple[str, str], list[tuple[Router, Leg]]] = defaultdict(list)
        self._unread = {one.name for one in index.fabric.devices if isinstance(one.bgp, Unknown)}
        for router in own:
            for leg in router.legs:
                for one in leg.addresses:
                    self._owners[one].append((router, leg))
                for port in leg.ports:
                    self._by_port[router.device.name, port].append((router, leg))
        self.up: list[Session] = []
        self.down: list[Down] = []
        self.far: list[Down] = []
        """Statements whose session needs routes that other sessions carry (`routing/far_sessions.py`)."""
        for router in own:
            for neighbor in router.neighbors:
                found = self._of(router, neighbor)
                if isinstance(found, Down) and found.reason == "no-route":
                    self.far.append(found)
                elif isinstance(found, Down):
                    self.down.append(found)
                elif (found.a.router, found.a.neighbor.key) < (found.b.router, found.b.neighbor.key):
                    self.up.append(found)

    def _of(self, router: Router, neighbor: BgpNeighbor) -> Session | Down:
        """Return what becomes of a neighbor statement."""

        def down(reason: Reason, *related: Subject, there: bool = False, **facts: str | int) -> Down:
            return Down(router, neighbor, reason, leg, facts, related, there)

        leg = self._leg(router, neighbor)
        if not neighbor.enabled:
            return down("shutdown", where=router.name)
        if leg is None:
            if router.unsaid:
                return down("unread", node="", missing=router.unsaid)
            return down("no-route" if _goes_far(router, neighbor) else "no-subnet")
        if not self._cabling.up(router.device.name, leg, self._failed):
            shut = not leg.enabled or all(self._off(router.device.name, port) for port in leg.ports)
            return down("port-down", leg.subject, port=leg.name, there=not shut)
        found = self._far(router, neighbor, leg)
        if isinstance(found, str):
            return down("unread", node=found)
        if found is None:
            return down("nobody", port=leg.name)
        far, far_leg, cabled = found
        if not cabled:
            ends = self._cabling.far_ends(router.device.name, leg)
            return down("cabled-elsewhere", far_leg.subject, owner=far.name, port=leg.name, far=str(ends[0]))
        if not self._cabling.up(far.device.name, far_leg, self._failed):
            return down("port-down", far_leg.subject, port=leg.name)
        back = self._back(far, far_leg, leg, neighbor)
        if back is None:
            if self.is_unread(far):
                return down("unread", node=far.device.name)
            return down("missing-there", far.subject, peer=far.name, port=leg.name)
        if not back.enabled:
            return down("shutdown", far.at(back), where=far.name, there=True)
        wrong = mismatch((router, neighbor), (far, back), 1)
        if wrong is not None:
            return wrong._replace(leg=leg)
        if not (_opens(router, neighbor, back) or _opens(far, back, neighbor)):
            second = (router.number, neighbor.key) > (far.number, back.key)
            return down("source", far.at(back), there=second, peer=far.name, address=back.key)
        families = tuple(family for family in FAMILIES if carries(neighbor, family) and carries(back, family))
        if not families and not (neighbor.evpn and back.evpn):
            there_is = any(carries(neighbor, family) for family in FAMILIES)
            lacks = not any(carries(back, family) for family in FAMILIES)
            return down("families", far.at(back), peer=far.name, there=there_is and lacks)
        return Session(Side(router.number, neighbor, leg), Side(far.number, back, far_leg), families)

    def _off(self, device: str, port: str) -> bool:
        """Whether a port is shut or missing at this end."""
        own = self._index.interface(device, port)
        return own is None or surely_off(own.enabled)

    def _leg(self, router: Router, neighbor: BgpNeighbor) -> Leg | None:
        if neighbor.interface is not None:
            return router.by_name.get(neighbor.interface)
        far = address(neighbor.address or "")
        return None if far is None else router.leg_towards(far)

    def _far(self, router: Router, neighbor: BgpNeighbor, leg: Leg) -> tuple[Router, Leg, bool] | str | None:
        """Return the other end and whether the cable leads there; the name of an unread node, None for nobody."""
        ends = self._cabling.far_ends(router.device.name, leg)
        at_ends = [found for end in ends for found in self._by_port.get(end, ())]
        wanted = _wanted(neighbor, leg)
        if wanted is None:
            if at_ends:
                return (*at_ends[0], True)
            return self._unread_at(ends)
        for far, far_leg in at_ends:
            if wanted in far_leg.addresses:
                return far, far_leg, True
        owners = [one for one in self._owners.get(wanted, ()) if one[0] is not router]
        if not owners:
            return self._unread_at(ends)
        return (*owners[0], not ends)

    def _unread_at(self, ends: tuple[End, ...]) -> str | None:
        """Return what is at the other end and was not read, nothing known being ""; None where all of it was read."""
        if not ends:
            return ""
        return next((end.node for end in ends if end.node not in self._index.devices), None)

    def owner(self, of: Address, router: Router) -> tuple[Router, Leg] | None:
        """Return the router of the same VRF that has an address, other than the one that asks, and its leg."""
        found = (one for one in self._owners.get(of, ()) if one[0] is not router and one[0].vrf == router.vrf)
        return next(found, None)

    def is_unread(self, router: Router) -> bool:
        """Whether the sessions of a router are not known."""
        unknown = router.bgp is not None and isinstance(router.bgp.neighbors, Unknown)
        return unknown or router.device.name in self._unread

    def holder(self, far: Address, router: Router) -> int | None:
        """Return the router that has an address, other than the one that asks."""
        found = (one.number for one, _ in self._owners.get(far, ()) if one is not router)
        return next(found, None)

    def _back(self, far: Router, far_leg: Leg, leg: Leg, neighbor: BgpNeighbor) -> BgpNeighbor | None:
        """Return what the other end says of this one: of the same kind, or over the interface."""
        wanted = _wanted(neighbor, leg)
        found = (far.by_address.get(one) for one in leg.addresses if wanted is None or one.family == wanted.family)
        return next((one for one in found if one is not None), far.by_interface.get(far_leg.name))


def _wanted(neighbor: BgpNeighbor, leg: Leg) -> Address | None:
    """Return the address of the other end: as stated, or as a /31 or /30 leaves it; None for a link-local one."""
    if neighbor.address is not None:
        return address(neighbor.address)
    for own, subnet in zip(leg.addresses, leg.subnets, strict=True):
        if own.family == "ipv4" and subnet.length in (30, 31):
            return Address("ipv4", own.number ^ (1 if subnet.length == 31 else 3))
    return None


def _opens(router: Router, neighbor: BgpNeighbor, back: BgpNeighbor) -> bool:
    """Whether an end opens the session over a link from the address that the other end expects.

    From an interface with several addresses of a family any of them may be taken (bgpd/bgp_network.c,
    bgp_update_address).
    """
    source, expected = neighbor.update_source, address(back.address or "")
    if neighbor.passive:
        return False
    if source is None or neighbor.interface is not None or expected is None:
        return True
    leg = router.by_name.get(source)
    own = [one for each in router.legs for one in each.addresses] if leg is None else leg.addresses
    return expected in own and (leg is not None or address(source) == expected)


def carries(neighbor: BgpNeighbor, family: Family) -> bool:
    """Whether one end carries a family: IPv4 on a session to an IPv6 address needs next hops of IPv6 (RFC 8950)."""
    if family == "ipv6":
        return neighbor.ipv6.active
    over_ipv6 = neighbor.address is not None and ":" in neighbor.address
    return neighbor.active and (not over_ipv6 or neighbor.extended_next_hop)


Half = tuple[Router, BgpNeighbor]
"""A router and what it says of the other one."""


def mismatch(own: Half, far: Half, links: int) -> Down | None:
    """Return why a session between two ends, `links` apart, stays down; None if it opens.

    Where both ends are at fault, it is reported at the first of them.
    """
    (router, neighbor), (other, back) = own, far

    def down(reason: Reason, *related: Subject, there: bool = False, **facts: str | int) -> Down:
        return Down(router, neighbor, reason, None, facts, related, there)

    for one, mine, end in ((router, neighbor, other), (other, back, router)):
        wrong = _wrong_asn(one, mine, end)
        if wrong is not None:
            at = (*one.at(mine), "remote_asn")
            return down("asn", at, where=one.name, expected=wrong, peer=end.name, found=_asn(end))
    second = (router.number, neighbor.key) > (other.number, back.key)
    at = other.at(back)
    if neighbor.passive and back.passive:
        return down("passive", (*at, "passive"), there=second, peer=other.name)
    if neighbor.password != back.password:
        return down("password", (*at, "password"), there=second, peer=other.name, how=_passwords(neighbor, back))
    inside = _asn(router) == _asn(other)
    for (sender, says), (receiver, checks) in ((own, far), (far, own)):
        sent = _sent_ttl(says, inside=inside)
        left = sent - (links - 1)
        least = 1 if checks.ttl_security_hops is None else _MOST_TTL + 1 - checks.ttl_security_hops
        if left < least:
            there, ends = receiver is not router, {"sender": sender.name, "receiver": receiver.name}
            return down("hops", receiver.at(checks), there=there, **ends, left=max(left, 0), least=least)
    return None


def _passwords(own: BgpNeighbor, far: BgpNeighbor) -> str:
    """How the passwords of both ends differ, in the words of a message."""
    if own.password is None:
        return "only the other end has one"
    return "only this end has one" if far.password is None else "they differ"


_MOST_TTL = 255


def _sent_ttl(neighbor: BgpNeighbor, *, inside: bool) -> int:
    """Return the TTL of a session's packets: the most with TTL security and inside of an AS (bgpd/bgp_network.c)."""
    if inside or neighbor.ttl_security_hops is not None:
        return _MOST_TTL
    return neighbor.ebgp_multihop or 1


def _goes_far(router: Router, neighbor: BgpNeighbor) -> bool:
    """Whether a session to an address may go over other routers: bgpd asks for no subnet in common."""
    if neighbor.address is None:
        return False
    inside = neighbor.remote_asn == "internal" or neighbor.remote_asn == _asn(router)
    hops = neighbor.ebgp_multihop or neighbor.ttl_security_hops or 1
    return inside or hops > 1 or not neighbor.connected_check


def _wrong_asn(router: Router, neighbor: BgpNeighbor, far: Router) -> int | str | None:
    """Return the AS number that a statement asks for, where the other end has another one."""
    own, there, asked = _asn(router), _asn(far), neighbor.remote_asn
    if asked is None:
        return "none"
    if asked == "external":
        return None if own != there else "external"
    if asked == "internal":
        return None if own == there else "internal"
    return None if asked == there else asked


def _asn(router: Router) -> int:
    return 0 if router.bgp is None else router.bgp.asn
