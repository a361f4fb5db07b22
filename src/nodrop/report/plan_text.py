"""A plan for a person at a terminal."""

from collections.abc import Iterator, Sequence

from nodrop.plan.model import Plan, Risk
from nodrop.report.escape import terminal
from nodrop.report.plan_page import blocks, devices, numbered, reasons, summary, together, unsaid
from nodrop.report.table import folded

_STYLES: dict[Risk, str] = {
    "none": "32",
    "unknown": "33",
    "traffic-affecting": "33",
    "service restart": "33",
    "port bounce": "31",
    "reboot": "31",
    "refused": "31",
}
_MARKS = {"+": "32", "-": "31", "!": "31", "~": "33"}


def render(plans: Sequence[Plan], *, color: bool = False, verbose: bool = False) -> str:
    """Write plans, of several each below its name; `verbose` folds nothing that differs only in names and addresses."""
    pages = [page(plan, color=color, verbose=verbose) for plan in plans]
    if len(pages) == 1:
        return pages[0]
    heads = [_paint(terminal(f"{plan.new}:"), "1", color) for plan in plans]
    return "\n".join(f"{head}\n\n{text}" for head, text in zip(heads, pages, strict=True))


def page(plan: Plan, *, color: bool = False, verbose: bool = False) -> str:
    """Write the plan of one fabric."""
    sheets = [
        [_paint(f"{mark} {terminal(line)}", _MARKS[mark], color) for mark, line in devices(plan)],
        *(sheet for sheet in _blocks(plan, color=color, verbose=verbose)),
        _listed("not said by one side, so no change", unsaid(plan), color),
        _listed("order", (f"{number}. {names}: {why}" for number, names, why in numbered(plan)), color),
        [_paint(terminal(f"error: {problem}"), "31", color) for problem in plan.problems],
        [_paint(terminal(summary(plan)), "1", color)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sheets if lines) + "\n"


def _blocks(plan: Plan, *, color: bool, verbose: bool) -> Iterator[list[str]]:
    for block in blocks(plan.told, folded=not verbose):
        page = [_paint(terminal(block.head), "1", color)]
        for said, effect in block.groups():
            page += [line for one in said for line in folded(terminal(one), "  ", "      ")]
            for one in reasons(effect):
                page += [
                    _paint(line, _STYLES[effect.risk], color) for line in folded(terminal(one), "    = ", "      ")
                ]
        if block.others:
            page += folded(terminal(block.others), "  ", "    ")
        yield page
    for head, effect in together(plan):
        said = [line for one in reasons(effect) for line in folded(terminal(one), "    = ", "      ")]
        yield [_paint(terminal(head), "1", color), *(_paint(line, _STYLES[effect.risk], color) for line in said)]


def _listed(head: str, lines: Iterator[str], color: bool) -> list[str]:
    said = [part for line in lines for part in folded(terminal(line), "  ", "    ")]
    return [_paint(head, "1", color), *said] if said else []


def _paint(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color else text
