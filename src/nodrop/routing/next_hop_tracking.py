"""Next hops that a router takes for reached over connected and static routes alone.

zebra keeps one entry for each address that daemons have it watch. Before a router opens a session to another AS at the
far end of a link, bgpd has it watch the neighbor's address, and no route of BGP counts for that (FRR,
bgpd/bgp_fsm.c, bgp_peer_reg_with_nht; zebra/zebra_rnh.c, rnh_check_re_nexthops). The entry serves static routes and
learned ones with this next hop as well: bgpd, which waits for a second, asks after staticd (zebra/zapi_msg.c,
zread_rnh_register). It also serves next hops that a route map gives the routes of such a session.
"""

from collections.abc import Callable

from nodrop.model.routing import BgpNeighbor
from nodrop.routing.agreement import may_need_connected_subnet, needs_connected_subnet
from nodrop.routing.next_hop_policy import find_set_next_hops
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.routers import VrfRouter
from nodrop.routing.sessions import peer_address_stated_or_derived
from nodrop.routing.words import PolicyReader


def neighbors_reached_without_bgp(router: VrfRouter) -> frozenset[Address]:
    """Return the addresses of neighbors that a router reaches over no route of BGP."""
    return _addresses_of_neighbors(router, needs_connected_subnet) | _next_hops_set_on_import(router)


def neighbors_maybe_reached_by_bgp(router: VrfRouter) -> frozenset[Address]:
    """Return the addresses of neighbors of which it is not known whether a router reaches them over routes of BGP."""
    return _addresses_of_neighbors(router, may_need_connected_subnet)


def _addresses_of_neighbors(router: VrfRouter, needs: Callable[[VrfRouter, BgpNeighbor], bool]) -> frozenset[Address]:
    """Return the addresses of neighbors that a router opens sessions to, of those that need a link."""
    neighbors = (one for one in router.neighbors if _opens_session(one) and needs(router, one))
    addresses = (_neighbor_address(router, neighbor) for neighbor in neighbors)
    return frozenset(far for far in addresses if far is not None)


def _next_hops_set_on_import(router: VrfRouter) -> frozenset[Address]:
    """Return the next hops that route maps give routes of other ASes at the far ends of links."""
    bgp = router.bgp
    if bgp is None or not any(find_set_next_hops(rule for route_map in bgp.route_maps for rule in route_map.rules)):
        return frozenset()
    reader = PolicyReader(bgp, "ipv4")
    near_neighbors = (neighbor for neighbor in router.neighbors if needs_connected_subnet(router, neighbor))
    return frozenset(hop for neighbor in near_neighbors for hop in reader.inbound(neighbor).new_hops)


def _opens_session(neighbor: BgpNeighbor) -> bool:
    """Whether an end opens a session to a neighbor."""
    stated = neighbor.enabled and not neighbor.passive and neighbor.remote_asn is not None
    return stated and (neighbor.active or neighbor.ipv6.active or neighbor.evpn)


def _neighbor_address(router: VrfRouter, neighbor: BgpNeighbor) -> Address | None:
    """Return a neighbor's address, also one that the subnet of its interface leaves."""
    if neighbor.interface is None:
        return parse_address(neighbor.address or "")
    leg = router.leg_by_name.get(neighbor.interface)
    return None if leg is None else peer_address_stated_or_derived(neighbor, leg)
