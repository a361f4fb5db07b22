"""What words say where a value is at its limit, a part is missing, or nothing tells what a port is for."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine.vocabulary.qos import expects_rdma, faces_fabric, facing, in_use
from nodrop.model.fabric import Interface
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import UNKNOWN, UnknownFact
from support.small_fabrics import LOSSY, device, fabric, port

RECEIVES = replace(LOSSY, pfc_rx_priorities=(3,))
SENDS = replace(LOSSY, pfc_tx_priorities=(3,))


@pytest.mark.parametrize("side", ["host", "fabric"])
def test_ports_with_a_cable_are_expected_to_carry_rdma(side: str) -> None:
    assert expects_rdma(UNKNOWN, (), side, None)


def test_ports_without_a_cable_carry_rdma_where_they_have_qos() -> None:
    assert not expects_rdma("leaf", (), None, None)
    assert expects_rdma(UNKNOWN, (), None, LOSSY)


def test_a_switch_without_pfc_and_cables_may_be_of_another_network() -> None:
    with pytest.raises(UnknownFact, match=r"^interface\.side$"):
        expects_rdma(UNKNOWN, (port(0, qos=LOSSY), port(1, qos=None)), UNKNOWN, LOSSY)
    assert expects_rdma("leaf", (port(0, qos=LOSSY),), UNKNOWN, LOSSY)
    assert not expects_rdma("leaf", (port(0),), UNKNOWN, None)


@pytest.mark.parametrize("other", [RECEIVES, SENDS, UNKNOWN, replace(LOSSY, pfc_tx_priorities=UNKNOWN)])
def test_pfc_on_one_port_makes_a_switch_one_of_rdma(other: Any) -> None:
    ports: tuple[Interface, ...] = (port(0, qos=LOSSY), port(1, qos=other))
    assert expects_rdma(UNKNOWN, ports, UNKNOWN, LOSSY)


def test_what_is_not_known_to_be_shut_is_in_use() -> None:
    assert (in_use(UNKNOWN), in_use(True), in_use(False)) == (True, True, False)
    assert (facing(UNKNOWN), facing(None), facing("host")) == ("unknown", "nothing", "host")


def test_a_session_over_a_port_without_a_cable_may_be_one_between_switches() -> None:
    session = Bgp(asn=65001, neighbors=(BgpNeighbor(interface="Ethernet0"), BgpNeighbor(address="10.0.0.1")))
    for routed in (device("leaf1", bgp=session), device("leaf1", vrf_bgp=(session,))):
        index = Index(fabric(routed))
        with pytest.raises(UnknownFact, match=r"^interface\.side$"):
            faces_fabric("leaf1", "Ethernet0", UNKNOWN, index=index)
        assert not faces_fabric("leaf1", "Ethernet4", UNKNOWN, index=index)
        sides = ("fabric", "host", None)
        assert [faces_fabric("leaf1", "Ethernet0", side, index=index) for side in sides] == [True, False, False]
    numbered = (port(1, addresses=("10.0.0.0/31",)), port(2, addresses=("10.0.0.2/31",)))
    index = Index(fabric(device("leaf1", *numbered, bgp=session)))
    with pytest.raises(UnknownFact, match=r"^interface\.side$"):
        faces_fabric("leaf1", "Ethernet8", UNKNOWN, index=index)
    assert not faces_fabric("leaf1", "Ethernet16", UNKNOWN, index=index)
    unread = device("leaf1", bgp=Bgp(asn=65001, neighbors=UNKNOWN), vrf_bgp=UNKNOWN)
    assert not faces_fabric("leaf1", "Ethernet0", UNKNOWN, index=Index(fabric(unread)))
