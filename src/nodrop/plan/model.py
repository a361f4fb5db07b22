"""Parts of a plan: switches that are added, removed and changed, the facts that change on them, and the effects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nodrop.errors import Problem
from nodrop.model.change import DISRUPTIONS, Change, Disruption
from nodrop.model.fabric import Device
from nodrop.model.subject import Subject
from nodrop.platforms.kit.editing import subject_of
from nodrop.platforms.kit.settings import Difference

DeviceChangeKind = Literal["added", "removed", "replaced", "changed"]
KINDS: tuple[DeviceChangeKind, ...] = ("added", "removed", "replaced", "changed")
"""What becomes of a switch; a replaced one runs another operating system afterwards."""
ChangeMeans = Literal["patch", "commands", "by hand", "follows", "unknown"]
"""How a fact is changed on its switch: by the patch, by commands that nodrop writes because no patch makes it, by a
person, or by the switch itself, which works it out from other changes; unknown where the files are not at hand."""
Risk = Disruption | Literal["unknown"]
CHANGE_RISKS: tuple[Risk, ...] = ("none", "unknown", *DISRUPTIONS[1:])
"""From nothing to: the switch's own tool does not take it. What is not known may be nothing."""


class DifferingEntry(NamedTuple):
    """One place where two switches, or two ports of the same name, differ; `path` goes on from there.

    A row that only one side has is None on the other.
    """

    path: Subject
    old: Any
    new: Any
    computed: bool = False
    """Whether the switch works it out from other settings, so that nothing is to be changed for it."""


FoundEntries = tuple[tuple[DifferingEntry, ...], tuple[DifferingEntry, ...]]
"""What changes, and what one side does not say."""


class PortGroupChange(NamedTuple):
    """Ports of a switch on which the same facts change; the switch itself where there are no ports."""

    ports: tuple[str, ...]
    entries: tuple[DifferingEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChange:
    """The change of one switch; `unsaid` are parts that one of the two sides does not state, which is no change."""

    name: str
    kind: DeviceChangeKind
    old: Device | None
    new: Device | None
    parts: tuple[PortGroupChange, ...] = ()
    unsaid: tuple[PortGroupChange, ...] = ()

    def changes(self) -> Iterator[Change]:
        """Yield the required changes of the model, one part after the other."""
        for ports, entries in self.parts:
            for entry in entries:
                for port in ports or (None,):
                    path = entry.path if port is None else ("interfaces", port, *entry.path)
                    yield Change(subject=subject_of(self.name, path), old=entry.old, new=entry.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of a change on a running switch, the reasons, and the means to make it."""

    risk: Risk = "none"
    reasons: tuple[str, ...] = ()
    means: ChangeMeans = "patch"
    by_hand: tuple[str, ...] = ()
    """Why no patch makes it, or what to type instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact that changes, at one or several places that are reported together: queues, colors, rows of one table."""

    entries: tuple[DifferingEntry, ...]
    effect: Effect = Effect()

    @property
    def is_switch_computed(self) -> bool:
        """Whether the switch works it out from other settings."""
        return all(entry.computed for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Facts that change alike on the same ports of several switches of one platform, release and model.

    Without ports they are facts of the switches themselves; without devices, of the fabric. On `alike` switches, facts
    of the same kinds change at as many places, but to different values.
    """

    devices: tuple[str, ...]
    ports: tuple[str, ...]
    facts: tuple[Fact, ...]
    alike: tuple[str, ...] = ()


class ChangeShare(NamedTuple):
    """Which of a switch's changes go in one pass over the switches.

    `towards`: those of ports and sessions that lead to the switches `ends`; `elsewhere`: all others. `guarding`:
    watchdogs that come or change; `unguarded`: all others. `safe`: all but PFC that comes and watchdogs that go;
    `daring`: these.
    """

    kind: Literal["all", "towards", "elsewhere", "guarding", "unguarded", "safe", "daring"] = "all"
    ends: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _SHARES[self.kind].format(", ".join(self.ends))


_SHARES = {
    "all": "all",
    "towards": "what leads to {}",
    "elsewhere": "all but what leads to {}",
    "guarding": "watchdogs",
    "unguarded": "all but watchdogs",
    "safe": "all but PFC that comes and watchdogs that go",
    "daring": "PFC that comes and watchdogs that go",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Switches that may be changed at the same time, and why they come when they do."""

    devices: tuple[str, ...]
    why: str
    tier: int = 0
    """How far they are from hosts, in cables."""
    shares: tuple[ChangeShare, ...] = ()
    """What of the changes of each switch is made then; all where there are none."""

    def share(self, device: str) -> ChangeShare:
        """Return the share of a switch's changes that the stage makes."""
        return self.shares[self.devices.index(device)] if self.shares else ChangeShare()

    @property
    def own(self) -> tuple[str, ...]:
        """Return the switches that the stage is about: not those that only make the changes leading to these."""
        return tuple(device for device in self.devices if self.share(device).kind != "towards")

    def follows(self, other_stage: "Stage") -> bool:
        """Whether it is one switch of those that go one after the other for one reason."""
        return len(self.own) == 1 and (self.why, self.tier) == (other_stage.why, other_stage.tier)


HazardTime = Literal["between", "within", "inside"]
"""Between two stages; while the switches of one stage change; or while one switch is changed, step by step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard:
    """A fault that a rollout causes temporarily: neither the old fabric nor the new one has it.

    `stage` counts from 1: the last stage done (`between`), or the stage in progress; `moment` describes that in words.
    `rule` names the fault, first at `subject`, and in so many `places`.
    """

    when: HazardTime
    stage: int
    moment: str
    rule: str
    severity: str
    subject: Subject
    message: str
    places: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The result for the intermediate states: the hazards that no order avoids, and how many states were not checked.

    `why` explains the unusual part of the order, `avoided` is the hazard of the usual one.
    """

    why: str = ""
    avoided: Hazard | None = None
    hazards: tuple[Hazard, ...] = ()
    tried: int = 0
    untried: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What all changes of switches do together, where that is worse than what any of them does alone."""

    devices: tuple[str, ...]
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A difference in files that sets switches differently without any fact of the model.

    `at` is the file and, in it, the table or part of the configuration; `keys` are paths that begin so, never values.
    """

    devices: tuple[str, ...]
    at: Subject
    keys: tuple[Difference, ...]
    effect: Effect = Effect()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What lies between two fabrics: nothing where nothing of the model changes."""

    old: str
    """The name of the fabric as it is."""
    new: str
    devices: tuple[DeviceChange, ...] = ()
    """Switches that come, go or change, by name."""
    told: tuple[Told, ...] = ()
    """All facts that change, those of the fabric first."""
    together: tuple[Together, ...] = ()
    outside: tuple[Outside, ...] = ()
    """What changes in files beside that, on switches that are among the devices."""
    unsaid: tuple[Told, ...] = ()
    """What one of the two sides does not say."""
    order: tuple[Stage, ...] = ()
    rollout: Rollout | None = None
    """What is known of the states between; None where nobody looked."""
    problems: tuple[Problem, ...] = ()
    """What could not be read on either side, so that nothing is said of it."""
    effects: Mapping[str, Risk] = field(default_factory=dict)
    """The worst that is done to each switch that changes."""
    left: Mapping[str, Mapping[Subject, str]] = field(default_factory=dict)
    """By switch, which changes no patch makes in its own files, and why: nobody has to try them again."""
    exact: bool = False
    """Whether a patch is to make the new files themselves, and not only what the model has of them: somebody wrote
    the old ones, too, and they are not what a switch says of itself while it runs."""

    @property
    def empty(self) -> bool:
        """Whether nothing changes."""
        return not self.devices and not self.told

    @property
    def risk(self) -> Risk:
        """The worst that is done to any switch."""
        return worst_risk(self.effects.values())


def worst_risk(risks: "Iterator[Risk] | Any") -> Risk:
    """Return the worst of some risks."""
    return max(risks, key=CHANGE_RISKS.index, default="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Differences between running and intended switches: empty where all were collected and run as intended."""

    plan: Plan
    """From what runs to what is wanted, of switches that are both collected and wanted."""
    uncollected: tuple[str, ...] = ()
    """Switches that are wanted, of which there are no running files."""
    foreign: tuple[str, ...] = ()
    """Switches of which there are running files, and which nobody wants."""
    own: tuple[Told, ...] = ()
    """What switches wrote by themselves beside what they were given, which is no drift."""
    own_outside: tuple[Outside, ...] = ()
    """The same of what is no fact of the model."""

    @property
    def empty(self) -> bool:
        """Whether nothing differs."""
        return self.plan.empty and not self.uncollected and not self.foreign
