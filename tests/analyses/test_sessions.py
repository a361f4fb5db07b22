"""What findings about sessions that stay down point at."""

import pytest

from nodrop.analyses.sessions import find
from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.index import Index
from nodrop.model.subject import Subject
from nodrop.model.values import replace_fields
from support.wired_routers import fabric, port, router, to

CHANNEL = PortChannel(name="PortChannel1", addresses=("10.1.0.0/31",))
VLAN = Vlan(id=10, addresses=("10.1.0.0/31",))


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ({"port_channels": (CHANNEL,)}, ("r1", "@port_channels", "PortChannel1")),
        ({"vlans": (VLAN,)}, ("r1", "@vlans", "10")),
    ],
)
def test_a_session_without_port_points_at_the_interface_of_the_same_device(
    parts: dict[str, tuple[PortChannel, ...] | tuple[Vlan, ...]], place: Subject
) -> None:
    own = replace_fields(router("r1", 65001, [port("e0")], [to("10.1.0.1")]), **parts)
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [to("10.1.0.0")])
    hits = list(find(Index(fabric(own, other, cables=("r1 e0 - r2 e0",))), reason="no-member"))
    assert [(hit.subject, hit.related) for hit in hits] == [
        (("r1", "@neighbors", "10.1.0.1"), ((place, "the interface without ports"),))
    ]


def test_a_session_with_too_small_a_ttl_points_at_the_end_that_sends_it() -> None:
    own = router("r1", 65001, [port("e0", "10.1.0.0/31")], [replace_fields(to("10.1.0.1"), ttl_security_hops=1)])
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [replace_fields(to("10.1.0.0"), ebgp_multihop=5)])
    hits = list(find(Index(fabric(own, other, cables=("r1 e0 - r2 e0",))), reason="hops"))
    assert [(hit.subject, hit.related) for hit in hits] == [
        (("r1", "@neighbors", "10.1.0.1"), ((("r2", "@neighbors", "10.1.0.0"), "the other end"),))
    ]
