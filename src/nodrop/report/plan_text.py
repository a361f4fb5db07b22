"""A plan for a person at a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.plan.model import Plan, Risk
from nodrop.report.escape import terminal
from nodrop.report.paint import paint
from nodrop.report.plan_page import (
    KEYS,
    OUTSIDE,
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
from nodrop.report.table import wrap_text

_STYLES: dict[Risk, str] = {
    "none": "32",
    "unknown": "33",
    "traffic-affecting": "33",
    "service restart": "33",
    "port bounce": "31",
    "reboot": "31",
    "refused": "31",
}
MARKS = {"+": "32", "-": "31", "!": "31", "~": "33"}


def render(plans: Sequence[Plan], *, color: bool = False, verbose: bool = False) -> str:
    """Write plans, of several each below its name; `verbose` folds nothing that differs only in names and addresses."""
    pages = [page(plan, color=color, verbose=verbose) for plan in plans]
    if len(pages) == 1:
        return pages[0]
    heads = [paint(terminal(f"{plan.new}:"), "1", color) for plan in plans]
    return "\n".join(f"{head}\n\n{text}" for head, text in zip(heads, pages, strict=True))


def page(plan: Plan, *, color: bool = False, verbose: bool = False, summed: bool = True) -> str:
    """Write the plan of one fabric; without its summary if that is shown elsewhere."""
    sheets = [
        [paint(f"{mark} {terminal(line)}", MARKS[mark], color) for mark, line in devices(plan)],
        *sheets_of(plan, color=color, verbose=verbose),
        outer(plan, color=color),
        render_section("not said by one side, so no change", unsaid(plan), color),
        render_section("order", render_order(plan), color),
        render_section("on the way", hazards(plan), color),
        [paint(terminal(f"error: {problem}"), "31", color) for problem in plan.problems],
        [paint(terminal(summary(plan)), "1", color)] if summed else [],
    ]
    return "\n\n".join("\n".join(lines) for lines in sheets if lines) + "\n"


def sheets_of(plan: Plan, wording: Wording = CHANGING, *, color: bool, verbose: bool) -> Iterator[list[str]]:
    """Yield the lines of each place where facts differ, with what becomes of the switches."""
    for block in blocks(plan.told, folded=not verbose):
        page = [paint(terminal(block.head), "1", color)]
        for texts, effect in block.groups(wording):
            page += [line for text in texts for line in wrap_text(terminal(text), "  ", "      ")]
            for reason in reasons(effect):
                page += [
                    paint(line, _STYLES[effect.risk], color) for line in wrap_text(terminal(reason), "    = ", "      ")
                ]
        if block.others:
            page += wrap_text(terminal(block.others), "  ", "    ")
        yield page
    for head, effect in together(plan):
        texts = [line for text in reasons(effect) for line in wrap_text(terminal(text), "    = ", "      ")]
        yield [paint(terminal(head), "1", color), *(paint(line, _STYLES[effect.risk], color) for line in texts)]


def outer(plan: Plan, verbs: Mapping[str, str] = KEYS, *, color: bool) -> list[str]:
    """Return the differences in files outside the model, with their effects."""
    page = []
    for line, effect in outside(plan, verbs):
        page += wrap_text(terminal(line), "  ", "    ")
        for reason in reasons(effect):
            page += [
                paint(text, _STYLES[effect.risk], color) for text in wrap_text(terminal(reason), "    = ", "      ")
            ]
    return [paint(OUTSIDE, "1", color), *page] if page else []


def render_section(head: str, lines: Iterable[str], color: bool) -> list[str]:
    """Return lines below a head; none where there are no lines."""
    wrapped_lines = [wrapped_line for line in lines for wrapped_line in wrap_text(terminal(line), "  ", "    ")]
    return [paint(head, "1", color), *wrapped_lines] if wrapped_lines else []


def render_order(plan: Plan) -> Iterator[str]:
    """Yield the order for changing the switches, and the reason for it."""
    yield from (f"{number}. {names}: {why}" for number, names, why in number_stages(plan))
    yield from explain_order(plan)
