"""Failures and differences, against answers of a few lines: which questions are asked, and what is made of the rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest

from nodrop.model.fabric import End, Fabric
from nodrop.model.index import Index
from nodrop.routing.observation import ValidatorObservation, failure_item, route_item
from nodrop.validating import compute_observation, leaves_by_destination_prefix
from nodrop.validating.batfish import failures
from nodrop.validating.batfish.comparing import ComparedBuild, DifferingFlow, compare_reachability
from nodrop.validating.batfish.failures import BatfishNames, FailureResults, try_failures
from nodrop.validating.batfish.service import LoadedSnapshot
from support.designs import build, shared_subnet, shipped

CABLE = "leaf1:Ethernet224--spine1:Ethernet0"
FAILED = [failure_item(what) for what in ("leaf1", "spine1", CABLE, "leaf1:Ethernet232--spine1:Ethernet8")]

Row = Mapping[str, Any]
Answers = Callable[[str, Mapping[str, Any]], Sequence[Row]]


class Pretended:
    """A snapshot that answers with rows; `asked` has every question, with the snapshot that it went to."""

    def __init__(self, answers: Answers, name: str = "s", asked: list[tuple[str, str]] | None = None) -> None:
        self.answers, self.name = answers, name
        self.asked = [] if asked is None else asked
        self.forked: list[tuple[Sequence[str], Sequence[End]]] = []
        self.forgotten = 0

    def ask(self, question: str, *, reference: object = None, **parameters: object) -> Sequence[Row]:
        self.asked.append((self.name, question))
        return self.answers(question, {"of": self.name, **parameters})

    def fork_without(self, name: str, *, nodes: Sequence[str] = (), ports: Sequence[End] = ()) -> "Pretended":
        self.forked.append((nodes, ports))
        made = Pretended(self.answers, name, self.asked)
        made.delete_snapshot = self._forgets  # type: ignore[method-assign]
        return made

    def _forgets(self) -> None:
        self.forgotten += 1

    def delete_snapshot(self) -> None:
        raise AssertionError("the snapshot with everything stays")


def flow(start: str, to: str, before: str, after: str, port: str = "") -> Row:
    ways = {"Snapshot_Traces": [{"disposition": after}], "Reference_Traces": [{"disposition": before}]}
    return {"Flow": {"ingressNode": start, "dstIp": to} | ({"ingressInterface": port} if port else {}), **ways}


def gone(prefix: str, *presence: str) -> list[Row]:
    return [{"Network": prefix, "Entry_Presence": one} for one in presence]


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return build(shipped("two-by-two"))


def all_of(fabric: Fabric) -> BatfishNames:
    ends = [end for link in fabric.links for end in (link.a, link.b)]
    return BatfishNames(
        nodes={device.name: device.name.upper() for device in fabric.devices},
        ports={end: End(end.node.upper(), end.port) for end in ends},
    )


def outcome(
    fabric: Fabric, base: Pretended, seen: ValidatorObservation | None = None, called: BatfishNames | None = None
) -> FailureResults:
    index = Index(fabric)
    loaded = cast("LoadedSnapshot", base)
    return try_failures(
        loaded,
        called or all_of(fabric),
        fabric,
        seen or compute_observation(index),
        leaves_by_destination_prefix(index),
    )


def nothing(question: str, given: Mapping[str, Any]) -> Sequence[Row]:
    return []


def test_without_any_lost_packet_nothing_is_lost_and_no_routes_are_asked_for(fabric: Fabric) -> None:
    base = Pretended(nothing)
    assert outcome(fabric, base).seen == dict.fromkeys(FAILED, frozenset())
    assert {question for _, question in base.asked} == {"differentialReachability"}
    assert base.forked == [
        (("LEAF1",), ()),
        (("SPINE1",), ()),
        ((), (End("LEAF1", "Ethernet224"), End("SPINE1", "Ethernet0"))),
        ((), (End("LEAF1", "Ethernet232"), End("SPINE1", "Ethernet8"))),
    ]
    assert base.forgotten == 4


def test_packets_start_at_every_leaf_that_is_left_and_go_to_all_that_others_announce(fabric: Fabric) -> None:
    given: dict[str, tuple[str, set[str]]] = {}

    def answers(question: str, parameters: Mapping[str, Any]) -> Sequence[Row]:
        start = parameters["pathConstraints"]["startLocation"]
        given[parameters["of"]] = (start, set(parameters["headers"]["dstIps"].split(", ")))
        return []

    outcome(fabric, Pretended(answers))
    everywhere = {"10.0.0.1/32", "10.0.0.2/32", "10.2.1.0/24", "10.2.2.0/24"}
    assert given["s-without-spine1"] == ("LEAF1, LEAF2", everywhere)
    assert given["s-without-leaf1"] == ("LEAF2", everywhere - {"10.0.0.1/32", "10.2.1.0/24"})


def test_what_a_leaf_loses_is_that_to_which_it_has_no_route_left(fabric: Fabric) -> None:
    def answers(question: str, given: Mapping[str, Any]) -> Sequence[Row]:
        if "spine1" not in given["of"] or "Ethernet" in given["of"]:
            return []
        if question == "differentialReachability":
            return [flow("LEAF1", "10.2.2.1", "ACCEPTED", "NO_ROUTE")]
        assert (question, given["nodes"], given["protocols"]) == ("routes", "LEAF1", "bgp")
        kept = gone("10.0.0.2/32", "Only in Reference", "Unchanged")
        return [*gone("10.2.2.0/24", "Only in Reference"), *kept, *gone("10.9.9.0/24", "Only in Reference")]

    found = outcome(fabric, Pretended(answers))
    lost = {("leaf1", "10.2.2.0/24")}
    assert found.seen == dict.fromkeys(FAILED, frozenset()) | {failure_item("spine1"): frozenset(lost)}
    assert found.said == {}


def test_packets_that_are_lost_on_their_way_count_though_the_leaf_has_its_route(fabric: Fabric) -> None:
    def answers(question: str, given: Mapping[str, Any]) -> Sequence[Row]:
        lost = question == "differentialReachability" and given["of"] == "s-without-spine1"
        return [flow("LEAF2", "10.2.1.1", "ACCEPTED", "DENIED_IN")] if lost else []

    found = outcome(fabric, Pretended(answers))
    assert found.seen[failure_item("spine1")] == {("leaf2", "10.2.1.0/24")}
    assert found.said == {failure_item("spine1"): "leaf2 to 10.2.1.1: DENIED_IN"}


def test_packets_that_a_failure_brings_home_are_no_loss(fabric: Fabric) -> None:
    def answers(question: str, given: Mapping[str, Any]) -> Sequence[Row]:
        return [flow("LEAF2", "10.2.1.1", "LOOP", "ACCEPTED")] if question == "differentialReachability" else []

    assert outcome(fabric, Pretended(answers)).seen == dict.fromkeys(FAILED, frozenset())


def test_routes_of_a_leaf_with_a_default_route_are_looked_at_though_it_loses_no_packet(fabric: Fabric) -> None:
    seen = compute_observation(Index(fabric))
    routes = {**seen.seen["routes"], route_item("leaf2", "0.0.0.0/0"): frozenset({"Ethernet224"})}
    default = ValidatorObservation(by="nodrop", seen={**seen.seen, "routes": routes})

    def answers(question: str, given: Mapping[str, Any]) -> Sequence[Row]:
        routes = question == "routes" and given["of"] == "s-without-spine1"
        return gone("10.2.1.0/24", "Only in Reference") if routes else []

    found = outcome(fabric, Pretended(answers), default)
    assert found.seen == dict.fromkeys(FAILED, frozenset()) | {
        failure_item("spine1"): frozenset({("leaf2", "10.2.1.0/24")})
    }


def test_what_the_snapshot_does_not_have_cannot_fail(fabric: Fabric) -> None:
    whole = all_of(fabric)
    ports = {end: name for end, name in whole.ports.items() if end != End("spine1", "Ethernet0")}
    nodes = {device: node for device, node in whole.nodes.items() if device != "leaf1"}
    found = outcome(fabric, Pretended(nothing), called=BatfishNames(nodes=nodes, ports=ports))
    assert found.unseen == {
        failure_item("leaf1"): "leaf1 is not in the snapshot that Batfish reads",
        failure_item(CABLE): "spine1:Ethernet0 is not in the snapshot that Batfish reads",
    }
    assert found.seen.keys() == {failure_item("spine1"), FAILED[3]}


def test_a_large_fabric_has_a_part_of_its_failures_tried(fabric: Fabric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "MAX_SWITCHES_RECOMPUTED", 8)
    monkeypatch.setattr(failures, "MIN_TRIED_FAILURES", 1)
    found = outcome(fabric, Pretended(nothing))
    assert list(found.seen) == [FAILED[0], FAILED[2]]
    why = "of 4 failures 2 are tried in a fabric of this size"
    assert found.unseen == {FAILED[1]: why, FAILED[3]: why}
    assert found.notes == ["failures: 2 of 4 were tried"]


def test_a_loss_in_ipv6_is_one_that_batfish_cannot_see(fabric: Fabric) -> None:
    seen = compute_observation(Index(fabric))
    lost = {failure_item("spine1"): frozenset({("leaf1", "fd00::2/128")})}
    six = ValidatorObservation(by="nodrop", seen={**seen.seen, "failures": {**seen.seen["failures"], **lost}})
    found = outcome(fabric, Pretended(nothing), six)
    assert found.unseen == {failure_item("spine1"): "it also loses IPv6 prefixes, and Batfish reads no IPv6 routes"}


def compared(
    fabric: Fabric, answers: Answers, same: bool = False
) -> tuple[tuple[DifferingFlow, ...], Pretended, list[str]]:
    old, new = Pretended(answers, "old"), Pretended(answers, "old" if same else "new")
    whole = all_of(fabric)
    leaves = frozenset({"leaf1", "leaf2"})
    sides = [
        ComparedBuild(
            loaded=cast("LoadedSnapshot", one), called=whole, fabric=fabric, leaves=leaves, texts={"leaf1": one.name}
        )
        for one in (old, new)
    ]
    found = compare_reachability(sides[0], sides[1], leaves_by_destination_prefix(Index(fabric)))
    return found.flows, new, list(found.notes)


def test_builds_of_the_same_files_are_not_compared(fabric: Fabric) -> None:
    flows, new, told = compared(fabric, nothing, same=True)
    assert (flows, new.asked, told) == ((), [], [])


def test_builds_without_a_difference_take_one_question_from_leaves_and_ports_of_changed_ones(fabric: Fabric) -> None:
    given: list[Mapping[str, Any]] = []

    def answers(question: str, parameters: Mapping[str, Any]) -> Sequence[Row]:
        given.append(parameters)
        return []

    assert compared(fabric, answers)[0] == ()
    prefixes = "10.0.0.1/32, 10.0.0.2/32, 10.2.1.0/24, 10.2.2.0/24"
    start = "LEAF1, @enter(LEAF1[Ethernet0, Ethernet16, Ethernet8]), LEAF2"
    assert given == [
        {
            "of": "new",
            "pathConstraints": {"startLocation": start},
            "headers": {"dstIps": prefixes, "srcIps": prefixes},
            "maxTraces": failures.MAX_SHOWN_PACKET_PATHS,
        }
    ]


def lossy(question: str, given: Mapping[str, Any]) -> Sequence[Row]:
    """10.2.2.0/24 is lost from leaf1 and from its hosts, 10.0.0.2/32 is gained from a port of it."""
    asked, rows = given["headers"]["dstIps"], []
    if "10.2.2.0/24" in asked:
        rows += [flow("LEAF1", "10.2.2.9", "ACCEPTED", "NO_ROUTE", port) for port in ("", "Ethernet0", "Ethernet8")]
    if "10.0.0.2/32" in asked:
        rows.append(flow("LEAF1", "10.0.0.2", "DENIED_IN", "ACCEPTED", "Ethernet0"))
    return rows


def test_what_differs_is_told_apart_by_prefix_and_once_for_a_device(fabric: Fabric) -> None:
    flows, new, told = compared(fabric, lossy)
    gained = DifferingFlow(
        source="leaf1",
        port="Ethernet0",
        prefix="10.0.0.2/32",
        destination="10.0.0.2",
        old="DENIED_IN",
        new="ACCEPTED",
        lost=False,
    )
    lost = DifferingFlow(
        source="leaf1", port="", prefix="10.2.2.0/24", destination="10.2.2.9", old="ACCEPTED", new="NO_ROUTE", lost=True
    )
    assert flows == (gained, lost)
    assert (len(new.asked), told) == (7, [])


def test_what_was_not_told_apart_is_said(fabric: Fabric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.validating.batfish.comparing.MAX_QUESTIONS", 3)
    flows, new, told = compared(fabric, lossy)
    assert len(new.asked) == 3
    assert {(one.prefix, one.lost) for one in flows} == {("10.0.0.2/32", False), ("10.2.2.0/24", True)}
    together = "10.0.0.1/32, 10.0.0.2/32, 10.2.1.0/24, 10.2.2.0/24"
    assert told == [f"4 prefixes differ together and were not separated:  {together}"]


def test_hosts_of_the_failed_leaf_are_no_loss_where_another_has_their_subnet() -> None:
    asked: dict[str, str] = {}

    def answers(question: str, parameters: Mapping[str, Any]) -> Sequence[Row]:
        asked[parameters["of"]] = parameters["headers"]["dstIps"]
        return []

    outcome(shared_subnet(), Pretended(answers))
    assert "(10.3.1.0/24 \\ (10.3.1.12, 10.3.1.13))" in asked["s-without-leaf1"]
    assert "\\" not in asked["s-without-spine1"]
