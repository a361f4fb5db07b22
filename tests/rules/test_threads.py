"""The list of public threads about RoCE: which of their faults nodrop reports, and by what."""

from typing import Any

import yaml

from nodrop.engine.rules import shipped
from support.places import TESTS

THREADS: list[dict[str, Any]] = yaml.safe_load((TESTS / "data" / "acceptance" / "threads.yaml").read_text())
OUTCOMES = {"found_by", "plan", "written", "not_found"}


def test_every_thread_has_one_outcome() -> None:
    assert len({row["thread"] for row in THREADS}) == len(THREADS) == 33
    assert [row["thread"] for row in THREADS if len(OUTCOMES & set(row)) != 1] == []


def test_rules_and_plan_tests_that_report_threads_exist() -> None:
    injecting = {rule.name for rule in shipped() if any(example.kind == "bad" for example in rule.examples)}
    assert {row["found_by"] for row in THREADS if "found_by" in row} - injecting == set()
    plan_tests = (TESTS / "platforms" / "sonic" / "test_gcu.py").read_text()
    assert [row["plan"] for row in THREADS if "plan" in row and f"def {row['plan']}(" not in plan_tests] == []


def test_at_least_28_of_33_threads_are_reported() -> None:
    assert sum("not_found" not in row for row in THREADS) >= 28
