"""Names for objects that the model holds by value: Microsoft's where SONiC's tools look for them.

`ecnconfig`, buffermgrd and the Generic Config Updater know maps called AZURE, a WRED profile AZURE_LOSSLESS and pools
called ingress_lossless_pool (sonic-utilities scripts/ecnconfig, sonic-swss cfgmgr/buffermgr.h).
"""

from collections.abc import Iterable, Iterator, Set
from typing import Any

from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import NumberMap, PriorityGroup, QosProfile, Queue, Scheduler
from nodrop.model.states import require_fact
from nodrop.platforms.sonic.tables import COMPUTED_PROFILE_WORD, POOL_SUFFIX, TABLE_BY_MAP_ATTRIBUTE
from nodrop.units import show_speed


class UniqueNameByValue:
    """Gives equal values one name, the first that is wanted and free; others get a number behind it."""

    def __init__(self) -> None:
        self.by_value: dict[object, str] = {}
        self._taken: set[str] = set()

    def name(self, value: Any, base_name: str) -> str:
        """Return the value's name, taking `base_name` for a new one if it is free."""
        if value not in self.by_value:
            name, number = base_name, 2
            while name in self._taken:
                name, number = f"{base_name}_{number}", number + 1
            self._taken.add(name)
            self.by_value[value] = name
        return self.by_value[value]

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield (name, value) in the order of naming."""
        return ((name, value) for value, name in self.by_value.items())


class QosObjectNames:
    """All names of one device, given in the order of its ports, those with PFC first: tools know names of theirs."""

    def __init__(self, device: Device, ports: Iterable[Interface]) -> None:
        self.maps: dict[str, UniqueNameByValue] = {
            attribute: UniqueNameByValue() for attribute in TABLE_BY_MAP_ATTRIBUTE
        }
        self._schedulers, self.wreds, self._profiles = UniqueNameByValue(), UniqueNameByValue(), UniqueNameByValue()
        seen: set[object] = set()
        if device.switch_dscp_to_tc is not None:
            self.map_name("dscp_to_tc", require_fact(device.switch_dscp_to_tc))
        for port in sorted(ports, key=_is_without_pfc):
            assert isinstance(port.qos, QosProfile)
            key = (port.qos, port.speed_mbps, lossless_profile_name(port))
            if key not in seen:
                seen.add(key)
                self._name_qos_profile_objects(port, port.qos)

    def map_name(self, attribute: str, value: NumberMap) -> str:
        """Return the name of a map."""
        return self.maps[attribute].name(value, "AZURE")

    def scheduler_name(self, port: Interface, queue: int, value: Scheduler) -> str:
        """Return the name of a queue's scheduler, without its settings: scheduler.3, and scheduler.6.400G with a peak.

        So another share or rate is a change of one row, which shuts no port, and the names that other ports use
        stay when a port of another speed is added.
        """
        peak = value.peak_bytes_per_s is not None and port.speed_mbps is not None
        speed = [show_speed(port.speed_mbps)] if peak and isinstance(port.speed_mbps, int) else []
        base_name = ".".join(("scheduler", str(queue), *speed))
        return self._schedulers.name((value, base_name), base_name)

    def schedulers(self) -> Iterator[tuple[str, Scheduler]]:
        """Yield (name, scheduler) in the order of naming."""
        return ((name, value) for name, (value, _) in self._schedulers.items())

    def profiles(self) -> Iterator[tuple[str, BufferProfile]]:
        """Yield (name, buffer profile) in the order of naming."""
        return ((name, value) for name, (value, _) in self._profiles.items())

    def buffer_profile_name(self, value: BufferProfile, base_name: str = "") -> str:
        """Return the name of a buffer profile."""
        return self._profiles.name((value, None), base_name)

    def profile_name_of_group(self, port: Interface, group: PriorityGroup) -> str:
        """Return the name of a priority group's buffer profile.

        A lossless one is named after the port's speed and cable, for buffermgrd looks for it under that name.
        """
        value = require_fact(group.buffer)
        assert value is not None
        headroom = require_fact(value.headroom)
        if headroom is None:
            return self.buffer_profile_name(value, "ingress_lossy_profile")
        wanted_lossless_name = lossless_profile_name(port)
        return (
            COMPUTED_PROFILE_WORD
            if headroom.computed
            else self._profiles.name((value, wanted_lossless_name), wanted_lossless_name)
        )

    def _name_qos_profile_objects(self, port: Interface, qos: QosProfile) -> None:
        for attribute in TABLE_BY_MAP_ATTRIBUTE:
            value = require_fact(getattr(qos, attribute))
            if value is not None:
                self.map_name(attribute, value)
        buffers = [buffer for queue in require_fact(qos.queues) if (buffer := require_fact(queue.buffer)) is not None]
        unreserved = {buffer.pool for buffer in buffers if require_fact(buffer.size_bytes) == 0}
        for queue in require_fact(qos.queues):
            self._name_queue_objects(port, queue, queue.index in require_fact(qos.pfc_tx_priorities), unreserved)
        for group in require_fact(qos.priority_groups):
            self.profile_name_of_group(port, group)
        for direction in ("ingress", "egress"):
            for value in require_fact(getattr(qos, f"{direction}_buffers")):
                kind = "lossless" if "lossless" in (value.pool or "") else "lossy"
                self.buffer_profile_name(value, f"{direction}_{kind}_profile")

    def _name_queue_objects(self, port: Interface, queue: Queue, pausing: bool, unreserved: Set[str | None]) -> None:
        """Name the parts of a queue; `unreserved` are the pools where some queues of the port have no reserve."""
        if (scheduler := require_fact(queue.scheduler)) is not None:
            self.scheduler_name(port, queue.index, scheduler)
        if (wred := require_fact(queue.wred)) is not None:
            self.wreds.name(wred, "AZURE_LOSSLESS" if pausing else "AZURE_LOSSY")
        if (buffer := require_fact(queue.buffer)) is not None:
            reserved = buffer.size_bytes != 0 and buffer.pool in unreserved
            lossy = "q_reserved_profile" if reserved else "q_lossy_profile"
            self.buffer_profile_name(buffer, "egress_lossless_profile" if "lossless" in (buffer.pool or "") else lossy)


def _is_without_pfc(port: Interface) -> bool:
    """Whether a port sends no pause for any priority."""
    return not (isinstance(port.qos, QosProfile) and require_fact(port.qos.pfc_tx_priorities))


def lossless_profile_name(port: Interface) -> str:
    """Return what buffermgrd calls a port's lossless profile (sonic-swss cfgmgr/buffermgr.cpp)."""
    if port.speed_mbps is None or port.cable_length_m is None:
        return "pg_lossless_profile"
    return f"pg_lossless_{port.speed_mbps}_{port.cable_length_m}m_profile"


def sonic_pool_name(name: str) -> str:
    """Spell a pool."""
    return name + POOL_SUFFIX


def format_ranges(indexes: Iterable[int]) -> Iterator[str]:
    """Yield sorted indexes as SONiC's ranges: 0, 1, 2, 5 are `0-2` and `5`."""
    run: list[int] = []
    for index in sorted(indexes):
        if run and index == run[-1] + 1:
            run.append(index)
            continue
        if run:
            yield f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}"
        run = [index]
    if run:
        yield f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}"


def vlan_name(number: int) -> str:
    """Spell a VLAN: `Vlan100`."""
    return f"Vlan{number}"
