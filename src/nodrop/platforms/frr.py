"""FRR and the model: written through a template, read from the syntax of `formats.frr`; used by several platforms."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from nodrop.fabric.fabric import Device
from nodrop.fabric.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.fabric.subject import Subject
from nodrop.formats.frr import Statement, parse, walk
from nodrop.formats.places import Span
from nodrop.platforms.frr_limits import MATCHES, SETS, check, is_address
from nodrop.platforms.rendering import template

IGNORED = (
    "frr",
    "hostname",
    "log",
    "service",
    "line",
    "agentx",
    "password",
    "enable",
    "debug",
    "zebra",
    "fpm",
    "banner",
)
"""First words of commands that do not bear on what the model holds."""

_MATCHES = (
    "ip address prefix-list",
    "ip next-hop prefix-list",
    "ipv6 address prefix-list",
    "as-path",
    "community",
    "tag",
)
_SETS = ("local-preference", "metric", "community", "as-path prepend", "ip next-hop", "weight", "origin", "tag")


def write(device: Device) -> str:
    """Return the device's frr.conf; Unsupported names the model path that FRR cannot express."""
    return template("frr/frr.conf.j2").render(device=device, bgp=check(device))


@dataclass(slots=True)
class Routing:
    """What an FRR configuration says: BGP, static routes, its hostname, and the commands that were not understood."""

    bgp: Bgp | None = None
    static_routes: tuple[StaticRoute, ...] = ()
    hostname: str | None = None
    not_understood: list[Statement] = field(default_factory=list)
    undefined: list[tuple[Statement, str, str]] = field(default_factory=list)
    """(command, kind, name) of every reference to a list or map that is not there."""


def read(text: str) -> Routing:
    """Return what the text says, as far as the model goes."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._top = parse(text)
        self._result = Routing()
        self._prefix_lists: dict[tuple[str, str], list[PrefixRule]] = {}
        self._community_lists: dict[str, list[Any]] = {}
        self._route_maps: dict[str, list[RouteMapRule]] = {}
        self._routes: list[StaticRoute] = []
        self._neighbors: dict[str, dict[str, Any]] = {}
        self._groups: dict[str, dict[str, Any]] = {}
        self._references: list[tuple[Statement, str, str]] = []
        self._session_dscp: int | None = None

    def read(self) -> Routing:
        for statement in self._top:
            self._command(statement)
        result = self._result
        if result.bgp is not None:
            result.bgp = replace(
                result.bgp,
                session_dscp=self._session_dscp,
                prefix_lists=tuple(
                    PrefixList(name=name, family="ipv6" if family == "ipv6" else "ipv4", rules=tuple(rules))
                    for (family, name), rules in sorted(self._prefix_lists.items())
                ),
                community_lists=tuple(
                    CommunityList(name=name, rules=tuple(rules))
                    for name, rules in sorted(self._community_lists.items())
                ),
                route_maps=tuple(
                    RouteMap(name=name, rules=tuple(rules)) for name, rules in sorted(self._route_maps.items())
                ),
            )
        result.static_routes = tuple(self._routes)
        defined = {
            "prefix list": {name for _, name in self._prefix_lists},
            "route map": set(self._route_maps),
            "community list": set(self._community_lists),
        }
        result.undefined = [found for found in self._references if found[2] not in defined[found[1]]]
        return result

    def _command(self, statement: Statement) -> None:
        words = statement.words
        if words[:2] in (("ip", "prefix-list"), ("ipv6", "prefix-list")):
            self._understood(statement, self._prefix_list)
        elif words[:3] == ("bgp", "community-list", "standard") and len(words) >= 6:
            self._community_lists.setdefault(words[3], []).append((words[4], words[5:]))
        elif words[:2] in (("ip", "route"), ("ipv6", "route")) and len(words) in (4, 6):
            vrf = words[5] if words[4:5] == ("vrf",) else None
            self._routes.append(StaticRoute(prefix=words[2], next_hop=words[3], vrf=vrf))
        elif words[0] == "route-map" and len(words) == 4:
            self._understood(statement, self._route_map)
        elif words[:2] == ("router", "bgp") and len(words) == 3 and words[2].isdigit():
            self._result.bgp = Bgp(asn=int(words[2]))
            for child in statement.children:
                self._in_bgp(child)
            self._result.bgp = replace(
                self._result.bgp, neighbors=tuple(BgpNeighbor(**own) for own in self._neighbors.values())
            )
        elif words[:2] == ("bgp", "session-dscp") and words[2:3] and words[2].isdigit():
            self._session_dscp = int(words[2])
        elif words[0] == "hostname" and len(words) == 2:
            self._result.hostname = words[1]
        elif words[0] not in IGNORED:
            self._result.not_understood.append(statement)

    def _understood(self, statement: Statement, reader: Callable[[Statement], None]) -> None:
        try:
            reader(statement)
        except (ValueError, IndexError):
            self._result.not_understood.append(statement)

    def _prefix_list(self, statement: Statement) -> None:
        family, _, name, *rest = statement.words
        sequence = int(rest[1]) if rest[0] == "seq" else 0
        action, prefix, *bounds = rest[2:] if rest[0] == "seq" else rest
        limits = dict(zip(bounds[::2], map(int, bounds[1::2]), strict=True))
        if action not in ("permit", "deny") or set(limits) - {"ge", "le"}:
            raise ValueError(statement.text)
        rules = self._prefix_lists.setdefault((family, name), [])
        rules.append(
            PrefixRule(
                sequence=sequence or 5 * (len(rules) + 1),
                action="permit" if action == "permit" else "deny",
                prefix=prefix,
                ge=limits.get("ge"),
                le=limits.get("le"),
            )
        )

    def _route_map(self, statement: Statement) -> None:
        _, name, action, sequence = statement.words
        matches, sets = [], []
        for child in statement.children:
            kind, rest = child.words[0], child.text.partition(" ")[2]
            known, found = (MATCHES, matches) if kind == "match" else (SETS, sets)
            attribute = next((one for one in known if rest.startswith(f"{one} ")), None)
            if kind not in ("match", "set") or attribute is None:
                self._result.not_understood.append(child)
                continue
            value = rest[len(attribute) + 1 :]
            found.append((attribute, value))
            if kind == "match" and attribute.endswith("prefix-list"):
                self._references.append((child, "prefix list", value))
            if kind == "match" and attribute == "community":
                self._references.append((child, "community list", value.split()[0]))
        rule = RouteMapRule(
            sequence=int(sequence),
            action="permit" if action == "permit" else "deny",
            matches=tuple(matches),
            sets=tuple(sets),
        )
        self._route_maps.setdefault(name, []).append(rule)

    def _in_bgp(self, statement: Statement) -> None:
        words, bgp = statement.words, self._result.bgp
        assert bgp is not None
        if words[:2] == ("bgp", "router-id") and len(words) == 3:
            self._result.bgp = replace(bgp, router_id=words[2])
        elif words == ("bgp", "bestpath", "as-path", "multipath-relax"):
            self._result.bgp = replace(bgp, multipath_relax=True)
        elif words == ("no", "bgp", "default", "ipv4-unicast"):
            self._result.bgp = replace(bgp, default_ipv4_unicast=False)
        elif words[0] in ("neighbor", "no") and "neighbor" in words[:2]:
            self._neighbor(statement)
        elif words[:3] == ("address-family", "ipv4", "unicast"):
            for child in statement.children:
                self._in_family(child)
        elif words[:2] != ("bgp", "log-neighbor-changes"):
            self._result.not_understood.append(statement)

    def _in_family(self, statement: Statement) -> None:
        words, bgp = statement.words, self._result.bgp
        assert bgp is not None
        if words[0] == "network" and len(words) == 2:
            self._result.bgp = replace(bgp, networks=(*bgp.networks, words[1]))
        elif words[0] == "maximum-paths" and len(words) == 2:
            self._result.bgp = replace(bgp, maximum_paths=int(words[1]))
        elif "neighbor" in words[:2]:
            self._neighbor(statement)
        else:
            self._result.not_understood.append(statement)

    def _neighbor(self, statement: Statement) -> None:
        words = statement.words
        negated = words[0] == "no"
        _, key, *rest = words[1:] if negated else words
        changes = self._changes(statement, key, tuple(rest), negated)
        if changes is None:
            self._result.not_understood.append(statement)
            return
        groups = self._groups if key in self._groups or tuple(rest) == ("peer-group",) else self._neighbors
        if key not in groups:
            unicast = self._result.bgp is not None and self._result.bgp.default_ipv4_unicast
            groups[key] = {"address" if is_address(key) else "interface": key, "active": unicast}
        groups[key].update(changes)

    def _changes(self, statement: Statement, key: str, rest: tuple[str, ...], negated: bool) -> dict[str, Any] | None:
        """Return the fields that a neighbor command sets, or None where it is not understood."""
        head, value = rest[:1], rest[-1] if rest else ""
        if rest == ("peer-group",):
            return {}
        if head == ("peer-group",) and value in self._groups:
            group = self._groups[value]
            names = ("remote_asn", "import_policy", "export_policy", "bfd", "allowas_in", "active")
            return {name: group[name] for name in names if group.get(name)}
        if head == ("interface",) and not negated:
            return self._changes(statement, key, rest[1:], negated) if len(rest) > 1 else {}
        if head == ("remote-as",) and not negated:
            return {"remote_asn": int(value) if value.isdigit() else value}
        if head == ("description",) and not negated:
            return {"description": " ".join(rest[1:])}
        if rest == ("activate",):
            return {"active": not negated}
        if rest == ("shutdown",):
            return {"enabled": negated}
        if rest == ("bfd",):
            return {"bfd": not negated}
        if head == ("allowas-in",) and not negated:
            return {"allowas_in": int(value) if value.isdigit() else 3}
        if head == ("route-map",) and len(rest) == 3 and not negated and value in ("in", "out"):
            self._references.append((statement, "route map", rest[1]))
            return {"import_policy" if value == "in" else "export_policy": rest[1]}
        return None


def where(text: str) -> Callable[[Subject], Span | None]:
    """Return a function that finds the line of a subject (without its device) in an FRR configuration."""
    statements = list(walk(parse(text)))

    def find(subject: Subject) -> Span | None:
        return next((found.span for found in _candidates(statements, subject)), None)

    return find


_NEIGHBOR_WORDS = {
    "remote_asn": "remote-as",
    "import_policy": "route-map",
    "export_policy": "route-map",
    "description": "description",
    "enabled": "shutdown",
    "active": "activate",
    "bfd": "bfd",
    "allowas_in": "allowas-in",
}
_BGP_WORDS = {
    "router_id": ("bgp", "router-id"),
    "maximum_paths": ("maximum-paths",),
    "multipath_relax": ("bgp", "bestpath"),
    "session_dscp": ("bgp", "session-dscp"),
    "networks": ("network",),
    "asn": ("router", "bgp"),
}


def _candidates(statements: list[tuple[tuple[Statement, ...], Statement]], subject: Subject) -> Iterator[Statement]:
    """Yield the commands that say the subject, the most exact first."""
    head, *rest = subject or ("",)
    if head == "@neighbors" and rest:
        of_neighbor = [
            found for _, found in statements if rest[0] in found.words[1:3] and "neighbor" in found.words[:2]
        ]
        if len(rest) > 1:
            word = _NEIGHBOR_WORDS.get(rest[1], rest[1])
            way = {"import_policy": "in", "export_policy": "out"}.get(rest[1])
            yield from (s for s in of_neighbor if word in s.words and (way is None or s.words[-1] == way))
        yield from of_neighbor
    elif head in ("@bgp", "@static_routes", "@neighbors"):
        if head == "@bgp" and rest and rest[0] in _BGP_WORDS:
            yield from (s for _, s in statements if s.starts(*_BGP_WORDS[rest[0]]))
        if head == "@bgp" and len(rest) > 1 and rest[0] in ("route_maps", "prefix_lists", "community_lists"):
            yield from (s for _, s in statements if rest[1] in s.words[1:4])
        if head == "@static_routes":
            yield from (s for _, s in statements if s.words[:2] == ("ip", "route"))
        yield from (s for _, s in statements if s.starts("router", "bgp"))
