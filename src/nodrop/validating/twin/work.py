"""The items to observe in a twin, and the observations: passed into the tree that it runs in, and back."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final

from nodrop.model.fabric import Fabric
from nodrop.model.subject import Subject
from nodrop.routing.observation import ObservationCheck
from nodrop.validating.twin.daemons import BootConfiguration


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinOptions:
    """How a twin is run."""

    patience_s: float = 60.0
    """For how long nothing may change while a session that should be up is not."""
    devices: int | None = None
    """How many devices are started at most, of more a sample; None is as many as the machine holds."""
    checks: frozenset[ObservationCheck] = frozenset(
        {"configuration", "links", "packets", "sessions", "addresses", "routes", "reach", "failures", "recoveries"}
    )
    """What is looked at; the rest is told as unseen."""


NOT_ASKED_REASON: Final = "it was not asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationWork:
    """A fabric, with each device's start configuration, and the observation by the built-in computation."""

    fabric: Fabric
    boots: Mapping[str, BootConfiguration]
    without: Mapping[str, str]
    """Devices that start nothing, and why."""
    computed: Mapping[ObservationCheck, Mapping[Subject, Hashable]]
    options: TwinOptions

    @property
    def expected_sessions(self) -> frozenset[Subject]:
        """The sessions that come up as it is computed, which are waited for."""
        return frozenset(item for item, state in self.computed.get("sessions", {}).items() if state == "up")


@dataclass(slots=True, kw_only=True)
class PartialObservation:
    """The part of an observation that one look, or one act, adds."""

    seen: dict[ObservationCheck, dict[Subject, Hashable]] = field(default_factory=dict)
    said: dict[tuple[ObservationCheck, Subject], str] = field(default_factory=dict)
    unseen: dict[ObservationCheck, dict[Subject, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def merge_part(self, further_part: "PartialObservation") -> None:
        """Add what another brings."""
        for check, check_items in further_part.seen.items():
            self.seen.setdefault(check, {}).update(check_items)
        for check, reasons in further_part.unseen.items():
            self.unseen.setdefault(check, {}).update(reasons)
        self.said.update(further_part.said)
        self.notes += further_part.notes
