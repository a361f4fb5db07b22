"""A check as the comment of a pull request: the verdict and new findings at first sight, all else in folds."""

from collections.abc import Iterator, Sequence

from nodrop.report import plan_markdown
from nodrop.report.check_page import by_rule, heads, routing, summary, unfit
from nodrop.report.checked import Changed, Checked
from nodrop.report.escape import html, markdown
from nodrop.report.names import count, listing, name
from nodrop.report.outcome import foremost, groups, openable

LIMIT = 60_000
"""Characters; GitHub takes 65,536 of a comment."""
_MARKS = {"error": "🔴", "warning": "🟡", "note": "🔵"}


def render(checked: Checked) -> str:
    """Write a check as GitHub's and GitLab's Markdown; no name in it is markup or HTML.

    Beyond `LIMIT` whole parts are left out, the last first, and it says so.
    """
    parts: list[str] = [
        f"### nodrop: {markdown(summary(checked))}",
        "\n".join(_findings(checked)),
        "\n".join(f"- 🔴 {markdown(line)}" for one in checked.unfit for line in unfit(one)),
        "\n".join(f"- 🔴 {markdown(str(problem))}" for problem in checked.outcome.problems),
    ]
    for one, head in heads(checked):
        parts += [f"#### {markdown(head)}", *_fabric(one)]
    parts.append("\n".join(f"- before: {markdown(str(problem))}" for problem in checked.problems))
    parts.append("\n".join(f"- {markdown(str(note.file))} {markdown(note.message)}" for note in checked.notes))
    return "\n\n".join(_fitting([part for part in parts if part])) + "\n"


def _findings(checked: Checked) -> Iterator[str]:
    every = groups(checked.outcome.findings)
    for group in foremost(every):
        first = group[0]
        place = openable(first)
        where = "" if place is None else f" ({place.file}{f':{place.span.line}' if place.span else ''})"
        others = list(dict.fromkeys(one.device for one in group[1:] if one.device))
        more = f"; {count(len(group) - 1, 'more place')}" if len(group) > 1 else ""
        on = f" on {listing(name(one) for one in others)}" if more and others else ""
        said = markdown(f"{first.message}{where}{more}{on}")
        yield f"- {_MARKS[first.severity]} **new {first.severity}** `{first.rule}`: {said}"
    if len(foremost(every)) < len(every):
        yield f"- {count(len(every) - len(foremost(every)), 'more new finding')}: `nodrop check` tells all"


def _fabric(one: Changed) -> Iterator[str]:
    if not one.plan.empty:
        yield plan_markdown.page(one.plan).rstrip("\n")
    yield from _fold("Routing", list(routing(one.routing)))
    if one.routing.wanted and one.routing.not_computed:
        yield f"Routing is not worked out: {markdown(one.routing.not_computed)}"
    yield from _fold("Fixed", list(by_rule(one.findings.fixed)))
    yield from _fold("Suppressed now", list(by_rule(one.findings.silenced)))


def _fold(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        body = "\n".join(f"- {markdown(line)}" for line in lines)
        yield f"<details><summary>{html(title)}: {len(lines)}</summary>\n\n{body}\n\n</details>"


def _fitting(parts: Sequence[str]) -> Iterator[str]:
    left = LIMIT
    for number, part in enumerate(parts):
        left -= len(part.encode()) + 2
        if left < 0:
            yield f"{count(len(parts) - number, 'part')} left out here, which would not fit: `nodrop check` tells all."
            return
        yield part
