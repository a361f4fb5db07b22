"""The two ends of every cable, hosts' ports included: whether they run at one speed, on lanes that the cable joins.

A link with a shut end is not checked: nothing runs there, and the shut end is a separate fault.
"""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, HitFact, UndecidedSubject
from nodrop.analyses._pairs import CableEndPorts
from nodrop.hardware import medium, nics, switches
from nodrop.hardware.lanes import (
    PlugLanes,
    pluggable_lanes_of_nic,
    pluggable_lanes_of_switch_ports,
    possible_lane_counts,
)
from nodrop.model.fabric import End, HostPort, Interface, Link, Port
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as subject_of_link

RESTS_ON = frozenset({"cables", "hosts"})
GIVES_CHANGES = frozenset({"speed"})
READS_NEARBY_FACTS = True

CableEndMismatch = tuple[str, dict[str, HitFact]] | str | None
"""The field at fault with the facts of the message, the path of a fact that is missing, or nothing."""


def find(index: Index, *, what: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the links whose ends differ in `what`: `speed`, or `lanes` where the cable is passive."""
    check = {"speed": _find_speed_mismatch_of_ends, "lanes": _find_lane_mismatch_of_ends}[what]
    pairs = CableEndPorts(index)
    for link, a, b in pairs.links_in_use():
        fault = check(index, link, a, b)
        if fault is None:
            continue
        subject = subject_of_link(link.a, link.b)
        if isinstance(fault, str):
            yield UndecidedSubject(subject=subject, missing=fault)
            continue
        field, facts = fault
        switches = [end for end in (link.a, link.b) if end.node in index.devices]
        places: list[Subject] = [(end.node, end.port, field) for end in switches]
        yield AnalysisHit(
            subject=subject,
            at=places[0] if places else subject,
            facts={"link": subject[-1], **facts},
            related=tuple((place, "the other end") for place in places[1:]),
            changes=tuple(_speed_changes(index, link)) if what == "speed" else (),
        )
    yield from pairs.devices_with_unread_neighbors()


def _speed_changes(index: Index, link: Link) -> Iterator[tuple[Subject, object]]:
    """Yield the speed of the other end for that end which has another than most ports of its switch that face the same.

    If that is so of neither, the speed counts that the ends of other cables of one of the two switches share, towards
    the same side: the switch at the other end differs from its neighbor's other neighbors. Nothing if it is so of both.
    """
    ends = (link.a, link.b), (link.b, link.a)
    odd = [
        (end, far.speed_mbps)
        for end, other_end in ends
        if isinstance(far := index.port_at_end(other_end), Interface | HostPort)
        and _is_speed_rarer_on_side(index, end, far.speed_mbps)
    ]
    if not odd:
        odd = [
            (end, shared)
            for end, other_end in ends
            if index.interface(*end) is not None
            and (shared := _speed_shared_by_other_cables(index, other_end)) is not None
            and _speed_shared_by_other_cables(index, end) is None
        ]
    if len(odd) == 1:
        end, speed = odd[0]
        yield (end.node, end.port, "speed_mbps"), speed


def _speed_shared_by_other_cables(index: Index, end: End) -> int | None:
    """Return the speed of a port if another cable of its switch has it at both ends, to the same side; else None."""
    port = index.interface(*end)
    if port is None or isinstance(port.side, Unknown) or not isinstance(port.speed_mbps, int):
        return None
    for other in index.devices[end.node].interfaces:
        if (
            other is port
            or isinstance(other.side, Unknown)
            or (other.side, other.speed_mbps) != (port.side, port.speed_mbps)
        ):
            continue
        far_end = index.far_end(end.node, other.name)
        far = index.port_at_end(far_end) if far_end is not None else None
        if isinstance(far, Interface | HostPort) and far.speed_mbps == port.speed_mbps:
            return port.speed_mbps
    return None


def _is_speed_rarer_on_side(index: Index, end: End, far_mbps: object) -> bool:
    own_interface = index.interface(*end)
    if (
        own_interface is None
        or isinstance(own_interface.side, Unknown)
        or not isinstance(own_interface.speed_mbps, int)
    ):
        return False
    alike = (interface for interface in index.devices[end.node].interfaces if interface is not own_interface)
    speeds = [
        interface.speed_mbps
        for interface in alike
        if not isinstance(interface.side, Unknown) and interface.side == own_interface.side
    ]
    known_speeds = [speed for speed in speeds if isinstance(speed, int)]
    return (
        known_speeds.count(own_interface.speed_mbps) < known_speeds.count(far_mbps)
        if isinstance(far_mbps, int)
        else False
    )


def _fact_path(port: Interface | HostPort, field: str) -> str:
    return f"{'interface' if isinstance(port, Interface) else 'host_port'}.{field}"


def _find_speed_mismatch_of_ends(
    _index: Index, _link: Link, a: Interface | HostPort, b: Interface | HostPort
) -> CableEndMismatch:
    for port in (a, b):
        if isinstance(port.speed_mbps, Unknown) or port.speed_mbps is None:
            return _fact_path(port, "speed_mbps")
    if a.speed_mbps == b.speed_mbps:
        return None
    return "speed_mbps", {"speed_a": _require_number(a.speed_mbps), "speed_b": _require_number(b.speed_mbps)}


def _find_lane_mismatch_of_ends(
    index: Index, link: Link, a: Interface | HostPort, b: Interface | HostPort
) -> CableEndMismatch:
    """Return that a passive cable joins no lanes of its ends; an active one has a retimer at each end that joins any.

    Where the speeds differ too the lanes follow from that, and are not reported again.
    """
    kind = medium(link.media)
    if kind is not None and not kind.passive:
        return None
    for port in (a, b):
        if isinstance(port.lanes, Unknown) or port.lanes is None:
            return _fact_path(port, "lanes")
        if isinstance(port.speed_mbps, Unknown) or port.speed_mbps is None:
            return _fact_path(port, "speed_mbps")
    if a.lanes == b.lanes or a.speed_mbps != b.speed_mbps:
        return None
    if kind is None:
        return "link.media"
    speed, plugs = (
        _require_number(a.speed_mbps),
        [_plug_lanes_of_port(index, link.a, a), _plug_lanes_of_port(index, link.b, b)],
    )
    if None in plugs:
        return "device.model"
    if kind.links_at_speed_and_lanes(
        speed,
        possible_lane_counts(frozenset.intersection(*(port_plugs for port_plugs in plugs if port_plugs is not None))),
    ):
        return None
    return "lanes", {
        "lanes_a": _require_number(a.lanes),
        "lanes_b": _require_number(b.lanes),
        "speed": speed,
        "media": kind.name,
    }


def _plug_lanes_of_port(index: Index, end: End, port: Interface | HostPort) -> PlugLanes | None:
    """Return what can be plugged into a port; None where that depends on a model that is not known."""
    speed, lanes = _require_number(port.speed_mbps), _require_number(port.lanes)
    if isinstance(port, HostPort):
        card = index.hosts[end.node].nic
        plugs = pluggable_lanes_of_nic(card, speed) if card in nics() else frozenset({(lanes, lanes)})
        return frozenset(plug for plug in plugs if plug[1] == lanes) or frozenset({(lanes, lanes)})
    model = index.devices[end.node].model
    if isinstance(model, Unknown):
        return None
    panels = (port.port.panel,) if isinstance(port.port, Port) else ()
    return (
        pluggable_lanes_of_switch_ports(model, panels, lanes, speed)
        if model in switches()
        else frozenset({(lanes, lanes)})
    )


def _require_number(value: int | Unknown | None) -> int:
    """Return a value that was found to be known."""
    assert isinstance(value, int)
    return value
