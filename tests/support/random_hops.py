"""Random next hops that route maps give imported routes, added to random fabrics."""

from random import Random

from nodrop.model.fabric import Device, Fabric
from nodrop.model.routing import Bgp, RouteMap, RouteMapRule
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields

UNREACHABLE = "192.0.2.1"


def hopped(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric in which some sessions give IPv4 routes another next hop when they import them.

    It is an address of a port or loopback of any router, the own ones included, or one that nobody has.
    """
    texts = [
        text.partition("/")[0]
        for device in fabric.devices
        for leg in (*device.interfaces, *known_rows(device.loopbacks))
        for text in leg.addresses
        if "." in text
    ]
    return replace_fields(fabric, devices=tuple(_device(one, texts, chance) for one in fabric.devices))


def _device(device: Device, addresses: list[str], chance: Random) -> Device:
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    peers = [one.address for one in known_rows(bgp.neighbors) if one.address is not None and "." in one.address]
    maps, neighbors = [], []
    for number, one in enumerate(known_rows(bgp.neighbors)):
        if one.active and chance.random() < 0.2:
            hop = chance.choice([*peers, *peers, *addresses, UNREACHABLE])
            rules = [RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", hop),))]
            if chance.random() < 0.5:
                matches = (("ip address prefix-list", "P4a"),)
                rules = [replace_fields(rules[0], matches=matches), RouteMapRule(sequence=20, action="permit")]
            maps.append(RouteMap(name=f"HOP{number}", rules=tuple(rules)))
            one = replace_fields(one, import_policy=f"HOP{number}")
        neighbors.append(one)
    every = tuple(sorted((*bgp.route_maps, *maps), key=lambda one: one.name))
    return replace_fields(device, bgp=replace_fields(bgp, neighbors=tuple(neighbors), route_maps=every))
