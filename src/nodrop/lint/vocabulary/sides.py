"""Words about the two sides of pause: the traffic that it is for and the queue that it stops."""

from nodrop.fabric import effects
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import known
from nodrop.lint.vocabulary import word


def used_tcs(qos: QosProfile) -> tuple[int, ...]:
    """The traffic classes that packets land in, by whatever the port trusts."""
    tcs = {effects.tc_of_dscp(qos, dscp) for dscp in range(64)}
    by_pcp = known(qos.pcp_to_tc, "interface.qos.pcp_to_tc") or ()
    return tuple(sorted(tcs | {tc or 0 for tc in by_pcp}))


def misplaced_tcs(qos: QosProfile) -> tuple[int, ...]:
    """The lossless traffic classes whose pause stops another queue than the one that they leave by."""
    return tuple(tc for tc in used_tcs(qos) if any(True for _ in _stray(qos, tc)))


@word("function")
def misplaced_pause(qos: QosProfile) -> str:
    """How pause stops another queue than that of the traffic which it is for, as a sentence; else nothing.

    A full priority group pauses a priority, and the neighbor stops the queue of that priority; with the same maps at
    both ends, that has to be the queue by which the group's traffic leaves.
    """
    for tc in used_tcs(qos):
        for priority, stopped in _stray(qos, tc):
            what = "no queue" if stopped is None else f"queue {stopped}"
            leaves = f"traffic class {tc} leaves by queue {effects.queue_of_tc(qos, tc)}"
            return f"{leaves}, but its priority group {effects.group_of_tc(qos, tc)} pauses priority {priority}, {what}"
    return ""


def _stray(qos: QosProfile, tc: int) -> list[tuple[int, int | None]]:
    """The priorities that pause for a traffic class and stop another queue than its own, and which."""
    own = effects.queue_of_tc(qos, tc)
    stopped = {
        priority: _queue_of_priority(qos, priority)
        for priority in effects.pausing_priorities(qos, effects.group_of_tc(qos, tc))
    }
    return [(priority, queue) for priority, queue in stopped.items() if queue != own]


def _queue_of_priority(qos: QosProfile, priority: int) -> int | None:
    """Return the queue that a pause of that priority stops: the mapped one, without a map that of its number."""
    table = known(qos.pfc_to_queue, "interface.qos.pfc_to_queue")
    return priority if table is None else table[priority]


@word("function")
def sent_for(qos: QosProfile, group: int) -> tuple[int, ...]:
    """The priorities that a port pauses when a priority group is full."""
    return effects.pausing_priorities(qos, group)


@word("function")
def groups_without_headroom(qos: QosProfile) -> tuple[int, ...]:
    """The priority groups that take traffic in and pause its sender, but have no headroom for what still arrives."""
    groups = {group for tc in used_tcs(qos) if effects.pausing_priorities(qos, group := effects.group_of_tc(qos, tc))}
    return tuple(sorted(group for group in groups if not _has_headroom(qos, group)))


def _has_headroom(qos: QosProfile, group: int) -> bool:
    buffer = effects.group_buffer(qos, group)
    return buffer is not None and buffer.lossless
