"""FRR and the model: written through a template, read from the syntax of `formats.frr`; used by several platforms."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from nodrop.fabric.fabric import Device
from nodrop.fabric.routing import Bgp, BgpNeighbor, Ipv6Unicast
from nodrop.fabric.states import Unknown, known
from nodrop.fabric.subject import Subject
from nodrop.formats.frr import Statement, parse, walk
from nodrop.formats.places import Span
from nodrop.platforms.frr_limits import check
from nodrop.platforms.frr_reader import Routing as Routing
from nodrop.platforms.frr_reader import read as read
from nodrop.platforms.rendering import template


def write(device: Device) -> str:
    """Return the device's frr.conf; Unsupported names the model path that FRR cannot express."""
    bgp = check(device)
    return template("frr/frr.conf.j2").render(device=device, bgp=bgp, families=list(families(bgp)))


class Family(NamedTuple):
    """What an address family of BGP says: `by_default` is what a session does of which it says nothing."""

    name: str
    networks: list[str]
    neighbors: list[tuple[BgpNeighbor, BgpNeighbor | Ipv6Unicast]]
    maximum_paths: int | None
    by_default: bool | Unknown


NOTHING = Ipv6Unicast()
"""What a session says of IPv6 that does not carry it."""


def families(bgp: Bgp) -> Iterator[Family]:
    """Yield IPv4 unicast, and IPv6 unicast where the device does anything with it."""
    neighbors = known(bgp.neighbors)
    old = [network for network in bgp.networks if ":" not in network]
    yield Family("ipv4", old, [(one, one) for one in neighbors], bgp.maximum_paths, bgp.default_ipv4_unicast)
    new = list(bgp.networks[len(old) :])
    carrying: list[tuple[BgpNeighbor, BgpNeighbor | Ipv6Unicast]] = [
        (one, one.ipv6) for one in neighbors if one.ipv6 is not NOTHING and one.ipv6 != NOTHING
    ]
    if new or carrying or bgp.maximum_paths_ipv6 is not None:
        yield Family("ipv6", new, carrying, bgp.maximum_paths_ipv6, False)


def where(text: str) -> Callable[[Subject], Span | None]:
    """Return a function that finds the line of a subject (without its device) in an FRR configuration."""
    statements = list(walk(parse(text)))

    def find(subject: Subject) -> Span | None:
        return next((found.span for found in _candidates(statements, subject)), None)

    return find


_NEIGHBOR_WORDS = {
    "remote_asn": "remote-as",
    "import_policy": "in",
    "export_policy": "out",
    "enabled": "shutdown",
    "active": "activate",
    "allowas_in": "allowas-in",
    "extended_next_hop": "extended-nexthop",
}
_BGP_WORDS = {
    "asn": ("router", "bgp"),
    "router_id": ("bgp", "router-id"),
    "maximum_paths": ("maximum-paths",),
    "maximum_paths_ipv6": ("maximum-paths",),
    "multipath_relax": ("bgp", "bestpath"),
    "session_dscp": ("bgp", "session-dscp"),
    "graceful_shutdown": ("bgp", "graceful-shutdown"),
    "default_ipv4_unicast": ("no", "bgp", "default"),
    "networks": ("network",),
}
_POLICIES = {
    "prefix_lists": (("ip", "prefix-list"), ("ipv6", "prefix-list")),
    "community_lists": (("bgp", "community-list"),),
    "route_maps": (("route-map",),),
}

_Found = tuple[tuple[Statement, ...], Statement]


def _in_ipv6(found: _Found) -> bool:
    """Whether a command stands in the family of IPv6."""
    return any(outer.starts("address-family", "ipv6") for outer in found[0])


def _candidates(statements: list[_Found], subject: Subject) -> Iterator[Statement]:
    """Yield the commands that say the subject, the most exact first."""
    head, *rest = subject or ("",)
    if head == "@neighbors":
        ipv6 = rest[1:2] == ["ipv6"]
        every = [found for found in statements if rest[:1] and _is_of_neighbor(found[1], rest[0])]
        of_neighbor = [one for _, one in sorted(every, key=lambda found: _in_ipv6(found) != ipv6)]
        rest = [rest[0], *rest[2:]] if ipv6 else rest
        word = _NEIGHBOR_WORDS.get(rest[1], rest[1]) if len(rest) > 1 else ""
        yield from (one for one in of_neighbor if word in (*one.words[2:4], *one.words[4:5]))
        yield from of_neighbor
    elif head == "@bgp" and rest and rest[0] in _BGP_WORDS:
        last = rest[0] != "maximum_paths_ipv6"
        every = [found for found in statements if found[1].starts(*_BGP_WORDS[rest[0]])]
        said = [one for _, one in sorted(every, key=lambda found: _in_ipv6(found) == last)]
        position = "".join(rest[1:2])
        yield from said[int(position) :] if position.isascii() and position.isdecimal() else ()
        yield from said
    elif head == "@bgp" and rest and rest[0] in _POLICIES:
        yield from _in_policies(statements, rest[0], rest[1:])
    elif head == "@static_routes":
        routes = [one for _, one in statements if one.words[:2] in (("ip", "route"), ("ipv6", "route"))]
        yield from (one for one in routes if rest[:1] and rest[0] == one.words[2])
        yield from routes
    if head in ("@bgp", "@static_routes", "@neighbors"):
        yield from (one for _, one in statements if one.starts("router", "bgp"))


def _is_of_neighbor(command: Statement, key: str) -> bool:
    words = command.words[1:] if command.words[0] == "no" else command.words
    return words[:2] == ("neighbor", key)


def _in_policies(statements: list[_Found], kind: str, part: list[str]) -> Iterator[Statement]:
    """Yield the commands of a list or map: of the rule that is named, then of the whole."""
    name, _, rule, field, *_ = (*part, "", "", "", "")
    every = [found for found in statements if any(found[1].starts(*words) for words in _POLICIES[kind])]
    own = [one for _, one in every if name in one.words[1:4]]
    if kind == "route_maps" and field in ("matches", "sets"):
        word = "match" if field == "matches" else "set"
        inside = [one for outer, one in statements if outer and outer[-1] in own and outer[-1].words[-1] == rule]
        lines = [one for one in inside if one.words[0] == word]
        position = (*part, "")[4]
        yield from lines[int(position) :] if position.isascii() and position.isdecimal() else lines
    elif kind == "community_lists":
        yield from own[int(rule) :] if rule.isascii() and rule.isdecimal() else ()
    yield from (one for one in own if rule and rule in one.words)
    yield from own
    yield from (one for _, one in every)
