"""The way of a packet: switch by switch, over all equal paths, until it arrives, is dropped, or goes in a circle."""

from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from nodrop.model.fabric import End
from nodrop.routing.control_plane import ControlPlane
from nodrop.routing.prefixes import Address
from nodrop.routing.routes import FamilyRoutes, NextHop, RouterRoute
from nodrop.routing.stand_ins import leaves_fabric

PathOutcome = Literal["delivered", "no route", "discarded", "loop"]
MAX_LISTED_PATHS = 1000
"""How many ways through switches are told one by one."""


class PathStart(NamedTuple):
    """Where a packet enters: a router, and the port where it comes from a host, None if the router sends it."""

    router: int
    port: str | None


class RouterOnPath(NamedTuple):
    """A router on a path, with the legs where packets enter and leave, and the route that they take."""

    router: int
    depth: int
    arrive: tuple[str, ...]
    leave: tuple[str, ...]
    route: RouterRoute | None
    outcome: PathOutcome | None


class RouterSequence(NamedTuple):
    """One sequence of routers, over how many equal paths of ports it goes, and how it ends."""

    routers: tuple[int, ...]
    paths: int
    outcome: PathOutcome


class PathWalk:
    """All ways of packets to an address."""

    def __init__(self, plane: ControlPlane, start: PathStart, to: Address) -> None:
        self._plane, self._start, self.to = plane, start, to
        self._routes: FamilyRoutes = plane.of(to.family)
        self.ways = tuple(self._router_sequences())
        self.stages = tuple(self._router_stages())

    @property
    def arrives_on_every_path(self) -> bool:
        """Whether packets arrive on every way."""
        return all(router_path.outcome == "delivered" for router_path in self.ways)

    @property
    def path_count(self) -> int:
        """The equal paths, counted by ports."""
        return sum(router_path.paths for router_path in self.ways)

    def _route_and_next_hops(self, number: int) -> tuple[RouterRoute | None, tuple[NextHop, ...], PathOutcome | None]:
        """Return the route of a router, where packets go from it, and how their way ends there, if it does."""
        route = self._routes.route_towards(number, self.to)
        if route is None:
            return None, (), "no route"
        if route.discard:
            router = self._plane.routers[number]
            outside = router.is_stand_in and leaves_fabric(self._plane.index.fabric, router.device.name, self.to)
            return route, (), "delivered" if outside else "discarded"
        if route.source == "connected" or any(hop.router is None for hop in route.hops):
            return route, route.hops, "delivered"
        return route, route.hops, None

    def _router_sequences(self) -> Iterator[RouterSequence]:
        """Yield every sequence of routers, depth first, with the number of paths over its ports."""

        @cache
        def after(number: int) -> dict[int, int]:
            _, hops, outcome = self._route_and_next_hops(number)
            count_by_router: dict[int, int] = {}
            for hop in hops if outcome is None else ():
                if hop.router is not None:
                    count_by_router[hop.router] = count_by_router.get(hop.router, 0) + 1
            return count_by_router

        waiting: list[tuple[tuple[int, ...], int]] = [((self._start.router,), 1)]
        path_count = 0
        while waiting and path_count < MAX_LISTED_PATHS:
            routers, paths = waiting.pop()
            outcome = self._route_and_next_hops(routers[-1])[2]
            if outcome is None and routers[-1] in routers[:-1]:
                outcome = "loop"
            if outcome is not None:
                path_count += 1
                yield RouterSequence(routers, paths, outcome)
                continue
            waiting += [
                ((*routers, far), paths * count) for far, count in sorted(after(routers[-1]).items(), reverse=True)
            ]

    def _router_stages(self) -> Iterator[RouterOnPath]:
        """Yield the routers of all paths, each once, in the order that packets meet them."""
        depth: dict[int, int] = {}
        for router_path in self.ways:
            for place, number in enumerate(router_path.routers):
                depth[number] = min(place, depth.get(number, place))
        came: dict[int, dict[str, None]] = {number: {} for number in depth}
        if self._start.port is not None:
            came[self._start.router][self._start.port] = None
        for number in depth:
            for hop in self._route_and_next_hops(number)[1]:
                if hop.router in came and hop.session is not None:
                    came[hop.router][self._plane.side(hop.router, hop.session).leg.name] = None
        for number in sorted(depth, key=lambda router_number: (depth[router_number], router_number)):
            route, hops, outcome = self._route_and_next_hops(number)
            leave = tuple(dict.fromkeys(hop.leg for hop in hops))
            yield RouterOnPath(number, depth[number], tuple(came[number]), leave, route, outcome)


def find_start_at_device(plane: ControlPlane, device: str, port: str | None) -> PathStart | None:
    """Where a packet enters at a device, by one of its ports or from itself; None where the device has no router."""
    for router in plane.routers:
        if router.device.name != device:
            continue
        legs = [leg for leg in router.legs if port is None or port in leg.ports]
        if legs or port is None:
            return PathStart(router.number, port)
    return None


def find_host_start(plane: ControlPlane, address: Address) -> PathStart | None:
    """Where packets of a host with this address enter: the port of the switch that has the subnet of the address."""
    best: tuple[int, PathStart] | None = None
    for router in plane.routers:
        for leg in router.legs:
            for subnet in leg.subnets:
                longer = best is None or subnet.length > best[0]
                if leg.ports and longer and subnet.contains_address(address) and plane.up[router.number][leg.name]:
                    is_own_address = address in leg.addresses
                    best = (subnet.length, PathStart(router.number, None if is_own_address else leg.ports[0]))
    return None if best is None else best[1]


def find_start_at_host(plane: ControlPlane, host: str, port: str) -> PathStart | None:
    """Where packets of a host's port enter: the port at the other end of its cable."""
    end = plane.index.far_end(host, port)
    if end is None or End(host, port) in plane.failed or end in plane.failed:
        return None
    return find_start_at_device(plane, end.node, end.port)
