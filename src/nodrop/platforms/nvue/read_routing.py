"""BGP of every VRF, the policies that it uses, and static routes."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

from nodrop.formats.places import shown
from nodrop.model import policy_values
from nodrop.model.addresses import is_prefix
from nodrop.model.routing import (
    Action,
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural
from nodrop.model.values import changed
from nodrop.platforms.nvue import communities
from nodrop.platforms.nvue.names import names
from nodrop.platforms.nvue.read_unread import PROCESS, SESSION, unread
from nodrop.platforms.nvue.read_values import Config, View, is_on
from nodrop.platforms.nvue.tree import Path
from nodrop.units import whole_number

DEFAULT = "default"
SOURCES: Mapping[str, Literal["connected", "static", "kernel"]] = {
    "connected": "connected",
    "kernel": "kernel",
    "static": "static",
}
"""Whose routes BGP may originate, as far as the model goes."""
FAMILIES: tuple[Path, ...] = (("address-family", "ipv4-unicast"), ("address-family", "ipv6-unicast"))
_MAX_ASN = 2**32 - 1
_MAX_SEQUENCE = 65535
_MAX_SESSIONS = 4096
_ACTIONS: Mapping[str, Action] = {"permit": "permit", "deny": "deny"}
_WORDS: Mapping[str, Literal["external", "internal"]] = {"external": "external", "internal": "internal"}
_ON = ("on", "enabled")
_OF_ONE = frozenset({"remote-as", "description", "peer-group"})
"""What is said of one session, or has been followed already."""
_MATCHES = {
    "ip-nexthop-list": "ip next-hop prefix-list",
    "as-path-list": "as-path",
    "community-list": "community",
    "tag": "tag",
}
_SETS = {"ip-nexthop": "ip next-hop", "as-path-prepend": "as-path prepend"}
_LISTS = {
    "ip-prefix-list": "prefix-list",
    "ip-nexthop-list": "prefix-list",
    "community-list": "community-list",
    "as-path-list": "as-path-list",
}
"""Of what kind of list a match names one, so that a name that leads nowhere is found."""


def process(vrf: str) -> Path:
    """Return the path of a VRF's BGP process."""
    return "vrf", vrf, "router", "bgp"


class RoutingReader:
    """Reads what a file says of routing."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._top = config.top
        self._shared: dict[str, BgpNeighbor] = {}
        self.unread: dict[Path, None] = {}
        """Settings that change routes and are not in the model; of sessions in the same words, those of the first."""
        self._policy = self._top.below("router", "policy")

    def bgp(self) -> Bgp | None | Unknown:
        """Return the default VRF's process; None where none runs, UNKNOWN where its AS number is not a plain one."""
        return self._process(DEFAULT)

    def vrf_bgp(self) -> tuple[Bgp, ...] | Unknown:
        """Return those of other VRFs; UNKNOWN where an AS number is not a plain one."""
        vrfs = [vrf for vrf, inside in self._top.below("vrf").items() if inside.below("router").has("bgp")]
        made = []
        for vrf in sorted(vrfs, key=natural):
            bgp = None if vrf == DEFAULT else self._process(vrf)
            if isinstance(bgp, Unknown):
                return UNKNOWN
            made += [bgp] if bgp is not None else []
        return tuple(made)

    def _process(self, vrf: str) -> Bgp | None | Unknown:
        node, shared = self._top.below(*process(vrf)), self._top.below("router", "bgp")
        if not node or is_on(node) is False or is_on(shared) is False:
            return None
        asn = _asn(node) or _asn(shared)
        if asn is None:
            return UNKNOWN
        self.unread |= dict.fromkeys(unread(node, PROCESS))
        family, selection = node.below(*FAMILIES[0]), node.below("path-selection")
        relax = selection.below("multipath").flag("aspath-ignore")
        return Bgp(
            asn=asn,
            vrf=None if vrf == DEFAULT else vrf,
            router_id=_router_id(node) or _router_id(shared),
            networks=tuple(network for _, network in sorted(self._networks(node))),
            redistributions=tuple(self._redistributions(node)),
            maximum_paths=family.below("multipaths").integer("ebgp", 1, 256),
            maximum_paths_ipv6=node.below(*FAMILIES[1], "multipaths").integer("ebgp", 1, 256),
            multipath_relax=relax is True,
            compare_router_id=selection.flag("routerid-compare") is True,
            always_compare_med=selection.below("med").flag("compare-always") is True,
            default_ipv4_unicast=UNKNOWN,
            graceful_shutdown=shared.flag("graceful-shutdown") is True,
            **self._policies,
            neighbors=tuple(self._neighbors(node)),
        )

    @cached_property
    def _policies(self) -> dict[str, Any]:
        """The lists and maps, which the processes of all VRFs share."""
        return {
            "prefix_lists": tuple(self._prefix_lists()),
            "community_lists": tuple(self._community_lists()),
            "as_path_lists": tuple(self._as_path_lists()),
            "route_maps": tuple(self._route_maps()),
        }

    def _redistributions(self, bgp: View) -> Iterator[Redistribution]:
        families: tuple[tuple[Path, Literal["ipv4", "ipv6"]], ...] = ((FAMILIES[0], "ipv4"), (FAMILIES[1], "ipv6"))
        for path, family in families:
            rows = bgp.below(*path, "redistribute")
            for word, source in SOURCES.items():
                if rows.has(word) and is_on(rows.below(word)) is not False:
                    policy = self._named(rows.below(word), "route-map", "route-map")
                    yield Redistribution(source=source, family=family, policy=policy)

    def static_routes(self) -> tuple[StaticRoute, ...]:
        """Return the static routes of every VRF, sorted by prefix and next hop."""
        found = [
            StaticRoute(prefix=_prefix(prefix), next_hop=hop, vrf=None if vrf == DEFAULT else vrf)
            for vrf, inside in self._top.below("vrf").items()
            for prefix, route in inside.below("router", "static").items()
            if self._is_prefix(route.path, _prefix(prefix))
            for hop in route.texts("via")
        ]
        return tuple(sorted(found, key=lambda route: (route.prefix, route.next_hop)))

    def _is_prefix(self, path: Path, text: str) -> bool:
        """Whether a text is a prefix, with a remark if it is none."""
        found = is_prefix(text)
        if not found:
            self._config.malformed(path, shown(text), "a prefix, such as 10.1.0.0/24")
        return found

    def _networks(self, bgp: View) -> Iterator[tuple[bool, str]]:
        """Yield (whether it is IPv6, prefix) of what is announced."""
        for own in FAMILIES:
            for text in bgp.below(*own).texts("network"):
                if self._is_prefix((*bgp.path, *own, "network", text), text):
                    yield ":" in text, text

    def _neighbors(self, bgp: View) -> Iterator[BgpNeighbor]:
        rows: dict[str, list[View]] = {}
        for spelt, node in bgp.below("neighbor").items():
            for key in names(spelt) if not _is_address(spelt) else (spelt,):
                if len(rows) < _MAX_SESSIONS:
                    rows.setdefault(key, []).append(node)
        for key in sorted(rows, key=natural):
            nodes = rows[key]
            group = next((name for node in nodes if (name := node.text("peer-group"))), None)
            if group is not None:
                if bgp.below("peer-group").has(group):
                    nodes = [*nodes, bgp.below("peer-group", group)]
                else:
                    self._dangling("peer-group", group, (*nodes[0].path, "peer-group"))
            yield self._neighbor(key, nodes)

    def _neighbor(self, key: str, nodes: list[View]) -> BgpNeighbor:
        """Return a session from its own settings and those of its peer group, the first that says something.

        What does not name the other end is worked out once for all sessions in the same words.
        """
        content = repr([{word: said for word, said in node.node.items() if word not in _OF_ONE} for node in nodes])
        shared = self._shared.get(content)
        if shared is None:
            shared = self._shared[content] = self._settings(nodes)
        by_address = _is_address(key)
        return changed(
            shared,
            address=key if by_address else None,
            interface=None if by_address else key,
            extended_next_hop=by_address and shared.extended_next_hop,
            ebgp_multihop=shared.ebgp_multihop if by_address else None,
            remote_asn=_remote(nodes),
            description=nodes[0].text("description"),
        )

    def _settings(self, nodes: list[View]) -> BgpNeighbor:
        """Return what sessions may have in common."""
        for node in nodes:
            self.unread |= dict.fromkeys(unread(node, SESSION))
        ipv4, ipv6 = ([node.below(*family) for node in nodes] for family in FAMILIES)
        shut, on = _first(node.flag("shutdown") for node in nodes), _first(map(is_on, nodes))
        return BgpNeighbor(
            enabled=shut is not True and on is not False,
            active=_first(map(is_on, ipv4)) is not False,
            **self._of_family(ipv4),
            bfd=any(_has_bfd(node.below("bfd")) for node in nodes),
            ipv6=Ipv6Unicast(active=_first(map(is_on, ipv6)) is True, **self._of_family(ipv6)),
            hold_s=_first(_hold_s(node) for node in nodes),
            update_source=_first(_source(node) for node in nodes),
            ebgp_multihop=_first(_hops(node) for node in nodes),
            extended_next_hop=_first(node.below("capabilities").text("extended-nexthop") for node in nodes) in _ON,
        )

    def _of_family(self, families: list[View]) -> dict[str, Any]:
        return {
            **{
                f"{way}_{field}": _first(self._named(family.below("policy", bound), word, word) for family in families)
                for field, word in (("policy", "route-map"), ("prefix_list", "prefix-list"))
                for way, bound in (("import", "inbound"), ("export", "outbound"))
            },
            "next_hop_self": _first(family.text("nexthop-setting") for family in families) in ("self", "force"),
            "allowas_in": _first(_allowed(family.below("aspath", "allow-my-asn")) for family in families),
        }

    def _named(self, node: View, word: str, kind: str) -> str | None:
        """Return the list or map that a setting names, with a remark where there is none of that name."""
        name = node.text(word)
        if name == "none":
            return None
        if name is not None and not self._policy.below(kind).has(name):
            self._dangling(kind, name, (*node.path, word))
        return name

    def _dangling(self, kind: str, name: str, path: Path) -> None:
        self._config.remark("dangling-reference", ("@bgp",), path, kind=kind, name=name, field=path[-1])

    def _rules(self, kind: str, name: str) -> list[tuple[int, View]]:
        """Return the rules of a policy by number."""
        found = []
        for spelt, node in self._policy.below(kind, name, "rule").items():
            if sequence := whole_number(spelt, _MAX_SEQUENCE):
                found.append((sequence, node))
            else:
                self._config.malformed(node.path, f"'{spelt[:40]}'", f"a rule's number, 1 to {_MAX_SEQUENCE}")
        return sorted(found, key=lambda rule: rule[0])

    def _prefix_lists(self) -> Iterator[PrefixList]:
        found = []
        for name, node in self._policy.below("prefix-list").items():
            family: Literal["ipv4", "ipv6"] = "ipv6" if node.text("type") == "ipv6" else "ipv4"
            rules = [
                PrefixRule(
                    sequence=sequence,
                    action=rule.word("action", _ACTIONS) or "permit",
                    prefix=prefix,
                    ge=inside.integer("min-prefix-len", 0, 128),
                    le=inside.integer("max-prefix-len", 0, 128),
                )
                for sequence, rule in self._rules("prefix-list", name)
                for prefix, inside in rule.below("match").items()
            ]
            found.append(PrefixList(name=name, family=family, rules=tuple(rules)))
        yield from sorted(found, key=lambda one: (one.family, one.name))

    def _community_lists(self) -> Iterator[CommunityList]:
        for name in sorted(self._policy.below("community-list").node):
            rules: list[tuple[Action, tuple[str, ...]]] = [
                (rule.word("action", _ACTIONS) or "permit", tuple(map(communities.name, rule.texts("community"))))
                for _, rule in self._rules("community-list", name)
            ]
            yield CommunityList(name=name, rules=tuple(rules))

    def _as_path_lists(self) -> Iterator[AsPathList]:
        for name in sorted(self._policy.texts("as-path-list")):
            rules: list[tuple[Action, str]] = []
            for _, rule in self._rules("as-path-list", name):
                rules.append((rule.word("action", _ACTIONS) or "permit", rule.text("aspath-exp") or ""))
                if policy_values.path_expression(rules[-1][1]) is None:
                    self.unread[*rule.path, "aspath-exp"] = None
            yield AsPathList(name=name, rules=tuple(rules))

    def _route_maps(self) -> Iterator[RouteMap]:
        for name in sorted(self._policy.below("route-map").node):
            rules = [
                RouteMapRule(
                    sequence=sequence,
                    action=rule.word("action", _ACTIONS) or "permit",
                    matches=tuple(self._matches(rule.below("match"))),
                    sets=(*self._sets(rule.below("set")), *self._goes_on(rule)),
                )
                for sequence, rule in self._rules("route-map", name)
            ]
            yield RouteMap(name=name, rules=tuple(rules))

    @staticmethod
    def _goes_on(rule: View) -> Iterator[tuple[str, str]]:
        """Yield where a route that a rule permits goes on to, as FRR says it: without a word, nowhere."""
        policy = rule.below("action", "permit", "exit-policy")
        number = policy.text("rule")
        if number is not None or policy.has("next"):
            yield "on-match", f"goto {number}" if number is not None else "next"

    def _matches(self, node: View) -> Iterator[tuple[str, str]]:
        family = "ipv6" if node.text("type") == "ipv6" else "ip"
        for word in node.node:
            value = node.text(word)
            if word == "type" or value is None:
                continue
            if word in _LISTS and not self._policy.below(_LISTS[word]).has(value):
                self._dangling(_LISTS[word], value, (*node.path, word))
            yield f"{family} address prefix-list" if word == "ip-prefix-list" else _MATCHES.get(word, word), value

    def _sets(self, node: View) -> Iterator[tuple[str, str]]:
        for word in node.node:
            prepended = word == "as-path-prepend"
            texts = map(communities.name, node.texts(word)) if word == "community" else node.texts(word)
            value = (node.below(word).text("as") or "") if prepended else " ".join(texts)
            kind = _SETS.get(word, word)
            if not policy_values.computable("set", kind, value):
                self.unread[*node.path, word] = None
            yield kind, value


def _first(values: Iterator[Any]) -> Any:
    """Return the first value that is not None."""
    return next((value for value in values if value is not None), None)


def _asn(node: View) -> int | None:
    text = node.text("autonomous-system")
    return None if text in ("none", "leaf", "spine") else node.integer("autonomous-system", 1, _MAX_ASN)


def _router_id(node: View) -> str | None:
    text = node.text("router-id")
    return None if text in ("none", "auto") else text


def _source(node: View) -> str | None:
    """Return from where a session is opened; releases before 5.3 call it a capability."""
    return node.text("update-source") or node.below("capabilities").text("source-address")


def _hops(node: View) -> int | None:
    return None if node.text("multihop-ttl") in (None, "auto") else node.integer("multihop-ttl", 1, 255)


def _remote(nodes: list[View]) -> int | Literal["external", "internal"] | None:
    """Return the AS at the other end, of the first that says it."""
    for node in nodes:
        stated = node.text("remote-as")
        if stated is not None:
            found = _WORDS.get(stated) or node.integer("remote-as", 1, _MAX_ASN)
            if found is not None:
                return found
    return None


def _allowed(node: View) -> int | None:
    """Return how often the own AS number may be in a path; FRR takes three where no number is said."""
    if not node or is_on(node) is False:
        return None
    return node.integer("occurrences", 1, 10) or 3


def _hold_s(node: View) -> int | None:
    """Return the hold time of a session or group; None where it is left to the daemon."""
    timers = node.below("timers")
    word = timers.text("hold")
    return 0 if word == "none" else None if word in (None, "auto") else timers.integer("hold", 3, 65535, "s")


def _has_bfd(node: View) -> bool:
    stated = is_on(node)
    return bool(node) if stated is None else stated


def _is_address(key: str) -> bool:
    return ":" in key or (key.isascii() and key.replace(".", "").isdecimal())


def _prefix(text: str) -> str:
    return {"default": "0.0.0.0/0", "default6": "::/0"}.get(text, text)
