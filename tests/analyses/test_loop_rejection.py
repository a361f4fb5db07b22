"""What is found of allowas-in, by tier and by who shares the AS number, and what stays open where files are missing."""

from nodrop.model.fabric import Fabric
from nodrop.model.values import replace_fields
from support.analysis_results import look, say, with_changes

OPEN = "the other end of a session"
SPINES = {"spine1/@neighbors/*/allowas_in": 1}
LEAF = {"leaf1/@neighbors/*/allowas_in": 1}


def only(changes: dict[str, object], *names: str) -> Fabric:
    """Return the changed two-by-two of which these switches alone were read."""
    fabric = with_changes(changes)
    devices = tuple(device for device in fabric.devices if device.name in names)
    return replace_fields(fabric, devices=devices)


def test_a_spine_names_the_others_of_its_number() -> None:
    assert look("loop_rejection", SPINES) == {
        "spine1/@neighbors/10.1.1.224/allowas_in": {
            "device": "spine1",
            "session": "10.1.1.224 and 3 more",
            "asn": 4200000000,
            "alike": " (which 1 more of its tier has)",
        }
    }


def test_a_leaf_whose_spines_know_no_other_of_its_number_has_it_alone() -> None:
    for names in (("leaf1", "leaf2", "spine1", "spine2"), ("leaf1", "spine1")):
        (facts,) = say("loop_rejection", only(LEAF, *names)).values()
        assert facts["alike"] == " (which no other router has)"


def test_a_leaf_without_its_spines_is_open() -> None:
    assert say("loop_rejection", only(LEAF, "leaf1")) == {"leaf1": OPEN}
    assert say("loop_rejection", only(LEAF, "leaf1", "leaf2")) == {"leaf1": OPEN}


def test_a_leaf_whose_number_a_spine_expects_of_another_shares_it() -> None:
    expected = LEAF | {"spine1/@neighbors/10.1.2.*/remote_asn": 4200100001}
    assert say("loop_rejection", only(expected, "leaf1", "spine1")) == {}


def test_a_leaf_is_open_where_a_spine_takes_any_number_of_another() -> None:
    anyone = LEAF | {"spine1/@neighbors/10.1.2.*/remote_asn": "external"}
    assert say("loop_rejection", only(anyone, "leaf1", "spine1")) == {"leaf1": OPEN}


def test_a_spine_alone_is_open_and_a_leaf_below_shows_that_it_is_one() -> None:
    assert say("loop_rejection", only(SPINES, "spine1")) == {"spine1": OPEN}
    (facts,) = say("loop_rejection", only(SPINES, "spine1", "leaf1")).values()
    assert facts["alike"] == ""


def test_switches_of_one_type_that_have_sessions_with_each_other_are_no_tier() -> None:
    same = {"leaf2/@bgp/asn": 4200100001, "spine?/@neighbors/10.1.2.*/remote_asn": 4200100001}
    every = same | {"leaf?/@neighbors/*/allowas_in": 1, "leaf?/@role": "spine"}
    assert look("loop_rejection", every) == {}
