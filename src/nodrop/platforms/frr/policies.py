"""Prefix lists, community lists, AS path lists and route maps of an FRR configuration, and what names them.

FRR keeps the rules of a list in the order of their numbers; a rule without one comes 5 behind the last (lib/filter.c,
bgpd/bgp_clist.c, bgpd/bgp_filter.c). A route map's entry that is opened again goes on, and a second match or set of a
kind takes the place of the first (lib/routemap.c).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nodrop.limits import MAX_SIMILAR_NAMES_COMPARED
from nodrop.model import policy_values
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.change import CommandsForCase
from nodrop.model.reading import FilePlace, Remark, Remedy
from nodrop.model.routing import (
    AsPathList,
    CommunityList,
    PolicyAction,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
)
from nodrop.model.types import only_near_name
from nodrop.platforms.frr.limits import ANY_PREFIX_WORD, ROUTE_MAP_FLOW_COMMANDS, ROUTE_MAP_MATCHES, ROUTE_MAP_SETS
from nodrop.platforms.frr.rows import LIST_KINDS_BY_COMMAND
from nodrop.platforms.frr.words import checked_action, checked_number
from nodrop.platforms.frr.words import checked_prefix_or_address as prefix_in
from nodrop.platforms.kit.command_lines import is_typable
from nodrop.syntax.frr import FrrStatement
from nodrop.syntax.lines import CommandNotUnderstood, read_or_keep_line

_LIST_LABEL_BY_FAMILY = {
    "ip": LIST_KINDS_BY_COMMAND["prefix-list"]["ipv4"],
    "ipv6": LIST_KINDS_BY_COMMAND["prefix-list"]["ipv6"],
}
"""What a list of an address family's prefixes is called where it is missing."""
_LIST_LABEL_OF_OTHER_FAMILY = {
    _LIST_LABEL_BY_FAMILY["ip"]: _LIST_LABEL_BY_FAMILY["ipv6"],
    _LIST_LABEL_BY_FAMILY["ipv6"]: _LIST_LABEL_BY_FAMILY["ip"],
}
BFD_PROFILE = "BFD profile"
_PREFIX_LIST_SEQUENCE_STEP = 5
_FIRST_EXPANDED_COMMUNITY_LIST = 100
"""The first number of a community list whose lines are expressions."""


_EFFECT_OF_UNDEFINED_REFERENCE = {
    "neighbor": "then the session passes all routes",
    "redistribute": "then all routes of the source are announced",
    "network": "then the route is announced unchanged",
}
"""What changes without the reference, by the first word of the command that has it."""


_LISTING_COMMAND_BY_KIND = {
    "route map": "show route-map",
    "prefix list": "show ip prefix-list",
    "IPv6 prefix list": "show ipv6 prefix-list",
    "community list": "show bgp community-list",
    "AS path list": "show bgp as-path-access-list",
}
"""What FRR shows its lists and maps with (doc/user/routemap.rst, filter.rst and bgp.rst)."""


class UndefinedReference(NamedTuple):
    """A command that names a list or map of a kind, where there is none of that name."""

    statement: FrrStatement
    kind: str
    name: str
    other_kind: str
    """The kind of the list that has the name in the other address family; "" where there is none."""
    near: str | None = None
    """The only name of that kind that the name may be a slip of."""
    within: tuple[str, ...] = ()
    """The commands that open the blocks around the command."""
    language: str = "frr"
    """What takes the command as the file has it."""

    def remark(self, device: str, place: FilePlace | None, field: str) -> Remark:
        """Return the remark about it, `field` being the command in the words of the file."""
        facts = {"kind": self.kind, "name": self.name, "field": field}
        kind = "dangling-reference"
        if self.other_kind:
            kind, facts = "prefix-list-of-other-family", {**facts, "other_kind": self.other_kind}
        remedy = Remedy(choices=tuple(self._commands_to_correct_reference(field)))
        return Remark(kind=kind, subject=(device, "@bgp"), place=place, facts=facts, remedy=remedy)

    def _commands_to_correct_reference(self, command: str) -> Iterator[CommandsForCase]:
        """Yield the command that names the near object, and the one that removes the reference."""
        if not all(map(is_typable, (command, *self.within, self.near or command))):
            return
        if self.near is not None:
            words = (self.near if word == self.name else word for word in command.split())
            lines = (*self.within, " ".join(words))
            yield CommandsForCase(condition=f"if {self.near} is meant", language=self.language, lines=lines)
        effect = next(
            (
                effect
                for start, effect in _EFFECT_OF_UNDEFINED_REFERENCE.items()
                if self.statement.starts_with_words(*start.split(" "))
            ),
            "",
        )
        effect = "then BFD has its default times" if effect and self.kind == BFD_PROFILE else effect
        if effect:
            lines = (*self.within, f"no {command}")
            yield CommandsForCase(
                condition=f"if no {self.kind} is meant ({effect}; `{self._listing_command}` lists those there are)",
                language=self.language,
                lines=lines,
            )

    @property
    def _listing_command(self) -> str:
        """Return the command that shows which objects of the kind the switch has."""
        of_frr = _LISTING_COMMAND_BY_KIND.get(self.kind) if self.language == "frr" else None
        return of_frr or "show running-config"


class RoutingPolicyBuilder:
    """The lists and maps of a device, put together command by command."""

    def __init__(self, other_statements: list[FrrStatement]) -> None:
        self._others = other_statements
        self._prefix_lists: dict[tuple[str, str], dict[int, PrefixRule]] = {}
        self._community_lists: dict[str, dict[int, tuple[PolicyAction, tuple[str, ...]]]] = {}
        self._expanded: set[str] = set()
        self._as_path_lists: dict[str, dict[int, tuple[PolicyAction, str]]] = {}
        self._route_maps: dict[str, dict[int, RouteMapRule]] = {}
        self.bfd_profiles: set[str] = set()
        self._references: list[tuple[FrrStatement, str, str]] = []
        self._last: dict[tuple[str, str, str], int] = {}
        """The largest number of a rule, by the kind, family and name of its list."""

    def record_reference(self, statement: FrrStatement, object_kind: str, name: str) -> None:
        """Keep that a command names a list or map."""
        self._references.append((statement, object_kind, name))

    def undefined_references(self) -> list["UndefinedReference"]:
        """Return every reference to a list or map that is not there."""
        defined: dict[str, Iterable[str]] = {
            _LIST_LABEL_BY_FAMILY["ip"]: {name for family, name in self._prefix_lists if family != "ipv6"},
            _LIST_LABEL_BY_FAMILY["ipv6"]: {name for family, name in self._prefix_lists if family == "ipv6"},
            "route map": self._route_maps,
            "community list": self._community_lists,
            "AS path list": self._as_path_lists,
            BFD_PROFILE: self.bfd_profiles,
        }
        undefined = []
        near_names: dict[tuple[str, str], str | None] = {}
        for statement, kind, name in self._references:
            if name not in defined[kind]:
                other_kind = _LIST_LABEL_OF_OTHER_FAMILY.get(kind, "")
                other_family = other_kind if name in defined.get(other_kind, ()) else ""
                if (kind, name) not in near_names and len(near_names) < MAX_SIMILAR_NAMES_COMPARED:
                    near_names[kind, name] = only_near_name(name, defined[kind])
                near = near_names.get((kind, name))
                undefined.append(UndefinedReference(statement, kind, name, other_family, near))
        return undefined

    def bgp_fields_of_policies(self) -> dict[str, Any]:
        """Return the fields of a BGP process that hold them."""
        return {
            "prefix_lists": tuple(
                PrefixList(name=name, family="ipv6" if family == "ipv6" else "ipv4", rules=_rules_in_order(rules))
                for (family, name), rules in sorted(self._prefix_lists.items())
            ),
            "community_lists": tuple(
                CommunityList(name=name, rules=_rules_in_order(rules), expanded=name in self._expanded)
                for name, rules in sorted(self._community_lists.items())
            ),
            "as_path_lists": tuple(
                AsPathList(name=name, rules=_rules_in_order(rules))
                for name, rules in sorted(self._as_path_lists.items())
            ),
            "route_maps": tuple(
                RouteMap(name=name, rules=_rules_in_order(rules)) for name, rules in sorted(self._route_maps.items())
            ),
        }

    def _assign_sequence(self, sequence: int | None, object_kind: str, name: str, family: str = "") -> int:
        """Return the number of a rule of a list: the one that it states, else the next after the largest so far."""
        last = self._last.get((object_kind, family, name), 0)
        number_of_rule = (
            sequence or last // _PREFIX_LIST_SEQUENCE_STEP * _PREFIX_LIST_SEQUENCE_STEP + _PREFIX_LIST_SEQUENCE_STEP
        )
        self._last[object_kind, family, name] = max(number_of_rule, last)
        return number_of_rule

    def read_prefix_list(self, statement: FrrStatement) -> None:
        """Read a line of a prefix list."""
        family, _, name, *rule_words = (*statement.words, "", "")
        rule_words = rule_words[:-2]
        sequence = 0
        if rule_words[:1] == ["seq"] and len(rule_words) > 1:
            sequence, rule_words = checked_number(rule_words[1]), rule_words[2:]
        if len(rule_words) not in (2, 4, 6):
            raise CommandNotUnderstood
        action_word, prefix, *bounds = rule_words
        limits = {
            word: checked_number(length, most=ADDRESS_BITS["ipv6" if family == "ipv6" else "ipv4"])
            for word, length in zip(bounds[::2], bounds[1::2], strict=True)
        }
        if set(limits) - {"ge", "le"}:
            raise CommandNotUnderstood
        rules = self._prefix_lists.setdefault((family, name), {})
        sequence = self._assign_sequence(sequence, "prefix list", name, family)
        rules[sequence] = PrefixRule(
            sequence=sequence,
            action=checked_action(action_word),
            prefix=_parse_prefix_or_any_of_family(prefix, family),
            ge=limits.get("ge"),
            le=limits.get("le"),
        )

    def read_community_list(self, statement: FrrStatement) -> None:
        """Read a line of a community list; those with a number from 100 on are of expressions."""
        _, _, *rule_words = statement.words
        style = rule_words[0] if rule_words else ""
        if style not in ("standard", "expanded"):
            style = "standard" if checked_number(style) < _FIRST_EXPANDED_COMMUNITY_LIST else "expanded"
            rule_words.insert(0, style)
        name, sequence, said, communities = _parse_list_line(rule_words[1:])
        if name in self._community_lists and (style == "expanded") != (name in self._expanded):
            raise CommandNotUnderstood  # bgpd refuses a line of the other style (bgp_clist.c, community_list_set)
        if style == "expanded":
            self._expanded.add(name)
            communities = (" ".join(communities),)
        rules = self._community_lists.setdefault(name, {})
        rules[self._assign_sequence(sequence, "community list", name)] = said, communities
        own_community_list = CommunityList(name=name, rules=((said, communities),), expanded=style == "expanded")
        if not policy_values.are_policy_list_lines_computable(own_community_list):
            self._others.append(statement)

    def read_as_path_list(self, statement: FrrStatement) -> None:
        """Read a line of an AS path list."""
        name, sequence, said, words = _parse_list_line(statement.words[3:])
        expression = " ".join(words)
        rules = self._as_path_lists.setdefault(name, {})
        rules[self._assign_sequence(sequence, "AS path list", name)] = said, expression
        if policy_values.parse_as_path_expression(expression) is None:
            self._others.append(statement)

    def read_route_map(self, statement: FrrStatement) -> None:
        """Read an entry of a route map with the commands inside it.

        An unknown command is kept, which prevents reading the entry as more than it is.
        """
        _, name, word, place = statement.words
        sequence, verdict = checked_number(place), checked_action(word)
        entry: dict[str, dict[str, str]] = {"match": {}, "set": {}}
        for child in statement.children:
            remaining_statements: list[FrrStatement] = []
            read_or_keep_line(
                child, lambda command: self._read_entry_command(command, sequence, verdict, entry), remaining_statements
            )
            for unknown_statement in remaining_statements:
                kind, _, remainder = unknown_statement.text.partition(" ")
                attribute, _, value = (remainder if kind in entry else unknown_statement.text).partition(" ")
                _replace_attribute(entry[kind if kind in entry else "set"], attribute, value)
            self._others += remaining_statements
        rules = self._route_maps.setdefault(name, {})
        before = rules.get(sequence)
        if before is not None:
            entry["match"] = dict(before.matches) | entry["match"]
            entry["set"] = dict(before.sets) | entry["set"]
        rules[sequence] = RouteMapRule(
            sequence=sequence, action=verdict, matches=tuple(entry["match"].items()), sets=tuple(entry["set"].items())
        )

    def _read_entry_command(
        self, statement: FrrStatement, sequence: int, what: PolicyAction, entry: dict[str, dict[str, str]]
    ) -> None:
        """Read a command of an entry into its matches and sets."""
        kind, _, remainder = statement.text.partition(" ")
        if kind == "description":
            return
        if kind in ROUTE_MAP_FLOW_COMMANDS or kind == "continue":
            goes = self._read_route_flow(statement)
            if what == "deny" and "on-match" in goes:  # bgpd refuses it: a route that is denied goes nowhere
                self._others.append(statement)
                return
            if "on-match" in goes and not policy_values.is_valid_route_map_goto(sequence, goes["on-match"]):
                self._others.append(statement)
            entry["set"] |= goes
            return
        attributes = {"match": ROUTE_MAP_MATCHES, "set": ROUTE_MAP_SETS}.get(kind, ())
        attribute = next(iter([name for name in attributes if remainder.startswith(f"{name} ")]), None)
        if attribute is None:
            raise CommandNotUnderstood
        value = remainder[len(attribute) + 1 :]
        if not policy_values.is_route_map_clause_computable("match" if kind == "match" else "set", attribute, value):
            self._others.append(statement)
        self._record_list_reference(statement, attribute, value)
        _replace_attribute(entry[kind], attribute, value)

    def _record_list_reference(self, match: FrrStatement, attribute: str, value: str) -> None:
        """Keep that a command of a route map names a list, if it does."""
        if attribute.endswith("prefix-list"):
            self.record_reference(match, _LIST_LABEL_BY_FAMILY[attribute.partition(" ")[0]], value)
        elif match.starts_with_words("match", "community"):
            self.record_reference(match, "community list", value.split()[0])
        elif match.starts_with_words("match", "as-path"):
            self.record_reference(match, "AS path list", value)

    def _read_route_flow(self, statement: FrrStatement) -> dict[str, str]:
        """Return where a route goes from an entry; one that is not understood is kept."""
        match statement.words:
            case ("call", name):
                self.record_reference(statement, "route map", name)
                return {"call": name}
            case ("on-match", "next") | ("continue",):
                return {"on-match": "next"}
            case ("on-match", "goto", place) | ("continue", place) if place.isascii() and place.isdecimal():
                return {"on-match": f"goto {place}"}
        kind, _, remainder = statement.text.partition(" ")
        if kind != "on-match":  # which is kept where its value is looked at
            self._others.append(statement)
        return {kind: remainder}


def _parse_list_line(words: Sequence[str]) -> tuple[str, int | None, PolicyAction, tuple[str, ...]]:
    """Return a list's name, the number of its line, if it has one, the line's action, and its arguments."""
    match words:
        case (name, "seq", place, said, *rest) if rest:
            return name, checked_number(place), checked_action(said), tuple(rest)
        case (name, said, *rest) if rest:
            return name, None, checked_action(said), tuple(rest)
    raise CommandNotUnderstood


def _replace_attribute(values_by_attribute: dict[str, str], attribute: str, value: str) -> None:
    """Set the value of an attribute, after all values set before."""
    values_by_attribute.pop(attribute, None)
    values_by_attribute[attribute] = value


def _parse_prefix_or_any_of_family(word: str, command: str) -> str:
    """Return the match of a prefix list rule: `any`, or a prefix of the family that its command is for.

    FRR refuses a prefix of the other family (lib/filter_cli.c, ip_prefix_list). Raises CommandNotUnderstood.
    """
    prefix = word if word == ANY_PREFIX_WORD else prefix_in(word)
    if prefix != ANY_PREFIX_WORD and (":" in prefix) != (command == "ipv6"):
        raise CommandNotUnderstood
    return prefix


def _rules_in_order(rules: dict[int, Any]) -> tuple[Any, ...]:
    return tuple(rule for _, rule in sorted(rules.items()))
