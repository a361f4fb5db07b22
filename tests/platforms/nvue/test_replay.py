"""The lines of `nv set` say what the YAML says: replayed on an empty tree they give the YAML's tree, word by word."""

import os
import re
import shlex
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from ruamel.yaml import YAML

from nodrop.model.fabric import Device, QosStyle
from nodrop.model.index import Index
from nodrop.platforms.nvue import writer
from nodrop.platforms.nvue.releases import RELEASES
from support import random_nvue
from support.nvue_devices import as_nvue, fabric


def replayed(script: str) -> dict[str, Any]:
    """The tree that lines of `nv set` make: every word is a key below the word before it."""
    tree: dict[str, Any] = {}
    for line in script.splitlines():
        verb, action, *words = shlex.split(line)
        assert (verb, action) == ("nv", "set")
        node = tree
        for word in words:
            node = node.setdefault(word, {})
    return tree


def worded(node: Any) -> Any:
    """YAML's tree in the same form: `a: b` is told from `a: {b: {}}` by no line of `nv set`, and by nothing here."""
    if not isinstance(node, dict):
        return {str(node): {}}
    assert all(type(key) is str for key in node)
    return {key: worded(value) for key, value in node.items()}


def in_order(node: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, in_order(value)) for key, value in node.items()]


def loaded(text: str) -> Any:
    return YAML(typ="safe").load(text)


def files(device: Device) -> dict[str, str]:
    return {one.path: one.text for one in writer.write(device, Index(random_nvue.alone(device)))}


def assert_replays(device: Device) -> None:
    own = files(device)
    (_, whole) = loaded(own["startup.yaml"])
    wanted = worded(whole["set"])
    together: list[str] = []
    for path in sorted(own):
        if path.endswith(".nv"):
            together.append(own[path])
            (patch,) = loaded(own[path.removesuffix(".nv") + ".yaml"])
            assert in_order(replayed(own[path])) == in_order(worded(patch["set"]))
    assert replayed("".join(together)) == wanted
    if len(together) == 1:
        assert in_order(replayed(together[0])) == in_order(wanted)


@pytest.mark.parametrize("style", ["macro", "explicit"])
@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("name", ["leaf1", "spine2"])
def test_shipped_fabrics(name: str, version: str, style: QosStyle) -> None:
    assert_replays(as_nvue(fabric("two-by-two").device(name), version, style))


@pytest.mark.nightly
@given(random_nvue.devices())
def test_random_devices(device: Device) -> None:
    assert_replays(device)


@pytest.mark.nightly
@given(random_nvue.devices())
def test_qos_of_parts_comes_in_a_stage_of_its_own(device: Device) -> None:
    own = files(device)
    (_, whole) = loaded(own["startup.yaml"])
    parts = {key: node for key, node in whole["set"]["interface"].items() if re.match("swp[0-9]+s", key)}
    with_qos = {key: {"qos": worded(node["qos"])} for key, node in parts.items() if "qos" in node}
    first = replayed(own["apply/10-ports.nv"])["interface"]
    assert {key for key in parts if "qos" in first[key]} == set()
    assert ("apply/20-qos.nv" in own) == bool(with_qos)
    if with_qos:
        assert replayed(own["apply/20-qos.nv"]) == {"interface": with_qos}


NV = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done >>"$LOG"
printf -- '--\\n' >>"$LOG"
"""


def run(tmp_path: Path, commands: str) -> list[tuple[str, ...]]:
    """What a shell makes of lines of `nv`: the words of each call."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nv").write_text(NV)
    (programs / "nv").chmod(stat.S_IRWXU)
    log = tmp_path / "log"
    environment = {"PATH": f"{programs}:{os.defpath}", "LOG": str(log)}
    subprocess.run(["/bin/sh", "-eu"], input=commands, text=True, check=True, env=environment)
    return [tuple(call.splitlines()) for call in log.read_text().split("--\n") if call]


def test_a_shell_takes_the_lines_as_they_are_meant(tmp_path: Path) -> None:
    device = as_nvue(fabric().device("leaf1"))
    texts = ['$HOME `x` "y"', "a; rm -rf /", "# no", "*", "~", "-y", "\\"]
    ports = tuple(replace(port, description=text) for port, text in zip(device.interfaces, texts, strict=False))
    device = replace(device, interfaces=(*ports, *device.interfaces[len(texts) :]))
    commands = files(device)["apply/10-ports.nv"]
    calls = run(tmp_path, commands)
    assert [call[4] for call in calls if call[1] == "interface" and call[3] == "description"][: len(texts)] == texts
    assert calls == [tuple(shlex.split(line)[1:]) for line in commands.splitlines()]
