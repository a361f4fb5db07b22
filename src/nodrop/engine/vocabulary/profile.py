"""Words about profiles: thresholds, timers and shares that lie outside the bands of a vendor or a site."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from nodrop import units
from nodrop.engine.vocabulary import declare_word
from nodrop.model import effects
from nodrop.model.fabric import Fabric
from nodrop.model.profile import Band, EcnBand, Profile, WatchdogBand
from nodrop.model.purposes import STORAGE_PURPOSES
from nodrop.model.qos import PfcWatchdog, QosProfile, Queue
from nodrop.model.states import Unknown, UnknownFact, require_fact


@declare_word("function")
def ecn_differences_from_profile(profile: Profile, speed_mbps: int | None | Unknown, queue: Queue) -> str:
    """Return the differences of a queue's marking from a profile, as the end of a sentence; nothing without any.

    The speed of the port is required where the profile depends on it.
    """
    wred, band = require_fact(queue.wred, "queue.wred"), _ecn_band(profile, speed_mbps)
    if wred is None or band is None:
        return ""
    green = wred.green
    clauses = (
        _describe_outside_band("marks from", green.min_bytes, band.min_bytes, _format_bytes_exactly),
        _describe_outside_band("reaches full marking at", green.max_bytes, band.max_bytes, _format_bytes_exactly),
        _describe_outside_band("then marks", green.probability_percent, band.probability_percent, _format_percent),
    )
    return _render_differences(clauses, profile, band.source)


def _ecn_band(profile: Profile, speed_mbps: int | None | Unknown) -> EcnBand | None:
    """Return the first row for ports of this speed."""
    for band in profile.ecn:
        if band.speeds_mbps and isinstance(speed_mbps, Unknown):
            raise UnknownFact("interface.speed_mbps")
        if not band.speeds_mbps or speed_mbps in band.speeds_mbps:
            return band
    return None


@declare_word("function", rests_on=("cables",))
def watchdog_differences_from_profile(
    profile: Profile, side: str | None | Unknown, polling_ms: int | None | Unknown, watchdog: PfcWatchdog
) -> str:
    """Return the differences of a port's watchdog from a profile, as the end of a sentence; nothing without any.

    What a platform's watchdog does not have, such as an action, is not compared. Which way the port looks is asked for
    where the profile goes by it.
    """
    band = _watchdog_band(profile, side)
    if band is None:
        return ""
    polling = polling_ms if band.polling_ms is None else require_fact(polling_ms, "device.watchdog_polling_ms")
    action = require_fact(watchdog.action, "interface.qos.pfc_watchdog.action")
    wrong = bool(band.actions) and action is not None and action not in band.actions
    detection = require_fact(watchdog.detection_ms, "interface.qos.pfc_watchdog.detection_ms")
    restoration = require_fact(watchdog.restoration_ms, "interface.qos.pfc_watchdog.restoration_ms")
    clauses = (
        _describe_outside_band("detects after", detection, band.detection_ms, _format_ms),
        _describe_outside_band("restores after", restoration, band.restoration_ms, _format_ms),
        _describe_outside_band(
            "is polled every", polling if isinstance(polling, int) else None, band.polling_ms, _format_ms
        ),
        f"has action {action} instead of {' or '.join(band.actions)}" if wrong else "",
    )
    return _render_differences(clauses, profile, band.source)


def _watchdog_band(profile: Profile, side: str | None | Unknown) -> WatchdogBand | None:
    """Return the first row for ports that look this way."""
    for band in profile.watchdog:
        if band.side is not None and isinstance(side, Unknown):
            raise UnknownFact("interface.side")
        if band.side in (None, side):
            return band
    return None


@declare_word("function", rests_on=("classes", "mode"))
def share_differences_from_profile(fabric: Fabric, profile: Profile, qos: QosProfile) -> str:
    """Which kinds of traffic have another share of a port than in a profile, as a clause; nothing where none has."""
    queues = require_fact(qos.queues, "interface.qos.queues") if profile.shares else ()
    weights = {queue.index: weight for queue in queues if (weight := _weight_of_queue(queue))}
    clauses = []
    for band in profile.shares:
        used = [weights[index] for index in _queues_of_purpose(fabric, qos, band.purpose) if index in weights]
        share = round(100 * sum(used) / sum(weights.values())) if used else None
        outside = _describe_outside_band(f"gives {band.purpose}", share, band.percent, _format_percent)
        if outside:
            clauses.append(_render_differences((outside,), profile, band.source))
    return "; ".join(clauses)


def _weight_of_queue(queue: Queue) -> int:
    """Return the weight of a queue among those that take turns; 0 where it has none."""
    scheduler = require_fact(queue.scheduler, "queue.scheduler")
    return (scheduler.weight or 0) if scheduler is not None and scheduler.type != "strict" else 0


def _queues_of_purpose(fabric: Fabric, qos: QosProfile, purpose: str) -> tuple[int, ...]:
    """Return the queues that a kind of traffic leaves by."""
    if purpose == "rdma":
        return effects.rdma_queues(fabric, qos)
    wanted_storages = STORAGE_PURPOSES if purpose == "storage" else {purpose}
    dscps = {
        dscp
        for traffic_class in fabric.classes
        if traffic_class.purpose in wanted_storages
        for dscp in traffic_class.dscp
    }
    return tuple(sorted({effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)) for dscp in dscps}))


def _describe_outside_band(words: str, number: int | None, band: Band | None, spell: Callable[[int], str]) -> str:
    """How a number lies outside a band; nothing where it does not, or where there is none."""
    if band is None or number is None or band.low <= number <= band.high:
        return ""
    right = spell(band.low) if band.low == band.high else f"{spell(band.low)} to {spell(band.high)}"
    number_text = spell(number)
    return f"{words} {number_text} instead of {right}"


def _render_differences(clauses: Iterable[str], profile: Profile, source: str) -> str:
    differences = ", ".join(filter(None, clauses))
    return f"{differences} (profile {profile.name}: {source})" if differences else ""


def _format_bytes_exactly(count: int) -> str:
    """Bytes exactly: in powers of ten where four digits do, else of two, else to the byte."""
    shown = units.show_bytes(count)
    with suppress(units.MalformedText):  # four digits of a large number may be no size: 1e+11 MB
        if units.parse_size_bytes(shown.replace(" ", "")) == count:
            return shown
    size_unit = next(((size, unit) for size, unit in ((2**20, "MiB"), (2**10, "KiB")) if count % size == 0), None)
    return f"{count // size_unit[0]} {size_unit[1]}" if size_unit else f"{count} bytes"


def _format_ms(time: int) -> str:
    return f"{time} ms"


def _format_percent(share: int) -> str:
    return f"{share} %"
