"""Settings of single switches: a HWSKU, ports held back, a switch in reserve; all else stays as it was."""

from typing import Any

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.hardware import switch
from nodrop.model.compare import differences
from nodrop.model.fabric import Fabric
from support.designs import Data, build, shipped

ROOM = {"topology.max_oversubscription": "1.5"}
HWSKU = "Mellanox-SN4700-O32"


def texts(fabric: Fabric) -> dict[tuple[str, str], str]:
    return {(one.device, one.path): one.text for one in nodrop.write(fabric)}


def findings(fabric: Fabric) -> list[tuple[str, tuple[str, ...]]]:
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    return [(one.rule, one.subject) for one in nodrop.lint(reading).findings]


def refusals(data: Data) -> list[tuple[str, str, str, str]]:
    with pytest.raises(InputProblems) as raised:
        build(data)
    return [(one.where, one.found, one.expected, one.hint) for one in raised.value.problems]


def up(fabric: Fabric, device: str) -> set[int]:
    return {port.port.panel for port in fabric.device(device).interfaces if port.enabled and port.port}  # type: ignore[union-attr]


def test_a_stated_hwsku_changes_one_fact_and_one_file() -> None:
    before, after = build(shipped("two-by-two")), build(shipped("two-by-two", {"devices": {"leaf2": {"hwsku": HWSKU}}}))
    assert [(one.path, one.a, one.b) for one in differences(before, after)] == [
        (("devices", "leaf2", "hwsku"), None, HWSKU)
    ]
    old, new = texts(before), texts(after)
    assert [key for key in old if old[key] != new[key]] == [("leaf2", "config_db.json")]
    assert f'"hwsku": "{HWSKU}"' in new["leaf2", "config_db.json"]


def test_a_stated_as_number_changes_that_of_the_switch_and_of_the_sessions_with_it() -> None:
    after = build(shipped("two-by-two", {"devices": {"spine2": {"asn": "4200000099"}}}))
    changes = list(differences(build(shipped("two-by-two")), after))
    assert [(one.path[1:], one.b) for one in changes if one.path[-1] == "asn"] == [
        (("spine2", "bgp", "asn"), 4200000099)
    ]
    sessions = [one for one in changes if one.path[-1] != "asn"]
    assert {(one.path[1], one.path[-1], one.b) for one in sessions} == {
        (leaf, "remote_asn", 4200000099) for leaf in ("leaf1", "leaf2")
    }
    assert findings(after) == []


@pytest.mark.parametrize(
    ("name", "asn", "other"),
    [("leaf2", "4200100001", "leaf1"), ("leaf1", "4200000000", "spine1"), ("spine2", "4200100002", "leaf2")],
)
def test_a_stated_as_number_of_a_switch_that_routes_pass_is_refused(name: str, asn: str, other: str) -> None:
    ((where, found, expected, hint),) = refusals(shipped("two-by-two", {"devices": {name: {"asn": asn}}}))
    assert (where, expected, hint) == (f"devices.{name}.asn", f"a number that {other} does not have", "or leave it out")
    assert found.endswith(f"would both be AS {asn}")


def test_leaves_with_a_stated_as_number_each_need_no_rule_that_counts() -> None:
    devices = {"leaf1": {"asn": "65101"}}
    fabric = build(shipped("two-by-two", {"devices": devices, "routing.asn.leaves": "65207"}))
    assert [device.bgp.asn for device in fabric.devices if device.bgp and device.name.startswith("leaf")] == [  # type: ignore[union-attr]
        65101,
        65207,
    ]


@pytest.mark.parametrize("hwsku", switch("SN4700").sonic.hwskus)
def test_each_hwsku_of_a_model_that_computes_headroom_builds_and_lints_clean(hwsku: str) -> None:
    fabric = build(shipped("two-by-two", {"devices": {"leaf2": {"hwsku": hwsku}}}))
    assert fabric.device("leaf2").hwsku == (None if hwsku == "ACS-MSN4700" else hwsku)
    assert findings(fabric) == []


def test_a_hwsku_with_the_ports_and_the_table_of_the_group_is_taken() -> None:
    model = "7060X6-64PE-B"
    data = shipped(
        "broadcom",
        {
            "topology.spines.model": model,
            "topology.spines.version": "202511",
            "topology.uplinks.spine_split": None,
            "devices": {"spine2": {"hwsku": "Arista-7060X6-64PE-P64"}},
        },
    )
    usual = build(data | {"devices": {}}).device("spine2").hwsku
    assert usual == "Arista-7060X6-64PE-B-P64"
    assert switch(model).sonic.hwsku == "Arista-7060X6-64PE-B-O128"
    assert build(data).device("spine2").hwsku == "Arista-7060X6-64PE-P64"
    data["devices"]["spine2"]["hwsku"] = "Arista-7060X6-64PE-B-O128"
    assert [(where, found) for where, found, *_ in refusals(data)] == [
        (
            "devices.spine2.hwsku",
            "Arista-7060X6-64PE-B-O128 has other ports or headroom than Arista-7060X6-64PE-B-P64",
        )
    ]


def test_ports_held_back_are_shut_with_the_other_ends_of_their_cables() -> None:
    before = build(shipped("two-by-two", ROOM))
    after = build(shipped("two-by-two", ROOM | {"devices": {"leaf2": {"spare": ["29", "31"]}}}))
    gone = set(before.links) - set(after.links)
    assert set(after.links) < set(before.links)
    assert {(end.node, end.port) for link in gone for end in (link.a, link.b)} == {
        ("leaf2", "Ethernet224"),
        ("leaf2", "Ethernet240"),
        ("spine1", "Ethernet128"),
        ("spine2", "Ethernet128"),
    }
    assert {name: up(before, name) - up(after, name) for name in ("leaf1", "leaf2", "spine1", "spine2")} == {
        "leaf1": set(),
        "leaf2": {29, 31},
        "spine1": {17},
        "spine2": {17},
    }
    old, new = texts(before), texts(after)
    assert {device for device, path in old if old[device, path] != new[device, path]} == {
        "",
        "leaf2",
        "spine1",
        "spine2",
    }
    assert findings(after) == []


def test_a_port_held_back_alone_leaves_uneven_uplinks_which_is_reported() -> None:
    fabric = build(shipped("two-by-two", ROOM | {"devices": {"leaf2": {"spare": "29"}}}))
    assert findings(fabric) == [("uplinks-uneven", ("leaf2", "Ethernet232"))]


@pytest.mark.parametrize("name", ["reference-256", "reference-256-nvue-leaves", "reference-256-sonic-leaves"])
def test_a_spine_in_reserve_has_no_cables_and_keeps_its_identity(name: str) -> None:
    limit = {"topology.max_oversubscription": "2"}
    before, after = build(shipped(name, limit)), build(shipped(name, limit | {"devices": {"spine2": {"spare": "all"}}}))
    spine = after.device("spine2")
    assert up(after, "spine2") == set()
    assert spine.bgp
    assert before.device("spine2").bgp
    assert (spine.bgp.asn, spine.bgp.neighbors) == (before.device("spine2").bgp.asn, ())  # type: ignore[union-attr]
    assert (spine.loopbacks, spine.management) == (
        before.device("spine2").loopbacks,
        before.device("spine2").management,
    )
    assert {link for link in before.links if "spine2" not in (link.a.node, link.b.node)} == set(after.links)
    assert findings(after) == []


def test_a_leaf_in_reserve_has_none_of_the_hosts() -> None:
    hosts = {"endpoints.gpu.ids": "1-16", "topology.leaves.ids": "1-4", "devices": {"leaf4": {"spare": "all"}}}
    (fault,) = refusals(shipped("reference-256", hosts | {"endpoints.gpu.ids": "1-32"}))
    assert fault[0] == "devices.leaf4.spare"
    assert fault[3] == "endpoints.gpu.ids: 1-16"
    fabric = build(shipped("reference-256", hosts))
    assert up(fabric, "leaf4") == set()
    assert findings(fabric) == []


@pytest.mark.parametrize(
    ("name", "devices"),
    [("cabling-sheet", {"spine2": {"spare": "7"}}), ("uneven-pods", {"core2": {"spare": "all"}})],
)
def test_other_kinds_of_topology_hold_ports_back_too(name: str, devices: dict[str, Any]) -> None:
    limit = {"topology.max_oversubscription": "1000"}
    before, after = build(shipped(name, limit)), build(shipped(name, limit | {"devices": devices}))
    ((held, _),) = devices.items()
    gone = set(before.links) - set(after.links)
    assert gone
    assert all(held in (link.a.node, link.b.node) for link in gone)
    assert set(after.links) < set(before.links)


def test_an_empty_list_holds_nothing_back() -> None:
    plain = texts(build(shipped("two-by-two")))
    assert texts(build(shipped("two-by-two", {"devices": {"leaf2": {"spare": []}}}))) == plain
