"""Small fabrics with sessions inside an AS, to be computed and to be run in real FRR."""

from collections.abc import Sequence
from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.routing import BgpNeighbor, RouteMap, RouteMapRule, StaticRoute
from support.wired_routers import fabric, port, router, to

BLOCK = "10.8.4.0/24"
"""What r4 announces, which is in an AS of its own."""
Said = dict[str, Any]


def said(**sets: str) -> RouteMap:
    """Return a route map that sets something of every route."""
    words = tuple((name.replace("_", "-"), value) for name, value in sets.items())
    return RouteMap(name="SET", rules=(RouteMapRule(sequence=10, action="permit", sets=words),))


def pair(
    peer: Said | None = None,
    *,
    peer2: Said | None = None,
    up: Said | None = None,
    up2: Said | None = None,
    both: bool = True,
    more2: Sequence[BgpNeighbor] = (),
    over: str = "10.1.9.",
    bgp: Said | None = None,
    bgp2: Said | None = None,
    bgp4: Said | None = None,
) -> Fabric:
    """Two leaves of one AS with a session, r1 and r2, below a spine, r3, that has a route of r4; r2's uplink may lack.

    `more2` are further neighbors of r2.
    `over` begins the addresses of the link between the leaves, or is the interface of a session without any.
    """
    ends = [(port("e0", f"{over}0/31"), port("e0", f"{over}1/31")), ("10.1.9.1", "10.1.9.0")]
    if over.startswith("e0"):
        ends = [(port("e0", link_local=True), port("e0", link_local=True)), (over, over)]
    (one_end, other_end), (one_far, other_far) = ends
    one = router(
        "r1",
        65001,
        [one_end, port("e1", "10.1.1.0/31")],
        [to(one_far, "internal", **(peer or {})), to("10.1.1.1", 65003, **(up or {}))],
        bgp={"router_id": "10.9.9.1", "networks": ("10.8.1.0/24",), **(bgp or {})},
        static_routes=(StaticRoute(prefix="10.8.1.0/24", next_hop="blackhole"),),
    )
    lift: list[BgpNeighbor] = [to("10.1.2.1", 65003, **(up2 or {}))] if both else []
    other = router(
        "r2",
        65001,
        [other_end, port("e1", "10.1.2.0/31")],
        [to(other_far, "internal", **(peer2 or {})), *lift, *more2],
        bgp={"router_id": "10.9.9.2", **(bgp2 or {})},
    )
    spine = router(
        "r3",
        65003,
        [port("e0", "10.1.1.1/31"), port("e1", "10.1.2.1/31"), port("e2", "10.1.3.0/31")],
        [to("10.1.1.0", 65001), *([to("10.1.2.0", 65001)] if both else []), to("10.1.3.1", 65004)],
        bgp={"router_id": "10.9.9.3"},
    )
    last = router(
        "r4",
        65004,
        [port("e0", "10.1.3.1/31")],
        [to("10.1.3.0", 65003, **({"export_policy": "SET"} if bgp4 else {}))],
        bgp={"router_id": "10.9.9.4", "networks": (BLOCK,), **(bgp4 or {})},
        static_routes=(StaticRoute(prefix=BLOCK, next_hop="blackhole"),),
    )
    cables = ["r1 e0 - r2 e0", "r1 e1 - r3 e0", "r2 e1 - r3 e1", "r3 e2 - r4 e0"]
    return fabric(one, other, spine, last, cables=cables)


def row(cluster: Said | None = None, third: Said | None = None, back: Said | None = None, **middle: Any) -> Fabric:
    """Three routers of one AS in a row, of which the first announces a block; what the second says is given.

    `cluster` and `third` are what the second and the third process say besides, `back` what the third says of it.
    """
    one = router(
        "r1",
        65001,
        [port("e0", "10.1.1.0/31")],
        [to("10.1.1.1", "internal")],
        bgp={"router_id": "10.9.9.1", "networks": ("10.1.1.0/31", "10.8.1.0/24")},
        static_routes=(StaticRoute(prefix="10.8.1.0/24", next_hop="blackhole"),),
    )
    two = router(
        "r2",
        65001,
        [port("e0", "10.1.1.1/31"), port("e1", "10.1.2.0/31")],
        [to("10.1.1.0", "internal", **middle), to("10.1.2.1", "internal", **middle)],
        bgp={"router_id": "10.9.9.2", "networks": ("10.1.1.0/31",), **(cluster or {})},
    )
    three = router(
        "r3",
        65001,
        [port("e0", "10.1.2.1/31")],
        [to("10.1.2.0", "internal", **(back or {}))],
        bgp={"router_id": "10.9.9.3", **(third or {})},
    )
    return fabric(one, two, three, cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0"])


SELF: Said = {"next_hop_self": True}
PREFERRED: Said = {"import_policy": "SET"}


def cases() -> dict[str, tuple[Fabric, dict[tuple[str, str], set[str] | None]]]:
    """Return fabrics by name, with the legs that routers send packets to a prefix over; None is no route."""
    kept = {"networks": ("10.1.1.0/31", "10.8.1.0/24")}
    preferring = {"route_maps": (said(local_preference="200"),), "networks": ("10.8.1.0/24",)}
    metrics = {"route_maps": (said(metric="7"),), "always_compare_med": True}
    at = ("r2", BLOCK)
    return {
        "a route of another AS is used before one of the own": (
            pair(SELF, peer2=SELF),
            {("r1", BLOCK): {"e1"}, at: {"e1"}, ("r2", "10.8.1.0/24"): {"e0"}, ("r3", "10.8.1.0/24"): {"e0", "e1"}},
        ),
        "without an uplink over the other": (pair(SELF, both=False), {at: {"e0"}, ("r2", "10.8.1.0/24"): {"e0"}}),
        "the next hop is kept and not reached": (pair(both=False), {at: None, ("r2", "10.8.1.0/24"): {"e0"}}),
        "the next hop is kept and announced": (pair(both=False, bgp=kept), {at: {"e0"}}),
        "the next hop is a neighbor that is not on a link": (
            pair(both=False, bgp=kept, more2=[to("10.1.1.1", 65003)]),
            {at: None, ("r2", "10.8.1.0/24"): {"e0"}},
        ),
        "link-local next hops are never kept": (pair(both=False, over="e0"), {at: {"e0"}}),
        "the session is over a sub-interface": (
            pair(SELF, peer2=SELF, both=False, over="e0.4094"),
            {at: {"e0.4094"}, ("r2", "10.8.1.0/24"): {"e0.4094"}},
        ),
        "LOCAL_PREF is kept": (pair(SELF, up=PREFERRED, bgp=preferring), {("r1", BLOCK): {"e1"}, at: {"e0"}}),
        "MED is kept": (
            pair(SELF, up2=PREFERRED, bgp2=metrics),
            {("r1", BLOCK): {"e1"}, at: {"e0"}},
        ),
        "no-export stays inside": (
            pair(SELF, both=False, up=PREFERRED, bgp={"route_maps": (said(community="no-export"),)}),
            {at: {"e0"}},
        ),
        "no-advertise goes nowhere": (
            pair(SELF, both=False, up=PREFERRED, bgp={"route_maps": (said(community="no-advertise"),)}),
            {("r1", BLOCK): {"e1"}, at: None},
        ),
        "a drained router is avoided": (
            pair(SELF, bgp={"graceful_shutdown": True, "networks": ("10.8.1.0/24",)}),
            {("r1", BLOCK): {"e1"}, at: {"e1"}, ("r3", "10.8.1.0/24"): {"e0", "e1"}},
        ),
        "internal routes are not installed": (
            pair(SELF, peer2=SELF, both=False, bgp2={"distances": (20, 255, 200)}),
            {at: None},
        ),
        "what the AS tells goes to no third router of it": (
            row(),
            {("r2", "10.8.1.0/24"): {"e0"}, ("r3", "10.8.1.0/24"): None, ("r3", "10.1.1.0/31"): {"e0"}},
        ),
        "a reflector tells its clients": (
            row(reflector_client=True),
            {("r2", "10.8.1.0/24"): {"e0"}, ("r3", "10.8.1.0/24"): {"e0"}, ("r1", "10.8.1.0/24"): {"discard"}},
        ),
        "next hops of reflected routes stay without force": (
            row({"networks": ()}, reflector_client=True, next_hop_self=True),
            {("r3", "10.8.1.0/24"): None},
        ),
        "next hops of reflected routes are changed by force": (
            row({"networks": ()}, reflector_client=True, next_hop_self=True, next_hop_forced=True),
            {("r3", "10.8.1.0/24"): {"e0"}},
        ),
        "a router refuses what went through its cluster": (
            row({"cluster_id": "10.0.0.9"}, {"cluster_id": "10.0.0.9"}, reflector_client=True),
            {("r3", "10.8.1.0/24"): None, ("r3", "10.1.1.0/31"): {"e0"}},
        ),
        "a router refuses what it originated": (
            row(third={"router_id": "10.9.9.1"}, reflector_client=True),
            {("r3", "10.8.1.0/24"): None},
        ),
        "a client that reflects": (
            row(reflector_client=True, back={"reflector_client": True}),
            {("r3", "10.8.1.0/24"): {"e0"}, ("r2", "10.8.1.0/24"): {"e0"}},
        ),
    }
