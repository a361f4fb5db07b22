"""Common parts of the plan reports: blocks of facts, with equal facts on other switches or ports folded in."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodrop.model.states import Unknown
from nodrop.plan.fact_groups import fact_shape_key
from nodrop.plan.model import (
    DEVICE_CHANGE_KINDS,
    ChangeRisk,
    DeviceChangeKind,
    Effect,
    FactGroup,
    OutsideChange,
    Plan,
    worst_risk,
)
from nodrop.plan.order import group_stages
from nodrop.report.names import format_count, format_name, format_name_list
from nodrop.report.plan_words import PLAN_WORDING, Wording, format_fact_lines, format_path

RISK_LABELS: dict[ChangeRisk, str] = {
    "none": "no disturbance",
    "unknown": "unknown",
    "traffic-affecting": "traffic-affecting",
    "service restart": "service restart",
    "port bounce": "port bounce",
    "reboot": "reboot",
    "refused": "refused by the device",
}
_VERB_BY_CHANGE_KIND: Mapping[DeviceChangeKind, str] = {
    "added": "added",
    "removed": "removed",
    "replaced": "replaced",
    "changed": "changed",
}
OTHER_FILES_HEADING = "not covered by nodrop"
KEY_CHANGE_VERBS: Mapping[str, str] = {"added": "added", "removed": "removed", "changed": "changed"}
_MAX_SHOWN_KEYS = 6
"""Keys of one part that are named."""
_TABLE_NAME_WORDS = 2
"""Words of what a table is called, the file's name among them; what is called by more is one of its kind."""
_MISSING_SIDE_TEXTS = ("absent on the old side", "absent on the new side")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Facts of one place, and the other places where the same facts change to other values."""

    first: FactGroup
    same: tuple[FactGroup, ...] = ()
    """Other places with exactly these facts."""
    alike: tuple[FactGroup, ...] = ()

    @property
    def head(self) -> str:
        """Return where it is."""
        return "; ".join(map(format_fact_place, (self.first, *self.same)))

    @property
    def risk(self) -> ChangeRisk:
        """The worst that it does."""
        return worst_risk(fact.effect.risk for fact in self.first.facts)

    def groups(self, wording: Wording = PLAN_WORDING) -> Iterator[tuple[list[str], Effect]]:
        """Yield lines of facts that have the same effect, and the effect."""
        together: dict[Effect, list[str]] = {}
        for fact in self.first.facts:
            together.setdefault(fact.effect, []).extend(format_fact_lines(fact, wording))
        for effect, fact_lines in together.items():
            yield fact_lines, effect

    @property
    def others(self) -> str:
        """Return where else the same facts change, each to different values; nothing if there is no such place."""
        if not self.alike:
            return ""
        devices = format_name_list(format_name(device) for fact_group in self.alike for device in fact_group.devices)
        ports = sum(len(fact_group.ports) * len(fact_group.devices) for fact_group in self.alike)
        where = f"{format_count(ports, 'port')} of {devices}" if ports else devices
        return f"likewise, with other values: {where}"


def group_fact_blocks(fact_groups: Iterable[FactGroup], *, folded: bool = True) -> list[Block]:
    """Return facts as blocks; `folded`, of those that differ only in names and addresses the first is shown."""
    alike: dict[object, list[FactGroup]] = {}
    for number, fact_group in enumerate(fact_groups):
        key: object = (bool(fact_group.ports), tuple((fact_shape_key(fact), fact.effect) for fact in fact_group.facts))
        alike.setdefault(key if folded and fact_group.devices else number, []).append(fact_group)
    return [_build_block(places) for places in alike.values()]


def _build_block(places: Sequence[FactGroup]) -> Block:
    first_group, *other_groups = places
    same = [group for group in other_groups if group.facts == first_group.facts]
    return Block(first=first_group, same=tuple(same), alike=tuple(group for group in other_groups if group not in same))


def format_fact_place(fact_group: FactGroup) -> str:
    """Return where facts are: `leaf[1-4]: Ethernet[0-24 by 8]`, or the fabric."""
    if not fact_group.devices:
        return "the fabric"
    devices = format_name_list(map(format_name, fact_group.devices))
    return f"{devices}: {format_name_list(map(format_name, fact_group.ports))}" if fact_group.ports else devices


def format_effect_reasons(effect: Effect) -> Iterator[str]:
    """Yield the consequences of an effect, in lines."""
    if effect.method == "derived":
        yield "derived: recalculated by the switch"
    elif effect.risk != "none" or effect.reasons:
        why = "; ".join(effect.reasons)
        yield f"{RISK_LABELS[effect.risk]}{': ' if why else ''}{why}"
    if effect.method == "commands":
        yield f"by command: {'; '.join(effect.by_hand)}"
    elif effect.method == "by hand":
        yield f"by hand: {'; '.join(effect.by_hand) or 'no patch makes it'}"
    elif effect.method == "unknown":
        yield "no patch: the files of the switch are not at hand, or nodrop does not change such files"


def format_other_file_changes(plan: Plan, verbs: Mapping[str, str] = KEY_CHANGE_VERBS) -> Iterator[tuple[str, Effect]]:
    """Yield the changes in files outside the model, and their effects; parts of one kind, such as ports, together."""
    names_by_change: dict[tuple[tuple[str, ...], tuple[str, ...], str, Effect], list[str]] = {}
    for table in plan.outside_model:
        kind, tail = (
            (table.at[1:-1], table.at[-1:]) if len(table.at) > _TABLE_NAME_WORDS else (table.at[1:] or table.at, ())
        )
        key_text = "; ".join(_format_outside_keys(table, verbs))
        names_by_change.setdefault((table.devices, kind, key_text, table.effect), []).extend(tail)
    for (devices, kind, key_text, effect), names in names_by_change.items():
        where = " ".join((*kind, format_name_list(map(format_name, names)))).strip()
        yield f"{format_name_list(map(format_name, devices))}: {where}: {key_text}", effect


def _format_outside_keys(outside_table: OutsideChange, verbs: Mapping[str, str]) -> Iterator[str]:
    depth = len(outside_table.at)
    for kind, verb in verbs.items():
        keys = [" ".join(difference.path[depth:]) for difference in outside_table.keys if difference.kind == kind]
        if keys:
            overflow = f" and {len(keys) - _MAX_SHOWN_KEYS} more" if len(keys) > _MAX_SHOWN_KEYS else ""
            yield f"{', '.join(keys[:_MAX_SHOWN_KEYS])}{overflow} {verb}".strip()


def combined_effects(plan: Plan) -> Iterator[tuple[str, Effect]]:
    """Yield the switches where all changes together have a worse effect than each alone, and that effect."""
    for joint_change in plan.combined_impact:
        yield f"{format_name_list(map(format_name, joint_change.devices))}: all changes together", joint_change.effect


def device_change_lines(
    plan: Plan, verbs: Mapping[DeviceChangeKind, str] = _VERB_BY_CHANGE_KIND
) -> Iterator[tuple[str, str]]:
    """Yield a mark and a line for switches that come, go, are replaced or change."""
    marks = {"added": "+", "removed": "-", "replaced": "!", "changed": "~"}
    for kind in DEVICE_CHANGE_KINDS:
        device_changes = [change for change in plan.devices if change.kind == kind]
        by_make: dict[str, list[str]] = {}
        for device_change in device_changes:
            device = device_change.new or device_change.old
            assert device is not None
            words = (word for word in (device.platform, device.version) if not isinstance(word, Unknown) and word)
            release_text = " ".join(words)
            model = "" if isinstance(device.model, Unknown) else f"{device.model}, "
            was = f"{device_change.old.platform} before, " if kind == "replaced" and device_change.old else ""
            by_make.setdefault(f"({model}{was}{release_text})", []).append(device_change.name)
        for make, names in by_make.items():
            yield marks[kind], f"{format_name_list(map(format_name, names))} {verbs[kind]} {make}"


def format_not_compared(plan: Plan, missing_side_texts: tuple[str, str] = _MISSING_SIDE_TEXTS) -> Iterator[str]:
    """Yield the parts that one of the two sides does not state, each part once."""
    silent: dict[tuple[str, str], set[str]] = {}
    for fact_group in plan.not_compared:
        for fact in fact_group.facts:
            entry = fact.entries[0]
            side = missing_side_texts[not isinstance(entry.old, Unknown)]
            silent.setdefault((side, format_path(entry.path)), set()).update(fact_group.devices)
    for (side, path_text), names in sorted(silent.items()):
        where = f" of {format_name_list(map(format_name, names))}" if names else ""
        yield f"{path_text}{where}: {side}"


def summarize_plan(plan: Plan) -> str:
    """Return in one line what becomes of how many switches, and the worst that is done to any."""
    kinds = Counter(device.kind for device in plan.devices)
    phrases = [
        f"{format_count(kinds[kind], 'switch')} {_VERB_BY_CHANGE_KIND[kind]}"
        for kind in DEVICE_CHANGE_KINDS
        if kinds[kind]
    ]
    if not phrases:
        return "facts of the fabric change, and no switch" if plan.changes else "nothing changes"
    text = ", ".join(phrases)
    if plan.rollout and plan.rollout.hazards:
        text = f"{text}; {format_count(len(plan.rollout.hazards), 'rollout hazard')}"
    if plan.risk == "none":
        return f"{text}; no traffic impact expected{_format_manual_devices(plan)}"
    return f"{text}; worst: {summarize_plan_impact(plan)}"


def summarize_plan_impact(plan: Plan) -> str:
    """Return the worst effect, the switches that it hits, and those that leave something to a person."""
    hit = [device for device, risk in plan.effects.items() if risk == plan.risk]
    return f"{RISK_LABELS[plan.risk]} ({format_name_list(map(format_name, hit))}){_format_manual_devices(plan)}"


def _format_manual_devices(plan: Plan) -> str:
    hands = {
        device
        for one in plan.changes
        for fact in one.facts
        if fact.effect.method == "by hand"
        for device in one.devices
    }
    return f"; by hand, in part: {format_name_list(map(format_name, sorted(hands)))}" if hands else ""


def rollout_order_rows(plan: Plan) -> list[tuple[int, str, str]]:
    """Return the order of the rollout: a number, switches, and why; runs of single switches as one row."""
    rows: list[tuple[int, str, str]] = []
    for number, stages in enumerate(group_stages(plan.order), 1):
        names, why = format_name_list(format_name(device) for stage in stages for device in stage.own), stages[0].why
        rows.append((number, names, f"one at a time; {why}" if len(stages) > 1 else why))
    return rows
