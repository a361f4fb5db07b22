"""What one and two failures do, on four leaves with one cable to each of two spines."""

from collections.abc import Mapping
from functools import cache

from looking import look, say
from nodrop.fabric.edit import set_value
from nodrop.fabric.fabric import Fabric
from nodrop.fabric.subject import parse

from designs import build, shipped  # isort: skip

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
        fabric = set_value(fabric, parse(subject), value)
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


def test_a_leaf_with_one_cable_left_is_lost_with_it_and_with_its_spine() -> None:
    fabric = _changed({"leaf1/@neighbors/10.1.1.241/enabled": False})
    assert say("single_failures", fabric, what="lost") == {
        _FIRST: {
            "failed": "the cable from leaf1:Ethernet224 to spine1:Ethernet0",
            "device": "leaf1 and 3 more",
            "prefix": "10.2.2.0/24 and 3 more",
        },
        "spine1": {"failed": "spine1", "device": "leaf1 and 3 more", "prefix": "10.2.2.0/24 and 3 more"},
    }


def test_a_valley_that_one_failure_opens() -> None:
    fabric = _changed(_UNIQUE | {"leaf1/@neighbors/10.1.1.241/enabled": False})
    assert say("single_failures", fabric, what="lost").keys() == {_FIRST, "spine1"}
    found = say("single_failures", fabric, what="valley")
    assert found["@fabric/links/leaf2:Ethernet224--spine1:Ethernet128"]["prefix"] == "10.2.1.0/24 and 1 more"


def test_all_is_well_without_any_one_cable_or_spine() -> None:
    assert say("single_failures", _four_leaves(), what="lost") == {}
    assert say("single_failures", _changed(_UNIQUE), what="valley") == {}
