"""Conditions under which NVUE's watchdog takes a queue for stuck: read, written, found and checked in one place.

Source: the draft of Cumulus Linux 5.19, Quality of Service (PFC Watchdog), with its defaults and ranges; it also gives
65535 as the maximum number of frames, and nodrop takes the larger.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from nodrop.model.change import CommandsForCase
from nodrop.model.fabric import Device
from nodrop.model.qos import WatchdogConditions
from nodrop.model.reading import Remedy
from nodrop.model.states import require_fact
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.releases import FIRST_RELEASE_BY_FEATURE, has_feature
from nodrop.platforms.nvue.tree import Path

WATCHDOG_PATH: Path = ("qos", "pfc-watchdog")
WATCHDOG_CONDITIONS_FEATURE = "conditions of the watchdog"
QUEUE_CONDITION_POLLING_ABOVE_MS = 300
"""Polling has to be slower than that for `transmit-queue-threshold` to be enabled."""
_SLOW_POLLING_MS = 400
"""The next whole multiple of the default polling, 100 ms, above that."""
_RECOVERY_KEY = "rx-pause-threshold"
_WATCHDOG_FRAME_COUNT_RANGE = (0, 100_000)


@dataclass(frozen=True, slots=True)
class _WatchdogCondition:
    """A condition that is on or off: the field of the model, NVUE's key, the word of its value, and the range."""

    field: str
    key: str
    word: str
    range: tuple[int, int]


_WATCHDOG_CONDITIONS = (
    _WatchdogCondition("pause_ten_thousandths", "rx-pause-duration", "multiplier", (1, 9999)),
    _WatchdogCondition("queue_percent", "transmit-queue-threshold", "percent", (0, 100)),
    _WatchdogCondition("sent_frames", "tx-frames-threshold", "value", _WATCHDOG_FRAME_COUNT_RANGE),
)
_DEFAULT_VALUE_OF_ENABLED_CONDITION = {"pause_ten_thousandths": 9900, "queue_percent": 0, "sent_frames": 0}
"""What a condition that is on says unless told."""

DEFAULT_WATCHDOG_CONDITIONS = WatchdogConditions(
    pause_ten_thousandths=9900, sent_frames=0, queue_percent=None, recovery_pause_frames=0
)
"""What holds of a switch that is told nothing, from 5.19 on."""
DEFAULT_WATCHDOG_CONDITIONS_REASON = (
    "by default a queue is stuck if it was paused for 99 % of a polling and sent nothing"
)


def read_watchdog_conditions(
    timers: ConfigNodeView, release: object, polling_ms: int | None = None
) -> tuple[WatchdogConditions | None, bool]:
    """Return the conditions, and whether any was stated; None where none was and the release is not known to have them.

    A value of a condition that is off is remarked: it has no effect.
    """
    keys = (_RECOVERY_KEY, *(row.key for row in _WATCHDOG_CONDITIONS))
    stated = any(timers.has(key) for key in keys)
    if not stated:
        return (
            DEFAULT_WATCHDOG_CONDITIONS
            if isinstance(release, str) and has_feature(release, WATCHDOG_CONDITIONS_FEATURE)
            else None
        ), False
    values = {
        row.field: _read_condition_value(timers.below(row.key), row, polling_ms) if timers.has(row.key) else None
        for row in _WATCHDOG_CONDITIONS
    }
    for condition in _WATCHDOG_CONDITIONS:
        if not timers.has(condition.key):
            values[condition.field] = getattr(DEFAULT_WATCHDOG_CONDITIONS, condition.field)
    frames = timers.integer(_RECOVERY_KEY, *_WATCHDOG_FRAME_COUNT_RANGE)
    return WatchdogConditions(
        pause_ten_thousandths=values["pause_ten_thousandths"],
        sent_frames=values["sent_frames"],
        queue_percent=values["queue_percent"],
        recovery_pause_frames=frames or 0,
    ), True


def _read_condition_value(node: ConfigNodeView, condition: _WatchdogCondition, polling_ms: int | None) -> int | None:
    """Return the value of a condition; None where it is off."""
    state = node.flag("state")
    value = node.integer(condition.word, *condition.range)
    if (getattr(DEFAULT_WATCHDOG_CONDITIONS, condition.field) is not None) if state is None else state:
        return _DEFAULT_VALUE_OF_ENABLED_CONDITION[condition.field] if value is None else value
    if value is not None:
        facts = {"setting": f"{condition.key} {condition.word}", "value": str(value), "key": condition.key}
        correct = partial(_remedy_for_condition, condition, polling_ms)
        node.config.remark("condition-off", (), (*node.path, condition.word), correct, **facts)
    return None


def _remedy_for_condition(condition: _WatchdogCondition, polling_ms: int | None) -> Remedy:
    """Return what to type where a condition that is off is wanted, and else: one also needs slow polling."""
    watchdog = "qos pfc-watchdog"
    needs_slow_polling = condition.field == "queue_percent" and (polling_ms or 0) <= QUEUE_CONDITION_POLLING_ABOVE_MS
    slower = (f"nv set {watchdog} polling-interval {_SLOW_POLLING_MS}",) if needs_slow_polling else ()
    lines = (*slower, f"nv set {watchdog} {condition.key} state enabled")
    return Remedy(
        choices=(
            CommandsForCase(condition="if the condition is wanted", language="nvue", lines=lines),
            CommandsForCase(
                condition="else", language="nvue", lines=(f"nv unset {watchdog} {condition.key} {condition.word}",)
            ),
        )
    )


def watchdog_condition_settings(conditions: WatchdogConditions | None) -> dict[Path, str]:
    """Return the settings of conditions below `qos pfc-watchdog`, in a file's order; none means the usual ones."""
    found_statements: dict[Path, str] = {}
    if conditions is None:
        return found_statements
    for condition in _WATCHDOG_CONDITIONS:
        value = getattr(conditions, condition.field)
        if value == getattr(DEFAULT_WATCHDOG_CONDITIONS, condition.field):
            continue
        if value is not None:
            found_statements[condition.key, condition.word] = str(value)
        found_statements[condition.key, "state"] = "disabled" if value is None else "enabled"
    if conditions.recovery_pause_frames != DEFAULT_WATCHDOG_CONDITIONS.recovery_pause_frames:
        found_statements[_RECOVERY_KEY,] = str(conditions.recovery_pause_frames)
    return dict(sorted(found_statements.items()))


def watchdog_condition_paths(field: str) -> Iterator[Path]:
    """Yield where a field of the conditions may stand."""
    for condition in _WATCHDOG_CONDITIONS:
        if field in (condition.field, ""):
            yield (*WATCHDOG_PATH, condition.key, condition.word)
            yield (*WATCHDOG_PATH, condition.key, "state")
            yield (*WATCHDOG_PATH, condition.key)
    if field in ("recovery_pause_frames", ""):
        yield (*WATCHDOG_PATH, _RECOVERY_KEY)
    yield WATCHDOG_PATH


def check_watchdog_conditions(device: Device) -> None:
    """Raise UnsupportedByPlatform where a release has no such conditions, or no such values of them."""
    conditions = require_fact(device.watchdog_conditions)
    if not has_feature(device.version, WATCHDOG_CONDITIONS_FEATURE):
        if conditions is not None:
            since = FIRST_RELEASE_BY_FEATURE[WATCHDOG_CONDITIONS_FEATURE]
            reason = f"NVUE has {WATCHDOG_CONDITIONS_FEATURE} since {since}, and this is {device.version}"
            raise unsupported_error(["watchdog_conditions"], reason)
        return
    if conditions is None:
        raise unsupported_error(["watchdog_conditions"], f"a switch of {device.version} has some")
    ranges = {condition.field: condition.range for condition in _WATCHDOG_CONDITIONS} | {
        "recovery_pause_frames": _WATCHDOG_FRAME_COUNT_RANGE
    }
    for field, (low, high) in ranges.items():
        value = getattr(conditions, field)
        if value is not None and not low <= value <= high:
            raise unsupported_error(["watchdog_conditions", field], f"is not from {low} to {high}")
