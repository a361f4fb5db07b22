"""Findings that existed when a user began to check: kept in a file, and not reported again while their facts stay.

The file has, by rule and subject, the fingerprint of each finding and a digest of its facts, and nothing else: no line,
no path, no text of a configuration. A finding with other facts, such as a worse value, is another finding.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nodrop.engine.finding import Finding
from nodrop.engine.suppressions import CheckedScope
from nodrop.errors import InputProblems, Problem
from nodrop.identity import IdentitySet
from nodrop.model.subject import parse_subject as parsed
from nodrop.model.subject import subject_sort_key, subject_text
from nodrop.syntax.places import quote_text, read_regular_file
from nodrop.syntax.shapes import mapping_or_empty
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml

BASELINE_FILE = "nodrop.baseline.yaml"
BASELINE_VERSION = "1"
MAX_BASELINE_BYTES = 256_000_000
"""What a baseline may hold: more than a million findings."""

_FILE_HEADER = """\
# Findings recorded by `nodrop baseline`. They are counted, and reported only if their facts change.
# For each rule and subject: the fingerprint of the finding, a digest of its facts, and the number of findings if not 1.
"""
_BASELINE_ENTRY_PATTERN = re.compile(r"([0-9a-f]{32}) ([0-9a-f]{16})(?: x([1-9][0-9]{0,8}))?")
_MAX_SUBJECT_CHARACTERS = 900
"""How many characters of a subject are written: it is there for people, and shows what has ended."""
_PLAIN_TEXT_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")

BaselineKey = tuple[str, str]
"""The fingerprint of a finding, and the digest of its facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineEntry:
    """The baseline's facts on findings of one key: their rule, their subject as text, and their number."""

    rule: str
    subject: str
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The findings that were there, by key."""

    entries: Mapping[BaselineKey, BaselineEntry] = field(default_factory=dict)

    def fingerprints(self) -> frozenset[str]:
        """Return the fingerprints, with any facts."""
        return frozenset(fingerprint for fingerprint, _ in self.entries)


def digest_finding_facts(finding: Finding) -> str:
    """Return a digest of a finding's facts, but for those that are lines of a file: `line`, `first_line`."""
    facts = [[name, value] for name, value in sorted(finding.facts.items()) if name.rpartition("_")[2] != "line"]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=8).hexdigest()


def baseline_keys_of(finding: Finding) -> Iterator[BaselineKey]:
    """Yield the key of a finding, and those that it had under former names of its rule."""
    facts = digest_finding_facts(finding)
    yield from ((fingerprint, facts) for fingerprint in (finding.fingerprint, *finding.former))


def find_baseline_key(baseline: Baseline, finding: Finding) -> BaselineKey | None:
    """Return the key of a finding in a baseline; None if it is not there."""
    return next((key for key in baseline_keys_of(finding) if key in baseline.entries), None)


def mark_known_findings(
    findings: Sequence[Finding], baseline: Baseline
) -> tuple[list[Finding], dict[BaselineKey, int]]:
    """Mark the findings that a baseline knows and nobody suppressed; count by key also those that are suppressed."""
    fingerprints = baseline.fingerprints()
    settled, met = list(findings), Counter[BaselineKey]()
    for number, finding in enumerate(findings):
        if finding.fingerprint not in fingerprints and fingerprints.isdisjoint(finding.former):
            continue
        if (key := find_baseline_key(baseline, finding)) is None:
            continue
        met[key] += 1
        if finding.suppressed is None:
            settled[number] = replace(finding, baselined=True)
    return settled, dict(met)


def surplus_findings(
    hidden: Iterable[Finding], baseline: Baseline, met_counts: Mapping[BaselineKey, int]
) -> IdentitySet[Finding]:
    """Return the hidden findings whose key has more findings than before.

    Which of them are new is unknown.
    """
    many = {key for key, count in met_counts.items() if count > baseline.entries[key].times}
    if not many:
        return IdentitySet()
    return IdentitySet(
        finding for finding in hidden if finding.baselined and find_baseline_key(baseline, finding) in many
    )


def find_stale_entries(
    baseline: Baseline, met: Iterable[BaselineKey], ran: Sequence[CheckedScope], rule_names: Mapping[str, str]
) -> dict[BaselineKey, BaselineEntry]:
    """Return the entries that no finding has any more, where their rules were run and could decide."""
    met_keys = set(met)
    devices = {device for run in ran for device in run.devices}
    remaining_entries = {key: entry for key, entry in baseline.entries.items() if key not in met_keys}
    return {
        key: entry for key, entry in remaining_entries.items() if _was_entry_rechecked(entry, ran, rule_names, devices)
    }


def _was_entry_rechecked(
    entry: BaselineEntry, ran: Sequence[CheckedScope], names: Mapping[str, str], devices: set[str]
) -> bool:
    subject = parsed(entry.subject)
    if not subject[0].startswith("@") and subject[0] not in devices:
        return False
    rule = names.get(entry.rule)
    return rule is not None and any(run.was_rule_decided_on(rule, subject) for run in ran)


def update_baseline(
    former_baseline: Baseline,
    findings: Iterable[Finding],
    ended_entries: Mapping[BaselineKey, BaselineEntry],
    *,
    prune: bool,
) -> tuple[Baseline, int, int]:
    """Return a baseline with the current findings, how many are new, and how many have other facts than before.

    Ended entries are kept unless `prune`, and so are entries that were not checked; an entry of a
    finding that has other facts now gives way to that finding.
    """
    entries: dict[BaselineKey, BaselineEntry] = {}
    formerly: set[str] = set()
    for finding in findings:
        key = (finding.fingerprint, digest_finding_facts(finding))
        entry = entries.get(key) or BaselineEntry(rule=finding.rule, subject=subject_text(finding.subject), times=0)
        entries[key] = replace(entry, times=entry.times + 1)
        formerly.update(finding.former)
    current_fingerprints = {fingerprint for fingerprint, _ in entries}
    fingerprints = former_baseline.fingerprints()
    new = sum(key not in former_baseline.entries and key[0] not in fingerprints for key in entries)
    changed_count = sum(key not in former_baseline.entries and key[0] in fingerprints for key in entries)
    for key, entry in former_baseline.entries.items():
        if key in entries:
            if not prune:
                entries[key] = replace(entries[key], times=max(entry.times, entries[key].times))
        elif key[0] not in current_fingerprints | formerly and not (prune and key in ended_entries):
            entries[key] = entry
    return Baseline(entries=entries), new, changed_count


def format_baseline(baseline: Baseline) -> str:
    """Return the text of a baseline, in the order of rules and subjects."""
    rules: dict[str, dict[str, list[str]]] = {}
    for (fingerprint, facts), entry in baseline.entries.items():
        times = f" x{entry.times}" if entry.times > 1 else ""
        rules.setdefault(entry.rule, {}).setdefault(entry.subject, []).append(f"{fingerprint} {facts}{times}")
    lines = [_FILE_HEADER, f"version: {BASELINE_VERSION}\n", "findings:\n" if rules else "findings: {}\n"]
    for rule, subjects in sorted(rules.items()):
        lines.append(f"  {rule}:\n")
        for subject, marks in sorted(subjects.items(), key=lambda item: (subject_sort_key(parsed(item[0])), item[0])):
            mark = marks[0] if len(marks) == 1 else f"[{', '.join(sorted(marks))}]"
            lines.append(f"    {_quote_subject(subject)}: {mark}\n")
    return "".join(lines)


def _quote_subject(subject: str) -> str:
    """Return a subject as a key of YAML; of one that parsers would give up on, as much as they read."""
    if _PLAIN_TEXT_PATTERN.fullmatch(subject) and len(subject) <= _MAX_SUBJECT_CHARACTERS:
        return subject
    escaped_text, room = "", _MAX_SUBJECT_CHARACTERS
    for char in subject.encode("utf-8", "backslashreplace").decode():
        piece = f"\\{char}" if char in '"\\' else char if " " <= char <= "~" else f"\\U{ord(char):08x}"
        room -= len(piece)
        if room < 0:
            break
        escaped_text += piece
    return f'"{escaped_text}"'


def load(path: Path, display: str | None = None) -> Baseline:
    """Read a baseline; raise InputProblems with the line of all that `format_baseline` would not write."""
    shown = display or str(path)
    return loads(read_regular_file(path, shown, MAX_BASELINE_BYTES), shown)


def loads(file_content: bytes, display: str) -> Baseline:
    """Read a baseline from its text, which problems name `display`; InputProblems as of `load`."""
    return Baseline(entries=_BaselineLoader(parse_yaml(file_content, display, max_bytes=MAX_BASELINE_BYTES)).entries())


class _BaselineLoader:
    """A document on its way to a baseline."""

    def __init__(self, document: DocumentWithPlaces) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def entries(self) -> dict[BaselineKey, BaselineEntry]:
        data = mapping_or_empty(self.document.data)
        expected = "the keys version and findings, as `nodrop baseline` writes them"
        if not {"version", "findings"} <= data.keys():
            self._raise_problem((), "no baseline", expected)
        if extra := sorted(map(str, data.keys() - {"version", "findings"})):
            self._raise_problem((extra[0],), f"the key {quote_text(extra[0])}", expected)
        if data["version"] != BASELINE_VERSION:
            self._raise_problem(("version",), f"version {quote_text(str(data['version']))}", BASELINE_VERSION)
        entry_by_key: dict[BaselineKey, BaselineEntry] = {}
        for rule, subjects in self._items_of_mapping(("findings",), data["findings"]):
            for subject, marks in self._items_of_mapping(("findings", rule), subjects):
                for key, times in self._parse_fingerprints(("findings", rule, subject), marks):
                    entry_by_key[key] = BaselineEntry(rule=rule, subject=subject, times=times)
        if self.problems:
            raise InputProblems(self.problems)
        return entry_by_key

    def _items_of_mapping(self, at: tuple[str, ...], value: object) -> Iterable[tuple[str, object]]:
        if value is None or value == {}:
            return ()
        if not isinstance(value, dict):
            self._record_problem(at, "no mapping", "keys with values")
            return ()
        return value.items()

    def _parse_fingerprints(self, at: tuple[str, ...], value: object) -> Iterator[tuple[BaselineKey, int]]:
        for mark in value if isinstance(value, list) else [value]:
            match = _BASELINE_ENTRY_PATTERN.fullmatch(mark) if isinstance(mark, str) else None
            if match is None:
                self._record_problem(at, "no fingerprint with a digest", "32 and 16 hexadecimal digits")
            else:
                yield (match[1], match[2]), int(match[3] or 1)

    def _record_problem(self, at: tuple[str, ...], found_text: str, expected: str) -> None:
        line, column = self.document.line_and_column(at)
        problem = Problem(path=self.document.path, line=line, column=column, found=found_text, expected=expected)
        self.problems.append(problem)
        if len(self.problems) >= 20:
            raise InputProblems(self.problems)

    def _raise_problem(self, at: tuple[str, ...], found_text: str, expected: str) -> None:
        self._record_problem(at, found_text, expected)
        raise InputProblems(self.problems)
