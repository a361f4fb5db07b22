"""What switches, ports and hosts of others' configurations are taken for."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings

import nodrop
from nodrop.design.boxes import switches_of
from nodrop.design.naming import host_identities, name_of, naming_of
from nodrop.design.topology import topology_of
from nodrop.hardware import media
from nodrop.importing import derive_intent
from nodrop.importing.grouping import build_tier_view
from nodrop.importing.pods import find_pods_per_upper_pod
from nodrop.importing.uplinks import find_fitting_medium
from nodrop.model.bridging import PortChannel
from nodrop.model.compare import differences
from nodrop.model.fabric import Fabric
from nodrop.model.far_ends import parse_host_name
from nodrop.model.states import UNKNOWN, known_rows
from support.designs import Data, build, data_of, load, shipped
from support.imported_fabrics import as_read, bare, called, imported, without_names
from support.random_topologies import topologies
from support.tiered_intents import group, hosts, intent, links, many_tiers, peers


def unnumbered_alone() -> Fabric:
    """A fabric whose cables no file names: sessions go over interfaces, and ports have no descriptions."""
    fabric = bare("unnumbered")
    devices = (
        replace(one, interfaces=tuple(replace(port, description=None, side=UNKNOWN) for port in one.interfaces))
        for one in fabric.devices
    )
    return replace(fabric, devices=tuple(devices), links=())


def test_ports_with_sessions_over_interfaces_are_uplinks_where_no_cable_is_known() -> None:
    found = derive_intent(unnumbered_alone(), source="site")
    assert "uplinks: 29-32" in found.text
    assert "uplinks: {per_spine: 2, speed: 400G," in found.text
    assert found.intent is not None
    assert [one for one in found.unlike if one.path.startswith(("links", "bgp"))] == []


def test_spines_under_superspines_are_leaves_where_nothing_is_below_them() -> None:
    whole = bare("two-by-two")
    up = {"leaf": "spine", "spine": "superspine"}
    fabric = replace(whole, devices=tuple(replace(one, role=up[str(one.role)]) for one in whole.devices))
    found = derive_intent(fabric, source="site")
    assert "ports: {endpoints: 1-3, uplinks: 29-32}}" in found.text
    assert any(
        one.startswith("topology.leaves.ids: which switches these are follows from roles") for one in found.guessed
    )
    assert {one.path for one in found.unlike} == {"role"}


def test_one_role_for_all_switches_is_none_where_cables_join_them() -> None:
    names = {"leaf1": "sonic3", "leaf2": "sonic4", "spine1": "sonic1", "spine2": "sonic2"}
    found = derive_intent(called(bare("two-by-two"), names, role="spine"), source="site")
    assert 'names: {template: {spine: "sonic{id}"}, devices: {leaf1: sonic3, leaf2: sonic4}}' in found.text
    assert "topology.spines.ids: which switches these are follows from their cables" in found.guessed


def test_switches_called_spines_are_leaves_where_hosts_are_in_their_vlans() -> None:
    names = {"leaf1": "core-01", "leaf2": "core-02"}
    found = derive_intent(called(bare("storage-vlan"), names, role=UNKNOWN), source="site")
    assert 'names: {template: {leaf: "core-{id:02}"}}' in found.text
    assert "topology.spines: no switch is known to be a spine" in found.lacking


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["leaf01", "leaf02", "exit01", "exit02"], [3, 4, 1, 2]),
        (["r1-leaf1", "r2-leaf1"], [1, 2]),
        (["leaf101", "leaf102"], [101, 102]),
        (["sn2410"], [1]),
        (["leaf14"], [1]),
        (["Linecard1-asic0", "Linecard2-asic1"], [1, 2]),
    ],
)
def test_switches_have_the_numbers_of_their_names(names: list[str], numbers: list[int]) -> None:
    fabric = bare("two-by-two")
    devices = tuple(replace(fabric.devices[0], name=name, role="leaf") for name in names)
    sight = build_tier_view(replace(fabric, devices=devices, links=()))
    assert {box.was: box.id for box in sight.host_facing_switches} == dict(zip(names, numbers, strict=True))


def test_ports_with_sessions_to_what_was_not_read_lead_to_no_hosts() -> None:
    whole = bare("two-by-two")
    names = {"leaf1": "tor-1", "leaf2": "tor-2"}
    alone = called(whole, names)
    devices = tuple(
        replace(one, interfaces=tuple(replace(port, description=None, side=UNKNOWN) for port in one.interfaces))
        for one in alone.devices
    )
    found = derive_intent(replace(alone, devices=devices), source="site")
    assert "tor-1 Ethernet[224-248 by 8]: BGP sessions with switches whose files are not here" in found.left
    assert "ports:\n      endpoints: 1-3\n" in found.text
    assert "      # uplinks: 29-32\n" in found.text


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("gpu3:nic1", ("gpu", 3)),
        ("to_server01", ("server", 1)),
        ("link to storage-2 eth0", ("storage-", 2)),
        ("gpu-07-eth1", ("gpu-", 7)),
        ("su-02-node-07", ("su-02-node-", 7)),
        ("dgx12/mlx5_0", ("dgx", 12)),
        ("leaf2:swp3", None),
        ("uplink", None),
    ],
)
def test_hosts_are_named_by_what_stands_in_descriptions(text: str, host: tuple[str, int] | None) -> None:
    found = parse_host_name(text)
    assert found == (None if host is None else (host[0].rstrip("-"), host[1]))


def test_descriptions_of_bundles_name_hosts() -> None:
    whole = bare("storage-vlan")
    bundle = PortChannel(name="PortChannel1", members=("Ethernet0",), description="su-01-node-07")
    devices = tuple(
        replace(
            one,
            port_channels=(bundle,) if one.name == "leaf1" else one.port_channels,
            interfaces=tuple(replace(port, description=None) for port in one.interfaces),
        )
        for one in whole.devices
    )
    between = tuple(one for one in whole.links if {one.a.node, one.b.node} <= {device.name for device in devices})
    found = derive_intent(replace(whole, devices=devices, links=between), source="site")
    assert "su-01-node: {ids: 7," in found.text


def test_unnamed_hosts_are_groups_by_vlan_and_split() -> None:
    whole = bare("storage-vlan")
    switches = {one.name for one in whole.devices}
    devices = tuple(
        replace(one, interfaces=tuple(replace(port, description=None) for port in one.interfaces))
        for one in whole.devices
    )
    between = tuple(one for one in whole.links if {one.a.node, one.b.node} <= switches)
    found = derive_intent(replace(whole, devices=devices, links=between), source="site")
    assert found.intent is not None
    assert {name: one.vlan and one.vlan.id for name, one in found.intent.endpoints.items()} == {
        "host": None, "host-vlan100": 100,
    }  # fmt: skip


def test_media_of_40g_are_known() -> None:
    assert {name for name, one in media().items() if 40_000 in one.speeds} == {"AOC", "DAC", "LR4", "SR4"}
    assert find_fitting_medium(40_000, 30) == "AOC"


def assert_topology_comes_back(data: Data) -> None:
    """Import a build with its names and without any, and hold it for names and addresses that are there twice."""
    fabric = build(data)
    found = imported(fabric)
    assert (found.left, found.lacking, found.problems, found.guessed) == ((), (), (), ())
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []
    unnamed = without_names(data)
    assert (unnamed.left, unnamed.lacking, unnamed.problems) == ((), (), ())
    addresses = [
        text
        for device in fabric.devices
        for each in (*known_rows(device.loopbacks), *device.interfaces)
        for text in known_rows(each.addresses)
    ]
    names = [device.name for device in fabric.devices] + [host.name for host in fabric.hosts]
    assert len(set(addresses)) == len(addresses)
    assert len(set(names)) == len(names)


def nested_pods() -> Data:
    """Pods in pods in pods: two leaves and a spine, two of these below a hub, two of those below two cores."""
    groups = {
        "leaf": group(
            1, "1-15", per_pod="2", ports={"endpoints": "1-4"}, uplinks={"spine": links("29-32", 2, peer_ports="1-4")}
        ),
        "spine": group(2, "1-8", per_pod="1", uplinks={"hub": links("29-32", 2, peer_ports="1-8", pods="2")}),
        "hub": group(3, "1-4", per_pod="1", uplinks={"core": links("25-32", 4, peer_ports="1-16", pods="2")}),
        "core": group(4, "1-4", platform="nvue", per_pod="2", uplinks={"apex": links("17-24", 4)}),
        "apex": group(5, "1-2", platform="nvue"),
    }
    asn = {"leaf": "4200100000+"} | {name: f"42002{tier}0000+pod" for tier, name in enumerate(["spine", "hub", "core"])}
    servers = hosts(ids="1-16", leaf_group="4", ports="1")
    return intent(groups, {"gpu": servers}, asn | {"apex": "4200500000"}, **{"topology.max_oversubscription": "4"})


MANY_TIERS = {
    "four": many_tiers(4), "five": many_tiers(5), "five-sonic": many_tiers(5, "sonic"), "nested": nested_pods(),
}  # fmt: skip


@pytest.mark.parametrize("shape", MANY_TIERS)
def test_pods_of_pods_come_back_with_names_and_without(shape: str) -> None:
    assert_topology_comes_back(MANY_TIERS[shape])


def test_cables_that_no_rule_gives_out_come_back_as_a_sheet() -> None:
    data = shipped("cabling-sheet")
    assert_topology_comes_back(data)
    text = imported(build(data)).text
    assert '  cables:\n    - "leaf1:Ethernet224--spine1:1/1"\n' in text
    assert '    - "leaf3:Ethernet152--spine1:9/1 50m"\n' in text


def test_a_sheet_is_written_where_files_alone_give_no_length_of_cables() -> None:
    found = derive_intent(bare("cabling-sheet"), source="site")
    assert "\n  kind: cabling\n" in found.text
    assert "guessed: the longest length that ports state; no file states cable lengths\n  length: 50m\n" in found.text
    assert (found.problems, found.unlike) == ((), ())


def test_ids_that_no_pods_suit_are_replaced_pod_by_pod() -> None:
    """Where neither names nor addresses number switches, those of a pod, and pods of a pod, follow each other."""
    fabric = as_read(build(nested_pods()))
    numbers = random.Random(3).sample(range(1000, 9000), len(fabric.devices))
    names = {device.name: f"sw{number}x" for device, number in zip(fabric.devices, numbers, strict=True)}
    unnumbered = called(fabric, names, role=UNKNOWN, management=UNKNOWN, loopbacks=UNKNOWN, bgp=UNKNOWN)
    groups = build_tier_view(unnumbered).groups
    assert [(group.tier, group.per_pod, len(group.boxes)) for group in groups] == [
        (0, 2, 15), (1, 1, 8), (2, 1, 4), (3, 2, 4), (4, None, 2),
    ]  # fmt: skip
    old_names = {new: old for old, new in names.items()}
    for lower, pods_of_pod in zip(groups[:3], (1, 2, 2), strict=True):
        above = groups[lower.tier + 1]
        pod_of_upper = {old_names[box.was]: above.pod_of_switch_id(box.id) for box in above.boxes}
        for box in lower.boxes:
            uppers = {pod_of_upper[name] for name in peers(fabric, old_names[box.was]) if name in pod_of_upper}
            assert uppers == {(lower.pod_of_switch_id(box.id) - 1) // pods_of_pod + 1}


@pytest.mark.parametrize(
    ("pairs", "ratio"),
    [
        ([], 1), ([(0, 0)], 1), ([(0, 0), (1, 1)], 1), ([(0, 0), (1, 0), (2, 1)], 2), ([(2, 0), (3, 1)], 3),
        ([(0, 0), (4, 1)], 3), ([(0, 0), (1, 0), (2, 0), (2, 1)], None), ([(1, 0), (0, 1)], None),
    ],
)  # fmt: skip
def test_pods_of_a_pod_are_as_many_for_each(pairs: list[tuple[int, int]], ratio: int | None) -> None:
    assert find_pods_per_upper_pod(pairs) == ratio


@given(topologies())
@settings(max_examples=4)
def test_random_topologies_come_back_with_names_and_without(data: Data) -> None:
    assert_topology_comes_back(data)


@given(topologies())
@pytest.mark.nightly
def test_many_random_topologies_come_back_with_names_and_without(data: Data) -> None:
    assert_topology_comes_back(data)


@pytest.mark.parametrize(
    "names",
    [
        {"spine1": "hall7-a", "spine2": "hall8-b"},
        {"leaf1": "rack12-a", "leaf2": "rack13-b"},
        {"spine1": "n5dcea7", "spine2": "n73b7ef", "leaf1": "n92", "leaf2": "n17"},
    ],
)
def test_digits_of_names_that_are_no_numbers_of_a_plan_change_no_address(names: dict[str, str]) -> None:
    found = derive_intent(as_read(build(shipped("two-by-two", {"names": {"devices": names}}))), source="site")
    assert found.rebuilds_same_fabric, found.left
    assert found.intent is not None
    assert {group.wanted.ids for group in topology_of(found.intent).groups} == {(1, 2)}
    assert {node.name for node in switches_of(found.intent).all} >= {*names.values()}


@pytest.mark.parametrize(
    "names",
    [
        {"devices": {"gpu2": "zeta"}},
        {"devices": {"gpu1": "node77", "gpu2": "b-rack"}},
        {"hosts": {"gpu": "dgx-a{id:02}", "storage": "nas{id:03}"}},
        {"devices": {"gpu1": "db9", "gpu2": "x4", "storage1": "delta", "storage2": "y0"}},
    ],
)
def test_hosts_that_only_descriptions_name_keep_their_names(names: Data) -> None:
    found = derive_intent(as_read(build(shipped("two-by-two", {"names": names}))), source="site")
    assert found.rebuilds_same_fabric, found.left
    assert "extra" not in found.text
    assert found.intent is not None
    naming = naming_of(found.intent)
    back = {name_of(naming, identity) for identity in host_identities(found.intent.endpoints)}
    wanted = load(shipped("two-by-two", {"names": names}))
    assert back == {name_of(naming_of(wanted), identity) for identity in host_identities(wanted.endpoints)}


def test_a_port_whose_description_names_no_host_is_reported() -> None:
    fabric = bare("two-by-two")
    devices = tuple(
        replace(
            device,
            interfaces=tuple(
                replace(port, description="firewall") if device.name == "leaf2" and port.name == "Ethernet0" else port
                for port in device.interfaces
            ),
        )
        for device in fabric.devices
    )
    links = tuple(link for link in fabric.links if ("leaf2", "Ethernet0") not in (link.a, link.b))
    found = derive_intent(replace(fabric, devices=devices, links=links), source="site")
    assert any(text.startswith("leaf2 Ethernet0: described as firewall, in which is no host") for text in found.left)
    assert not found.rebuilds_same_fabric


SPEEDS = """\
nodrop: 1
fabric: speeds
topology:
  kind: cabling
  groups:
    leaf: {tier: 1, ids: 1-2, model: SN5600, platform: sonic, version: "202505", ports: {endpoints: 1-2}}
    spine: {tier: 2, ids: 1-2, model: SN5600, platform: sonic, version: "202505"}
  length: 20m
  max_oversubscription: 2
  cables:
    - leaf1:41--spine1:5 800G DR8
    - leaf1:42--spine2:5 800G DR8
    - leaf1:43/1--spine1:6/1 400G DR4
    - leaf2:41--spine1:7 800G DR8
    - leaf2:42--spine2:7 800G DR8
    - leaf2:43/2--spine2:6/1 400G DR4
endpoints:
  gpu:
    {ids: 1-4, nic: ConnectX-7, ports: 2, spread: one-leaf, leaf_group: 2, split: 2, media: DR4, length: 5m,
     speed: 400G}
classes:
  rdma:    {dscp: 26, priority: 3, lossless: true, share: 60%, ecn: {min: 150kB, max: 1500kB, probability: 100%}}
  cnp:     {dscp: 48, priority: 6, strict: true, max_rate: 5%}
  control: {dscp: 56, priority: 7, strict: true}
  default: {dscp: rest, priority: 0, share: 40%}
routing: {asn: {leaf: 4200100000+, spine: 4200000000}}
addressing: {loopbacks: 10.0.0.0/16, links: 10.4.0.0/14, endpoints: 10.16.0.0/14, oob: 192.168.0.0/22}
"""


def test_cables_of_two_speeds_that_no_rule_gives_out_are_stated_one_by_one() -> None:
    found = derive_intent(as_read(build(data_of(SPEEDS))), source="site")
    assert "\n  kind: cabling\n" in found.text
    assert found.rebuilds_same_fabric, (found.problems, found.left)


def test_hosts_that_descriptions_name_make_groups_of_switches() -> None:
    cable = {"speed": "400G", "media": "DR4", "length": "20m"}
    groups = {
        name: {
            "tier": "1", "ids": "1-2", "model": "SN4700", "platform": "sonic", "version": "202505", **offset,
            "ports": {"endpoints": "1-2"},
            "uplinks": {"spine": {"ports": "29-32", "peer_ports": ports, "links": "2", **cable}},
        }
        for name, offset, ports in (("racka", {}, "1-4"), ("rackb", {"offset": "50"}, "9-12"))
    }  # fmt: skip
    spine = {"tier": "2", "ids": "1-2", "model": "SN4700", "platform": "sonic", "version": "202505"}
    host = {"nic": "ConnectX-7", "ports": "2", "speed": "400G", "media": "DR4", "length": "5m", "ids": "1-2"}
    data = data_of(SPEEDS) | {
        "topology": {"kind": "tiers", "groups": groups | {"spine": spine}},
        "endpoints": {f"gpu{letter}": {"leaves": f"rack{letter}", "leaf_group": "2", **host} for letter in ("a", "b")},
    }
    data["routing"] = {"asn": {"racka": "4200100000+", "rackb": "4200100000+", "spine": "4200000000"}}
    found = derive_intent(as_read(build(data)), source="site")
    assert found.rebuilds_same_fabric, (found.problems, found.left)


def test_broken_out_ports_with_sessions_over_interfaces_are_counted_by_their_parts() -> None:
    """No file of NVUE says which of them leads where; two panel ports of a leaf have four cables to each spine."""
    data = shipped("adaptive", {"routing.sessions": "unnumbered", "addressing.links": None})
    found = derive_intent(as_read(build(data)), source="site")
    assert (found.problems, found.lacking) == ((), ())
    assert found.intent is not None
    uplinks = found.intent.topology.uplinks
    assert (uplinks.per_spine, uplinks.split) == (4, 2)
