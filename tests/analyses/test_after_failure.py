"""What one and two failures do, on four leaves with one cable to each of two spines; hosts are at the first two."""

from collections.abc import Mapping
from functools import cache

from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.subject import parse_subject
from support.analysis_results import look, say
from support.designs import build, shipped

_UNIQUE = {
    "spine2/@bgp/asn": 4200000001,
    "leaf?/@neighbors/10.1.?.24?/remote_asn": 4200000001,
    "leaf?/@bgp/route_maps/FABRIC-OUT/rules/10/matches": [],
}
_FIRST = "@fabric/links/leaf1:Ethernet224--spine1:Ethernet0"


@cache
def _four_leaves() -> Fabric:
    sizes = {"leaves.ids": "1-4", "uplinks.per_spine": "1", "max_oversubscription": "1.5"}
    return build(shipped("two-by-two", {f"topology.{key}": value for key, value in sizes.items()}))


def _changed(changes: Mapping[str, object]) -> Fabric:
    fabric = _four_leaves()
    for subject, value in changes.items():
        fabric = set_value(fabric, parse_subject(subject), value)
    return fabric


def test_two_cables_part_a_pair_of_leaves_under_one_number_of_spines() -> None:
    assert say("double_failures", _four_leaves()) == {
        _FIRST: {
            "leaf": "leaf1",
            "other": "leaf2",
            "a": "leaf1:Ethernet224 to spine1:Ethernet0",
            "b": "leaf2:Ethernet240 to spine2:Ethernet128",
            "pairs": 6,
            "effect": "neither reaches the other's hosts",
        }
    }


def test_two_cables_send_traffic_up_again_under_numbers_of_their_own() -> None:
    found = say("double_failures", _changed(_UNIQUE))
    assert found[_FIRST]["effect"] == "traffic goes down to leaf3 and up again"
    assert found[_FIRST]["pairs"] == 6


def test_two_cables_to_each_spine_stand_two_failures() -> None:
    assert look("double_failures", {}) == {}


def test_a_leaf_with_one_cable_left_is_lost_with_it_and_others_with_theirs_to_that_spine() -> None:
    fabric = _changed({"leaf1/@neighbors/10.1.1.241": None, "spine2/@neighbors/10.1.1.240": None})
    found = say("single_failures", fabric, what="lost")
    assert {at: (row["device"], row["prefix"]) for at, row in found.items()} == {
        _FIRST: ("leaf1 and 3 more", "10.2.2.0/24 and 3 more"),
        "@fabric/links/leaf2:Ethernet224--spine1:Ethernet128": ("leaf1 and 1 more", "10.2.2.0/24 and 3 more"),
        "@fabric/links/leaf3:Ethernet224--spine1:Ethernet64": ("leaf3", "10.2.1.0/24 and 1 more"),
        "@fabric/links/leaf4:Ethernet224--spine1:Ethernet192": ("leaf4", "10.2.1.0/24 and 1 more"),
        "spine1": ("leaf1 and 3 more", "10.2.2.0/24 and 3 more"),
    }


def test_what_hangs_on_one_cable_since_a_session_is_down_is_not_told_beside_it() -> None:
    fabric = _changed({"leaf1/@neighbors/10.1.1.241/enabled": False})
    assert say("single_failures", fabric, what="lost") == {}


def test_a_valley_that_one_failure_opens() -> None:
    fabric = _changed(_UNIQUE | {"leaf1/@neighbors/10.1.1.241/enabled": False})
    found = say("single_failures", fabric, what="valley")
    assert {at: row["device"] for at, row in found.items()} == {
        "@fabric/links/leaf2:Ethernet224--spine1:Ethernet128": "leaf3 and 1 more",
        "@fabric/links/leaf3:Ethernet224--spine1:Ethernet64": "leaf2 and 1 more",
        "@fabric/links/leaf4:Ethernet224--spine1:Ethernet192": "leaf2 and 1 more",
    }


def test_all_is_well_without_any_one_cable_or_spine() -> None:
    assert say("single_failures", _four_leaves(), what="lost") == {}
    assert say("single_failures", _changed(_UNIQUE), what="valley") == {}


def test_a_valley_is_told_at_its_bottom_and_only_where_hosts_send_through_it() -> None:
    changes: dict[str, object] = {**_UNIQUE, "leaf1/@neighbors/10.1.1.225/enabled": False}
    assert say("valleys", _changed(changes), unsettled=False) == {}
    changes |= {"leaf2/@neighbors/10.1.2.241/enabled": False, "leaf4/@neighbors/*/enabled": False}
    assert say("valleys", _changed(changes), unsettled=False) == {
        "leaf3/@neighbors/10.1.3.225": {"device": "leaf3", "far": "spine1", "prefix": "10.2.2.0/24 and 3 more"}
    }
