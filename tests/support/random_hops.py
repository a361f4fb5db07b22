"""Random next hops that route maps give imported and announced routes, added to random fabrics."""

from random import Random

from nodrop.model.fabric import Device, Fabric
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMap, RouteMapRule
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields

UNREACHABLE = {"4": "192.0.2.1", "6": "fd00:dead::1"}
Sets = tuple[tuple[str, str], ...]


def hopped(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric in which some sessions give routes another next hop when they import or announce them.

    It is an address of a port or loopback of any router, the own ones included, or one that nobody has.
    """
    texts = [text for device in fabric.devices for text in _addresses(device)]
    return replace_fields(fabric, devices=tuple(_device(one, texts, chance) for one in fabric.devices))


def _device(device: Device, addresses: list[str], chance: Random) -> Device:
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    peers = [one.address for one in known_rows(bgp.neighbors) if one.address is not None]
    near = {"import": peers, "export": _addresses(device)}
    maps, neighbors = [], []
    for number, one in enumerate(known_rows(bgp.neighbors)):
        for mark in "46":
            unicast = one if mark == "4" else one.ipv6
            for way, own in near.items() if unicast.active else ():
                if chance.random() < 0.2:
                    hops = [text for text in (*own, *own, *addresses) if (":" in text) is (mark == "6")]
                    sets = _sets(mark, way, chance.choice([*hops, UNREACHABLE[mark]]), chance)
                    maps.append(_route_map(f"{way[:2].upper()}{mark}HOP{number}", mark, sets, chance))
                    one = _with_policy(one, mark, way, maps[-1].name)
        neighbors.append(one)
    every = tuple(sorted((*bgp.route_maps, *maps), key=lambda one: one.name))
    return replace_fields(device, bgp=replace_fields(bgp, neighbors=tuple(neighbors), route_maps=every))


def _sets(mark: str, way: str, hop: str, chance: Random) -> Sets:
    """Return what a rule sets: a next hop, or for IPv6 the global one of two, which may be preferred."""
    if mark == "4":
        return (("ip next-hop", "peer-address" if way == "export" and chance.random() < 0.1 else hop),)
    prefers = way == "import" and chance.random() < 0.6
    sets = [("ipv6 next-hop global", hop)] if not prefers or chance.random() < 0.5 else []
    return (*sets, *([("ipv6 next-hop", "prefer-global")] if prefers else []))


def _route_map(name: str, mark: str, sets: Sets, chance: Random) -> RouteMap:
    rules = [RouteMapRule(sequence=10, action="permit", sets=sets)]
    if chance.random() < 0.5:
        matches = ((f"{'ip' if mark == '4' else 'ipv6'} address prefix-list", f"P{mark}a"),)
        rules = [replace_fields(rules[0], matches=matches), RouteMapRule(sequence=20, action="permit")]
    return RouteMap(name=name, rules=tuple(rules))


def _with_policy(neighbor: BgpNeighbor, mark: str, way: str, name: str) -> BgpNeighbor:
    if mark == "4":
        return replace_fields(neighbor, **{f"{way}_policy": name})
    return replace_fields(neighbor, ipv6=replace_fields(neighbor.ipv6, **{f"{way}_policy": name}))


def _addresses(device: Device) -> list[str]:
    """Return the addresses of a router."""
    texts = [
        *(text for leg in device.interfaces for text in known_rows(leg.addresses)),
        *(text for leg in known_rows(device.loopbacks) for text in known_rows(leg.addresses)),
    ]
    return [text.partition("/")[0] for text in texts]
