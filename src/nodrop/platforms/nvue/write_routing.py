"""From a device to the statements about its routing: BGP, policies, static routes, the choice among equal paths."""

from collections.abc import Iterable, Iterator, Mapping

from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMapRule
from nodrop.model.states import require_fact
from nodrop.model.subject import natural
from nodrop.platforms.kit.address_families import carries_ipv6, stated_families
from nodrop.platforms.kit.expressible import refuse
from nodrop.platforms.kit.rendering import Quoted, template
from nodrop.platforms.kit.session_groups import ALONE, FarEnds, group_sessions, of_session
from nodrop.platforms.nvue.adaptive_routing import THRESHOLD
from nodrop.platforms.nvue.bindings import READS, Line, lines_of, switched
from nodrop.platforms.nvue.bindings_bgp import EITHER, FAMILIES, FAMILY, PROCESS, SESSION, SHARED
from nodrop.platforms.nvue.communities import render_community, render_link_bandwidth
from nodrop.platforms.nvue.limits_routing import MATCHES, SETS, via_type
from nodrop.platforms.nvue.spelling import Dialect, dialect


def render_statements(file: str, **names: object) -> Quoted:
    """Return the statements that a template renders from its arguments."""
    return Quoted(template(f"nvue/{file}.nv.j2").render(**names))


def inserted(config_text: str, lines: Iterable[Line]) -> str:
    """Return statements in the order of an export, with others among them: each before the first of a later path."""
    statements = config_text.splitlines(keepends=True)
    for line in sorted(lines):
        path = list(line.path)
        place = next((at for at, statement in enumerate(statements) if statement.split(" ") > path), len(statements))
        statements.insert(place, render_statements("lines", path=path[0], lines=[line._replace(path=line.path[1:])]))
    return "".join(statements)


_Prefixes = list[tuple[str, list[tuple[str, str, int]]]]
"""(prefix, its next hops, what they are and their distances): those of one distance are together."""


def _static_routes_by_vrf(device: Device) -> list[tuple[str, _Prefixes]]:
    """Return (VRF, its static routes) in the order of a file: the default one in any case, and those with BGP."""
    prefixes_by_vrf: dict[str, dict[str, list[tuple[str, str, int]]]] = {"default": {}}
    prefixes_by_vrf |= {bgp.key: {} for bgp in require_fact(device.vrf_bgp)}
    for route in require_fact(device.static_routes):
        prefixes = prefixes_by_vrf.setdefault(route.vrf or "default", {})
        prefixes.setdefault(route.prefix, []).append((route.next_hop, via_type(route.next_hop), route.distance))
    for prefixes in prefixes_by_vrf.values():
        for routes in prefixes.values():
            routes.sort(key=lambda route: (route[2] == 1, route[2]))
    return [(vrf, list(prefixes_by_vrf[vrf].items())) for vrf in sorted(prefixes_by_vrf, key=natural)]


def _adaptive_routing_settings(device: Device, spoken: Dialect) -> list[tuple[str, str]]:
    """Return (key, value) of a switch's adaptive routing; if it has none, that is stated where a port has it."""
    on = bool(device.adaptive_routing)
    word, _, value = (spoken.enabled if on else spoken.disabled).split(" ")
    state_rows = [(word, value)] if on or any(port.adaptive_routing for port in device.interfaces) else []
    return sorted([*state_rows, (THRESHOLD, spoken.on)] if device.weighs_utilization else state_rows)


class _Routes:
    """The words that the templates of routing and services ask for."""

    def __init__(self, device: Device) -> None:
        spoken, self._release = dialect(device.version), device.version
        self.old, self.on, self.enabled, self.disabled = spoken.old, spoken.on, spoken.enabled, spoken.disabled
        self.vrfs = _static_routes_by_vrf(device)
        self.balancing = _adaptive_routing_settings(device, spoken)

    def community(self, community: str) -> str:
        """Return a community as NVUE writes it."""
        return render_community(community, self._release)

    @staticmethod
    def matches(rule: RouteMapRule) -> list[tuple[str, str]]:
        """Return (key, value) of a rule's matches, the family of prefixes last."""
        match_rows = [(_policy_word(MATCHES, attribute, rule), value) for attribute, value in rule.matches]
        families = {"ip address prefix-list": "ipv4", "ipv6 address prefix-list": "ipv6"}
        return match_rows + [("type", families[attribute]) for attribute, _ in rule.matches if attribute in families]

    def sets(self, rule: RouteMapRule) -> Iterator[tuple[str, Quoted, str]]:
        """Yield (key, separator, value) of the attributes that a rule sets."""
        for attribute, value in rule.sets:
            if attribute == "community":
                for community in value.split():
                    yield f"community {self.community(community)}", Quoted(), ""
            else:
                written = render_link_bandwidth(value) if attribute == "extcommunity bandwidth" else value
                yield _policy_word(SETS, attribute, rule), Quoted(" = "), written


def _policy_word(words: Mapping[str, str], attribute: str, rule: RouteMapRule) -> str:
    """Return NVUE's word for a match or set of a rule; raise Unsupported if it has no word for it."""
    if attribute not in words:
        raise refuse(("route_maps", "*", "rules", rule.sequence), f"NVUE has no word for {attribute}")
    return words[attribute]


def routing(device: Device, far_ends: FarEnds | None = None) -> Iterator[str]:
    """Yield the statements about routing: those below `router`, those below `vrf`.

    `far_ends` names the peer groups of sessions; without it, each session states all its settings.
    """
    bgp, say, spoken = require_fact(device.bgp), _Routes(device), dialect(device.version)
    running = () if bgp is None else (bgp, *require_fact(device.vrf_bgp))
    processes = {vrf: Quoted() for vrf, _ in say.vrfs} | {
        one.key: _process_statements(one, spoken, far_ends) for one in running
    }
    bfd = any(session.bfd for process in running for session in require_fact(process.neighbors))
    yield render_statements(
        "router", bgp=bgp, say=say, bfd=bfd, shared=_shared_bgp_statements(bgp, spoken) if bgp is not None else ""
    )
    yield render_statements("vrf", say=say, processes=processes)


def _shared_bgp_statements(bgp: Bgp, spoken: Dialect) -> Quoted:
    """Return the statements about the processes of all VRFs."""
    lines = lines_of((*EITHER, *SHARED), bgp, spoken)
    return _render_lines("router bgp", [switched((), spoken), *lines])


def _process_statements(bgp: Bgp, spoken: Dialect, ends: FarEnds | None) -> Quoted:
    """Return the statements of a process: its own in the order of their paths, sessions and groups among them."""
    path = f"vrf {bgp.key} router bgp"
    neighbors = require_fact(bgp.neighbors)
    alone = ALONE if ends is None else group_sessions(bgp, ends)
    lines = [switched((), spoken), *lines_of((*EITHER, *PROCESS) if bgp.vrf else PROCESS, bgp, spoken)]
    used = stated_families(bgp, neighbors)
    lines += [switched(FAMILIES[name == "ipv6"], spoken) for name in used]
    groups = sorted(alone.groups.items(), key=lambda group: natural(group[0]))
    return Quoted(
        "".join(
            (
                _render_lines(path, [line for line in lines if line.path < _SESSIONS]),
                *(_session(neighbor, spoken, path, alone.group_of.get(neighbor.key)) for neighbor in neighbors),
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


def _session(neighbor: BgpNeighbor, dialect: Dialect, process: str, group: str | None) -> Quoted:
    """Return the statements of a session; of one in a group, those that it does not take from its group."""
    path = f"{process} neighbor {neighbor.key}"
    if group is None:
        return _render_session_statements(neighbor, dialect, path)
    return _render_lines(path, [*lines_of(SESSION, of_session(neighbor), dialect), Line(_GROUPS, READS, group)])


def _render_session_statements(neighbor: BgpNeighbor, dialect: Dialect, path: str) -> Quoted:
    """Return all statements of a session or group, with those of IPv6 where it does anything with it."""
    carried = [*lines_of(FAMILY, neighbor, dialect, FAMILIES[0])]
    if carries_ipv6(neighbor):
        carried += lines_of(FAMILY, neighbor.ipv6, dialect, FAMILIES[1])
    return _render_lines(path, [*lines_of(SESSION, neighbor, dialect), *carried])


def _render_lines(path: str, lines: list[Line]) -> Quoted:
    """Return statements below a path, in the order of an export."""
    return render_statements("lines", path=path, lines=sorted(lines))
