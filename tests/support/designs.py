"""Intents as plain data that tests change, and what becomes of them."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from nodrop import design
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Fabric, Interface
from nodrop.model.states import Unknown
from nodrop.model.values import replace_fields
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml

Data: TypeAlias = dict[str, Any]


def data_of(text: str) -> Data:
    """The data of an intent, every scalar a text."""
    data: Data = parse_yaml(text, "intent.yaml").data
    return data


@cache
def _shipped(name: str) -> Data:
    return data_of((resource_folder("intents") / f"{name}.yaml").read_text())


def shipped(name: str, changes: dict[str, Any] | None = None) -> Data:
    """The data of a shipped intent, with the values at some dotted paths set."""
    return changed(_shipped(name), changes or {})


def tiers_of(name: str) -> dict[str, int]:
    """Where a shipped intent describes its switches, as dotted paths, with the tier of each."""
    groups = _shipped(name)["topology"].get("groups")
    if groups is None:
        return {"topology.leaves": 1, "topology.spines": 2}
    return {f"topology.groups.{group}": int(facts["tier"]) for group, facts in groups.items()}


def changed(data: Data, changes: dict[str, Any]) -> Data:
    """The data with the values at dotted paths set, or removed where None; all else is left as it was."""
    result = deepcopy(data)
    for path, value in changes.items():
        *sections, key = path.split(".")
        part = result
        for section in sections:
            part = part.setdefault(section, {})
        if value is None:
            part.pop(key, None)
        else:
            part[key] = value
    return result


def load(data: Data) -> Intent:
    """The intent of data; JSON is YAML, and its texts are scalars that the schema types."""
    return loads(json.dumps(data).encode(), "intent.yaml")


def build(data: Data) -> Fabric:
    """The fabric of data."""
    return design.build(load(data))


def port(fabric: Fabric, device: str, name: str) -> Interface:
    """A port of a fabric by names."""
    return next(one for one in fabric.device(device).interfaces if one.name == name)


def links_between(fabric: Fabric, *nodes: str) -> int:
    """How many links two nodes have."""
    return sum({link.a.node, link.b.node} == set(nodes) for link in fabric.links)


@cache
def shared_subnet() -> Fabric:
    """A fabric whose leaves have the same subnet in their VLANs, with two hosts in each."""
    fabric = build(shipped("storage-vlan"))
    leaf1, leaf2, *spines = fabric.devices
    assert not isinstance(leaf2.vlans, Unknown)
    (vlan,) = leaf2.vlans
    leaf2 = replace_fields(leaf2, vlans=(replace_fields(vlan, addresses=("10.3.1.1/24",)),))
    hosts = tuple(
        replace(
            host,
            ports=tuple(
                replace(port, addresses=(f"10.3.1.{10 + number}/24",)) if "10.3." in port.addresses[0] else port
                for port in host.ports
            ),
        )
        for number, host in enumerate(fabric.hosts)
    )
    return replace(fabric, devices=(leaf1, leaf2, *spines), hosts=hosts)
