"""The rule book: a page in Markdown for each rule, and an index by area, severity, strictness and platform."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodrop.engine.areas import rule_area_names
from nodrop.engine.finding import SEVERITIES
from nodrop.engine.rule import STRICTNESSES, Rule
from nodrop.model.fabric import MODES
from nodrop.report import rules as words
from nodrop.report.document_markdown import format_markdown_table
from nodrop.report.escape import fence_code_block, format_nodrop_text_as_markdown
from nodrop.report.rules import (
    UNCHANGED_EXAMPLE_TEXT,
    ShownExample,
    build_rule_page,
    format_first_reason_sentence,
    format_rule_modes,
    platforms_with_fault,
)

INDEX_FILE = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProblem:
    """Something that is known to go wrong: a number, what holds where it does not, and the rules that look for it."""

    id: str
    says: str
    rules: tuple[str, ...] = ()
    undecided: str = ""
    """Why no rule looks for it."""


def render_rule_book(
    rules: Sequence[Rule],
    catalogue: Sequence[KnownProblem] = (),
    configurations_of: Callable[[Rule], Sequence[str]] = lambda _rule: (),
) -> dict[str, str]:
    """Return the files of the book by their names; `configurations_of` gives a rule's section with configurations."""
    known_names = {rule.name for rule in rules}
    pages = {
        f"{rule.name}.md": _render_rule_page(
            rule, configurations_of(rule), _catalogued_fault_lines(rule, catalogue, known_names)
        )
        for rule in rules
    }
    return {INDEX_FILE: _render_index(rules, catalogue), **pages}


def _catalogued_fault_lines(rule: Rule, catalogue: Iterable[KnownProblem], known_names: set[str]) -> list[str]:
    """Return the faults that a rule finds, with the rules that find the same."""
    lines = []
    for row in catalogue:
        if rule.name in row.rules:
            other_links = [_format_rule_link(name) for name in row.rules if name != rule.name and name in known_names]
            with_them = f" (with {', '.join(other_links)})" if other_links else ""
            place = f"[{row.id}]({INDEX_FILE}#by-known-problems)"
            lines.append(f"* {place}: {format_nodrop_text_as_markdown(row.says)}{with_them}")
    return lines


def _format_rule_link(name: str) -> str:
    return f"[`{name}`]({name}.md)"


def _render_rule_page(rule: Rule, configurations: Sequence[str], rows: Sequence[str]) -> str:
    rule_sheet = build_rule_page(rule)
    facts = [(name, format_nodrop_text_as_markdown(text, cell=True)) for name, text in rule_sheet.facts]
    facts.append(("file", f"[{rule.area}/{rule.name}.yaml](../../rules/{rule.area}/{rule.name}.yaml)"))
    lines = [f"# {rule_sheet.name}", "", format_nodrop_text_as_markdown(rule_sheet.finds), ""]
    lines += format_markdown_table(("", ""), facts)
    for number, section in enumerate(rule_sheet.parts):
        if isinstance(section.blocks[0], ShownExample) and not isinstance(
            rule_sheet.parts[number - 1].blocks[0], ShownExample
        ):
            lines += configurations
        lines += ["", f"## {format_nodrop_text_as_markdown(section.title)}"]
        if any(
            isinstance(block, ShownExample) and set(block.values) - {UNCHANGED_EXAMPLE_TEXT} for block in section.blocks
        ):
            lines += [
                "",
                "Paths are those of [nodrop's model](../rule-words.md#the-model), which every platform is read into.",
            ]
        for block in section.blocks:
            lines += [""] * (isinstance(block, ShownExample) or section.prose or block is section.blocks[0])
            lines += _block_lines(block, prose=section.prose)
    if rows:
        lines += ["", "## What it belongs to", "", *rows]
    lines += ["", f"[Other rules of the area {rule.area}]({INDEX_FILE}#{rule.area})"]
    return "\n".join(lines) + "\n"


def _block_lines(block: str | ShownExample, *, prose: bool) -> Iterator[str]:
    match block:
        case ShownExample():
            yield from _example_lines(block)
        case _:
            yield format_nodrop_text_as_markdown(block) if prose else f"* {format_nodrop_text_as_markdown(block)}"


def _example_lines(example: ShownExample) -> Iterator[str]:
    if example.values:
        yield from fence_code_block(example.values, "text")
    for file in example.files:
        yield from ("", f"{_format_code_span(file.name)} {'is' if file.whole else 'has'}", "")
        yield from fence_code_block(file.lines, "text" if file.whole else "diff")
    if example.at:
        yield from ("", f"reported at {', '.join(map(_format_code_span, example.at))}")


def _format_code_span(text: str) -> str:
    """Text as a span of code; what holds a backtick as it stands."""
    return format_nodrop_text_as_markdown(f"`{text}`") if "`" not in text else format_nodrop_text_as_markdown(text)


def _render_index(rules: Sequence[Rule], catalogue: Sequence[KnownProblem]) -> str:
    lines = [
        "# The rule book",
        "",
        "`nodrop explain RULE` prints the same pages at a terminal; a rule is a file in [`rules/`](../../rules), of "
        "which its page is made.",
        "",
        "Severity is the harm: an error loses packets, hangs the fabric, lets a storm spread or is refused by the "
        "switch; a warning degrades, or breaks under a failure; a note is worth knowing. Confidence is the evidence.",
        "",
        "* [By area](#by-area)",
        "* [By severity](#by-severity)",
        "* [By strictness](#by-strictness)",
        "* [By fabric mode](#by-fabric-mode)",
        "* [By platform](#by-platform)",
        *(["* [By known problems](#by-known-problems)"] * bool(catalogue)),
        "",
        "## By area",
    ]
    for area in rule_area_names():
        if of_area := [rule for rule in rules if rule.area == area]:
            lines += ["", f"### {area}", "", *format_markdown_table(_RULE_HEADS, map(_list_rule_cells, of_area))]
    lines += ["", "## By severity", *_rules_listed_by_key(SEVERITIES, rules, lambda rule: (rule.severity,))]
    lines += ["", "## By strictness", "", "`nodrop lint --strictness` selects one; each includes those before it."]
    lines += _rules_listed_by_key(
        STRICTNESSES, rules, lambda rule: (_lowest_strictness(rule),), words.TEXT_BY_STRICTNESS
    )
    lines += ["", "## By fabric mode", "", "Rules that apply in every mode are in no list here."]
    some_modes = [rule for rule in rules if format_rule_modes(rule) != "all"]
    lines += _rules_listed_by_key(MODES, some_modes, lambda rule: rule.modes)
    on = sorted({platform for rule in rules for platform in platforms_with_fault(rule)})
    lines += [
        "",
        "## By platform",
        "",
        "For platforms that nodrop writes, every rule is listed unless the fault is impossible there. For platforms "
        "that it only reads, and for files of servers, rules with an example are listed; all other rules are checked "
        "too, as far as a file states what they need.",
        *_rules_listed_by_key(on, rules, platforms_with_fault),
    ]
    if catalogue:
        rows = [_known_problem_cells(row, {rule.name for rule in rules}) for row in catalogue]
        lines += ["", "## By known problems", "", *format_markdown_table(("", "what should hold", "rules"), rows)]
    return "\n".join(lines) + "\n"


def _lowest_strictness(rule: Rule) -> str:
    """Return the lowest strictness that reports a rule: merely possible faults need pedantic."""
    return "pedantic" if (rule.strictness, rule.confidence) == ("regular", "possible") else rule.strictness


def _rules_listed_by_key(
    keys: Iterable[str],
    rules: Iterable[Rule],
    keys_of: Callable[[Rule], Iterable[str]],
    about: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield the rules under each key that has any, one a line, to let branches that add rules merge."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for rule in rules:
        for key in keys_of(rule):
            names[key].append(rule.name)
    for key in keys:
        if key in names:
            description = f": {about[key]}" if about else ""
            yield from ("", f"**{key}**{description}", "")
            yield from map(_format_rule_link, names[key])


_RULE_HEADS = ("rule", "severity", "modes", "tested on", "why")


def _list_rule_cells(rule: Rule) -> Sequence[str]:
    platforms = ", ".join(platforms_with_fault(rule))
    return (
        _format_rule_link(rule.name),
        rule.severity,
        format_rule_modes(rule),
        platforms,
        format_first_reason_sentence(rule),
    )


def _known_problem_cells(row: KnownProblem, known_names: set[str]) -> Sequence[str]:
    links = ", ".join(_format_rule_link(name) for name in row.rules if name in known_names)
    links = links or format_nodrop_text_as_markdown(row.undecided or "none", cell=True)
    return row.id, format_nodrop_text_as_markdown(row.says, cell=True), links
