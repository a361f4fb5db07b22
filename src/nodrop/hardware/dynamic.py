"""What a switch with the dynamic buffer model works out by itself: headroom per port, sizes of the pools.

The model calls the results `computed`. Formulas: `headroom.computed`, and for pools sonic-swss
cfgmgr/buffer_pool_mellanox.lua. Where a fact is missing (an unknown model, a port without a cable length) the
result is UNKNOWN.
"""

import math

from nodrop.fabric.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.fabric.fabric import Device, Interface
from nodrop.fabric.qos import PriorityGroup, QosProfile
from nodrop.fabric.states import UNKNOWN, Unknown, UnknownFact, known
from nodrop.fabric.values import changed
from nodrop.hardware import asic, switch, switches
from nodrop.hardware.headroom import Budget, computed
from nodrop.hardware.schema import Asic

_COMPENSATED_SINCE = 202605
_LEAST_SHARED_HEADROOM_BYTES = 655360


def compensates(version: str | None | Unknown) -> bool:
    """Whether a SONiC release's headroom formula adds the compensation; UnknownFact where the release is not known.

    The Lua of branches 202505 and 202511 has none, that of 202605 and master does.
    """
    name = known(version, "device.version")
    if name is None:
        raise UnknownFact("device.version")
    return name == "master" or int(name) >= _COMPENSATED_SINCE


def chip(device: Device) -> Asic:
    """Return the device's ASIC; UnknownFact where its model is not known or not in the catalogue."""
    model = known(device.model, "device.model")
    if model not in switches():
        raise UnknownFact("device.model")
    return asic(switch(model).asic)


def budget(device: Device, interface: Interface, *, length_m: int, port_mtu_bytes: int | None = None) -> Budget:
    """Return the headroom that `device` would compute for a port with a cable of `length_m`.

    UnknownFact where the model, the release, the port's speed, lanes or MTU, or the traffic pattern is not known.
    """
    settings = known(device.dynamic_buffers, "device.dynamic_buffers")
    speed, lanes = known(interface.speed_mbps, "interface.speed_mbps"), known(interface.lanes, "interface.lanes")
    mtu = known(interface.mtu_bytes, "interface.mtu_bytes") if port_mtu_bytes is None else port_mtu_bytes
    pattern_mtu = settings.pattern_mtu_bytes if settings else None
    small = settings.small_packet_percent if settings else None
    if settings is None or speed is None or lanes is None or mtu is None or pattern_mtu is None or small is None:
        raise UnknownFact("device.dynamic_buffers")
    return computed(
        chip(device),
        speed_mbps=speed,
        lanes=lanes,
        mtu_bytes=mtu,
        cable_length_m=length_m,
        pattern_mtu_bytes=pattern_mtu,
        small_packet_percent=small,
        shared=_shares_headroom(device, settings),
        compensated=compensates(device.version),
    )


def _shares_headroom(device: Device, settings: DynamicBuffers) -> bool:
    return bool(settings.over_subscribe_ratio) or any(
        pool.shared_headroom_bytes for pool in known(device.buffer_pools) if pool.name == "ingress_lossless"
    )


def resolve(device: Device) -> Device:
    """Return the device with every computed headroom and pool size filled in; others are left as they are."""
    if isinstance(device.buffer_model, Unknown) or device.buffer_model != "dynamic":
        return device
    memo: dict[tuple[object, ...], QosProfile] = {}
    interfaces = tuple(_with_headroom(device, interface, memo) for interface in device.interfaces)
    device = changed(device, interfaces=interfaces)
    return changed(device, buffer_pools=_with_sizes(device))


def _with_headroom(device: Device, interface: Interface, memo: dict[tuple[object, ...], QosProfile]) -> Interface:
    qos = interface.qos
    if not isinstance(qos, QosProfile) or isinstance(qos.priority_groups, Unknown):
        return interface
    key = (id(qos), interface.speed_mbps, interface.lanes, interface.mtu_bytes, interface.cable_length_m)
    filled = memo.get(key)
    if filled is None:
        filled = qos
        if any(map(_is_computed, qos.priority_groups)):
            result = _budget_or_unknown(device, interface)
            groups = tuple(
                _fill(device, group, result) if _is_computed(group) else group for group in qos.priority_groups
            )
            filled = changed(qos, priority_groups=groups)
        memo[key] = filled
    return interface if filled is qos else changed(interface, qos=filled)


def _is_computed(group: PriorityGroup) -> bool:
    buffer = group.buffer
    return isinstance(buffer, BufferProfile) and isinstance(buffer.headroom, Headroom) and buffer.headroom.computed


def _budget_or_unknown(device: Device, interface: Interface) -> Budget | None:
    try:
        length = known(interface.cable_length_m)
        return None if length is None else budget(device, interface, length_m=length)
    except UnknownFact:
        return None


def _fill(device: Device, group: PriorityGroup, result: Budget | None) -> PriorityGroup:
    """Return a group with its headroom and with the threshold that the switch gives every computed profile."""
    xoff, xon, size = (result.xoff, result.xon, result.size) if result else (UNKNOWN, UNKNOWN, UNKNOWN)
    headroom = Headroom(xoff_bytes=xoff, xon_bytes=xon, computed=True)
    assert isinstance(group.buffer, BufferProfile)
    settings = device.dynamic_buffers
    threshold = settings.dynamic_th if isinstance(settings, DynamicBuffers) else group.buffer.dynamic_th
    return changed(group, buffer=changed(group.buffer, size_bytes=size, headroom=headroom, dynamic_th=threshold))


def _with_sizes(device: Device) -> tuple[BufferPool, ...] | Unknown:
    pools = device.buffer_pools
    if isinstance(pools, Unknown) or not any(pool.computed for pool in pools):
        return pools
    try:
        available, shared = _available(device, pools)
    except UnknownFact:
        return tuple(changed(pool, size_bytes=UNKNOWN) if pool.computed else pool for pool in pools)
    ingress = sum(pool.computed and pool.direction == "ingress" for pool in pools)
    even = available if ingress == 1 else available / 2
    return tuple(_sized(pool, available, even, shared) if pool.computed else pool for pool in pools)


def _sized(pool: BufferPool, available: float, even: float, shared: int) -> BufferPool:
    size = even if pool.percentage is None else available * pool.percentage / 100
    has_shared = shared and pool.name == "ingress_lossless"
    return changed(pool, size_bytes=math.ceil(size), shared_headroom_bytes=shared if has_shared else None)


def _available(device: Device, pools: tuple[BufferPool, ...]) -> tuple[float, int]:
    """Return the memory left for the pools and the shared headroom, both in bytes."""
    facts = chip(device)
    settings = known(device.dynamic_buffers, "device.dynamic_buffers")
    ports = [port for port in device.interfaces if known(port.enabled)]
    reserve = int(facts.pipeline_latency_kib * 1024)
    reserve_wide = int((2 * facts.pipeline_latency_kib - 1) * 1024)
    occupied = facts.management_pool_bytes
    uses: dict[tuple[int, int], tuple[int, int, bool]] = {}
    saved = lossless_ports = 0
    for port in ports:
        lossy_reserve = reserve_wide if known(port.lanes) == 8 else reserve
        occupied += lossy_reserve + facts.egress_mirror_bytes
        qos = known(port.qos)
        if qos is None:
            continue
        key = (id(qos), lossy_reserve)
        if key not in uses:
            uses[key] = _port_use(qos, lossy_reserve)
        sizes, spared, lossless = uses[key]
        occupied, saved, lossless_ports = occupied + sizes, saved + spared, lossless_ports + lossless
    stated = next((pool.shared_headroom_bytes or 0 for pool in pools if pool.name == "ingress_lossless"), 0)
    ratio = settings.over_subscribe_ratio if settings else None
    shared = stated
    if ratio or stated or saved:
        private = lossless_ports * facts.private_headroom_bytes
        occupied += private
        if not stated:
            needed = math.ceil(max(saved - private, 0) / ratio) if ratio else 0
            shared = needed or _LEAST_SHARED_HEADROOM_BYTES
    return _memory(device, pools) - occupied - shared, shared


def _port_use(qos: QosProfile, lossy_reserve: int) -> tuple[int, int, bool]:
    """Return what a port reserves, what sharing spares of its headroom, and whether it is lossless."""
    total = spared = 0
    lossless = False
    for group in known(qos.priority_groups):
        buffer = known(group.buffer)
        if buffer is None:
            continue
        size, headroom = known(buffer.size_bytes), known(buffer.headroom)
        total += size
        if headroom is None:
            total += lossy_reserve
        else:
            lossless = True
            spared += max((known(headroom.xon_bytes) or 0) + known(headroom.xoff_bytes) - size, 0)
    for queue in known(qos.queues):
        buffer = known(queue.buffer)
        total += 0 if buffer is None else known(buffer.size_bytes)
    total += sum(known(buffer.size_bytes) for buffer in known(qos.egress_buffers))
    return total, spared, lossless


def _memory(device: Device, pools: tuple[BufferPool, ...]) -> int:
    """Return the switch's packet memory: what the SAI reports, which SONiC's egress lossless pool equals."""
    stated = next((known(pool.size_bytes) for pool in pools if pool.name == "egress_lossless"), None)
    return stated or switch(known(device.model)).buffer_bytes
