"""Who shares an address with whom, and who may: VRFs, out-of-band ports and anycast loopbacks."""

from nodrop.model.states import UNKNOWN
from support.analysis_results import look

LOOPBACK = "@loopbacks/Loopback0"


def shared(changes: dict[str, object]) -> dict[str, object]:
    found = look("addresses", changes)
    return {key: each if isinstance(each, str) else (each["addresses"], each["other"]) for key, each in found.items()}


def test_a_port_with_the_address_of_another_switch() -> None:
    assert shared({}) == {}
    assert shared({"leaf2/Ethernet0/addresses": ["10.2.1.0/31"]}) == {
        "leaf2/Ethernet0": ("10.2.1.0", "leaf1 Ethernet0"),
    }


def test_a_copied_switch_is_one_finding() -> None:
    names = ("Ethernet0", "Ethernet8", "Ethernet16", "Ethernet224")
    copied = zip(names, ("10.2.1.0", "10.2.1.8", "10.2.1.16", "10.1.1.224"), strict=True)
    changes = {f"leaf2/{name}/addresses": [f"{address}/31"] for name, address in copied}
    assert shared(changes) == {"leaf2": ("10.2.1.0, 10.2.1.8, 10.2.1.16 and 1 more", "leaf1")}


def test_a_port_of_the_same_switch() -> None:
    assert shared({"leaf1/Ethernet32/addresses": ["10.2.1.0/31"]}) == {
        "leaf1/Ethernet32": ("10.2.1.0", "leaf1 Ethernet0"),
    }


def test_each_port_of_a_switch_with_an_address_of_another_is_one_finding() -> None:
    changes = {f"leaf1/{name}/addresses": ["10.2.1.0/31"] for name in ("Ethernet32", "Ethernet40")}
    assert shared(changes) == {
        "leaf1/Ethernet32": ("10.2.1.0", "leaf1 Ethernet0"),
        "leaf1/Ethernet40": ("10.2.1.0", "leaf1 Ethernet0"),
    }


def test_addresses_in_other_vrfs_or_of_one_link_only_are_their_own() -> None:
    address = {"leaf2/Ethernet32/addresses": ["10.2.1.0/31"]}
    assert shared({**address, "leaf2/Ethernet32/vrf": "blue"}) == {}
    local = {f"leaf{each}/Ethernet32/addresses": ["169.254.0.1/30", "fe80::1/64"] for each in (1, 2)}
    assert shared(local) == {}


def test_a_port_channel_or_vlan_with_the_address_of_a_port() -> None:
    bundle = {"name": "PortChannel1", "members": ["Ethernet240"], "addresses": ["10.2.1.0/31"]}
    assert shared({"leaf2/@port_channels/PortChannel1": bundle}) == {
        "leaf2/@port_channels/PortChannel1": ("10.2.1.0", "leaf1 Ethernet0"),
    }
    vlan = {"id": 100, "addresses": ["10.2.1.0/24"]}
    assert shared({"leaf2/@vlans/100": vlan}) == {"leaf2/@vlans/100": ("10.2.1.0", "leaf1 Ethernet0")}


def test_a_gateway_may_be_on_every_switch_that_has_the_vlan() -> None:
    vlan = {"id": 100, "addresses": ["192.0.2.1/24"]}
    assert shared({"leaf1/@vlans/100": vlan, "leaf2/@vlans/100": vlan}) == {}


def test_ipv6_is_compared_however_it_is_spelt() -> None:
    changes = {
        "leaf1/Ethernet32/addresses": ["fd00::1/64"],
        "leaf2/Ethernet32/addresses": ["FD00:0:0::0001/64"],
    }
    assert shared(changes) == {"leaf2/Ethernet32": ("fd00::1", "leaf1 Ethernet32")}


def test_a_loopback_is_anycast_where_each_switch_has_another_one() -> None:
    assert shared({f"leaf2/{LOOPBACK}/addresses": ["10.0.0.1/32"]}) == {
        f"leaf2/{LOOPBACK}": ("10.0.0.1", "leaf1 Loopback0"),
    }
    anycast = {
        f"leaf1/{LOOPBACK}/addresses": ["10.0.0.1/32", "10.0.9.9/32"],
        f"leaf2/{LOOPBACK}/addresses": ["10.0.0.2/32", "10.0.9.9/32"],
    }
    assert shared(anycast) == {}
    as_id = {**anycast, "leaf1/@bgp/router_id": "10.0.9.9", "leaf2/@bgp/router_id": "10.0.9.9"}
    assert shared(as_id) == {f"leaf2/{LOOPBACK}": ("10.0.9.9", "leaf1 Loopback0")}


def test_hosts_hold_addresses_too_but_have_no_file() -> None:
    changes = {"@fabric/hosts/gpu2/ports/nic1/addresses": ["10.2.1.0/31"]}
    assert shared(changes) == {"@fabric/hosts/gpu2": ("10.2.1.0", "leaf1 Ethernet0")}


def test_addresses_that_no_file_states() -> None:
    assert shared({"leaf1/Ethernet0/addresses": UNKNOWN}) == {"leaf1": "interface.addresses"}
