"""Switches that left a fabric for another one: they are checked in the one that they were in, too."""

from dataclasses import replace

from nodrop.checking.run import Run
from nodrop.checking.sides import Pair, Sides, without
from nodrop.inputs import Bundle, Inputs
from nodrop.model.declared import Declared
from nodrop.model.reading import Reading


def with_those_that_left(pair: Pair, both: Sides, before: Reading, after: Reading, run: Run) -> Reading | None:
    """Return the new state of a fabric with the switches that left it; None where none did.

    What was stated of the fabric before holds for all of it. A switch is the same one by its name, unless the fabric
    where it is now had one of that name before, or by the path of a file.
    """
    if not isinstance(pair.old, Inputs) or run.policies.work:
        return None
    left = _left(pair, both, before, after, run)
    if not left:
        return None
    now = pair.new if isinstance(pair.new, Inputs) else Inputs()
    whole = Inputs(bundles=[*now.bundles, *left], hosts=list(now.hosts), stated=list(pair.old.stated))
    beside = (run.stated(pair.old) or Declared()).over((run.stated(now) if now.stated else None) or Declared())
    made = run.again(whole, after, run.policies.reading(old=False), beside)
    made = replace(made, fabric=replace(made.fabric, name=before.fabric.name))
    return without(made, run.unread(whole))


def _left(pair: Pair, both: Sides, before: Reading, after: Reading, run: Run) -> list[Bundle]:
    """Return the files of the switches that were in a fabric and are in another one."""
    gone = {one.name for one in before.fabric.devices} - {one.name for one in after.fabric.devices}
    paths = {source.display for name in gone for source in before.sources.get(name, ())}
    found: list[Bundle] = []
    for other in both.pairs if gone else ():
        if other is pair or other.same or not isinstance(other.new, Inputs):
            continue
        there = run.reading(other.new, old=False)
        if there is None:
            continue
        was = run.reading(other.old, old=True) if isinstance(other.old, Inputs) else None
        known = {one.name for one in was.fabric.devices} if was is not None else set[str]()
        displays = {
            source.display
            for name, sources in there.sources.items()
            for source in sources
            if name in gone - known or source.display in paths
        }
        found += [one for one in other.new.bundles if any(text.display in displays for _, text in one.files)]
    return found
