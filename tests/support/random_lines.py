"""Random lines of BGP on top of a random fabric: weights, lists, aggregates, defaults, distances, limits, shut ports.

Passwords are not drawn: the model has digests of them, of which no frr.conf can be written.
"""

from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any, get_args

from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import (
    Aggregate,
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    LocalAsnMode,
    PrivateAsnRemoval,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane

_PATHS = (
    "^$",
    "^[0-9]+$",
    "^[0-9]+_[0-9]+$",
    "_6500[0-2]$",
    "^(65001|65002)_",
    "_(65000|65003)_",
    "^6500[1-4]( 6500[1-4])*$",
)
_COMMUNITIES = ("^65000:", "65000:1( |$)", ":2$", "no-export", "^65000:1 65000:2$", "6500[0-9]:[2-9]")


def lined(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric of which some routers say more than before."""
    made = replace_fields(fabric, devices=tuple(_device(one, chance) for one in fabric.devices))
    return _with_shut(_with_transport(made, chance), chance)


def _with_shut(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric of which some routers shut a port or loopback in frr.conf."""
    devices = []
    for device in fabric.devices:
        names = [one.name for one in (*device.interfaces, *known_rows(device.loopbacks))]
        shut = (chance.choice(names),) if names and chance.random() < 0.15 else ()
        devices.append(replace_fields(device, shut_by_daemon=shut))
    return replace_fields(fabric, devices=tuple(devices))


def _with_transport(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric of whose sessions some are opened in another way, which both ends agree on or not."""
    plane = compute_control_plane(Index(fabric))
    more: defaultdict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for session in plane.sessions:
        ends = [(plane.routers[side.router].device.name, side.neighbor.key) for side in (session.a, session.b)]
        one, other = chance.sample(ends, 2)
        if chance.random() < 0.12:
            more[one]["passive"] = True
            more[other]["passive"] = chance.random() < 0.1
        if chance.random() < 0.08:
            more[one]["connected_check"] = False
        if chance.random() < 0.08:
            more[one] |= {"ttl_security_hops": _hops(one[1], chance), "ebgp_multihop": None}
            if chance.random() < 0.8:
                more[other] |= {"ttl_security_hops": _hops(other[1], chance), "ebgp_multihop": None}
        if chance.random() < 0.1:
            number = chance.choice([64999, 64998, 65003])
            more[one] |= {"local_asn": number, "local_asn_mode": chance.choice(get_args(LocalAsnMode))}
            more[other]["remote_asn"] = chance.choice([number, number, number, "external", 65001])
        if chance.random() < 0.1:
            more[one]["bfd"] = True
            more[other]["bfd"] = chance.random() < 0.8
    return replace_fields(fabric, devices=tuple(_with_sessions(one, more) for one in fabric.devices))


def _hops(key: str, chance: Random) -> int:
    """Return a number of hops: bgpd takes no other than 1 at a session over an interface."""
    hops = chance.choice([1, 2, 254])
    return hops if "." in key or ":" in key else 1


def _with_sessions(device: Device, more: dict[tuple[str, str], dict[str, Any]]) -> Device:
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    neighbors = (replace_fields(one, **more.get((device.name, one.key), {})) for one in known_rows(bgp.neighbors))
    return replace_fields(device, bgp=replace_fields(bgp, neighbors=tuple(neighbors)))


def _device(device: Device, chance: Random) -> Device:
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    families = ["ipv4", *(["ipv6"] if bgp.maximum_paths_ipv6 else [])]
    neighbors = tuple(_neighbor(one, chance) for one in known_rows(bgp.neighbors))
    texts = [text for one in known_rows(device.loopbacks) for text in one.addresses if "." in text]
    source = texts[0].partition("/")[0] if texts else None
    said: dict[str, Any] = {"neighbors": neighbors, "route_maps": _maps(bgp, source, chance)}
    if chance.random() < 0.35:
        said["aggregates"] = tuple(_aggregates(chance, families))
    for field, low in (("distances", "ipv4"), ("distances_ipv6", "ipv6")):
        if low in families and chance.random() < 0.1:
            said[field] = chance.choice([(255, 255, 255), (255, 200, 200), (20, 200, 255), (30, 40, 50)])
    for field, mark in (("installed_policy", "4"), ("installed_policy_ipv6", "6")):
        if f"ipv{mark}" in families and chance.random() < 0.15:
            said[field] = chance.choice([f"D{mark}", f"D{mark}", "GONE"])
    if chance.random() < 0.15:
        said["default_preference"] = chance.choice([0, 60, 100, 150])
    if chance.random() < 0.1:
        said["maximum_med"] = chance.choice([0, 7, 4294967294])
    if chance.random() < 0.3:
        legs = [one.name for one in (*device.interfaces, *known_rows(device.loopbacks))]
        said["route_maps"] = tuple(sorted((*said["route_maps"], _legs(legs, chance)), key=lambda one: one.name))
        others = tuple(one for one in bgp.redistributions if one.source != "connected")
        given = (Redistribution(source="connected", family=one, policy="LEGS") for one in families)  # type: ignore[arg-type]
        said["redistributions"] = tuple(sorted((*others, *given), key=lambda one: one.key))
    paths = AsPathList(name="A3", rules=(("deny", chance.choice(_PATHS)), ("permit", chance.choice(_PATHS))))
    communities = CommunityList(name="C3", rules=(("permit", (chance.choice(_COMMUNITIES),)),), expanded=True)
    said |= {"as_path_lists": (*bgp.as_path_lists, paths), "community_lists": (*bgp.community_lists, communities)}
    routes = tuple(_static_routes(device, chance))
    return replace_fields(device, bgp=replace_fields(bgp, **said), static_routes=routes)


def _static_routes(device: Device, chance: Random) -> Iterator[StaticRoute]:
    """Yield the static routes of a router with distances, and perhaps one to a block of another router."""
    for route in known_rows(device.static_routes):
        yield replace_fields(route, distance=chance.choice([1, 1, 1, 1, 2, 19, 45, 254, 255]))
    if chance.random() < 0.4:
        block = f"10.8.{chance.randrange(6)}.0/24"
        if block not in {route.prefix for route in known_rows(device.static_routes)}:
            distance = chance.choice([2, 19, 21, 35, 199, 201, 254])
            yield StaticRoute(prefix=block, next_hop="blackhole", distance=distance)


def _legs(names: list[str], chance: Random) -> RouteMap:
    """A route map of connected routes over some of a router's legs, and one that it has not."""
    chosen = chance.sample([*names, "Loopback7"], chance.randint(1, 2))
    rules = [
        RouteMapRule(
            sequence=10 * (number + 1),
            action=chance.choice(["permit", "permit", "deny"]),
            matches=(("interface", one),),
        )
        for number, one in enumerate(chosen)
    ]
    if chance.random() < 0.3:
        rules.append(RouteMapRule(sequence=100, action="permit"))
    return RouteMap(name="LEGS", rules=tuple(rules))


def _aggregates(chance: Random, families: list[str]) -> list[Aggregate]:
    blocks = {"ipv4": ["10.8.0.0/16", "10.9.0.0/16", "10.8.0.0/22", "10.0.0.0/8"], "ipv6": ["fd08::/16", "fd09::/32"]}
    return [
        Aggregate(prefix=one, summary_only=chance.random() < 0.5)
        for family in families
        for one in chance.sample(blocks[family], chance.randint(0, 2))
    ]


def _neighbor(one: BgpNeighbor, chance: Random) -> BgpNeighbor:
    own = _more(chance, "4") if one.active else {}
    there = _more(chance, "6") if one.ipv6.active else {}
    return replace_fields(one, **own, ipv6=replace_fields(one.ipv6, **there))


def _more(chance: Random, mark: str) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if chance.random() < 0.1:
        said["weight"] = chance.choice([0, 7, 100])
    for way in ("import", "export"):
        if chance.random() < 0.1:
            said[f"{way}_path_list"] = chance.choice(["A1", "A2", "A3", "GONE"])
    if chance.random() < 0.1:
        said["private_asns"] = chance.choice(get_args(PrivateAsnRemoval))
    said["as_override"] = chance.random() < 0.08
    if chance.random() < 0.12:
        said["default_originate"] = True
        said["default_policy"] = chance.choice([None, None, f"D{mark}", "GONE"])
    if chance.random() < 0.04:
        said["maximum_prefix"] = chance.choice([1, 3, 8, 100])
    return said


def _maps(bgp: Bgp, source: str | None, chance: Random) -> tuple[RouteMap, ...]:
    """The route maps of a process, of which some call others or go on, and two that match prefixes only.

    `source` is an IPv4 address of the router, if it has one.
    """
    names = {one.name for one in bgp.route_maps}
    peers = [one.address or "" for one in known_rows(bgp.neighbors)]  # a match by interface is not computed
    made = [
        replace_fields(one, rules=tuple(_rule(rule, one.name, names, peers, chance) for rule in one.rules))
        for one in bgp.route_maps
    ]
    for mark, word in (("4", "ip"), ("6", "ipv6")):
        matches = ((f"{word} address prefix-list", f"P{mark}a"),)
        own = [RouteMapRule(sequence=10, action=chance.choice(["permit", "deny"]), matches=matches)]
        if mark == "4" and source is not None and chance.random() < 0.5:
            own[0] = replace_fields(own[0], action="permit", sets=(("src", source),))
        if chance.random() < 0.5:
            own.append(RouteMapRule(sequence=20, action="permit"))
        made.append(RouteMap(name=f"D{mark}", rules=tuple(own)))
    return tuple(sorted(made, key=lambda one: one.name))


def _rule(rule: RouteMapRule, name: str, names: set[str], peers: list[str], chance: Random) -> RouteMapRule:
    if rule.action == "deny":
        return rule
    sets, matches = [*rule.sets], [*rule.matches]
    if chance.random() < 0.08:
        later = sorted(one for one in names if one[:2] == name[:2] and one > name)
        sets += [("call", one) for one in later[:1]]
    if chance.random() < 0.12:
        sets.append(("on-match", chance.choice(["next", "goto 20", "goto 100"]) if rule.sequence < 20 else "next"))
    if name.startswith("I") and name.endswith("a") and peers and chance.random() < 0.08:
        peer = chance.choice(peers)
        matches += [("peer", peer)] if peer else []
    if name.startswith("I4") and chance.random() < 0.02:
        sets.append(("ip next-hop", chance.choice(["unchanged", "peer-address"])))
    kinds = {kind for kind, _ in matches}
    if "as-path" not in kinds and chance.random() < 0.08:
        matches.append(("as-path", "A3"))
    if "community" not in kinds and chance.random() < 0.08:
        matches.append(("community", "C3"))
    return replace_fields(rule, sets=tuple(sets), matches=tuple(matches))
