"""Configured cable lengths: whether the two ends of a cable agree, and whether they match the stated length.

Only ports with PFC are checked, because a length serves only headroom. If the true length is stated, an end may
also have the next row above it in its SKU's table, as the traditional buffer model needs.
"""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._pairs import CableEndPorts
from nodrop.hardware.bounds import headroom_rows
from nodrop.model.fabric import Device, HostPort, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown, UnknownFact
from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as subject_of_link

RESTS_ON = frozenset({"cables"})
READS_NEARBY_FACTS = True


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the cables whose ends have lengths that cannot both be right, or one that is too short."""
    pairs = CableEndPorts(index)
    for link, a, b in pairs.links_in_use():
        ends = [(node, port) for node, port in ((link.a, a), (link.b, b)) if isinstance(port, Interface)]
        true_m = None if isinstance(link.length_m, Unknown) else link.length_m
        if all(port.cable_length_m is true_m or _has_cable_length(port, true_m) for _, port in ends):
            continue
        subject = subject_of_link(link.a, link.b)
        missing = next((path for _, port in ends if (path := _missing_fact_path(port))), None)
        if missing:
            yield UndecidedSubject(subject=subject, missing=missing)
            continue
        lengths = [port.cable_length_m for _, port in ends if _obeys_pause(port)]
        metres = [length for length in lengths if isinstance(length, int)]
        differ = len(metres) == 2 and metres[0] != metres[1]
        short = true_m is not None and any(length_m < true_m for length_m in metres)
        rounded = all(_matches_rounded_length(index.devices[end.node], port, true_m) for end, port in ends)
        if short or (differ and not rounded):
            places: list[Subject] = [(end.node, end.port, "cable_length_m") for end, port in ends]
            wrong = next((at for at, length_m in enumerate(metres) if length_m != true_m), 0)
            yield AnalysisHit(
                subject=subject,
                at=places[wrong],
                facts={
                    "link": subject[-1],
                    "lengths": " and ".join(f"{length_m} m" for length_m in metres),
                    "truth": "" if true_m is None else f"; the cable is {true_m} m long",
                    "device_a": ends[0][0].node,
                    "port_a": ends[0][0].port,
                    "device_b": ends[-1][0].node,
                    "port_b": ends[-1][0].port,
                },
                related=tuple((place, "the other end") for place in places if place is not places[wrong]),
            )
    yield from pairs.devices_with_unread_neighbors()


def _has_cable_length(port: Interface, metres: int | None) -> bool:
    return not isinstance(port.cable_length_m, Unknown) and port.cable_length_m == metres


def _missing_fact_path(port: Interface | HostPort) -> str:
    """Return the unknown facts of a port's cable length and pause."""
    if isinstance(port, HostPort):
        return ""
    if isinstance(port.cable_length_m, Unknown):
        return "interface.cable_length_m"
    if isinstance(port.qos, Unknown):
        return "interface.qos"
    unknown = port.qos is not None and isinstance(port.qos.pfc_rx_priorities, Unknown)
    return "interface.qos.pfc_rx_priorities" if unknown else ""


def _obeys_pause(port: Interface) -> bool:
    return not isinstance(port.qos, Unknown) and port.qos is not None and bool(port.qos.pfc_rx_priorities)


def _matches_rounded_length(device: Device, port: Interface, true_m: int | None) -> bool:
    """Whether a port has the length of its cable, or the next row of its SKU's table above it."""
    if true_m is None or _has_cable_length(port, true_m):
        return true_m is not None
    if isinstance(device.buffer_model, Unknown) or device.buffer_model != "traditional":
        return False
    try:
        rows = [row.cable_m for row in headroom_rows(device) if row.speed_mbps == port.speed_mbps]
    except UnknownFact:
        return False
    return _has_cable_length(port, min((row for row in rows if row >= true_m), default=None))
