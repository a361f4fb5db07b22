"""A change of the model, and the result in the documents of a device on its platform: an edit."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from nodrop.model.subject import Subject

Disruption = Literal["none", "traffic-affecting", "service restart", "port bounce", "reboot", "refused"]
DISRUPTIONS: tuple[Disruption, ...] = get_args(Disruption)
"""What a step does to a running switch, from nothing to: the switch's own tool refuses it."""


FILE_SETTING_AREA = "@document"
"""What a change of a setting in a device's file has as its area: `leaf1/@document/PFC_WD/GLOBAL/BIG_RED_SWITCH`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One part of the model and its new value: `new` is a value of the model, or as YAML writes it.

    A setting of a file that the model has no place for is a part of the device's `FILE_SETTING_AREA`.

    `old` is the value when the change was planned; a document with a different value is not changed. A row is removed
    by None, and added where it does not exist yet (old None).
    """

    subject: Subject
    old: object
    new: object


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchStep:
    """One operation of a patch (RFC 6902) on a running switch, and its effect on traffic and services there."""

    op: Literal["add", "remove", "replace"]
    path: str
    value: object = None
    disruption: Disruption = "none"
    reason: str = ""
    """Why the disruption, or the refusal; empty where there is none."""
    affected: tuple[str, ...] = ()
    """The ports that go down and up, or the services that start again."""
    command: str = ""
    """What is typed for it, because the tool that takes patches refuses it (`reason`); no patch has it then."""

    @property
    def operation(self) -> Mapping[str, object]:
        """Return the operation as RFC 6902 writes it."""
        members: dict[str, object] = {"op": self.op, "path": self.path}
        return members if self.op == "remove" else members | {"value": self.value}


def worst_disruption(patch_steps: Iterable[PatchStep]) -> Disruption:
    """Return the worst that any of the steps does."""
    return max((step.disruption for step in patch_steps), key=DISRUPTIONS.index, default="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualChange:
    """A change that the platform does not make by itself: why, and what to do instead."""

    change: Change
    line: str
    commands: tuple[str, ...] = ()
    """What to type for it, with slots for the port; none where that is not known."""
    ports: tuple[str, ...] = ()
    """The ports that the commands change, where these are those of a group."""


@dataclass(frozen=True, slots=True)
class CommandsForCase:
    """Commands for one of the cases that only the owner can distinguish, with slots for the port."""

    condition: str
    """The case, as `if a filter is not wanted`; of commands that show which case it is, `first check`."""
    language: str
    lines: tuple[str, ...]
    shows_only: bool = False
    """Whether the commands only show the state of the switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """The result of changes: files by canonical name, the same as a patch, and the steps left to do by hand.

    All bytes of a file that the changes do not concern stay. `follows` lists the other differences when the files are
    read again, because the switch computes them from the changed values.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    """The new text of every file that is different now."""
    steps: tuple[PatchStep, ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict)
    """The steps in the forms that the platform's own tools take, by file name."""
    by_hand: tuple[ManualChange, ...] = ()
    follows: tuple[Change, ...] = ()

    @property
    def disruption(self) -> Disruption:
        """The worst that any step does; a patch with a refused step is refused as a whole."""
        return worst_disruption(self.steps)

    @property
    def patch(self) -> str:
        """Return the steps as the text of one patch (RFC 6902), ordered to be applied as they are."""
        return json.dumps([step.operation for step in self.steps if not step.command], indent=2) + "\n"

    @property
    def commands_outside_patch(self) -> str:
        """Return the commands for the steps that no patch makes, a line each; nothing where there are none."""
        lines = dict.fromkeys(step.command for step in self.steps if step.command)
        return "".join(f"{line}\n" for line in lines)
