"""Rules that a run leaves out, and what its report says of them."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from nodrop.config import Config
from nodrop.engine.rules import shipped_rules
from nodrop.engine.skipped import (
    REASON_NEEDS_FAILURES,
    REASON_NEEDS_VALIDATORS,
    REASON_OTHER_MODE,
    SkippedRules,
    find_never_run_rules,
    find_skipped_rules,
)
from nodrop.fabric_readings import read_fabric_at_path
from nodrop.judging import CheckSettings, chosen_rules, run_rules
from nodrop.report.json import render as json_of
from nodrop.report.text import render
from nodrop.resources import resource_folder
from nodrop.results.merged import merge_outcomes
from nodrop.results.outcome import FabricOutcome

FAILING = (
    "cyclic-buffer-dependency-after-failures",
    "hosts-lost-by-one-failure",
    "leaves-parted-by-two-failures",
    "not-as-expected",
    "valley-after-one-failure",
)


def by_reason(settings: CheckSettings | None = None, *, mode: str = "lossless") -> Mapping[str, tuple[str, ...]]:
    settings = settings or CheckSettings()
    made = find_skipped_rules(
        shipped_rules(),
        chosen_rules(settings),
        mode=mode,  # type: ignore[arg-type]
        strictness=settings.strictness,
        overrides=settings.config.severity,
        config="nodrop.yaml",
        selection=(settings.select, settings.ignore),
    )
    return {one.reason: one.rules for one in made}


def test_only_failures_and_other_validators_are_left_to_validate() -> None:
    left = by_reason(CheckSettings(strictness="auditor"))
    assert left.keys() == {REASON_NEEDS_FAILURES, REASON_NEEDS_VALIDATORS, REASON_OTHER_MODE}
    assert left[REASON_NEEDS_FAILURES] == FAILING
    assert left[REASON_NEEDS_VALIDATORS] == tuple(rule.name for rule in shipped_rules() if rule.observed)
    assert left[REASON_OTHER_MODE] == tuple(rule.name for rule in shipped_rules() if "lossless" not in rule.modes)


def test_each_reason_has_its_rules() -> None:
    config = Config(path=Path("nodrop.yaml"), severity={"pfc-without-watchdog": "off"})
    left = by_reason(CheckSettings(config=config, ignore=("session-to-nobody",)))
    assert left["off in nodrop.yaml"] == ("pfc-without-watchdog",)
    assert left["ignored"] == ("session-to-nobody",)
    strict = {rule.name for rule in shipped_rules() if rule.strictness != "regular" or rule.confidence == "possible"}
    assert strict - {*left[REASON_OTHER_MODE], *left[REASON_NEEDS_VALIDATORS], *FAILING} == {
        *left["above strictness regular"]
    }
    selected = by_reason(CheckSettings(select=("pfc-without-watchdog",)))
    assert selected == {
        "not selected": tuple(one.name for one in shipped_rules() if one.name != "pfc-without-watchdog")
    }


def test_what_ran_and_what_did_not_are_all_rules_and_json_says_the_same() -> None:
    settings = CheckSettings(select=("watchdog", "routing"))
    outcome = run_rules(
        read_fabric_at_path(str(resource_folder("intents") / "two-by-two.yaml")), chosen_rules(settings), settings
    )
    assert outcome.rules + sum(len(one.rules) for one in outcome.skipped) == len(shipped_rules())
    document = json.loads(json_of(outcome))
    assert document["skipped"] == [{"reason": one.reason, "rules": [*one.rules]} for one in outcome.skipped]


TWO = (SkippedRules(reason="ignored", rules=("a",)), SkippedRules(reason=REASON_OTHER_MODE, rules=("b",)))


def test_the_line_before_the_totals_says_how_many_and_why() -> None:
    made = FabricOutcome(devices=2, interfaces=64, rules=7, skipped=TWO)
    assert (
        render(made)
        == "2 rules skipped: 1 ignored, 1 for another mode\nno findings in 2 devices, 64 interfaces, 7 rules\n"
    )
    assert render(made, quiet=True) == ""
    assert render(FabricOutcome(skipped=TWO)) == "nothing checked\n"


@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_of_several_fabrics_a_rule_is_skipped_that_ran_in_none(places: tuple[int, int]) -> None:
    both = (FabricOutcome(devices=1, rules=7, skipped=TWO), FabricOutcome(devices=1, rules=8, skipped=TWO[:1]))
    made = merge_outcomes([*(both[at] for at in places), FabricOutcome(devices=0)])
    assert (made.rules, made.skipped) == (8, TWO[:1])
    assert find_never_run_rules([TWO, (SkippedRules(reason="not selected", rules=("b",)),)]) == TWO[1:]
