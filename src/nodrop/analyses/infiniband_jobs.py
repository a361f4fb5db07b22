"""Jobs on InfiniBand with the traffic class of RoCE, with which NVSHMEM does not start."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._link_layers import link_layers_of_host
from nodrop.model.index import Index
from nodrop.model.nics import value_or_none


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the files that give NVSHMEM a traffic class where the host's NICs are on InfiniBand. Facts: found.

    Not where the file turns IBGDA off, which is the transport that fails.
    """
    for nic in index.fabric.nics:
        traffic_class = value_or_none(nic, "nvshmem_traffic_class")
        if (
            traffic_class
            and value_or_none(nic, "ibgda") is not False
            and link_layers_of_host(index, nic.host) == {"infiniband"}
        ):
            yield AnalysisHit(
                subject=nic.subject, at=(*nic.subject, "nvshmem_traffic_class"), facts={"found": traffic_class}
            )
