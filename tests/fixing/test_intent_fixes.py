"""Faults that an intent causes: what their rules set in the intent ends them, and nothing else of it changes."""

from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodrop.engine.example_setup import merge_overlay
from nodrop.engine.rules import shipped_rules
from nodrop.fixing import fix
from nodrop.inputs import FileText
from nodrop.judging import CheckSettings
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml

FAULTS: Mapping[str, Mapping[str, Any]] = {
    "ecn-never-before-pfc": {"classes": {"rdma": {"ecn": {"min": "48MB", "max": "52MB", "probability": "100%"}}}},
    "ecn-below-one-packet": {"classes": {"rdma": {"ecn": {"min": "1kB", "max": "2kB", "probability": "100%"}}}},
    "ecn-maximum-past-pause": {"classes": {"rdma": {"ecn": {"min": "150kB", "max": "60MB", "probability": "100%"}}}},
    "hash-without-source-port": {"routing": {"hash": ["dst-ip", "src-ip"]}},
    "nic-trusts-pcp": {"hosts": {"trust": "pcp"}},
    "nic-does-not-slow-down": {"hosts": {"dcqcn": False}},
    "watchdog-slower-than-rdma-timeout": {"pfc": {"watchdog": {"hosts": {"detection": "4200ms"}}}},
    "switch-drained": {"devices": {"spine1": {"drained": True}}},
}
"""What is laid over two-by-two, by the rule that finds it."""


def intent(overlay: Mapping[str, Any]) -> bytes:
    data = merge_overlay(
        parse_yaml((resource_folder("intents") / "two-by-two.yaml").read_bytes(), "two-by-two.yaml").data, overlay
    )
    out = StringIO()
    YAML(typ="safe", pure=True).dump(data, out)
    return out.getvalue().encode()


@pytest.mark.parametrize("rule", FAULTS)
def test_what_a_rule_sets_in_the_intent_ends_its_fault(rule: str) -> None:
    raw = intent(FAULTS[rule])
    settings = CheckSettings(strictness="auditor")
    made = fix(FileText(display="net.yaml", held=raw), settings, unsafe=True)
    assert rule in {one.rule for one in made.made}
    assert rule not in {one.rule for one in made.outcome.findings}
    (file,) = made.rewritten
    old, new = parse_yaml(file.old, "net.yaml").data, parse_yaml(file.new, "net.yaml").data
    (fixes,) = (one.intent_fix for one in shipped_rules() if one.name == rule)
    assert _told(old, new) <= {path.split(".")[0] for path in fixes}


def _told(old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    return {key for key in {*old, *new} if old.get(key) != new.get(key)}


def test_every_rule_that_sets_something_in_an_intent_has_a_fault_here() -> None:
    assert {rule.name for rule in shipped_rules() if rule.intent_fix} == FAULTS.keys()
