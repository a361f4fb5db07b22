"""From an FRR configuration to the model's routing; a command that is not understood is kept, to be told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nodrop.fabric.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.formats.frr import Statement, parse
from nodrop.platforms.frr_limits import MATCHES, SETS, is_address

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
    "Building",
    "Current",
)
"""First words of commands that do not bear on what the model holds, and of what vtysh prints above them."""

_ASN_WORDS = ("external", "internal")
_OWN = frozenset({"address", "interface", "description"})
"""What a member does not take over from its peer group."""

_OF_FAMILY = frozenset({"active", "import_policy", "export_policy", "allowas_in"})
"""What is said of a session in an address family."""
_NOTHING = Ipv6Unicast()


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


class _NotUnderstood(Exception):
    """A command is not one of those that are read."""


def _number(word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= 10):
        raise _NotUnderstood
    return int(word)


def _action(word: str) -> Literal["permit", "deny"]:
    if word == "permit":
        return "permit"
    if word == "deny":
        return "deny"
    raise _NotUnderstood


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
        self._ipv6: dict[str, dict[str, Any]] = {}
        self._member_of: dict[str, str] = {}
        self._references: list[tuple[Statement, str, str]] = []
        self._session_dscp: int | None = None
        self._drained = False
        self._default_ipv6 = False

    def read(self) -> Routing:
        for statement in self._top:
            self._understood(statement, self._command)
        result = self._result
        if result.bgp is not None:
            result.bgp = replace(
                result.bgp,
                networks=tuple(sorted(result.bgp.networks, key=lambda network: ":" in network)),
                session_dscp=self._session_dscp,
                graceful_shutdown=self._drained,
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
                neighbors=tuple(map(self._with_group, self._neighbors)),
            )
        result.static_routes = tuple(self._routes)
        defined = {
            "prefix list": {name for family, name in self._prefix_lists if family != "ipv6"},
            "IPv6 prefix list": {name for family, name in self._prefix_lists if family == "ipv6"},
            "route map": set(self._route_maps),
            "community list": set(self._community_lists),
        }
        result.undefined = [found for found in self._references if found[2] not in defined[found[1]]]
        return result

    def _with_group(self, key: str) -> BgpNeighbor:
        """Return a neighbor with what its peer group says, before or after, wherever it says nothing itself."""
        bgp, own = self._result.bgp, self._neighbors[key]
        group = self._groups.get(self._member_of.get(key, ""), {})
        inherited = {name: value for name, value in group.items() if name not in _OWN}
        unicast = bgp is not None and bgp.default_ipv4_unicast is True
        said = {"active": unicast} | inherited | own
        if said.get("interface") is not None:
            said.pop("extended_next_hop", None)
        return BgpNeighbor(ipv6=self._ipv6_of(key), **said)

    def _ipv6_of(self, key: str) -> Ipv6Unicast:
        group = self._ipv6.get(self._member_of.get(key, ""), {})
        own = self._ipv6.get(key, {})
        said = {"active": self._default_ipv6} | group | own
        return Ipv6Unicast(**said) if group or own or self._default_ipv6 else _NOTHING

    def _understood(self, statement: Statement, reader: Callable[[Statement], None]) -> None:
        try:
            reader(statement)
        except _NotUnderstood:
            self._result.not_understood.append(statement)

    def _command(self, statement: Statement) -> None:
        words = statement.words
        if words[:2] in (("ip", "prefix-list"), ("ipv6", "prefix-list")):
            self._prefix_list(statement)
        elif words[:2] == ("bgp", "community-list"):
            self._community_list(words)
        elif words[:2] in (("ip", "route"), ("ipv6", "route")):
            self._route(words, None)
        elif words[0] == "vrf" and len(words) == 2:
            for child in statement.children:
                self._understood(child, lambda inner: self._route(inner.words, words[1]))
        elif words[0] == "route-map" and len(words) == 4:
            self._route_map(statement)
        elif words[:2] == ("router", "bgp") and len(words) == 3:
            asn = _number(words[2])
            self._result.bgp = self._result.bgp or Bgp(asn=asn)
            if self._result.bgp.asn != asn:
                raise _NotUnderstood
            for child in statement.children:
                self._understood(child, self._in_bgp)
        elif words[:2] == ("bgp", "session-dscp") and len(words) == 3:
            self._session_dscp = _number(words[2])
        elif words == ("bgp", "graceful-shutdown"):
            self._drained = True
        elif words[0] == "interface":
            for child in statement.children:
                self._understood(child, self._in_interface)
        elif words[0] == "hostname" and len(words) == 2:
            self._result.hostname = words[1]
        elif words[0] not in IGNORED:
            raise _NotUnderstood

    def _in_interface(self, statement: Statement) -> None:
        """Pass over router advertisements: bgpd has zebra send them for a session over an interface in any case."""
        words = statement.words[1:] if statement.words[0] == "no" else statement.words
        if words[:2] != ("ipv6", "nd") and words[0] != "description":
            raise _NotUnderstood

    def _route(self, words: tuple[str, ...], vrf: str | None) -> None:
        match words:
            case ("ip" | "ipv6", "route", prefix, next_hop):
                self._routes.append(StaticRoute(prefix=prefix, next_hop=next_hop, vrf=vrf))
            case ("ip" | "ipv6", "route", prefix, next_hop, "vrf", own):
                self._routes.append(StaticRoute(prefix=prefix, next_hop=next_hop, vrf=own))
            case _:
                raise _NotUnderstood

    def _prefix_list(self, statement: Statement) -> None:
        family, _, name, *rest = (*statement.words, "", "")
        rest = rest[:-2]
        sequence = 0
        if rest[:1] == ["seq"] and len(rest) > 1:
            sequence, rest = _number(rest[1]), rest[2:]
        if len(rest) not in (2, 4, 6):
            raise _NotUnderstood
        action, prefix, *bounds = rest
        limits = dict(zip(bounds[::2], map(_number, bounds[1::2]), strict=True))
        if set(limits) - {"ge", "le"}:
            raise _NotUnderstood
        rules = self._prefix_lists.setdefault((family, name), [])
        rules.append(
            PrefixRule(
                sequence=sequence or 5 * (len(rules) + 1),
                action=_action(action),
                prefix=prefix,
                ge=limits.get("ge"),
                le=limits.get("le"),
            )
        )

    def _community_list(self, words: tuple[str, ...]) -> None:
        match words:
            case (_, _, "standard", name, "seq", _, action, *communities):
                pass
            case (_, _, "standard", name, action, *communities):
                pass
            case (_, _, name, action, *communities) if name.isdecimal():
                pass
            case _:
                raise _NotUnderstood
        if not communities:
            raise _NotUnderstood
        self._community_lists.setdefault(name, []).append((_action(action), tuple(communities)))

    def _route_map(self, statement: Statement) -> None:
        _, name, action, sequence = statement.words
        rule = RouteMapRule(sequence=_number(sequence), action=_action(action))
        found: dict[str, list[tuple[str, str]]] = {"match": [], "set": []}
        for child in statement.children:
            kind, _, rest = child.text.partition(" ")
            known = {"match": MATCHES, "set": SETS}.get(kind, ())
            attribute = next((one for one in known if rest.startswith(f"{one} ")), None)
            if attribute is None:
                self._result.not_understood.append(child)
                continue
            value = rest[len(attribute) + 1 :]
            found[kind].append((attribute, value))
            if kind == "match" and attribute.endswith("prefix-list"):
                kind_of_list = "IPv6 prefix list" if attribute.startswith("ipv6") else "prefix list"
                self._references.append((child, kind_of_list, value))
            if kind == "match" and attribute == "community":
                self._references.append((child, "community list", value.split()[0]))
        rule = replace(rule, matches=tuple(found["match"]), sets=tuple(found["set"]))
        self._route_maps.setdefault(name, []).append(rule)

    def _in_bgp(self, statement: Statement) -> None:
        words, bgp = statement.words, self._result.bgp
        assert bgp is not None
        if words[0] == "neighbor":
            self._neighbor(statement, words[1:], negated=False)
        elif words[:2] == ("bgp", "router-id") and len(words) == 3:
            self._result.bgp = replace(bgp, router_id=words[2])
        elif words == ("bgp", "bestpath", "as-path", "multipath-relax"):
            self._result.bgp = replace(bgp, multipath_relax=True)
        elif words == ("no", "bgp", "default", "ipv4-unicast"):
            self._result.bgp = replace(bgp, default_ipv4_unicast=False)
        elif words == ("bgp", "graceful-shutdown"):
            self._drained = True
        elif words == ("bgp", "default", "ipv6-unicast"):
            self._default_ipv6 = True
        elif words in (("address-family", "ipv4", "unicast"), ("address-family", "ipv4")):
            for child in statement.children:
                self._understood(child, self._in_family)
        elif words in (("address-family", "ipv6", "unicast"), ("address-family", "ipv6")):
            for child in statement.children:
                self._understood(child, self._in_ipv6)
        elif words[:2] != ("bgp", "log-neighbor-changes"):
            self._in_family(statement)

    def _in_family(self, statement: Statement) -> None:
        """Read a command of IPv4 unicast; FRR takes it right under `router bgp` too."""
        words, bgp = statement.words, self._result.bgp
        assert bgp is not None
        if words[0] == "neighbor":
            self._neighbor(statement, words[1:], negated=False)
        elif words[0] == "network" and len(words) == 2:
            self._result.bgp = replace(bgp, networks=(*bgp.networks, words[1]))
        elif words[0] == "maximum-paths" and len(words) == 2:
            self._result.bgp = replace(bgp, maximum_paths=_number(words[1]))
        elif words[:2] == ("no", "neighbor"):
            self._neighbor(statement, words[2:], negated=True)
        else:
            raise _NotUnderstood

    def _in_ipv6(self, statement: Statement) -> None:
        """Read a command of IPv6 unicast."""
        words, bgp = statement.words, self._result.bgp
        assert bgp is not None
        if words[0] == "maximum-paths" and len(words) == 2:
            self._result.bgp = replace(bgp, maximum_paths_ipv6=_number(words[1]))
        elif words[0] == "network" and len(words) == 2:
            self._result.bgp = replace(bgp, networks=(*bgp.networks, words[1]))
        elif words[0] == "neighbor":
            self._neighbor(statement, words[1:], negated=False, ipv6=True)
        elif words[:2] == ("no", "neighbor"):
            self._neighbor(statement, words[2:], negated=True, ipv6=True)
        else:
            raise _NotUnderstood

    def _neighbor(self, statement: Statement, words: tuple[str, ...], *, negated: bool, ipv6: bool = False) -> None:
        if len(words) < 2:
            raise _NotUnderstood
        key, rest = words[0], words[1:]
        if rest == ("peer-group",) and not negated:
            self._groups.setdefault(key, {})
            return
        changes = self._changes(statement, key, rest, negated)
        if ipv6:
            if not _OF_FAMILY.issuperset(changes):
                raise _NotUnderstood
            self._ipv6.setdefault(key, {}).update(changes)
        elif key in self._groups:
            self._groups[key].update(changes)
        else:
            self._neighbors.setdefault(key, {"address" if is_address(key) else "interface": key}).update(changes)

    def _changes(self, statement: Statement, key: str, rest: tuple[str, ...], negated: bool) -> dict[str, Any]:
        """Return the fields that a neighbor command sets."""
        match rest:
            case ("interface", *more) if not negated:
                more = more[1:] if more[:1] == ["v6only"] else more
                return self._changes(statement, key, tuple(more), negated) if more else {}
            case ("peer-group", group) if group in self._groups and not negated:
                self._member_of[key] = group
                return {}
            case ("remote-as", asn) if not negated:
                return {"remote_asn": asn if asn in _ASN_WORDS else _number(asn)}
            case ("description", *text) if text and not negated:
                return {"description": " ".join(text)}
            case ("activate",):
                return {"active": not negated}
            case ("shutdown", *_):
                return {"enabled": negated}
            case ("capability", "extended-nexthop"):
                return {"extended_next_hop": not negated}
            case ("bfd", *_):
                return {"bfd": not negated}
            case ("allowas-in",) if not negated:
                return {"allowas_in": 3}
            case ("allowas-in", times) if not negated:
                return {"allowas_in": _number(times)}
            case ("route-map", name, "in" | "out" as way) if not negated:
                self._references.append((statement, "route map", name))
                return {"import_policy" if way == "in" else "export_policy": name}
        raise _NotUnderstood
