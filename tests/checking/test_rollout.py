"""What lies between two states: orders that break nothing on their way are found, and hazards that none avoids told."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import nodrop
from nodrop.checking import rollout
from nodrop.checking.rollout import order_rollout, should_compute_routing
from nodrop.cli.check import RISK_LEVELS
from nodrop.config import Config
from nodrop.engine.finding import FabricVerdict
from nodrop.engine.nearby import find_rules_unaffected_by_change
from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems, Problem, UnsupportedByPlatform
from nodrop.judging import CheckSettings
from nodrop.model.change import EditResult, PatchStep
from nodrop.model.compare import differences
from nodrop.model.edit import set_value
from nodrop.model.fabric import Loopback
from nodrop.model.reading import Assumption, Reading
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.plan import model
from nodrop.plan.effects import changes_not_computed_by_switch, switch_files_if_unchanged
from nodrop.plan.model import ChangeScope, Plan, RolloutStage
from nodrop.plan.order import number_stages, possible_orders
from nodrop.plan.patches import make_patches
from nodrop.plan.shares import ChangesByScope
from nodrop.plan.states import RolloutStates, rollout_moments, scopes_done_after
from nodrop.platforms.sonic import applying
from nodrop.platforms.sonic import edit as sonic_edit
from nodrop.report import plan_json
from nodrop.resources import resource_folder
from support.broken_fabrics import broken, said
from support.command import nodrop as command
from support.pages import text_of_plan
from support.plan_pairs import KNOBS, as_read, device_in, reading, reading_of

LOSSY: dict[str, Any] = {"mode": "lossy", "classes.rdma.lossless": False}
MOVED: dict[str, Any] = {"classes.rdma.dscp": "24", "classes.storage.dscp": "26", "hosts": {"tos": "98"}}
UPLINKS = (224, 232, 240, 248)
DOWNLINKS = (0, 8, 128, 136)
USUAL = [("leaf1",), ("leaf2",), ("spine1",), ("spine2",)]
SLOW = {"speed_mbps": 100_000, "lanes": 4, "fec": "rs"}
"""Cables on which either FEC is right."""
WAN = {
    "asn": "65001",
    "links": {"leaf1": {"9": "192.0.2.0/31"}, "leaf2": {"9": "192.0.2.2/31"}},
    "speed": "400G",
    "media": "DR4",
    "length": "10m",
    "accept": "0.0.0.0/0",
}
SPINES = [("spine1", "leaf1", "leaf2"), ("spine2", "leaf1", "leaf2")]


def edited(of: Reading, *changes: tuple[str, Any]) -> Reading:
    """Return what the same switches say with some facts changed."""
    fabric = of.fabric
    for path, value in changes:
        fabric = set_value(fabric, parse_subject(path), value)
    return replace(of, fabric=fabric)


def made(old: Reading, new: Reading, settings: CheckSettings | None = None) -> Plan:
    plan = nodrop.plan(old, new)
    return order_rollout(plan, old, new, settings or CheckSettings(), routing=should_compute_routing(plan, old, new))


def devices(plan: Plan) -> list[tuple[str, ...]]:
    return [stage.devices for stage in plan.order]


def hazards(plan: Plan) -> list[tuple[str, str]]:
    assert plan.rollout is not None
    return [(one.moment, one.rule) for one in plan.rollout.hazards]


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"classes.rdma.ecn": {"min": "200kB", "max": "2000kB", "probability": "100%"}},
        {"topology.leaves.ids": "1-3"},
        {"devices": {"spine1": {"drained": True}}},
        {"pfc": {"watchdog": {"hosts": {"detection": "300ms", "restoration": "600ms"}}}},
        {"buffers": {"alpha": "2"}},
        {"topology.spines.platform": "nvue", "topology.spines.version": "5.14"},
        {"external": {"wan": WAN}},
    ],
    ids=str,
)
@pytest.mark.parametrize("back", [False, True])
def test_what_every_rolling_change_does_is_no_hazard(changes: dict[str, Any], back: bool) -> None:
    old, new = reading(), reading_of("sonic", changes)
    plan = made(new, old) if back else made(old, new)
    usual = nodrop.plan(new, old) if back else nodrop.plan(old, new)
    assert plan.rollout is not None
    assert (plan.rollout.why, plan.rollout.hazards, plan.rollout.states_not_checked) == ("", (), 0)
    assert plan.order == usual.order


def test_what_a_neighbor_outside_no_longer_announces_is_missed_nowhere() -> None:
    old = reading("sonic", (), "border")
    new = reading("sonic", (("external.wan.accept", "0.0.0.0/0"),), "border")
    assert hazards(made(old, new)) == hazards(made(new, old)) == []


def test_pfc_that_comes_to_a_lossy_fabric_needs_no_other_order() -> None:
    """Nothing was lossless before, and nobody is owed that until all of it is."""
    plan = made(reading_of("sonic", LOSSY), reading())
    assert (devices(plan), hazards(plan)) == (USUAL, [])


def test_hosts_stop_pausing_before_the_switches_do() -> None:
    plan = made(reading(), reading_of("sonic", LOSSY))
    assert plan.rollout is not None
    assert (devices(plan), hazards(plan)) == (USUAL, [])
    assert plan.rollout.why == "what is stated of the fabric, and how hosts are set, changes before the switches"
    assert plan.rollout.avoided is not None
    assert (plan.rollout.avoided.rule, plan.rollout.avoided.subjects_count) == ("pfc-one-sided", 8)


def test_no_order_moves_rdma_to_another_dscp() -> None:
    plan = made(reading(), reading_of("sonic", MOVED))
    assert devices(plan) == USUAL
    assert hazards(plan) == [("between leaf1 and leaf2", "rdma-dscp-in-lossy-class")]


@pytest.mark.slow
def test_leaves_that_are_added_to_a_pod_of_three_tiers_are_no_hazard() -> None:
    """While spine 4 has no sessions with a new leaf yet, spine 3 leads the leaf nowhere but to spine 4's AS number."""
    grown = {"topology.groups.leaf.ids": "1-8", "endpoints.gpu.ids": "1-16"}
    old, new = (reading(name="uneven-pods", changes=changes) for changes in ((), tuple(grown.items())))
    plan = made(old, new)
    assert devices(plan) == [("leaf7", "leaf8"), ("spine3",), ("spine4",)]
    assert hazards(plan) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ([(f"leaf*/Ethernet{port}/speed_mbps", 200_000) for port in UPLINKS], "speed-mismatch"),
        ([(f"leaf*/Ethernet{port}/mtu_bytes", 9_000) for port in UPLINKS], "mtu-mismatch"),
        ([(f"leaf*/Ethernet{port}/fec", "none") for port in UPLINKS], "fec-mismatch"),
    ],
    ids=["speed", "mtu", "fec"],
)
def test_both_ends_of_a_cable_change_together(changes: list[tuple[str, Any]], rule: str) -> None:
    value = changes[0][1]
    attribute = changes[0][0].rpartition("/")[2]
    far = [(f"spine*/Ethernet{port}/{attribute}", value) for port in DOWNLINKS]
    links = [*(f"leaf*/Ethernet{port}" for port in UPLINKS), *(f"spine*/Ethernet{port}" for port in DOWNLINKS)]
    slow = edited(reading(), *((f"{port}/{key}", to) for port in links for key, to in SLOW.items()))
    plan = made(slow, edited(slow, *changes, *far))
    assert (devices(plan), hazards(plan)) == (SPINES, [])
    assert plan.order[0].scopes == (ChangeScope(), *[ChangeScope("towards", ("spine1",))] * 2)
    assert plan.rollout is not None
    assert plan.rollout.avoided is not None
    assert plan.rollout.avoided.rule == rule


def slower(of: Reading) -> tuple[Reading, Reading]:
    """Return a fabric, and the same with another speed on both ends of all cables between its switches."""
    names = {one.name for one in of.fabric.devices}
    cables = [one for one in of.fabric.links if {one.a.node, one.b.node} <= names]
    ports = [f"{end.node}/{end.port}" for one in cables for end in (one.a, one.b)]
    old = edited(of, *((f"{port}/{key}", to) for port in ports for key, to in SLOW.items()))
    return old, edited(old, *((f"{port}/speed_mbps", 200_000) for port in ports))


def test_a_stage_has_one_number() -> None:
    """Inside, stages count flat; of the order that is not taken, there is no number to tell."""
    plan = made(*slower(reading()))
    assert plan.rollout is not None
    assert plan.rollout.avoided is not None
    said = plan_json.plan_record(plan)
    assert [one["number"] for one in said["order"]] == ["1.1", "1.2"]
    assert said["rollout"]["avoided"]["stage"] is None
    at_second = replace(plan.rollout, hazards=(replace(plan.rollout.avoided, stage=2),))
    said = plan_json.plan_record(replace(plan, rollout=at_second))
    assert [one["stage"] for one in said["rollout"]["hazards"]] == ["1.2"]


def test_dashes_in_names_of_switches_change_nothing() -> None:
    of = reading()
    names = {one.name: re.sub("([0-9])", r"--\1", one.name) for one in of.fabric.devices}
    fabric = replace(
        of.fabric,
        devices=tuple(replace(one, name=names[one.name]) for one in of.fabric.devices),
        links=tuple(
            replace(
                one,
                a=one.a._replace(node=names.get(one.a.node, one.a.node)),
                b=one.b._replace(node=names.get(one.b.node, one.b.node)),
            )
            for one in of.fabric.links
        ),
    )
    sources = {names.get(name, name): files for name, files in of.sources.items()}
    plan = made(*slower(replace(of, fabric=fabric, sources=sources)))
    assert devices(plan) == [tuple(names[name] for name in stage) for stage in SPINES]
    assert hazards(plan) == []


def test_a_rule_that_fails_at_a_state_between_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> FabricVerdict:
        return FabricVerdict(findings=(), problems=(Problem(path="x.yaml", found="rule x failed"),))

    monkeypatch.setattr(rollout, "judge", failing)
    plan = made(reading(), reading_of("sonic", MOVED))
    assert [str(one) for one in plan.problems] == ["x.yaml: rule x failed"]


def test_what_only_comes_or_goes_is_not_judged_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = replace(reading(), fabric=replace(reading().fabric, devices=(), links=(), hosts=()))
    monkeypatch.setattr(rollout, "judge", None)
    for pair in ((nothing, reading()), (reading(), nothing)):
        assert made(*pair).rollout == model.RolloutCheckResult()


def test_the_ends_of_one_cable_are_no_stage_of_others() -> None:
    old = reading()
    plan = made(old, edited(old, ("leaf1/Ethernet224/mtu_bytes", 9_000), ("spine1/Ethernet0/mtu_bytes", 9_000)))
    assert (devices(plan), hazards(plan)) == ([("spine1", "leaf1")], [])


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
def test_a_spine_gets_its_number_together_with_what_leaves_expect_of_it(platform: str) -> None:
    plan = made(reading(platform), reading_of(platform, {"routing.asn.spines": "4200000001"}))
    assert (devices(plan), hazards(plan)) == (SPINES, [])


def test_pfc_comes_to_both_ends_of_a_cable() -> None:
    """Leaves have it towards hosts only, and get it towards the spines while these do."""
    pausing = ("pfc_rx_priorities", "pfc_tx_priorities")
    ports = [*(f"leaf*/Ethernet{port}" for port in UPLINKS), "spine*/*"]
    old = edited(reading(), *((f"{port}/qos/{one}", ()) for port in ports for one in pausing))
    plan = made(old, reading())
    assert (devices(plan), hazards(plan)) == (SPINES, [])
    assert plan.rollout is not None
    assert plan.rollout.avoided is not None
    assert plan.rollout.avoided.rule == "pfc-one-sided"


def test_ports_at_hosts_come_last_where_those_between_switches_have_to_wait_longer() -> None:
    """For whoever calls it an error that a watchdog between switches acts before those at hosts are through."""
    strict = CheckSettings(config=Config(severity={"watchdog-tier-order": "error"}))
    slower = {"detection": "800ms", "restoration": "1600ms"}
    slowest = {"detection": "2000ms", "restoration": "4000ms"}
    new = reading_of("sonic", {"pfc": {"watchdog": {"hosts": slower, "fabric": slowest}}})
    plan = made(reading(), new, strict)
    assert (devices(plan), hazards(plan)) == ([*SPINES, *USUAL[:2]], [])
    assert plan.rollout is not None
    assert plan.rollout.why.endswith(", the rest after that")


def test_spines_go_first_where_a_leaf_takes_what_a_spine_gives_up() -> None:
    old = reading()
    (loopback,) = old.fabric.device("spine1").loopbacks
    (own,) = old.fabric.device("leaf1").loopbacks
    assert isinstance(loopback, Loopback)
    assert isinstance(own, Loopback)
    free = replace(loopback, addresses=("10.0.9.9/32",))
    taken = replace(own, addresses=loopback.addresses)
    new = edited(old, ("leaf1/@loopbacks", (taken,)), ("spine1/@loopbacks", (free,)))
    plan = made(old, new)
    assert (devices(plan), hazards(plan)) == ([("spine1",), ("leaf1",)], [])
    assert plan.rollout is not None
    assert plan.rollout.why == "switches far from hosts first, those near to hosts last"
    assert plan.rollout.avoided is not None
    assert (plan.rollout.avoided.rule, plan.rollout.avoided.moment) == ("duplicate-address", "between leaf1 and spine1")


def test_the_ends_of_a_cable_within_a_tier_change_together() -> None:
    """Of switches of which nobody says how far they are from hosts, any may be at the other end."""
    old = reading()
    flat = replace(old.fabric, hosts=(), devices=tuple(replace(one, role=UNKNOWN) for one in old.fabric.devices))
    before = replace(old, fabric=flat)
    changes = (("leaf1/Ethernet224/mtu_bytes", 9_000), ("spine1/Ethernet0/mtu_bytes", 9_000))
    plan = made(before, edited(before, *changes))
    assert (devices(plan), hazards(plan)) == ([("spine1", "leaf1")], [])


def test_what_is_suppressed_or_no_error_is_no_hazard() -> None:
    old, new = reading(), reading_of("sonic", MOVED)
    calm = CheckSettings(config=Config(severity={"rdma-dscp-in-lossy-class": "warning"}))
    assert hazards(made(old, new, calm)) == []


@pytest.mark.parametrize(
    ("platform", "changes"),
    [("sonic", MOVED), ("nvue", LOSSY), ("sonic", {"devices": {"leaf2": {"drained": True}}})],
    ids=str,
)
def test_what_is_known_of_a_switch_alone_is_what_a_whole_state_has(platform: str, changes: dict[str, Any]) -> None:
    """Also of an old switch with new facts of the fabric, and where a port of a switch has yet another fault."""
    old, new = reading(platform), reading_of(platform, changes)
    new = edited(new, (f"leaf1/{new.fabric.devices[0].interfaces[0].name}/mtu_bytes", 1500))
    search = rollout._RolloutSearch(nodrop.plan(old, new), old, new, CheckSettings(), routing=False)
    order = next(search.candidate_rollout_orders())
    for done in ({}, scopes_done_after(order.stages[:1]), scopes_done_after(order.stages)):
        for stated in ("old", "new"):
            whole = judge(search._states.reading_after_changes(done, stated), search._rules, brief=True).findings
            known = search._find_state_errors(done, stated)
            assert known == {error.fingerprint: error for error in whole if error.severity == "error"}


@pytest.mark.parametrize(
    ("changes", "judged_each_time"),
    [
        ((("leaf1/Ethernet0/qos/pfc_watchdog", None),), set()),
        ((("leaf1/Ethernet224/addresses", ("10.9.9.0/31",)),), {"duplicate-address", "host-in-vrf-without-bgp"}),
        ((("spine1/Ethernet0/mtu_bytes", 9_000),), {"mtu-mismatch", "path-mtu-below-hosts"}),
        ((("leaf1/Ethernet224/name", "Ethernet225"),), {"duplicate-address", "mtu-mismatch"}),
    ],
    ids=["watchdog", "address", "mtu", "another port"],
)
def test_rules_that_read_nothing_that_changes_are_judged_once(changes: Any, judged_each_time: set[str]) -> None:
    old = reading()
    new = edited(old, *changes)
    search = rollout._RolloutSearch(nodrop.plan(old, new), old, new, CheckSettings(), routing=True)
    known = {"duplicate-address", "host-in-vrf-without-bgp", "mtu-mismatch"} - judged_each_time
    still = {rule.name for rule in search._still_rules}
    assert not still & judged_each_time
    assert known <= still or changes[0][0].endswith("name")
    assert not still & {"pfc-one-sided", "pfc-without-watchdog", "rdma-dscp-in-lossy-class"}


def test_no_rule_is_still_where_a_cable_comes_or_an_exception_goes() -> None:
    old = reading()
    fewer = replace(old, fabric=replace(old.fabric, links=old.fabric.links[1:]))
    assert find_rules_unaffected_by_change((old, fewer), shipped_rules()) == []
    assert (
        find_rules_unaffected_by_change(
            (old, replace(old, derived={("leaf1", "Ethernet0"): "another"})), shipped_rules()
        )
        == []
    )
    assert find_rules_unaffected_by_change((old, old), shipped_rules())


def test_rules_that_ask_other_switches_are_judged_in_whole_states() -> None:
    old, new = reading(), reading_of("sonic", MOVED)
    guess = Assumption(fact="RDMA", value="DSCP 26", reason="NVIDIA's convention")

    def alone(before: Reading) -> set[str]:
        return {
            rule.name
            for rule in rollout._RolloutSearch(
                nodrop.plan(old, new), before, new, CheckSettings(), routing=True
            )._own_rules
        }

    asks_others_if_assumed = "rdma-dscp-in-lossy-class"
    of_cables_neighbors_or_all = {
        "fec-mismatch",
        "headroom-too-small",
        "session-without-link-local",
        "duplicate-address",
    }
    assert alone(old) >= {asks_others_if_assumed, "ecn-never-before-pfc"}
    assert alone(old).isdisjoint(of_cables_neighbors_or_all)
    assert alone(replace(old, assumed=(guess,))) >= {"ecn-never-before-pfc"}
    assert asks_others_if_assumed not in alone(replace(old, assumed=(guess,)))


def test_a_switch_is_judged_alone_once_for_all_states_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[tuple[int, object, bool]] = []

    def counted(of: Reading, rules: Any, **given: Any) -> FabricVerdict:
        alone = len(of.fabric.devices) == 1 and not of.fabric.links
        judged.append((id(of.fabric.devices[0]), of.fabric.classes, alone))
        return judge(of, rules, **given)

    monkeypatch.setattr(rollout, "judge", counted)
    assert hazards(made(reading(), reading_of("sonic", MOVED)))
    alone = [one[:2] for one in judged if one[2]]
    assert 0 < len(set(alone)) == len(alone)


def test_states_are_tried_as_long_as_there_is_time_and_the_others_told(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = reading(), reading_of("sonic", MOVED)
    monkeypatch.setattr(rollout, "_MIN_JUDGED_SWITCHES", 60)
    monkeypatch.setattr(rollout, "_JUDGED_SWITCHES_PER_FABRIC_SWITCH", 0)
    plan = made(old, new)
    assert plan.rollout is not None
    assert (plan.rollout.states_checked, plan.rollout.states_not_checked) == (2, 1)
    assert "  2 of 3 intermediate states checked\n" in text_of_plan(plan)
    assert devices(plan) == USUAL


def test_of_switches_one_after_the_other_the_first_middle_and_last_are_tried() -> None:
    stages = [RolloutStage(devices=(f"spine{number}",), why="alone", tier=1) for number in range(9)]
    first = RolloutStage(devices=("leaf1", "leaf2"), why="pod")
    found, alike = rollout_moments([first, *stages])
    assert [(one.when, one.stage, len(one.done)) for one in found] == [
        ("between stages", 1, 2),
        ("between stages", 2, 3),
        ("between stages", 6, 7),
        ("within stage", 1, 1),
    ]
    assert alike == 6


def test_a_stage_of_new_switches_alone_is_tried_as_a_whole() -> None:
    new, old = RolloutStage(devices=("leaf3", "leaf4"), why="new"), RolloutStage(devices=("leaf1", "leaf2"), why="pod")
    found, alike = rollout_moments([new, old], {"leaf3", "leaf4"})
    assert [(moment.when, moment.stage) for moment in found] == [("between stages", 1), ("within stage", 2)]
    assert alike == 1
    mixed = RolloutStage(devices=("leaf3", "leaf1"), why="renamed")
    assert [moment.when for moment in rollout_moments([mixed], {"leaf3"})[0]] == ["within stage"]


@given(data=st.data())
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@pytest.mark.nightly
def test_every_order_is_the_whole_plan_and_ends_in_the_new_fabric(data: st.DataObject) -> None:
    platform = data.draw(st.sampled_from(["sonic", "nvue"]))
    changes = {}
    for knob in data.draw(st.lists(st.sampled_from(sorted(KNOBS)), min_size=1, max_size=3, unique=True)):
        changes[knob] = data.draw(st.sampled_from(KNOBS[knob]))
    old = reading(platform)
    try:
        new = reading_of(platform, changes)
    except (InputProblems, UnsupportedByPlatform):
        assume(False)
    if data.draw(st.booleans()):
        old, new = new, old
    plan = nodrop.plan(old, new)
    shares = ChangesByScope(plan.devices, old.fabric, new.fabric)
    states = RolloutStates(plan.devices, old, new, shares)
    assert states.reading_after_changes({}, "old").fabric == old.fabric
    for order in possible_orders(plan.devices, shares, new.fabric, restated=False):
        assert {name for stage in order.stages for name in stage.devices} == {one.name for one in plan.devices}
        assert states.reading_after_changes(scopes_done_after(order.stages), "new").fabric == new.fabric
        for one, other in pairwise(range(len(order.stages) + 1)):
            assert scopes_done_after(order.stages[:one]) != scopes_done_after(order.stages[:other])
    taken, usual = made(old, new), rollout._RolloutSearch(plan, old, new, CheckSettings(), routing=False, progress=str)
    first = usual.find_hazards_of_order(next(iter(usual.candidate_rollout_orders()))) if plan.order else None
    assert taken.rollout is None or first is None or len(taken.rollout.hazards) <= len(first.hazards)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 1, True),
        (("--rollout", "report"), 0, True),
        (("--rollout", "off"), 0, False),
        (("--fail-on", "never"), 0, True),
    ],
    ids=str,
)
def test_a_hazard_stops_a_pipeline_unless_it_is_let_through(
    intents: Path, words: tuple[str, ...], code: int, told: bool
) -> None:
    done = command("check", "fabric.yaml", "--base", "./old", *words)
    assert (done.code, done.err) == (code, "")
    assert ("1 rollout hazard" in done.out.splitlines()[-1]) is told
    assert ("between leaf1 and leaf2: error[rdma-dscp-in-lossy-class] on leaf1: DSCP 26 of RDMA" in done.out) is told


def test_a_plan_tells_hazards_and_looks_for_none_where_nobody_asks(intents: Path) -> None:
    both = ("plan", "old/fabric.yaml", "fabric.yaml", "--format", "json")
    (one,) = json.loads(command(*both).out)["plans"]
    (other,) = json.loads(command(*both, "--rollout", "off").out)["plans"]
    assert [(each["rule"], each["when"], each["stage"]) for each in one["rollout"]["hazards"]] == [
        ("rdma-dscp-in-lossy-class", "between stages", "1")
    ]
    assert other["rollout"] is None


@pytest.mark.parametrize(("risk", "code"), [("traffic-affecting", 1), ("service restart", 0), ("unknown", 1)])
def test_a_risk_stops_a_pipeline(intents: Path, risk: str, code: int) -> None:
    words = ("check", "fabric.yaml", "--base", "./old", "--rollout", "off", "--fail-on-risk", risk)
    assert command(*words).code == code


def test_the_risks_of_the_command_are_those_of_a_plan() -> None:
    assert ("none", *RISK_LEVELS) == model.CHANGE_RISKS


def changed_files(change: Callable[[dict[str, Any]], None], *names: str) -> tuple[Reading, Reading]:
    """Return what the files of a fabric of SONiC say, and what they say when those of some switches are changed."""
    clean = broken("sonic", [])
    new = dict(clean)
    for one in names:
        config = json.loads(clean[f"{one}/config_db.json"])
        change(config)
        new[f"{one}/config_db.json"] = json.dumps(config)
    return said(clean), said(new)


def unpaused(config: dict[str, Any]) -> None:
    config["PORT_QOS_MAP"]["Ethernet0"].update(pfc_enable="", pfcwd_sw_enable="")
    del config["PFC_WD"]["Ethernet0"]


def test_a_watchdog_goes_after_the_pfc_that_it_watches() -> None:
    """The updater takes rows out first: between that and the shut port, pause would be obeyed by a port unwatched."""
    old, new = changed_files(unpaused, "leaf1", "leaf2")
    plan = made(old, new)
    assert hazards(plan) == []
    assert devices(plan) == [*USUAL[:2], *USUAL[:2]]
    assert [stage.scopes for stage in plan.order] == [(ChangeScope("safe"),)] * 2 + [(ChangeScope("daring"),)] * 2
    assert plan.rollout is not None
    assert plan.rollout.avoided is not None
    assert plan.rollout.avoided.moment == "while leaf1 changes, after PFC_WD (remove)"
    assert plan.rollout.avoided.rule == "pfc-without-watchdog"


def test_a_port_that_goes_out_of_service_is_nobodys_hazard() -> None:
    """Its cable has no length any more, and it goes before the port is shut; both in one patch."""

    def shut(config: dict[str, Any]) -> None:
        config["PORT"]["Ethernet0"]["admin_status"] = "down"
        del config["CABLE_LENGTH"]["AZURE"]["Ethernet0"]

    assert hazards(made(*changed_files(shut, "leaf1"))) == []


def test_a_watchdog_that_comes_is_there_before_the_pfc() -> None:
    new, old = changed_files(unpaused, "leaf1", "leaf2")
    plan = made(old, new)
    assert (devices(plan), hazards(plan)) == (USUAL[:2], [])
    assert plan.rollout is not None
    assert plan.rollout.states_checked == 2  # between the two switches, and within one of them


def test_the_updater_takes_rows_before_fields_and_shuts_ports_last() -> None:
    old, new = changed_files(unpaused, "leaf1")
    files = switch_files_if_unchanged(old, "leaf1")
    assert files is not None
    (change,) = nodrop.plan(old, new).devices
    edit = sonic_edit.edit(files, changes_not_computed_by_switch(change), name="leaf1")
    ((after, then),) = applying.states_during_edit(files, edit)
    config, before = json.loads(then["config_db.json"]), json.loads(files["config_db.json"])
    assert after == "PFC_WD (remove)"
    assert config["PFC_WD"] == {port: row for port, row in before["PFC_WD"].items() if port != "Ethernet0"}
    assert config["PORT_QOS_MAP"] == before["PORT_QOS_MAP"]


@pytest.mark.parametrize(
    ("table", "row", "field"),
    [("BUFFER_PG", "Ethernet0|3-4", "profile"), ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")],
    ids=str,
)
def test_what_ports_are_shut_for_comes_after_the_maps_that_it_names(table: str, row: str, field: str) -> None:
    """Whatever stands first in the patch, rows that come among it; a map that changes is in force before."""
    of_port = PatchStep(op="replace", path=f"/{table}/{row}/{field}", value="new")
    row_of_port = PatchStep(op="add", path=f"/{table}/Ethernet8", value={field: "new"})
    of_map = PatchStep(op="add", path="/DSCP_TO_TC_MAP/AZURE/26", value="3")
    old = {table: {row: {field: "old"}}, "DSCP_TO_TC_MAP": {"AZURE": {"0": "0"}}}
    edit = EditResult(files={"config_db.json": b"{}"}, steps=(of_port, row_of_port, of_map))
    ((after, then),) = applying.states_during_edit({"config_db.json": json.dumps(old).encode()}, edit)
    assert after == "DSCP_TO_TC_MAP (add)"
    assert json.loads(then["config_db.json"]) == old | {"DSCP_TO_TC_MAP": {"AZURE": {"0": "0", "26": "3"}}}


def test_a_patch_that_is_refused_is_no_way_at_all() -> None:
    """The file is loaded whole instead."""
    step = PatchStep(op="replace", path="/PORT/Ethernet0/mtu", value="9000", disruption="refused")
    files = {"config_db.json": b'{"PORT": {"Ethernet0": {"mtu": "9216"}}}'}
    edit = EditResult(files={"config_db.json": b"{}"}, steps=(step, replace(step, path="/PFC_WD", op="remove")))
    assert list(applying.states_during_edit(files, edit)) == []


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@pytest.mark.parametrize("changes", [{"mtu": "9000"}, {"routing.asn.spines": "4200000001"}], ids=str)
def test_the_patches_of_each_stage_make_what_was_judged(platform: str, changes: dict[str, Any]) -> None:
    old, new = reading(platform), reading_of(platform, changes)
    plan = made(old, new)
    shares = ChangesByScope(plan.devices, old.fabric, new.fabric)
    files = {one.name: switch_files_if_unchanged(old, one.name) for one in plan.devices}
    found = {(one.turn, one.device): one for one in make_patches(plan, old, new)}
    done: dict[str, frozenset[ChangeScope]] = {}
    follows = {
        ("interfaces", port, *entry.path) if port else entry.path
        for one in plan.devices
        for part in one.parts
        for port in part.ports or ("",)
        for entry in part.entries
        if entry.computed
    }
    """What switches work out by themselves, once in each pass."""
    numbers = [number for number, _ in number_stages(plan.order)]
    assert numbers in (["1", "2", "3.1", "3.2"], ["1.1", "1.2"])
    for number, stage in number_stages(plan.order):
        for name in stage.devices:
            was = as_read(platform, name, dict(files[name] or {}))
            files[name] = {**(files[name] or {}), **found.pop((number, name)).result}
            now = as_read(platform, name, dict(files[name] or {}))
            start = shares.device_after_shares(name, done.get(name, ()))
            done[name] = done.get(name, frozenset()) | {stage.scope(name)}
            judged = shares.device_after_shares(name, done[name])
            made_so = {one.path for one in differences(was, now)} - follows
            assert made_so == {one.path for one in differences(start, judged)} - follows
    assert not found
    assert all(as_read(platform, name, dict(files[name] or {})) == device_in(new, name) for name in files)


def test_patches_of_passes_lie_in_folders_by_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    Path("old.yaml").write_text(text)
    Path("new.yaml").write_text(text.replace("spines: 4200000000", "spines: 4200000001"))
    done = command("plan", "old.yaml", "new.yaml", "--patch", "patch", "--format", "json")
    assert done.err == "patches of 4 switches are in patch; 2 switches with several, in turn: see PATCHES.txt\n"
    assert [one["number"] for one in json.loads(done.out)["plans"][0]["order"]] == ["1.1", "1.2"]
    folders = {path.parent.relative_to("patch").as_posix() for path in Path("patch").rglob("frr.conf")}
    assert folders == {f"1.{at}/{name}" for at in (1, 2) for name in (f"spine{at}", "leaf1", "leaf2")}


def test_commands_are_typed_after_a_patch() -> None:
    row = {"green_min_threshold": "1", "green_max_threshold": "2"}
    tables = {"PORT": {"Ethernet0": {"mtu": "9216"}}, "WRED_PROFILE": {"W": row}}
    typed = PatchStep(
        op="replace", path="/WRED_PROFILE/W/green_min_threshold", value="3", command="ecnconfig -p W -gmin 3"
    )
    steps = (typed, PatchStep(op="replace", path="/PORT/Ethernet0/mtu", value="9000"))
    files = {"config_db.json": json.dumps(tables).encode()}
    ((after, then),) = applying.states_during_edit(files, EditResult(files={"config_db.json": b"{}"}, steps=steps))
    assert after == "PORT (replace)"
    assert json.loads(then["config_db.json"]) == {**tables, "PORT": {"Ethernet0": {"mtu": "9000"}}}
