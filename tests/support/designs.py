"""Intents as plain data that tests change, and what becomes of them."""

import json
from copy import deepcopy
from functools import cache
from typing import Any, TypeAlias

from nodrop import design
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Fabric, Interface
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
