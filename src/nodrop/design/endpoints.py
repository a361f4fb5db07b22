"""The links between leaves and hosts: which host sits on which leaf and port, by ids alone."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.design.boxes import TIERS, Boxes, lanes_by_speed
from nodrop.design.cabling import Ends, HostCable, cabling
from nodrop.errors import Problem
from nodrop.fabric.fabric import Port
from nodrop.hardware import nearest, nic, nics
from nodrop.intent.schema import Endpoints, Intent
from nodrop.units import show_ids


class Place(NamedTuple):
    """Where a port of a host goes: to which leaf, and to the how-manieth of the group's ports there, from 0."""

    host: int
    host_port: int
    leaf: int
    slot: int


def places(group: Endpoints) -> Iterator[Place]:
    """Yield the place of every port of a group; all follow from ids."""
    for host in group.ids:
        block, position = divmod(host - 1, group.leaf_group)
        for port in range(1, group.ports + 1):
            if group.spread == "leaves":
                yield Place(host, port, block * group.ports + port, position)
            else:
                yield Place(host, port, block + 1, position * group.ports + port - 1)


def host_cables(intent: Intent, switches: Boxes, problems: list[Problem]) -> tuple[HostCable, ...]:
    """Return the links to all hosts; every fault is found, one problem for each group and kind."""
    _check_names(intent, problems)
    taken: dict[tuple[int, int], str] = {}
    groups = intent.endpoints
    return tuple(cable for name in groups for cable in _group_cables(intent, name, switches, taken, problems))


def _check_names(intent: Intent, problems: list[Problem]) -> None:
    """Refuse groups whose hosts would be named like a switch, or like a host of another group."""
    owner: dict[str, str] = {}
    for name, group in intent.endpoints.items():
        if name.rstrip("0123456789") in TIERS:
            found = f"{name}{group.ids[0]} would be the name of a switch"
            problems.append(intent.problem(("endpoints", name), found, "another name for the group"))
        others = {owner.setdefault(f"{name}{number}", name): number for number in reversed(group.ids)}
        others.pop(name, None)
        if others:
            other, number = next(iter(others.items()))
            found = f"{name}{number} would be the name of two hosts, here and in {other}"
            problems.append(intent.problem(("endpoints", name), found, "a name that does not end in a digit"))


def _group_cables(
    intent: Intent, name: str, switches: Boxes, taken: dict[tuple[int, int], str], problems: list[Problem]
) -> Iterator[HostCable]:
    """Yield the links of a group; `taken` says which host has which (leaf, port), and learns it."""
    group, keys = intent.endpoints[name], ("endpoints", name)
    leaves = {leaf.id: leaf for leaf in switches.leaves}
    model = switches.leaves[0].model
    lanes = _nic_lanes(intent, keys, group, problems)
    ends = [Ends(model.name, lanes_by_speed(model)), Ends(group.nic, lanes)]
    link = cabling(intent, keys, group, ends, problems) if lanes else None
    ports = _ports(intent, name, problems)
    spots = tuple(places(group))
    problems += _place_faults(intent, name, spots, tuple(leaves), ports)
    for place in spots:
        if not ports or place.leaf not in leaves or place.slot >= len(ports):
            continue
        host, panel = f"{name}{place.host}", ports[place.slot]
        other = taken.setdefault((place.leaf, panel), host)
        if other != host:
            found = f"{host} and {other} would both get port {panel} of leaf{place.leaf}"
            problems.append(intent.problem((*keys, "leaf_ports"), found, *_free_ports(intent, name)))
            return
        if link is not None:
            yield HostCable(
                leaf=leaves[place.leaf],
                leaf_port=Port(panel),
                host=host,
                host_port=place.host_port,
                host_lanes=lanes[group.speed],
                group=name,
                cabling=link,
            )


def _nic_lanes(intent: Intent, keys: tuple[str, ...], group: Endpoints, problems: list[Problem]) -> Mapping[int, int]:
    """Return the lanes of a group's NIC by speed; none where the NIC is not known."""
    if group.nic in nics():
        return nic(group.nic).lanes
    hint = nearest(group.nic, nics())
    problems.append(intent.problem((*keys, "nic"), group.nic, "a NIC of the catalogue", hint))
    return {}


def _ports(intent: Intent, name: str, problems: list[Problem]) -> tuple[int, ...]:
    """Return the ports that a group has on every leaf; none where it should say so and does not."""
    group, of_leaf = intent.endpoints[name], intent.topology.leaves.ports.endpoints
    if group.leaf_ports is None:
        if len(intent.endpoints) == 1:
            return of_leaf
        found = "several groups share the leaves' endpoint ports"
        problems.append(intent.problem(("endpoints", name), found, *_free_ports(intent, name)))
        return ()
    foreign = tuple(sorted(set(group.leaf_ports) - set(of_leaf)))
    if foreign:
        found = f"port {show_ids(foreign)} is not an endpoint port of the leaves"
        expected = f"some of {show_ids(of_leaf)}"
        problems.append(intent.problem(("endpoints", name, "leaf_ports"), found, expected))
    return group.leaf_ports


def _free_ports(intent: Intent, name: str) -> tuple[str, str]:
    """Return what a group's `leaf_ports` should be, and as a hint ports that are enough and nobody else's."""
    stated = {port for key, group in intent.endpoints.items() if key != name for port in group.leaf_ports or ()}
    free = [port for port in intent.topology.leaves.ports.endpoints if port not in stated]
    for key, group in intent.endpoints.items():
        needed = _slots(group)
        if key == name:
            break
        if group.leaf_ports is None:
            free = free[needed:]
    fitting = f"leaf_ports: {show_ids(tuple(free[:needed]))}" if needed <= len(free) else "more endpoint ports"
    return "leaf_ports of its own", fitting


def _slots(group: Endpoints) -> int:
    """Return how many ports of a leaf a group needs."""
    return max(place.slot for place in places(group)) + 1


def _place_faults(
    intent: Intent, name: str, spots: tuple[Place, ...], leaves: tuple[int, ...], ports: tuple[int, ...]
) -> Iterator[Problem]:
    """Yield what is wrong with where the hosts of a group go, with what would be right."""
    group, keys = intent.endpoints[name], ("endpoints", name)
    missing = {place.leaf for place in spots} - set(leaves)
    if missing:
        lost = {place.host for place in spots if place.leaf in missing}
        found = f"{name} {_show(lost)} would be on leaf {_show(missing)}"
        kept = set(group.ids) - lost
        hint = f"topology.leaves.ids: {_show(missing | set(leaves))}" + (f", or ids: {_show(kept)}" if kept else "")
        yield intent.problem((*keys, "ids"), found, f"leaf {_show(leaves)}", hint)
    needed = max(place.slot for place in spots) + 1
    if ports and needed > len(ports):
        each = group.ports if group.spread == "one-leaf" else 1
        found = f"{name} needs {needed} ports on a leaf"
        expected = f"at most its {len(ports)}, {_show(ports)}"
        yield intent.problem((*keys, "leaf_group"), found, expected, _smaller(group, leaves, len(ports) // each))


def _smaller(group: Endpoints, leaves: tuple[int, ...], most: int) -> str:
    """Return a hint: as many hosts to a leaf as there are ports for, on as many leaves as they then need."""
    if not most:
        return "more ports, or fewer ports of each host on a leaf"
    fewer = group.model_copy(update={"leaf_group": most})
    needed = {place.leaf for place in places(fewer)}
    more = "" if needed <= set(leaves) else f" and topology.leaves.ids: {_show(needed | set(leaves))}"
    return f"leaf_group: {most}{more}"


def _show(numbers: "set[int] | tuple[int, ...]") -> str:
    return show_ids(tuple(numbers))
