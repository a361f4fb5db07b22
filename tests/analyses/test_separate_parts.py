"""Which hosts are reported that no cables join to others, and where the owner states that parts are separate."""

from nodrop.model.fabric import End, Link
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import say, with_changes

UPLINKS = [f"leaf1/Ethernet{lane}" for lane in (224, 232, 240, 248)]
SHUT: dict[str, object] = {f"{port}/enabled": False for port in UPLINKS}
STORAGE = {
    "@fabric/hosts/storage2": {
        "host": "storage2", "leaf": "leaf2", "other_host": "storage1",
        "other_leaf": "leaf1",
    }
}  # fmt: skip
"""Hosts of gpu have a port on each leaf, and reach every other; the hosts of storage have one port each."""


def test_hosts_without_a_part_in_common_are_reported_once() -> None:
    assert say("separate_parts", with_changes({})) == {}
    assert say("separate_parts", with_changes(dict(list(SHUT.items())[1:]))) == {}
    assert say("separate_parts", with_changes(SHUT)) == STORAGE


def test_the_owner_states_that_parts_are_separate() -> None:
    fabric = with_changes(SHUT)
    for parts, found in (("separate", {}), ("joined", STORAGE), (UNKNOWN, STORAGE)):
        stated = replace_fields(fabric, policy=replace_fields(fabric.policy, parts=parts))
        assert say("separate_parts", stated) == found


def test_what_is_not_known_may_join_parts() -> None:
    port: dict[str, object] = {"leaf1/Ethernet216/enabled": True, "leaf1/Ethernet216/side": UNKNOWN}
    assert say("separate_parts", with_changes(SHUT | port)) == {"leaf1": "interface.side"}
    fabric = with_changes(SHUT | {"leaf1/Ethernet216/enabled": True})
    cable = Link(a=End("leaf1", "Ethernet216"), b=End("unread", "port1"))
    assert say("separate_parts", replace_fields(fabric, links=(*fabric.links, cable))) == {
        "leaf1": "the other end of a link"
    }
