"""Route maps, prefix lists and what else decides what a session passes, and with which attributes."""

from typing import Any

import pytest

from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    RouteMap,
    RouteMapRule,
)
from nodrop.routing.adverts import EGP, AdvertPart, PathAttributes
from nodrop.routing.destinations import DestinationClasses
from nodrop.routing.policy import CompiledPolicy
from nodrop.routing.prefixes import Prefix, parse_prefix
from nodrop.routing.words import PolicyReader, prefix_lists_read_by
from support.policy_lists import listed

NAMES = ("10.8.0.0/24", "10.8.1.0/24", "10.9.0.1/32")
A = PathAttributes(path=(65001, 65002))
Kept = dict[str, PathAttributes]


def rule(*matches: tuple[str, str], sets: Any = (), action: Any = "permit", sequence: int = 10) -> RouteMapRule:
    return RouteMapRule(sequence=sequence, action=action, matches=matches, sets=tuple(sets))


def passed(bgp: Bgp, neighbor: BgpNeighbor, attributes: PathAttributes = A, names: tuple[str, ...] = NAMES) -> Kept:
    """What a session lets in of these prefixes, all with the same attributes."""
    words = PolicyReader(bgp, "ipv4").inbound(neighbor)
    known: list[Prefix] = [one for name in names if (one := parse_prefix(name)) is not None]
    destinations = DestinationClasses("ipv4", {one: (one,) for one in known}, prefix_lists_read_by(words))
    every = destinations.class_bits_of_prefixes(known)
    left = CompiledPolicy(0, words, destinations).apply_to_routes((AdvertPart(attributes, every),), every)
    return {str(one): changed for one in known for changed, bits in left if bits >> destinations.class_of[one] & 1}


def through(*rules: RouteMapRule, attributes: PathAttributes = A, **bgp: Any) -> Kept:
    """What a route map of these rules lets in."""
    process = Bgp(asn=65000, route_maps=(RouteMap(name="IN", rules=rules),), **bgp)
    return passed(process, BgpNeighbor(address="10.0.0.1", import_policy="IN"), attributes)


def all_with(attributes: PathAttributes) -> Kept:
    return dict.fromkeys(NAMES, attributes)


def test_without_a_policy_everything_passes() -> None:
    assert passed(Bgp(asn=65000), BgpNeighbor(address="10.0.0.1")) == all_with(A)


def test_where_policies_are_required_nothing_passes_without_one() -> None:
    strict = Bgp(asn=65000, requires_policy=True, prefix_lists=(listed("P", "permit 0.0.0.0/0 le 32"),))
    assert passed(strict, BgpNeighbor(address="10.0.0.1")) == {}
    assert passed(strict, BgpNeighbor(address="10.0.0.1", import_prefix_list="P")) == all_with(A)


def test_what_is_named_and_not_there_denies_everything() -> None:
    bgp = Bgp(asn=65000)
    assert passed(bgp, BgpNeighbor(address="10.0.0.1", import_policy="GONE")) == {}
    assert passed(bgp, BgpNeighbor(address="10.0.0.1", import_prefix_list="GONE")) == {}


def test_the_first_rule_that_matches_decides_and_none_denies() -> None:
    lists = (listed("ONE", "permit 10.8.0.0/24"), listed("ALL", "permit 10.8.0.0/16 le 24"))
    found = through(
        rule(("ip address prefix-list", "ALL"), sets=[("metric", "2")], sequence=20),
        rule(("ip address prefix-list", "ONE"), sets=[("metric", "1")], sequence=10),
        prefix_lists=lists,
    )
    assert found == {"10.8.0.0/24": A._replace(med=1), "10.8.1.0/24": A._replace(med=2)}
    denied = through(rule(("ip address prefix-list", "ONE"), action="deny"), rule(sequence=20), prefix_lists=lists)
    assert set(denied) == {"10.8.1.0/24", "10.9.0.1/32"}


def test_all_matches_of_a_rule_must_hold() -> None:
    lists = (listed("P", "permit 10.8.0.0/16 le 24"), listed("Q", "permit 0.0.0.0/0 ge 24 le 24", "permit 10.8.1.0/24"))
    both = rule(("ip address prefix-list", "P"), ("metric", "5"))
    assert through(both, prefix_lists=lists) == {}
    marked = A._replace(med=5)
    assert set(through(both, attributes=marked, prefix_lists=lists)) == {"10.8.0.0/24", "10.8.1.0/24"}


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["permit 10.8.0.0/24"], {"10.8.0.0/24"}),
        (["permit 10.8.0.0/16"], set()),
        (["permit 10.8.0.0/16 le 24"], {"10.8.0.0/24", "10.8.1.0/24"}),
        (["permit 0.0.0.0/0 ge 25"], {"10.9.0.1/32"}),
        (["permit 0.0.0.0/0 ge 24 le 24"], {"10.8.0.0/24", "10.8.1.0/24"}),
        (["deny 10.8.1.0/24", "permit 0.0.0.0/0 le 32"], {"10.8.0.0/24", "10.9.0.1/32"}),
        (["permit any"], set(NAMES)),
        (["deny any", "permit 10.8.0.0/24"], set()),
        (["permit any ge 32"], {"10.9.0.1/32"}),
        (["permit any le 24"], {"10.8.0.0/24", "10.8.1.0/24"}),
        (["permit any le 32"], set(NAMES)),
        (["permit fd00::/8 le 128"], set()),
    ],
)
def test_what_a_prefix_list_permits(lines: list[str], names: set[str]) -> None:
    bgp = Bgp(asn=65000, prefix_lists=(listed("P", *lines),))
    assert set(passed(bgp, BgpNeighbor(address="10.0.0.1", import_prefix_list="P"))) == names


def test_a_prefix_list_and_a_route_map_both_decide() -> None:
    bgp = Bgp(
        asn=65000,
        prefix_lists=(listed("P", "permit 10.8.0.0/16 le 24"), listed("Q", "permit 10.8.1.0/24", "permit 10.9.0.1/32")),
        route_maps=(RouteMap(name="IN", rules=(rule(("ip address prefix-list", "Q")),)),),
    )
    session = BgpNeighbor(address="10.0.0.1", import_policy="IN", import_prefix_list="P")
    assert set(passed(bgp, session)) == {"10.8.1.0/24"}


COMMUNITIES = (
    CommunityList(name="ONE", rules=(("permit", ("65000:1",)),)),
    CommunityList(name="BOTH", rules=(("permit", ("65000:1", "65000:2")),)),
    CommunityList(name="NOT", rules=(("deny", ("65000:1",)), ("permit", ("65000:2",)))),
    CommunityList(name="SHUT", rules=(("permit", ("65535:0",)),)),
    CommunityList(name="ANY", rules=(("permit", ("internet",)),)),
    CommunityList(name="EXP", rules=(("deny", ("_65000:9_",)), ("permit", ("^65000:1_.*no-export$",))), expanded=True),
    CommunityList(name="ALL", rules=(("permit", (".*",)),), expanded=True),
)


@pytest.mark.parametrize(
    ("match", "own", "passes"),
    [
        ("ONE", {"65000:1", "65000:2"}, True),
        ("ONE exact-match", {"65000:1", "65000:2"}, False),
        ("ONE exact-match", {"65000:1"}, True),
        ("BOTH", {"65000:1"}, False),
        ("BOTH", {"65000:1", "65000:2", "65000:3"}, True),
        ("NOT", {"65000:1", "65000:2"}, False),
        ("NOT", {"65000:2"}, True),
        ("NOT", set(), False),
        ("SHUT", {"graceful-shutdown"}, True),
        ("ANY", set(), True),
        ("GONE", {"65000:1"}, False),
        ("EXP", {"no-export", "65000:1"}, True),
        ("EXP exact-match", {"no-export", "65000:1", "65000:2"}, True),
        ("EXP", {"no-export", "65000:1", "65000:9"}, False),
        ("EXP", {"no-export", "65000:11"}, False),
        ("EXP", {"no-export", "1:1", "65000:1"}, False),
        ("ALL", {"1:1"}, True),
        ("ALL", set(), False),
    ],
)
def test_matches_of_communities(match: str, own: set[str], *, passes: bool) -> None:
    marked = A._replace(communities=frozenset(own))
    found = through(rule(("community", match)), attributes=marked, community_lists=COMMUNITIES)
    assert found == (all_with(marked) if passes else {})


@pytest.mark.parametrize(
    ("expression", "path", "passes"),
    [
        ("_65002_", (65001, 65002), True),
        ("_65002_", (65001, 165002), False),
        ("^65001_", (65001, 65002), True),
        ("^65002_", (65001, 65002), False),
        ("_65002$", (65001, 65002), True),
        ("_65001$", (65001, 65002), False),
        ("^$", (), True),
        ("^$", (65001,), False),
        ("^65001( 65002)+$", (65001, 65002, 65002), True),
        ("^65001(_65002)*$", (65001, 65002, 65002), True),
        ("65[0-9]*2", (65001, 65002), True),
        ("*", (65001,), False),
    ],
)
def test_matches_of_as_paths(expression: str, path: tuple[int, ...], *, passes: bool) -> None:
    paths = (AsPathList(name="A", rules=(("permit", expression),)),)
    own = PathAttributes(path=path)
    found = through(rule(("as-path", "A")), attributes=own, as_path_lists=paths)
    assert found == (all_with(own) if passes else {})
    assert through(rule(("as-path", "GONE")), attributes=own, as_path_lists=paths) == {}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("local-preference", "200", A._replace(preference=200)),
        ("local-preference", "+50", A),
        ("src", "10.0.0.1", A),
        ("metric", "7", A._replace(med=7)),
        ("metric", "+7", A._replace(med=7)),
        ("metric", "-7", A._replace(med=0)),
        ("local-preference", "4294967295", A._replace(preference=4294967295)),
        ("metric", "+4294967295", A._replace(med=4294967295)),
        ("weight", "9", A._replace(weight=9)),
        ("as-path prepend", "1.10", A._replace(path=(65546, 65001, 65002))),
        ("tag", "4", A._replace(tag=4)),
        ("origin", "egp", A._replace(origin=EGP)),
        ("as-path prepend", "65009 65009", A._replace(path=(65009, 65009, 65001, 65002))),
        ("as-path prepend", "last-as 2", A._replace(path=(65001, 65001, 65001, 65002))),
        ("community", "65000:1", A._replace(communities=frozenset({"65000:1"}))),
        ("community", "65535:0 65000:1", A._replace(communities=frozenset({"graceful-shutdown", "65000:1"}))),
        ("ipv6 next-hop", "prefer-global", A),
    ],
)
def test_what_a_route_map_sets(kind: str, value: str, expected: PathAttributes) -> None:
    assert through(rule(sets=[(kind, value)])) == all_with(expected)


def test_communities_are_replaced_added_to_or_taken_away() -> None:
    marked = A._replace(communities=frozenset({"65000:1"}))
    for value, expected in {"65000:2": {"65000:2"}, "65000:2 additive": {"65000:1", "65000:2"}, "none": set()}.items():
        found = through(rule(sets=[("community", value)]), attributes=marked)
        assert found == all_with(A._replace(communities=frozenset(expected))), value


def test_what_matches_nothing_that_is_known_does_not_match() -> None:
    assert through(rule(("interface", "e0"))) == {}
    assert through(rule(("tag", "4")), attributes=A._replace(tag=4)) == all_with(A._replace(tag=4))


def test_policies_of_ipv6_are_those_of_its_own_family() -> None:
    bgp = Bgp(
        asn=65000,
        prefix_lists=(listed("P", "permit 0.0.0.0/0 le 32"), listed("P", "permit fd08::/32 le 128", family="ipv6")),
        route_maps=(RouteMap(name="IN", rules=(rule(("ipv6 address prefix-list", "P")),)),),
    )
    session = BgpNeighbor(address="fd00::1", ipv6=Ipv6Unicast(active=True, import_policy="IN"))
    words = PolicyReader(bgp, "ipv6").inbound(session)
    known = [one for name in ("fd08::/64", "fd09::/64") if (one := parse_prefix(name)) is not None]
    destinations = DestinationClasses("ipv6", {one: (one,) for one in known}, prefix_lists_read_by(words))
    every = destinations.class_bits_of_prefixes(known)
    (left,) = CompiledPolicy(0, words, destinations).apply_to_routes((AdvertPart(A, every),), every)
    assert left == AdvertPart(A, 1 << destinations.class_of[known[0]])
    assert PolicyReader(bgp, "ipv6").outbound(session, 65009).rules is None


ODD = AsPathList(name="ODD", rules=(("deny", "_65002_"), ("permit", ".*")))


def test_a_session_weighs_what_it_hears_unless_its_route_map_does() -> None:
    heavy = BgpNeighbor(address="10.0.0.1", weight=100, import_policy="IN")
    maps = (RouteMap(name="IN", rules=(rule(("tag", "4"), sets=[("weight", "7")]), rule(sequence=20))),)
    assert passed(Bgp(asn=65000, route_maps=maps), heavy) == all_with(A._replace(weight=100))
    tagged = A._replace(tag=4)
    assert passed(Bgp(asn=65000, route_maps=maps), heavy, tagged) == all_with(tagged._replace(weight=7))


@pytest.mark.parametrize(("path", "left"), [((65001, 65002), False), ((65001, 65003), True)])
def test_a_list_of_as_paths_of_a_session(path: tuple[int, ...], left: bool) -> None:
    attributes = PathAttributes(path=path)
    found = passed(
        Bgp(asn=65000, as_path_lists=(ODD,)), BgpNeighbor(address="10.0.0.1", import_path_list="ODD"), attributes
    )
    assert found == (all_with(attributes) if left else {})


def test_a_list_of_as_paths_that_is_not_there_denies_all() -> None:
    assert passed(Bgp(asn=65000), BgpNeighbor(address="10.0.0.1", import_path_list="GONE")) == {}


@pytest.mark.parametrize(
    ("said", "path", "told"),
    [
        ({"private_asns": "remove"}, (64512, 65001), ()),
        ({"private_asns": "remove"}, (3, 65001), (3, 65001)),
        ({"private_asns": "remove-all"}, (3, 65001, 65009), (3, 65009)),
        ({"private_asns": "replace"}, (64512, 65009), (65000, 65009)),
        ({"private_asns": "replace"}, (3, 64512), (3, 64512)),
        ({"private_asns": "replace-all"}, (3, 4200000000), (3, 65000)),
        ({"as_override": True}, (65009, 65001, 65009), (65000, 65001, 65000)),
    ],
)
def test_as_numbers_that_a_session_does_not_tell(
    said: dict[str, Any], path: tuple[int, ...], told: tuple[int, ...]
) -> None:
    words = PolicyReader(Bgp(asn=65000), "ipv4").outbound(BgpNeighbor(address="10.0.0.1", **said), 65009)
    assert words.rewrite is not None
    assert words.rewrite.announced_path(path) == told
    assert words.reads_as_paths


def test_a_route_map_calls_another() -> None:
    """What the other denies is denied, and what it sets stays; one that is not there lets all pass."""
    other = RouteMap(
        name="OTHER",
        rules=(rule(("ip address prefix-list", "P"), sets=[("metric", "5")]),),
    )
    calls = RouteMap(name="IN", rules=(rule(sets=[("weight", "3"), ("call", "OTHER")]),))
    bgp = Bgp(asn=65000, prefix_lists=(listed("P", "permit 10.8.0.0/16 le 24"),), route_maps=(calls, other))
    made = A._replace(weight=3, med=5)
    assert passed(bgp, BgpNeighbor(address="10.0.0.1", import_policy="IN")) == dict.fromkeys(NAMES[:2], made)
    assert through(rule(sets=[("weight", "3"), ("call", "GONE")])) == all_with(A._replace(weight=3))


def test_a_route_map_that_calls_itself_round_about_denies() -> None:
    maps = [RouteMap(name=one, rules=(rule(sets=[("call", to)]),)) for one, to in (("IN", "B"), ("B", "IN"))]
    bgp = Bgp(asn=65000, route_maps=tuple(maps))
    assert passed(bgp, BgpNeighbor(address="10.0.0.1", import_policy="IN")) == {}


@pytest.mark.parametrize(
    ("where", "last", "left"),
    [
        ("next", rule(sequence=30, sets=[("metric", "6")]), all_with(A._replace(weight=3, med=6))),
        ("goto 30", rule(sequence=30, sets=[("metric", "6")]), all_with(A._replace(weight=3, med=6))),
        ("goto 40", rule(sequence=30, action="deny"), all_with(A._replace(weight=3))),
        ("next", rule(("tag", "9"), sequence=30), {}),
    ],
)
def test_a_rule_after_which_others_follow(where: str, last: RouteMapRule, left: Kept) -> None:
    """Where the next one matches nothing it is denied after all; behind the last one it is let pass."""
    first = rule(sets=[("weight", "3"), ("on-match", where)])
    assert through(first, last) == left


def test_rules_for_other_neighbors() -> None:
    mine = rule(("peer", "10.0.0.1"), sets=[("weight", "3")])
    others = rule(("peer", "10.0.0.9"), sequence=5, action="deny")
    assert through(others, mine) == all_with(A._replace(weight=3))
    goes_on = rule(sequence=4, sets=[("on-match", "next")])
    assert through(goes_on, others) == {}
