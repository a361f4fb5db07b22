"""Routes of IPv6 whose next hops lead to one address on a link twice."""

from typing import Any

from nodrop.model.fabric import Device, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast, StaticRoute
from nodrop.routing import compute_control_plane
from support.wired_routers import fabric, port, router, to

GAP = "routes with one gateway twice, which Linux refuses"


def six(far: str, asn: Any = "internal", **more: Any) -> BgpNeighbor:
    ipv6 = Ipv6Unicast(active=True, next_hop_self=True)
    return to(far, asn=asn, **{"active": False, "ipv6": ipv6, **more})


def made(*over: StaticRoute, block: str = "r3", is_far: bool = True) -> set[str]:
    """Return the gaps of r1, which hears a block from r2 in its AS: over their link, and between loopbacks.

    `over` has its static routes to r2's loopback. The block is that of r3 behind r2 in another AS, or r2's.
    """

    def end(number: int, asn: int, ports: list[Any], neighbors: list[BgpNeighbor], *routes: StaticRoute) -> Device:
        networks = ("fd08::/64",) if block == f"r{number}" else ()
        bgp = {"networks": networks, "import_check": False, "requires_policy": False, "router_id": f"10.9.9.{number}"}
        loopbacks = (Loopback(name="Loopback0", addresses=(f"fd09::{number}/128",)),)
        return router(f"r{number}", asn, ports, neighbors, bgp=bgp, loopbacks=loopbacks, static_routes=routes)

    def between(number: int) -> list[BgpNeighbor]:
        return [six(f"fd09::{number}", update_source="Loopback0")] if is_far else []

    back = StaticRoute(prefix="fd09::1/128", next_hop="fd01::")
    first = end(1, 65001, [port("e0", "fd01::/127")], [six("fd01::1"), *between(2)], *over)
    ports = [port("e0", "fd01::1/127"), port("e1", "fd02::/127")]
    second = end(2, 65001, ports, [six("fd01::"), *between(1), six("fd02::1", "external")], back)
    third = end(3, 65003, [port("e0", "fd02::1/127")], [six("fd02::", "external")])
    plane = compute_control_plane(Index(fabric(first, second, third, cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0"])))
    assert {one.far for one in plane.sessions} == {False, *([True] if is_far else [])}
    return {gap.what for gap in plane.gaps if gap.subject[0] == "r1"}


OVER = StaticRoute(prefix="fd09::2/128", next_hop="fd01::1")


def test_a_next_hop_on_a_link_and_one_reached_over_it_are_a_gap() -> None:
    assert GAP in made(OVER)
    assert GAP not in made(OVER, is_far=False)


def test_routes_that_the_neighbor_originates_have_a_gateway_of_the_link() -> None:
    """r2 gives its own block a link-local next hop on the link, and that of its loopback between loopbacks."""
    assert GAP not in made(OVER, block="r2")
