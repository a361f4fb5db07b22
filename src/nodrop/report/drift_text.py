"""Drift for a person at a terminal."""

from nodrop.report.drift_page import (
    DRIFT_VERBS,
    KEY_VERBS,
    MISSING_SIDE_TEXTS,
    NOT_COMPARED_HEADING,
    REMEDIATION_HEADING,
    REMEDIATION_ORDER_HEADING,
    SWITCH_WRITTEN_HEADING,
    format_switch_written_settings,
    format_unmatched_switches,
    summarize_drift,
)
from nodrop.report.escape import escape_terminal
from nodrop.report.links import TerminalLinks
from nodrop.report.paint import style_text
from nodrop.report.plan_page import device_change_lines, format_not_compared
from nodrop.report.plan_text import (
    MARK_STYLES,
    render_order,
    render_other_files_section,
    render_place_sheets,
    render_section,
)
from nodrop.report.plan_words import DRIFT_WORDING
from nodrop.report.rollout_page import format_rollout_hazards
from nodrop.report.table import wrap_text
from nodrop.report.text import render as findings_text
from nodrop.results.drifted import Drifted


def render(
    drifted: Drifted,
    *,
    color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    links: TerminalLinks | None = None,
) -> str:
    """Write the differences switch by switch, then findings as lint reports them, and the verdict last.

    `verbose` folds nothing, and also reports settings that switches wrote by themselves. `quiet` leaves the
    differences, findings and problems.
    """
    plan = drifted.drift.plan
    findings = findings_text(drifted.outcome, color=color, verbose=verbose, quiet=True, links=links).rstrip("\n")
    sheets = [
        [
            style_text(text, MARK_STYLES["-"], color)
            for line in format_unmatched_switches(drifted)
            for text in wrap_text(escape_terminal(line), "", "  ")
        ],
        [
            style_text(f"{mark} {escape_terminal(line)}", MARK_STYLES[mark], color)
            for mark, line in device_change_lines(plan, DRIFT_VERBS)
        ],
        *render_place_sheets(plan, DRIFT_WORDING, color=color, verbose=verbose),
        render_other_files_section(plan, KEY_VERBS, color=color),
        [findings] if findings else [],
    ]
    if not quiet:
        sheets += [
            render_section(SWITCH_WRITTEN_HEADING, format_switch_written_settings(drifted), color) if verbose else [],
            render_section(NOT_COMPARED_HEADING, format_not_compared(plan, MISSING_SIDE_TEXTS), color),
            render_section(REMEDIATION_ORDER_HEADING, render_order(plan), color),
            render_section(REMEDIATION_HEADING, format_rollout_hazards(plan), color),
            [style_text(escape_terminal(summarize_drift(drifted)), "1", color)],
        ]
    page_text = "\n\n".join("\n".join(lines) for lines in sheets if lines)
    return page_text + "\n" if page_text else ""
