"""Settling: findings are marked, by rule first, and none is added or dropped."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.engine import suppressions
from nodrop.engine.finding import FileLocation, Finding
from nodrop.engine.suppressions import (
    CheckedScope,
    Suppression,
    find_suppression_faults,
    find_unchanged_period,
    mark_suppressed_findings,
)
from nodrop.model.subject import matches, parse_subject
from nodrop.syntax.places import Span
from support.report_samples import finding

TODAY = date(2027, 6, 30)
NAMES = {"a-rule": "a-rule", "b-rule": "b-rule", "old-rule": "a-rule"}


def suppression(rule: str, at: str, until: date | None = None, line: int = 1, **other: Any) -> Suppression:
    given = {"reason": f"{rule} {at}", "file": "nodrop.yaml", "column": 1}
    return Suppression(rule=rule, at=at, until=until, line=line, **given | other)


FINDINGS = st.lists(
    st.builds(
        finding,
        st.sampled_from(["leaf1", "leaf1/swp1", "leaf2/swp1", "@fabric/links/leaf1:swp1--leaf2:swp1"]),
        rule=st.sampled_from(["a-rule", "b-rule"]),
    )
)
SUPPRESSIONS = st.lists(
    st.builds(
        suppression,
        st.sampled_from(["a-rule", "old-rule", "b-rule", "no-rule"]),
        st.sampled_from(["leaf1", "leaf1/**", "leaf*/*", "@fabric/**", "**"]),
        st.sampled_from([None, date(2027, 6, 29), TODAY]),
        st.integers(1, 9),
    )
)


def nowhere(findings: Any) -> list[tuple[FileLocation, ...]]:
    return [() for _ in findings]


@given(FINDINGS, SUPPRESSIONS)
def test_settling_only_marks_and_marks_what_is_covered(findings: list[Finding], given: list[Suppression]) -> None:
    settled, hits = mark_suppressed_findings(findings, given, NAMES, TODAY, nowhere)
    assert [(one.rule, one.subject) for one in settled] == [(one.rule, one.subject) for one in findings]
    for one in settled:
        covering = [
            each
            for each in given
            if NAMES.get(each.rule) == one.rule
            and matches(parse_subject(each.at), one.subject)
            and (each.until is None or each.until >= TODAY)
        ]
        assert (one.suppressed is not None) == bool(covering)
        assert one.suppressed is None or one.suppressed == covering[0].reason_for_findings
    assert sum(hits.values()) >= sum(one.suppressed is not None for one in settled)


def test_subjects_are_looked_at_only_for_rules_that_are_suppressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand findings and a hundred suppressions of another rule cost no comparison."""
    compared: list[object] = []

    def counted(*given: Any) -> bool:
        compared.append(given)
        return matches(*given)

    monkeypatch.setattr(suppressions, "matches", counted)
    findings = [finding(f"leaf{number}/swp1", rule="a-rule") for number in range(10_000)]
    others = [suppression("b-rule", f"leaf{number}/**", line=number + 1) for number in range(100)]
    settled, _ = mark_suppressed_findings(findings, others, NAMES, TODAY, nowhere)
    assert (compared, settled) == ([], findings)
    mark_suppressed_findings(findings[:10], [suppression("a-rule", "leaf1/**")], NAMES, TODAY, nowhere)
    assert len(compared) == 10 + 1, "each switch once, and what is on the one that fits"


def test_places_are_asked_for_only_where_a_comment_names_the_rule() -> None:
    asked: list[str] = []

    def places(findings: Any) -> list[tuple[FileLocation, ...]]:
        asked.extend(one.rule for one in findings)
        return [(FileLocation(file="x", span=Span(4, 1, 4, 2)),) for _ in findings]

    findings = [finding("leaf1", rule="a-rule"), finding("leaf1", rule="b-rule")]
    mark_suppressed_findings(findings, [suppression("a-rule", "leaf1")], NAMES, TODAY, places)
    assert asked == []
    comment = suppression("b-rule", "", file="x", lines=(3, 4), device="leaf1")
    settled, _ = mark_suppressed_findings(findings, [comment], NAMES, TODAY, places)
    assert asked == ["b-rule"]
    assert [one.suppressed for one in settled] == [None, comment.reason_for_findings]
    for lines, file in (((5, 9), "x"), ((1, 3), "x"), ((4, 4), "y")):
        settled, _ = mark_suppressed_findings(
            findings, [suppression("b-rule", "", file=file, lines=lines)], NAMES, TODAY, places
        )
        assert settled == findings


@pytest.mark.parametrize(
    ("at", "ran", "told"),
    [
        ("leaf1/**", CheckedScope(rules=("a-rule",), devices=("leaf1",)), True),
        ("leaf*/**", CheckedScope(rules=("a-rule",), devices=("leaf1", "spine1")), True),
        ("leaf1/**", CheckedScope(rules=("b-rule",), devices=("leaf1",)), False),
        ("leaf1/**", CheckedScope(rules=("a-rule",), devices=("leaf2",)), False),
        ("leaf1/**", CheckedScope(rules=("a-rule",), devices=("leaf1",), open={"a-rule": ("leaf1",)}), False),
        ("leaf1/**", CheckedScope(rules=("a-rule",), devices=("leaf1",), open={"a-rule": ("leaf2",)}), True),
        ("leaf1/**", CheckedScope(rules=("a-rule",), devices=("leaf1",), open={"a-rule": ()}), False),
        ("@fabric/**", CheckedScope(rules=("a-rule",), devices=("leaf1",)), True),
        ("@fabric/**", CheckedScope(rules=("a-rule",)), False),
        ("@fabric/links/leaf1:*--spine*:*", CheckedScope(rules=("a-rule",), devices=("leaf1", "spine2")), True),
        ("@fabric/links/leaf1:*--spine*:*", CheckedScope(rules=("a-rule",), devices=("leaf1", "leaf2")), False),
    ],
)
def test_unused_is_told_only_where_that_is_known(at: str, ran: CheckedScope, told: bool) -> None:
    found = [remark.kind for remark in find_suppression_faults([suppression("a-rule", at)], [0], NAMES, TODAY, [ran])]
    assert found == (["unused-suppression"] if told else [])
    assert list(find_suppression_faults([suppression("a-rule", at)], [1], NAMES, TODAY, [ran])) == []


def test_an_outcome_lasts_until_the_first_comment_ends() -> None:
    days = [date(2027, 6, 29), date(2027, 7, 9), date(2027, 8, 1)]
    given = [suppression("a-rule", "", day) for day in days]
    assert find_unchanged_period(given, TODAY) == ("2027-06-30", "2027-07-09")
    assert find_unchanged_period(given[:1], TODAY) == ("2027-06-30", "9999-12-31")
    assert find_unchanged_period([suppression("a-rule", "")], TODAY) is None
