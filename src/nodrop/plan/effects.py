"""Effects of a change on running switches: known facts of the platform, and the result of the platform's tool.

Switches of one make with changes of one shape are tried once, in the files of the first of them.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.locate import load_unchanged_source
from nodrop.model.change import DISRUPTIONS, Change, EditResult, PatchStep
from nodrop.model.fabric import Interface
from nodrop.model.fields import FIELD_TABLE, ChangeImpact, field_of, label_of
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject, subject_text
from nodrop.plan.fact_groups import (
    fact_shape_key,
    group_facts,
    merge_entries,
    path_template,
    platform_release_and_model_of_change,
)
from nodrop.plan.file_changes import edit_towards_files
from nodrop.plan.model import (
    ChangedFact,
    ChangedFactGroup,
    ChangeEffect,
    ChangeRisk,
    DeviceChange,
    DeviceChangeKind,
    PortGroupChange,
    worst_risk,
)
from nodrop.platforms.kit.change_effects import effect_of_change
from nodrop.platforms.kit.editing import RetryBudget

_EFFECT_BY_CHANGE_KIND: Mapping[DeviceChangeKind, ChangeEffect] = {
    "added": ChangeEffect(reasons=("it carries no traffic before its cables do",)),
    "removed": ChangeEffect(
        risk="traffic-affecting", reasons=("its sessions close, and its paths end",), method="by hand"
    ),
    "replaced": ChangeEffect(risk="reboot", reasons=("another operating system is installed",), method="by hand"),
    "changed": ChangeEffect(),
}


IDLE_PORT_REASON = "the ports are shut before, and carry nothing"


class ChangeEffectFinder:
    """What changes do to the switches of a fabric that runs."""

    def __init__(
        self,
        old: Reading,
        changes: Sequence[DeviceChange],
        new: Reading | None = None,
        outer: Mapping[str, ChangeRisk] = MappingProxyType({}),
    ) -> None:
        """Take the readings and the changes.

        With `new`, patches make its files themselves; `outer` is the risk of changes outside the model, by switch.
        """
        self._outer = outer
        self._old, self._new = old, new
        self._changes = {change.name: change for change in changes}
        self._known: dict[object, ChangeEffect] = {}
        self._bundles: dict[str, dict[str, bytes] | None] = {}
        self._budgets: dict[str, RetryBudget] = {}
        self.left: dict[str, Mapping[Subject, str]] = {}
        """By switch, which changes no patch makes in its own files, and why, where all of them were tried in those."""
        self._edits: dict[object, EditResult | None] = {}
        self._whole: dict[object, EditResult | None] = {}

    def effect_of_change_kind(self, kind: DeviceChangeKind) -> ChangeEffect:
        """Return the effect of a switch being added, removed, or moved to another system."""
        return _EFFECT_BY_CHANGE_KIND[kind]

    def add_effects(self, fact_group: ChangedFactGroup) -> ChangedFactGroup:
        """Return facts with their effects."""
        return replace(
            fact_group,
            facts=tuple(replace(fact, effect=self._effect_of_fact(fact, fact_group)) for fact in fact_group.facts),
        )

    def _effect_of_fact(self, fact: ChangedFact, block: ChangedFactGroup) -> ChangeEffect:
        change = self._changes[block.devices[0]]
        if change.kind == "replaced":
            return _EFFECT_BY_CHANGE_KIND["replaced"]
        if fact.is_switch_computed:
            return ChangeEffect(method="derived")
        key = _effect_key(fact, block.ports, change)
        if key not in self._known:
            self._known[key] = self._compute_effect(fact, block.ports, change)
        return self._known[key]

    def _compute_effect(self, fact: ChangedFact, ports: tuple[str, ...], change: DeviceChange) -> ChangeEffect:
        """Return the worst that is known of a change, and that its steps do in a switch's own files."""
        assert change.old is not None
        wanted_changes = list(replace(change, parts=(PortGroupChange(ports, fact.entries),)).changes())
        whole_edit = self._edit_all_changes(
            change
        )  # before the facts alone, which are to leave it enough of the budget
        templates = {_path_template_of_change(manual_step.change) for manual_step in whole_edit.by_hand}
        possible = templates.isdisjoint(map(_path_template_of_change, wanted_changes))
        edit = self._edit_single_fact(fact, ports, change, in_parts=not possible)
        known_impacts = [
            effect_of_change(change.old.platform, entry.path, bool(ports), entry.old, entry.new)
            for entry in fact.entries
        ]
        unused = _needed_flags_if_off(fact, ports, change)
        known_impacts = [
            ChangeImpact("none", f"{flag} is off") if flag else impact
            for flag, impact in zip(unused, known_impacts, strict=True)
        ]
        if _are_ports_idle(fact, ports, change):
            known_impacts = [ChangeImpact("none", IDLE_PORT_REASON)]
        risks: list[ChangeRisk] = [impact.disruption for impact in known_impacts if impact is not None]
        reasons = [impact.reason for impact in known_impacts if impact is not None]
        if edit is None:
            return ChangeEffect(risk=worst_risk([*risks, "unknown"]), reasons=unique_lines(reasons), method="unknown")
        if edit.by_hand and possible:
            edit = whole_edit if None in known_impacts else EditResult()
        if edit.by_hand:
            lines = [line.line.removeprefix(f"{subject_text(line.change.subject)}: ") for line in edit.by_hand]
            risk = worst_risk(risks) if risks else "unknown"
            return ChangeEffect(risk=risk, reasons=unique_lines(reasons), method="by hand", by_hand=unique_lines(lines))
        if _disruption_rank(edit) > _disruption_rank(
            whole_edit
        ):  # alone, it takes a profile of its own; with the others it does not
            edit = whole_edit
        steps = worst_risk(step.disruption for step in edit.steps)
        weighty = [
            impact.reason
            for impact in known_impacts
            if impact is not None and (impact.disruption != "none" or steps == "none")
        ]
        typed = [f"`{step.command.split()[0]}`: {step.reason}" for step in edit.steps if step.command]
        return ChangeEffect(
            risk=worst_risk([*risks, steps]),
            reasons=unique_lines([*weighty, *_disruption_reasons(edit.steps)]),
            method="commands" if typed else "patch",
            by_hand=unique_lines(typed),
        )

    def effect_of_whole_change(self, change: DeviceChange) -> ChangeEffect:
        """Return the effect of all changes of a switch together, as far as its own files show."""
        if change.kind != "changed" or switch_files_if_unchanged(self._old, change.name) is None:
            return ChangeEffect()
        whole_edit = self._edit_all_changes(change)
        return ChangeEffect(
            risk=worst_risk(step.disruption for step in whole_edit.steps),
            reasons=unique_lines(_disruption_reasons(whole_edit.steps)),
        )

    def effect_of_regrouped_sessions(self, change: DeviceChange) -> ChangeEffect | None:
        """Return the effect of sessions that join or leave peer groups in a switch's new files; None if none do."""
        files = [
            switch_files_if_unchanged(reading, change.name) if reading is not None else None
            for reading in (self._old, self._new)
        ]
        if change.kind != "changed" or change.old is None or files[0] is None or files[1] is None:
            return None
        reasons = tuple(platforms.peer_group_change_effects(change.old.platform, files[0], files[1]))
        return ChangeEffect(risk="traffic-affecting", reasons=reasons) if reasons else None

    def _edit_all_changes(self, change: DeviceChange) -> EditResult:
        """Return the edit of all changes of a switch, or of another of its make with changes of the same shape.

        What no patch makes alone, nor with the others, is left out: in its company others are made in worse ways.
        """
        key = shape_of_device_change(change)
        if key not in self._whole:
            every = changes_not_computed_by_switch(change)
            whole_edit = self._edit_switch_files(change, every)
            if whole_edit is not None and whole_edit.by_hand:
                alone = {manual_change.subject for manual_change in self._changes_no_patch_makes_alone(change)}
                remaining_steps = tuple(
                    manual_step for manual_step in whole_edit.by_hand if manual_step.change.subject in alone
                )
                gone = {manual_step.change.subject for manual_step in remaining_steps}
                remaining_edit = self._edit_switch_files(
                    change, [other_change for other_change in every if other_change.subject not in gone]
                )
                whole_edit = (
                    whole_edit
                    if remaining_edit is None
                    else replace(remaining_edit, by_hand=(*remaining_edit.by_hand, *remaining_steps))
                )
            if whole_edit is not None and whole_edit.by_hand:
                self.left[change.name] = {
                    manual_step.change.subject: manual_step.line for manual_step in whole_edit.by_hand
                }
            self._whole[key] = whole_edit if whole_edit is None else self._edit_to_new_files(change, whole_edit)
        return self._whole[key] or EditResult()

    def _edit_to_new_files(self, change: DeviceChange, facts: EditResult) -> EditResult:
        """Return the edit that makes the new files themselves, where a patch does that."""
        assert change.old is not None
        old = self._bundles[change.name]
        new = switch_files_if_unchanged(self._new, change.name) if self._new is not None else None
        if old is None or new is None:
            return facts
        least = self._outer.get(change.name, "none")
        return edit_towards_files(change.old.platform, change.name, old, new, facts, least=least) or facts

    def _changes_no_patch_makes_alone(self, change: DeviceChange) -> Iterator[Change]:
        """Yield the changes of a switch that no patch makes alone."""
        for block in group_facts([change]):
            for fact in block.facts:
                wanted_changes = list(replace(change, parts=(PortGroupChange(block.ports, fact.entries),)).changes())
                edit = None if fact.is_switch_computed else self._edit_single_fact(fact, block.ports, change)
                yield from wanted_changes if edit is not None and edit.by_hand else ()

    def _edit_single_fact(
        self, fact: ChangedFact, ports: tuple[str, ...], change: DeviceChange, *, in_parts: bool = True
    ) -> EditResult | None:
        """Return the edit of one fact, in the files of the first switch of a make on which one of its shape changes.

        Where the fact is not possible on all ports together, some of them are tried if `in_parts`.
        """
        key = _effect_key(fact, ports, change), in_parts
        if key not in self._edits:
            wanted_changes = list(replace(change, parts=(PortGroupChange(ports, fact.entries),)).changes())
            self._edits[key] = self._edit_switch_files(change, wanted_changes, in_parts=in_parts)
        return self._edits[key]

    def _edit_switch_files(
        self, change: DeviceChange, wanted_changes: Sequence[Change], *, in_parts: bool = True
    ) -> EditResult | None:
        """Return the result of changes in the files of a switch; None where those are not available."""
        assert change.old is not None
        editor = platforms.find_editor(change.old.platform)
        if change.name not in self._bundles:
            self._bundles[change.name] = switch_files_if_unchanged(self._old, change.name)
        files = self._bundles[change.name]
        if files is None or editor is None:
            return None
        try:
            budget = (
                self._budgets.setdefault(change.name, RetryBudget(files)) if in_parts else RetryBudget(files, most=0)
            )
            return editor.edit(files, wanted_changes, name=change.name, budget=budget)
        except InputProblems:
            return None


def shape_of_device_change(change: DeviceChange) -> Hashable:
    """Return the common shape of a change and those of other switches of its make: the kinds of facts, and how many."""
    shapes = (
        (len(changed_part.ports), tuple(map(fact_shape_key, merge_entries(changed_part.entries))))
        for changed_part in change.parts
    )
    return platform_release_and_model_of_change(change), tuple(shapes)


def _disruption_rank(edit: EditResult) -> int:
    return DISRUPTIONS.index(edit.disruption)


def _path_template_of_change(change: Change) -> Subject:
    """Return where a change is, without the names of switches, ports and rows."""
    area, *inner_path = change.subject[1:]
    return path_template((area[1:], *inner_path) if area.startswith("@") else ("interfaces", area, *inner_path))


def _were_all_ports_shut(change: DeviceChange, ports: tuple[str, ...]) -> bool:
    """Whether a change affects only ports that are all shut before."""
    if not ports or change.old is None:
        return False
    return all(interface.enabled is False for interface in change.old.interfaces if interface.name in ports)


def _do_only_shut_ports_go(fact: ChangedFact) -> bool:
    """Whether a fact is that ports go, all of them shut before."""
    return bool(fact.entries) and all(
        isinstance(entry.old, Interface) and entry.old.enabled is False and entry.new is None for entry in fact.entries
    )


def _are_ports_idle(fact: ChangedFact, ports: tuple[str, ...], change: DeviceChange) -> bool:
    """Whether a fact is about ports that were all shut, or is that ports go, all of them shut before."""
    return _were_all_ports_shut(change, ports) or _do_only_shut_ports_go(fact)


def _effect_key(fact: ChangedFact, ports: tuple[str, ...], change: DeviceChange) -> Hashable:
    """Return what facts of the same effect have in common: make, kind of fact, and whether the ports use it."""
    used = _are_ports_idle(fact, ports, change), _needed_flags_if_off(fact, ports, change)
    return platform_release_and_model_of_change(change), bool(ports), used, fact_shape_key(fact, counted=False)


def _needed_flags_if_off(fact: ChangedFact, ports: tuple[str, ...], change: DeviceChange) -> tuple[str, ...]:
    """Return, per entry of a fact, the flag that is off on all ports and without which it has no effect, or ""."""
    return tuple(_needed_flag_if_off(entry.path, ports, change) for entry in fact.entries)


def _needed_flag_if_off(path: Subject, ports: tuple[str, ...], change: DeviceChange) -> str:
    row = field_of(Interface, path[0]) if ports and path and path[0] in FIELD_TABLE[Interface] else None
    if row is None or not row.needs or change.old is None:
        return ""
    flags = (getattr(interface, row.needs) for interface in change.old.interfaces if interface.name in ports)
    return "" if any(flag not in (False, None) for flag in flags) else label_of(row.needs)


def changes_not_computed_by_switch(change: DeviceChange) -> Sequence[Change]:
    """Return the changes of a switch without those that it computes by itself."""
    uncomputed_parts = (
        PortGroupChange(changed_part.ports, tuple(entry for entry in changed_part.entries if not entry.computed))
        for changed_part in change.parts
    )
    return list(
        replace(
            change, parts=tuple(changed_part for changed_part in uncomputed_parts if changed_part.entries)
        ).changes()
    )


def switch_files_if_unchanged(reading: Reading, name: str) -> dict[str, bytes] | None:
    """Return the files of a switch by canonical name; None where they are not as they were read, or there are none."""
    try:
        files = {source.name: load_unchanged_source(source) for source in reading.sources.get(name, ())}
    except InputProblems:
        return None
    return files or None


def _disruption_reasons(steps: Sequence[PatchStep]) -> list[str]:
    """Return why steps disturb a switch, the worst first."""
    disturbing = [step for step in steps if step.disruption != "none" and step.reason]
    levels = sorted(
        {step.disruption for step in disturbing}, key=lambda disruption: worst_risk([disruption]), reverse=True
    )
    return [step.reason for level in levels for step in disturbing if step.disruption == level]


def unique_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines once each; keep text after a semicolon that several share only in the last of them."""
    once = list(dict.fromkeys(lines))
    ends = [line.partition("; ")[2] for line in once]
    return tuple(
        line.partition("; ")[0] if end and end in ends[at + 1 :] else line
        for at, (line, end) in enumerate(zip(once, ends, strict=True))
    )
