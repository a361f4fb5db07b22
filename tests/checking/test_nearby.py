"""What is judged of a large fabric that changes is enough: the same findings are new and fixed as of all of it."""

import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine.example_setup import PlatformExamples
from nodrop.engine.finding import Finding
from nodrop.engine.nearby import find_parts_to_recheck
from nodrop.engine.rule import Rule, RuleExample
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import analysis_hits, judge, rule_options
from nodrop.model.edit import set_value
from nodrop.model.fabric import Device, End, Fabric, Link
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import parse_subject
from nodrop.model.values import replace_fields

RULES = select_lint_rules(shipped_rules())
CASES = [
    (rule, example)
    for rule in RULES
    for example in rule.examples
    if example.kind == "bad" and example.model and not example.intent
]
BASE = PlatformExamples("sonic").build_base_fabric({})


def faulty(example: RuleExample) -> Fabric:
    """Return the fabric of the examples with the fault of one."""
    fabric = BASE
    for subject, value in (example.model or {}).items():
        fabric = set_value(fabric, parse_subject(subject), value)
    return fabric


class Site:
    """Copies of a small fabric in a row, cabled by their spines; equal switches and cables are one object."""

    def __init__(self) -> None:
        self._devices: dict[tuple[int, int], tuple[Device, Device]] = {}
        self._links: dict[Link, Link] = {}

    def of(self, fabrics: Sequence[Fabric]) -> Reading:
        """Return them as one fabric, stated as the first is."""
        devices = [self._device(one, at) for at, fabric in enumerate(fabrics) for one in fabric.devices]
        links = [
            replace_fields(link, a=_own(link.a, at), b=_own(link.b, at))
            for at, fabric in enumerate(fabrics)
            for link in fabric.links
        ]
        free = sorted(
            {one.name for one in BASE.device("spine1").interfaces}
            - {end.port for link in BASE.links for end in (link.a, link.b) if end.node == "spine1"}
        )
        links += [
            Link(a=End(f"p{at}-spine1", free[0]), b=End(f"p{at + 1}-spine1", free[1])) for at in range(len(fabrics) - 1)
        ]
        hosts = tuple(
            replace_fields(host, name=f"p{at}-{host.name}")
            for at, fabric in enumerate(fabrics)
            for host in fabric.hosts
        )
        links = sorted((self._links.setdefault(one, one) for one in links), key=lambda one: (one.a, one.b))
        return Reading(fabric=replace(fabrics[0], devices=tuple(devices), links=tuple(links), hosts=hosts))

    def _device(self, device: Device, at: int) -> Device:
        made = self._devices.setdefault((id(device), at), (device, replace_fields(device, name=f"p{at}-{device.name}")))
        return made[1]


def _own(end: End, at: int) -> End:
    return End(f"p{at}-{end.node}", end.port)


def told(pair: tuple[Reading, Reading], rules: Sequence[Rule], *, near: bool) -> tuple[list[Any], list[Any], int]:
    """Return what is new, with its fix, what is fixed, and how many switches were looked at."""
    indices = Index(pair[0].fabric), Index(pair[1].fabric)
    parts = (
        find_parts_to_recheck(
            pair, indices, rules, lambda rule, index: analysis_hits(rule, index, rule_options(rule, {}))
        )
        if near
        else None
    )
    found: list[dict[Any, Finding]] = []
    for number, index in enumerate(indices):
        part = parts[number] if parts else None
        verdict = judge(pair[number], rules, strictness="auditor", index=index, near=part)
        assert not verdict.problems
        found.append({(one.rule, one.subject, one.message, repr(one.facts)): one for one in verdict.findings})
    before, after = found
    new = [(key, one.fix, one.confidence) for key, one in after.items() if key not in before]
    fixed = [key for key in before if key not in after]
    return new, fixed, len(parts[1].index.fabric.devices) if parts else len(indices[1].fabric.devices)


def ruled(rule: Rule) -> Sequence[Rule]:
    """Return a rule with those that are judged before it."""
    return (
        [*(one for one in RULES if not one.reads_other_findings and one is not rule), rule]
        if rule.reads_other_findings
        else [rule]
    )


@pytest.mark.parametrize(("rule", "example"), CASES, ids=[f"{rule.name}-{one.name}" for rule, one in CASES])
def test_a_fault_that_comes_or_goes_is_told_whatever_is_far_away(rule: Rule, example: RuleExample) -> None:
    site, fault = Site(), faulty(example)
    stated = {name: getattr(fault, name) for name in ("mode", "classes", "hosts", "nics", "policy", "profile")}
    sound = replace(BASE, **stated)
    old, new = site.of([sound, sound, fault]), site.of([fault, sound, fault])
    for pair in ((old, new), (new, old)):
        whole, near = (told(pair, ruled(rule), near=one) for one in (False, True))
        assert near[:2] == whole[:2]


@pytest.mark.slow
def test_random_changes_are_told_as_of_all() -> None:
    chosen, looked_at = random.Random(7), []
    changes = [change for _, example in CASES for change in (example.model or {}).items()]
    for _ in range(12):
        site = Site()
        fabrics = [BASE] * 5
        for at in range(5):
            fabrics[at] = altered(BASE, chosen.sample(changes, 2))
        old = site.of(fabrics)
        fabrics[chosen.choice((0, 1, 4))] = altered(BASE, chosen.sample(changes, 3))
        new = site.of(fabrics)
        whole, near = (told((old, new), RULES, near=one) for one in (False, True))
        assert near[:2] == whole[:2]
        looked_at.append(near[2] < whole[2])
    assert any(looked_at)


def altered(fabric: Fabric, changes: Iterable[tuple[str, Any]]) -> Fabric:
    """Return a fabric with changes of switches, as far as they fit."""
    for subject, value in changes:
        if not subject.startswith("@"):
            with suppress(ValueError):
                fabric = set_value(fabric, parse_subject(subject), value)
    return fabric
