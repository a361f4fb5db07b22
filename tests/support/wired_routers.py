"""A few routers, cabled and configured by hand: what single parts of routing are tried with."""

from collections.abc import Sequence
from typing import Any

from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Loopback, Port
from nodrop.model.routing import Aggregate, Bgp, BgpNeighbor, RouteMap, RouteMapRule, StaticRoute


def port(name: str, *addresses: str, **more: Any) -> Interface:
    """A port, by the number at the end of its name."""
    return Interface(name=name, port=Port(int(name[1:]) + 1), addresses=addresses, **more)


def to(far: str, asn: Any = "external", **more: Any) -> BgpNeighbor:
    """A neighbor: by its address, or over an interface."""
    named = {"address": far} if far[:1].isdigit() or ":" in far else {"interface": far}
    return BgpNeighbor(**named, remote_asn=asn, **more)


def router(
    name: str, asn: int, ports: Sequence[Interface] = (), neighbors: Any = (), *, bgp: Any = None, **more: Any
) -> Device:
    """A router with BGP; `bgp` has what else its process says."""
    said = {"router_id": f"10.9.0.{asn % 100}", "multipath_relax": True, "default_ipv4_unicast": False, **(bgp or {})}
    process = Bgp(asn=asn, neighbors=neighbors, **said)
    return Device(name=name, platform="sonic", interfaces=tuple(ports), **{"bgp": process, **more})


def fabric(*devices: Device, cables: Sequence[str] = ()) -> Fabric:
    """A fabric of routers and cables, each like `r1 e0 - r2 e3`."""
    links = []
    for cable in cables:
        one, other = (End(*end.split()) for end in cable.split(" - "))
        links.append(Link(a=min(one, other), b=max(one, other)))
    found = tuple(sorted(links, key=lambda link: (link.a, link.b)))
    return Fabric(name="wired", mode="lossless", devices=tuple(devices), links=found)


def doubly_heard(default: int | None, given: str | None) -> Fabric:
    """A router that hears a block from two others, of which it gives the routes of the first a preference."""
    ends = [("10.1.0.0/31", "10.1.0.1"), ("10.1.1.0/31", "10.1.1.1")]
    said = {"networks": ("10.8.0.0/24",), "import_check": False}
    far = [
        router(f"s{at}", 65008 + at, [port("e0", f"{peer}/31")], [to(own.partition("/")[0])], bgp=said)
        for at, (own, peer) in enumerate(ends)
    ]
    sets = (("local-preference", given),) if given else ()
    process = {
        "default_preference": default,
        "route_maps": (RouteMap(name="IN", rules=(RouteMapRule(sequence=10, action="permit", sets=sets),)),),
    }
    ports = [port(f"e{at}", own) for at, (own, _) in enumerate(ends)]
    sessions = [to(ends[0][1], import_policy="IN"), to(ends[1][1])]
    near = router("r1", 65001, ports, sessions, bgp=process)
    return fabric(near, *far, cables=["r1 e0 - s0 e0", "r1 e1 - s1 e0"])


def ring(one: Any = None, other: Any = None, **bgp: Any) -> Fabric:
    """Three routers in a ring, each with a block: the first says `one` of the second, the second `other` of it."""
    made = []
    for number in range(3):
        before = (number - 1) % 3
        far = f"10.1.{number}.1", f"10.1.{before}.0"
        said = (one or {} if number == 0 else {}), (other or {} if number == 1 else {})
        process = {"networks": (f"10.8.{number}.0/24",), "import_check": False, **bgp}
        ports = [port("e0", f"10.1.{number}.0/31"), port("e1", f"10.1.{before}.1/31")]
        sessions = [to(address, **words) for address, words in zip(far, said, strict=True)]
        made.append(router(f"r{number + 1}", 65001 + number, ports, sessions, bgp=process))
    return fabric(*made, cables=["r1 e0 - r2 e1", "r2 e0 - r3 e1", "r3 e0 - r1 e1"])


def following(*, told: bool = True, aggregate: bool = False, **session: Any) -> Fabric:
    """r1 between r2 and r3, with static routes to a loopback of r2 and to an address of r3.

    r2's loopback is told to r1 or not, r1 may have an aggregate, and its session with r3 says more.
    """
    first = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31"), port("e1", "10.1.1.0/31")],
        [to("10.1.0.1"), to("10.1.1.1", **session)],
        bgp={"aggregates": (Aggregate(prefix="10.0.0.0/8"),) if aggregate else ()},
        static_routes=(
            StaticRoute(prefix="10.8.0.0/24", next_hop="10.1.1.1"),
            StaticRoute(prefix="10.8.1.0/24", next_hop="10.9.0.2"),
        ),
    )
    second = router(
        "r2",
        65002,
        [port("e0", "10.1.0.1/31")],
        [to("10.1.0.0")],
        bgp={"networks": ("10.9.0.2/32",) if told else ()},
        loopbacks=(Loopback(name="Loopback0", addresses=("10.9.0.2/32",)),),
    )
    third = router("r3", 65003, [port("e0", "10.1.1.1/31")], [to("10.1.1.0")])
    return fabric(first, second, third, cables=["r1 e0 - r2 e0", "r1 e1 - r3 e0"])


def kept_hop(told: dict[str, Any], far: dict[str, Any], value: str = "unchanged", *, called: bool = False) -> Fabric:
    """r1, r2 and r3 in a row: r1 has a block, and r2 sets the next hop of its route when it takes it.

    `told` is what r2 says of r3, and `far` what r3 says of r2. The route map may be `called` by another.
    """
    maps = (_route_map("CALLS", ("call", "M")), _route_map("M", ("ip next-hop", value)), _route_map("OUT"))
    asn = 65002 if told.get("asn") == "internal" else 65003
    block = {"networks": ("10.8.0.0/24",), "import_check": False}
    own = {"networks": ("10.8.2.0/24",), "import_check": False, "route_maps": maps}
    sessions = [to("10.1.0.0", 65001, import_policy="CALLS" if called else "M"), to("10.2.0.1", **told)]
    ports = [port("e0", "10.1.0.1/31"), port("e1", "10.2.0.0/31")]
    return fabric(
        router("r1", 65001, [port("e0", "10.1.0.0/31")], [to("10.1.0.1", 65002)], bgp=block),
        router("r2", 65002, ports, sessions, bgp=own),
        router("r3", asn, [port("e0", "10.2.0.1/31")], [to("10.2.0.0", 65002, **far)], bgp={"router_id": "10.9.0.9"}),
        cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0"],
    )


def _route_map(name: str, *sets: tuple[str, str]) -> RouteMap:
    return RouteMap(name=name, rules=(RouteMapRule(sequence=10, action="permit", sets=sets),))
