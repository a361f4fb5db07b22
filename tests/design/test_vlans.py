"""Groups of hosts in a VLAN: who is in it, which addresses they have, what is announced, and what is refused."""

from typing import Any

import pytest

import nodrop
from nodrop import design
from nodrop.engine.rules import shipped_rules as rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.routing import Bgp
from support.designs import build, load, port, shipped

INTENT = "storage-vlan"


def of_storage(leaf: int) -> Vlan:
    members = tuple(VlanMember(interface=name, tagged=False) for name in ("Ethernet16", "Ethernet24"))
    return Vlan(id=100, members=members, mtu_bytes=9216, addresses=(f"10.3.{leaf}.1/24",), description="storage")


def test_a_groups_ports_on_a_leaf_share_a_vlan_and_no_switch_else_has_it() -> None:
    fabric = build(shipped(INTENT))
    assert {device.name: device.vlans for device in fabric.devices} == {
        "leaf1": (of_storage(1),),
        "leaf2": (of_storage(2),),
        "spine1": (),
        "spine2": (),
    }
    assert (port(fabric, "leaf1", "Ethernet16").addresses, port(fabric, "leaf1", "Ethernet16").link_local) == (
        (),
        False,
    )
    assert port(fabric, "leaf1", "Ethernet0").addresses == ("10.2.1.0/31",)


def test_hosts_have_addresses_of_their_leafs_subnet_by_port() -> None:
    hosts = {host.name: [port.addresses for port in host.ports] for host in build(shipped(INTENT)).hosts}
    assert hosts["storage1"] == [("10.3.1.10/24",)]
    assert hosts["storage2"] == [("10.3.1.14/24",)]
    assert hosts["storage3"] == [("10.3.2.10/24",)]
    assert hosts["gpu1"] == [("10.2.1.1/31",), ("10.2.2.1/31",)]


def test_a_leaf_announces_its_subnet_and_all_take_it() -> None:
    fabric = build(shipped(INTENT))
    leaf, spine = fabric.device("leaf2").bgp, fabric.device("spine1").bgp
    assert isinstance(leaf, Bgp)
    assert isinstance(spine, Bgp)
    assert leaf.networks == ("10.0.0.2/32", "10.2.2.0/24", "10.3.2.0/24")
    assert spine.networks == ("10.0.64.1/32",)
    taken = [(rule.prefix, rule.ge, rule.le) for rule in spine.prefix_lists[0].rules]
    assert taken[-1] == ("10.3.0.0/16", 24, 24)


def test_a_vlan_has_both_families_where_its_pools_do() -> None:
    pools = {"addressing.links": ["10.1.0.0/16", "fd00:1::/48"], "addressing.loopbacks": ["10.0.0.0/16", "fd00::/48"]}
    vlan = {"endpoints.storage.vlan.pool": ["10.3.0.0/16", "fd00:3::/48"]}
    fabric = build(shipped(INTENT, pools | vlan))
    (found,) = fabric.device("leaf1").vlans
    assert found.addresses == ("10.3.1.1/24", "fd00:3:0:1::1/64")
    assert fabric.hosts[-1].ports[0].addresses == ("10.3.2.14/24", "fd00:3:0:2::e/64")


def test_hosts_csv_tells_the_gateway_of_the_vlan() -> None:
    files = {one.path: one.text for one in nodrop.rack(build(shipped(INTENT)))}
    row = next(line for line in files["plan/hosts.csv"].splitlines() if line.startswith("storage3,"))
    assert row.split(",")[6:8] == ["10.3.2.10/24", "10.3.2.1"]
    assert "leaf2,vlan100,10.3.2.1/24,,," in files["plan/addresses.csv"].splitlines()


def test_spines_may_run_another_platform() -> None:
    intent = shipped(INTENT, {"topology.spines.platform": "nvue", "topology.spines.version": "5.16"})
    fabric = build(intent)
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    verdict = judge(reading, rules())
    assert (verdict.findings, verdict.unknown) == ((), ())
    assert reading.fabric.device("leaf1").vlans == (of_storage(1),)


@pytest.mark.parametrize(
    ("changes", "where", "found", "expected"),
    [
        (
            {"endpoints.gpu.vlan": {"id": 100, "pool": "10.4.0.0/16"}},
            "endpoints.storage.vlan.id",
            "VLAN 100, which gpu has too",
            "a unique number",
        ),
        (
            {"endpoints.storage.vlan.pool": "10.2.128.0/17"},
            "endpoints.storage.vlan.pool",
            "10.2.128.0/17 overlaps endpoints, 10.2.0.0/16",
            "a separate pool",
        ),
        (
            {"endpoints.storage.vlan.pool": "10.3.0.0/23"},
            "endpoints.storage.vlan.pool",
            "leaf2 needs 768 addresses from the start of the pool, which has 512",
            "",
        ),
        (
            {"endpoints.storage.vlan.pool": "fd00:3::/48"},
            "addressing.links",
            "no IPv6 pool, but endpoints.storage.vlan.pool of IPv6",
            "one IPv6 pool",
        ),
    ],
)
def test_refused(changes: dict[str, Any], where: str, found: str, expected: str) -> None:
    with pytest.raises(InputProblems) as caught:
        design.build(load(shipped(INTENT, changes)))
    (problem,) = caught.value.problems
    assert (problem.where, problem.found, problem.expected) == (where, found, expected)
