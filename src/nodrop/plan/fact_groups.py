"""Facts reported once: the same change on many queues, ports and switches is one fact."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.qos import COLORS
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.model.types import fields_of
from nodrop.model.values import value_classes
from nodrop.plan.model import ChangedFact, ChangedFactGroup, DeviceChange, DifferingEntry, PortGroupChange

DeviceMake = tuple[object, ...]
"""What two switches share whose changes may be reported together: platform, release, model and use of it."""
ANY_KEY = "*"
_SCALAR_TYPES = (bool, int, float, str, type(None))


def platform_release_and_model_of_change(change: DeviceChange) -> DeviceMake:
    """Return the make of a switch as it is before, or as it comes."""
    device = change.old or change.new
    assert device is not None
    return change.kind, device.platform, device.version, device.model, device.hwsku


@cache
def row_attributes() -> frozenset[str]:
    """Return the attributes of the model that hold rows, each with a key."""
    return frozenset(
        name
        for traffic_class in _model_classes()
        for name, kind in fields_of(traffic_class).items()
        if kind.element and kind.element.owners
    )


def _model_classes() -> tuple[type[object], ...]:
    return (Fabric, *value_classes())


def path_template(path: Subject) -> Subject:
    """Return a path with every key of a row, and every color, as a star."""
    before = ("", *path)
    return tuple(
        ANY_KEY if at in row_attributes() or step in COLORS else step for at, step in zip(before, path, strict=False)
    )


def entry_kind(entry: DifferingEntry) -> str:
    """Return whether a row, or a missing value, is added or removed, or a value changed."""
    return "added" if entry.old is None else "removed" if entry.new is None else "changed"


def is_row_change(entry: DifferingEntry) -> bool:
    """Whether an entry is about a whole row that comes or goes."""
    return len(entry.path) > 1 and entry.path[-2] in row_attributes() and entry_kind(entry) != "changed"


def group_facts(changes: Sequence[DeviceChange], parts_field: str = "parts") -> Iterator[ChangedFactGroup]:
    """Yield facts of switches, those of the same ports of the same switches together."""
    where: dict[tuple[DeviceMake, tuple[str, ...], DifferingEntry], list[str]] = {}
    for change in changes:
        make = platform_release_and_model_of_change(change)
        device_parts: tuple[PortGroupChange, ...] = getattr(change, parts_field)
        for ports, entry in _entries_with_ports(device_parts):
            where.setdefault((make, ports, entry), []).append(change.name)
    blocks: dict[tuple[DeviceMake, tuple[str, ...], tuple[str, ...]], list[DifferingEntry]] = {}
    for (make, ports, entry), devices in where.items():
        blocks.setdefault((make, tuple(devices), ports), []).append(entry)
    order = sorted(
        blocks, key=lambda key: (natural_sort_key(key[1][0]), bool(key[2]), list(map(natural_sort_key, key[2])))
    )
    for key in order:
        yield ChangedFactGroup(devices=key[1], ports=key[2], facts=tuple(merge_entries(blocks[key])))


def _entries_with_ports(device_parts: Iterable[PortGroupChange]) -> Iterator[tuple[tuple[str, ...], DifferingEntry]]:
    """Yield each entry once, with all ports of a switch that have it."""
    ports: dict[tuple[bool, DifferingEntry], list[str]] = {}
    for device_part in device_parts:
        for entry in device_part.entries:
            ports.setdefault((bool(device_part.ports), entry), []).extend(device_part.ports)
    for (_, entry), names in ports.items():
        yield tuple(sorted(names, key=natural_sort_key)), entry


def merge_entries(entries: Iterable[DifferingEntry]) -> Iterator[ChangedFact]:
    """Yield facts, each of entries that are the same except for the key of a row or the color of a packet.

    Rows that come or go are one fact for all of one table, with any content.
    """
    alike: dict[object, list[DifferingEntry]] = {}
    for entry in entries:
        shape = path_template(entry.path)
        key = (shape, entry_kind(entry)) if is_row_change(entry) else (shape, entry.old, entry.new, entry.computed)
        alike.setdefault(key, []).append(entry)
    for similar_entries in alike.values():
        yield ChangedFact(entries=tuple(similar_entries))


def shape_of_fact(fact: ChangedFact) -> Mapping[str, object]:
    """Return the common shape of a fact and those of other switches: all but names, addresses and other texts."""
    values: Any = ()
    entry = fact.entries[0]
    if not is_row_change(entry):
        values = tuple(
            value if isinstance(value, _SCALAR_TYPES) and not isinstance(value, str) else type(value).__name__
            for value in (entry.old, entry.new)
        )
    return {
        "path": path_template(entry.path),
        "kind": entry_kind(entry),
        "values": values,
        "entries": len(fact.entries),
    }


def fact_shape_key(fact: ChangedFact, *, counted: bool = True) -> tuple[object, ...]:
    """Return the shape as something to look up by."""
    shape_fields = shape_of_fact(fact)
    return (
        shape_fields["path"],
        shape_fields["kind"],
        shape_fields["values"],
        *((shape_fields["entries"],) if counted else ()),
    )
