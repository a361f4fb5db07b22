"""Documented configurations, as their vendors and authors recommend them: what is found, and nothing else.

Each file in recommended/ says what it restates, has the values for a few ports, and lists the findings that are
right, with the reason. `each` is said of every port, `once` of the switch.
"""

from collections import Counter
from pathlib import Path

import pytest

import nodrop
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from support.recommended import HERE, put, said

NAMES = sorted(path.stem for path in HERE.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recommended_has_these_findings_and_no_others(name: str, tmp_path: Path) -> None:
    row = said(name)
    reading = nodrop.read([str(put(tmp_path, row))])
    assert reading.problems == ()
    verdict = judge(reading, select_lint_rules(shipped_rules()))
    found = Counter((one.rule, one.severity) for one in verdict.findings)
    assert found == {(one["rule"], one["severity"]): int(one["count"]) for one in row["finds"]}
    assert all(one["because"] for one in row["finds"])
    assert sorted({each.rule for each in verdict.unknown}) == sorted(row.get("unknown", []))
