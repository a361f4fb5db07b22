"""Memory use of a fabric's switches: headroom of every kind of link, marking before pause, pools."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, TypedDict, TypeVar

from nodrop.engine.vocabulary.admission import depth_when_senders_pause_bytes
from nodrop.hardware.bounds import XoffBounds, find_xoff_bounds
from nodrop.hardware.dynamic import compute_headroom_budget
from nodrop.model import effects
from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile, Queue
from nodrop.model.states import Unknown, UnknownFact, known_rows

FactsByKey = dict[str, Any]
T = TypeVar("T")


class XoffParts(TypedDict):
    """The terms of a computed xoff in bytes, but for `cell_occupancy`, a factor."""

    port_mtu: int
    cable: int
    mac_phy: int
    peer_response: int
    tile: int
    cell_occupancy: float
    pattern_mtu: int
    rounding: int


class XoffReferences(TypedDict):
    """The least xoff by each source, in bytes; None if the source gives none."""

    sku_row: int | None
    formula: int | None
    ieee: int | None


class CabledPortHeadroom(TypedDict):
    """The headroom of a kind of cabled lossless port, in bytes; None is unknown."""

    role: str
    facing: str
    platform: str
    model: str | None
    priority_group: int
    speed_mbps: int | None
    length_m: int | None
    computed: bool
    xoff: int | None
    xon: int | None
    size: int | None
    parts: XoffParts | None
    bounds: XoffReferences
    ports: int


def known_or_none(value: T | Unknown) -> T | None:
    """Return a fact as data has it: an unknown fact is None."""
    return None if isinstance(value, Unknown) else value


def representative_port_per_profile(fabric: Fabric) -> Iterator[tuple[Device, Interface, QosProfile]]:
    """Yield one port for every distinct role, platform, model and profile."""
    seen: set[tuple[object, ...]] = set()
    for device in fabric.devices:
        for interface in device.interfaces:
            model = device.model if isinstance(device.model, str) else device.name
            key = (str(device.role), device.platform, model, interface.qos)
            if isinstance(interface.qos, QosProfile) and key not in seen:
                seen.add(key)
                yield device, interface, interface.qos


def ecn_facts(queue: Queue | None) -> FactsByKey | None:
    """Return when a queue marks; None where it does not, or that is not known."""
    wred = queue.wred if queue else None
    if wred is None or isinstance(wred, Unknown):
        return None
    green = wred.green
    return {"min": green.min_bytes, "max": green.max_bytes, "probability_percent": green.probability_percent}


def headroom_facts(fabric: Fabric) -> list[CabledPortHeadroom]:
    """Return the headroom of every kind of cabled lossless port: where, far end, and the parts of xoff.

    `xoff_parts` is None if the switch does not compute it from the cable; `bounds` holds the values to compare xoff
    with.
    """
    index = Index(fabric)
    kinds: dict[tuple[Any, ...], tuple[Device, Interface]] = {}
    ports = Counter[tuple[Any, ...]]()
    for device in fabric.devices:
        for interface in device.interfaces:
            far = index.far_end(device.name, interface.name)
            if far is None or not isinstance(interface.qos, QosProfile):
                continue
            key = (
                str(device.role),
                _far_role_or_group(index, far.node),
                device.platform,
                device.version,
                device.model,
                interface.speed_mbps,
                interface.lanes,
                interface.mtu_bytes,
                interface.cable_length_m,
                interface.qos,
            )
            kinds.setdefault(key, (device, interface))
            ports[key] += 1
    rows: dict[str, CabledPortHeadroom] = {}
    for key, port in kinds.items():
        for row in _port_headroom_facts(key[1], *port):
            rows.setdefault(str(row), row)["ports"] += ports[key]
    return list(rows.values())


def _far_role_or_group(index: Index, node: str) -> str:
    """Return the far end of a port's cable: a role of switches, or a group of hosts."""
    if node in index.devices:
        return str(index.devices[node].role)
    host = index.hosts.get(node)
    return host.group if host else "unknown"


def _port_headroom_facts(far: str, device: Device, interface: Interface) -> Iterator[CabledPortHeadroom]:
    assert isinstance(interface.qos, QosProfile)
    groups = interface.qos.priority_groups
    for group in known_rows(groups):
        buffer = group.buffer
        if not isinstance(buffer, BufferProfile) or not isinstance(buffer.headroom, Headroom):
            continue
        yield {
            "role": str(device.role),
            "facing": far,
            "platform": device.platform,
            "model": known_or_none(device.model),
            "priority_group": group.index,
            "speed_mbps": known_or_none(interface.speed_mbps),
            "length_m": known_or_none(interface.cable_length_m),
            "computed": buffer.headroom.computed,
            "xoff": known_or_none(buffer.headroom.xoff_bytes),
            "xon": known_or_none(buffer.headroom.xon_bytes),
            "size": known_or_none(buffer.size_bytes),
            "parts": xoff_parts(device, interface) if buffer.headroom.computed else None,
            "bounds": reference_xoffs(device, interface),
            "ports": 0,
        }


def reference_xoffs(device: Device, interface: Interface) -> XoffReferences:
    """Return the least xoff for a port's configured cable by each source, in bytes; None if the source gives none."""
    length = interface.cable_length_m
    try:
        found_bounds = (
            find_xoff_bounds(device, interface, length_m=length)
            if isinstance(length, int)
            else XoffBounds(None, None, None)
        )
    except UnknownFact:
        found_bounds = XoffBounds(None, None, None)
    return {"sku_row": found_bounds.row, "formula": found_bounds.formula, "ieee": found_bounds.ieee}


def xoff_parts(device: Device, interface: Interface) -> XoffParts | None:
    """Return the terms of `hardware.headroom.computed`, in bytes but for `cell_occupancy`, a factor."""
    length = interface.cable_length_m
    try:
        new_budget = compute_headroom_budget(device, interface, length_m=length) if isinstance(length, int) else None
    except UnknownFact:
        return None
    if new_budget is None:
        return None
    return {
        "port_mtu": new_budget.mtu,
        "cable": new_budget.cable,
        "mac_phy": new_budget.mac_phy,
        "peer_response": new_budget.peer_response,
        "tile": new_budget.tile,
        "cell_occupancy": round(new_budget.occupancy, 4),
        "pattern_mtu": new_budget.pattern_mtu,
        "rounding": new_budget.rounding,
    }


def marking_and_pause_facts(fabric: Fabric) -> Iterator[FactsByKey]:
    """Yield where queues of RDMA and of other lossless classes mark, and where their senders are paused.

    `pause_threshold` is None where senders are never paused, "unknown" where that is not known.
    """
    seen: set[tuple[Any, ...]] = set()
    for device, _, qos in representative_port_per_profile(fabric):
        lossless = (tc for tc in effects.used_tcs(qos) if effects.is_lossless(qos, tc))
        for index in sorted({*effects.rdma_queues(fabric, qos), *(effects.queue_of_tc(qos, tc) for tc in lossless)}):
            marks = ecn_facts(effects.find_queue(qos, index))
            paused: float | str | None
            try:
                paused = depth_when_senders_pause_bytes(
                    device.model, device.buffer_model, device.buffer_pools, qos, index
                )
            except UnknownFact:
                paused = "unknown"
            key = (device.role, device.platform, device.model, index, str(marks), paused)
            if key not in seen:
                seen.add(key)
                yield {
                    "role": device.role,
                    "platform": device.platform,
                    "model": device.model,
                    "queue": index,
                    "ecn": marks,
                    "pause_threshold": round(paused) if isinstance(paused, float | int) else paused,
                }


def pool_facts(fabric: Fabric) -> Iterator[FactsByKey]:
    """Yield the buffer pools of every kind of switch."""
    seen: set[tuple[Any, ...]] = set()
    for device in fabric.devices:
        for pool in known_rows(device.buffer_pools):
            key = (device.role, device.platform, device.model, pool)
            if key not in seen:
                seen.add(key)
                yield {
                    "role": device.role,
                    "platform": device.platform,
                    "model": device.model,
                    "pool": pool.name,
                    "size": known_or_none(pool.size_bytes),
                    "percentage": pool.percentage,
                    "shared_headroom": pool.shared_headroom_bytes,
                    "computed": pool.computed,
                }
