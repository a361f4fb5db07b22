"""`nodrop show` of an intent with groups: links by group, and numbers that agree with their nouns."""

import json

import pytest

from nodrop.resources import home
from support.command import nodrop


def shown(name: str, *options: str) -> str:
    """What `nodrop show` prints of a shipped intent."""
    return nodrop("show", home("intents") / f"{name}.yaml", *options).out


def test_links_name_the_groups_of_an_intent() -> None:
    links = json.loads(shown("storage-leaves", "--format", "json"))["links"]
    assert [(row["lower"], row["upper"]) for row in links if row["upper"] == "spine"] == [
        ("leaf", "spine"), ("store", "spine"),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "size"), [("single-switch", "1 switch and 4"), ("rail-only", "8 switches and 32")])
def test_numbers_agree_with_their_nouns(name: str, size: str) -> None:
    assert f" fabric of {size} hosts\n" in shown(name)
