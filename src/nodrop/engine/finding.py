"""The results of the linter: findings, missing facts, and the verdict that holds them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from nodrop.engine.fact_words import describe_fact
from nodrop.errors import Problem
from nodrop.model.change import Change, CommandsForCase
from nodrop.model.reading import NOT_COMPUTED_TEXT_START, Note
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key
from nodrop.syntax.places import Span

Severity = Literal["error", "warning", "note"]
Confidence = Literal["certain", "likely", "possible"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_RANK_BY_SEVERITY: Mapping[str, int] = {"note": 1, "warning": 2, "error": 3}
_RANK_BY_FAIL_ON: Mapping[str, int] = {"error": 3, "warning": 2, "unknown": 2, "note": 1, "never": 4}
FindingFact = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """A place that a user can open: the file as it is shown, and the span in it."""

    file: str
    span: Span | None

    def describe(self, *, column: bool = True) -> str:
        """Return `file:line:column`; the file alone where the line is not known."""
        position = f"{self.span.line}:{self.span.column}" if self.span and column else self.span and self.span.line
        return f"{self.file}:{position}" if position else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedPart:
    """Another part of the fabric that the finding speaks of."""

    subject: Subject
    message: str
    located: FileLocation | None = None
    decides: bool = False
    """Whether it is the key by which an intent decides what the finding points at; the first of `related`, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixCommands:
    """What to type on one switch or host to end a finding, and the other findings of its group there."""

    device: str
    language: str
    """What takes the lines: a platform, `frr` (vtysh) or `hosts`."""
    lines: tuple[str, ...]
    condition: str = ""
    """The case that the lines are for, as `if no filter is wanted`; empty where they always end the finding."""
    impact: str = ""
    """What the lines disturb on a running switch, and why; empty where nothing is known to be disturbed."""
    ports: tuple[str, ...] = ()
    """The ports that change, where the lines do not name all of them: those of a shared map, profile or scheduler."""
    notes: tuple[str, ...] = ()
    """What the lines do not show: keys of a file that they split."""
    outdated_files: tuple[str, ...] = ()
    """Files beside those of the switch that lead to the same state, so that they are out of date afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """The remedy, in words; `changes` give it in terms of the model where the rule can.

    `safe` changes cannot make anything worse, whether or not the configuration was meant: they set the owner's own
    policy, or a value that has no valid alternative. `intent` gives the value to set in the intent that such a fabric
    is built from, by its path there.
    """

    text: str
    safe: bool = False
    changes: tuple[Change, ...] = ()
    intent: tuple[tuple[str, object], ...] = ()
    completing: tuple[Change, ...] = ()
    """The changes that the commands make too, because `changes` alone would cause new findings."""
    default_changes: tuple[Change, ...] = ()
    """The changes that are made where there are no others: `Fix.or_default` takes them."""
    default_safe: bool = False
    spelled: tuple[str, ...] = ()
    """The commands of the rule for the device, with a slot for the port (`platforms/kit/command_lines.py`)."""
    language: str = ""
    """What takes `spelled`."""
    condition: str = ""
    """The case that changes and `spelled` are for; empty where they always end the finding."""
    choices: tuple[CommandsForCase, ...] = ()
    """What to type in the other cases, and to see which case it is."""
    after: tuple[str, ...] = ()
    """The rules whose findings on the same switch are corrected first, where it is known what to type for them."""
    commands: tuple[FixCommands, ...] = ()
    """What to type, by device; filled late, for findings that are shown."""

    def or_default(self) -> "Fix":
        """Return the fix with its default changes, where it has no others."""
        if self.changes or not self.default_changes:
            return self
        return replace(self, changes=self.default_changes, safe=self.default_safe)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionReason:
    """Why a finding is accepted, until which day, and where that is written: `nodrop.yaml:12`."""

    reason: str
    until: str | None
    """As ISO 8601 has days."""
    location: str
    inline: bool = False
    """Whether that is a comment in the text at fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of a fabric.

    `subject` is the scope's subject: the key of identity, examples, suppression and baseline. `at` is the part to point
    at. `group` is equal for findings with the same cause, and differs for others. `located` is filled late, for
    findings only. `fingerprint` is made of the rule, the subject and (for analyses) a discriminator, of nothing else.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    subject: Subject
    at: Subject
    device: str | None
    group: str
    fingerprint: str
    facts: Mapping[str, FindingFact] = field(default_factory=dict)
    related: tuple[RelatedPart, ...] = ()
    fix: Fix | None = None
    located: FileLocation | None = None
    doubt: str = ""
    """What was assumed, or is a default, and makes it likely only; else why the rule alone is not certain."""
    explained_by: str = ""
    """The `group` of the findings whose correction ends this one too; empty where there is none."""
    corrected_after: str = ""
    """The rule whose findings are corrected first, because the correction of this one alone causes new findings."""
    causes_findings_of: tuple[str, ...] = ()
    """The rules of the findings that its correction causes, unless the fix has `completing` changes."""
    left_out: tuple[str, ...] = ()
    """The names that the message counts as "and N more"."""
    within: str = ""
    """Where the files of its fabric lie, if several fabrics are checked at once: their devices may share names."""
    parts: tuple[Subject, ...] = ()
    """The parts of the model that the row at fault sets, of a remark about a row that several parts share."""
    former: tuple[str, ...] = ()
    """What the fingerprint was when the rule had a former name."""
    suppressed: SuppressionReason | None = None
    baselined: bool = False
    """Whether it was there, with the same facts, when the baseline was made; one that is suppressed is not."""

    @property
    def hidden(self) -> bool:
        """Whether it is not reported, and does not count."""
        return self.suppressed is not None or self.baselined

    def concerns(self, part: Subject, *, shortest: int = 1) -> bool:
        """Whether it is about a part, one below or above it, or mentions such; those above have `shortest` words."""
        subjects = [self.subject, self.at, *(mention.subject for mention in self.related)]
        ends = [tuple(end) for end in ends_of_cable_key(self.subject[2])] if self.subject[1:2] == ("links",) else []
        return any(
            other[: len(part)] == part
            or (len(other) >= shortest and part[: len(other)] == other and other != (FABRIC_HEAD,))
            for other in (*subjects, *ends)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownVerdict:
    """A rule could not be decided because a fact is missing; `settled_by` names what would supply it.

    `settled_by` is empty for what nodrop does not compute. With `places`, the verdict is about lines whose effect is
    unknown, and `missing` names the settings of these lines.
    """

    rule: str
    missing: str
    subjects_count: int
    devices: tuple[str, ...]
    resolved_by: str
    places: tuple[FileLocation, ...] = ()

    @property
    def reason(self) -> str:
        """Return the missing fact and what supplies it, or what nodrop does not compute."""
        if self.missing.startswith(NOT_COMPUTED_TEXT_START):
            return self.missing
        fact = describe_fact(self.missing)
        if self.resolved_by == f"a file that states {fact}":
            return f"no file states {fact}"
        return f"needs {fact}; supply {self.resolved_by}" if self.resolved_by else f"needs {fact}"

    @property
    def text_about_line_of_unknown_effect(self) -> str:
        """Return a report's text about unknown lines."""
        return f"`{self.missing}`: nodrop does not know what this line changes"


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricVerdict:
    """All results of the linter for a fabric. `problems` are rules that crashed: nodrop's own faults."""

    findings: tuple[Finding, ...]
    unknown: tuple[UnknownVerdict, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    rules: int = 0
    """How many rules were evaluated."""


def reaches_threshold(severity: str, fail_on: str) -> bool:
    """Whether a severity is as bad as the threshold, or worse."""
    return _RANK_BY_SEVERITY[severity] >= _RANK_BY_FAIL_ON[fail_on]
