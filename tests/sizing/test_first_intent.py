"""First intents of the thirty sizes: each builds, has the switches of the list, and lints without a finding."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop.intent.load import loads
from nodrop.model.fabric import Fabric
from nodrop.routing.tiers import RANK_BY_ROLE
from nodrop.sizing.first_intent import render_sized_intent
from support.sizes import CASES, name_of, request_of

_WHOLE, _SLOW, _QUICK = 200, 48, 12
"""Up to how many switches a fabric is linted as a whole, in the slow tests, and in the quick tests."""
NOTES_ABOUT_CHIPS = {"watchdog-flaps-on-chip"}
WITHOUT_NEIGHBORS = {"pfc-on-outside-port", "leaf-oversubscribed"}
"""What a part of a fabric has, for its other switches are not there."""
FACTS_OF_OTHERS = {"the other end of a link", "device.bgp"}
"""What rules ask of switches that a part of a fabric lacks; each of its own switches states its BGP."""


def _cases() -> list[Any]:
    """The sizes that are not refused; large ones are for the longer tests."""
    params = []
    for case in CASES:
        switches = sum(case["switches"])
        if switches:
            quick = switches <= _QUICK and case["model"] == "SN4700"
            marks = [] if quick else [pytest.mark.slow if switches <= _SLOW else pytest.mark.nightly]
            params.append(pytest.param(case, marks=marks, id=name_of(case)))
    return params


def _first_of_each_group(fabric: Fabric) -> Fabric:
    """A fabric with one switch of each group."""
    kinds = {device.name.rstrip("0123456789"): device for device in reversed(fabric.devices)}
    names = {device.name for device in kinds.values()}
    links = tuple(link for link in fabric.links if {link.a.node, link.b.node} & names)
    return replace(fabric, devices=tuple(kinds.values()), links=links)


@pytest.mark.parametrize("case", _cases())
def test_an_intent_of_each_size_builds_and_has_no_finding(case: dict[str, Any]) -> None:
    text = render_sized_intent(request_of(case), file="intent.yaml").text
    assert max(map(len, text.splitlines())) <= 120
    fabric = nodrop.build(loads(text.encode(), "intent.yaml"))
    tiers = Counter(RANK_BY_ROLE[str(device.role)] for device in fabric.devices)
    assert [tiers[tier] for tier in sorted(tiers)] == case["switches"]
    assert sum(host.gpus for host in fabric.hosts) == case["gpus"]
    whole = len(fabric.devices) <= _WHOLE
    part = fabric if whole else _first_of_each_group(fabric)
    verdict = nodrop.lint(nodrop.read_back([*nodrop.write(part), *nodrop.host_files(part)], part))
    expected = NOTES_ABOUT_CHIPS if whole else NOTES_ABOUT_CHIPS | WITHOUT_NEIGHBORS
    assert {finding.rule for finding in verdict.findings} <= expected
    assert {unknown.missing for unknown in verdict.unknown} <= (set() if whole else FACTS_OF_OTHERS)
    assert verdict.problems == ()
