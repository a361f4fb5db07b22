"""Drift as a comment or a page of a pipeline: the verdict and one table at first sight, all else in folds."""

from nodrop.report.check_markdown import drop_excess_parts, format_findings
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
from nodrop.report.escape import escape_markdown
from nodrop.report.links import RulePages
from nodrop.report.plan_markdown import (
    CHANGE_MARKS,
    render_change_tables,
    render_fold,
    render_other_files,
    render_rollout_order,
)
from nodrop.report.plan_page import device_change_lines, format_not_compared, group_fact_blocks
from nodrop.report.plan_words import DRIFT_WORDING
from nodrop.report.rollout_page import explain_unusual_order, format_rollout_hazards
from nodrop.results.drifted import Drifted


def render(drifted: Drifted, pages: RulePages | None = None) -> str:
    """Write drift as GitHub's and GitLab's Markdown; no name in it is markup or HTML.

    Parts that would not fit into a comment are left out, the last first, and the text states that.
    """
    plan = drifted.drift.plan
    sections = [
        [f"### nodrop: {escape_markdown(summarize_drift(drifted))}"],
        [f"- {CHANGE_MARKS['-']} {escape_markdown(line)}" for line in format_unmatched_switches(drifted)],
        [f"- {CHANGE_MARKS[mark]} {escape_markdown(line)}" for mark, line in device_change_lines(plan, DRIFT_VERBS)],
        list(format_findings(drifted.outcome, pages or RulePages(), "")),
        [f"- {CHANGE_MARKS['-']} {escape_markdown(str(problem))}" for problem in drifted.outcome.problems],
        *render_change_tables(plan, group_fact_blocks(plan.changes), "what differs", DRIFT_WORDING),
        render_other_files(plan, KEY_VERBS),
        [
            f"- {CHANGE_MARKS['!']} {REMEDIATION_HEADING}, {escape_markdown(line)}"
            for line in format_rollout_hazards(plan)
        ],
        [f"- {escape_markdown(line)}" for line in explain_unusual_order(plan)],
        render_rollout_order(plan, REMEDIATION_ORDER_HEADING.capitalize()),
        list(
            render_fold(
                NOT_COMPARED_HEADING.capitalize(),
                [f"- {escape_markdown(line)}" for line in format_not_compared(plan, MISSING_SIDE_TEXTS)],
            )
        ),
        list(
            render_fold(
                SWITCH_WRITTEN_HEADING.capitalize(),
                [f"- {escape_markdown(line)}" for line in format_switch_written_settings(drifted)],
            )
        ),
    ]
    return "\n\n".join(drop_excess_parts(["\n".join(lines) for lines in sections if lines])) + "\n"
