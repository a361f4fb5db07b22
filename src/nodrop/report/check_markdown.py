"""A check as the comment of a pull request: the verdict and new findings at first sight, all else in folds."""

from collections.abc import Iterator, Sequence

from nodrop.engine.finding import SEVERITIES, Finding
from nodrop.report import plan_markdown
from nodrop.report.check_page import by_rule, changing, decisive, heads, losses, rerouting, unchanged, unfit, verdict
from nodrop.report.escape import markdown
from nodrop.report.names import count, listing, name
from nodrop.results.checked import Changed, Checked
from nodrop.results.outcome import Outcome, foremost, groups, openable

LIMIT = 60_000
"""Characters; GitHub takes 65,536 of a comment."""
_MARKS = {"error": "🔴", "warning": "🟡", "note": "🔵"}


def render(checked: Checked) -> str:
    """Write a check as GitHub's and GitLab's Markdown; no name in it is markup or HTML.

    Beyond `LIMIT` whole parts are left out, the last first, and the text states that.
    """
    sections: list[str] = [
        f"### nodrop: {markdown(verdict(checked))}",
        "\n".join(f"- 🔴 {markdown(str(problem))}" for problem in checked.outcome.problems),
        "\n".join(map(_format_verdict, decisive(checked))),
        "\n".join(findings_of(checked.outcome)),
        "\n".join(map(_format_verdict, decisive(checked, notes=True))),
        "\n".join(f"- 🔴 {markdown(unfit(build))}" for build in checked.unfit),
    ]
    summed = len(changing(checked)) > 1
    for fabric_change, head in heads(checked):
        sections += [f"#### {markdown(head)}", *_fabric_sections(fabric_change, summed=summed)]
    sections.append("\n".join(f"- before: {markdown(str(problem))}" for problem in checked.problems))
    sections.append(
        "\n".join(f"- {markdown(' '.join(filter(None, (note.file, note.message))))}" for note in checked.notes)
    )
    text = "; ".join((f"compared with {checked.base}", *unchanged(checked)))
    sections = list(fitting([section for section in sections if section]))
    return "\n\n".join((*sections, f"<sub>{markdown(text)}</sub>")) + "\n"


def _format_verdict(finding: Finding) -> str:
    return f"- {_MARKS[finding.severity]} **{finding.severity}** `{finding.rule}`: {markdown(finding.message)}"


def findings_of(outcome: Outcome, which: str = "new ") -> Iterator[str]:
    """Yield a line for each cause of findings, the worst first, and `which` they are; and what to do, once."""
    every = groups(outcome.findings)
    shown = sorted(foremost(every), key=lambda group: SEVERITIES.index(group[0].severity))
    remedies = set()
    for group in shown:
        first_finding = group[0]
        place = openable(first_finding)
        where = "" if place is None else f" ({place.file}{f':{place.span.line}' if place.span else ''})"
        other_devices = list(dict.fromkeys(finding.device for finding in group[1:] if finding.device))
        more_places = f"; {count(len(group) - 1, 'more place')}" if len(group) > 1 else ""
        on = f" on {listing(name(device) for device in other_devices)}" if more_places and other_devices else ""
        text = markdown(f"{first_finding.message}{where}{more_places}{on}")
        yield f"- {_MARKS[first_finding.severity]} **{which}{first_finding.severity}** `{first_finding.rule}`: {text}"
        if first_finding.fix and first_finding.fix.text not in remedies:
            remedies.add(first_finding.fix.text)
            yield f"  - what to do: {markdown(first_finding.fix.text)}"
    if len(shown) < len(every):
        yield f"- {count(len(every) - len(shown), f'more {which}finding')}: `--format text` tells all"


def _fabric_sections(fabric_change: Changed, *, summed: bool) -> Iterator[str]:
    yield "\n".join(f"- 🔴 {markdown(line)}" for line in losses(fabric_change.routing))
    if not fabric_change.plan.empty:
        yield plan_markdown.page(fabric_change.plan, summed=summed).rstrip("\n")
    yield _render_fold("Routing", list(rerouting(fabric_change.routing)))
    if fabric_change.routing.wanted and fabric_change.routing.not_computed:
        yield f"Routing is not worked out: {markdown(fabric_change.routing.not_computed)}"
    yield _render_fold("Fixed", list(by_rule(fabric_change.findings.fixed)))
    yield _render_fold("Suppressed now", list(by_rule(fabric_change.findings.silenced)))


def _render_fold(title: str, lines: Sequence[str]) -> str:
    return "\n".join(plan_markdown.render_fold(f"{title}: {len(lines)}", [f"- {markdown(line)}" for line in lines]))


def fitting(texts: Sequence[str]) -> Iterator[str]:
    """Yield the parts that fit into a comment, the first first, and that others were left out."""
    remaining_limit = LIMIT
    for number, text in enumerate(texts):
        remaining_limit -= len(text.encode()) + 2
        if remaining_limit < 0:
            yield f"{count(len(texts) - number, 'part')} left out here, which would not fit: `--format text` tells all."
            return
        yield text
