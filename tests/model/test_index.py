"""The fabric by name: what is found, what is not, and which of two counts."""

from dataclasses import replace
from typing import Any

from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile

PORT, UPLINK = Interface(name="Ethernet0"), Interface(name="Ethernet8", mtu_bytes=9216)
LEAF = Device(name="leaf1", platform="sonic", interfaces=(PORT, UPLINK, Interface(name="Ethernet8", mtu_bytes=1500)))
SPINE = Device(name="spine1", platform="sonic", interfaces=(Interface(name="Ethernet0", mtu_bytes=9100),))
NIC = HostPort(name="nic1", speed_mbps=400_000, lanes=4)
HOST = Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=(NIC,))
TO_HOST = Link(a=End("gpu1", "nic1"), b=End("leaf1", "Ethernet0"))
TO_SPINE = Link(a=End("leaf1", "Ethernet8"), b=End("spine1", "Ethernet0"))
TO_NOWHERE = Link(a=End("leaf1", "Ethernet16"), b=End("spine9", "Ethernet0"))
AGAIN = Link(a=End("leaf1", "Ethernet8"), b=End("spine9", "Ethernet8"))
FABRIC = Fabric(
    name="test",
    mode="lossless",
    devices=(LEAF, SPINE, Device(name="leaf1", platform="onyx")),
    links=(TO_HOST, TO_SPINE, TO_NOWHERE, AGAIN),
    hosts=(HOST,),
)


def test_devices_ports_and_hosts_by_name() -> None:
    index = Index(FABRIC)
    assert index.fabric is FABRIC
    assert index.devices == {"leaf1": LEAF, "spine1": SPINE}
    assert index.devices["leaf1"] is LEAF
    assert index.hosts == {"gpu1": HOST}
    assert index.interface("leaf1", "Ethernet0") is PORT
    assert index.interface("leaf1", "Ethernet8") is UPLINK
    assert index.interface("leaf1", "Ethernet9") is None
    assert index.interface("leaf9", "Ethernet0") is None
    assert index.interface("gpu1", "nic1") is None


def test_cables_from_either_end() -> None:
    index = Index(FABRIC)
    assert index.link("leaf1", "Ethernet0") is TO_HOST
    assert index.link("gpu1", "nic1") is TO_HOST
    assert index.link("spine1", "Ethernet0") is TO_SPINE
    assert index.link("leaf1", "Ethernet8") is TO_SPINE
    assert index.link("leaf1", "Ethernet24") is None
    assert index.far_end("leaf1", "Ethernet8") == ("spine1", "Ethernet0")
    assert index.far_end("spine1", "Ethernet0") == ("leaf1", "Ethernet8")
    assert index.far_end("leaf1", "Ethernet16") == ("spine9", "Ethernet0")
    assert index.far_end("leaf1", "Ethernet24") is None


def test_what_is_at_the_far_end() -> None:
    index = Index(FABRIC)
    assert index.far_port("leaf1", "Ethernet0") is NIC
    assert index.far_port("gpu1", "nic1") is PORT
    assert index.far_port("leaf1", "Ethernet8") is SPINE.interfaces[0]
    assert index.far_port("leaf1", "Ethernet16") is None
    assert index.far_port("leaf1", "Ethernet24") is None
    assert index.port_at_end(End("gpu1", "nic2")) is None
    assert index.port_at_end(End("gpu9", "nic1")) is None


def test_devices_beside_each_other() -> None:
    """Hosts and what was not read are no devices; a device without cables has none beside it."""
    spare = Device(name="leaf9", platform="sonic", interfaces=())
    index = Index(replace(FABRIC, devices=(*FABRIC.devices, spare)))
    assert index.neighbor_names == {"leaf1": {"spine1"}, "spine1": {"leaf1"}, "leaf9": set()}
    assert index.neighbor_names is index.neighbor_names


def test_ports_of_a_switch_are_alike_in_all_that_groups_go_by() -> None:
    """QoS by content, side, speed and state; what is not known is alike, too."""
    qos, equal = QosProfile(trust="dscp"), QosProfile(trust="dscp")
    ways: list[dict[str, Any]] = [
        {"qos": qos},
        {"qos": equal},
        {"qos": qos, "side": "host"},
        {"qos": qos, "speed_mbps": 400_000},
        {"qos": qos, "enabled": False},
    ]
    ports = tuple(Interface(name=f"p{number}", **way) for number, way in enumerate([*ways, *reversed(ways)]))
    device = Device(name="leaf1", platform="sonic", interfaces=ports)
    first = Index(Fabric(name="test", mode="lossless", devices=(device,)))
    groups = [[one.name for one in group] for group in first.groups_of_alike_ports(device)]
    assert groups == [["p0", "p1", "p8", "p9"], ["p2", "p7"], ["p3", "p6"], ["p4", "p5"]]
    other = Device(name="leaf1", platform="sonic", interfaces=ports[:1])
    second = Index(Fabric(name="test", mode="lossless", devices=(device, other)), first)
    assert second.groups_of_alike_ports(device) is first.groups_of_alike_ports(device)
    assert second.groups_of_alike_ports(other) == (list(ports[:1]),)
