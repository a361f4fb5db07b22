"""What came of fixing: texts before and after, findings that are gone, and those that are left with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.engine.finding import Finding
from nodrop.model.change import Change, Disruption, Step, worst
from nodrop.results.outcome import Outcome

UnfixedReason = Literal["unsafe", "refused", "by hand", "generated", "no fix"]
FixOutput = Literal["files", "diff", "patches"]
"""What became of it: files were written, or only shown, or patches were written instead."""
UNFIXED_REASONS: tuple[UnfixedReason, ...] = ("unsafe", "refused", "by hand", "generated", "no fix")
"""Why a finding is left, what one can do most about first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A file with other text: `display` as the user named it, `path` None for standard input."""

    device: str
    """The switch that it is of; empty for an intent."""
    name: str
    """Its canonical name on the switch."""
    display: str
    path: Path | None
    old: bytes
    new: bytes
    hidden: frozenset[int] = frozenset()
    """Lines of the old text that hold a secret, which no report repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A finding that remains: why, and the next step or the obstacle."""

    finding: Finding
    why: UnfixedReason
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Input for a switch's tools instead of a file: texts by name, and the effect of each step on the switch."""

    device: str
    steps: tuple[Step, ...]
    forms: Mapping[str, str]
    whole: tuple[str, ...] = ()
    """Those of the forms that are files as they are to be, of which the steps say nothing."""
    follows: tuple[Change, ...] = ()
    """What the switch works out anew from the changes."""

    @property
    def disruption(self) -> Disruption:
        """The worst that any step does."""
        return worst(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """The result for one fabric; `outcome` holds the findings once `files` are written."""

    outcome: Outcome
    made: tuple[Finding, ...] = ()
    left: tuple[Left, ...] = ()
    rewritten: tuple[Rewritten, ...] = ()
    patches: tuple[Patch, ...] = ()

    @property
    def files(self) -> Mapping[str, bytes]:
        """The new texts by the names under which the files are shown."""
        return {file.display: file.new for file in self.rewritten}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result for all fabrics that a command was given, and the mode."""

    fixed: Sequence[Fixed]
    what: FixOutput
