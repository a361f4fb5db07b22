"""A subnet that VLANs of two leaves have: packets for a host of one are lost at the other, unless a VLAN joins them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nodrop.analyses import blackholes
from nodrop.analyses._computed import compute_observation
from nodrop.model.bridging import PortChannel
from nodrop.model.fabric import Device, End, Fabric
from nodrop.model.index import Index
from nodrop.model.overlays import MultiChassis, MuxCable, Tunnel
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import replace_fields
from support.designs import shared_subnet

LOST = ("leaf2", "@reach", "", "10.3.1.0/24")


def of_leaf2(change: Callable[[Device], Device]) -> Fabric:
    """The fabric with another second leaf."""
    fabric = shared_subnet()
    return replace(fabric, devices=tuple(change(one) if one.name == "leaf2" else one for one in fabric.devices))


def is_found(fabric: Fabric) -> bool:
    """Whether the subnet is found at both leaves; what is computed of packets has to say the same."""
    index = Index(fabric)
    found = [hit.facts["prefix"] for hit in blackholes.find(index, twice=True)]
    assert found in ([], ["10.3.1.0/24"])
    assert compute_observation(index).seen["reach"][LOST] == ("no route" if found else "delivered")
    return bool(found)


def test_two_vlans_with_hosts_of_their_own_are_no_subnet_of_both() -> None:
    assert is_found(shared_subnet())
    observation = compute_observation(Index(shared_subnet()))
    assert observation.said["reach", LOST] == "to 10.3.1.12"


def test_a_port_that_is_shut_joins_nothing() -> None:
    def shut(device: Device) -> Device:
        ports = (replace_fields(one, enabled=False) if one.name == "Ethernet16" else one for one in device.interfaces)
        return replace_fields(device, interfaces=tuple(ports))

    without = replace(
        shared_subnet(),
        links=tuple(one for one in shared_subnet().links if End("leaf2", "Ethernet16") not in (one.a, one.b)),
    )
    assert not is_found(without)
    assert is_found(replace(without, devices=of_leaf2(shut).devices))


def _with_evpn(device: Device) -> Device:
    assert isinstance(device.bgp, Bgp)
    assert not isinstance(device.bgp.neighbors, Unknown)
    first, *others = device.bgp.neighbors
    return replace_fields(device, bgp=replace_fields(device.bgp, neighbors=(replace_fields(first, evpn=True), *others)))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: replace_fields(one, dual_tor=True), id="a second switch of its servers"),
        pytest.param(
            lambda one: replace_fields(one, mux_cables=(MuxCable(interface="Ethernet16", servers=(), state="auto"),)),
            id="a mux cable",
        ),
        pytest.param(lambda one: replace_fields(one, multi_chassis=MultiChassis(peer_link=None)), id="MLAG"),
        pytest.param(
            lambda one: replace_fields(one, tunnels=(Tunnel(name="vtep", kind="vxlan", dscp_mode=None),)), id="VXLAN"
        ),
        pytest.param(lambda one: replace_fields(one, tunnels=UNKNOWN), id="tunnels that no file states"),
        pytest.param(_with_evpn, id="EVPN"),
        pytest.param(
            lambda one: replace_fields(one, port_channels=(PortChannel(name="PortChannel1", segment="00:01"),)),
            id="an Ethernet segment",
        ),
    ],
)
def test_what_may_carry_a_vlan_on_may_join_them(change: Callable[[Device], Device]) -> None:
    assert not is_found(of_leaf2(change))


@pytest.mark.parametrize("other", ["leaf1", "spine1", "nowhere"])
def test_a_port_that_leads_to_another_switch_may_join_them(other: str) -> None:
    end = End("leaf2", "Ethernet16")
    links = tuple(
        replace(one, a=End(other, "Ethernet248"), b=end) if end in (one.a, one.b) else one
        for one in shared_subnet().links
    )
    assert not is_found(replace(shared_subnet(), links=links))


def test_a_host_at_both_joins_them() -> None:
    fabric = shared_subnet()
    end = End("leaf2", "Ethernet16")
    host = next(
        one.a if one.b == End("leaf1", "Ethernet16") else one.b
        for one in fabric.links
        if End("leaf1", "Ethernet16") in (one.a, one.b)
    )
    links = tuple(
        replace(one, a=End(host.node, "nic9"), b=end) if end in (one.a, one.b) else one for one in fabric.links
    )
    assert not is_found(replace(fabric, links=links))
