"""Switches that left a fabric for another one: they are checked in the one that they were in, too."""

from dataclasses import replace

from nodrop.checking.run import CheckRun
from nodrop.checking.two_states import ComparedFabrics, FabricSourcePair, remove_switches
from nodrop.inputs import DeviceFiles, FabricInputs
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import Reading


def add_back_switches_moved_to_other_fabrics(
    pair: FabricSourcePair,
    both_states: ComparedFabrics,
    reading_before: Reading,
    reading_after: Reading,
    check_run: CheckRun,
) -> Reading | None:
    """Return the new state of a fabric with the switches that left it; None if none did.

    The facts stated of the fabric before apply to all of it. A switch is the same if it has the same name, unless the
    fabric where it is now had a switch of that name before, or if it has the same path of a file.
    """
    if not isinstance(pair.old, FabricInputs) or check_run.policies.work:
        return None
    remaining_bundles = _bundles_of_switches_moved_to_other_fabrics(
        pair, both_states, reading_before, reading_after, check_run
    )
    if not remaining_bundles:
        return None
    inputs = pair.new if isinstance(pair.new, FabricInputs) else FabricInputs()
    whole_inputs = FabricInputs(
        bundles=[*inputs.bundles, *remaining_bundles], hosts=list(inputs.hosts), stated=list(pair.old.stated)
    )
    beside = (check_run.read_facts_declared_beside_files(pair.old) or DeclaredFacts()).completed_from(
        (check_run.read_facts_declared_beside_files(inputs) if inputs.stated else None) or DeclaredFacts()
    )
    reading = check_run.reread_with_settings(
        whole_inputs, reading_after, check_run.policies.settings_for_state(old=False), beside
    )
    reading = replace(reading, fabric=replace(reading.fabric, name=reading_before.fabric.name))
    return remove_switches(reading, check_run.unreadable_switches(whole_inputs))


def _bundles_of_switches_moved_to_other_fabrics(
    pair: FabricSourcePair,
    both_states: ComparedFabrics,
    reading_before: Reading,
    reading_after: Reading,
    check_run: CheckRun,
) -> list[DeviceFiles]:
    """Return the files of the switches that were in a fabric and are in another one."""
    gone = {device.name for device in reading_before.fabric.devices} - {
        device.name for device in reading_after.fabric.devices
    }
    paths = {source.display for name in gone for source in reading_before.sources.get(name, ())}
    bundles: list[DeviceFiles] = []
    for other_pair in both_states.pairs if gone else ():
        if other_pair is pair or other_pair.same or not isinstance(other_pair.new, FabricInputs):
            continue
        reading = check_run.reading(other_pair.new, old=False)
        if reading is None:
            continue
        was = check_run.reading(other_pair.old, old=True) if isinstance(other_pair.old, FabricInputs) else None
        known_names = {device.name for device in was.fabric.devices} if was is not None else set[str]()
        displays = {
            source.display
            for name, sources in reading.sources.items()
            for source in sources
            if name in gone - known_names or source.display in paths
        }
        bundles += [
            bundle for bundle in other_pair.new.bundles if any(text.display in displays for _, text in bundle.files)
        ]
    return bundles
