"""The list of public threads about RoCE: each fault that files can show is put into a build, and reported there."""

from ast import literal_eval
from functools import cache
from typing import Any

import pytest
import yaml

from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.subject import Subject, matches, parse_subject
from support.places import TESTS
from support.single_faults import Fault, inject, reading_of, written

THREADS: list[dict[str, Any]] = yaml.safe_load((TESTS / "data" / "acceptance" / "threads.yaml").read_text())
OUTCOMES = {"found_by", "plan", "written", "not_found"}


INJECTED = [row for row in THREADS if "found_by" in row]


@cache
def find_subjects(rule_name: str, fault: Fault | None, overlay: str) -> tuple[Subject, ...]:
    """Return the subjects at which a rule reports a build with a fault; without one, the clean build."""
    clean = Fault({"overlay": literal_eval(overlay)}, "sonic", "threads.yaml")
    files = written(clean.fabric) if fault is None else inject(fault)
    rules = tuple(rule for rule in shipped_rules() if rule.name == rule_name)
    return tuple(one.subject for one in judge(reading_of(clean, files), rules, strictness="auditor").findings)


@pytest.mark.parametrize("row", INJECTED, ids=[row["thread"] for row in INJECTED])
def test_the_fault_of_a_thread_is_reported_where_it_is_put(row: dict[str, Any]) -> None:
    fault, overlay = Fault({"of": row["thread"], **row}, "sonic", "threads.yaml"), repr(row.get("overlay", {}))
    before = set(find_subjects(row["found_by"], None, overlay))
    added = [one for one in find_subjects(row["found_by"], fault, overlay) if one not in before]
    expected = [parse_subject(at) for at in row["at"]]
    assert [one for one in added if not any(matches(at, one) for at in expected)] == []
    assert [at for at in expected if not any(matches(at, one) for one in added)] == []


def test_every_thread_has_one_outcome() -> None:
    assert len({row["thread"] for row in THREADS}) == len(THREADS) == 33
    assert [row["thread"] for row in THREADS if len(OUTCOMES & set(row)) != 1] == []


def test_plan_tests_that_report_threads_exist() -> None:
    plan_tests = (TESTS / "platforms" / "sonic" / "test_gcu.py").read_text()
    assert [row["plan"] for row in THREADS if "plan" in row and f"def {row['plan']}(" not in plan_tests] == []


def test_at_least_30_of_33_threads_are_put_into_builds_and_reported() -> None:
    assert sum("found_by" in row or "plan" in row for row in THREADS) >= 30
