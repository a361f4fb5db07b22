"""Facts of switches that were known before and are in no file any more: rules that need them check nothing there."""

import json
from collections.abc import Iterable, Iterator, Mapping

from nodrop.checking.blocking_findings import build_change_finding
from nodrop.checking.two_states import FabricSourcePair
from nodrop.engine.finding import FileLocation, Finding
from nodrop.errors import InputProblems
from nodrop.inputs import FabricInputs
from nodrop.locate import load_unchanged_source
from nodrop.model.compare import ModelDifference, differences
from nodrop.model.fabric import Device
from nodrop.model.reading import FAULTS_NOT_LISTED_NOTE_KIND, Reading, Source
from nodrop.model.states import UNKNOWN
from nodrop.report.names import format_count, format_name_list
from nodrop.results.rulings import DEVICE_NOT_CHECKED
from nodrop.syntax.places import Span

_MAX_LISTED_FACTS = 5
"""Facts that are named in one verdict."""
_FABRIC_DERIVED_FACTS = ("role", "side")
"""Facts that follow from the fabric around a switch, not from its files."""
FabricBeforeAndAfter = tuple[FabricSourcePair, Reading, Reading]


def find_lost_facts(changed: Iterable[FabricBeforeAndAfter]) -> Iterator[Finding]:
    """Yield a verdict on each switch that lost facts because a file or a table is gone.

    `changed` are fabrics with their former and present states. A switch is the same if it has the same name, in any
    fabric, or the same path of a file. Facts that were unknown before are not reported, nor is a switch with another
    operating system.
    """
    states = [
        state for state in changed if isinstance(state[0].new, FabricInputs) or isinstance(state[0].old, FabricInputs)
    ]
    current_devices = {device.name: (device, after) for _, _, after in states for device in after.fabric.devices}
    owners = {
        source.display: name for _, _, after in states for name, sources in after.sources.items() for source in sources
    }
    for pair, before, after in states:
        if not isinstance(pair.old, FabricInputs):
            continue
        own_devices = {device.name: (device, after) for device in after.fabric.devices}
        for old in before.fabric.devices:
            sources = before.sources.get(old.name, ())
            called = next((owners[source.display] for source in sources if source.display in owners), "")
            device_match = own_devices.get(old.name) or current_devices.get(old.name) or current_devices.get(called)
            if device_match is not None and device_match[0].platform == old.platform:
                yield from _lost_fact_findings(
                    old, sources, device_match[0], device_match[1].sources.get(device_match[0].name, ())
                )


def find_truncated_fault_lists(changed: Iterable[FabricBeforeAndAfter]) -> Iterator[Finding]:
    """Yield a verdict on each switch with an incomplete list of faults now: new ones may be among those left out."""
    for _, before, after in changed:
        was = {former_note.device for former_note in before.notes if former_note.kind == FAULTS_NOT_LISTED_NOTE_KIND}
        for note in after.notes:
            name = note.device or ""
            sources = after.sources.get(name, ())
            if note.kind == FAULTS_NOT_LISTED_NOTE_KIND and name not in was and sources:
                yield build_change_finding(
                    DEVICE_NOT_CHECKED,
                    f"{name} is no longer checked in part: {note.message}",
                    (name,),
                    (name,),
                    "not listed",
                    located=FileLocation(file=sources[0].display, span=Span(1, 1, 1, 1)),
                )


def _lost_fact_findings(
    old: Device, before: tuple[Source, ...], new: Device, after: tuple[Source, ...]
) -> Iterator[Finding]:
    unlike = differences(old, new, whole_lists=True)
    lost = [
        difference
        for difference in unlike
        if difference.b is UNKNOWN and difference.path[-1] not in _FABRIC_DERIVED_FACTS
    ]
    if not lost or not after:
        return
    names = {source.name for source in after}
    gone = [source.name for source in before if source.name not in names]
    causes = [f"{name} is gone" for name in gone]
    tables = {source.name: _read_json_tables(source) for source in before}
    remaining_keys = {key for source in after for key in _read_json_tables(source)}
    for name, keys in tables.items():
        if name not in gone and (missing := [key for key in keys if key not in remaining_keys]):
            causes.append(f"{format_name_list(missing)} {'is' if len(missing) == 1 else 'are'} missing in {name}")
    if not causes and not any(len(difference.path) == 1 for difference in lost):
        return
    facts = list(dict.fromkeys(map(_fact_name_without_port, lost)))
    count_suffix = (
        f" and {format_count(len(facts) - _MAX_LISTED_FACTS, 'more fact')}" if len(facts) > _MAX_LISTED_FACTS else ""
    )
    because = "; ".join(causes) or "its files do not say it"
    yield build_change_finding(
        DEVICE_NOT_CHECKED,
        f"{new.name} is no longer checked in part: {', '.join(facts[:_MAX_LISTED_FACTS])}{count_suffix} "
        f"{'was' if len(facts) == 1 else 'were'} known before and {'is' if len(facts) == 1 else 'are'} not known any "
        f"more: {because}",
        (new.name,),
        (new.name,),
        f"unknown {because}",
        located=FileLocation(file=after[0].display, span=Span(1, 1, 1, 1)),
    )


def _fact_name_without_port(difference: ModelDifference) -> str:
    """Return the name of a fact, the same for every port."""
    return ".".join(
        map(
            str,
            difference.path[2:] if difference.path[0] == "interfaces" and len(difference.path) > 2 else difference.path,
        )
    )


def _read_json_tables(source: Source) -> Mapping[str, object]:
    """Return the tables of a file of JSON; none of any other."""
    if not source.name.endswith(".json"):
        return {}
    try:
        data = json.loads(load_unchanged_source(source))
    except (InputProblems, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
