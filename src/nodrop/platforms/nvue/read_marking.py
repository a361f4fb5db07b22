"""When a traffic class marks or drops early: thresholds in bytes, or in percent of its limit.

Source: Cumulus Linux 5.17 and the draft of 5.19, Quality of Service (Congestion Control, Dynamic ECN): a switch that
uses one kind of thresholds ignores the other.
"""

from typing import Any

from nodrop.limits import MAX_UINT32
from nodrop.model.qos import COLORS, WredColor, WredProfile
from nodrop.platforms.nvue.read_macro import ClassCongestionControl
from nodrop.platforms.nvue.read_values import ConfigNodeView

_BYTES_KEY_BY_FIELD = {"min_bytes": "min-threshold", "max_bytes": "max-threshold"}
_PERCENT_KEY_BY_FIELD = {"min_percent": "min-threshold-percent", "max_percent": "max-threshold-percent"}


def read_traffic_class_marking(
    node: ConfigNodeView, usual_marking: ClassCongestionControl
) -> tuple[ClassCongestionControl, bool]:
    """Return a traffic class's marking, and whether the file states all of it; report thresholds that do not count."""
    stated: dict[str, Any] = {
        "ecn": node.flag("ecn"),
        "red": node.flag("red"),
        "probability_percent": node.integer("probability", 0, 100, "percent"),
        "relative": node.meaning_of_word("mode", {"absolute": False, "relative": True}),
    }
    in_bytes = {name: node.integer(key, 0, MAX_UINT32, "bytes") for name, key in _BYTES_KEY_BY_FIELD.items()}
    in_percent = {name: node.integer(key, 0, 100, "percent") for name, key in _PERCENT_KEY_BY_FIELD.items()}
    relative = usual_marking.relative if stated["relative"] is None else stated["relative"]
    counting, ignored = (in_percent, in_bytes) if relative else (in_bytes, in_percent)
    for name, value in ignored.items():
        if value:
            key, instead = (
                (_BYTES_KEY_BY_FIELD if relative else _PERCENT_KEY_BY_FIELD)[name],
                (_PERCENT_KEY_BY_FIELD if relative else _BYTES_KEY_BY_FIELD),
            )
            facts = {"mode": "relative" if relative else "absolute", "instead": " and ".join(instead.values())}
            node.config.remark("threshold-ignored", (), (*node.path, key), setting=key, value=str(value), **facts)
    values = {
        name: getattr(usual_marking, name) if value is None else value
        for name, value in (stated | in_bytes | in_percent).items()
    }
    off = values["ecn"] is values["red"] is False
    stated_values = (stated["ecn"], stated["red"], stated["probability_percent"], *counting.values())
    return ClassCongestionControl(**values), off or None not in stated_values


def wred_of_marking(marking: ClassCongestionControl) -> WredProfile | None:
    """Return the WRED profile of a marking; None if it neither marks nor drops."""
    if not marking.ecn and not marking.red:
        return None
    color = WredColor(
        min_bytes=None if marking.relative else marking.min_bytes,
        max_bytes=None if marking.relative else marking.max_bytes,
        min_percent=marking.min_percent if marking.relative else None,
        max_percent=marking.max_percent if marking.relative else None,
        probability_percent=marking.probability_percent,
        enabled=marking.red,
    )
    return WredProfile(ecn_colors=COLORS if marking.ecn else (), green=color, yellow=color, red=color)
