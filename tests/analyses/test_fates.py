"""Packets from leaves to destinations, where access lists drop them: held against validators, or not."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from nodrop.analyses._computed import compute_observation, reach_items_with_other_fate_than_dscp
from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Binding, PortRange
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing.observation import ValidatorObservation
from support.designs import build, shipped

ROCE = (PortRange(4791, 4791),)
DROP = AccessEntry(name="1", action="deny", protocol=17, destination_ports=ROCE)
HOSTS, UPLINKS = ("Ethernet0", "Ethernet8", "Ethernet16"), ("Ethernet224", "Ethernet232", "Ethernet240", "Ethernet248")
TO_LEAF2, TO_LEAF1 = ("leaf1", "@reach", "", "10.2.2.0/24"), ("leaf2", "@reach", "", "10.2.1.0/24")
SELF1, SELF2 = ("leaf1", "@reach", "", "10.0.0.2/32"), ("leaf2", "@reach", "", "10.0.0.1/32")


ALL = {TO_LEAF1, TO_LEAF2, SELF1, SELF2}
"""Destinations at leaves; loopbacks of spines are not looked at here."""


@cache
def fabric() -> Fabric:
    return build(shipped("two-by-two"))


def having(
    *entries: AccessEntry,
    device: str = "leaf1",
    ports: tuple[str | None, ...] = UPLINKS,
    stage: AccessListStage = "ingress",
    **more: Any,
) -> ValidatorObservation:
    """Return what is computed of a fabric with a list at ports of a switch."""
    return compute_observation(index_having(*entries, device=device, ports=ports, stage=stage, **more))


def index_having(
    *entries: AccessEntry,
    device: str = "leaf1",
    ports: tuple[str | None, ...] = UPLINKS,
    stage: AccessListStage = "ingress",
    **more: Any,
) -> Index:
    bindings = tuple(Binding(interface=port, stage=stage) for port in ports)
    rules = AccessList(name="A", entries=entries, bindings=bindings, **more)
    devices = tuple(
        replace_fields(one, access_lists=(rules,)) if one.name == device else one for one in fabric().devices
    )
    return Index(replace_fields(fabric(), devices=devices))


def denied(seen: ValidatorObservation) -> set[tuple[str, ...]]:
    assert set(seen.seen["reach"].values()) <= {"delivered", "denied"}
    return {item for item, fate in seen.seen["reach"].items() if fate == "denied" and item in ALL}


def doubts(seen: ValidatorObservation) -> Mapping[tuple[str, ...], str]:
    return {item: why for item, why in seen.unseen.get("reach", {}).items() if item in ALL}


def test_a_list_of_a_leaf_drops_what_comes_from_spines() -> None:
    seen = having(DROP)
    assert denied(seen) == {TO_LEAF1, SELF2}
    assert doubts(seen) == {}
    assert seen.said["reach", TO_LEAF1].startswith("to 10.2.1.")
    assert seen.unseen["failures"] == {(): "what access list A of leaf1 drops after a failure is not computed"}


def test_a_spine_drops_on_some_of_the_equal_paths() -> None:
    seen = having(DROP, device="spine1", ports=("Ethernet0", "Ethernet8", "Ethernet128", "Ethernet136"))
    assert denied(seen) == {TO_LEAF1, TO_LEAF2, SELF1, SELF2}
    assert doubts(seen) == {}
    one_way = having(DROP, device="spine1", ports=("Ethernet0", "Ethernet8"))
    assert denied(one_way) == {TO_LEAF2, SELF1}


def test_a_destination_is_denied_if_one_of_its_addresses_is() -> None:
    to_host = replace_fields(DROP, destinations=("10.2.2.9/32",))
    to_others = replace_fields(DROP, destinations=("10.2.99.0/24",))
    at = {"device": "leaf2", "ports": UPLINKS}
    assert denied(having(to_host, **at)) == {TO_LEAF2}  # type: ignore[arg-type]
    assert denied(having(to_others, **at)) == set()  # type: ignore[arg-type]


def test_a_list_where_packets_leave_for_hosts_drops_what_is_for_them() -> None:
    seen = having(DROP, device="leaf2", ports=HOSTS, stage="egress")
    assert denied(seen) == {TO_LEAF2}
    assert doubts(seen) == {}
    one_port = having(DROP, device="leaf2", ports=HOSTS[2:], stage="egress")
    assert denied(one_port) == {TO_LEAF2}


def test_what_leaves_for_other_switches_may_be_the_switchs_own_and_is_held_against_nobody() -> None:
    seen = having(DROP, stage="egress")
    assert denied(seen) == {TO_LEAF2, SELF1}
    assert set(doubts(seen)) == {TO_LEAF2, SELF1}


def test_lists_at_ports_of_hosts_are_a_doubt_about_what_leaves_the_leaf() -> None:
    seen = having(DROP, ports=HOSTS)
    assert denied(seen) == set()
    why = "access list A of leaf1 drops some of the packets, or may"
    assert doubts(seen) == {TO_LEAF2: why, SELF1: why}


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(replace_fields(DROP, sources=("10.2.2.0/31",)), id="some sources"),
        pytest.param(replace_fields(DROP, dscps=(26,), others=("TTL 5",)), id="a condition that is not modelled"),
        pytest.param(replace_fields(DROP, source_ports=(PortRange(50_000, 60_000),)), id="some source ports"),
        pytest.param(AccessEntry(name="1", protocol=17, redirects="Ethernet0"), id="a redirect"),
    ],
)
def test_a_list_that_drops_some_packets_is_a_doubt(entry: AccessEntry) -> None:
    seen = having(entry)
    assert denied(seen) == set()
    assert {TO_LEAF1, SELF2} <= set(doubts(seen))
    assert seen.unseen["failures"]


@pytest.mark.parametrize(
    ("entries", "more"),
    [
        pytest.param((replace_fields(DROP, action="permit"),), {}, id="a permit"),
        pytest.param((), {}, id="no entries"),
        pytest.param((replace_fields(DROP, destination_ports=(PortRange(4789, 4789),)),), {}, id="VXLAN"),
        pytest.param((replace_fields(DROP, protocol=6),), {}, id="TCP"),
        pytest.param((DROP,), {"ports": ()}, id="a list that is not bound"),
        pytest.param((DROP,), {"stage": "control-plane", "ports": (None,)}, id="the control plane"),
        pytest.param((replace_fields(DROP, family="ipv6"),), {"family": "ipv6"}, id="IPv6"),
    ],
)
def test_lists_that_let_data_pass_change_nothing(entries: tuple[AccessEntry, ...], more: dict[str, Any]) -> None:
    seen, before = having(*entries, **more), compute_observation(Index(fabric()))
    assert seen.seen["reach"] == before.seen["reach"]
    assert doubts(seen) == {}
    if "family" not in more:
        assert () not in seen.unseen.get("failures", {})


def test_packets_for_a_switch_itself_pass_its_lists_for_transit() -> None:
    assert denied(having(DROP, stage="transit")) == {TO_LEAF1}
    assert denied(having(DROP, stage="ingress")) == {TO_LEAF1, SELF2}


CNPS = replace_fields(DROP, dscps=(48,))


def test_cnps_have_a_fate_of_their_own() -> None:
    seen = having(CNPS)
    assert denied(seen) == {TO_LEAF1, SELF2}
    assert doubts(seen) == {}
    assert seen.said["reach", TO_LEAF1].startswith("DSCP 48 to 10.2.1.")
    assert () not in seen.unseen.get("failures", {})


def test_cnps_that_no_class_states_are_not_looked_at() -> None:
    classes = tuple(one for one in fabric().classes if one.purpose != "cnp")
    with_list = replace_fields(index_having(CNPS).fabric, classes=classes)
    assert denied(compute_observation(Index(with_list))) == set()


def test_what_happens_to_cnps_alone_is_unlike_what_happens_to_data() -> None:
    assert reach_items_with_other_fate_than_dscp(index_having(CNPS), 26) == {TO_LEAF1, SELF2}
    assert reach_items_with_other_fate_than_dscp(index_having(CNPS), 48) == set()
    assert reach_items_with_other_fate_than_dscp(index_having(DROP), 26) == set()


def test_an_unknown_last_action_is_a_doubt() -> None:
    permit = AccessEntry(name="1", protocol=6)
    assert set(doubts(having(permit, otherwise=UNKNOWN))) == {TO_LEAF1, SELF2}
