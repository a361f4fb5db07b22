"""Faults of routing put into sound configurations: each is caught by the rule that is named, where it stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import pytest

import nodrop
from designs import build, shipped
from nodrop import platforms
from nodrop.fabric.fabric import Fabric
from nodrop.lint.engine import judge
from nodrop.lint.rules import shipped as rules
from nodrop.locate import locate
from nodrop.platforms.artifact import Artifact

NVUE = {
    "topology.spines.platform": "nvue",
    "topology.spines.version": "5.16",
    "topology.leaves.platform": "nvue",
    "topology.leaves.version": "5.16",
}
BASES = {
    "numbered": ("two-by-two", {}),
    "unnumbered": ("unnumbered", {}),
    "dual": ("dual-stack", {}),
    "nvue": ("two-by-two", NVUE),
}
Place = tuple[str, str, str]
"""Rule, file and the text of the line."""


@dataclass(frozen=True)
class Fault:
    """A fault: lines of files to change, as (file, regular expression, replacement), and where it is caught."""

    says: str
    edits: tuple[tuple[str, str, str], ...]
    caught: tuple[Place, ...]
    besides: tuple[str, ...] = ()
    """Other rules that speak, for it has several sides."""
    base: str = "numbered"


@cache
def base(name: str) -> tuple[Fabric, tuple[Artifact, ...]]:
    """Return a sound fabric and its files."""
    intent, changes = BASES[name]
    fabric = build(shipped(intent, changes))
    return fabric, tuple(nodrop.write(fabric))


def name_of(artifact: Artifact) -> str:
    return f"{artifact.device}/{artifact.path}" if artifact.device else artifact.path


def edited(fault: Fault) -> tuple[Fabric, tuple[Artifact, ...]]:
    """Return the fabric that was sound, and its files with the fault in them."""
    fabric, artifacts = base(fault.base)
    texts = {name_of(one): one.text for one in artifacts}
    for file, pattern, replacement in fault.edits:
        texts[file], count = re.subn(pattern, replacement, texts[file], flags=re.MULTILINE)
        assert count, (file, pattern)
    return fabric, tuple(replace(one, text=texts[name_of(one)]) for one in artifacts)


def found(fault: Fault) -> Iterator[Place]:
    """Yield what is found, by all rules of this release."""
    fabric, artifacts = edited(fault)
    texts = {name_of(one): one.text for one in artifacts}
    reading = nodrop.read_back(artifacts, fabric)
    assert reading.problems == ()
    verdict = judge(reading, rules())
    assert verdict.problems == ()
    for one in locate(verdict.findings, reading, platforms.where).findings:
        assert one.located is not None, one.rule
        assert one.located.span is not None, one.rule
        file = one.located.file
        yield one.rule, file, texts[file].split("\n")[one.located.span.line - 1].strip()


FRR = "{}/frr.conf"


def of(device: str) -> str:
    return f"{device}/frr.conf"


def ports(device: str) -> str:
    return f"{device}/config_db.json"


FAULTS: tuple[Fault, ...] = ()


@pytest.mark.parametrize("name", BASES)
def test_a_sound_fabric_has_no_findings(name: str) -> None:
    assert list(found(Fault(says="", edits=(), caught=(), base=name))) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.says)
def test_a_fault_is_caught_where_it_stands(fault: Fault) -> None:
    seen = list(found(fault))
    named = {rule for rule, _, _ in fault.caught}
    assert {one for one in seen if one[0] in named} == set(fault.caught)
    assert {rule for rule, _, _ in seen} - named == set(fault.besides)
