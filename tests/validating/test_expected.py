"""What should be seen of a fabric, and what is told where a validator sees otherwise or says nothing."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

import nodrop
from nodrop.analyses import AnalysisHit, observed
from nodrop.analyses._aims import required_destinations_of
from nodrop.analyses._computed import compute_observation, leaves_by_destination_prefix
from nodrop.analyses._expected import expected_ports_by_route, find_observed_faults
from nodrop.errors import InputProblems
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.subject import Subject, parse_subject
from nodrop.report.agreement import render_validator_comparison
from nodrop.results.agreement import compare_validators_by_check
from nodrop.routing.observation import OBSERVATION_CHECKS, OBSERVATIONS_CHANNEL, ObservationCheck, ValidatorObservation
from support.designs import build, load, shipped
from support.random_designs import intents

TWO_BY_TWO = build(shipped("two-by-two"))
SPINE_1 = frozenset({"Ethernet224", "Ethernet232"})
UPLINKS = SPINE_1 | {"Ethernet240", "Ethernet248"}


def index(changes: dict[str, object] | None = None, of: Fabric = TWO_BY_TWO) -> Index:
    for subject, value in (changes or {}).items():
        of = set_value(of, parse_subject(subject), value)
    return Index(of)


def told(changes: dict[str, object]) -> list[tuple[ObservationCheck, Subject]]:
    """What is told of a fabric in which a validator sees what nodrop computes."""
    found = index(changes)
    return [(one.check, one.item) for one in find_observed_faults(found, compute_observation(found))]


def as_seen(by: str = "a validator", **otherwise: dict[Subject, Any]) -> ValidatorObservation:
    """What nodrop computes of two-by-two, but for some items; None takes one away."""
    own = compute_observation(index())
    seen = {
        check: {item: value for item, value in (rows | otherwise.get(check, {})).items() if value is not None}
        for check, rows in ((check, dict(rows)) for check, rows in own.seen.items())
    }
    return replace(own, by=by, seen=seen)


def test_packets_go_to_every_address_of_hosts_and_to_one_of_each_kind() -> None:
    found = {(str(aim.prefix), aim.router): aim for aim in required_destinations_of(index())}
    assert [str(one) for one in found["10.2.1.0/24", 0].to] == ["10.2.1.1", "10.2.1.9", "10.2.1.17"]
    assert [str(one) for one in found["10.2.1.0/24", 0].samples] == ["10.2.1.1"]
    assert [str(one) for one in found["10.0.64.1/32", 2].to] == ["10.0.64.1"]


@pytest.mark.parametrize(
    ("changes", "address"),
    [
        ({"leaf1/Ethernet0/addresses": ("10.2.1.0/32",)}, "10.2.1.1"),
        ({"leaf1/Ethernet8/vrf": "STRAY"}, "10.2.1.9"),
        ({"leaf1/Ethernet16/addresses": ()}, "10.2.1.17"),
    ],
)
def test_one_address_of_a_host_that_is_not_reached_is_enough(changes: dict[str, object], address: str) -> None:
    item = ("leaf2", "@reach", "", "10.2.1.0/24")
    assert told(changes) == [("reach", item)]
    found = index(changes)
    assert compute_observation(found).seen["reach"][item] == "no route"
    assert compute_observation(found).said["reach", item] == f"to {address}"


def test_an_address_in_a_longer_prefix_of_another_leaf_is_a_kind_for_itself() -> None:
    networks = ("10.0.0.2/32", "10.2.2.0/24", "10.2.1.9/32")
    changes: dict[str, object] = {"leaf2/@bgp/networks": networks, "leaf2/@bgp/import_check": False}
    found = {str(aim.prefix): aim for aim in required_destinations_of(index(changes)) if aim.router == 0}
    assert [str(one) for one in found["10.2.1.0/24"].samples] == ["10.2.1.1", "10.2.1.9"]


def test_a_session_towards_what_was_not_read_is_no_fault_of_a_validator_that_sees_it_down() -> None:
    part = replace(TWO_BY_TWO, devices=tuple(one for one in TWO_BY_TWO.devices if one.name != "spine1"))
    found = index(of=part)
    own = compute_observation(found)
    unread = set(own.unseen["sessions"])
    assert {item[0] for item in unread} == {"leaf1", "leaf2"}
    down: dict[Subject, Any] = {**own.seen["sessions"], **dict.fromkeys(unread, "down")}
    seen = replace(own, by="a validator", seen={**own.seen, "sessions": down}, unseen={})
    assert [one for one in find_observed_faults(found, seen) if one.check == "sessions"] == []
    (other, *_) = own.seen["sessions"]
    lost = replace(seen, by="another", seen={**seen.seen, "sessions": {**down, other: "down"}})
    assert [one.item for one in find_observed_faults(found, lost) if one.check == "sessions"] == [other]


def test_every_check_has_the_items_that_the_fabric_has() -> None:
    seen = compute_observation(index()).seen
    assert tuple(seen) == tuple(sorted(OBSERVATION_CHECKS, key=list(seen).index))
    assert list(seen["configuration"]) == [("leaf1",), ("leaf2",), ("spine1",), ("spine2",)]
    assert seen["routes"]["leaf1", "@routes", "", "10.2.2.0/24"] == UPLINKS
    assert seen["routes"]["leaf1", "@routes", "", "10.0.64.1/32"] == SPINE_1
    assert set(seen["reach"]) == {
        (leaf, "@reach", "", prefix)
        for leaf, others in (("leaf1", ("10.0.0.2/32", "10.2.2.0/24")), ("leaf2", ("10.0.0.1/32", "10.2.1.0/24")))
        for prefix in (*others, "10.0.64.1/32", "10.0.64.2/32")
    }
    assert seen["addresses"]["@fabric", "addresses", "10.0.0.1"] == ("leaf1:Loopback0",)
    assert seen["addresses"]["@fabric", "addresses", "router id 10.0.0.1"] == ("leaf1",)
    assert [item[2] for item in seen["failures"]] == [
        *("leaf1", "spine1"),
        *("leaf1:Ethernet224--spine1:Ethernet0", "leaf1:Ethernet232--spine1:Ethernet8"),
    ]
    assert set(seen["failures"].values()) == {frozenset()}


def test_destinations_are_those_of_leaves_with_who_announces_them() -> None:
    assert leaves_by_destination_prefix(index()) == {
        **{f"10.2.{n}.0/24": {f"leaf{n}"} for n in (1, 2)},
        **{f"10.0.0.{n}/32": {f"leaf{n}"} for n in (1, 2)},
    }


@given(intents())
def test_of_every_fabric_that_is_built_what_is_computed_is_what_should_be(data: dict[str, Any]) -> None:
    try:
        built = nodrop.build(load(data))
    except InputProblems:
        return
    found = Index(built)
    own = compute_observation(found)
    alone = sum(device.role == "spine" for device in built.devices) == 1
    assert [one for one in find_observed_faults(found, own) if one.check != "failures" or not alone] == []
    for item, hops in expected_ports_by_route(found, own).items():
        assert own.seen["routes"][item] == hops, item


def test_what_a_lost_session_explains_is_not_told_again() -> None:
    assert told({"leaf1/@neighbors/10.1.1.225/remote_asn": 4200000009}) == [
        ("sessions", ("leaf1", "@neighbors", "10.1.1.225")),
        ("sessions", ("spine1", "@neighbors", "10.1.1.224")),
    ]


def test_a_cable_over_which_nobody_asks_for_a_session_is_missed_where_it_should_carry() -> None:
    changes: dict[str, object] = {}
    for device, peer in (("leaf1", "10.1.1.225"), ("spine1", "10.1.1.224")):
        bgp = TWO_BY_TWO.device(device).bgp
        kept = tuple(one for one in bgp.neighbors if one.address != peer)  # type: ignore[union-attr]
        changes[f"{device}/@bgp/neighbors"] = kept
    assert told(changes) == [
        ("routes", ("leaf1", "@routes", "", prefix)) for prefix in ("10.0.0.2/32", "10.0.64.1/32", "10.2.2.0/24")
    ]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        pytest.param(
            {"leaf1/Ethernet224/addresses": ("10.9.9.9/31",)},
            {"links", "packets", "sessions"},
            id="another subnet at one end of a cable",
        ),
        pytest.param({"leaf1/Ethernet224/mtu_bytes": 1500}, {"packets"}, id="another MTU at one end"),
        pytest.param({"leaf2/@bgp/router_id": "10.0.0.1"}, {"addresses"}, id="one router id at two leaves"),
        pytest.param({"leaf1/@bgp/maximum_paths": 1}, {"routes"}, id="one path"),
        pytest.param({"leaf1/@bgp/networks": ()}, {"reach"}, id="nothing announced"),
    ],
)
def test_a_fault_is_told_in_the_check_that_it_is_of(changes: dict[str, object], found: set[str]) -> None:
    assert {check for check, _ in told(changes)} == found


def test_a_spine_that_asks_to_be_routed_around_is_not_missed() -> None:
    assert told({"spine1/@bgp/graceful_shutdown": True}) == []


def test_no_path_to_a_switch_leads_through_the_others_of_its_pod_which_have_its_as_number() -> None:
    """Leaf 5 has links to spine 3 and 4, which share an AS number; those of spine 3 are shut."""
    shut = {f"leaf5/{port}/enabled": False for port in ("Ethernet224", "Ethernet232")}
    found = index(shut, of=build(shipped("uneven-pods")))
    observation = compute_observation(found)
    ports = {
        item[3]: ports for item, ports in expected_ports_by_route(found, observation).items() if item[0] == "leaf5"
    }
    spine_4 = frozenset({"Ethernet240", "Ethernet248"})
    assert {to: ports.get(f"10.0.64.{to}/32") for to in (1, 2, 3, 4)} == {1: spine_4, 2: spine_4, 3: None, 4: spine_4}
    assert ports["10.0.0.1/32"] == ports["10.0.0.6/32"] == spine_4
    assert {fault.check for fault in find_observed_faults(found, observation)} <= {"sessions", "links", "addresses"}


def test_a_failure_tells_what_it_loses_where_cables_alone_would_not() -> None:
    found = Index(build(shipped("two-by-two", {"topology.spines.ids": "1-1", "topology.max_oversubscription": 2})))
    (lost, *more) = find_observed_faults(found, compute_observation(found))
    assert (lost.item, more) == (("@fabric", "failures", "spine1"), [])
    assert lost.seen == {("leaf1", "10.0.0.2/32"), ("leaf1", "10.2.2.0/24")} | {
        ("leaf2", "10.0.0.1/32"),
        ("leaf2", "10.2.1.0/24"),
    }


@pytest.mark.parametrize("check", [check for check in OBSERVATION_CHECKS if check not in ("routes", "failures")])
def test_silence_of_a_validator_is_a_fault(check: ObservationCheck) -> None:
    item = next(iter(compute_observation(index()).seen[check]))
    silent = as_seen(**{check: {item: None}})
    assert [(one.check, one.item, one.seen) for one in find_observed_faults(index(), silent)] == [
        (check, item, "nothing")
    ]
    blind = replace(silent, unseen={check: {item: "it cannot"}})
    assert find_observed_faults(index(), blind) == []
    assert find_observed_faults(index(), replace(silent, unseen={check: {(): "it cannot"}})) == []


def test_a_check_of_which_nobody_saw_all_is_agreed_in_part() -> None:
    own = as_seen().seen["reach"]
    first, *others = own
    part = replace(as_seen("Batfish", reach=dict.fromkeys(others)), unseen={"reach": {(): "it ran out of time"}})
    rows = {row.check: row.verdict for row in compare_validators_by_check(index(), (part,)).rows}
    assert own[first] == "delivered"
    assert rows["reach"] == f"partly, 1 of {len(own)}"
    rows = {row.check: row.verdict for row in compare_validators_by_check(index(), (part, as_seen("real FRR"))).rows}
    assert rows["reach"] == "agree"


def test_the_table_says_what_each_saw_where_they_differ_and_what_they_cannot_see() -> None:
    own = as_seen()
    sessions = list(own.seen["sessions"])
    half = as_seen(
        "Batfish",
        sessions={sessions[0]: "down"},
        packets=dict.fromkeys(own.seen["packets"]),
        routes={("leaf1", "@routes", "", "10.2.2.0/24"): SPINE_1, ("leaf2", "@routes", "", "10.2.1.0/24"): None},
    )
    half = replace(half, unseen={"packets": {(): "it has no question for it"}}, notes=("version 0",))
    found = index()
    shown = render_validator_comparison(compare_validators_by_check(found, (half, as_seen("real FRR"))))
    assert [line.rstrip() for line in shown] == [
        "validation",
        "  check                     nodrop  Batfish   real FRR  verdict",
        "  configuration taken       4       4         4         agree",
        "  neighbors over cables     8       8         8         agree",
        "  full-size packets         8       -         8         agree",
        "  sessions up               16      15 of 16  16        differ: Batfish in 1",
        "  addresses with one owner  30      30        30        agree",
        "  equal paths of routes     18      16 of 17  18        differ: Batfish in 2",
        "  destinations reached      8       8         8         agree",
        "  failures survived         4       4         4         agree",
        "  as before afterwards      4       4         4         agree",
        "  Batfish cannot see full-size packets, 8 of 8: it has no question for it",
        "  Batfish: version 0",
    ]


@pytest.mark.parametrize(
    ("explanation", "said"),
    [
        ("last seen at leaf1:p1, dropped there by entry 1 of access list A", True),
        ("last seen at leaf1:p1", False),
    ],
)
def test_a_finding_about_denied_packets_names_the_entry_that_drops_them(explanation: str, said: bool) -> None:
    item = ("leaf1", "@reach", "", "10.2.2.0/24")
    seen = replace(as_seen("real FRR", reach={item: "denied"}), said={("reach", item): explanation})
    with_seen = index()
    with_seen.set_channel_value(OBSERVATIONS_CHANNEL, [seen])
    (hit,) = observed.find(with_seen, check="reach")
    assert isinstance(hit, AnalysisHit)
    assert hit.facts["said"] == (f": {explanation}" if said else "")
