"""Neighbors outside the fabric: their ports, sessions and policies, what they may announce, and what hears of it."""

from typing import Any

import pytest

import nodrop
from nodrop.analyses import session_families
from nodrop.design.deciding import find_decision
from nodrop.intent.load import load
from nodrop.model.external import ExternalNeighbor, ExternalPort
from nodrop.model.fabric import Device, End, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor, PrefixList
from nodrop.report.outside import outside_session_facts, outside_session_rows
from nodrop.report.rack import cabling_address_host_csvs
from nodrop.resources import resource_folder
from support.designs import build, changed, shipped

BORDER = resource_folder("intents") / "border.yaml"


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return nodrop.build(load(BORDER))


def bgp_of(device: Device) -> Bgp:
    assert isinstance(device.bgp, Bgp)
    return device.bgp


def session(fabric: Fabric, device: str, address: str) -> BgpNeighbor:
    neighbors = bgp_of(fabric.device(device)).neighbors
    assert isinstance(neighbors, tuple)
    return next(one for one in neighbors if one.address == address)


def rules(fabric: Fabric, device: str, name: str) -> list[tuple[str, str, Any, Any]]:
    lists: dict[str, PrefixList] = {one.name: one for one in bgp_of(fabric.device(device)).prefix_lists}
    return [(rule.action, rule.prefix, rule.ge, rule.le) for rule in lists[name].rules]


def port(fabric: Fabric, device: str, name: str) -> Interface:
    return next(one for one in fabric.device(device).interfaces if one.name == name)


def test_the_port_is_lossy_and_has_no_watchdog(fabric: Fabric) -> None:
    found = port(fabric, "leaf1", "Ethernet64")
    assert (found.speed_mbps, found.mtu_bytes, found.side) == (200_000, 9000, None)
    assert found.addresses == ("198.51.100.1/30",)
    qos = found.qos
    assert qos is not None
    assert (qos.pfc_rx_priorities, qos.pfc_tx_priorities, qos.pfc_watchdog) == ((), (), None)  # type: ignore[union-attr]
    assert [group.index for group in qos.priority_groups] == [0]  # type: ignore[union-attr]
    assert set(qos.tc_to_priority_group[:8]) == {0}  # type: ignore[union-attr, index]
    assert {queue.buffer.pool for queue in qos.queues} == {"egress_lossy"}  # type: ignore[union-attr]
    assert qos.dscp_to_tc == port(fabric, "leaf1", "Ethernet0").qos.dscp_to_tc  # type: ignore[union-attr]


def test_a_session_has_its_number_policies_and_limit(fabric: Fabric) -> None:
    one = session(fabric, "leaf1", "198.51.100.2")
    assert (one.remote_asn, one.description, one.maximum_prefix, one.bfd) == (65002, "gateway", 100, False)
    assert (one.import_policy, one.export_policy) == ("EXT-gateway-IN", "EXT-gateway-OUT")
    new = session(fabric, "border1", "2001:db8::1")
    assert (new.active, new.ipv6.active, new.ipv6.maximum_prefix) == (False, True, 1000)
    assert (new.ipv6.import_policy, new.ipv6.export_policy) == ("EXT6-wan-IN", "EXT6-wan-OUT")


def test_only_stated_prefixes_are_accepted_and_none_of_a_pool(fabric: Fabric) -> None:
    assert rules(fabric, "leaf1", "EXT-gateway-ACCEPT") == [
        ("deny", "10.0.0.0/16", None, 32),
        ("deny", "10.1.0.0/16", None, 32),
        ("deny", "10.2.0.0/16", None, 32),
        ("deny", "192.168.100.0/24", None, 32),
        ("permit", "10.64.0.0/16", None, 24),
    ]
    assert rules(fabric, "border2", "EXT-wan-ACCEPT")[-1] == ("permit", "0.0.0.0/0", None, None)


def test_only_host_networks_are_announced(fabric: Fabric) -> None:
    assert rules(fabric, "border1", "EXT-wan-ANNOUNCE") == [("permit", "10.2.0.0/16", 24, 24)]
    assert rules(fabric, "border1", "EXT6-wan-ANNOUNCE") == [("permit", "fd00:2::/48", 64, 64)]
    assert rules(fabric, "leaf1", "EXT-gateway-ANNOUNCE") == [("permit", "10.2.0.0/22", 24, 24)]


@pytest.mark.parametrize("device", ["leaf1", "border1", "spine1"])
def test_all_switches_take_the_prefixes_from_each_other(fabric: Fabric, device: str) -> None:
    assert rules(fabric, device, "FABRIC")[-2:] == [
        ("permit", "0.0.0.0/0", None, None),
        ("permit", "10.64.0.0/16", None, 24),
    ]


def test_a_leaf_passes_on_what_its_own_neighbor_announces_alone(fabric: Fabric) -> None:
    """By the AS path: a route that came down from a spine does not go up again."""
    maps = {one.name: one for one in bgp_of(fabric.device("leaf1")).route_maps}
    assert [rule.matches for rule in maps["FABRIC-OUT"].rules] == [
        (("ip address prefix-list", "OWN"),),
        (("as-path", "EXT-gateway"), ("ip address prefix-list", "EXT-gateway-ACCEPT")),
    ]
    assert [one.rules for one in bgp_of(fabric.device("leaf1")).as_path_lists] == [(("permit", "^65002_"),)]
    assert len({one.name: one for one in bgp_of(fabric.device("leaf1")).route_maps}["FABRIC6-OUT"].rules) == 1


def test_no_neighbor_outside_hears_what_another_announces(fabric: Fabric) -> None:
    """What is announced are networks of pools, and no neighbor may announce one of these."""
    for device in ("leaf1", "border1"):
        process = bgp_of(fabric.device(device))
        for name in [one.name for one in process.prefix_lists if one.name.endswith("-ANNOUNCE")]:
            for _, prefix, *_ in rules(fabric, device, name):
                assert prefix.startswith(("10.2.", "fd00:2:"))
        for name in [one.name for one in process.prefix_lists if one.name.endswith("-ACCEPT")]:
            denied = {prefix for action, prefix, *_ in rules(fabric, device, name) if action == "deny"}
            assert denied & {"10.2.0.0/16", "fd00:2::/48"}


def test_the_fabric_states_which_nodes_are_outside(fabric: Fabric) -> None:
    gateway, wan = fabric.external
    assert gateway == ExternalNeighbor(
        name="gateway",
        asn=65002,
        ports=(
            ExternalPort(name="to-leaf1-9", addresses=("198.51.100.2/30",)),
            ExternalPort(name="to-leaf2-9", addresses=("198.51.100.6/30",)),
        ),
        announces=("10.64.0.0/16 le 24",),
        receives=("10.2.0.0/22 le 24",),
    )
    assert (wan.announces, wan.receives) == (("0.0.0.0/0", "::/0"), ("10.2.0.0/16 le 24", "fd00:2::/48 le 64"))
    assert Index(fabric).far_end("leaf1", "Ethernet64") == End("gateway", "to-leaf1-9")
    addresses = next(one.text for one in cabling_address_host_csvs(fabric) if one.path.endswith("addresses.csv"))
    assert "leaf1,Ethernet64,198.51.100.1/30,gateway,to-leaf1-9,198.51.100.2\n" in addresses


ALL = {
    "sonic": ("sonic", "202505"),
    "sonic-202305": ("sonic", "202305"),
    "sonic-tables": ("sonic", "202511"),
    "nvue": ("nvue", "5.16"),
    "nvue-5.9": ("nvue", "5.9"),
}


@pytest.mark.parametrize("name", ALL)
def test_every_platform_reads_it_back_without_findings(name: str) -> None:
    platform, version = ALL[name]
    groups = {
        f"topology.groups.{group}.{key}": value
        for group in ("leaf", "border", "spine")
        for key, value in (("platform", platform), ("version", version))
    }
    changes = {**groups, **({"routing.delivery": "tables"} if name == "sonic-tables" else {})}
    built = build(shipped("border", {**changes, "external.wan.bfd": True}))
    reading = nodrop.read_back(list(nodrop.write(built)), built)
    outcome = nodrop.lint(reading)
    assert not outcome.findings
    assert not outcome.unknown
    assert reading.fabric.external == built.external


def test_bfd_between_switches_leaves_neighbors_outside_alone() -> None:
    built = build(shipped("border", {"routing.bfd": True}))
    assert not session(built, "leaf1", "198.51.100.2").bfd
    assert session(built, "leaf1", "10.1.1.225").bfd


def test_a_part_of_a_port_and_a_lossless_pool_of_nobody_else() -> None:
    changes = {
        "external.gateway.links": {"leaf1": {"9/1": "198.51.100.1/30", "9/2": "198.51.100.5/30"}},
        "external.gateway.split": "4",
        "external.gateway.speed": "100G",
        "external.gateway.media": "DR",
    }
    built = build(shipped("border", changes))
    assert [port(built, "leaf1", f"Ethernet{number}").speed_mbps for number in (64, 66)] == [100_000, 100_000]


def test_order_of_lists_and_names_changes_nothing() -> None:
    data = shipped("border")
    other = changed(data, {"external": {name: data["external"][name] for name in reversed(data["external"])}})
    other["external"]["wan"]["accept"] = list(reversed(other["external"]["wan"]["accept"]))
    assert build(other) == build(data)


def test_without_neighbors_outside_nothing_else_changes() -> None:
    """A neighbor changes its ports and sessions, and the prefixes that all take from each other."""
    whole, none = build(shipped("border")), build(shipped("border", {"external": None}))
    spines = [one.device("spine1") for one in (whole, none)]
    assert spines[0].interfaces == spines[1].interfaces
    assert bgp_of(spines[0]).neighbors == bgp_of(spines[1]).neighbors


def test_findings_name_the_keys_of_the_neighbor() -> None:
    intent = load(BORDER)
    for subject, keys in (
        (("leaf1", "Ethernet64", "speed_mbps"), ("external", "gateway", "speed")),
        (("leaf1", "Ethernet64", "mtu_bytes"), ("external", "gateway", "mtu")),
        (("leaf1", "Ethernet64", "addresses"), ("external", "gateway", "links")),
        (("leaf1", "@bgp", "neighbors", "198.51.100.2", "remote_asn"), ("external", "gateway", "asn")),
        (("leaf1", "@bgp", "prefix_lists", "EXT-gateway-ACCEPT"), ("external", "gateway")),
        (("leaf1", "@bgp", "prefix_lists", "FABRIC"), ("addressing", "loopbacks")),
    ):
        decision = find_decision(intent, subject)
        assert decision is not None
        assert decision.keys == keys


def test_the_sessions_are_shown_with_what_goes_over_them(fabric: Fabric) -> None:
    rows = outside_session_facts(fabric)
    assert [(row["switch"], row["port"], row["neighbor"]) for row in rows] == [
        ("border1", "swp1", "wan"),
        ("border1", "swp1", "wan"),
        ("border2", "swp1", "wan"),
        ("border2", "swp1", "wan"),
        ("leaf1", "Ethernet64", "gateway"),
        ("leaf2", "Ethernet64", "gateway"),
    ]
    assert rows[1] == {
        "switch": "border1",
        "port": "swp1",
        "address": "2001:db8::/127",
        "neighbor": "wan",
        "neighbor_address": "2001:db8::1",
        "asn": 65001,
        "accepts": ["::/0"],
        "announces": ["fd00:2::/48 le 64"],
    }
    silent = build(shipped("border", {"external.gateway.accept": [], "external.gateway.announce": []}))
    assert list(outside_session_rows(outside_session_facts(silent)))[-1][-2:] == ("nothing", "nothing")
    assert outside_session_facts(build(shipped("two-by-two"))) == []


def test_a_link_to_a_neighbor_outside_may_carry_one_family_beside_another_that_carries_both() -> None:
    data = shipped(
        "border", {"external.wan.links.border1": {"1": ["192.0.2.0/31", "2001:db8::/127"], "2": "192.0.2.4/31"}}
    )
    assert [*session_families.find(Index(build(data)))] == []
