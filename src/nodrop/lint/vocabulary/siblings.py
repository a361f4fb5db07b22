"""Words about ports that ought to be alike: whether a difference is told already, and alpha as one writes it."""

from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from nodrop.analyses import watchdog_order
from nodrop.fabric.fabric import Device, Fabric, Interface
from nodrop.fabric.index import Index
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import UnknownFact, known
from nodrop.fabric.subject import Subject
from nodrop.fabric.timeouts import QP_RETRIES, QP_TIMEOUT_MS
from nodrop.lint.vocabulary import word
from nodrop.lint.vocabulary.admission import pause_threshold_bytes
from nodrop.lint.vocabulary.marking import (
    cnp_not_first,
    cnp_queues,
    inert_marking,
    inverted_thresholds,
    marks,
    paused_cnp_dscps,
    rdma_queues,
    starved_queues,
    unmarked_rdma_queues,
)
from nodrop.lint.vocabulary.qos import (
    lossy_rdma_dscps,
    rdma_intruders,
    unintended_priorities,
)
from nodrop.lint.vocabulary.scheduling import lossless_queues, unscheduled_control_queues
from nodrop.lint.vocabulary.sides import groups_without_headroom, misplaced_pause, never_paused, unintended_dscps
from nodrop.lint.vocabulary.watchdog import ALERT, LEAST_DETECTION_MS, outlasted_timeout

Check = Callable[[Fabric, Device, QosProfile], object]

_ORDERS: WeakKeyDictionary[Index, frozenset[Subject]] = WeakKeyDictionary()

_COMMON: tuple[Check, ...] = (
    lambda _fabric, _device, qos: misplaced_pause(qos),
    lambda fabric, _device, qos: cnp_not_first(fabric, qos),
    lambda fabric, _device, qos: unscheduled_control_queues(fabric, qos),
)

_CHECKS: Mapping[str, tuple[Check, ...]] = {
    "classification": (
        *_COMMON,
        lambda fabric, _device, qos: lossy_rdma_dscps(fabric, qos),
        lambda fabric, _device, qos: rdma_intruders(fabric, qos),
        lambda fabric, _device, qos: unintended_dscps(fabric, qos),
        lambda fabric, _device, qos: paused_cnp_dscps(fabric, qos),
        lambda fabric, _device, qos: unintended_priorities(fabric, qos),
    ),
    "scheduling": (
        *_COMMON,
        lambda fabric, _device, qos: _strict_rdma(fabric, qos),
        lambda _fabric, _device, qos: _shaped_lossless(qos),
    ),
    "marking": (
        lambda fabric, _device, qos: unmarked_rdma_queues(fabric, qos),
        lambda fabric, device, qos: inert_marking(fabric, device.buffer_pools, qos),
        lambda fabric, device, qos: _marked_cnps(fabric, device, qos),
        lambda _fabric, _device, qos: _inverted(qos),
        lambda fabric, device, qos: _marked_too_late(fabric, device, qos),
    ),
    "buffers": (
        lambda _fabric, _device, qos: groups_without_headroom(qos),
        lambda _fabric, _device, qos: _headroom_without_pfc(qos),
        lambda fabric, _device, qos: unintended_priorities(fabric, qos),
    ),
    "watchdog": (
        lambda _fabric, _device, qos: _without_time(qos),
        lambda _fabric, device, qos: _outlasted(device, qos),
        lambda _fabric, _device, qos: _hasty_or_idle(qos),
    ),
}
"""By aspect of what a port does, what other rules say of it."""


@word("function", rests_on=("classes", "mode"))
def told_otherwise(
    fabric: Fabric,
    aspect: str,
    device: str,
    port: str,
    sibling_device: str,
    sibling_port: str,
    *,
    index: Index,
) -> bool:
    """Whether another rule finds in this aspect what sets a port apart from its sibling: one fault is told once."""
    if aspect == "watchdog":
        late = _out_of_order(index)
        if ((device, port) in late) != ((sibling_device, sibling_port) in late):
            return True
    ends = [
        (index.devices[name], index.interface(name, one))
        for name, one in ((device, port), (sibling_device, sibling_port))
    ]
    return any(_says(check, fabric, *ends[0]) != _says(check, fabric, *ends[1]) for check in _CHECKS[aspect])


def _says(check: Check, fabric: Fabric, device: Device, interface: Interface | None) -> object:
    """What a check says of a port; None where it cannot tell."""
    try:
        qos = known(interface.qos) if interface else None
        return None if qos is None else check(fabric, device, qos)
    except UnknownFact:
        return None


def _out_of_order(index: Index) -> frozenset[Subject]:
    """The ports whose watchdog acts out of order, worked out once for each fabric."""
    if index not in _ORDERS:
        _ORDERS[index] = frozenset(each.subject for each in watchdog_order.find(index))
    return _ORDERS[index]


def _without_time(qos: QosProfile) -> bool:
    watchdog = known(qos.pfc_watchdog)
    return watchdog is not None and watchdog.detection_ms is None


def _hasty_or_idle(qos: QosProfile) -> tuple[bool, bool, bool]:
    """Whether a watchdog detects too soon, restores too soon, or only alerts."""
    watchdog = known(qos.pfc_watchdog)
    if watchdog is None:
        return False, False, False
    detection_ms, restoration_ms = watchdog.detection_ms, watchdog.restoration_ms
    return (
        detection_ms is not None and detection_ms < LEAST_DETECTION_MS,
        detection_ms is not None and restoration_ms is not None and restoration_ms < detection_ms,
        watchdog.action == ALERT,
    )


def _outlasted(device: Device, qos: QosProfile) -> bool:
    """Whether a watchdog takes longer than RDMA waits by NCCL's defaults."""
    watchdog, polling_ms = known(qos.pfc_watchdog), known(device.watchdog_polling_ms)
    return watchdog is not None and outlasted_timeout(watchdog, polling_ms, QP_TIMEOUT_MS, QP_RETRIES) != ""


def _strict_rdma(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    strict = [
        queue.index
        for queue in known(qos.queues)
        if (scheduler := known(queue.scheduler)) is not None and scheduler.type == "strict"
    ]
    return tuple(one for one in strict if one in rdma_queues(fabric, qos) and starved_queues(qos, one))


def _shaped_lossless(qos: QosProfile) -> tuple[int, ...]:
    lossless = lossless_queues(qos)
    return tuple(
        queue.index
        for queue in known(qos.queues)
        if queue.index in lossless
        and (scheduler := known(queue.scheduler)) is not None
        and scheduler.peak_bytes_per_s is not None
    )


def _marked_cnps(fabric: Fabric, device: Device, qos: QosProfile) -> tuple[int, ...]:
    of_cnps = cnp_queues(fabric, qos)
    return tuple(
        queue.index for queue in known(qos.queues) if queue.index in of_cnps and marks(device.buffer_pools, qos, queue)
    )


def _inverted(qos: QosProfile) -> tuple[str, ...]:
    return tuple(inverted_thresholds(wred) for queue in known(qos.queues) if (wred := known(queue.wred)) is not None)


def _marked_too_late(fabric: Fabric, device: Device, qos: QosProfile) -> tuple[int, ...]:
    """The queues of RDMA that would mark only after their senders are paused."""
    late = []
    for queue in known(qos.queues):
        wred = known(queue.wred)
        if wred is None or wred.green.min_bytes is None or queue.index not in rdma_queues(fabric, qos):
            continue
        pause_bytes = pause_threshold_bytes(device.buffer_model, device.buffer_pools, qos, queue.index)
        if pause_bytes is not None and wred.green.min_bytes >= pause_bytes:
            late.append(queue.index)
    return tuple(late)


def _headroom_without_pfc(qos: QosProfile) -> tuple[int, ...]:
    groups = known(qos.priority_groups)
    return tuple(group.index for group in groups if group.lossless and never_paused(qos, group.index))


@word("filter")
def alpha(exponent: int) -> str:
    """A dynamic threshold as the factor that it stands for: 0 is `1`, 3 is `8`, -2 is `1/4`."""
    return str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"
