"""What states of one fabric share: the objects of what is the same, and never what only one of them says."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import nodrop
from nodrop.collect import read_artifacts
from nodrop.model.assemble import ObjectsSharedByStates, assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import End, Interface, Link
from nodrop.model.reading import CableEvidence, DeviceReading
from nodrop.model.values import replace_fields
from nodrop.resources import resource_folder

State = tuple[list[DeviceReading], DeclaredFacts]


@pytest.fixture(scope="module")
def state() -> State:
    """The smallest fabric as its files say it, of which nothing is stated; neighbor tables name hosts alone."""
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml"))
    artifacts = [one for one in nodrop.write(fabric) if one.device]
    readings = read_artifacts(artifacts, {one.name: one.platform for one in fabric.devices}, "")
    switches = {one.name for one in fabric.devices}
    alone = [
        replace(one, cables=tuple(cable for cable in one.cables if cable.remote.node not in switches))
        for one in readings
    ]
    return alone, DeclaredFacts()


def ports(reading: DeviceReading, name: str, change: Callable[[Interface], Interface]) -> DeviceReading:
    """A switch with another port of that name."""
    rows = tuple(change(one) if one.name == name else one for one in reading.device.interfaces)
    return replace(reading, device=replace_fields(reading.device, interfaces=rows))


def first(reading: DeviceReading, change: Callable[[Interface], Interface]) -> DeviceReading:
    """A switch with another port at its first uplink."""
    uplink = next(one.name for one in reading.device.interfaces if str(one.description).startswith("spine"))
    return ports(reading, uplink, change)


def on_first(change: Callable[[DeviceReading], DeviceReading]) -> Callable[[State], State]:
    return lambda state: ([change(state[0][0]), *state[0][1:]], state[1])


FAR = CableEvidence(local_port="Ethernet0", remote=End("elsewhere", "p1"), evidence="a neighbor table")
LINK = Link(a=End("elsewhere", "p2"), b=End("leaf1", "Ethernet8"))
OTHERS: dict[str, Callable[[State], State]] = {
    "MTU": on_first(lambda one: first(one, lambda port: replace_fields(port, mtu_bytes=1500))),
    "address": on_first(lambda one: first(one, lambda port: replace_fields(port, addresses=("192.0.2.1/31",)))),
    "no address": on_first(lambda one: first(one, lambda port: replace_fields(port, addresses=()))),
    "description": on_first(lambda one: first(one, lambda port: replace_fields(port, description="leaf2:Ethernet0"))),
    "name of a port": on_first(lambda one: first(one, lambda port: replace_fields(port, name="Ethernet999"))),
    "name of a switch": on_first(lambda one: replace(one, device=replace_fields(one.device, name="other"))),
    "neighbor": on_first(lambda one: replace(one, cables=(FAR, *one.cables))),
    "port less": on_first(
        lambda one: replace(one, device=replace_fields(one.device, interfaces=one.device.interfaces[1:]))
    ),
    "switch less": lambda state: (state[0][1:], state[1]),
    "role": lambda state: (state[0], replace(state[1], roles={_host(state[0]): "spine"})),
    "cables": lambda state: (state[0], replace(state[1], cables=(LINK,))),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_state_is_the_same_beside_another_and_alone(name: str, state: State) -> None:
    other = OTHERS[name](state)
    shared = ObjectsSharedByStates()
    for one in (state, other, state):
        assert assemble_fabric(*one, shared=shared) == assemble_fabric(*one)
    assert assemble_fabric(*other) != assemble_fabric(*state)


def test_of_what_is_the_same_there_is_one_object(state: State) -> None:
    shared = ObjectsSharedByStates()
    before, after = (assemble_fabric(*one, shared=shared).fabric for one in (state, OTHERS["MTU"](state)))
    assert before.links is after.links
    same = [one.name for one, other in zip(before.devices, after.devices, strict=True) if one is other]
    assert same == [one.name for one in before.devices if one.name != _first(state[0])]


def _host(readings: Sequence[DeviceReading]) -> str:
    """What a neighbor table names."""
    return next(cable.remote.node for one in readings for cable in one.cables)


def _first(readings: Sequence[DeviceReading]) -> str:
    return readings[0].device.name
