"""Watchdogs out of order: those between switches have to act later than all at hosts, to let the nearest hop act first.

A watchdog at a host has acted at the latest two pollings after its detection time. Ports are compared within the
switches that cables join. If the order is right in general, the odd ports are reported, both early ones between
switches and late ones at hosts; if it is wrong in general, all those between switches are. Times that a system starts
with by itself are left out: `watchdog-has-stock-times` reports them once for a switch.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._islands import group_representative_by_device
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.platforms.kit.traits import newest_traits

RESTS_ON = frozenset({"cables"})


class _WatchedPorts(NamedTuple):
    """Ports of a switch with a watchdog, and when that acts, ms: at the latest at a host, at the earliest elsewhere."""

    device: str
    names: tuple[str, ...]
    acts_ms: int


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the ports whose watchdog acts out of order; the facts are port, own, own_ms, other and other_ms."""
    joined = group_representative_by_device(index)
    hosts: defaultdict[str, list[_WatchedPorts]] = defaultdict(list)
    fabric: defaultdict[str, list[_WatchedPorts]] = defaultdict(list)
    for device in index.fabric.devices:
        missing: dict[str, None] = {}
        for ports, detection_ms in _find_detection_times(index, device, missing):
            names, side = tuple(port.name for port in ports), ports[0].side
            if isinstance(side, Unknown):
                missing["interface.side"] = None
            elif side == "fabric" and not _has_stock_times(device, ports[0]):
                fabric[joined[device.name]].append(_WatchedPorts(device.name, names, detection_ms))
            elif side == "host" and isinstance(device.watchdog_polling_ms, Unknown):
                missing["device.watchdog_polling_ms"] = None
            elif side == "host":
                latest_ms = detection_ms + 2 * (device.watchdog_polling_ms or 0)
                hosts[joined[device.name]].append(_WatchedPorts(device.name, names, latest_ms))
        yield from (UndecidedSubject(subject=(device.name,), missing=path) for path in missing)
    for island in (host for host in hosts if host in fabric):
        yield from _misordered_watchdog_hits(hosts[island], fabric[island])


def _has_stock_times(device: Device, port: Interface) -> bool:
    """Whether the times are those that the system starts with; `watchdog-has-stock-times` reports these once."""
    traits, qos, polling_ms = newest_traits(device.platform), port.qos, device.watchdog_polling_ms
    if traits is None or isinstance(qos, Unknown) or qos is None or isinstance(polling_ms, Unknown):
        return False
    watchdog = qos.pfc_watchdog
    if watchdog is None or isinstance(watchdog, Unknown):
        return False
    return traits.watchdog.has_stock_times(len(device.interfaces), polling_ms, watchdog)


def _find_detection_times(
    index: Index, device: Device, missing: dict[str, None]
) -> Iterator[tuple[Sequence[Interface], int]]:
    """Yield the ports in use whose watchdog has a detection time, and that time; unknown facts go to `missing`."""
    for ports in index.groups_of_alike_ports(device):
        first_interface = ports[0]
        if first_interface.enabled is False or first_interface.side is None or first_interface.qos is None:
            continue
        watchdog = first_interface.qos if isinstance(first_interface.qos, Unknown) else first_interface.qos.pfc_watchdog
        if isinstance(watchdog, Unknown):
            missing["interface.qos" if first_interface.qos is watchdog else "interface.qos.pfc_watchdog"] = None
        elif watchdog is not None:
            detection_ms = watchdog.detection_ms
            if isinstance(detection_ms, Unknown):
                missing["interface.qos.pfc_watchdog.detection_ms"] = None
            elif detection_ms is not None:
                yield ports, detection_ms


def _misordered_watchdog_hits(hosts: list[_WatchedPorts], fabric: list[_WatchedPorts]) -> Iterator[AnalysisHit]:
    usual_host, usual_fabric = _ports_with_most_common_time(hosts, -1), _ports_with_most_common_time(fabric, 1)
    late: list[_WatchedPorts] = []
    if usual_host.acts_ms < usual_fabric.acts_ms:
        late = [host for host in hosts if host.acts_ms >= usual_fabric.acts_ms]
        usual_host = max(
            (host for host in hosts if host.acts_ms < usual_fabric.acts_ms), key=lambda group: group.acts_ms
        )
    for ports in late:
        yield from _build_hits(ports, "at a host, takes up to", "those between switches act after", usual_fabric)
    for ports in fabric:
        if ports.acts_ms <= usual_host.acts_ms:
            yield from _build_hits(ports, "between switches, acts after", "those at hosts take up to", usual_host)


def _ports_with_most_common_time(ports: list[_WatchedPorts], sign: int) -> _WatchedPorts:
    """Return the first ports with the most frequent time; of several the highest, or for -1 the lowest."""
    counts = Counter[int]()
    for port in ports:
        counts[port.acts_ms] += len(port.names)
    usual = max(counts, key=lambda acts_ms: (counts[acts_ms], sign * acts_ms))
    return next(candidate for candidate in ports if candidate.acts_ms == usual)


def _build_hits(
    ports: _WatchedPorts, own_text: str, other_text: str, other_ports: _WatchedPorts
) -> Iterator[AnalysisHit]:
    place = ("qos", "pfc_watchdog", "detection_ms")
    for name in ports.names:
        yield AnalysisHit(
            subject=(ports.device, name),
            at=(ports.device, name, *place),
            facts={
                "port": name,
                "own": own_text,
                "own_ms": ports.acts_ms,
                "other": other_text,
                "other_ms": other_ports.acts_ms,
            },
            related=(((other_ports.device, other_ports.names[0], *place), f"{other_ports.acts_ms} ms"),),
        )
