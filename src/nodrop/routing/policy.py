"""Route maps and prefix lists as functions on adverts, each compiled once and applied once to equal adverts.

They behave as in FRR: the first rule of a route map that matches decides, and a route that matches none is denied; a
map or list that is named but missing denies all (bgpd/bgp_route.c, bgp_input_filter and bgp_output_modifier;
lib/plist.c, prefix_list_apply_ext).
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeVar

from nodrop.model import policy_values as values
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import AsPathList, CommunityList, RouteMapRule
from nodrop.routing.adverts import AdvertPart, IbgpOrMultihopSource, PathAttributes
from nodrop.routing.destinations import DestinationClasses
from nodrop.routing.legs import is_leg_name
from nodrop.routing.next_hop_policy import (
    PEER_ADDRESS_NEXT_HOP,
    PREFER_GLOBAL_CLAUSE,
    UNCHANGED_HOP_CLAUSE,
    parse_next_hop,
)
from nodrop.routing.prefixes import Address
from nodrop.routing.words import SessionPolicy

GRACEFUL_SHUTDOWN_COMMUNITY = "graceful-shutdown"
_MAX_ROUTE_MAP_CALL_DEPTH = 10
"""How deep route maps call one another before FRR discards a route (lib/routemap.c, RMAP_RECURSION_LIMIT)."""

AttributeCondition = Callable[[PathAttributes], bool]
_AttributeValue = TypeVar("_AttributeValue", bound=Hashable)


class _CompiledRouteMapRule(NamedTuple):
    """A rule of a route map: the destinations and attributes that it matches, and its changes to these."""

    permit: bool
    bits: int | None
    conditions: tuple[AttributeCondition, ...]
    sets: tuple[Callable[[PathAttributes], PathAttributes], ...]
    call: str | None = None
    goes_on: int | None = None
    """The least number of the rule at which a route goes on that it lets pass; None where it is done with it."""
    sequence: int = 0
    reads_only_communities: bool = True
    """Whether routes with the same communities, and prefixes that it is for, are the same to it."""

    def matches_attributes(self, attributes: PathAttributes) -> bool:
        """Whether it is for routes with these attributes, as far as their prefixes are those that it is for."""
        return not self.conditions or all(condition(attributes) for condition in self.conditions)

    def apply_sets(self, attributes: PathAttributes) -> PathAttributes:
        """Return attributes with the rule's changes."""
        for change in self.sets:
            attributes = change(attributes)
        return attributes


class CompiledPolicy:
    """A compiled policy."""

    def __init__(self, number: int, words: SessionPolicy, destinations: DestinationClasses) -> None:
        self.number = number
        self._words = words
        self.peering, self.named, self.shown, self.own_hop = words.peering, words.named, words.shown, words.own_hop
        self.new_hops, self.told_hops, self.heard_hops = words.new_hops, words.told_hops, words.heard_hops
        self._listed = None if words.listed is None else destinations.bits_permitted_by(words.listed)
        self._refused = destinations.bits_permitted_by(words.refused) if words.refused else 0
        self._prefix_lists: Mapping[str, int] = {
            name: 0 if shape is None else destinations.bits_permitted_by(shape) for name, shape in words.prefix_lists
        }
        self._communities = dict(words.community_lists)
        self._paths = dict(words.as_path_lists)
        self._rules = None if words.rules is None else tuple(map(self._compile_rule, words.rules))
        self._maps = {
            name: None if rules is None else tuple(map(self._compile_rule, rules)) for name, rules in words.maps
        }
        self._plain = all(rule.call is None and rule.goes_on is None for rule in self._rules or ())
        self._only_filters = _changes_no_attributes(words) and self._plain and not self._refused
        """Whether all that its words do is to apply rules, the first that matches."""
        self._reads_only_communities = all(rule.reads_only_communities for rule in self._rules or ())
        self._networks = destinations.class_bits_of_prefixes(words.networks)
        self.default = None if words.default is None else CompiledPolicy(-1, words.default, destinations)
        """Decides about the default route that is announced, if one is."""
        self.reach = self._permitted_destinations()
        """The destinations of which anything can be left; -1 is all."""

    def _permitted_destinations(self) -> int:
        if self._words.nothing:
            return 0
        reach = 0 if self._rules is not None else -1
        for rule in self._rules or ():
            if rule.permit:
                reach |= -1 if rule.bits is None else rule.bits
        return reach if self._listed is None else reach & self._listed

    @cached_property
    def matched_destinations(self) -> int:
        """The destinations that it does not simply deny; -1 is all."""
        if self._words.nothing:
            return 0
        about = -1 if self._rules is None else 0
        for rule in self._rules or ():
            about |= -1 if rule.bits is None else rule.bits
        return about if self._listed is None else about & self._listed

    @property
    def decides_by_prefix(self) -> bool:
        """Whether it decides by prefix, and by GRACEFUL_SHUTDOWN alone, and makes no route better than another."""
        words = self._words
        others = words._replace(rules=None, prefix_lists=(), community_lists=(), listed=None, nothing=False)
        plain = SessionPolicy(None, (), (), (), None, networks=words.networks, own_hop=words.own_hop)
        return others == plain and all(self._matches_only_prefixes_or_shutdown(rule) for rule in words.rules or ())

    def _matches_only_prefixes_or_shutdown(self, rule: RouteMapRule) -> bool:
        """Whether a rule is for prefixes, or lets those with GRACEFUL_SHUTDOWN pass, which are the last resort."""
        others = [(kind, value) for kind, value in rule.matches if not kind.endswith("address prefix-list")]
        if not others:
            return not rule.sets
        named = [values.parse_match_community(value) if kind == "community" else None for kind, value in others]
        return all(
            name is not None
            and not name[1]
            and (listed := self._communities.get(name[0])) is not None
            and not listed.expanded
            and listed.rules == (("permit", (GRACEFUL_SHUTDOWN_COMMUNITY,)),)
            for name in named
        ) and set(rule.sets) <= {("local-preference", "0")}

    @property
    def rewrites_as_paths(self) -> bool:
        """Whether AS numbers of announced paths can be missing afterwards, or the router's own is not in front."""
        return self._words.rewrite is not None or bool(self.named)

    @property
    def has_route_map(self) -> bool:
        """Whether it has a route map."""
        return self._rules is not None

    @property
    def next_hops_may_be_off_link(self) -> bool:
        """Whether next hops of imported routes may be elsewhere than at the far end of a link."""
        return self.peering is not None or bool(self.new_hops or self.heard_hops)

    @cached_property
    def destination_bits_of_lists(self) -> tuple[int | None, ...]:
        """The destinations of each of its lists and rules; None is all."""
        every = [rule.bits for own_rules in (self._rules, *self._maps.values()) for rule in own_rules or ()]
        return (self._listed, self._refused, *every)

    def list_membership(self, class_bit: int) -> tuple[bool, ...]:
        """Return whether each of its lists and rules has a class: classes with equal results are treated alike."""
        return tuple(bits is None or bool(bits & class_bit) for bits in self.destination_bits_of_lists)

    @property
    def policy_without_prefixes(self) -> tuple[object, ...]:
        """Return the policy without prefixes."""
        words = self._words
        maps = tuple((name, _drop_prefix_matches(rules)) for name, rules in words.maps)
        rules = _drop_prefix_matches(words.rules)
        return (rules, maps, words._replace(rules=None, maps=(), prefix_lists=(), listed=None, refused=()))

    def passes_all_unchanged(self, routes: Iterable[AdvertPart], bits: int) -> bool:
        """Return whether it surely passes these parts as they are; those with equal communities are decided once.

        `bits` are the destinations of all parts.
        """
        if not self._only_filters or not self._reads_only_communities or bits & ~self.reach:
            return False
        if self._rules is None:
            return True
        communities = {attributes.communities for attributes, _ in routes}
        return all(_pass_unchanged(self._rules, PathAttributes(communities=own), bits) for own in communities)

    def apply_to_routes(self, routes: tuple[AdvertPart, ...], bits: int) -> list[AdvertPart]:
        """Return the parts that the policy passes, with their attributes; `bits` are the destinations of all parts."""
        if not bits & self.reach:
            return []
        if self.passes_all_unchanged(routes, bits):
            return list(routes)
        words = self._words
        passed: list[AdvertPart] = []
        for attributes, route_bits in routes:
            allowed_bits = route_bits if self._listed is None else route_bits & self._listed
            if self._refused and not (words.heard_hops and attributes.learned is not None):
                allowed_bits &= ~self._refused
            if words.shown is not None:
                heard = words.shown.path_after_receipt(attributes.path)
                if heard is None:
                    continue
                attributes = attributes._replace(path=heard)
            is_refused = (words.drops_marked and attributes.keeps_hop) or _has_next_hop(attributes, words.own_hop)
            if is_refused and not words.told_hops:
                continue
            if words.told_hops:
                attributes = attributes._replace(learned=None)
            if words.filtered is not None and not _permits_as_path(attributes.path, words.filtered):
                continue
            if words.weight or words.preference is not None:
                preference = attributes.preference if words.preference is None else words.preference
                attributes = attributes._replace(weight=words.weight, preference=preference)
            if words.rewrite is not None:
                attributes = attributes._replace(path=words.rewrite.announced_path(attributes.path))
            start = len(passed)
            if self._rules is None:
                passed.append(AdvertPart(attributes, allowed_bits))
            elif self._plain:
                _apply_first_match_rules(self._rules, attributes, allowed_bits, passed)
            else:
                passed += self._walk_rules(self._rules, attributes, allowed_bits, 0)
            if words.own_addresses is not None:
                passed[start:] = [
                    AdvertPart(_drop_unused_global_ipv6_next_hop(attributes, words.own_addresses), own_bits)
                    for attributes, own_bits in passed[start:]
                ]
            if is_refused:
                passed[start:] = [part for part in passed[start:] if part.attributes.learned is not None]
        return passed

    def default_route_attributes(self, bits: int) -> PathAttributes | None:
        """Return the attributes of a default route that is announced while any of these destinations is there.

        A network of the process is in bgpd's table without a route to it too, and is asked about (FRR,
        bgpd/bgp_updgrp_adv.c, subgroup_default_originate; bgpd/bgp_route.c, bgp_static_update).
        """
        open_bits, usual = bits | self._networks, self._words.preference
        attributes = PathAttributes() if usual is None else PathAttributes(preference=usual)
        for rule in self._rules or ():
            matched = 0 if rule.conditions else open_bits if rule.bits is None else open_bits & rule.bits
            open_bits ^= matched
            if matched and rule.permit:
                return rule.apply_sets(attributes)
        return attributes if self._rules is None else None

    def _walk_rules(
        self,
        rules: tuple[_CompiledRouteMapRule, ...],
        attributes: PathAttributes,
        destination_bits: int,
        hop_depth: int,
    ) -> Iterator[AdvertPart]:
        """Yield what passes rules that call other maps or go on (FRR, lib/routemap.c, route_map_apply_ext)."""
        waiting = [(0, attributes, destination_bits, False)]
        while waiting:
            at, attributes, open_bits, passes = waiting.pop()
            if not open_bits:
                continue
            if at == len(rules):
                if passes:
                    yield AdvertPart(attributes, open_bits)
                continue
            rule = rules[at]
            matched = (
                0
                if not rule.matches_attributes(attributes)
                else open_bits
                if rule.bits is None
                else open_bits & rule.bits
            )
            waiting.append((at + 1, attributes, open_bits ^ matched, False))
            if not rule.permit or not matched:
                continue
            after = [AdvertPart(rule.apply_sets(attributes), matched)]
            called = None if rule.call is None else self._maps.get(rule.call)
            if called is not None:
                deeper = hop_depth < _MAX_ROUTE_MAP_CALL_DEPTH
                after = (
                    [one for part in after for one in self._walk_rules(called, *part, hop_depth + 1)] if deeper else []
                )
            if rule.goes_on is None:
                yield from after
                continue
            place = next((n for n, later_rule in enumerate(rules) if later_rule.sequence >= rule.goes_on), len(rules))
            waiting += [(place, *route, True) for route in after]

    def _compile_rule(self, rule: RouteMapRule) -> _CompiledRouteMapRule:
        bits: int | None = None
        conditions = []
        for kind, value in rule.matches:
            if kind in PREFIX_LIST_MATCH_BY_FAMILY.values():
                own_bits = self._prefix_lists.get(value, 0)
                bits = own_bits if bits is None else bits & own_bits
            else:
                conditions.append(self._compile_condition(kind, value))
        value_by_kind = dict(rule.sets)
        where = value_by_kind.get("on-match", "")
        return _CompiledRouteMapRule(
            rule.action == "permit",
            bits,
            tuple(conditions),
            tuple(
                _compile_set_clause(kind, value, self._words)
                for kind, value in rule.sets
                if kind not in ("call", "on-match")
            ),
            value_by_kind.get("call"),
            max(values.parse_32_bit_number(where.removeprefix("goto ")) or 0, rule.sequence + 1) if where else None,
            rule.sequence,
            all(kind == "community" or kind.endswith("address prefix-list") for kind, _ in rule.matches),
        )

    def _compile_condition(self, kind: str, value: str) -> AttributeCondition:
        if kind == "community" and (named_community_list := values.parse_match_community(value)) is not None:
            name, exact = named_community_list
            communities = self._communities.get(name)
            return _cache_condition(
                lambda own: _permits_communities(own, communities, exact=exact), lambda one: one.communities
            )
        if kind == "as-path":
            paths = self._paths.get(value)
            return _cache_condition(lambda path: _permits_as_path(path, paths), lambda attributes: attributes.path)
        if kind == "tag":
            tag = values.parse_tag(value)
            return lambda attributes: attributes.tag == tag
        if kind == "metric":
            med = values.parse_32_bit_number(value)
            return lambda attributes: (attributes.med or 0) == med
        if kind == "interface":
            return lambda attributes: is_leg_name(attributes.interface, value)
        return lambda attributes: False


def _changes_no_attributes(words: SessionPolicy) -> bool:
    """Whether nothing in the words of a policy but its rules changes or drops routes for their attributes."""
    has_clauses = (words.shown, words.own_hop, words.filtered, words.rewrite, words.preference, words.own_addresses)
    return all(clause is None for clause in has_clauses) and not (words.drops_marked or words.told_hops or words.weight)


def _pass_unchanged(rules: tuple[_CompiledRouteMapRule, ...], attributes: PathAttributes, bits: int) -> bool:
    """Whether the first rule that matches routes with these attributes is for all of them, and passes them as is."""
    for rule in rules:
        matched = bits if rule.bits is None else bits & rule.bits
        if matched and rule.matches_attributes(attributes):
            return rule.permit and not rule.sets and matched == bits
    return False


def _apply_first_match_rules(
    rules: tuple[_CompiledRouteMapRule, ...], attributes: PathAttributes, open_bits: int, passed: list[AdvertPart]
) -> None:
    """Add the routes that pass rules; the first rule that matches decides."""
    for rule in rules:
        if not open_bits:
            return
        if not rule.matches_attributes(attributes):
            continue
        matched = open_bits if rule.bits is None else open_bits & rule.bits
        open_bits ^= matched
        if rule.permit and matched:
            passed.append(AdvertPart(rule.apply_sets(attributes), matched))


def _drop_prefix_matches(rules: tuple[RouteMapRule, ...] | None) -> tuple[object, ...] | None:
    if rules is None:
        return None
    return tuple(
        (
            rule.sequence,
            rule.action,
            tuple(match for match in rule.matches if not match[0].endswith("address prefix-list")),
            rule.sets,
        )
        for rule in rules
    )


def _cache_condition(
    answer: Callable[[_AttributeValue], bool], attribute_of: Callable[[PathAttributes], _AttributeValue]
) -> AttributeCondition:
    """Return a condition on a part of the attributes that is asked once for each value of it."""
    answer_by_value: dict[_AttributeValue, bool] = {}

    def condition(attributes: PathAttributes) -> bool:
        attribute = attribute_of(attributes)
        if attribute not in answer_by_value:
            answer_by_value[attribute] = answer(attribute)
        return answer_by_value[attribute]

    return condition


def _permits_communities(own: frozenset[str], listed: CommunityList | None, *, exact: bool) -> bool:
    """Whether a community list permits communities: a line is for those that have all that it names.

    The expression of an expanded list is for all communities as one text, and not for none (bgpd/bgp_clist.c,
    community_regexp_match).
    """
    for action, line_words in listed.rules if listed is not None else ():
        if listed is not None and listed.expanded:
            expression = values.parse_community_expression(" ".join(line_words))
            matched = (
                bool(own) and expression is not None and expression.matches_anywhere(values.render_communities(own))
            )
        else:
            communities = frozenset(map(values.normalize_community, line_words))
            matched = "internet" in communities or (own == communities if exact else communities <= own)
        if matched:
            return action == "permit"
    return False


def _permits_as_path(path: tuple[int, ...], listed: AsPathList | None) -> bool:
    """Whether an AS path list permits a path: its first line with a matching expression decides."""
    text = " ".join(map(str, path))
    for action, expression in listed.rules if listed is not None else ():
        path_expression = values.parse_as_path_expression(expression)
        if path_expression is not None and path_expression.matches_anywhere(text):
            return action == "permit"
    return False


def _compile_set_clause(kind: str, value: str, words: SessionPolicy) -> Callable[[PathAttributes], PathAttributes]:
    """Return the change that a route map of a session sets; nothing if that is not computed."""
    peering = words.peering
    new_hop = parse_next_hop(kind, value)
    is_own = (kind, value) == ("ip next-hop", PEER_ADDRESS_NEXT_HOP)
    if (new_hop is not None or is_own) and new_hop in words.told_hops:
        told = IbgpOrMultihopSource(internal=False, hop=new_hop)
        return lambda old: old._replace(learned=told)
    if (kind, value) == PREFER_GLOBAL_CLAUSE and words.own_addresses is not None:
        return lambda old: old._replace(
            learned=(old.learned or IbgpOrMultihopSource(internal=False))._replace(prefers_global=True)
        )
    if kind == "ip next-hop" and value == PEER_ADDRESS_NEXT_HOP and peering is not None and not peering.over_ipv6:
        hop = peering.behind
        return lambda old: old if old.learned is None else old._replace(learned=old.learned._replace(hop=hop))
    if new_hop is not None and new_hop in words.new_hops:
        return lambda old: old._replace(
            learned=(old.learned or IbgpOrMultihopSource(internal=False))._replace(hop=new_hop)
        )
    if (kind, value) == UNCHANGED_HOP_CLAUSE and words.marks_hops:
        return lambda old: old._replace(keeps_hop=True)
    if kind == "community" and (communities_set := values.parse_set_community(value)) is not None:
        new_communities, added = frozenset(communities_set[0]), communities_set[1]
        return lambda old: old._replace(communities=old.communities | new_communities if added else new_communities)
    if kind == "as-path prepend" and (before := values.parse_prepend(value)) is not None:
        return lambda old: old._replace(path=before.apply_to(old.path))
    if kind == "origin" and (origin := values.parse_origin(value)) is not None:
        return lambda old: old._replace(origin=origin)
    if kind == "tag" and (tag := values.parse_tag(value)) is not None:
        return lambda old: old._replace(tag=tag)
    if kind == "weight" and (weight := values.parse_32_bit_number(value)) is not None:
        return lambda old: old._replace(weight=weight)
    if kind == "metric" and (med := values.parse_number_change(value)) is not None:
        return lambda old: old._replace(med=med.apply_to(old.med or 0))
    if kind == "local-preference" and (preference := values.parse_32_bit_number(value)) is not None:
        return lambda old: old._replace(preference=preference)
    return lambda old: old


def _drop_unused_global_ipv6_next_hop(attributes: PathAttributes, own_addresses: frozenset[Address]) -> PathAttributes:
    """Return a route of IPv6 without its global next hop, where the link-local one is used.

    One with an address of the router as its global next hop is refused, which that address stands for (FRR,
    bgpd/bgp_route.c, bgp_update_martian_nexthop).
    """
    learned = attributes.learned
    if learned is None:
        return attributes
    is_used = learned.hop is not None and (learned.prefers_global or learned.hop in own_addresses)
    return attributes._replace(learned=learned._replace(prefers_global=False) if is_used else None)


def _has_next_hop(attributes: PathAttributes, hop: Address | None) -> bool:
    """Whether a route has an address as its next hop that is not the far end of the router's link."""
    return hop is not None and attributes.learned is not None and attributes.learned.hop == hop


def add_shutdown_community(attributes: PathAttributes) -> PathAttributes:
    """Return attributes with the community of routes that are about to go away."""
    return attributes._replace(communities=attributes.communities | {GRACEFUL_SHUTDOWN_COMMUNITY})


def drain_attributes(attributes: PathAttributes) -> PathAttributes:
    """Return attributes as a drained router gives them to routes that it originates or learns from another AS.

    After a route map, so that no LOCAL_PREF of one counts (FRR, bgpd/bgp_route.c, bgp_attr_add_gshut_community).
    """
    return add_shutdown_community(attributes)._replace(preference=0)
