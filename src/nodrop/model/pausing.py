"""The map rows that make a pause stop traffic that it is not meant for."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.model import effects
from nodrop.model.qos import NumberMap, QosProfile
from nodrop.model.states import require_fact

PRIORITY_GROUP_MAPS = ("tc_to_priority_group", "pfc_to_priority_group")
"""The maps to priority groups, as a QoS profile names them."""


class ExpectedMapRow(NamedTuple):
    """A row of a map: the field of a QoS profile, the key, and the value that the row must have."""

    field: str
    key: int
    expected: int


class MisplacedTrafficClass(NamedTuple):
    """A traffic class that a priority is not for alone: why, and the one row that decides it, if it is one."""

    tc: int
    priority: int
    why: str
    row: ExpectedMapRow | None


def find_classes_with_group_queue_mismatch(qos: QosProfile) -> Iterator[MisplacedTrafficClass]:
    """Yield the traffic classes that use the queue or the priority group of a PFC priority, but not both.

    A full priority group pauses a priority, and the neighbor stops the queue of that priority; with the same maps at
    both ends, the group's traffic must leave by that queue. Where several classes share a group, it is enough that one
    of them is stopped: sharing is another fault.
    """
    for priority in require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities"):
        group, queue = priority_group_of_pfc_priority(qos, priority), queue_stopped_by_pfc_priority(qos, priority)
        used = [
            (tc, effects.priority_group_of_tc(qos, tc), effects.queue_of_tc(qos, tc)) for tc in effects.used_tcs(qos)
        ]
        paused = [(tc, leaves) for tc, enters, leaves in used if enters == group]
        stopped = [(tc, enters) for tc, enters, leaves in used if leaves == queue]
        stops = "no queue" if queue is None else f"queue {queue}"
        if group is not None and not paused:
            for tc, enters in stopped:
                is_for = f"priority group {group} pauses priority {priority}, which stops {stops}"
                why = f"{is_for}, but traffic class {tc} enters group {enters}"
                yield MisplacedTrafficClass(tc, priority, why, _find_sole_mismapped_row(qos, tc, priority))
        elif all(leaves != queue for _, leaves in paused):
            for tc, leaves in paused:
                is_for = f"priority group {group} pauses priority {priority}, which stops {stops}"
                why = f"{is_for}, but traffic class {tc} uses queue {leaves}"
                yield MisplacedTrafficClass(tc, priority, why, _find_sole_mismapped_row(qos, tc, priority))


def _find_sole_mismapped_row(qos: QosProfile, tc: int, priority: int) -> ExpectedMapRow | None:
    """Return the one row of a class or its priority that leads to another number than its own; None of several."""
    rows = (
        ExpectedMapRow("tc_to_queue", tc, tc),
        ExpectedMapRow("tc_to_priority_group", tc, tc),
        ExpectedMapRow("pfc_to_queue", priority, priority),
        ExpectedMapRow("pfc_to_priority_group", priority, priority),
    )
    odd = [row for row in rows if _differs_from_expected(getattr(qos, row.field), row)]
    return odd[0] if len(odd) == 1 else None


def _differs_from_expected(table: NumberMap | None, row: ExpectedMapRow) -> bool:
    return table is not None and effects.map_entry(table, row.key) != row.expected


def priority_group_of_pfc_priority(qos: QosProfile, priority: int) -> int | None:
    """Return the priority group for which a port pauses that priority: the mapped one, else that of its number."""
    table = require_fact(qos.pfc_to_priority_group, "interface.qos.pfc_to_priority_group")
    return priority if table is None else effects.map_entry(table, priority)


def queue_stopped_by_pfc_priority(qos: QosProfile, priority: int) -> int | None:
    """Return the queue that a pause of that priority stops: the mapped one, without a map that of its number."""
    table = require_fact(qos.pfc_to_queue, "interface.qos.pfc_to_queue")
    return priority if table is None else effects.map_entry(table, priority)


def lossless_priority_groups_shared_by_tcs(qos: QosProfile) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the priority groups that pause their sender and have several traffic classes mapped to them, with those.

    Groups that no packet lands in count too: classes mapped to them later are paused with the others.
    """
    table = require_fact(qos.tc_to_priority_group, "interface.qos.tc_to_priority_group") or ()
    for group in sorted({mapped_group for mapped_group in table if mapped_group is not None}):
        tcs = tuple(tc for tc, mapped in enumerate(table) if mapped == group)
        if len(tcs) > 1 and effects.pausing_priorities_of_priority_group(qos, group):
            yield group, tcs
