import dataclasses
from typing import Any

from nodrop.engine.finding import SEVERITIES, FabricVerdict, FileLocation, Finding, UnknownVerdict
from nodrop.errors import Problem
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.reading import Assumption, Note, Reading
from nodrop.results.outcome import (
    MAX_SHOWN_FINDING_GROUPS,
    FabricOutcome,
    OutcomeTotals,
    count_outcome,
    first_shown_findings,
    group_findings,
    select_shown_groups,
)
from nodrop.syntax.places import Span
from support.report_samples import at, finding, outcome

ASSUMED = (Assumption(fact="mode", value="lossless", reason="PFC is on"),)
UNKNOWN_VERDICTS = (
    UnknownVerdict(rule="b", missing="x", subjects_count=2, devices=("leaf1",), resolved_by=""),
    UnknownVerdict(rule="a", missing="y", subjects_count=2, devices=("leaf1",), resolved_by=""),
)


def test_the_summary_counts_findings_by_severity() -> None:
    severities = ("error", "warning", "warning", "note")
    shown = outcome(*(finding(f"leaf{number}", severity=each) for number, each in enumerate(severities)))
    assert count_outcome(shown) == OutcomeTotals(
        devices=6,
        interfaces=192,
        rules=11,
        error=1,
        warning=2,
        note=1,
        causes=3,
        unknown=0,
        suppressed=0,
        baseline=0,
        evpn_not_computed=0,
        leaks_not_computed=0,
        declared_harmless=0,
    )


def test_an_outcome_of_a_reading_and_its_verdict() -> None:
    leaf1 = Device(name="leaf1", platform="sonic", interfaces=(Interface(name="e1"), Interface(name="e2")))
    fabric = Fabric(name="pod1", mode="lossless", devices=(leaf1,))
    reading = Reading(
        fabric=fabric, notes=(Note(kind="a", message="1"),), problems=(Problem(path="b"),), assumed=ASSUMED
    )
    verdict = FabricVerdict(
        findings=(finding("leaf1"),),
        unknown=UNKNOWN_VERDICTS,
        notes=(Note(kind="c", message="2"),),
        problems=(Problem(path="a"),),
        rules=7,
    )
    placed = (finding("leaf1", at("a.json", 1, 1, 2)),)
    shown = FabricOutcome.of(reading, verdict, findings=placed, notes=(Note(kind="b", message="3"),))
    assert (shown.devices, shown.interfaces, shown.rules) == (1, 2, 7)
    assert shown.findings == placed
    assert [note.message for note in shown.notes] == ["1", "3", "2"]
    assert [problem.path for problem in shown.problems] == ["a", "b"]
    assert (shown.unknown, shown.assumed) == (UNKNOWN_VERDICTS[::-1], ASSUMED)
    assert FabricOutcome.of(reading, verdict).findings == verdict.findings


def test_an_outcome_made_of_another_one_is_in_order() -> None:
    first, second, third = (finding(f"leaf{number}/Ethernet0") for number in (1, 2, 3))
    made = FabricOutcome(findings=(third, first), hidden=(second,))
    assert made.findings == (first, third)
    assert dataclasses.replace(made, devices=1).findings is made.findings
    assert dataclasses.replace(made, findings=(*made.findings, *made.hidden)).findings == (first, second, third)
    assert dataclasses.replace(made, findings=made.findings[::-1]).findings == (first, third)


def test_the_first_of_a_group_is_the_same_before_and_after_places_are_known() -> None:
    def group(places: bool) -> list[Finding]:
        return [
            finding(
                f"leaf{leaf}/Ethernet{port}",
                FileLocation(file="a.json", span=Span(100 - port, 1, 100 - port, 2)) if places else None,
            )
            for leaf in (2, 1)
            for port in (16, 8)
        ]

    for places in (False, True):
        (only,) = group_findings(group(places))
        assert [each.subject for each in only] == [
            ("leaf1", "Ethernet8"),
            ("leaf1", "Ethernet16"),
            ("leaf2", "Ethernet8"),
            ("leaf2", "Ethernet16"),
        ]
        assert first_shown_findings(group(places)) == (only[0], only[2])


def many(rule: str, causes: int, **other: Any) -> list[Finding]:
    """Findings of so many causes, of which the later ones have more findings."""
    return [
        finding(f"leaf{cause}/Ethernet{port}", rule=rule, group=f"{rule} {cause}", **other)
        for cause in range(1, causes + 1)
        for port in range(cause)
    ]


def test_of_too_many_groups_the_worst_go_first_then_each_rule_then_the_largest() -> None:
    every = [
        *many("a-few", 3, severity="warning"),
        *many("b-errors", 15),
        *many("c-error", 1),
        *many("d-notes", 40, severity="note"),
        *many("e-warnings", 12, severity="warning"),
    ]
    shown = [(group[0].rule, len(group)) for group in select_shown_groups(group_findings(every))]
    assert len(shown) == MAX_SHOWN_FINDING_GROUPS
    assert [size for rule, size in shown if rule == "b-errors"] == list(range(15, 0, -1))
    assert [SEVERITIES.index(group[0].severity) for group in group_findings(every)] == [0] * 16 + [1] * 15 + [2] * 40
    assert ("c-error", 1) in shown
    assert sorted(each for each in shown if each[0] not in ("b-errors", "c-error")) == [
        ("a-few", 2),
        ("a-few", 3),
        ("e-warnings", 11),
        ("e-warnings", 12),
    ]
    assert {rule for rule, _ in shown} == {"a-few", "b-errors", "c-error", "e-warnings"}


def test_twenty_groups_are_all_shown() -> None:
    twenty = group_findings(many("a", MAX_SHOWN_FINDING_GROUPS))
    assert select_shown_groups(twenty) == twenty
    assert len(select_shown_groups(group_findings(many("a", MAX_SHOWN_FINDING_GROUPS + 1)))) == MAX_SHOWN_FINDING_GROUPS


def test_which_groups_are_shown_does_not_depend_on_places() -> None:
    bare = [*many("a", 30), *many("b", 30)]
    placed = [
        dataclasses.replace(each, located=at("z.json", 10_000 - number, 1, 2)) for number, each in enumerate(bare)
    ]
    assert {each.subject for each in first_shown_findings(bare)} == {
        each.subject for each in first_shown_findings(placed)
    }
    assert len(first_shown_findings(bare)) == MAX_SHOWN_FINDING_GROUPS


def test_of_several_fabrics_a_finding_with_a_place_stands_first() -> None:
    there = finding("leaf2/Ethernet0", at("pod2/leaf2.json", 1, 1, 2))
    (only,) = group_findings([finding("leaf1/Ethernet0"), there])
    assert only[0] == there
