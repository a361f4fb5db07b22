"""A check for a person at a terminal."""

from collections.abc import Iterable, Iterator

from nodrop.report import plan_text
from nodrop.report.check_page import by_rule, heads, routing, summary, unfit
from nodrop.report.checked import Changed, Checked
from nodrop.report.escape import terminal
from nodrop.report.links import Links
from nodrop.report.table import folded
from nodrop.report.text import render as findings_text


def render(
    checked: Checked, *, color: bool = False, verbose: bool = False, quiet: bool = False, links: Links | None = None
) -> str:
    """Write a check: fabric by fabric what changes, then new findings as lint tells them, and the verdict last.

    `quiet` leaves the new findings and what is wrong.
    """
    parts: list[str] = []
    if not quiet:
        for one, head in heads(checked):
            parts += _fabric(one, head, color=color, verbose=verbose)
    parts += ["\n".join(_lines(unfit(one))) for one in checked.unfit]
    parts.append(findings_text(checked.outcome, color=color, verbose=verbose, quiet=True, links=links).rstrip("\n"))
    parts.append("\n".join(_lines(f"before: {problem}" for problem in checked.problems)))
    if not quiet:
        parts.append("\n".join(_lines(f"note: {note.file}: {note.message}" for note in checked.notes)))
        parts.append(_strong(terminal(summary(checked)), color))
    said = "\n\n".join(part for part in parts if part)
    return said + "\n" if said else ""


def _fabric(one: Changed, head: str, *, color: bool, verbose: bool) -> Iterator[str]:
    yield _strong(f"== {terminal(head)}", color)
    if not one.plan.empty:
        yield plan_text.page(one.plan, color=color, verbose=verbose).rstrip("\n")
    rerouted = list(routing(one.routing))
    if rerouted:
        yield "\n".join((_strong("routing", color), *_lines(rerouted, "  ")))
    elif one.routing.not_computed and one.routing.wanted:
        yield "\n".join(_lines([f"routing is not worked out: {one.routing.not_computed}"]))
    for title, findings in (("fixed", one.findings.fixed), ("suppressed now", one.findings.silenced)):
        if findings:
            yield "\n".join((_strong(title, color), *_lines(by_rule(findings), "  ")))


def _lines(lines: Iterable[str], before: str = "") -> Iterator[str]:
    for line in lines:
        yield from folded(terminal(line), before, before + "  ")


def _strong(text: str, color: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if color else text
