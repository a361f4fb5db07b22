"""Hosts that are stated, by group and number: as their names have it, and their places at the switches."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from nodrop.design.naming import HOST_ROLE, NodeIdentity, host_identity
from nodrop.importing.numbering import number_hosts
from nodrop.importing.renaming import replace_ends
from nodrop.importing.tier_view import most_common_value
from nodrop.model.fabric import End, Fabric, Host, Port
from nodrop.model.subject import natural_sort_key
from nodrop.units import parse_whole_number

_SwitchSortKey = tuple[tuple[int, int, str], ...]
_SwitchPortSortKey = tuple[int, _SwitchSortKey, Port]
_LAST_SORT_KEY: _SwitchPortSortKey = (1, (), Port(0))
"""After every place."""


def number_of_host(host: Host) -> int:
    """Return the number in a host's name, behind its group's or at the end; 0 if there is none."""
    own_number = parse_whole_number(host.name.removeprefix(host.group))
    if own_number is not None:
        return own_number
    match = re.search("[0-9]+$", host.name)
    return (parse_whole_number(match[0]) if match else None) or 0


def identify_stated_hosts(fabric: Fabric, known: Mapping[str, NodeIdentity]) -> dict[str, NodeIdentity]:
    """Return the identities of a fabric's hosts by their names; `known` are those that an intent states."""
    places_by_host = _switch_ports_by_host(fabric)
    places = {name: min(host_places) for name, host_places in places_by_host.items()}
    groups: dict[str, list[Host]] = {}
    for host in sorted(
        fabric.hosts, key=lambda host: (places.get(host.name, _LAST_SORT_KEY), natural_sort_key(host.name))
    ):
        groups.setdefault(host.group, []).append(host)
    identities: dict[str, NodeIdentity] = {}
    splits = {
        (natural_sort_key(device.name), panel): count
        for device in fabric.devices
        for panel, count in Counter(port.port.panel for port in device.interfaces if port.port is not None).items()
    }
    most_ports_of_switch = max((len(device.interfaces) for device in fabric.devices), default=1)
    for group, hosts in groups.items():
        width = (
            most_common_value(
                len({place[1] for place in places_by_host[host.name]}) for host in hosts if host.name in places
            )
            or 1
        )
        blocks = [_switch_set_of_host(places[host.name], width) for host in hosts if host.name in places]
        steps = _number_steps_by_places([places_by_host.get(host.name, []) for host in hosts], splits)
        numbers = number_hosts(
            [host.name for host in hosts], list(map(number_of_host, hosts)), blocks, steps, most_ports_of_switch
        )
        of_group = {host.name: host_identity(group, number) for host, number in zip(hosts, numbers, strict=True)}
        stated = {name: known[name] for name in of_group if name in known and known[name].role == HOST_ROLE}
        identities |= stated if len(stated) == len(of_group) else of_group
    return identities


def _switch_set_of_host(place: _SwitchPortSortKey, width: int) -> int:
    """Return the switch, or set of so many switches, that a host is cabled to, from 0."""
    number = place[1][-1][2] if place[1] else "1"
    return (int(number) - 1) // width


def _number_steps_by_places(
    places_by_host: Sequence[Sequence[_SwitchPortSortKey]], splits: Mapping[tuple[_SwitchSortKey, int], int]
) -> list[int | None]:
    """Return how far apart the numbers of each host and the next are, by their first ports; None where none says so.

    At one switch, every number has as many ports in a row as a host has there. `splits` are the parts of each port.
    """
    first_positions: list[tuple[_SwitchSortKey, int, int] | None] = []
    for places in places_by_host:
        _, switch, first = min(places, default=_LAST_SORT_KEY)
        each = sum(place[1] == switch for place in places)
        position = first.panel * splits.get((switch, first.panel), 1) + max(first.split - 1, 0)
        first_positions.append((switch, position, each) if places else None)
    return [
        (there[1] - here[1]) // here[2]
        if here and there and (here[0], here[2]) == (there[0], there[2]) and (there[1] - here[1]) % here[2] == 0
        else None
        for here, there in pairwise(first_positions)
    ]


def _switch_ports_by_host(fabric: Fabric) -> dict[str, list[_SwitchPortSortKey]]:
    """Return the ports of switches that each host is at, by host."""
    hosts = {host.name for host in fabric.hosts}
    ports = {(device.name, port.name): port.port for device in fabric.devices for port in device.interfaces}
    places: dict[str, list[_SwitchPortSortKey]] = {}
    for link in fabric.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            port = ports.get(near)
            if far.node in hosts and isinstance(port, Port):
                places.setdefault(far.node, []).append((0, natural_sort_key(near.node), port))
    return places


def rename_hosts(fabric: Fabric, new_names: Mapping[str, str]) -> Fabric:
    """Return a fabric with other names for its hosts."""

    def end(cable_end: End) -> End:
        return End(new_names.get(cable_end.node, cable_end.node), cable_end.port)

    hosts = (replace(host, name=new_names.get(host.name, host.name)) for host in fabric.hosts)
    return replace(
        fabric,
        hosts=tuple(sorted(hosts, key=lambda host: natural_sort_key(host.name))),
        links=replace_ends(fabric.links, end),
    )
