"""Drift for a person at a terminal."""

from nodrop.report.drift_page import KEYS, ORDER, OWN, SIDES, UNSAID, VERBS, WAY, own, sides, summary
from nodrop.report.escape import terminal
from nodrop.report.links import Links
from nodrop.report.paint import paint
from nodrop.report.plan_page import devices, unsaid
from nodrop.report.plan_text import MARKS, outer, render_order, render_section, sheets_of
from nodrop.report.plan_words import DIFFERING
from nodrop.report.rollout_page import hazards
from nodrop.report.table import wrap_text
from nodrop.report.text import render as findings_text
from nodrop.results.drifted import Drifted


def render(
    drifted: Drifted, *, color: bool = False, verbose: bool = False, quiet: bool = False, links: Links | None = None
) -> str:
    """Write the differences switch by switch, then findings as lint reports them, and the verdict last.

    `verbose` folds nothing, and also reports settings that switches wrote by themselves. `quiet` leaves the
    differences, findings and problems.
    """
    plan = drifted.drift.plan
    findings = findings_text(drifted.outcome, color=color, verbose=verbose, quiet=True, links=links).rstrip("\n")
    sheets = [
        [paint(text, MARKS["-"], color) for line in sides(drifted) for text in wrap_text(terminal(line), "", "  ")],
        [paint(f"{mark} {terminal(line)}", MARKS[mark], color) for mark, line in devices(plan, VERBS)],
        *sheets_of(plan, DIFFERING, color=color, verbose=verbose),
        outer(plan, KEYS, color=color),
        [findings] if findings else [],
    ]
    if not quiet:
        sheets += [
            render_section(OWN, own(drifted), color) if verbose else [],
            render_section(UNSAID, unsaid(plan, SIDES), color),
            render_section(ORDER, render_order(plan), color),
            render_section(WAY, hazards(plan), color),
            [paint(terminal(summary(drifted)), "1", color)],
        ]
    page_text = "\n\n".join("\n".join(lines) for lines in sheets if lines)
    return page_text + "\n" if page_text else ""
