"""BGP sessions between addresses that share no subnet, such as those of an EVPN overlay between loopbacks.

Such a session opens if both ends have a route to the address of the other, learned over other sessions, and if their
packets live long enough (FRR, bgpd/bgp_nht.c, bgp_find_or_add_nexthop; bgpd/bgp_network.c, bgp_connect). What it
carries is not computed: for routes of IPv4 and IPv6 over it there is a gap.
"""

from collections.abc import Callable, Iterable

from nodrop.model.routing import BgpNeighbor
from nodrop.routing.agreement import carries, mismatch
from nodrop.routing.legs import Leg
from nodrop.routing.prefixes import FAMILIES, Address, address
from nodrop.routing.routers import Down, Router, Session, Side
from nodrop.routing.session_filters import Half, find_stop
from nodrop.routing.session_packets import atom
from nodrop.routing.sessions import Sessions

Onward = Callable[[int, Address], Iterable[int]]
"""Returns the routers that get a router's packets to an address: the next ones, or the one that has the address."""
_MOST_HOPS = 255


def settle(sessions: Sessions, onward: Onward, *, whole: bool) -> list[Session]:
    """Return the sessions over several hops that come up, and add the statements that get none to `found.down`.

    Unless the routes are `whole`, a missing one may come from a router that was not read.
    """
    up = []
    for asked in sessions.far:
        result = _of(sessions, asked, onward)
        if isinstance(result, Down) and result.reason == "no-route" and not whole:
            result = result._replace(reason="unread", facts={"node": "", "missing": "device.bgp"})
        if isinstance(result, Down):
            sessions.down.append(result)
        elif (result.a.router, result.a.neighbor.key) < (result.b.router, result.b.neighbor.key):
            up.append(result)
    return up


def carries_unfollowed(session: Session) -> bool:
    """Return whether a session is one over several hops that carries routes of IPv4 or IPv6."""
    a, b = session.a.neighbor, session.b.neighbor
    return not session.families and any(carries(a, family) and carries(b, family) for family in FAMILIES)


def _of(sessions: Sessions, asked: Down, onward: Onward) -> Session | Down:
    router, neighbor = asked.router, asked.neighbor
    to = address(neighbor.address or "")
    owner = None if to is None else sessions.owner(to, router)
    if to is None or owner is None:
        return asked._replace(reason="unread", facts={"node": "", "missing": "device.bgp"})
    far, far_leg = owner
    back = _statement(far, router)
    if back is None:
        if sessions.is_unread(far):
            return asked._replace(reason="unread", facts={"node": far.device.name})
        facts = {"peer": far.name, "port": far_leg.name}
        return asked._replace(reason="missing-there", facts=facts, related=(far.subject,))
    if not back.enabled:
        return asked._replace(reason="shutdown", facts={"where": far.name}, related=(far.at(back),), there=True)
    own_address = address(back.address or "")
    leg = None if own_address is None else _leg(router, own_address)
    assert own_address is not None
    assert leg is not None
    links = 1
    for start, goal, end in ((router, to, far), (far, own_address, router)):
        distance = _distance(onward, start.number, goal, end.number)
        if distance is None:
            facts = {"where": start.name, "missing": str(neighbor.address if start is router else back.address)}
            return asked._replace(reason="no-route", facts=facts, there=start is not router)
        links = max(links, distance)
    wrong = mismatch((router, neighbor), (far, back), links)
    if wrong is not None:
        return asked._replace(reason=wrong.reason, facts=wrong.facts, related=wrong.related, there=wrong.there)
    if not (_opens(neighbor, leg, own_address) or _opens(back, far_leg, to)):
        facts = {"peer": far.name, "address": str(back.address)}
        return asked._replace(reason="source", facts=facts, there=router.number > far.number)
    halves = (
        Half(router.device, _cabled(router), atom(own_address), _opens(neighbor, leg, own_address)),
        Half(far.device, _cabled(far), atom(to), _opens(back, far_leg, to)),
    )
    stop = find_stop(sessions.index, *halves, across=True)
    if stop is not None:
        facts = {"where": stop.device, "list": stop.rules.name, "what": stop.what}
        there = stop.device != router.device.name
        return asked._replace(reason=stop.reason, facts=facts, related=(stop.subject,), there=there)
    return Session(Side(router.number, neighbor, leg), Side(far.number, back, far_leg), ())


def _statement(far: Router, router: Router) -> BgpNeighbor | None:
    """Return what a router says of another, to any of its addresses."""
    own_addresses = {one for leg in router.legs for one in leg.addresses}
    return next((statement for to, statement in far.by_address.items() if to in own_addresses), None)


def _leg(router: Router, own_address: Address) -> Leg | None:
    return next((leg for leg in router.legs if own_address in leg.addresses), None)


def _cabled(router: Router) -> tuple[Leg, ...]:
    return tuple(leg for leg in router.legs if leg.ports)


def _opens(neighbor: BgpNeighbor, leg: Leg, expected: Address) -> bool:
    """Return whether an end opens the session from the address that the other end expects, which is on this leg.

    Without an update source, it opens from the port that the packets leave by, never from a loopback.
    """
    if neighbor.passive:
        return False
    if neighbor.update_source is None:
        return bool(leg.ports)
    return neighbor.update_source == leg.name or address(neighbor.update_source) == expected


def _distance(onward: Onward, start: int, to: Address, end: int) -> int | None:
    """Return over how many links packets go to a router; None where they do not arrive on any path."""
    reached, distance = {start}, 0
    while end not in reached and reached and distance < _MOST_HOPS:
        reached = {far for number in reached for far in onward(number, to)}
        distance += 1
    return distance if end in reached else None
