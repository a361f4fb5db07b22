"""BGP of every VRF, the policies that it uses, and static routes."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model import policy_values
from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PolicyAction,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.bindings import bound_fields, decode_fields
from nodrop.platforms.kit.session_groups import mark_local_asn_of_group
from nodrop.platforms.nvue import communities, read_unread
from nodrop.platforms.nvue.bindings import check_prefix_list_family, remark_missing_object
from nodrop.platforms.nvue.bindings_bgp import (
    ALL_SESSIONS_OF_PROCESS_BINDINGS,
    COMMON_SESSION_BINDINGS,
    FAMILY_PATHS,
    FAR_END_BINDINGS,
    GLOBAL_BGP_BINDINGS,
    NUMBERED_SESSION_BINDINGS,
    PROCESS_BINDINGS,
    PROCESS_OR_GLOBAL_BINDINGS,
    SESSION_FAMILY_BINDINGS,
    SESSION_ONLY_WORDS,
    check_prefix,
)
from nodrop.platforms.nvue.bindings_local_as import LOCAL_AS_BINDINGS
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile, is_on
from nodrop.platforms.nvue.tree import Path
from nodrop.units import parse_whole_number

DEFAULT_VRF = "default"
_MAX_SEQUENCE = 65535
_MAX_SESSIONS = 4096
_ACTION_BY_WORD: Mapping[str, PolicyAction] = {"permit": "permit", "deny": "deny"}
_SESSION_ONLY_WORDS = SESSION_ONLY_WORDS | {"peer-group"}
"""What is stated of one session, or has been followed already."""
_UNNUMBERED_SESSION_DEFAULTS = {
    field: getattr(BgpNeighbor(), field) for field in bound_fields(NUMBERED_SESSION_BINDINGS)
}
"""What a session over an interface has of what only those to an address can have."""
_FRR_MATCH_BY_WORD = {
    "ip-nexthop-list": "ip next-hop prefix-list",
    "as-path-list": "as-path",
    "community-list": "community",
    "tag": "tag",
}
_FRR_SET_BY_WORD = {
    "ip-nexthop": "ip next-hop",
    "as-path-prepend": "as-path prepend",
    "source-ip": "src",
    "ext-community-bw": "extcommunity bandwidth",
}
_LIST_KIND_BY_MATCH = {
    "ip-prefix-list": "prefix-list",
    "ip-nexthop-list": "prefix-list",
    "community-list": "community-list",
    "as-path-list": "as-path-list",
}
"""Of what kind of list a match names one, so that a name that leads nowhere is found."""


def bgp_process_path(vrf: str) -> Path:
    """Return the path of a VRF's BGP process."""
    return "vrf", vrf, "router", "bgp"


def next_hops_of_route(route: ConfigNodeView) -> Iterator[tuple[int, str, Path]]:
    """Yield the next hops of a static route: distance, next hop, and the path below the route."""
    for hop in route.texts("via"):
        yield 1, hop, ("via", hop)
    for word, inside in route.below("distance").items():
        distance = parse_whole_number(word, MAX_ADMINISTRATIVE_DISTANCE)
        for hop in inside.texts("via") if distance else ():
            yield distance or 1, hop, ("distance", word, "via", hop)


class RoutingReader:
    """Reader of the routing settings of a file."""

    def __init__(self, config: NvueConfigFile) -> None:
        self._config = config
        self._top = config.top
        self._shared: dict[str, BgpNeighbor] = {}
        self.unread: dict[Path, None] = {}
        """Settings that change routes and are not in the model; of sessions in the same words, those of the first."""
        self._policy = self._top.below("router", "policy")

    def bgp_of_default_vrf(self) -> Bgp | None | Unknown:
        """Return the default VRF's process; None where none runs, UNKNOWN where its AS number is not a plain one."""
        return self._read_process(DEFAULT_VRF)

    def bgp_of_other_vrfs(self) -> tuple[Bgp, ...] | Unknown:
        """Return those of other VRFs; UNKNOWN where an AS number is not a plain one."""
        vrfs = [vrf for vrf, inside in self._top.below("vrf").items() if inside.below("router").has("bgp")]
        bgps = []
        for vrf in sorted(vrfs, key=natural_sort_key):
            bgp = None if vrf == DEFAULT_VRF else self._read_process(vrf)
            if isinstance(bgp, Unknown):
                return UNKNOWN
            bgps += [bgp] if bgp is not None else []
        return tuple(bgps)

    def _read_process(self, vrf: str) -> Bgp | None | Unknown:
        node, shared = self._top.below(*bgp_process_path(vrf)), self._top.below("router", "bgp")
        if not node or is_on(node) is False or is_on(shared) is False:
            return None
        vrf_fields = decode_fields(PROCESS_OR_GLOBAL_BINDINGS, [node])
        either = (
            decode_fields([row for row in PROCESS_OR_GLOBAL_BINDINGS if row.field not in vrf_fields], [shared])
            | vrf_fields
        )
        if "asn" not in either:
            return UNKNOWN
        self.unread |= dict.fromkeys(read_unread.find_unread_settings(node, read_unread.UNREAD_PROCESS_SETTINGS))
        return Bgp(
            vrf=None if vrf == DEFAULT_VRF else vrf,
            **either,
            **decode_fields(PROCESS_BINDINGS, [node]),
            **decode_fields(GLOBAL_BGP_BINDINGS, [shared]),
            **self._policies,
            neighbors=tuple(self._read_neighbors(node, either["asn"])),
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

    def static_routes(self) -> tuple[StaticRoute, ...]:
        """Return the static routes of every VRF, sorted by prefix, next hop and distance."""
        found_static_routes = [
            StaticRoute(
                prefix=_expand_default_prefix(prefix),
                next_hop=hop,
                vrf=None if vrf == DEFAULT_VRF else vrf,
                distance=distance,
            )
            for vrf, inside in self._top.below("vrf").items()
            for prefix, route in inside.below("router", "static").items()
            if check_prefix(route, _expand_default_prefix(prefix))
            for distance, hop, _ in next_hops_of_route(route)
        ]
        return tuple(sorted(found_static_routes, key=lambda route: (route.prefix, route.next_hop, route.distance)))

    def _read_neighbors(self, bgp: ConfigNodeView, asn: int) -> Iterator[BgpNeighbor]:
        rows: dict[str, list[ConfigNodeView]] = {}
        for spelt, node in bgp.below("neighbor").items():
            for key in expand_names(spelt) if not _looks_like_address(spelt) else (spelt,):
                if len(rows) < _MAX_SESSIONS:
                    rows.setdefault(key, []).append(node)
        timers = decode_fields(ALL_SESSIONS_OF_PROCESS_BINDINGS, [bgp])
        for key in sorted(rows, key=natural_sort_key):
            own_nodes = nodes = rows[key]
            group = next((name for node in nodes if (name := node.text("peer-group"))), None)
            if group is not None:
                if bgp.below("peer-group").has(group):
                    nodes = [*nodes, bgp.below("peer-group", group)]
                else:
                    remark_missing_object(nodes[0], "peer-group", group, "peer-group")
            session = self._build_neighbor(key, nodes)
            if session.local_asn is not None and "local_asn" not in decode_fields(LOCAL_AS_BINDINGS, own_nodes):
                session = mark_local_asn_of_group(session, asn)
            inherited = {field: value for field, value in timers.items() if getattr(session, field) is None}
            yield replace_fields(session, **inherited) if inherited else session

    def _build_neighbor(self, key: str, nodes: list[ConfigNodeView]) -> BgpNeighbor:
        """Return a session from its settings and those of its peer group; the first that states a value counts.

        Settings that do not name the other end are computed once for all sessions with the same text.
        """
        content = repr(
            [{word: child for word, child in node.node.items() if word not in _SESSION_ONLY_WORDS} for node in nodes]
        )
        shared = self._shared.get(content)
        if shared is None:
            shared = self._shared[content] = self._read_common_session_settings(nodes)
        identity_fields = (
            {"address": key} if _looks_like_address(key) else {"interface": key, **_UNNUMBERED_SESSION_DEFAULTS}
        )
        return replace_fields(shared, **identity_fields, **decode_fields(FAR_END_BINDINGS, nodes))

    def _read_common_session_settings(self, nodes: list[ConfigNodeView]) -> BgpNeighbor:
        """Return what sessions may have in common."""
        for node in nodes:
            self.unread |= dict.fromkeys(read_unread.find_unread_settings(node, read_unread.UNREAD_SESSION_SETTINGS))
        ipv4, ipv6 = (
            decode_fields(SESSION_FAMILY_BINDINGS, [node.below(*family) for node in nodes]) for family in FAMILY_PATHS
        )
        return BgpNeighbor(**ipv4, ipv6=Ipv6Unicast(**ipv6), **decode_fields(COMMON_SESSION_BINDINGS, nodes))

    def _numbered_rules(self, kind: str, name: str) -> list[tuple[int, ConfigNodeView]]:
        """Return the rules of a policy by number."""
        rules = []
        for spelt, node in self._policy.below(kind, name, "rule").items():
            if sequence := parse_whole_number(spelt, _MAX_SEQUENCE):
                rules.append((sequence, node))
            else:
                self._config.remark_malformed_value(
                    node.path, f"'{spelt[:40]}'", f"a rule's number, 1 to {_MAX_SEQUENCE}"
                )
        return sorted(rules, key=lambda rule: rule[0])

    def _prefix_lists(self) -> Iterator[PrefixList]:
        prefix_lists = []
        for name, node in self._policy.below("prefix-list").items():
            family: AddressFamily = "ipv6" if node.text("type") == "ipv6" else "ipv4"
            rules = [
                PrefixRule(
                    sequence=sequence,
                    action=rule.meaning_of_word("action", _ACTION_BY_WORD) or "permit",
                    prefix=prefix,
                    ge=inside.integer("min-prefix-len", 0, 128),
                    le=inside.integer("max-prefix-len", 0, 128),
                )
                for sequence, rule in self._numbered_rules("prefix-list", name)
                for prefix, inside in rule.below("match").items()
            ]
            prefix_lists.append(PrefixList(name=name, family=family, rules=tuple(rules)))
        yield from sorted(prefix_lists, key=lambda prefix_list: (prefix_list.family, prefix_list.name))

    def _community_lists(self) -> Iterator[CommunityList]:
        for name in sorted(self._policy.below("community-list").node):
            rules: list[tuple[PolicyAction, tuple[str, ...]]] = [
                (
                    rule.meaning_of_word("action", _ACTION_BY_WORD) or "permit",
                    tuple(map(communities.community_name, rule.texts("community"))),
                )
                for _, rule in self._numbered_rules("community-list", name)
            ]
            yield CommunityList(name=name, rules=tuple(rules))

    def _as_path_lists(self) -> Iterator[AsPathList]:
        for name in sorted(self._policy.texts("as-path-list")):
            rules: list[tuple[PolicyAction, str]] = []
            for _, rule in self._numbered_rules("as-path-list", name):
                rules.append(
                    (rule.meaning_of_word("action", _ACTION_BY_WORD) or "permit", rule.text("aspath-exp") or "")
                )
                if policy_values.parse_as_path_expression(rules[-1][1]) is None:
                    self.unread[*rule.path, "aspath-exp"] = None
            yield AsPathList(name=name, rules=tuple(rules))

    def _route_maps(self) -> Iterator[RouteMap]:
        for name in sorted(self._policy.below("route-map").node):
            rules = [
                RouteMapRule(
                    sequence=sequence,
                    action=rule.meaning_of_word("action", _ACTION_BY_WORD) or "permit",
                    matches=tuple(self._route_map_matches(rule.below("match"))),
                    sets=(*self._route_map_sets(rule.below("set")), *self._exit_policy_action(rule)),
                )
                for sequence, rule in self._numbered_rules("route-map", name)
            ]
            yield RouteMap(name=name, rules=tuple(rules))

    @staticmethod
    def _exit_policy_action(rule: ConfigNodeView) -> Iterator[tuple[str, str]]:
        """Yield where a route that a rule permits goes on to, in FRR's words; nothing if the rule does not state it."""
        policy = rule.below("action", "permit", "exit-policy")
        number = policy.text("rule")
        if number is not None or policy.has("next"):
            yield "on-match", f"goto {number}" if number is not None else "next"

    def _route_map_matches(self, node: ConfigNodeView) -> Iterator[tuple[str, str]]:
        family = "ipv6" if node.text("type") == "ipv6" else "ip"
        for word in node.node:
            value = node.text(word)
            if word == "type" or value is None:
                continue
            if word in _LIST_KIND_BY_MATCH and not self._policy.below(_LIST_KIND_BY_MATCH[word]).has(value):
                remark_missing_object(node, _LIST_KIND_BY_MATCH[word], value, word)
            elif word == "ip-prefix-list":
                check_prefix_list_family(node, value, "ipv6" if family == "ipv6" else "ipv4", word)
            yield (
                f"{family} address prefix-list" if word == "ip-prefix-list" else _FRR_MATCH_BY_WORD.get(word, word),
                value,
            )

    def _route_map_sets(self, node: ConfigNodeView) -> Iterator[tuple[str, str]]:
        for word in node.node:
            prepended = word == "as-path-prepend"
            texts = map(communities.community_name, node.texts(word)) if word == "community" else node.texts(word)
            value = (node.below(word).text("as") or "") if prepended else " ".join(texts)
            kind = _FRR_SET_BY_WORD.get(word, word)
            if word == "ext-community-bw":
                value = communities.link_bandwidth_in_frr_words(value)
            if not policy_values.is_route_map_clause_computable("set", kind, value):
                self.unread[*node.path, word] = None
            yield kind, value


def _looks_like_address(key: str) -> bool:
    return ":" in key or (key.isascii() and key.replace(".", "").isdecimal())


def _expand_default_prefix(text: str) -> str:
    return {"default": "0.0.0.0/0", "default6": "::/0"}.get(text, text)
