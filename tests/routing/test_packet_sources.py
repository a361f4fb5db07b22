"""From which address a router opens a session over a link whose interface has no address of the family."""

from typing import Any

import pytest

from nodrop.model.fabric import End, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.routing import compute_control_plane
from support.wired_routers import fabric, port, router, to

SIX = Ipv6Unicast(active=True)


def far_state(far: str, own: str, *more: str, connected: str = "") -> str:
    """Return the state at r1 of a session between loopbacks, which only r1 can open: it names no update source.

    r1 has further addresses `more` at its loopback, and one at another port, which is down.
    """

    def end(number: int, address: str, other: str, *extra: str, **said: Any) -> tuple[Loopback, BgpNeighbor, str]:
        length = 128 if ":" in address else 32
        texts = tuple(f"{one}/{length}" for one in (address, *extra))
        loopback = Loopback(name="Loopback0", addresses=texts)
        family = {"active": False, "ipv6": SIX} if ":" in address else {}
        return loopback, to(other, **family, **said), texts[0]

    made = []
    for number, (loopback, session, network) in (
        (1, end(1, own, far, *more, ebgp_multihop=5)),
        (2, end(2, far, own, update_source="Loopback0")),
    ):
        ports = [port("e0"), *([port("e1", connected)] if connected and number == 1 else [])]
        bgp = {"networks": (network,), "import_check": False, "requires_policy": False}
        neighbors = (to("e0", ipv6=SIX), session)
        made.append(router(f"r{number}", 65000 + number, ports, neighbors, bgp=bgp, loopbacks=(loopback,)))
    plane = compute_control_plane(Index(fabric(*made, cables=["r1 e0 - r2 e0"])), frozenset({End("r1", "e1")}))
    reasons = [str(one.reason) for one in plane.down if one.router.name == "r1"]
    return reasons[0] if reasons else "up"


@pytest.mark.parametrize(
    ("far", "own", "more", "connected", "expected"),
    [
        ("fd09::2", "fd09::1", (), "", "up"),
        ("fd09::2", "fd09::1", (), "fd01::/127", "up"),
        ("fd09::2", "fd09::1", ("fd09::3",), "", "no-route"),
        ("fd09::4", "fd09::1", ("fd09::2",), "", "unread"),
        ("fd09::2", "fd09::1", (), "fd09::8/120", "up"),
        ("fd09::2", "fd08::1", (), "fd09:1::/127", "unread"),
        ("2003::1", "2a00::1", ("2002::1",), "", "up"),
        ("10.0.0.2", "10.0.0.1", (), "", "up"),
        ("10.0.0.2", "10.0.0.1", ("10.0.0.3",), "", "unread"),
    ],
)
def test_it_takes_an_address_of_another_interface(
    far: str, own: str, more: tuple[str, ...], connected: str, expected: str
) -> None:
    assert far_state(far, own, *more, connected=connected) == expected
