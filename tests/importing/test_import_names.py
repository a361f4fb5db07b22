"""Names that an import keeps: templates that fit most, exceptions, and numbers that explain most addresses."""

from typing import Any

import pytest

import nodrop
from nodrop.importing import derive_intent
from nodrop.importing.numbering import number_hosts
from nodrop.model.compare import differences
from support.designs import build, shipped
from support.imported_fabrics import as_read, imported

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "none": ({}, ""),
    "one template": ({"template": "dc1-{role}{id:02}"}, 'names: {template: "dc1-{role}{id:02}"}'),
    "site is text": ({"template": "{site}.p{pod}_{role}-{id}", "site": "b7"}, '{template: "b7.p1_{role}-{id}"}'),
    "a number before another": ({"template": "{id:03}-{role}-9"}, 'names: {template: "{id:03}-{role}-9"}'),
    "roles": (
        {"template": {"leaf": "tor{id:02}", "spine": "core-{id}"}},
        'names: {template: {leaf: "tor{id:02}", spine: "core-{id}"}}',
    ),
    "exceptions": (
        {"template": "a-{role}{id:02}", "hosts": "n-{group}-{id:03}-x", "devices": {"leaf2": "r12-tor", "gpu1": "dgx"}},
        'names: {template: "a-{role}{id:02}", hosts: "n-{group}-{id:03}-x", devices: {leaf2: r12-tor, gpu1: dgx}}',
    ),
    "racks": (
        {"template": {"leaf": "r{rack}-tor"}, "racks": {"leaf1": "7", "leaf2": "3"}},
        "names: {devices: {leaf1: r7-tor, leaf2: r3-tor}}",
    ),
    "no numbers": (
        {"devices": {"leaf1": "paris", "leaf2": "oslo", "spine1": "rome", "spine2": "bern"}},
        "names: {devices: {leaf1: paris, leaf2: oslo, spine1: rome, spine2: bern}}",
    ),
    "from zero": (
        {"devices": {"leaf1": "leaf0", "leaf2": "leaf1"}}, "names: {devices: {leaf1: leaf0, leaf2: leaf1}}",
    ),
    "swapped": (
        {"devices": {"leaf1": "leaf2", "leaf2": "leaf1"}}, "names: {devices: {leaf1: leaf2, leaf2: leaf1}}",
    ),
    "case": ({"template": {"leaf": "Leaf-{id}"}}, 'names: {template: {leaf: "Leaf-{id}"}}'),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_names_come_back_as_templates_and_exceptions(case: str) -> None:
    names, line = CASES[case]
    fabric = build(shipped("two-by-two", {"names": names}))
    found = imported(fabric)
    assert (found.left, found.lacking, found.problems, found.guessed) == ((), (), (), ())
    assert [line in one for one in found.text.splitlines() if one.startswith("names:")] == [True] * bool(line)
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []


@pytest.mark.parametrize(
    ("name", "by_name", "number"),
    [("na--h3_G8wzct", 0, 3), ("rack3-gpu8", 8, 8), ("oslo", 0, 1)],
)
def test_a_host_alone_has_the_number_of_its_name_that_its_place_needs_fewest_others_for(
    name: str, by_name: int, number: int
) -> None:
    """At the third pair of switches: the third host if one is at each pair, the eighth if three are."""
    assert number_hosts([name], [by_name], [2]) == [number]


def test_hosts_with_one_number_in_all_names_are_numbered_by_the_other() -> None:
    assert number_hosts(["na--ho1_1", "na--ho2_1"], [1, 1], [0, 0]) == [1, 2]
    assert number_hosts(["oslo1", "rome1"], [1, 1], [0, 0]) == [1, 2]


def test_ports_decide_between_numbers_of_names_that_have_several() -> None:
    assert number_hosts(["na--1ho_", "na--3ho_"], [0, 0], [0, 0], [2]) == [1, 3]
    assert number_hosts(["a7f", "b9c"], [0, 0], [0, 0], [1]) == [1, 2]


def test_hosts_whose_names_count_from_elsewhere_are_counted_from_1() -> None:
    """Two pairs of switches with two hosts each: no number of hosts for each pair has the third host at the second."""
    assert number_hosts(["n1001", "n1002", "n1003", "n1004"], [1001, 1002, 1003, 1004], [0, 0, 1, 1], (), 80) == [
        1, 2, 3, 4,
    ]  # fmt: skip
    assert number_hosts(["n1001", "n1002"], [1001, 1002], [1, 1], (), 80) == [3, 4]
    assert number_hosts(["n1001", "n1003"], [1001, 1003], [0, 0], (), 80) == [1, 3]
    assert number_hosts(["n501", "n502"], [501, 502], [0, 0], (), 512) == [501, 502]


def test_hosts_of_a_group_whose_name_ends_in_a_digit_come_back_equal() -> None:
    """Host 1 of group h100 is h1001 in neighbor tables: that number cannot be a place at a switch."""
    whole = shipped("two-by-two", {"endpoints.storage": None})
    whole["endpoints"] = {"h100": whole["endpoints"]["gpu"]}
    fabric = build(whole)
    for found in (imported(fabric), derive_intent(as_read(fabric), source="build")):
        assert found.intent is not None
        assert (found.left, found.lacking, found.problems) == ((), (), ())
        built = nodrop.build(found.intent)
        assert [host.name for host in built.hosts] == ["h1001", "h1002"]
        assert [port.description for port in built.devices[0].interfaces[:2]] == ["h1001:nic1", "h1002:nic1"]


def test_hosts_with_a_gap_between_them_come_back_equal() -> None:
    """A number of the names, behind which letters follow, and half a split port for each host."""
    changes = {
        "endpoints.gpu.ids": "1, 3",
        "endpoints.gpu.spread": "one-leaf",
        "endpoints.gpu.split": 4,
        "endpoints.gpu.ports": 2,
        "endpoints.gpu.speed": "100G",
        "endpoints.gpu.media": "DAC",
        "endpoints.gpu.leaf_group": 4,
        "names": {"hosts": {"gpu": "na--{id}ho_"}},
    }
    fabric = build(shipped("two-by-two", changes))
    found = imported(fabric)
    assert (found.left, found.lacking, found.problems) == ((), (), ())
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []


def test_keys_of_an_import_mean_switches_by_their_names() -> None:
    changes = {
        "names.devices": {"leaf1": "leaf2", "leaf2": "leaf1", "spine1": "core"},
        "devices.leaf1.drained": True,
        "extra.core.tables.FEATURE.snmp.state": "disabled",
    }
    fabric = build(shipped("two-by-two", changes))
    found = imported(fabric)
    assert "\n  leaf1: {drained: true}\n" in found.text
    assert "\n  core:\n    tables:\n" in found.text
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []
