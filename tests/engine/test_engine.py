"""Judging: who is found, where, how often it was worked out, what stays unknown, and what a finding says."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop import analyses
from nodrop.engine import expression_types, vocabulary
from nodrop.engine.finding import Change, FabricVerdict, Finding, RelatedPart
from nodrop.engine.rules import shipped_rules
from nodrop.engine.unknowns import advise_on_missing_fact
from nodrop.engine.verdicts import judge
from nodrop.engine.vocabulary import declare_word
from nodrop.errors import InputProblems
from nodrop.model.edit import set_value
from nodrop.model.fabric import End, Fabric, Link, Policy
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog
from nodrop.model.reading import Assumption, FilePlace, Note, PossibleMode, Reading, Remark, Source
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact
from nodrop.model.subject import parse_subject, subject_text
from nodrop.resources import resource_folder
from nodrop.syntax.places import Span
from support.small_fabrics import LOSSLESS, LOSSY, NO_WATCHDOG, WATCHDOG, device, fabric, port, read, rule, two_leaves

WITHOUT_WATCHDOG = {
    "when": "interface.qos.pfc_priorities",
    "claim": "interface.qos.pfc_watchdog",
    "at": "qos.pfc_watchdog",
    "message": "{{ interface.name }} of {{ device.name }} pauses {{ interface.qos.pfc_priorities | priorities }}",
}


def subjects(verdict: FabricVerdict) -> list[str]:
    return [subject_text(finding.subject) for finding in verdict.findings]


def found(keys: dict[str, Any], whole: Fabric, **more: Any) -> list[str]:
    """The subjects at which a rule of these keys finds its fault; nothing may be left open."""
    verdict = judge(Reading(fabric=whole), [rule(**keys)], **more)
    assert (verdict.unknown, verdict.problems) == ((), ())
    return subjects(verdict)


def only(verdict: FabricVerdict) -> Finding:
    (finding,) = verdict.findings
    return finding


def test_a_fix_has_the_values_of_its_finding() -> None:
    keys = WITHOUT_WATCHDOG | {"fix": "watch {{ interface.qos.pfc_priorities | priorities }} of {{ interface.name }}"}
    whole = fabric(device("leaf1", port(0, qos=NO_WATCHDOG), port(1, qos=NO_WATCHDOG)))
    verdict = judge(Reading(fabric=whole), [rule(**keys)])
    fixes = [finding.fix.text for finding in verdict.findings if finding.fix]
    assert fixes == ["watch priority 3 of Ethernet0", "watch priority 3 of Ethernet8"]


SCOPES: list[tuple[str, str, list[str]]] = [
    ("fabric", "fabric.mode == 'lossy'", ["@fabric"]),
    ("device", "device.role == 'leaf'", ["spine1"]),
    ("interface", "interface.side == 'fabric'", ["leaf1/Ethernet0", "leaf2/Ethernet0"]),
    ("link", "link.length_m == 3 or a.name == 'Ethernet0'",
     ["@fabric/links/leaf1:Ethernet8--spine1:Ethernet0", "@fabric/links/leaf2:Ethernet8--spine1:Ethernet8"]),
    ("link", "b.name == 'Ethernet0' and device_a.name == 'leaf1' and device_b.role == 'spine'",
     ["@fabric/links/leaf2:Ethernet8--spine1:Ethernet8"]),
    ("traffic_class", "traffic_class.lossless", ["@fabric/classes/default"]),
    ("queue", "queue.wred or device.name != 'leaf2' or interface.name == 'Ethernet0'",
     ["leaf2/Ethernet8/qos/queues/0"]),
    ("priority_group", "priority_group.lossless or device.role == 'leaf' or interface.name == 'Ethernet8'",
     ["spine1/Ethernet0/qos/priority_groups/0"]),
    ("neighbor", "neighbor.address", ["leaf1/@neighbors/Ethernet0", "leaf2/@neighbors/Ethernet0"]),
    ("buffer_pool", "device.name == 'leaf1' and buffer_pool.size_bytes",
     ["leaf2/@buffer_pools/ingress"]),
]  # fmt: skip


@pytest.mark.parametrize(("scope", "claim", "expected"), SCOPES, ids=[f"{scope}-{claim}" for scope, claim, _ in SCOPES])
def test_each_scope_finds_its_subjects(scope: str, claim: str, expected: list[str]) -> None:
    assert found({"scope": scope, "claim": claim}, two_leaves()) == expected


@pytest.mark.parametrize(
    ("scope", "at", "expected"),
    [
        ("fabric", "mode", "@fabric/mode"),
        ("device", "watchdog_polling_ms", "leaf1/@watchdog_polling_ms"),
        ("device", "bgp.asn", "leaf1/@bgp/asn"),
        ("interface", "qos.pfc_watchdog", "leaf1/Ethernet0/qos/pfc_watchdog"),
        ("interface", "device.watchdog_polling_ms", "leaf1/@watchdog_polling_ms"),
        ("queue", "wred.green.min_bytes", "leaf1/Ethernet0/qos/queues/0/wred/green/min_bytes"),
        ("queue", "interface.speed_mbps", "leaf1/Ethernet0/speed_mbps"),
        ("neighbor", "remote_asn", "leaf1/@neighbors/10.1.0.1/remote_asn"),
        ("buffer_pool", "size_bytes", "leaf1/@buffer_pools/ingress/size_bytes"),
        ("traffic_class", "dscp", "@fabric/classes/default/dscp"),
        ("link", "length_m", "@fabric/links/leaf1:Ethernet8--spine1:Ethernet0/length_m"),
        ("link", "a.mtu_bytes", "leaf1/Ethernet8/mtu_bytes"),
        ("link", "b.mtu_bytes", "spine1/Ethernet0/mtu_bytes"),
        ("link", "device_a.model", "leaf1/@model"),
        ("link", "device_b.model", "spine1/@model"),
        ("interface", None, "leaf1/Ethernet0"),
    ],
)
def test_a_finding_points_at_a_part(scope: str, at: str | None, expected: str) -> None:
    verdict = judge(Reading(fabric=two_leaves()), [rule(scope=scope, claim="false", **({"at": at} if at else {}))])
    first = verdict.findings[0]
    assert subject_text(first.at) == expected
    assert first.device == (None if expected.startswith("@fabric") else expected.split("/")[0])


def test_a_finding_says_it_all() -> None:
    keys = WITHOUT_WATCHDOG | {"set": {"qos.pfc_watchdog": "fabric.policy.host_watchdog"}, "severity": "warning"}
    whole = set_value(two_leaves(), parse_subject("leaf1/Ethernet8/qos/pfc_watchdog"), None)
    finding = only(judge(Reading(fabric=whole), [rule("pfc-without-watchdog", **keys)]))
    subject = parse_subject("leaf1/Ethernet8")
    assert finding == Finding(
        rule="pfc-without-watchdog",
        severity="warning",
        confidence="certain",
        message="Ethernet8 of leaf1 pauses priority 3",
        subject=subject,
        at=(*subject, "qos", "pfc_watchdog"),
        device="leaf1",
        group="64f0208553ecf1ef0ced2a37583982de",
        fingerprint="ffa603a8fda41de61877215bdeec6645",
        facts={"interface.qos.pfc_priorities": "3", "interface.qos.pfc_watchdog": None},
        fix=replace(
            finding.fix,  # type: ignore[arg-type]
            text="mend it",
            safe=False,
            changes=(Change(subject=(*subject, "qos", "pfc_watchdog"), old=None, new=WATCHDOG),),
        ),
    )


@pytest.mark.parametrize(
    ("policy", "watchdog", "changes"),
    [
        (Policy(host_watchdog=WATCHDOG), None, [(None, WATCHDOG)]),
        (Policy(host_watchdog=WATCHDOG), UNKNOWN, [(UNKNOWN, WATCHDOG)]),
        (Policy(host_watchdog=WATCHDOG), WATCHDOG, []),
        (Policy(host_watchdog=None), None, []),
        (Policy(), None, []),
    ],
    ids=["absent", "unknown", "as-wanted", "not-wanted", "not-stated"],
)
def test_a_change_leads_to_something_known_and_other(policy: Policy, watchdog: Any, changes: list[Any]) -> None:
    keys = {"claim": "false", "set": {"interface.qos.pfc_watchdog": "fabric.policy.host_watchdog"}}
    at_fault = port(0, qos=replace(LOSSLESS, pfc_watchdog=watchdog))
    fix = only(judge(read(device("leaf1", at_fault), policy=policy), [rule(**keys)])).fix
    assert fix is not None
    assert [(change.old, change.new) for change in fix.changes] == changes


def test_a_line_break_of_a_name_is_none_of_the_fix() -> None:
    """The name of a file, say, which must not be a line of its own in a report."""
    named = port(0, name="s\nerror[fake-rule]: x\x1b\u2028y")
    keys: dict[str, Any] = {"claim": "false", "fix": "start {{ interface.name }} or remove it"}
    fix = only(judge(read(device("leaf1", named)), [rule(**keys)])).fix
    assert fix is not None
    assert fix.text == "start s\\nerror[fake-rule]: x\\x1b\\u2028y or remove it"


def test_names_that_are_not_unicode_are_judged_too() -> None:
    whole = fabric(device("leaf\udcff", port(0)))
    finding = only(judge(Reading(fabric=whole), [rule(claim="false", message="{{ device.name }}")]))
    assert (finding.message, finding.device) == ("leaf\udcff", "leaf\udcff")


def test_one_evaluation_for_each_design_and_none_for_what_is_off() -> None:
    ports = [port(number, qos=NO_WATCHDOG if number % 2 else LOSSLESS) for number in range(64)]
    whole = fabric(*(device(f"leaf{number}", *ports) for number in range(10)))
    rules = [
        rule("by-design", **WITHOUT_WATCHDOG),
        rule("by-design-and-device", claim="interface.qos.pfc_watchdog or device.role == 'spine'"),
        rule("by-design-and-speed", claim="interface.qos.pfc_watchdog or interface.speed_mbps != 400000"),
        rule("by-lanes", claim="interface.lane_mbps == 50000"),
        rule("by-queue", scope="queue", claim="queue.wred or queue.index == 0"),
        rule("by-port", claim="interface.name"),
        rule("by-port-and-queue", scope="queue", claim="known_port(interface)"),
        rule("by-name-and-queue", scope="queue", claim="interface.name"),
        rule("whole", claim="known_port(interface)"),
        rule("off", claim="false"),
        rule("other-mode", claim="false", modes=["lossy"]),
        rule("for-auditors", claim="false", strictness="auditor"),
    ]
    evaluations: Counter[str] = Counter()
    verdict = judge(Reading(fabric=whole), rules, severity_overrides={"off": "off"}, evaluations=evaluations)
    assert evaluations == {
        "by-design": 2,
        "by-design-and-device": 2,
        "by-design-and-speed": 2,
        "by-lanes": 1,
        "by-queue": 4,
        "by-port": 64,
        "by-port-and-queue": 1280,
        "by-name-and-queue": 128,
        "whole": 640,
    }
    assert verdict.rules == 9
    assert Counter(finding.rule for finding in verdict.findings) == {"by-design": 320, "by-design-and-speed": 320}
    assert {unknown.rule: unknown.subjects_count for unknown in verdict.unknown} == {"by-design-and-device": 320}


@pytest.mark.parametrize(
    ("scope", "rows", "evaluated"), [("interface", 1, 3 + 10), ("queue", 2, 6 + 20)], ids=["ports", "queues"]
)
@pytest.mark.parametrize("look", ["known_port(interface)", "device.name != interface.name"], ids=["whole", "names"])
def test_items_looked_at_as_a_whole_are_sifted_first_by_what_equal_ones_share(
    scope: str, rows: int, evaluated: int, look: str
) -> None:
    """The beginning of `when` is asked once of equal items; where it stands after the whole, all are looked at."""
    ports = [port(number, mtu_bytes=(9216, 1500, UNKNOWN)[min(number, 2)]) for number in range(64)]
    whole = fabric(*(device(f"leaf{number}", *ports) for number in range(10)))
    keys = {"scope": scope, "claim": f"not ({look})"}
    sifted = rule(when=f"interface.mtu_bytes == 9216 and {look}", **keys)
    each = rule(when=f"{look} and interface.mtu_bytes == 9216", **keys)
    counts: list[Counter[str]] = [Counter(), Counter()]
    first, second = (
        judge(Reading(fabric=whole), [one], evaluations=count)
        for one, count in zip((sifted, each), counts, strict=True)
    )
    assert [count["fault"] for count in counts] == [evaluated, 640 * rows]
    assert (first.findings, first.unknown) == (second.findings, second.unknown)
    assert {finding.device for finding in first.findings} == {f"leaf{number}" for number in range(10)}
    assert [(unknown.missing, unknown.subjects_count) for unknown in first.unknown] == [
        ("interface.mtu_bytes", 620 * rows)
    ]


def test_equal_values_are_alike_and_unknown_is_like_nothing_else() -> None:
    """A number whose hash is that of UNKNOWN does not meet it in a comparison."""
    big = hash(UNKNOWN)
    ports = [port(number, mtu_bytes=mtu) for number, mtu in enumerate((big, UNKNOWN, int(str(big)), UNKNOWN, None))]
    evaluations: Counter[str] = Counter()
    verdict = judge(read(device("leaf1", *ports)), [rule(claim="interface.mtu_bytes == 9216")], evaluations=evaluations)
    assert evaluations["fault"] == 3
    assert subjects(verdict) == ["leaf1/Ethernet0", "leaf1/Ethernet16", "leaf1/Ethernet32"]
    assert [(unknown.missing, unknown.subjects_count) for unknown in verdict.unknown] == [("interface.mtu_bytes", 2)]


def test_findings_of_one_cause_share_a_group_across_ports_and_devices() -> None:
    four = replace(NO_WATCHDOG, pfc_rx_priorities=(3, 4))
    whole = fabric(
        device("leaf1", port(0, qos=NO_WATCHDOG), port(1, qos=four)),
        device("leaf2", port(0, qos=NO_WATCHDOG), port(1, qos=replace(four, trust=None))),
    )
    findings = judge(Reading(fabric=whole), [rule(**WITHOUT_WATCHDOG), rule("other", **WITHOUT_WATCHDOG)]).findings
    groups: dict[str, list[str]] = {}
    for finding in findings:
        groups.setdefault(finding.group, []).append(f"{finding.rule}:{subject_text(finding.subject)}")
    assert sorted(groups.values()) == [
        ["fault:leaf1/Ethernet0", "fault:leaf2/Ethernet0"],
        ["fault:leaf1/Ethernet8", "fault:leaf2/Ethernet8"],
        ["other:leaf1/Ethernet0", "other:leaf2/Ethernet0"],
        ["other:leaf1/Ethernet8", "other:leaf2/Ethernet8"],
    ]
    assert len({finding.fingerprint for finding in findings}) == 8
    assert [finding.message for finding in findings[:2]] == [
        "Ethernet0 of leaf1 pauses priority 3",
        "Ethernet8 of leaf1 pauses priorities 3 and 4",
    ]


def test_what_the_message_shows_parts_findings_of_one_verdict() -> None:
    whole = fabric(device("leaf1", *(port(number, mtu_bytes=1500 + number % 2) for number in range(4))))
    keys = {"claim": "interface.qos is none", "message": "{{ interface.name }} with MTU {{ interface.mtu_bytes }}"}
    evaluations: Counter[str] = Counter()
    findings = judge(Reading(fabric=whole), [rule(**keys)], evaluations=evaluations).findings
    assert evaluations["fault"] == 1
    assert [finding.message for finding in findings] == [f"Ethernet{8 * n} with MTU {1500 + n % 2}" for n in range(4)]
    assert [finding.facts["interface.mtu_bytes"] for finding in findings] == [1500, 1501, 1500, 1501]
    assert findings[0].group == findings[2].group != findings[1].group == findings[3].group


@pytest.mark.parametrize(
    ("scope", "named"),
    [
        ("queue", "{{ device.name }} {{ interface.name }} {{ interface.port.panel }} {{ queue.index }}"),
        ("priority_group", "{{ device.name }} {{ interface.name }} {{ priority_group.index }}"),
        (
            "neighbor",
            "{{ device.name }} {{ neighbor.key }} {{ neighbor.address }} {{ neighbor.interface|bracketed }}",
        ),
        ("buffer_pool", "{{ device.name }} {{ buffer_pool.name }}"),
        ("traffic_class", "{{ traffic_class.name }}"),
        (
            "link",
            "{{ link.a }} {{ link.b.node }} {{ a.name }} {{ b.port.panel }} {{ device_a.name }}-{{ device_b.name }}",
        ),
        ("device", "{{ device.name }}"),
    ],
)
def test_names_do_not_part_groups(scope: str, named: str) -> None:
    findings = judge(Reading(fabric=two_leaves()), [rule(scope=scope, claim="false", message=named)]).findings
    assert len({finding.message for finding in findings}) == len(findings) > 1
    assert len({finding.group for finding in findings}) == 1
    assert {tuple(finding.facts) for finding in findings} == {()}


def test_what_a_function_answers_is_no_name() -> None:
    whole = set_value(two_leaves(), parse_subject("spine1/Ethernet8/mtu_bytes"), "1500")
    keys = {
        "when": "interface.side == 'fabric'",
        "claim": "false",
        "message": "{{ far_mtu(device.name, interface.name) }}",
    }
    findings = judge(Reading(fabric=whole), [rule(**keys)]).findings
    assert [finding.message for finding in findings] == ["9216", "1500", "9216", "9216"]
    assert len({finding.group for finding in findings}) == 2


def test_a_rule_that_points_at_an_end_of_a_link_shows_the_other() -> None:
    for end, here, there in (("a", "leaf1", "spine1"), ("b", "spine1", "leaf1")):
        keys = {"scope": "link", "claim": "false", "at": f"{end}.mtu_bytes", "message": "x"}
        (found,) = judge(Reading(fabric=two_leaves()), [rule(**keys)]).findings[:1]
        port_here, port_there = (found.at[1], found.related[0].subject[1])
        assert found.at == (here, port_here, "mtu_bytes")
        assert found.related == (RelatedPart(subject=(there, port_there, "mtu_bytes"), message="the other end"),)
        assert {f"{here}:{port_here}", f"{there}:{port_there}"} == set(found.subject[2].split("--"))
    for scope, at in (("link", "link.media"), ("interface", "mtu_bytes")):
        plain = judge(Reading(fabric=two_leaves()), [rule(scope=scope, claim="false", at=at, message="x")]).findings
        assert {one.related for one in plain} == {()}


def test_ends_of_links_are_spelt() -> None:
    keys = {"scope": "link", "claim": "a.name == 'x'", "message": "{{ link.a }} to {{ link.b }}"}
    assert (
        judge(Reading(fabric=two_leaves()), [rule(**keys)]).findings[0].message == "leaf1:Ethernet8 to spine1:Ethernet0"
    )


def test_a_fingerprint_holds_no_facts_and_no_words() -> None:
    before = only(judge(read(device("leaf1", port(0, mtu_bytes=1500))), [rule(claim="interface.mtu_bytes == 9216")]))
    after = only(
        judge(
            read(device("leaf1", port(0, mtu_bytes=2000), port(1))),
            [rule(claim="interface.mtu_bytes == 9216", message="MTU {{ interface.mtu_bytes }}", at="mtu_bytes")],
        )
    )
    assert before.fingerprint == after.fingerprint
    assert (before.facts, after.facts) == ({"interface.mtu_bytes": 1500}, {"interface.mtu_bytes": 2000})
    assert len(before.fingerprint) == 32


def test_findings_go_by_device_then_rule_then_subject_in_natural_order() -> None:
    whole = replace(
        fabric(device("leaf10", port(2), port(10)), device("leaf2", port(10), port(2))),
        classes=two_leaves().classes,
    )
    rules = [rule("b", claim="false"), rule("a", claim="false"), rule("z", scope="fabric", claim="false")]
    findings = judge(Reading(fabric=whole), rules).findings
    assert [(finding.rule, subject_text(finding.subject)) for finding in findings] == [
        ("z", "@fabric"),
        ("a", "leaf2/Ethernet16"), ("a", "leaf2/Ethernet80"), ("b", "leaf2/Ethernet16"), ("b", "leaf2/Ethernet80"),
        ("a", "leaf10/Ethernet16"), ("a", "leaf10/Ethernet80"), ("b", "leaf10/Ethernet16"), ("b", "leaf10/Ethernet80"),
    ]  # fmt: skip


def test_messages_say_none_and_unknown_in_words() -> None:
    keys = {
        "claim": "interface.enabled",
        "message": "{{ interface.mtu_bytes }} {{ interface.fec }} {{ interface.autoneg }} {{ interface.vrf }} "
        "{{ interface.addresses }} {{ interface.qos.pfc_rx_priorities }} {{ interface.speed_mbps | speed }} "
        "{{ (interface.lanes or 1) / 3 }} {{ interface.port.panel }}",
    }
    at_fault = port(0, enabled=False, mtu_bytes=UNKNOWN, autoneg=True, vrf=None, speed_mbps=UNKNOWN, fec="rs")
    finding = only(judge(read(device("leaf1", at_fault)), [rule(**keys)]))
    assert finding.message == "unknown rs true none none 3 unknown 2.667 1"
    assert finding.facts == {
        "interface.enabled": False, "interface.mtu_bytes": "unknown", "interface.fec": "rs", "interface.autoneg": True,
        "interface.vrf": None, "interface.addresses": "none", "interface.qos.pfc_rx_priorities": "3",
        "interface.speed_mbps": "unknown", "interface.lanes": 8,
    }  # fmt: skip


def test_unknown_is_told_once_per_rule_and_fact_and_leaves_the_others_judged() -> None:
    whole = fabric(
        device("leaf10", port(0, mtu_bytes=UNKNOWN), port(1, mtu_bytes=1500)),
        device("leaf2", port(0, mtu_bytes=UNKNOWN), port(1, mtu_bytes=UNKNOWN), port(2, enabled=UNKNOWN)),
    )
    keys = {"when": "interface.enabled", "claim": "interface.mtu_bytes == 9216"}
    verdict = judge(Reading(fabric=whole), [rule(**keys), rule("second", **keys)])
    assert subjects(verdict) == ["leaf10/Ethernet8", "leaf10/Ethernet8"]
    assert [
        (each.rule, each.missing, each.subjects_count, each.devices, each.resolved_by) for each in verdict.unknown
    ] == [
        (name, missing, count, devices, f"a file that states {words}")
        for name in ("fault", "second")
        for missing, words, count, devices in (
            ("interface.enabled", "whether the port is enabled", 1, ("leaf2",)),
            ("interface.mtu_bytes", "the MTU of the port", 3, ("leaf2", "leaf10")),
        )
    ]


UNKNOWNS: list[tuple[str, str, str, object, str, str, int]] = [
    ("queue", "queue.wred", "leaf1/Ethernet0/qos", UNKNOWN, "interface.qos",
     "a file that states the QoS of the port", 1),
    ("priority_group", "priority_group.buffer", "*/*/qos/priority_groups", UNKNOWN, "interface.qos.priority_groups",
     "a file that states the priority groups of the port", 6),
    ("neighbor", "neighbor.bfd", "leaf*/@bgp", UNKNOWN, "device.neighbors", "a file with its routing (frr.conf)", 2),
    ("buffer_pool", "true", "leaf2/@buffer_pools", UNKNOWN, "device.buffer_pools",
     "a file that states the buffer pools of the switch", 1),
    ("link", "link.length_m", "@fabric/links/*/length_m", UNKNOWN, "link.length_m",
     "cable lengths: state them under cables in fabric.yaml", 2),
    ("link", "a.side", "leaf1/Ethernet8/side", UNKNOWN, "a.side",
     "cables: state them under cables in fabric.yaml", 1),
    ("interface", "device.role", "spine1/@role", UNKNOWN, "device.role",
     "roles of devices: state them under roles in fabric.yaml", 2),
    ("device", "device.model", "leaf1/@model", "SN4700", "device.model",
     "models of devices: state them under models in fabric.yaml", 2),
    ("traffic_class", "traffic_class.tc is not none", "@fabric/classes/rdma/tc", UNKNOWN, "traffic_class.tc",
     "traffic classes: state them under classes in fabric.yaml", 1),
    ("fabric", "fabric.policy.rdma_mtu_bytes", "@fabric/name", "x", "fabric.policy.rdma_mtu_bytes",
     "what is wanted of every port: state them under policy in fabric.yaml", 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("missing", "settled"),
    [
        ("committed_bytes(device)", "a file that states the facts that it is computed from"),
        (
            "overrides_computed_headroom(device.buffer_model, priority_group.buffer)",
            "a file that states the buffer model of the switch and the buffer of the priority group",
        ),
        ("speed(interface.speed_mbps)", "a file that states the speed of the port"),
        (
            "speeds_possible_instead(device.model, interface.port, interface.lanes, interface.speed_mbps)",
            "a file that states the model of the switch, and which panel port it is, and the lanes and the speed of "
            "the port",
        ),
    ],
)
def test_what_a_word_could_not_work_out_is_settled_by_what_it_is_given(missing: str, settled: str) -> None:
    assert advise_on_missing_fact(missing) == settled


def test_nobody_misses_facts_of_queues_where_nothing_carries_rdma() -> None:
    whole = set_value(two_leaves(), parse_subject("leaf1/Ethernet0/qos"), UNKNOWN)
    whole = set_value(whole, parse_subject("leaf1/@role"), UNKNOWN)
    rules = [rule("of-qos", claim="interface.qos is none"), rule("of-role", claim="device.role == 'leaf'")]
    for mode, classes, missing in (
        ("lossless", (), ["interface.qos", "device.role"]),
        ("lossy", whole.classes, ["interface.qos", "device.role"]),
        ("lossy", (), ["device.role"]),
    ):
        verdict = judge(Reading(fabric=replace(whole, mode=mode, classes=classes)), rules)
        assert [each.missing for each in verdict.unknown] == missing


@pytest.mark.parametrize(
    ("scope", "claim", "subject", "value", "missing", "settled_by", "count"), UNKNOWNS, ids=[row[4] for row in UNKNOWNS]
)
def test_what_is_missing_and_who_would_tell(
    scope: str, claim: str, subject: str, value: object, missing: str, settled_by: str, count: int
) -> None:
    whole = set_value(two_leaves(), parse_subject(subject), value)
    (unknown,) = judge(Reading(fabric=whole), [rule(scope=scope, claim=claim)]).unknown
    assert (unknown.missing, unknown.resolved_by, unknown.subjects_count) == (missing, settled_by, count)
    assert set(unknown.devices) == {
        "queue": {"leaf1"}, "priority_group": {"leaf1", "leaf2", "spine1"}, "neighbor": {"leaf1", "leaf2"},
        "buffer_pool": {"leaf2"}, "link": {"leaf1", "spine1"} | ({"leaf2"} if count == 2 else set()),
        "interface": {"spine1"}, "device": {"leaf2", "spine1"}, "traffic_class": set(), "fabric": set(),
    }[scope]  # fmt: skip


def test_links_to_what_was_not_read_are_unknown_once_per_device_and_links_to_hosts_are_not() -> None:
    whole = two_leaves()
    alone = replace(
        whole,
        devices=whole.devices[:1],
        links=(
            *whole.links,
            Link(a=End("leaf1", "Ethernet16"), b=End("spine2", "Ethernet0")),
            Link(a=End("leaf1", "Ethernet24"), b=End("spine3", "Ethernet0")),
            Link(a=End("leaf1", "Ethernet32"), b=End("spine4", "Ethernet0")),
            Link(a=End("leaf1", "Ethernet40"), b=End("gpu1", "nic2")),
            Link(a=End("spine7", "Ethernet0"), b=End("spine8", "Ethernet0")),
        ),
    )
    verdict = judge(Reading(fabric=alone), [rule(scope="link", claim="false")])
    assert verdict.findings == ()
    (unknown,) = verdict.unknown
    assert (unknown.missing, unknown.subjects_count, unknown.devices) == ("the other end of a link", 1, ("leaf1",))
    assert unknown.resolved_by == "the configurations of spine1, spine2, spine3 and 1 more"


@pytest.mark.parametrize(
    ("unread", "settled_by"),
    [
        (["spine1"], "the configuration of spine1"),
        (["spine1", "spine10", "spine2"], "the configurations of spine1, spine2, spine10"),
    ],
)
def test_the_configurations_that_would_tell(unread: list[str], settled_by: str) -> None:
    links = tuple(Link(a=End("leaf1", f"Ethernet{each}"), b=End(each, "Ethernet0")) for each in unread)
    verdict = judge(read(device("leaf1", port(0)), links=links), [rule(scope="link", claim="false")])
    assert [unknown.resolved_by for unknown in verdict.unknown] == [settled_by]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("host.cnp_dscp", "hosts and what they send: state them under hosts in fabric.yaml"),
        ("host_port.lanes", "hosts and their ports: state them under hosts in fabric.yaml"),
        ("link.media", "kinds of cable: state them under cables in fabric.yaml"),
        ("interface.addresses.length", "a file that states the prefix lengths of the port's addresses"),
        ("interface.qos.trust", "a file that states the trust of the port"),
        ("headroom_needed(interface)", "a file that states the facts that it is computed from"),
        ("device.hash_fields", "a file that states the hash fields of the switch"),
    ],
)
def test_who_states_what_no_switch_file_says(path: str, expected: str) -> None:
    assert advise_on_missing_fact(path) == expected


def test_ports_without_qos_have_no_queues_and_devices_without_bgp_no_neighbors() -> None:
    whole = fabric(device("leaf1", port(0, qos=None)), device("leaf2", port(0, qos=LOSSY)))
    assert found({"scope": "queue", "claim": "false"}, whole) == []
    assert found({"scope": "neighbor", "claim": "false"}, whole) == []


def test_a_rule_that_crashes_is_a_problem_and_the_others_are_judged() -> None:
    whole = fabric(device("leaf1", port(0, lanes=0), port(1)))
    rules = [
        rule("divides", claim="1 / (interface.lanes or 0) > 1"),
        rule("tells", claim="false", message="{{ 1 / (interface.lanes or 0) }}"),
        rule("goes-on", claim="interface.name == 'Ethernet0'"),
    ]
    verdict = judge(Reading(fabric=whole), rules)
    assert [str(problem) for problem in verdict.problems] == [
        f"rules/hygiene/{name}.yaml: leaf1/Ethernet0: rule {name} failed: ZeroDivisionError: division by zero "
        "(the other rules were checked)"
        for name in ("divides", "tells")
    ]
    assert [(finding.rule, subject_text(finding.subject)) for finding in verdict.findings] == [
        ("divides", "leaf1/Ethernet8"),
        ("goes-on", "leaf1/Ethernet8"),
    ]


def test_modes_strictness_severity_and_former_names() -> None:
    rules = [
        rule("plain", claim="false"),
        rule("possible", claim="false", confidence="possible"),
        rule("pedantic", claim="false", strictness="pedantic"),
        rule("auditor", claim="false", strictness="auditor", aliases=["old-name"]),
        rule("lossy", claim="false", modes=["lossy", "trim"]),
    ]

    def said(mode: str = "lossless", **more: Any) -> dict[str, str]:
        verdict = judge(read(device("leaf1", port(0)), mode=mode), rules, **more)
        return {finding.rule: finding.severity for finding in verdict.findings}

    assert said() == {"plain": "error"}
    assert said("lossy") == {"lossy": "error", "plain": "error"}
    assert list(said(strictness="pedantic")) == ["pedantic", "plain", "possible"]
    assert list(said(strictness="auditor")) == ["auditor", "pedantic", "plain", "possible"]
    assert said(strictness="auditor", severity_overrides={"old-name": "note", "plain": "off", "possible": "off"}) == {
        "auditor": "note",
        "pedantic": "error",
    }


def test_options_are_the_site_s_and_typed_by_their_defaults() -> None:
    options = {
        "minimum_ms": {"default": "300", "description": "x"},
        "names": {"default": ["Ethernet0"], "description": "x"},
    }
    keys = {
        "claim": "interface.name not in options.names or "
        "interface.qos.pfc_watchdog.detection_ms and interface.qos.pfc_watchdog.detection_ms >= options.minimum_ms",
        "options": options,
    }
    whole = fabric(device("leaf1", port(0), port(1)))
    assert found(keys, whole) == ["leaf1/Ethernet0"]
    assert found(keys, whole, options={"fault": {"minimum_ms": 200}}) == []
    assert found(keys, whole, options={"fault": {"names": ["Ethernet8"]}}) == ["leaf1/Ethernet8"]
    for given, told in (
        ({"minimum_ms": "soon"}, "options: fault.minimum_ms: `soon`; expected a number"),
        ({"minimum": 3}, "options: fault.minimum: no option `minimum` (did you mean `minimum_ms`?)"),
    ):
        with pytest.raises(InputProblems) as refused:
            found(keys, whole, options={"fault": given})
        assert str(refused.value) == told
    with pytest.raises(InputProblems, match=r"no option `minimum` \(it has none\)"):
        found({"claim": "true"}, whole, options={"fault": {"minimum": 3}})


@pytest.mark.parametrize(
    ("derived", "claim", "confidence"),
    [
        ("leaf1/Ethernet0/mtu_bytes", "interface.mtu_bytes == 1", "likely"),
        ("leaf1/Ethernet0/mtu_bytes", "interface.mtu_bytes == 1 or interface.lanes == 1", "likely"),
        ("leaf1/Ethernet0/mtu_bytes", "interface.lanes == 1", "certain"),
        ("leaf1/Ethernet8/mtu_bytes", "interface.mtu_bytes == 1", "certain"),
        ("leaf2/Ethernet0/mtu_bytes", "interface.mtu_bytes == 1", "certain"),
        ("leaf1/Ethernet0/qos", "interface.qos.trust == 'pcp'", "likely"),
        ("leaf1", "interface.lanes == 1", "likely"),
        ("leaf1/Ethernet0/qos/pfc_watchdog/restoration_ms", "not interface.qos.pfc_watchdog", "certain"),
        ("leaf1/Ethernet0/qos/pfc_rx_priorities", "not interface.qos.pfc_priorities", "likely"),
        ("leaf1/Ethernet0/speed_mbps", "interface.lane_mbps == 1", "likely"),
        ("leaf1/Ethernet0/description", "interface.lanes == 1", "likely"),
        ("leaf1/@watchdog_polling_ms", "device.watchdog_polling_ms == 1", "likely"),
        ("leaf1/@watchdog_polling_ms", "device.role == 'x'", "certain"),
        ("leaf1/Ethernet0/fec", "known_port(interface) and false", "certain"),
        ("leaf1/Ethernet0/qos/queues/0", "count(interface.qos.queues or ()) == 1", "likely"),
    ],
)
def test_what_rests_on_a_documented_default_is_likely(derived: str, claim: str, confidence: str) -> None:
    whole = fabric(device("leaf1", port(0), watchdog_polling_ms=100, role="leaf"))
    reading = Reading(fabric=whole, derived={parse_subject(derived): "the platform's default"})
    keys = {"claim": claim} | ({"at": "description"} if "description" in derived else {})
    assert only(judge(reading, [rule(**keys)])).confidence == confidence
    assert only(judge(replace(reading, derived={}), [rule(**keys)])).confidence == "certain"


@pytest.mark.parametrize(
    ("fact", "scope", "claim", "confidence"),
    [
        ("mode", "fabric", "fabric.mode == 'trim'", "likely"),
        ("mode", "fabric", "fabric.name == 'x'", "certain"),
        ("classes.rdma.dscp", "fabric", "count(fabric.classes) == 9", "likely"),
        ("RDMA", "fabric", "count(fabric.classes) == 9", "likely"),
        ("RDMA", "traffic_class", "traffic_class.name == 'x'", "likely"),
        ("RDMA", "device", "class_words(device.name)", "likely"),
        ("mode", "device", "class_words(device.name)", "certain"),
    ],
)
def test_what_rests_on_an_assumption_is_likely(fact: str, scope: str, claim: str, confidence: str) -> None:
    whole = two_leaves()
    whole = replace(whole, devices=whole.devices[:1], classes=whole.classes[:1])
    reading = Reading(fabric=whole, assumed=(Assumption(fact=fact, value="x", reason="y"),))
    assert only(judge(reading, [rule(scope=scope, claim=claim)])).confidence == confidence


def test_a_confidence_is_lowered_and_never_raised() -> None:
    reading = Reading(fabric=two_leaves(), assumed=(Assumption(fact="mode", value="x", reason="y"),))
    keys = {"scope": "fabric", "claim": "fabric.mode == 'trim'", "confidence": "possible"}
    assert only(judge(reading, [rule(**keys)], strictness="pedantic")).confidence == "possible"


@declare_word("function")
def mode_of(word: str, *, index: Index) -> str:
    """Something that looks at the fabric by the index."""
    return index.fabric.mode if word else ""


@declare_word("function")
def known_port(interface: Any) -> bool:
    """Something that looks at a port as a whole."""
    return interface is not None


@declare_word("function", rests_on=("classes",))
def class_words(name: str) -> bool:
    """Something that takes the classes for true."""
    return not name


@declare_word("function")
def far_mtu(device: str, port: str, *, index: Index) -> int | None:
    """The MTU at the other end, by the index."""
    far = index.far_port(device, port)
    if far is None or not hasattr(far, "mtu_bytes"):
        raise UnknownFact("link.length_m")
    return far.mtu_bytes


@declare_word("function")
def wanted_watchdog(fabric: Fabric) -> PfcWatchdog | None | Unknown:
    """What the owner wants, or UNKNOWN."""
    return fabric.policy.host_watchdog


@declare_word("function")
def silent(fabric: Fabric) -> int:
    """Something that does not say what it misses."""
    raise UnknownFact


@declare_word("filter")
def bracketed(name: str | None) -> str:
    """A name in brackets."""
    return f"[{name}]"


@pytest.fixture(autouse=True)
def words_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {(each.kind, each.name): each for each in vocabulary.words_declared_in(sys.modules[__name__])}
    known = vocabulary.vocabulary() | here
    monkeypatch.setattr(expression_types, "vocabulary", lambda: known)


def test_words_are_given_the_index_and_say_what_they_miss() -> None:
    whole = set_value(two_leaves(), parse_subject("leaf1/Ethernet8/mtu_bytes"), "1500")
    verdict = judge(
        Reading(fabric=whole),
        [
            rule(
                when="device.name == 'spine1' or interface.name == 'Ethernet0'",
                claim="far_mtu(device.name, interface.name) == 9216",
            )
        ],
    )
    assert subjects(verdict) == ["spine1/Ethernet0"]
    (unknown,) = verdict.unknown
    assert (unknown.missing, unknown.subjects_count, unknown.devices) == ("link.length_m", 2, ("leaf1", "leaf2"))
    assert verdict.findings[0].facts == {"far_mtu(device.name, interface.name)": 1500}


@pytest.mark.parametrize(
    ("claim", "stated", "unstated"),
    [
        ("wanted_watchdog(fabric)", True, "wanted_watchdog(fabric)"),
        ("wanted_watchdog(fabric) is known", True, False),
        ("wanted_watchdog(fabric).action == 'drop'", True, "wanted_watchdog(fabric)"),
        ("silent(fabric) == 1", "silent(fabric)", "silent(fabric)"),
        ("silent(fabric) is known", False, False),
        ("fabric.policy.host_watchdog is known and wanted_watchdog(fabric)", True, False),
    ],
)
def test_words_may_answer_unknown(claim: str, stated: object, unstated: object) -> None:
    whole = two_leaves()
    for each, expected in ((whole, stated), (replace(whole, policy=Policy()), unstated)):
        verdict = judge(Reading(fabric=each), [rule(scope="fabric", claim=claim)])
        assert verdict.problems == ()
        if isinstance(expected, bool):
            assert (verdict.findings == (), verdict.unknown) == (expected, ())
        else:
            assert ([unknown.missing for unknown in verdict.unknown], verdict.findings) == ([expected], ())


ANALYSIS = """\
from nodrop.analyses import AnalysisHit, UndecidedSubject

RESTS_ON = frozenset({"classes"})


def find(index, *, limit=0):
    for device in index.fabric.devices:
        if device.role == "spine":
            raise ValueError("no spines, please")
        yield AnalysisHit(
            subject=(device.name,),
            at=(device.name, "Ethernet0") if device.name == "leaf1" else None,
            facts={"name": device.name, "ports": len(device.interfaces), "limit": limit, "other": "leaf1"},
            related=((("spine1",), "its spine"),),
            discriminator=f"ports-{device.name}",
        )
        yield UndecidedSubject(subject=(device.name, "Ethernet8"), missing="link.length_m")
    yield UndecidedSubject(subject=("@fabric", "links", "leaf1:Ethernet8--gpu1:nic1"), missing="link.media")
"""
HITS = {
    "scope": "device",
    "analysis": "crowding",
    "facts": {"name": "str", "ports": "int", "limit": "int", "other": "str"},
    "message": "{{ facts.name }} has {{ facts.ports }} ports, more than {{ facts.limit }} in {{ fabric.name }}",
}


@pytest.fixture
def crowding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An analysis that finds every leaf, and fails at the first spine."""
    (tmp_path / "crowding.py").write_text(ANALYSIS)
    monkeypatch.setattr(analyses, "__path__", [*analyses.__path__, str(tmp_path)])
    yield
    sys.modules.pop("nodrop.analyses.crowding", None)


def leaves() -> Fabric:
    whole = two_leaves()
    return replace(whole, devices=whole.devices[:2])


@pytest.mark.usefixtures("crowding")
def test_a_name_that_another_happens_to_share_counts_in_a_group() -> None:
    told = rule(**HITS | {"message": "{{ facts.name }} is larger than {{ facts.other }}"})
    findings = judge(Reading(fabric=leaves()), [told]).findings
    assert [finding.message for finding in findings] == ["leaf1 is larger than leaf1", "leaf2 is larger than leaf1"]
    assert findings[0].group == findings[1].group


def test_names_of_ends_do_not_part_what_an_analysis_finds() -> None:
    """The words of the rule are `gpu1 sends …; leaf1 Ethernet0 has MTU 1500`: only the numbers tell causes apart."""
    (too_small,) = (one for one in shipped_rules() if one.name == "rdma-mtu-above-port-mtu")
    whole = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml"))
    for where, mtu in (("leaf1/Ethernet0", "1500"), ("leaf2/Ethernet8", "1500"), ("leaf2/Ethernet0", "2000")):
        whole = set_value(whole, parse_subject(f"{where}/mtu_bytes"), mtu)
    found = {one.at[:2]: one.group for one in judge(Reading(fabric=whole), [too_small]).findings}
    assert len(found) == 3
    assert found["leaf1", "Ethernet0"] == found["leaf2", "Ethernet8"] != found["leaf2", "Ethernet0"]


@pytest.mark.usefixtures("crowding")
def test_an_analysis_finds_and_the_rule_has_the_words() -> None:
    evaluations: Counter[str] = Counter()
    verdict = judge(Reading(fabric=leaves()), [rule(**HITS, arguments={"limit": "1"})], evaluations=evaluations)
    first, second = verdict.findings
    assert (first.message, second.message) == (
        "leaf1 has 2 ports, more than 1 in test",
        "leaf2 has 2 ports, more than 1 in test",
    )
    assert (subject_text(first.subject), subject_text(first.at), first.device) == ("leaf1", "leaf1/Ethernet0", "leaf1")
    assert (subject_text(second.at), second.device) == ("leaf2", "leaf2")
    assert first.facts == {"name": "leaf1", "ports": 2, "limit": 1, "other": "leaf1"}
    assert first.related == (RelatedPart(subject=("spine1",), message="its spine"),)
    assert first.group == second.group
    wider = set_value(leaves(), parse_subject("leaf2/Ethernet16"), {})
    groups = [finding.group for finding in judge(Reading(fabric=wider), [rule(**HITS)]).findings]
    assert groups[0] != groups[1]
    assert first.fingerprint != second.fingerprint
    assert first.fix is not None
    assert (first.fix.text, first.confidence) == ("mend it", "certain")
    assert [(each.missing, each.subjects_count, each.devices) for each in verdict.unknown] == [
        ("link.length_m", 2, ("leaf1", "leaf2")),
        ("link.media", 1, ("leaf1",)),
    ]
    assert evaluations == {"fault": 1}


@pytest.mark.usefixtures("crowding")
def test_an_analysis_takes_options_and_when_passes_its_hits() -> None:
    keys = HITS | {
        "arguments": {"limit": "options.limit"},
        "options": {"limit": {"default": "7", "description": "x"}},
        "when": "facts.limit == 7 and facts.name != 'leaf1'",
    }
    assert subjects(judge(Reading(fabric=leaves()), [rule(**keys)])) == ["leaf2"]
    assert subjects(judge(Reading(fabric=leaves()), [rule(**keys)], options={"fault": {"limit": 8}})) == []
    policy = keys | {"when": "fabric.policy.rdma_mtu_bytes == 4096"}
    without = replace(leaves(), policy=Policy())
    assert [each.missing for each in judge(Reading(fabric=without), [rule(**policy)]).unknown] == [
        "fabric.policy.rdma_mtu_bytes", "link.length_m", "link.media",
    ]  # fmt: skip


@pytest.mark.usefixtures("crowding")
def test_an_analysis_that_crashes_keeps_what_it_found() -> None:
    verdict = judge(Reading(fabric=two_leaves()), [rule(**HITS), rule("next", claim="interface.name == 'Ethernet0'")])
    assert [str(problem) for problem in verdict.problems] == [
        "rules/hygiene/fault.yaml: leaf2/Ethernet8: rule fault failed: ValueError: no spines, please "
        "(the other rules were checked)"
    ]
    assert {finding.rule for finding in verdict.findings} == {"fault", "next"}


@pytest.mark.usefixtures("crowding")
def test_an_analysis_rests_on_what_it_says() -> None:
    reading = Reading(fabric=leaves(), assumed=(Assumption(fact="RDMA", value="x", reason="y"),))
    assert {finding.confidence for finding in judge(reading, [rule(**HITS)]).findings} == {"likely"}
    derived = Reading(fabric=leaves(), derived={parse_subject("leaf1/Ethernet0"): "x"})
    assert [finding.confidence for finding in judge(derived, [rule(**HITS)]).findings] == ["likely", "certain"]


def remark(kind: str = "duplicate-key", **changes: Any) -> Remark:
    place = FilePlace("config_db.json", Span(4, 5, 4, 12))
    known = {"subject": ("leaf1", "@text"), "place": place, "facts": {"key": "PORT", "first": "2"}}
    return Remark(kind=kind, **known | changes)


REMARKED = {
    "scope": "device",
    "remark": "duplicate-key",
    "facts": ["key", "first"],
    "when": "facts.key != 'QUEUE'",
    "message": "{{ facts.key }} stands twice, first in line {{ facts.first }}",
}


def test_a_remark_becomes_a_finding_at_its_place() -> None:
    reading = Reading(
        fabric=two_leaves(),
        sources={"leaf1": (Source(name="config_db.json", display="in/leaf1/config_db.json"),)},
        remarks=(
            remark(),
            remark(facts={"key": "QUEUE", "first": "2"}),
            remark("undefined-name"),
            remark(subject=("leaf2",), place=None),
            remark(subject=("leaf2", "Ethernet0"), facts={"key": "PORT"}),
        ),
        notes=(Note(kind="ignored", message="a table"),),
    )
    verdict = judge(reading, [rule(**REMARKED)])
    first, second = verdict.findings
    assert first.message == "PORT stands twice, first in line 2"
    assert (first.subject, first.at, first.device) == (("leaf1", "@text"), ("leaf1", "@text"), "leaf1")
    assert first.facts == {"key": "PORT", "first": "2"}
    assert first.located is not None
    assert (first.located.file, first.located.span) == ("in/leaf1/config_db.json", Span(4, 5, 4, 12))
    assert (second.device, second.located, second.group) == ("leaf2", None, first.group)
    assert verdict.notes == reading.notes
    assert [problem.where for problem in verdict.problems] == ["leaf2/Ethernet0"]
    assert "'first'" in verdict.problems[0].found


def in_two_modes(*remarks: Remark) -> Reading:
    """Two switches, of which the first may be lossy or lossless; what a reader noticed in its files."""
    lossy = PossibleMode(mode="lossy", classes=(), devices=frozenset({"leaf1", "leaf2"}))
    whole = replace(two_leaves(), mode="lossy", classes=())
    lossless = PossibleMode(mode="lossless", classes=two_leaves().classes, devices=frozenset({"leaf1"}))
    return Reading(fabric=whole, remarks=remarks, possible=(lossy, lossless))


OF_REMARKS: dict[str, Any] = {"scope": "device", "remark": "odd", "facts": ["word"], "message": "{{ facts.word }}"}


def test_names_of_a_row_and_of_its_switch_part_no_group_of_remarks() -> None:
    keys = {**OF_REMARKS, "facts": ["switch", "word"], "message": "{{ facts.switch }} has {{ facts.word }}"}
    remarks = tuple(
        Remark(kind="odd", subject=(name,), place=None, facts={"switch": name, "word": f"{row} twice"}, names=(row,))
        for name, row in (("leaf1", "AZURE"), ("leaf2", "RDMA"))
    )
    verdict = judge(Reading(fabric=two_leaves(), remarks=remarks), [rule(**keys)])
    assert [finding.message for finding in verdict.findings] == ["leaf1 has AZURE twice", "leaf2 has RDMA twice"]
    assert len({finding.group for finding in verdict.findings}) == 1


def test_a_remark_is_told_once_where_two_modes_are_possible() -> None:
    told = rule("told", **OF_REMARKS, aliases=["was-told"])
    remarks = [
        Remark(kind="odd", subject=(name,), place=None, facts={"word": f"in {name}"}) for name in ("leaf2", "leaf1")
    ]
    judged: list[str] = []
    verdict = judge(in_two_modes(*remarks), [told], progress=judged.append)
    assert [finding.message for finding in verdict.findings] == ["in leaf1", "in leaf2"]
    assert verdict == judge(Reading(fabric=two_leaves(), remarks=tuple(remarks)), [told])
    assert judged == ["told"]


@pytest.mark.parametrize(
    "keys",
    [
        {"when": "fabric.mode == 'lossless'"},
        {"modes": ["lossless"]},
        {"when": "mode_of(facts.word) == 'lossless'"},
    ],
)
def test_a_remark_is_judged_in_each_mode_by_what_looks_at_the_mode(keys: dict[str, Any]) -> None:
    remarks = [Remark(kind="odd", subject=(name,), place=None, facts={"word": "x"}) for name in ("leaf1", "leaf2")]
    verdict = judge(in_two_modes(*remarks), [rule("of-mode", **OF_REMARKS, **keys)])
    assert verdict.findings == ()
    assert [(one.rule, one.missing, one.devices) for one in verdict.unknown] == [("of-mode", "fabric.mode", ("leaf1",))]


def test_a_message_says_the_mode_in_which_a_remark_is_judged() -> None:
    keys = {**OF_REMARKS, "message": "{{ facts.word }} where all is {{ fabric.mode }}"}
    remark = Remark(kind="odd", subject=("leaf1",), place=None, facts={"word": "x"})
    reading = in_two_modes(remark)
    assert only(judge(reading, [rule(**keys)])).message == "x where all is lossy"
    turned = replace(reading, possible=reading.possible[::-1])
    assert only(judge(turned, [rule(**keys)])).message == "x where all is lossless"


def test_what_is_told_of_remarks_is_known_in_each_mode() -> None:
    remark = Remark(kind="odd", subject=("leaf1",), place=None, facts={"word": "x"})
    silent = rule(
        "silent", scope="device", claim="not has_error_at_devices(device.name)", message="{{ device.name }} is at fault"
    )
    verdict = judge(in_two_modes(remark), [silent, rule("told", severity="error", **OF_REMARKS)])
    assert [(one.rule, one.device) for one in verdict.findings] == [("silent", "leaf1"), ("told", "leaf1")]
    assert verdict.unknown == ()


def test_a_rule_that_crashes_on_a_remark_is_one_problem_where_two_modes_are_possible() -> None:
    remark = Remark(kind="odd", subject=("leaf1",), place=None, facts={})
    (problem,) = judge(in_two_modes(remark), [rule("told", **OF_REMARKS)]).problems
    assert (problem.where, problem.hint) == ("leaf1", "the other rules were checked")
