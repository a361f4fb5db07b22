"""What an analysis finds in two-by-two after some changes: by subject, the facts of a hit or what is missing."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from nodrop.analyses import AnalysisHit
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject, subject_text
from nodrop.model.values import replace_fields
from support.designs import build, shipped


@cache
def two_by_two() -> Fabric:
    return build(shipped("two-by-two"))


def with_changes(changes: Mapping[str, object]) -> Fabric:
    """The fabric with values at subjects; UNKNOWN is set at any field of a device or port."""
    fabric = two_by_two()
    for subject, value in changes.items():
        fabric = forgotten(fabric, subject) if value is UNKNOWN else set_value(fabric, parse_subject(subject), value)
    return fabric


def forgotten(fabric: Fabric, subject: str) -> Fabric:
    """The fabric without what it knows of a field: `leaf1/@bgp`, `leaf1/Ethernet0/addresses`."""
    device, *rest = subject.split("/")
    if device == "@fabric":
        _, key, field = rest
        links = tuple(replace_fields(one, **{field: UNKNOWN}) if _key(one) == key else one for one in fabric.links)
        return replace_fields(fabric, links=links)
    devices = tuple(_without(each, rest) if each.name == device else each for each in fabric.devices)
    return replace_fields(fabric, devices=devices)


def _key(link: Any) -> str:
    return f"{link.a}--{link.b}"


def _without(device: Any, rest: list[str]) -> Any:
    if rest[0].startswith("@"):
        return replace_fields(device, **{rest[0][1:]: UNKNOWN})
    name, *fields = rest
    ports = tuple(_unsaid(port, fields) if port.name == name else port for port in device.interfaces)
    return replace_fields(device, interfaces=ports)


def _unsaid(port: Any, fields: list[str]) -> Any:
    if len(fields) == 1:
        return replace_fields(port, **{fields[0]: UNKNOWN})
    return replace_fields(port, qos=replace_fields(port.qos, **{fields[1]: UNKNOWN}))


def look(analysis: str, changes: Mapping[str, object], **arguments: Any) -> dict[str, Any]:
    """What an analysis says of the changed fabric."""
    return say(analysis, with_changes(changes), **arguments)


def say(analysis: str, fabric: Fabric, **arguments: Any) -> dict[str, Any]:
    """What an analysis says of a fabric, by subject."""
    return dict(_said(analysis, fabric, arguments))


def _said(analysis: str, fabric: Fabric, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for each in importlib.import_module(f"nodrop.analyses.{analysis}").find(Index(fabric), **arguments):
        yield subject_text(each.subject), dict(each.facts) if isinstance(each, AnalysisHit) else each.missing
