"""Words about routing: whether a device uses all of its equal paths."""

from collections import Counter
from collections.abc import Iterator

from nodrop.analyses._tiers import possible_bgp_peers_by_key
from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.general import ranges
from nodrop.model.addresses import DEFAULT_ROUTE_BY_FAMILY
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMap, StaticRoute
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact, known_rows, require_fact
from nodrop.routing.tiers import tier_of_device


@declare_word("function", rests_on=("cables", "roles"))
def why_paths_are_unused(device: Device, *, index: Index) -> str:
    """Why a device leaves equal paths unused, as the end of a sentence; nothing where it uses all.

    Where no number of paths is stated, FRR takes as many as it was built for (bgpd/bgp_mpath.c, `multipath_num`).
    """
    bgp = require_fact(device.bgp, "device.bgp")
    if bgp is None:
        return ""
    external = [
        neighbor
        for neighbor in require_fact(bgp.neighbors, "device.bgp.neighbors")
        if _is_enabled_ebgp_session(bgp, neighbor)
    ]
    leads_to: dict[str, Device] = {}
    for name, paths, sessions in (
        ("", bgp.maximum_paths, [neighbor for neighbor in external if neighbor.active]),
        (" of IPv6", bgp.maximum_paths_ipv6, [neighbor for neighbor in external if neighbor.ipv6.active]),
    ):
        if (paths is None or paths >= len(sessions)) and bgp.multipath_relax:
            continue
        leads_to = leads_to or possible_bgp_peers_by_key(index, device)
        if reason := _reason_paths_are_unused(device, bgp, paths, sessions, leads_to, name):
            return reason
    return ""


@declare_word("function")
def is_drained(device: Device) -> bool:
    """Whether a device marks all that it sends with GRACEFUL_SHUTDOWN: as a whole, or in the maps of all sessions."""
    bgp = require_fact(device.bgp, "device.bgp")
    if bgp is None:
        return False
    if bgp.graceful_shutdown:
        return True
    sessions = [neighbor for neighbor in require_fact(bgp.neighbors, "device.bgp.neighbors") if neighbor.enabled]
    maps = {route_map.name: route_map for route_map in bgp.route_maps}
    return bool(sessions) and all(
        _marks_graceful_shutdown(maps.get(session.export_policy or "")) for session in sessions
    )


@declare_word("function")
def drain_settings(device: Device) -> tuple[str, ...]:
    """Return the settings of BGP that drain a device; empty where only the policies of its sessions do."""
    bgp = require_fact(device.bgp, "device.bgp")
    return ("graceful-shutdown",) if bgp is not None and bgp.graceful_shutdown else ()


@declare_word("function")
def draining_route_map_entries(device: Device, word: str) -> tuple[str, ...] | None:
    """Return the entries of route maps that drain a device, each as map, `word` and number.

    None where one of them sets other communities, too; empty where a setting of BGP drains the device.
    """
    bgp = require_fact(device.bgp, "device.bgp")
    if bgp is None or bgp.graceful_shutdown:
        return ()
    used = {session.export_policy for session in require_fact(bgp.neighbors, "device.bgp.neighbors") if session.enabled}
    draining = [
        (route_map.name, rule)
        for route_map in bgp.route_maps
        if route_map.name in used
        for rule in route_map.rules
        if rule.action == "permit" and any(name == "community" for name, _ in rule.sets)
    ]
    if any(("community", "graceful-shutdown") not in rule.sets for _, rule in draining):
        return None
    return tuple(f"{name} {word} {rule.sequence}" for name, rule in draining)


@declare_word("function", rests_on=("policy",))
def is_stated_as_drained(fabric: Fabric, device: Device) -> bool:
    """Whether the owner's list of drained switches has a device; not known where there is no list."""
    if not fabric.policy.drained:
        raise UnknownFact("fabric.policy.drained")
    return device.name in fabric.policy.drained


def _marks_graceful_shutdown(policy: RouteMap | None) -> bool:
    """Whether all that a route map lets pass is marked with GRACEFUL_SHUTDOWN."""
    passing = [rule for rule in policy.rules if rule.action == "permit"] if policy else []
    return bool(passing) and all(
        any(name == "community" and "graceful-shutdown" in value.split() for name, value in rule.sets)
        for rule in passing
    )


@declare_word("function")
def routes_by_link_local(device: Device, neighbor: BgpNeighbor, *, index: Index) -> bool:
    """Whether the port of a session is set to route by link-local addresses; also where it is no port."""
    port = index.interface(device.name, neighbor.interface or "")
    return port is None or require_fact(port.link_local, "interface.link_local")


def _reason_paths_are_unused(
    device: Device,
    bgp: Bgp,
    paths: int | None,
    sessions: list[BgpNeighbor],
    leads_to: dict[str, Device],
    name: str,
) -> str:
    """Why paths of an address family stay unused; nothing where all are used."""
    by_asn = Counter(asn for session in sessions if (asn := _neighbor_asn(session, leads_to)) is not None)
    if paths is not None and by_asn:
        asn, count = max(by_asn.items(), key=lambda item: (item[1], -item[0]))
        in_fabric = all(session.key in leads_to for session in sessions if _neighbor_asn(session, leads_to) == asn)
        if count > paths and (paths == 1 or in_fabric):
            return f"takes {paths} of {count} equal paths{name} to AS {asn} (at most {paths})"
    above = {
        asn
        for session in sessions
        if (far := leads_to.get(session.key)) is not None
        and _is_in_higher_tier(far, device)
        and (asn := _neighbor_asn(session, leads_to)) is not None
    }
    if not bgp.multipath_relax and len(above) > 1:
        numbers = ranges(tuple(sorted(above)))
        return f"takes paths{name} to AS {numbers} for different ones, and uses one"
    return ""


def _is_enabled_ebgp_session(bgp: Bgp, neighbor: BgpNeighbor) -> bool:
    external = neighbor.remote_asn not in (None, "internal", bgp.asn)
    return external and neighbor.enabled


def _neighbor_asn(neighbor: BgpNeighbor, leads_to: dict[str, Device]) -> int | None:
    """Return the neighbor's AS number: the stated one, else that of the device which the session leads to."""
    if isinstance(neighbor.remote_asn, int):
        return neighbor.remote_asn
    far = leads_to.get(neighbor.key)
    return None if far is None or isinstance(far.bgp, Unknown) or far.bgp is None else far.bgp.asn


def _is_in_higher_tier(far: Device, device: Device) -> bool:
    upper, lower = tier_of_device(far), tier_of_device(device)
    return upper is not None and lower is not None and upper > lower


@declare_word("function", rests_on=("cables", "roles"))
def default_route_downwards(device: Device, *, index: Index) -> str:
    """Where a static default route leads a tier down: `0.0.0.0/0 to leaf1 by 10.1.1.224`; nothing where none does."""
    for route, far in _default_routes_downwards(device, index):
        return f"{route.prefix} to {far.name} by {route.next_hop}"
    return ""


@declare_word("function", rests_on=("cables", "roles"))
def static_routes_without_default_downwards(device: Device, *, index: Index) -> tuple[StaticRoute, ...] | Unknown:
    """Return the static routes of a switch without the default routes that lead a tier down."""
    if isinstance(device.static_routes, Unknown):
        return UNKNOWN
    downwards = [route for route, _ in _default_routes_downwards(device, index)]
    return tuple(route for route in device.static_routes if route not in downwards)


def _default_routes_downwards(device: Device, index: Index) -> Iterator[tuple[StaticRoute, Device]]:
    routes = [
        route
        for route in known_rows(device.static_routes)
        if route.prefix in DEFAULT_ROUTE_BY_FAMILY.values() and route.vrf is None and tier_of_device(device)
    ]
    leads_to = possible_bgp_peers_by_key(index, device) if routes else {}
    for route in routes:
        far = leads_to.get(route.next_hop)
        if far is not None and _is_in_higher_tier(device, far):
            yield route, far
