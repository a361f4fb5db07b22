"""Verdicts that no rule has: of `nodrop check` on a change as a whole, and of all commands on unknown lines."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND

_TEXT_WIDTH_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinVerdict:
    """A verdict in the words that a rule's page has; formats of findings report it under its name."""

    name: str
    why: str
    fix: str
    area: str = "change"
    severity: str = "error"
    confidence: str = "certain"
    strictness: str = "regular"
    by: str = "error, of `nodrop check` alone"
    """What it counts as, and which commands have it."""

    @property
    def page(self) -> str:
        """What `nodrop explain` prints of it."""
        paragraphs = (f"{self.name}: {self.by}", self.why, f"What to do: {self.fix}")
        return "\n\n".join(textwrap.fill(text, _TEXT_WIDTH_CHARACTERS) for text in paragraphs) + "\n"


ROLLOUT_HAZARD = BuiltinVerdict(
    name="rollout-hazard",
    why="Switches are changed one after the other. With some of them changed, the fabric has an error that it has "
    "neither before nor after the change. No order that was tried avoids it, so the rollout loses or stops traffic.",
    fix="split the change into two that are each safe, or drain the affected switches until all of them are changed; "
    "`nodrop explain RULE` explains the error, and `--rollout report` does not fail the check",
)
BUILD_OUT_OF_DATE = BuiltinVerdict(
    name="build-unlike-intent",
    why="The build is out of date with its intent: the configurations that switches would load are not those that the "
    "intent describes.",
    fix="run `nodrop build` and commit the result; if the files are right, change the intent",
)
RISK_OF_CHANGE = BuiltinVerdict(
    name="risk-of-change",
    why="The impact of the change on running switches reaches `--fail-on-risk`.",
    fix="roll it out in a maintenance window, with the switches drained, and set `--fail-on-risk` one step higher",
)
POLICY_CHANGED = BuiltinVerdict(
    name="policy-changed",
    why="A check uses the policy of the base, and this change alters that policy. The policy is nodrop.yaml or "
    "[tool.nodrop] with its rules, profile and baseline, and the comments that allow findings. Mode, classes, roles "
    "and policy of a fabric.yaml belong to it too. It is an error if findings that fail under the policy of the base "
    "are hidden. It is also an error if switches would no longer be checked; else it is a note.",
    fix="change the policy in a separate pull request that its owners approve, then make the change; "
    "`--config-from work` checks both states with the policy of the working tree",
)
DEVICE_NOT_CHECKED = BuiltinVerdict(
    name="device-not-checked",
    why="A switch that was checked in the base is not checked in the new state. It is an error in three "
    "cases: a file that looks like its configuration is there and is not read; a file or table is gone, and with it "
    "facts of the switch; tables now come from a file that the switch may never load. It is a note where all its files "
    "are deleted.",
    fix="put the files and tables back; if the switch leaves the fabric, delete all its files",
)
UNKNOWN_LINES = BuiltinVerdict(
    name=UNKNOWN_LINE_NOTE_KIND,
    why="A line of a configuration is neither in nodrop's model nor on its list of harmless lines. It may change "
    "sessions, routes, forwarding or queues, so findings and certificates are valid only if it does not. Lines that "
    "set the same are one verdict; `--fail-on unknown` ends with 1.",
    fix="check what the line does on this release, and remove it if it is not needed",
    area="hygiene",
    severity="note",
    by="unknown, of every command that reads configurations",
)
BUILTIN_VERDICTS: Mapping[str, BuiltinVerdict] = {
    ruling.name: ruling
    for ruling in (ROLLOUT_HAZARD, BUILD_OUT_OF_DATE, RISK_OF_CHANGE, POLICY_CHANGED, DEVICE_NOT_CHECKED, UNKNOWN_LINES)
}
