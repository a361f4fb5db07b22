"""Route maps and prefix lists as functions on adverts, each compiled once and applied once to equal adverts.

What they do is FRR's: the first rule of a route map that matches decides, and a route that none matches is denied; a
map or list that is named and not there denies all (bgpd/bgp_route.c, bgp_input_filter and bgp_output_modifier;
lib/plist.c, prefix_list_apply_ext).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeVar

from nodrop.formats.places import on_one_line
from nodrop.model import policy_values as values
from nodrop.model.routing import AsPathList, Bgp, BgpNeighbor, CommunityList, Ipv6Unicast, RouteMapRule
from nodrop.routing.adverts import Attributes, Part
from nodrop.routing.destinations import Destinations, Shape
from nodrop.routing.prefixes import Family

GRACEFUL_SHUTDOWN = "graceful-shutdown"
_SHOWN = 80
"""How many characters of a command are shown."""

Condition = Callable[[Attributes], bool]
_Own = TypeVar("_Own", bound=Hashable)


class Words(NamedTuple):
    """What a session's policy says in one direction, by value: two of equal words are one policy.

    `rules` is None without a route map and empty where that is not there; `lists` are the prefix lists that it names,
    and `listed` the session's own, None without one.
    """

    rules: tuple[RouteMapRule, ...] | None
    prefix_lists: tuple[tuple[str, Shape | None], ...]
    community_lists: tuple[tuple[str, CommunityList | None], ...]
    as_path_lists: tuple[tuple[str, AsPathList | None], ...]
    listed: Shape | None
    nothing: bool = False
    """Whether nothing passes at all: RFC 8212 without a policy, or a prefix list that is not there."""

    @property
    def reads_paths(self) -> bool:
        """Whether it looks at the AS numbers of a path."""
        return bool(self.as_path_lists) or any(
            kind == "as-path prepend" and value.startswith("last-as")
            for rule in self.rules or ()
            for kind, value in rule.sets
        )


def of_family(neighbor: BgpNeighbor, family: Family) -> BgpNeighbor | Ipv6Unicast:
    """What a neighbor statement says for a family."""
    return neighbor if family == "ipv4" else neighbor.ipv6


class Reader:
    """Reads the policies of a BGP process; each name is looked for once."""

    def __init__(self, bgp: Bgp, family: Family) -> None:
        self._maps = {one.name: one.rules for one in bgp.route_maps}
        self._prefix_lists = {one.name: one.rules for one in bgp.prefix_lists if one.family == family}
        self._communities = {one.name: one for one in bgp.community_lists}
        self._paths = {one.name: one for one in bgp.as_path_lists}
        self._family, self._requires = family, bgp.requires_policy is True
        self._read: dict[tuple[str | None, str | None], Words] = {}

    def of(self, name: str | None, listed: str | None, *, external: bool = True) -> Words:
        """Return the words of a route map and a prefix list, either of which may be None."""
        key = (name, listed)
        if key not in self._read:
            nothing = (name is None and listed is None and self._requires and external) or (
                listed is not None and listed not in self._prefix_lists
            )
            rules = None if name is None else tuple(sorted(self._maps.get(name, ()), key=lambda rule: rule.sequence))
            named = [match for rule in rules or () for match in rule.matches]
            self._read[key] = Words(
                rules,
                tuple((value, self._prefix_lists.get(value)) for kind, value in named if kind == self._prefix_kind),
                tuple((one, self._communities.get(one)) for one in _names(named, "community")),
                tuple((one, self._paths.get(one)) for one in _names(named, "as-path")),
                None if listed is None else self._prefix_lists.get(listed),
                nothing,
            )
        return self._read[key]

    @property
    def _prefix_kind(self) -> str:
        return "ip address prefix-list" if self._family == "ipv4" else "ipv6 address prefix-list"

    def inbound(self, neighbor: BgpNeighbor) -> Words:
        """What a neighbor statement does to what it hears."""
        said = of_family(neighbor, self._family)
        return self.of(said.import_policy, said.import_prefix_list)

    def outbound(self, neighbor: BgpNeighbor) -> Words:
        """What a neighbor statement does to what it tells."""
        said = of_family(neighbor, self._family)
        return self.of(said.export_policy, said.export_prefix_list)


def _names(matches: list[tuple[str, str]], kind: str) -> Iterator[str]:
    return (value.split()[0] for own, value in matches if own == kind and value.split())


def shapes(words: Words) -> Iterator[Shape]:
    """Yield the prefix lists that a policy looks at."""
    if words.listed is not None:
        yield words.listed
    yield from (shape for _, shape in words.prefix_lists if shape is not None)


class _Rule(NamedTuple):
    """A rule of a route map: the destinations and attributes that it is for, and what it makes of these."""

    permit: bool
    bits: int | None
    conditions: tuple[Condition, ...]
    sets: tuple[Callable[[Attributes], Attributes], ...]


class Policy:
    """A compiled policy."""

    def __init__(self, number: int, words: Words, destinations: Destinations) -> None:
        self.number = number
        self._words = words
        self._listed = None if words.listed is None else destinations.permitted(words.listed)
        self._prefix_lists: Mapping[str, int] = {
            name: 0 if shape is None else destinations.permitted(shape) for name, shape in words.prefix_lists
        }
        self._communities = dict(words.community_lists)
        self._paths = dict(words.as_path_lists)
        self._rules = None if words.rules is None else tuple(map(self._compiled, words.rules))

        self.reach = self._reached()
        """The destinations of which anything can be left; -1 is all."""

    def _reached(self) -> int:
        if self._words.nothing:
            return 0
        reach = 0 if self._rules is not None else -1
        for rule in self._rules or ():
            if rule.permit:
                reach |= -1 if rule.bits is None else rule.bits
        return reach if self._listed is None else reach & self._listed

    @cached_property
    def about(self) -> int:
        """The destinations that it does not simply deny; -1 is all."""
        if self._words.nothing:
            return 0
        about = -1 if self._rules is None else 0
        for rule in self._rules or ():
            about |= -1 if rule.bits is None else rule.bits
        return about if self._listed is None else about & self._listed

    def treats(self, one: int) -> tuple[bool, ...]:
        """Which of its lists have a class in them: classes of which it says the same fare alike in it."""
        rules = tuple(rule.bits is None or bool(rule.bits & one) for rule in self._rules or ())
        return (self._listed is None or bool(self._listed & one), *rules)

    @property
    def outline(self) -> tuple[object, ...]:
        """What it says but for prefixes."""
        words = self._words
        rules = (
            None
            if words.rules is None
            else tuple(
                (
                    rule.action,
                    tuple(one for one in rule.matches if not one[0].endswith("address prefix-list")),
                    rule.sets,
                )
                for rule in words.rules
            )
        )
        return (rules, words.community_lists, words.as_path_lists, words.nothing)

    def parts(self, parts: tuple[Part, ...], bits: int) -> list[Part]:
        """What is left of parts with these `bits` together, and with which attributes."""
        if not bits & self.reach:
            return []
        passed = []
        for attributes, given in parts:
            left = given if self._listed is None else given & self._listed
            if self._rules is None:
                passed.append(Part(attributes, left))
                continue
            for rule in self._rules:
                if not left:
                    break
                if rule.conditions and not all(condition(attributes) for condition in rule.conditions):
                    continue
                matched = left if rule.bits is None else left & rule.bits
                left ^= matched
                if rule.permit and matched:
                    changed = attributes
                    for change in rule.sets:
                        changed = change(changed)
                    passed.append(Part(changed, matched))
        return passed

    def _compiled(self, rule: RouteMapRule) -> _Rule:
        bits: int | None = None
        conditions = []
        for kind, value in rule.matches:
            if kind in ("ip address prefix-list", "ipv6 address prefix-list"):
                own = self._prefix_lists.get(value, 0)
                bits = own if bits is None else bits & own
            else:
                conditions.append(self._condition(kind, value))
        return _Rule(
            rule.action == "permit", bits, tuple(conditions), tuple(_change(kind, value) for kind, value in rule.sets)
        )

    def _condition(self, kind: str, value: str) -> Condition:
        if kind == "community" and (named := values.community_list(value)) is not None:
            name, exact = named
            communities = self._communities.get(name)
            return _remembered(lambda own: _in_communities(own, communities, exact=exact), lambda one: one.communities)
        if kind == "as-path":
            paths = self._paths.get(value)
            return _remembered(lambda path: _in_paths(path, paths), lambda one: one.path)
        if kind == "tag":
            tag = values.tag(value)
            return lambda attributes: attributes.tag == tag
        if kind == "metric":
            med = values.number(value)
            return lambda attributes: (attributes.med or 0) == med
        return lambda attributes: False


def _remembered(answer: Callable[[_Own], bool], part: Callable[[Attributes], _Own]) -> Condition:
    """Return a condition on a part of the attributes that is asked once for each value of it."""
    known: dict[_Own, bool] = {}

    def condition(attributes: Attributes) -> bool:
        own = part(attributes)
        if own not in known:
            known[own] = answer(own)
        return known[own]

    return condition


def uncomputed(bgp: Bgp) -> Iterator[tuple[str, RouteMapRule, str]]:
    """Yield (route map, rule, what) of all that route maps match or set and that is not computed.

    That is a word that is not known here, a value that FRR does not take or that only the switch knows, and a list
    with an expression or a community of which nothing is known.
    """
    unknown = {("community", one.name) for one in bgp.community_lists if not values.listed(one)}
    unknown |= {("as-path", one.name) for one in bgp.as_path_lists if not values.listed(one)}
    for one in bgp.route_maps:
        for rule in one.rules:
            for kind, value in rule.matches:
                if kind not in _UNDERSTOOD:
                    yield one.name, rule, kind
                elif not values.computable("match", kind, value) or (kind, value.partition(" ")[0]) in unknown:
                    yield one.name, rule, on_one_line(f"match {kind} {value}")[:_SHOWN]
            for kind, value in rule.sets:
                if kind not in _UNDERSTOOD:
                    yield one.name, rule, kind
                elif not values.computable("set", kind, value):
                    yield one.name, rule, on_one_line(f"set {kind} {value}")[:_SHOWN]


_UNDERSTOOD = frozenset(
    {
        "ip address prefix-list",
        "ipv6 address prefix-list",
        "community",
        "as-path",
        "tag",
        "metric",
        "local-preference",
        "as-path prepend",
        "weight",
        "origin",
        "ipv6 next-hop",
    }
)


def _in_communities(own: frozenset[str], listed: CommunityList | None, *, exact: bool) -> bool:
    """Whether a community list permits communities: a line is for those that have all that it names.

    The expression of an expanded list is for all communities as one text, and not for none (bgpd/bgp_clist.c,
    community_regexp_match).
    """
    for action, wanted in listed.rules if listed is not None else ():
        if listed is not None and listed.expanded:
            found = values.community_expression(" ".join(wanted))
            matched = bool(own) and found is not None and found.matches(values.shown(own))
        else:
            named = frozenset(map(values.community, wanted))
            matched = "internet" in named or (own == named if exact else named <= own)
        if matched:
            return action == "permit"
    return False


def _in_paths(path: tuple[int, ...], listed: AsPathList | None) -> bool:
    """Whether an AS path list permits a path, as the first of its lines says whose expression matches."""
    text = " ".join(map(str, path))
    for action, expression in listed.rules if listed is not None else ():
        found = values.path_expression(expression)
        if found is not None and found.matches(text):
            return action == "permit"
    return False


def _change(kind: str, value: str) -> Callable[[Attributes], Attributes]:
    """Return what a route map sets; nothing where that is not computed."""
    if kind == "community" and (given := values.communities_set(value)) is not None:
        own, added = frozenset(given[0]), given[1]
        return lambda old: old._replace(communities=old.communities | own if added else own)
    if kind == "as-path prepend" and (before := values.prepended(value)) is not None:
        return lambda old: old._replace(path=before.of(old.path))
    if kind == "origin" and (origin := values.origin(value)) is not None:
        return lambda old: old._replace(origin=origin)
    if kind == "tag" and (tag := values.tag(value)) is not None:
        return lambda old: old._replace(tag=tag)
    if kind == "weight" and (weight := values.number(value)) is not None:
        return lambda old: old._replace(weight=weight)
    if kind == "metric" and (med := values.change(value)) is not None:
        return lambda old: old._replace(med=med.of(old.med or 0))
    if kind == "local-preference" and (preference := values.change(value)) is not None:
        return lambda old: old._replace(preference=preference.of(old.preference))
    return lambda old: old
