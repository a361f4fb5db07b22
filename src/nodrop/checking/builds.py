"""The builds among folders of configurations: the intent of each, and whether the build is up to date with it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from nodrop.checking.two_states import ComparedFabrics, FabricSource, FabricSourcePair
from nodrop.errors import InputProblems
from nodrop.identity import IdentityMap, IdentitySet
from nodrop.inputs import FabricInputs, FileText
from nodrop.model.compare import ModelDifference, differences, mask_unsupported_fields
from nodrop.model.reading import Reading
from nodrop.model.subject import natural_sort_key
from nodrop.platforms import unsupported_paths
from nodrop.results.checked import OutdatedBuild
from nodrop.syntax.yaml import read_top_level_text

_MAX_LISTED_BUILD_DIFFERENCES = 20
"""How many places are kept at which a build is not what its intent comes to."""
_MAX_STATEMENT_FILE_BYTES = 64_000_000
ReadingOf = Callable[..., Reading | None]
DevicesOf = Callable[[FabricSource], frozenset[str]]


def match_builds(
    sides: ComparedFabrics, reading: ReadingOf, devices: DevicesOf, unread: DevicesOf
) -> tuple[IdentityMap[FabricSource, FabricSource], IdentitySet[FabricSource], list[OutdatedBuild]]:
    """Return for each changed intent the identical build, then the builds to check, and those that do not fit.

    A build is checked itself if a part of its reading is not its intent's, or if it was there before without that
    intent. `reading(what, old=False)` reads a fabric, `devices` names its switches, and `unread` those that are not
    compared.
    """
    state = _CurrentFabricFolders(sides, devices)
    build_of_intent = IdentityMap[FabricSource, FabricSource]()
    judged = IdentitySet[FabricSource]()
    unfit = []
    for pair in state.intents:
        possible = [
            folder
            for folder in state.folders
            if not (pair.same and folder.same)
            and (state.has_folder_name_stated_by_intent(folder, pair) or state.has_name_of_no_intent(folder))
        ]
        for folder in state.folders_with_most_switches(possible, pair):
            intent, files = reading(pair.new, old=False), reading(folder.new, old=False)
            if intent is None or files is None or pair.new is None or folder.new is None:
                continue
            aside = unread(folder.new)
            if (wrong := _compare_build_to_intent(pair.source_name, folder.source_name, intent, files, aside)) is None:
                if not (_is_new_or_was_build(folder, pair, devices) and _matches_intent_except_switches(intent, files)):
                    judged.add(folder.new)
                elif not pair.same:
                    build_of_intent[pair.new] = folder.new
            elif state.has_folder_name_stated_by_intent(folder, pair) or not _is_build_of_any(
                folder, state.intents, reading, devices
            ):
                unfit.append(wrong)
    return build_of_intent, judged, unfit


def find_deleted_builds(
    both_states: ComparedFabrics, reading: ReadingOf, devices: DevicesOf
) -> Iterator[OutdatedBuild]:
    """Yield the builds that are gone whole, while their intents stay and have no other."""
    remaining_inputs = [pair.new for pair in both_states.pairs if isinstance(pair.new, FabricInputs)]
    going = [pair.old for pair in both_states.pairs if isinstance(pair.old, FileText) and pair.new is None]
    staying = [pair for pair in both_states.pairs if isinstance(pair.old, FileText) and pair.new is not None]
    for pair in both_states.pairs:
        if (
            pair.new is not None
            or not isinstance(pair.old, FabricInputs)
            or find_build_counterparts(pair.old, going, devices)
        ):
            continue
        possible = [intent for intent in staying if find_build_counterparts(pair.old, [intent.old], devices)]
        equal = [intent for intent in possible if _build_matches_intent(intent.old, pair.old, reading, old=True)]
        for intent in equal or possible:
            missing = tuple(sorted(devices(intent.new), key=natural_sort_key)) if intent.new is not None else ()
            if missing and not find_build_counterparts(intent.new, remaining_inputs, devices):
                yield OutdatedBuild(intent=intent.source_name, build=pair.source_name, missing=missing)


def find_build_counterparts(
    source: FabricSource | None, candidates: Sequence[FabricSource | None], devices: DevicesOf
) -> list[FabricSource]:
    """Return the intents that a folder may be the build of, or an intent's folders: those with the same switches.

    Where both state the name of the fabric, it is one name.
    """
    if source is None:
        return []
    name = stated_fabric_name(source)
    kinds = [
        candidate
        for candidate in candidates
        if candidate is not None and isinstance(candidate, FileText) != isinstance(source, FileText)
    ]
    called = [
        other_kind
        for other_kind in kinds
        if None in (name, candidate_name := stated_fabric_name(other_kind)) or name == candidate_name
    ]
    switches = devices(source) if called else frozenset()
    return [namesake for namesake in called if switches and devices(namesake) == switches]


def intent_by_build_folder(both_states: ComparedFabrics, devices: DevicesOf) -> IdentityMap[FabricSource, FabricSource]:
    """Return the intent of each folder that is a build of one, by the names that both state, or by their switches."""
    state = _CurrentFabricFolders(both_states, devices)
    intent_of_folder = IdentityMap[FabricSource, FabricSource]()
    for pair in state.intents:
        if pair.new is None:
            continue
        possible = [folder for folder in state.folders if state.has_folder_name_stated_by_intent(folder, pair)]
        if len(possible) != 1:
            possible = state.folders_with_most_switches(
                possible or [folder for folder in state.folders if state.has_name_of_no_intent(folder)], pair
            )
        intent_of_folder.update((folder.new, pair.new) for folder in possible if folder.new is not None)
    return intent_of_folder


class _CurrentFabricFolders:
    """The present folders of configurations and intents, with the names that they state of their fabrics."""

    def __init__(self, sides: ComparedFabrics, devices: DevicesOf) -> None:
        self.folders = [pair for pair in sides.pairs if isinstance(pair.new, FabricInputs) and pair.new.bundles]
        self.intents = [pair for pair in sides.pairs if isinstance(pair.new, FileText)] if self.folders else []
        self._names = IdentityMap((pair, stated_fabric_name(pair.new)) for pair in (*self.folders, *self.intents))
        self._taken = {name for pair in self.intents if (name := self._names[pair]) is not None}
        self._devices = devices

    def has_folder_name_stated_by_intent(self, folder: FabricSourcePair, intent: FabricSourcePair) -> bool:
        """Whether a folder states the name of an intent's fabric."""
        return self._names[folder] == self._names[intent] is not None

    def has_name_of_no_intent(self, folder: FabricSourcePair) -> bool:
        """Whether a folder states the name of no intent's fabric."""
        return self._names[folder] not in self._taken

    def folders_with_most_switches(
        self, folders: Sequence[FabricSourcePair], intent: FabricSourcePair
    ) -> list[FabricSourcePair]:
        """Return the folders with most of an intent's switches; with all, where the folder does not state its name."""
        if not folders or intent.new is None:
            return []
        switches = self._devices(intent.new)
        shared = IdentityMap[FabricSourcePair, float]()
        for folder in folders:
            bundles = _bundle_names(folder)
            if bundles == switches or (self.has_folder_name_stated_by_intent(folder, intent) and bundles & switches):
                shared[folder] = len(bundles & switches) / len(bundles | switches)
        return [folder for folder in folders if shared and shared.get(folder) == max(shared.values())]


def stated_fabric_name(source: FabricSource | None) -> str | None:
    """Return the name that an intent, or the fabric.yaml next to configurations, gives its fabric."""
    texts = (
        [(source, "fabric")]
        if isinstance(source, FileText)
        else [(stated_file, "name") for stated_file in source.stated]
        if source
        else []
    )
    for text, key in texts:
        try:
            return read_top_level_text(text.read_bytes(_MAX_STATEMENT_FILE_BYTES), key)
        except InputProblems:
            return None
    return None


def _is_build_of_any(
    folder: FabricSourcePair, intents: Sequence[FabricSourcePair], reading: ReadingOf, devices: DevicesOf
) -> bool:
    """Whether a folder is the build of any of the intents with its switches."""
    own_intents = [
        intent for intent in intents if intent.new is not None and devices(intent.new) == _bundle_names(folder)
    ]
    return any(_build_matches_intent(intent.new, folder.new, reading) for intent in own_intents)


def _build_matches_intent(
    intent: FabricSource | None, build: FabricSource | None, reading: ReadingOf, *, old: bool = False
) -> bool:
    readings = reading(intent, old=old), reading(build, old=old)
    return (
        readings[0] is not None
        and readings[1] is not None
        and _compare_build_to_intent("", "", readings[0], readings[1]) is None
    )


def _bundle_names(pair: FabricSourcePair) -> frozenset[str]:
    return frozenset(bundle.name for bundle in pair.new.bundles) if isinstance(pair.new, FabricInputs) else frozenset()


def _is_new_or_was_build(folder: FabricSourcePair, intent: FabricSourcePair, devices: DevicesOf) -> bool:
    """Whether a folder is new, or was a build of the same intent before."""
    return folder.old is None or bool(
        intent.old is not None and find_build_counterparts(intent.old, [folder.old], devices)
    )


def _matches_intent_except_switches(intent: Reading, build: Reading) -> bool:
    """Whether a build matches its intent in all but its switches, in the same files, without other remarks."""
    ours, other_fabric = intent.fabric, build.fabric
    fields = ("name", "mode", "links", "hosts", "classes", "policy", "profile")
    alike = all(getattr(ours, field) == getattr(other_fabric, field) for field in fields)
    intent_remarks = {(remark.kind, remark.subject) for remark in intent.remarks}
    remarked = any((remark.kind, remark.subject) not in intent_remarks for remark in build.remarks)
    alike = alike and all(
        _source_names_of(device.name, build) == _source_names_of(device.name, intent) for device in other_fabric.devices
    )
    return alike and Counter(ours.nics) == Counter(other_fabric.nics) and not (remarked or build.problems)


def _source_names_of(device: str, reading: Reading) -> set[str]:
    return {source.name for source in reading.sources.get(device, ())}


def _compare_build_to_intent(
    intent_name: str, build_name: str, intent: Reading, build: Reading, aside: frozenset[str] = frozenset()
) -> OutdatedBuild | None:
    """Return where a build differs from its intent, in the files' facts on switches not `aside`; None if nowhere."""
    ours, other_devices = (
        {device.name: device for device in reading.fabric.devices if device.name not in aside}
        for reading in (intent, build)
    )
    shown: list[ModelDifference] = []
    differ = []
    for name in sorted(ours.keys() & other_devices.keys(), key=natural_sort_key):
        if next(differences(ours[name], other_devices[name], whole_lists=True), None) is None:
            continue
        devices = [
            mask_unsupported_fields(device, unsupported_paths(device.platform))
            for device in (ours[name], other_devices[name])
        ]
        found_differences = [
            difference._replace(path=(name, *difference.path))
            for difference in islice(differences(*devices, whole_lists=True), _MAX_LISTED_BUILD_DIFFERENCES)
        ]
        differ += [name] if found_differences else []
        shown += found_differences[: _MAX_LISTED_BUILD_DIFFERENCES - len(shown)]
    missing, extra = (
        tuple(sorted(names, key=natural_sort_key))
        for names in (ours.keys() - other_devices, other_devices.keys() - ours)
    )
    if not (differ or missing or extra):
        return None
    return OutdatedBuild(
        intent=intent_name,
        build=build_name,
        differing=tuple(differ),
        missing=missing,
        extra=extra,
        differences=tuple(shown),
    )
