"""The result of a fix run as JSON."""

from collections import Counter

from nodrop.report.difference import format_diff
from nodrop.report.json import change_record, encode_json_document, finding_record, problem_record
from nodrop.results.fixed import UNFIXED_REASONS, FixRunResult, RemainingFinding, RewrittenFile, SwitchPatch

FORMAT_VERSION = 2


def render(fixes: FixRunResult) -> bytes:
    """Write the fixes made, or those that would be made if only that was asked, and the rest, as JSON in UTF-8."""
    fixed, output = fixes.fixed, fixes.what
    leftover_counts = Counter(leftover.reason for fabric in fixed for leftover in fabric.remaining)
    document = {
        "version": FORMAT_VERSION,
        "written": None if output == "diff" else output,
        "fixed": [finding_record(finding) for fabric in fixed for finding in fabric.made],
        "remaining": [_remaining_finding(leftover) for fabric in fixed for leftover in fabric.remaining],
        "files": [_file_document(file) for fabric in fixed for file in fabric.rewritten],
        "patches": [_patch_record(patch) for fabric in fixed for patch in fabric.patches],
        "problems": [problem_record(problem) for fabric in fixed for problem in fabric.outcome.problems],
        "summary": {
            "fixed": sum(len(fabric.made) for fabric in fixed),
            "files": sum(len(fabric.rewritten) for fabric in fixed),
            "remaining": {why: leftover_counts[why] for why in UNFIXED_REASONS},
        },
    }
    return encode_json_document(document)


def _remaining_finding(leftover: RemainingFinding) -> dict[str, object]:
    return {**finding_record(leftover.finding), "obstacle": {"reason": leftover.reason, "text": leftover.text or None}}


def _file_document(file: RewrittenFile) -> dict[str, object]:
    return {"file": file.display, "device": file.device or None, "diff": format_diff(file)}


def _patch_record(patch: SwitchPatch) -> dict[str, object]:
    steps = [
        {**step.operation, "disruption": step.disruption, "reason": step.reason, "affected": list(step.affected)}
        | ({"command": step.command} if step.command else {})
        for step in patch.steps
    ]
    return {
        "device": patch.device,
        "disruption": patch.disruption,
        "steps": steps,
        "files": dict(patch.files),
        "complete_files": list(patch.complete_files),
        "derived": [change_record(change) for change in patch.derived],
    }
