"""What unknown lines say: the fact in the field's words, what supplies it, and nothing that a platform cannot have."""

import json
import re
from pathlib import Path

import pytest

from nodrop.engine.fact_words import describe_fact
from nodrop.engine.unknowns import platforms_without_fact
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.reading import Source
from nodrop.platforms import reader, unsupported_paths
from support.command import nodrop
from support.places import TESTS

ONYX = (TESTS / "platforms" / "onyx" / "good.txt").read_text()
NVUE = """\
- header: {{model: {model}, nvue-api-version: nvue_v1, rev-id: 1.0, version: Cumulus Linux 5.9.1}}
- set:
    system: {{hostname: spine1}}
    interface:
      swp1-4: {{type: swp, link: {{state: {{up: {{}}}}, mtu: 9216{speed}}}}}
    qos: {{roce: {{enable: on}}}}
"""


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a folder to itself."""
    monkeypatch.chdir(tmp_path)


def unknown_lines(name: str, text: str) -> list[str]:
    Path(name).write_text(text)
    return re.findall(r"^unknown\b.+$", nodrop("lint", name).out, re.MULTILINE)


def supplied(name: str, text: str) -> dict[str, str]:
    Path(name).write_text(text)
    told = json.loads(nodrop("lint", name, "--format", "json").out)["unknown"]
    return {one["rule"]: one["resolved_by"] for one in told}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("interface.speed_mbps", "the speed of the port"),
        ("priority_group.buffer.headroom.xoff_bytes", "the headroom after pause (xoff) of the priority group"),
        ("committed_bytes(device)", "the memory that headroom and reserves take"),
        ("unmarked_rdma_queues(interface.qos)", "the unmarked RDMA queues of the port"),
        ("the PCP of packets", "the PCP of packets"),
    ],
)
def test_a_fact_is_named_in_the_words_of_the_field(path: str, words: str) -> None:
    assert describe_fact(path) == words


def test_no_unknown_line_has_a_name_of_the_inside() -> None:
    lines = unknown_lines("onyx1.txt", ONYX)
    assert lines
    assert [line for line in lines if re.search(r"[a-z]+\.[a-z]+_|\w\(\w|_", line)] == []


def test_nothing_is_unknown_that_a_platform_cannot_have() -> None:
    told = supplied("onyx1.txt", ONYX)
    assert [rule for rule in told if rule.startswith("adaptive-routing") or "utilization" in rule] == []
    assert "headroom-too-small" not in told
    assert platforms_without_fact("interface.adaptive_routing") == {"onyx"}
    assert platforms_without_fact("interface.side") == platforms_without_fact("device.role") == set()


def test_a_computed_size_names_the_fact_that_lacks() -> None:
    """A model that is stated is not asked for again."""
    rule = "headroom-too-small"
    assert supplied("a.yaml", NVUE.format(model="VX", speed=""))[rule].startswith("models of devices")
    assert supplied("a.yaml", NVUE.format(model="SN4700", speed=""))[rule].endswith("the speed of the port")
    assert rule not in supplied("a.yaml", NVUE.format(model="SN4700", speed=", speed: 400G"))


@pytest.mark.parametrize(
    ("platform", "samples"), [("onyx", ("good.txt", "bad.txt")), ("cumulus", ("good", "bad", "old"))]
)
def test_readers_supply_nothing_that_files_cannot_express(platform: str, samples: tuple[str, ...]) -> None:
    for sample in samples:
        path = TESTS / "platforms" / platform / sample
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        names = [file.name if path.is_dir() else "running-config.txt" for file in files]
        bundle = [(Source(name=name, display=name), file.read_bytes()) for name, file in zip(names, files, strict=True)]
        device = reader(platform).read_device("sw1", bundle).device
        assert device is not None
        assert list(differences(mask_unsupported_fields(device, unsupported_paths(platform)), device)) == []
