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


def test_a_ratio_has_four_digits(tmp_path: Path) -> None:
    """Two ports of 400G down and three up."""
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    for old, new in (
        ("spines: {ids: 1-2", "spines: {ids: 1-3"),
        ("uplinks: 29-32", "uplinks: 30-32"),
        ("per_spine: 2", "spine_slots: 3, per_spine: 1"),
        ("gpu:     {ids: 1-2,", "gpu:     {ids: 1-1,"),
        ("leaf_group: 2, leaf_ports: 1-2", "leaf_group: 1, leaf_ports: 1-1"),
    ):
        assert old in text
        text = text.replace(old, new)
    intent = tmp_path / "third.yaml"
    intent.write_text(text)
    assert "oversubscription  0.6667:1 at" in nodrop("show", intent).out


def test_more_than_two_lossless_classes_are_reported_first(tmp_path: Path) -> None:
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    intent = tmp_path / "three.yaml"
    head = "3 lossless classes (rdma, a, b); expected at most 2, as `nodrop build` checks"
    further = "".join(
        f"  {name}: {{dscp: {dscp}, priority: {number}, lossless: true, share: 5%, "
        "ecn: {min: 150kB, max: 1500kB, probability: 100%}}\n"
        for name, dscp, number in (("a", 27, 4), ("b", 28, 5))
    )
    intent.write_text(text.replace("classes:\n", f"classes:\n{further}").replace("share: 60%", "share: 50%"))
    assert head in nodrop("show", intent).out
    assert "lossless classes (" not in shown("two-by-two")
