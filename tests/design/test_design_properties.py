"""What holds for the fabric of every intent that can be built."""

from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nodrop
from nodrop.design.defaults import applied_defaults
from nodrop.errors import InputProblems
from nodrop.model.fabric import Device, End, Fabric, Interface
from support.designs import Data, build, changed, data_of, links_between, load, port
from support.random_designs import intents


def node_addresses(fabric: Fabric) -> list[str]:
    return [
        *(address for device in fabric.devices for one in device.interfaces for address in one.addresses),  # type: ignore[union-attr]
        *(address for device in fabric.devices for one in device.loopbacks for address in one.addresses),  # type: ignore[union-attr]
        *(address for device in fabric.devices for address in device.management.addresses),  # type: ignore[union-attr]
        *(address for host in fabric.hosts for one in host.ports for address in one.addresses),
    ]


def ends(fabric: Fabric) -> dict[End, tuple[str, ...]]:
    """The addresses of every end of a link."""
    ports: list[tuple[str, Any]] = [(device.name, one) for device in fabric.devices for one in device.interfaces]
    ports += [(host.name, one) for host in fabric.hosts for one in host.ports]
    return {End(node, one.name): one.addresses for node, one in ports if one.addresses or one.link_local}


KINDS = ("loopbacks", "links", "endpoints")


def version(network: IPv4Network | IPv6Network) -> int:
    return network.version


@given(intents())
def test_every_address_is_unique_and_inside_its_pool(data: Data) -> None:
    fabric = build(data)
    found = [ip_interface(address).ip for address in node_addresses(fabric)]
    assert len(set(found)) == len(found)
    declared = data["addressing"]
    pools = {key: sorted(map(ip_network, declared.get(key, ())), key=version) for key in KINDS}
    oob = ip_network(declared["oob"])
    switches = {device.name for device in fabric.devices}
    addresses = ends(fabric)
    for link in fabric.links:
        kind = pools["links" if {link.a.node, link.b.node} <= switches else "endpoints"]
        near, far = ([ip_interface(address) for address in addresses[end]] for end in (link.a, link.b))
        assert [one.network for one in near] == [one.network for one in far]
        for one, pool in zip(near, kind, strict=True):
            assert one.max_prefixlen - one.network.prefixlen == 1
            assert one.network.subnet_of(pool)
            assert one.version == 4 or int(one.network.network_address) % 2**64
    for device in fabric.devices:
        for address, pool in zip(device.loopbacks[0].addresses, pools["loopbacks"], strict=True):  # type: ignore[index, union-attr]
            assert ip_interface(address).network.subnet_of(pool)  # type: ignore[arg-type]
            assert ip_interface(address).network.num_addresses == 1
        assert ip_interface(device.management.addresses[0]).ip in list(oob.hosts())[:-1]  # type: ignore[union-attr]
    routers = [device.bgp.router_id for device in fabric.devices]  # type: ignore[union-attr]
    assert len(set(routers)) == len(routers)
    assert all(IPv4Address(router) in oob or IPv4Address(router) in pools["loopbacks"][0] for router in routers)


@given(intents())
def test_every_port_has_one_cable_and_every_cable_is_there(data: Data) -> None:
    fabric = build(data)
    used = Counter(end for link in fabric.links for end in (link.a, link.b))
    assert set(used.values()) == {1}
    enabled = {End(device.name, one.name) for device in fabric.devices for one in device.interfaces if one.enabled}
    nics = {End(host.name, one.name) for host in fabric.hosts for one in host.ports}
    assert set(used) == enabled | nics == set(ends(fabric))
    topology = data["topology"]
    each, leaves, spines = int(topology["uplinks"]["per_spine"]), topology["leaves"]["ids"], topology["spines"]["ids"]
    for leaf in leaves:
        for spine in spines:
            assert links_between(fabric, f"leaf{leaf}", f"spine{spine}") == each
    hosts = sum(len(group["ids"]) * int(group.get("ports", "1")) for group in data["endpoints"].values())
    assert len(fabric.links) == each * len(leaves) * len(spines) + hosts
    for link in fabric.links:
        both = [one for end in (link.a, link.b) if end in enabled for one in [port(fabric, *end)]]
        assert len({(one.speed_mbps, one.cable_length_m) for one in both}) == 1
        assert link.media != "DAC" or len({(one.lanes, one.fec) for one in both}) == 1
        assert both[0].cable_length_m == link.length_m


@given(intents())
def test_every_host_is_where_its_spread_says(data: Data) -> None:
    fabric = build(data)
    leaves: dict[str, list[str]] = {}
    for link in fabric.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            leaves.setdefault(near.node, []).append(far.node)
    for name, group in data["endpoints"].items():
        for number in group["ids"]:
            own = leaves[f"{name}{number}"]
            assert len(own) == int(group.get("ports", "1"))
            sharing = len(own) if group.get("spread") == "one-leaf" else int(group.get("ports_per_leaf", "1"))
            assert len(set(own)) == len(own) // sharing


@given(intents())
def test_a_port_of_hosts_in_rails_is_on_the_leaf_of_its_rail(data: Data) -> None:
    fabric = build(data)
    far = {end: other for link in fabric.links for end, other in ((link.a, link.b), (link.b, link.a))}
    for name, group in data["endpoints"].items():
        if group.get("spread") == "rails":
            sharing, rails = int(group.get("ports_per_leaf", "1")), range(int(group["ports"]))
            for number, rail in ((number, rail) for number in group["ids"] for rail in rails):
                leaf = int(far[End(f"{name}{number}", f"nic{rail + 1}")].node.removeprefix("leaf"))
                assert (leaf - 1) % (len(rails) // sharing) == rail // sharing


@given(intents())
def test_parts_of_a_panel_port_are_alike_and_no_lane_is_used_twice(data: Data) -> None:
    """What has no cable is whole, or the rest of a panel port some part of which has one."""
    for device in build(data).devices:
        panels: dict[int, list[Interface]] = {}
        for one in device.interfaces:
            panels.setdefault(one.port.panel, []).append(one)  # type: ignore[union-attr]
        for panel, parts in panels.items():
            lanes = {one.lanes for one in parts}
            assert [one.port for one in parts] == [(panel, number) for number in range(len(parts))]
            assert len(lanes) == 1
            assert len(parts) * lanes.pop() == (1 if panel == 65 else 8)  # type: ignore[operator]
            assert len(parts) == 1 or any(one.enabled for one in parts)


@given(intents())
def test_sessions_are_mutual_and_leaves_have_numbers_of_their_own(data: Data) -> None:
    fabric = build(data)
    by_address = {address.partition("/")[0]: end for end, own in ends(fabric).items() for address in own}
    cables = {end: other for link in fabric.links for end, other in ((link.a, link.b), (link.b, link.a))}
    routed = {4 if "." in pool else 6 for key in ("loopbacks", "endpoints") for pool in data["addressing"][key]}
    asns = {device.name: device.bgp.asn for device in fabric.devices if device.bgp}
    leaves = [asns[device.name] for device in fabric.devices if device.role == "leaf"]
    assert len(set(leaves)) == len(leaves)
    assert {asns[device.name] for device in fabric.devices if device.role == "spine"} == {4_200_000_000}
    sessions = Counter[frozenset[str]]()
    for device in fabric.devices:
        for neighbor in device.bgp.neighbors:  # type: ignore[union-attr]
            over = neighbor.interface is not None
            far = cables[End(device.name, neighbor.interface)] if over else by_address[neighbor.address]
            peer = far.node
            assert neighbor.remote_asn == asns[peer]
            carried = {4} if neighbor.active else set()
            carried |= {6} if neighbor.ipv6.active else set()
            assert carried == (routed if over else {ip_address(neighbor.address).version})
            assert over == (data["routing"]["sessions"] == "unnumbered")
            sessions[frozenset((device.name, peer))] += 1
    expected = Counter(frozenset((link.a.node, link.b.node)) for link in fabric.links)
    each = 1 if data["routing"]["sessions"] == "unnumbered" else len(routed)
    assert sessions == {pair: 2 * count * each for pair, count in expected.items() if pair <= asns.keys()}


def oversubscription(fabric: Fabric) -> float:
    def rate(device: Device, side: str) -> int:
        return sum(one.speed_mbps for one in device.interfaces if one.side == side)  # type: ignore[misc]

    return max(rate(one, "host") / rate(one, "fabric") for one in fabric.devices if one.role == "leaf")


@given(intents(), st.integers(1, 40))
def test_oversubscription_is_never_above_the_limit_and_the_hint_for_it_works(data: Data, tenths: int) -> None:
    limited = changed(data, {"topology.max_oversubscription": f"{tenths / 10}"})
    actual = oversubscription(build(data))
    if actual <= tenths / 10:
        made = build(limited)
        assert made.policy.max_oversubscription == tenths / 10
        assert replace(made, policy=build(data).policy) == build(data)
        return
    with pytest.raises(InputProblems) as raised:
        build(limited)
    (problem,) = raised.value.problems
    assert problem.where == "topology.max_oversubscription"
    keys = {"per_spine": "topology.uplinks.per_spine", "spine_slots": "topology.uplinks.spine_slots"}
    keys |= {"leaf_slots": "topology.uplinks.leaf_slots", "max_oversubscription": "topology.max_oversubscription"}
    for way in problem.hint.split(", or "):
        settings = dict(setting.split(": ") for setting in way.split(" and "))
        build(changed(limited, {keys[key]: value for key, value in settings.items()}))


@pytest.mark.slow
@given(intents(), st.integers(1, 8), st.integers(1, 12))
def test_more_uplinks_than_ports_are_refused_with_what_works(data: Data, spines: int, each: int) -> None:
    wide = {"topology.spines.ids": f"1-{spines}", "topology.uplinks.per_spine": str(each)}
    data = changed(data, wide | {"topology.max_oversubscription": "1"})
    try:
        build(data)
    except InputProblems as error:
        problems = [problem for problem in error.problems if problem.where == "topology.uplinks.per_spine"]
    else:
        problems = []
    assume(problems and "carry" not in problems[0].hint and ":" in problems[0].hint)
    for way in problems[0].hint.split(", or "):
        settings = dict(setting.split(": ") for setting in way.split(" and "))
        limit = settings.pop("max_oversubscription", "1")
        other = changed(data, {f"topology.uplinks.{key}": value for key, value in settings.items()})
        build(changed(other, {"topology.max_oversubscription": limit}))


@given(intents())
def test_defaults_written_out_give_the_same_fabric(data: Data) -> None:
    printed = {
        one.key: one.value for one in applied_defaults(load(data)) if " " not in one.key and "," not in one.value
    }
    whole = changed(data, {key: data_of(f"x: {value}\n")["x"] for key, value in printed.items()})
    assert build(whole) == build(data)


@pytest.mark.slow
@given(intents(plain=True))
def test_what_is_built_is_read_back(data: Data) -> None:
    fabric = build(data)
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    again = reading.fabric
    assert (reading.problems, reading.remarks) == ((), ())
    assert (again.links, again.hosts, again.classes) == (fabric.links, fabric.hosts, fabric.classes)
    assert (again.mode, again.policy) == (fabric.mode, fabric.policy)
    assert [device.bgp for device in again.devices] == [device.bgp for device in fabric.devices]
