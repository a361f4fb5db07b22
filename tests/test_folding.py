"""One cause is one finding: what its correction ends is folded under it, and nothing else is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from nodrop.advising import add_fix_commands
from nodrop.engine.finding import FabricVerdict, Finding
from nodrop.engine.rule import Rule
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import NOTHING_JUDGED, JudgedRules, judge
from nodrop.fix_commands import FixCommandMaker, GroupCommands
from nodrop.folding import mark_findings_explained_by_others
from nodrop.model.reading import Reading
from nodrop.model.subject import subject_text
from nodrop.report.text import render
from nodrop.results.outcome import FabricOutcome, group_findings, separate_explained_groups
from support.single_faults import Fault, faults, inject, reading_of

RULES = select_lint_rules(shipped_rules())
Subjects = dict[str, list[str]]


def read_with(platform: str, edits: Mapping[str, Any]) -> Reading:
    """Return the reading of two-by-two on a platform with edits of its files."""
    fault = Fault({"of": "folding", "fault": "a cause", platform: edits}, platform, "")
    return reading_of(fault, inject(fault))


def fold(reading: Reading) -> tuple[Finding, ...]:
    """Return what all rules find, folded."""
    return mark_findings_explained_by_others(judge(reading, RULES).findings, reading, RULES, judge)


def causes_of(findings: tuple[Finding, ...]) -> dict[tuple[str, str], Subjects]:
    """Return by rule and first subject of each cause the subjects that it explains, by rule."""
    causes, under = separate_explained_groups(group_findings(findings))
    return {
        (group[0].rule, subject_text(group[0].subject)): {
            explained[0].rule: [subject_text(finding.subject) for finding in explained]
            for explained in under.get(group[0].group, ())
        }
        for group in causes
    }


PORTS = ("Ethernet0", "Ethernet8", "Ethernet16", "Ethernet224", "Ethernet232", "Ethernet240", "Ethernet248")
SPINES = {"Ethernet224": "spine1:Ethernet0", "Ethernet232": "spine1:Ethernet8"}
SPINES |= {"Ethernet240": "spine2:Ethernet0", "Ethernet248": "spine2:Ethernet8"}
CASES: dict[str, tuple[str, Mapping[str, Any], dict[tuple[str, str], Subjects]]] = {
    "pause of another priority goes to the RDMA group": (
        "sonic",
        {"set": {"leaf1/config_db.json": {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP/AZURE": {"3": "6"}}}},
        {("pause-for-other-group", "leaf1/Ethernet0/qos/pfc_to_priority_group/3"): {}},
    ),
    "best effort fills the lossless priority group": (
        "sonic",
        {"set": {"leaf1/config_db.json": {"TC_TO_PRIORITY_GROUP_MAP/AZURE/0": "3"}}},
        {
            ("traffic-classes-share-lossless-group", "leaf1/Ethernet0/qos/tc_to_priority_group/0"): {
                "lossless-queue-without-ecn": [f"leaf1/{port}" for port in PORTS]
            }
        },
    ),
    "no port of a leaf has PFC": (
        "sonic",
        {"set": {"leaf1/config_db.json": {"PORT_QOS_MAP/*/pfc_enable": None}}},
        {
            ("lossless-pg-without-pfc", "leaf1/Ethernet0/qos/priority_groups/3"): {
                "pfc-one-sided": [f"@fabric/links/leaf1:{port}--{spine}" for port, spine in SPINES.items()],
                "nic-pfc-unlike-switch": ["ConnectX-7/ConnectX-7.sh", "ConnectX-7/ConnectX-7.yaml"],
                "watchdog-without-pfc": [f"leaf1/{port}" for port in PORTS],
            }
        },
    ),
    "all ports of a spine are shut": (
        "sonic",
        {"set": {"spine1/config_db.json": {"PORT/*/admin_status": "down"}}},
        {
            ("planned-port-down", "spine1/Ethernet0"): {
                "session-over-shut-port": [
                    f"spine1/@neighbors/10.1.{leaf}.{port}" for leaf in (1, 2) for port in (224, 232)
                ]
            }
        },
    ),
    "a leaf is lossy": (
        "nvue",
        {"replace": {"leaf1/startup.yaml": [{"old": "mode: lossless", "new": "mode: lossy"}]}},
        {
            ("rdma-dscp-in-lossy-class", "leaf1/swp29"): {
                "pfc-one-sided": [
                    f"@fabric/links/leaf1:swp{port}--spine{spine}:swp{peer}"
                    for port, spine, peer in ((29, 1, 1), (30, 1, 2), (31, 2, 1), (32, 2, 2))
                ],
                "qos-differs-between-siblings": [f"leaf1/swp{port}" for port in (29, 30, 31, 32)],
            },
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_cause_is_one_finding(case: str) -> None:
    platform, edits, expected = CASES[case]
    assert causes_of(fold(read_with(platform, edits))) == expected


def test_independent_faults_stay_apart() -> None:
    edits = {
        "set": {
            "leaf1/config_db.json": {"TC_TO_PRIORITY_GROUP_MAP/AZURE/0": "3"},
            "spine2/config_db.json": {"PORT/Ethernet0/admin_status": "down"},
        }
    }
    causes = causes_of(fold(read_with("sonic", edits)))
    assert {cause: [*explained] for cause, explained in causes.items()} == {
        ("traffic-classes-share-lossless-group", "leaf1/Ethernet0/qos/tc_to_priority_group/0"): [
            "lossless-queue-without-ecn"
        ],
        ("planned-port-down", "spine2/Ethernet0"): ["session-over-shut-port"],
    }


def test_of_two_sides_of_a_contradiction_one_is_folded_under_the_other() -> None:
    asn = {"set": {"spine2/startup.yaml": {"1/set/router/bgp/autonomous-system": 4200000001}}}
    leaves = {
        f"leaf{n}/startup.yaml": {
            **{f"1/set/vrf/default/router/bgp/neighbor/10.1.{n}.{host}/remote-as": 4200000001 for host in (241, 249)},
            "1/set/vrf/default/router/bgp/peer-group/SPINES/address-family/ipv4-unicast/policy/outbound": None,
        }
        for n in (1, 2)
    }
    found = fold(read_with("nvue", {"set": {**asn["set"], **leaves}}))
    assert causes_of(found)[("spine-asn-unique", "spine2")]["spine-asn-unique"] == ["spine1"]


def test_nothing_is_folded_under_what_does_not_end_it_everywhere() -> None:
    """A group that is also on a switch without the cause has another cause there."""
    reading = read_with("sonic", CASES["all ports of a spine are shut"][1])
    findings = judge(reading, RULES).findings
    session = next(finding for finding in findings if finding.rule == "session-over-shut-port")
    elsewhere = replace(session, device="leaf2", subject=("leaf2", *session.subject[1:]), fingerprint="elsewhere")
    folded = mark_findings_explained_by_others((*findings, elsewhere), reading, RULES, judge)
    assert [finding.explained_by for finding in folded if finding.rule == "session-over-shut-port"] == [""] * 5


def test_no_state_is_checked_twice_and_none_before_a_correction_that_ends_nothing() -> None:
    """On 48 switches with 3,724 findings, folding took 11 % of the CPU of all rules; half of it was spent on these."""
    reading = read_with("sonic", CASES["no port of a leaf has PFC"][1])
    findings = judge(reading, RULES).findings
    checked: list[tuple[bool, str]] = []

    def check(
        state: Reading, rules: Sequence[Rule], judged: JudgedRules = NOTHING_JUDGED, *, brief: bool = False
    ) -> FabricVerdict:
        checked.extend((state.fabric == reading.fabric, rule.name) for rule in rules)
        return judge(state, rules, judged=judged, brief=brief)

    assert mark_findings_explained_by_others(findings, reading, RULES, check) == fold(reading)
    before = [rule for as_read, rule in checked if as_read]
    assert before, "the correction that ends groups is compared with the state before"
    assert len(before) == len(set(before))
    checked.clear()
    rules = [rule for rule in RULES if rule.name in ("pfc-one-sided", "watchdog-without-pfc")]
    alone = judge(reading, rules).findings
    assert mark_findings_explained_by_others(alone, reading, rules, check) == alone
    assert [rule for as_read, rule in checked if as_read] == []
    assert checked, "corrections were tried"


LOSSY_WITH_LINK_PAUSE = [
    {"old": "mode: lossless", "new": "mode: lossy"},
    {"old": "cable-length: 3\n          rx: enable", "new": "cable-length: 3\n          rx: disable"},
    {"old": "tx: enable\n      pfc-watchdog", "new": "tx: disable\n      pfc-watchdog"},
    {
        "old": "      pfc-watchdog:\n        polling",
        "new": "      link-pause: {default-global: {}}\n      pfc-watchdog:\n        polling",
    },
]


def test_what_no_printed_command_ends_is_not_folded() -> None:
    """The editor cannot write the facts that the fix sets, so the rule's commands stand in their place."""
    reading = read_with("nvue", {"replace": {"leaf1/startup.yaml": LOSSY_WITH_LINK_PAUSE}})
    folded = fold(reading)
    assert {finding.rule for finding in folded if finding.explained_by} > {"link-pause-stops-every-class"}
    assert {finding.rule for finding in add_fix_commands(folded, reading) if finding.explained_by} == set()


def test_a_note_explains_nothing_worse() -> None:
    profile = {"pool": "ingress_lossless_pool", "size": "377887", "xon": "37888", "xoff": "340000", "dynamic_th": "0"}
    name = "pg_lossless_400000_3m_profile"
    fields = {f"BUFFER_PROFILE/{name}/{field}": value for field, value in profile.items()}
    fields["BUFFER_PG/Ethernet0|3/profile"] = name
    reading = read_with("sonic", {"set": {"leaf1/config_db.json": fields}})
    at = "leaf1/Ethernet0/qos/priority_groups/3"
    assert causes_of(fold(reading)) == {
        ("profile-smaller-than-headroom", f"{at}"): {},
        ("static-profile-in-dynamic-model", f"{at}"): {},
    }


def test_a_report_shows_the_cause_and_what_it_ends() -> None:
    findings = fold(read_with("sonic", CASES["all ports of a spine are shut"][1]))
    shown = render(FabricOutcome(devices=4, rules=1, findings=findings)).splitlines()
    assert [line for line in shown if line.startswith("warning")] == [
        "warning[planned-port-down]: spine1: Ethernet0 is shut, although a cable to leaf1 Ethernet224 is planned"
    ]
    (ends,) = (line.strip() for line in shown if "also ends" in line)
    assert ends == "= also ends session-over-shut-port: spine1's session to 10.1.1.224 (leaf1 port 29) is over"
    assert "4 devices, 0 interfaces, 1 rule: 0 errors, 8 warnings, 0 notes" in shown
    every = render(FabricOutcome(devices=4, rules=1, findings=findings), verbose=True)
    assert "warning[session-over-shut-port]" in every


@pytest.fixture
def elsewhere() -> tuple[Reading, tuple[Finding, ...]]:
    """The fault of the list in which spines map RDMA to a second priority with PFC, folded."""
    (fault,) = (one for one in faults() if "another lossless priority at the spines" in one.name)
    reading = reading_of(fault, inject(fault))
    return reading, fold(reading)


def test_pfc_is_not_taken_from_a_priority_that_the_map_of_rdma_still_leads_to(
    elsewhere: tuple[Reading, tuple[Finding, ...]],
) -> None:
    """Its correction waits for that of the map, and what it ends then stays folded under it, without commands."""
    reading, folded = elsewhere
    found = add_fix_commands(folded, reading)
    assert [(rule, sorted(ended)) for (rule, _), ended in causes_of(found).items()] == [
        (
            "lossless-class-changes-along-path",
            ["ecn-missing-on-rdma-queue", "lossless-pg-without-headroom", "rdma-queue-without-share"],
        ),
        (
            "pfc-on-unintended-priority",
            ["lossless-queue-without-buffer", "nic-pfc-unlike-switch", "watchdog-mask-differs"],
        ),
    ]
    fixes = [one.fix for one in found if one.rule == "pfc-on-unintended-priority" and one.fix]
    assert {fix.commands for fix in fixes} == {()}
    assert {fix.text.partition(":")[0] for fix in fixes} == {
        "correct lossless-class-changes-along-path first, then check again"
    }


def test_a_correction_that_takes_nothing_in_use_does_not_wait() -> None:
    only_pfc = {"set": {"leaf1/config_db.json": {"PORT_QOS_MAP/Ethernet*/pfc_enable": "3,4"}}}
    assert {one.corrected_after for one in fold(read_with("sonic", only_pfc))} == {""}


def advised(platform: str, edits: Mapping[str, Any]) -> dict[str, Finding]:
    """Return the first finding of each rule with its commands, as a report has it."""
    reading = read_with(platform, edits)
    found: dict[str, Finding] = {}
    for finding in add_fix_commands(fold(reading), reading):
        found.setdefault(finding.rule, finding)
    return found


def test_a_correction_makes_the_changes_too_that_prevent_new_findings() -> None:
    """The action was forward before, but the finding about the times hid it."""
    row = {"PFC_WD/Ethernet0/restoration_time": "100", "PFC_WD/Ethernet0/action": "forward"}
    found = advised("sonic", {"set": {"leaf1/config_db.json": row}})
    assert found.keys() == {"watchdog-restores-too-soon"}
    fix = found["watchdog-restores-too-soon"].fix
    assert fix is not None
    assert fix.text == (
        "set a restoration time of twice the detection time; the commands also prevent qos-differs-between-siblings"
    )
    assert [commands.lines[0] for commands in fix.commands] == [
        "sudo pfcwd start --action drop --restoration-time 400 Ethernet0 200"
    ]


def test_a_correction_says_what_is_found_after_it() -> None:
    """The siblings mark nothing on the queue, which contradicts the correction: only the owner knows."""
    marked = {
        "WRED_PROFILE/ONE": {
            "ecn": "ecn_green",
            "green_min_threshold": "150000",
            "green_max_threshold": "1500000",
            "green_drop_probability": "5",
        },
        "QUEUE/Ethernet0|0/wred_profile": "ONE",
    }
    found = advised("sonic", {"set": {"leaf1/config_db.json": marked}})
    fix = found["ecn-without-wred"].fix
    assert fix is not None
    assert fix.commands
    assert fix.text.endswith("; check again afterwards: qos-differs-between-siblings will be found")


def test_a_remark_that_commands_end_is_folded_under_their_finding() -> None:
    found = advised("sonic", {"set": {"leaf1/config_db.json": {"PFC_WD/GLOBAL/POLL_INTERVAL": "250"}}})
    cause = found["watchdog-polls-too-slowly"]
    assert (cause.explained_by, found["broken-condition"].explained_by) == ("", cause.group)


def test_a_group_is_corrected_as_a_whole_or_waits_as_a_whole() -> None:
    reading = read_with("nvue", {"replace": {"leaf1/startup.yaml": LOSSY_WITH_LINK_PAUSE}})
    found = add_fix_commands(fold(reading), reading)
    pauses = [finding.fix for finding in found if finding.rule == "link-pause-stops-every-class" and finding.fix]
    assert len(pauses) == 7
    assert {(fix.text.partition(":")[0], fix.commands) for fix in pauses} == {
        ("correct rdma-dscp-in-lossy-class first, then check again", ())
    }


SLOW_POLLS = {"PFC_WD/GLOBAL/POLL_INTERVAL": "250"}


def test_commands_are_made_once_though_they_decide_what_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read_with("sonic", {"set": {"leaf1/config_db.json": SLOW_POLLS}})
    folded, made = fold(reading), list[tuple[int, ...]]()

    def make_commands(self: FixCommandMaker, group: Sequence[Finding]) -> GroupCommands:
        made.append(tuple(map(id, (finding.fix for finding in group))))
        return make(self, group)

    make = FixCommandMaker._make_commands
    monkeypatch.setattr(FixCommandMaker, "_make_commands", make_commands)
    found = add_fix_commands(folded, reading)
    assert any(finding.explained_by for finding in found), "commands ended a remark"
    assert made
    assert len(made) == len(set(made))


def test_a_remark_is_not_folded_where_only_some_switches_have_the_commands() -> None:
    """Without the text of leaf2, nothing ends the cause there; a remark below it would be folded again and again."""
    reading = read_with("sonic", {"set": {f"{leaf}/config_db.json": SLOW_POLLS for leaf in ("leaf1", "leaf2")}})
    folded = [one for one in fold(reading) if one.rule != "broken-condition" or one.device != "leaf2"]
    causes = {one.group for one in folded if one.rule == "watchdog-polls-too-slowly"}
    assert len(causes) == 1
    unread = replace(reading, sources={name: files for name, files in reading.sources.items() if name != "leaf2"})
    found = {one.rule: one for one in add_fix_commands(tuple(folded), unread)}
    assert found["broken-condition"].explained_by == ""
