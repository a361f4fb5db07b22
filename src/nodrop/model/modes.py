"""The mode of switches that nobody states: from their own files, per group of cabled switches.

PFC on a switch decides its mode. The absence of PFC decides only for switches that cables join: a single switch may
have lost it. Such a switch has the mode of the other switches of the run, or each of `MODES_WITHOUT_PFC` is possible.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nodrop.model.fabric import Device, Link, Mode
from nodrop.model.qos import PriorityGroup, QosProfile
from nodrop.model.reading import Assumption, Note, Reading
from nodrop.model.states import Unknown, UnknownFact, known_rows
from nodrop.model.subject import natural_sort_key
from nodrop.model.values import replace_fields

MODES_WITHOUT_PFC: tuple[Mode, ...] = ("lossy", "lossless")
"""The modes of switches without PFC of which nothing decides whether it was lost."""
PFC_MODES: tuple[Mode, ...] = ("lossless", "pfc-only")
UNDECIDED_MODE = "unknown"
"""The assumed value of a mode that nothing decides."""
MAX_LISTED_SWITCHES = 3
"""How many switches a message names of a group."""


class ModeGroup(NamedTuple):
    """Switches with one mode, or several possible ones; `why` is the evidence."""

    devices: frozenset[str]
    modes: tuple[Mode, ...]
    why: str


def keep_former_modes(reading: Reading, former_reading: Reading) -> Reading:
    """Return a reading whose switches of unknown mode have the mode of the former state, where that is known."""
    mode = former_reading.fabric.mode
    if (
        former_reading.possible
        or not former_reading.fabric.devices
        or mode not in {possible_mode.mode for possible_mode in reading.possible}
    ):
        return reading
    times = Counter(name for possible_mode in reading.possible for name in possible_mode.devices)
    open_names = frozenset(name for name, number in times.items() if number > 1)
    kept_possible_modes = [
        possible_mode
        if possible_mode.mode == mode
        else replace(possible_mode, devices=possible_mode.devices - open_names)
        for possible_mode in reading.possible
    ]
    possible = tuple(possible_mode for possible_mode in kept_possible_modes if possible_mode.devices)
    if not open_names:
        return reading
    other_assumptions = (
        assumption for assumption in reading.assumed if assumption.fact != "mode" or assumption.value != UNDECIDED_MODE
    )
    reading = replace(
        reading, assumed=(Assumption(fact="mode", value=mode, reason="as before the change"), *other_assumptions)
    )
    if len(possible) > 1:
        return replace(reading, possible=possible)
    fabric = replace_fields(reading.fabric, mode=mode, classes=possible[0].classes)
    return replace(reading, fabric=fabric, possible=())


def find_connected_components(names: Iterable[str], links: Iterable[Link]) -> Mapping[str, str]:
    """Return for each name one of all names that cables join to it; other nodes join nothing, their names may clash."""
    root = {name: name for name in names}

    def find_root(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    for link in links:
        if link.a.node in root and link.b.node in root:
            root[find_root(link.a.node)] = find_root(link.b.node)
    return {name: find_root(name) for name in root}


def parts_by_host(links: Iterable[Link], hosts: Collection[str]) -> Mapping[str, frozenset[str]]:
    """Return for each host with cables the parts of the fabric that its ports are in, each by one of its switches.

    A part is switches that cables join, in service or not.
    """
    between, host_ends = list[Link](), list[tuple[str, str]]()
    for link in links:
        for near, far in ((link.a.node, link.b.node), (link.b.node, link.a.node)):
            if near in hosts and far not in hosts:
                host_ends.append((near, far))
        if link.a.node not in hosts and link.b.node not in hosts:
            between.append(link)
    names = [*(far for _, far in host_ends), *(end.node for link in between for end in (link.a, link.b))]
    part_of = find_connected_components(dict.fromkeys(names), between)
    parts: dict[str, set[str]] = {}
    for host, switch in host_ends:
        parts.setdefault(host, set()).add(part_of[switch])
    return {host: frozenset(found) for host, found in parts.items()}


def cabled_group_by_switch(names: Sequence[str], links: Iterable[Link], hosts: Iterable[str]) -> Mapping[str, str]:
    """Return the group of each switch: a switch of it, or "" for those that no cable joins to another switch.

    The hosts are those that the owner states. Where cables join one group only, all switches are "": those without a
    known cable may belong to it.
    """
    groups = [group for group in _connected_device_groups(names, links, hosts) if len(group) > 1]
    group_of = {name: group[0] for group in groups for name in group} if len(groups) > 1 else {}
    return {name: group_of.get(name, "") for name in names}


def _connected_device_groups(names: Sequence[str], links: Iterable[Link], hosts: Iterable[str]) -> list[list[str]]:
    root = find_connected_components([*names, *hosts], links)
    names_by_root: dict[str, list[str]] = {}
    for name in names:
        names_by_root.setdefault(root[name], []).append(name)
    return list(names_by_root.values())


def infer_modes(
    devices: Sequence[Device], links: Sequence[Link], hosts: Sequence[str], *, paused: bool, one_fabric: bool = False
) -> list[ModeGroup]:
    """Return the switches by mode; `pfc-only` is never inferred.

    `paused` means that files of hosts have PFC, `one_fabric` that the owner states that this is one fabric.
    """
    names = [device.name for device in devices]
    groups: dict[str, list[Device]] = {}
    group_of = cabled_group_by_switch(names, links, hosts)
    for device in devices:
        groups.setdefault(group_of[device.name], []).append(device)
    if one_fabric or len(groups) < 2:
        cabled = not devices or len(_connected_device_groups(names, links, hosts)) < len(names)
        return [_infer_group_mode(devices, cabled=cabled, paused=paused)]
    alone = groups.pop("", [])
    found_groups = [_infer_group_mode(group, cabled=True, paused=False) for group in groups.values()]
    if alone:
        found_groups.append(_infer_mode_of_uncabled_switches(alone, found_groups, paused=paused))
    return found_groups


def mode_of_groups(groups: Iterable[ModeGroup]) -> Mode:
    """Return the mode of a fabric as a whole: the one that asks most of a switch."""
    modes = {group.modes[0] for group in groups}
    return next((mode for mode in ("trim", "lossless") if mode in modes), "lossy")


def note_on_disconnected_groups(groups: Sequence[ModeGroup]) -> Note | None:
    """Return a note on groups that no known cable joins; None for a single one."""
    if len(groups) < 2:
        return None
    group_text = "; ".join(f"{abbreviate_names(group.devices)} ({' or '.join(group.modes)})" for group in groups)
    message = f"no known cable joins these {len(groups)} groups, so each has its own mode and siblings: {group_text}"
    return Note(kind="groups", message=f"{message}. If they are one fabric, state its cables in fabric.yaml")


def mode_assumptions(groups: Sequence[ModeGroup]) -> list[Assumption]:
    """Return the assumptions about the mode, one per mode and reason."""
    by_mode: dict[tuple[str, str], frozenset[str]] = {}
    for group in groups:
        key = (group.modes[0] if len(group.modes) == 1 else UNDECIDED_MODE, group.why)
        by_mode[key] = by_mode.get(key, frozenset()) | group.devices
    return [
        Assumption(fact="mode", value=mode, reason=why if len(by_mode) == 1 else f"{abbreviate_names(devices)}: {why}")
        for (mode, why), devices in by_mode.items()
    ]


def abbreviate_names(devices: Collection[str]) -> str:
    """Return the first names in words, and the number of the others."""
    first_devices, omitted_count = (
        sorted(devices, key=natural_sort_key)[:MAX_LISTED_SWITCHES],
        len(devices) - MAX_LISTED_SWITCHES,
    )
    return ", ".join(first_devices) + (f" and {omitted_count} more" if omitted_count > 0 else "")


def qos_profiles_of(devices: Iterable[Device]) -> list[QosProfile]:
    """Return the QoS profiles of all ports, each object once."""
    ports = (port for device in devices for port in device.interfaces)
    return list(dict.fromkeys(port.qos for port in ports if isinstance(port.qos, QosProfile)))


def _infer_group_mode(devices: Sequence[Device], *, cabled: bool, paused: bool) -> ModeGroup:
    names = frozenset(device.name for device in devices)
    trims = [device.name for device in devices if not isinstance(device.trimming, Unknown) and device.trimming]
    if trims:
        return ModeGroup(names, ("trim",), f"{trims[0]} trims packets")
    if any(map(_has_pfc_trace, qos_profiles_of(devices))):
        return ModeGroup(names, ("lossless",), "ports have PFC, a lossless priority group or a PFC watchdog")
    if paused and not (devices and cabled):
        return ModeGroup(names, ("lossless",), "NICs have PFC")
    if cabled:
        return ModeGroup(names, ("lossy",), "nothing pauses, and no priority group is lossless")
    return ModeGroup(names, MODES_WITHOUT_PFC, "no port has PFC, and no cable to another switch is known")


def _infer_mode_of_uncabled_switches(
    devices: Sequence[Device], other_groups: Iterable[ModeGroup], *, paused: bool
) -> ModeGroup:
    """Return switches without known cables: without a trace of PFC they have the mode of others that have one."""
    own_group = _infer_group_mode(devices, cabled=False, paused=paused)
    for group in other_groups if len(own_group.modes) > 1 else ():
        if group.modes != ("lossy",):
            return own_group._replace(
                modes=group.modes, why=f"as {abbreviate_names(group.devices)}, since no cable decides it"
            )
    return own_group


def _has_pfc_trace(qos: QosProfile) -> bool:
    """Whether anything that is known of a port is a trace of PFC."""
    priorities = [*known_rows(qos.pfc_rx_priorities), *known_rows(qos.pfc_tx_priorities)]
    watched = qos.pfc_watchdog is not None and not isinstance(qos.pfc_watchdog, Unknown)
    return bool(priorities) or watched or any(map(_is_known_lossless, known_rows(qos.priority_groups)))


def _is_known_lossless(group: PriorityGroup) -> bool:
    try:
        return group.lossless
    except UnknownFact:
        return False
