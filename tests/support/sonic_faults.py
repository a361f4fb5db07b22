"""Switches with one fault each: two-by-two is built and written, one config_db.json is changed, all of it is read."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import nodrop
from nodrop import collect, context, platforms
from nodrop.engine.finding import FabricVerdict, Finding
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.locate import add_finding_places
from nodrop.model.assemble import assemble_fabric
from nodrop.model.edit import set_value
from nodrop.model.reading import Reading
from nodrop.model.subject import parse_subject
from nodrop.platforms.kit.artifact import Artifact
from nodrop.resources import resource_folder

DEVICE, FILE = "leaf1", "config_db.json"
Path = tuple[str, ...]
Changes = Mapping[Path, Any]
"""Path of a table, row or field to what stands there; None takes it away."""

TRADITIONAL: Mapping[str, Any] = {
    "*/@buffer_model": "traditional",
    "*/@dynamic_buffers": None,
    "*/@buffer_pools/*/computed": False,
    "*/@buffer_pools/*/percentage": None,
    "*/@buffer_pools/*/size_bytes": 4_000_000,
    "*/@buffer_pools/ingress_lossless/size_bytes": 36_000_000,
    "*/@buffer_pools/egress_lossless/size_bytes": 60_817_392,
    "@fabric/links/*/length_m": 40,
    "*/*/cable_length_m": 40,
    "*/*/qos/priority_groups/3/buffer": {
        "pool": "ingress_lossless",
        "size_bytes": 317_888,
        "dynamic_th": 0,
        "headroom": {"xoff_bytes": 280_000, "xon_bytes": 37_888},
    },
}
"""What makes the fabric one of the traditional buffer model: cables that the SKU's table has, and profiles."""


@cache
def written(traditional: bool) -> tuple[Artifact, ...]:
    """Return the files of the sound fabric, in the dynamic buffer model or the traditional one."""
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml"))
    for subject, value in TRADITIONAL.items() if traditional else ():
        fabric = set_value(fabric, parse_subject(subject), value)
    return tuple(nodrop.write(fabric))


def changed(text: str, changes: Changes) -> str:
    """Return a config_db.json with some of it changed; what is to be taken away has to be there."""
    data = json.loads(text)
    for (*way, last), value in changes.items():
        inside = data
        for step in way:
            inside = inside[step] if value is None else inside.setdefault(step, {})
        if value is None:
            del inside[last]
        else:
            inside[last] = value
    return json.dumps(data, indent=4)


def read(changes: Changes, traditional: bool = False, device: str = DEVICE) -> tuple[str, Reading]:
    """Return the changed text, and the fabric as it is read with it."""
    artifacts, own = [], ""
    for one in written(traditional):
        if (one.device, one.path) == (device, FILE):
            own = changed(one.text, changes)
            one = Artifact(device=one.device, path=one.path, text=own)
        artifacts.append(one)
    switches = [one for one in artifacts if one.device]
    readings = list(collect.read_artifacts(switches, dict.fromkeys((one.device for one in switches), "sonic"), ""))
    declared = next(one.text for one in artifacts if one.path == context.FABRIC_FILE)
    return own, assemble_fabric(readings, context.loads(declared.encode(), context.FABRIC_FILE))


def verdict(reading: Reading) -> FabricVerdict:
    """Return what all rules say, the most pedantic ones too."""
    return judge(reading, select_lint_rules(shipped_rules()), strictness="auditor")


def located(reading: Reading) -> tuple[Finding, ...]:
    """Return what all rules find, and where."""
    return tuple(add_finding_places(verdict(reading).findings, reading, platforms.make_place_finder).findings)


def line_of(text: str, path: Path) -> int:
    """Return the line on which the last part of a path stands in a file that is indented by four."""
    at = 0
    for depth, step in enumerate(path, 1):
        at = text.index(f"\n{'    ' * depth}{json.dumps(step)}: ", at) + 1
    return text.count("\n", 0, at) + 1
