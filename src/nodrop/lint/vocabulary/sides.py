"""Words about the two sides of pause: the traffic that it is for and the queue that it stops."""

from collections.abc import Iterable, Iterator

from nodrop.fabric import effects
from nodrop.fabric.fabric import Fabric, TrafficClass
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import Unknown, known
from nodrop.hardware import switch, switches
from nodrop.lint.vocabulary import word


def misplaced_tcs(qos: QosProfile) -> tuple[int, ...]:
    """The lossless traffic classes whose pause stops another queue than the one that they leave by."""
    return tuple(tc for tc, _, _ in _misplaced(qos))


@word("function")
def misplaced_pause(qos: QosProfile) -> str:
    """How pause stops another queue than that of the traffic which it is for, as a sentence; else nothing.

    A full priority group pauses a priority, and the neighbor stops the queue of that priority; with the same maps at
    both ends, that has to be the queue by which the group's traffic leaves.
    """
    for tc, priority, stopped in _misplaced(qos):
        leaves = f"traffic class {tc} leaves by queue {effects.queue_of_tc(qos, tc)}"
        pauses = f"its priority group {effects.group_of_tc(qos, tc)} pauses priority {priority}"
        return f"{leaves}, but {pauses}, which stops {'no queue' if stopped is None else f'queue {stopped}'}"
    return ""


def _misplaced(qos: QosProfile) -> Iterator[tuple[int, int, int | None]]:
    """Yield lossless traffic classes, a priority paused for each, and the queue that stops, if it is none of theirs.

    Where several classes share a group, it is enough that one of them is stopped: sharing is another fault.
    """
    queues: dict[int, set[int]] = {}
    for tc in effects.used_tcs(qos):
        queues.setdefault(effects.group_of_tc(qos, tc), set()).add(effects.queue_of_tc(qos, tc))
    for tc in effects.used_tcs(qos):
        group = effects.group_of_tc(qos, tc)
        for priority in effects.pausing_priorities(qos, group):
            stopped = _queue_of_priority(qos, priority)
            if stopped not in queues[group]:
                yield tc, priority, stopped
                break


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
    groups = {effects.group_of_tc(qos, tc) for tc in effects.used_tcs(qos) if effects.is_lossless(qos, tc)}
    return tuple(sorted(group for group in groups if not _has_headroom(qos, group)))


def _has_headroom(qos: QosProfile, group: int) -> bool:
    buffer = effects.group_buffer(qos, group)
    return buffer is not None and buffer.lossless


@word("function")
def table_lacks(
    buffer_model: str | None | Unknown, model: str | Unknown, mbps: int | None | Unknown, metres: int | None | Unknown
) -> bool:
    """Whether a switch writes no headroom because the table of its SKU has no row for a speed and cable length."""
    if isinstance(buffer_model, Unknown) or isinstance(model, Unknown) or isinstance(mbps, Unknown):
        return False
    if buffer_model != "traditional" or isinstance(metres, Unknown) or model not in switches():
        return False
    rows = switch(model).sonic.headroom_table
    return bool(rows) and metres is not None and all((row[0], row[1]) != (mbps, metres) for row in rows)


@word("function", rests_on=("classes",))
def unintended_dscps(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """The DSCPs that share a priority group with lossless classes and are of none.

    Those of CNPs are left out, and those of storage, in-band and control traffic beside RDMA: other rules tell them.
    """
    intended = _dscps(one for one in fabric.classes if known(one.lossless, "traffic_class.lossless"))
    groups = _lossless_groups(qos, intended)
    beside = _lossless_groups(qos, _dscps(effects.rdma_classes(fabric)))
    told = _dscps(one for one in fabric.classes if one.purpose == "cnp")
    mixed = _dscps(one for one in fabric.classes if one.purpose in ("storage", "inband", "control"))

    def unintended(dscp: int) -> bool:
        tc = effects.tc_of_dscp(qos, dscp)
        group = effects.group_of_tc(qos, tc)
        return group in groups and effects.is_lossless(qos, tc) and not (dscp in mixed and group in beside)

    return tuple(dscp for dscp in range(64) if dscp not in intended | told and unintended(dscp))


def _dscps(classes: Iterable[TrafficClass]) -> set[int]:
    return {dscp for one in classes for dscp in one.dscp}


def _lossless_groups(qos: QosProfile, dscps: Iterable[int]) -> set[int]:
    """The priority groups in which DSCPs land and that pause their sender."""
    tcs = {effects.tc_of_dscp(qos, dscp) for dscp in dscps}
    return {effects.group_of_tc(qos, tc) for tc in tcs if effects.is_lossless(qos, tc)}
