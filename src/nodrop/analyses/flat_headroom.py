"""Headroom that does not grow with the cable: short and long cables of one speed on one switch have the same.

The table of a switch's SKU may be so, or the profiles that somebody wrote. It may be a worst case for all lengths or a
copy of one row: no file shows which, and a hit is therefore no more than possible.
"""

from collections import defaultdict
from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject

NEAR = True

RESTS_ON: frozenset[str] = frozenset()
BYTES_PER_METRE_MBPS = 2 * 5e-9 * 1e6 / 8
"""What is on a metre of cable there and back, per Mb/s: 5 ns a metre (IEEE 802.1Q-2018 Annex N)."""
NOTABLE_SHARE = 0.1
"""Lengths are compared where what the longer cable holds more is at least this share of the headroom."""

Point = tuple[int, int, Subject]
"""Length in metres, headroom in bytes, and where that stands."""


def find(index: Index) -> Iterator[Hit]:
    """Yield the switches whose headroom is the same for different lengths, once for each speed."""
    for device in index.fabric.devices:
        by_speed: dict[int, list[Point]] = defaultdict(list)
        for port in device.interfaces:
            if port.enabled is True and isinstance(port.speed_mbps, int) and isinstance(port.cable_length_m, int):
                by_speed[port.speed_mbps].extend(_headroom_points(device, port, port.cable_length_m))
        for speed, points in sorted(by_speed.items()):
            (short, least, _), (long, most, place) = min(points, default=_NONE), max(points, default=_NONE)
            if least == most and (long - short) * speed * BYTES_PER_METRE_MBPS > NOTABLE_SHARE * most:
                yield Hit(
                    subject=(device.name,),
                    at=place,
                    facts={"device": device.name, "speed": speed, "short": short, "long": long, "xoff": most},
                    discriminator=str(speed),
                )


_NONE: Point = (0, 0, ())


def _headroom_points(device: Device, port: Interface, metres: int) -> Iterator[Point]:
    """Yield the headroom that is stated for a port's priority groups."""
    qos = port.qos
    if not isinstance(qos, QosProfile) or isinstance(qos.priority_groups, Unknown):
        return
    for group in qos.priority_groups:
        headroom = group.buffer.headroom if isinstance(group.buffer, BufferProfile) else None
        if isinstance(headroom, Headroom) and not headroom.computed and isinstance(headroom.xoff_bytes, int):
            row = ("qos", "priority_groups", str(group.index), "buffer", "headroom", "xoff_bytes")
            yield metres, headroom.xoff_bytes, (device.name, port.name, *row)
