"""A fabric during a rollout: which reading each part of a state comes from."""

from dataclasses import replace
from functools import cache

import pytest

import nodrop
from nodrop.model.reading import Reading, Source
from nodrop.plan.model import ChangeScope, Plan
from nodrop.plan.shares import ChangesByScope
from nodrop.plan.states import RolloutStates
from support.plan_pairs import reading, reading_of

NAMES = ("leaf1", "leaf2", "spine1", "spine2")


def marked(one: Reading, word: str) -> Reading:
    """A reading whose sources say from which reading they are."""
    return replace(one, sources={name: (Source(name=word, display=f"{word}/{name}"),) for name in NAMES})


@cache
def pair() -> tuple[Reading, Reading, Plan]:
    old = marked(reading("sonic"), "old")
    new = marked(reading_of("sonic", {"mtu": "9000"}), "new")
    return old, new, nodrop.plan(old, new)


@pytest.mark.parametrize("done", [(), ("leaf2",), ("leaf1", "spine1"), NAMES], ids=" ".join)
def test_files_of_a_switch_are_those_of_its_own_state(done: tuple[str, ...]) -> None:
    old, new, plan = pair()
    assert {change.name for change in plan.devices} == set(NAMES)
    states = RolloutStates(plan.devices, old, new, ChangesByScope(plan.devices, old.fabric, new.fabric))
    state = states.reading_after_changes(dict.fromkeys(done, frozenset({ChangeScope()})), "old")
    found = {name: [source.display for source in sources] for name, sources in state.sources.items()}
    assert found == {name: [f"{'new' if name in done else 'old'}/{name}"] for name in NAMES}
    sides = {"old": old.fabric, "new": new.fabric}
    assert all(one == sides["new" if one.name in done else "old"].device(one.name) for one in state.fabric.devices)


@pytest.mark.parametrize(
    ("near", "seen"), [(False, NAMES), (True, ("leaf1", "spine1", "spine2"))], ids=["every switch", "near"]
)
def test_a_state_has_as_many_switches_as_it_costs_to_judge(near: bool, seen: tuple[str, ...]) -> None:
    """What changes is leaf1 alone, which has cables to both spines and none to leaf2."""
    old, new, plan = pair()
    changes = [change for change in plan.devices if change.name == "leaf1"]
    states = RolloutStates(changes, old, new, ChangesByScope(changes, old.fabric, new.fabric), near=near)
    state = states.reading_after_changes(states.all_changes_done, "new")
    assert tuple(device.name for device in state.fabric.devices) == seen
    assert states.max_switch_count == len(seen)
