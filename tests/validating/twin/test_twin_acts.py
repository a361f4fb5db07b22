"""Packets in a twin, and what fails in it: what real kernels and daemons do is seen as it is."""

from dataclasses import replace

import pytest

from nodrop.errors import ServiceUnavailable
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Bgp
from nodrop.validating import compute_observation
from nodrop.validating.twin import observing
from nodrop.validating.twin.box import call_in_sandbox
from support import twin_scenes
from support.designs import build, shipped
from support.requirements import require

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _there() -> None:
    try:
        observing.require_twin_support()
    except ServiceUnavailable as error:
        require("twin", available=False, reason=str(error))


def two_by_two(**changes: object) -> Fabric:
    return build(shipped("two-by-two", {key.replace("__", "."): value for key, value in changes.items()}))


LEAF, SPINE = ("leaf1", "Ethernet224"), ("spine1", "Ethernet0")
CABLE = "leaf1:Ethernet224--spine1:Ethernet0"


def test_packets_of_the_whole_mtu_cross_every_cable_also_those_of_hosts() -> None:
    fabric = two_by_two()
    found = call_in_sandbox(twin_scenes.cross, fabric, {})
    assert found == {f"{link.a}--{link.b}": (True, "9216 B") for link in fabric.links}


@pytest.mark.parametrize(("node", "said"), [(LEAF, f"{SPINE[0]}:{SPINE[1]}"), (SPINE, f"{LEAF[0]}:{LEAF[1]}")])
def test_a_smaller_mtu_is_seen_from_the_other_end(node: tuple[str, str], said: str) -> None:
    found = call_in_sandbox(twin_scenes.cross, two_by_two(), {node: 4000})
    there = f"{node[0]}:{node[1]}"
    assert {cable: row for cable, row in found.items() if not row[0]} == {
        CABLE: (False, f"9216 B from {said} do not arrive at {there}")
    }


def test_frames_cross_between_a_host_and_a_port_of_a_vlan_and_unnumbered_ports() -> None:
    for name in ("storage-vlan", "unnumbered"):
        fabric = build(shipped(name))
        found = call_in_sandbox(twin_scenes.cross, fabric, {})
        assert found == {f"{link.a}--{link.b}": (True, "9216 B") for link in fabric.links}, name


def announcing_at_once() -> Fabric:
    """Return a fabric whose spines announce routes that the kernel does not use, so that packets still come to them."""
    fabric = two_by_two()
    return replace(fabric, devices=tuple(map(_at_once, fabric.devices)))


def _at_once(device: Device) -> Device:
    assert isinstance(device.bgp, Bgp)
    return replace(device, bgp=replace(device.bgp, suppress_fib_pending=False))


def test_packets_that_a_spine_drops_or_sends_back_are_seen_from_leaves() -> None:
    drop = ("spine1", "route", "replace", "blackhole", "10.0.0.2/32", "metric", "1")
    back = ("spine1", "route", "replace", "10.0.0.2/32", "via", "10.1.1.224", "metric", "1")
    gone = ("spine1", "route", "del", "blackhole", "10.0.0.2/32", "metric", "1")
    before, dropped, _, sent_back = call_in_sandbox(
        twin_scenes.reach, twin_scenes.work(announcing_at_once()), "leaf1", "10.0.0.2/32", (drop, gone, back)
    )
    assert before == ("delivered", "")
    assert dropped[0] == "no route"
    assert "last seen at spine1:" in dropped[1]
    assert sent_back[0] == "loop"


def test_what_has_a_route_and_is_not_let_through_is_denied() -> None:
    rule = ("spine1", "rule", "add", "to", "10.0.0.2", "pref", "10", "prohibit")
    _, denied = call_in_sandbox(twin_scenes.reach, twin_scenes.work(two_by_two()), "leaf1", "10.0.0.2/32", (rule,))
    assert denied[0] == "denied"
    assert "last seen at spine1:" in denied[1]


def test_what_fails_is_as_computed_and_everything_comes_back() -> None:
    fabric = two_by_two()
    lines: list[str] = []
    seen, told = call_in_sandbox(twin_scenes.act, twin_scenes.work(fabric), progress=lines.append)
    own = compute_observation(Index(fabric)).seen
    for check in ("reach", "failures", "recoveries"):
        assert seen[check] == own[check], check
    assert {item: seen["packets"][item] for item in own["packets"]} == own["packets"]
    failures = [line for line in lines if line.startswith("failure ")]
    assert failures == [
        f"failure {number} of {len(own['failures'])}: {item[-1].replace('--', ' to ')}"
        for number, item in enumerate(own["failures"], 1)
    ]
    assert (
        told[0] == f"packets of the largest size crossed {len(fabric.links)} of {len(fabric.links)} cables, both ways"
    )


def test_what_the_only_spine_carries_is_lost_with_it() -> None:
    work = twin_scenes.work(two_by_two(topology__spines__ids="1", topology__max_oversubscription="2"))
    lost, said, back = call_in_sandbox(twin_scenes.fail, work, "spine1", 10.0)
    assert lost == {(item[0], item[3]) for item in work.computed["reach"]}
    assert said.startswith("leaf1 has no route to ")
    assert back == ""


def test_what_does_not_come_back_is_named() -> None:
    lost, _, back = call_in_sandbox(twin_scenes.fail, twin_scenes.work(two_by_two()), CABLE, 0.0)
    assert lost == frozenset()
    assert back == "2 sessions stay down"


def test_slow_timers_are_waited_for_where_the_carrier_tells_nothing() -> None:
    work = twin_scenes.work(two_by_two())
    assert call_in_sandbox(twin_scenes.timers, work) == (15.0, 35.0)
    line = " bgp bestpath as-path multipath-relax\n"
    boots = {
        name: replace(boot, text=boot.text.replace(line, f"{line} no bgp fast-external-failover\n"))
        for name, boot in work.boots.items()
    }
    assert call_in_sandbox(twin_scenes.timers, replace(work, boots=boots)) == (15.0 + 9.0, 35.0)
