"""What came of fixing, for a program: version 1 of a format that only grows."""

from collections import Counter
from typing import Any

from nodrop.report.difference import diff
from nodrop.report.fixed import WHYS, Left, Made, Patch, Rewritten
from nodrop.report.json import dumped, of_change, of_finding, of_problem

VERSION = 1


def render(made: Made) -> bytes:
    """Write what was fixed, or would be where only that was asked, and what is left, as JSON in UTF-8."""
    fixed, what = made.fixed, made.what
    left = Counter(each.why for one in fixed for each in one.left)
    document = {
        "version": VERSION,
        "written": None if what == "diff" else what,
        "fixed": [of_finding(finding) for one in fixed for finding in one.made],
        "left": [_remaining_finding(each) for one in fixed for each in one.left],
        "files": [_file(each) for one in fixed for each in one.rewritten],
        "patches": [_patch(patch) for one in fixed for patch in one.patches],
        "problems": [of_problem(problem) for one in fixed for problem in one.outcome.problems],
        "summary": {
            "fixed": sum(len(one.made) for one in fixed),
            "files": sum(len(one.rewritten) for one in fixed),
            "left": {why: left[why] for why in WHYS},
        },
    }
    return dumped(document)


def _remaining_finding(each: Left) -> dict[str, Any]:
    return {**of_finding(each.finding), "left": {"why": each.why, "text": each.text or None}}


def _file(each: Rewritten) -> dict[str, Any]:
    return {"file": each.display, "device": each.device or None, "diff": diff(each)}


def _patch(patch: Patch) -> dict[str, Any]:
    steps = [
        {**step.operation, "disruption": step.disruption, "reason": step.reason, "affected": list(step.affected)}
        | ({"command": step.command} if step.command else {})
        for step in patch.steps
    ]
    return {
        "device": patch.device,
        "disruption": patch.disruption,
        "steps": steps,
        "forms": dict(patch.forms),
        "whole": list(patch.whole),
        "follows": [of_change(change) for change in patch.follows],
    }
