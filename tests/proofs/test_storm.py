"""The reach of a pause: who stops, over how many hops, after how long, and which watchdog ends it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import networkx
import pytest
from jsonschema import Draft202012Validator

from clos import three_tier, two_tier, with_hosts
from nodrop.model.fabric import Device, End, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.values import replace_fields
from nodrop.proofs.deadlock import DependencyGraphNames, check_deadlock
from nodrop.proofs.dependencies import DependencyGraph
from nodrop.proofs.storm import FindFillTime, PauseSpreadGraph
from nodrop.proofs.storm_hosts import FillTime
from nodrop.report.storm import has_endless_freeze_beyond_host, pause_storm_facts, render_storms
from nodrop.routing import compute_control_plane
from nodrop.schemas import json_schema
from support.designs import build, shipped
from support.lossless_fabrics import LOSSLESS, lossless, random_qos, sampled_failures, seeds
from support.storm_enumeration import effects_of, enumerated_effects


def facts(fabric: Fabric) -> dict[str, Any]:
    found = pause_storm_facts(Index(fabric))
    Draft202012Validator(json_schema("storm")).validate(found)
    return found


def with_ports(fabric: Fabric, change: Callable[[Interface], Interface]) -> Fabric:
    """A fabric with changed ports to hosts."""
    return replace_fields(
        fabric,
        devices=tuple(
            replace_fields(
                device, interfaces=tuple(change(one) if one.side == "host" else one for one in device.interfaces)
            )
            for device in fabric.devices
        ),
    )


def with_watchdog(watchdog: Any) -> Callable[[Interface], Interface]:
    def changed(port: Interface) -> Interface:
        qos = port.qos
        assert isinstance(qos, QosProfile)
        return replace_fields(port, qos=replace_fields(qos, pfc_watchdog=watchdog))

    return changed


def test_one_nic_stops_the_whole_reference_fabric() -> None:
    """A hop of 23.5 MB fills in 0.47 ms at 400G: leaf, spine and all leaves stop long before a watchdog acts."""
    (row,) = facts(build(shipped("reference-256")))["storms"]
    assert len(row["ports"]) == 64
    assert (row["host_ports"], row["hosts"], row["gpus"], row["fabric_ports"]) == (63, 32, 256, 64)
    assert [(step["step"], step["to_hosts"], step["ports"]) for step in row["steps"]] == [
        (1, False, 16), (1, True, 15), (2, False, 48), (3, True, 48),
    ]  # fmt: skip
    assert row["steps"][0]["most_us"] == pytest.approx(470.8)
    assert row["steps"][-1]["most_us"] == pytest.approx(1410, abs=1)
    assert row["freeze"] == {"ends": True, "least_ms": 200, "most_ms": 400, "action": "drop"}
    assert row["next_watchdog"]["least_ms"] == pytest.approx(600, abs=1)


def test_a_lossy_fabric_has_no_storm() -> None:
    found = facts(build(shipped("lossy")))
    assert not any(row["host_ports"] for row in found["storms"])
    assert render_storms(found) == "No NIC stops other hosts, no pause leaves its port: lossy\n"


def test_without_a_watchdog_nothing_ends_it() -> None:
    found = facts(with_ports(build(shipped("two-by-two")), with_watchdog(None)))
    assert has_endless_freeze_beyond_host(found)
    assert "never ends: the port has no watchdog" in render_storms(found)


@pytest.mark.parametrize("name", ["reference-256-nvue-leaves", "reference-256"])
def test_a_watchdog_whose_action_is_not_stated_drops(name: str) -> None:
    """NVUE has no choice of action: it discards what comes for a stuck queue (Cumulus Linux, PFC Watchdog)."""
    ends = {(row["freeze"]["ends"], row["freeze"]["action"]) for row in facts(build(shipped(name)))["storms"]}
    assert ends == {(True, "drop")}


def test_a_watchdog_that_only_tells_ends_nothing() -> None:
    fabric = build(shipped("two-by-two"))
    port = next(one for one in fabric.devices[0].interfaces if one.side == "host")
    assert isinstance(port.qos, QosProfile)
    watchdog = replace(port.qos.pfc_watchdog, action="alert")  # type: ignore[type-var]
    found = facts(with_ports(fabric, with_watchdog(watchdog)))
    assert has_endless_freeze_beyond_host(found)
    assert {row["freeze"]["action"] for row in found["storms"]} == {"alert"}


def test_the_page_says_what_a_watchdog_does_not() -> None:
    page = render_storms(facts(build(shipped("two-by-two"))))
    assert page.startswith("One NIC that pauses for ever stops up to 5 other host ports of 4 hosts with 16 GPUs: ")
    assert "A watchdog bounds the length of a freeze, not its reach.\n" in page


def unit_fill(_end: End, _group: int) -> FillTime:
    return FillTime(1.0, 2.0)


@pytest.mark.parametrize("name", ["two-by-two", "rail-256", "storage-vlan", "dual-stack"])
def test_the_reach_is_that_of_the_graph(name: str) -> None:
    """What stops is all that leads to a buffer of packets that end at the switch, by another library's search."""
    index = Index(build(shipped(name)))
    check = check_deadlock(compute_control_plane(index))
    graph, names = DependencyGraph(check.traffic, exact=True), DependencyGraphNames(check.traffic)
    edges = [(buffer, far) for buffer in graph.used_buffers() for far in graph.awaited_by(buffer)]
    whole = networkx.DiGraph(edges)
    whole.add_nodes_from(graph.used_buffers())
    storms = list(PauseSpreadGraph(check.traffic, unit_fill).storms())
    assert storms
    for storm in storms:
        first = {buffer for buffer in graph.used_buffers() if names.port_of_buffer(buffer).node == storm.port.node}
        distances = networkx.multi_source_dijkstra_path_length(whole.reverse(), first)
        steps = Counter(1 + distance for distance in distances.values())
        found: Counter[int] = Counter()
        for one in storm.stopped:
            found[one.steps] += one.ports
            assert (one.least_us, one.most_us) == (one.steps, 2.0 * one.steps)
        assert found == steps


def test_a_port_whose_host_has_no_other_stops_one_host_less() -> None:
    """The storage nodes of two-by-two have a single port each, so that the NIC that pauses is not one that stops."""
    rows = facts(build(shipped("two-by-two")))["storms"]
    assert [(row["ports"][0][1], len(row["ports"]), row["hosts"], row["gpus"]) for row in rows] == [
        ("Ethernet0", 4, 4, 16), ("Ethernet16", 2, 3, 16),
    ]  # fmt: skip


def test_examples_are_those_of_the_port_that_is_shown() -> None:
    """Leaf l2 can change places with l1, but its host has no GPU: its ports are shown with its own neighbors."""
    fabric = lossless(with_hosts(two_tier(4, 2), 2, rails=1))
    gpus = {"host-1-0": 0, "host-1-1": 0}
    hosts = tuple(replace_fields(host, gpus=gpus.get(host.name, 8)) for host in fabric.hosts)
    rows = facts(replace_fields(fabric, hosts=hosts))["storms"]
    assert {(row["ports"][0][0], len(row["ports"]), row["gpus"]) for row in rows} == {("l2", 2, 48), ("l1", 6, 40)}
    for row in rows:
        first = [step["example"] for step in row["steps"] if step["step"] == 1]
        assert [node for node, _ in first] == [row["ports"][0][0]] * 2
        assert first[1] != row["ports"][0]
        over = [step["over"][0] for step in row["steps"] if step["step"] == 2]
        assert over == [row["ports"][0][0]]


def random_fabric(chance: Random) -> Fabric:
    """Two or three tiers with some hosts, of which cables, maps, AS numbers and GPUs may differ."""
    if chance.random() < 0.6:
        fabric = two_tier(
            chance.randint(3, 7),
            chance.randint(2, 4),
            parallel=chance.choice((1, 1, 2)),
            shared=chance.random() < 0.5,
            filtered=chance.random() < 0.5,
        )
    else:
        fabric = three_tier(chance.randint(2, 3), chance.randint(2, 5), 2, chance.randint(1, 2))
    fabric = with_hosts(fabric, chance.randint(1, 3), rails=chance.randint(1, 3))
    gpus = chance.choice(((8,), (8,), (0, 8)))
    hosts = tuple(replace_fields(host, gpus=chance.choice(gpus)) for host in fabric.hosts)
    if chance.random() < 0.5:
        cut = {chance.randrange(len(fabric.links)) for _ in range(chance.randint(1, 3))}
        links = tuple(link for place, link in enumerate(fabric.links) if place not in cut)
    else:
        links = fabric.links
    fabric = replace_fields(fabric, hosts=hosts, links=links)
    return with_uneven_qos(lossless(fabric), chance)


def with_uneven_qos(fabric: Fabric, chance: Random) -> Fabric:
    """A fabric with a few profiles, by kind of port, and maybe others at single ports."""
    profiles = [LOSSLESS, *(random_qos(chance) for _ in range(chance.choice((0, 0, 1, 2))))]
    chosen = {key: chance.choice(profiles) for key in ("leaf", "spine", "superspine", "host")}
    odd = chance.choice((0.0, 0.0, 0.05))

    def changed(device: Device) -> Device:
        return replace_fields(
            device,
            interfaces=tuple(
                replace_fields(
                    one,
                    qos=chance.choice(profiles)
                    if chance.random() < odd
                    else chosen["host" if one.side == "host" else str(device.role)],
                )
                for one in device.interfaces
            ),
        )

    return replace_fields(fabric, devices=tuple(map(changed, fabric.devices)))


def random_times(fabric: Fabric, chance: Random) -> tuple[FindFillTime, Callable[[End], int | None]]:
    """How long buffers take to fill, and detection times: by tier, and others at single ports."""
    fills = [FillTime(1.0, 2.0), FillTime(2.0, 5.0), FillTime(0.5, 8.0), chance.choice((None, FillTime(1.0, 3.0)))]
    tiers = {device.name: str(device.role) for device in fabric.devices}
    by_tier = {tier: chance.choice(fills) for tier in ("leaf", "spine", "superspine")}
    watched = {tier: chance.choice((200, 400, None)) for tier in by_tier}
    odd: dict[End, tuple[FillTime | None, int | None]] = {}
    if chance.random() < 0.4:
        ends = [End(device.name, port.name) for device in fabric.devices for port in device.interfaces]
        odd = {end: (chance.choice(fills), chance.choice((100, None))) for end in chance.sample(ends, 2)}

    def fill(end: End, _group: int) -> FillTime | None:
        return odd[end][0] if end in odd else by_tier[tiers[end.node]]

    def detection(end: End) -> int | None:
        return odd[end][1] if end in odd else watched[tiers[end.node]]

    return fill, detection


def compare_with_enumeration(chance: Random) -> tuple[int, int]:
    """Compare the storms of a random fabric with each port's own; return how many storms and ports it has."""
    fabric = random_fabric(chance)
    fill, detection = random_times(fabric, chance)
    failed = sampled_failures(fabric, chance.choice((0.0, 0.0, 0.1)), chance)
    traffic = check_deadlock(compute_control_plane(Index(fabric), failed)).traffic
    storms = list(PauseSpreadGraph(traffic, fill, detection).storms())
    expected = enumerated_effects(traffic, fill, detection)
    assert effects_of(storms, detection) == expected
    return len(storms), len(expected)


def test_classes_of_ports_equal_each_port_alone() -> None:
    """Random fabrics with failures, uneven maps and times: reach, times and watchdogs are those of the enumeration."""
    merged = apart = 0
    for chance in seeds(60):
        storms, ports = compare_with_enumeration(chance)
        merged, apart = merged + (2 * storms < ports), apart + (storms == ports)
    assert merged > 20
    assert apart > 3


@pytest.mark.nightly
def test_classes_of_ports_equal_each_port_alone_on_many_fabrics() -> None:
    for seed in range(1000, 2000):
        compare_with_enumeration(Random(seed))
