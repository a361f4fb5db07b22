"""Random sessions between loopbacks, added to random fabrics: inside an AS and to others, over several hops."""

from collections import defaultdict
from random import Random
from typing import Any

from nodrop.model.fabric import Device, Fabric
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast, StaticRoute
from nodrop.model.states import known_rows, require_fact
from nodrop.model.values import replace_fields


def looped(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric with sessions between the loopbacks of some routers, and static routes that lead to some.

    Routers without an address of IPv4 at their loopback get none over IPv4, and the other way round.
    """
    neighbors: defaultdict[str, list[BgpNeighbor]] = defaultdict(list)
    routes: defaultdict[str, list[StaticRoute]] = defaultdict(list)
    devices = {device.name: device for device in fabric.devices}
    for _ in range(chance.randint(1, 4)):
        ends = [devices[name] for name in chance.sample(sorted(devices), 2)]
        families = [one for one in (":", ".") if all(_own(device, one) for device in ends)]
        if not families:
            continue
        mark = chance.choice(families)
        inside = len({require_fact(device.bgp).asn for device in ends}) == 1
        for device, far in (ends, ends[::-1]):
            address = _own(far, mark)
            if address not in {one.address for one in neighbors[device.name]}:
                neighbors[device.name].append(_statement(device, address, chance, mark=mark, inside=inside))
            if chance.random() < 0.7:
                routes[device.name] += _way(fabric, device, far, address, chance)
    return replace_fields(
        fabric,
        devices=tuple(_with(one, neighbors[one.name], routes[one.name]) for one in fabric.devices),
    )


def _own(device: Device, mark: str) -> str:
    """Return the address of a router's loopback in a family, which `mark` tells; "" where it has none."""
    addresses = (one for loopback in known_rows(device.loopbacks) for one in loopback.addresses)
    return next((one.partition("/")[0] for one in addresses if mark in one), "")


def _statement(device: Device, address: str, chance: Random, *, mark: str, inside: bool) -> BgpNeighbor:
    bgp = require_fact(device.bgp)
    low = "6" if mark == ":" else "4"
    said: dict[str, Any] = {"next_hop_self": chance.random() < 0.4}
    if inside:
        said["reflector_client"] = chance.random() < 0.3
        said["next_hop_forced"] = said["next_hop_self"] and chance.random() < 0.3
    policies = [one.name for one in bgp.route_maps if one.name[1:2] == low]
    for way, letter in (("import", "I"), ("export", "O")):
        own = [name for name in policies if name.startswith(letter)]
        said[f"{way}_policy"] = chance.choice([None, None, None, None, *own])
    more: dict[str, Any] = {}
    if not inside and chance.random() < 0.97:
        more["ebgp_multihop"] = chance.choice([2, 3, 5, 255])
    if chance.random() < 0.95:
        more["update_source"] = chance.choice(["Loopback0", _own(device, mark)])
    if mark == ".":
        more |= said
    else:
        more |= {"active": False, "ipv6": Ipv6Unicast(active=True, **said)}
    return BgpNeighbor(
        address=address,
        remote_asn="internal" if inside else "external",
        enabled=chance.random() < 0.97,
        passive=chance.random() < 0.1,
        **more,
    )


def _way(fabric: Fabric, device: Device, far: Device, address: str, chance: Random) -> list[StaticRoute]:
    """Return static routes to an address over the cables to a router that is beside this one."""
    legs = {port.name: port for port in far.interfaces}
    hops = [
        hop
        for link in fabric.links
        for own, other in ((link.a, link.b), (link.b, link.a))
        if (own.node, other.node) == (device.name, far.name)
        for hop in known_rows(legs[other.port].addresses)
        if (":" in hop) is (":" in address)
    ]
    length = 128 if ":" in address else 32
    chosen = chance.sample(hops, min(len(hops), 1))
    return [StaticRoute(prefix=f"{address}/{length}", next_hop=hop.partition("/")[0]) for hop in chosen]


def _with(device: Device, neighbors: list[BgpNeighbor], routes: list[StaticRoute]) -> Device:
    bgp = require_fact(device.bgp)
    known = {one.key for one in known_rows(bgp.neighbors)}
    more = [one for one in neighbors if one.key not in known]
    prefixes = {one.prefix for one in known_rows(device.static_routes)}
    ways = {one.prefix: one for one in routes if one.prefix not in prefixes}
    return replace_fields(
        device,
        bgp=replace_fields(bgp, neighbors=(*known_rows(bgp.neighbors), *more)),
        static_routes=tuple(sorted((*known_rows(device.static_routes), *ways.values()), key=_order)),
    )


def _order(route: StaticRoute) -> tuple[str, str]:
    return route.prefix, route.next_hop
