"""The rules that apply to a platform that is only read: those found with what its reader supplies of an example."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from nodrop import platforms
from nodrop.engine.example_setup import PlatformExamples, UnsupportedExample
from nodrop.engine.examples import FabricOnPlatform, build_example_views, run_rule
from nodrop.engine.rule import Rule
from nodrop.engine.rules import shipped_rules
from nodrop.model.compare import mask_unsupported_fields
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading, Source
from nodrop.model.states import UNKNOWN, Unknown
from support.places import TESTS

SAMPLES = {"onyx": ("good.txt", "bad.txt"), "cumulus": ("good", "bad", "old")}
STATED = frozenset({"model", "role", "interfaces/*/side", "interfaces/*/lanes"})
"""What an owner states of a switch, or follows from its model."""


def samples(platform: str) -> Iterator[Any]:
    """Yield the devices of the platform's sample files."""
    for sample in SAMPLES[platform]:
        path = TESTS / "platforms" / platform / sample
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        names = [file.name if path.is_dir() else "running-config.txt" for file in files]
        bundle = [(Source(name=name, display=name), file.read_bytes()) for name, file in zip(names, files, strict=True)]
        yield platforms.reader(platform).read_device("sw1", bundle).device


def note_states(part: Any, path: tuple[str, ...], known: defaultdict[str, set[bool]]) -> None:
    """Note for each path of a part of the model whether it is known there."""
    if is_dataclass(part) and not isinstance(part, Unknown):
        for each in fields(part):
            note_states(getattr(part, each.name), (*path, each.name), known)
    elif isinstance(part, tuple) and part and all(map(is_dataclass, part)) and not hasattr(part, "_fields"):
        for row in part:
            note_states(row, (*path, "*"), known)
    if path and path[-1] != "*":
        known["/".join(path)].add(not isinstance(part, Unknown))


def never_supplied(platform: str) -> tuple[str, ...]:
    """Return the paths that are unknown in all of the platform's samples, and those that its files cannot express."""
    known: defaultdict[str, set[bool]] = defaultdict(set)
    for device in samples(platform):
        note_states(device, (), known)
    missing = {path for path, states in known.items() if states == {False}}
    return tuple(sorted((missing | {*platforms.unsupported_paths(platform)}) - STATED))


def applying(platform: str, rules: list[Rule]) -> Iterator[str]:
    """Yield the rules with an example that is found on switches of a platform."""
    missing = never_supplied(platform)

    def views(fabric: Fabric) -> Iterator[FabricOnPlatform]:
        devices = tuple(
            replace(mask_unsupported_fields(device, missing), platform=platform, version=UNKNOWN)
            for device in fabric.devices
        )
        yield FabricOnPlatform(platform, Reading(fabric=replace(fabric, devices=devices)))

    for rule in rules:
        for example in rule.examples:
            if example.kind != "bad" or example.artifact is not None:
                continue
            try:
                (view, *_) = build_example_views(example, PlatformExamples("nvue").build_base_fabric, views)
                found = {
                    finding.subject[0] for finding in run_rule(rule, view.reading, view.observed, view.beside).findings
                }
            except (UnsupportedExample, ValueError, AttributeError):
                continue
            if found:
                yield rule.name
                break


@pytest.mark.slow
@pytest.mark.parametrize("platform", sorted(SAMPLES))
def test_rules_of_a_platform_that_is_only_read(platform: str, update_golden: bool) -> None:
    table = Path(platforms.__file__).parent / platform / "rules.txt"
    text = "".join(f"{name}\n" for name in sorted(applying(platform, list(shipped_rules()))))
    if update_golden:
        table.write_text(text)
    assert table.read_text() == text
