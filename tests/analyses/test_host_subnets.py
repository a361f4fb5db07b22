"""Which ports are reported whose hosts are in other subnets, or in a VRF without BGP."""

from typing import Any

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses.host_subnets import find
from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import look, with_changes

BARE = {"leaf1/Ethernet16/addresses": []}


def outside(fabric: Fabric) -> dict[tuple[str, ...], Any]:
    hits = [one for one in find(Index(fabric), what="subnet") if isinstance(one, AnalysisHit)]
    return {one.subject: (one.facts["address"], one.facts["has"]) for one in hits}


def with_vlans(changes: dict[str, object], **devices: tuple[Vlan, ...]) -> Fabric:
    fabric = with_changes(changes)
    return replace_fields(
        fabric,
        devices=tuple(
            replace_fields(one, vlans=devices[one.name]) if one.name in devices else one for one in fabric.devices
        ),
    )


def vlan(port: str, *addresses: str, tagged: bool = False) -> tuple[Vlan, ...]:
    return (Vlan(id=100, members=(VlanMember(interface=port, tagged=tagged),), addresses=addresses),)


def test_a_port_is_reported_with_the_host_and_what_the_switch_has_instead() -> None:
    assert look("host_subnets", {"leaf1/Ethernet16/addresses": ["10.2.1.16/32"]}, what="subnet") == {
        "leaf1/Ethernet16": {
            "port": "Ethernet16",
            "host": "storage1",
            "nic": "nic1",
            "address": "10.2.1.17",
            "has": "has 10.2.1.16 there",
        }
    }
    assert outside(with_changes(BARE)) == {("leaf1", "Ethernet16"): ("10.2.1.17", "has no address there")}


def test_where_no_switch_is_in_a_subnet_of_its_hosts_nothing_is_reported() -> None:
    bridged = {f"leaf{leaf}/Ethernet{port}/addresses": [] for leaf in (1, 2) for port in (0, 8, 16)}
    assert outside(with_changes(bridged)) == {}


def test_a_vlan_routes_for_its_members_and_one_that_is_bridged_only_for_none() -> None:
    assert outside(with_vlans(BARE, leaf1=vlan("Ethernet16", "10.2.1.16/31"))) == {}
    assert outside(with_vlans(BARE, leaf1=vlan("Ethernet16"))) == {}
    elsewhere = with_vlans(BARE, leaf1=vlan("Ethernet16"), leaf2=vlan("Ethernet224", "10.3.1.1/24"))
    assert outside(elsewhere) == {("leaf1", "Ethernet16"): ("10.2.1.17", "has no address there")}


def test_a_tag_is_a_fault_where_other_ports_of_the_vlan_go_without() -> None:
    tagged = vlan("Ethernet16", "10.2.1.16/31", tagged=True)
    assert outside(with_vlans(BARE, leaf1=tagged)) == {}
    both = BARE | {"leaf2/Ethernet16/addresses": []}
    assert outside(with_vlans(both, leaf1=tagged, leaf2=vlan("Ethernet16", "10.2.2.16/31"))) == {
        ("leaf1", "Ethernet16"): ("10.2.1.17", "is in VLAN 100 with a tag only")
    }


def test_a_vrf_is_reported_where_the_switch_runs_bgp_in_another() -> None:
    stray = {"leaf1/Ethernet16/vrf": "Vrf9"}
    assert look("host_subnets", stray, what="vrf") == {
        "leaf1/Ethernet16": {"port": "Ethernet16", "host": "storage1", "nic": "nic1", "vrf": "Vrf9"}
    }
    assert look("host_subnets", stray | {"leaf?/@bgp": None}, what="vrf") == {}


def test_what_may_be_an_address_is_unknown_once_for_each_switch() -> None:
    found = list(find(Index(with_changes({"leaf1/@vlans": UNKNOWN})), what="subnet"))
    assert [(one.subject, one.missing) for one in found if isinstance(one, UndecidedSubject)] == [
        (("leaf1",), "device.vlans")
    ]
    assert len(found) == 1


def test_an_address_that_switches_share_is_one_of_each() -> None:
    (own,) = vlan("Ethernet16")
    shared = replace_fields(own, virtual_addresses=("10.2.1.16/31",))
    assert outside(with_vlans(BARE, leaf1=(own,), leaf2=vlan("Ethernet24", "10.2.1.16/31"))) != {}
    assert outside(with_vlans(BARE, leaf1=(shared,))) == {}
