"""Lists and route maps in the tables of SONiC's management framework: the rows of each, and the limits of a row.

Source: sonic-buildimage src/sonic-frr-mgmt-framework, templates/bgpd (bgpd.conf.db.pref_list.j2, comm_list.j2,
route_map.j2) and frrcfgd/frrcfgd.py, as of 202511 to master. A set or match that only one of the two translates is
refused. Rows are read as earlier releases have them too, without sequence numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodrop.model.routing import (
    AsPathList,
    CommunityList,
    PolicyAction,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
)
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.bindings import FieldBinding
from nodrop.platforms.kit.expressible import check_distinct, unsupported_error
from nodrop.platforms.sonic.bgp_rows import LEFT_OUT_BY_TEMPLATE_REASON, NO_COLUMN_REASON, BgpBinding, TableRow
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.units import parse_whole_number

_PREFIX_SET_MODE_BY_FAMILY = {"ipv4": "IPv4", "ipv6": "IPv6"}
_EXACT_RANGE_WORD = "exact"
_PREFIX_LIST_SEQUENCE_STEP = 5
"""How far FRR counts on for a rule without a number (lib/filter.c)."""
_NUMBERED_KEY_LENGTH = 4
"""Parts of the key of a rule that has one: set, number, prefix and range."""
_MATCHED_SET = "match_prefix_set"


def _bind_list_name(attribute: str, column: str) -> BgpBinding:
    return FieldBinding(
        field=attribute,
        where=(column,),
        decode=lambda row: row.columns.get(column),
        encode=lambda value, _: {column: value},
        refuses=(lambda value, _: None if " " not in value else f"{value!r} is not the name of a list",),
    )


def _bind_number(attribute: str, column: str) -> BgpBinding:
    def wrong(value: str, _: object) -> str | None:
        return None if parse_whole_number(value) is not None else f"{value!r} is not a number that {column} takes"

    return FieldBinding(
        field=attribute,
        where=(column,),
        decode=lambda row: row.columns.get(column),
        encode=lambda value, _: {column: value},
        refuses=(wrong,),
    )


def _bind_prefix_set_match(attribute: str, family: str) -> BgpBinding:
    """Bind a match of prefixes: the mode of the set decides which of the two it is."""

    def decode(row: TableRow) -> str | None:
        name = row.columns.get(_MATCHED_SET)
        return name if name is not None and _prefix_set_family(row.config, name) == family else None

    return FieldBinding(
        field=attribute, where=(_MATCHED_SET,), decode=decode, encode=lambda value, _: {_MATCHED_SET: value}
    )


def _bind_always_refused_field(attribute: str, reason: str) -> BgpBinding:
    return FieldBinding(field=attribute, refuses=(lambda value, model_part: reason,))


ROUTE_MAP_MATCH_BINDINGS: tuple[BgpBinding, ...] = (
    _bind_list_name("as-path", "match_as_path"),
    _bind_list_name("community", "match_community"),
    _bind_list_name("interface", "match_interface"),
    _bind_prefix_set_match("ip address prefix-list", "ipv4"),
    _bind_prefix_set_match("ipv6 address prefix-list", "ipv6"),
    _bind_list_name("ip next-hop prefix-list", "match_next_hop_set"),
    FieldBinding(
        field="tag",
        where=("match_tag",),
        decode=lambda row: row.columns.get("match_tag"),
        encode=lambda value, _: {"match_tag": [value]},
    ),
)
"""What an entry matches, by FRR's words, in the order in which entries are read."""

ROUTE_MAP_SET_BINDINGS: tuple[BgpBinding, ...] = (
    _bind_list_name("call", "call_route_map"),
    FieldBinding(
        field="community",
        where=("set_community_inline",),
        decode=lambda row: (
            row.columns["set_community_inline"].replace(",", " ") if "set_community_inline" in row.columns else None
        ),
        encode=lambda value, _: {"set_community_inline": value.split()},
    ),
    _bind_list_name("ip next-hop", "set_next_hop"),
    FieldBinding(
        field="ipv6 next-hop global",
        where=("set_ipv6_next_hop_global",),
        decode=lambda row: row.columns.get("set_ipv6_next_hop_global"),
        encode=lambda value, _: {"set_ipv6_next_hop_global": value},
    ),
    FieldBinding(
        field="ipv6 next-hop",
        where=("set_ipv6_next_hop_prefer_global",),
        decode=lambda row: "prefer-global" if row.columns.get("set_ipv6_next_hop_prefer_global") == "true" else None,
        encode=lambda value, _: {"set_ipv6_next_hop_prefer_global": "true"},
        refuses=(lambda value, _: None if value == "prefer-global" else f"{value!r} is not prefer-global",),
    ),
    _bind_number("metric", "set_med"),
    _bind_list_name("origin", "set_origin"),
    _bind_always_refused_field("local-preference", LEFT_OUT_BY_TEMPLATE_REASON),
    _bind_always_refused_field("as-path prepend", LEFT_OUT_BY_TEMPLATE_REASON),
    _bind_always_refused_field("tag", LEFT_OUT_BY_TEMPLATE_REASON),
    _bind_always_refused_field("weight", NO_COLUMN_REASON),
    _bind_always_refused_field("extcommunity bandwidth", NO_COLUMN_REASON),
    _bind_always_refused_field("on-match", NO_COLUMN_REASON),
)
"""What an entry sets, and where it sends a route."""


def read_policy_lists_and_route_maps(config: DeviceTables) -> dict[str, Any]:
    """Return the lists and maps of the tables, as fields of a BGP process."""
    return {
        "prefix_lists": tuple(_read_prefix_lists(config)),
        "community_lists": tuple(_read_community_lists(config)),
        "as_path_lists": tuple(
            AsPathList(name=name, rules=tuple(("permit", member) for member in row["as_path_set_member"].split(",")))
            for name, row in sorted(config.rows("AS_PATH_SET").items())
            if row.get("as_path_set_member")
        ),
        "route_maps": tuple(_read_route_maps(config)),
    }


def _prefix_set_family(config: DeviceTables, name: str) -> str:
    mode = config.rows("PREFIX_SET").get(name, {}).get("mode", "")
    return "ipv6" if mode.lower() == "ipv6" else "ipv4"


def _parse_action(word: str | None) -> PolicyAction:
    return "deny" if word is not None and word.lower() == "deny" else "permit"


def _read_prefix_lists(config: DeviceTables) -> Iterator[PrefixList]:
    rules: dict[str, list[PrefixRule]] = {}
    for key, row in config.rows("PREFIX").items():
        name, *inner = key.split("|")
        own_rules = rules.setdefault(name, [])
        if len(inner) not in (_NUMBERED_KEY_LENGTH - 2, _NUMBERED_KEY_LENGTH - 1):
            continue
        prefix, lengths = inner[-2:]
        stated = parse_whole_number(inner[0]) if len(inner) == _NUMBERED_KEY_LENGTH - 1 else None
        last = max((earlier_rule.sequence for earlier_rule in own_rules), default=0)
        low, _, high = lengths.partition("..")
        least, most = parse_whole_number(low), parse_whole_number(high)
        length = parse_whole_number(prefix.partition("/")[2]) or 0
        rule = PrefixRule(
            sequence=stated
            or last // _PREFIX_LIST_SEQUENCE_STEP * _PREFIX_LIST_SEQUENCE_STEP + _PREFIX_LIST_SEQUENCE_STEP,
            action=_parse_action(row.get("action")),
            prefix=prefix,
            ge=least if least is not None and least > length else None,
            le=most,
        )
        own_rules.append(rule)
    families = {name: _prefix_set_family(config, name) for name in rules if name in config.rows("PREFIX_SET")}
    for name, family in sorted(families.items(), key=lambda pair: (pair[1], pair[0])):
        ordered = tuple(sorted(rules[name], key=lambda prefix_rule: prefix_rule.sequence))
        yield PrefixList(name=name, family="ipv6" if family == "ipv6" else "ipv4", rules=ordered)


def _read_community_lists(config: DeviceTables) -> Iterator[CommunityList]:
    for name, row in sorted(config.rows("COMMUNITY_SET").items()):
        members = tuple(community for community in row.get("community_member", "").split(",") if community)
        if members:
            together = row.get("match_action", "").lower() == "all"
            lines = (members,) if together else tuple((member,) for member in members)
            expanded = row.get("set_type", "").lower() == "expanded"
            yield CommunityList(name=name, rules=tuple(("permit", line) for line in lines), expanded=expanded)


def _read_route_maps(config: DeviceTables) -> Iterator[RouteMap]:
    rules: dict[str, list[RouteMapRule]] = {}
    for key, row in config.rows("ROUTE_MAP").items():
        name, _, sequence = key.rpartition("|")
        number = parse_whole_number(sequence)
        if name and number is not None and "route_operation" in row:
            source = TableRow(config, "ROUTE_MAP", key, row)
            match_pairs = ((match.field, match.decode(source)) for match in ROUTE_MAP_MATCH_BINDINGS if match.decode)
            set_parts = (
                (binding.field, binding.decode(source)) for binding in ROUTE_MAP_SET_BINDINGS if binding.decode
            )
            rule = RouteMapRule(
                sequence=number,
                action=_parse_action(row["route_operation"]),
                matches=tuple((attribute, value) for attribute, value in match_pairs if value is not None),
                sets=tuple((attribute, value) for attribute, value in set_parts if value is not None),
            )
            rules.setdefault(name, []).append(rule)
    for name, own_rules in sorted(rules.items()):
        yield RouteMap(name=name, rules=tuple(sorted(own_rules, key=lambda rule: rule.sequence)))


RowsByKey = dict[str, dict[str, object]]
"""A table: its rows by key."""


def encode_policy_tables(bgp_process: Any) -> Iterator[tuple[str, RowsByKey]]:
    """Yield the tables of the lists and maps of a BGP process that `require_expressible_policies` passed."""
    yield (
        "AS_PATH_SET",
        {one.name: {"as_path_set_member": [path for _, path in one.rules]} for one in bgp_process.as_path_lists},
    )
    yield (
        "COMMUNITY_SET",
        {community_list.name: _encode_community_list(community_list) for community_list in bgp_process.community_lists},
    )
    lists: Iterable[PrefixList] = bgp_process.prefix_lists
    yield (
        "PREFIX",
        {
            f"{prefix_list.name}|{rule.sequence}|{rule.prefix}|{_format_length_range(rule)}": {"action": rule.action}
            for prefix_list in lists
            for rule in prefix_list.rules
        },
    )
    yield (
        "PREFIX_SET",
        {prefix_list.name: {"mode": _PREFIX_SET_MODE_BY_FAMILY[prefix_list.family]} for prefix_list in lists},
    )
    entries = [
        (f"{route_map.name}|{rule.sequence}", rule) for route_map in bgp_process.route_maps for rule in route_map.rules
    ]
    yield (
        "ROUTE_MAP",
        {
            key: _encode_route_map_rule(rule)
            for key, rule in sorted(entries, key=lambda pair: natural_sort_key(pair[0]))
        },
    )
    yield "ROUTE_MAP_SET", {route_map.name: {} for route_map in bgp_process.route_maps}


def _format_length_range(rule: PrefixRule) -> str:
    if rule.ge is None and rule.le is None:
        return _EXACT_RANGE_WORD
    return f"{rule.prefix.partition('/')[2] if rule.ge is None else rule.ge}..{rule.le}"


def _encode_community_list(community_list: CommunityList) -> dict[str, object]:
    lines = [communities for _, communities in community_list.rules]
    together = len(lines) == 1 and len(lines[0]) > 1
    return {
        "community_member": [member for line in lines for member in line],
        "match_action": "ALL" if together else "ANY",
        "set_type": "EXPANDED" if community_list.expanded else "STANDARD",
    }


def _encode_route_map_rule(rule: RouteMapRule) -> dict[str, object]:
    columns: dict[str, object] = {"route_operation": rule.action}
    for rows, pairs in ((ROUTE_MAP_MATCH_BINDINGS, rule.matches), (ROUTE_MAP_SET_BINDINGS, rule.sets)):
        by_attribute = {row.field: row for row in rows}
        for attribute, value in pairs:
            encode = by_attribute[attribute].encode
            columns |= encode(value, None) if encode else {}
    return dict(sorted(columns.items()))


def require_expressible_policies(bgp_process: Any) -> None:
    """Raise UnsupportedByPlatform for the first list or map of a BGP process that no row of the tables can be."""
    check_distinct([row.name for row in bgp_process.prefix_lists], "bgp", "prefix_lists")
    for prefix_list in bgp_process.prefix_lists:
        for rule in prefix_list.rules:
            _require_expressible_prefix_rule(rule, "bgp", "prefix_lists", prefix_list.name, "rules", rule.sequence)
    for community_list in bgp_process.community_lists:
        path = ("bgp", "community_lists", community_list.name, "rules")
        _require_expressible_set_members(
            community_list.rules, [member for _, line in community_list.rules for member in line], *path
        )
        if len(community_list.rules) > 1 and any(len(line) > 1 for _, line in community_list.rules):
            raise unsupported_error(path, "a set asks for any one of its members or all of them")
    for one in bgp_process.as_path_lists:
        _require_expressible_set_members(
            one.rules, [path for _, path in one.rules], "bgp", "as_path_lists", one.name, "rules"
        )
    for route_map in bgp_process.route_maps:
        for rule in route_map.rules:
            where = ("bgp", "route_maps", route_map.name, "rules", rule.sequence)
            _require_expressible_rule_clauses(ROUTE_MAP_MATCH_BINDINGS, rule.matches, *where, "matches")
            _require_expressible_rule_clauses(ROUTE_MAP_SET_BINDINGS, rule.sets, *where, "sets")


def _require_expressible_prefix_rule(rule: PrefixRule, *path: object) -> None:
    if rule.ge is not None and rule.le is None:
        raise unsupported_error((*path, "le"), "a range has both ends")
    length = rule.prefix.partition("/")[2]
    if rule.ge is not None and not does_template_drop_ge(rule.prefix, rule.ge) and rule.ge > int(length or 0):
        return
    if not length:
        raise unsupported_error((*path, "prefix"), f"{rule.prefix} is no prefix with a length")
    if rule.ge is not None:
        raise unsupported_error(
            (*path, "ge"), f"SONiC's template compares lengths as text, and drops ge {rule.ge} of a /{length}"
        )
    if rule.le is not None and rule.le < int(length):
        raise unsupported_error((*path, "le"), f"is less than the length of {rule.prefix}")


def does_template_drop_ge(prefix: str, ge: int) -> bool:
    """Whether the template drops the lower end of a range: it compares lengths as text (bgpd.conf.db.pref_list.j2)."""
    return str(ge) <= prefix.partition("/")[2]


def _require_expressible_set_members(
    rules: Iterable[tuple[str, object]], members: Sequence[str], *path: object
) -> None:
    if any(action != "permit" for action, _ in rules):
        raise unsupported_error(path, "every member of a set permits")
    check_distinct(members, *path)
    if any("," in member for member in members):
        raise unsupported_error(path, "a comma ends a member")


def _require_expressible_rule_clauses(
    rows: Iterable[BgpBinding], pairs: Iterable[tuple[str, str]], *path: object
) -> None:
    order = [row.field for row in rows]
    by_attribute: Mapping[str, BgpBinding] = {row.field: row for row in rows}
    columns: list[str] = []
    for attribute, value in pairs:
        row = by_attribute[attribute]
        if reason := next((refusal for test in row.refuses if (refusal := test(value, None))), None):
            raise unsupported_error(path, f"{attribute}: {reason}")
        assert row.encode is not None
        columns += row.encode(value, None)
    if len(set(columns)) < len(columns):
        raise unsupported_error(path, f"{max(columns, key=columns.count)} is one column")
    stated = [order.index(attribute) for attribute, _ in pairs]
    if stated != sorted(stated):
        raise unsupported_error(path, "are not in the order in which they would be read back")
