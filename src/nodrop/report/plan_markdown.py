"""A plan as the comment of a pull request: the verdict and one table at first sight, all else in folds."""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.plan.model import RISKS, Plan, Told
from nodrop.report.escape import html, markdown
from nodrop.report.names import count, listing, name
from nodrop.report.plan_page import (
    KEYS,
    OUTSIDE,
    RISK_SAID,
    Block,
    blocks,
    devices,
    number_stages,
    outside,
    reasons,
    summary,
    together,
    unsaid,
)
from nodrop.report.plan_words import CHANGING, Wording
from nodrop.report.rollout_page import explain_order, hazards

_ROWS = 20
"""Rows of the table: of a larger plan, the rest is in the fold."""
_LINES = 3
"""Facts in a row."""
_PORTS = 32
"""Characters of ports in a row; where they are more, how many ports they are."""
_FULL = 60
"""Places that are told in full; GitHub takes 65,536 characters of a comment."""
MARKS = {"+": "🟢", "-": "🔴", "!": "🔴", "~": "🟡"}


def render(plans: Sequence[Plan]) -> str:
    """Write plans as GitHub's and GitLab's Markdown, of several each below its name; no name is markup or HTML."""
    pages = [page(plan) for plan in plans]
    if len(pages) == 1:
        return pages[0]
    return "\n".join(f"### {markdown(plan.new)}\n\n{text}" for plan, text in zip(plans, pages, strict=True))


def page(plan: Plan, *, summed: bool = True) -> str:
    """Write the plan of one fabric; without its summary if that is already shown."""
    sections = [
        [f"**{markdown(summary(plan))}**"] if summed else [],
        [f"- {MARKS[mark]} {markdown(line)}" for mark, line in devices(plan)],
        [f"- {MARKS['!']} on the way, {markdown(line)}" for line in hazards(plan)],
        *places(plan, blocks(plan.told), "what changes"),
        outer(plan),
        list(render_fold("Not said by one side, so no change", [f"- {markdown(line)}" for line in unsaid(plan)])),
        [f"- {markdown(line)}" for line in explain_order(plan)],
        order(plan, "Order of the rollout"),
        [f"- error: {markdown(str(problem))}" for problem in plan.problems],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def places(plan: Plan, fact_blocks: Sequence[Block], heading: str, wording: Wording = CHANGING) -> Iterator[list[str]]:
    """Yield the table of places where facts differ, the worst first, what all changes together do, and the rest."""
    fact_blocks = sorted(fact_blocks, key=lambda block: -RISKS.index(block.risk))
    yield list(_table(fact_blocks, heading, wording))
    yield [f"- {markdown(f'{head}: {line}')}" for head, effect in together(plan) for line in reasons(effect)]
    yield list(render_fold("In full, with reasons", list(_full_detail_lines(fact_blocks, wording))))


def outer(plan: Plan, verbs: Mapping[str, str] = KEYS) -> list[str]:
    """Return the differences in files outside the model, with their effects."""
    lines = (f"{OUTSIDE}: {line} ({RISK_SAID[effect.risk]})" for line, effect in outside(plan, verbs))
    return [f"- {MARKS['~']} {markdown(line)}" for line in lines]


def order(plan: Plan, head: str) -> list[str]:
    """Return in a fold the order for changing the switches."""
    rows = [f"{n}. {markdown(names)}: {markdown(why)}" for n, names, why in number_stages(plan)]
    return list(render_fold(head, rows))


def _table(fact_blocks: Sequence[Block], heading: str, wording: Wording) -> Iterator[str]:
    if not fact_blocks:
        return
    yield f"| where | {heading} | risk |"
    yield "|---|---|---|"
    for block in fact_blocks[:_ROWS]:
        lines = [markdown(line, cell=True) for group_lines, _ in block.groups(wording) for line in group_lines]
        overflow = [f"and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
        where = [markdown(_format_block_place(block), cell=True)] + (
            [markdown(block.others, cell=True)] if block.others else []
        )
        yield f"| {'<br>'.join(where)} | {'<br>'.join((*lines[:_LINES], *overflow))} | {_format_risk(block)} |"
    if len(fact_blocks) > _ROWS:
        yield f"| {len(fact_blocks) - _ROWS} more | in the fold | |"


def _format_risk(block: Block) -> str:
    means = {effect.means for _, effect in block.groups()}
    if means == {"follows"}:
        return "follows from the rest"
    how = [phrase for mean, phrase in (("commands", "by command"), ("by hand", "by hand")) if mean in means]
    return ", ".join((RISK_SAID[block.risk], *how))


def _format_block_place(block: Block) -> str:
    """Return where a block is; of many ports, how many they are."""
    return "; ".join(map(_format_place, (block.told, *block.same)))


def _format_place(fact_group: Told) -> str:
    if not fact_group.devices:
        return "the fabric"
    devices, ports = (listing(map(name, names)) for names in (fact_group.devices, fact_group.ports))
    suffix = " each" if len(fact_group.devices) > 1 else ""
    port = ports if len(ports) <= _PORTS else f"{count(len(fact_group.ports), 'port')}{suffix}"
    return f"{devices}: {port}" if port else devices


def _full_detail_lines(fact_blocks: Sequence[Block], wording: Wording) -> Iterator[str]:
    """Yield in full the details that the table shortens: many facts, long lists of ports, effects and their reasons."""
    untold = [block for at, block in enumerate(fact_blocks) if at >= _ROWS or not _fits_in_table_row(block)]
    for block in untold[:_FULL]:
        yield f"**{markdown(block.head)}**: {RISK_SAID[block.risk]}"
        yield ""
        for lines, effect in block.groups(wording):
            yield from (f"- {markdown(line)}" for line in lines)
            yield from (f"  - {markdown(line)}" for line in reasons(effect))
        if block.others:
            yield f"- {markdown(block.others)}"
        yield ""
    if len(untold) > _FULL:
        yield f"{count(len(untold) - _FULL, 'place')} more: see the whole plan"


def _fits_in_table_row(block: Block) -> bool:
    """Whether a row of the table holds all facts of a block."""
    groups = list(block.groups())
    facts = sum(len(lines) for lines, _ in groups)
    quiet = all(effect.risk == "none" and effect.means in ("patch", "follows") for _, effect in groups)
    return facts <= _LINES and _format_block_place(block) == block.head and quiet


def render_fold(head: str, body: Sequence[str]) -> Iterator[str]:
    """Yield lines in a fold; none where there are no lines."""
    if not body:
        return
    yield f"<details><summary>{html(head)}</summary>"
    yield ""
    yield from body[: -1 if not body[-1] else None]
    yield ""
    yield "</details>"
