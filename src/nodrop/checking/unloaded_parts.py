"""Parts of a switch's configuration that a change moves into files that a switch may never load."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop import platforms
from nodrop.checking.blocking_findings import build_change_finding
from nodrop.checking.lost_facts import FabricBeforeAndAfter
from nodrop.engine.finding import FileLocation, Finding
from nodrop.errors import InputProblems
from nodrop.locate import load_unchanged_source
from nodrop.model.fabric import Device
from nodrop.model.reading import Source
from nodrop.model.subject import natural_sort_key
from nodrop.report.names import format_count, format_name_list
from nodrop.results.rulings import DEVICE_NOT_CHECKED
from nodrop.syntax.places import Span

_MAX_LISTED_PARTS = 5
"""Parts of a file that are named in one verdict."""
_PartsMissingFromStartupFile = Mapping[tuple[str, str], str]


def find_facts_moved_out_of_startup_file(changed: Iterable[FabricBeforeAndAfter]) -> Iterator[Finding]:
    """Yield a verdict on each file that newly supplies facts instead of the file that a switch starts with.

    `changed` are fabrics in their former and present states. A switch is the same if it has the same name, in any
    fabric, or the same path of a file. A switch that was not there before is compared with all that are gone.
    """
    states = [(before, after) for _, before, after in changed]
    was = {name: sources for before, _ in states for name, sources in before.sources.items()}
    at = {source.display: sources for sources in was.values() for source in sources}
    current_names = {name for _, after in states for name in after.sources}
    gone = [sources for name, sources in was.items() if name not in current_names]
    for _, after in states:
        for device in sorted(after.fabric.devices, key=lambda device: natural_sort_key(device.name)):
            sources = after.sources.get(device.name, ())
            known_sources = was.get(device.name) or next(
                (at[source.display] for source in sources if source.display in at), None
            )
            yield from _findings_of_facts_outside_startup_file(
                device, sources, gone if known_sources is None else [known_sources]
            )


def _findings_of_facts_outside_startup_file(
    device: Device, sources: tuple[Source, ...], former_sources: Sequence[tuple[Source, ...]]
) -> Iterator[Finding]:
    name, platform = device.name, device.platform
    if (
        not sources
        or not former_sources
        or [_source_digests(sources)] == [_source_digests(switch_sources) for switch_sources in former_sources]
    ):
        return
    supplied_parts = _parts_missing_from_startup_file(platform, sources)
    before = {
        former_part
        for switch_sources in former_sources
        if supplied_parts
        for former_part in _parts_missing_from_startup_file(platform, switch_sources)
    }
    files: dict[str, list[str]] = {}
    for file, part_name in supplied_parts:
        if (file, part_name) not in before:
            files.setdefault(file, []).append(part_name)
    for file, names in files.items():
        why = supplied_parts[file, names[0]]
        count_suffix = (
            f" and {format_count(len(names) - _MAX_LISTED_PARTS, 'more part')}"
            if len(names) > _MAX_LISTED_PARTS
            else ""
        )
        yield build_change_finding(
            DEVICE_NOT_CHECKED,
            f"{name} is no longer checked in part: {format_name_list(names[:_MAX_LISTED_PARTS])}{count_suffix} "
            f"{'is' if len(names) == 1 else 'are'} taken from {file} now; {why}",
            (name,),
            (name,),
            f"supplied by {file}",
            located=FileLocation(
                file=next(source.display for source in sources if source.name == file), span=Span(1, 1, 1, 1)
            ),
        )


def _source_digests(sources: Iterable[Source]) -> list[tuple[str, str]]:
    return sorted((source.name, source.digest) for source in sources)


def _parts_missing_from_startup_file(platform: str, sources: Iterable[Source]) -> _PartsMissingFromStartupFile:
    bundle: dict[str, bytes] = {}
    for source in sources:
        try:
            bundle[source.name] = load_unchanged_source(source)
        except InputProblems:
            continue
    return platforms.parts_missing_from_startup_file(platform, bundle)
