"""An intent's additions to the model (`additions_of_switch`): given to the switches that they are meant for.

They are rejected if they conflict with the model, with the key of the intent that does the same.
"""

import difflib
import re
from collections.abc import Iterator, Mapping

from nodrop import platforms
from nodrop.collect import read_artifacts
from nodrop.design.boxes import PlannedSwitch, PlannedSwitches
from nodrop.design.decisions import FabricPart, format_deciding_keys
from nodrop.design.faults import KeyFault
from nodrop.errors import UnsupportedByPlatform
from nodrop.intent.schema import PassThroughSettings
from nodrop.model.fabric import Device, Extra, Fabric
from nodrop.model.index import Index
from nodrop.model.subject import Subject, matches, parse_subject
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.extras import (
    DEVICE_FIELDS_SET_ONLY_BY_ADDITIONS,
    AdditionOverlap,
    explain_addition_refusal,
    without_session_additions,
)
from nodrop.platforms.kit.traits import traits_of_platform

_ADDITION_KINDS = ("tables", "paths", "lines")


def additions_of_switch(extra: Mapping[str, PassThroughSettings], node: PlannedSwitch) -> tuple[Extra, ...]:
    """Return the additions to a switch: its platform's are overridden by its role's, and these by its own."""
    values = {
        path: value
        for _, additions in _find_additions(extra, node)
        for path, value in (*additions.tables, *additions.paths)
    }
    outer = {path[:length] for path in values for length in range(1, len(path))}
    return tuple(
        Extra(path=path, value=value) for path, value in values.items() if value is not None or path not in outer
    )


def extra_frr_lines(extra: Mapping[str, PassThroughSettings], node: PlannedSwitch) -> tuple[str, ...]:
    """Return the lines that are added to a switch's routing daemon, in the same order."""
    return tuple(line for _, additions in _find_additions(extra, node) for line in additions.lines)


def addition_scope_and_kind_faults(
    extra: Mapping[str, PassThroughSettings], switches: PlannedSwitches
) -> Iterator[KeyFault]:
    """Yield additions for nobody, and those of a kind that a switch's platform does not take."""
    platforms_by_name: dict[str, list[str]] = {}
    for node in switches.all:
        for name in addition_scope_names(node):
            platforms_by_name.setdefault(name, []).append(node.declaration.platform)
    for name, additions in extra.items():
        if name not in platforms_by_name:
            close = difflib.get_close_matches(name, platforms_by_name, n=1)
            hint = f"did you mean {close[0]}?" if close else ""
            some = addition_scope_names(switches.all[0])
            expected = f"a platform, role or switch of the fabric, such as {', '.join(some[:-1])} or {some[-1]}"
            yield KeyFault(("extra", name), f"nothing is called {name}", expected, hint)
            continue
        for platform in sorted(set(platforms_by_name[name])):
            os_traits = traits_of_platform(platform)
            for kind in _ADDITION_KINDS:
                if getattr(additions, kind) and kind not in os_traits.additions:
                    expected = " or ".join(sorted(os_traits.additions))
                    yield KeyFault(("extra", name, kind), f"{os_traits.title} takes no {kind}", expected)


def addition_conflict_faults(
    extra: Mapping[str, PassThroughSettings], devices: Mapping[str, Device], fabric: Fabric, switches: PlannedSwitches
) -> Iterator[KeyFault]:
    """Yield additions that are in the model's way, each looked at once for all switches that have the same."""
    seen: set[tuple[object, ...]] = set()
    reported_places: set[tuple[str | int, ...]] = set()
    index = Index(fabric)
    for node in switches.all if extra else ():
        device = devices[node.name]
        key = (node.group, device.extra, device.extra_lines)
        if key in seen or not (device.extra or device.extra_lines):
            continue
        seen.add(key)
        for fault in _conflict_faults_of_switch(extra, node, device, index):
            if fault.keys not in reported_places:
                reported_places.add(fault.keys)
                yield fault


def _conflict_faults_of_switch(
    extra: Mapping[str, PassThroughSettings], node: PlannedSwitch, device: Device, index: Index
) -> Iterator[KeyFault]:
    """Yield the faults of a switch's additions; remove each faulty addition before searching for the next."""
    values, lines = list(additions_of_switch(extra, node)), list(enumerate(extra_frr_lines(extra, node)))
    try:
        plain = _read_back_device(replace_fields(device, extra=(), extra_lines=()), index)
    except UnsupportedByPlatform:  # the additions are not to blame; `write` raises it again
        return
    while values or lines:
        refused_places: set[int] = set()
        remaining_device = replace_fields(device, extra=tuple(values), extra_lines=tuple(line for _, line in lines))
        try:
            if _read_back_device(remaining_device, index) == plain:
                return
            faults = _find_additions_that_change_reading(device, values, plain, index)
        except UnsupportedByPlatform as error:
            area, *names = parse_subject(error.path)
            if area == "extra_lines" and names:
                for refusal in (error, *(error.others if isinstance(error, AdditionOverlap) else ())):
                    place = int(parse_subject(refusal.path)[1])
                    keys = _keys_of_extra_line(extra, node, lines[place][0])
                    yield KeyFault(keys, refusal.reason, "lines beside the model", _hint_for_line(refusal.reason))
                    refused_places.add(place)
                lines = [line for place, line in enumerate(lines) if place not in refused_places]
                continue
            if area not in ("extra", "extra_lines"):
                return
            faults = _faults_of_refusal(error, device.platform, values)
        for key, reason, model in faults:
            hint = f"use {intent_key}" if (intent_key := _deciding_keys_of(model)) else "remove it"
            keys = key_path_of_addition(extra, node, key)
            yield KeyFault(keys, reason, "what no key of the intent covers", hint)
        faulty_keys = {key for key, *_ in faults}
        remaining_extras = [addition for addition in values if addition.key not in faulty_keys]
        if len(remaining_extras) == len(values):
            return
        values = remaining_extras


def _hint_for_line(reason: str) -> str:
    """Return the key to use instead of a line of the routing daemon that the reason quotes."""
    if re.search(r"`(no )?neighbor ", reason):
        return "use external for a neighbor outside the fabric, and routing for the sessions between switches"
    if re.search(r"`(no )?(ip |ipv6 )?(prefix-list|route-map) ", reason):
        return "see routing, and external.*.accept and announce for neighbors outside the fabric"
    return "see routing"


def _faults_of_refusal(
    error: UnsupportedByPlatform, platform: str, values: list[Extra]
) -> list[tuple[str, str, Subject]]:
    """Return the additions that a writer refuses, each with its reason and the path of the model that it overlaps."""
    refusals = (error, *error.others) if isinstance(error, AdditionOverlap) else (error,)
    keyed = ((".".join(parse_subject(refusal.path)[1:]), refusal) for refusal in refusals)
    return [
        (
            key,
            refusal.reason,
            refusal.model
            if isinstance(refusal, AdditionOverlap)
            else _device_path_overlapping_addition(platform, key, values),
        )
        for key, refusal in keyed
    ]


def _find_additions_that_change_reading(
    device: Device, values: list[Extra], plain: Device, index: Index
) -> list[tuple[str, str, Subject]]:
    """Return additions that, alone, change how a switch reads, each with the reason and the path that it changes."""
    faults: list[tuple[str, str, Subject]] = []
    for addition in values:
        try:
            alone = _read_back_device(replace_fields(device, extra=(addition,), extra_lines=()), index)
        except UnsupportedByPlatform:  # it needs others, with which it is tried again
            continue
        if change := explain_addition_refusal(plain, alone):
            faults.append((addition.key, *change))
    return faults or [("", "changes together what the intent decides", ())]


def _read_back_device(device: Device, index: Index) -> Device:
    """Return a switch as its own files describe it."""
    artifacts = platforms.writer_of_platform(device.platform).write(device, index)
    (reading,) = read_artifacts(artifacts, {device.name: device.platform}, "")
    return replace_fields(
        reading.device,
        extra=(),
        extra_lines=(),
        bgp=without_session_additions(reading.device.bgp),
        **DEVICE_FIELDS_SET_ONLY_BY_ADDITIONS,
    )


def _device_path_overlapping_addition(platform: str, key: str, additions: list[Extra]) -> Subject:
    """Return the path of a device that already has the place of an addition."""
    paths = (addition.path for addition in additions if addition.key == key)
    path_pairs = traits_of_platform(platform).taken.items()
    fitting = (model for own_paths in paths for path, model in path_pairs if matches(tuple(path.split("/")), own_paths))
    return tuple(next(fitting, "").split("/"))


def _deciding_keys_of(part_path: Subject) -> str:
    of_port = part_path[:1] == ("interfaces",) and len(part_path) > 2
    return (
        format_deciding_keys(FabricPart("port", part_path[2:]) if of_port else FabricPart("device", part_path))
        if part_path
        else ""
    )


def key_path_of_addition(
    extra: Mapping[str, PassThroughSettings], node: PlannedSwitch, key: str = ""
) -> tuple[str | int, ...]:
    """Return the way to an addition in the intent: the most particular place that has it."""
    for name, additions in reversed(list(_find_additions(extra, node))):
        for kind, values in (("tables", additions.tables), ("paths", additions.paths)):
            for path, _ in values:
                if ".".join(path) == key:
                    return ("extra", name, kind, *path)
    return ("extra",)


def key_path_of_acl_addition(
    extra: Mapping[str, PassThroughSettings], node: PlannedSwitch, subject: Subject
) -> tuple[str | int, ...]:
    """Return the way to the addition that states part of an access list, as near as one does; none where none does."""
    named_additions = list(_find_additions(extra, node))[::-1]
    for path in platforms.paths_of_access_list_part(node.declaration.platform, subject):
        for name, additions in named_additions:
            for kind, values in (("tables", additions.tables), ("paths", additions.paths)):
                if any(addition_path[: len(path)] == path for addition_path, _ in values):
                    return ("extra", name, kind, *path)
    return ()


def key_path_of_setting(
    extra: Mapping[str, PassThroughSettings], node: PlannedSwitch, setting_text: str
) -> tuple[str | int, ...]:
    """Return the way to the addition that gives a switch a setting, or a line, of these words; none where none does."""
    setting_words = setting_text.split()
    for name, additions in reversed(list(_find_additions(extra, node))):
        for position, line in enumerate(additions.lines):
            if line.split() == setting_words:
                return ("extra", name, "lines", position)
        for kind, values in (("tables", additions.tables), ("paths", additions.paths)):
            for path, _ in values:
                if " ".join(path).split()[: len(setting_words)] == setting_words:
                    return ("extra", name, kind, *path)
    return ()


def _keys_of_extra_line(
    extra: Mapping[str, PassThroughSettings], node: PlannedSwitch, position: int
) -> tuple[str | int, ...]:
    for name, additions in _find_additions(extra, node):
        if position < len(additions.lines):
            return ("extra", name, "lines", position)
        position -= len(additions.lines)
    return ("extra",)


def addition_scope_names(node: PlannedSwitch) -> tuple[str, ...]:
    """Return what additions to a switch are stated by: its platform, role, group and name."""
    return tuple(dict.fromkeys((node.declaration.platform, node.role, node.group.name, *reversed(node.words))))


def _find_additions(
    extra: Mapping[str, PassThroughSettings], node: PlannedSwitch
) -> Iterator[tuple[str, PassThroughSettings]]:
    """Yield the additions to a switch, the most general first."""
    for name in addition_scope_names(node):
        if name in extra:
            yield name, extra[name]
