"""Where a part of the routing is in an FRR configuration."""

from collections.abc import Callable, Iterator

from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.kit.bindings import bound_fields
from nodrop.syntax.frr import FrrStatement, parse_frr, walk_statements
from nodrop.syntax.places import Span
from nodrop.units import parse_whole_number


def place_finder_for_files(config_text: str) -> Callable[[Subject], Span | None]:
    """Return a function that finds the line of a subject (without its device) in an FRR configuration."""
    statements = list(walk_statements(parse_frr(config_text)))

    def find(subject: Subject) -> Span | None:
        return next((candidate.span for candidate in _candidate_statements(statements, subject)), None)

    return find


_COMMANDS_BY_POLICY_FIELD = {
    "prefix_lists": (("ip", "prefix-list"), ("ipv6", "prefix-list")),
    "community_lists": (("bgp", "community-list"), ("ip", "community-list")),
    "as_path_lists": (("bgp", "as-path", "access-list"), ("ip", "as-path", "access-list")),
    "route_maps": (("route-map",),),
}

_NestedStatement = tuple[tuple[FrrStatement, ...], FrrStatement]


def _is_in_ipv6_family(nested_statement: _NestedStatement) -> bool:
    """Whether a command is in the family of IPv6."""
    return any(outer.starts_with_words("address-family", "ipv6") for outer in nested_statement[0])


def _candidate_statements(statements: list[_NestedStatement], subject: Subject) -> Iterator[FrrStatement]:
    """Yield the commands that state the subject, the most exact first."""
    head, *subpath = subject or ("",)
    if head == "@static_routes":
        routes = [
            statement for _, statement in statements if statement.words[:2] in (("ip", "route"), ("ipv6", "route"))
        ]
        yield from (route for route in routes if subpath[:1] and subpath[0] == route.words[2])
        yield from routes
    elif head == "@shut_by_daemon":
        shut_rows = [
            (outer[-1].text, statement)
            for outer, statement in statements
            if outer and _is_shutdown(outer[-1], statement)
        ]
        shut = [statement for _, statement in sorted(shut_rows, key=lambda row: natural_sort_key(row[0]))]
        yield from shut[number:] if (number := parse_whole_number("".join(subpath[:1]))) is not None else shut
    elif head == "@vrf_bgp":
        yield from _find_process_commands(_filter_by_process(statements, "".join(subpath[:1])), subpath[1:])
    elif head in ("@bgp", "@neighbors"):
        yield from _find_process_commands(
            _filter_by_process(statements, None), subpath if head == "@bgp" else ["neighbors", *subpath]
        )
    if head in ("@bgp", "@static_routes", "@neighbors"):
        yield from (statement for _, statement in statements if statement.starts_with_words("router", "bgp"))


def _is_shutdown(outer: FrrStatement, command: FrrStatement) -> bool:
    return outer.starts_with_words("interface") and command.words == ("shutdown",)


def _filter_by_process(statements: list[_NestedStatement], vrf: str | None) -> list[_NestedStatement]:
    """Return the commands of the process of a VRF, and those of no process."""

    def belongs(nested_statement: _NestedStatement) -> bool:
        block = (*nested_statement[0], nested_statement[1])[0]
        other_word = block.words[4] if block.words[3:4] == ("vrf",) and len(block.words) > 4 else None
        return not block.starts_with_words("router", "bgp") or (None if other_word == "default" else other_word) == vrf

    return list(filter(belongs, statements))


def _find_process_commands(statements: list[_NestedStatement], subpath: list[str]) -> Iterator[FrrStatement]:
    """Yield the commands that state a part of a process, then the process itself."""
    field, key, *inner_path = (*subpath, "", "")
    if field == "neighbors" and key:
        yield from _find_neighbor_commands(statements, key, [word for word in inner_path if word])
    elif field == "redistributions":
        family, _, source = key.partition("-")
        every = [statement for statement in statements if statement[1].starts_with_words("redistribute")]
        commands = [
            statement for _, statement in sorted(every, key=lambda pair: _is_in_ipv6_family(pair) != (family == "ipv6"))
        ]
        yield from (statement for statement in commands if statement.starts_with_words("redistribute", source))
        yield from commands
    elif field in _COMMANDS_BY_POLICY_FIELD:
        yield from _find_policy_commands(statements, field, subpath[1:])
    else:
        in_ipv6 = field in bound_fields(frr_rows.PROCESS_FAMILY_COMMANDS["ipv6"].rows)
        every = [
            statement
            for statement in statements
            if frr_rows.ALL_PROCESS_COMMANDS.states_field(field, statement[1].words)
        ]
        commands = [statement for _, statement in sorted(every, key=lambda found: _is_in_ipv6_family(found) != in_ipv6)]
        yield from commands[number:] if (number := parse_whole_number(key)) is not None else ()
        yield from commands
    yield from (statement for _, statement in statements if statement.starts_with_words("router", "bgp"))


def _find_neighbor_commands(statements: list[_NestedStatement], key: str, subpath: list[str]) -> Iterator[FrrStatement]:
    """Yield the commands of a session that state a part of it, then all of them."""
    ipv6 = subpath[:1] == ["ipv6"]
    field = "".join(subpath[1:2] if ipv6 else subpath[:1])
    own_statements = _session_commands(statements, key, ipv6=ipv6)
    group = next((statement.words[-1] for statement in own_statements if "peer-group" in statement.words[2:-1]), None)
    of_group = [] if group is None else _session_commands(statements, group, ipv6=ipv6)
    yield from (
        statement
        for statement in (*own_statements, *of_group)
        if frr_rows.is_session_field_command(field, statement.words)
    )
    every_session = frr_rows.EVERY_SESSION_IPV6_COMMANDS if ipv6 else frr_rows.ALL_SESSIONS_OF_PROCESS_COMMANDS
    yield from (statement for _, statement in statements if every_session.states_field(field, statement.words))
    yield from own_statements


def _session_commands(statements: list[_NestedStatement], key: str, *, ipv6: bool) -> list[FrrStatement]:
    """Return the commands of a session or a peer group, those of the family first."""
    every = [statement for statement in statements if _is_neighbor_command(statement[1], key)]
    return [statement for _, statement in sorted(every, key=lambda pair: _is_in_ipv6_family(pair) != ipv6)]


def _is_neighbor_command(command: FrrStatement, key: str) -> bool:
    words = command.words[1:] if command.words[0] == "no" else command.words
    return words[:2] == ("neighbor", key)


def _find_policy_commands(statements: list[_NestedStatement], kind: str, subpath: list[str]) -> Iterator[FrrStatement]:
    """Yield the commands of a list or map: of the rule that is named, then of the whole."""
    name, _, rule, field, *_ = (*subpath, "", "", "", "")
    every = [
        statement
        for statement in statements
        if any(statement[1].starts_with_words(*words) for words in _COMMANDS_BY_POLICY_FIELD[kind])
    ]
    own_statements = [statement for _, statement in every if name in statement.words[1:4]]
    if kind == "route_maps" and field in ("matches", "sets"):
        word = "match" if field == "matches" else "set"
        inside = [
            statement
            for outer, statement in statements
            if outer and outer[-1] in own_statements and outer[-1].words[-1] == rule
        ]
        lines = [statement for statement in inside if statement.words[0] == word]
        position = (*subpath, "")[4]
        yield from lines[parse_whole_number(position) or 0 :]
    elif kind == "community_lists":
        yield from own_statements[number:] if (number := parse_whole_number(rule)) is not None else ()
    yield from (statement for statement in own_statements if rule and rule in statement.words)
    yield from own_statements
    yield from (statement for _, statement in every)
