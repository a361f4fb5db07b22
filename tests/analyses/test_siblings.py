"""Who is whose sibling, what is usual, and which differences count."""

import pytest

from nodrop.analyses.siblings import find
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from support.analysis_results import look, with_changes

WEIGHT = {"type": "dwrr", "weight": 40}
ALL = ("leaf1", "leaf2", "spine1", "spine2")


def unlike(changes: dict[str, object]) -> dict[str, object]:
    """What is found, by port: the aspect and the differences, or what is missing."""
    found = look("siblings", changes)
    return {
        key: each if isinstance(each, str) else (each["aspect"], each["differences"]) for key, each in found.items()
    }


def test_one_port_with_another_weight() -> None:
    assert unlike({}) == {}
    assert unlike({"leaf1/Ethernet224/qos/queues/2/scheduler": WEIGHT}) == {
        "leaf1/Ethernet224": ("scheduling", "queue 2 is dwrr 40 (siblings: 20)"),
    }


def test_it_points_at_what_differs_and_relates_the_sibling() -> None:
    (hit,) = find(Index(with_changes({"leaf1/Ethernet224/qos/queues/2/scheduler": WEIGHT})))
    place = ("qos", "queues", "2", "scheduler")
    assert hit.at == ("leaf1", "Ethernet224", *place)
    assert hit.related == ((("leaf1", "Ethernet232", *place), "as most of its siblings have it"),)
    assert (hit.facts["siblings"], hit.discriminator) == (7, "scheduling")


def test_half_of_a_tier_is_held_against_the_whole_fabric() -> None:
    found = unlike({"leaf1/*/qos/queues/2/scheduler": WEIGHT})
    assert {subject.split("/")[0] for subject in found} == {"leaf1"}
    found = unlike({"leaf1/*/qos/queues/2/scheduler": WEIGHT, "leaf2/Ethernet0/enabled": False})
    assert {subject.split("/")[0] for subject in found} == {"leaf1"}, "switches count, not ports"
    assert unlike({"leaf1/*/qos/queues/2/scheduler": WEIGHT, "spine1/*/qos/queues/2/scheduler": WEIGHT}) == {}


def test_sides_and_groups_of_hosts_are_families_of_their_own() -> None:
    assert unlike({"leaf*/Ethernet16/qos/queues/2/scheduler": WEIGHT}) == {}, "all ports at storage nodes"
    found = unlike({"leaf*/Ethernet0/qos/queues/2/scheduler": WEIGHT, "leaf1/Ethernet8/qos/queues/2/scheduler": WEIGHT})
    assert found.keys() == {"leaf2/Ethernet8"}, "three of the four ports at GPUs have it, and are usual"


def test_another_platform_or_model_is_no_sibling() -> None:
    changes: dict[str, object] = {"leaf1/*/qos/queues/2/scheduler": WEIGHT, "leaf1/@platform": "other"}
    assert unlike(changes) == {}
    assert unlike({**changes, "leaf1/@platform": "sonic", "leaf1/@model": "SN5600"}) == {}


def test_without_a_role_a_switch_is_compared_with_itself() -> None:
    changes: dict[str, object] = {f"{name}/@role": UNKNOWN for name in ALL}
    assert unlike({"leaf1/*/qos/queues/2/scheduler": WEIGHT, **changes}) == {}
    assert unlike({"leaf1/Ethernet224/qos/queues/2/scheduler": WEIGHT, **changes}).keys() == {"leaf1/Ethernet224"}


def test_a_side_that_is_not_known_leaves_a_difference_open() -> None:
    changes: dict[str, object] = {f"{name}/@role": UNKNOWN for name in ALL}
    changes |= {f"leaf1/Ethernet{port}/side": UNKNOWN for port in (0, 8, 16, 224, 232, 240, 248)}
    assert unlike(changes) == {"leaf1/Ethernet0": "interface.side"} | {
        f"leaf1/Ethernet{port}": "interface.side" for port in (8, 16)
    }, "the four uplinks have another watchdog, and are more"


def test_room_thresholds_pause_and_shut_ports_are_left_to_others() -> None:
    assert unlike({"leaf1/Ethernet224/cable_length_m": 300}) == {}
    assert unlike({"leaf1/Ethernet0/qos/priority_groups/0/buffer/dynamic_th": -3}) == {}
    assert unlike({"leaf1/Ethernet0/qos/pfc_rx_priorities": [], "leaf1/Ethernet0/qos/pfc_watchdog": None}) == {}
    shut = {"leaf1/Ethernet224/enabled": False, "leaf1/Ethernet224/qos/queues/2/scheduler": WEIGHT}
    assert unlike(shut) == {}


def test_the_one_port_with_headroom_is_not_blamed_for_it() -> None:
    """A lossless group without a buffer is reported by rules about headroom, on the ports that lack it."""
    others = [f"leaf{leaf}/Ethernet{lane}" for leaf in (1, 2) for lane in (224, 232, 240, 248)][1:]
    assert unlike({f"{port}/qos/priority_groups/3": None for port in others}) == {}


def test_each_aspect_is_a_fault_of_its_own() -> None:
    changes = {
        "leaf1/Ethernet224/qos/queues/2/scheduler": WEIGHT,
        "leaf1/Ethernet224/qos/queues/3/wred/green/max_bytes": 3_000_000,
        "leaf1/Ethernet224/qos/dscp_to_tc/10": 1,
        "leaf1/Ethernet224/qos/queues/0/buffer/pool": "egress_lossless",
        "leaf1/Ethernet224/qos/pfc_watchdog/action": "forward",
    }
    hits = list(find(Index(with_changes(changes))))
    assert [(hit.facts["aspect"], hit.facts["differences"]) for hit in hits] == [
        ("classification", "DSCP 10 goes to traffic class 1 (siblings: 2)"),
        ("scheduling", "queue 2 is dwrr 40 (siblings: 20)"),
        ("marking", "queue 3 marks at 150 kB to 3 MB, 100 % (siblings: 1.5 MB, 100 %)"),
        (
            "buffers",
            "queue 0 uses pool egress_lossless (siblings: egress_lossy)",
        ),
        ("watchdog", "the watchdog's action is forward (siblings: drop)"),
    ]
    assert len({hit.discriminator for hit in hits}) == len(hits)


def test_many_differences_are_counted() -> None:
    found = unlike({f"leaf1/Ethernet224/qos/dscp_to_tc/{dscp}": 1 for dscp in (11, 12, 13, 14, 15)})
    ((_, text),) = found.values()
    assert text.endswith("DSCP 13 goes to traffic class 1 (siblings: 0) and 2 more")


def test_a_part_that_is_not_known_is_open_only_where_others_are_known() -> None:
    found = unlike(
        {
            "leaf1/Ethernet224/qos/queues": UNKNOWN,
            "leaf1/Ethernet232/qos/queues/2/scheduler": WEIGHT,
        }
    )
    assert found["leaf1/Ethernet224"] == "interface.qos.queues"
    assert found.keys() == {"leaf1/Ethernet224", "leaf1/Ethernet232"}


def test_a_queue_that_is_not_there_is_told_by_its_scheduler_not_by_its_buffer() -> None:
    assert unlike({"leaf1/Ethernet224/qos/queues/7": None}) == {
        "leaf1/Ethernet224": ("scheduling", "queue 7 is nothing stated (siblings: strict)"),
    }
    assert unlike({"leaf1/Ethernet224/qos/queues/7/buffer": None}) == {
        "leaf1/Ethernet224": ("buffers", "queue 7 has no buffer (siblings: uses pool egress_lossy)"),
    }
    assert unlike({"leaf1/Ethernet224/qos/priority_groups/0": None}) == {
        "leaf1/Ethernet224": ("buffers", "priority group 0 nothing stated (siblings: uses pool ingress_lossy)"),
    }


def test_many_kinds_on_one_switch_without_a_role_have_no_usual_one() -> None:
    changes: dict[str, object] = {f"{name}/@role": UNKNOWN for name in ALL}
    for port, weight in ((224, 1), (232, 2), (240, 3)):
        changes[f"leaf1/Ethernet{port}/qos/queues/2/scheduler"] = {"type": "dwrr", "weight": weight}
    assert unlike(changes) == {}


@pytest.mark.parametrize(
    ("field", "written", "missing"),
    [
        ("pfc_watchdog/history", False, None),
        ("pfc_watchdog/action", "drop", None),
        ("queues/2/scheduler", {"type": "dwrr", "weight": 1}, {"type": "dwrr"}),
        ("queues/2/scheduler", {"type": "dwrr", "weight": 20, "peak_bytes_per_s": 0}, {"type": "dwrr", "weight": 20}),
        ("queues/2/scheduler", {"type": "strict", "weight": 5}, {"type": "strict"}),
        ("queues/3/wred/green/probability_percent", 100, None),
    ],
)
def test_a_default_that_is_written_is_no_difference(field: str, written: object, missing: object) -> None:
    of_siblings = {f"{device}/*/qos/{field}": missing for device in ALL}
    assert unlike({**of_siblings, f"leaf1/Ethernet0/qos/{field}": written}) == {}


def test_a_value_beside_a_missing_default_is_a_difference() -> None:
    assert unlike({"leaf1/Ethernet0/qos/pfc_watchdog/history": True}) == {
        "leaf1/Ethernet0": ("watchdog", "the watchdog's history of pauses is True (siblings: False)")
    }
