"""What words say where a value is at its limit, a part is missing, or nothing tells what a port is for."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine.vocabulary.qos import expects_rdma, facing, in_use, may_go_unwatched, runs_session
from nodrop.model.fabric import Interface, Policy
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import UNKNOWN, UnknownFact
from support.small_fabrics import LOSSY, device, fabric, port

RECEIVES = replace(LOSSY, pfc_rx_priorities=(3,))
WATCHED = replace(
    RECEIVES, pfc_watchdog=PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")
)
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


def _index_of_two_sessions(**stated: Any) -> Index:
    """Return the index of a switch with sessions over two ports: the second may have a watchdog, the first has none."""
    sessions = Bgp(asn=65001, neighbors=(BgpNeighbor(interface="Ethernet0"), BgpNeighbor(address="10.0.0.1")))
    ports = (
        port(0, qos=RECEIVES),
        port(1, qos=stated.pop("second", RECEIVES), addresses=("10.0.0.0/31",)),
        port(2, qos=stated.pop("third", RECEIVES), addresses=("10.0.0.2/31",)),
    )
    policy = stated.pop("policy", Policy())
    return Index(replace(fabric(device("leaf1", *ports, **{"bgp": sessions} | stated)), policy=policy))


def _may_go_unwatched(index: Index, name: str, side: Any = UNKNOWN) -> bool | str:
    try:
        return may_go_unwatched(index.fabric, "leaf1", name, side, index=index)
    except UnknownFact as missing:
        return str(missing)


def test_ports_of_sessions_are_found_by_name_and_address() -> None:
    index = _index_of_two_sessions()
    assert [runs_session("leaf1", name, index=index) for name in ("Ethernet0", "Ethernet8", "Ethernet16")] == [
        True,
        True,
        False,
    ]
    in_vrf = _index_of_two_sessions(bgp=None, vrf_bgp=(index.devices["leaf1"].bgp,))
    assert runs_session("leaf1", "Ethernet0", index=in_vrf)
    unread = _index_of_two_sessions(bgp=Bgp(asn=65001, neighbors=UNKNOWN), vrf_bgp=UNKNOWN)
    assert not runs_session("leaf1", "Ethernet0", index=unread)


def test_a_known_side_decides_whether_a_port_may_go_unwatched() -> None:
    sides = ("fabric", "host", None)
    assert [_may_go_unwatched(_index_of_two_sessions(), "Ethernet0", side) for side in sides] == [True, False, False]


def test_one_port_of_a_session_without_a_watchdog_stands_out() -> None:
    assert _may_go_unwatched(_index_of_two_sessions(second=WATCHED), "Ethernet0") is False


def test_a_switch_without_watchdogs_may_have_links_between_switches_only() -> None:
    assert _may_go_unwatched(_index_of_two_sessions(), "Ethernet0") == "interface.side"
    assert _may_go_unwatched(_index_of_two_sessions(), "Ethernet16") is False


def test_watchdogs_only_without_sessions_are_a_practice() -> None:
    index = _index_of_two_sessions(third=WATCHED)
    assert (_may_go_unwatched(index, "Ethernet0"), _may_go_unwatched(index, "Ethernet16")) == ("interface.side", False)


def test_owners_can_leave_links_between_switches_unwatched() -> None:
    index = _index_of_two_sessions(second=WATCHED, policy=Policy(fabric_watchdog=None))
    assert _may_go_unwatched(index, "Ethernet0") == "interface.side"
