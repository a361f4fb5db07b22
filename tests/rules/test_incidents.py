"""What happened to clusters, restated on nodrop's own fabrics: exactly the findings that would have told."""

from typing import Any

import pytest

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.subject import subject_text
from support.single_faults import Fault, inject, read_faults, reading_of

INCIDENTS: list[dict[str, Any]] = read_faults("rules/incidents/incidents.yaml")


def spelt_out(subjects: list[str]) -> list[str]:
    """Return subjects with a range of ports, `Ethernet[0-120:8]`, as all of them."""
    made = []
    for subject in subjects:
        head, bracket, rest = subject.partition("[")
        if not bracket or head.startswith("@"):
            made.append(subject)
            continue
        span, _, tail = rest.partition("]")
        bounds, _, step = span.partition(":")
        first, last = map(int, bounds.split("-"))
        made += [f"{head}{number}{tail}" for number in range(first, last + 1, int(step))]
    return sorted(made)


@pytest.mark.parametrize("row", INCIDENTS, ids=[f"{row['incident']}: {row['says']}" for row in INCIDENTS])
def test_what_happened_is_found(row: dict[str, Any]) -> None:
    fault = Fault({"of": f"incident {row['incident']}", "fault": row["says"], **row}, "sonic", "incidents.yaml")
    verdict = judge(reading_of(fault, inject(fault)), select_lint_rules(shipped_rules()))
    found: dict[str, list[str]] = {}
    for one in verdict.findings:
        if one.severity != "note":
            found.setdefault(one.rule, []).append(subject_text(one.subject))
    assert {rule: sorted(at) for rule, at in found.items()} == {
        rule: spelt_out(at) for rule, at in row["finds"].items()
    }


def test_all_twelve_are_there() -> None:
    assert {str(row["incident"]).split(",")[0] for row in INCIDENTS} == {str(number) for number in range(1, 13)}
