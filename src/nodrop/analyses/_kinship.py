"""Ports that ought to be alike: those of switches of one role, platform and model, at one speed, towards one side.

A model's service ports are a separate family. Hosts of different groups are different sides. If a switch's
role or model is unknown, its ports are compared with one another only. If cables join several groups of switches,
switches are compared within their group. The value of most switches is usual; of two values with the same frequency,
the usual value is that of more of the fabric.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeVar

from nodrop.hardware import switch, switches
from nodrop.model.fabric import Device, Interface, Port
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, is_known_off

PortFamily = tuple[Hashable, ...]
_V = TypeVar("_V", bound=Hashable)

UNKNOWN_SIDE_NAME = "unknown"
SERVICE_SIDE_NAME = "service"


class PortWithQosProfile(NamedTuple):
    """A port in use with a QoS profile."""

    device: Device
    port: Interface
    qos: QosProfile


class AlikePorts(NamedTuple):
    """The ports of a family that are alike: the first of them, how many there are, and on which switches."""

    first: PortWithQosProfile
    ports: int
    devices: frozenset[str]

    def __add__(self, other: "AlikePorts") -> "AlikePorts":  # type: ignore[override]
        return AlikePorts(self.first, self.ports + other.ports, self.devices | other.devices)


class PortsByFamilyAndProfile:
    """The ports of a fabric by family and profile; with `sides`, ports that face different things are no family."""

    def __init__(self, index: Index, *, sides: bool) -> None:
        self._kinds: defaultdict[PortFamily, defaultdict[QosProfile, list[_AlikePortsOfSwitch]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for family, alike in _group_ports_by_family(index):
            self._kinds[family if sides else _family_without_side(family)][alike.qos].append(alike)
        self.families: Mapping[PortFamily, Mapping[QosProfile, AlikePorts]] = {
            family: {key: _merge_alike_ports(found_kinds) for key, found_kinds in kinds.items()}
            for family, kinds in self._kinds.items()
        }

    def ports_by_profile(self, family: PortFamily) -> Iterable[tuple[PortWithQosProfile, Iterator[PortWithQosProfile]]]:
        """Yield the ports of a family, those with one profile together: the first, as which they all are, and all."""
        for rows in self._kinds[family].values():
            yield rows[0].first, (PortWithQosProfile(row.device, port, row.qos) for row in rows for port in row.ports)

    def most_common_value_by_family(
        self, value: Callable[[PortWithQosProfile], _V | None]
    ) -> dict[PortFamily, tuple[_V, PortWithQosProfile, int]]:
        """Return the value that most switches of each family have, a port that has it, and how many ports do.

        None as a value does not take part. What not even half of them have is not usual. Where as many have another
        value, more of the whole fabric decide, then more ports; where those are equal too, nothing is usual.
        """
        everywhere: defaultdict[_V, set[str]] = defaultdict(set)
        by_family: dict[PortFamily, dict[_V, AlikePorts]] = {}
        for family, kinds in self.families.items():
            tally: dict[_V, AlikePorts] = {}
            for kind in kinds.values():
                if (member_value := value(kind.first)) is not None:
                    everywhere[member_value] |= kind.devices
                    tally[member_value] = tally[member_value] + kind if member_value in tally else kind
            by_family[family] = tally
        result = {}
        for family, tally in by_family.items():
            if len(tally) < 2:
                continue
            ranks = {trait: (len(kind.devices), len(everywhere[trait]), kind.ports) for trait, kind in tally.items()}
            best, runner_up = sorted(ranks, key=lambda ranked_value: ranks[ranked_value], reverse=True)[:2]
            devices = frozenset().union(*(kind.devices for kind in tally.values()))
            of_ports = 2 * tally[best].ports >= sum(kind.ports for kind in tally.values()) or len(devices) > 1
            if of_ports and 2 * len(tally[best].devices) >= len(devices) and ranks[best] > ranks[runner_up]:
                result[family] = (best, tally[best].first, tally[best].ports)
        return result


class _AlikePortsOfSwitch(NamedTuple):
    """Ports in use of one switch and one family that have one QoS profile."""

    device: Device
    ports: Sequence[Interface]
    qos: QosProfile

    @property
    def first(self) -> PortWithQosProfile:
        return PortWithQosProfile(self.device, self.ports[0], self.qos)


def _group_ports_by_family(index: Index) -> Iterator[tuple[PortFamily, _AlikePortsOfSwitch]]:
    """Yield the ports in use that have QoS, in groups, with their family by sides."""
    for device in index.fabric.devices:
        root = switch_family(index, device)
        for ports in index.groups_of_alike_ports(device):
            qos = ports[0].qos
            if isinstance(qos, QosProfile) and not is_known_off(ports[0].enabled):
                for kind, alike in _group_device_ports_by_family(index, device, ports).items():
                    yield (*root, *kind), _AlikePortsOfSwitch(device, alike, qos)


def _group_device_ports_by_family(
    index: Index, device: Device, ports: Sequence[Interface]
) -> Mapping[PortFamily, Sequence[Interface]]:
    """Return what ports of one speed and side are compared with, each; which of them are for service, or face whom."""
    side = ports[0].side
    if not _service_kind_by_panel(device.model) and (isinstance(side, Unknown) or side != "host" or not index.hosts):
        return {port_family(index, device, ports[0]): ports}
    interfaces: dict[PortFamily, list[Interface]] = {}
    for port in ports:
        interfaces.setdefault(port_family(index, device, port), []).append(port)
    return interfaces


def _family_without_side(family: PortFamily) -> PortFamily:
    return family if family[-1] == SERVICE_SIDE_NAME else (*family[:-1], "")


def _merge_alike_ports(rows: Sequence[_AlikePortsOfSwitch]) -> AlikePorts:
    return AlikePorts(rows[0].first, sum(len(row.ports) for row in rows), frozenset(row.device.name for row in rows))


def port_family(index: Index, device: Device, port: Interface) -> PortFamily:
    """Return the key of the ports that a switch port is compared with: others of its speed that face the same side."""
    speed = UNKNOWN_SIDE_NAME if isinstance(port.speed_mbps, Unknown) else port.speed_mbps
    return speed, SERVICE_SIDE_NAME if is_service_port(device, port) else _side_of_port(index, device, port)


def _side_of_port(index: Index, device: Device, port: Interface) -> str | None:
    """Return the side that a port faces: the fabric, a group of hosts, nothing (None), or unknown to all sources."""
    if isinstance(port.side, Unknown):
        return UNKNOWN_SIDE_NAME
    if port.side != "host":
        return port.side
    end = index.far_end(device.name, port.name)
    host = index.hosts.get(end.node) if end else None
    return f"host {host.group}" if host else "host"


def is_service_port(device: Device, port: Interface) -> bool:
    """Whether a port is of its model's ports for management or service (to an internal DPU, for example).

    Such a port is not for the fabric.
    """
    return service_kind_of_port(device, port) is not False


def service_kind_of_port(device: Device, port: Interface) -> Literal[False, True, "extra"]:
    """Return whether a port is for service: `extra` where it is only slow and beside those of the fabric."""
    return _service_kind_by_panel(device.model).get(port.port.panel, False) if isinstance(port.port, Port) else False


@cache
def _service_kind_by_panel(model_name: str | Unknown) -> Mapping[int, Literal[False, True, "extra"]]:
    groups = switch(model_name).ports if not isinstance(model_name, Unknown) and model_name in switches() else ()
    return {panel: group.service for group in groups if group.service for panel in group.panels}


def switch_family(index: Index, device: Device) -> PortFamily:
    """Return the key of the switches that a switch is compared with.

    These are others of its group, role, platform and model, or only itself.
    """
    if isinstance(device.role, Unknown) or isinstance(device.model, Unknown):
        return ("device", device.name, "")
    return (index.cable_group_by_device[device.name], device.role, device.platform, device.model)
