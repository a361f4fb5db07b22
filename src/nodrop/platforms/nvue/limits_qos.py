"""QoS and buffers that NVUE cannot express: a map or buffer that does not follow from the device's profiles.

Ranges are those of the NVUE command reference (5.14 and 5.16) and of `nv list-commands`.
"""

from typing import Any

from nodrop.hardware import switch
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.limits import MAX_UINT32
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.compare import ModelDifference, differences
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import COLORS, PfcWatchdog, QosProfile, Queue, WredColor, WredProfile
from nodrop.model.states import UNKNOWN, Unknown, require_fact
from nodrop.model.subject import Subject
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.nvue import conditions, effects
from nodrop.platforms.nvue.releases import FIRST_RELEASE_BY_FEATURE, has_feature
from nodrop.platforms.nvue.spelling import BYTES_PER_KBIT
from nodrop.platforms.nvue.traits import RECOVERY_POLLINGS_RANGE, TRAITS

_UNMAPPED_CLASSES_8_TO_15 = (None,) * 8
_LARGEST_SHAPER_RATE_KBPS = 2**31 - 1
_LARGEST_WATCHDOG_ROBUSTNESS = 1000
_ALPHA_EXPONENTS = range(-8, 8)

Path = tuple[str, ...]


def check_qos(device: Device) -> None:
    """Raise UnsupportedByPlatform where a port's QoS, or a shared part of the switch, has no setting in NVUE."""
    seen: dict[tuple[object, ...], None] = {}
    for port in device.interfaces:
        key = port.qos, port.cable_length_m, port.link_pause
        if key not in seen:
            seen[key] = None
            _check_port_qos(device, port)
    conditions.check_watchdog_conditions(device)
    _check_switch_qos(device)
    _check_pools(device)


def _check_port_qos(device: Device, port: Interface) -> None:
    qos = port.qos
    assert isinstance(qos, QosProfile)
    path = ("interfaces", port.name, "qos")
    _check_maps(qos, path)
    for name in ("ingress_buffers", "egress_buffers"):
        if require_fact(getattr(qos, name)):
            raise unsupported_error((*path, name), "NVUE limits priority groups and queues, not ports")
    pausing = _check_pfc(port, qos, path)
    _check_headroom(qos, path)
    _check_queues(device, qos, pausing, path)
    _check_watchdog(device, qos, path)
    if require_fact(port.link_pause) is True and pausing:
        raise unsupported_error(
            ("interfaces", port.name, "link_pause"), "NVUE has PFC or link pause on a port, not both"
        )


def _check_maps(qos: QosProfile, path: Path) -> None:
    trust = require_fact(qos.trust)
    for name, size, is_expected in (
        ("dscp_to_tc", 64, trust in ("dscp", "both")),
        ("pcp_to_tc", 8, trust in ("pcp", "both")),
    ):
        values = require_fact(getattr(qos, name))
        if (values is not None) != is_expected:
            raise unsupported_error(
                (*path, name), f"a port that trusts {trust} has {'one' if is_expected else 'none'} in NVUE"
            )
        if values is not None:
            _check_map_targets(values, size, 7, (*path, name))
    queues = require_fact(qos.tc_to_queue)
    if queues is None or len(queues) != 16 or queues[8:] != _UNMAPPED_CLASSES_8_TO_15:
        raise unsupported_error((*path, "tc_to_queue"), "NVUE gives each of its 8 switch priorities a queue")
    _check_map_targets(queues[:8], 8, 7, (*path, "tc_to_queue"))
    rewritten = require_fact(qos.tc_to_dscp)
    if rewritten is not None:
        if len(rewritten) != 16 or rewritten[8:] != _UNMAPPED_CLASSES_8_TO_15:
            raise unsupported_error((*path, "tc_to_dscp"), "NVUE gives each of its 8 switch priorities a DSCP")
        _check_map_targets(rewritten[:8], 8, 63, (*path, "tc_to_dscp"))


def _check_map_targets(values: tuple[int | None, ...], size: int, most: int, path: Path) -> None:
    if len(values) != size:
        raise unsupported_error(path, f"has {len(values)} entries; NVUE's map has {size}")
    for target in values:
        if target is None:
            raise unsupported_error(path, "has entries without a target; NVUE's map has one for each")
        if not 0 <= target <= most:
            raise unsupported_error(path, f"{target} is not from 0 to {most}")


def _check_pfc(port: Interface, qos: QosProfile, path: Path) -> tuple[int, ...]:
    """Return the priorities with pause."""
    rx, tx = require_fact(qos.pfc_rx_priorities), require_fact(qos.pfc_tx_priorities)
    for name, priorities in (("pfc_rx_priorities", rx), ("pfc_tx_priorities", tx)):
        if list(priorities) != sorted(set(priorities) & set(effects.ALL_SWITCH_PRIORITIES)):
            raise unsupported_error((*path, name), "are not priorities from 0 to 7 in order")
    if rx and tx and rx != tx:
        raise unsupported_error(
            (*path, "pfc_rx_priorities"), "a PFC profile obeys pauses of the priorities that it sends them for"
        )
    pausing = rx or tx
    if (require_fact(port.cable_length_m) is None) == bool(pausing):
        reason = "PFC has a cable length" if pausing else "a port without PFC has none in NVUE"
        raise unsupported_error(("interfaces", port.name, "cable_length_m"), reason)
    queues = require_fact(qos.tc_to_queue)
    assert queues is not None
    follows = {
        "tc_to_priority_group": effects.tc_to_priority_group(pausing),
        "pfc_to_priority_group": effects.pfc_to_priority_group(pausing),
        "pfc_to_queue": effects.pfc_to_queue(queues),
    }
    for name, value in follows.items():
        if require_fact(getattr(qos, name)) != value:
            raise unsupported_error((*path, name), f"follows from PFC in NVUE: {value}")
    return pausing


def _check_headroom(qos: QosProfile, path: Path) -> None:
    """Refuse headroom that is neither computed by the switch nor the thresholds of a PFC profile."""
    first_headroom: Headroom | None = None
    for group in require_fact(qos.priority_groups):
        buffer = require_fact(group.buffer)
        headroom = None if buffer is None else require_fact(buffer.headroom)
        where = (*path, "priority_groups", str(group.index), "buffer")
        first_headroom = first_headroom or headroom
        if headroom is not None and headroom != first_headroom:
            raise unsupported_error((*where, "headroom"), "a port has one in NVUE, for each of its priorities with PFC")
        if buffer is None or headroom is None or headroom.computed:
            continue
        size, xoff, xon = buffer.size_bytes, headroom.xoff_bytes, headroom.xon_bytes
        if not isinstance(size, int) or not 0 <= size <= MAX_UINT32:
            raise unsupported_error(
                (*where, "size_bytes"), f"is stated in NVUE beside headroom, from 0 to {MAX_UINT32}"
            )
        if not isinstance(xoff, int) or not 0 <= xoff <= size:
            raise unsupported_error(
                (*where, "headroom", "xoff_bytes"), f"is a part of the buffer, {size} bytes, in NVUE"
            )
        if not isinstance(xon, int) or not 0 <= xon <= size - xoff:
            raise unsupported_error(
                (*where, "headroom", "xon_bytes"), f"is from 0 to the size without xoff, {size - xoff}"
            )


def _check_queues(device: Device, qos: QosProfile, pausing: tuple[int, ...], path: Path) -> None:
    queues: tuple[Queue, ...] = require_fact(qos.queues)
    maps = require_fact(qos.tc_to_queue)
    assert maps is not None
    lossless = effects.lossless_queues(pausing, maps)
    indexes = [queue.index for queue in queues]
    if indexes != sorted(set(indexes) & set(effects.ALL_SWITCH_PRIORITIES)):
        raise unsupported_error((*path, "queues"), "are not numbered from 0 to 7 in order, each once")
    total = 0
    for queue in queues:
        where = (*path, "queues", str(queue.index))
        if queue.scheduler is None and queue.wred is None:
            raise unsupported_error(where, "a queue without scheduler and marking is nowhere in NVUE")
        total += _check_scheduler_and_return_percent(queue, where)
        _check_wred(device, require_fact(queue.wred), (*where, "wred"))
        _check_queue_buffer(device, require_fact(queue.buffer), queue.index in lossless, (*where, "buffer"))
    if total > 100:
        raise unsupported_error(
            (*path, "queues"), f"have {total} % of the bandwidth together; NVUE takes no more than 100"
        )


def _check_scheduler_and_return_percent(queue: Queue, path: Path) -> int:
    """Return the share of the bandwidth that the queue is given, percent."""
    scheduler = require_fact(queue.scheduler)
    if scheduler is None:
        return 0
    path = (*path, "scheduler")
    rates = (scheduler.guaranteed_bytes_per_s, scheduler.peak_bytes_per_s)
    if scheduler.type == "wrr":
        raise unsupported_error((*path, "type"), "NVUE schedules by strict priority or DWRR")
    if scheduler.type == "strict" and scheduler.weight is not None:
        raise unsupported_error((*path, "weight"), "a strict queue has none")
    if scheduler.type == "dwrr" and scheduler.weight is None and rates == (None, None):
        raise unsupported_error((*path, "weight"), "a DWRR queue has one")
    if not 0 <= (scheduler.weight or 0) <= 100:
        raise unsupported_error((*path, "weight"), "is a share of the bandwidth, from 0 to 100 %")
    for name in ("guaranteed_burst_bytes", "peak_burst_bytes"):
        if getattr(scheduler, name) is not None:
            raise unsupported_error((*path, name), "NVUE's shaper has rates only")
    for name, rate in zip(("guaranteed_bytes_per_s", "peak_bytes_per_s"), rates, strict=True):
        if rate is not None and (rate % BYTES_PER_KBIT or not 0 <= rate // BYTES_PER_KBIT <= _LARGEST_SHAPER_RATE_KBPS):
            raise unsupported_error(
                (*path, name), f"is no whole number of kb/s up to {_LARGEST_SHAPER_RATE_KBPS}, as NVUE's shaper takes"
            )
    return scheduler.weight or 0


def _check_wred(device: Device, wred: WredProfile | None, path: Path) -> None:
    if wred is None:
        return
    if wred.ecn_colors not in ((), COLORS):
        raise unsupported_error((*path, "ecn_colors"), "NVUE marks packets of all colors or of none")
    if not wred.green == wred.yellow == wred.red:
        raise unsupported_error(
            (*path, "yellow" if wred.green != wred.yellow else "red"), "NVUE treats all colors the same"
        )
    color = wred.green
    if color.enabled is None:
        raise unsupported_error((*path, "green", "enabled"), "RED is on or off in NVUE")
    if not wred.ecn_colors and not color.enabled:
        raise unsupported_error(path, "neither marks nor drops, and so is nothing in NVUE")
    relative = color.min_percent is not None or color.max_percent is not None
    if relative:
        _check_relative_marking(device, color, (*path, "green"))
    size, most_size = ("percent", 100) if relative else ("bytes", MAX_UINT32)
    for name, most in ((f"min_{size}", most_size), (f"max_{size}", most_size), ("probability_percent", 100)):
        value = getattr(color, name)
        if value is None or not 0 <= value <= most:
            raise unsupported_error((*path, "green", name), f"is stated in NVUE, from 0 to {most}")


def _check_relative_marking(device: Device, color: WredColor, path: Path) -> None:
    """Refuse marking relative to a queue's maximum where a release or a chip has none, and bytes in addition to it."""
    feature = "relative marking"
    if not has_feature(device.version, feature):
        raise unsupported_error(
            (*path, "min_percent"),
            f"NVUE has {feature} since {FIRST_RELEASE_BY_FEATURE[feature]}, and this is {device.version}",
        )
    if switch(str(device.model)).asic not in TRAITS.relative_marking:
        raise unsupported_error((*path, "min_percent"), f"{device.model} marks by bytes only")
    for name in ("min_bytes", "max_bytes"):
        if getattr(color, name) is not None:
            raise unsupported_error((*path, name), "NVUE goes by bytes or by percentages, not by both")


def _check_queue_buffer(device: Device, buffer: BufferProfile | None, lossless: bool, path: Path) -> None:
    wanted_buffer_profile = effects.queue_buffer(lossless)
    if buffer is not None and buffer.headroom is not None:
        raise unsupported_error((*path, "headroom"), "headroom is for what comes in, and a queue is on the way out")
    if buffer is not None and buffer.size_bytes != wanted_buffer_profile.size_bytes:
        raise unsupported_error((*path, "size_bytes"), "a queue has no reserve by default in NVUE")
    if buffer is None or replace_fields(buffer, discard=None) != wanted_buffer_profile:
        queue_kind = "lossless" if lossless else "lossy"
        raise unsupported_error(
            path,
            f"a {queue_kind} queue takes 2 ** {wanted_buffer_profile.dynamic_th} times "
            f"what is free of {wanted_buffer_profile.pool} in NVUE",
        )
    if buffer.discard == "drop":
        raise unsupported_error((*path, "discard"), "NVUE drops what it does not trim, and says so nowhere")
    if buffer.discard == "trim" and require_fact(device.trimming) is None:
        raise unsupported_error((*path, "discard"), "packets are trimmed where the switch has trimming")


def _check_watchdog(device: Device, qos: QosProfile, path: Path) -> None:
    watchdog = require_fact(qos.pfc_watchdog)
    if watchdog is None:
        return
    path = (*path, "pfc_watchdog")
    polling, detection = require_fact(device.watchdog_polling_ms), require_fact(watchdog.detection_ms)
    if not qos.pfc_rx_priorities or watchdog.priorities != qos.pfc_rx_priorities:
        raise unsupported_error(
            (*path, "priorities"), "NVUE watches the priorities on which a port obeys pauses, if there are any"
        )
    if watchdog.action is not None:
        raise unsupported_error((*path, "action"), "NVUE has no choice of action")
    if watchdog.history is not None:
        raise unsupported_error((*path, "history"), "NVUE estimates no history of pauses")
    if polling is None:
        raise unsupported_error(["watchdog_polling_ms"], "a switch that watches polls")
    _check_restoration(device, require_fact(watchdog.restoration_ms), polling, (*path, "restoration_ms"))
    if detection is None or detection % polling or not 1 <= detection // polling <= _LARGEST_WATCHDOG_ROBUSTNESS:
        reason = f"is no multiple of the polling interval, {polling} ms, up to {_LARGEST_WATCHDOG_ROBUSTNESS} times"
        raise unsupported_error((*path, "detection_ms"), reason)


def _check_restoration(device: Device, restoration_ms: int | None, polling_ms: int, path: Path) -> None:
    feature, (low, high) = "a time of restoration", RECOVERY_POLLINGS_RANGE
    if not has_feature(device.version, feature):
        if restoration_ms is not None:
            raise unsupported_error(
                path,
                f"{TRAITS.title} has {feature} since {FIRST_RELEASE_BY_FEATURE[feature]}, and this is {device.version}",
            )
    elif restoration_ms is None or restoration_ms % polling_ms or not low <= restoration_ms // polling_ms <= high:
        raise unsupported_error(path, f"is no multiple of the polling interval, {polling_ms} ms, up to {high} times")


def recovery_pollings(device: Device) -> int | None:
    """Return after how many pollings without pause a queue is free again; None where no port is watched so."""
    polling, restoration_times = (
        require_fact(device.watchdog_polling_ms),
        {watchdog.restoration_ms for _, watchdog in _port_watchdogs(device)},
    )
    restoration_ms = require_fact(restoration_times.pop()) if restoration_times else None
    return None if polling is None or restoration_ms is None else restoration_ms // polling


def detection_pollings(device: Device) -> int | None:
    """Return after how many pollings the watchdog acts; None where no port is watched."""
    detections = {watchdog.detection_ms for _, watchdog in _port_watchdogs(device)}
    polling = require_fact(device.watchdog_polling_ms)
    return None if polling is None or not detections else (detections.pop() or 0) // polling


def _port_watchdogs(device: Device) -> list[tuple[Interface, PfcWatchdog]]:
    watchdogs: list[tuple[Interface, PfcWatchdog]] = []
    for port in device.interfaces:
        assert isinstance(port.qos, QosProfile)
        if (watchdog := require_fact(port.qos.pfc_watchdog)) is not None:
            watchdogs.append((port, watchdog))
    return watchdogs


def _check_switch_qos(device: Device) -> None:
    polling, (low, high) = require_fact(device.watchdog_polling_ms), TRAITS.watchdog.polling_ms
    if polling is not None and not low <= polling <= high:
        raise unsupported_error(["watchdog_polling_ms"], f"is not from {low} to {high}")
    watchdogs = _port_watchdogs(device)
    for port, watchdog in watchdogs:
        for name in ("detection_ms", "restoration_ms"):
            if getattr(watchdog, name) != getattr(watchdogs[0][1], name):
                path = ["interfaces", port.name, "qos", "pfc_watchdog", name]
                raise unsupported_error(path, f"a switch has one in NVUE, and {watchdogs[0][0].name} has another")
    first_profile = device.interfaces[0].qos
    assert isinstance(first_profile, QosProfile)
    for port in device.interfaces:
        qos = port.qos
        assert isinstance(qos, QosProfile)
        if qos.tc_to_queue != first_profile.tc_to_queue:
            path = ["interfaces", port.name, "qos", "tc_to_queue"]
            raise unsupported_error(path, f"NVUE has one for the switch, and {device.interfaces[0].name} has another")


def pfc_priorities_of_device(device: Device) -> frozenset[int]:
    """Return the priorities that any port has pause for."""
    profiles: list[Any] = list(dict.fromkeys(port.qos for port in device.interfaces))
    return frozenset(priority for qos in profiles for priority in qos.pfc_rx_priorities or qos.pfc_tx_priorities)


def _check_pools(device: Device) -> None:
    lossless = bool(pfc_priorities_of_device(device))
    settings = require_fact(device.dynamic_buffers)
    if (settings is None) == lossless:
        reason = "headroom is computed from them" if lossless else "without PFC there is no headroom to compute"
        raise unsupported_error(["dynamic_buffers"], reason)
    threshold = 0 if settings is None else settings.dynamic_th
    if threshold not in _ALPHA_EXPONENTS:
        raise unsupported_error(
            ["dynamic_buffers", "dynamic_th"], "NVUE has alphas from 2 ** -7 to 2 ** 6, none and infinity"
        )
    if settings is not None:
        usual, feature = effects.default_small_packet_percent(device.model), "a share of small packets"
        small = settings.small_packet_percent if has_feature(device.version, feature) else usual
        if small is None or not 0 <= small <= 100:
            raise unsupported_error(["dynamic_buffers", "small_packet_percent"], "is a share, from 0 to 100 %")
        for difference in differences(settings, effects.dynamic_buffers(threshold, small)):
            raise unsupported_error(
                ("dynamic_buffers", *difference.path), f"NVUE computes headroom with {difference.b}"
            )
    percents = {pool.name: pool.percentage for pool in require_fact(device.buffer_pools)}
    lossy = percents.get("ingress_lossy")
    of_lossless = percents.get("ingress_lossless") if lossless else None
    for name, share in (("ingress_lossy", lossy), ("ingress_lossless", of_lossless if lossless else 1)):
        if share is None or not 1 <= share <= 100:
            path = ["buffer_pools", *([name, "percentage"] if name in percents else [])]
            raise unsupported_error(path, f"{name} has from 1 to 100 % of the memory in NVUE")
    assert lossy is not None
    if lossy + (of_lossless or 0) > 100:
        raise unsupported_error(["buffer_pools"], "have more than all of the memory together")
    _check_derived_buffers(device, effects.buffer_pools(lossy, of_lossless, _buffer_memory_bytes(device)), threshold)


def _check_derived_buffers(device: Device, pools: tuple[BufferPool, ...], dynamic_th: int) -> None:
    """Refuse buffers that the switch would not make from its settings."""
    groups: dict[tuple[tuple[int, ...], effects.StatedHeadroom | None], Any] = {}
    bare: dict[QosProfile, QosProfile] = {}
    ports = []
    for port in device.interfaces:
        qos = port.qos
        assert isinstance(qos, QosProfile)
        if qos not in bare:
            own_pfc_rx_priorities = require_fact(qos.pfc_rx_priorities) or require_fact(qos.pfc_tx_priorities)
            key = own_pfc_rx_priorities, effects.stated_headroom(require_fact(qos.priority_groups))
            if key not in groups:
                groups[key] = effects.priority_groups(own_pfc_rx_priorities, dynamic_th, stated_headroom=key[1])
            bare[qos] = replace_fields(qos, priority_groups=groups[key])
        ports.append(replace_fields(port, qos=bare[qos]))
    new_device = fill_in_computed_buffer_sizes(replace_fields(device, interfaces=tuple(ports), buffer_pools=pools))
    for difference in differences(new_device.buffer_pools, device.buffer_pools):
        raise unsupported_error(("buffer_pools", *_existing_path(difference)), f"NVUE makes {difference.a} of it")
    for own_interface, other_interface in zip(new_device.interfaces, device.interfaces, strict=True):
        if own_interface.qos is not other_interface.qos and own_interface.qos != other_interface.qos:
            for found_difference in differences(own_interface.qos, other_interface.qos):
                raise unsupported_error(
                    ("interfaces", own_interface.name, "qos", *_existing_path(found_difference)),
                    f"NVUE makes {found_difference.a} of it",
                )


def _existing_path(difference: ModelDifference) -> Subject:
    """Return the path of a difference, as far as the given device has it."""
    return difference.path[:-1] if difference.b is None else difference.path


def _buffer_memory_bytes(device: Device) -> int | Unknown:
    memory = switch(str(device.model)).buffer_bytes
    return UNKNOWN if memory is None else memory
