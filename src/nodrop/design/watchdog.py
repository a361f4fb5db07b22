"""The watchdogs' timers, derived as one set and checked once, so that the hop nearest to the fault acts first."""

from dataclasses import dataclass

from nodrop.errors import Problem
from nodrop.fabric.qos import PfcWatchdog
from nodrop.intent.schema import Intent, WatchdogTimers

BASE_DETECTION_MS = 200
"""SONiC `pfcwd start_default` (sonic-utilities pfcwd/main.py): 200 ms for up to 32 ports, more in steps of 32."""
DETECTION_MS = (100, 5000)
RESTORATION_MS = (100, 60000)
POLLING_MS = (100, 1000)
"""Ranges of SONiC's YANG (sonic-pfcwd.yang); polling up to 1000 ms holds in every release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """What every port of a side gets, and how often its switch looks; None is a side without a watchdog."""

    hosts: PfcWatchdog
    fabric: PfcWatchdog | None
    polling_ms: int


def scale(ports: int) -> int:
    """Return SONiC's factor for the timers of a switch with that many ports."""
    return (ports - 1) // 32 + 1


def derive(intent: Intent, ports: int, lossless: tuple[int, ...], problems: list[Problem]) -> Timers:
    """Return the timers of a fabric whose largest switch has `ports`; a set that cannot work is a problem."""
    wanted = intent.pfc.watchdog
    hosts = _timers(wanted.hosts, BASE_DETECTION_MS * scale(ports), lossless)
    assert hosts.detection_ms is not None
    fabric = None if wanted.fabric == "off" else _timers(wanted.fabric, 3 * hosts.detection_ms, lossless)
    detections = [side.detection_ms for side in (hosts, fabric) if side and side.detection_ms is not None]
    polling = (
        wanted.polling if wanted.polling is not None else min(max(min(detections) // 2, POLLING_MS[0]), POLLING_MS[1])
    )
    timers = Timers(hosts=hosts, fabric=fabric, polling_ms=polling)
    _check(intent, timers, problems)
    return timers


def _timers(wanted: WatchdogTimers, detection_ms: int, lossless: tuple[int, ...]) -> PfcWatchdog:
    detection = wanted.detection if wanted.detection is not None else detection_ms
    restoration = wanted.restoration if wanted.restoration is not None else 2 * detection
    return PfcWatchdog(priorities=lossless, detection_ms=detection, restoration_ms=restoration, action=wanted.action)


def _check(intent: Intent, timers: Timers, problems: list[Problem]) -> None:
    keys = ("pfc", "watchdog")
    low, high = POLLING_MS
    if not low <= timers.polling_ms <= high:
        problems.append(intent.problem((*keys, "polling"), f"{timers.polling_ms} ms", f"{low} to {high} ms"))
    for name, side in (("hosts", timers.hosts), ("fabric", timers.fabric)):
        if side is None or side.detection_ms is None or side.restoration_ms is None:
            continue
        for key, value, (least, most) in (
            ("detection", side.detection_ms, DETECTION_MS),
            ("restoration", side.restoration_ms, RESTORATION_MS),
        ):
            if not least <= value <= most:
                problems.append(intent.problem((*keys, name, key), f"{value} ms", f"{least} to {most} ms"))
        if side.detection_ms < 2 * timers.polling_ms:
            found = f"detection {side.detection_ms} ms at a polling of {timers.polling_ms} ms"
            expected = f"at least two pollings, {2 * timers.polling_ms} ms"
            problems.append(intent.problem((*keys, name), found, expected))
        if side.restoration_ms < side.detection_ms:
            found = f"restoration {side.restoration_ms} ms is less than detection {side.detection_ms} ms"
            problems.append(intent.problem((*keys, name, "restoration"), found))
    if timers.fabric and timers.fabric.detection_ms is not None and timers.hosts.detection_ms is not None:
        latest = timers.hosts.detection_ms + 2 * timers.polling_ms
        if not latest < timers.fabric.detection_ms:
            found = f"fabric detection {timers.fabric.detection_ms} ms"
            expected = f"more than {latest} ms: hosts' detection and two pollings, so that the nearest hop acts first"
            problems.append(intent.problem((*keys, "fabric"), found, expected))
