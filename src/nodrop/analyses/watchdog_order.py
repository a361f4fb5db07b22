"""Watchdogs out of order: those between switches have to act later than all at hosts, so that the nearest hop is first.

A watchdog at a host has acted at the latest two pollings after its detection time. Ports are compared within what
cables join. Where the order is right in general, the odd ones are told, be they early between switches or late at
hosts; where it is wrong in general, all those between switches are.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import Hit, Unsettled
from nodrop.analyses._islands import islands
from nodrop.fabric.fabric import Device, Interface
from nodrop.fabric.index import Index
from nodrop.fabric.states import Unknown

RESTS_ON = frozenset({"cables"})


class _Port(NamedTuple):
    """A port with a watchdog, and when that acts, ms: at the latest at a host, at the earliest between switches."""

    device: str
    name: str
    acts_ms: int


def find(index: Index) -> Iterator[Hit | Unsettled]:
    """Yield the ports whose watchdog acts out of order; the facts are port, own, own_ms, other and other_ms."""
    joined = islands(index)
    hosts: defaultdict[str, list[_Port]] = defaultdict(list)
    fabric: defaultdict[str, list[_Port]] = defaultdict(list)
    for device in index.fabric.devices:
        missing: dict[str, None] = {}
        for interface, detection_ms in _watched(device, missing):
            if isinstance(interface.side, Unknown):
                missing["interface.side"] = None
            elif interface.side == "fabric":
                fabric[joined[device.name]].append(_Port(device.name, interface.name, detection_ms))
            elif interface.side == "host" and isinstance(device.watchdog_polling_ms, Unknown):
                missing["device.watchdog_polling_ms"] = None
            elif interface.side == "host":
                latest_ms = detection_ms + 2 * (device.watchdog_polling_ms or 0)
                hosts[joined[device.name]].append(_Port(device.name, interface.name, latest_ms))
        yield from (Unsettled(subject=(device.name,), missing=each) for each in missing)
    for island in (each for each in hosts if each in fabric):
        yield from _out_of_order(hosts[island], fabric[island])


def _watched(device: Device, missing: dict[str, None]) -> Iterator[tuple[Interface, int]]:
    """The ports in use whose watchdog has a detection time, and that time; what is not known goes to `missing`."""
    for interface in device.interfaces:
        if interface.enabled is False or interface.side is None or interface.qos is None:
            continue
        watchdog = interface.qos if isinstance(interface.qos, Unknown) else interface.qos.pfc_watchdog
        if isinstance(watchdog, Unknown):
            missing["interface.qos" if interface.qos is watchdog else "interface.qos.pfc_watchdog"] = None
        elif watchdog is not None:
            detection_ms = watchdog.detection_ms
            if isinstance(detection_ms, Unknown):
                missing["interface.qos.pfc_watchdog.detection_ms"] = None
            elif detection_ms is not None:
                yield interface, detection_ms


def _out_of_order(hosts: list[_Port], fabric: list[_Port]) -> Iterator[Hit]:
    usual_host, usual_fabric = _usual(hosts, -1), _usual(fabric, 1)
    late: list[_Port] = []
    if usual_host.acts_ms < usual_fabric.acts_ms:
        late = [port for port in hosts if port.acts_ms >= usual_fabric.acts_ms]
        usual_host = max((port for port in hosts if port.acts_ms < usual_fabric.acts_ms), key=lambda port: port.acts_ms)
    for port in late:
        yield _hit(port, "at a host, takes up to", "those between switches act after", usual_fabric)
    for port in fabric:
        if port.acts_ms <= usual_host.acts_ms:
            yield _hit(port, "between switches, acts after", "those at hosts take up to", usual_host)


def _usual(ports: list[_Port], sign: int) -> _Port:
    """The first port with the time that most have; of times that as many have, the highest, or for -1 the lowest."""
    counts = Counter(port.acts_ms for port in ports)
    usual = max(counts, key=lambda acts_ms: (counts[acts_ms], sign * acts_ms))
    return next(port for port in ports if port.acts_ms == usual)


def _hit(port: _Port, own: str, others: str, other: _Port) -> Hit:
    return Hit(
        subject=(port.device, port.name),
        at=(port.device, port.name, "qos", "pfc_watchdog", "detection_ms"),
        facts={
            "port": port.name,
            "own": own,
            "own_ms": port.acts_ms,
            "other": others,
            "other_ms": other.acts_ms,
        },
        related=(((other.device, other.name, "qos", "pfc_watchdog", "detection_ms"), f"{other.acts_ms} ms"),),
    )
