"""Hosts that are stated, by group and number: as their names have it, and their places at the switches."""

import re
from collections.abc import Mapping
from dataclasses import replace

from nodrop.design.endpoints import count_switches_of_host
from nodrop.design.naming import HOST, Identity, host_identity
from nodrop.importing.numbering import number_hosts
from nodrop.importing.renaming import replace_ends
from nodrop.model.fabric import End, Fabric, Host, Port
from nodrop.model.subject import natural
from nodrop.units import whole_number

_Place = tuple[int, tuple[tuple[int, int, str], ...], Port]
_NOWHERE: _Place = (1, (), Port(0))
"""After every place."""


def number_of_host(host: Host) -> int:
    """Return the number in a host's name, behind its group's or at the end; 0 if there is none."""
    own_number = whole_number(host.name.removeprefix(host.group))
    if own_number is not None:
        return own_number
    match = re.search("[0-9]+$", host.name)
    return (whole_number(match[0]) if match else None) or 0


def number_stated_hosts(fabric: Fabric, known: Mapping[str, Identity]) -> dict[str, Identity]:
    """Return the identities of a fabric's hosts by their names; `known` are those that an intent states."""
    places = _first_places(fabric)
    groups: dict[str, list[Host]] = {}
    for host in sorted(fabric.hosts, key=lambda host: (places.get(host.name, _NOWHERE), natural(host.name))):
        groups.setdefault(host.group, []).append(host)
    identities: dict[str, Identity] = {}
    for group, hosts in groups.items():
        blocks = [_block_of_switches(host, places[host.name]) for host in hosts if host.name in places]
        numbers = number_hosts([host.name for host in hosts], list(map(number_of_host, hosts)), blocks)
        of_group = {host.name: host_identity(group, number) for host, number in zip(hosts, numbers, strict=True)}
        stated = {name: known[name] for name in of_group if name in known and known[name].role == HOST}
        identities |= stated if len(stated) == len(of_group) else of_group
    return identities


def _block_of_switches(host: Host, place: _Place) -> int:
    """Return the switch, or set of switches, that a host is cabled to, from 0."""
    number = place[1][-1][2] if place[1] else "1"
    return (int(number) - 1) // count_switches_of_host(host.spread, max(len(host.ports), 1))


def _first_places(fabric: Fabric) -> dict[str, _Place]:
    """Return the first port of a switch that each host is at, by host."""
    hosts = {host.name for host in fabric.hosts}
    ports = {(device.name, port.name): port.port for device in fabric.devices for port in device.interfaces}
    places: dict[str, _Place] = {}
    for link in fabric.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            port = ports.get(near)
            if far.node in hosts and isinstance(port, Port):
                place = (0, natural(near.node), port)
                places[far.node] = min(places.get(far.node, place), place)
    return places


def rename_hosts(fabric: Fabric, new_names: Mapping[str, str]) -> Fabric:
    """Return a fabric with other names for its hosts."""

    def end(cable_end: End) -> End:
        return End(new_names.get(cable_end.node, cable_end.node), cable_end.port)

    hosts = (replace(host, name=new_names.get(host.name, host.name)) for host in fabric.hosts)
    return replace(
        fabric,
        hosts=tuple(sorted(hosts, key=lambda host: natural(host.name))),
        links=replace_ends(fabric.links, end),
    )
