"""The watchdogs' timers, derived as one set and checked once, to let the hop nearest to the fault act first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from nodrop.design.boxes import traits_by_group, traits_of
from nodrop.design.faults import KeyFault
from nodrop.design.modes import has_pfc
from nodrop.design.topology import TierSwitchGroup, Topology
from nodrop.hardware import asic
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.schema import Pfc, WatchdogTimers
from nodrop.model.fabric import Mode
from nodrop.model.qos import PfcWatchdog
from nodrop.model.timeouts import QP_RETRANSMIT_TIMEOUT_MS
from nodrop.platforms.kit.traits import InclusiveRange, PlatformTraits, WatchdogTraits

BASE_DETECTION_MS = 200
"""SONiC `pfcwd start_default` (sonic-utilities pfcwd/main.py): 200 ms for up to 32 ports, more in steps of 32."""
FABRIC_DETECTION_FACTOR = 3
"""The fabric's detection is that many times the hosts', as far as every platform allows."""
MAX_DETECTION_MS = 5000
"""The longest detection that every platform takes (sonic-pfcwd.yang): what is derived holds on any of them."""
TIMER_STEP_MS = 100
"""What is cut short is cut to a multiple of it, which has divisors enough for switches that count pollings."""

POLLING_RANGE_MS = (100, 1000)
"""Between them is a polling that is not stated (sonic-pfcwd.yang; the least and the most that every release takes)."""

_WATCHDOG_KEY_PATH = ("pfc", "watchdog")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideWatchdogTimers:
    """The timers of the ports of a side, and what happens to the queue that was stuck."""

    detection_ms: int
    restoration_ms: int
    action: Literal["drop", "forward", "alert"]

    def watchdog(self, lossless: tuple[int, ...], *, history: bool = False) -> PfcWatchdog:
        """Return the watchdog of a port."""
        return PfcWatchdog(
            priorities=lossless,
            detection_ms=self.detection_ms,
            restoration_ms=self.restoration_ms,
            action=self.action,
            history=history or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricWatchdogTimers:
    """What every port of a side gets, and how often a switch looks, by group; None is a side without a watchdog."""

    hosts: SideWatchdogTimers
    fabric: SideWatchdogTimers | None
    wanted_polling_ms: int
    """How often switches look that take any number of milliseconds."""
    polling_ms: Mapping[TierSwitchGroup, int]
    unwatched: tuple[str, ...] = ()
    """Roles whose switches have one set of timers, and so no watchdog towards other switches."""

    def sides(self) -> Iterator[tuple[str, SideWatchdogTimers]]:
        """Yield the sides that have a watchdog, by their key in an intent."""
        yield "hosts", self.hosts
        if self.fabric:
            yield "fabric", self.fabric

    @property
    def latest_host_side_action_ms(self) -> int:
        """When the hosts' side has acted at the latest: its detection and two pollings."""
        slowest_ms = max(polling_ms for group, polling_ms in self.polling_ms.items() if group.tier == 0)
        return self.hosts.detection_ms + 2 * slowest_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class _WatchedGroup:
    """A group whose platform's watchdog monitors a side."""

    group: TierSwitchGroup
    of: WatchdogTraits

    @property
    def title(self) -> str:
        return traits_of(self.group).title


def _watching_groups_by_side(topology: Topology) -> dict[str, tuple[_WatchedGroup, ...]]:
    """Return the groups that watch each side: a switch next to hosts with one set of timers watches these alone."""
    watched = [_WatchedGroup(group=group, of=held.watchdog) for group, held in traits_by_group(topology).items()]
    return {
        "hosts": tuple(group for group in watched if group.group.tier == 0),
        "fabric": tuple(group for group in watched if group.group.tier or not group.of.robustness),
    }


def supports_pause_history(platform_traits: PlatformTraits, switch_model: SwitchModel) -> bool:
    """Whether the switches of a tier can estimate the history of pauses."""
    return asic(switch_model.asic).sonic_type in platform_traits.watchdog.history


def watchdog_timer_scale(ports: int) -> int:
    """Return SONiC's factor for the timers of a switch with that many ports."""
    return (ports - 1) // 32 + 1


def derive_watchdog_timers(topology: Topology, mode: Mode, pfc: Pfc, ports: int) -> FabricWatchdogTimers | None:
    """Return the timers of a fabric whose largest switch has `ports`; None where there is no PFC to watch.

    They are the same on every platform but for the polling, and act before queue pairs time out by NCCL's defaults.
    Where the longest such detection is not later than the hosts', a fabric side that states none is off.
    """
    if not has_pfc(mode):
        return None
    wanted_watchdog = pfc.watchdog
    hosts = _make_watchdog_side(
        wanted_watchdog.hosts,
        _default_detection_ms(
            pfc, BASE_DETECTION_MS * watchdog_timer_scale(ports), BASE_DETECTION_MS * watchdog_timer_scale(ports)
        ),
    )
    fabric, later_ms = None, FABRIC_DETECTION_FACTOR * hosts.detection_ms
    if wanted_watchdog.fabric != "off" and topology.joins:
        fabric = _make_watchdog_side(wanted_watchdog.fabric, _default_detection_ms(pfc, later_ms, hosts.detection_ms))
    result = _build_watchdog_timers(topology, pfc, hosts, fabric)
    cut = (
        fabric
        and wanted_watchdog.fabric != "off"
        and wanted_watchdog.fabric.detection is None
        and fabric.detection_ms < later_ms
    )
    if fabric and cut and fabric.detection_ms <= result.latest_host_side_action_ms:
        return replace(result, fabric=None, unwatched=())
    return result


def _default_detection_ms(pfc: Pfc, detection_ms: int, smallest_ms: int) -> int:
    """Return a detection that is not stated, no longer than every platform takes and than queue pairs wait."""
    step = pfc.watchdog.polling or TIMER_STEP_MS
    longest = min(MAX_DETECTION_MS, QP_RETRANSMIT_TIMEOUT_MS - 1 - _choose_polling_ms(pfc, smallest_ms)) // step * step
    return min(_round_up_to_polling(pfc, detection_ms), max(longest, step))


def _choose_polling_ms(pfc: Pfc, smallest_ms: int) -> int:
    """Return how often switches look where the smallest detection is `smallest_ms`."""
    low, high = POLLING_RANGE_MS
    return pfc.watchdog.polling or min(max(smallest_ms // 2, low), high)


def _build_watchdog_timers(
    topology: Topology, pfc: Pfc, hosts: SideWatchdogTimers, fabric: SideWatchdogTimers | None
) -> FabricWatchdogTimers:
    """Return timers with how often the switches of each role look: as stated, else half the smallest detection.

    A switch that counts pollings looks as often as divides its detection, and no later where that can be.
    """
    polling = _choose_polling_ms(pfc, min(side.detection_ms for side in (hosts, fabric) if side))
    group_traits = traits_by_group(topology)
    own_sides = {group: hosts if group.tier == 0 else fabric or hosts for group in group_traits}
    unwatched = [group.role for group, held in group_traits.items() if group.tier == 0 and held.watchdog.robustness]
    return FabricWatchdogTimers(
        hosts=hosts,
        fabric=fabric,
        wanted_polling_ms=polling,
        polling_ms={
            group: _find_dividing_polling(pfc, held.watchdog, side.detection_ms, polling, most_ms=polling)
            or _find_dividing_polling(pfc, held.watchdog, side.detection_ms, polling)
            or polling
            for group, held in group_traits.items()
            for side in (own_sides[group],)
        },
        unwatched=tuple(dict.fromkeys(unwatched)) if fabric else (),
    )


def _make_watchdog_side(wanted_watchdog_timers: WatchdogTimers, detection_ms: int) -> SideWatchdogTimers:
    detection = wanted_watchdog_timers.detection if wanted_watchdog_timers.detection is not None else detection_ms
    restoration = (
        wanted_watchdog_timers.restoration if wanted_watchdog_timers.restoration is not None else 2 * detection
    )
    return SideWatchdogTimers(detection_ms=detection, restoration_ms=restoration, action=wanted_watchdog_timers.action)


def _round_up_to_polling(pfc: Pfc, detection_ms: int) -> int:
    """Return a detection that is not stated, up to the next whole number of stated pollings."""
    polling = pfc.watchdog.polling or 1
    return -(-detection_ms // polling) * polling


def _find_dividing_polling(
    pfc: Pfc, watchdog_traits: WatchdogTraits, detection_ms: int, polling_ms: int, *, most_ms: int = MAX_DETECTION_MS
) -> int | None:
    """Return the given polling if it is stated or divides a detection, else the longest that divides it, if any."""
    if pfc.watchdog.polling or not watchdog_traits.robustness or detection_ms % polling_ms == 0:
        return polling_ms
    low, high = watchdog_traits.polling_ms
    candidates = range(min(detection_ms // 2, high, most_ms), low - 1, -1)
    return next((polling for polling in candidates if detection_ms % polling == 0), None)


def watchdog_faults(topology: Topology, pfc: Pfc, timers: FabricWatchdogTimers | None) -> Iterator[KeyFault]:
    """Yield the faults of a set of timers: ranges first, then their relations."""
    if timers is not None:
        if not topology.joins and "fabric" in pfc.watchdog.model_fields_set:
            fault = "timers of links between switches, which there are none of"
            yield KeyFault((*_WATCHDOG_KEY_PATH, "fabric"), fault, "no timers of these")
        yield from list(_timer_range_faults(topology, timers)) or _timer_relation_faults(topology, pfc, timers)


def _timer_range_faults(topology: Topology, timers: FabricWatchdogTimers) -> Iterator[KeyFault]:
    watched = _watching_groups_by_side(topology)
    pollings = {
        (timers.polling_ms[group], held.watchdog.polling_ms) for group, held in traits_by_group(topology).items()
    }
    checks: list[tuple[tuple[str, ...], int, InclusiveRange]] = [
        (("polling",), *polling) for polling in sorted(pollings)
    ]
    for name, side in timers.sides():
        for tier in watched[name]:
            checks.append(((name, "detection"), side.detection_ms, tier.of.detection_ms))
            if tier.of.restoration_ms:
                checks.append(((name, "restoration"), side.restoration_ms, tier.of.restoration_ms))
    for keys, value, (low, high) in dict.fromkeys(checks):
        if not low <= value <= high:
            yield KeyFault((*_WATCHDOG_KEY_PATH, *keys), f"{value} ms", f"{low} to {high} ms")


def _timer_relation_faults(topology: Topology, pfc: Pfc, timers: FabricWatchdogTimers) -> Iterator[KeyFault]:
    watched = _watching_groups_by_side(topology)
    yield from _queue_fill_polling_faults(topology, pfc, timers)
    for name, side in timers.sides():
        polling = max(timers.polling_ms[tier.group] for tier in watched[name])
        inexact = list(_detection_step_faults(pfc, timers, name, side, watched[name]))
        yield from inexact
        if side.detection_ms < 2 * polling and not inexact:
            fault = f"{side.detection_ms} ms is less than two pollings of {polling} ms"
            yield KeyFault((*_WATCHDOG_KEY_PATH, name, "detection"), fault, f"at least {2 * polling} ms")
        yield from _restoration_step_faults(timers, name, side, watched[name])
        if side.restoration_ms < side.detection_ms:
            fault = f"{side.restoration_ms} ms is less than detection"
            yield KeyFault((*_WATCHDOG_KEY_PATH, name, "restoration"), fault, f"at least {side.detection_ms} ms")
    if timers.fabric and timers.fabric.detection_ms <= timers.latest_host_side_action_ms:
        fault = f"{timers.fabric.detection_ms} ms is too early"
        expected = f"more than {timers.latest_host_side_action_ms} ms, the hosts' detection and two pollings"
        hint = "so that the hop nearest to the fault acts first"
        yield KeyFault((*_WATCHDOG_KEY_PATH, "fabric", "detection"), fault, expected, hint)


def _queue_fill_polling_faults(topology: Topology, pfc: Pfc, timers: FabricWatchdogTimers) -> Iterator[KeyFault]:
    """Yield a polling that is too fast for switches that must check how full queues are."""
    conditions = pfc.watchdog.stuck
    if conditions is None or conditions.fill is None:
        return
    for group, group_traits in traits_by_group(topology).items():
        slowest, polling = group_traits.watchdog.queue_polling_ms, timers.polling_ms[group]
        if group_traits.watchdog.conditions is not None and polling <= slowest:
            hint = f"{group_traits.title} reads the fill level of queues only above this interval"
            yield KeyFault((*_WATCHDOG_KEY_PATH, "polling"), f"{polling} ms", f"more than {slowest} ms", hint)
            return


def _detection_step_faults(
    pfc: Pfc,
    timers: FabricWatchdogTimers,
    name: str,
    side: SideWatchdogTimers,
    watched: tuple[_WatchedGroup, ...],
) -> Iterator[KeyFault]:
    """Yield a detection that is no whole number of pollings, as many as the platform counts, where it counts them."""
    for tier in watched:
        if tier.of.robustness is None or _is_exact_detection(
            pfc, tier.of, timers.polling_ms[tier.group], side.detection_ms
        ):
            continue
        near = " or ".join(f"{value} ms" for value in _nearest_detections(pfc, tier.of, side.detection_ms))
        hint = f"detection is polling × robustness on {tier.title}, whole numbers"
        yield KeyFault((*_WATCHDOG_KEY_PATH, name, "detection"), f"{side.detection_ms} ms", near, hint)


def _restoration_step_faults(
    timers: FabricWatchdogTimers,
    name: str,
    side: SideWatchdogTimers,
    watched: tuple[_WatchedGroup, ...],
) -> Iterator[KeyFault]:
    """Yield a restoration that is no whole number of pollings, as many as the platform counts, where it counts them."""
    for tier in watched:
        if tier.of.recovery is None:
            continue
        polling, (low, high) = timers.polling_ms[tier.group], tier.of.recovery
        earlier = min(max(side.restoration_ms // polling, low), high) * polling
        if earlier != side.restoration_ms:
            near = sorted({earlier, min(earlier + polling, high * polling)})
            hint = f"restoration is polling × recovery interval on {tier.title}, whole numbers"
            expected = " or ".join(f"{value} ms" for value in near)
            yield KeyFault((*_WATCHDOG_KEY_PATH, name, "restoration"), f"{side.restoration_ms} ms", expected, hint)


def _is_exact_detection(pfc: Pfc, watchdog_traits: WatchdogTraits, polling_ms: int, detection_ms: int) -> bool:
    """Whether a detection is a count of pollings that the platform takes, two or more."""
    assert watchdog_traits.robustness
    polling = _find_dividing_polling(pfc, watchdog_traits, detection_ms, polling_ms)
    if polling is None or detection_ms % polling:
        return False
    return max(2, watchdog_traits.robustness[0]) <= detection_ms // polling <= watchdog_traits.robustness[1]


def _nearest_detections(pfc: Pfc, watchdog_traits: WatchdogTraits, detection_ms: int) -> list[int]:
    """Return the nearest detections that are exact, the earlier first."""
    assert watchdog_traits.robustness
    polling = pfc.watchdog.polling
    if polling:
        least, most = max(2, watchdog_traits.robustness[0]) * polling, watchdog_traits.robustness[1] * polling
        earlier = min(max(detection_ms // polling * polling, least), most)
        return sorted({earlier, min(max(earlier + polling, least), most) if earlier < detection_ms else earlier})
    low, high = 2 * watchdog_traits.polling_ms[0], watchdog_traits.detection_ms[1]
    before = (
        value for value in range(detection_ms - 1, low - 1, -1) if _is_exact_detection(pfc, watchdog_traits, low, value)
    )
    after = (
        value
        for value in range(max(detection_ms, low), high + 1)
        if _is_exact_detection(pfc, watchdog_traits, low, value)
    )
    return [value for candidates in (before, after) if (value := next(candidates, 0))]
