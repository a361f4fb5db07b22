"""Sweeps of printed commands over samples that are in order: a line is changed, the remedies are typed and read again.

Each line in turn is taken out, has its first or last number changed, or its state.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from nodrop.advising import add_fix_commands
from nodrop.engine.finding import Finding, FixCommands
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.folding import mark_findings_explained_by_others
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject
from support.typed_commands import NotKnown
from support.typed_trials import first_cases

Files = Mapping[str, str]
_OTHER_STATE = {"enable": "disable", "on": "off", "true": "false", "disable": "enable", "off": "on", "yes": "no"}
_STATE = re.compile(rf"\b({'|'.join(_OTHER_STATE)})\b")
_check = partial(judge, strictness="auditor")


def changed_lines(files: Files, names: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the changes of single lines of the files with some names, and all files with each."""
    for name in names:
        lines = files[name].split("\n")
        for at, line in enumerate(lines):
            if not line.strip() or line.strip().startswith(("#", "!")):
                continue
            others = {
                "": lines[:at] + lines[at + 1 :],
                "first": [*lines[:at], re.sub(r"\d+", _raised, line, count=1), *lines[at + 1 :]],
                "last": [*lines[:at], re.sub(r"\d+(?!.*\d)", _raised, line), *lines[at + 1 :]],
                "state": [*lines[:at], _STATE.sub(lambda found: _OTHER_STATE[found[0]], line), *lines[at + 1 :]],
            }
            seen: list[list[str]] = [lines]
            for kind, new in others.items():
                if new not in seen:
                    seen.append(new)
                    shown = f"{name} line {at + 1}: {new[at].strip() if kind else 'taken out'}"
                    yield shown, {**files, name: "\n".join(new)}


def _raised(found: re.Match[str]) -> str:
    return str(int(found[0]) * 2 + 1)


def found_in(reading: Reading) -> tuple[Finding, ...]:
    """Return what all rules find, at the highest strictness."""
    return _check(reading, select_lint_rules(shipped_rules())).findings


def identities(findings: Iterable[Finding]) -> set[tuple[str, Subject]]:
    """Return rule and subject of findings."""
    return {(finding.rule, finding.subject) for finding in findings}


def remedies_that_fail(
    files: Files,
    read: Callable[[Files], Reading],
    type_remedy: Callable[[Iterable[FixCommands], Files], dict[str, str]],
    clean: set[tuple[str, Subject]],
) -> Iterator[str]:
    """Yield for each rule whose remedy a report prints what that leaves or brings about, "" where nothing.

    `clean` are the findings of the sample, which stay. What is foretold in a fix is marked.
    """
    reading = read(files)
    before = found_in(reading)
    rules = select_lint_rules(shipped_rules())
    advised = add_fix_commands(mark_findings_explained_by_others(before, reading, rules, _check), reading)
    for rule in dict.fromkeys(finding.rule for finding in advised):
        own = [finding for finding in advised if finding.rule == rule and not finding.explained_by]
        own = [finding for finding in own if finding.fix and finding.fix.commands]
        if not own:
            continue
        try:
            new = type_remedy(
                first_cases(each for finding in own if finding.fix for each in finding.fix.commands), files
            )
        except NotKnown as command:
            yield f"{rule}: not known: {command}"
            continue
        after = identities(found_in(read(new)))
        brought = after - clean - identities(before)
        foretold = any(finding.fix and "check again" in finding.fix.text for finding in own)
        words = ["still found"] * bool(after & identities(own))
        words += sorted({f"{'new, as said' if foretold else 'new'}: {name}" for name, _ in brought})
        yield f"{rule}: {', '.join(words)}" if words else ""
