"""Findings that the site accepts: by rule and subject or place, with a reason, temporarily or permanently.

`mark_suppressed_findings` marks findings, and neither adds nor drops any. Faults of suppressions themselves are
remarks, and rules make findings of them like of any other: suppressions that hide nothing, have ended, or name no rule.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from nodrop.engine.finding import FabricVerdict, FileLocation, Finding, SuppressionReason
from nodrop.engine.rule import Rule
from nodrop.errors import InputProblems, Problem
from nodrop.model.fabric import Fabric
from nodrop.model.reading import FilePlace, Reading, Remark
from nodrop.model.subject import FABRIC_HEAD, Subject, matches, parse_subject, subject_text
from nodrop.model.types import known_word_hint
from nodrop.syntax.places import Span

UNUSED, EXPIRED, UNKNOWN_RULE = "unused-suppression", "expired-suppression", "unknown-rule-in-suppression"
SUPPRESSION_REMARK_KINDS = frozenset({UNUSED, EXPIRED, UNKNOWN_RULE})
"""The remarks about suppressions that are made after all other checks."""

_TODAY_VARIABLE = "NODROP_TODAY"


def today() -> date:
    """Return today's date for the end of suppressions: the day in UTC, or NODROP_TODAY (2027-06-30) where that is set.

    A day in UTC is the same day everywhere, so a laptop and a pipeline give one answer at one time.
    """
    stated = os.environ.get(_TODAY_VARIABLE)
    if not stated:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(stated)
    except ValueError:
        raise InputProblems(
            [Problem(path=_TODAY_VARIABLE, found=f"{stated!r}", expected="a day, such as 2027-06-30")]
        ) from None


PlacesOf = Callable[[Sequence[Finding]], Sequence[tuple[FileLocation, ...]]]
"""For each finding the places by which a comment covers it: where it stands, and where an intent decided it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteDeclaration:
    """A finding that a site accepts: where in the fabric, why, until when, and where that is written."""

    at: str
    reason: str
    until: date | None
    """The last day on which it holds; None: for good."""
    file: str
    line: int
    column: int
    end_column: int = 0
    text: str = ""
    """The line that it is written in, where no file of a device has it."""

    def ended(self, today: date) -> bool:
        """Return whether its last day is past."""
        return self.until is not None and self.until < today

    @property
    def place(self) -> FilePlace:
        """Return where it is written."""
        return FilePlace(self.file, Span(self.line, self.column, self.line, self.end_column or self.column + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression(SiteDeclaration):
    """A written suppression: which rule's findings at which subjects it hides, why, until when, and where.

    `at` is subjects as text, with globs by part (contract 9.5); nothing where it covers `lines`.
    """

    rule: str
    lines: tuple[int, int] | None = None
    """The first and the last line of its file that it covers, if it is a comment."""
    device: str = ""
    """Whose file it is a comment in; nothing for that of an intent."""

    @property
    def location(self) -> str:
        """Where it is written."""
        return f"{self.file}:{self.line}"

    @property
    def reason_for_findings(self) -> SuppressionReason:
        """Return the mark that it puts on a finding."""
        until = None if self.until is None else self.until.isoformat()
        return SuppressionReason(reason=self.reason, until=until, location=self.location, inline=self.lines is not None)

    @property
    def where(self) -> str:
        """Return the covered part, as written in a message."""
        if self.lines is None:
            return f"at {self.at}"
        first_line, last = self.lines
        return f"in line {first_line}" if first_line == last else f"in lines {first_line} to {last}"

    def build_remark(self, kind: str, **facts: str) -> Remark:
        """Return a remark about it, at its place."""
        subject: Subject = (self.device, "@suppressions") if self.device else (FABRIC_HEAD, "suppressions")
        named_facts = {"rule": self.rule, "where": self.where, **facts}
        return Remark(
            kind=kind,
            subject=(*subject, self.rule, *([self.at] if self.at else [])),
            place=self.place,
            facts=named_facts,
        )


def inline_suppressions(reading: Reading) -> Iterator[Suppression]:
    """Yield the suppressions in the files of a fabric."""
    for device, allows in reading.allowed.items():
        shown = {source.name: source.display for source in reading.sources.get(device, ())}
        for allow in allows:
            yield Suppression(
                rule=allow.rule,
                at="",
                reason=allow.reason,
                until=None if allow.until is None else date.fromisoformat(allow.until),
                file=shown.get(allow.file, allow.file),
                line=allow.span.line,
                column=allow.span.column,
                end_column=allow.span.end_column,
                lines=allow.lines,
                device=device,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedScope:
    """The scope of a check: rules, devices, and the rules and devices whose verdict is open."""

    rules: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By rule, the devices on which it could not be decided; no device: nowhere."""

    @classmethod
    def of(cls, rules: Iterable[Rule], verdict: FabricVerdict, reading: Reading) -> "CheckedScope":
        """Return what `rules` were run on, but for those that crashed."""
        crashed = {problem.path for problem in verdict.problems}
        unsure: dict[str, frozenset[str]] = {}
        for unknown_verdict in verdict.unknown:
            devices, before = frozenset(unknown_verdict.devices), unsure.get(unknown_verdict.rule)
            everywhere = not devices or before == frozenset()
            unsure[unknown_verdict.rule] = frozenset() if everywhere else devices | (before or frozenset())
        names = tuple(rule.name for rule in rules if rule.path not in crashed)
        opened = {rule: tuple(sorted(devices)) for rule, devices in unsure.items()}
        return cls(rules=names, devices=tuple(reading.sources), open=opened)

    def was_rule_decided_on(self, rule: str, pattern: Subject) -> bool:
        """Whether a rule was run and decided on something that the pattern covers."""
        if rule not in self.rules:
            return False
        unsure = self.open.get(rule)
        ends = _device_globs(pattern)
        covered = [device for device in self.devices if any(matches((end,), (device,)) for end in ends)]
        covers_ends = all(any(matches((end,), (device,)) for device in covered) for end in ends)
        return covers_ends and (unsure is None or (bool(unsure) and frozenset(unsure).isdisjoint(covered)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionOutcome:
    """The effect of suppressions in one fabric.

    `hits` counts the findings that each suppression of the configuration covers, even if it has ended; `lines` counts
    the lines of each declaration of harmless lines. `days` are the first and the last day on which all this is certain,
    if comments in files name a day: the day of the result, and the first day on which one of them ends.
    """

    hits: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()
    ran: CheckedScope = CheckedScope()
    days: tuple[str, str] | None = None
    met: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Of the baseline's entries, by key, how often each was met."""


def find_unchanged_period(suppressions: Iterable[Suppression], today: date) -> tuple[str, str] | None:
    """Return the first and last day between which the effect of suppressions is the same; None where it always is."""
    days = [suppression.until for suppression in suppressions if suppression.until is not None]
    last = min((day for day in days if day >= today), default=date.max)
    return (today.isoformat(), last.isoformat()) if days else None


def mark_suppressed_findings(
    findings: Sequence[Finding],
    suppressions: Sequence[Suppression],
    current_names: Mapping[str, str],
    today: date,
    places_of: PlacesOf,
) -> tuple[list[Finding], dict[Suppression, int]]:
    """Mark the findings that suppressions cover by the first that covers them, and count the findings of each
    suppression.

    `current_names` has the present name of every rule. Ended suppressions mark nothing but are counted. `places_of` is
    called only for findings of rules that comments name.
    """
    by_rule: dict[str, list[tuple[Suppression, Subject]]] = {}
    for suppression in suppressions:
        by_rule.setdefault(current_names.get(suppression.rule, ""), []).append(
            (suppression, parse_subject(suppression.at))
        )
    near: dict[tuple[str, str], list[tuple[Suppression, Subject]]] = {}
    hits = dict.fromkeys(suppressions, 0)
    placed = _locate_findings(findings, suppressions, current_names, places_of)
    settled = list(findings)
    for number, finding in enumerate(findings):
        of_rule = by_rule.get(finding.rule)
        if of_rule is None:
            continue
        of_device = near.get(at := (finding.rule, finding.subject[0]))
        if of_device is None:
            of_device = near[at] = [row for row in of_rule if row[0].lines or matches(row[1][:1], at[1:])]
        covering = [
            candidate
            for candidate, pattern in of_device
            if _covers_finding(candidate, pattern, finding, placed.get(number, ()))
        ]
        for cover in covering:
            hits[cover] += 1
        holding = next((candidate for candidate in covering if not candidate.ended(today)), None)
        if holding is not None:
            settled[number] = replace(finding, suppressed=holding.reason_for_findings)
    return settled, hits


def _locate_findings(
    findings: Sequence[Finding],
    suppressions: Sequence[Suppression],
    current_names: Mapping[str, str],
    places_of: PlacesOf,
) -> dict[int, tuple[FileLocation, ...]]:
    """Return the places of the findings that a comment may cover, by their numbers."""
    commented = {
        current_names.get(suppression.rule, "") for suppression in suppressions if suppression.lines is not None
    }
    numbers = [number for number, finding in enumerate(findings) if finding.rule in commented]
    places = places_of([findings[number] for number in numbers]) if numbers else ()
    return dict(zip(numbers, places, strict=True))


def _covers_finding(
    suppression: Suppression, pattern: Subject, finding: Finding, places: Iterable[FileLocation]
) -> bool:
    if suppression.lines is None:
        return matches(pattern, finding.subject)
    first_line, last = suppression.lines
    return any(
        place.span is not None and place.file == suppression.file and first_line <= place.span.line <= last
        for place in places
    )


def _device_globs(pattern: Subject) -> tuple[str, ...]:
    """Return the devices that a pattern of subjects speaks of, as globs: of a link both, of the fabric any."""
    if pattern[:1] != (FABRIC_HEAD,):
        return pattern[:1]
    if len(pattern) < 3 or pattern[1] != "links":
        return ("*",)
    return tuple(end.partition(":")[0] for end in pattern[2].split("--"))


def find_suppression_faults(
    suppressions: Iterable[Suppression],
    hits: Iterable[int],
    current_names: Mapping[str, str],
    today: date,
    ran: Sequence[CheckedScope],
    findings: Iterable[Finding] = (),
) -> Iterator[Remark]:
    """Yield the faults of suppressions, each with the number of findings that it covers in the check."""
    findings = tuple(findings)
    for suppression, count in zip(suppressions, hits, strict=True):
        rule = current_names.get(suppression.rule)
        if rule is None:
            hint = known_word_hint(suppression.rule, current_names)
            yield suppression.build_remark(UNKNOWN_RULE, hint=f" ({hint})" if hint else "")
        elif suppression.ended(today):
            yield suppression.build_remark(EXPIRED, until=str(suppression.until), back=_format_returned_findings(count))
        elif not count:
            pattern = (suppression.device,) if suppression.device else parse_subject(suppression.at or "**")
            if any(run.was_rule_decided_on(rule, pattern) for run in ran):
                yield suppression.build_remark(UNUSED, hint=_suggest_wider_pattern(suppression, rule, findings))


def _format_returned_findings(count: int) -> str:
    if not count:
        return "it covers nothing any more"
    return "the finding that it hid is back" if count == 1 else f"the {count} findings that it hid are back"


def reading_of_remarks(remarks: Iterable[Remark]) -> Reading:
    """Return a reading of nothing but remarks."""
    return Reading(fabric=Fabric(name="fabric", mode="lossy", devices=()), remarks=tuple(remarks))


def _suggest_wider_pattern(suppression: Suppression, rule: str, findings: Iterable[Finding]) -> str:
    """Return a hint for an unused suppression if the findings are below the part that it names."""
    below = (*parse_subject(suppression.at), "**")
    if suppression.lines is not None or not any(
        finding.rule == rule and matches(below, finding.subject) for finding in findings
    ):
        return ""
    return f" ({subject_text(below)} would cover what is below it)"
