"""The lists of upstream fixes: which of them nodrop finds, by rules that exist."""

from typing import Any

import yaml

from nodrop.engine.rules import shipped_rules
from support.places import TESTS

FIXES: list[dict[str, Any]] = yaml.safe_load((TESTS / "data" / "acceptance" / "upstream_fixes.yaml").read_text())
OTHERS: list[dict[str, Any]] = yaml.safe_load((TESTS / "data" / "acceptance" / "other_fixes.yaml").read_text())
OUTCOMES = {"found_by", "found_after", "not_found"}
HELD_BACK = 20


def test_the_newest_commits_are_held_back() -> None:
    assert len({fix["commit"] for fix in FIXES}) == len(FIXES)
    assert [fix.get("held_back", False) for fix in FIXES] == [True] * HELD_BACK + [False] * (len(FIXES) - HELD_BACK)


def test_every_decidable_fix_has_one_outcome_and_no_other_has_any() -> None:
    for fix in (*FIXES, *OTHERS):
        assert len(OUTCOMES & set(fix)) == int(fix["decidable"]), fix["commit"]
        assert ("fault" in fix) == fix["decidable"], fix["commit"]


def test_the_rules_that_find_fixes_exist() -> None:
    named = {fix[outcome] for fix in (*FIXES, *OTHERS) for outcome in ("found_by", "found_after") if outcome in fix}
    assert named - {rule.name for rule in shipped_rules()} == {"problem"}


def test_at_least_85_percent_of_the_fixes_that_are_not_held_back_are_found() -> None:
    tried = [fix for fix in FIXES if fix["decidable"] and not fix.get("held_back")]
    assert sum("found_by" in fix for fix in tried) >= 0.85 * len(tried)


def test_at_least_85_percent_of_all_decidable_fixes_are_found() -> None:
    decidable = [fix for fix in (*FIXES, *OTHERS) if fix["decidable"]]
    assert len(decidable) == 32
    assert sum("not_found" not in fix for fix in decidable) >= 0.85 * len(decidable)
