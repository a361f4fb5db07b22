"""Words about signs of RoCE in the files themselves, where nobody states the purpose of a switch."""

from collections.abc import Iterable

from nodrop.engine.vocabulary import declare_word
from nodrop.model import effects
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.modes import qos_profiles_of
from nodrop.model.qos import QosProfile, WredProfile
from nodrop.model.states import Unknown, UnknownFact


@declare_word("function", rests_on=("classes",))
def shows_roce(fabric: Fabric, device: Device, *, index: Index) -> bool:
    """Whether a switch has what only RoCE needs: ECN marks in a paused queue, RDMA in a lossless class, a RoCE macro.

    PFC alone is no sign: FCoE and iSCSI have it too. Nor is a DSCP that RDMA is assumed to have because it is lossless.
    What is not known may be a sign.
    """
    return index.compute_once(f"shows RoCE: {device.name}", lambda: _shows_roce(fabric, device))


@declare_word("function", rests_on=("classes",))
def rdma_is_lossless_somewhere(fabric: Fabric, *, index: Index) -> bool:
    """Whether some port of the fabric has a DSCP of RDMA in a lossless class, as far as is known."""
    return index.compute_once(
        "RDMA is lossless somewhere",
        lambda: any(_is_any_dscp_lossless(qos, effects.rdma_dscps(fabric)) for qos in qos_profiles_of(fabric.devices)),
    )


@declare_word("function")
def is_for_rdma(fabric: Fabric) -> bool:
    """Whether a fabric has traffic classes: they are stated, or a port has QoS."""
    return bool(fabric.classes)


@declare_word("function", rests_on=("classes", "mode"))
def rdma_is_marked_somewhere(fabric: Fabric, *, index: Index) -> bool:
    """Whether some port of the fabric has a WRED profile on a queue of RDMA, as far as is known."""
    return index.compute_once(
        "RDMA is marked somewhere",
        lambda: any(_marks_rdma_queue(fabric, qos) for qos in qos_profiles_of(fabric.devices)),
    )


def _marks_rdma_queue(fabric: Fabric, qos: QosProfile) -> bool:
    try:
        queues = [effects.find_queue(qos, index) for index in effects.rdma_queues(fabric, qos)]
    except UnknownFact:
        return False
    return any(queue is not None and isinstance(queue.wred, WredProfile) for queue in queues)


def _shows_roce(fabric: Fabric, device: Device) -> bool:
    dscps = [*_stated_rdma_dscps(fabric), effects.DEFAULT_RDMA_DSCP]
    return _uses_qos_macro(device) or any(
        _marks_lossless_queue(qos) or _is_any_dscp_lossless(qos, dscps) for qos in qos_profiles_of([device])
    )


def _uses_qos_macro(device: Device) -> bool:
    return not isinstance(device.qos_style, Unknown) and device.qos_style == "macro"


def _marks_lossless_queue(qos: QosProfile) -> bool:
    """Whether a queue of a lossless traffic class marks."""
    try:
        paused = {effects.queue_of_tc(qos, tc) for tc in range(8) if effects.is_lossless(qos, tc)}
    except UnknownFact:
        return True
    return any(_may_mark_ecn(queue.wred) for queue in qos.queues if queue.index in paused)


def _may_mark_ecn(wred: WredProfile | None | Unknown) -> bool:
    return isinstance(wred, Unknown) or (wred is not None and wred.ecn_colors != ())


def _stated_rdma_dscps(fabric: Fabric) -> list[int]:
    """Return the DSCPs of RDMA classes with a stated traffic class; assumed classes have none."""
    return [dscp for rdma in effects.rdma_classes(fabric) if not isinstance(rdma.tc, Unknown) for dscp in rdma.dscp]


def _is_any_dscp_lossless(qos: QosProfile, dscps: Iterable[int]) -> bool:
    try:
        return any(effects.is_lossless(qos, effects.tc_of_dscp(qos, dscp)) for dscp in dscps)
    except UnknownFact:
        return False
