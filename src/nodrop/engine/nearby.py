"""The part of a fabric that rules have to check again after a change; nothing outside it can differ.

The verdict of most rules on a switch follows from that switch and those cabled to it (`Rule.near`). A change can
matter to them on the changed switches and on those one cable away, for which one cable further is read. Beyond, the
verdicts of both states are equal, also where the fabric is cut off there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from nodrop.engine.rule import Rule
from nodrop.identity import IdentitySet
from nodrop.model.fabric import Device, Fabric, Interface, Link
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.states import UnknownFact
from nodrop.model.subject import FABRIC_HEAD

_MAX_CABLE_DISTANCE = 2
"""How many cables away a switch is checked; a host is a station on the way."""
_STATED_FABRIC_FIELDS = tuple(field.name for field in fields(Fabric) if field.name not in ("name", "devices", "links"))
"""The fields of a fabric that a rule may use for every switch."""
_T = TypeVar("_T")
_OF_DEVICE, _OF_PORT = (tuple(field.name for field in fields(kind)) for kind in (Device, Interface))


@dataclass(frozen=True, slots=True)
class AffectedPart:
    """The part of a state to check: `index` for rules that read nearby switches; nothing for those in `still`."""

    index: Index
    still: frozenset[str]
    """Rules with the same verdicts on both states: none of the facts they read has changed."""


HitsOf = Callable[[Rule, Index], Iterable[object]]


def find_parts_to_recheck(
    readings: tuple[Reading, Reading], indices: tuple[Index, Index], rules: Sequence[Rule], hits: HitsOf
) -> tuple[AffectedPart, AffectedPart] | None:
    """Return the parts of two states of a fabric to check; None for the whole.

    Both share the objects that have not changed (`model.assemble.Shared`). `hits` gives the hits of a rule's analysis
    on a whole fabric: where the rule depends on findings of others there (`Rule.last`), those places are checked too.
    """
    old, new = (reading.fabric for reading in readings)
    if readings[0].assumed != readings[1].assumed or any(
        getattr(old, fact) != getattr(new, fact) for fact in _STATED_FABRIC_FIELDS
    ):
        return None
    links = _common_and_other_parts(old.links, new.links)
    devices = _common_and_other_parts(old.devices, new.devices)
    touched = {device.name for device in devices[1]} | {end.node for link in links[1] for end in (link.a, link.b)}
    asking = [
        rule for rule in rules if rule.reads_other_findings and rule.analysis and not rule.needs_only_cabled_neighbors
    ]
    asked = {
        name for rule in asking for index in indices for hit in hits(rule, index) for name in _switches_of_hit(hit)
    }
    every = [*links[0], *links[1]]
    seen = _add_neighbors(touched, every, _MAX_CABLE_DISTANCE) | _add_neighbors(asked, every, 1)
    switch_names = indices[0].devices.keys() | indices[1].devices.keys()
    alike = not links[1] and readings[0].allowed == readings[1].allowed
    moved = _differing_attributes(old, new) if alike else None
    still = frozenset(rule.name for rule in rules if moved is not None and rule.looks_at and not rule.looks_at & moved)
    before, after = (Index(_subset_of_fabric(index.fabric, seen, switch_names), index) for index in indices)
    return AffectedPart(before, still), AffectedPart(after, still)


def find_rules_unaffected_by_change(readings: tuple[Reading, Reading], rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules that find the same in every state between two, by the statements of either.

    They read no attribute in which a switch or a port differs; there are none where one comes or goes, or a cable.
    """
    old, new = (reading.fabric for reading in readings)
    if old.links != new.links or any(
        getattr(readings[0], field) != getattr(readings[1], field) for field in ("allowed", "assumed", "derived")
    ):
        return []
    moved = _differing_attributes(old, new)
    if moved is None:
        return []
    return [rule for rule in rules if rule.deciding_attributes is not None and not rule.deciding_attributes & moved]


def _differing_attributes(old: Fabric, new: Fabric) -> frozenset[str] | None:
    """Return which attributes of switches and ports differ; None where they are not the same switches and ports."""
    differing_fields: set[str] = set()
    for device, other_device in zip(old.devices, new.devices, strict=False):
        if device is not other_device:
            if [port.name for port in device.interfaces] != [port.name for port in other_device.interfaces]:
                return None
            differing_fields |= _differing_names(device, other_device, _OF_DEVICE) - {"interfaces"}
            for pair in zip(device.interfaces, other_device.interfaces, strict=True):
                differing_fields |= _differing_names(*pair, _OF_PORT)
    return None if len(old.devices) != len(new.devices) or "name" in differing_fields else frozenset(differing_fields)


def _differing_names(old_part: object, new_part: object, names: Sequence[str]) -> set[str]:
    return {name for name in names if not _is_known_equal(getattr(old_part, name), getattr(new_part, name))}


def _is_known_equal(old_value: object, new_value: object) -> bool:
    try:
        return old_value is new_value or bool(old_value == new_value)
    except UnknownFact:
        return False


def _common_and_other_parts(old: Sequence[_T], new: Sequence[_T]) -> tuple[list[_T], list[_T]]:
    """Return the members that both states have, the very same objects, and those that only one state has."""
    before, after = IdentitySet(old), IdentitySet(new)
    common = [member for member in before if member in after]
    return common, [
        *(member for member in before if member not in after),
        *(member for member in after if member not in before),
    ]


def _add_neighbors(device_names: set[str], links: Iterable[Link], hops: int) -> set[str]:
    """Return names with those that so many cables lead to."""
    neighbors = set(device_names)
    for _ in range(hops if device_names else 0):
        neighbors |= {
            end.node
            for link in links
            if link.a.node in neighbors or link.b.node in neighbors
            for end in (link.a, link.b)
        }
    return neighbors


def _switches_of_hit(hit: object) -> Iterator[str]:
    """Yield the switches that a hit speaks of."""
    subjects = [getattr(hit, "subject", ()), *(subject for subject, _ in getattr(hit, "related", ()))]
    yield from (subject[0] for subject in subjects if subject and subject[0] != FABRIC_HEAD)


def _subset_of_fabric(fabric: Fabric, names: set[str], switch_names: set[str]) -> Fabric:
    """Return switches of a fabric with the cables between them and those to other devices."""

    def inside(link: Link) -> bool:
        node, other_node = link.a.node, link.b.node
        if node in names:
            return other_node in names or other_node not in switch_names
        return other_node in names and node not in switch_names

    return replace(
        fabric,
        devices=tuple(device for device in fabric.devices if device.name in names),
        links=tuple(link for link in fabric.links if inside(link)),
    )
