"""A plan as the comment of a pull request: the verdict and one table at first sight, all else in folds."""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.plan.model import CHANGE_RISKS, FactGroup, Plan
from nodrop.report.escape import escape_html, escape_markdown
from nodrop.report.names import format_count, format_name, format_name_list
from nodrop.report.plan_page import (
    KEY_CHANGE_VERBS,
    OTHER_FILES_HEADING,
    RISK_LABELS,
    Block,
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
from nodrop.results.rulings import ROLLOUT_HAZARD

_MAX_TABLE_ROWS = 20
"""Rows of the table: of a larger plan, the rest is in the fold."""
_MAX_FACTS_PER_ROW = 3
"""Facts in a row."""
_MAX_PORTS_CHARACTERS = 32
"""Characters of ports in a row; where they are more, how many ports they are."""
_MAX_DETAILED_BLOCKS = 60
"""Places that are told in full; GitHub takes 65,536 characters of a comment."""
CHANGE_MARKS = {"+": "🟢", "-": "🔴", "!": "🔴", "~": "🟡"}


def render(plans: Sequence[Plan]) -> str:
    """Write plans as GitHub's and GitLab's Markdown, of several each below its name; no name is markup or HTML."""
    pages = [render_plan_markdown(plan) for plan in plans]
    if len(pages) == 1:
        return pages[0]
    return "\n".join(f"### {escape_markdown(plan.new)}\n\n{text}" for plan, text in zip(plans, pages, strict=True))


def render_plan_markdown(plan: Plan, *, summed: bool = True) -> str:
    """Write the plan of one fabric; without its summary if that is already shown."""
    sections = [
        [f"**{escape_markdown(summarize_plan(plan))}**"] if summed else [],
        [f"- {CHANGE_MARKS[mark]} {escape_markdown(line)}" for mark, line in device_change_lines(plan)],
        list(_hazard_lines(plan)),
        *render_change_tables(plan, group_fact_blocks(plan.changes), "what changes"),
        render_other_files(plan),
        list(
            render_fold(
                "Not compared (absent on one side)",
                [f"- {escape_markdown(line)}" for line in format_not_compared(plan)],
            )
        ),
        [f"- {escape_markdown(line)}" for line in explain_unusual_order(plan)],
        render_rollout_order(plan, "Order of the rollout"),
        [f"- error: {escape_markdown(str(problem))}" for problem in plan.problems],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _hazard_lines(plan: Plan) -> Iterator[str]:
    """Yield the hazards of a rollout, and what to do about them."""
    hazards = list(format_rollout_hazards(plan))
    yield from (f"- {CHANGE_MARKS['!']} rollout hazard, {escape_markdown(line)}" for line in hazards)
    if hazards:
        yield f"  - what to do: {escape_markdown(ROLLOUT_HAZARD.fix)}"


def render_change_tables(
    plan: Plan, fact_blocks: Sequence[Block], heading: str, wording: Wording = PLAN_WORDING
) -> Iterator[list[str]]:
    """Yield the table of places where facts differ, the worst first, what all changes together do, and the rest."""
    fact_blocks = sorted(fact_blocks, key=lambda block: -CHANGE_RISKS.index(block.risk))
    yield list(_table_lines(fact_blocks, heading, wording))
    yield [
        f"- {escape_markdown(f'{head}: {line}')}"
        for head, effect in combined_effects(plan)
        for line in format_effect_reasons(effect)
    ]
    yield list(render_fold("In full, with reasons", list(_full_detail_lines(fact_blocks, wording))))


def render_other_files(plan: Plan, verbs: Mapping[str, str] = KEY_CHANGE_VERBS) -> list[str]:
    """Return the differences in files outside the model, with their effects."""
    lines = (
        f"{OTHER_FILES_HEADING}: {line} ({RISK_LABELS[effect.risk]})"
        for line, effect in format_other_file_changes(plan, verbs)
    )
    return [f"- {CHANGE_MARKS['~']} {escape_markdown(line)}" for line in lines]


def render_rollout_order(plan: Plan, heading: str) -> list[str]:
    """Return in a fold the order for changing the switches."""
    rows = [f"{n}. {escape_markdown(names)}: {escape_markdown(why)}" for n, names, why in rollout_order_rows(plan)]
    return list(render_fold(heading, rows))


def _table_lines(fact_blocks: Sequence[Block], heading: str, wording: Wording) -> Iterator[str]:
    if not fact_blocks:
        return
    yield f"| where | {heading} | risk |"
    yield "|---|---|---|"
    for block in fact_blocks[:_MAX_TABLE_ROWS]:
        lines = [escape_markdown(line, cell=True) for group_lines, _ in block.groups(wording) for line in group_lines]
        overflow = [f"and {len(lines) - _MAX_FACTS_PER_ROW} more"] if len(lines) > _MAX_FACTS_PER_ROW else []
        where = [escape_markdown(_format_block_place(block), cell=True)] + (
            [escape_markdown(block.others, cell=True)] if block.others else []
        )
        yield (
            f"| {'<br>'.join(where)} | {'<br>'.join((*lines[:_MAX_FACTS_PER_ROW], *overflow))} "
            f"| {_format_risk(block)} |"
        )
    if len(fact_blocks) > _MAX_TABLE_ROWS:
        yield f"| {len(fact_blocks) - _MAX_TABLE_ROWS} more | in the fold | |"


def _format_risk(block: Block) -> str:
    means = {effect.method for _, effect in block.groups()}
    if means == {"derived"}:
        return "follows from the rest"
    how = [phrase for mean, phrase in (("commands", "by command"), ("by hand", "by hand")) if mean in means]
    return ", ".join((RISK_LABELS[block.risk], *how))


def _format_block_place(block: Block) -> str:
    """Return where a block is; of many ports, how many they are."""
    return "; ".join(map(_format_place, (block.first, *block.same)))


def _format_place(fact_group: FactGroup) -> str:
    if not fact_group.devices:
        return "the fabric"
    devices, ports = (format_name_list(map(format_name, names)) for names in (fact_group.devices, fact_group.ports))
    suffix = " each" if len(fact_group.devices) > 1 else ""
    port = ports if len(ports) <= _MAX_PORTS_CHARACTERS else f"{format_count(len(fact_group.ports), 'port')}{suffix}"
    return f"{devices}: {port}" if port else devices


def _full_detail_lines(fact_blocks: Sequence[Block], wording: Wording) -> Iterator[str]:
    """Yield in full the details that the table shortens: many facts, long lists of ports, effects and their reasons."""
    untold = [block for at, block in enumerate(fact_blocks) if at >= _MAX_TABLE_ROWS or not _fits_in_table_row(block)]
    for block in untold[:_MAX_DETAILED_BLOCKS]:
        yield f"**{escape_markdown(block.head)}**: {RISK_LABELS[block.risk]}"
        yield ""
        for lines, effect in block.groups(wording):
            yield from (f"- {escape_markdown(line)}" for line in lines)
            yield from (f"  - {escape_markdown(line)}" for line in format_effect_reasons(effect))
        if block.others:
            yield f"- {escape_markdown(block.others)}"
        yield ""
    if len(untold) > _MAX_DETAILED_BLOCKS:
        yield f"{format_count(len(untold) - _MAX_DETAILED_BLOCKS, 'place')} more: see the whole plan"


def _fits_in_table_row(block: Block) -> bool:
    """Whether a row of the table holds all facts of a block."""
    groups = list(block.groups())
    facts = sum(len(lines) for lines, _ in groups)
    quiet = all(effect.risk == "none" and effect.method in ("patch", "derived") for _, effect in groups)
    return facts <= _MAX_FACTS_PER_ROW and _format_block_place(block) == block.head and quiet


def render_fold(heading: str, fold_lines: Sequence[str]) -> Iterator[str]:
    """Yield lines in a fold; none where there are no lines."""
    if not fold_lines:
        return
    yield f"<details><summary>{escape_html(heading)}</summary>"
    yield ""
    yield from fold_lines[: -1 if not fold_lines[-1] else None]
    yield ""
    yield "</details>"
