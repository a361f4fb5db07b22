"""What a port takes of shared headroom, and may take: as sonic-swss buffer_check_headroom_mellanox.lua has it."""

import pytest

from nodrop.hardware.sharing import private_headroom_bytes, shared_headroom_limit_bytes, taken_shared_headroom_bytes
from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import PriorityGroup, QosProfile
from nodrop.model.states import UNKNOWN, UnknownFact

LOSSY = BufferProfile(pool="ingress_lossy", size_bytes=0, dynamic_th=3)


def lossless(size: int, xon: int | None, xoff: int) -> BufferProfile:
    headroom = Headroom(xoff_bytes=xoff, xon_bytes=xon)
    return BufferProfile(pool="ingress_lossless", size_bytes=size, dynamic_th=0, headroom=headroom)


def port(*buffers: BufferProfile, lanes: int = 8) -> Interface:
    groups = tuple(PriorityGroup(index=index, buffer=buffer) for index, buffer in enumerate(buffers))
    return Interface(name="Ethernet0", lanes=lanes, qos=QosProfile(trust=None, priority_groups=groups))


@pytest.mark.parametrize(
    ("buffers", "taken"),
    [
        ((LOSSY,), 0),
        ((LOSSY, lossless(38912, 38912, 104448)), 104448),
        ((lossless(38912, 38912, 104448), lossless(38912, 38912, 87040)), 191488),
        ((lossless(152576, 38912, 104448),), 0),  # reserves it all itself
        ((lossless(0, None, 5000),), 5000),
    ],
)
def test_what_a_port_takes(buffers: tuple[BufferProfile, ...], taken: int) -> None:
    assert taken_shared_headroom_bytes(port(*buffers)) == taken


@pytest.mark.parametrize(
    ("model", "lanes", "limit"),
    [
        ("SN4700", 8, (8192 + 2 * 20) * 144),
        ("SN4700", 4, (8192 + 20) * 144),
        ("SN5600", 8, (8192 + 2 * 20) * 192),
    ],
)
def test_what_a_port_may_take(model: str, lanes: int, limit: int) -> None:
    assert shared_headroom_limit_bytes(Device(name="leaf1", platform="sonic", model=model), port(lanes=lanes)) == limit


def test_only_the_dynamic_model_has_headroom_beside_the_pool() -> None:
    """A switch of a model that no catalogue has keeps its traditional headroom in rows of its own."""
    assert (
        private_headroom_bytes(Device(name="leaf1", platform="sonic", model=UNKNOWN, buffer_model="traditional")) == 0
    )
    with pytest.raises(UnknownFact):
        private_headroom_bytes(Device(name="leaf1", platform="sonic", model=UNKNOWN, buffer_model="dynamic"))
