"""States of a fabric while a plan is rolled out: some switches already changed, the others not yet."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal, NamedTuple

from nodrop.model.external import common_statements
from nodrop.model.fabric import Device, End, Link
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.states import is_known_off, known_rows
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key, natural_sort_key
from nodrop.plan.model import ChangeScope, DeviceChange, HazardTime, RolloutStage
from nodrop.plan.order import group_consecutive_stages
from nodrop.plan.shares import ChangesByScope

DoneScopesBySwitch = Mapping[str, frozenset[ChangeScope]]
"""What has been changed so far of each switch that has been begun with."""
StatedSide = Literal["old", "new"]


class RolloutMoment(NamedTuple):
    """A time of a rollout: `stage` counts from 1, and is done (`between`) or goes on (`within`)."""

    when: HazardTime
    stage: int
    done: DoneScopesBySwitch


def scopes_done_after(rollout_stages: Sequence[RolloutStage]) -> DoneScopesBySwitch:
    """Return the changes made once stages are through."""
    shares: dict[str, frozenset[ChangeScope]] = {}
    for stage in rollout_stages:
        for name in stage.devices:
            shares[name] = shares.get(name, frozenset()) | {stage.scope(name)}
    return shares


def rollout_moments(
    rollout_stages: Sequence[RolloutStage], added: Collection[str] = ()
) -> tuple[list[RolloutMoment], int]:
    """Return the times between stages and within them, and how many others are like these.

    Of switches that go one after the other for one reason, the times after the first, one in the middle and the last
    are as good as all. Within a stage, the first half of its switches is done. A stage of `added` switches alone has no
    cable to others before these change too, so half of it is like all of it.
    """
    chosen: list[int] = []
    begun = 0
    for run in group_consecutive_stages(rollout_stages):
        chosen += sorted({begun, begun + len(run) // 2, begun + len(run) - 1})
        begun += len(run)
    found_moments = [
        RolloutMoment("between stages", at + 1, scopes_done_after(rollout_stages[: at + 1]))
        for at in chosen
        if at + 1 < len(rollout_stages)
    ]
    alike = len(rollout_stages) - 1 - len(found_moments)
    for at in chosen:
        stage, half = rollout_stages[at], len(rollout_stages[at].devices) // 2
        if half and set(stage.devices) <= set(added):
            alike += 1
        elif half:
            half_stage = replace(stage, devices=stage.devices[:half], scopes=stage.scopes[:half])
            found_moments.append(
                RolloutMoment("within stage", at + 1, scopes_done_after([*rollout_stages[:at], half_stage]))
            )
    return found_moments, alike


class RolloutStates:
    """The states of a fabric between an old reading and a new one, as separate readings.

    `near`: no more than the switches that change, and those that have cables to them.
    """

    def __init__(
        self, changes: Sequence[DeviceChange], old: Reading, new: Reading, shares: ChangesByScope, *, near: bool = False
    ) -> None:
        self._changes = {change.name: change for change in changes}
        self._sides: Mapping[StatedSide, Reading] = {"old": old, "new": new}
        self._shares = shares
        self._near = near
        self._known_passing: dict[Subject, bool] = {}

    def reading_after_changes(self, done: DoneScopesBySwitch, stated: StatedSide) -> Reading:
        """Return the fabric with the changes of `done` made.

        `stated` is the side that mode, classes, hosts and policy are taken from. A cable that is removed stays until
        the work on either end begins; a new one is there when both ends are, one to a neighbor outside from the
        start. Of neighbors outside, the fabric has what both sides state.
        """
        devices = {
            name: device
            for name, device in self._unchanged_devices.items()
            if self._relevant_names is None or name in self._relevant_names
        }
        for name in self._changes:
            device = self._shares.device_after_shares(name, done.get(name, ()))
            if device is not None:
                devices[name] = device
        side = self._sides[stated]
        links = [link for link in self._links(done, stated) if link.a.node in devices or link.b.node in devices]
        hosts, nics = side.fabric.hosts, side.fabric.nics
        if self._relevant_names is not None:
            ends = {end.node for link in links for end in (link.a, link.b)}
            hosts = tuple(host for host in hosts if host.name in ends)
        fabric = replace(
            side.fabric,
            devices=tuple(devices[name] for name in self._names_in_order if name in devices),
            links=tuple(links),
            hosts=hosts,
            nics=nics,
            external=common_statements(self._sides["old"].fabric.external, self._sides["new"].fabric.external),
        )
        later = {name for name in devices if done.get(name)}
        readings = {"old": self._sides["old"], "new": self._sides["new"]}
        return Reading(
            fabric=fabric,
            sources={name: readings["new" if name in later else "old"].sources.get(name, ()) for name in devices},
            derived=self._documented_defaults_of_both_sides,
            assumed=side.assumed,
            allowed={name: readings["new" if name in later else "old"].allowed.get(name, ()) for name in devices},
        )

    @cached_property
    def _documented_defaults_of_both_sides(self) -> Mapping[Subject, str]:
        return {**self._sides["old"].derived, **self._sides["new"].derived}

    def documented_defaults_of_switch(self, switch: str) -> Mapping[Subject, str]:
        """Return the documented defaults of either side on a switch, and those of the fabric."""
        return {**self._defaults_by_switch.get(FABRIC_HEAD, {}), **self._defaults_by_switch.get(switch, {})}

    @cached_property
    def _defaults_by_switch(self) -> Mapping[str, Mapping[Subject, str]]:
        by_switch: dict[str, dict[Subject, str]] = {}
        for subject, reason in self._documented_defaults_of_both_sides.items():
            by_switch.setdefault(subject[0], {})[subject] = reason
        return by_switch

    @cached_property
    def all_changes_done(self) -> DoneScopesBySwitch:
        """Return all changes of the plan as done."""
        return {name: frozenset({ChangeScope()}) for name in self._changes}

    @cached_property
    def max_switch_count(self) -> int:
        """How many switches a state has, at the most."""
        return len(self._changes) + len(
            self._unchanged_devices if self._relevant_names is None else self._relevant_names - self._changes.keys()
        )

    @cached_property
    def _unchanged_devices(self) -> Mapping[str, Device]:
        devices = self._sides["new"].fabric.devices
        return {device.name: device for device in devices if device.name not in self._changes}

    @cached_property
    def _relevant_names(self) -> frozenset[str] | None:
        """The switches that matter to those that change; None where all are looked at."""
        if not self._near:
            return None
        both_neighbor_names = [Index(side.fabric).neighbor_names for side in self._sides.values()]
        beside = {far for side in both_neighbor_names for near in self._changes for far in side.get(near, ())}
        return frozenset(beside & self._unchanged_devices.keys() | self._changes.keys())

    @cached_property
    def _names_in_order(self) -> Sequence[str]:
        return sorted(self._unchanged_devices.keys() | self._changes.keys(), key=natural_sort_key)

    def _links(self, done: DoneScopesBySwitch, stated: StatedSide) -> Iterable[Link]:
        """Return the cables of a state in order; where none comes or goes, those of the stated side."""
        if not self._changed_cables:
            return self._links_by_side[stated]
        return self._links_in_between(done, stated)

    @cached_property
    def _links_by_side(self) -> Mapping[StatedSide, Sequence[Link]]:
        return {side: [cables[ends] for ends in sorted(cables)] for side, cables in self._cables_by_side.items()}

    def _links_in_between(self, done: DoneScopesBySwitch, stated: StatedSide) -> Iterator[Link]:
        before, after = self._cables_by_side["old"], self._cables_by_side["new"]
        outside = {neighbor.name for neighbor in self._sides["new"].fabric.external}
        used = {end for ends in before for end in ends}
        for ends in sorted({*before, *after}):
            touched = [end.node in done for end in ends]
            ready = [begun or end.node not in self._changes for begun, end in zip(touched, ends, strict=True)]
            if ends in before and ends in after:
                yield self._cables_by_side[stated][ends]
            elif ends in after and any(end.node in outside for end in ends) and used.isdisjoint(ends):
                yield after[ends]
            elif all(ready) if ends in after else not any(touched):
                yield (after if ends in after else before)[ends]

    @cached_property
    def _cables_by_side(self) -> Mapping[StatedSide, Mapping[tuple[End, End], Link]]:
        seen = self._relevant_names
        return {
            name: {
                (link.a, link.b): link
                for link in side.fabric.links
                if seen is None or link.a.node in seen or link.b.node in seen
            }
            for name, side in self._sides.items()
        }

    def comes_or_goes_whole(self, subject: Subject) -> bool:
        """Whether a part comes or goes as a whole, with its switch or alone, and so carries nothing meanwhile.

        A port that is shut at either end of the plan comes or goes too.
        """
        if subject not in self._known_passing:
            self._known_passing[subject] = self._does_part_come_or_go_whole(subject)
        return self._known_passing[subject]

    def _does_part_come_or_go_whole(self, subject: Subject) -> bool:
        match subject:
            case (root, "links", cable) if root == FABRIC_HEAD:
                nodes = {end.node for end in ends_of_cable_key(cable)}
                return not self._added_or_removed_switches.isdisjoint(nodes) or cable in self._changed_cables
            case (name, *path) if name in self._changes:
                change = self._changes[name]
                below = _model_path_below_device(path)
                if (
                    change.old is None
                    or change.new is None
                    or self._shares.far_node_of_path(name, below) in self._added_or_removed_switches
                ):
                    return True
                return any(_is_in_service(device, below) is False for device in (change.old, change.new))
        return False

    @cached_property
    def _added_or_removed_switches(self) -> frozenset[str]:
        return frozenset(name for name, change in self._changes.items() if change.old is None or change.new is None)

    @cached_property
    def _changed_cables(self) -> frozenset[str]:
        return frozenset(
            f"{a}--{b}" for a, b in self._cables_by_side["old"].keys() ^ self._cables_by_side["new"].keys()
        )

    def joins_switches(self, subject: Subject, device_names: Collection[str]) -> bool:
        """Whether a part is a cable or session between switches that are all in `device_names`."""
        match subject:
            case (root, "links", cable) if root == FABRIC_HEAD:
                return {end.node for end in ends_of_cable_key(cable)} <= set(device_names)
            case (name, "@neighbors" | "@vrf_bgp", *_) if name in device_names:
                return self._shares.far_node_of_path(name, _model_path_below_device(subject[1:])) in device_names
        return False


def _model_path_below_device(below: Sequence[str]) -> Subject:
    """Return where a part of a switch is stored: a port among interfaces, a session in its process."""
    match below:
        case ("@neighbors", *rest):
            return ("bgp", "neighbors", *rest)
        case (area, *rest) if area.startswith("@"):
            return (area[1:], *rest)
        case (port, *rest):
            return ("interfaces", port, *rest)
    return ()


def _is_in_service(device: Device, path: Subject) -> bool | None:
    """Return whether a switch has a port in service, or a session, where a path leads to one; None elsewhere."""
    match path:
        case ("interfaces", port, *_):
            return any(
                interface.name == port and not is_known_off(interface.enabled) for interface in device.interfaces
            )
        case ("bgp", "neighbors", key, *_):
            return any(neighbor.key == key for neighbor in known_rows(device.neighbors))
        case ("vrf_bgp", vrf, "neighbors", key, *_):
            processes = (bgp for bgp in known_rows(device.vrf_bgp) if bgp.vrf == vrf)
            return any(neighbor.key == key for process in processes for neighbor in process.neighbors)
    return None
