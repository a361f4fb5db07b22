"""Observations of a running fabric by nodrop's own computation, Batfish or real daemons; in one shape, to compare.

A check is a question about every item of a kind, and an item is a subject. The observation of an item is a value that
can be compared with the values that others observe, and with the expected value. An item without a value and without
an explanation is a separate fault: silence never passes.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from nodrop.model.fabric import Device
from nodrop.model.index import IndexChannel
from nodrop.model.reading import FilePlace
from nodrop.model.subject import FABRIC_HEAD, Subject

ObservationCheck = Literal[
    "configuration", "links", "packets", "sessions", "addresses", "routes", "reach", "failures", "recoveries"
]
OBSERVATION_CHECKS: Final[tuple[ObservationCheck, ...]] = get_args(ObservationCheck)
"""In the order in which a fault of one explains those of the next.

    configuration  (device,)                              "whole" | "in part" | "refused"
    links          (@fabric, links, a--b)                 "up" | "down": both ends are each other's next router
    packets        (@fabric, links, a--b)                 "crosses" | "lost": the largest packet an end may send, DF set
    sessions       Router.at(neighbor)                    "up" | "down"
    addresses      (@fabric, addresses, 10.0.0.1)         the ports that have it, "leaf1:Ethernet0", sorted, a tuple;
                                                          of "router id 10.0.0.1" the devices. Loopbacks and ports of
                                                          the default VRF; not VLANs and bundles
    routes         (device, @routes, VRF or "", prefix)   the ports of the next hops, a frozenset; {"discard"} drops.
                                                          Of BGP and static routes in use; not of connected ones
    reach          (device, @reach, VRF or "", prefix)    "delivered" | "no route" | "loop" | "denied": packets from the
                                                          device to each address in the prefix that hosts have, else to
                                                          the router's own, on every equal path: the worst of them
    failures       (@fabric, failures, what fails)        what it loses: pairs (device, prefix), a frozenset
    recoveries     (@fabric, failures, what fails)        "as before" | "not as before", after it has come back
"""


DeliveryFate = Literal["loop", "no route", "denied", "delivered"]
DELIVERY_FATES: Final[tuple[DeliveryFate, ...]] = get_args(DeliveryFate)
"""What becomes of packets, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLine:
    """A refused line of a configuration, and the reason given; `place` is None if it has none."""

    device: str
    text: str
    said: str
    place: FilePlace | None = None
    matters: bool = True
    """Whether the rest can no longer be trusted; a line that changes nothing of what is checked does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingFlow:
    """Packets that one build delivers and the other does not."""

    source: str
    """The device at which they start."""
    port: str
    """The port from which they come in, as the validator calls it; "" where the device itself sends them."""
    prefix: str
    destination: str
    """An address in the prefix that shows it."""
    old: str
    """What becomes of them in the old build, in the validator's words: `ACCEPTED`, `NO_ROUTE, DENIED_IN`."""
    new: str
    lost: bool
    """Whether it is the new build that does not deliver them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorObservation:
    """The observations of one validator. `by` is its name in messages: `Batfish`, `real FRR`."""

    by: str
    seen: Mapping[ObservationCheck, Mapping[Subject, Hashable]]
    said: Mapping[tuple[ObservationCheck, Subject], str] = field(default_factory=dict)
    """The validator's own words for what it saw of an item: `HALF_OPEN`, `Idle (peer refused the AS number)`."""
    unseen: Mapping[ObservationCheck, Mapping[Subject, str]] = field(default_factory=dict)
    """Items that it cannot see, with the fact that says why; an item of nothing, (), stands for all of a check.

    An item that has a value too was seen so this time and may be seen otherwise the next, which nothing is held
    against: it is judged, and not compared.
    """
    refused: tuple[RefusedLine, ...] = ()
    flows: tuple[DifferingFlow, ...] = ()
    """What differs from another build of the fabric, where it was held against one."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how it was done: the sample that was taken, versions, seconds."""

    def reason_unseen(self, check: ObservationCheck, checked_subject: Subject) -> str:
        """Why it cannot see an item; "" where it can."""
        reason_by_item = self.unseen.get(check, {})
        return reason_by_item.get(checked_subject) or reason_by_item.get((), "")


OBSERVATIONS_CHANNEL = IndexChannel[Sequence[ValidatorObservation]]("observations")
"""The observations of validators, for the rules about them."""


def route_item(
    device: Device | str, prefix: str, vrf: str | None = None, check: ObservationCheck = "routes"
) -> Subject:
    """Return the item of a route, or of packets to a prefix."""
    return device if isinstance(device, str) else device.name, f"@{check}", vrf or "", prefix


def failure_item(failure_name: str) -> Subject:
    """Return the item of a failure: of a device by its name, of a cable by its ends, as in `subject.link`."""
    return FABRIC_HEAD, "failures", failure_name


def address_item(address: str) -> Subject:
    """Return the item of an address."""
    return FABRIC_HEAD, "addresses", address
