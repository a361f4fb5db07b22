"""What is found where routes to hosts and loopbacks end, and what is a consequence of something else."""

from collections.abc import Mapping

import pytest

from nodrop.analyses._aims import required_destinations_per_leaf
from nodrop.analyses._plane import control_plane_of
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import look, say, with_changes

_SHARED = {"leaf2/@bgp/asn": 4200100001, "spine?/@neighbors/10.1.2.*/remote_asn": 4200100001}


def test_a_policy_is_told_once_with_an_example() -> None:
    assert look("filtered", {"leaf1/@bgp/prefix_lists/OWN/rules/20": None}, lost=True) == {
        "leaf1/@bgp/prefix_lists/OWN": {
            "device": "leaf1",
            "deed": "filters",
            "what": "prefix list OWN, route map FABRIC-OUT",
            "remedy": "permit the prefix there, before any entry that denies it",
            "way": "to",
            "far": "spine1 and 1 more",
            "prefix": "10.2.1.0/24",
        }
    }


def test_a_filter_at_one_spine_loses_paths_and_one_at_all_of_them_the_hosts() -> None:
    one = {"spine1/@bgp/prefix_lists/FABRIC/rules/20": None}
    both = {"spine?/@bgp/prefix_lists/FABRIC/rules/20": None}
    assert list(look("filtered", one, lost=False)) == ["spine1/@bgp/prefix_lists/FABRIC"]
    assert look("filtered", one, lost=True) == {}
    assert list(look("filtered", both, lost=True)) == [
        "spine1/@bgp/prefix_lists/FABRIC",
        "spine2/@bgp/prefix_lists/FABRIC",
    ]
    assert look("filtered", both, lost=False) == {}


def test_a_session_that_is_down_is_not_told_again_for_each_destination() -> None:
    changes = {"leaf1/@neighbors/*/enabled": False}
    assert look("filtered", changes, lost=True) == look("filtered", changes, lost=False) == {}
    assert look("preferred", {"leaf1/@neighbors/10.1.1.225/enabled": False}) == {}


def test_what_a_leaf_does_not_pass_up_again_is_no_loss() -> None:
    assert look("filtered", {"spine1/@neighbors/10.1.1.22?/enabled": False}, lost=True) == {}


def test_a_wider_route_over_the_same_session_replaces_one_that_is_filtered() -> None:
    changes: dict[str, object] = {
        "spine1/@static_routes": [{"prefix": "10.2.0.0/16", "next_hop": "blackhole"}],
        "spine1/@bgp/networks": ["10.0.64.1/32", "10.2.0.0/16"],
        "spine1/@bgp/prefix_lists/WIDE": {
            "name": "WIDE",
            "family": "ipv4",
            "rules": [
                {"sequence": 10, "action": "permit", "prefix": "10.0.0.0/16", "ge": 32},
                {"sequence": 20, "action": "permit", "prefix": "10.2.0.0/16"},
            ],
        },
        "spine1/@bgp/route_maps/FABRIC-OUT/rules/10/matches": [["ip address prefix-list", "WIDE"]],
    }
    assert "spine1/@bgp/prefix_lists/WIDE" in look("filtered", changes, lost=False)
    changes |= {
        "leaf?/@bgp/prefix_lists/FABRIC/rules/30": {"sequence": 30, "action": "permit", "prefix": "10.2.0.0/16"}
    }
    assert look("filtered", changes, lost=False) == {}


def test_policies_that_are_not_there_are_told_by_name_and_not_as_filters() -> None:
    changes = {"spine1/@bgp/route_maps/FABRIC-OUT": None}
    assert look("policies_missing", changes) == {
        "spine1/@neighbors/10.1.1.224/export_policy": {
            "device": "spine1",
            "name": "route map FABRIC-OUT",
            "by": "neighbor 10.1.1.224",
            "effect": "no route is announced",
        }
    }
    assert look("filtered", changes, lost=False) == {}


def test_a_prefix_list_of_the_other_family_is_not_reported_a_second_time() -> None:
    """The remark prefix-list-of-other-family says that it is there."""
    at = "spine1/@bgp/route_maps/FABRIC-OUT/rules/10"
    match: dict[str, object] = {f"{at}/matches": [["ipv6 address prefix-list", "FABRIC"]]}
    assert look("policies_missing", match) == {}
    session = "spine1/@neighbors/10.1.1.224/import_prefix_list"
    sixth = {"name": "SIXTH", "family": "ipv6", "rules": [{"sequence": 10, "action": "permit", "prefix": "any"}]}
    lists: dict[str, object] = {"spine1/@bgp/prefix_lists/SIXTH": sixth}
    assert look("policies_missing", lists | {session: "SIXTH"}) == {}
    assert look("policies_missing", lists | {session: "SIXT"})[session]["name"] == "prefix list SIXT"
    assert look("policies_missing", {f"{at}/matches": [["ipv6 address prefix-list", "FABRICS"]]})[at] == {
        "device": "spine1",
        "name": "prefix list FABRICS",
        "by": "rule 10 of route map FABRIC-OUT",
        "effect": "the rule matches no route",
    }


def test_leaves_with_one_number_name_each_other() -> None:
    assert look("own_asn", _SHARED) == {
        "leaf1/@bgp/asn": {"device": "leaf1", "asn": 4200100001, "prefix": "10.2.2.0/24", "owner": "leaf2"},
        "leaf2/@bgp/asn": {"device": "leaf2", "asn": 4200100001, "prefix": "10.2.1.0/24", "owner": "leaf1"},
    }


def without_roles(changes: Mapping[str, object]) -> Fabric:
    of = with_changes(changes)
    return replace_fields(of, devices=tuple(replace_fields(device, role=UNKNOWN) for device in of.devices))


def test_switches_of_no_known_tier_with_one_number_may_be_spines() -> None:
    """Those need no route to one another's loopbacks; of hosts they do."""
    assert say("own_asn", without_roles({})) == {}
    found = say("own_asn", without_roles(_SHARED))
    assert {row["prefix"] for row in found.values()} == {"10.2.1.0/24", "10.2.2.0/24"}


def test_spines_with_one_number_are_not_expected_to_reach_one_another() -> None:
    index = Index(without_roles({}))
    plane = control_plane_of(index)
    expected = {
        (router.name, plane.routers[aim.router].name, aim.hosts)
        for router, aim in required_destinations_per_leaf(index, plane)
    }
    assert {pair for pair in expected if {pair[0], pair[1]} == {"spine1", "spine2"}} == set()
    assert {("leaf1", "leaf2", True), ("leaf1", "leaf2", False), ("spine1", "leaf2", True)} <= expected


def test_what_is_not_known_of_a_policy_is_not_judged() -> None:
    changes = {
        "leaf1/@bgp/prefix_lists/OWN/rules/20": None,
        "leaf1/@bgp/route_maps/FABRIC-OUT/rules/10/matches": [
            ["ip address prefix-list", "OWN"],
            ["peer", "10.1.1.225"],
        ],
    }
    assert look("filtered", changes, lost=True) == {"leaf1/@bgp/route_maps/FABRIC-OUT/10": "peer"}


def test_a_preferred_path_names_the_one_that_stays_empty() -> None:
    fast = {"name": "FAST", "rules": [{"sequence": 10, "action": "permit", "sets": [["local-preference", "200"]]}]}
    found = look("preferred", {"leaf1/@bgp/route_maps/FAST": fast, "leaf1/@neighbors/10.1.1.241/import_policy": "FAST"})
    assert (found["leaf1/@bgp/route_maps/FAST"]["used"], found["leaf1/@bgp/route_maps/FAST"]["paths"]) == (1, 4)
    assert found["leaf1/@bgp/route_maps/FAST"]["what"] == "local preference 200 against 100"


MAKES = [
    ("weight", {"leaf1/@neighbors/10.1.1.225/weight": 9}, "leaf1/@neighbors/10.1.1.225/weight", "weight 9 against 0"),
    (
        "foreign number in",
        {
            "leaf1/@bgp/route_maps/LONG": {
                "name": "LONG",
                "rules": [{"sequence": 10, "action": "permit", "sets": [["as-path prepend", "64999 64998"]]}],
            },
            "leaf1/@neighbors/10.1.1.241/import_policy": "LONG",
        },
        "leaf1/@bgp/route_maps/LONG",
        "path length 2 against 4",
    ),
    (
        "foreign number two hops away",
        {
            "leaf2/@bgp/route_maps/LONG": {
                "name": "LONG",
                "rules": [{"sequence": 10, "action": "permit", "sets": [["as-path prepend", "64999"]]}],
            },
            "leaf2/@neighbors/10.1.2.225/export_policy": "LONG",
            "leaf2/@neighbors/10.1.2.233/export_policy": "LONG",
        },
        "leaf2/@bgp/route_maps/LONG",
        "path length 2 against 3",
    ),
    (
        "origin",
        {"spine2/@bgp/route_maps/FABRIC-OUT/rules/10/sets": [["origin", "incomplete"]]},
        "spine2/@bgp/route_maps/FABRIC-OUT",
        "origin IGP against incomplete",
    ),
]


@pytest.mark.parametrize(("changes", "at", "what"), [row[1:] for row in MAKES], ids=[row[0] for row in MAKES])
def test_what_makes_a_router_use_some_of_equal_paths(changes: dict[str, object], at: str, what: str) -> None:
    found = look("preferred", changes)
    assert [*found] == [at]
    assert found[at]["what"] == what


def test_a_longer_way_is_not_an_equal_one() -> None:
    """A leaf that passes on what it has from a spine offers another a way down and up again."""
    every = {"name": "FABRIC-OUT", "rules": [{"sequence": 10, "action": "permit"}]}
    changes = {"leaf?/@bgp/route_maps/FABRIC-OUT": every, "spine?/@neighbors/*/allowas_in": 1}
    assert look("preferred", changes) == {}


def test_an_aggregate_without_anything_inside_announces_no_hosts() -> None:
    changes = {"leaf1/@bgp/networks": ["10.0.0.1/32"], "leaf1/@bgp/aggregates": [{"prefix": "10.2.1.0/24"}]}
    assert [*look("announcements", changes, what="hosts")] == ["leaf1/@bgp"]


def test_a_router_that_uses_what_names_its_own_number_in_no_path() -> None:
    changes = _SHARED | {"spine1/@neighbors/*/as_override": True}
    found = look("preferred", changes)
    assert {row["what"] for row in found.values()} == {"its own AS number 4200100001 is in the path of the others"}


def test_an_aggregate_of_what_stands_behind_the_switch_hides_nothing_of_others() -> None:
    own = [{"prefix": "10.2.1.0/24", "summary_only": True}]
    assert look("aggregates", {"leaf1/@bgp/aggregates": own, "leaf1/@bgp/networks": ["10.2.1.0/31"]}) == {}


def test_a_block_of_another_switch_is_told_with_its_owner() -> None:
    routes = [{"prefix": "10.2.1.0/24", "next_hop": "blackhole"}, {"prefix": "10.2.2.0/24", "next_hop": "blackhole"}]
    changes: dict[str, object] = {"leaf2/@static_routes": routes}
    found = look("blackholes", changes, twice=False)
    assert {at: (row["owner"], row["announces"]) for at, row in found.items()} == {
        "leaf2/@static_routes/0": ("leaf1", "")
    }
    changes |= {"leaf2/@bgp/networks": ["10.0.0.2/32", "10.2.1.0/24", "10.2.2.0/24"]}
    found = look("blackholes", changes, twice=False)
    assert found["leaf2/@static_routes/0"]["announces"] == " and announces it"


def test_a_failed_statement_is_told_instead_of_the_hosts_below_it() -> None:
    changes = {"leaf1/@bgp/networks": ["10.0.0.1/32", "10.2.0.0/23"]}
    assert list(look("announcements", changes, what="networks")) == ["leaf1/@bgp/networks/1"]
    assert look("announcements", changes, what="hosts") == {}


def test_a_further_loopback_is_told_where_others_announce_one_of_its_name() -> None:
    changes: dict[str, object] = {"leaf2/@loopbacks": _loopbacks(2)}
    assert look("announcements", changes, what="loopback") == {}
    changes |= {"leaf1/@loopbacks": _loopbacks(1), "leaf1/@bgp/networks": ["10.0.0.1/32", "10.9.0.1/32"]}
    assert look("announcements", changes, what="loopback") == {
        "leaf2/@bgp": {
            "device": "leaf2",
            "prefix": "10.9.0.2/32",
            "leg": "Loopback1",
            "more": "",
            "prefixes": "10.9.0.2/32",
        }
    }
    assert list(look("announcements", {"leaf2/@bgp/networks": ["10.2.2.0/24"]}, what="loopback")) == ["leaf2/@bgp"]


def _loopbacks(number: int) -> list[dict[str, object]]:
    return [{"name": f"Loopback{at}", "addresses": [f"10.{9 * at}.0.{number}/32"]} for at in (0, 1)]


def test_a_router_id_that_is_an_address_of_both_is_left_to_the_addresses() -> None:
    changes: dict[str, object] = {"leaf2/@bgp/router_id": "10.0.0.1"}
    assert list(look("router_ids", changes)) == ["leaf2/@bgp/router_id"]
    changes |= {"leaf2/@loopbacks/Loopback0/addresses": ["10.0.0.1/32"]}
    assert look("router_ids", changes) == {}
