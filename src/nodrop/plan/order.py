"""The rollout order of a plan: one switch as a trial, its neighbors, the rest, then tier by tier.

`possible_orders` are the alternatives to consider where that order breaks something during rollout.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from nodrop.model.fabric import Fabric, Management
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.plan.model import ChangeScope, DeviceChange, RolloutStage
from nodrop.plan.shares import ChangesByScope
from nodrop.routing.tiers import RANK_BY_ROLE

_MAX_LISTED_RENAMED_SWITCHES = 3
"""Renamed switches that a stage lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutOrder:
    """Stages one after the other; `why` explains an unusual order, and is empty for the usual one.

    Stated facts of the fabric (its mode and classes, and how hosts are set) change before the first stage or after the
    last one.
    """

    stages: tuple[RolloutStage, ...]
    why: str = ""
    stated: Literal["last", "first"] = "last"


def order_into_stages(
    changes: Sequence[DeviceChange], new_fabric: Fabric, *, downwards: bool = False
) -> tuple[RolloutStage, ...]:
    """Return the switches of a plan in rollout order.

    Renamed ones change their names first. New ones are next, because they carry nothing yet. Among those nearest to
    hosts one goes alone; when it has proved well, the others of its pod (those that share a switch above it) go, then
    the rest of its tier. Each tier above goes one switch at a time, and its others carry the traffic; with `downwards`,
    the tiers furthest from hosts go first. Removed switches go last.
    """
    return tuple(_SwitchesByTier(changes, new_fabric).stages_of_single_pass(downwards=downwards))


def possible_orders(
    changes: Sequence[DeviceChange], shares: ChangesByScope, new_fabric: Fabric, *, restated: bool
) -> Iterator[RolloutOrder]:
    """Yield the possible orders, the best first: the usual one, other stages, then several passes.

    Each is also tried with the stated facts of the fabric changed first, if those are `restated`.
    """
    first_reason = "what is stated of the fabric, and how hosts are set, changes before the switches"
    met: set[tuple[RolloutStage, ...]] = set()
    for order, why in _candidate_orders(_SwitchesByTier(changes, new_fabric), shares):
        if order and order not in met:
            met.add(order)
            yield RolloutOrder(stages=order, why=why)
            if restated:
                yield RolloutOrder(stages=order, why=f"{why}; {first_reason}" if why else first_reason, stated="first")


def _candidate_orders(
    tiers: "_SwitchesByTier", shares: ChangesByScope
) -> Iterator[tuple[tuple[RolloutStage, ...], str]]:
    """Yield orders, the best first, with the unusual part of each; some may be the same, or empty."""
    yield tuple(tiers.stages_of_single_pass()), ""
    yield tuple(tiers.stages_of_single_pass(downwards=True)), "switches far from hosts first, those near to hosts last"
    beside = "both ends of a session or cable change together"
    before, after = (
        tuple(tiers.stages_of_switches_with_their_neighbors(shares, rest_last=last)) for last in (False, True)
    )
    yield before, beside if before == after else f"{beside}, the rest before that"
    yield after, f"{beside}, the rest after that"
    yield (
        tuple(tiers.stages_of_several_passes(shares, ChangeScope("guarding"), ChangeScope("unguarded"))),
        "in two passes, watchdogs first",
    )
    careful = tiers.stages_of_several_passes(shares, ChangeScope("safe"), ChangeScope("daring"))
    yield tuple(careful), "in two passes, PFC that comes and watchdogs that go last"


def group_consecutive_stages(rollout_stages: Sequence[RolloutStage]) -> list[list[RolloutStage]]:
    """Return stages, single switches that go one after the other for one reason together."""
    found_runs: list[list[RolloutStage]] = []
    for stage in rollout_stages:
        if found_runs and stage.continues_series_of(found_runs[-1][-1]):
            found_runs[-1].append(stage)
        else:
            found_runs.append([stage])
    return found_runs


def number_stages(rollout_stages: Sequence[RolloutStage]) -> list[tuple[str, RolloutStage]]:
    """Return stages with their numbers, of single switches that go one after the other `3.1`, `3.2` and so on."""
    return [
        (str(number) if len(run) == 1 else f"{number}.{at}", stage)
        for number, run in enumerate(group_consecutive_stages(rollout_stages), 1)
        for at, stage in enumerate(run, 1)
    ]


class _SwitchesByTier:
    """The switches of a plan by their distance from hosts, with their neighbors."""

    def __init__(self, changes: Sequence[DeviceChange], new: Fabric) -> None:
        kinds = {change.name: change.kind for change in changes}
        self._renamed = _renamed_switches(changes)
        renamed = {*self._renamed, *self._renamed.values()}
        self._added = tuple(name for name, kind in kinds.items() if kind == "added" and name not in renamed)
        self._removed = tuple(name for name, kind in kinds.items() if kind == "removed" and name not in renamed)
        self._staying = [name for name, kind in kinds.items() if kind in ("changed", "replaced")]
        self._beside = Index(new).neighbor_names
        self._depth = _distances_from_hosts(new, self._beside)

    def stages_of_single_pass(self, *, downwards: bool = False) -> Iterator[RolloutStage]:
        """Yield the stages of one pass."""
        return self._surround_with_added_and_removed_stages(self._stages_by_tier(self._staying, downwards=downwards))

    def stages_of_switches_with_their_neighbors(
        self, shares: ChangesByScope, *, rest_last: bool = False
    ) -> Iterator[RolloutStage]:
        """Yield a stage for each switch that others lead to from below or the same tier.

        Each stage includes the parts of these that lead to it.
        """
        near: dict[str, list[str]] = {}
        remaining_share: dict[str, ChangeScope] = {}
        staying = set(self._staying)
        idle = set()
        for name in sorted(self._staying, key=natural_sort_key):
            leads = shares.far_nodes_of_changes(name)
            ends = [lead for lead in leads if lead in staying and self._height_key(lead) > self._height_key(name)]
            if leads <= set(ends):
                idle.add(name)
            if ends:
                remaining_share[name] = ChangeScope("elsewhere", tuple(sorted(ends, key=natural_sort_key)))
            for end in ends:
                near.setdefault(end, []).append(name)
        if not near:
            return
        remaining_names = [
            staying_name for staying_name in self._staying if staying_name not in near and staying_name not in idle
        ]
        other_stages = [
            _limit_stage_to_shares(stage, [remaining_share.get(name, ChangeScope()) for name in stage.devices])
            for stage in self._stages_by_tier(remaining_names)
        ]
        ordered = sorted(near, key=self._height_key)
        around = [self._make_neighbor_stage(end, near[end], remaining_share.get(end, ChangeScope())) for end in ordered]
        yield from self._surround_with_added_and_removed_stages(
            [*around, *other_stages] if rest_last else [*other_stages, *around]
        )

    def _make_neighbor_stage(
        self, end: str, neighboring_devices: Sequence[str], own_share: ChangeScope
    ) -> RolloutStage:
        return RolloutStage(
            devices=(end, *neighboring_devices),
            why="together with what others have towards it",
            tier=self._tier_of_switch(end),
            scopes=(own_share, *(ChangeScope("towards", (end,)) for _ in neighboring_devices)),
        )

    def stages_of_several_passes(self, shares: ChangesByScope, *kinds: ChangeScope) -> Iterator[RolloutStage]:
        """Yield the stages of as many passes over the switches, each with a share of the changes."""
        stage_lists = []
        for share in kinds:
            names = [name for name in self._staying if shares.has_changes_in_scope(name, share)]
            stage_lists.append(
                [_limit_stage_to_shares(stage, [share] * len(stage.devices)) for stage in self._stages_by_tier(names)]
            )
        if all(stage_lists):
            yield from self._surround_with_added_and_removed_stages(chain(*stage_lists))

    def _surround_with_added_and_removed_stages(self, staying: Iterable[RolloutStage]) -> Iterator[RolloutStage]:
        """Yield stages with those of added and removed switches around them; switches change their names first."""
        if self._renamed:
            pairs = [f"{old} -> {new}" for old, new in self._renamed.items()]
            more = (
                f" and {len(pairs) - _MAX_LISTED_RENAMED_SWITCHES} more"
                if len(pairs) > _MAX_LISTED_RENAMED_SWITCHES
                else ""
            )
            listed = ", ".join(pairs[:_MAX_LISTED_RENAMED_SWITCHES])
            why = f"renamed, by their management addresses: {listed}{more}; keep all cables"
            yield RolloutStage(devices=tuple(chain.from_iterable(self._renamed.items())), why=why)
        if self._added:
            yield RolloutStage(devices=self._added, why="new: no traffic before the cables are there")
        yield from staying
        if self._removed:
            why = "last: drain, and take the cables away once nothing needs them"
            yield RolloutStage(devices=self._removed, why=why)

    def _stages_by_tier(self, names: Sequence[str], *, downwards: bool = False) -> Iterator[RolloutStage]:
        for tier in sorted({self._tier_of_switch(name) for name in names}, reverse=downwards):
            near_names = [name for name in names if self._tier_of_switch(name) == tier]
            yield from (
                _single_switch_stages(near_names, tier) if tier else _canary_first_stages(near_names, self._beside)
            )

    def _tier_of_switch(self, name: str) -> int:
        return self._depth.get(name, 0)

    def _height_key(self, name: str) -> tuple[object, ...]:
        """Return a key that distinguishes the two ends of a cable, also those of one tier."""
        return self._tier_of_switch(name), natural_sort_key(name)


def _renamed_switches(changes: Sequence[DeviceChange]) -> dict[str, str]:
    """Return new names of switches by old ones: a removed and an added one of a model have the management addresses."""
    by_kind: dict[str, dict[tuple[tuple[str, ...], object], list[str]]] = {"added": {}, "removed": {}}
    for change in changes:
        device = change.new or change.old
        if change.kind in by_kind and device is not None and isinstance(device.management, Management):
            same = (device.management.addresses, device.model)
            by_kind[change.kind].setdefault(same, []).append(change.name)
    pairs = ((names, by_kind["added"].get(same, [])) for same, names in by_kind["removed"].items() if same[0])
    return {old[0]: new[0] for old, new in pairs if len(old) == len(new) == 1}


def _limit_stage_to_shares(stage: RolloutStage, shares: Sequence[ChangeScope]) -> RolloutStage:
    """Return a stage that makes only shares of the changes."""
    if all(share == ChangeScope() for share in shares):
        return stage
    return replace(stage, scopes=tuple(shares), why=f"{stage.why}; {'; '.join(dict.fromkeys(map(str, shares)))}")


def _canary_first_stages(names: Sequence[str], beside: Mapping[str, Set[str]]) -> Iterator[RolloutStage]:
    first_device, *other_devices = sorted(names, key=natural_sort_key)
    yield RolloutStage(devices=(first_device,), why="canary; verify before continuing")
    above = beside.get(first_device, set())
    pod = tuple(name for name in other_devices if beside.get(name, set()) & above)
    remaining_devices = tuple(name for name in other_devices if name not in pod)
    if pod:
        yield RolloutStage(devices=pod, why=f"share a switch above them with {first_device}")
    if remaining_devices:
        yield RolloutStage(devices=remaining_devices, why="the rest of the tier")


def _single_switch_stages(names: Iterable[str], tier: int) -> Iterator[RolloutStage]:
    for name in sorted(names, key=natural_sort_key):
        yield RolloutStage(devices=(name,), why="the other switches of the tier carry the traffic", tier=tier)


def _distances_from_hosts(fabric: Fabric, beside: Mapping[str, Set[str]]) -> Mapping[str, int]:
    """Return how many cables lie between each switch and the nearest that has hosts, or is called a leaf."""
    hosts = {host.name for host in fabric.hosts}
    edge = {
        end.node
        for link in fabric.links
        for end, other_end in ((link.a, link.b), (link.b, link.a))
        if other_end.node in hosts
    }
    edge |= {
        device.name
        for device in fabric.devices
        if not isinstance(device.role, Unknown) and RANK_BY_ROLE.get(device.role) == 0
    }
    depths = dict.fromkeys(sorted(edge & beside.keys()), 0)
    ring = list(depths)
    while ring:
        ring = sorted({neighbor for name in ring for neighbor in beside[name]} - depths.keys())
        depths |= {name: depths[_neighbor_nearest_to_hosts(name, beside, depths)] + 1 for name in ring}
    return depths


def _neighbor_nearest_to_hosts(name: str, beside: Mapping[str, Set[str]], depths: Mapping[str, int]) -> str:
    """Return the switch nearest to hosts that a switch has a cable to."""
    return min(
        (neighbor for neighbor in beside[name] if neighbor in depths),
        key=lambda other: (depths[other], natural_sort_key(other)),
    )
