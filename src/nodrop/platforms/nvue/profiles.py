"""Settings of QoS profiles: one by one, those that the RoCE macro sets, and the statements of the others."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from nodrop.model.subject import natural_sort_key
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE
from nodrop.platforms.nvue.read_macro import IDENTITY_PRIORITY_MAP, NvueQosDefaults
from nodrop.platforms.nvue.spelling import PfcProfileContent, QueueCongestionControl, group_numbers_by_value
from nodrop.platforms.nvue.spelling import PortClassification as Trusted
from nodrop.platforms.nvue.tree import Path

ValueByPath = dict[Path, str]
"""Values by the path below a profile."""
_ENABLE_WORDS = {True: "enable", False: "disable"}
_KEYS_BEFORE_NUMBER_LISTS = ("traffic-class", "switch-priority", "dscp", "pcp")
"""Words whose next word may be a list of numbers."""


def settings_of_profile(object_kind: str, value: Any) -> Iterator[tuple[Path, str]]:
    """Yield the settings below a profile for a value; none for a profile of a port that does nothing."""
    if value is None:
        return
    if object_kind == "mapping":
        yield ("trust",), value.trust
        for source in ("dscp", "pcp"):
            for index, target in enumerate(getattr(value, source) or ()):
                if target is not None:
                    yield (source, str(index), "switch-priority"), str(target)
    elif object_kind == "pfc":
        yield from _pfc_settings(value)
    elif object_kind == "link-pause":
        yield from (((direction,), _ENABLE_WORDS[bool(value)]) for direction in ("rx", "tx"))
    elif object_kind == "remark":
        yield ("rewrite",), "l3"
        for priority, dscp in enumerate(value):
            if dscp is not None:
                yield ("switch-priority", str(priority), "dscp"), str(dscp)
    else:
        for queue, queue_setting in value:
            for word, setting_value in _settings_of_queue(object_kind, queue_setting).items():
                if setting_value is not None:
                    yield ("traffic-class", str(queue), word), str(setting_value)


def _settings_of_queue(kind: str, value: Any) -> Mapping[str, object]:
    if kind == "congestion-control":
        return {
            "ecn": _ENABLE_WORDS[value.ecn],
            "max-threshold": value.max_bytes,
            "max-threshold-percent": value.max_percent,
            "min-threshold": value.min_bytes,
            "min-threshold-percent": value.min_percent,
            "mode": None if value.min_percent is None else "relative",
            "probability": value.probability_percent,
            "red": _ENABLE_WORDS[value.red],
        }
    if kind == "egress-scheduler":
        return {"mode": "strict" if value is None else "dwrr", "bw-percent": value}
    return {"max-rate": value[1], "min-rate": value[0]}


def _pfc_settings(value: Any) -> Iterator[tuple[Path, str]]:
    yield ("rx",), _ENABLE_WORDS[bool(value.rx)]
    yield ("tx",), _ENABLE_WORDS[bool(value.tx)]
    for priority in sorted({*value.rx, *value.tx}):
        yield ("switch-priority", str(priority)), PRESENT_WITHOUT_VALUE
    if value.cable_length_m is not None:
        yield ("cable-length",), str(value.cable_length_m)
    if value.stated is not None:
        sizes = {
            "port-buffer": value.stated.port_buffer_bytes,
            "xoff-threshold": value.stated.xoff_threshold_bytes,
            "xon-threshold": value.stated.xon_threshold_bytes,
        }
        yield from (((word,), str(size)) for word, size in sizes.items() if size is not None)


def queue_map_settings(queues: Iterable[int | None]) -> Iterator[tuple[Path, str]]:
    """Yield the settings of the traffic class of each switch priority."""
    for priority, queue in enumerate(queues):
        yield ("switch-priority", str(priority), "traffic-class"), str(queue)


def roce_macro_settings(
    defaults: NvueQosDefaults, used: Collection[int], cable_length_m: int | None
) -> Mapping[str, ValueByPath]:
    """Return the settings that `qos roce` makes of `default-global`, by kind.

    `used` are the traffic classes that a switch priority has: the reader takes no other one for set up. The cable is
    the macro's own.
    """
    shares = tuple((tc, share.percent) for tc, share in defaults.shares.items() if tc in used)
    markings = tuple(
        (
            tc,
            QueueCongestionControl(
                marking.ecn, marking.red, marking.min_bytes, marking.max_bytes, None, None, marking.probability_percent
            ),
        )
        for tc, marking in defaults.markings.items()
        if tc in used
    )
    paused = defaults.pfc_priorities
    values = {
        "congestion-control": markings,
        "egress-scheduler": shares,
        "mapping": Trusted(defaults.trust, defaults.dscp, IDENTITY_PRIORITY_MAP),
        "pfc": PfcProfileContent(paused, paused, cable_length_m, None) if paused else None,
    }
    return {
        "egress-queue-mapping": dict(queue_map_settings(defaults.traffic_classes)),
        **{kind: dict(settings_of_profile(kind, value)) for kind, value in values.items()},
    }


def subtract_settings(stated_leaves: ValueByPath, given_leaves: ValueByPath) -> ValueByPath:
    """Return the settings that are not given already.

    Numbers of priorities with PFC are one setting: those that are stated replace the given ones.
    """
    new_leaves = {path: value for path, value in stated_leaves.items() if given_leaves.get(path) != value}
    priorities = [
        {path for path in side if path[0] == "switch-priority" and len(path) == 2}
        for side in (stated_leaves, given_leaves)
    ]
    if priorities[0] != priorities[1]:
        new_leaves |= {path: stated_leaves[path] for path in priorities[0]}
    return new_leaves


def profile_statements(object_kind: str, name: str, own_leaves: ValueByPath) -> list[str]:
    """Return settings of a profile as statements, in the order of a file; numbers with the same settings share one."""
    rows: list[tuple[Path, str]] = []
    indexed: dict[str, dict[int, list[tuple[Path, str]]]] = {}
    for path, value in own_leaves.items():
        if path[0] in _KEYS_BEFORE_NUMBER_LISTS:
            indexed.setdefault(path[0], {}).setdefault(int(path[1]), []).append((path[2:], value))
        else:
            rows.append((path, value))
    for word, by_index in indexed.items():
        for key, same in group_numbers_by_value(
            (index, tuple(sorted(leaf_rows))) for index, leaf_rows in sorted(by_index.items())
        ):
            rows += [((word, key, *sub_path), value) for sub_path, value in same]
    rows.sort(key=lambda row: [natural_sort_key(word) for word in row[0]])
    head = f"qos {object_kind} {name}"
    return [f"{head} {' '.join(path)}{f' = {value}' if value else ''}" for path, value in rows]
