"""A check as the comment of a pull request: the verdict and new findings at first sight, all else in folds."""

from collections.abc import Iterator, Sequence

from nodrop.engine.finding import Finding
from nodrop.report import plan_markdown
from nodrop.report.check_page import (
    changed_fabrics,
    fabric_headings,
    format_check_verdict,
    format_findings_by_rule,
    format_other_reroutes,
    format_outdated_build,
    format_reach,
    format_routing_losses,
    format_unchanged_fabrics,
    select_check_findings,
)
from nodrop.report.claims import describe_claim_changes
from nodrop.report.escape import escape_markdown
from nodrop.report.links import RulePages
from nodrop.report.names import finding_headline, format_count, format_name, format_name_list
from nodrop.results.checked import ChangedFabric, Checked
from nodrop.results.outcome import Outcome, fix_location, fold_groups, group_findings, select_shown_groups

COMMENT_LIMIT_BYTES = 60_000
"""Characters; GitHub takes 65,536 of a comment."""
_MARKS_LEGEND = "🔴 error, loss or removed · 🟡 warning or changed · 🔵 note · 🟢 added"
_MARK_BY_SEVERITY = {"error": "🔴", "warning": "🟡", "note": "🔵"}


def render(checked: Checked, pages: RulePages | None = None) -> str:
    """Write a check as GitHub's and GitLab's Markdown; no name in it is markup or HTML.

    Beyond `COMMENT_LIMIT_BYTES` whole parts are left out, the last first, and the text states that.
    """
    pages = pages or RulePages()
    sections: list[str] = [
        f"### nodrop: {_format_decision(checked)}{escape_markdown(format_check_verdict(checked))}",
        "\n".join(f"- 🔴 {escape_markdown(str(problem))}" for problem in checked.outcome.problems),
        "\n".join(_format_verdict(finding, pages) for finding in select_check_findings(checked)),
        "\n".join(format_findings(checked.outcome, pages)),
        "\n".join(_format_verdict(finding, pages) for finding in select_check_findings(checked, notes=True)),
        "\n".join(f"- 🔴 {escape_markdown(format_outdated_build(build))}" for build in checked.outdated_builds),
    ]
    summed = len(changed_fabrics(checked)) > 1
    for fabric_change, head in fabric_headings(checked):
        sections += [f"#### {escape_markdown(head)}", *_fabric_sections(fabric_change, summed=summed)]
    sections.append("\n".join(f"- before: {escape_markdown(str(problem))}" for problem in checked.base_problems))
    sections.append(
        "\n".join(f"- {escape_markdown(' '.join(filter(None, (note.file, note.message))))}" for note in checked.notes)
    )
    text = "; ".join((f"compared with {checked.base}", *format_unchanged_fabrics(checked)))
    sections = list(drop_excess_parts([section for section in sections if section]))
    legend = (
        f"<br>{_MARKS_LEGEND}"
        if any(mark in section for section in sections for mark in _MARK_BY_SEVERITY.values())
        else ""
    )
    return "\n\n".join((*sections, f"<sub>{escape_markdown(text)}{legend}</sub>")) + "\n"


def _format_decision(checked: Checked) -> str:
    """Return whether the change may pass, and what blocks it; nothing where that is not decided."""
    if checked.blocked_by is None:
        return ""
    return f"❌ blocked by {escape_markdown(checked.blocked_by)}; " if checked.blocked_by else "✅ passes; "


def _format_verdict(finding: Finding, pages: RulePages) -> str:
    rule = _format_rule_name(finding.rule, pages)
    return (
        f"- {_MARK_BY_SEVERITY[finding.severity]} **{finding.severity}** {rule}: "
        f"{escape_markdown(finding_headline(finding))}"
    )


def _format_rule_name(name: str, pages: RulePages) -> str:
    """Return the name of a rule, as a link where it has a published page."""
    address = pages.find_address(name)
    return f"`{name}`" if address is None else f"[`{name}`]({address})"


def format_findings(outcome: Outcome, pages: RulePages, which: str = "new ") -> Iterator[str]:
    """Yield a line for each cause of findings, the worst first, and `which` they are; and what to do, once."""
    every, under = fold_groups(group_findings(outcome.findings))
    shown = select_shown_groups(every)
    remedies = set()
    for group in shown:
        first_finding = group[0]
        place = fix_location(first_finding)
        where = "" if place is None else f" ({place.file}{f':{place.span.line}' if place.span else ''})"
        other_devices = list(dict.fromkeys(finding.device for finding in group[1:] if finding.device))
        more_places = f"; {format_count(len(group) - 1, 'more place')}" if len(group) > 1 else ""
        on = (
            f" on {format_name_list(format_name(device) for device in other_devices)}"
            if more_places and other_devices
            else ""
        )
        text = escape_markdown(f"{finding_headline(first_finding)}{where}{more_places}{on}")
        rule = _format_rule_name(first_finding.rule, pages)
        yield f"- {_MARK_BY_SEVERITY[first_finding.severity]} **{which}{first_finding.severity}** {rule}: {text}"
        if first_finding.fix and first_finding.fix.text not in remedies:
            remedies.add(first_finding.fix.text)
            yield f"  - what to do: {escape_markdown(first_finding.fix.text)}"
        if explained := under.get(first_finding.group):
            ended = ", ".join(f"{_format_rule_name(each[0].rule, pages)} ({len(each)})" for each in explained)
            yield f"  - also ends: {ended}"
    if len(shown) < len(every):
        yield f"- {format_count(len(every) - len(shown), f'more {which}finding')}: `--format text` tells all"


def _fabric_sections(fabric_change: ChangedFabric, *, summed: bool) -> Iterator[str]:
    yield escape_markdown(format_reach(fabric_change.reach))
    yield "\n".join(f"- 🔴 {escape_markdown(line)}" for line in format_routing_losses(fabric_change.routing))
    if not fabric_change.plan.empty:
        yield plan_markdown.render_plan_markdown(fabric_change.plan, summed=summed).rstrip("\n")
    yield _render_fold("Routing", list(format_other_reroutes(fabric_change.routing)))
    if fabric_change.routing.wanted and fabric_change.routing.not_computed:
        yield f"Routing was not computed: {escape_markdown(fabric_change.routing.not_computed)}"
    if fabric_change.claims is not None:
        yield "\n".join(f"- {escape_markdown(line)}" for line in describe_claim_changes(*fabric_change.claims))
    yield _render_fold("Fixed", list(format_findings_by_rule(fabric_change.findings.fixed)))
    yield _render_fold("Suppressed now", list(format_findings_by_rule(fabric_change.findings.suppressed)))


def _render_fold(title: str, lines: Sequence[str]) -> str:
    return "\n".join(
        plan_markdown.render_fold(f"{title}: {len(lines)}", [f"- {escape_markdown(line)}" for line in lines])
    )


def drop_excess_parts(texts: Sequence[str]) -> Iterator[str]:
    """Yield the parts that fit into a comment, the first first, and that others were left out."""
    remaining_limit = COMMENT_LIMIT_BYTES
    for number, text in enumerate(texts):
        remaining_limit -= len(text.encode()) + 2
        if remaining_limit < 0:
            yield (
                f"{format_count(len(texts) - number, 'part')} left out here, which "
                "would not fit: `--format text` tells all."
            )
            return
        yield text
