"""Where facts stand in SONiC's files: altering the text there alters that fact, and a missing part has a near place."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import random_values

import nodrop
from nodrop import collect, platforms
from nodrop.fabric.compare import differences
from nodrop.fabric.fabric import Device
from nodrop.fabric.reading import Place
from nodrop.fabric.states import Unknown
from nodrop.fabric.subject import Subject
from nodrop.platforms.artifact import Artifact
from nodrop.resources import home

LEAF = "leaf1"
HOST_PORT, FABRIC_PORT = "Ethernet0", "Ethernet128"


@cache
def files() -> dict[str, str]:
    """The reference fabric's leaf1: its files by name."""
    fabric = nodrop.build(nodrop.load(home("intents") / "reference-256.yaml"))
    leaf = fabric.device(LEAF)
    return {one.path: one.text for one in platforms.writer("sonic").write(leaf, fabric)}


def read(texts: Mapping[str, str]) -> Device:
    artifacts = [Artifact(device=LEAF, path=path, text=text) for path, text in texts.items()]
    (reading,) = collect.read_artifacts(artifacts, {LEAF: "sonic"}, "")
    return reading.device


@cache
def device() -> Device:
    return read(files())


def where(subject: Subject, texts: Mapping[str, str] | None = None) -> Place | None:
    found = {name: text.encode() for name, text in (texts or files()).items()}
    return platforms.where("sonic", found)((LEAF, *subject))


def cut(place: Place, texts: Mapping[str, str] | None = None) -> str:
    """The text at a place, which is within one line."""
    span = place.span
    assert span.line == span.end_line
    return (texts or files())[place.file].split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def with_text(place: Place, new: str) -> dict[str, str]:
    """The files with other text at a place."""
    lines = files()[place.file].split("\n")
    line, span = lines[place.span.line - 1], place.span
    lines[span.line - 1] = line[: span.column - 1] + new + line[span.end_column - 1 :]
    return files() | {place.file: "\n".join(lines)}


OTHER_WORDS = {
    "up": "down",
    "rs": "fc",
    "off": "on",
    "true": "false",
    "enable": "disable",
    "drop": "forward",
    "dynamic": "static",
    "ToRRouter": "LeafRouter",
    "DWRR": "WRR",
    "STRICT": "DWRR",
    "ecn_all": "ecn_green",
    "ingress": "egress",
    "egress": "ingress",
}


def otherwise(text: str) -> str:
    """Another text in the place of a string of JSON or a command of FRR: its number, or the word, is not the same."""
    if not text.startswith('"'):
        return f"!{text}"
    inner = text[1:-1]
    if inner in OTHER_WORDS:
        return f'"{OTHER_WORDS[inner]}"'
    if re.fullmatch(r"\d+(,\d+)+", inner):
        return f'"{inner.rpartition(",")[0]}"'
    if number := re.fullmatch(r"(\d+)(m?)", inner):
        return f'"{int(number[1]) + 1}{number[2]}"'
    return f'"{inner}x"'


def subject_of(name: str) -> Subject:
    """The subject of a part of a device that is spelt as the path of its model."""
    parts = tuple(part.replace("%2F", "/") for part in name.split("/"))
    if parts[0] == "interfaces":
        return parts[1:]
    return ("@neighbors", *parts[2:]) if parts[:2] == ("bgp", "neighbors") else (f"@{parts[0]}", *parts[1:])


def facts() -> dict[str, Any]:
    """Every fact of leaf1 that is known and there, by its path; of its ports one of each kind."""
    found = {}
    for path, _ in random_values.fields(device()):
        value = random_values.at(device(), path)
        name = random_values.named(device(), path)
        one_of_all = path[0] != "interfaces" or name.split("/")[1:2] in ([HOST_PORT], [FABRIC_PORT])
        if one_of_all and not isinstance(value, Unknown) and value is not None and value != ():
            found[name] = value
    return found


NOT_SAID = re.compile(
    r"name|platform|interfaces|bgp|bgp/neighbors"
    r"|.*/(name|index|sequence|group|family|address|interface|key)"  # what a row is called, not what it says
    r"|.*/neighbors/.*/(enabled|bfd)|.*/computed|.*/wred/(yellow|red|green)"  # true without a word
)
SAID = [name for name in facts() if not NOT_SAID.fullmatch(name)]


def alters(name: str, found: str) -> bool:
    """Whether a difference at `found` is one of the fact `name`, or of the part that it is in."""
    return found == name or found.startswith(f"{name}/") or name.startswith(f"{found}/")


@pytest.mark.parametrize("name", SAID)
def test_other_text_at_the_place_is_another_fact(name: str) -> None:
    place = where(subject_of(name))
    assert place is not None
    text = cut(place)
    changed = read(with_text(place, otherwise(text)))
    found = ["/".join(part.replace("/", "%2F") for part in one.path) for one in differences(device(), changed)]
    assert any(alters(name, one) for one in found), f"{text} gave {found}"
