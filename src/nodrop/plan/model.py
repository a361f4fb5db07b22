"""Parts of a plan: switches that are added, removed and changed, the facts that change on them, and the effects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nodrop.errors import Problem
from nodrop.model.change import DISRUPTIONS, Change, Disruption
from nodrop.model.fabric import Device
from nodrop.model.subject import Subject
from nodrop.platforms.kit.editing import subject_of_path_in_device
from nodrop.platforms.kit.settings import FileSettingDifference

DeviceChangeKind = Literal["added", "removed", "replaced", "changed"]
DEVICE_CHANGE_KINDS: tuple[DeviceChangeKind, ...] = ("added", "removed", "replaced", "changed")
"""How a switch changes; a replaced one runs another operating system afterwards."""
ChangeMethod = Literal["patch", "commands", "by hand", "derived", "unknown"]
"""How a fact is changed on its switch: by the patch, by commands that nodrop writes because no patch makes it, by a
person, or by the switch itself, which derives it from other changes; unknown if the files are not available."""
ChangeRisk = Disruption | Literal["unknown"]
CHANGE_RISKS: tuple[ChangeRisk, ...] = ("none", "unknown", *DISRUPTIONS[1:])
"""From nothing to: the switch's own tool does not take it. What is not known may be nothing."""


class DifferingEntry(NamedTuple):
    """One place where two switches, or two ports of the same name, differ; `path` goes on from there.

    A row that only one side has is None on the other.
    """

    path: Subject
    old: Any
    new: Any
    computed: bool = False
    """Whether the switch derives it from other settings."""


ChangedAndUnstatedEntries = tuple[tuple[DifferingEntry, ...], tuple[DifferingEntry, ...]]
"""Entries that change, and entries that one side does not state."""


class PortGroupChange(NamedTuple):
    """Ports of a switch on which the same facts change; the switch itself where there are no ports."""

    ports: tuple[str, ...]
    entries: tuple[DifferingEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChange:
    """The change of one switch; `not_compared` are parts that one of the two sides does not state."""

    name: str
    kind: DeviceChangeKind
    old: Device | None
    new: Device | None
    parts: tuple[PortGroupChange, ...] = ()
    not_compared: tuple[PortGroupChange, ...] = ()

    def changes(self) -> Iterator[Change]:
        """Yield the required changes of the model, one part after the other."""
        for ports, entries in self.parts:
            for entry in entries:
                for port in ports or (None,):
                    path = entry.path if port is None else ("interfaces", port, *entry.path)
                    yield Change(subject=subject_of_path_in_device(self.name, path), old=entry.old, new=entry.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEffect:
    """The effect of a change on a running switch, the reasons, and the means to make it."""

    risk: ChangeRisk = "none"
    reasons: tuple[str, ...] = ()
    method: ChangeMethod = "patch"
    by_hand: tuple[str, ...] = ()
    """Why no patch makes it, or what to type instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFact:
    """A fact that changes, at one or several places that are reported together: queues, colors, rows of one table."""

    entries: tuple[DifferingEntry, ...]
    effect: ChangeEffect = ChangeEffect()

    @property
    def is_switch_computed(self) -> bool:
        """Whether the switch derives it from other settings."""
        return all(entry.computed for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFactGroup:
    """Facts that change alike on the same ports of several switches of one platform, release and model.

    Without ports they are facts of the switches themselves; without devices, of the fabric. On `alike` switches, facts
    of the same kinds change at as many places, but to different values.
    """

    devices: tuple[str, ...]
    ports: tuple[str, ...]
    facts: tuple[ChangedFact, ...]
    alike: tuple[str, ...] = ()


class ChangeScope(NamedTuple):
    """The part of a switch's changes that one pass over the switches makes.

    `towards`: those of ports and sessions that lead to the switches `ends`; `elsewhere`: all others. `guarding`:
    watchdogs that come or change; `unguarded`: all others. `safe`: all but PFC that comes and watchdogs that go;
    `daring`: these.
    """

    kind: Literal["all", "towards", "elsewhere", "guarding", "unguarded", "safe", "daring"] = "all"
    ends: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _TEXT_BY_SCOPE_KIND[self.kind].format(", ".join(self.ends))


_TEXT_BY_SCOPE_KIND = {
    "all": "all",
    "towards": "what leads to {}",
    "elsewhere": "all but what leads to {}",
    "guarding": "watchdogs",
    "unguarded": "all but watchdogs",
    "safe": "all but PFC that comes and watchdogs that go",
    "daring": "PFC that comes and watchdogs that go",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStage:
    """Switches that may be changed at the same time, and the reason for their place in the order."""

    devices: tuple[str, ...]
    why: str
    tier: int = 0
    """How far they are from hosts, in cables."""
    scopes: tuple[ChangeScope, ...] = ()
    """The part of each switch's changes that the stage makes; empty: all changes."""

    def scope(self, device: str) -> ChangeScope:
        """Return the part of a switch's changes that the stage makes."""
        return self.scopes[self.devices.index(device)] if self.scopes else ChangeScope()

    @property
    def main_switches(self) -> tuple[str, ...]:
        """Return the switches that the stage is about: not those that only make the changes leading to these."""
        return tuple(device for device in self.devices if self.scope(device).kind != "towards")

    def continues_series_of(self, other_stage: "RolloutStage") -> bool:
        """Whether it is one switch of those that go one after the other for one reason."""
        return len(self.main_switches) == 1 and (self.why, self.tier) == (other_stage.why, other_stage.tier)


HazardTime = Literal["between stages", "within stage", "within switch"]
"""Between two stages; while the switches of a stage change; or while one switch changes, step by step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutHazard:
    """A fault that a rollout causes temporarily: neither the old fabric nor the new one has it.

    `stage` counts from 1: the last stage done (`between stages`), or the stage in progress; `moment` describes that in
    words. `rule` names the fault at `subject`, the first of `subjects_count`.
    """

    when: HazardTime
    stage: int
    moment: str
    rule: str
    severity: str
    subject: Subject
    message: str
    subjects_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutCheckResult:
    """The result for the intermediate states: the hazards that no order avoids, and how many states were not checked.

    `why` explains the unusual part of the order, `avoided` is the hazard of the usual one.
    """

    why: str = ""
    avoided: RolloutHazard | None = None
    hazards: tuple[RolloutHazard, ...] = ()
    states_checked: int = 0
    states_not_checked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactOfChangesTogether:
    """The effect of several changes together, if it is worse than that of each alone."""

    devices: tuple[str, ...]
    effect: ChangeEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmodeledChange:
    """A difference in files that sets switches differently without any fact of the model.

    `at` is the file and, in it, the table or part of the configuration; `keys` are paths that begin so, never values.
    """

    devices: tuple[str, ...]
    at: Subject
    keys: tuple[FileSettingDifference, ...]
    effect: ChangeEffect = ChangeEffect()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes from one fabric to another."""

    old: str
    """The name of the old fabric."""
    new: str
    devices: tuple[DeviceChange, ...] = ()
    """Added, removed and changed switches, by name."""
    changes: tuple[ChangedFactGroup, ...] = ()
    """All facts that change, those of the fabric first."""
    combined_impact: tuple[ImpactOfChangesTogether, ...] = ()
    outside_model: tuple[UnmodeledChange, ...] = ()
    """Changes in files outside the model, on switches of `devices`."""
    not_compared: tuple[ChangedFactGroup, ...] = ()
    """Facts that one of the two sides does not state."""
    order: tuple[RolloutStage, ...] = ()
    rollout: RolloutCheckResult | None = None
    """The results for intermediate states; None if they were not checked."""
    problems: tuple[Problem, ...] = ()
    """Input of either side that could not be read."""
    effects: Mapping[str, ChangeRisk] = field(default_factory=dict)
    """The worst effect on each changed switch."""
    left: Mapping[str, Mapping[Subject, str]] = field(default_factory=dict)
    """By switch, the changes that no patch can make, with the reason; they need not be tried again."""
    exact: bool = False
    """Whether a patch must produce the new files exactly, not only their facts: both sides are written files, not
    states of a running switch."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.devices and not self.changes

    @property
    def risk(self) -> ChangeRisk:
        """Return the worst effect on any switch."""
        return worst_risk(self.effects.values())


def worst_risk(risks: "Iterator[ChangeRisk] | Any") -> ChangeRisk:
    """Return the worst of some risks."""
    return max(risks, key=CHANGE_RISKS.index, default="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Differences between running and intended switches: empty where all were collected and run as intended."""

    plan: Plan
    """From the running to the intended state, for switches that have both."""
    uncollected: tuple[str, ...] = ()
    """Intended switches without running files."""
    foreign: tuple[str, ...] = ()
    """Running switches that are not intended."""
    automatic: tuple[ChangedFactGroup, ...] = ()
    """Settings that switches add by themselves; they are no drift."""
    automatic_outside_model: tuple[UnmodeledChange, ...] = ()
    """The same for settings outside the model."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return self.plan.is_empty and not self.uncollected and not self.foreign
