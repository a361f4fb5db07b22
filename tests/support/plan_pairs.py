"""Pairs of fabrics that differ in what an intent says, read back as a build is, and what plans make of them."""

import json
import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any

from nodrop import platforms
from nodrop.fabric_readings import build_and_read_back
from nodrop.model.fabric import Device
from nodrop.model.reading import Reading, Source
from nodrop.plan.effects import switch_files_if_unchanged
from support.designs import load, shipped, tiers_of

NAME = "two-by-two"
RELEASES = {"sonic": "202505", "nvue": "5.14"}
KNOBS: dict[str, tuple[Any, ...]] = {
    "classes.rdma.ecn": ({"min": "200kB", "max": "2000kB", "probability": "50%"},),
    "classes.storage.dscp": ("12", ["12", "13"]),
    "classes.inband.priority": ("4",),
    "classes.cnp.max_rate": ("10%",),
    "pfc": (
        {"watchdog": {"hosts": {"detection": "300ms", "restoration": "600ms"}}},
        {"watchdog": {"hosts": {"action": "forward"}}},
        {"watchdog": {"fabric": "off"}},
    ),
    "buffers": ({"alpha": "2"},),
    "topology.leaves.ids": ("1-3",),
    "topology.uplinks.length": ("60m",),
    "devices": ({"spine1": {"drained": True}},),
    "services": ({"ntp": ["192.0.2.10"], "syslog": ["192.0.2.20"]},),
    "mtu": ("9000",),
}
"""What may be changed in the smallest intent, and to what."""


@cache
def reading(platform: str = "sonic", changes: tuple[tuple[str, Any], ...] = (), name: str = NAME) -> Reading:
    """Return what switches would be given by a shipped intent with some values changed."""
    tiers = {"platform": platform, "version": RELEASES[platform]}
    ours = {f"{path}.{key}": value for path in tiers_of(name) for key, value in tiers.items()}
    return build_and_read_back(load(shipped(name, ours | dict(changes))), "intent.yaml", "build")[1]


def reading_of(platform: str, changes: dict[str, Any]) -> Reading:
    """Return the same, by paths; not kept, for values may be lists."""
    return reading.__wrapped__(platform, tuple(changes.items()))


def as_read(platform: str, name: str, files: dict[str, bytes]) -> Device:
    """Return what the files of a switch say."""
    sources = [(Source(name=file, display=file), raw) for file, raw in files.items()]
    return platforms.reader(platform).read_device(name, sources).device


def device_in(of: Reading, name: str) -> Device:
    """Return what the files of a switch say, in a reading of a whole fabric."""
    files = switch_files_if_unchanged(of, name)
    assert files is not None
    return as_read(of.fabric.device(name).platform, name, files)


OPTIONS = {
    "ecnconfig": (
        "WRED_PROFILE",
        {
            f"-{color[0]}{short}": f"{color}_{field}"
            for color in ("green", "yellow", "red")
            for short, field in (("min", "min_threshold"), ("max", "max_threshold"), ("drop", "drop_probability"))
        },
    ),
    "mmuconfig": ("BUFFER_PROFILE", {"-a": "dynamic_th"}),
}
"""The table that a tool writes, and the field of each option (sonic-utilities scripts/ecnconfig, scripts/mmuconfig)."""


def typed(files: Mapping[str, bytes], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a SONiC switch after the commands of a patch."""
    result = {table: dict(rows) for table, rows in tables.items()}
    for line in files.get("commands.sh", b"").decode().splitlines():
        sudo, tool, name, row, *words = shlex.split(line)
        table, options = OPTIONS[tool]
        assert (sudo, name) == ("sudo", "-p")
        result[table][row] = result[table][row] | {
            options[option]: value for option, value in zip(words[::2], words[1::2], strict=True)
        }
    return result


def steps_of(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the steps of a SONiC switch's patches, in the order in which they are applied."""
    names = sorted(name for name in files if name.startswith("patch") and name.endswith(".json"))
    return [step for name in names for step in json.loads(files[name])]
