"""Cables between switches that take smaller packets than hosts on both sides of the fabric send."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._plane import control_plane_of
from nodrop.analyses._targets import host_and_loopback_targets
from nodrop.model.index import Index
from nodrop.model.nics import ROCE_HEADERS_BYTES
from nodrop.model.states import Unknown
from nodrop.model.subject import link_subject as subject_of

RESTS_ON = frozenset({"cables", "hosts"})
GIVES_CHANGES = True
NEEDS_ROUTING = True
LOOKS_AT = frozenset({"mtu_bytes"})


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield cables whose MTU, the same at both ends, is below what two ports of hosts take, or below RDMA's packets.

    Ends that differ are another rule's.
    """
    needed, reason = _largest_host_packet(index)
    if needed is None:
        return
    for link in index.fabric.links:
        ports = [index.interface(*end) for end in (link.a, link.b)]
        if not all(end.node in index.devices for end in (link.a, link.b)) or None in ports:
            continue
        if not index.external_nodes.isdisjoint((link.a.node, link.b.node)):
            continue  # its owner chooses the MTU towards a neighbor outside
        port_mtus = {port.mtu_bytes for port in ports if port is not None}
        if any(isinstance(port_mtu, Unknown) for port_mtu in port_mtus):
            yield UndecidedSubject(subject=subject_of(link.a, link.b), missing="interface.mtu_bytes")
            continue
        mtu = next(iter(port_mtus))
        if len(port_mtus) == 1 and isinstance(mtu, int) and mtu < needed:
            yield AnalysisHit(
                subject=subject_of(link.a, link.b),
                at=(*link.a, "mtu_bytes"),
                facts={"a": str(link.a), "b": str(link.b), "mtu": mtu, "needed": needed, "reason": reason},
                related=(((*link.b, "mtu_bytes"), "the other end"),),
                changes=tuple(((*end, "mtu_bytes"), needed) for end in (link.a, link.b)),
            )


def _largest_host_packet(index: Index) -> tuple[int | None, str]:
    """Return the largest packet that goes from one host to another, and the source of that size."""
    plane = control_plane_of(index)
    mtus: dict[tuple[str, str], int] = {}
    for target in host_and_loopback_targets(index):
        device = plane.routers[target.router].device.name
        for name in target.leg.ports:
            port = index.interface(device, name)
            if port is not None and isinstance(port.mtu_bytes, int):
                mtus[device, name] = port.mtu_bytes
    rows = sorted(((mtu, f"{device} {name}") for (device, name), mtu in mtus.items()), reverse=True)[1:2]
    rows += [
        (host.rdma_mtu_bytes + ROCE_HEADERS_BYTES, f"RDMA of {host.name}")
        for host in index.fabric.hosts
        if not isinstance(host.rdma_mtu_bytes, Unknown)
    ]
    return max(rows, default=(None, ""), key=lambda row: row[0] or 0)
