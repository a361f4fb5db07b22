"""Access lists that intents state: plan, drift, patches and import treat a change of them like any other fact's."""

from functools import cache

import pytest

import nodrop
from nodrop.fabric_readings import build_and_read_back
from nodrop.model.compare import differences
from nodrop.model.reading import Reading
from nodrop.plan.model import Plan
from nodrop.plan.patches import make_patches
from support.designs import build, load
from support.extra_lists import OWNERS, PORTS, changes, intent_with
from support.imported_fabrics import imported
from support.plan_pairs import as_read, device_in
from support.running_files import running

PLATFORMS = ("sonic", "nvue")
KINDS = ("condition", "binding", "rule removed", "list added")
BOTH = [
    pytest.param(platform, kind, marks=[] if kind == "condition" else pytest.mark.slow)
    for platform in PLATFORMS
    for kind in KINDS
]
CHANGED = {
    "condition": [(("SITE", "entries", "10", "sources"), "changed")],
    "binding": [(("SITE", "bindings", "ingress {uplink}"), "removed")],
    "rule removed": [(("SITE", "entries", "20"), "removed")],
    "list added": [(("MORE",), "added")],
}


@cache
def pair(platform: str, kind: str) -> tuple[Reading, Reading]:
    """What builds come to with the owner's list, and with a change of it."""
    stated = ((("SITE", OWNERS, PORTS[platform]),), changes(platform)[kind])
    one, other = (
        build_and_read_back(load(intent_with(platform, *lists)), "intent.yaml", "build")[1] for lists in stated
    )
    return one, other


def told(platform: str, kind: str) -> list[tuple[tuple[str, ...], str]]:
    uplink = PORTS[platform][1]
    return [(("access_lists", *(step.format(uplink=uplink) for step in path)), how) for path, how in CHANGED[kind]]


def facts(plan: Plan) -> list[tuple[tuple[str, ...], str]]:
    """What a plan tells: paths, and how each changes."""
    entries = [entry for block in plan.changes for fact in block.facts for entry in fact.entries]
    return [(one.path, "added" if one.old is None else "removed" if one.new is None else "changed") for one in entries]


@pytest.mark.parametrize(("platform", "kind"), BOTH)
def test_a_plan_tells_the_change_and_what_it_disturbs(platform: str, kind: str) -> None:
    before, after = pair(platform, kind)
    plan = nodrop.plan(before, after)
    assert facts(plan) == told(platform, kind)
    assert plan.effects == {"leaf1": "traffic-affecting", "leaf2": "traffic-affecting"}
    assert plan.outside_model == ()


@pytest.mark.parametrize(("platform", "kind"), BOTH)
def test_a_patch_makes_the_change_and_no_other(platform: str, kind: str) -> None:
    before, after = pair(platform, kind)
    for one, other in ((before, after), (after, before)):
        made = {patch.device: patch for patch in make_patches(nodrop.plan(one, other), one, other)}
        assert list(made) == ["leaf1", "leaf2"]
        for device, patch in made.items():
            assert patch.by_hand == ()
            result = as_read(platform, device, patch.result)
            assert list(differences(result, device_in(other, device))) == []


@pytest.mark.parametrize(("platform", "kind"), BOTH)
def test_what_runs_otherwise_is_drift(platform: str, kind: str) -> None:
    before, after = pair(platform, kind)
    found = nodrop.drift(running(before, 1, after.fabric), after)
    assert facts(found.plan) == told(platform, kind)
    assert found.plan.outside_model == ()
    assert nodrop.drift(running(after, 1), after).is_empty


@pytest.mark.parametrize(("platform", "kind"), BOTH)
def test_an_import_states_the_lists_under_extra(platform: str, kind: str) -> None:
    data = intent_with(platform, *changes(platform)[kind])
    found = imported(build(data))
    assert (found.left, found.rebuilds_same_fabric) == ((), True)
    assert found.intent is not None
    again, stated = (
        {key: sorted((*part.tables, *part.paths)) for key, part in extra.items()}
        for extra in (found.intent.extra, load(data).extra)
    )
    assert again == stated
