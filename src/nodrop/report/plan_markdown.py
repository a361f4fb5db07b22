"""A plan as the comment of a pull request: the verdict and one table at first sight, all else in folds."""

from collections.abc import Iterator, Sequence

from nodrop.plan.model import Plan
from nodrop.report.escape import html, markdown
from nodrop.report.names import count
from nodrop.report.plan_page import RISK_SAID, Block, blocks, devices, numbered, reasons, summary, together, unsaid

_ROWS = 20
"""Rows of the table: of a larger plan, the rest is in the folds."""
_FOLDS = 60
"""Blocks in folds; GitHub takes 65,536 characters of a comment."""
_MARKS = {"+": "🟢", "-": "🔴", "!": "🔴", "~": "🟡"}


def render(plans: Sequence[Plan]) -> str:
    """Write plans as GitHub's and GitLab's Markdown, of several each below its name; no name is markup or HTML."""
    pages = [page(plan) for plan in plans]
    if len(pages) == 1:
        return pages[0]
    return "\n".join(f"### {markdown(plan.new)}\n\n{text}" for plan, text in zip(plans, pages, strict=True))


def page(plan: Plan) -> str:
    """Write the plan of one fabric."""
    said = blocks(plan.told)
    parts = [
        [f"**{markdown(summary(plan))}**"],
        [f"- {_MARKS[mark]} {markdown(line)}" for mark, line in devices(plan)],
        list(_table(said)),
        *(_fold(block) for block in said[:_FOLDS]),
        [f"{count(len(said) - _FOLDS, 'place')} more: see the whole plan"] if len(said) > _FOLDS else [],
        [f"- {markdown(f'{head}: {line}')}" for head, effect in together(plan) for line in reasons(effect)],
        list(_listed("Not said by one side, so no change", [f"- {markdown(line)}" for line in unsaid(plan)])),
        list(
            _listed(
                "Order of the rollout", [f"{n}. {markdown(names)}: {markdown(why)}" for n, names, why in numbered(plan)]
            )
        ),
        [f"- error: {markdown(str(problem))}" for problem in plan.problems],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _table(said: Sequence[Block]) -> Iterator[str]:
    if not said:
        return
    yield "| where | what changes | risk |"
    yield "|---|---|---|"
    for block in said[:_ROWS]:
        lines = [line for each, _ in block.groups() for line in each]
        more = f" and {count(len(lines) - 1, 'more fact')}".replace("more facts", "more") if len(lines) > 1 else ""
        alike = f" and alike: {len(block.alike)}" if block.alike else ""
        risk = RISK_SAID[block.risk]
        yield f"| {markdown(block.head + alike, cell=True)} | {markdown(lines[0] + more, cell=True)} | {risk} |"
    if len(said) > _ROWS:
        yield f"| {len(said) - _ROWS} more | in the folds | |"


def _fold(block: Block) -> list[str]:
    body: list[str] = []
    for lines, effect in block.groups():
        body += [f"- {markdown(line)}" for line in lines]
        body += [f"  - {markdown(line)}" for line in reasons(effect)]
    if block.others:
        body.append(f"- {markdown(block.others)}")
    return list(_listed(f"{block.head}: {RISK_SAID[block.risk]}", body))


def _listed(head: str, body: Sequence[str]) -> Iterator[str]:
    if not body:
        return
    yield f"<details><summary>{html(head)}</summary>"
    yield ""
    yield from body
    yield ""
    yield "</details>"
