"""From a device to the statements about its routing: BGP, policies, static routes, the choice among equal paths."""

from collections.abc import Iterable, Iterator, Mapping

from nodrop.model.fabric import Device
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMapRule
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.address_families import has_ipv6_settings, stated_families
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.kit.rendering import EscapedText, load_template
from nodrop.platforms.kit.session_groups import (
    NO_GROUPS,
    GroupNameByFarEnd,
    group_sessions_into_peer_groups,
    without_group_fields,
)
from nodrop.platforms.nvue.adaptive_routing import THRESHOLD_KEY
from nodrop.platforms.nvue.bindings import READS, NodeStatement, feature_state_statement, statements_of_model_part
from nodrop.platforms.nvue.bindings_bgp import (
    FAMILY_PATHS,
    GLOBAL_BGP_BINDINGS,
    PROCESS_BINDINGS,
    PROCESS_OR_GLOBAL_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
)
from nodrop.platforms.nvue.communities import render_community, render_link_bandwidth
from nodrop.platforms.nvue.limits_routing import (
    NVUE_WORD_BY_ROUTE_MAP_MATCH,
    NVUE_WORD_BY_ROUTE_MAP_SET,
    nvue_next_hop_type,
)
from nodrop.platforms.nvue.spelling import DialectWords, dialect_of_release


def render_statements(file: str, **names: object) -> EscapedText:
    """Return the statements that a template renders from its arguments."""
    return EscapedText(load_template(f"nvue/{file}.nv.j2").render(**names))


def insert_statements(config_text: str, lines: Iterable[NodeStatement]) -> str:
    """Return statements in the order of an export, with others among them: each before the first of a later path."""
    statements = config_text.splitlines(keepends=True)
    for line in sorted(lines):
        path = list(line.path)
        place = next((at for at, statement in enumerate(statements) if statement.split(" ") > path), len(statements))
        statements.insert(place, render_statements("lines", path=path[0], lines=[line._replace(path=line.path[1:])]))
    return "".join(statements)


_NextHopsByPrefix = list[tuple[str, list[tuple[str, str, int]]]]
"""(prefix, its next hops, what they are and their distances): those of one distance are together."""


def _static_routes_by_vrf(device: Device) -> list[tuple[str, _NextHopsByPrefix]]:
    """Return (VRF, its static routes) in the order of a file: the default one in any case, and those with BGP."""
    prefixes_by_vrf: dict[str, dict[str, list[tuple[str, str, int]]]] = {"default": {}}
    prefixes_by_vrf |= {bgp.key: {} for bgp in require_fact(device.vrf_bgp)}
    for route in require_fact(device.static_routes):
        prefixes = prefixes_by_vrf.setdefault(route.vrf or "default", {})
        prefixes.setdefault(route.prefix, []).append(
            (route.next_hop, nvue_next_hop_type(route.next_hop), route.distance)
        )
    for prefixes in prefixes_by_vrf.values():
        for routes in prefixes.values():
            routes.sort(key=lambda route: (route[2] == 1, route[2]))
    return [(vrf, list(prefixes_by_vrf[vrf].items())) for vrf in sorted(prefixes_by_vrf, key=natural_sort_key)]


def _adaptive_routing_settings(device: Device, spoken: DialectWords) -> list[tuple[str, str]]:
    """Return (key, value) of a switch's adaptive routing; if it has none, that is stated where a port has it."""
    on = bool(device.adaptive_routing)
    word, _, value = (spoken.enabled if on else spoken.disabled).split(" ")
    state_rows = [(word, value)] if on or any(port.adaptive_routing for port in device.interfaces) else []
    return sorted([*state_rows, (THRESHOLD_KEY, spoken.on)] if device.weighs_utilization else state_rows)


class _RoutingTemplateWords:
    """The words that the templates of routing and services ask for."""

    def __init__(self, device: Device) -> None:
        spoken, self._release = dialect_of_release(device.version), device.version
        self.old, self.on, self.enabled, self.disabled = spoken.old, spoken.on, spoken.enabled, spoken.disabled
        self.vrfs = _static_routes_by_vrf(device)
        self.balancing = _adaptive_routing_settings(device, spoken)

    def community(self, community: str) -> str:
        """Return a community as NVUE writes it."""
        return render_community(community, self._release)

    @staticmethod
    def matches(rule: RouteMapRule) -> list[tuple[str, str]]:
        """Return (key, value) of a rule's matches, the family of prefixes last."""
        match_rows = [
            (_policy_word(NVUE_WORD_BY_ROUTE_MAP_MATCH, attribute, rule), value) for attribute, value in rule.matches
        ]
        families = {match: family for family, match in PREFIX_LIST_MATCH_BY_FAMILY.items()}
        return match_rows + [("type", families[attribute]) for attribute, _ in rule.matches if attribute in families]

    def sets(self, rule: RouteMapRule) -> Iterator[tuple[str, EscapedText, str]]:
        """Yield (key, separator, value) of the attributes that a rule sets."""
        for attribute, value in rule.sets:
            if attribute == "community":
                for community in value.split():
                    yield f"community {self.community(community)}", EscapedText(), ""
            else:
                written = render_link_bandwidth(value) if attribute == "extcommunity bandwidth" else value
                yield _policy_word(NVUE_WORD_BY_ROUTE_MAP_SET, attribute, rule), EscapedText(" = "), written


def _policy_word(words: Mapping[str, str], attribute: str, rule: RouteMapRule) -> str:
    """Return NVUE's word for a match or set of a rule; raise UnsupportedByPlatform if it has no word for it."""
    if attribute not in words:
        raise unsupported_error(("route_maps", "*", "rules", rule.sequence), f"NVUE has no word for {attribute}")
    return words[attribute]


def routing_statements(device: Device, far_ends: GroupNameByFarEnd | None = None) -> Iterator[str]:
    """Yield the statements about routing: those below `router`, those below `vrf`.

    `far_ends` names the peer groups of sessions; without it, each session states all its settings.
    """
    bgp, say, spoken = require_fact(device.bgp), _RoutingTemplateWords(device), dialect_of_release(device.version)
    running = () if bgp is None else (bgp, *require_fact(device.vrf_bgp))
    processes = {vrf: EscapedText() for vrf, _ in say.vrfs} | {
        one.key: _process_statements(one, spoken, far_ends) for one in running
    }
    bfd = any(session.bfd for process in running for session in require_fact(process.neighbors))
    yield render_statements(
        "router", bgp=bgp, say=say, bfd=bfd, shared=_shared_bgp_statements(bgp, spoken) if bgp is not None else ""
    )
    yield render_statements("vrf", say=say, processes=processes)


def _shared_bgp_statements(bgp: Bgp, spoken: DialectWords) -> EscapedText:
    """Return the statements about the processes of all VRFs."""
    lines = statements_of_model_part((*PROCESS_OR_GLOBAL_BINDINGS, *GLOBAL_BGP_BINDINGS), bgp, spoken)
    return _render_lines("router bgp", [feature_state_statement((), spoken), *lines])


def _process_statements(bgp: Bgp, spoken: DialectWords, ends: GroupNameByFarEnd | None) -> EscapedText:
    """Return the statements of a process: its own in the order of their paths, sessions and groups among them."""
    path = f"vrf {bgp.key} router bgp"
    neighbors = require_fact(bgp.neighbors)
    alone = NO_GROUPS if ends is None else group_sessions_into_peer_groups(bgp, ends)
    lines = [
        feature_state_statement((), spoken),
        *statements_of_model_part(
            (*PROCESS_OR_GLOBAL_BINDINGS, *PROCESS_BINDINGS) if bgp.vrf else PROCESS_BINDINGS, bgp, spoken
        ),
    ]
    used = stated_families(bgp, neighbors)
    lines += [feature_state_statement(FAMILY_PATHS[name == "ipv6"], spoken) for name in used]
    groups = sorted(alone.groups.items(), key=lambda group: natural_sort_key(group[0]))
    return EscapedText(
        "".join(
            (
                _render_lines(path, [line for line in lines if line.path < _SESSIONS]),
                *(
                    _session_statements(neighbor, spoken, path, alone.group_of.get(neighbor.key))
                    for neighbor in neighbors
                ),
                _render_lines(path, [line for line in lines if _SESSIONS < line.path < _GROUPS]),
                *(
                    _render_session_statements(neighbor, spoken, f"{path} peer-group {name}")
                    for name, neighbor in groups
                ),
                _render_lines(path, [line for line in lines if line.path > _GROUPS]),
            )
        )
    )


_SESSIONS, _GROUPS = ("neighbor",), ("peer-group",)


def _session_statements(neighbor: BgpNeighbor, dialect: DialectWords, process: str, group: str | None) -> EscapedText:
    """Return the statements of a session; of one in a group, those that it does not take from its group."""
    path = f"{process} neighbor {neighbor.key}"
    if group is None:
        return _render_session_statements(neighbor, dialect, path)
    return _render_lines(
        path,
        [
            *statements_of_model_part(SESSION_BINDINGS, without_group_fields(neighbor), dialect),
            NodeStatement(_GROUPS, READS, group),
        ],
    )


def _render_session_statements(neighbor: BgpNeighbor, dialect: DialectWords, path: str) -> EscapedText:
    """Return all statements of a session or group, with those of IPv6 where it does anything with it."""
    carried = [*statements_of_model_part(SESSION_FAMILY_BINDINGS, neighbor, dialect, FAMILY_PATHS[0])]
    if has_ipv6_settings(neighbor):
        carried += statements_of_model_part(SESSION_FAMILY_BINDINGS, neighbor.ipv6, dialect, FAMILY_PATHS[1])
    return _render_lines(path, [*statements_of_model_part(SESSION_BINDINGS, neighbor, dialect), *carried])


def _render_lines(path: str, lines: list[NodeStatement]) -> EscapedText:
    """Return statements below a path, in the order of an export."""
    return render_statements("lines", path=path, lines=sorted(lines))
