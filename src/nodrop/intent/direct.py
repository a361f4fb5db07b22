"""Intents of dragonfly and torus: read, routed and refused, with the priorities that a lossless class needs there.

A network is stated by its sizes or by a cabling sheet, where the numbers in the name of a switch are its coordinates:
group and switch of a dragonfly (`g2s1`), a number for each dimension of a torus (`sw2-3`).
"""

import re
from collections.abc import Iterator
from math import prod
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from nodrop.errors import Problem
from nodrop.intent.part import SchemaMapping
from nodrop.intent.schema import TrafficClass, WrittenIntent
from nodrop.intent.sheet import CableSheetRowPlaces, read_sheet_rows
from nodrop.intent.topology import TOPOLOGY_KINDS, Cables
from nodrop.intent.types import Name, scalar_of_grid_sizes, scalar_of_whole
from nodrop.proofs.direct_networks import (
    DirectNetwork,
    DragonflyRoutes,
    NetworkRoutes,
    SwitchCoordinates,
    SwitchIndexPair,
    TorusRoutes,
    find_priorities_that_end_circles,
    make_dragonfly,
    make_torus,
)
from nodrop.syntax.places import sanitize_for_message

MOST_DIRECT_SWITCHES = 512
"""Switches of a network, at most: its graph takes seconds."""
_MOST_TORUS_DIMENSIONS = 4
_TOPOLOGY_KEY_PATH = ("topology",)
_CABLES_KEY_PATH = ("topology", "cables")

_CABLES_DESCRIPTION = "the cables between switches, as in kind: cabling, in place of sizes; the numbers in a name are "


class Dragonfly(SchemaMapping):
    """Groups of switches, all of a group cabled to one another, and each group to each other group."""

    kind: Literal["dragonfly"]
    switches_per_group: Annotated[int, scalar_of_whole(1, 64)] | None = Field(
        None, description="switches of each group"
    )
    global_cables: Annotated[int, scalar_of_whole(1, 64)] | None = Field(
        None, description="cables of each switch to other groups, at most"
    )
    groups: Annotated[int, scalar_of_whole(2, MOST_DIRECT_SWITCHES)] | None = Field(
        None, description="groups; default: as many as there can be, one more than global cables of a group"
    )
    routing: Literal["minimal", "valiant"] = Field("minimal", description="minimal, or valiant: by any third group")
    cables: Cables | None = Field(None, description=f"{_CABLES_DESCRIPTION}its group and itself: g2s1")


class Torus(SchemaMapping):
    """A ring of switches through each switch in each dimension."""

    kind: Literal["torus"]
    size: Annotated[tuple[int, ...], scalar_of_grid_sizes(_MOST_TORUS_DIMENSIONS, MOST_DIRECT_SWITCHES)] | None = Field(
        None, description="switches in each dimension: 6x6"
    )
    routing: Literal["dimension-order"] = Field("dimension-order", description="one dimension after the other")
    cables: Cables | None = Field(None, description=f"{_CABLES_DESCRIPTION}its place in each dimension: sw2-3")


DIRECT_TOPOLOGY_KINDS = ("dragonfly", "torus")


class DirectNetworkIntent(WrittenIntent):
    """An intent of a dragonfly or torus; keys that do not decide about deadlock are not read."""

    model_config = ConfigDict(extra="ignore")

    topology: Annotated[Dragonfly | Torus, Field(discriminator="kind")]
    classes: dict[Name, TrafficClass] = Field(default_factory=dict)


def is_dragonfly_or_torus_intent(data: object) -> bool:
    """Whether the content of a document is the intent of a dragonfly or torus."""
    topology = data.get("topology") if isinstance(data, dict) else None
    return isinstance(topology, dict) and topology.get("kind") in DIRECT_TOPOLOGY_KINDS


def find_reasons_not_to_build(intent: DirectNetworkIntent) -> Iterator[Problem]:
    """Yield why the network of an intent is not built: its faults, else lossless classes whose buffers wait in circles.

    The last reason is always that this release builds no such network.
    """
    problems: list[Problem] = []
    network = _read_network(intent, problems)
    if network is not None:
        yield from _network_faults(intent, network)
    yield from problems
    fault = f"{intent.topology.kind} is not built by this release"
    yield intent.problem(("topology", "kind"), fault, f"{', '.join(TOPOLOGY_KINDS[:-1])} or {TOPOLOGY_KINDS[-1]}")


def _network_faults(intent: DirectNetworkIntent, network: DirectNetwork) -> Iterator[Problem]:
    """Yield a missing cable, or the lossless classes that need more than one priority in a network."""
    topology = intent.topology
    routes: NetworkRoutes
    if isinstance(topology, Torus):
        routes = TorusRoutes(network)
    else:
        routes = DragonflyRoutes(network, valiant=topology.routing == "valiant")
    if missing := routes.describe_missing_cable():
        yield intent.problem(_CABLES_KEY_PATH, f"no cable between {missing}", f"all cables of a {topology.kind}")
        return
    lossless = [name for name, traffic_class in intent.classes.items() if traffic_class.lossless]
    need = find_priorities_that_end_circles(network, routes) if lossless else None
    if need is None or need.single.is_free:
        return
    circles = need.single.circles
    fault = (
        f"true: by {topology.routing} routing, {need.single.buffers_on_circles} buffers can wait in circles "
        f"({len(circles)} separate, the shortest of {len(circles[0])})"
    )
    step = "the dateline of a ring" if isinstance(topology, Torus) else "each cable between groups"
    expected = f"{need.priorities} priorities for the class, the next one behind {step}"
    for name in lossless:
        yield intent.problem(
            ("classes", name, "lossless"), fault, expected, "or lossless: false, or kind: tiers for a fat tree"
        )


def _read_network(intent: DirectNetworkIntent, problems: list[Problem]) -> DirectNetwork | None:
    """Return the network of an intent, by sheet or sizes; None with a problem."""
    topology = intent.topology
    if topology.cables is not None:
        return _read_network_from_sheet(intent, topology.cables, problems)
    if isinstance(topology, Torus):
        missing, shape = "size", topology.size
    else:
        missing, shape = "switches_per_group and global_cables", _dragonfly_shape(intent, topology, problems)
    if shape is None:
        if not problems:
            problems.append(intent.problem(_TOPOLOGY_KEY_PATH, f"no {missing}, and no cables", "one of the two"))
        return None
    if prod(shape[:2] if isinstance(topology, Dragonfly) else shape) > MOST_DIRECT_SWITCHES:
        problems.append(_too_many_switches_problem(intent, prod(shape)))
        return None
    return make_torus(shape) if isinstance(topology, Torus) else make_dragonfly(*shape)


def _dragonfly_shape(
    intent: DirectNetworkIntent, topology: Dragonfly, problems: list[Problem]
) -> tuple[int, int, int] | None:
    """Return groups, switches of each, and global cables of each switch."""
    switches, cables = topology.switches_per_group, topology.global_cables
    if switches is None or cables is None:
        return None
    groups = switches * cables + 1 if topology.groups is None else topology.groups
    if groups > switches * cables + 1:
        expected = f"at most {switches * cables + 1}, one more than global cables of a group"
        problems.append(intent.problem(("topology", "groups"), f"{groups} groups", expected))
        return None
    return groups, switches, cables


def _too_many_switches_problem(intent: DirectNetworkIntent, switches: int) -> Problem:
    return intent.problem(
        _TOPOLOGY_KEY_PATH, f"{switches:,} switches", f"at most {MOST_DIRECT_SWITCHES}, whose graph takes seconds"
    )


def _read_network_from_sheet(
    intent: DirectNetworkIntent, cables: Cables, problems: list[Problem]
) -> DirectNetwork | None:
    """Return the network of a cabling sheet; None with a problem."""
    topology, places = intent.topology, CableSheetRowPlaces(intent, cables)
    number: dict[SwitchCoordinates, int] = {}
    pairs: list[SwitchIndexPair] = []
    dimensions = 2 if isinstance(topology, Dragonfly) else None
    for row in read_sheet_rows(intent, cables, problems):
        ends = [tuple(map(int, re.findall("[0-9]{1,9}", end.device))) for end in (row.a, row.b)]
        dimensions = dimensions or max(len(ends[0]), 1)
        wrong = next((end for end, at in zip((row.a, row.b), ends, strict=True) if len(at) != dimensions), None)
        if wrong is not None:
            fault = f"{sanitize_for_message(wrong.device)} as a switch of a {topology.kind}"
            problems.append(places.problem(row.index, fault, f"a name with its coordinates, {dimensions} in all"))
        elif ends[0] == ends[1]:
            problems.append(places.problem(row.index, f"{row.a} and {row.b} are one switch", "two switches"))
        else:
            a, b = sorted(number.setdefault(at, len(number)) for at in ends)
            pairs.append((a, b))
    if len(number) > MOST_DIRECT_SWITCHES:
        problems.append(_too_many_switches_problem(intent, len(number)))
    if problems or not number:
        return None
    return DirectNetwork(switches=tuple(number), cables=tuple(pairs))
