"""`nodrop size`: the page and the JSON of a size, and what is refused."""

import json
import re

import pytest

from support.command import nodrop

ASKED = ("size", "--gpus", "512", "--nics", "8", "--rails", "--leaf", "SN5600", "--storage", "16x2x400G")


def test_the_json_has_switches_cables_modules_and_pools() -> None:
    done = nodrop(*ASKED, "--format", "json")
    facts = json.loads(done.out)
    assert done.code == 0
    keys = ("version", "gpus", "servers", "storage_nodes", "switches", "pods", "planes", "most_oversubscription")
    assert [facts[key] for key in keys] == [1, 512, 64, 16, 18, 1, 1, 1.0]
    assert facts["groups"][1] == {
        "name": "storage-leaf", "tier": 1, "model": "SN5600", "count": 2, "pods": 0, "ports_in_use": 16, "ports": 64,
        "down_mbps": 6_400_000, "up_mbps": 6_400_000, "oversubscription": 1.0,
    }  # fmt: skip
    assert [(row["from"], row["to"], row["count"]) for row in facts["cables"]] == [
        ("gpu", "leaf", 512), ("storage", "storage-leaf", 32), ("leaf", "spine", 512), ("storage-leaf", "spine", 32),
    ]  # fmt: skip
    assert [(row["in"], row["links"], row["count"]) for row in facts["modules"]] == [
        ("SN5600", 2, 816), ("ConnectX-7", 1, 544),
    ]  # fmt: skip
    assert facts["pools"]["links"] == "10.4.0.0/14"


def test_modules_are_counted_at_each_switch_and_cables_with_fixed_ends_have_none() -> None:
    """The last panel port has a free half where there are 125 ports; 200G over 5 m is an active cable."""
    asked = ("--gpus", "1000", "--nics", "1", "--leaf", "SN5600", "--spine", "SN5600", "--ratio", "2:1")
    page = nodrop("size", *asked).out
    assert "125 GPUs" not in page
    assert "1000 GPUs in 125 servers: 1 switch\n" in page
    assert "  SN5600      DR4     2 × 400G       63\n" in page
    slow = nodrop("size", *asked, "--speed", "200G").out
    assert "AOC" in slow
    assert "Modules" not in slow


def test_planes_are_one_row_of_the_page() -> None:
    page = nodrop("size", "--gpus", "16384", "--rails", "--leaf", "SN5600").out
    assert page.startswith("16384 GPUs in 2048 servers: 640 switches in 4 pods and 2 planes\n")
    assert re.findall(r"\w+-a to \w+-b", page) == ["spine-a to spine-b", "core-a to core-b"]
    assert "  leaf   spine  16384  400G   DR4     30m\n" in page


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "Missing option '--gpus'"),
        (
            ("--gpus", "65536", "--rails"),
            "Error: 65536 GPUs: three tiers of these switches do not carry them (SN4700); ",
        ),
        (("--gpus", "12"), "Error: 12 GPUs are no whole servers of 8; nearest: --gpus 8 or 16"),
    ],
)
def test_a_refusal_is_wrong_input(args: tuple[str, ...], message: str) -> None:
    done = nodrop("size", *args)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
