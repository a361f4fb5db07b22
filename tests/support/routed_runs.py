"""Fabrics computed and run in the twin, and what is not alike of the two: sessions and routes, also after failures."""

from collections.abc import Mapping
from random import Random

from nodrop.model.fabric import End, Fabric, Link
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from support.patience import END_S
from support.twin_runs import Table, played

ORDERS = 30
"""In how many orders the routers of a fabric are let talk, to see whether it has one outcome (RFC 4264)."""
Losses = set[tuple[str, str]]


def tables(plane: ControlPlane) -> Mapping[str, Table]:
    """Return the routes and sessions of all routers, as the twin has them."""
    found: dict[str, Table] = {router.device.name: {} for router in plane.routers}
    for router in plane.routers:
        for family in ("ipv4", "ipv6"):
            for route in plane.of(family).routes(router.number):  # type: ignore[arg-type]
                hops = frozenset({"discard"}) if route.discard else frozenset(hop.leg for hop in route.hops)
                found[router.device.name][str(route.prefix)] = (route.source, hops)
        up = {side.neighbor.key for one in plane.sessions for side in (one.a, one.b) if side.router == router.number}
        for neighbor in router.neighbors:
            state = "up" if neighbor.key in up else "down"
            found[router.device.name][f"session {neighbor.key}"] = ("session", frozenset({state}))
    return found


def stable(plane: ControlPlane) -> bool:
    return not any(plane.of(family).state.unstable for family in plane.families)


def settles(fabric: Fabric, dead: frozenset[End]) -> bool:
    """Whether a fabric comes to the same in whatever order its routers talk, as far as some orders tell."""
    chance, index = Random("orders"), Index(fabric)
    first = compute_control_plane(index, dead)
    expected = tables(first)
    for _ in range(ORDERS):
        devices = tuple(chance.sample(fabric.devices, len(fabric.devices)))
        plane = compute_control_plane(Index(replace_fields(fabric, devices=devices)), dead)
        if not stable(plane) or tables(plane) != expected:
            return False
    return stable(first)


def ends(links: tuple[Link, ...]) -> frozenset[End]:
    return frozenset(end for link in links for end in (link.a, link.b))


def different(computed: Mapping[str, Table], seen: Mapping[str, Table]) -> dict[str, object]:
    """What is not alike: of each router and prefix what is computed, and what the daemons have."""
    return {
        f"{name} {prefix}": (table.get(prefix), seen[name].get(prefix))
        for name, table in computed.items()
        for prefix in sorted({*table, *seen[name]})
        if table.get(prefix) != seen[name].get(prefix)
    }


def gone(before: Mapping[str, Table], after: Mapping[str, Table], sources: tuple[str, ...]) -> Losses:
    """What routers reach no more, of what they had from these sources."""
    return {
        (name, prefix)
        for name, table in before.items()
        for prefix, (source, hops) in table.items()
        if source in sources and prefix not in after[name] and (source != "bgp" or "discard" not in hops)
    }


def own(seen: Mapping[str, Table], name: str, prefix: str) -> bool:
    """Whether a router has a prefix without BGP."""
    return seen[name].get(prefix, ("bgp",))[0] != "bgp"


def told(plane: ControlPlane, links: tuple[Link, ...]) -> Losses:
    """The same as it is told of a failure, computed from what was before."""
    found: Losses = set()
    for family in plane.families:
        routes = plane.of(family)
        for loss in FailureAnalysis(plane, routes).outcome_without_links(*links).unreachable:
            for number, members in enumerate(routes.world.destinations.prefixes_by_class):
                if loss.bits >> number & 1:
                    found |= {(plane.routers[loss.router].name, str(prefix)) for prefix in members}
    return found


def compare(
    fabric: Fabric, before: tuple[Link, ...] = (), after: tuple[Link, ...] = (), patience_s: float = END_S
) -> None:
    """Run a fabric with some cables dead from the beginning, and others later; compare what comes of it both times."""
    dead = ends(before)
    plane = compute_control_plane(Index(fabric), dead)
    then = compute_control_plane(Index(fabric), dead | ends(after))
    expected = [tables(plane), *([tables(then)] if after else [])]
    seen = played(fabric, dead, expected[0], ends(after), expected[-1], patience_s)
    for wanted, found in zip(expected, seen, strict=True):
        apart = different(wanted, found)
        assert apart == {}, apart
    if after:
        lost = {row for row in told(plane, after) if not own(seen[1], *row)}
        least = gone(expected[0], seen[1], ("bgp",))
        most = gone(expected[0], seen[1], ("bgp", "connected", "static"))
        assert least <= lost <= most, (sorted(least - lost), sorted(lost - most))


def failing(fabric: Fabric, seed: int) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Of every third fabric one or two cables that are dead from the beginning, and one or two that die later."""
    chance = Random(f"failures {seed}")
    if seed % 3:
        return (), ()
    links = chance.sample(fabric.links, min(len(fabric.links), chance.randint(2, 4)))
    half = chance.randint(0, 1) if len(links) < 3 else len(links) // 2
    return tuple(links[:half]), tuple(links[half:])
