"""BGP sessions over a cable that only one end watches by BFD (RFC 5880): BFD comes up between two, or not at all."""

from collections.abc import Iterator, Mapping

from nodrop.analyses import AnalysisHit
from nodrop.analyses._tiers import port_addresses_without_length
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject

RESTS_ON = frozenset({"cables"})
GIVES_CHANGES = True
READS_NEARBY_FACTS = True

SessionEnd = tuple[Subject, BgpNeighbor]


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the end that does not watch, of each session over a cable that the other end does."""
    watching = {device.name for device in index.fabric.devices if any(map(_uses_bfd, device.known_bgp_processes))}
    if not watching:
        return
    sessions: dict[str, Mapping[tuple[str | None, str], SessionEnd]] = {}
    for link in index.fabric.links:
        if link.a.node not in watching and link.b.node not in watching:
            continue
        ports = index.interface(*link.a), index.interface(*link.b)
        if ports[0] is None or ports[1] is None:
            continue
        for name in (link.a.node, link.b.node):
            if name not in sessions:
                sessions[name] = _sessions_of_device(index.devices[name])
        a = _find_session_over_port(sessions[link.a.node], ports[0], ports[1])
        b = _find_session_over_port(sessions[link.b.node], ports[1], ports[0])
        if a is not None and b is not None and a[1].bfd != b[1].bfd and a[1].enabled and b[1].enabled:
            watching_end, silent_end = (a, b) if a[1].bfd else (b, a)
            odd, other = (
                (watching_end, silent_end)
                if _is_only_bfd_session(sessions, watching_end)
                else (silent_end, watching_end)
            )
            yield AnalysisHit(
                subject=silent_end[0],
                at=(*odd[0], "bfd"),
                facts={"device": silent_end[0][0], "session": silent_end[1].key, "far": watching_end[0][0]},
                related=(((*other[0], "bfd"), "the end with BFD" if other is watching_end else "the end without"),),
                changes=(((*odd[0], "bfd"), odd is silent_end),),
            )


def _is_only_bfd_session(
    sessions: Mapping[str, Mapping[tuple[str | None, str], SessionEnd]], watching_end: SessionEnd
) -> bool:
    """Whether a session is the only one of its switch with BFD, of more than two."""
    own = sessions[watching_end[0][0]].values()
    return len(own) > 2 and sum(neighbor.bfd for _, neighbor in own) == 1


def _uses_bfd(bgp: Bgp) -> bool:
    return any(neighbor.bfd for neighbor in known_rows(bgp.neighbors))


def _sessions_of_device(device: Device) -> Mapping[tuple[str | None, str], SessionEnd]:
    """Return the sessions of a device by VRF and key, with their subjects."""
    return {
        (bgp.vrf, neighbor.key): (_session_subject(device, bgp, neighbor), neighbor)
        for bgp in device.known_bgp_processes
        for neighbor in known_rows(bgp.neighbors)
    }


def _session_subject(device: Device, bgp: Bgp, neighbor: BgpNeighbor) -> Subject:
    inside = ("@neighbors",) if bgp.vrf is None else ("@vrf_bgp", bgp.vrf, "neighbors")
    return (device.name, *inside, neighbor.key)


def _find_session_over_port(
    sessions: Mapping[tuple[str | None, str], SessionEnd], port: Interface, far: Interface
) -> SessionEnd | None:
    """Return the session over a port: to it, or to an address of the far end."""
    vrf = None if isinstance(port.vrf, Unknown) else port.vrf
    keys = ((vrf, name) for name in (port.name, *port_addresses_without_length(far)))
    return next((sessions[key] for key in keys if key in sessions), None)
