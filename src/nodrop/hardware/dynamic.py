"""The values that a switch with the dynamic buffer model computes by itself: headroom per port, sizes of the pools.

The model calls the results `computed`. Formulas: `headroom.computed`, and for pools sonic-swss
cfgmgr/buffer_pool_mellanox.lua. Where a fact is missing (an unknown model, a port without a cable length) the result is
UNKNOWN.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from nodrop.hardware import asic, asic_of, switch, switches
from nodrop.hardware.formulas import headroom_formula_of
from nodrop.hardware.headroom import HeadroomBudget, compute_headroom
from nodrop.hardware.schema import Asic
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import PriorityGroup, QosProfile
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact, require_fact
from nodrop.model.values import replace_fields

_LEAST_SHARED_HEADROOM_BYTES = 655360
_LOSSLESS_POOL_NAME = "ingress_lossless"


def require_asic_with_formula(device: Device) -> Asic:
    """Return the device's ASIC; UnknownFact where its model or the formula of its headroom is not in the catalogue."""
    found_asic = asic_of(require_fact(device.model, "device.model"))
    if found_asic is None or not found_asic.has_headroom_terms:
        raise UnknownFact("device.model")
    return found_asic


def compute_headroom_budget(
    device: Device, interface: Interface, *, length_m: int, port_mtu_bytes: int | None = None
) -> HeadroomBudget:
    """Return the headroom that `device` would compute for a port with a cable of `length_m`.

    UnknownFact where the model, the release, the port's speed, lanes or MTU, or the traffic pattern is not known.
    """
    settings = require_fact(device.dynamic_buffers, "device.dynamic_buffers")
    speed, lanes = _headroom_speed_mbps(device, interface), require_fact(interface.lanes, "interface.lanes")
    mtu = require_fact(interface.mtu_bytes, "interface.mtu_bytes") if port_mtu_bytes is None else port_mtu_bytes
    pattern_mtu = settings.pattern_mtu_bytes if settings else None
    small = settings.small_packet_percent if settings else None
    if settings is None or speed is None or lanes is None or mtu is None or pattern_mtu is None or small is None:
        raise UnknownFact("device.dynamic_buffers")
    found_formula = headroom_formula_of(device.platform, device.version)
    return _compute_budget(
        require_asic_with_formula(device).name,
        speed_mbps=speed,
        lanes=lanes,
        mtu_bytes=mtu,
        cable_length_m=length_m,
        pattern_mtu_bytes=pattern_mtu,
        small_packet_percent=small,
        shared=shares_headroom(device, settings),
        compensated=found_formula.compensated,
        early=found_formula.early,
        gearbox_delay_ns=switch(require_fact(device.model)).gearbox_delay_ns,
    )


def speed_for_headroom_mbps(device: Device, interface: Interface) -> int | None | Unknown:
    """Return the speed in Mb/s that `device` computes a port's headroom for; UNKNOWN where that is not known.

    It is the configured speed, or on some network OSes (`formulas.yaml`) the fastest that a port advertises.
    """
    try:
        return _headroom_speed_mbps(device, interface)
    except UnknownFact:
        return UNKNOWN


def _headroom_speed_mbps(device: Device, interface: Interface) -> int | None:
    negotiates = require_fact(interface.autoneg, "interface.autoneg")
    if not negotiates or not headroom_formula_of(device.platform, device.version).negotiated_speed:
        return require_fact(interface.speed_mbps, "interface.speed_mbps")
    advertised = require_fact(interface.advertised_speeds_mbps, "interface.advertised_speeds_mbps")
    if advertised is not None:
        return max(advertised)
    port, lanes = require_fact(interface.port, "interface.port"), require_fact(interface.lanes, "interface.lanes")
    fastest = _fastest_mbps(require_fact(device.model, "device.model"), port.panel, lanes) if port and lanes else None
    if fastest is None:
        raise UnknownFact("interface.advertised_speeds_mbps")
    return fastest


@lru_cache(maxsize=4096)
def _fastest_mbps(model: str, panel: int, lanes: int) -> int | None:
    """Return the fastest speed that a panel port of a model supports on so many lanes; None where that is not known."""
    group = switch(model).group(panel) if model in switches() else None
    splits = (*group.breakout_options, *group.narrow) if group else ()
    return max((speed for breakout in splits if breakout.lanes == lanes for speed in breakout.speeds), default=None)


@lru_cache(maxsize=4096)
def _compute_budget(chip_name: str, **terms: Any) -> HeadroomBudget:
    """Work out the headroom of ports that are alike once."""
    return compute_headroom(asic(chip_name), **terms)


def shares_headroom(device: Device, settings: DynamicBuffers | None) -> bool:
    """Return whether ports share their headroom in a pool; UnknownFact where the pools are not known."""
    return bool(settings and settings.over_subscribe_ratio) or any(
        pool.shared_headroom_bytes for pool in require_fact(device.buffer_pools) if pool.name == _LOSSLESS_POOL_NAME
    )


ResolvedProfiles = dict[tuple[object, ...], QosProfile]
"""Profiles as they are stated and as they are resolved, by what the result follows from."""


def fill_in_computed_buffer_sizes(device: Device, memo: ResolvedProfiles | None = None) -> Device:
    """Return the device with every computed headroom and pool size filled in; others are left as they are.

    Devices that differ in nothing but their ports may share a `memo`, and then share the profiles that come out.
    """
    if isinstance(device.buffer_model, Unknown) or device.buffer_model != "dynamic":
        return device
    memo = {} if memo is None else memo
    interfaces = tuple(_fill_port_headroom(device, interface, memo) for interface in device.interfaces)
    device = replace_fields(device, interfaces=interfaces)
    return replace_fields(device, buffer_pools=_fill_pool_sizes(device))


def _fill_port_headroom(device: Device, interface: Interface, memo: ResolvedProfiles) -> Interface:
    qos = interface.qos
    if not isinstance(qos, QosProfile) or isinstance(qos.priority_groups, Unknown):
        return interface
    speed = speed_for_headroom_mbps(device, interface)
    key = (qos, speed, interface.lanes, interface.mtu_bytes, interface.cable_length_m)
    if key not in memo:
        filled = qos
        if any(map(_has_computed_headroom, qos.priority_groups)):
            result = _headroom_budget_or_none(device, interface)
            groups = tuple(
                _fill_group_headroom(device, group, result, _has_cable(interface))
                if _has_computed_headroom(group)
                else group
                for group in qos.priority_groups
            )
            filled = replace_fields(qos, priority_groups=groups)
        memo[key] = filled
    filled = memo[key]
    return interface if filled is qos else replace_fields(interface, qos=filled)


def _has_computed_headroom(group: PriorityGroup) -> bool:
    buffer = group.buffer
    return isinstance(buffer, BufferProfile) and isinstance(buffer.headroom, Headroom) and buffer.headroom.computed


def _has_cable(interface: Interface) -> bool:
    """Whether a port has a cable of some length: without one the switch makes no headroom.

    Source: sonic-swss cfgmgr/buffermgrdyn.cpp (refreshPgsForPort).
    """
    return isinstance(interface.cable_length_m, Unknown) or bool(interface.cable_length_m)


def _headroom_budget_or_none(device: Device, interface: Interface) -> HeadroomBudget | None:
    try:
        return compute_headroom_budget(device, interface, length_m=require_fact(interface.cable_length_m) or 0)
    except UnknownFact:
        return None


def _fill_group_headroom(
    device: Device, group: PriorityGroup, result: HeadroomBudget | None, cabled: bool
) -> PriorityGroup:
    """Return a group with its headroom and with the threshold that the switch gives every computed profile."""
    none: int | Unknown = UNKNOWN if cabled else 0
    xoff, xon, size = (result.xoff, result.xon, result.size) if result and cabled else (none, none, none)
    headroom = Headroom(xoff_bytes=xoff, xon_bytes=xon, computed=True)
    assert isinstance(group.buffer, BufferProfile)
    settings = device.dynamic_buffers
    threshold = settings.dynamic_th if isinstance(settings, DynamicBuffers) else group.buffer.dynamic_th
    if group.buffer.static_th_bytes is not None:
        threshold = None
    return replace_fields(
        group, buffer=replace_fields(group.buffer, size_bytes=size, headroom=headroom, dynamic_th=threshold)
    )


def omit_computed_shared_headroom(device: Device) -> Device:
    """Return a resolved device without the shared headroom that its switch computes, as a configuration states it."""
    pools = device.buffer_pools
    if isinstance(pools, Unknown) or isinstance(device.dynamic_buffers, Unknown):
        return device
    ratio = device.dynamic_buffers.over_subscribe_ratio if device.dynamic_buffers else None
    kept_pools = tuple(
        replace_fields(pool, shared_headroom_bytes=None)
        if pool.name == _LOSSLESS_POOL_NAME and (pool.computed or ratio)
        else pool
        for pool in pools
    )
    return device if kept_pools == pools else replace_fields(device, buffer_pools=kept_pools)


def _fill_pool_sizes(device: Device) -> tuple[BufferPool, ...] | Unknown:
    pools = device.buffer_pools
    if isinstance(pools, Unknown):
        return pools
    try:
        settings = require_fact(device.dynamic_buffers, "device.dynamic_buffers")
        ratio = settings.over_subscribe_ratio if settings else None
        if not ratio and not any(pool.computed for pool in pools):
            return pools
        memory = _available_pool_memory(device, pools, ratio)
    except UnknownFact:
        return tuple(replace_fields(pool, size_bytes=UNKNOWN) if pool.computed else pool for pool in pools)
    ingress = sum(pool.computed and pool.direction == "ingress" for pool in pools)
    even = memory.available if ingress == 1 else memory.available / 2
    return tuple(_fill_pool_size(pool, memory, even) for pool in pools)


def occupied_memory_bytes(device: Device) -> int:
    """Return what headroom, reserves and shared headroom take of the memory, by the formula of the pools.

    UnknownFact where a port's profile or the model is not known.
    """
    pools = require_fact(device.buffer_pools, "device.buffer_pools")
    settings = require_fact(device.dynamic_buffers, "device.dynamic_buffers")
    ratio = settings.over_subscribe_ratio if settings else None
    return _packet_memory_bytes(device, pools) - _available_pool_memory(device, pools, ratio).available


@dataclass(frozen=True, slots=True, kw_only=True)
class _PoolMemory:
    """The memory left for the pools, including the shared headroom, and whether that follows from the ratio alone."""

    available: int
    shared: int
    by_ratio: bool


def _fill_pool_size(pool: BufferPool, memory: _PoolMemory, even: float) -> BufferPool:
    """Return a pool with the switch's computed values; a pool for both directions gets no size (the Lua skips it)."""
    of_lossless = pool.name == _LOSSLESS_POOL_NAME and memory.shared
    if pool.computed and pool.direction != "both":
        size = even if pool.percentage is None else memory.available * pool.percentage / 100
        pool = replace_fields(pool, size_bytes=math.ceil(size))
        return replace_fields(pool, shared_headroom_bytes=memory.shared) if of_lossless else pool
    if pool.computed:
        return replace_fields(pool, size_bytes=UNKNOWN)
    if of_lossless and memory.by_ratio and pool.direction == "ingress":
        return replace_fields(pool, shared_headroom_bytes=memory.shared)
    return pool


def _available_pool_memory(device: Device, pools: tuple[BufferPool, ...], ratio: int | None) -> _PoolMemory:
    """Return the memory that profiles and reserves leave for the pools."""
    facts = require_asic_with_formula(device)
    latency_kib = facts.pipeline_latency_kib or 0
    reserve, reserve_wide = int(latency_kib * 1024), int((2 * latency_kib - 1) * 1024)
    ingress = frozenset(pool.name for pool in pools if pool.direction == "ingress")
    occupied = facts.management_pool_bytes
    uses: dict[tuple[QosProfile, int], _BufferUse] = {}
    saved = lossless_ports = 0
    for port in device.interfaces:
        if not require_fact(port.enabled):  # the switch takes back what a shut port would use
            continue
        lossy_reserve = reserve_wide if require_fact(port.lanes) == 8 else reserve
        occupied += lossy_reserve + facts.egress_mirror_bytes
        qos = require_fact(port.qos)
        if qos is None:
            continue
        key = (qos, lossy_reserve)
        if key not in uses:
            uses[key] = _port_memory_use(qos, ingress, lossy_reserve)
        use = uses[key]
        occupied, saved, lossless_ports = occupied + use.size, saved + use.saved, lossless_ports + use.lossless
    stated = next((pool.shared_headroom_bytes or 0 for pool in pools if pool.name == _LOSSLESS_POOL_NAME), 0)
    shared = stated
    if ratio or stated or saved:
        private = lossless_ports * facts.private_headroom_bytes
        occupied += private
        if not stated:
            needed = math.ceil(max(saved - private, 0) / ratio) if ratio else 0
            shared = needed or _LEAST_SHARED_HEADROOM_BYTES
    available = _packet_memory_bytes(device, pools) - occupied - shared
    return _PoolMemory(available=available, shared=shared, by_ratio=bool(ratio) and not stated)


class _BufferUse(NamedTuple):
    """The use of a port, or a buffer of it: bytes, the headroom saved by sharing, whether it is lossless."""

    size: int
    saved: int
    lossless: bool


def _port_memory_use(qos: QosProfile, ingress: frozenset[str], lossy_reserve: int) -> _BufferUse:
    of_groups = [require_fact(group.buffer) for group in require_fact(qos.priority_groups)]
    groups = [_buffer_memory_use(buffer, ingress, lossy_reserve) for buffer in of_groups if buffer is not None]
    of_queues = [require_fact(queue.buffer) for queue in require_fact(qos.queues)]
    queues = [_buffer_memory_use(buffer, ingress, lossy_reserve) for buffer in of_queues if buffer is not None]
    lists = [
        _buffer_memory_use(buffer, ingress, 0)
        for buffer in (*require_fact(qos.ingress_buffers), *require_fact(qos.egress_buffers))
        if buffer.headroom is not None or buffer.pool not in ingress
    ]
    every = (*groups, *queues, *lists)
    return _BufferUse(
        sum(use.size for use in every), sum(use.saved for use in every), any(group.lossless for group in groups)
    )


def _buffer_memory_use(buffer: BufferProfile, ingress: frozenset[str], lossy_reserve: int) -> _BufferUse:
    size, headroom, is_ingress = require_fact(buffer.size_bytes), require_fact(buffer.headroom), buffer.pool in ingress
    if headroom is None:
        return _BufferUse(size + lossy_reserve if is_ingress else size, 0, lossless=False)
    xon, xoff = require_fact(headroom.xon_bytes), require_fact(headroom.xoff_bytes)
    saved = 0 if xon is None or not size else max(xon + xoff - size, 0)
    applied = bool(size) or not headroom.computed  # a port without a cable gets no computed profile
    return _BufferUse(size, saved, lossless=is_ingress and applied)


def _packet_memory_bytes(device: Device, pools: tuple[BufferPool, ...]) -> int:
    """Return the switch's packet memory: as the SAI reports, regardless of the stated size of SONiC's egress lossless
    pool.

    The pool's size counts where no memory is reported (sonic-swss cfgmgr/buffer_pool_mellanox.lua, mmu_size), so also
    for a model whose memory is not in the catalogue.
    """
    model = device.model
    memory = None if isinstance(model, Unknown) or model is None else switch(model).buffer_bytes
    sizes = [pool.size_bytes for pool in pools if pool.name == "egress_lossless" and not pool.computed]
    memory = memory or next((size for size in sizes if isinstance(size, int)), None)
    if memory is None:
        raise UnknownFact("device.model")
    return memory
