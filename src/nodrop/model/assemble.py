"""From devices as they were read to one fabric: statements are folded in, the rest is inferred and marked so."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import NamedTuple

from nodrop.identity import IdentityMap
from nodrop.model import modes
from nodrop.model.assumed_classes import assume_rdma_class, find_lossy_conventional_rdma_dscp
from nodrop.model.cabling import Cabling
from nodrop.model.declared import DeclaredFacts
from nodrop.model.external import ExternalNeighbor
from nodrop.model.fabric import Device, Fabric, Interface, Link, Mode, Policy, PortSide, TrafficClass
from nodrop.model.intern import Interner
from nodrop.model.names import find_misnamed_devices
from nodrop.model.nics import value_or_none
from nodrop.model.qos import QosProfile
from nodrop.model.reading import DeviceReading, HostReading, Note, PossibleMode, Reading, Remark
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.model.values import replace_fields

DEFAULT_FABRIC_NAME = "fabric"
"""What a fabric is called of which nobody states a name."""


class ObjectsSharedByStates:
    """What states of one fabric have in common: of a switch that was read once and faces the same, there is one object.

    So who holds one state against another need not look into it.
    """

    def __init__(self) -> None:
        self._interner = Interner()
        self._made = IdentityMap[Device, _AssembledDevice]()
        self._links: dict[Link, Link] = {}
        """The one object that stands for each cable."""
        self._cabling: Cabling | None = None

    def device(
        self, read: Device, declared: DeclaredFacts, sides: Mapping[tuple[str, str], PortSide], *, all_cables: bool
    ) -> Device:
        """Return a device as it was read with the statements, profiles and pools shared, and every port's side.

        Where `all_cables` of the device are stated, the ports without a cable have no side.
        """
        stated = declared.roles.get(read.name), declared.models.get(read.name)
        memo = self._made.get(read)
        if memo is not None and memo.sides is sides and (memo.stated, memo.all_cables) == (stated, all_cables):
            return memo.device
        default_side = None if all_cables else UNKNOWN
        facing = [sides.get((read.name, port.name), default_side) for port in read.interfaces]
        if memo is not None and memo.stated == stated and all(map(is_, memo.facing, facing)):
            return memo.device
        device = _fill_sides_and_intern(_apply_declared_role_and_model(read, *stated), facing, self._interner)
        self._made[read] = _AssembledDevice(stated, sides, all_cables, facing, device)
        return device

    def cabling(self, readings: Sequence[DeviceReading], declared: DeclaredFacts) -> Cabling:
        """Return how switches are cabled: as in the state before, where the evidence is the same."""
        if self._cabling is None or not self._cabling.is_still_valid_for(readings, declared):
            self._cabling = Cabling.of(readings, declared, self._links)
        return self._cabling


class _AssembledDevice(NamedTuple):
    """The device made of one as it was read, and what else it was made of."""

    stated: tuple[str | None, str | None]
    sides: Mapping[tuple[str, str], PortSide]
    all_cables: bool
    facing: list[PortSide | None | Unknown]
    device: Device


def assemble_fabric(
    readings: Sequence[DeviceReading],
    declared_context: DeclaredFacts,
    hosts_read: Sequence[HostReading] = (),
    shared: ObjectsSharedByStates | None = None,
) -> Reading:
    """Return all readings as one fabric; two devices of one name are distinguished by a number, with a note.

    Parts that are `shared` with other states are made once.
    """
    shared = shared or ObjectsSharedByStates()
    named_device_readings = readings
    readings, notes = _make_names_unique(readings)
    hosts_read = _rename_clashing_hosts(hosts_read, {reading.device.name for reading in readings})
    everything: list[DeviceReading | HostReading] = [*readings, *hosts_read]
    cabling = shared.cabling(readings, declared_context)
    hosts = declared_context.hosts or ()
    stated = _devices_named_in_declared_cables(declared_context)
    sides = cabling.sides
    devices = [
        shared.device(reading.device, declared_context, sides, all_cables=reading.device.name in stated)
        for reading in readings
    ]
    groups = _infer_mode_groups(devices, cabling.links, declared_context, paused=_any_nic_has_pfc(hosts_read))
    assumed = modes.mode_assumptions(groups)
    mode = declared_context.mode or modes.mode_of_groups(groups)
    classes, lossy_convention = declared_context.classes, list[Remark]()
    if classes is None:
        classes, assumption = assume_rdma_class(
            devices, mode, hosts_read, mode_stated=declared_context.mode is not None
        )
        assumed.append(assumption)
        lossy_convention = list(find_lossy_conventional_rdma_dscp(devices, classes))
    note = modes.note_on_disconnected_groups(groups)
    fabric = Fabric(
        name=declared_context.name or DEFAULT_FABRIC_NAME,
        mode=mode,
        devices=tuple(sorted(devices, key=lambda device: natural_sort_key(device.name))),
        links=cabling.links,
        hosts=tuple(sorted(hosts, key=lambda host: natural_sort_key(host.name))),
        nics=tuple(nic for host_reading in hosts_read for nic in host_reading.nics),
        external=_external_neighbors(declared_context, {reading.device.name for reading in readings}),
        classes=tuple(sorted(classes, key=lambda traffic_class: traffic_class.name)),
        policy=declared_context.policy or Policy(),
        profile=declared_context.profile,
    )
    return Reading(
        fabric=fabric,
        sources={reading.device.name: reading.sources for reading in readings}
        | {host_reading.name: host_reading.sources for host_reading in hosts_read},
        remarks=(
            *(remark for reading in everything for remark in reading.remarks),
            *cabling.unlike,
            *find_misnamed_devices(named_device_readings, readings),
            *lossy_convention,
        ),
        notes=(*notes, *([note] if note else ()), *(note for reading in everything for note in reading.notes)),
        problems=tuple(problem for reading in everything for problem in reading.problems),
        derived={subject: reason for reading in everything for subject, reason in reading.derived.items()},
        assumed=tuple(assumed),
        possible=_possible_modes(groups, classes, stated=declared_context.classes is not None),
        allowed={reading.device.name: reading.allowed for reading in readings if reading.allowed}
        | {host_reading.name: host_reading.allowed for host_reading in hosts_read if host_reading.allowed},
    )


def _external_neighbors(declared: DeclaredFacts, devices: Container[str]) -> tuple[ExternalNeighbor, ...]:
    """Return the neighbors outside that are stated, without those whose files were read."""
    return tuple(
        sorted(
            (neighbor for neighbor in declared.external or () if neighbor.name not in devices),
            key=lambda neighbor: neighbor.name,
        )
    )


def _make_names_unique(readings: Sequence[DeviceReading]) -> tuple[list[DeviceReading], list[Note]]:
    taken: set[str] = set()
    result, notes = [], []
    for reading in readings:
        name, number = reading.device.name, 2
        while name in taken:
            name, number = f"{reading.device.name}.{number}", number + 1
        taken.add(name)
        if name != reading.device.name:
            shown = reading.sources[0].display if reading.sources else None
            message = f"a second device calls itself {reading.device.name}; it is {name} here"
            notes.append(Note(kind="renamed", message=message, device=name, file=shown))
            reading = _rename_reading(reading, name)
        result.append(reading)
    return result, notes


def _rename_reading(reading: DeviceReading, name: str) -> DeviceReading:
    return replace(
        reading,
        device=replace(reading.device, name=name),
        remarks=tuple(replace(remark, subject=(name, *remark.subject[1:])) for remark in reading.remarks),
        derived={(name, *subject[1:]): reason for subject, reason in reading.derived.items()},
    )


def _rename_clashing_hosts(readings: Sequence[HostReading], used_names: Container[str]) -> list[HostReading]:
    """Return the content of hosts' files, under names that no switch has."""
    return [
        _rename_host(reading, f"{reading.name}.host") if reading.name in used_names else reading for reading in readings
    ]


def _rename_host(reading: HostReading, name: str) -> HostReading:
    return replace(
        reading,
        name=name,
        nics=tuple(replace_fields(nic, host=name) for nic in reading.nics),
        remarks=tuple(replace(remark, subject=(name, *remark.subject[1:])) for remark in reading.remarks),
        derived={(name, *subject[1:]): reason for subject, reason in reading.derived.items()},
    )


def _apply_declared_role_and_model(device: Device, role: str | None, model: str | None) -> Device:
    if role is not None and (isinstance(device.role, Unknown) or device.role != role):
        device = replace(device, role=role)
    if model is not None and isinstance(device.model, Unknown):
        device = replace(device, model=model)
    return device


def _devices_named_in_declared_cables(declared: DeclaredFacts) -> set[str]:
    return {end.node for link in declared.cables or () for end in (link.a, link.b)}


def _fill_sides_and_intern(device: Device, facing: Iterable[PortSide | None | Unknown], interner: Interner) -> Device:
    """Return the device with its shared values, and every port's side, in one go over a million ports."""

    def completed(port: Interface, side: PortSide | None | Unknown) -> Interface:
        qos = interner.profile(port.qos) if isinstance(port.qos, QosProfile) else port.qos
        return port if side is port.side and qos is port.qos else replace_fields(port, side=side, qos=qos)

    pools, lists = interner.pools(device.buffer_pools), interner.lists(device.access_lists)
    ports = tuple(map(completed, device.interfaces, facing))
    return replace_fields(device, interfaces=ports, buffer_pools=pools, access_lists=lists)


def _infer_mode_groups(
    devices: Sequence[Device], links: Sequence[Link], declared: DeclaredFacts, *, paused: bool
) -> list[modes.ModeGroup]:
    """Return the switches by the mode that is inferred; none where it is stated. A stated fabric is one group."""
    if declared.mode is not None:
        return []
    is_one_fabric = declared.name is not None or declared.cables is not None or declared.hosts is not None
    hosts = [host.name for host in declared.hosts or ()]
    return modes.infer_modes(devices, links, hosts, paused=paused, one_fabric=is_one_fabric)


def _possible_modes(
    groups: Sequence[modes.ModeGroup], classes: tuple[TrafficClass, ...], *, stated: bool
) -> tuple[PossibleMode, ...]:
    """Return the possible modes of the switches, with the classes of each; nothing where all have one mode."""
    every: dict[Mode, frozenset[str]] = {}
    for group in groups:
        for mode in group.modes:
            every[mode] = every.get(mode, frozenset()) | group.devices
    if len(every) < 2:
        return ()
    return tuple(
        PossibleMode(
            mode=mode,
            classes=classes
            if stated
            else tuple(replace(traffic_class, lossless=mode in modes.PFC_MODES) for traffic_class in classes),
            devices=devices,
        )
        for mode, devices in every.items()
    )


def _any_nic_has_pfc(readings: Iterable[HostReading]) -> bool:
    """Whether a file of a host turns PFC on."""
    return any(bool(value_or_none(nic, "pfc_priorities")) for reading in readings for nic in reading.nics)
