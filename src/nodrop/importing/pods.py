"""The pods of groups, and pods of pods: parts of the lower tiers that cables connect only through higher tiers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nodrop.model.fabric import Device, Fabric
from nodrop.model.subject import natural_sort_key

_MAX_POD_NUMBERINGS = 32
"""Ways to number the pods of a tier that are tried, at most."""

PodByPart = Mapping[int, int]
"""The number of the pod, from 0, that each part is."""


@dataclass(slots=True, kw_only=True)
class GroupDraft:
    """A group whose switches are still called as in their files."""

    tier: int
    devices: list[Device]
    ids: list[int] = field(default_factory=list)
    name: str = ""
    offset: int = 0
    per_pod: int | None = None

    @property
    def numbered_devices(self) -> list[tuple[int, Device]]:
        """Return its switches with their ids, in order."""
        pairs = zip(self.ids, self.devices, strict=True)
        return sorted(pairs, key=lambda switch: (switch[0], natural_sort_key(switch[1].name)))


@dataclass(slots=True, kw_only=True)
class _PodLevel:
    """The parts that cables up to a tier make, and the groups whose pods these are."""

    part_of: Mapping[str, int]
    """By switch; parts of one tier are none."""
    far_ports: Mapping[str, set[str]]
    """The ports that other switches have for one: switches at the same place of their pods have the same."""
    drafts: list[GroupDraft] = field(default_factory=list)

    @property
    def part_count(self) -> int:
        """Return the number of parts."""
        return len(set(self.part_of.values()))


class _PodNumbering(NamedTuple):
    """The ids of a pod for each group of some levels, and the pods of the lowest of these levels."""

    sizes: tuple[int, ...]
    pods: PodByPart


def assign_pods(drafts: Iterable[GroupDraft], fabric: Fabric) -> None:
    """Give groups the ids of a pod where cables up to their tier make several parts, each of more than one tier.

    Where a higher tier connects some of these parts and not all, its parts are pods of pods. Groups whose ids no size
    of pods suits get other ids.
    """
    drafts = tuple(drafts)
    levels = [level for level in _pod_levels(drafts, fabric) if level.drafts]
    if not levels:
        return
    choices = [_PodNumbering((), {})]
    for place in range(len(levels) - 1, -1, -1):
        above = levels[place + 1] if place + 1 < len(levels) else None
        choices = [
            _PodNumbering((*choice.sizes, *higher.sizes), choice.pods)
            for choice in _pod_numberings_of_level(levels[place])
            if (
                higher := next(
                    (each for each in choices if _are_pods_nested_evenly(levels[place], choice, above, each)), None
                )
            )
        ]
    sizes = choices[0].sizes if choices else _renumber_switches_by_pod(levels)
    for draft, size in zip((draft for level in levels for draft in level.drafts), sizes, strict=True):
        draft.per_pod = size


def _pod_levels(drafts: tuple[GroupDraft, ...], fabric: Fabric) -> Iterator[_PodLevel]:
    """Yield the levels below the top tier, the lowest first; a group is of the first that has several parts for it."""
    waiting = list(drafts)
    for tier in range(1, max((draft.tier for draft in drafts), default=0)):
        tier_of = {device.name: draft.tier for draft in drafts for device in draft.devices if draft.tier <= tier}
        parts = [part for part in _connected_parts(tier_of, fabric) if len({tier_of[name] for name in part}) > 1]
        part_of = {name: place for place, part in enumerate(parts) for name in part}
        level = _PodLevel(part_of=part_of, far_ports=_ports_between_devices(tier_of, fabric))
        if len(parts) > 1:
            for draft in [draft for draft in waiting if any(device.name in part_of for device in draft.devices)]:
                level.drafts.append(draft)
                waiting.remove(draft)
        yield level


def _ports_between_devices(names: Iterable[str], fabric: Fabric) -> dict[str, set[str]]:
    ports: dict[str, set[str]] = {name: set() for name in names}
    for link in fabric.links:
        if link.a.node in ports and link.b.node in ports:
            ports[link.a.node].add(link.b.port)
            ports[link.b.node].add(link.a.port)
    return ports


def _connected_parts(names: Iterable[str], fabric: Fabric) -> list[list[str]]:
    """Return the switches that cables among them connect."""
    beside: dict[str, list[str]] = {name: [] for name in names}
    for link in fabric.links:
        if link.a.node in beside and link.b.node in beside:
            beside[link.a.node].append(link.b.node)
            beside[link.b.node].append(link.a.node)
    parts, seen = [], set[str]()
    for name in sorted(beside, key=natural_sort_key):
        if name not in seen:
            part, waiting = [], [name]
            seen.add(name)
            while waiting:
                part.append(waiting.pop())
                waiting += [far for far in beside[part[-1]] if far not in seen]
                seen.update(beside[part[-1]])
            parts.append(part)
    return parts


def _pod_numberings_of_level(level: _PodLevel) -> Iterator[_PodNumbering]:
    """Yield the pods that the ids of all groups of a level allow, by the preference of the first group."""
    first, *others = (_pod_sizes(draft, level) for draft in level.drafts)
    for size, pods in first:
        sizes = (size, *(next((far for far, own in other if do_mappings_agree(own, pods)), 0) for other in others))
        if all(sizes):
            yield _PodNumbering(sizes, pods)


def _pod_sizes(draft: GroupDraft, level: _PodLevel) -> list[tuple[int, PodByPart]]:
    """Return the ids of a pod by which each part of a group is a pod, and the pod of each part.

    Those by which switches at the same place have the same ports come first, then the fewest.
    """
    part_of, far_ports = level.part_of, level.far_ports
    sizes: dict[tuple[tuple[int, int], ...], tuple[bool, int, PodByPart]] = {}
    pairs = [
        (device.name, number) for device, number in zip(draft.devices, draft.ids, strict=True) if device.name in part_of
    ]
    for size in range(1, max(draft.ids) + 1):
        pods: dict[int, int] = {}
        ports: dict[int, set[str]] = {}
        if all(pods.setdefault(part_of[name], (number - 1) // size) == (number - 1) // size for name, number in pairs):
            alike = all(ports.setdefault(number % size, far_ports[name]) == far_ports[name] for name, number in pairs)
            if len(set(pods.values())) == len(pods):
                key = tuple(pods.items())
                sizes[key] = min(sizes.get(key, (True, size, pods)), (not alike, size, pods), key=lambda size: size[:2])
    ordered = sorted(sizes.values(), key=lambda size: size[:2])
    return [(size, pods) for _, size, pods in ordered[:_MAX_POD_NUMBERINGS]]


def do_mappings_agree(first: Mapping[int, object], second: Mapping[int, object]) -> bool:
    """Whether two mappings have equal values for the keys that both have."""
    return all(second.get(key, value) == value for key, value in first.items())


def _parent_parts(level: _PodLevel, above: _PodLevel) -> dict[int, int]:
    """Return the part of a higher level that each part of a level is in."""
    return {part: above.part_of[name] for name, part in level.part_of.items()}


def _are_pods_nested_evenly(
    level: _PodLevel, choice: _PodNumbering, above: _PodLevel | None, higher: _PodNumbering
) -> bool:
    """Whether every pod of the higher level has the same number of pods of the lower one, counted through."""
    if above is None:
        return True
    pairs = [
        (choice.pods[part], higher.pods[parent])
        for part, parent in _parent_parts(level, above).items()
        if part in choice.pods and parent in higher.pods
    ]
    return find_pods_per_upper_pod(pairs) is not None


def find_pods_per_upper_pod(pairs: Iterable[tuple[int, int]]) -> int | None:
    """Return how many pods, counted from 0, each pod above has, by pairs of a pod and the pod above it.

    The smallest such number; None where there is none.
    """
    least, most = 1, None
    for pod, above in pairs:
        least = max(least, pod // (above + 1) + 1)
        if above:
            most = pod // above if most is None else min(most, pod // above)
    return least if most is None or least <= most else None


def _renumber_switches_by_pod(levels: list[_PodLevel]) -> tuple[int, ...]:
    """Return the ids of a pod for each group after giving the switches numbers by pods, those of one pod together."""
    sizes: list[int] = []
    above: _PodLevel | None = None
    pods_above: PodByPart = {}
    for level in reversed(levels):
        parents = _parent_parts(level, above) if above else dict.fromkeys(range(level.part_count), 0)
        children: dict[int, list[int]] = {}
        for part in range(level.part_count):
            children.setdefault(parents[part], []).append(part)
        ratio = max(map(len, children.values()))
        pods = {
            part: (pods_above[parent] if above else 0) * ratio + place
            for parent, parts in children.items()
            for place, part in enumerate(parts)
        }
        sizes = [*(_renumber_group_by_pod(draft, level, pods) for draft in level.drafts), *sizes]
        above, pods_above = level, pods
    return tuple(sizes)


def _renumber_group_by_pod(draft: GroupDraft, level: _PodLevel, pods: PodByPart) -> int:
    """Return the ids of a pod after giving the switches of a group numbers by pods."""
    parts: dict[int, list[Device]] = {}
    for _, device in draft.numbered_devices:
        parts.setdefault(pods[level.part_of.get(device.name, 0)], []).append(device)
    size = max(map(len, parts.values()))
    numbers = {
        device.name: part * size + place + 1 for part, devices in parts.items() for place, device in enumerate(devices)
    }
    draft.ids = [numbers[device.name] for device in draft.devices]
    return size
