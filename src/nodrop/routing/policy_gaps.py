"""What route maps match or set and is not computed: gaps of the computed routes (`ControlPlane.gaps`)."""

from collections.abc import Iterable, Iterator, Sequence

from nodrop.formats.places import on_one_line
from nodrop.model import policy_values as values
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMapRule
from nodrop.model.states import those_known

_SHOWN = 80
"""Characters of a command that a gap quotes."""
_KEEP_NEXT_HOP = ("peer-address", "unchanged")
"""What `set ip next-hop` says in place of an address."""


def uncomputed(bgp: Bgp) -> Iterator[tuple[str, RouteMapRule, str]]:
    """Yield (route map, rule, what) of all that route maps match or set and that is not computed.

    That is a word that is not known here, a value that FRR does not take or that only the switch knows, and a list
    with an expression or a community of which nothing is known. So is a call of a map that leads back to it, in which
    FRR counts calls across routes (lib/routemap.c, route_map_apply_ext), and a goto that is not to a later rule, which
    FRR does not take (lib/routemap_northbound.c).
    """
    unknown = {("community", one.name) for one in bgp.community_lists if not values.listed(one)}
    unknown |= {("as-path", one.name) for one in bgp.as_path_lists if not values.listed(one)}
    sessions = those_known(bgp.neighbors)
    told, peers = _exports(bgp, sessions), {one.key for one in sessions}
    around, by_leg = _around_themselves(bgp), _of_connected(bgp, sessions)
    kept = {word: _only_imports(bgp, sessions, word) for word in _KEEP_NEXT_HOP}
    for one in bgp.route_maps:
        for rule in one.rules:
            for kind, value in rule.matches:
                if kind == "peer":
                    if one.name in told or value not in peers:
                        yield one.name, rule, kind
                elif kind == "interface":
                    if one.name not in by_leg:
                        yield one.name, rule, kind
                elif kind not in _UNDERSTOOD:
                    yield one.name, rule, kind
                elif not values.computable("match", kind, value) or (kind, value.partition(" ")[0]) in unknown:
                    yield one.name, rule, on_one_line(f"match {kind} {value}")[:_SHOWN]
            for kind, value in rule.sets:
                if kind == "ip next-hop" and one.name in kept.get(value, ()):
                    continue
                if kind not in _UNDERSTOOD:
                    yield one.name, rule, kind
                elif (
                    not values.computable("set", kind, value)
                    or (kind == "call" and {one.name, value} <= around)
                    or (kind == "on-match" and not values.goes_on(rule.sequence, value))
                ):
                    yield one.name, rule, on_one_line(f"set {kind} {value}")[:_SHOWN]


_UNDERSTOOD = frozenset(
    {
        "ip address prefix-list",
        "ipv6 address prefix-list",
        "community",
        "as-path",
        "tag",
        "metric",
        "local-preference",
        "as-path prepend",
        "weight",
        "origin",
        "src",  # zebra's alone: bgpd does not know it (zebra/zebra_routemap.c, set_src)
        "ipv6 next-hop",
        "call",
        "on-match",
    }
)


def _around_themselves(bgp: Bgp) -> frozenset[str]:
    """Return the route maps that call themselves, at once or through others."""
    calls = {
        one.name: {value for rule in one.rules for kind, value in rule.sets if kind == "call"} for one in bgp.route_maps
    }
    found = set()
    for name, called in calls.items():
        reached, waiting = set(called), [*called]
        while waiting:
            further = calls.get(waiting.pop(), set()) - reached
            reached |= further
            waiting += further
        if name in reached:
            found.add(name)
    return frozenset(found)


def _of_connected(bgp: Bgp, sessions: Sequence[BgpNeighbor]) -> set[str | None]:
    """Return the route maps that only connected routes go through: of others it is not known over which leg they go."""
    connected = {row.policy for row in bgp.redistributions if row.source == "connected"}
    others = {row.policy for row in bgp.redistributions if row.source != "connected"}
    imports = {said.import_policy for session in sessions for said in (session, session.ipv6)}
    return connected - others - imports - _exports(bgp, sessions) - {bgp.installed_policy, bgp.installed_policy_ipv6}


def _only_imports(bgp: Bgp, sessions: Sequence[BgpNeighbor], word: str) -> set[str | None]:
    """Return the route maps in which `set ip next-hop` with a word changes nothing: at most imports go through.

    `unchanged` is asked for when routes are announced. `peer-address` is what routes of another AS have as next hop in
    any case (FRR, bgpd/bgp_routemap.c, route_set_ip_nexthop).
    """
    said = [(session, one) for session in sessions for one in (session, session.ipv6)]
    names: set[str | None] = {one.name for one in bgp.route_maps}
    inside = {one.import_policy for session, one in said if session.remote_asn in ("internal", bgp.asn, None)}
    others = {row.policy for row in bgp.redistributions} | {bgp.installed_policy, bgp.installed_policy_ipv6}
    return names - others - _exports(bgp, sessions) - (inside if word == "peer-address" else set())


def _exports(bgp: Bgp, sessions: Iterable[BgpNeighbor]) -> set[str | None]:
    """Return the route maps that announced routes go through, and those that others call.

    Which neighbor `match peer` means there differs between releases of FRR.
    """
    said = [one for session in sessions for one in (session, session.ipv6)]
    names = {name for one in said for name in (one.export_policy, one.default_policy)}
    return names | {
        value for one in bgp.route_maps for rule in one.rules for kind, value in rule.sets if kind == "call"
    }
