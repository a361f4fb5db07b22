"""The stated headroom of a switch's ports in use, by speed and cable length."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject

BYTES_PER_METRE_MBPS = 2 * 5e-9 * 1e6 / 8
"""What is on a metre of cable there and back, per Mb/s: 5 ns a metre (IEEE 802.1Q-2018 Annex N)."""
NOTABLE_HEADROOM_SHARE = 0.1
"""The share of a headroom from which a difference counts: rows are rounded to cells, and differ by a few of them."""

HeadroomPoint = tuple[int, int, Subject]
"""Length in metres, headroom in bytes, and where that stands."""


def headroom_points_by_speed(device: Device) -> Mapping[int, list[HeadroomPoint]]:
    """Return the headroom points of a device's ports in use, by speed in Mb/s."""
    by_speed: dict[int, list[HeadroomPoint]] = defaultdict(list)
    for port in device.interfaces:
        if port.enabled is True and isinstance(port.speed_mbps, int) and isinstance(port.cable_length_m, int):
            by_speed[port.speed_mbps].extend(_headroom_points(device, port, port.cable_length_m))
    return by_speed


def adds_notable_headroom(short_m: int, long_m: int, speed_mbps: int, xoff_bytes: int) -> bool:
    """Whether the longer of two cables holds more than the shorter by a notable share of a headroom."""
    return (long_m - short_m) * speed_mbps * BYTES_PER_METRE_MBPS > NOTABLE_HEADROOM_SHARE * xoff_bytes


def _headroom_points(device: Device, port: Interface, metres: int) -> Iterator[HeadroomPoint]:
    """Yield the headroom that is stated for a port's priority groups."""
    qos = port.qos
    if not isinstance(qos, QosProfile) or isinstance(qos.priority_groups, Unknown):
        return
    for group in qos.priority_groups:
        headroom = group.buffer.headroom if isinstance(group.buffer, BufferProfile) else None
        if isinstance(headroom, Headroom) and not headroom.computed and isinstance(headroom.xoff_bytes, int):
            row = ("qos", "priority_groups", str(group.index), "buffer", "headroom", "xoff_bytes")
            yield metres, headroom.xoff_bytes, (device.name, port.name, *row)
