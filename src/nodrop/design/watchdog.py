"""The watchdogs' timers, derived as one set and checked once, so that the hop nearest to the fault acts first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from nodrop.errors import Problem
from nodrop.fabric.qos import PfcWatchdog
from nodrop.intent.schema import Intent, WatchdogTimers

BASE_DETECTION_MS = 200
"""SONiC `pfcwd start_default` (sonic-utilities pfcwd/main.py): 200 ms for up to 32 ports, more in steps of 32."""
FABRIC_FACTOR = 3
"""The fabric's detection is that many times the hosts', as far as the range allows."""
DETECTION_MS = (100, 5000)
RESTORATION_MS = (100, 60000)
POLLING_MS = (100, 1000)
"""Ranges of SONiC's YANG (sonic-pfcwd.yang); polling up to 1000 ms holds in every release."""

_KEYS = ("pfc", "watchdog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The timers of the ports of a side, and what happens to the queue that was stuck."""

    detection_ms: int
    restoration_ms: int
    action: Literal["drop", "forward", "alert"]

    def watchdog(self, lossless: tuple[int, ...]) -> PfcWatchdog:
        """Return the watchdog of a port."""
        return PfcWatchdog(
            priorities=lossless,
            detection_ms=self.detection_ms,
            restoration_ms=self.restoration_ms,
            action=self.action,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """What every port of a side gets, and how often its switch looks; None is a side without a watchdog."""

    hosts: Side
    fabric: Side | None
    polling_ms: int

    def sides(self) -> Iterator[tuple[str, Side]]:
        """Yield the sides that have a watchdog, by their key in an intent."""
        yield "hosts", self.hosts
        if self.fabric:
            yield "fabric", self.fabric

    @property
    def latest_ms(self) -> int:
        """When the hosts' side has acted at the latest: its detection and two pollings."""
        return self.hosts.detection_ms + 2 * self.polling_ms


def scale(ports: int) -> int:
    """Return SONiC's factor for the timers of a switch with that many ports."""
    return (ports - 1) // 32 + 1


def derive(intent: Intent, ports: int) -> Timers:
    """Return the timers of a fabric whose largest switch has `ports`.

    Where the platform's longest detection is not later than the hosts', a fabric side that states none is off.
    """
    wanted = intent.pfc.watchdog
    hosts = _side(wanted.hosts, BASE_DETECTION_MS * scale(ports))
    fabric = None
    if wanted.fabric != "off":
        fabric = _side(wanted.fabric, min(FABRIC_FACTOR * hosts.detection_ms, DETECTION_MS[1]))
    result = Timers(hosts=hosts, fabric=fabric, polling_ms=_polling(intent, hosts, fabric))
    if wanted.fabric != "off" and wanted.fabric.detection is None and result.latest_ms >= DETECTION_MS[1]:
        return replace(result, fabric=None)
    return result


def _side(wanted: WatchdogTimers, detection_ms: int) -> Side:
    detection = wanted.detection if wanted.detection is not None else detection_ms
    restoration = wanted.restoration if wanted.restoration is not None else 2 * detection
    return Side(detection_ms=detection, restoration_ms=restoration, action=wanted.action)


def _polling(intent: Intent, hosts: Side, fabric: Side | None) -> int:
    if intent.pfc.watchdog.polling is not None:
        return intent.pfc.watchdog.polling
    smallest = min(side.detection_ms for side in (hosts, fabric) if side)
    return min(max(smallest // 2, POLLING_MS[0]), POLLING_MS[1])


def watchdog_faults(intent: Intent, timers: Timers) -> Iterator[Problem]:
    """Yield what is wrong with a set of timers: ranges first, then how they relate."""
    yield from list(_range_faults(intent, timers)) or _relation_faults(intent, timers)


def _range_faults(intent: Intent, timers: Timers) -> Iterator[Problem]:
    ranges: dict[tuple[str, ...], tuple[int, tuple[int, int]]] = {("polling",): (timers.polling_ms, POLLING_MS)}
    for name, side in timers.sides():
        ranges[name, "detection"] = side.detection_ms, DETECTION_MS
        ranges[name, "restoration"] = side.restoration_ms, RESTORATION_MS
    for keys, (value, (low, high)) in ranges.items():
        if not low <= value <= high:
            yield intent.problem((*_KEYS, *keys), f"{value} ms", f"{low} to {high} ms")


def _relation_faults(intent: Intent, timers: Timers) -> Iterator[Problem]:
    polling = timers.polling_ms
    for name, side in timers.sides():
        if side.detection_ms < 2 * polling:
            found = f"{side.detection_ms} ms is less than two pollings of {polling} ms"
            yield intent.problem((*_KEYS, name, "detection"), found, f"at least {2 * polling} ms")
        if side.restoration_ms < side.detection_ms:
            found = f"{side.restoration_ms} ms is less than detection"
            yield intent.problem((*_KEYS, name, "restoration"), found, f"at least {side.detection_ms} ms")
    if timers.fabric and timers.fabric.detection_ms <= timers.latest_ms:
        found = f"{timers.fabric.detection_ms} ms is too early"
        expected = f"more than {timers.latest_ms} ms, the hosts' detection and two pollings"
        hint = "so that the hop nearest to the fault acts first"
        yield intent.problem((*_KEYS, "fabric", "detection"), found, expected, hint)
