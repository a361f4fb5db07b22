"""Packet memory that further lossless classes take, compared with the same fabric with one lossless class."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, NamedTuple

from nodrop.engine.vocabulary.admission import depth_when_senders_pause_bytes, most_shareable_bytes
from nodrop.model import effects
from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device, Fabric
from nodrop.model.qos import QosProfile
from nodrop.model.states import UnknownFact, known_rows
from nodrop.report.document import Table
from nodrop.units import show_bytes

FactsByKey = dict[str, Any]


class _LosslessPriorityGroup(NamedTuple):
    """A lossless priority group of a port."""

    port: str
    qos: QosProfile
    buffer: BufferProfile
    headroom: Headroom


def memory_of_further_lossless_classes(fabric: Fabric, alone: Fabric) -> Iterator[FactsByKey]:
    """Yield, per kind of switch, the memory that all lossless classes but the first take; its worst switch counts.

    `alone` is the same fabric with the first lossless class only. Sizes are in bytes. The shared rest and the depth of
    a pause are None if they are not known. `port` and `switch` are the memory that ports reserve for these classes.
    `xoff` is the data that all ports' senders may still send after a pause, in all lossless classes at once. Sizes are
    `all_classes`, with all lossless classes, and `first_class`, with the first alone.
    """
    lossless = {
        traffic_class.tc: traffic_class.name
        for traffic_class in fabric.classes
        if traffic_class.lossless is True and isinstance(traffic_class.tc, int)
    }
    first_tc = next(
        traffic_class.tc
        for traffic_class in alone.classes
        if traffic_class.lossless is True and isinstance(traffic_class.tc, int)
    )
    further = sorted(lossless.keys() - {first_tc})
    before = {device.name: device for device in alone.devices}
    kinds: dict[tuple[object, ...], dict[str, list[_LosslessPriorityGroup]]] = defaultdict(dict)
    devices = {device.name: device for device in fabric.devices}
    for device in fabric.devices:
        kinds[device.role, device.platform, device.model][device.name] = list(_lossless_groups(device, set(further)))
    for groups in kinds.values():
        name = max(
            groups, key=lambda device_name: _sum_known_sizes(group.buffer.size_bytes for group in groups[device_name])
        )
        device, ports = devices[name], defaultdict[str, int](int)
        for group in groups[name]:
            ports[group.port] += _sum_known_sizes([group.buffer.size_bytes])
        if not ports:
            continue

        def both(size: Callable[[Device, int], int | None], device: Device = device) -> FactsByKey:
            return {"all_classes": size(device, first_tc), "first_class": size(before[device.name], first_tc)}

        yield {
            "role": device.role,
            "platform": device.platform,
            "model": device.model,
            "first_class": lossless[first_tc],
            "further_classes": [lossless[tc] for tc in further],
            "ports": len(ports),
            "port": {"low": min(ports.values()), "high": max(ports.values())},
            "switch": sum(ports.values()),
            "xoff": _sum_known_sizes(group.headroom.xoff_bytes for group in _lossless_groups(device, lossless.keys())),
            "headroom_pool": both(_headroom_pool_bytes),
            "shareable": both(_shareable_pool_bytes),
            "pause_threshold": both(_least_pause_depth_bytes),
        }


def _sum_known_sizes(sizes: Any) -> int:
    return sum(size for size in sizes if isinstance(size, int))


def _lossless_groups(device: Device, indexes: Set[int]) -> Iterator[_LosslessPriorityGroup]:
    """Yield the lossless priority groups of some numbers, of ports that are up."""
    for port in device.interfaces:
        if port.enabled is not True or not isinstance(port.qos, QosProfile):
            continue
        for group in known_rows(port.qos.priority_groups):
            buffer = group.buffer
            if group.index in indexes and isinstance(buffer, BufferProfile) and isinstance(buffer.headroom, Headroom):
                yield _LosslessPriorityGroup(port.name, port.qos, buffer, buffer.headroom)


def _headroom_pool_bytes(device: Device, _: int) -> int:
    """Return the size of the pool for headroom; 0 where each port has its own headroom."""
    return _sum_known_sizes(pool.shared_headroom_bytes for pool in known_rows(device.buffer_pools))


def _shareable_pool_bytes(device: Device, tc: int) -> int | None:
    """Return the shared bytes of a class's pool, without headroom; None where they are not known."""
    group = next(_lossless_groups(device, {tc}), None)
    try:
        return group and most_shareable_bytes(device.model, device.buffer_model, device.buffer_pools, group.buffer.pool)
    except UnknownFact:
        return None


def _least_pause_depth_bytes(device: Device, tc: int) -> int | None:
    """Return the queue depth at which the senders of a class are paused, at the port that pauses first."""
    profiles = dict.fromkeys(group.qos for group in _lossless_groups(device, {tc}))
    depths = []
    try:
        for qos in profiles:
            queue = effects.queue_of_tc(qos, tc)
            depths.append(
                depth_when_senders_pause_bytes(device.model, device.buffer_model, device.buffer_pools, qos, queue)
            )
    except UnknownFact:
        return None
    return min((round(depth) for depth in depths if depth is not None), default=None)


_TABLE_HEADS = ("at", "model", "of a port", "of a switch", "pool for headroom", "left to share")


def tabulate_memory(fact_rows: Sequence[FactsByKey]) -> Iterator[Table]:
    """Yield the memory that further lossless classes take as a table; nothing where there are none."""
    if not fact_rows:
        return
    first, further = fact_rows[0]["first_class"], " and ".join(fact_rows[0]["further_classes"])
    cells = (
        (
            f"{row['role']} ({row['platform']})",
            str(row["model"]),
            _format_size_range(row["port"]),
            f"{show_bytes(row['switch'])} for {row['ports']} ports",
            _format_headroom_pool(row),
            _format_all_and_first_class(row["shareable"]),
            _format_all_and_first_class(row["pause_threshold"]),
        )
        for row in fact_rows
    )
    explanation = (
        f"What {further} takes beside {first}; in brackets the size with {first} as the only lossless class. Each port "
        f"reserves memory. All lossless classes share what is left, so {first} is paused sooner. A pool for headroom "
        "takes what arrives after a pause; its demand is that of all ports and lossless classes at once."
    )
    yield Table(
        title=f"Memory that {further} takes as lossless class",
        heads=(*_TABLE_HEADS, f"{first} paused from"),
        rows=tuple(cells),
        explanation=explanation,
    )


def _format_size_range(sizes: FactsByKey) -> str:
    low, high = show_bytes(sizes["low"]), show_bytes(sizes["high"])
    return low if low == high else f"{low} to {high}"


def _format_headroom_pool(fact_row: FactsByKey) -> str:
    if not fact_row["headroom_pool"]["all_classes"]:
        return "none"
    return f"{_format_all_and_first_class(fact_row['headroom_pool'])}, demand {show_bytes(fact_row['xoff'])}"


def _format_all_and_first_class(sizes: FactsByKey) -> str:
    size, alone = (
        None if count is None else show_bytes(count) for count in (sizes["all_classes"], sizes["first_class"])
    )
    return "unknown" if size is None or alone is None else f"{size} ({alone})"
