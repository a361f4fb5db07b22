"""Dynamic thresholds unlike those of their siblings: the share of the free memory that a group or queue may take.

If the switch computes its lossless profiles, one threshold applies to all of them and the finding is on the switch, not
on each of its ports. Ports that are given no buffer at all are left out: SONiC takes the buffer of unused ports away.
"""

from collections.abc import Iterator
from functools import cache

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._kinship import PortsByFamilyAndProfile, PortWithQosProfile
from nodrop.model import effects
from nodrop.model.buffers import BufferProfile, DynamicBuffers, Headroom
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, known_rows

RESTS_ON = frozenset({"roles", "models"})
GIVES_CHANGES = True

GROUP, QUEUE = "priority group", "queue"
_FIELD_BY_ROW_KIND = {GROUP: "priority_groups", QUEUE: "queues"}

AlphaKey = tuple[str, int, str, bool]
"""A priority group or a queue, by its number, its pool, and whether it has headroom."""


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the priority groups, queues and switches whose alpha is not the usual one."""
    kinship = PortsByFamilyAndProfile(index, sides=False)
    read_thresholds = cache(lambda qos: dict(_dynamic_thresholds(qos)))
    keys = sorted(
        {
            key
            for kinds in kinship.families.values()
            for kind in kinds.values()
            for key in read_thresholds(kind.first.qos)
        }
    )
    reported_devices: set[str] = set()
    for key in keys:
        usual = kinship.most_common_value_by_family(lambda member, key=key: read_thresholds(member.qos).get(key))  # type: ignore[misc]
        for family, (expected, sibling, count) in usual.items():
            for first_member, members in kinship.ports_by_profile(family):
                if (own_threshold := read_thresholds(first_member.qos).get(key)) is None or own_threshold == expected:
                    continue
                for member in members:
                    if member.device.name not in reported_devices:
                        hit = _build_hit(member, key, own_threshold, expected, sibling, count)
                        if hit.subject == (member.device.name,):
                            reported_devices.add(member.device.name)
                        yield hit


def _dynamic_thresholds(qos: QosProfile) -> Iterator[tuple[AlphaKey, int]]:
    if _has_only_zero_buffers(qos):
        return
    for row_kind, rows in ((GROUP, qos.priority_groups), (QUEUE, qos.queues)):
        for row in () if isinstance(rows, Unknown) else rows:
            if isinstance(row.buffer, BufferProfile) and row.buffer.dynamic_th is not None:
                yield (
                    (row_kind, row.index, row.buffer.pool or "", isinstance(row.buffer.headroom, Headroom)),
                    row.buffer.dynamic_th,
                )


def _has_only_zero_buffers(qos: QosProfile) -> bool:
    """Whether all buffers of a port are stated and hold nothing (buffers_config.j2: zero profiles of unused ports)."""
    own_buffers = (
        *(group.buffer for group in known_rows(qos.priority_groups)),
        *(queue.buffer for queue in known_rows(qos.queues)),
    )
    buffers = [buffer for buffer in own_buffers if buffer is not None]
    return bool(buffers) and all(isinstance(buffer, BufferProfile) and _is_empty_buffer(buffer) for buffer in buffers)


def _is_empty_buffer(buffer: BufferProfile) -> bool:
    has_no_share = buffer.static_th_bytes == 0 or (
        buffer.dynamic_th is not None and buffer.dynamic_th <= effects.NVIDIA_ZERO_DYNAMIC_TH
    )
    return has_no_share and buffer.size_bytes == 0


def _build_hit(
    member: PortWithQosProfile,
    key: AlphaKey,
    own_threshold: int,
    expected: int,
    sibling: PortWithQosProfile,
    count: int,
) -> AnalysisHit:
    row_kind, number, *_ = key
    device, port = member.device.name, member.port.name
    row = ("qos", _FIELD_BY_ROW_KIND[row_kind], str(number))
    is_computed = _is_computed_threshold(member, key)
    subject = (device,) if is_computed else (device, port, *row)
    at = (device, "@dynamic_buffers", "dynamic_th") if is_computed else (*subject, "buffer", "dynamic_th")
    sibling_place = (
        (sibling.device.name, "@dynamic_buffers", "dynamic_th")
        if _is_computed_threshold(sibling, key)
        else (sibling.device.name, sibling.port.name, *row, "buffer", "dynamic_th")
    )
    return AnalysisHit(
        subject=subject,
        at=at,
        facts={
            "holder": device if is_computed else port,
            "what": "every computed lossless priority group" if is_computed else f"{row_kind} {number}",
            "device": device,
            "port": port,
            "own": own_threshold,
            "usual": expected,
            "sibling_device": sibling.device.name,
            "sibling_port": sibling.port.name,
            "siblings": count,
        },
        related=((sibling_place, "as most of its siblings have it"),),
        changes=((at, expected),),
    )


def _is_computed_threshold(member: PortWithQosProfile, key: AlphaKey) -> bool:
    """Whether a threshold is that of all profiles which the switch computes."""
    row_kind, number, *_ = key
    groups = known_rows(member.qos.priority_groups)
    buffer = next((group.buffer for group in groups if row_kind == GROUP and group.index == number), None)
    headroom = buffer.headroom if isinstance(buffer, BufferProfile) else None
    settings = member.device.dynamic_buffers
    return isinstance(settings, DynamicBuffers) and isinstance(headroom, Headroom) and headroom.computed
