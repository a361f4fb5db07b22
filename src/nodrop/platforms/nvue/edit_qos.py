"""QoS of a device, brought into the profiles and settings of its file.

A profile is changed in place where all ports that use it change alike. Else the ports that change are bound to a
profile that already has the settings, or to a copy of their current one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import PfcWatchdog, QosProfile
from nodrop.model.states import UnknownFact, require_fact
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.nvue.conditions import WATCHDOG_PATH, watchdog_condition_settings
from nodrop.platforms.nvue.edit_draft import PendingSettingChanges
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE
from nodrop.platforms.nvue.profiles import ValueByPath, settings_of_profile
from nodrop.platforms.nvue.read_macro import DEFAULT_WATCHDOG_POLLING_MS
from nodrop.platforms.nvue.read_qos import SMALL_PACKETS_KEY, QosReader
from nodrop.platforms.nvue.spelling import (
    GLOBAL_PROFILE,
    KINDS_WITH_GLOBAL_DEFAULTS,
    PROFILE_KINDS,
    PortQosProfiles,
    split_port_qos,
)
from nodrop.platforms.nvue.writer import non_default_lossless_alpha, small_packet_percent


@dataclass(frozen=True, slots=True, eq=False)
class _PortProfileUse:
    """A port, its effective profile of a kind, the current value of that, and the new value."""

    port: str
    name: str
    old: Any
    new: Any
    may_follow: bool
    """Whether the port is shut, and may take part in a change of its profile that all other users want."""


class _UnchangedPartlyUnknownBehavior:
    """Behavior of a port that stays as it is, though not all of it is known."""


def change_qos(
    draft: PendingSettingChanges, old_device: Device, new_device: Device, *, shut_ports_follow: bool
) -> None:
    """Bring profiles, bindings, watchdogs, classes, pools and limits of `new` into a file with those of `old`.

    Where `shut_ports_follow`, a profile is changed in place if only shut ports with it are to stay as they are.
    Raise UnknownFact where a port must change and not all that NVUE sets in one profile is known.
    """
    pairs = list(zip(old_device.interfaces, new_device.interfaces, strict=True))
    before, after = _profiles_by_port(pairs)
    reader = QosReader(draft.config)
    for number, kind in enumerate(PROFILE_KINDS):
        uses = [
            _PortProfileUse(
                a.name,
                _profile_of_port(draft, a.name, kind),
                before[a.name][number],
                after[a.name][number],
                shut_ports_follow and a.enabled is False and b.enabled is False,
            )
            for a, b in pairs
        ]
        if any(not is_equal(use.old, use.new) for use in uses):
            _assign_profiles(draft, kind, uses)
    for a, b in pairs:
        if not is_equal(a.qos, b.qos):
            _change_port_watchdog_and_trimming(draft, a, b)
    _change_priority_to_tc_mapping(draft, pairs)
    _edit_watchdog_timers(draft, old_device, new_device)
    _change_pools(draft, old_device, new_device, macro=reader.roce is not None)
    if not is_equal(old_device.dynamic_buffers, new_device.dynamic_buffers):
        path = ("qos", "advance-buffer-config", GLOBAL_PROFILE, "ingress-lossless-buffer", "shared-alpha")
        if non_default_lossless_alpha(old_device) != non_default_lossless_alpha(new_device):
            draft.set_or_unset(*path, to=non_default_lossless_alpha(new_device))
        if (percent := small_packet_percent(new_device)) != small_packet_percent(old_device):
            for name in dict.fromkeys((GLOBAL_PROFILE, *draft.top.below("qos", "pfc").node)):
                draft.set_or_unset("qos", "pfc", name, SMALL_PACKETS_KEY, to=percent)


def _profile_of_port(draft: PendingSettingChanges, port: str, object_kind: str) -> str:
    """Return the profile that holds for a port."""
    name = draft.ports.view(port).below("qos", object_kind).text("profile")
    return name if name and draft.top.below("qos", object_kind).has(name) else GLOBAL_PROFILE


def _profiles_by_port(pairs: Iterable[tuple[Interface, Interface]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the profiles of each port by kind, before and after."""
    profiles_by_key: dict[tuple[object, ...], tuple[object, ...]] = {}
    unknown: dict[tuple[object, ...], tuple[Any, ...]] = {}
    sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for a, b in pairs:
        keeps = (
            is_equal(a.qos, b.qos)
            and is_equal(a.cable_length_m, b.cable_length_m)
            and is_equal(a.link_pause, b.link_pause)
        )
        for port, side in zip((a, a) if keeps else (a, b), sides, strict=True):
            key = port.qos, port.cable_length_m, port.link_pause
            if key not in profiles_by_key and key not in unknown:
                try:
                    profiles_by_key[key] = split_port_qos(port).profiles
                except (UnknownFact, AssertionError):
                    unknown[key] = (_UnchangedPartlyUnknownBehavior(),) * len(PROFILE_KINDS)
            if key in unknown and not keeps:
                raise UnknownFact("not all that the port does is known, and a profile says all of it")
            side[port.name] = profiles_by_key.get(key) or unknown[key]
    return sides


def _assign_profiles(draft: PendingSettingChanges, kind: str, uses: list[_PortProfileUse]) -> None:
    """Bring the profiles of a kind to the values that their users want, and bind users to others where they must be."""
    stated = draft.top.below("qos", kind).node
    by_name: dict[str, list[_PortProfileUse]] = {}
    for use in uses:
        by_name.setdefault(use.name, []).append(use)
    values: dict[str, Any] = {name: users[0].old for name, users in by_name.items()}
    remaining_uses: list[_PortProfileUse] = []
    for name, users in by_name.items():
        moving = [use for use in users if not is_equal(use.old, use.new)]
        targets = Counter(use.new for use in moving if use.new is not None)
        if not _do_all_users_move(users, moving) or not (
            name in stated or (name == GLOBAL_PROFILE and kind in KINDS_WITH_GLOBAL_DEFAULTS)
        ):
            remaining_uses += moving
            continue
        if not targets:
            if name == GLOBAL_PROFILE:
                draft.unset("qos", kind, GLOBAL_PROFILE)
                values[name] = None
            else:
                remaining_uses += moving
            continue
        chosen = max(targets, key=lambda value: targets[value])
        _edit_profile(draft, kind, name, values[name], chosen)
        values[name] = chosen
        remaining_uses += [use for use in moving if not is_equal(use.new, chosen)]
    if GLOBAL_PROFILE not in values and GLOBAL_PROFILE not in stated and kind not in KINDS_WITH_GLOBAL_DEFAULTS:
        values[GLOBAL_PROFILE] = None
    for use in remaining_uses:
        name = next((name for name, value in values.items() if is_equal(value, use.new)), "")
        if not name:
            base = use.name if use.name != GLOBAL_PROFILE else _new_profile_name(kind, use.new)
            own = _find_unbound_equal_profile(draft, kind, use.new, set(stated) - values.keys())
            name = own or _find_free_name(base, {*stated, *values})
            if not own:
                _edit_profile(draft, kind, name, None, use.new)
            values[name] = use.new
        binding = ("interface", use.port, "qos", kind, "profile")
        draft.set_or_unset(*binding, to=None if name == GLOBAL_PROFILE else name)


def _do_all_users_move(users: Sequence[_PortProfileUse], moving: Sequence[_PortProfileUse]) -> bool:
    """Whether a profile changes for all of its users; shut ports follow where all others want one other value."""
    if len(moving) == len(users):
        return True
    others_are_shut = all(use.may_follow or not is_equal(use.old, use.new) for use in users)
    return (
        others_are_shut
        and bool(moving)
        and moving[0].new is not None
        and all(is_equal(use.new, moving[0].new) for use in moving)
        and not any(isinstance(use.old, _UnchangedPartlyUnknownBehavior) for use in users)
    )


def _find_unbound_equal_profile(draft: PendingSettingChanges, kind: str, value: object, names: Iterable[str]) -> str:
    """Return the first profile of the file that says just what a value does and no port is bound to; "" if none."""
    wanted = dict(settings_of_profile(kind, value))
    for name in sorted(names):
        view = draft.top.below("qos", kind, name)
        if wanted and _stated_profile_settings(view.node) == wanted:
            return name
    return ""


def _stated_profile_settings(node: object, path: tuple[str, ...] = ()) -> ValueByPath:
    """Return the settings that a profile of a file states, by path, as `read_file_settings` has them."""
    if not isinstance(node, Mapping) or not node:
        return {path: PRESENT_WITHOUT_VALUE if isinstance(node, Mapping) else str(node)}
    return {
        below: value
        for key, child in node.items()
        for below, value in _stated_profile_settings(child, (*path, str(key))).items()
    }


def _find_free_name(base_name: str, taken: Iterable[str]) -> str:
    names, number, name = set(taken), 1, base_name
    while name in names:
        number += 1
        name = f"{base_name}_{number}"
    return name


def _new_profile_name(object_kind: str, value: Any) -> str:
    """Return the name of a profile that is no copy."""
    if object_kind == "mapping":
        return f"trust-{value.trust}"
    if object_kind == "pfc":
        if value.rx != value.tx:
            return "pfc-rx" if value.rx else "pfc-tx"
        if not value.rx:
            return "pfc-off"
        return "pfc-on" if value.cable_length_m is None else f"cable-{value.cable_length_m}m"
    if object_kind == "link-pause":
        return "pause" if value else "no-pause"
    words = {"congestion-control": "marking", "egress-scheduler": "shares", "egress-shaper": "rates"}
    return words.get(object_kind, "no-rewrite" if value is None else "rewrite")


def _edit_profile(draft: PendingSettingChanges, kind: str, name: str, old: object, new: object) -> None:
    """Set a profile to the new value instead of the old; everything else in it stays as it is."""
    nothing: ValueByPath = {}
    before = (
        nothing
        if old is None or isinstance(old, _UnchangedPartlyUnknownBehavior)
        else dict(settings_of_profile(kind, old))
    )
    after = dict(settings_of_profile(kind, new))
    marked = {path[:2] for path in after}
    for path in [path for path in before if path not in after]:
        if kind == "congestion-control" and name == GLOBAL_PROFILE and path[:2] not in marked:
            if path[2] in ("ecn", "red"):
                draft.set("qos", kind, name, *path, to="disable")
        elif kind != "pfc" or path[0] != "cable-length":
            draft.unset("qos", kind, name, *path)
    for path, value in after.items():
        if before.get(path) != value:
            draft.set("qos", kind, name, *path, to=value)
    if not after and not before:
        draft.set("qos", kind, name)


def _change_port_watchdog_and_trimming(
    draft: PendingSettingChanges, left_port: Interface, right_port: Interface
) -> None:
    """Let a port be watched or not, and other queues of it be trimmed."""
    if not isinstance(left_port.qos, QosProfile) or not isinstance(right_port.qos, QosProfile):
        return
    was, is_on = (require_fact(qos.pfc_watchdog) is not None for qos in (left_port.qos, right_port.qos))
    if was != is_on:
        draft.set_or_unset(
            "interface",
            right_port.name,
            "qos",
            "pfc-watchdog",
            *(("state",) if is_on else ()),
            to="enable" if is_on else None,
        )
    trimmed = [_trimmed_queues(port) for port in (left_port, right_port)]
    path = ("interface", right_port.name, "packet-trim", "egress-eligibility", "traffic-class")
    for queue in sorted(trimmed[0] - trimmed[1]):
        draft.unset(*path, str(queue))
    for queue in sorted(trimmed[1] - trimmed[0]):
        draft.set(*path, str(queue))


def _trimmed_queues(port: Interface) -> set[int]:
    port_qos: PortQosProfiles = split_port_qos(port)
    return set(port_qos.trimmed)


def _change_priority_to_tc_mapping(draft: PendingSettingChanges, pairs: Iterable[tuple[Interface, Interface]]) -> None:
    """Let switch priorities have other traffic classes: for all ports, as there is one profile of it."""
    for a, b in pairs:
        if not isinstance(a.qos, QosProfile) or not isinstance(b.qos, QosProfile) or is_equal(a.qos, b.qos):
            continue
        before, after = require_fact(a.qos.tc_to_queue), require_fact(b.qos.tc_to_queue)
        for priority in range(8):
            was, new_class = (None if queue_map is None else queue_map[priority] for queue_map in (before, after))
            if was != new_class and new_class is not None:
                path = ("qos", "egress-queue-mapping", GLOBAL_PROFILE, "switch-priority", str(priority))
                draft.set(*path, "traffic-class", to=new_class)


def _edit_watchdog_timers(draft: PendingSettingChanges, old: Device, new: Device) -> None:
    polling = [
        DEFAULT_WATCHDOG_POLLING_MS if (ms := require_fact(device.watchdog_polling_ms)) is None else ms
        for device in (old, new)
    ]
    if not is_equal(old.watchdog_polling_ms, new.watchdog_polling_ms) and new.watchdog_polling_ms is not None:
        draft.set("qos", "pfc-watchdog", "polling-interval", to=polling[1])
    for attribute, setting in (("detection_ms", "robustness"), ("restoration_ms", "recovery-interval")):
        before, after = (
            [require_fact(getattr(watchdog, attribute)) for watchdog in _port_watchdogs(device)]
            for device in (old, new)
        )
        moved = [ms for ms in after if ms not in before] or after
        if not moved or (set(before) == set(after) and polling[0] == polling[1]):
            continue
        pollings = moved[0] and moved[0] // polling[1]
        if pollings != draft.top.below("qos", "pfc-watchdog").integer(setting, 1, 1000):
            draft.set_or_unset("qos", "pfc-watchdog", setting, to=pollings)
    if not is_equal(old.watchdog_conditions, new.watchdog_conditions):
        old_statements, new_statements = (
            watchdog_condition_settings(require_fact(device.watchdog_conditions)) for device in (old, new)
        )
        for path in [path for path in old_statements if path not in new_statements]:
            draft.unset(*WATCHDOG_PATH, *path)
        for path, value in new_statements.items():
            if old_statements.get(path) != value:
                draft.set(*WATCHDOG_PATH, *path, to=value)


def _port_watchdogs(device: Device) -> Iterator[PfcWatchdog]:
    for port in device.interfaces:
        watchdog = port.qos.pfc_watchdog if isinstance(port.qos, QosProfile) else None
        if watchdog is not None:
            yield require_fact(watchdog)


def _change_pools(draft: PendingSettingChanges, old_device: Device, new_device: Device, *, macro: bool) -> None:
    if is_equal(old_device.buffer_pools, new_device.buffer_pools):
        return
    before, after = (
        {row.name: row.percentage for row in require_fact(device.buffer_pools)} for device in (old_device, new_device)
    )
    lossless = "roce-lossless" if macro else "default-lossless"
    names = {"ingress_lossy": "default-lossy", "egress_lossy": "default-lossy", "ingress_lossless": lossless}
    for pool, name in names.items():
        if pool in before and pool in after and before[pool] != after[pool]:
            draft.set_or_unset("qos", "traffic-pool", name, "memory-percent", to=after[pool])
