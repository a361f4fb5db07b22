"""The two states of the paths that a command names: fabrics found on each side, and which of them belong together."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodrop.checking.policy import PolicyPair
from nodrop.errors import InputProblems
from nodrop.fabric_readings import read_intent
from nodrop.inputs import DeviceFiles, DiskWithHeldTexts, FabricInputs, FileText, find_inputs
from nodrop.limits import MAX_TEXT_BYTES
from nodrop.model.reading import Note, Reading
from nodrop.revisions import FormerTree

FabricSource = FabricInputs | FileText
"""A fabric to be read: files of switches, or an intent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricSourcePair:
    """One fabric on both sides; None where it is not."""

    old: FabricSource | None
    new: FabricSource | None
    same: bool = False
    """Whether no file of it has changed, nor what is stated of it."""

    @property
    def source_name(self) -> str:
        """Where its files lie."""
        return fabric_source_name(self.new if self.new is not None else self.old)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFabrics:
    """The fabrics that a command names, now and before."""

    pairs: tuple[FabricSourcePair, ...]
    former: FormerTree
    notes: tuple[Note, ...] = ()


def fabric_source_name(source: FabricSource | None) -> str:
    """Return where the files of a fabric lie."""
    return source.folder_of_fabric if isinstance(source, FabricInputs) else source.display if source is not None else ""


def remove_switches(reading: Reading, device_names: Collection[str]) -> Reading:
    """Return a reading without the given switches: those with only one side known."""
    devices = tuple(device for device in reading.fabric.devices if device.name not in device_names)
    return replace(reading, fabric=replace(reading.fabric, devices=devices)) if device_names else reading


def find_both_states(
    paths: Sequence[str],
    policies: PolicyPair,
    former_tree: FormerTree,
    *,
    platform: str | None = None,
    devices: Callable[[FabricSource], frozenset[str]],
) -> ComparedFabrics:
    """Find both sides; `devices` names the switches of a fabric, and is asked where the name of one has changed."""
    exclude, disk = policies.held.settings.config.excludes, DiskWithHeldTexts()
    present_paths = [
        path
        for path in paths
        if disk.explain_missing_path(path) is None or former_tree.explain_missing_path(path) is not None
    ]
    new = find_inputs(present_paths, platform, exclude=exclude)
    old = find_inputs(
        [path for path in paths if former_tree.explain_missing_path(path) is None],
        platform,
        exclude=exclude,
        disk=former_tree,
    )
    stated_alike = policies.before == policies.now
    ours, former_sources = _sources_by_key(new), _sources_by_key(old)
    pairs = []
    for key in sorted(ours.keys() & former_sources.keys()):
        same = stated_alike and _is_fabric_unchanged(former_sources[key], ours[key], former_tree)
        pairs.append(FabricSourcePair(old=former_sources[key], new=ours[key], same=same))
    come = [ours[key] for key in sorted(ours.keys() - former_sources.keys())]
    gone = [former_sources[key] for key in sorted(former_sources.keys() - ours.keys())]
    pairs += _pair_by_common_switches(
        sorted(come, key=fabric_source_name), sorted(gone, key=fabric_source_name), devices
    )
    pairs.sort(key=lambda pair: (isinstance(pair.new or pair.old, FileText), pair.source_name))
    return ComparedFabrics(
        pairs=tuple(pairs), former=former_tree, notes=tuple(_sparse_checkout_notes(paths, former_tree))
    )


def _sparse_checkout_notes(paths: Sequence[str], former: FormerTree) -> Iterator[Note]:
    """Yield a note of how many files below the paths are in neither state, as they are not checked out."""
    keys = {key for path in paths if (key := former.path_from_top(path)) is not None}
    number = sum(any(key in ("", file) or file.startswith(f"{key}/") for key in keys) for file in former.left_out)
    if number:
        files = "1 file is" if number == 1 else f"{number} files are"
        yield Note(kind="sparse", message=f"{files} not checked out (sparse checkout), and left out of both states")


def _sources_by_key(inputs: FabricInputs) -> dict[tuple[str, str], FabricSource]:
    sources_by_key: dict[tuple[str, str], FabricSource] = {
        ("intent", text.display): text for text in inputs.all_intents()
    }
    for fabric in inputs.fabrics():
        sources_by_key["files", str(Path(fabric.stated[0].display).parent) if fabric.stated else ""] = fabric
    return sources_by_key


def _is_fabric_unchanged(old: FabricSource, new: FabricSource, former: FormerTree) -> bool:
    if isinstance(old, FileText) or isinstance(new, FileText):
        return isinstance(old, FileText) and former.is_unchanged(old) and _are_named_files_unchanged(old, former)
    names = [[text.display for text in _texts_of_inputs(inputs)] for inputs in (old, new)]
    problems = [*old.problems, *new.problems]
    return not problems and names[0] == names[1] and all(former.is_unchanged(text) for text in _texts_of_inputs(old))


def _are_named_files_unchanged(intent: FileText, former: FormerTree) -> bool:
    """Whether the file that an intent names is that of now; one that cannot be read is not."""
    try:
        if b"file" not in intent.read_bytes(MAX_TEXT_BYTES):
            return True
        sheet = read_intent(intent)[1].sheet_file
    except InputProblems:
        return False
    return sheet is None or former.is_unchanged(former.text(Path(sheet.path)))


def _texts_of_inputs(inputs: FabricInputs) -> Iterator[FileText]:
    yield from inputs.stated
    bundles: Iterable[DeviceFiles] = (*inputs.bundles, *inputs.hosts)
    yield from (text for bundle in bundles for _, text in bundle.files)


def _pair_by_common_switches(
    come: list[FabricSource], gone: list[FabricSource], devices: Callable[[FabricSource], frozenset[str]]
) -> Iterator[FabricSourcePair]:
    """Yield pairs of added and removed sources: those with most of their switches in common belong together."""
    sides = (come, gone) if come and gone else ([], [])
    added_names, removed_names = ([devices(source) for source in side] for side in sides)
    scored = [
        (-len(added & removed) / len(added | removed), at, number)
        for at, added in enumerate(added_names)
        for number, removed in enumerate(removed_names)
        if 2 * len(added & removed) >= max(len(added), len(removed), 1)
        and isinstance(come[at], FileText) == isinstance(gone[number], FileText)
    ]
    partner_of_added: dict[int, int] = {}
    for _, at, number in sorted(scored):
        if at not in partner_of_added and number not in partner_of_added.values():
            partner_of_added[at] = number
            yield FabricSourcePair(old=gone[number], new=come[at])
    yield from (FabricSourcePair(old=None, new=source) for at, source in enumerate(come) if at not in partner_of_added)
    paired = set(partner_of_added.values())
    yield from (FabricSourcePair(old=source, new=None) for number, source in enumerate(gone) if number not in paired)
