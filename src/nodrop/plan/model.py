"""What a plan is made of: switches that come, go and change, the facts that change on them, and what that does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nodrop.errors import Problem
from nodrop.fabric.change import DISRUPTIONS, Change, Disruption
from nodrop.fabric.fabric import Device
from nodrop.fabric.subject import Subject
from nodrop.platforms.editing import subject_of

Kind = Literal["added", "removed", "replaced", "changed"]
KINDS: tuple[Kind, ...] = ("added", "removed", "replaced", "changed")
"""What becomes of a switch; a replaced one runs another operating system afterwards."""
Means = Literal["patch", "by hand", "follows", "unknown"]
"""How a fact is changed on its switch: by the patch, by a person, or by the switch itself, which works it out from
other changes; unknown where the files are not at hand."""
Risk = Disruption | Literal["unknown"]
RISKS: tuple[Risk, ...] = ("none", "unknown", *DISRUPTIONS[1:])
"""From nothing to: the switch's own tool does not take it. What is not known may be nothing."""


class Entry(NamedTuple):
    """One place where two switches, or two ports of the same name, differ; `path` goes on from there.

    A row that only one side has is None on the other.
    """

    path: Subject
    old: Any
    new: Any
    computed: bool = False
    """Whether the switch works it out from other settings, so that nothing is to be changed for it."""


class Part(NamedTuple):
    """Ports of a switch on which the same facts change; the switch itself where there are no ports."""

    ports: tuple[str, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChange:
    """What becomes of one switch; `unsaid` is what one of the two sides does not say, which is no change."""

    name: str
    kind: Kind
    old: Device | None
    new: Device | None
    parts: tuple[Part, ...] = ()
    unsaid: tuple[Part, ...] = ()

    def changes(self) -> Iterator[Change]:
        """Yield what is to be changed in the model, one part after the other."""
        for ports, entries in self.parts:
            for entry in entries:
                for port in ports or (None,):
                    path = entry.path if port is None else ("interfaces", port, *entry.path)
                    yield Change(subject=subject_of(self.name, path), old=entry.old, new=entry.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a change does to a switch that runs, and why; and how it is made."""

    risk: Risk = "none"
    reasons: tuple[str, ...] = ()
    means: Means = "patch"
    by_hand: tuple[str, ...] = ()
    """Why no patch makes it, or what to type instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact that changes, at one or several places that are told together: queues, colors, rows of one table."""

    entries: tuple[Entry, ...]
    effect: Effect = Effect()

    @property
    def computed(self) -> bool:
        """Whether the switch works it out from other settings."""
        return all(entry.computed for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Facts that change alike on the same ports of several switches of one platform, release and model.

    Without ports they are facts of the switches themselves; without devices, of the fabric. `alike` are switches on
    which facts of the same kinds change at as many places, but to values of their own.
    """

    devices: tuple[str, ...]
    ports: tuple[str, ...]
    facts: tuple[Fact, ...]
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Switches that may be changed at the same time, and why they come when they do."""

    devices: tuple[str, ...]
    why: str
    tier: int = 0
    """How far they are from hosts, in cables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What all changes of switches do together, where that is worse than what any of them does alone."""

    devices: tuple[str, ...]
    effect: Effect


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
    unsaid: tuple[Told, ...] = ()
    """What one of the two sides does not say."""
    order: tuple[Stage, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What could not be read on either side, so that nothing is said of it."""
    effects: Mapping[str, Risk] = field(default_factory=dict)
    """The worst that is done to each switch that changes."""

    @property
    def empty(self) -> bool:
        """Whether nothing changes."""
        return not self.devices and not self.told

    @property
    def risk(self) -> Risk:
        """The worst that is done to any switch."""
        return worst(self.effects.values())


def worst(risks: "Iterator[Risk] | Any") -> Risk:
    """Return the worst of some risks."""
    return max(risks, key=RISKS.index, default="none")
