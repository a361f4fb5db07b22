"""Result of a fix run: texts before and after, fixed findings, and remaining ones with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.engine.finding import Finding
from nodrop.model.change import Change, Disruption, PatchStep, worst_disruption
from nodrop.results.outcome import FabricOutcome

UnfixedReason = Literal["unsafe", "refused", "by hand", "generated", "no fix"]
FixOutput = Literal["files", "diff", "patches"]
"""Whether files were written, only shown, or patches were written instead."""
UNFIXED_REASONS: tuple[UnfixedReason, ...] = ("unsafe", "refused", "by hand", "generated", "no fix")
"""Why a finding remains, the easiest to remove first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrittenFile:
    """A file with new text: `display` as the user named it, `path` None for standard input."""

    device: str
    """Its switch; empty for an intent."""
    name: str
    """Its canonical name on the switch."""
    display: str
    path: Path | None
    old: bytes
    new: bytes
    hidden: frozenset[int] = frozenset()
    """Lines of the old text that hold a secret, which no report repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingFinding:
    """A finding that remains: why, and the next step or the obstacle."""

    finding: Finding
    reason: UnfixedReason
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPatch:
    """Input for a switch's tools instead of a file: texts by name, and the effect of each step on the switch."""

    device: str
    steps: tuple[PatchStep, ...]
    files: Mapping[str, str]
    complete_files: tuple[str, ...] = ()
    """Names of `files` that replace the whole file; the steps do not cover them."""
    derived: tuple[Change, ...] = ()
    """Facts that the switch recalculates after the changes."""

    @property
    def disruption(self) -> Disruption:
        """Return the worst disruption of all steps."""
        return worst_disruption(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedFabric:
    """The result for one fabric; `outcome` has the findings after `files` are written."""

    outcome: FabricOutcome
    made: tuple[Finding, ...] = ()
    remaining: tuple[RemainingFinding, ...] = ()
    rewritten: tuple[RewrittenFile, ...] = ()
    patches: tuple[SwitchPatch, ...] = ()

    @property
    def files(self) -> Mapping[str, bytes]:
        """Return the new texts by the displayed names of their files."""
        return {file.display: file.new for file in self.rewritten}


@dataclass(frozen=True, slots=True, kw_only=True)
class FixRunResult:
    """The result for all fabrics that a command was given, and the mode."""

    fixed: Sequence[FixedFabric]
    what: FixOutput
