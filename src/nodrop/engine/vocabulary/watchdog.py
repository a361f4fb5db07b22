"""Words about the PFC watchdog's timers."""

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.qos import facing, policy_watchdog
from nodrop.hardware import asic_of
from nodrop.model.fabric import Counter, Device, Fabric
from nodrop.model.qos import PfcWatchdog, QosProfile, WatchdogConditions
from nodrop.model.states import Unknown, UnknownFact, is_known_off, require_fact
from nodrop.platforms.kit.traits import WatchdogTraits, newest_traits

WATCHDOG_COUNTER_GROUP = "PFCWD"
"""The group of counters by which the watchdog sees a paused queue."""
MIN_POLLINGS_TO_DETECT = 2
"""In how many pollings, one after the other, a queue has to be found stuck."""
LEAST_DETECTION_MS = 200
"""What `watchdog-detects-too-soon` takes for enough, unless its option says otherwise."""


def _watchdog_traits(platform: str) -> WatchdogTraits | None:
    """Return the traits of a platform's watchdog; None where nothing is known of it."""
    traits = newest_traits(platform)
    return None if traits is None else traits.watchdog


@declare_word("function")
def restores_never(platform: str, watchdog: PfcWatchdog) -> bool:
    """Whether a watchdog never frees a queue again: it has no restoration time where every port needs one."""
    settings = _watchdog_traits(platform)
    own_times = settings is not None and settings.robustness is None and settings.restoration_ms is not None
    return own_times and watchdog.restoration_ms is None


@declare_word("function")
def polls_too_slowly(platform: str, polling_ms: int, watchdog: PfcWatchdog) -> bool:
    """Whether a detection time is less than two pollings, where every port has a separate detection time.

    Rule `watchdog-detects-too-soon` reports one that is too short for any polling of the platform.
    """
    settings = _watchdog_traits(platform)
    if settings is None or settings.robustness is not None or watchdog.detection_ms is None:
        return False
    return (
        MIN_POLLINGS_TO_DETECT * settings.polling_ms[0] <= watchdog.detection_ms < MIN_POLLINGS_TO_DETECT * polling_ms
    )


@declare_word("function")
def has_stock_times(device: Device, watchdog: PfcWatchdog) -> bool:
    """Whether a watchdog has the times with which a platform starts its watchdogs by itself, on so many ports."""
    settings = _watchdog_traits(device.platform)
    polling_ms = require_fact(device.watchdog_polling_ms, "device.watchdog_polling_ms")
    return settings is not None and settings.has_stock_times(len(device.interfaces), polling_ms, watchdog)


@declare_word("function")
def stock_watchdog_count(device: Device) -> int:
    """How many ports of a switch that are up have PFC and a watchdog with the times of `has_stock_times`."""
    up = [port for port in device.interfaces if not isinstance(port.enabled, Unknown) and port.enabled]
    watched = [port.qos for port in up if isinstance(port.qos, QosProfile) and port.qos.pfc_rx_priorities]
    return sum(isinstance(dog := qos.pfc_watchdog, PfcWatchdog) and has_stock_times(device, dog) for qos in watched)


@declare_word("function", rests_on=("cables",))
def watches_hosts_only(device: Device) -> bool:
    """Whether all ports of a switch with PFC that face hosts have a watchdog, and none between switches: a practice."""
    watched: dict[str, set[bool]] = {"host": set(), "fabric": set()}
    for port in device.interfaces:
        if not is_known_off(port.enabled) and isinstance(port.qos, QosProfile) and port.qos.pfc_rx_priorities:
            watched.setdefault(facing(port.side), set()).add(require_fact(port.qos.pfc_watchdog) is not None)
    return watched["host"] == {True} and watched["fabric"] == {False}


@declare_word("function")
def acts_after_ms(platform: str, polling_ms: int, watchdog: PfcWatchdog) -> int | None:
    """When a watchdog acts, ms after the first polling that finds a queue stuck: its detection time in whole pollings.

    The stated time is returned where the platform counts pollings, and where it is shorter than two pollings, which
    other rules report.
    """
    settings, stated_ms = _watchdog_traits(platform), require_fact(watchdog.detection_ms)
    if (
        settings is None
        or settings.robustness is not None
        or stated_ms is None
        or stated_ms < MIN_POLLINGS_TO_DETECT * polling_ms
    ):
        return stated_ms
    return -(-stated_ms // polling_ms) * polling_ms


@declare_word("function")
def has_timers_per_port(platform: str) -> bool:
    """Whether every port has separate timers, and each of them has to be stated."""
    settings = _watchdog_traits(platform)
    return settings is not None and settings.robustness is None


@declare_word("filter")
def fabric_timers(platform: str) -> str:
    """Return which timers a watchdog between switches gets on a platform: its own, or those of the whole switch."""
    timed = has_timers_per_port(platform)
    if not timed:
        return "the timers of the switch"
    return "the times of its other ports between switches, else three times those of host ports"


@declare_word("function", rests_on=("policy", "cables"))
def policy_wants_alert_only(fabric: Fabric, side: str | None | Unknown) -> bool:
    """Whether the owner states that the watchdogs of ports of that side only report."""
    wanted_pfc_watchdog = policy_watchdog(fabric, side)
    return isinstance(wanted_pfc_watchdog, PfcWatchdog) and wanted_pfc_watchdog.action == ALERT


@declare_word("function", rests_on=("models",))
def watchdog_flaps_on_chip(model: str | Unknown) -> bool:
    """Whether the watchdog on the chip of a switch model is known to free queues in the middle of a storm."""
    chip = asic_of(model)
    return chip is not None and "frees in a storm" in chip.faults


@declare_word("function")
def watchdog_ports(device: Device) -> tuple[str, ...]:
    """Return the ports of a switch that have a PFC watchdog, as far as is known."""
    return tuple(port.name for port in device.interfaces if _known_watchdog(port.qos))


def _known_watchdog(qos: QosProfile | None | Unknown) -> PfcWatchdog | None:
    """Return a port's watchdog; None too where it is not known."""
    return qos.pfc_watchdog if isinstance(qos, QosProfile) and isinstance(qos.pfc_watchdog, PfcWatchdog) else None


@declare_word("function")
def watchdog_drop_forwards_on_chip(model: str | Unknown) -> bool:
    """Whether the `drop` of the watchdog is known to forward packets on the chip of a switch model."""
    chip = asic_of(model)
    return chip is not None and "drops nothing" in chip.faults


@declare_word("function", rests_on=("models",))
def watchdog_pauses_senders_on_chip(model: str | Unknown) -> bool:
    """Whether a switch model is known to send pause frames for what its watchdog drops."""
    chip = asic_of(model)
    return chip is not None and "pauses senders" in chip.faults


@declare_word("function", rests_on=("models",))
def watchdog_times_of_chip(model: str | Unknown) -> str:
    """Return the times that the chip's own watchdog takes, in words."""
    chip = asic_of(model)
    if chip is None or chip.own_watchdog_ms is None:
        return "times of the chip"
    (detects, longest), (restores, last) = chip.own_watchdog_ms
    return f"detection times of {detects} to {longest} ms and restoration times of {restores} to {last} ms"


@declare_word("function")
def drops_by_watchdog(device: Device) -> bool:
    """Whether a port of a switch has a PFC watchdog with action drop, the default."""
    pfc_watchdogs = (watchdog for port in device.interfaces if (watchdog := _known_watchdog(port.qos)))
    return any(pfc_watchdog.taken_action == DROP for pfc_watchdog in pfc_watchdogs)


@declare_word("function")
def are_watchdog_counters_on(counters: tuple[Counter, ...]) -> bool:
    """Whether the counters that the watchdog checks are not turned off; those that are not named are on."""
    return all(counter.enabled for counter in counters if counter.group == WATCHDOG_COUNTER_GROUP)


@declare_word("function")
def exceeded_rdma_timeout(watchdog: PfcWatchdog, polling_ms: int | None, timeout_ms: int, retries: int) -> str:
    """Return how a watchdog exceeds the timeout of RDMA, as the end of a sentence; nothing where it is faster.

    It acts at the latest one polling after its detection time, and holds the queue for at least its restoration time.
    A QP sends again after `timeout_ms`, and gives up when it has done so `retries` times in vain.
    """
    if watchdog.detection_ms is None:
        return ""
    acts_ms = watchdog.detection_ms + (polling_ms or 0)
    if acts_ms >= timeout_ms:
        return f"acts after up to {acts_ms} ms; expected before QPs time out, at {timeout_ms} ms"
    freed_ms, given_up_ms = acts_ms + (watchdog.restoration_ms or 0), timeout_ms * (retries + 1)
    if freed_ms >= given_up_ms:
        return f"drops for up to {freed_ms} ms; expected to end before QPs give up, at {given_up_ms} ms"
    return ""


@declare_word("function", rests_on=("models",))
def supported_watchdog_actions(model: str | Unknown, action: str | None) -> tuple[str, ...]:
    """Return the actions of a switch model's watchdog; without an action it drops, which every watchdog can.

    UNKNOWN where the catalogue has no entry, and the action is another.
    """
    chip = asic_of(model)
    actions = chip.watchdog_actions if chip else None
    if actions is None and action not in (None, DROP):
        raise UnknownFact("device.model")
    return (DROP,) if actions is None else actions


DROP, ALERT = "drop", "alert"


@declare_word("function")
def actions_of_watchdogs(device: Device) -> tuple[str, ...]:
    """Return the actions of all watchdogs of a switch, as far as they are known; one without an action drops."""
    pfc_watchdogs = (watchdog for port in device.interfaces if (watchdog := _known_watchdog(port.qos)))
    actions = {watchdog.taken_action for watchdog in pfc_watchdogs}
    return tuple(sorted(action for action in actions if not isinstance(action, Unknown)))


@declare_word("function", rests_on=("models",))
def may_share_one_watchdog_action(model: str) -> bool:
    """Whether a switch model's chip may take one watchdog action for all of its ports: Broadcom's with PFC recovery."""
    chip = asic_of(model)
    return chip is not None and chip.vendor == "Broadcom"


@declare_word("function")
def unmet_watchdog_condition(platform: str, polling_ms: int | None, conditions: WatchdogConditions) -> str:
    """Why no queue ever meets the conditions of a switch's watchdog, as a clause; nothing where queues can."""
    fill, settings = conditions.queue_percent, _watchdog_traits(platform)
    if conditions.pause_ten_thousandths is None and conditions.sent_frames is None and fill is None:
        return "all of its conditions are off"
    if fill is not None and fill >= 100:
        return f"a queue would have to exceed {fill} % of its limit"
    slowest_ms = settings.queue_polling_ms if settings is not None else 0
    if fill is not None and polling_ms is not None and polling_ms <= slowest_ms:
        return f"reading queue fill needs a polling above {slowest_ms} ms (now {polling_ms} ms)"
    return ""


@declare_word("function")
def min_pause_frames_per_polling(speed_mbps: int, polling_ms: int) -> int:
    """How many pause frames keep a priority paused for all of a polling, at least.

    A frame pauses for up to 65535 quanta of 512 bit times (IEEE 802.1Q-2018, clause 36; IEEE 802.3 annex 31B).
    """
    return polling_ms * 1000 * speed_mbps // (65535 * 512)
