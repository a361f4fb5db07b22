"""Packets that switches flood in a VLAN are edges of the graph: the known deadlock, its cures, and unknown facts."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.analyses import AnalysisHit, failed_buffer_cycles
from nodrop.model.bridging import PortChannel
from nodrop.model.fabric import Device, End, Fabric
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN, known_rows
from nodrop.model.values import replace_fields
from nodrop.proofs.changes import FloodingVlan
from nodrop.proofs.deadlock import DependencyGraphNames, check_deadlock
from nodrop.proofs.proving import DeadlockProof, prove_deadlock
from nodrop.proofs.storm import PauseSpreadGraph, count_stopped_ports
from nodrop.proofs.storm_hosts import FillTime
from nodrop.report.proof import proof_facts, render_proof
from nodrop.routing import compute_control_plane
from support.dual_tor import dual_tor
from support.flooding import clos_with_vlans, random_clos_with_vlans, vlan
from support.lossless_fabrics import LOSSLESS, links_between, sampled_failures, seeds
from support.storm_enumeration import effects_of, enumerated_effects
from support.wired_routers import to

ASSUMPTION = "In a VLAN over several switches, any MAC address can be unknown."
OBEYS_NO_PAUSE = replace(LOSSLESS, pfc_rx_priorities=())
LOSSY = replace(LOSSLESS, pfc_rx_priorities=(), pfc_tx_priorities=())


def proved(fabric: Fabric, failures: int = 0) -> DeadlockProof:
    return prove_deadlock(Index(fabric), failures)


def missing(proof: DeadlockProof) -> list[tuple[str, ...]]:
    return [(*fact.subject, fact.what) for fact in proof.check.missing]


def with_switch(fabric: Fabric, name: str, **more: Any) -> Fabric:
    """A fabric in which a switch has more."""

    def changed(device: Device) -> Device:
        return replace_fields(device, **more) if device.name == name else device

    return replace_fields(fabric, devices=tuple(map(changed, fabric.devices)))


def test_a_dead_host_at_each_of_two_leaves_makes_the_known_circle() -> None:
    """Guo et al., SIGCOMM 2016, figure 4: both leaves send up again what came down for a host that is dead."""
    proof = proved(clos_with_vlans())
    assert (proof.verdict, missing(proof)) == ("possible", [])
    assert len(proof.check.circles) == 2
    names = DependencyGraphNames(proof.check.traffic)
    circle = proof.check.circles[0]
    assert [str(names.port_of_buffer(turn.buffer)) for turn in circle] == ["l1:e1", "s2:e1", "l2:e2", "s1:e2"]
    shown = [hop["packets"] for hop in proof_facts(proof)["circle"]]
    assert shown == [
        "packets with DSCP 26 from a host at l2 to a host at l1 (10.8.1.0/24), which l1 floods in VLAN 100",
        "packets with DSCP 26 from a host at l1 to a host at l2 (10.8.2.0/24)",
        "packets with DSCP 26 from a host at l1 to a host at l2 (10.8.2.0/24), which l2 floods in VLAN 100",
        "packets with DSCP 26 from a host at l2 to a host at l1 (10.8.1.0/24)",
    ]
    assert proof.change is not None
    assert proof.change.classes is None
    assert proof.change.vlans == (("l1", 100), ("l2", 100))
    assert "  Remove VLAN 100 from the ports of l1, l2 to other switches.\n" in render_proof(proof_facts(proof))
    assert {(turn.device, turn.before, turn.after) for turn in proof.change.turns} == {
        ("l1", "s1", "s2"), ("l1", "s2", "s1"),
    }  # fmt: skip


@pytest.mark.parametrize("lossy", ["l1_e1", "s1_e1"])
@pytest.mark.parametrize("leaves", [2, 3])
def test_a_cable_of_the_circle_that_does_not_pause_ends_it(lossy: str, leaves: int) -> None:
    check = proved(clos_with_vlans(leaves, **{lossy: LOSSY})).check
    names = DependencyGraphNames(check.traffic)
    on = {str(names.port_of_buffer(turn.buffer)) for circle in check.circles for turn in circle}
    assert check.is_free is (leaves == 2)
    assert not on & {"l1:e1", "s1:e1"}


def test_packets_are_not_flooded_back_over_the_way_by_which_they_came() -> None:
    proof = proved(clos_with_vlans(spines=1), 1)
    assert (proof.verdict, missing(proof)) == ("free", [])


def test_two_leaves_with_a_cable_between_them_send_packets_on_to_the_other() -> None:
    proof = proved(clos_with_vlans(3, members=(), peers=2), 2)
    assert (proof.verdict, missing(proof), proof.invariants.hold) == ("free", [], False)
    positions, names = proof.check.positions, DependencyGraphNames(proof.check.traffic)
    assert positions is not None
    places = {str(names.port_of_buffer(buffer)): place for buffer, place in positions.items()}
    assert max(places["l1:e1"], places["l1:e2"]) < places["l2:e8"]
    page = render_proof(proof_facts(proof))
    assert "l1 floods packets in a VLAN that other switches are in" in page
    assert ASSUMPTION in page
    assert proof.search is not None
    assert proof.search.complete


def test_packets_that_two_leaves_flood_one_after_the_other_make_a_circle_over_one_spine() -> None:
    proof = proved(clos_with_vlans(4, spines=1, members=("e1",), peers=4))
    assert (proof.verdict, missing(proof)) == ("possible", [])
    names = DependencyGraphNames(proof.check.traffic)
    circle = proof.check.circles[0]
    shown = [(str(names.port_of_buffer(turn.buffer)), names.flood_label(turn)) for turn in circle]
    assert shown == [
        ("l1:e8", "l1 floods in VLAN 100"),
        ("s1:e1", ""),
        ("l3:e1", "l3 floods in VLAN 100"),
        ("l4:e8", "l4 floods in VLAN 100"),
        ("s1:e4", ""),
        ("l2:e1", "l2 floods in VLAN 100"),
    ]
    assert proof.change is not None
    assert [device for device, _ in proof.change.vlans] == ["l1", "l2", "l3", "l4"]


def spine_in_vlan(**more: Any) -> Fabric:
    """Three leaves with one VLAN on their first uplink too, and what its spine has."""
    return with_switch(clos_with_vlans(3, members=("e1",)), "s1", **more)


FLOODS = "where VLAN 100 floods packets over e1"
BUNDLE = PortChannel(name="Bundle1", members=("e1", "e2"))


MIDDLE = vlan("e1", "e2", "e3")


def with_loop(**qos: Any) -> Fabric:
    """Two leaves and two spines, all with one VLAN on all cables between them."""
    found = clos_with_vlans(**qos)
    for name in ("s1", "s2"):
        found = with_switch(found, name, vlans=(vlan("e1", "e2"),))
    return found


def with_peer_session() -> Fabric:
    """Two leaves, of which one has a session with a spine over its VLAN."""
    found = clos_with_vlans()
    devices = {device.name: device for device in found.devices}
    assert isinstance(devices["l1"].bgp, Bgp)
    neighbors = (*known_rows(devices["l1"].bgp.neighbors), to("10.8.1.99"))
    return with_switch(found, "l1", bgp=replace_fields(devices["l1"].bgp, neighbors=neighbors))


def with_subnet_at_spine() -> Fabric:
    """Two leaves with one spine, which has an address in the VLAN of the first one."""
    found = clos_with_vlans(spines=1)
    first, *others = next(device for device in found.devices if device.name == "s1").interfaces
    ports = (replace_fields(first, addresses=(*first.addresses, "10.8.1.99/24")), *others)
    return with_switch(found, "s1", interfaces=ports)


@pytest.mark.parametrize(
    ("fabric", "unknown"),
    [
        (spine_in_vlan(vlans=(MIDDLE,)), []),
        (spine_in_vlan(vlans=(vlan("e1", "e2", "e3", "h0"),)), [("s1", FLOODS)]),
        (spine_in_vlan(vlans=(vlan("e1", "e2", "e3", number=200),)), [("s1", FLOODS.replace("100", "200"))]),
        (spine_in_vlan(vlans=(vlan("e1", "e2", "e3", tagged=False),)), [("s1", FLOODS)]),
        (spine_in_vlan(vlans=(vlan("e1", "e2", "e3", address="10.7.0.1/24"),)), [("s1", FLOODS)]),
        (spine_in_vlan(vlans=UNKNOWN), [("s1", "device.vlans"), *((name, FLOODS) for name in ("l1", "l2", "l3"))]),
        (clos_with_vlans(l1_e1=UNKNOWN), [("l1", "e1", "qos", "interface.qos"), ("l1", FLOODS)]),
        (with_switch(clos_with_vlans(), "l1", vlans=(vlan("h0", "e1", "e2"),)), [("l1", FLOODS)]),
        (with_switch(clos_with_vlans(), "l1", vlans=(vlan("h0", "e1", "e2", address="10.7.0.1/24"),)),
         [("l1", FLOODS)]),
        (with_switch(clos_with_vlans(), "l1", vlans=(vlan("h0", "Bundle1", address="10.8.1.1/24"),),
                     port_channels=(BUNDLE,)), []),
        (with_switch(spine_in_vlan(vlans=(MIDDLE,)), "l1", port_channels=UNKNOWN),
         [("l1", "device.port_channels"), ("l1", FLOODS), ("s1", FLOODS)]),
        (with_loop(), [(name, FLOODS) for name in ("l1", "l2", "s1", "s2")]),
        (with_peer_session(), [("l1", FLOODS)]),
        (with_subnet_at_spine(), [("l1", FLOODS)]),
    ],
    ids=["between leaves", "hosts without a gateway", "another VLAN", "untagged there", "address without hosts",
         "unknown VLANs", "unknown QoS", "no address", "not announced", "bundle", "unknown bundles", "loop",
         "session in the VLAN", "subnet at another switch"],
)  # fmt: skip
def test_what_no_file_decides_is_named(fabric: Fabric, unknown: list[tuple[str, ...]]) -> None:
    proof = proved(fabric)
    assert missing(proof) == unknown
    assert proof.verdict == ("unknown" if unknown else "free")


def test_a_loop_that_failures_cut_is_decided() -> None:
    """Spanning tree blocks no port of a VLAN without a loop."""
    fabric = with_loop()
    failed = links_between(fabric, "l2-s2")
    check = check_deadlock(compute_control_plane(Index(fabric), failed))
    assert check.traffic.forwarding.flooded_vlans
    assert check.missing == ()


def test_packets_that_come_out_of_a_tunnel_are_not_followed_into_a_vlan() -> None:
    fabric = dual_tor(states=("active", "standby"))
    bare = {
        "interfaces": tuple(
            replace_fields(one, addresses=()) if one.name == "e0" else one for one in fabric.devices[0].interfaces
        )
    }
    fabric = with_switch(fabric, "l1", vlans=(vlan("e0", "e1", "e2", address="10.8.0.1/24"),), **bare)
    proof = proved(fabric)
    assert missing(proof) == [("l1", FLOODS)]


def test_a_pause_spreads_to_the_switch_that_floods() -> None:
    """The NIC of a server of l2 that pauses stops what l1 floods to l2, and so what comes down to l1."""

    def stopped(**cable: QosProfile) -> tuple[set[str], int]:
        traffic = proved(clos_with_vlans(3, members=(), peers=2, **cable)).check.traffic
        storms = list(PauseSpreadGraph(traffic, lambda port, group: None).storms())
        storm = next(storm for storm in storms if "l2:h0" in map(str, storm.like))
        return {str(one.port) for one in storm.stopped}, count_stopped_ports(storm.host_ports)

    assert stopped() == ({"l2:e8", "l2:e1", "l1:e1", "s1:e3"}, 2)
    assert stopped(l1_e8=LOSSY, l2_e8=LOSSY) == ({"l1:e1", "s1:e3"}, 1)


def test_classes_of_ports_equal_each_port_alone_where_switches_flood() -> None:
    merged = flooding = 0
    for chance in seeds(40):
        plain = clos_with_vlans(chance.randint(4, 6), members=(), peers=2)
        fabric = random_clos_with_vlans(chance) if chance.random() < 0.7 else plain
        failed = sampled_failures(fabric, chance.choice((0.0, 0.1)), chance)
        traffic = check_deadlock(compute_control_plane(Index(fabric), failed)).traffic
        storms = list(PauseSpreadGraph(traffic, lambda port, group: FillTime(1.0, 2.0)).storms())
        expected = enumerated_effects(traffic, lambda port, group: FillTime(1.0, 2.0), lambda port: None)
        assert effects_of(storms, lambda port: None) == expected
        flooding += bool(traffic.flooded)
        merged += len(storms) < len(expected)
    assert flooding > 20
    assert merged > 2


@pytest.mark.slow
def test_circles_after_one_failure_are_found_where_any_failure_makes_one() -> None:
    found = searched = 0
    for chance in seeds(60):
        fabric = random_clos_with_vlans(chance)
        proof = proved(fabric, 1)
        if not proof.check.is_free or proof.search is None or not proof.check.traffic.flooded:
            continue
        cuts = [{End(device.name, port.name) for port in device.interfaces} for device in fabric.devices]
        cuts += [{link.a, link.b} for link in fabric.links]
        states = (check_deadlock(compute_control_plane(Index(fabric), frozenset(cut))) for cut in cuts)
        is_circular = not all(check.is_free for check in states)
        assert (proof.search.check is not None) is is_circular
        searched += 1
        found += is_circular
    assert searched > 15
    assert found > 0


@pytest.mark.slow
def test_a_circle_after_a_failure_names_the_vlan_to_remove() -> None:
    """Spines of different AS numbers, and a leaf that is transit once a cable of another one fails."""
    fabric = next(fabric for fabric in map(random_clos_with_vlans, seeds(60)) if len(_vlans_to_remove(fabric)) == 1)
    ((device, vlan),) = _vlans_to_remove(fabric)
    (hit,) = failed_buffer_cycles.find(Index(fabric))
    assert isinstance(hit, AnalysisHit)
    assert hit.facts["change"] == f"remove VLAN {vlan} of {device} from ports to other switches"


def _vlans_to_remove(fabric: Fabric) -> tuple[FloodingVlan, ...]:
    proof = proved(fabric, 1)
    is_after_failure = proof.verdict == "possible-after-failures"
    return proof.change.vlans if is_after_failure and proof.change is not None else ()
