"""Route maps and prefix lists as functions on adverts, each compiled once and applied once to equal adverts.

What they do is FRR's: the first rule of a route map that matches decides, and a route that none matches is denied; a
map or list that is named and not there denies all (bgpd/bgp_route.c, bgp_input_filter and bgp_output_modifier;
lib/plist.c, prefix_list_apply_ext).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import NamedTuple

from nodrop.fabric.routing import Action, Bgp, BgpNeighbor, Ipv6Unicast, RouteMapRule
from nodrop.routing.adverts import ORIGINS, Attributes, Part
from nodrop.routing.destinations import Destinations, Shape
from nodrop.routing.prefixes import Family

GRACEFUL_SHUTDOWN = "graceful-shutdown"
_WELL_KNOWN = {
    "65535:0": GRACEFUL_SHUTDOWN,
    "65535:65281": "no-export",
    "65535:65282": "no-advertise",
    "65535:65283": "local-AS",
    "0:0": "internet",
}
_BETWEEN = r"(?:^|[,{}() ]|$)"

Condition = Callable[[Attributes], bool]


class Words(NamedTuple):
    """What a session's policy says in one direction, by value: two of equal words are one policy.

    `rules` is None without a route map and empty where that is not there; `lists` are the prefix lists that it names,
    and `listed` the session's own, None without one.
    """

    rules: tuple[RouteMapRule, ...] | None
    prefix_lists: tuple[tuple[str, Shape | None], ...]
    community_lists: tuple[tuple[str, tuple[tuple[Action, tuple[str, ...]], ...] | None], ...]
    as_path_lists: tuple[tuple[str, tuple[tuple[Action, str], ...] | None], ...]
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
        self._communities = {one.name: one.rules for one in bgp.community_lists}
        self._paths = {one.name: one.rules for one in bgp.as_path_lists}
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
        name, *more = value.split() or [""]
        if kind == "community":
            rules, exact = self._communities.get(name), "exact-match" in more
            return lambda attributes: _in_communities(attributes.communities, rules, exact=exact)
        if kind == "as-path":
            paths = self._paths.get(name)
            return lambda attributes: _in_paths(attributes.path, paths)
        if kind == "tag":
            return lambda attributes: str(attributes.tag) == value
        if kind == "metric":
            return lambda attributes: str(attributes.med or 0) == value
        return lambda attributes: False


def understood(kind: str) -> bool:
    """Whether what a route map matches or sets is one of those that are computed."""
    return kind in _UNDERSTOOD


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


def community(text: str) -> str:
    """A community in one spelling."""
    return _WELL_KNOWN.get(text, text)


def _in_communities(
    own: frozenset[str], rules: tuple[tuple[Action, tuple[str, ...]], ...] | None, *, exact: bool
) -> bool:
    """Whether a community list permits communities: a line is for those that have all that it names."""
    for action, wanted in rules or ():
        named = frozenset(map(community, wanted))
        if "internet" in named or (own == named if exact else named <= own):
            return action == "permit"
    return False


def _in_paths(path: tuple[int, ...], rules: tuple[tuple[Action, str], ...] | None) -> bool:
    text = " ".join(map(str, path))
    return next((action == "permit" for action, regex in rules or () if _regex(regex).search(text)), False)


@cache
def _regex(text: str) -> re.Pattern[str]:
    """FRR's regular expression for AS paths: `_` is an end, or what stands between numbers (bgpd/bgp_regex.c)."""
    try:
        return re.compile(text.replace("_", _BETWEEN))
    except re.error:
        return re.compile("(?!)")


def _change(kind: str, value: str) -> Callable[[Attributes], Attributes]:
    if kind == "community":
        *named, last = value.split() or ["none"]
        if last == "additive":
            more = frozenset(map(community, named))
            return lambda old: old._replace(communities=old.communities | more)
        given = frozenset() if value == "none" else frozenset(map(community, (*named, last)))
        return lambda old: old._replace(communities=given)
    if kind == "as-path prepend":
        if value.startswith("last-as"):
            times = int(value.split()[1])
            return lambda old: old._replace(path=old.path[:1] * times + old.path)
        before = tuple(map(int, value.split()))
        return lambda old: old._replace(path=before + old.path)
    if kind == "origin":
        return lambda old: old._replace(origin=ORIGINS.get(value, old.origin))
    if kind in _NUMBERS:
        return _number(kind, value)
    return lambda old: old


_NUMBERS: Mapping[str, Callable[[Attributes, int], Attributes]] = {
    "local-preference": lambda old, number: old._replace(preference=number),
    "metric": lambda old, number: old._replace(med=number),
    "weight": lambda old, number: old._replace(weight=number),
    "tag": lambda old, number: old._replace(tag=number),
}
_OLD: Mapping[str, Callable[[Attributes], int]] = {
    "local-preference": lambda old: old.preference,
    "metric": lambda old: old.med or 0,
    "weight": lambda old: old.weight,
    "tag": lambda old: old.tag,
}


def _number(kind: str, value: str) -> Callable[[Attributes], Attributes]:
    """Set a number, or with a sign before it change the one that is there."""
    if not value.lstrip("+-").isdecimal():
        return lambda old: old
    replaced, before, amount = _NUMBERS[kind], _OLD[kind], int(value)
    if value[:1] in "+-":
        return lambda old: replaced(old, max(0, before(old) + amount))
    return lambda old: replaced(old, amount)
