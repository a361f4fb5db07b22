"""The part of a fabric to run in a twin if not all of it can: leaves of several pods, with all that is above them.

A chosen leaf has all of its uplinks, and so has a chosen spine. So they behave towards each other as in the whole
fabric; where they do not, nothing is claimed.
"""

import os
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.subject import Subject, ends_of_cable_key, natural_sort_key
from nodrop.model.values import replace_fields
from nodrop.routing.observation import OBSERVATION_CHECKS, ValidatorObservation
from nodrop.routing.tiers import tier_of_device
from nodrop.validating import compute_observation, leaves_by_destination_prefix
from nodrop.validating.twin.work import PartialObservation

MEMORY_BYTES_PER_DEVICE: Final = 60 << 20
"""Memory for the daemons of a device: zebra, staticd and bgpd take 37 MiB with 32 sessions (measured, FRR 8.4.4)."""
MAX_PROCESSES_PER_DEVICE: Final = 32
"""Processes and threads of a device at most: zebra, bgpd, staticd and bfdd have 12 (measured, FRR 8.4.4)."""
_DEVICES_PER_CPU: Final = 24
"""Devices for each processor: so many come up within a minute."""
_PODS, _FIRST = 2, 2
"""From how many pods leaves are taken before the rest, and how many of each."""
MAX_HOSTS: Final = 128
"""How many hosts run at most; of more, some of each leaf."""
_MEMORY_LIMIT_FILES: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledFabric:
    """The part of a fabric that runs, `of` how many devices; all of it where none is left out."""

    fabric: Fabric
    of: int

    @property
    def is_whole(self) -> bool:
        """Whether all devices run."""
        return len(self.fabric.devices) == self.of

    @property
    def sample_note(self) -> str:
        """Return the note about the unseen parts."""
        return f"the twin ran a sample of {len(self.fabric.devices)} of {self.of} devices"


def max_devices_of_machine() -> int:
    """How many devices this machine can run: by half of the memory that is free, and by its processors."""
    free = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free.append(int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) << 10)
    for limit in _MEMORY_LIMIT_FILES:
        with suppress(OSError, ValueError):
            free.append(int(Path(limit).read_text()))
    by_memory = min(free, default=MEMORY_BYTES_PER_DEVICE << 8) // 2 // MEMORY_BYTES_PER_DEVICE
    return max(2, min(by_memory, _DEVICES_PER_CPU * len(os.sched_getaffinity(0))))


def sample_fabric(index: Index, max_bytes: int) -> SampledFabric:
    """Return what runs of a fabric with at most so many devices, and no more hosts than can."""
    fabric = index.fabric
    names = [device.name for device in fabric.devices]
    chosen = set(names) if len(names) <= max_bytes else set(_choose_devices(index, max_bytes))
    chosen |= {
        name
        for name in index.external_nodes & index.devices.keys()
        if not chosen.isdisjoint(index.neighbor_names[name])
    }
    links = [link for link in fabric.links if not {link.a.node, link.b.node} & (set(names) - chosen)]
    hosts = _choose_hosts(fabric, chosen)
    node_names = (
        chosen
        | hosts
        | ({link.a.node for link in links} | {link.b.node for link in links}) - {host.name for host in fabric.hosts}
    )
    field = replace_fields(
        fabric,
        devices=tuple(device for device in fabric.devices if device.name in chosen),
        links=tuple(link for link in links if link.a.node in node_names and link.b.node in node_names),
        hosts=tuple(host for host in fabric.hosts if host.name in hosts),
    )
    return SampledFabric(fabric=field, of=len(names))


def _choose_hosts(fabric: Fabric, chosen: set[str]) -> set[str]:
    """Return the hosts at the devices that run; of too many, the first and the last ones of each leaf in turn."""
    behind: defaultdict[str, list[str]] = defaultdict(list)
    hosts = {host.name for host in fabric.hosts}
    for link in fabric.links:
        for host, device in ((link.a.node, link.b.node), (link.b.node, link.a.node)):
            if host in hosts and device in chosen and host not in behind[device]:
                behind[device].append(host)
    everyone = {host for rows in behind.values() for host in rows}
    if len(everyone) <= MAX_HOSTS:
        return everyone
    found_hosts: dict[str, None] = {}
    turns = [
        sorted(rows, key=natural_sort_key)
        for _, rows in sorted(behind.items(), key=lambda row: natural_sort_key(row[0]))
    ]
    while any(turns) and len(found_hosts) < MAX_HOSTS:
        for rows in turns:
            if rows and len(found_hosts) < MAX_HOSTS:
                found_hosts[rows.pop(0)] = None
            if rows and len(found_hosts) < MAX_HOSTS:
                found_hosts[rows.pop()] = None
    return set(found_hosts)


def _choose_devices(index: Index, max_bytes: int) -> Iterable[str]:
    """Return the devices that run: leaves in turn, each with all that is above it, as long as there is room."""
    fabric = index.fabric
    beside = {
        name: sorted(other_neighbor_names, key=natural_sort_key)
        for name, other_neighbor_names in index.neighbor_names.items()
    }
    ranks = {device.name: tier_of_device(device) for device in fabric.devices}
    chosen_names: dict[str, None] = {}
    for leaf in _leaves_in_order_of_choice(fabric, beside, ranks):
        above = [device_name for device_name in _devices_above(leaf, beside, ranks) if device_name not in chosen_names]
        if len(chosen_names) + len(above) <= max_bytes:
            chosen_names.update(dict.fromkeys(above))
        elif not chosen_names:
            chosen_names.update(dict.fromkeys(above[:max_bytes]))
    return chosen_names or _nearest_devices(fabric.devices, beside, max_bytes)


def _leaves_in_order_of_choice(
    fabric: Fabric, beside: Mapping[str, list[str]], ranks: Mapping[str, int | None]
) -> Iterator[str]:
    """Yield the leaves in order of choice: some of the first pods, the rest pod by pod.

    Pods are the devices that are connected without the highest tier.
    """
    top = max((device_rank for device_rank in ranks.values() if device_rank is not None), default=0)
    pods: list[list[str]] = []
    seen: set[str] = set()
    for device in sorted(fabric.devices, key=lambda device: natural_sort_key(device.name)):
        if ranks[device.name] == 0 and device.name not in seen:
            pod, pending_names = [], [device.name]
            seen.add(device.name)
            while pending_names:
                name = pending_names.pop()
                pod.append(name)
                new_names = [peer for peer in beside[name] if peer not in seen and ranks[peer] not in (top, None)]
                seen.update(new_names)
                pending_names += new_names
            pods.append(sorted((pod_member for pod_member in pod if ranks[pod_member] == 0), key=natural_sort_key))
    first_leaves = [leaf for pod in pods[:_PODS] for leaf in pod[:_FIRST]]
    yield from first_leaves
    yield from (leaf for pod in pods for leaf in pod if leaf not in first_leaves)


def _devices_above(leaf: str, beside: Mapping[str, list[str]], ranks: Mapping[str, int | None]) -> list[str]:
    """Return a leaf, and all devices that are reached from it by going up."""
    reached_names = {leaf: None}
    for name in (pending_names := [leaf]):
        for peer in beside[name]:
            higher = (ranks[peer] or 0) > (ranks[name] or 0)
            if higher and peer not in reached_names:
                reached_names[peer] = None
                pending_names.append(peer)
    return list(reached_names)


def _nearest_devices(devices: Iterable[Device], beside: Mapping[str, list[str]], most: int) -> list[str]:
    """Return the first device and those around it, where there are no tiers."""
    names = sorted((device.name for device in devices), key=natural_sort_key)
    found_names = dict.fromkeys(names[:1])
    for name in (remaining_names := names[:1]):
        new_names = [peer for peer in beside[name] if peer not in found_names]
        found_names.update(dict.fromkeys(new_names))
        remaining_names += new_names
    return list(found_names)[:most]


def limit_observation_to_sample(
    observed_part: PartialObservation,
    fabric_sample: SampledFabric,
    own_observation: ValidatorObservation,
    whole_observation: ValidatorObservation,
) -> PartialObservation:
    """Describe the coverage of a sample; `own_observation` and `whole_observation` are the computed results of both.

    An item is seen if both have the same computed result for it, or if the sample deviates from its computed result;
    nothing is known of the others.
    """
    coverage = PartialObservation(said=observed_part.said, notes=[*observed_part.notes], unseen={})
    for check in OBSERVATION_CHECKS:
        seen, strange = (
            observed_part.seen.get(check),
            own_observation.unseen.get(check, {}).keys() - whole_observation.unseen.get(check, {}).keys(),
        )
        coverage.unseen[check] = {
            item: why for item, why in observed_part.unseen.get(check, {}).items() if item not in strange
        }
        if seen is None:
            continue
        covered_items = coverage.seen[check] = {}
        ours, whole_items = own_observation.seen.get(check, {}), whole_observation.seen.get(check, {})
        for item, value in seen.items():
            if item not in ours or ours[item] == whole_items.get(item) or value != ours[item]:
                covered_items[item] = value
            else:
                coverage.unseen[check][item] = fabric_sample.sample_note
        for item in whole_items:
            if item not in covered_items and not _has_unseen_reason(coverage.unseen[check], item):
                coverage.unseen[check][item] = fabric_sample.sample_note
    unstarted_count = fabric_sample.of - len(fabric_sample.fabric.devices)
    started = _format_device_counts_by_role(fabric_sample.fabric.devices)
    coverage.notes.insert(0, f"{fabric_sample.sample_note}: {started}; {unstarted_count} more were not started")
    return coverage


def _has_unseen_reason(unseen: Mapping[Subject, str], checked_subject: Subject) -> bool:
    return bool(unseen.get(checked_subject) or unseen.get(()))


def _format_device_counts_by_role(devices: Iterable[Device]) -> str:
    """How many devices there are of each role, with the first and the last of them."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for device in devices:
        names[str(device.role) if tier_of_device(device) is not None else "other"].append(device.name)
    rows = {role: sorted(role_names, key=natural_sort_key) for role, role_names in sorted(names.items())}
    return ", ".join(
        f"{len(found_rows)} {role} ({found_rows[0]} to {found_rows[-1]})" for role, found_rows in rows.items()
    )


def compute_sample_observation(
    fabric_sample: SampledFabric, whole_observation: ValidatorObservation
) -> ValidatorObservation:
    """Return the computed results of a sample, with the failures of the whole fabric that can be tried in it.

    The losses of a failure are those of the running devices; the first of devices that are alike may be another in a
    sample.
    """
    index = Index(fabric_sample.fabric)
    own_observation = compute_observation(index)
    names = {device.name for device in fabric_sample.fabric.devices}
    counted = leaves_by_destination_prefix(index)
    lost: dict[Subject, Hashable] = {}
    for item, value in whole_observation.seen.get("failures", {}).items():
        if ({end.node for end in ends_of_cable_key(item[-1])} or {item[-1]}) <= names:
            pairs = value if isinstance(value, frozenset) else frozenset()
            sample_losses = frozenset((device, to) for device, to in pairs if device in names and to in counted)
            lost[item] = own_observation.seen["failures"].get(item, sample_losses)
    seen = {**own_observation.seen, "failures": lost, "recoveries": dict.fromkeys(lost, "as before")}
    return replace(own_observation, seen=seen)
