"""A comparison of an intent with configurations: how its result differs, regardless of its author."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from nodrop.design.boxes import PlannedSwitch, switches_of
from nodrop.design.naming import NodeIdentity, host_identities, name_of, naming_of
from nodrop.errors import InputProblems
from nodrop.importing.additions import (
    PossibleAdditions,
    SwitchFilesAndSecrets,
    add_setting_to_tree,
    describe_file_differences,
    find_additions,
)
from nodrop.importing.grouping import build_tier_view
from nodrop.importing.losses import describe_changed_switch_names, render_differences
from nodrop.importing.parts import DerivedIntentPart, KeyTree, merge_trees
from nodrop.importing.spelling import format_intent_text
from nodrop.importing.tier_view import TierView
from nodrop.importing.trial_build import DifferenceFromImportedFact, TrialBuild, build_and_read_back, find_unlike_facts
from nodrop.intent.names import SwitchAndHostNames
from nodrop.intent.schema import Intent, PassThroughSettings
from nodrop.model.external import ExternalNeighbor
from nodrop.model.fabric import Extra, Fabric
from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND
from nodrop.model.states import Unknown

_MAX_REFUSAL_ROUNDS = 8
"""How often what is refused is taken out and the rest tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentDifferences:
    """The differences of an intent's result from configurations."""

    differing: tuple[DifferenceFromImportedFact, ...]
    added: PossibleAdditions
    """What switches' files have beside the model, and the intent does not."""
    said: tuple[str, ...] = ()
    """What files say otherwise though the model has it alike, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentCoverage:
    """How well an intent expresses the content of configurations."""

    names: tuple[str, ...]
    """What switches are called in their files, where the intent calls them otherwise."""
    left: tuple[str, ...]
    """What the intent comes to otherwise, in words."""
    extra: str
    """What files have beside the model, as the key `extra` of an intent would have it; empty where there is none."""

    @property
    def rebuilds_same_fabric(self) -> bool:
        """Whether the intent is built into the fabric that was read."""
        return not (self.left or self.extra)


def compare_intent(tier_view: TierView, intent: Intent, files: SwitchFilesAndSecrets | None) -> IntentDifferences:
    """Return how an intent's result differs from a sight, and from `files`; InputProblems where it is not built."""
    fabric, built_files, _ = build_and_read_back(intent)
    differing = find_unlike_facts(tier_view, fabric)
    if files is None:
        return IntentDifferences(differing=differing, added=PossibleAdditions(settings={}, lines={}))
    devices = frozenset(difference.device for difference in differing)
    added = replace(find_additions(tier_view, files, built_files), unlike=devices)
    alike = [box.device.name for box in tier_view.switches_from_lowest_tier if box.device.name not in devices]
    return IntentDifferences(
        differing=differing, added=added, said=describe_file_differences(tier_view, files, built_files, alike, added)
    )


def measure_intent_coverage(
    imported: Fabric, intent: Intent, *, files: SwitchFilesAndSecrets | None = None
) -> IntentCoverage:
    """Return how an intent's result differs from a fabric with the same switches by role and number.

    InputProblems where it cannot be built.
    """
    nodes = switches_of(intent).all
    known = {node.name: node.identity for node in nodes}
    naming = naming_of(intent)
    host_names = {identity: name_of(naming, identity) for identity in host_identities(intent.endpoints)}
    known |= {name: identity for identity, name in host_names.items()}
    if not imported.external:  # which neighbors are outside, only a fabric.yaml says
        imported = replace(imported, external=tuple(ExternalNeighbor(name=name) for name in sorted(intent.external)))
    sight = build_tier_view(_fill_unknown_models(imported, intent, known), known)
    if not imported.hosts:
        sight = sight.with_host_names(host_names)
    names = {str(node.identity): node.name for node in nodes}
    intent = _replace_names_by_identities(intent, nodes)
    found_intent = compare_intent(sight, intent, files)
    added = find_accepted_additions(
        found_intent.added, sight, lambda tree: build_and_read_back(_merge_extra_settings(intent, tree))
    )
    tree = {names.get(key, key): value for key, value in added.tree(sight).items()}
    return IntentCoverage(
        names=tuple(describe_changed_switch_names(sight, names)),
        left=(*render_differences(found_intent.differing, sight), *found_intent.said, *added.first_remaining_settings),
        extra=format_intent_text(DerivedIntentPart(keys={"extra": tree})) if tree else "",
    )


def _replace_names_by_identities(intent: Intent, nodes: Iterable[PlannedSwitch]) -> Intent:
    """Return an intent without names, whose keys mean switches by identity."""
    devices, extra = dict(intent.devices), dict(intent.extra)
    for node in nodes:
        for word in node.words:
            if word in devices:
                devices[str(node.identity)] = devices.pop(word)
            if word in extra and word not in (node.role, node.group.name, node.declaration.platform):
                extra[str(node.identity)] = extra.pop(word)
    return intent.with_values(names=SwitchAndHostNames(), devices=devices, extra=extra)


def find_accepted_additions(
    added: PossibleAdditions, tier_view: TierView, attempt: Callable[[KeyTree], TrialBuild]
) -> PossibleAdditions:
    """Return of additions those that an intent takes: `attempt` builds one with them, and raises InputProblems."""
    for _ in range(_MAX_REFUSAL_ROUNDS):
        if not (tree := added.tree(tier_view)):
            return added
        try:
            built = attempt(tree)
        except InputProblems as error:
            fewer = added.without(error.problems, tier_view)
            if (fewer.settings, fewer.lines) == (added.settings, added.lines):
                break
            added = fewer
        else:
            return replace(added, unknown=tuple(note for note in built.notes if note.kind == UNKNOWN_LINE_NOTE_KIND))
    untried = (
        f"{name}: {len(own_settings)} settings beside the model"
        for name, own_settings in added.settings.items()
        if own_settings
    )
    return replace(added, settings={}, lines={}, left=(*added.left, *untried))


def _merge_extra_settings(intent: Intent, tree: KeyTree) -> Intent:
    """Return an intent with more additions."""
    extra = dict(intent.extra)
    for group, group_tree in tree.items():
        additions = extra.get(group, PassThroughSettings())
        extra[group] = PassThroughSettings(
            tables=merge_trees(_nest_settings(additions.tables), group_tree.get("tables", {})),
            paths=merge_trees(_nest_settings(additions.paths), group_tree.get("paths", {})),
            lines=(*additions.lines, *group_tree.get("lines", ())),
        )
    return intent.model_copy(update={"extra": extra})


def _nest_settings(settings: Iterable[tuple[tuple[str, ...], str | tuple[str, ...] | None]]) -> KeyTree:
    """Return settings as the keys of an intent have them."""
    tree: KeyTree = {}
    for path, value in settings:
        add_setting_to_tree(tree, Extra(path=path, value=value))
    return tree


def _fill_unknown_models(imported: Fabric, intent: Intent, known: Mapping[str, NodeIdentity]) -> Fabric:
    """Return a fabric whose switches have the models of their tiers where no file states them."""
    models = dict(_models_by_switch(build_tier_view(imported, known), intent))
    devices = (
        replace(device, model=models[device.name])
        if isinstance(device.model, Unknown) and device.name in models
        else device
        for device in imported.devices
    )
    return replace(imported, devices=tuple(devices))


def _models_by_switch(sight: TierView, intent: Intent) -> Iterator[tuple[str, str]]:
    models = {str(node.identity): node.model.name for node in switches_of(intent).all}
    for box in sight.switches_from_lowest_tier:
        if box.device.name in models:
            yield box.was, models[box.device.name]
