"""Equal parts of devices become one object, so that rules judge designs and not ports."""

from nodrop.model.buffers import BufferPool
from nodrop.model.fabric import Device, Interface
from nodrop.model.intern import Interner
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN


def switch(name: str, **changes: object) -> Device:
    """A switch whose profile and pools are objects of its own."""
    pools = (BufferPool(name="ingress", direction="ingress", mode="dynamic", size_bytes=50_000_000),)
    ports = (Interface(name="swp1", qos=QosProfile(trust="dscp")), Interface(name="swp2", qos=UNKNOWN))
    return Device(**{"name": name, "platform": "any", "interfaces": ports, "buffer_pools": pools} | changes)


def test_equal_profiles_and_pools_are_shared() -> None:
    interner = Interner()
    a, b = interner.device(switch("a")), interner.device(switch("b"))
    assert a.interfaces[0].qos is b.interfaces[0].qos
    assert a.buffer_pools is b.buffer_pools
    assert b.name == "b"
    assert b.interfaces[1].qos is UNKNOWN


def test_what_differs_or_is_not_known_stays_apart() -> None:
    interner = Interner()
    a = interner.device(switch("a"))
    other = (BufferPool(name="ingress", direction="ingress", mode="dynamic", size_bytes=1),)
    assert interner.device(switch("b", buffer_pools=other)).buffer_pools == other
    assert interner.device(switch("c", buffer_pools=UNKNOWN)).buffer_pools is UNKNOWN
    assert interner.device(a) is a
