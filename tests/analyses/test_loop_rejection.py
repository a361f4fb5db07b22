"""What is found of allowas-in, by tier and by who shares the AS number, and what stays open where files are missing."""

from typing import Any

import pytest

from nodrop.analyses import AnalysisHit
from nodrop.analyses.loop_rejection import find
from nodrop.model.fabric import Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import look, say, with_changes
from support.wired_routers import fabric as wired
from support.wired_routers import port, router, to

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


ALONE = " (which no other router has)"


def numbered(asn_of_l2: object = 65002, at_l2: str = "10.1.1.0", **l1: Any) -> Fabric:
    """Two leaves below a spine, which says `asn_of_l2` of the second, at an address; the first takes its own number."""
    ends = [port("e0", "10.1.0.1/31"), port("e1", "10.1.1.1/31")]
    spine = router("s1", 65100, ends, [to("10.1.0.0", 65001), to(at_l2, asn_of_l2)], role="spine")
    near = to("10.1.0.1", 65100, allowas_in=1)
    leaf1 = router("l1", 65001, [port("e0", "10.1.0.0/31")], [near], role="leaf", **l1)
    leaf2 = router("l2", 65002, [port("e0", "10.1.1.0/31")], [to("10.1.1.1", 65100)], role="leaf")
    return wired(spine, leaf1, leaf2, cables=["s1 e0 - l1 e0", "s1 e1 - l2 e0"])


def unnumbered(asn: object, second: Interface) -> Fabric:
    """A leaf with two links to a spine, which says `asn` of both ends; `second` is the leaf's port of the second."""
    sessions = [to("e0", 65100, allowas_in=1), to(second.name, 65100)]
    spine = router("s1", 65100, [port("e0"), port("e1")], [to("e0", asn), to("e1", asn)], role="spine")
    leaf = router("l1", 65001, [port("e0"), second], sessions, role="leaf")
    return wired(spine, leaf, cables=["s1 e0 - l1 e0", "s1 e1 - l1 e1"])


def alike(fabric: Fabric) -> str:
    (facts,) = say("loop_rejection", fabric).values()
    return str(facts["alike"])


@pytest.mark.parametrize("asn", [65001, "external"])
def test_a_session_over_a_shut_link_to_the_leaf_shows_no_other_of_its_number(asn: object) -> None:
    assert alike(unnumbered(asn, port("e1"))) == ALONE
    assert alike(unnumbered(asn, port("e1", enabled=False))) == ALONE


@pytest.mark.parametrize("at_l2", ["10.1.1.0", "e1"])
def test_a_wrong_number_stated_for_a_read_leaf_shows_no_other_of_it(at_l2: str) -> None:
    assert alike(numbered(65001, at_l2)) == ALONE


def test_an_address_of_a_read_leaf_shows_no_other_where_cables_are_not_known() -> None:
    assert alike(replace_fields(numbered(65001), links=())) == ALONE


def test_a_number_stated_for_a_switch_whose_bgp_is_not_known_may_be_shared() -> None:
    fabric = numbered(65001)
    for field in ("bgp", "vrf_bgp"):
        leaf2 = replace_fields(fabric.devices[2], **{field: UNKNOWN})
        assert say("loop_rejection", replace_fields(fabric, devices=(*fabric.devices[:2], leaf2))) == {}


def test_an_address_of_no_router_on_a_cable_to_a_read_one_shows_no_other() -> None:
    fabric = numbered(65001)
    leaf2 = replace_fields(fabric.devices[2], interfaces=(port("e0", "10.7.0.0/31"),))
    assert alike(replace_fields(fabric, devices=(*fabric.devices[:2], leaf2))) == ALONE
    unread = replace_fields(fabric, devices=fabric.devices[:2])
    assert say("loop_rejection", unread) == {}


def test_a_vrf_of_the_leaf_is_no_other_of_its_number() -> None:
    assert alike(numbered(vrf_bgp=(Bgp(asn=65001, vrf="red"),))) == ALONE


def test_another_leaf_with_several_vrfs_of_the_number_is_one() -> None:
    vrfs = tuple(Bgp(asn=65100, vrf=vrf) for vrf in ("red", "blue"))
    fabric = numbered()
    spine = fabric.devices[0]
    sessions = [replace_fields(each, allowas_in=1) for each in spine.bgp.neighbors]  # type: ignore[union-attr]
    first = replace_fields(spine, bgp=replace_fields(spine.bgp, neighbors=tuple(sessions)))
    second = router("s2", 65100, role="spine", vrf_bgp=vrfs)
    leaves = tuple(
        replace_fields(leaf, bgp=replace_fields(leaf.bgp, neighbors=(to(far, 65100),)))
        for leaf, far in zip(fabric.devices[1:], ("10.1.0.1", "10.1.1.1"), strict=True)
    )
    assert alike(replace_fields(fabric, devices=(first, *leaves, second))) == " (which 1 more of its tier has)"


def test_the_fix_removes_allowas_in_of_every_session_and_address_family() -> None:
    fabric = with_changes(SPINES | {"spine1/@neighbors/10.1.2.*/ipv6": {"active": True, "allowas_in": 2}})
    (hit,) = (hit for hit in find(Index(fabric)) if isinstance(hit, AnalysisHit))
    assert {("/".join(subject), new) for subject, new in hit.changes} == {
        ("spine1/@neighbors/10.1.1.224/allowas_in", None),
        ("spine1/@neighbors/10.1.1.232/allowas_in", None),
        ("spine1/@neighbors/10.1.2.224/allowas_in", None),
        ("spine1/@neighbors/10.1.2.224/ipv6/allowas_in", None),
        ("spine1/@neighbors/10.1.2.232/allowas_in", None),
        ("spine1/@neighbors/10.1.2.232/ipv6/allowas_in", None),
    }
