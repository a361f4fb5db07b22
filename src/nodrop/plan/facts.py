"""Differences on a switch, port by port, in paths of the model; equal designs are compared once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from nodrop import platforms
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.intern import Interner
from nodrop.model.nics import Nic
from nodrop.model.qos import QosProfile
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.model.values import replace_fields
from nodrop.plan.model import ChangedAndUnstatedEntries, DeviceChange, DeviceChangeKind, DifferingEntry, PortGroupChange
from nodrop.platforms.kit.editing import is_equal

_DEVICE_FIELDS_COMPARED_APART = frozenset({"name", "interfaces"})
_PORT_FIELDS = tuple(field.name for field in fields(Interface) if field.name not in ("name", "side"))
"""Facts of a port; its side follows from the cable."""
_DEVICE_FIELDS = tuple(field.name for field in fields(Device) if field.name not in _DEVICE_FIELDS_COMPARED_APART)
_FABRIC_FIELDS = ("mode", "classes", "policy", "hosts", "links")
"""Facts of a fabric; the profile belongs to whoever judges."""


class DeviceComparison:
    """Compares switches; two ports with the same two designs are compared once."""

    def __init__(self, *derived: Mapping[Subject, str]) -> None:
        """Take the facts that each side's switches derive by themselves, by subject."""
        self._derived = derived
        self._interner = Interner()
        self._profiles: dict[tuple[QosProfile, QosProfile], tuple[DifferingEntry, ...]] = {}
        self._entries: dict[tuple[DifferingEntry, ...], tuple[DifferingEntry, ...]] = {}

    def compare_device(self, old: Device | None, new: Device | None) -> DeviceChange | None:
        """Return what becomes of a switch; None where nothing does and nothing is left unsaid."""
        present_device = new or old
        assert present_device is not None
        if old is None or new is None:
            return DeviceChange(name=present_device.name, kind="added" if old is None else "removed", old=old, new=new)
        if old is new:
            return None
        old, new = self._interner.device(old), self._interner.device(new)
        if old == new:
            return None
        kind: DeviceChangeKind = "changed"
        before, after = old, new
        if old.platform != new.platform:
            kind = "replaced"
            unsaid = {*platforms.unsupported_paths(old.platform), *platforms.unsupported_paths(new.platform)}
            pair = mask_unsupported_fields(old, unsaid), _keep_old_port_names(old, mask_unsupported_fields(new, unsaid))
            before, after = map(self._interner.device, pair)
        changed_parts, unsaid_parts = self._changed_and_unstated_parts(before, after)
        if not changed_parts and not unsaid_parts and kind == "changed":
            return None
        return DeviceChange(name=new.name, kind=kind, old=old, new=new, parts=changed_parts, not_compared=unsaid_parts)

    def _changed_and_unstated_parts(
        self, old: Device, new: Device
    ) -> tuple[tuple[PortGroupChange, ...], tuple[PortGroupChange, ...]]:
        own_entries, unsaid = separate_unstated(_device_entries(old, new))
        by_entries: dict[tuple[DifferingEntry, ...], list[str]] = {}
        without: dict[tuple[DifferingEntry, ...], list[str]] = {}
        were = {port.name: port for port in old.interfaces}
        for port in new.interfaces:
            was = were.get(port.name)
            if was is None or was == port:
                continue
            changes, silent = separate_unstated(self._diff_port(old.name, was, port))
            if changes:
                by_entries.setdefault(changes, []).append(port.name)
            if was.enabled is False or port.enabled is False:  # without a speed, the switch computes no headroom
                silent = tuple(entry for entry in silent if not entry.computed)
            if silent:
                without.setdefault(silent, []).append(port.name)
        return _changes_by_port_group(own_entries, by_entries), _changes_by_port_group(unsaid, without)

    def _diff_port(self, device: str, old: Interface, new: Interface) -> Iterator[DifferingEntry]:
        for name in _PORT_FIELDS:
            was, new_value = getattr(old, name), getattr(new, name)
            if is_equal(was, new_value):
                continue
            if name == "qos" and isinstance(was, QosProfile) and isinstance(new_value, QosProfile):
                yield from (
                    self._mark_computed_entry(device, new.name, entry) for entry in self._qos_changes(was, new_value)
                )
            else:
                yield from _diff_entries((name,), was, new_value)

    def _mark_computed_entry(self, device: str, port: str, entry: DifferingEntry) -> DifferingEntry:
        """Return an entry about a priority group as computed, where the switch adds that by itself."""
        if entry.path[1] != "priority_groups" or len(entry.path) != 3:
            return entry
        at = (device, port, *entry.path)
        return entry._replace(computed=any(at in derived_paths for derived_paths in self._derived))

    def _qos_changes(self, old: QosProfile, new: QosProfile) -> tuple[DifferingEntry, ...]:
        pair = (old, new)
        if pair not in self._profiles:
            entries = _diff_entries(("qos",), old, new)
            self._profiles[pair] = tuple(
                entry._replace(computed=_is_computed_headroom(entry, old, new)) for entry in entries
            )
        return self._profiles[pair]


def compare_fabric_facts(old_reading: Reading, new_reading: Reading) -> ChangedAndUnstatedEntries:
    """Return the changes in the stated facts of a fabric, and the facts that one side does not state.

    Facts assumed on one side are not stated by it, and neither are cables, hosts and classes if it has none.
    """
    silent = [_unstated_fabric_facts(reading) for reading in (old_reading, new_reading)]
    entries: list[DifferingEntry] = []
    for name in _FABRIC_FIELDS:
        was, new_value = (
            UNKNOWN
            if name in without and _get_fabric_value(reading, name) != _get_fabric_value(other_reading, name)
            else _get_fabric_value(reading, name)
            for reading, other_reading, without in (
                (old_reading, new_reading, silent[0]),
                (new_reading, old_reading, silent[1]),
            )
        )
        entries += _diff_entries((name,), was, new_value)
    nics = [_nics_by_subject(reading.fabric) for reading in (old_reading, new_reading)]
    if all(nics):
        for key in sorted({**nics[0], **nics[1]}):
            entries += _diff_entries(("nics", key), nics[0].get(key), nics[1].get(key))
    elif any(nics):
        entries.append(
            DifferingEntry(("nics",), old_reading.fabric.nics or UNKNOWN, new_reading.fabric.nics or UNKNOWN)
        )
    return separate_unstated(entries)


def _unstated_fabric_facts(reading: Reading) -> set[str]:
    """Return the fabric facts that a side does not state."""
    fabric = reading.fabric
    assumed = {"mode": "mode", "RDMA": "classes"}
    empty = {name for name in ("links", "hosts", "classes") if not getattr(fabric, name)}
    return empty | {assumed[assumption.fact] for assumption in reading.assumed if assumption.fact in assumed}


def _get_fabric_value(reading: Reading, name: str) -> object:
    return getattr(reading.fabric, name)


def _nics_by_subject(fabric: Fabric) -> dict[str, Nic]:
    """Return the NIC settings in files, by the files and the part of each."""
    return {" ".join(nic.subject): nic for nic in fabric.nics}


def separate_unstated(entries: Iterable[DifferingEntry]) -> ChangedAndUnstatedEntries:
    """Return the entries that are changes, and those that one side does not state."""
    known_entries: list[DifferingEntry] = []
    unsaid: list[DifferingEntry] = []
    for entry in entries:
        silent = isinstance(entry.old, Unknown) or isinstance(entry.new, Unknown)
        (unsaid if silent else known_entries).append(entry)
    return tuple(known_entries), tuple(unsaid)


def _diff_entries(path: tuple[str, ...], old_value: object, new_value: object) -> Iterator[DifferingEntry]:
    if is_equal(old_value, new_value):
        return
    for difference in differences(old_value, new_value, whole_lists=True):
        yield DifferingEntry((*path, *difference.path), difference.a, difference.b)


def _device_entries(old: Device, new: Device) -> Iterator[DifferingEntry]:
    for name in _DEVICE_FIELDS:
        for entry in _diff_entries((name,), getattr(old, name), getattr(new, name)):
            yield entry._replace(computed=_is_computed_pool_size(entry, old, new))
    before, after = ({port.name: port for port in device.interfaces} for device in (old, new))
    for name in sorted(before.keys() ^ after.keys(), key=natural_sort_key):
        yield DifferingEntry(("interfaces", name), before.get(name), after.get(name))


def _changes_by_port_group(
    own_entries: tuple[DifferingEntry, ...], by_entries: Mapping[tuple[DifferingEntry, ...], list[str]]
) -> tuple[PortGroupChange, ...]:
    device_parts = [PortGroupChange((), own_entries)] if own_entries else []
    device_parts += (
        PortGroupChange(tuple(sorted(ports, key=natural_sort_key)), entries) for entries, ports in by_entries.items()
    )
    return tuple(device_parts)


def _is_computed_headroom(entry: DifferingEntry, old: QosProfile, new: QosProfile) -> bool:
    """Whether an entry is a part of a headroom that the switch computes, before and after."""
    match entry.path:
        case ("qos", "priority_groups", group, "buffer", "size_bytes" | "headroom", *_):
            return all(_has_computed_headroom(qos, group) for qos in (old, new))
    return False


def _has_computed_headroom(qos: QosProfile, index: str) -> bool:
    groups = () if isinstance(qos.priority_groups, Unknown) else qos.priority_groups
    buffer = next((group.buffer for group in groups if str(group.index) == index), None)
    headroom = buffer.headroom if isinstance(buffer, BufferProfile) else None
    return isinstance(headroom, Headroom) and headroom.computed


def _is_computed_pool_size(entry: DifferingEntry, old: Device, new: Device) -> bool:
    """Whether an entry is the size of a pool that the switch computes, before and after."""
    match entry.path:
        case ("buffer_pools", name, "size_bytes" | "shared_headroom_bytes"):
            return all(pool is not None and pool.computed for pool in (_find_pool(old, name), _find_pool(new, name)))
    return False


def _find_pool(device: Device, name: str) -> BufferPool | None:
    pools = () if isinstance(device.buffer_pools, Unknown) else device.buffer_pools
    return next((pool for pool in pools if pool.name == name), None)


def _keep_old_port_names(old: Device, new: Device) -> Device:
    """Return a switch with its ports called as those at the same places of the panel were before."""
    names = {port.port: port.name for port in old.interfaces if port.port and not isinstance(port.port, Unknown)}
    ports = (
        replace_fields(port, name=names[port.port])
        if port.port and not isinstance(port.port, Unknown) and port.port in names
        else port
        for port in new.interfaces
    )
    return replace_fields(new, interfaces=tuple(ports))
