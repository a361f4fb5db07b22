"""The possible subjects of a rule: the scopes, the items of each in a fabric, an item's names, and its subjects.

An item is a tuple of model values, in the order of the scope's `parts`: (device, interface) for `scope: interface`.
Queues and priority groups are `rows` of a port: they are searched once per design, not once per port.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from nodrop.engine.nodes import ModelPath
from nodrop.model.buffers import BufferPool
from nodrop.model.fabric import Device, Fabric, Interface, Link, TrafficClass
from nodrop.model.index import Index
from nodrop.model.qos import PriorityGroup, Queue
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.model.subject import link_subject as subject_of_link
from nodrop.model.types import RecordType, ValueType, type_of

ScopeItem = tuple[Any, ...]
UNREAD_LINK_END_FACT = "the other end of a link"


@dataclass(frozen=True, slots=True)
class UnknownItems:
    """A place that may have items, but the source does not state it: the missing fact, its device, and possible
    sources.
    """

    missing: str
    device: str
    others: frozenset[str] = frozenset()
    """Devices whose configurations would tell."""
    count: int = 1
    """How many items of the scope it stands for."""


class ScopeItems:
    """The items of a scope, as one column for each part: 640,000 pairs of device and port can be distinguished without
    being made.

    An item is made on request.
    """

    def __init__(self, *columns: Sequence[Any], count: int | None = None) -> None:
        self.columns = columns
        self.places = list(range(len(columns[0]) if count is None else count))
        """The indexes of all items; those of some are numbers from here, so that they cost a reference each."""

    def __getitem__(self, place: int) -> ScopeItem:
        return tuple([column[place] for column in self.columns])


ItemsWithGaps = tuple[ScopeItems, list[UnknownItems]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One scope. `subjects` give the place in the fabric of each name of an item; `identity` are paths that only name
    it.
    """

    name: str
    parts: Mapping[str, type[Any]]
    subjects: Mapping[str, Callable[[ScopeItem], Subject]]
    items: Callable[[Index], ItemsWithGaps]
    identity: frozenset[ModelPath] = frozenset()
    rows: str = ""
    held: str = ""
    """A path that is never None of an item: the QoS of the port that a row lies in."""
    topics: frozenset[str] = field(default_factory=frozenset)
    """What its items are stated by, so that findings are likely at most where that was assumed."""

    def __reduce__(self) -> tuple[Callable[[str], "Scope"], tuple[str]]:
        return (_scope_by_name, (self.name,))

    def subject(self, item: ScopeItem) -> Subject:
        """Return the subject of an item."""
        return self.subjects[self.name](item) if self.parts else (FABRIC_HEAD,)

    def subject_of_path(self, item: ScopeItem, path: ModelPath) -> Subject:
        """Return the subject of a path: `interface.qos.trust` of an item is `leaf1/Ethernet0/qos/trust`.

        So is `device.interfaces.Ethernet0.qos.trust`.
        """
        name, *attributes = path
        if name == "fabric":
            return (FABRIC_HEAD, *attributes)
        base = self.subjects[name](item)
        if self.parts[name] is Device and attributes[1:] and attributes[0] == "interfaces":
            return (*base, *attributes[1:])
        if attributes and self.parts[name] is Device:
            attributes[0] = f"@{attributes[0]}"
        return (*base, *attributes)

    def devices(self, items: ScopeItems, places: Iterable[int]) -> set[str]:
        """Return the names of the devices that the items at these places belong to."""
        columns = [items.columns[position] for position, kind in enumerate(self.parts.values()) if kind is Device]
        return {column[place].name for column in columns for place in places}


def typed_names(kinds_by_name: Mapping[str, type[Any]], *records: RecordType) -> Mapping[str, ValueType]:
    """Return the names of an expression and their types: parts of an item, the fabric, and the records of a rule."""
    known_types = {name: type_of(kind) for name, kind in kinds_by_name.items()}
    return known_types | {"fabric": type_of(Fabric)} | {record.name: ValueType(owners=(record,)) for record in records}


def _fabric_items(_index: Index) -> ItemsWithGaps:
    return ScopeItems(count=1), []


def _device_items(index: Index) -> ItemsWithGaps:
    return ScopeItems(index.fabric.devices), []


def _interface_items(index: Index) -> ItemsWithGaps:
    return _pair_rows_with_devices(index.fabric.devices, [device.interfaces for device in index.fabric.devices]), []


def _make_device_row_finder(attribute: str) -> Callable[[Index], ItemsWithGaps]:
    def find_rows(index: Index) -> ItemsWithGaps:
        devices = index.fabric.devices
        rows = [getattr(device, attribute) for device in devices]
        gaps = [
            UnknownItems(f"device.{attribute}", device.name)
            for device, known_row in zip(devices, rows, strict=True)
            if isinstance(known_row, Unknown)
        ]
        return _pair_rows_with_devices(
            devices, [() if isinstance(known_row, Unknown) else known_row for known_row in rows]
        ), gaps

    return find_rows


def _pair_rows_with_devices(devices: Sequence[Device], rows: Sequence[tuple[Any, ...]]) -> ScopeItems:
    owners = chain.from_iterable(
        repeat(device, len(known_rows)) for device, known_rows in zip(devices, rows, strict=True)
    )
    return ScopeItems(list(owners), list(chain.from_iterable(rows)))


def _fabric_traffic_class_items(index: Index) -> ItemsWithGaps:
    return ScopeItems(index.fabric.classes), []


def _link_items(index: Index) -> ItemsWithGaps:
    """Links between two ports that were read; for each device with a link whose other end was not, one gap."""
    items: list[ScopeItem] = []
    unread: dict[str, set[str]] = {}
    for link in index.fabric.links:
        a, b = index.interface(*link.a), index.interface(*link.b)
        if a is not None and b is not None:
            items.append((link, a, b, index.devices[link.a.node], index.devices[link.b.node]))
        elif index.hosts.keys().isdisjoint((link.a.node, link.b.node)) and index.external_nodes.isdisjoint(
            (link.a.node, link.b.node)
        ):
            for end, far_end, port in ((link.a, link.b, b), (link.b, link.a, a)):
                if port is None and end.node in index.devices:
                    unread.setdefault(end.node, set()).add(far_end.node)
    gaps = [UnknownItems(UNREAD_LINK_END_FACT, device, frozenset(far_nodes)) for device, far_nodes in unread.items()]
    return ScopeItems(*zip(*items, strict=True), count=len(items)), gaps


def _device_subject(scope_item: ScopeItem) -> Subject:
    return (scope_item[0].name,)


def _port_subject(scope_item: ScopeItem) -> Subject:
    return (scope_item[0].name, scope_item[1].name)


def _make_row_subject_getter(attribute: str) -> Callable[[ScopeItem], Subject]:
    return lambda item: (item[0].name, item[1].name, "qos", attribute, str(item[2].index))


_PORT_SCOPE_PARTS: Mapping[str, type[Any]] = {"device": Device, "interface": Interface}
_PORT_SUBJECT_GETTERS = {"device": _device_subject, "interface": _port_subject}
_NAME_IDENTITY_FIELDS = frozenset({("device", "name"), ("interface", "name"), ("interface", "port")})

_ALL_SCOPES = (
    Scope(name="fabric", parts={}, subjects={}, items=_fabric_items),
    Scope(
        name="device",
        parts={"device": Device},
        subjects={"device": _device_subject},
        items=_device_items,
        identity=_NAME_IDENTITY_FIELDS,
    ),
    Scope(
        name="interface",
        parts=_PORT_SCOPE_PARTS,
        subjects=_PORT_SUBJECT_GETTERS,
        items=_interface_items,
        identity=_NAME_IDENTITY_FIELDS,
    ),
    Scope(
        name="queue",
        parts={**_PORT_SCOPE_PARTS, "queue": Queue},
        subjects={**_PORT_SUBJECT_GETTERS, "queue": _make_row_subject_getter("queues")},
        items=_interface_items,
        identity=_NAME_IDENTITY_FIELDS | {("queue", "index")},
        rows="queues",
        held="interface.qos",
    ),
    Scope(
        name="priority_group",
        parts={**_PORT_SCOPE_PARTS, "priority_group": PriorityGroup},
        subjects={**_PORT_SUBJECT_GETTERS, "priority_group": _make_row_subject_getter("priority_groups")},
        items=_interface_items,
        identity=_NAME_IDENTITY_FIELDS | {("priority_group", "index")},
        rows="priority_groups",
        held="interface.qos",
    ),
    Scope(
        name="link",
        parts={"link": Link, "a": Interface, "b": Interface, "device_a": Device, "device_b": Device},
        subjects={
            "link": lambda item: subject_of_link(item[0].a, item[0].b),
            "a": lambda item: tuple(item[0].a),
            "b": lambda item: tuple(item[0].b),
            "device_a": lambda item: (item[3].name,),
            "device_b": lambda item: (item[4].name,),
        },
        items=_link_items,
        identity=frozenset(
            {("link", end) for end in "ab"}
            | {(end, name) for end in "ab" for name in ("name", "port")}
            | {("device_a", "name"), ("device_b", "name")}
        ),
    ),
    Scope(
        name="neighbor",
        parts={"device": Device, "neighbor": BgpNeighbor},
        subjects={"device": _device_subject, "neighbor": lambda item: (item[0].name, "@neighbors", item[1].key)},
        items=_make_device_row_finder("neighbors"),
        identity=_NAME_IDENTITY_FIELDS | {("neighbor", name) for name in ("key", "address", "interface")},
    ),
    Scope(
        name="buffer_pool",
        parts={"device": Device, "buffer_pool": BufferPool},
        subjects={"device": _device_subject, "buffer_pool": lambda item: (item[0].name, "@buffer_pools", item[1].name)},
        items=_make_device_row_finder("buffer_pools"),
        identity=_NAME_IDENTITY_FIELDS | {("buffer_pool", "name")},
    ),
    Scope(
        name="traffic_class",
        parts={"traffic_class": TrafficClass},
        subjects={"traffic_class": lambda item: (FABRIC_HEAD, "classes", item[0].name)},
        items=_fabric_traffic_class_items,
        identity=frozenset({("traffic_class", "name")}),
        topics=frozenset({"classes"}),
    ),
)

SCOPES: Mapping[str, Scope] = {scope.name: scope for scope in _ALL_SCOPES}


def _scope_by_name(name: str) -> Scope:
    return SCOPES[name]
