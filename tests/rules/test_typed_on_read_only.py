"""The commands for platforms that are only read end their findings: typed on samples of Onyx, NCLU and Cumulus Linux.

Each sample is in order. Each of its lines in turn is taken out, has its first or last number changed, or its state; the
commands of what is then found are typed on that copy, which is read again. Rules that print none there are counted.
"""

import re
from collections.abc import Iterator, Mapping

import pytest

from nodrop import platforms
from nodrop.advising import add_fix_commands
from nodrop.engine.finding import Finding
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.errors import NodropError
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import Reading, Source
from support.places import TESTS
from support.typed_commands import NotKnown, type_commands
from support.typed_trials import first_cases

GOOD = {"onyx": "good.txt", "nclu": "good.txt", "cumulus": "good"}
NAMES = {"onyx": "running-config.txt", "nclu": "nclu.txt"}
LEAST_ENDED = {"onyx": 18, "nclu": 0, "cumulus": 4}
"""Changed samples of which a rule's findings print commands, at least. NCLU's rules print none so far."""
TABLE = TESTS / "rules" / "not_ended_on_read_only.txt"
OTHER_STATE = {"enable": "disable", "on": "off", "true": "false", "disable": "enable", "off": "on", "yes": "no"}
STATE = re.compile(rf"\b({'|'.join(OTHER_STATE)})\b")


def _sample(platform: str) -> dict[str, str]:
    path = TESTS / "platforms" / platform / GOOD[platform]
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {NAMES.get(platform, file.name): file.read_text() for file in files}


def _changed(files: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the changes of single lines, and the files with each."""
    for name, text in files.items():
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if not line.strip() or line.strip().startswith(("#", "!")):
                continue
            others = {
                "": lines[:at] + lines[at + 1 :],
                "first": [*lines[:at], re.sub(r"\d+", _raised, line, count=1), *lines[at + 1 :]],
                "last": [*lines[:at], re.sub(r"\d+(?!.*\d)", _raised, line), *lines[at + 1 :]],
                "state": [*lines[:at], STATE.sub(lambda found: OTHER_STATE[found[0]], line), *lines[at + 1 :]],
            }
            for kind, new in others.items():
                if new != lines:
                    shown = f"{name} line {at + 1}: {new[at].strip() if kind else 'taken out'}"
                    yield shown, {**files, name: "\n".join(new)}


def _raised(found: re.Match[str]) -> str:
    return str(int(found[0]) * 2 + 1)


def _read(platform: str, files: Mapping[str, str]) -> Reading:
    bundle = [
        (Source(name=name, display=name, held=text.encode()), text.encode()) for name, text in sorted(files.items())
    ]
    return assemble_fabric([platforms.reader(platform).read_device("sw1", bundle)], DeclaredFacts())


def _judged(reading: Reading) -> tuple[Finding, ...]:
    return judge(reading, select_lint_rules(shipped_rules()), strictness="auditor").findings


def _failures(platform: str, files: Mapping[str, str], clean: set[tuple[object, ...]]) -> Iterator[str]:
    """Yield what the commands of each rule's findings leave or bring about, "" where nothing."""
    reading = _read(platform, files)
    before = _judged(reading)
    advised = add_fix_commands(before, reading)
    for rule in dict.fromkeys(finding.rule for finding in advised):
        own = [finding for finding in advised if finding.rule == rule and finding.fix and finding.fix.commands]
        if not own:
            continue
        new = dict(files)
        try:
            for commands in first_cases(each for finding in own if finding.fix for each in finding.fix.commands):
                shown = {"frr.conf": new["frr.conf"]} if commands.language == "frr" else new
                new |= type_commands(commands.language, commands.lines, shown)
        except NotKnown as command:
            yield f"{rule}: not known: {command}"
            continue
        after = {(finding.rule, finding.subject) for finding in _judged(_read(platform, new))}
        kept = after & {(finding.rule, finding.subject) for finding in own}
        brought = after - clean - {(finding.rule, finding.subject) for finding in before}
        words = ["still found"] * bool(kept) + sorted({f"new: {name}" for name, _ in brought})
        yield f"{rule}: {', '.join(words)}" if words else ""


@pytest.mark.slow
def test_commands_typed_on_changed_samples_end_what_is_found(update_golden: bool) -> None:
    lines, ended = [], dict.fromkeys(GOOD, 0)
    for platform in GOOD:
        files = _sample(platform)
        clean: set[tuple[object, ...]] = {
            (finding.rule, finding.subject) for finding in _judged(_read(platform, files))
        }
        for change, changed in _changed(files):
            try:
                failures = [*_failures(platform, changed, clean)]
            except NodropError:
                continue
            ended[platform] += failures.count("")
            lines += [f"{platform}: {change}: {failure}\n" for failure in failures if failure]
    if update_golden:
        TABLE.write_text("".join(lines))
    assert TABLE.read_text() == "".join(lines)
    assert {platform: count for platform, count in ended.items() if count < LEAST_ENDED[platform]} == {}
