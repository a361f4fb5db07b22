"""Packets that follow no route: a fabric without a circle is proved only where there are none."""

from typing import Any

import pytest

from clos import two_tier
from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.nics import Nic
from nodrop.model.overlays import Tunnel
from nodrop.model.values import replace_fields
from nodrop.proofs.proving import prove_deadlock
from support.lossless_fabrics import lossless


def with_leaf(fabric: Fabric, **more: Any) -> Fabric:
    """A fabric whose first leaf has more."""
    first, *others = fabric.devices
    return replace_fields(fabric, devices=(replace_fields(first, **more), *others))


CLOS = lossless(two_tier(3, 2))
VLAN = Vlan(id=100, members=tuple(VlanMember(interface=name, tagged=False) for name in ("e0", "e1")))
VXLAN = Tunnel(name="vtep", kind="vxlan", dscp_mode="uniform")


@pytest.mark.parametrize(
    ("fabric", "missing"),
    [
        (CLOS, None),
        (with_leaf(CLOS, tunnels=(VXLAN,)), None),
        (with_leaf(CLOS, dual_tor=True), ("l1", "the tunnel to the second leaf of its servers")),
        (with_leaf(CLOS, vlans=(VLAN,)), ("l1", "where VLAN 100 floods packets over e0")),
        (with_leaf(CLOS, vlans=(replace_fields(VLAN, members=VLAN.members[:1]),)), None),
        (replace_fields(CLOS, nics=(Nic(host="gpu1", file="nccl.conf", loopback=True),)),
         ("gpu1", "which NICs pause while GPUs of one host use them to talk to each other")),
        (replace_fields(CLOS, nics=(Nic(host="gpu1", file="nccl.conf", loopback=False),)), None),
        (lossless(with_leaf(CLOS, vlans=(VLAN,), dual_tor=True), None), None),
    ],
    ids=["routes alone", "VXLAN", "two leaves", "flooding", "one port", "loopback",
         "no loopback", "lossy"],
)  # fmt: skip
def test_a_claim_names_the_packets_without_routes(fabric: Fabric, missing: tuple[str, str] | None) -> None:
    proof = prove_deadlock(Index(fabric))
    assert [(*fact.subject, fact.what) for fact in proof.check.missing] == ([missing] if missing else [])
    assert proof.verdict == ("unknown" if missing else "free")
