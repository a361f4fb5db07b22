"""Names for what the model holds by value: Microsoft's where SONiC's own tools look for them.

`ecnconfig`, buffermgrd and the Generic Config Updater know maps called AZURE, a WRED profile AZURE_LOSSLESS and pools
called ingress_lossless_pool (sonic-utilities scripts/ecnconfig, sonic-swss cfgmgr/buffermgr.h).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from nodrop.errors import Unsupported
from nodrop.fabric.buffers import BufferProfile
from nodrop.fabric.fabric import Device, Interface
from nodrop.fabric.qos import Map, QosProfile, Queue, Scheduler, WredProfile
from nodrop.fabric.states import Unknown
from nodrop.platforms.sonic.tables import MAPS, POOL_SUFFIX


def stated(value: Any, path: str) -> Any:
    """Return a value that is to be written; Unsupported where it is UNKNOWN, for a file cannot say that."""
    if isinstance(value, Unknown):
        raise Unsupported(path, "is unknown, and a configuration cannot say so")
    return value


class Names:
    """Gives equal values one name, the first that is wanted and free; others get a number behind it."""

    def __init__(self) -> None:
        self.by_value: dict[Any, str] = {}
        self._taken: set[str] = set()

    def name(self, value: Any, wanted: str) -> str:
        """Return the value's name, taking `wanted` for a new one if it is free."""
        if value not in self.by_value:
            name, number = wanted, 2
            while name in self._taken:
                name, number = f"{wanted}_{number}", number + 1
            self._taken.add(name)
            self.by_value[value] = name
        return self.by_value[value]

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield (name, value) in the order in which they were named."""
        return ((name, value) for value, name in self.by_value.items())


class Spelling:
    """All names of one device, given in the order of its ports."""

    def __init__(self, device: Device, ports: Iterable[Interface]) -> None:
        self.maps: dict[str, Names] = {attribute: Names() for attribute in MAPS}
        self.schedulers, self.wreds, self.profiles = Names(), Names(), Names()
        self._device = device
        self._seen: set[int] = set()
        if device.switch_dscp_to_tc is not None:
            self.map("dscp_to_tc", stated(device.switch_dscp_to_tc, "switch_dscp_to_tc"))
        for port in ports:
            assert isinstance(port.qos, QosProfile)
            if id(port.qos) not in self._seen:
                self._seen.add(id(port.qos))
                self._profile(port, port.qos)

    def map(self, attribute: str, value: Map) -> str:
        """Return the name of a map; Unsupported where the map has another size than SONiC's."""
        size = MAPS[attribute][2]
        if len(value) != size:
            raise Unsupported(f"qos/{attribute}", f"has {len(value)} entries; SONiC's map has {size}")
        return self.maps[attribute].name(value, "AZURE")

    def scheduler(self, value: Scheduler) -> str:
        """Return the name of a scheduler: scheduler.0, scheduler.1, …"""
        return self.schedulers.by_value.get(value) or self.schedulers.name(
            value, f"scheduler.{len(self.schedulers.by_value)}"
        )

    def buffer(self, value: BufferProfile, wanted: str) -> str:
        """Return the name of a buffer profile."""
        return self.profiles.name(value, wanted)

    def _profile(self, port: Interface, qos: QosProfile) -> None:
        for attribute in MAPS:
            value = stated(getattr(qos, attribute), f"qos/{attribute}")
            if value is not None:
                self.map(attribute, value)
        pausing = set(stated(qos.pfc_tx_priorities, "qos/pfc_tx_priorities"))
        for queue in stated(qos.queues, "qos/queues"):
            self._queue(queue, queue.index in pausing)
        for group in stated(qos.priority_groups, "qos/priority_groups"):
            value = stated(group.buffer, f"qos/priority_groups/{group.index}/buffer")
            if value is None:
                raise Unsupported(f"qos/priority_groups/{group.index}", "a priority group without a buffer is no row")
            headroom = stated(value.headroom, f"qos/priority_groups/{group.index}/buffer/headroom")
            if headroom is None:
                self.buffer(value, "ingress_lossy_profile")
            elif not headroom.computed:
                self.buffer(value, f"pg_lossless_{port.speed_mbps}_{port.cable_length_m}m_profile")
        for direction in ("ingress", "egress"):
            for value in stated(getattr(qos, f"{direction}_buffers"), f"qos/{direction}_buffers"):
                kind = "lossless" if "lossless" in (value.pool or "") else "lossy"
                self.buffer(value, f"{direction}_{kind}_profile")

    def _queue(self, queue: Queue, pausing: bool) -> None:
        path = f"qos/queues/{queue.index}"
        scheduler = stated(queue.scheduler, f"{path}/scheduler")
        wred: WredProfile | None = stated(queue.wred, f"{path}/wred")
        buffer: BufferProfile | None = stated(queue.buffer, f"{path}/buffer")
        if scheduler is None and wred is None and buffer is None:
            raise Unsupported(path, "a queue without scheduler, WRED and buffer is no row")
        if scheduler is not None:
            self.scheduler(scheduler)
        if wred is not None:
            self.wreds.name(wred, "AZURE_LOSSLESS" if pausing else "AZURE_LOSSY")
        if buffer is not None:
            self.buffer(buffer, "egress_lossless_profile" if "lossless" in (buffer.pool or "") else "q_lossy_profile")


def pool_name(name: str) -> str:
    """Spell a pool."""
    return name + POOL_SUFFIX


def ranges(indexes: Iterable[int]) -> Iterator[str]:
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
