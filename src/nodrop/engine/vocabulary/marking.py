"""Words about marking and how queues are served: a port's treatment of RDMA packets and of the CNPs that answer."""

from functools import cache, partial

from nodrop import units
from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.general import listed, speed
from nodrop.engine.vocabulary.scheduling import lossless_queues
from nodrop.engine.vocabulary.sides import misplaced_tcs
from nodrop.hardware.thresholds import dynamic_threshold_bytes
from nodrop.model import effects
from nodrop.model.buffers import BufferPool
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.qos import QosProfile, Queue, WredColor, WredProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact

_BufferPools = tuple[BufferPool, ...] | Unknown
"""The buffer pools of a switch; a queue's limit is not known without them."""


@declare_word("function", rests_on=("classes", "mode"))
def rdma_queues(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the queues that RDMA leaves by; in a lossless fabric only those of lossless traffic classes."""
    return effects.rdma_queues(fabric, qos)


@declare_word("function", rests_on=("classes",))
def cnp_queues(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the queues that CNPs leave by, those of lossless traffic classes left out."""
    tcs = {effects.tc_of_dscp(qos, dscp) for dscp in effects.cnp_dscps(fabric)}
    return tuple(sorted({effects.queue_of_tc(qos, tc) for tc in tcs if not effects.is_lossless(qos, tc)}))


@declare_word("function", rests_on=("classes",))
def paused_cnp_dscps(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the DSCPs of CNPs in a lossless traffic class, where they wait for the pause that they should end."""
    return tuple(dscp for dscp in effects.cnp_dscps(fabric) if effects.is_lossless(qos, effects.tc_of_dscp(qos, dscp)))


@declare_word("function", rests_on=("classes", "mode"))
def unmarked_rdma_queues(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return RDMA's queues without any WRED profile; those that pause does not reach are left to the rule for that."""
    stray = set() if qos is None else {effects.queue_of_tc(qos, tc) for tc in misplaced_tcs(qos)}
    return tuple(
        index for index in effects.rdma_queues(fabric, qos) if index not in stray and not _wred_of_queue(qos, index)
    )


@declare_word("function")
def missing_qos_note(qos: QosProfile | None) -> str:
    """Return that a port has no QoS at all, as an addition to a message; nothing where it has."""
    return " (no QoS is bound to the port)" if qos is None else ""


@declare_word("function", rests_on=("mode",))
def unmarked_paused_queues(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the other queues of lossless traffic classes that packets land in, without any WRED profile.

    The classes only decide which rule reports a queue, so assumed ones do not make a finding less sure.
    """
    paused = {effects.queue_of_tc(qos, tc) for tc in effects.used_tcs(qos) if effects.is_lossless(qos, tc)}
    paused_queues = sorted(paused - set(effects.rdma_queues(fabric, qos)))
    return tuple(index for index in paused_queues if not _wred_of_queue(qos, index))


@declare_word("function", rests_on=("classes", "mode"))
def unmarked_class_queues(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return those of `unmarked_paused_queues` that packets of a class of the fabric land in."""
    dscps = {dscp for traffic_class in fabric.classes for dscp in traffic_class.dscp}
    queues = {effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)) for dscp in dscps}
    return tuple(index for index in unmarked_paused_queues(fabric, qos) if index in queues)


@declare_word("function", rests_on=("classes", "mode"))
def unmarked_paused_queues_without_rdma(fabric: Fabric, device: Device, qos: QosProfile) -> tuple[int, ...] | None:
    """Return those of `unmarked_paused_queues` with PFC that RDMA leaves by at no port; none where there is none.

    Where pause is set for the whole switch, only these priorities can lose it. They are those of the same number.
    """
    sent = require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    rdma_of_switch = {
        index
        for port in device.interfaces
        if not isinstance(port.qos, Unknown)
        for index in effects.rdma_queues(fabric, port.qos)
    }
    return (
        tuple(index for index in unmarked_paused_queues(fabric, qos) if index in sent and index not in rdma_of_switch)
        or None
    )


@declare_word("function", rests_on=("classes", "mode"))
def why_marking_is_inert(fabric: Fabric, pools: _BufferPools, qos: QosProfile | None) -> str:
    """Why the WRED profile of RDMA's queue never marks, as the end of a sentence; nothing where it does or is none."""
    for index in effects.rdma_queues(fabric, qos):
        wred = _wred_of_queue(qos, index)
        reason = _reason_wred_is_inert(wred, _queue_limit_bytes(pools, qos, index)) if wred else ""
        if reason:
            return f"queue {index} {reason}"
    return ""


@declare_word("function")
def marks_or_drops_early(pools: _BufferPools, qos: QosProfile, queue: Queue) -> bool:
    """Whether a queue's WRED profile ever marks or drops early: not one that stands for `off`."""
    wred = require_fact(queue.wred, "queue.wred")
    if wred is None or not (wred.green.enabled or "green" in wred.ecn_colors):
        return False
    return not _reason_wred_is_inert(wred, _queue_limit_bytes(pools, qos, queue.index), colors=False)


@declare_word("function")
def inverted_thresholds(wred: WredProfile) -> str:
    """Return the colors of a WRED profile whose minimum is above their maximum: `green 1500 > 150 bytes`.

    A maximum that is not stated is 0 (sonic-swss orchagent/qosorch.cpp, WredMapHandler).
    """
    color_settings = (("green", wred.green), ("yellow", wred.yellow), ("red", wred.red))
    return ", ".join(
        [
            f"{name} {color.min_bytes} > {color.max_bytes or 0} bytes"
            for name, color in color_settings
            if (color.min_bytes or 0) > (color.max_bytes or 0)
        ]
        + [
            f"{name} {color.min_percent} > {color.max_percent or 0} %"
            for name, color in color_settings
            if color.min_percent is not None and color.min_percent > (color.max_percent or 0)
        ]
    )


@declare_word("function")
def colors_marked_before_green(wred: WredProfile | None) -> str:
    """Return the colors that are marked or dropped early below a threshold of green: `yellow from 78 kB to 628 kB`."""
    if wred is None:
        return ""
    green = wred.green
    colors = [("yellow", wred.yellow), ("red", wred.red)]
    acting = [(name, wred_color) for name, wred_color in colors if wred_color.enabled or name in wred.ecn_colors]
    lower = [
        (name, wred_color)
        for name, wred_color in acting
        if _is_below_green(wred_color.min_bytes, green.min_bytes)
        or _is_below_green(wred_color.max_bytes, green.max_bytes)
    ]
    if not lower:
        return ""
    shown = [("green", green), *lower]
    ranges = {name: f"{_format_bytes(color.min_bytes)} to {_format_bytes(color.max_bytes)}" for name, color in shown}
    if any(ranges[name] == ranges["green"] for name, _ in lower):
        ranges = {name: f"{color.min_bytes} to {color.max_bytes} bytes" for name, color in shown}
    return f"{' and '.join(f'{name} from {ranges[name]}' for name, _ in lower)}, green from {ranges['green']}"


def _is_below_green(color_bytes: int | None, green_bytes: int | None) -> bool:
    return color_bytes is not None and green_bytes is not None and color_bytes < green_bytes


def _format_bytes(count: int | None) -> str:
    return "nothing" if count is None else units.show_bytes(count)


@declare_word("function", rests_on=("classes", "mode"))
def mark_thresholds_same_at_speeds(fabric: Fabric, pools: _BufferPools, interfaces: tuple[Interface, ...]) -> str:
    """Return the thresholds that RDMA's queues have at several speeds: `150 kB to 1.5 MB at 100G and 400G`.

    Shut ports, and ports with unknown settings, are left out.
    """
    speeds: dict[tuple[int, int], set[int]] = {}
    marks_of = cache(partial(_rdma_mark_thresholds, fabric, pools))
    for port in interfaces:
        if port.enabled is not True or not isinstance(port.speed_mbps, int) or not isinstance(port.qos, QosProfile):
            continue
        for pair in marks_of(port.qos):
            speeds.setdefault(pair, set()).add(port.speed_mbps)
    alike = sorted(pair for pair, found_speeds in speeds.items() if len(found_speeds) > 1)
    return "; ".join(
        f"{units.show_bytes(low)} to {units.show_bytes(high)} at {listed(tuple(map(speed, sorted(speeds[low, high]))))}"
        for low, high in alike
    )


def _rdma_mark_thresholds(fabric: Fabric, pools: _BufferPools, qos: QosProfile) -> set[tuple[int, int]]:
    try:
        queues = [effects.find_queue(qos, index) for index in effects.rdma_queues(fabric, qos)]
        wred_colors = [
            queue.wred.green
            for queue in queues
            if queue and isinstance(queue.wred, WredProfile) and marks_or_drops_early(pools, qos, queue)
        ]
    except UnknownFact:
        return set()
    return {
        (wred_color.min_bytes, wred_color.max_bytes)
        for wred_color in wred_colors
        if wred_color.min_bytes is not None and wred_color.max_bytes is not None
    }


@declare_word("filter")
def mark_start(color: WredColor | None) -> str:
    """From where a color is marked or dropped early: `150 kB`, or `20 % of what the queue may take`."""
    if color is not None and color.min_percent is not None:
        return f"{color.min_percent} % of what the queue may take"
    return "none" if color is None or color.min_bytes is None else units.show_bytes(color.min_bytes)


@declare_word("function", rests_on=("classes",))
def cnp_scheduling_if_not_strict(fabric: Fabric, qos: QosProfile | None) -> str:
    """How CNPs are served where that is not by strict priority: `queue 6, dwrr of weight 14`; else nothing.

    Queues that lossless traffic leaves by are left out: that CNPs are stopped with it is another fault.
    """
    if qos is None:
        return ""
    lossless = lossless_queues(qos)
    for index in cnp_queues(fabric, qos):
        if index in lossless:
            continue
        queue = effects.find_queue(qos, index)
        scheduler = None if queue is None else require_fact(queue.scheduler, "queue.scheduler")
        if scheduler is None:
            return f"queue {index}, which has no scheduler"
        if scheduler.type != "strict":
            weight = "" if scheduler.weight is None else f" of weight {scheduler.weight}"
            return f"queue {index}, {scheduler.type}{weight}"
    return ""


@declare_word("function")
def starved_queues(qos: QosProfile, strict: int) -> tuple[int, ...]:
    """Return the queues that get only the rest of a strict queue: weighted ones, and strict ones of lower numbers."""
    tcs = {effects.tc_of_dscp(qos, dscp) for dscp in range(64)}
    return tuple(
        queue
        for queue in sorted({effects.queue_of_tc(qos, tc) for tc in tcs} - {strict})
        if queue < strict or not _is_strict_queue(qos, queue)
    )


def _is_strict_queue(qos: QosProfile, index: int) -> bool:
    queue = None if qos is None else effects.find_queue(qos, index)
    scheduler = None if queue is None else require_fact(queue.scheduler, "queue.scheduler")
    return scheduler is not None and scheduler.type == "strict"


def _wred_of_queue(qos: QosProfile | None, index: int) -> WredProfile | None:
    queue = None if qos is None else effects.find_queue(qos, index)
    return None if queue is None else require_fact(queue.wred, "queue.wred")


def _reason_wred_is_inert(wred: WredProfile, limit_bytes: int | None, *, colors: bool = True) -> str:
    """Why a profile does nothing to a queue that holds so many bytes at most, the colors that it marks aside or not."""
    green = wred.green
    if colors and "green" not in wred.ecn_colors:
        return "does not mark green, the color of all traffic without a policer"
    if green.probability_percent == 0:
        return "marks with probability 0"
    if green.min_percent is not None:
        full = f"would mark from {green.min_percent} % of its limit, which it never exceeds"
        return full if green.min_percent >= 100 else ""
    if green.min_bytes is None or green.max_bytes is None:
        return "has no threshold to mark at"
    if limit_bytes is not None and green.min_bytes >= limit_bytes:
        return f"would mark from {units.show_bytes(green.min_bytes)}, but holds {units.show_bytes(limit_bytes)} at most"
    return ""


def _queue_limit_bytes(pools: _BufferPools, qos: QosProfile | None, index: int) -> int | None:
    """Return the most that a queue can hold, in bytes; None where that is not known or not bounded."""
    queue = None if qos is None else effects.find_queue(qos, index)
    buffer = None if queue is None or isinstance(queue.buffer, Unknown) else queue.buffer
    if buffer is None or isinstance(pools, Unknown):
        return None
    if buffer.static_th_bytes is not None:
        return buffer.static_th_bytes
    pool = next((candidate for candidate in pools if candidate.name == buffer.pool), None)
    size = None if pool is None or isinstance(pool.size_bytes, Unknown) else pool.size_bytes
    if size is None or buffer.dynamic_th is None:
        return size
    if buffer.dynamic_th >= effects.NVIDIA_UNLIMITED_DYNAMIC_TH:
        return size
    return round(dynamic_threshold_bytes(size, buffer.dynamic_th))
