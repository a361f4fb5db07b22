"""Packets that follow no route: a fabric without a circle is proved only where there are none."""

from collections.abc import Iterable
from typing import Any

import pytest

from clos import two_tier
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import End, Fabric, Link
from nodrop.model.index import Index
from nodrop.model.nics import Nic
from nodrop.model.overlays import Tunnel
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import replace_fields
from nodrop.proofs.proving import prove_deadlock
from support.lossless_fabrics import LOSSLESS, lossless
from support.wired_routers import port


def with_ports(fabric: Fabric, changes: dict[tuple[str, str], dict[str, Any]]) -> Fabric:
    """A fabric in which some ports, by switch and name, have more."""
    return replace_fields(
        fabric,
        devices=tuple(
            replace_fields(
                device,
                interfaces=tuple(
                    replace_fields(port, **changes.get((device.name, port.name), {})) for port in device.interfaces
                ),
            )
            for device in fabric.devices
        ),
    )


def with_qos(fabric: Fabric, ends: Iterable[tuple[str, str]], qos: QosProfile) -> Fabric:
    """A fabric in which some ports have other QoS."""
    return with_ports(fabric, {end: {"qos": qos} for end in ends})


def with_leaf(fabric: Fabric, **more: Any) -> Fabric:
    """A fabric whose first leaf has more."""
    first, *others = fabric.devices
    return replace_fields(fabric, devices=(replace_fields(first, **more), *others))


CLOS = lossless(two_tier(3, 2))
VLAN = Vlan(id=100, members=tuple(VlanMember(interface=name, tagged=False) for name in ("e0", "e1")))
BUNDLE = PortChannel(name="Bundle1", members=("e0", "e1"))
IN_BUNDLE = Vlan(id=100, members=(VlanMember(interface="Bundle1", tagged=False),))
FLOODED = with_leaf(CLOS, vlans=(VLAN,))
SENDS_NO_PAUSE = replace_fields(LOSSLESS, pfc_tx_priorities=())
OBEYS_NO_PAUSE = replace_fields(LOSSLESS, pfc_rx_priorities=())
OWN_ENDS, FAR_ENDS = (("l1", "e0"), ("l1", "e1")), (("s1", "e0"), ("s2", "e0"))
VXLAN = Tunnel(name="vtep", kind="vxlan", dscp_mode="uniform")


@pytest.mark.parametrize(
    ("fabric", "missing"),
    [
        (CLOS, None),
        (with_leaf(CLOS, tunnels=(VXLAN,)), None),
        (with_leaf(CLOS, dual_tor=True), ("l1", "the tunnel to the second leaf of its servers")),
        (with_leaf(CLOS, vlans=(VLAN,)), ("l1", "where VLAN 100 floods packets over e0")),
        (with_leaf(CLOS, vlans=(replace_fields(VLAN, members=VLAN.members[:1]),)), None),
        (with_leaf(CLOS, vlans=(IN_BUNDLE,), port_channels=(BUNDLE,)), None),
        (with_qos(FLOODED, OWN_ENDS, SENDS_NO_PAUSE),
         ("l1", "where VLAN 100 floods packets over e0")),
        (with_qos(FLOODED, FAR_ENDS, SENDS_NO_PAUSE), None),
        (with_qos(FLOODED, OWN_ENDS, OBEYS_NO_PAUSE), None),
        (with_ports(FLOODED, {("s1", "e0"): {"enabled": False}}), ("l1", "where VLAN 100 floods packets over e1")),
        (replace_fields(CLOS, nics=(Nic(host="gpu1", file="nccl.conf", loopback=True),)),
         ("gpu1", "which NICs pause while GPUs of one host use them to talk to each other")),
        (replace_fields(CLOS, nics=(Nic(host="gpu1", file="nccl.conf", loopback=False),)), None),
        (lossless(with_leaf(CLOS, vlans=(VLAN,), dual_tor=True), None), None),
    ],
    ids=["routes alone", "VXLAN", "two leaves", "flooding", "one port", "one bundle", "sends no pause",
         "far ends send no pause", "obeys no pause", "far end shut", "loopback",
         "no loopback", "lossy"],
)  # fmt: skip
def test_a_claim_names_the_packets_without_routes(fabric: Fabric, missing: tuple[str, str] | None) -> None:
    proof = prove_deadlock(Index(fabric))
    assert [(*fact.subject, fact.what) for fact in proof.check.missing] == ([missing] if missing else [])
    assert proof.verdict == ("unknown" if missing else "free")


@pytest.mark.parametrize(
    ("near", "far", "floods"),
    [
        (UNKNOWN, LOSSLESS, True),
        (LOSSLESS, UNKNOWN, True),
        (UNKNOWN, UNKNOWN, True),
        (None, UNKNOWN, False),
        (UNKNOWN, None, False),
    ],
)
def test_an_unknown_port_without_routes_can_be_stopped_unless_one_end_is_lossy(
    near: QosProfile | None | Unknown, far: QosProfile | None | Unknown, floods: bool
) -> None:
    vlan = Vlan(id=100, members=tuple(VlanMember(interface=name, tagged=False) for name in ("e8", "e9")))
    leaf, *others = CLOS.devices
    spine = others.pop()
    bridged = replace_fields(
        CLOS,
        devices=(
            replace_fields(leaf, vlans=(vlan,), interfaces=(*leaf.interfaces, port("e8"), port("e9", qos=near))),
            *others,
            replace_fields(spine, interfaces=(*spine.interfaces, port("e9", qos=far))),
        ),
        links=(*CLOS.links, Link(a=End("l1", "e9"), b=End(spine.name, "e9"))),
    )
    missing = {(*fact.subject, fact.what) for fact in prove_deadlock(Index(bridged)).check.missing}
    assert (("l1", "where VLAN 100 floods packets over e9") in missing) == floods
