"""Fabrics in real FRR daemons: what the twin sees is what is computed, and what is wrong is seen and said where."""

import re
from dataclasses import replace

import pytest

import nodrop
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Loopback
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.routing import Bgp, BgpNeighbor, StaticRoute
from nodrop.model.values import replace_fields
from nodrop.routing.observation import ObservationCheck, ValidatorObservation, route_item
from nodrop.routing.stand_ins import with_stand_ins
from nodrop.validating import compute_observation
from nodrop.validating.twin import TwinOptions, observe_in_twin
from nodrop.validating.twin.starting import prepare_start_configurations
from support.designs import build, shared_subnet, shipped
from support.twin_runs import needed

CHECKS: tuple[ObservationCheck, ...] = ("configuration", "links", "sessions", "addresses", "routes")
ONLY = TwinOptions(checks=frozenset(CHECKS))
V6_ONLY = {f"addressing.{key}": f"fd00:{n}::/48" for n, key in enumerate(("loopbacks", "links", "endpoints"))}


def seen(reading: Reading) -> tuple[ValidatorObservation, ValidatorObservation]:
    """What is computed of a fabric, and what its twin shows."""
    needed()
    index = Index(reading.fabric)
    return compute_observation(index), observe_in_twin(reading, index, options=ONLY)


def differences(own: ValidatorObservation, twin: ValidatorObservation) -> dict[object, tuple[object, object]]:
    """The items that are not alike, also those of which the twin says nothing."""
    return {
        (check, item): (own.seen[check].get(item), twin.seen[check].get(item))
        for check in CHECKS
        for item in {*own.seen[check], *twin.seen[check]}
        if own.seen[check].get(item) != twin.seen[check].get(item)
    }


def written(fabric: Fabric, changes: dict[str, tuple[str, str]]) -> Reading:
    """A fabric as it is read back from its files, of which some have another text in place of one."""
    artifacts = []
    for artifact in nodrop.write(fabric):
        old, new = changes.get(f"{artifact.device}/{artifact.path}", ("", ""))
        assert old in artifact.text, artifact.path
        artifacts.append(replace_fields(artifact, text=artifact.text.replace(old, new, 1)) if old else artifact)
    assert changes.keys() <= {f"{artifact.device}/{artifact.path}" for artifact in artifacts}
    return nodrop.read_back(artifacts, fabric)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param("dual-stack", {}, id="dual stack"),
        pytest.param("two-by-two", V6_ONLY, id="IPv6 only"),
        pytest.param("unnumbered", {}, id="unnumbered"),
        pytest.param("storage-vlan", {}, id="VLANs"),
        pytest.param("adaptive", {}, id="NVUE"),
        pytest.param("reference-256-nvue-leaves", {}, id="two platforms"),
    ],
)
def test_what_is_built_is_seen_as_it_is_computed(name: str, changes: dict[str, object]) -> None:
    fabric = build(shipped(name, changes))
    own, twin = seen(written(fabric, {}))
    assert differences(own, twin) == {}
    assert twin.refused == ()
    assert set(twin.seen["sessions"].values()) == {"up"}


@pytest.mark.slow
def test_neighbors_outside_are_reached_with_bfd() -> None:
    """FRR stands for each of them; packets leave by ports that bfdd does not have."""
    needed()
    fabric = build(shipped("border", {"external.wan.bfd": True, "external.gateway.bfd": True}))
    index = Index(fabric)
    own = compute_observation(index)
    checks: tuple[ObservationCheck, ...] = ("configuration", "sessions", "routes", "reach")
    twin = observe_in_twin(written(fabric, {}), index, options=TwinOptions(checks=frozenset(checks)))
    for check in checks:
        assert twin.seen[check] == own.seen[check], check
    assert set(twin.seen["reach"].values()) == {"delivered"}
    assert route_item("wan", "10.2.1.0/24", None, "reach") in twin.seen["reach"]
    assert "FRR replaces the neighbors outside: gateway, wan" in twin.notes


def test_a_session_with_a_neighbor_outside_runs_without_its_password() -> None:
    line = " neighbor 198.51.100.2 remote-as 65002\n"
    fabric = build(shipped("border"))
    reading = written(fabric, {"leaf1/frr.conf": (line, line + " neighbor 198.51.100.2 password secret\n")})
    assert compute_observation(Index(reading.fabric)).seen["sessions"]["leaf1", "@neighbors", "198.51.100.2"] == "up"
    start = prepare_start_configurations(replace(reading, fabric=with_stand_ins(reading.fabric)))
    assert line in start.boots["leaf1"].text
    assert not any("password" in boot.text for boot in start.boots.values())
    assert start.boots["leaf1"].text.count("\n") == start.confs["leaf1"].text.count("\n")
    assert "leaf1: sessions with neighbors outside run without their passwords" in start.notes


def crafted(number: int, *more: BgpNeighbor) -> Device:
    """One of two switches that are neighbors over a port, a bundle, a VLAN, an unnumbered port, and in a VRF."""
    far = 1 - number
    ports = (
        Interface(name="swp1", addresses=(f"10.1.0.{number}/31",)),
        Interface(name="swp2", addresses=(f"10.2.0.{number}/31",), vrf="RED"),
        *(Interface(name=f"swp{n}") for n in (3, 4, 5)),
        Interface(name="swp6", link_local=True),
    )
    vlans = tuple(
        Vlan(id=n, members=(VlanMember(interface="swp5", tagged=True),), addresses=(f"10.{n}.0.{number + 1}/24",))
        for n in (10, 20)
    )
    peers = (f"10.1.0.{far}", f"10.3.0.{far}", f"10.10.0.{far + 1}")
    neighbors = tuple(BgpNeighbor(address=one, remote_asn=65001 + far, bfd=one.startswith("10.1.")) for one in peers)
    unnumbered = BgpNeighbor(interface="swp6", remote_asn="external")
    return Device(
        name="ab"[number],
        platform="nvue",
        interfaces=ports,
        port_channels=(PortChannel(name="bond1", members=("swp3", "swp4"), addresses=(f"10.3.0.{number}/31",)),),
        vlans=vlans,
        loopbacks=(
            Loopback(name="lo", addresses=(f"10.0.0.{number + 1}/32",)),
            Loopback(name="RED", addresses=(f"10.9.0.{number + 1}/32",), vrf="RED"),
        ),
        bgp=Bgp(
            asn=65001 + number,
            router_id=f"10.0.0.{number + 1}",
            networks=(f"10.0.0.{number + 1}/32",),
            neighbors=(*neighbors, unnumbered, *more),
            maximum_paths=16,
            multipath_relax=True,
        ),
        vrf_bgp=(
            Bgp(
                asn=65001 + number,
                vrf="RED",
                networks=(f"10.9.0.{number + 1}/32",),
                neighbors=(BgpNeighbor(address=f"10.2.0.{far}", remote_asn=65001 + far),),
            ),
        ),
        static_routes=(
            StaticRoute(prefix="10.77.0.0/16", next_hop=f"10.2.0.{far}", vrf="RED"),
            StaticRoute(prefix="10.78.0.0/16", next_hop=f"10.20.0.{far + 1}"),
            StaticRoute(prefix="10.79.0.0/16", next_hop="blackhole"),
        ),
    )


@pytest.mark.slow
def test_a_switch_alone_is_counted_as_one() -> None:
    nvue = {"topology.groups.tor.platform": "nvue", "topology.groups.tor.version": "5.16"}
    _, twin = seen(written(build(shipped("single-switch", nvue)), {}))
    assert re.match(r"FRR \S+ ran on 1 device for \d+ s$", twin.notes[0]), twin.notes
    assert "frr.conf is made from the files of 1 device, which state the same in other words" in twin.notes


@pytest.mark.slow
def test_packets_for_a_host_of_another_leaf_with_the_same_subnet_find_nobody() -> None:
    needed()
    index = Index(shared_subnet())
    options = TwinOptions(checks=frozenset((*CHECKS, "reach")))
    twin = observe_in_twin(Reading(fabric=index.fabric), index, options=options)
    item = route_item("leaf2", "10.3.1.0/24", check="reach")
    assert twin.seen["reach"] == compute_observation(index).seen["reach"]
    assert twin.seen["reach"][item] == "no route"
    assert "nobody in the subnet has the address" in twin.said["reach", item]


@pytest.mark.slow
def test_ports_bundles_vlans_unnumbered_ports_and_vrfs_are_routed_over() -> None:
    links = tuple(Link(a=End("a", f"swp{n}"), b=End("b", f"swp{n}")) for n in range(1, 7))
    fabric = Fabric(name="pair", mode="lossless", devices=(crafted(0), crafted(1)), links=links)
    own, twin = seen(Reading(fabric=fabric))
    assert differences(own, twin) == {}
    routes = {item[2:]: hops for item, hops in twin.seen["routes"].items() if item[0] == "a"}
    assert routes == {
        ("", "10.0.0.2/32"): frozenset({"swp1", "bond1", "VLAN 10", "swp6"}),
        ("", "10.78.0.0/16"): frozenset({"VLAN 20"}),
        ("", "10.79.0.0/16"): frozenset({"discard"}),
        ("RED", "10.9.0.2/32"): frozenset({"swp2"}),
        ("RED", "10.77.0.0/16"): frozenset({"swp2"}),
    }


@pytest.mark.slow
def test_a_line_that_frr_refuses_stands_where_it_stands_and_its_words_are_frrs_own() -> None:
    fabric = build(shipped("two-by-two"))
    line = " neighbor 10.1.1.225 description spine1 port 1"
    reading = written(fabric, {"leaf1/frr.conf": (line, f"{line}\n neighbor 10.1.1.225 no-such-thing 4")})
    own, twin = seen(reading)
    (refused,) = twin.refused
    assert (refused.device, refused.text, refused.said) == (
        "leaf1",
        "neighbor 10.1.1.225 no-such-thing 4",
        "unknown command",
    )
    assert refused.place is not None
    text = next(one for one in reading.sources["leaf1"] if one.name == "frr.conf").held
    assert text is not None
    assert text.decode().splitlines()[refused.place.span.line - 1].strip() == refused.text
    assert refused.place.file == "frr.conf"
    assert twin.seen["configuration"] == {**own.seen["configuration"], ("leaf1",): "in part"}


def test_a_line_with_effects_outside_routing_is_no_fault_and_a_note_with_its_place() -> None:
    fabric = build(shipped("two-by-two"))
    started = prepare_start_configurations(
        written(fabric, {"leaf1/frr.conf": ("log syslog informational", "log file /etc/ld.so.preload")})
    )
    said = "left out for the daemons, no effect on routing:"
    assert [*started.left_out] == [
        f"{said} `log file /etc/ld.so.preload` (leaf1 frr.conf:3)",
        f"{said} `log syslog informational` (leaf2 frr.conf:3, spine1 frr.conf:3, spine2 frr.conf:3)",
    ]
    assert started.boots["leaf1"].text.split("\n")[2] == "!"


def asn(fabric: Fabric, device: str) -> int:
    """The AS number of a switch."""
    bgp = fabric.device(device).bgp
    assert isinstance(bgp, Bgp)
    return bgp.asn


@pytest.mark.slow
def test_a_session_that_does_not_come_up_is_told_in_frrs_words() -> None:
    fabric = build(shipped("two-by-two"))
    session = " neighbor 10.1.1.225 remote-as"
    changes = {"leaf1/frr.conf": (f"{session} {asn(fabric, 'spine1')}", f"{session} 64999")}
    own, twin = seen(written(fabric, changes))
    down = {item: twin.said["sessions", item] for item, state in twin.seen["sessions"].items() if state == "down"}
    assert set(down) == {("leaf1", "@neighbors", "10.1.1.225"), ("spine1", "@neighbors", "10.1.1.224")}
    # Both ends call at once: one of them may see another message last than the refusal.
    assert any("Bad Peer AS" in words for words in down.values()), down
    assert all(" (" in words for words in down.values()), down
    assert differences(own, twin) == {}
