"""Hosts whose RDMA packets, headers included, do not fit the switch port that they are cabled to."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, HitFact, UndecidedSubject
from nodrop.model.fabric import Interface
from nodrop.model.index import Index
from nodrop.model.nics import ROCE_HEADERS_BYTES
from nodrop.model.states import Unknown
from nodrop.model.subject import link_subject as subject_of

RESTS_ON = frozenset({"cables", "hosts"})
READS_NEARBY_FACTS = True


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the cables at which they do not; facts: host, rdma_mtu, port, mtu and needed, in bytes."""
    for host in index.fabric.hosts:
        if isinstance(host.rdma_mtu_bytes, Unknown):
            continue
        needed = host.rdma_mtu_bytes + ROCE_HEADERS_BYTES
        for own_port in host.ports:
            far = index.far_end(host.name, own_port.name)
            port = index.interface(*far) if far else None
            link = index.link(host.name, own_port.name)
            if far is None or link is None or not isinstance(port, Interface):
                continue
            if isinstance(port.mtu_bytes, Unknown):
                yield UndecidedSubject(subject=(far.node,), missing="interface.mtu_bytes")
            elif port.mtu_bytes is not None and port.mtu_bytes < needed:
                facts: dict[str, HitFact] = {"host": host.name, "rdma_mtu": host.rdma_mtu_bytes, "needed": needed}
                facts |= {"port": f"{far.node} {far.port}", "mtu": port.mtu_bytes}
                yield AnalysisHit(subject=subject_of(link.a, link.b), at=(*far, "mtu_bytes"), facts=facts)
