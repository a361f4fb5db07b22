"""BGP of every VRF, its policies and static routes: the commands in FRR's syntax, which nodrop reads already."""

from collections.abc import Iterable

from nodrop.model.routing import StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.platforms.frr.text_reader import DATACENTER, FrrRouting
from nodrop.platforms.frr.text_reader import read_frr as read_frr
from nodrop.platforms.onyx.commands import OnyxCommand

_IGNORED_WORDS = frozenset({"force", "bulk-mode", "commit"})
_IGNORED_BGP_WORDS = ("distance", "timers", "transport", "send-community", "weight")
_NEIGHBOR_WORDS = frozenset(
    {"remote-as", "description", "shutdown", "route-map", "peer-group", "activate", "bfd", "allowas-in"}
    | {"next-hop-self", "ebgp-multihop", "update-source"}
)


def parse_routing(commands: Iterable[OnyxCommand]) -> tuple[FrrRouting, list[OnyxCommand | None], list[OnyxCommand]]:
    """Return the routing that the commands state, their command by line, and the commands that were not understood.

    A line that only opens a block has no command.
    """
    lines: list[str] = []
    sources: list[OnyxCommand | None] = []
    other_commands: list[OnyxCommand] = []
    inside: dict[str, list[tuple[str, OnyxCommand]]] = {}
    routes: list[StaticRoute] = []
    for command in commands:
        words = _normalize_words(command)
        if words[:2] == ["router", "bgp"]:
            if len(words) < 3:
                continue
            of_vrf = words[3:4] == ["vrf"] and len(words) > 4
            vrf, remaining_words = (words[4], words[5:]) if of_vrf else ("default", words[3:])
            spelt = _translate_bgp_command(remaining_words, command.negated)
            if spelt is None:
                other_commands.append(command)
            else:
                inside.setdefault(f"router bgp {words[2]} vrf {vrf}", []).append((spelt, command))
        elif words[:2] == ["ip", "route"] and not command.negated:
            route = _parse_static_route(words[2:])
            routes += [route] if route else []
            other_commands += [] if route else [command]
        elif words[0] == "route-map" and len(words) > 4 and words[3].isdecimal():
            lines += [" ".join(words[:4]), f" {_translate_route_map_line(words[4:])}"]
            sources += [command, command]
        elif words[1:2] == ["prefix-list"] and len(words) > 4:
            lines.append(" ".join(words))
            sources.append(command)
    for head, bgp_lines in inside.items():
        groups = sorted({line for line, _ in bgp_lines if line.endswith(" peer-group")})
        process_lines = [(line, source) for line, source in bgp_lines if line and line not in groups]
        lines += [head, *(f" {group}" for group in groups), *(f" {line}" for line, _ in process_lines)]
        sources += [None] * (1 + len(groups)) + [source for _, source in process_lines]
    routing = read_frr("\n".join(lines), DATACENTER)
    routing.bgp = None if routing.bgp is None else replace_fields(routing.bgp, import_check=UNKNOWN)
    routing.vrf_bgp = tuple(replace_fields(bgp, import_check=UNKNOWN) for bgp in routing.vrf_bgp)
    for statement in routing.not_understood:
        source = sources[statement.line - 1]
        other_commands += [source] if source is not None and source not in other_commands else []
    routing.static_routes = tuple(routes)
    return routing, sources, other_commands


def _normalize_words(command: OnyxCommand) -> list[str]:
    """Return a command's words with `10.0.0.0 /24` as one, and without what only speaks to the prompt."""
    words: list[str] = []
    for word in command.words:
        if word.startswith("/") and word[1:].isdecimal() and words:
            words[-1] += word
        elif word not in _IGNORED_WORDS:
            words.append(word)
    return words


def _translate_bgp_command(words: list[str], negated: bool) -> str | None:
    """Return a command of BGP in FRR's syntax; empty if it sets nothing here, None if it is not known."""
    no = "no " if negated else ""
    match words:
        case [] | ["maximum-paths", "ibgp", _] | ["address-family", "l2vpn-evpn", *_]:
            return ""
        case ["router-id", address]:
            return "" if negated else f"bgp router-id {address}"
        case ["maximum-paths", paths]:
            return f"maximum-paths {paths}"
        case ["bestpath", "as-path", "multipath-relax"] | ["bestpath", "compare-routerid"]:
            return "" if negated else f"bgp {' '.join(words)}"
        case ["redistribute", _] | ["redistribute", _, "route-map", _] if not negated:
            return " ".join(words)
        case ["network", prefix]:
            return f"network {prefix}"
        case ["neighbor", key, "peer-group"]:
            return f"neighbor {key} peer-group"
        case ["neighbor", key, "route-map", name]:
            return f"neighbor {key} route-map {name} in"
        case ["neighbor", key, "no", *rest] if rest and rest[0] in _NEIGHBOR_WORDS:
            return f"no neighbor {key} {' '.join(rest)}"
        case ["neighbor", key, word, *_] if word in _NEIGHBOR_WORDS:
            return f"{no}neighbor {key} {' '.join(words[2:])}"
        case ["neighbor", _, word, *_] if word in _IGNORED_BGP_WORDS:
            return ""
        case [word, *_] if word in (*_IGNORED_BGP_WORDS, "graceful-restart", "bgp", "fast-external-fallover"):
            return ""
    return None


def _translate_route_map_line(words: list[str]) -> str:
    match words:
        case ["match", "ip", "address", name]:
            return f"match ip address prefix-list {name}"
        case _:
            return " ".join(words)


def _parse_static_route(words: list[str]) -> StaticRoute | None:
    vrf = None
    if words[:1] == ["vrf"] and len(words) > 1:
        vrf, words = words[1], words[2:]
    if len(words) < 2:
        return None
    return StaticRoute(prefix=words[0], next_hop=words[1], vrf=None if vrf == "default" else vrf)
