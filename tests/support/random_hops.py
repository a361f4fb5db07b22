"""Random next hops that route maps give imported and announced routes, added to random fabrics."""

from random import Random

from nodrop.model.fabric import Device, Fabric
from nodrop.model.routing import Bgp, RouteMap, RouteMapRule
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields

UNREACHABLE = "192.0.2.1"


def hopped(fabric: Fabric, chance: Random) -> Fabric:
    """Return a fabric in which some sessions give IPv4 routes another next hop when they import or announce them.

    It is an address of a port or loopback of any router, the own ones included, or one that nobody has.
    """
    texts = [text for device in fabric.devices for text in _addresses(device)]
    return replace_fields(fabric, devices=tuple(_device(one, texts, chance) for one in fabric.devices))


def _device(device: Device, addresses: list[str], chance: Random) -> Device:
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    peers = [one.address for one in known_rows(bgp.neighbors) if one.address is not None and "." in one.address]
    own_addresses = _addresses(device)
    maps, neighbors = [], []
    for number, one in enumerate(known_rows(bgp.neighbors)):
        policies = {}
        if one.active and chance.random() < 0.2:
            policies["import_policy"] = chance.choice([*peers, *peers, *addresses, UNREACHABLE])
        if one.active and chance.random() < 0.2:
            hops = [*own_addresses, *own_addresses, *addresses, UNREACHABLE, "peer-address"]
            policies["export_policy"] = chance.choice(hops)
        for way, hop in policies.items():
            name = f"{way[:2].upper()}HOP{number}"
            rules = [RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", hop),))]
            if chance.random() < 0.5:
                matches = (("ip address prefix-list", "P4a"),)
                rules = [replace_fields(rules[0], matches=matches), RouteMapRule(sequence=20, action="permit")]
            maps.append(RouteMap(name=name, rules=tuple(rules)))
            one = replace_fields(one, **{way: name})
        neighbors.append(one)
    every = tuple(sorted((*bgp.route_maps, *maps), key=lambda one: one.name))
    return replace_fields(device, bgp=replace_fields(bgp, neighbors=tuple(neighbors), route_maps=every))


def _addresses(device: Device) -> list[str]:
    """Return the IPv4 addresses of a router."""
    texts = [
        *(text for leg in device.interfaces for text in known_rows(leg.addresses)),
        *(text for leg in known_rows(device.loopbacks) for text in known_rows(leg.addresses)),
    ]
    return [text.partition("/")[0] for text in texts if "." in text]
