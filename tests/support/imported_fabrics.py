"""Imports that several tests look at: fabrics as their files alone have them, and builds that come back."""

import random
from dataclasses import replace
from functools import cache
from typing import Any

import nodrop
from nodrop.design.boxes import switch_identities
from nodrop.design.topology import topology_of
from nodrop.importing import ImportResult, derive_intent, load_switch_files
from nodrop.model.fabric import Device, Fabric
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN
from nodrop.resources import resource_folder
from support.designs import Data, build, load


def imported(fabric: Fabric) -> ImportResult:
    """What a build of a fabric is imported as."""
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    return derive_intent(reading.fabric, source="build", files=load_switch_files(reading))


def without_names(data: Data) -> ImportResult:
    """What the build of an intent is imported as where no name of a switch means anything, and nobody states roles."""
    numbers = random.Random(1).sample(range(1000, 9000), 2000)
    switches = map(str, switch_identities(topology_of(load(data))))
    fabric = build(
        data | {"names": {"devices": {one: f"sw{next(draw)}x" for draw in [iter(numbers)] for one in switches}}}
    )
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    devices = tuple(replace(device, role=UNKNOWN) for device in reading.fabric.devices)
    return derive_intent(replace(reading.fabric, devices=devices), source="build", files=load_switch_files(reading))


@cache
def bare(name: str) -> Fabric:
    """A shipped fabric as its switches' files alone have it, and nothing stated beside them."""
    return as_read(nodrop.build(nodrop.load(resource_folder("intents") / f"{name}.yaml")))


def as_read(fabric: Fabric) -> Fabric:
    """A built fabric as its switches' files alone have it."""
    from nodrop.collect import read_artifacts
    from nodrop.model.assemble import assemble_fabric
    from nodrop.model.declared import DeclaredFacts

    artifacts = [one for one in nodrop.write(fabric) if one.device]
    readings = list(read_artifacts(artifacts, {one.name: one.platform for one in fabric.devices}, ""))
    return assemble_fabric(readings, DeclaredFacts()).fabric


def called(fabric: Fabric, names: dict[str, str], **facts: Any) -> Fabric:
    """A fabric of the switches that are named, under other names and with other facts."""

    def end(one: Any) -> Any:
        return one._replace(node=names.get(one.node, one.node))

    devices = tuple(replace(one, name=names[one.name], **facts) for one in fabric.devices if one.name in names)
    kept = (one for one in fabric.links if {one.a.node, one.b.node} <= names.keys())
    return replace(fabric, devices=devices, links=tuple(replace(one, a=end(one.a), b=end(one.b)) for one in kept))


def odd() -> Fabric:
    """Two by two with other names, a port that lost its watchdog, and a spine of an AS of its own."""
    fabric = bare("two-by-two")
    names = {"leaf1": "rack-a", "leaf2": "rack-b", "spine1": "core-sp1", "spine2": "core-sp2"}
    devices = []
    for one in fabric.devices:
        device = without(one, "Ethernet8") if one.name == "leaf2" else one
        if one.name == "spine2":
            device = replace(device, bgp=replace(device.bgp, asn=4200000002), ntp_servers=("192.0.2.1",))  # type: ignore[type-var]
        devices.append(replace(device, name=names[one.name], role=UNKNOWN))

    def end(one: Any) -> Any:
        return one._replace(node=names.get(one.node, one.node))

    links = tuple(replace(one, a=end(one.a), b=end(one.b)) for one in fabric.links)
    return replace(fabric, devices=tuple(devices), links=links)


def without(device: Device, port: str) -> Device:
    """A switch of which one port has no watchdog."""

    def unwatched(qos: Any) -> Any:
        return replace(qos, pfc_watchdog=None) if isinstance(qos, QosProfile) else qos

    changed = (replace(one, qos=unwatched(one.qos)) if one.name == port else one for one in device.interfaces)
    return replace(device, interfaces=tuple(changed))


def fragments() -> Fabric:
    """What is left where two switches are known by their ports alone."""
    fabric = bare("two-by-two")
    devices = []
    for one in fabric.devices[1:3]:
        ports = tuple(replace(port, qos=UNKNOWN, addresses=UNKNOWN) for port in one.interfaces)
        devices.append(Device(name=one.name, platform=one.platform, interfaces=ports))
    return replace(fabric, devices=tuple(devices), links=(), classes=())


def filled(text: str) -> str:
    """An intent with the examples of what is to be added, as who takes `# ` away has it."""
    lines, inside = [], None
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.startswith(f"{indent}# TODO: "):
            inside = indent
        elif inside == indent and line.startswith(f"{indent}# ") and not line.startswith(f"{indent}# guessed: "):
            line = indent + line.removeprefix(f"{indent}# ")
        elif line.startswith(f"{inside}  "):
            pass
        else:
            inside = None
        lines.append(line)
    return "\n".join(lines) + "\n"
