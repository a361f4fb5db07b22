"""A plan for a person at a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.plan.model import ChangeRisk, Plan
from nodrop.report.escape import escape_terminal
from nodrop.report.paint import style_text
from nodrop.report.plan_page import (
    KEY_CHANGE_VERBS,
    OTHER_FILES_HEADING,
    combined_effects,
    device_change_lines,
    format_effect_reasons,
    format_not_compared,
    format_other_file_changes,
    group_fact_blocks,
    rollout_order_rows,
    summarize_plan,
)
from nodrop.report.plan_words import PLAN_WORDING, Wording
from nodrop.report.rollout_page import explain_unusual_order, format_rollout_hazards
from nodrop.report.table import wrap_text

_ANSI_STYLE_BY_RISK: dict[ChangeRisk, str] = {
    "none": "32",
    "unknown": "33",
    "traffic-affecting": "33",
    "service restart": "33",
    "port bounce": "31",
    "reboot": "31",
    "refused": "31",
}
MARK_STYLES = {"+": "32", "-": "31", "!": "31", "~": "33"}


def render(plans: Sequence[Plan], *, color: bool = False, verbose: bool = False) -> str:
    """Write plans, of several each below its name; `verbose` folds nothing that differs only in names and addresses."""
    pages = [format_plan(plan, color=color, verbose=verbose) for plan in plans]
    if len(pages) == 1:
        return pages[0]
    heads = [style_text(escape_terminal(f"{plan.new}:"), "1", color) for plan in plans]
    return "\n".join(f"{head}\n\n{text}" for head, text in zip(heads, pages, strict=True))


def format_plan(plan: Plan, *, color: bool = False, verbose: bool = False, summed: bool = True) -> str:
    """Write the plan of one fabric; without its summary if that is shown elsewhere."""
    sheets = [
        [
            style_text(f"{mark} {escape_terminal(line)}", MARK_STYLES[mark], color)
            for mark, line in device_change_lines(plan)
        ],
        *render_place_sheets(plan, color=color, verbose=verbose),
        render_other_files_section(plan, color=color),
        render_section("not compared (absent on one side)", format_not_compared(plan), color),
        render_section("order", render_order(plan), color),
        render_section("rollout hazards", format_rollout_hazards(plan), color),
        [style_text(escape_terminal(f"error: {problem}"), "31", color) for problem in plan.problems],
        [style_text(escape_terminal(summarize_plan(plan)), "1", color)] if summed else [],
    ]
    return "\n\n".join("\n".join(lines) for lines in sheets if lines) + "\n"


def render_place_sheets(
    plan: Plan, wording: Wording = PLAN_WORDING, *, color: bool, verbose: bool
) -> Iterator[list[str]]:
    """Yield the lines of each place where facts differ, with what becomes of the switches."""
    for block in group_fact_blocks(plan.changes, folded=not verbose):
        page = [style_text(escape_terminal(block.head), "1", color)]
        for texts, effect in block.groups(wording):
            page += [line for text in texts for line in wrap_text(escape_terminal(text), "  ", "      ")]
            for reason in format_effect_reasons(effect):
                page += [
                    style_text(line, _ANSI_STYLE_BY_RISK[effect.risk], color)
                    for line in wrap_text(escape_terminal(reason), "    = ", "      ")
                ]
        if block.others:
            page += wrap_text(escape_terminal(block.others), "  ", "    ")
        yield page
    for head, effect in combined_effects(plan):
        texts = [
            line
            for text in format_effect_reasons(effect)
            for line in wrap_text(escape_terminal(text), "    = ", "      ")
        ]
        yield [
            style_text(escape_terminal(head), "1", color),
            *(style_text(line, _ANSI_STYLE_BY_RISK[effect.risk], color) for line in texts),
        ]


def render_other_files_section(plan: Plan, verbs: Mapping[str, str] = KEY_CHANGE_VERBS, *, color: bool) -> list[str]:
    """Return the differences in files outside the model, with their effects."""
    page = []
    for line, effect in format_other_file_changes(plan, verbs):
        page += wrap_text(escape_terminal(line), "  ", "    ")
        for reason in format_effect_reasons(effect):
            page += [
                style_text(text, _ANSI_STYLE_BY_RISK[effect.risk], color)
                for text in wrap_text(escape_terminal(reason), "    = ", "      ")
            ]
    return [style_text(OTHER_FILES_HEADING, "1", color), *page] if page else []


def render_section(heading: str, lines: Iterable[str], color: bool) -> list[str]:
    """Return lines below a head; none where there are no lines."""
    wrapped_lines = [wrapped_line for line in lines for wrapped_line in wrap_text(escape_terminal(line), "  ", "    ")]
    return [style_text(heading, "1", color), *wrapped_lines] if wrapped_lines else []


def render_order(plan: Plan) -> Iterator[str]:
    """Yield the order for changing the switches, and the reason for it."""
    yield from (f"{number}. {names}: {why}" for number, names, why in rollout_order_rows(plan))
    yield from explain_unusual_order(plan)
