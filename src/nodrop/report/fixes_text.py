"""The result of a fix run as text: the fixes and their places, the rest and why, and the commands to type by hand."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nodrop.engine.finding import SEVERITIES, Finding
from nodrop.model import subject
from nodrop.model.change import DISRUPTIONS, PatchStep
from nodrop.report.block import ReportStyle
from nodrop.report.links import TerminalLinks
from nodrop.report.names import (
    escape_or_quote_name,
    finding_message_with_device,
    format_count,
    format_name_list,
    subject_label,
)
from nodrop.results.fixed import (
    UNFIXED_REASONS,
    FixedFabric,
    FixOutput,
    FixRunResult,
    RemainingFinding,
    SwitchPatch,
    UnfixedReason,
)

_STATUS_TEXT_BY_REASON: dict[UnfixedReason, str] = {
    "unsafe": "can be fixed with --unsafe",
    "refused": "refused",
    "by hand": "by hand",
    "generated": "not changed",
    "no fix": "no automatic fix",
}
_TOTAL_TEXT_BY_REASON: dict[UnfixedReason, str] = {
    "unsafe": "need --unsafe",
    "refused": "refused",
    "by hand": "by hand",
    "generated": "in files of a build",
    "no fix": "without an automatic fix",
}


_VERBS_BY_OUTPUT: dict[FixOutput, tuple[str, str]] = {
    "files": ("fixed", "fixed"),
    "diff": ("would fix", "would be fixed"),
    "patches": ("patched", "fixed"),
}


def render(
    fixes: FixRunResult,
    *,
    color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    links: TerminalLinks | None = None,
) -> str:
    """Write the fixes made, or those that would be made if only that was asked, and the rest.

    Findings that remain are grouped by rule and reason, the first with its place; `verbose` lists each, and
    `quiet` leaves only the remaining findings and problems.
    """
    fixed, output = fixes.fixed, fixes.what
    page = ReportStyle(color=color, verbose=verbose, width=100, line=lambda _file, _line: None, links=links)
    leftovers = [leftover for fabric in fixed for leftover in fabric.remaining]
    sections = [
        [line for fabric in fixed for line in _format_fixed_fabric(fabric, page, output)],
        [page.format_note_line("strong", "by hand", line) for line in _manual_step_lines(leftovers)],
        [line for group in _group_leftovers(leftovers) for line in _format_remaining_group(group, page)],
        [line for fabric in fixed for problem in fabric.outcome.problems for line in page.format_problem(problem)],
        [page.escape_and_style("strong", format_fix_totals(fixed, output))],
    ]
    text = "\n\n".join("\n".join(lines) for lines in (sections[1:-1] if quiet else sections) if lines)
    return text + "\n" if text else ""


def format_fix_totals(fixed: Sequence[FixedFabric], output: FixOutput) -> str:
    """Return the last line: how many findings are gone, in how many files, and how many are left for which reasons."""
    new_number, files = sum(len(fabric.made) for fabric in fixed), sum(len(fabric.rewritten) for fabric in fixed)
    leftover_counts = Counter(leftover.reason for fabric in fixed for leftover in fabric.remaining)
    verb = _VERBS_BY_OUTPUT[output][1]
    where = (
        f"patches of {format_count(_count_patches(fixed), 'switch')}"
        if output == "patches"
        else format_count(files, "file")
    )
    head = f"{format_count(new_number, 'finding')} {verb} in {where}" if new_number or files else "fixed 0"
    besides = (
        (sum(fabric.outcome.suppressed for fabric in fixed), "suppressed"),
        (sum(fabric.outcome.baseline for fabric in fixed), "in the baseline"),
    )
    alone = "".join(f", {number} {words}" for number, words in besides if number)
    if not leftover_counts:
        return head + alone
    reasons = ", ".join(
        f"{leftover_counts[why]} {_TOTAL_TEXT_BY_REASON[why]}" for why in UNFIXED_REASONS if leftover_counts[why]
    )
    return f"{head}; {sum(leftover_counts.values())} remain: {reasons}{alone}"


def _count_patches(fixed: Iterable[FixedFabric]) -> int:
    return sum(len(fabric.patches) for fabric in fixed)


def _format_fixed_fabric(fabric: FixedFabric, page: ReportStyle, output: FixOutput) -> Iterator[str]:
    """Render each switch or intent: its files, the findings that are gone, and the traffic impact."""
    patches = {patch.device: patch for patch in fabric.patches}
    devices: dict[str, list[str]] = {}
    for file in fabric.rewritten:
        devices.setdefault(file.device, []).append(file.display)
    for device, files in devices.items():
        findings = [finding for finding in fabric.made if not device or finding.device == device]
        yield page.format_note_line(
            "strong",
            _VERBS_BY_OUTPUT[output][0],
            f"{', '.join(files)}: {_format_finding_counts_by_rule(findings) or 'with others'}",
        )
        if device in patches and (output == "patches" or patches[device].disruption != "none"):
            yield from (f"  = {page.escape_and_style('', line)}" for line in _describe_patch_effects(patches[device]))
    elsewhere = [finding for finding in fabric.made if devices.keys().isdisjoint({"", finding.device or ""})]
    if elsewhere and devices:
        yield page.format_note_line("strong", "gone with that", _format_finding_counts_by_rule(elsewhere))


def _format_finding_counts_by_rule(findings: Iterable[Finding]) -> str:
    """Rules, and how many findings of each."""
    rules = Counter(finding.rule for finding in findings)
    return ", ".join(rule if number == 1 else f"{rule} ({number})" for rule, number in sorted(rules.items()))


def _describe_patch_effects(patch: SwitchPatch) -> Iterator[str]:
    """Render the effects of a patch on a running switch, the worst first."""
    if patch.complete_files:
        yield f"{format_name_list(patch.complete_files)}: whole, to be loaded by what reads it"
    typed = dict.fromkeys(f"`{step.command.split()[0]}`: {step.reason}" for step in patch.steps if step.command)
    if typed:
        yield f"by command: {'; '.join(typed)}"
    if patch.disruption == "none":
        yield from ([f"{format_count(len(patch.steps), 'step')}, no traffic impact"] if patch.steps else [])
        return
    alike: dict[tuple[int, str], list[PatchStep]] = {}
    for step in patch.steps:
        if step.disruption != "none":
            alike.setdefault((-DISRUPTIONS.index(step.disruption), step.reason), []).append(step)
    for (_, reason), steps in sorted(alike.items()):
        on = format_name_list(dict.fromkeys(affected_name for step in steps for affected_name in step.affected))
        where = f" of {on}" if on else ""
        yield f"{format_count(len(steps), 'step')}: {steps[0].disruption}{where}: {reason}"


def _manual_step_lines(leftovers: Iterable[RemainingFinding]) -> Iterable[str]:
    """Render the steps by hand, each after the line that it is about."""
    lines: dict[str, None] = {}
    for leftover in leftovers:
        place = f"{leftover.finding.located.describe()}: " if leftover.finding.located else ""
        lines |= dict.fromkeys(f"{place}{line}" for line in leftover.text.split("\n") if leftover.reason == "by hand")
    return lines


def _group_leftovers(leftovers: Iterable[RemainingFinding]) -> list[list[RemainingFinding]]:
    together: dict[tuple[int, int, str, str], list[RemainingFinding]] = {}
    for leftover in leftovers:
        finding = leftover.finding
        key = (SEVERITIES.index(finding.severity), UNFIXED_REASONS.index(leftover.reason), finding.rule, finding.group)
        together.setdefault(key, []).append(leftover)
    return [together[key] for key in sorted(together)]


def _format_remaining_group(group: Sequence[RemainingFinding], report_style: ReportStyle) -> list[str]:
    """Render findings of one cause that are left for one reason."""
    first_finding = group[0].finding
    lines = [
        f"{report_style.format_rule_heading(first_finding.severity, first_finding.severity, first_finding.rule)}: "
        f"{report_style.escape_and_style('strong', finding_message_with_device(first_finding))}"
    ]
    where = (
        report_style.format_place(first_finding.located)
        if first_finding.located
        else report_style.escape_and_style("", subject.subject_text(first_finding.subject))
    )
    lines.append(f"  --> {where}")
    why, text = group[0].reason, " ".join(group[0].text.split())
    reason = _STATUS_TEXT_BY_REASON[why] if why in ("unsafe", "by hand") else f"{_STATUS_TEXT_BY_REASON[why]}: {text}"
    lines.append(f"  = {report_style.escape_and_style('', reason)}")
    if len(group) > 1 and not report_style.verbose:
        other_findings = _format_other_findings([leftover.finding for leftover in group[1:]])
        lines.append(f"  = {report_style.escape_and_style('', other_findings)}")
    elif report_style.verbose:
        lines += [
            f"  = {report_style.escape_and_style('', _format_finding_with_place(leftover.finding))}"
            for leftover in group[1:]
        ]
    return lines


def _format_other_findings(findings: Sequence[Finding]) -> str:
    devices = {escape_or_quote_name(finding.device) for finding in findings if finding.device}
    if len(devices) == 1:
        labels = format_name_list(subject_label(finding.subject) for finding in findings)
        return f"{len(findings)} more on {format_name_list(devices)}: {labels}"
    return f"{len(findings)} more on {format_name_list(devices)}" if devices else f"{len(findings)} more"


def _format_finding_with_place(finding: Finding) -> str:
    place = finding.located.describe() if finding.located else subject.subject_text(finding.subject)
    return f"{place}: {finding_message_with_device(finding)}"
