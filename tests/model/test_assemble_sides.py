"""What is at the far end of a cable, by what is stated and read of the node there."""

from nodrop.model.assemble import assemble
from nodrop.model.declared import Declared
from nodrop.model.fabric import Device, End, Host, Interface, Link
from nodrop.model.reading import DeviceReading

NODES = {"Ethernet0": "spine1", "Ethernet8": "leaf2", "Ethernet16": "gpu1", "Ethernet24": "wan1"}


def test_a_switch_of_which_only_a_role_is_stated_is_one() -> None:
    ports = tuple(Interface(name=name) for name in (*NODES, "Ethernet32"))
    leaves = [Device(name="leaf1", platform="sonic", interfaces=ports), Device(name="leaf2", platform="sonic")]
    declared = Declared(
        roles={"leaf1": "leaf", "spine1": "spine"},
        cables=tuple(Link(a=End("leaf1", port), b=End(node, "x")) for port, node in NODES.items()),
        hosts=(Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=()),),
    )
    found = assemble([DeviceReading(device=leaf) for leaf in leaves], declared).fabric.device("leaf1")
    assert {port.name: port.side for port in found.interfaces} == {
        "Ethernet0": "fabric",
        "Ethernet8": "fabric",
        "Ethernet16": "host",
        "Ethernet24": None,
        "Ethernet32": None,
    }
