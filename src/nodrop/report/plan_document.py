"""A plan as a document: blocks of facts, with equal facts on other switches or ports folded in."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.model.states import Unknown
from nodrop.plan.fact_groups import fact_shape_key
from nodrop.plan.model import (
    CHANGE_RISKS,
    DEVICE_CHANGE_KINDS,
    ChangedFactGroup,
    ChangeEffect,
    ChangeRisk,
    DeviceChangeKind,
    Plan,
    UnmodeledChange,
    worst_risk,
)
from nodrop.plan.order import group_consecutive_stages
from nodrop.report.document import (
    ChangeRow,
    ChangeTable,
    ListItem,
    Node,
    ReportDocument,
    Section,
    Tone,
    VerdictLine,
    list_lines,
)
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list
from nodrop.report.plan_words import PLAN_WORDING, DifferenceWording, format_fact_lines, format_part_path
from nodrop.report.rollout_page import explain_unusual_order, format_rollout_hazards
from nodrop.results.rulings import ROLLOUT_HAZARD

RISK_LABELS: dict[ChangeRisk, str] = {
    **{risk: risk for risk in CHANGE_RISKS},
    "none": "no disturbance",
    "refused": "refused by the device",
}
_VERB_BY_CHANGE_KIND: Mapping[DeviceChangeKind, str] = {kind: kind for kind in DEVICE_CHANGE_KINDS}
_KEY_CHANGE_VERBS: Mapping[str, str] = {"added": "added", "removed": "removed", "changed": "changed"}
_MAX_PORTS_CHARACTERS = 32
"""Characters of ports in a short place; where they are more, how many ports they are."""
_MAX_SHOWN_KEYS = 6
"""Keys of one part that are named."""
_TABLE_NAME_WORDS = 2
"""Words of what a table is called, the file's name among them; what is called by more is one of its kind."""
_MISSING_SIDE_TEXTS = ("absent on the old side", "absent on the new side")


def build_plans_document(plans: Sequence[Plan], *, verbose: bool = False) -> ReportDocument:
    """Return plans as a document, of several each below its name; `verbose` shows all that differ only in names."""
    several = len(plans) > 1
    return ReportDocument(
        body=tuple(build_plan_document(plan, heading=plan.new if several else "", verbose=verbose) for plan in plans)
    )


def build_plan_document(plan: Plan, *, heading: str = "", verbose: bool = False, summed: bool = True) -> ReportDocument:
    """Return the plan of one fabric as a document; without its summary if that is shown elsewhere."""
    return ReportDocument(
        heading=heading,
        lead=(list_device_changes(plan),),
        body=(
            *list_changes(plan, "what changes", verbose=verbose),
            list_not_compared(plan),
            list_rollout_order(plan, "rollout order"),
        ),
        urgent=(
            list_rollout_hazards(plan, "rollout hazards", ROLLOUT_HAZARD.fix),
            list_lines((f"error: {problem}" for problem in plan.problems), tone="error"),
        ),
        verdict=VerdictLine(text=summarize_plan(plan)) if summed else None,
    )


def list_changes(
    plan: Plan,
    title: str,
    wording: DifferenceWording = PLAN_WORDING,
    verbs: Mapping[str, str] = _KEY_CHANGE_VERBS,
    *,
    verbose: bool = False,
) -> Iterator[Node]:
    """Yield the changes by place, what all changes together do, and differences in files outside the model."""
    yield ChangeTable(title=title, rows=tuple(_list_rows(plan.changes, wording, folded=not verbose)))
    for head, effect in effects_worse_in_combination(plan):
        yield Section(title=head, items=_list_reasons(effect))
    yield Section(
        title="not covered by nodrop",
        items=tuple(
            ListItem((line,), tone="changed", details=_list_reasons(effect), brief=RISK_LABELS[effect.risk])
            for line, effect in format_other_file_changes(plan, verbs)
        ),
    )


def _list_reasons(effect: ChangeEffect) -> tuple[ListItem, ...]:
    rank = CHANGE_RISKS.index(effect.risk)
    tone: Tone = "harmless" if rank == 0 else "warning" if rank < CHANGE_RISKS.index("port bounce") else "error"
    return tuple(ListItem((reason,), tone=tone) for reason in format_effect_reasons(effect))


def list_device_changes(plan: Plan, verbs: Mapping[DeviceChangeKind, str] = _VERB_BY_CHANGE_KIND) -> Section:
    """Return the switches that come, go, are replaced or change."""
    return Section(items=tuple(ListItem((line,), tone=kind) for kind, line in device_change_lines(plan, verbs)))


def list_not_compared(plan: Plan, missing_side_texts: tuple[str, str] = _MISSING_SIDE_TEXTS) -> Section:
    """Return the parts that one of the two sides does not state."""
    return list_lines(format_not_compared(plan, missing_side_texts), "not compared (absent on one side)", folded=True)


def list_rollout_order(plan: Plan, title: str) -> Section:
    """Return the order for changing the switches, and the reason for an unusual one."""
    return Section(
        title=title,
        items=tuple(ListItem((f"{names}: {why}",)) for _, names, why in rollout_order_rows(plan)),
        remarks=list_lines(explain_unusual_order(plan)).items,
        folded=True,
        numbered=True,
    )


def list_rollout_hazards(plan: Plan, title: str, remedy: str = "") -> Section:
    """Return the hazards of a rollout, and below the last what to do about them."""
    lines = list(format_rollout_hazards(plan))
    details = (ListItem(("what to do: ", remedy)),) if remedy else ()
    items = (
        ListItem((line,), tone="error", details=details if number == len(lines) else ())
        for number, line in enumerate(lines, 1)
    )
    return Section(title=title, items=tuple(items))


def _list_rows(
    fact_groups: Iterable[ChangedFactGroup], wording: DifferenceWording, *, folded: bool
) -> Iterator[ChangeRow]:
    """Yield facts by place; `folded`, of those that differ only in names and addresses the first is shown."""
    alike: dict[object, list[ChangedFactGroup]] = {}
    for number, fact_group in enumerate(fact_groups):
        key: object = (bool(fact_group.ports), tuple((fact_shape_key(fact), fact.effect) for fact in fact_group.facts))
        alike.setdefault(key if folded and fact_group.devices else number, []).append(fact_group)
    return (_build_row(places, wording) for places in alike.values())


def _build_row(places: Sequence[ChangedFactGroup], wording: DifferenceWording) -> ChangeRow:
    """Return the facts of the first place, and the other places, where the same facts may change to other values."""
    facts = places[0].facts
    where = [_format_place(group) for group in places if group.facts == facts]
    lines_by_effect: dict[ChangeEffect, list[str]] = {}
    for fact in facts:
        lines_by_effect.setdefault(fact.effect, []).extend(format_fact_lines(fact, wording))
    means = {effect.method for effect in lines_by_effect}
    risk = worst_risk(effect.risk for effect in lines_by_effect)
    how = (phrase for mean, phrase in (("commands", "by command"), ("by hand", "by hand")) if mean in means)
    return ChangeRow(
        place="; ".join(place for place, _ in where),
        short_place="; ".join(short_place for _, short_place in where),
        items=tuple(
            ListItem((line,), details=_list_reasons(effect) if number == len(lines) else ())
            for effect, lines in lines_by_effect.items()
            for number, line in enumerate(lines, 1)
        ),
        others=_format_other_places([group for group in places if group.facts != facts]),
        risk=RISK_LABELS[risk],
        risk_rank=CHANGE_RISKS.index(risk),
        short_risk="follows from the rest" if means == {"derived"} else ", ".join((RISK_LABELS[risk], *how)),
        quiet=all(effect.risk == "none" and effect.method in ("patch", "derived") for effect in lines_by_effect),
    )


def _format_other_places(alike: Sequence[ChangedFactGroup]) -> str:
    """Return where else the same facts change, each to different values; nothing if there is no such place."""
    if not alike:
        return ""
    devices = format_name_list(escape_or_quote_name(device) for fact_group in alike for device in fact_group.devices)
    ports = sum(len(fact_group.ports) * len(fact_group.devices) for fact_group in alike)
    counted = f"{format_count(ports, 'port')} of " if ports else ""
    return f"likewise, with other values: {counted}{devices}"


def format_fact_place(fact_group: ChangedFactGroup) -> str:
    """Return where facts are: `leaf[1-4]: Ethernet[0-24 by 8]`, or the fabric."""
    return _format_place(fact_group)[0]


def _format_place(fact_group: ChangedFactGroup) -> tuple[str, str]:
    """Return where facts are, in full, and with the number of ports where their names are long."""
    devices, ports = (
        format_name_list(map(escape_or_quote_name, names)) for names in (fact_group.devices, fact_group.ports)
    )
    place = f"{devices}: {ports}" if ports else devices or "the fabric"
    if len(ports) <= _MAX_PORTS_CHARACTERS:
        return place, place
    suffix = " each" if len(fact_group.devices) > 1 else ""
    return place, f"{devices}: {format_count(len(fact_group.ports), 'port')}{suffix}"


def format_effect_reasons(effect: ChangeEffect) -> Iterator[str]:
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


def format_other_file_changes(
    plan: Plan, verbs: Mapping[str, str] = _KEY_CHANGE_VERBS
) -> Iterator[tuple[str, ChangeEffect]]:
    """Yield the changes in files outside the model, and their effects; parts of one kind, such as ports, together."""
    names_by_change: dict[tuple[tuple[str, ...], tuple[str, ...], str, ChangeEffect], list[str]] = {}
    for table in plan.outside_model:
        kind, tail = (
            (table.at[1:-1], table.at[-1:]) if len(table.at) > _TABLE_NAME_WORDS else (table.at[1:] or table.at, ())
        )
        key_text = "; ".join(_format_outside_keys(table, verbs))
        names_by_change.setdefault((table.devices, kind, key_text, table.effect), []).extend(tail)
    for (devices, kind, key_text, effect), names in names_by_change.items():
        where = " ".join((*kind, format_name_list(map(escape_or_quote_name, names)))).strip()
        yield f"{format_name_list(map(escape_or_quote_name, devices))}: {where}: {key_text}", effect


def _format_outside_keys(outside_table: UnmodeledChange, verbs: Mapping[str, str]) -> Iterator[str]:
    depth = len(outside_table.at)
    for kind, verb in verbs.items():
        keys = [" ".join(difference.path[depth:]) for difference in outside_table.keys if difference.kind == kind]
        if keys:
            overflow = f" and {len(keys) - _MAX_SHOWN_KEYS} more" if len(keys) > _MAX_SHOWN_KEYS else ""
            yield f"{', '.join(keys[:_MAX_SHOWN_KEYS])}{overflow} {verb}".strip()


def effects_worse_in_combination(plan: Plan) -> Iterator[tuple[str, ChangeEffect]]:
    """Yield the switches where all changes together have a worse effect than each alone, and that effect."""
    for joint_change in plan.combined_impact:
        yield (
            f"{format_name_list(map(escape_or_quote_name, joint_change.devices))}: all changes together",
            joint_change.effect,
        )


def device_change_lines(
    plan: Plan, verbs: Mapping[DeviceChangeKind, str] = _VERB_BY_CHANGE_KIND
) -> Iterator[tuple[DeviceChangeKind, str]]:
    """Yield a line for switches that come, go, are replaced or change, and which of these it is."""
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
            yield kind, f"{format_name_list(map(escape_or_quote_name, names))} {verbs[kind]} {make}"


def format_not_compared(plan: Plan, missing_side_texts: tuple[str, str] = _MISSING_SIDE_TEXTS) -> Iterator[str]:
    """Yield the parts that one of the two sides does not state, each part once."""
    silent: dict[tuple[str, str], set[str]] = {}
    for fact_group in plan.not_compared:
        for fact in fact_group.facts:
            entry = fact.entries[0]
            side = missing_side_texts[not isinstance(entry.old, Unknown)]
            silent.setdefault((side, format_part_path(entry.path)), set()).update(fact_group.devices)
    for (side, path_text), names in sorted(silent.items()):
        where = f" of {format_name_list(map(escape_or_quote_name, names))}" if names else ""
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
    return (
        f"{RISK_LABELS[plan.risk]} ({format_name_list(map(escape_or_quote_name, hit))}){_format_manual_devices(plan)}"
    )


def _format_manual_devices(plan: Plan) -> str:
    hands = {
        device
        for one in plan.changes
        for fact in one.facts
        if fact.effect.method == "by hand"
        for device in one.devices
    }
    return f"; by hand, in part: {format_name_list(map(escape_or_quote_name, sorted(hands)))}" if hands else ""


def rollout_order_rows(plan: Plan) -> list[tuple[int, str, str]]:
    """Return the order of the rollout: a number, switches, and why; runs of single switches as one row."""
    rows: list[tuple[int, str, str]] = []
    for number, stages in enumerate(group_consecutive_stages(plan.order), 1):
        names, why = (
            format_name_list(escape_or_quote_name(device) for stage in stages for device in stage.main_switches),
            stages[0].why,
        )
        rows.append((number, names, f"one at a time; {why}" if len(stages) > 1 else why))
    return rows
