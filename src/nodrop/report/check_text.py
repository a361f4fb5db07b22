"""A check for a person at a terminal."""

from collections.abc import Iterable, Iterator

from nodrop.engine.finding import Finding
from nodrop.report import plan_text
from nodrop.report.check_page import (
    changed_fabrics,
    fabric_headings,
    format_findings_by_rule,
    format_outdated_build,
    format_reach,
    routing_change_lines,
    select_check_findings,
    summarize_check,
)
from nodrop.report.claims import describe_claim_changes
from nodrop.report.escape import escape_terminal
from nodrop.report.links import TerminalLinks
from nodrop.report.names import finding_headline
from nodrop.report.paint import style_text
from nodrop.report.table import wrap_text
from nodrop.report.text import render as findings_text
from nodrop.results.checked import ChangedFabric, Checked


def render(
    checked: Checked,
    *,
    color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    links: TerminalLinks | None = None,
) -> str:
    """Write a check: the changes fabric by fabric, then new findings as lint reports them, and the verdict last.

    `quiet` leaves the new findings and the problems.
    """
    sections: list[str] = []
    if not quiet:
        summed = len(changed_fabrics(checked)) > 1
        for fabric_change, head in fabric_headings(checked):
            sections += _fabric_sections(fabric_change, head, color=color, verbose=verbose, summed=summed)
    sections.append("\n".join(_wrap_lines(map(format_outdated_build, checked.outdated_builds))))
    sections.append("\n".join(_wrap_lines(map(_format_verdict, select_check_findings(checked)))))
    sections.append(findings_text(checked.outcome, color=color, verbose=verbose, quiet=True, links=links).rstrip("\n"))
    sections.append("\n".join(_wrap_lines(map(_format_verdict, select_check_findings(checked, notes=True)))))
    sections.append("\n".join(_wrap_lines(f"before: {problem}" for problem in checked.base_problems)))
    if not quiet:
        sections.append(
            "\n".join(
                _wrap_lines(f"note: {': '.join(filter(None, (note.file, note.message)))}" for note in checked.notes)
            )
        )
        sections.append(style_text(escape_terminal(summarize_check(checked)), "1", color))
    text = "\n\n".join(section for section in sections if section)
    return text + "\n" if text else ""


def _fabric_sections(change: ChangedFabric, head: str, *, color: bool, verbose: bool, summed: bool) -> Iterator[str]:
    yield style_text(f"== {escape_terminal(head)}", "1", color)
    if not change.plan.empty:
        yield plan_text.format_plan(change.plan, color=color, verbose=verbose, summed=summed).rstrip("\n")
    if reach := format_reach(change.reach):
        yield "\n".join(_wrap_lines([reach]))
    rerouted = list(routing_change_lines(change.routing))
    if rerouted:
        yield "\n".join((style_text("routing", "1", color), *_wrap_lines(rerouted, "  ")))
    elif change.routing.not_computed and change.routing.wanted:
        yield "\n".join(_wrap_lines([f"routing was not computed: {change.routing.not_computed}"]))
    if change.claims is not None and (lines := list(describe_claim_changes(*change.claims))):
        yield "\n".join((style_text("proofs", "1", color), *_wrap_lines(lines, "  ")))
    for title, findings in (("fixed", change.findings.fixed), ("suppressed now", change.findings.suppressed)):
        if findings:
            yield "\n".join((style_text(title, "1", color), *_wrap_lines(format_findings_by_rule(findings), "  ")))


def _format_verdict(finding: Finding) -> str:
    return f"{finding.severity}[{finding.rule}]: {finding_headline(finding)}"


def _wrap_lines(lines: Iterable[str], before: str = "") -> Iterator[str]:
    for line in lines:
        yield from wrap_text(escape_terminal(line), before, before + "  ")
