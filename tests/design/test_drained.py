"""A drained switch: one file changes, the switch asks to be routed around, and everyone listens."""

from dataclasses import replace

import nodrop
from nodrop.model.compare import differences
from support.designs import build, shipped

DRAINED = {"devices": {"leaf2": {"drained": True}}}


def texts(data: dict[str, object]) -> dict[tuple[str, str], str]:
    return {(one.device, one.path): one.text for one in nodrop.write(build(data))}


def test_draining_changes_one_line_of_one_file_and_what_is_stated() -> None:
    before, after = texts(shipped("two-by-two")), texts(shipped("two-by-two", DRAINED))
    assert before.keys() == after.keys()
    assert [key for key in before if before[key] != after[key]] == [("leaf2", "frr.conf"), ("", "fabric.yaml")]
    old, new = (text["leaf2", "frr.conf"].splitlines() for text in (before, after))
    assert [line for line in new if line not in old] == [" bgp graceful-shutdown"]
    assert [line for line in new if line != " bgp graceful-shutdown"] == old


def test_draining_changes_one_fact_of_one_device_and_what_is_stated() -> None:
    before, after = build(shipped("two-by-two")), build(shipped("two-by-two", DRAINED))
    assert [one.path for one in differences(before, after)] == [
        ("devices", "leaf2", "bgp", "graceful_shutdown"),
        ("policy", "drained"),
    ]


def test_a_drained_switch_is_a_note_where_the_owner_states_it() -> None:
    fabric = build(shipped("two-by-two", DRAINED))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert reading.fabric.policy.drained == ("leaf2",)
    unstated = replace(reading, fabric=replace(reading.fabric, policy=replace(fabric.policy, drained=("spine1",))))
    found = [
        [(one.subject, one.severity) for one in nodrop.lint(each).findings if one.rule == "switch-drained"]
        for each in (reading, unstated)
    ]
    assert found == [[(("leaf2",), "note")], [(("leaf2",), "warning")]]


def test_a_drain_ends_by_a_fix_only_where_the_owners_list_lacks_the_switch() -> None:
    fabric = build(shipped("two-by-two", DRAINED))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    changes = {}
    for drained in ((), ("leaf2",), ("spine1",)):
        stated = replace(reading, fabric=replace(reading.fabric, policy=replace(fabric.policy, drained=drained)))
        (finding,) = (one for one in nodrop.lint(stated).findings if one.rule == "switch-drained")
        assert finding.fix is not None
        changes[drained] = [(change.subject, change.new) for change in finding.fix.changes]
    assert changes == {(): [], ("leaf2",): [], ("spine1",): [(("leaf2", "@bgp", "graceful_shutdown"), False)]}


def test_false_is_as_good_as_nothing() -> None:
    assert texts(shipped("two-by-two", {"devices": {"leaf2": {"drained": False}}})) == texts(shipped("two-by-two"))


def test_what_is_drained_reads_back_as_drained() -> None:
    fabric = build(shipped("two-by-two", DRAINED))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    drained = {device.name: device.bgp.graceful_shutdown for device in reading.fabric.devices if device.bgp}
    assert drained == {"leaf1": False, "leaf2": True, "spine1": False, "spine2": False}


def test_every_import_puts_drained_routes_last() -> None:
    for device in build(shipped("two-by-two")).devices:
        assert device.bgp
        policies = {one.name: one for one in device.bgp.route_maps}
        lists = {one.name: one.rules for one in device.bgp.community_lists}
        assert device.bgp.neighbors
        for neighbor in device.bgp.neighbors:
            first = policies[str(neighbor.import_policy)].rules[0]
            communities = dict(first.matches)["community"]
            assert lists[communities] == (("permit", ("graceful-shutdown",)),)
            assert (first.action, dict(first.sets)) == ("permit", {"local-preference": "0"})


def test_draining_on_nvue_changes_the_files_of_one_switch() -> None:
    nvue = {"topology.spines.platform": "nvue", "topology.spines.version": "5.16"}
    before = texts(shipped("two-by-two", nvue))
    data = shipped("two-by-two", nvue | {"devices": {"spine2": {"drained": True}}})
    after = texts(data)
    assert before.keys() == after.keys()
    changed = [key for key in before if before[key] != after[key]]
    assert {device for device, _ in changed} == {"", "spine2"}
    assert [path for device, path in changed if not device] == ["fabric.yaml"]
    assert ("spine2", "startup.yaml") in changed
    fabric = build(data)
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    drained = {device.name: device.bgp.graceful_shutdown for device in reading.fabric.devices if device.bgp}
    assert drained == {"leaf1": False, "leaf2": False, "spine1": False, "spine2": True}
