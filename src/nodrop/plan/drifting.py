"""`nodrop.drift`: a plan from what runs to what is wanted, without what switches write by themselves."""

from collections import Counter
from dataclasses import replace

from nodrop.model.declared import Declared
from nodrop.model.fabric import Fabric
from nodrop.model.fields import named
from nodrop.model.reading import Reading
from nodrop.plan.facts import of_fabric
from nodrop.plan.model import DeviceChange, Drift, Entry, Found, Part
from nodrop.plan.outside_drift import outside_drift
from nodrop.plan.planning import compared, planned
from nodrop.plan.telling import rows, told
from nodrop.platforms.adding import own


def drift(running: Reading, wanted: Reading) -> Drift:
    """Return what runs otherwise than is wanted.

    Switches of one name are held side by side. What one side does not say is no drift, and told apart (`unsaid` of the
    plan); what a switch writes by itself, as its platform's table has it, is no drift either (`own`, `own_outside`).
    """
    found = compared(running, wanted)
    both = [_apart(one) for one in found if one.kind in ("changed", "replaced")]
    kept = [one for one, _ in both if one.parts or one.unsaid or one.kind == "replaced"]
    aside = [replace(one, parts=added) for one, added in both if added]
    beside, own_beside = outside_drift(running, wanted, found)
    return Drift(
        plan=planned(running, wanted, kept, _of_fabric(running, wanted), beside),
        uncollected=tuple(one.name for one in found if one.kind == "added"),
        foreign=tuple(one.name for one in found if one.kind == "removed"),
        own=tuple(told(aside)),
        own_outside=tuple(own_beside),
    )


def declared_by(fabric: Fabric) -> Declared:
    """Return what a fabric says that no file of its switches can, to be stated of what runs."""
    return Declared(
        name=fabric.name,
        mode=fabric.mode,
        classes=fabric.classes or None,
        roles={one.name: one.role for one in fabric.devices if isinstance(one.role, str)},
        models={one.name: one.model for one in fabric.devices if isinstance(one.model, str)},
        cables=fabric.links or None,
        hosts=fabric.hosts or None,
        policy=fabric.policy,
    )


def _apart(change: DeviceChange) -> tuple[DeviceChange, tuple[Part, ...]]:
    """Return what differs on a switch, and what it wrote by itself."""
    assert change.old is not None
    platform = change.old.platform
    kept, added = [], []
    for part in change.parts:
        of_port = bool(part.ports)
        mine = [one for one in part.entries if own(platform, one.path, of_port, one.old, one.new)]
        rest = tuple(one for one in part.entries if one not in mine and not _is_order(one))
        kept += [Part(part.ports, rest)] if rest else []
        added += [Part(part.ports, tuple(mine))] if mine else []
    return replace(change, parts=tuple(kept)), tuple(added)


def _is_order(entry: Entry) -> bool:
    """Whether the same stands on both sides in another order, which says nothing there: that of rows with a name."""
    both = (entry.old, entry.new)
    if not all(isinstance(one, tuple) for one in both):
        return False
    names = entry.path[-1] in rows() and all(isinstance(name, str) for one in both for name in one)
    return (names or entry.path[-1] in named(unordered=True)) and Counter(entry.old) == Counter(entry.new)


def _of_fabric(running: Reading, wanted: Reading) -> Found:
    """Return what differs of cables and of NICs; a file of a host that one side has alone says nothing of the other."""
    entries, unsaid = of_fabric(running, wanted)
    return tuple(one for one in entries if not _of_one_side(one)), unsaid


def _of_one_side(entry: Entry) -> bool:
    return entry.path[0] == "nics" and len(entry.path) == 2 and (entry.old is None or entry.new is None)
