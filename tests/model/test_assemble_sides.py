"""What is at the far end of a cable, by what is stated and read of the node there."""

from typing import Any

from nodrop.model.assemble import ObjectsSharedByStates, assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device, End, Host, Interface, Link
from nodrop.model.reading import CableEvidence, DeviceReading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import UNKNOWN

NODES = {"Ethernet0": "spine1", "Ethernet8": "leaf2", "Ethernet16": "gpu1", "Ethernet24": "wan1"}


def test_a_switch_of_which_only_a_role_is_stated_is_one() -> None:
    ports = tuple(Interface(name=name) for name in (*NODES, "Ethernet32"))
    leaves = [Device(name="leaf1", platform="sonic", interfaces=ports), Device(name="leaf2", platform="sonic")]
    declared = DeclaredFacts(
        roles={"leaf1": "leaf", "spine1": "spine"},
        cables=tuple(Link(a=End("leaf1", port), b=End(node, "x")) for port, node in NODES.items()),
        hosts=(Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=()),),
    )
    found = assemble_fabric([DeviceReading(device=leaf) for leaf in leaves], declared).fabric.device("leaf1")
    assert {port.name: port.side for port in found.interfaces} == {
        "Ethernet0": "fabric",
        "Ethernet8": "fabric",
        "Ethernet16": "host",
        "Ethernet24": None,
        "Ethernet32": None,
    }


def sides(*readings: DeviceReading, **declared: Any) -> dict[str, Any]:
    """Return the side of each port of leaf1, read alone or beside others."""
    found = assemble_fabric(readings, DeclaredFacts(**declared)).fabric.device("leaf1")
    return {port.name: port.side for port in found.interfaces}


def leaf(
    *ports: Interface, sessions: tuple[BgpNeighbor, ...] = (), cables: tuple[CableEvidence, ...] = ()
) -> DeviceReading:
    device = Device(name="leaf1", platform="nvue", interfaces=ports, bgp=Bgp(asn=65001, neighbors=sessions))
    return DeviceReading(device=device, cables=cables)


def over(port: str, remote_asn: Any) -> BgpNeighbor:
    return BgpNeighbor(interface=port, remote_asn=remote_asn)


def test_a_session_within_the_own_as_over_a_port_leads_to_a_switch() -> None:
    sessions = (over("swp1", "internal"), over("swp2", 65001), over("swp3", "external"), over("swp4", 65002))
    named = BgpNeighbor(address="10.0.0.1", remote_asn="internal")
    ports = tuple(Interface(name=f"swp{number}") for number in range(1, 6))
    assert sides(leaf(*ports, sessions=(*sessions, named))) == {
        "swp1": "fabric",
        "swp2": "fabric",
        "swp3": UNKNOWN,
        "swp4": UNKNOWN,
        "swp5": UNKNOWN,
    }


def test_a_description_that_names_a_device_of_the_run_says_the_side() -> None:
    texts = {"swp1": "to spine1", "swp2": "ISL (spine1) old", "swp3": "gpu1", "swp4": "spine1 gpu1", "swp5": "spine12"}
    ports = (*(Interface(name=name, description=text) for name, text in texts.items()), Interface(name="swp6"))
    spine = DeviceReading(device=Device(name="spine1", platform="nvue"))
    hosts = (Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=()),)
    found = sides(leaf(*ports, Interface(name="swp7", description="leaf1 loop")), spine, hosts=hosts)
    assert found == {
        "swp1": "fabric",
        "swp2": "fabric",
        "swp3": "host",
        "swp4": UNKNOWN,
        "swp5": UNKNOWN,
        "swp6": UNKNOWN,
        "swp7": UNKNOWN,
    }


def test_a_neighbor_table_says_what_a_neighbor_is_that_nobody_read() -> None:
    cables = tuple(
        CableEvidence(local_port=port, remote=End(port, "x"), evidence="DEVICE_NEIGHBOR", side=side)
        for port, side in {"swp1": "fabric", "swp2": "host", "swp3": None}.items()
    )
    ports = tuple(Interface(name=f"swp{number}") for number in range(1, 4))
    assert sides(leaf(*ports, cables=cables)) == {"swp1": "fabric", "swp2": "host", "swp3": UNKNOWN}


def test_where_cables_are_stated_nothing_else_says_the_side() -> None:
    ports = (Interface(name="swp1", description="spine1"), Interface(name="swp2"), Interface(name="swp3"))
    spine = DeviceReading(device=Device(name="spine1", platform="nvue"))
    cable = Link(a=End("leaf1", "swp3"), b=End("spine1", "swp3"))
    found = sides(leaf(*ports, sessions=(over("swp2", "internal"),)), spine, cables=(cable,))
    assert found == {"swp1": None, "swp2": None, "swp3": "fabric"}


def test_a_state_with_other_sessions_is_not_cabled_alike() -> None:
    shared, ports = ObjectsSharedByStates(), (Interface(name="swp1"),)
    first = assemble_fabric([leaf(*ports)], DeclaredFacts(), shared=shared).fabric.device("leaf1")
    second = assemble_fabric([leaf(*ports, sessions=(over("swp1", "internal"),))], DeclaredFacts(), shared=shared)
    assert (first.interfaces[0].side, second.fabric.device("leaf1").interfaces[0].side) == (UNKNOWN, "fabric")
