"""A change of an intent changes only the devices that it concerns, and there only the rows of the cables concerned.

Compared is what is written, row by row: every field of config_db.json, every line of frr.conf.
"""

import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nodrop
from nodrop.errors import InputProblems
from nodrop.model.fabric import Device, Fabric, Link
from support.designs import Data, build, changed, shipped
from support.random_designs import intents

pytestmark = pytest.mark.slow

NAMED = ("BUFFER_PROFILE", "SCHEDULER", "WRED_PROFILE")
"""Tables whose rows ports share; a first cable of its kind may bring rows of its own, others stay as they are."""


class Files(NamedTuple):
    """What is written for a device: fields of config_db.json by (table, row, field), and the lines of frr.conf."""

    fields: dict[tuple[str, ...], object]
    lines: list[str]


def files(fabric: Fabric) -> dict[str, Files]:
    texts: dict[str, dict[str, str]] = {}
    for artifact in nodrop.write(fabric):
        texts.setdefault(artifact.device, {})[artifact.path] = artifact.text
    del texts[""]
    return {
        name: Files(dict(fields(json.loads(text["config_db.json"]))), text["frr.conf"].splitlines())
        for name, text in texts.items()
    }


def fields(tables: Any) -> Iterator[tuple[tuple[str, ...], object]]:
    for table, rows in tables.items():
        for row, values in rows.items():
            yield (table, row), None
            yield from (((table, row, field), value) for field, value in values.items())


def port_of(path: tuple[str, ...]) -> str:
    """The port that a field is about: in CABLE_LENGTH the field's own name, else the first part of the row's."""
    return path[-1] if path[0] == "CABLE_LENGTH" else path[1].partition("|")[0]


def cables_of(links: set[Link], device: str) -> set[str]:
    return {end.port for link in links for end in (link.a, link.b) if end.node == device}


def besides(ports: set[str], *devices: Device) -> set[str]:
    """Ports, and those parts of the same panel ports that have no cable: a first cable makes them, a last ends them."""
    on = [{one.port.panel for one in device.interfaces if one.name in ports} for device in devices]  # type: ignore[union-attr]
    kept = set.intersection(*({one.name for one in device.interfaces if one.enabled} for device in devices)) - ports
    parts = {one.name for device in devices for one in device.interfaces if one.port.panel in set().union(*on)}  # type: ignore[union-attr]
    return parts - kept


def addresses(fabric: Fabric, links: set[Link], device: str) -> set[str]:
    """How a device calls its neighbors of some links: by their addresses, or by ports of its own."""
    known = {
        (one.name, port.name): [a.partition("/")[0] for a in port.addresses]
        for one in fabric.devices
        for port in one.interfaces
    }
    far = [other for link in links for near, other in ((link.a, link.b), (link.b, link.a)) if near.node == device]
    over = set() if any(known.get((end.node, end.port)) for end in far) else cables_of(links, device)
    return over | {address for end in far for address in known.get((end.node, end.port), [])}


def assert_only_cables_changed(before: Data, after: Data) -> tuple[Fabric, Fabric]:
    """Both ways: what is there in both fabrics is written alike, but for the cables that only one of them has."""
    old, new = build(before), build(after)
    one_way(old, new)
    one_way(new, old)
    return old, new


def one_way(old: Fabric, new: Fabric) -> None:
    gone = set(old.links) - set(new.links)
    changed_links = gone | (set(new.links) - set(old.links))
    old_files, new_files = files(old), files(new)
    for name in old_files.keys() & new_files.keys():
        ports = besides(cables_of(changed_links, name), old.device(name), new.device(name))
        mine, theirs = old_files[name], new_files[name]
        if not ports:
            assert mine == theirs, name
            continue
        for path, value in mine.fields.items():
            if port_of(path) in ports or (path[0] in NAMED and path not in theirs.fields):
                continue
            assert theirs.fields.get(path, "missing") == value, (name, path)
        lost = addresses(old, gone, name)
        kept = [line for line in mine.lines if not lost & set(line.split())]
        left = iter(theirs.lines)
        assert all(line in left for line in kept), name


EACH = "topology.uplinks.per_spine"
REFERENCE = {"topology.leaves.ids": "1-2", "endpoints.gpu.ids": "1-16", "topology.max_oversubscription": "1000"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, {"topology.leaves.ids": "1-3"}, id="a leaf"),
        pytest.param({}, {"topology.leaves.ids": "1-4", "endpoints.gpu.ids": "1-32"}, id="leaves with their hosts"),
        pytest.param({"topology.leaves.ids": "1-2, 4"}, {"topology.leaves.ids": "1-4"}, id="a leaf into a gap"),
        pytest.param({"topology.spines.ids": "1"}, {"topology.spines.ids": "1-2"}, id="a second spine"),
        pytest.param(
            {EACH: "4", "topology.spines.ids": "1-3"},
            {EACH: "4", "topology.spines.ids": "1-4"},
            id="a fourth spine",
        ),
        pytest.param({EACH: "4"}, {EACH: "8"}, id="from 4 to 8 uplinks"),
        pytest.param({EACH: "1"}, {EACH: "2"}, id="from 1 to 2 uplinks"),
        pytest.param({"endpoints.gpu.ids": "1-8"}, {"endpoints.gpu.ids": "1-16"}, id="hosts"),
        pytest.param({"endpoints.gpu.ids": "2-16"}, {"endpoints.gpu.ids": "1-16"}, id="the first host"),
    ],
)
def test_adding(before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = assert_only_cables_changed(
        shipped("reference-256", REFERENCE | before), shipped("reference-256", REFERENCE | after)
    )
    assert len(new.links) > len(old.links)
    assert set(old.links) < set(new.links)


GROUPS = "topology.groups"
WITHOUT_STORE = {f"{GROUPS}.store": None, "endpoints.disk": None, "routing.asn.store": None}
WATCHDOG = {
    "pfc.watchdog": {"hosts": {"detection": "800ms"}, "fabric": {"detection": "2400ms"}, "polling": "400ms"},
}


@pytest.mark.parametrize(
    ("name", "before"),
    [
        pytest.param(
            "uneven-pods",
            {f"{GROUPS}.leaf.ids": "1-4", f"{GROUPS}.spine.ids": "1-2", "endpoints.gpu.ids": "1-8"},
            id="a pod",
        ),
        pytest.param(
            "uneven-pods", {f"{GROUPS}.leaf.ids": "1-5", "endpoints.gpu.ids": "1-8"}, id="a leaf of the second pod"
        ),
        pytest.param("storage-leaves", WITHOUT_STORE | WATCHDOG, id="a group with its hosts"),
        pytest.param("storage-leaves", {f"{GROUPS}.spine.ids": "1-3"}, id="a spine below two groups"),
    ],
)
def test_adding_to_groups(name: str, before: dict[str, Any]) -> None:
    limit = {"topology.max_oversubscription": "1000", **{key: before[key] for key in WATCHDOG if key in before}}
    old, new = assert_only_cables_changed(shipped(name, before | limit), shipped(name, limit))
    assert set(old.links) < set(new.links)
    assert {device.name for device in old.devices} < {device.name for device in new.devices}


def test_a_tier_above_adds_to_the_switches_below_it_and_changes_nothing_of_others() -> None:
    """Besides ports and sessions towards it, the switches that were the highest get a peer group for these sessions."""
    top = {f"{GROUPS}.core": None, f"{GROUPS}.spine.uplinks": None, "routing.asn.core": None}
    old, new = build(shipped("uneven-pods", top)), build(shipped("uneven-pods"))
    one_way(old, new)
    before, after = files(old), files(new)
    added = [line for line in after["spine1"].lines if line not in before["spine1"].lines]
    towards = addresses(new, set(new.links) - set(old.links), "spine1")
    assert [line.strip() for line in added if not towards & set(line.split())] == [
        "neighbor SUPERSPINES peer-group",
        "neighbor SUPERSPINES activate",
        "neighbor SUPERSPINES route-map FABRIC-IN in",
        "neighbor SUPERSPINES route-map FABRIC-OUT out",
    ]
    assert {name for name in before if before[name] != after[name]} == {f"spine{number}" for number in range(1, 5)}


def test_a_group_whose_ports_pass_a_multiple_of_32_changes_watchdog_times_of_all_switches() -> None:
    """Spines have 96 ports for links without storage leaves, and 112 with them: timers of 3 x and of 4 x 200 ms."""
    old, new = files(build(shipped("storage-leaves", WITHOUT_STORE))), files(build(shipped("storage-leaves")))
    assert {
        (path[0], value, new[name].fields[path])
        for name in old
        if name.startswith("leaf")
        for path, value in old[name].fields.items()
        if new[name].fields[path] != value
    } == {("PFC_WD", str(3 * times), str(4 * times)) for times in (100, 200, 400, 600, 1200)}
    assert all(old[name].lines == new[name].lines for name in old if name.startswith("leaf"))


RAILS = {"topology.leaves.ids": "1-8", "topology.uplinks.per_spine": "8", "topology.max_oversubscription": "1000"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({"endpoints.gpu.ids": "1-3"}, {"endpoints.gpu.ids": "1-4"}, id="the other part of a panel port"),
        pytest.param({"endpoints.gpu.ids": "1-4"}, {"endpoints.gpu.ids": "1-5"}, id="a part of another panel port"),
        pytest.param({"endpoints.gpu.ids": "1-16"}, {"endpoints.gpu.ids": "1-32"}, id="hosts"),
        pytest.param({EACH: "7"}, {EACH: "8"}, id="an odd number of uplinks made even"),
        pytest.param({EACH: "8"}, {EACH: "16"}, id="from 8 to 16 uplinks"),
        pytest.param({"topology.spines.ids": "1"}, {"topology.spines.ids": "1-2"}, id="a second spine"),
    ],
)
def test_adding_where_ports_are_split(before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = assert_only_cables_changed(shipped("rail-256", RAILS | before), shipped("rail-256", RAILS | after))
    assert set(old.links) < set(new.links)


def test_adding_hosts_of_another_speed() -> None:
    slow = {"endpoints.gpu.speed": "200G", "endpoints.gpu.media": "FR4", "endpoints.gpu.leaf_group": "1"}
    few = slow | {"topology.leaves.ids": "1-4", "endpoints.storage.leaf_ports": "4", "endpoints.gpu.ids": "1"}
    assert_only_cables_changed(shipped("two-by-two", few), shipped("two-by-two", few | {"endpoints.gpu.ids": "1-2"}))


def without(data: Data, path: str, number: str) -> Data:
    part: Any = data
    for step in path.split("."):
        part = part[step]
    return changed(data, {path: [one for one in part if one != number]})


def can_be(data: Data) -> bool:
    """Whether data can be built: rails that lose a leaf leave others of their set to spare, which is refused."""
    try:
        return bool(build(data))
    except InputProblems as error:
        found = {problem.where for problem in error.problems}
    assert found == {"topology.leaves.ids"}
    return False


def hosts_on(data: Data, leaf: int) -> dict[str, list[str]]:
    """The ids of every group's hosts that have no port on a leaf."""
    ends = [{link.a.node, link.b.node} for link in build(data).links]
    there = set().union(*(nodes for nodes in ends if f"leaf{leaf}" in nodes))
    return {
        name: [number for number in group["ids"] if f"{name}{number}" not in there]
        for name, group in data["endpoints"].items()
    }


@given(intents(plain=True), st.data())
def test_adding_and_removing_a_leaf(data: Data, chosen: st.DataObject) -> None:
    leaf = chosen.draw(st.sampled_from(data["topology"]["leaves"]["ids"]))
    kept = hosts_on(data, int(leaf))
    fewer = without(data, "topology.leaves.ids", leaf)
    for name, ids in kept.items():
        fewer = changed(fewer, {f"endpoints.{name}.ids": ids} if ids else {f"endpoints.{name}": None})
    assume(fewer["topology"]["leaves"]["ids"] and fewer["endpoints"])
    assume(can_be(fewer))
    assert_only_cables_changed(fewer, data)


@given(intents(plain=True), st.data())
def test_adding_and_removing_a_spine(data: Data, chosen: st.DataObject) -> None:
    spine = chosen.draw(st.sampled_from(data["topology"]["spines"]["ids"]))
    fewer = without(data, "topology.spines.ids", spine)
    assume(fewer["topology"]["spines"]["ids"])
    old, new = assert_only_cables_changed(fewer, data)
    assert {device.name for device in new.devices} - {device.name for device in old.devices} == {f"spine{spine}"}


@given(intents(plain=True), st.data())
def test_adding_and_removing_a_host(data: Data, chosen: st.DataObject) -> None:
    name = chosen.draw(st.sampled_from(sorted(data["endpoints"])))
    host = chosen.draw(st.sampled_from(data["endpoints"][name]["ids"]))
    fewer = without(data, f"endpoints.{name}.ids", host)
    assume(fewer["endpoints"][name]["ids"])
    assert_only_cables_changed(fewer, data)


@given(intents(plain=True), st.integers(1, 4))
def test_more_and_fewer_uplinks(data: Data, each: int) -> None:
    old, new = assert_only_cables_changed(data, changed(data, {EACH: str(each)}))
    fewer, more = sorted((old, new), key=lambda fabric: len(fabric.links))
    assert set(fewer.links) <= set(more.links)


def reordered(value: Any, order: random.Random) -> Any:
    """The same data with the keys of every mapping, and the entries of lists of ids, in another order."""
    if isinstance(value, dict):
        keys = order.sample(list(value), len(value))
        return {key: reordered(value[key], order) for key in keys}
    return order.sample(value, len(value)) if isinstance(value, list) else value


@given(intents(), st.randoms(use_true_random=False))
def test_order_is_nothing(data: Data, order: random.Random) -> None:
    assert list(nodrop.write(build(reordered(data, order)))) == list(nodrop.write(build(data)))


@pytest.mark.parametrize("name", ["rail-256", "reference-256", "two-by-two"])
def test_order_is_nothing_in_what_is_shipped(name: str) -> None:
    other = build(reordered(shipped(name), random.Random(1)))
    assert list(nodrop.write(other)) == list(nodrop.write(build(shipped(name))))


def test_pools_decide_addresses_and_nothing_else_does() -> None:
    """A change of what no address depends on leaves them all as they were."""
    plain = shipped("two-by-two")
    other = changed(plain, {"mtu": "9100", "buffers.alpha": "1/2", "endpoints.storage": None})
    old, new = (
        {(device.name, port.name): port.addresses for device in build(data).devices for port in device.interfaces}
        for data in (plain, other)
    )
    assert {key for key in old if old[key] != new[key]} == {("leaf1", "Ethernet16"), ("leaf2", "Ethernet16")}
