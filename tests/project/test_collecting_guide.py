"""docs/collecting.md: its script collects what switches answer, and what it collects is what nodrop drift takes."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml
from support.as_it_runs import as_it_runs
from support.command import built, nodrop
from support.places import ROOT
from support.requirements import require

GUIDE = ROOT / "docs" / "collecting.md"
SSH = """#!/bin/sh
# ssh [OPTIONS] SWITCH COMMAND: answers as the switches of a test do
while [ "${1#-}" != "$1" ]; do [ "$1" = -o ] && shift; shift; done
echo "$2" >> "$ANSWERS/asked"
case $2 in
  'show runningconfiguration all') cat "$ANSWERS/$1/config_db.json" ;;
  'nv config show -o yaml') cat "$ANSWERS/$1/startup.yaml" ;;
  *) exit 127 ;;
esac
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def collected(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the script of the guide on switches that run the intent with NVUE spines; spine2 and spine9 do not answer.

    The list's last line has no end, as some editors leave it.
    """
    answers, tools = tmp_path / "answers", tmp_path / "tools"
    tools.mkdir()
    (tools / "ssh").write_text(SSH)
    (tools / "ssh").chmod(0o755)
    shutil.copy(resource_folder("intents") / "reference-256-sonic-leaves.yaml", tmp_path / "intent.yaml")
    built(tmp_path / "intent.yaml", tmp_path / "build")
    chance = Random(1)
    lines = []
    for switch in sorted((tmp_path / "build").iterdir()):
        files = {path.name: path.read_bytes() for path in switch.iterdir() if path.is_file()} if switch.is_dir() else {}
        platform = "sonic" if "config_db.json" in files else "nvue" if "startup.yaml" in files else ""
        if not platform:
            continue
        lines.append(f"{switch.name} {platform}\n")
        (answers / switch.name).mkdir(parents=True)
        while True:
            shown = as_it_runs(platform, files, chance)
            if len(shown) == 1 and not next(iter(shown.values())).startswith(b"nv set"):
                break
        for name, raw in shown.items():
            (answers / switch.name / name).write_bytes(raw)
    (answers / "spine2" / "startup.yaml").unlink()
    (tmp_path / "switches.txt").write_text("".join(lines) + "odd junos\nspine9 nvue")
    (tmp_path / "collect.sh").write_text(next(text for text in blocks("sh") if "collect.sh SWITCHES" in text))
    return subprocess.run(
        ["sh", "collect.sh", "switches.txt", "running"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "ANSWERS": str(answers)},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_script_collects_what_drift_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = collected(tmp_path)
    told = [line for line in done.stderr.splitlines() if "No such file" not in line]
    assert told == ["spine2: not collected", "odd: no platform called junos", "spine9: not collected"]
    monkeypatch.chdir(tmp_path)
    found = nodrop("drift", "running", "intent.yaml", "--format", "json")
    assert found.code == 1
    document = json.loads(found.out)
    assert (document["uncollected"], document["plans"][0]["changes"], document["findings"]) == (["spine2"], [], [])


def test_secrets_are_taken_out_and_nothing_else(tmp_path: Path) -> None:
    """The filter of jq, if there is one, leaves no secret and every fact."""
    require("jq", shutil.which("jq") is not None, "there is no jq (apt install jq)")
    config = {
        "PORT": {"Ethernet0": {"mtu": "9216"}},
        "TACPLUS": {"global": {"passkey": "s3cret"}},
        "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65001", "auth_password": "s3cret"}},
        "bgpraw": "router bgp 65000\n neighbor 10.0.0.1 password s3cret\n neighbor 10.0.0.1 remote-as 65001\n",
    }
    (tmp_path / "config_db.json").write_text(json.dumps(config))
    text = next(text for text in blocks("sh") if "TACPLUS" in text).partition("\nyq")[0]
    done = subprocess.run(["sh", "-euc", text], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        "PORT": {"Ethernet0": {"mtu": "9216"}},
        "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65001"}},
        "bgpraw": "router bgp 65000\n neighbor 10.0.0.1 password -\n neighbor 10.0.0.1 remote-as 65001\n",
    }


NVUE = """
- header: {model: vx, nvue-api-version: nvue_v1, rev-id: 1.0, version: Cumulus Linux 5.14.0}
- set:
    system:
      hostname: leaf1
      aaa: {tacacs: {server: {'1': {host: 192.0.2.5, secret: s3cret}}}}
      snmp-server: {readonly-community: {s3cret: {access: any}}}
      ntp: {key: {'1': {value: s3cret}}, state: enabled}
    vrf:
      default:
        router:
          bgp:
            neighbor:
              swp1: {type: unnumbered, password: s3cret}
              swp2: {type: unnumbered}
            peer-group:
              spines: {remote-as: external, password: s3cret}
      mgmt: {}
"""
NVUE_WITHOUT = {
    "system": {"hostname": "leaf1", "ntp": {"state": "enabled"}},
    "vrf": {
        "default": {
            "router": {
                "bgp": {
                    "neighbor": {"swp1": {"type": "unnumbered"}, "swp2": {"type": "unnumbered"}},
                    "peer-group": {"spines": {"remote-as": "external"}},
                }
            }
        },
        "mgmt": {},
    },
}


def without(node: Any, path: list[str]) -> None:
    """Delete what a path of jq leads to, a word for each step, `[]` for all; what is not there is no matter."""
    step, *rest = path
    inside: Any = node if isinstance(node, dict) else dict(enumerate(node)) if isinstance(node, list) else {}
    if rest:
        for one in list(inside.values()) if step == "[]" else [inside[step]] if step in inside else []:
            without(one, rest)
    elif step in inside:
        del node[step]


def walked(text: str, root: Any) -> Any:
    """Return what the guide's filter leaves of a tree, by its paths alone: `del(PATH, PATH) | del(PATH)`."""
    word = r'\.(?:\w+|"[\w-]+")|\.?\[\]\??'
    for part in re.split(r"\s+\|\s+", text):
        found = re.fullmatch(r"del\((.*)\)", part)
        assert found, part
        for path in found[1].split(", "):
            assert re.fullmatch(f"(?:{word})+", path), path
            without(root, [step.strip('.?"') for step in re.findall(word, path)])
    return root


def test_secrets_of_nvue_are_taken_out_and_nothing_else(tmp_path: Path) -> None:
    """By the paths of the filter of yq, and by yq, if there is one."""
    text = "yq" + next(text for text in blocks("sh") if "TACPLUS" in text).partition("\nyq")[2]
    file = tmp_path / "startup.yaml"
    file.write_text(NVUE)
    found = re.fullmatch(r"yq '(.*)' startup\.yaml\n", text, re.DOTALL)
    assert found
    ways = {"walk": json.dumps(walked(found[1], parse_yaml(NVUE.encode(), file.name).data)).encode()}
    if shutil.which("yq") is not None:
        ways["yq"] = subprocess.run(["sh", "-euc", text], cwd=tmp_path, capture_output=True, check=True).stdout
    assert secrets(file) == 5
    for way, left in ways.items():
        header, config = parse_yaml(left, way).data
        assert (list(header), config) == (["header"], {"set": NVUE_WITHOUT}), way
        file.write_bytes(left)
        assert secrets(file) == 0, way


def secrets(file: Path) -> int:
    """Return how many secrets `nodrop lint` finds in a file."""
    found = json.loads(nodrop("lint", file, "--format", "json", "--fail-on", "never").out)["findings"]
    return [one["rule"] for one in found].count("secret-in-configuration")


def test_pipelines_call_what_there_is() -> None:
    """Every command of nodrop in the guide has options that its help has."""
    text = "".join(text for language in ("yaml", "sh") for text in blocks(language))
    commands = re.findall(r"nodrop (\w+)((?: +\S+)*)", text)
    assert {name for name, _ in commands} == {"drift"}
    known = nodrop("drift", "--help").out
    assert all(option in known for _, words in commands for option in re.findall(r"--[a-z-]+", words))
    for pipeline in blocks("yaml"):
        assert isinstance(parse_yaml(pipeline.encode(), "pipeline.yaml").data, dict)
