"""The states of one switch while it is changed, if its own tool makes a change step by step."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.change import ManualChange
from nodrop.model.compare import apply_differences, differences
from nodrop.model.fabric import Device
from nodrop.model.intern import Interner
from nodrop.model.reading import Reading
from nodrop.plan.effects import changes_not_computed_by_switch, shape_of_device_change, switch_files_if_unchanged
from nodrop.plan.file_changes import parse_device
from nodrop.plan.model import ChangeScope, HazardTime, Plan
from nodrop.plan.order import RolloutOrder
from nodrop.plan.patches import manual_steps_by_switch
from nodrop.plan.shares import ChangesByScope
from nodrop.platforms.kit.editing import RetryBudget

_MAX_CHANGE_KINDS = 8
"""Kinds of changes of which one switch each is looked into."""


class StateWithinSwitch(NamedTuple):
    """One switch during a stage (counted from 1): `after` names the last finished step of its change."""

    stage: int
    name: str
    after: str
    device: Device
    when: HazardTime = "within switch"


class StatesWithinSwitches:
    """The states within switches, one switch for all on which facts of the same kinds change."""

    def __init__(self, plan: Plan, old: Reading, shares: ChangesByScope) -> None:
        self._old = old
        self._shares = shares
        switch_by_shape: dict[object, str] = {}
        for change in plan.devices:
            if change.kind == "changed" and change.parts:
                switch_by_shape.setdefault(shape_of_device_change(change), change.name)
        self._names = list(switch_by_shape.values())[:_MAX_CHANGE_KINDS]
        self.untried = max(0, len(switch_by_shape) - _MAX_CHANGE_KINDS)
        """Kinds of changes that are not looked into."""
        self._by_hand = manual_steps_by_switch(plan)
        self._known: dict[tuple[str, tuple[ChangeScope, ...]], list[tuple[int, str, Device]]] = {}
        self._interner = Interner()

    def states_within_switches_of_order(self, order: RolloutOrder) -> Iterator[StateWithinSwitch]:
        """Yield the states within switches in an order."""
        for name in self._names:
            turns = [(at, stage.scope(name)) for at, stage in enumerate(order.stages, 1) if name in stage.devices]
            key = name, tuple(share for _, share in turns)
            if key not in self._known:
                self._known[key] = list(self._intermediate_states_of_switch(*key))
            for turn, after, device in self._known[key]:
                yield StateWithinSwitch(turns[turn][0], name, after, device)

    def _intermediate_states_of_switch(
        self, name: str, shares: tuple[ChangeScope, ...]
    ) -> Iterator[tuple[int, str, Device]]:
        """Yield the number of the pass, the last finished step, and the switch in that state."""
        files: Mapping[str, bytes] | None = switch_files_if_unchanged(self._old, name)
        if files is None:
            return
        platform = self._old.fabric.device(name).platform
        editor = platforms.find_editor(platform)
        if editor is None:
            return
        budget, manual_lines = RetryBudget(files), self._by_hand.get(name, {})
        for turn, share in enumerate(shares):
            every = changes_not_computed_by_switch(self._shares.change_within_share(name, share))
            manual_steps = [
                ManualChange(change=change, line=manual_lines[change.subject])
                for change in every
                if change.subject in manual_lines
            ]
            try:
                edit = editor.edit(
                    files, [change for change in every if change.subject not in manual_lines], name=name, budget=budget
                )
            except InputProblems:
                return
            edit = replace(edit, by_hand=(*edit.by_hand, *manual_steps))
            before = self._shares.device_after_shares(name, shares[:turn])
            assert before is not None
            was = parse_device(platform, name, files)
            for after, state_files in platforms.states_during_edit(platform, files, edit):
                device = self._merge_device(before, was, parse_device(platform, name, state_files))
                if device is not before:
                    yield turn, after, device
            files = {**files, **edit.files}

    def _merge_device(self, device_before: Device, was: Device, device: Device) -> Device:
        """Return a switch with the changes in its files; facts that no file states stay."""
        changed = {difference.path for difference in differences(was, device, whole_lists=True)}
        return self._interner.device(apply_differences(device_before, device, lambda path, _old, _new: path in changed))


def extract_neighborhood(reading: Reading, name: str) -> Reading:
    """Return the part of a fabric that consists of a switch and its cabled neighbors."""
    fabric = reading.fabric
    links = tuple(link for link in fabric.links if name in (link.a.node, link.b.node))
    beside = {name, *(end.node for link in links for end in (link.a, link.b))}
    devices = tuple(device for device in fabric.devices if device.name in beside)
    hosts = tuple(host for host in fabric.hosts if host.name in beside)
    return replace(reading, fabric=replace(fabric, devices=devices, links=links, hosts=hosts))


def replace_device(reading: Reading, device: Device) -> Reading:
    """Return a fabric with one of its switches as it is given."""
    devices = tuple(device if switch.name == device.name else switch for switch in reading.fabric.devices)
    return replace(reading, fabric=replace(reading.fabric, devices=devices))
