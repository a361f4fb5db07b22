"""Tunnels between two leaves of the same servers are edges of the graph: the known deadlock, and its cure."""

from typing import Any

import pytest

from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.proofs.deadlock import DependencyGraphNames
from nodrop.proofs.proving import DeadlockProof, prove_deadlock
from nodrop.proofs.storm import PauseSpreadGraph
from nodrop.proofs.traffic import PacketStream
from nodrop.report.proof import proof_facts, render_proof
from support.dual_tor import BOUNCED, REMAP, cured, dual_tor, tunnel
from support.lossless_fabrics import LOSSLESS, lossless

ASSUMPTION = "Either leaf of a server with two can be the standby one, unless a file says which one is."


def proved(fabric: Fabric) -> DeadlockProof:
    return prove_deadlock(Index(fabric))


def with_leaf(fabric: Fabric, name: str, **more: Any) -> Fabric:
    """A fabric in which a leaf has more."""

    def changed(device: Device) -> Device:
        return replace_fields(device, **more) if device.name == name else device

    return replace_fields(fabric, devices=tuple(map(changed, fabric.devices)))


def test_packets_that_go_up_again_in_their_priority_wait_in_a_circle() -> None:
    proof = proved(dual_tor(spines=1))
    assert (proof.verdict, proof.check.missing) == ("possible", ())
    (circle,) = proof.check.circles
    names = DependencyGraphNames(proof.check.traffic)
    assert [str(names.port_of_buffer(turn.buffer)) for turn in circle] == ["l1:e1", "t1:e1", "l2:e1", "t1:e2"]
    shown = [hop["packets"] for hop in proof_facts(proof)["circle"]]
    assert shown == [
        "packets with DSCP 26 from a host at l3 to a host at l2 (10.8.0.0/24), "
        "which go into tunnel MuxTunnel0 from l1 to l2",
        "packets with DSCP 26 in tunnel MuxTunnel0 from l1 to l2, "
        "inside them packets with DSCP 26 from a host at l1 to a host at l2 (10.8.0.0/24)",
        "packets with DSCP 26 from a host at l3 to a host at l1 (10.8.0.0/24), "
        "which go into tunnel MuxTunnel0 from l2 to l1",
        "packets with DSCP 26 in tunnel MuxTunnel0 from l2 to l1, "
        "inside them packets with DSCP 26 from a host at l2 to a host at l1 (10.8.0.0/24)",
    ]


def test_packets_in_a_priority_of_their_own_do_not() -> None:
    proof = proved(cured(2))
    assert (proof.verdict, proof.check.missing) == ("free", ())
    positions, names = proof.check.positions, DependencyGraphNames(proof.check.traffic)
    assert positions is not None
    groups = {(str(names.port_of_buffer(buffer)), buffer.group): place for buffer, place in positions.items()}
    bounced = [groups["l1:e1", 3], groups["t1:e1", 2], groups["l2:e1", 2]]
    assert bounced == sorted(set(bounced))
    page = render_proof(proof_facts(proof))
    assert "l1 sends up again through a tunnel what came down to it" in page
    assert ASSUMPTION in page


@pytest.mark.parametrize(
    ("fabric", "verdict"),
    [
        (dual_tor(states=("active", "standby")), "free"),
        (dual_tor(2, states=("active", "standby")), "possible"),
        (dual_tor(states=("active", "active")), "free"),
        (dual_tor(maps={"dscp_mode": "pipe"}), "free"),
        (lossless(dual_tor(), None), "free"),
        (dual_tor(qos=BOUNCED, maps=REMAP | {"tc_to_queue": None}), "possible"),
        (dual_tor(qos=BOUNCED, maps=REMAP | {"tc_to_dscp": (26,) * 16}), "free"),
        (dual_tor(qos=BOUNCED, maps=REMAP | {"tc_to_dscp": (26,) * 16, "tc_to_queue": None}), "possible"),
        (dual_tor(qos=BOUNCED, maps=REMAP | {"dscp_to_tc": None, "tc_to_priority_group": None}), "free"),
    ],
    ids=["one way", "one way in 2 pairs", "never", "DSCP 0 outside", "lossy", "queue of the port", "same DSCP outside",
         "queue and DSCP of hosts", "out by maps of the port"],
)  # fmt: skip
def test_files_that_say_more(fabric: Fabric, verdict: str) -> None:
    proof = proved(fabric)
    assert (proof.verdict, proof.check.missing) == (verdict, ())


FAR = {"mux_cables": (), "tunnels": (), "dual_tor": False}


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"l1": {"tunnels": ()}, "l2": {"mux_cables": ()}}, [("l1", "the tunnel to the second leaf of its servers")]),
        ({"l1": {"tunnels": (tunnel(1, 2, far=UNKNOWN),)}}, [("l1", "the far end of tunnel MuxTunnel0")]),
        ({"l1": {"tunnels": (tunnel(1, 77),)}, "l2": FAR},
         [("l1", "the switch with address 10.9.1.77, the far end of tunnel MuxTunnel0")]),
        ({"l1": {"mux_cables": UNKNOWN}}, [("l1", "the servers behind tunnel MuxTunnel0")]),
        ({"l2": FAR}, [("l2", "a tunnel in which packets of l1 from tunnel MuxTunnel0 come out")]),
        ({"l1": {"tunnels": (tunnel(1, 2, tc_to_queue=UNKNOWN),)}, "l2": {"mux_cables": ()}},
         [("l1", "the maps of tunnel MuxTunnel0")]),
        ({"l1": {"tunnels": (tunnel(1, 2, tc_to_dscp=(26,) * 16),)}, "l2": {"mux_cables": ()}},
         [("l1", "the DSCP outside of tunnel MuxTunnel0, which has a map and whose mode is not pipe")]),
        ({"l2": {"mux_cables": (), "switch_dscp_to_tc": (0,) * 64}},
         [("l2", "whether the DSCP map of the switch or of the port sorts what leaves MuxTunnel0")]),
        ({"l2": {"mux_cables": (), "switch_dscp_to_tc": UNKNOWN}},
         [("l2", "whether the DSCP map of the switch or of the port sorts what leaves MuxTunnel0")]),
    ],
    ids=["no tunnel", "no peer", "peer elsewhere", "no servers", "no way out", "unknown map", "map in mode uniform",
         "other map of the switch", "unknown map of the switch"],
)  # fmt: skip
def test_what_no_file_says_is_named(changes: dict[str, Any], missing: list[tuple[str, str]]) -> None:
    fabric = dual_tor()
    for name, more in changes.items():
        fabric = with_leaf(fabric, name, **more)
    proof = proved(fabric)
    assert [(*fact.subject, fact.what) for fact in proof.check.missing] == missing
    assert proof.verdict == "unknown"


@pytest.mark.parametrize(
    ("fabric", "table"),
    [(dual_tor(spines=1), LOSSLESS.dscp_to_tc), (cured(2), (0,) * 64)],
    ids=["the same map", "the tunnel has its own"],
)
def test_a_map_of_the_switch_leaves_nothing_open(fabric: Fabric, table: Any) -> None:
    for name in ("l1", "l2"):
        fabric = with_leaf(fabric, name, switch_dscp_to_tc=table)
    assert proved(fabric).check.missing == ()


def test_failures_are_searched_one_by_one() -> None:
    proof = prove_deadlock(Index(cured(spines=2)), 1)
    assert (proof.verdict, proof.invariants.hold) == ("free", False)
    assert proof.search is not None
    assert (proof.search.complete, proof.search.single, proof.search.classes) == (True, 11, 11)


def stopped_by_server(**more: Any) -> set[tuple[str, int]]:
    """The ports and groups that stop when the NIC of a server pauses at its active leaf."""
    check = proved(dual_tor(spines=1, states=("standby", "active"), **more)).check
    storms = PauseSpreadGraph(check.traffic, lambda port, group: None).storms()
    (storm,) = [storm for storm in storms if storm.port.node == "l2"]
    return {(str(one.port), one.group) for one in storm.stopped}


def test_a_pause_spreads_through_a_tunnel() -> None:
    """The NIC of a server that pauses stops what its standby leaf sends, in the priority in which that is."""
    before = stopped_by_server()
    assert {("l2:e1", 3), ("t1:e1", 3), ("l1:e1", 3)} <= before
    assert not any(group == 2 for _, group in before)
    after = stopped_by_server(qos=BOUNCED, maps=REMAP)
    assert {("l2:e1", 3), ("l2:e1", 2), ("t1:e1", 2), ("l1:e1", 3)} <= after


@pytest.mark.parametrize(
    ("maps", "comes_out"),
    [
        (REMAP, (3, 2)),
        (REMAP | {"tc_to_priority_group": (3,) * 16}, (3, 3)),
        (REMAP | {"dscp_to_tc": None, "tc_to_priority_group": None}, (3, 3)),
        (REMAP | {"dscp_mode": "uniform", "dscp_to_tc": None, "tc_to_priority_group": None}, (2, 2)),
        (REMAP | {"dscp_mode": "uniform"}, (0, None)),
    ],
    ids=["remapped", "other group", "by the DSCP inside", "by the DSCP outside", "by the DSCP outside in a map"],
)
def test_packets_come_out_in_the_class_and_group_of_the_maps(
    maps: dict[str, Any], comes_out: tuple[int, int | None]
) -> None:
    traffic = proved(dual_tor(spines=1, qos=BOUNCED, maps=maps)).check.traffic
    numbers = {router.device.name: router.number for router in traffic.forwarding.plane.routers}
    place = next(place for place, one in enumerate(traffic.tunnels) if one.near == numbers["l1"])
    packets = PacketStream(traffic.entered[0], 2, place, 26)
    assert (traffic.traffic_class_at(numbers["t1"], packets), traffic.priority_group_at(numbers["t1"], packets)) == (
        2,
        2,
    )
    assert (
        traffic.traffic_class_at(numbers["l2"], packets),
        traffic.priority_group_at(numbers["l2"], packets),
    ) == comes_out
