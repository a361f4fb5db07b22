"""Configured cable lengths, with and without the truth; rounding up to a row of the SKU's table is right."""

from nodrop.model.states import UNKNOWN
from support.analysis_results import look

UPLINK = "@fabric/links/leaf1:Ethernet224--spine1:Ethernet0"
TO_HOST = "@fabric/links/gpu1:nic1--leaf1:Ethernet0"


def lengths(changes: dict[str, object]) -> dict[str, object]:
    """What is found, by link: lengths and truth, or what is missing."""
    found = look("cable_lengths", changes)
    return {key: each if isinstance(each, str) else (each["lengths"], each["truth"]) for key, each in found.items()}


def test_a_longer_end_is_at_odds_with_the_other() -> None:
    assert lengths({}) == {}
    assert lengths({"spine1/Ethernet0/cable_length_m": 300}) == {
        UPLINK: ("30 m and 300 m", "; the cable is 30 m long"),
    }


def test_without_the_truth_both_ends_have_to_be_equal() -> None:
    unstated = {f"{UPLINK}/length_m": UNKNOWN}
    assert lengths(unstated) == {}
    assert lengths({**unstated, "leaf1/Ethernet224/cable_length_m": 5}) == {UPLINK: ("5 m and 30 m", "")}


def test_a_port_at_a_host_that_takes_its_cable_for_shorter() -> None:
    assert lengths({"leaf1/Ethernet0/cable_length_m": 1}) == {TO_HOST: ("1 m", "; the cable is 3 m long")}
    assert lengths({"leaf1/Ethernet0/cable_length_m": 5}) == {}, "more room than needed harms no one else here"


def test_the_next_row_of_the_table_is_right_in_the_traditional_model_only() -> None:
    rounded: dict[str, object] = {"leaf1/Ethernet224/cable_length_m": 40}
    assert UPLINK in lengths(rounded)
    assert lengths({**rounded, "leaf1/@buffer_model": "traditional"}) == {}
    too_far: dict[str, object] = {"leaf1/Ethernet224/cable_length_m": 300, "leaf1/@buffer_model": "traditional"}
    assert lengths(too_far) == {UPLINK: ("300 m and 30 m", "; the cable is 30 m long")}


def test_ports_without_pfc_or_length_say_nothing() -> None:
    off = {"leaf1/Ethernet224/qos/pfc_rx_priorities": [], "leaf1/Ethernet224/cable_length_m": 300}
    assert lengths(off) == {}
    assert lengths({"leaf1/Ethernet224/cable_length_m": None}) == {}


def test_what_is_not_known_leaves_the_link_open() -> None:
    assert lengths({"leaf1/Ethernet224/cable_length_m": UNKNOWN}) == {UPLINK: "interface.cable_length_m"}
    both = {"leaf1/Ethernet224/cable_length_m": 300, "leaf1/Ethernet224/qos/pfc_rx_priorities": UNKNOWN}
    assert lengths(both) == {UPLINK: "interface.qos.pfc_rx_priorities"}
