"""The intents of `intents/large`, which are linted and validated here alone: golden/ has none of their files."""

from collections import Counter

import pytest

import nodrop
from nodrop.resources import resource_folder
from support.designs import build, shipped, tiers_of

INTENTS = sorted(f"large/{path.stem}" for path in (resource_folder("intents") / "large").glob("*.yaml"))
PLATFORMS = [("sonic", "202505"), ("nvue", "5.16")]


@pytest.mark.parametrize("name", INTENTS)
@pytest.mark.parametrize(("platform", "version"), PLATFORMS)
@pytest.mark.slow
def test_a_large_intent_has_no_finding_and_all_sessions_on_both_platforms(
    name: str, platform: str, version: str
) -> None:
    values = {"platform": platform, "version": version}
    changes = {f"{path}.{key}": value for path in tiers_of(name) for key, value in values.items()}
    fabric = build(shipped(name, changes))
    reading = nodrop.read_back([*nodrop.write(fabric), *nodrop.host_files(fabric)], fabric)
    for verdict in (nodrop.lint(reading), nodrop.validate(reading)):
        assert [finding.message for finding in verdict.findings if finding.severity != "note"] == []
        assert [(open_verdict.rule, open_verdict.missing) for open_verdict in verdict.unknown] == []
        assert verdict.problems == ()


def test_three_tiers_of_2048_gpus_have_as_many_links_up_as_down() -> None:
    fabric = build(shipped("large/three-tier"))
    roles = {device.name: device.role for device in fabric.devices} | {host.name: "host" for host in fabric.hosts}
    tiers = Counter(frozenset({roles[link.a.node], roles[link.b.node]}) for link in fabric.links)
    pairs = (("host", "leaf"), ("leaf", "spine"), ("spine", "superspine"))
    assert tiers == {frozenset(pair): 2048 for pair in pairs}
    assert Counter(map(str, roles.values())) == {"host": 256, "leaf": 32, "spine": 32, "superspine": 16}
