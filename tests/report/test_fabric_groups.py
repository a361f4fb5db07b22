"""`nodrop show` of an intent with groups: links by group, and numbers that agree with their nouns."""

import json
from pathlib import Path

import pytest

from nodrop.resources import resource_folder
from support.command import nodrop


def shown(name: str, *options: str) -> str:
    """What `nodrop show` prints of a shipped intent."""
    return nodrop("show", resource_folder("intents") / f"{name}.yaml", *options).out


def test_links_name_the_groups_of_an_intent() -> None:
    links = json.loads(shown("storage-leaves", "--format", "json"))["links"]
    assert [(row["lower"], row["upper"]) for row in links if row["upper"] == "spine"] == [
        ("leaf", "spine"), ("store", "spine"),
    ]  # fmt: skip


def test_oversubscription_is_that_of_each_group_where_they_differ(tmp_path: Path) -> None:
    """Each storage leaf has 8 ports of 400G down; one link in place of two to each of 4 spines makes it 2:1."""
    text = (resource_folder("intents") / "storage-leaves.yaml").read_text()
    few = text.replace("peer_ports: 33-40, links: 2,", "peer_ports: 33-40, links: 1,")
    intent = tmp_path / "few.yaml"
    intent.write_text(few.replace("  kind: tiers\n", "  kind: tiers\n  max_oversubscription: 2\n"))
    lines = [line for line in nodrop("show", intent).out.splitlines() if "oversubscription" in line]
    assert lines[:2] == [
        "  oversubscription  1:1 at leaf (51.2T down, 51.2T up; at the worst switch)",
        "  oversubscription  2:1 at store (6.4T down, 3.2T up; at the worst switch)",
    ]
    (tier, _) = json.loads(nodrop("show", intent, "--format", "json").out)["bandwidth"]["tiers"]
    assert [(row["group"], row["devices"], row["oversubscription"]) for row in tier["groups"]] == [
        ("leaf", 8, 1.0), ("store", 2, 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "size"), [("single-switch", "1 switch and 4"), ("rail-only", "8 switches and 32")])
def test_numbers_agree_with_their_nouns(name: str, size: str) -> None:
    assert f" fabric of {size} hosts\n" in shown(name)
