"""The reach of a pause: who stops, over how many hops, after how long, and which watchdog ends it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx
import pytest
from jsonschema import Draft202012Validator

from nodrop.model.fabric import End, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.values import replace_fields
from nodrop.proofs.deadlock import Names, check_deadlock
from nodrop.proofs.dependencies import DependencyGraph
from nodrop.proofs.storm import FillTime, StormModel
from nodrop.report.storm import freezes_for_ever, render_storms, storm_facts
from nodrop.routing import compute
from nodrop.schemas import schema
from support.designs import build, shipped


def facts(fabric: Fabric) -> dict[str, Any]:
    found = storm_facts(Index(fabric))
    Draft202012Validator(schema("storm")).validate(found)
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
    assert freezes_for_ever(found)
    assert "never ends: the port has no watchdog" in render_storms(found)


def test_a_watchdog_that_only_tells_ends_nothing() -> None:
    fabric = build(shipped("two-by-two"))
    port = next(one for one in fabric.devices[0].interfaces if one.side == "host")
    assert isinstance(port.qos, QosProfile)
    watchdog = replace(port.qos.pfc_watchdog, action="alert")  # type: ignore[type-var]
    found = facts(with_ports(fabric, with_watchdog(watchdog)))
    assert freezes_for_ever(found)
    assert {row["freeze"]["action"] for row in found["storms"]} == {"alert"}


def test_the_page_says_what_a_watchdog_does_not() -> None:
    page = render_storms(facts(build(shipped("two-by-two"))))
    assert page.startswith("One NIC that pauses for ever stops up to 5 other host ports of 4 hosts with 16 GPUs: ")
    assert "A watchdog bounds the length of a freeze, not its reach.\n" in page


@pytest.mark.parametrize("name", ["two-by-two", "rail-256", "storage-vlan", "dual-stack"])
def test_the_reach_is_that_of_the_graph(name: str) -> None:
    """What stops is all that leads to a buffer of packets that end at the switch, by another library's search."""
    index = Index(build(shipped(name)))
    check = check_deadlock(compute(index))
    graph, names = DependencyGraph(check.traffic, exact=True), Names(check.traffic)
    edges = [(buffer, far) for buffer in graph.buffers() for far in graph.awaited_by(buffer)]
    whole = networkx.DiGraph(edges)
    whole.add_nodes_from(graph.buffers())

    def fill(_end: End, _group: int) -> FillTime:
        return FillTime(1.0, 2.0)

    storms = list(StormModel(check.traffic, fill).storms())
    assert storms
    for storm in storms:
        first = {buffer for buffer in graph.buffers() if names.port(buffer).node == storm.port.node}
        expected = first | {before for buffer in first for before in networkx.ancestors(whole, buffer)}
        assert {(one.port, one.group) for one in storm.stopped} == {
            (names.port(buffer), buffer.group) for buffer in expected
        }
        assert all((one.least_us, one.most_us) == (one.steps, 2.0 * one.steps) for one in storm.stopped)
