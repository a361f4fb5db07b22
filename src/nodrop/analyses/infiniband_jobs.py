"""Jobs on InfiniBand with the traffic class of RoCE, with which NVSHMEM does not start."""

from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.model.index import Index
from nodrop.model.nics import value_or_none


def find(index: Index) -> Iterator[Hit]:
    """Yield the files that give NVSHMEM a traffic class where the host's NICs are on InfiniBand. Facts: found."""
    for nic in index.fabric.nics:
        traffic_class = value_or_none(nic, "nvshmem_traffic_class")
        own_nics = [other_nic for other_nic in index.fabric.nics if other_nic.host == nic.host]
        layers = {value_or_none(own_nic, "link_layer") for own_nic in own_nics}
        if traffic_class and layers - {None} == {"infiniband"}:
            yield Hit(subject=nic.subject, at=(*nic.subject, "nvshmem_traffic_class"), facts={"found": traffic_class})
