"""Rules as a list and as pages: what `nodrop rules` and `nodrop explain` print."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import ndiff

from nodrop.fabric.fabric import MODES
from nodrop.lint.rule import Example, Rule

WIDTH, PAGE = 110, 96
"""Columns of the list and of a page."""


def rule_list(rules: Sequence[Rule], form: str) -> str:
    """Return the rules as text, JSON or Markdown."""
    if form == "json":
        return json.dumps([_facts(rule) for rule in rules], indent=2, ensure_ascii=False)
    if form == "markdown":
        rows = [
            f"| `{rule.name}` | {rule.area} | {rule.severity} | {_modes(rule)} | {_first(rule.why)} |" for rule in rules
        ]
        return "\n".join(("| rule | area | severity | modes | why |", "|---|---|---|---|---|", *rows))
    heads = [(rule.name, rule.area, rule.severity) for rule in rules]
    widths = [max(map(len, column)) for column in zip(*heads, strict=True)]
    indent = " " * (sum(widths) + 2 * len(widths))
    lines = []
    for head, rule in zip(heads, rules, strict=True):
        first = "".join(f"{cell:{width}}  " for cell, width in zip(head, widths, strict=True))
        lines.append(textwrap.fill(_first(rule.why), WIDTH, initial_indent=first, subsequent_indent=indent))
    return "\n".join(lines)


def _facts(rule: Rule) -> dict[str, object]:
    return {
        "name": rule.name,
        "area": rule.area,
        "severity": rule.severity,
        "confidence": rule.confidence,
        "strictness": rule.strictness,
        "modes": [mode for mode in MODES if mode in rule.modes],
        "scope": rule.scope.name,
        "why": rule.why,
        "fix": rule.fix,
        "references": list(rule.references),
        "since": rule.since,
        "aliases": list(rule.aliases),
        "options": {
            option.name: {"default": option.default, "description": option.description} for option in rule.options
        },
    }


def _first(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def _modes(rule: Rule) -> str:
    return "all" if len(rule.modes) == len(MODES) else ", ".join(mode for mode in MODES if mode in rule.modes)


def page(rule: Rule) -> str:
    """Return a rule's page."""
    return "\n".join(_page(rule))


def _page(rule: Rule) -> Iterator[str]:
    yield f"{rule.name}  ({rule.severity}, {rule.confidence}; modes: {_modes(rule)}; since {rule.since})"
    yield ""
    yield from textwrap.wrap(rule.why, PAGE)
    yield ""
    yield "What to do"
    yield from (f"  {line}" for line in textwrap.wrap(rule.fix, PAGE - 2))
    if rule.options:
        yield ""
        yield "Options"
        yield from (f"  {one.name} = {one.default}: {one.description}" for one in rule.options)
    for kind in ("bad", "good"):
        examples = [example for example in rule.examples if example.name.startswith(kind)]
        yield ""
        yield f"{'Found' if kind == 'bad' else 'Not found'} where, in the fabric intents/two-by-two.yaml,"
        yield from (f"  {line}" for example in examples for line in _example(example))
    yield ""
    yield "References"
    yield from (f"  {reference}" for reference in rule.references)


def _example(example: Example) -> Iterator[str]:
    for changes, words in ((example.model, "is"), (example.intent, "in the intent is")):
        if changes is None:
            continue
        if not changes:
            yield "nothing is changed"
        for path, value in changes.items():
            yield f"{path} {words} {json.dumps(value, ensure_ascii=False)}"
    for files in (example.artifact or {}).values():
        for path, edits in files.items():
            yield from _file(path, edits)
    if example.at:
        yield f"  at {', '.join(example.at)}"


def _file(path: str, edits: str | Sequence[Mapping[str, str]]) -> Iterator[str]:
    """A file that an example gives whole, or what it edits: `-` is before a line that goes, `+` one that comes."""
    if isinstance(edits, str):
        yield f"{path} is"
        yield from _indented(edits.splitlines())
        return
    yield f"{path} has"
    for edit in edits:
        before, after = edit["replace"].splitlines(), edit["with"].splitlines()
        yield from _indented(line.rstrip() for line in ndiff(before, after) if not line.startswith("?"))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    yield from (f"    {line}".rstrip() for line in lines)
