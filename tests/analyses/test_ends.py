"""Speeds and lanes at the ends of cables, hosts included; what is not known, shut or unread is never a pass."""

from nodrop.analyses.ends import find
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import look, two_by_two, with_changes

UPLINK = "@fabric/links/leaf1:Ethernet224--spine1:Ethernet0"
TO_HOST = "@fabric/links/gpu1:nic1--leaf1:Ethernet0"


def test_nothing_is_wrong_in_a_sound_fabric() -> None:
    assert look("ends", {}, what="speed") == {}
    assert look("ends", {}, what="lanes") == {}


def test_a_host_that_runs_at_another_speed() -> None:
    facts = look("ends", {"leaf1/Ethernet0/speed_mbps": 100_000}, what="speed")
    assert facts == {TO_HOST: {"link": TO_HOST.split("/")[-1], "speed_a": 400_000, "speed_b": 100_000}}


def test_a_hit_points_at_the_switch_and_relates_the_other_end() -> None:
    (hit,) = find(Index(with_changes({"spine1/Ethernet0/speed_mbps": 200_000})), what="speed")
    assert hit.at == ("leaf1", "Ethernet224", "speed_mbps")
    assert hit.related == ((("spine1", "Ethernet0", "speed_mbps"), "the other end"),)
    (hit,) = find(Index(with_changes({"leaf1/Ethernet0/speed_mbps": 200_000})), what="speed")
    assert (hit.at, hit.related) == (("leaf1", "Ethernet0", "speed_mbps"), ())


def test_a_speed_that_no_file_states_leaves_the_link_open() -> None:
    assert look("ends", {"leaf1/Ethernet224/speed_mbps": UNKNOWN}, what="speed") == {UPLINK: "interface.speed_mbps"}
    assert look("ends", {"leaf1/Ethernet224/speed_mbps": None}, what="speed") == {UPLINK: "interface.speed_mbps"}


def test_a_shut_end_is_not_compared() -> None:
    changes = {"leaf1/Ethernet224/speed_mbps": 100_000, "leaf1/Ethernet224/enabled": False}
    assert look("ends", changes, what="speed") == {}


def test_other_lanes_need_a_cable_that_is_known() -> None:
    lanes = {"leaf1/Ethernet224/lanes": 4}
    assert look("ends", lanes, what="lanes") == {}, "DR4 has a gearbox at each end"
    assert look("ends", {**lanes, f"{UPLINK}/media": UNKNOWN}, what="lanes") == {UPLINK: "link.media"}
    assert look("ends", {**lanes, f"{UPLINK}/media": "twine"}, what="lanes") == {UPLINK: "link.media"}
    (facts,) = look("ends", {**lanes, f"{UPLINK}/media": "DAC"}, what="lanes").values()
    assert (facts["lanes_a"], facts["lanes_b"], facts["speed"], facts["media"]) == (4, 8, 400_000, "DAC")


def test_lanes_matter_where_a_copper_cable_is_all_that_is_known() -> None:
    changes = {f"{UPLINK}/media": "DAC", "leaf1/Ethernet224/lanes": UNKNOWN}
    assert look("ends", changes, what="lanes") == {UPLINK: "interface.lanes"}


HALVED = {
    f"{TO_HOST}/media": "DAC",
    "leaf1/Ethernet0/speed_mbps": 200_000,
    "@fabric/hosts/gpu1/ports/nic1/speed_mbps": 200_000,
}


def test_a_qsfp_cable_uses_four_of_the_eight_lanes_of_a_qsfp_dd_port() -> None:
    """At 400G the lanes of an SN4700 are too slow for those of a ConnectX-7, at 200G they are not."""
    assert look("ends", HALVED, what="lanes") == {}
    (facts,) = look("ends", {f"{TO_HOST}/media": "DAC"}, what="lanes").values()
    assert (facts["lanes_a"], facts["lanes_b"], facts["speed"]) == (4, 8, 400_000)
    two = HALVED | {"@fabric/hosts/gpu1/ports/nic1/lanes": 2}
    (facts,) = look("ends", two, what="lanes").values()
    assert (facts["lanes_a"], facts["lanes_b"], facts["speed"]) == (2, 8, 200_000), "two lanes of 100 Gb/s each"


def test_a_model_that_is_not_known_leaves_unequal_lanes_open() -> None:
    assert look("ends", HALVED | {"leaf1/@model": UNKNOWN}, what="lanes") == {TO_HOST: "device.model"}
    foreign = look("ends", HALVED | {"leaf1/@model": "a switch of another maker"}, what="lanes")
    assert set(foreign) == {TO_HOST}, "as many lanes as the port states"


def test_where_speeds_differ_lanes_follow_and_are_not_told_again() -> None:
    changes = {f"{UPLINK}/media": "DAC", "leaf1/Ethernet224/lanes": 4, "leaf1/Ethernet224/speed_mbps": 200_000}
    assert look("ends", changes, what="lanes") == {}


def test_a_switch_that_was_not_read_is_one_gap_for_each_of_its_neighbors() -> None:
    fabric = replace_fields(two_by_two(), devices=tuple(one for one in two_by_two().devices if one.name != "spine2"))
    found = list(find(Index(fabric), what="speed"))
    assert [(each.subject, each.missing) for each in found] == [
        (("leaf1",), "the other end of a link"),
        (("leaf2",), "the other end of a link"),
    ]
    assert all(each.others == {"spine2"} for each in found)


def test_the_switch_differs_whose_neighbor_has_the_speed_on_its_other_cables_too() -> None:
    """All uplinks of leaf1 are set at once: its ports alone do not show which end is meant."""
    slow = {f"leaf1/Ethernet{number}/speed_mbps": 200_000 for number in (224, 232, 240, 248)}
    hits = list(find(Index(with_changes(slow)), what="speed"))
    assert len(hits) == 4
    assert [hit.changes for hit in hits] == [
        ((("leaf1", f"Ethernet{number}", "speed_mbps"), 400_000),) for number in (224, 232, 240, 248)
    ]


def test_nothing_shows_which_end_differs_where_no_other_cable_has_either_speed() -> None:
    leaves = {
        f"{leaf}/Ethernet{number}/speed_mbps": 200_000 for leaf in ("leaf1", "leaf2") for number in (224, 232, 240, 248)
    }
    assert [hit.changes for hit in find(Index(with_changes(leaves)), what="speed")] == [()] * 8
