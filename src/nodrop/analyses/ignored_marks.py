"""Switch ports that mark packets of RDMA towards hosts whose NICs are stated not to slow down for marks.

Where files of the NICs were read, those are judged instead; not in mode pfc-only, where NICs are right not to.
"""

from collections.abc import Iterator
from functools import cache, partial

from nodrop.analyses import AnalysisHit
from nodrop.model import effects
from nodrop.model.fabric import End, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, is_known_off, require_fact

RESTS_ON = frozenset({"cables", "classes", "hosts"})


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield, once for each group of such hosts, the first port towards them that marks.

    Facts: group, hosts (how many of it are so), device, port and queue.
    """
    if index.fabric.nics and index.fabric.mode != "pfc-only":
        return
    marking_queue = cache(partial(_first_ecn_marking_rdma_queue, index.fabric))
    deaf: dict[str, int] = {}
    marking_by_group: dict[str, tuple[End, int]] = {}
    for host in index.fabric.hosts:
        if isinstance(host.dcqcn, Unknown) or host.dcqcn:
            continue
        deaf[host.group] = deaf.get(host.group, 0) + 1
        if host.group in marking_by_group:
            continue
        for end in filter(None, (index.far_end(host.name, port.name) for port in host.ports)):
            port = index.port_at_end(end)
            if not isinstance(port, Interface) or not isinstance(port.qos, QosProfile) or is_known_off(port.enabled):
                continue
            queue = marking_queue(port.qos)
            if queue is not None:
                marking_by_group[host.group] = end, queue
                break
    for group, (end, queue) in marking_by_group.items():
        yield AnalysisHit(
            subject=tuple(end),
            at=(*end, "qos", "queues", str(queue), "wred"),
            facts={"group": group, "hosts": deaf[group], "device": end.node, "port": end.port, "queue": queue},
            discriminator=group,
        )


def _first_ecn_marking_rdma_queue(fabric: Fabric, qos: QosProfile) -> int | None:
    """Return the first queue of RDMA that marks green; None where there is none, or where that is not known."""
    try:
        for index in effects.rdma_queues(fabric, qos):
            queue = effects.find_queue(qos, index)
            wred = None if queue is None else require_fact(queue.wred, "queue.wred")
            if wred is not None and "green" in wred.ecn_colors:
                return index
    except UnknownFact:
        return None
    return None
