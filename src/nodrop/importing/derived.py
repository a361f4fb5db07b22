"""An import from beginning to end: parts derived, defaults left out, the intent built and held against the files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from nodrop import platforms
from nodrop.design.naming import NodeIdentity
from nodrop.engine.declared_lines import suggest_declarations
from nodrop.errors import InputProblems, Problem
from nodrop.importing.additions import SwitchFilesAndSecrets
from nodrop.importing.addressing import derive_addressing
from nodrop.importing.classes import derive_classes, does_pfc_without_marking
from nodrop.importing.endpoints import derive_endpoints
from nodrop.importing.exceptions import derive_settings_by_switch
from nodrop.importing.external import derive_external
from nodrop.importing.grouping import GROUPING_DETAILS, GroupingDetail, build_tier_view
from nodrop.importing.intent_comparison import compare_intent, find_accepted_additions
from nodrop.importing.losses import describe_changed_switch_names, render_differences
from nodrop.importing.naming import derive_names, names_valid_in_intent
from nodrop.importing.omitted_keys import without_defaults
from nodrop.importing.parts import DerivedIntentPart, KeyTree, find_value, merge_parts, merge_trees
from nodrop.importing.settings import (
    derive_buffers,
    derive_name_mode_and_mtu,
    derive_nic_settings,
    derive_reach_policy,
    derive_routing,
    derive_services_and_drained,
    derive_trimming,
    derive_watchdog,
)
from nodrop.importing.shared_headroom import find_shared_headroom_ratio
from nodrop.importing.short_form import shorten_topology
from nodrop.importing.spelling import format_intent_text
from nodrop.importing.stated_cables import derive_cable_sheet
from nodrop.importing.tier_view import ASSUMED_PORT_SPEED_MBPS, CableLookup, SwitchGroup, TierView
from nodrop.importing.tiers import derive_tiers
from nodrop.importing.trial_build import DifferenceFromImportedFact, build_and_read_back, find_unlike_facts
from nodrop.importing.uplinks import NO_PORT_ASSIGNMENT_RULE_REASON, derive_uplinks
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Fabric

INTENT_FILE = "intent.yaml"
_TODO_COMMENT = "`TODO` marks values that no file has: remove `# ` from the lines below it, and correct the values."


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """An intent that was derived, and how well it expresses the content of the files."""

    text: str
    """The intent with remarks; it does not build while it has a TODO."""
    intent: Intent | None
    """None where its text is no intent yet."""
    guessed: tuple[str, ...]
    lacking: tuple[str, ...]
    left: tuple[str, ...]
    """What no key says, and what the intent comes to otherwise, in words."""
    unlike: tuple[DifferenceFromImportedFact, ...]
    problems: tuple[Problem, ...]
    """Why the intent cannot be built."""
    declarations: tuple[str, ...] = ()
    """Lines of nodrop.yaml that declare what `extra` has of unknown effect: who knows it gives the reasons."""

    @property
    def rebuilds_same_fabric(self) -> bool:
        """Whether the intent is built into the fabric that was imported."""
        return self.intent is not None and not (self.left or self.unlike or self.problems or self.lacking)


def derive_intent(imported: Fabric, *, source: str, files: SwitchFilesAndSecrets | None = None) -> ImportResult:
    """Return the intent of a fabric; `source` is the origin that its text names.

    Content of `files` that is not in the model is carried too, as far as an intent can.

    Switches are put into groups by software first, and by more only if the intent would not be exact. Cables are stated
    one by one only if no rule gives out their ports, and the intent is nearer to the fabric then. Anything that no key
    of an intent expresses is reported in `left`. Nothing is left out silently, because the intent is built and compared
    with the fabric.
    """
    results: dict[GroupingDetail, ImportResult] = {}
    views: list[TierView] = []
    for detail in GROUPING_DETAILS:
        view = _guess_pfc_only(build_tier_view(imported, detail=detail))
        if not any(_has_same_groups(view, other) for other in views):
            views.append(view)
            results[detail] = _derive_from_view(view, source, files)
            if results[detail].rebuilds_same_fabric:
                return results[detail]
    first = results[GROUPING_DETAILS[0]]
    sheets = [
        _derive_from_view(view, source, files, by_sheet=True)
        for view in views
        if NO_PORT_ASSIGNMENT_RULE_REASON in first.left
        or any(problem.where.startswith("topology.") for problem in first.problems)
    ]
    return min((first, *sheets), key=lambda result: (bool(result.lacking or result.problems), len(result.unlike)))


def _guess_pfc_only(view: TierView) -> TierView:
    """Return a view of the mode without ECN where ports pause, and no queue marks."""
    if view.fabric.mode != "lossless" or not does_pfc_without_marking(view):
        return view
    why = "ports pause, and no queue marks packets; if ECN is only missing, it is lossless, and the class has `ecn`"
    return replace(view, fabric=replace(view.fabric, mode="pfc-only"), guessed_mode=why)


def _has_same_groups(view: TierView, other: TierView) -> bool:
    """Whether two views have the same switches in each group."""
    return view.name_in_files_by_identity == other.name_in_files_by_identity


def _derive_from_view(
    sight: TierView, source: str, files: SwitchFilesAndSecrets | None, *, by_sheet: bool = False
) -> ImportResult:
    """Return the intent of a fabric seen as groups of switches, whose cables follow rules or are stated one by one."""
    draft = shorten_topology(_derive_all_parts(sight, by_sheet=by_sheet))
    sight = sight.with_host_names(draft.host_names)
    draft = replace(
        draft, keys=without_defaults(draft.keys, lambda keys: format_intent_text(replace(draft, keys=keys)))
    )
    intent, problems = _load_intent_or_problems(format_intent_text(draft))
    if intent is not None and (shared := find_shared_headroom_ratio(sight, intent)):
        draft = merge_parts((draft, DerivedIntentPart(keys={"buffers": {"shared_headroom": shared}})))
        intent, problems = _load_intent_or_problems(format_intent_text(draft))
    if intent is not None and (exceptions := derive_settings_by_switch(sight, intent)):
        draft = merge_parts((draft, DerivedIntentPart(keys={"devices": exceptions})))
        intent, problems = _load_intent_or_problems(format_intent_text(draft))
    differing: tuple[DifferenceFromImportedFact, ...] = ()
    beyond: tuple[str, ...] = ()
    declarations: tuple[str, ...] = ()
    if intent is not None:
        try:
            reported_intent = compare_intent(sight, intent, files)
            differing = reported_intent.differing
            without = draft
            added = find_accepted_additions(
                reported_intent.added, sight, lambda tree: build_and_read_back(_load_draft_with_extra(without, tree))
            )
            declarations = suggest_declarations(
                replace(note, device=sight.was.get(note.device or "", note.device)) for note in added.unknown
            )
            beyond = (*added.first_remaining_settings, *reported_intent.said)
            if extra := added.tree(sight):
                if any(added.lines.values()):
                    differing = find_unlike_facts(
                        sight, build_and_read_back(_load_draft_with_extra(draft, extra)).fabric
                    )
                draft = replace(draft, keys={**draft.keys, "extra": extra})
        except InputProblems as error:
            problems = error.problems
    built_alike = intent is not None and not problems and not differing
    own_left = (remark for remark in draft.left if remark != NO_PORT_ASSIGNMENT_RULE_REASON or not built_alike)
    remaining_differences = (*own_left, *render_differences(differing, sight), *beyond)
    kept = names_valid_in_intent(sight.name_in_files_by_identity | sight.host_names)
    draft = _add_names(draft, kept)
    names = {str(identity): name for identity, name in kept.items()}
    head = (
        f"Imported from {source} by `nodrop import`.",
        *describe_changed_switch_names(sight, names),
        *((_TODO_COMMENT,) if draft.lacking else ()),
    )
    untold = [problem for problem in problems if not (draft.lacking and " is missing" in problem.found)]
    text = format_intent_text(
        draft,
        head,
        tail=(
            *_format_intent_tail(remaining_differences, untold, tried=intent is not None and not problems),
            *_format_declarations(declarations),
        ),
    )
    intent, _ = _load_intent_or_problems(text)
    return ImportResult(
        text=text,
        intent=intent,
        guessed=tuple(f"{'.'.join(keys)}: {why}" for keys, why in draft.guessed.items()),
        lacking=tuple(f"{'.'.join(keys)}: {lack.why}" for keys, lack in draft.lacking.items()),
        left=remaining_differences,
        unlike=differing,
        problems=tuple(untold),
        declarations=declarations,
    )


def _add_names(draft: DerivedIntentPart, names: Mapping[NodeIdentity, str]) -> DerivedIntentPart:
    """Return a draft that gives names, and whose keys mean switches by these."""
    tree = derive_names(names)
    if not tree:
        return draft
    words = {str(identity): name for identity, name in names.items()}
    keys = dict(draft.keys)
    if "devices" in keys:
        keys["devices"] = {words.get(key, key): value for key, value in keys["devices"].items()}
    if "external" in keys:
        keys["external"] = {
            neighbor: facts | {"links": {words.get(key, key): value for key, value in facts["links"].items()}}
            for neighbor, facts in keys["external"].items()
        }
    if "extra" in keys:
        general = {*(identity.group for identity in names), *platforms.platform_names()}
        keys["extra"] = {
            key if words.get(key) in general else words.get(key, key): value for key, value in keys["extra"].items()
        }
    return replace(draft, keys={**keys, "names": merge_trees(dict(keys.get("names", {})), tree)})


def _load_draft_with_extra(draft: DerivedIntentPart, tree: KeyTree) -> Intent:
    return loads(format_intent_text(replace(draft, keys={**draft.keys, "extra": tree})).encode(), INTENT_FILE)


def _load_intent_or_problems(text: str) -> tuple[Intent | None, tuple[Problem, ...]]:
    try:
        return loads(text.encode(), INTENT_FILE), ()
    except InputProblems as error:
        return None, error.problems


def _derive_all_parts(tier_view: TierView, *, by_sheet: bool) -> DerivedIntentPart:
    """Return all parts as one."""
    cables = CableLookup(tier_view)
    sheet = derive_cable_sheet(tier_view, cables) if by_sheet else None
    drafts = [
        derive_name_mode_and_mtu(tier_view),
        derive_tiers(tier_view, cables),
        derive_uplinks(tier_view, cables) if sheet is None else sheet,
        derive_endpoints(tier_view, cables),
        _oversubscription_limit(tier_view, cables),
    ]
    drafts += [
        derive_classes(tier_view),
        derive_watchdog(tier_view, cables),
        derive_buffers(tier_view),
        derive_trimming(tier_view),
        derive_nic_settings(tier_view),
        derive_reach_policy(tier_view),
        derive_routing(tier_view, cables),
    ]
    drafts += [derive_addressing(tier_view, cables), derive_services_and_drained(tier_view)]
    draft = merge_parts(drafts)
    keys = dict(draft.keys)
    pools = keys.pop("vlans", {})
    if "endpoints" in keys:
        keys["endpoints"] = _add_vlan_pools(keys["endpoints"], pools)
    guessed = {at: why for at, why in draft.guessed.items() if find_value(keys, at) is not None}
    outside = derive_external(tier_view, cables, keys)
    return merge_parts((replace(draft, keys=keys, guessed=guessed), outside))


def _add_vlan_pools(groups: KeyTree, pools: Mapping[int, object]) -> KeyTree:
    """Return groups of hosts with the pools of their VLANs, those with VLANs in the order of the pools."""
    number = {name: group["vlan"]["id"] for name, group in groups.items() if "vlan" in group}
    known_pools = list(pools)
    ordered = iter(
        sorted(number, key=lambda name: known_pools.index(number[name]) if number[name] in pools else len(known_pools))
    )
    ordered_groups: KeyTree = {}
    for name in [next(ordered) if name in number else name for name in groups]:
        pool = pools.get(number.get(name, 0))
        ordered_groups[name] = groups[name] | ({"vlan": {"id": number[name], "pool": pool}} if pool else {})
    return ordered_groups


def _oversubscription_limit(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return the stated limit of oversubscription, else the highest next to hosts; and that of groups above it."""
    limit = tier_view.fabric.policy.max_oversubscription
    if not isinstance(limit, int | float):
        limit = max(
            (
                1.0,
                *(
                    ratio
                    for group in tier_view.groups_of_tier(0)
                    for ratio in _find_oversubscription_ratios(group, cables)
                ),
            )
        )
    topology: KeyTree = {"max_oversubscription": limit} if limit != 1 else {}
    for group in tier_view.groups:
        highest = max((1.0, *_find_oversubscription_ratios(group, cables))) if group.tier else 1.0
        if highest > limit:
            topology.setdefault("groups", {})[group.name] = {"max_oversubscription": highest}
    return DerivedIntentPart(keys={"topology": topology})


def _find_oversubscription_ratios(group: SwitchGroup, cables: CableLookup) -> Iterator[float]:
    """Yield the bandwidth downwards over that upwards, of each switch that has more downwards."""
    for box in group.boxes:
        name = box.device.name
        links = {end.port for end in cables.ends_of_switch(name)}
        above = (links - cables.downward_ports(name)) | cables.find_ports_to_unread_bgp_peers(name)
        used = [port for port in box.device.interfaces if port.enabled is not False]
        speeds = [port.speed_mbps if isinstance(port.speed_mbps, int) else ASSUMED_PORT_SPEED_MBPS for port in used]
        up = sum(speed for port, speed in zip(used, speeds, strict=True) if port.name in above)
        down = sum(speeds) - up
        if up and down > up:
            yield ceil(100 * down / up) / 100


def _format_intent_tail(remarks: tuple[str, ...], problems: list[Problem], *, tried: bool) -> Iterator[str]:
    """Yield the end of the text: the parts that are not carried, and why it cannot be built."""
    if problems:
        yield ""
        yield "This intent does not build:"
        for problem in problems:
            yield f"  {_format_problem(problem)}"
    if remarks:
        yield ""
        yield "Not imported:"
        for line in remarks:
            yield f"  {line}"
    if not tried:
        yield ""
        yield "Once it builds, `nodrop import --against` this file lists what else was not imported."


def _format_declarations(declarations: tuple[str, ...]) -> Iterator[str]:
    """Yield the end of the text about additions whose effect is not known."""
    if declarations:
        yield ""
        yield "nodrop does not know what settings of `extra` change. `nodrop build` writes them if nodrop.yaml has:"
        yield from (f"  {line}" for line in declarations)


def _format_problem(problem: Problem) -> str:
    expected = f"; expected {problem.expected}" if problem.expected else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{problem.where}: {problem.found}{expected}{hint}"
