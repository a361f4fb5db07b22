"""Words about the two sides of pause: the traffic that it is for and the queue that it stops."""

from collections.abc import Iterable

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.general import priorities
from nodrop.hardware.bounds import shipped_headroom_rows
from nodrop.model import effects
from nodrop.model.buffers import HeadroomRow
from nodrop.model.fabric import Device, Fabric, TrafficClass
from nodrop.model.pausing import (
    PRIORITY_GROUP_MAPS,
    find_classes_with_group_queue_mismatch,
    queue_stopped_by_pfc_priority,
)
from nodrop.model.purposes import STORAGE_PURPOSES, TCP_STORAGE
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact

DSCPS_PER_BLOCK = 8
"""DSCPs with the same class selector, which is their upper three bits (RFC 2474, section 4.2.2)."""


def misplaced_tcs(qos: QosProfile) -> tuple[int, ...]:
    """Return the traffic classes whose queue or priority group, but not both, belongs to a PFC priority."""
    return tuple(sorted({misplacement.tc for misplacement in find_classes_with_group_queue_mismatch(qos)}))


@declare_word("function")
def misplaced_pause(qos: QosProfile) -> str:
    """How a PFC priority has the queue of one traffic class and the priority group of another; else nothing."""
    return next((misplacement.why for misplacement in find_classes_with_group_queue_mismatch(qos)), "")


@declare_word("function")
def misplaced_between_maps(qos: QosProfile) -> str:
    """Return the text of `misplaced_pause` where no single row of a map to priority groups decides it; else nothing."""
    misplacements = [
        misplacement
        for misplacement in find_classes_with_group_queue_mismatch(qos)
        if misplacement.row is None or misplacement.row.field not in PRIORITY_GROUP_MAPS
    ]
    return misplacements[0].why if misplacements else ""


def queues_stopped_by_pause(qos: QosProfile) -> frozenset[int | None]:
    """Return the queues that a neighbor's pause stops, by the priorities on which the port pauses its neighbors."""
    sent = require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    return frozenset(queue_stopped_by_pfc_priority(qos, priority) for priority in sent)


@declare_word("function")
def group_pauses_nothing(qos: QosProfile, group: int) -> bool:
    """Whether nothing is paused when a priority group is full; where its class is misplaced, that is the finding."""
    return not effects.pausing_priorities_of_priority_group(qos, group) and all(
        effects.priority_group_of_tc(qos, tc) != group for tc in misplaced_tcs(qos)
    )


@declare_word("function")
def priorities_to_map_to_group(qos: QosProfile, group: int) -> tuple[int, ...]:
    """Return the priority of a group's number if PFC is sent on it, but for another group or for none."""
    sent = require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    return (group,) if group in sent and not effects.pausing_priorities_of_priority_group(qos, group) else ()


@declare_word("function")
def why_group_pauses_nothing(qos: QosProfile, group: int) -> str:
    """Return why no sender is paused when a priority group is full, as the end of a sentence."""
    if priorities_to_map_to_group(qos, group):
        return f"priority {group} with PFC is not in it"
    return f"PFC is sent on {priorities(require_fact(qos.pfc_tx_priorities, 'interface.qos.pfc_tx_priorities'))}"


@declare_word("function")
def groups_without_headroom(qos: QosProfile) -> tuple[int, ...]:
    """Return the priority groups that take traffic and pause its sender, but have no headroom for packets in flight."""
    groups = {effects.priority_group_of_tc(qos, tc) for tc in effects.used_tcs(qos) if effects.is_lossless(qos, tc)}
    return tuple(sorted(group for group in groups if not _has_lossless_buffer(qos, group)))


def _has_lossless_buffer(qos: QosProfile, group: int) -> bool:
    buffer = effects.buffer_of_priority_group(qos, group)
    return buffer is not None and buffer.lossless


@declare_word("function")
def writes_no_headroom_without_row(
    buffer_model: str | None | Unknown,
    model: str | Unknown,
    hwsku: str | None | Unknown,
    own_table: tuple[HeadroomRow, ...] | None | Unknown,
    mbps: int | None | Unknown,
    metres: int | None | Unknown,
) -> bool:
    """Whether a switch writes no headroom because its table has no row for a speed and cable length.

    `own_table` is the switch's table if its file exists; else the table of its SKU is used. None is a table of an older
    release, which is not known.
    """
    if isinstance(buffer_model, Unknown) or buffer_model != "traditional" or own_table is None:
        return False
    if isinstance(mbps, Unknown) or isinstance(metres, Unknown):
        return False
    try:
        rows = shipped_headroom_rows(model, hwsku) if isinstance(own_table, Unknown) else own_table
    except UnknownFact:
        return False
    known = bool(rows) or not isinstance(own_table, Unknown)
    return known and metres is not None and all((row[0], row[1]) != (mbps, metres) for row in rows)


@declare_word("function", rests_on=("classes",))
def unintended_lossless_dscps(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the DSCPs that share a priority group with lossless classes and are of none.

    Those of CNPs and of storage over TCP are left out, and those of other storage, in-band and control traffic beside
    RDMA: other rules report them. So does one where the map of traffic classes to groups decides, and not that of
    DSCPs.
    """
    intended = _dscps_of_classes(
        traffic_class
        for traffic_class in fabric.classes
        if require_fact(traffic_class.lossless, "traffic_class.lossless")
    )
    groups = _lossless_groups(qos, intended)
    tcs = {effects.tc_of_dscp(qos, dscp) for dscp in intended}
    mapped = (
        qos is not None and require_fact(qos.tc_to_priority_group, "interface.qos.tc_to_priority_group") is not None
    )
    beside = _lossless_groups(qos, _dscps_of_classes(effects.rdma_classes(fabric)))
    dscps = _dscps_of_classes(
        traffic_class
        for traffic_class in fabric.classes
        if traffic_class.purpose == "cnp" or traffic_class.purpose in TCP_STORAGE
    )
    mixed = _dscps_of_classes(
        traffic_class
        for traffic_class in fabric.classes
        if traffic_class.purpose in STORAGE_PURPOSES or traffic_class.purpose in ("inband", "control")
    )

    def unintended(dscp: int) -> bool:
        tc = effects.tc_of_dscp(qos, dscp)
        group = effects.priority_group_of_tc(qos, tc)
        if mapped and tc not in tcs:
            return False
        return group in groups and effects.is_lossless(qos, tc) and not (dscp in mixed and group in beside)

    return tuple(dscp for dscp in range(64) if dscp not in intended | dscps and unintended(dscp))


@declare_word("function", rests_on=("classes",))
def unintended_dscps_except_macro(
    fabric: Fabric, style: str | None | Unknown, qos: QosProfile | None
) -> tuple[int, ...]:
    """Return the DSCPs of `unintended_lossless_dscps` except those that a RoCE macro maps there by itself."""
    return tuple(
        dscp
        for dscp in unintended_lossless_dscps(fabric, qos)
        if not (_is_macro_style(style) and _dscp_block_shares_tc(qos, dscp))
    )


@declare_word("function", rests_on=("classes",))
def unintended_dscps_of_macro(fabric: Fabric, device: Device) -> tuple[int, ...]:
    """Return the DSCPs of no lossless class that the RoCE macro of a switch maps to one, on any port that is up."""
    if not _is_macro_style(device.qos_style):
        return ()
    up = (port for port in device.interfaces if isinstance(port.enabled, Unknown) or port.enabled)
    profiles = dict.fromkeys(port.qos for port in up if not isinstance(port.qos, Unknown))
    dscp_pairs = ((qos, dscp) for qos in profiles for dscp in unintended_lossless_dscps(fabric, qos))
    return tuple(sorted({dscp for qos, dscp in dscp_pairs if _dscp_block_shares_tc(qos, dscp)}))


def _is_macro_style(style: str | None | Unknown) -> bool:
    return not isinstance(style, Unknown) and style == "macro"


def _dscp_block_shares_tc(qos: QosProfile | None, dscp: int) -> bool:
    """Whether all DSCPs with the same class selector land in one traffic class, as a RoCE macro maps them."""
    first_dscp = dscp - dscp % DSCPS_PER_BLOCK
    return (
        len({effects.tc_of_dscp(qos, block_dscp) for block_dscp in range(first_dscp, first_dscp + DSCPS_PER_BLOCK)})
        == 1
    )


def _dscps_of_classes(classes: Iterable[TrafficClass]) -> set[int]:
    return {dscp for traffic_class in classes for dscp in traffic_class.dscp}


def _lossless_groups(qos: QosProfile | None, dscps: Iterable[int]) -> set[int]:
    """Return the priority groups that DSCPs map to and that pause their sender."""
    tcs = {effects.tc_of_dscp(qos, dscp) for dscp in dscps}
    return {effects.priority_group_of_tc(qos, tc) for tc in tcs if effects.is_lossless(qos, tc)}
