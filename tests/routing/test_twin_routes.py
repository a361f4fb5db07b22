"""The routes that are computed are those of real FRR daemons: every prefix, its protocol and its next hops."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from random import Random

import pytest

from nodrop.model.fabric import Fabric, Link
from support.designs import build, shipped
from support.random_routed import routed
from support.routed_runs import compare, ends, failing, settles
from support.routed_trials import trial
from support.twin_runs import needed

pytestmark = pytest.mark.nightly

INTENTS = (
    *("adaptive", "broadcom", "dual-stack", "lossy", "pfc-only"),
    *("storage-vlan", "trim", "two-by-two", "uec", "unnumbered"),
)
COUNT = {False: 20, True: 10}
"""Random fabrics without preferences, and with them."""
LINED = 12
"""Seeds of fabrics with random lines; `python -m support.routed_trials` runs more of them."""
TOGETHER = 2
"""How many fabrics run at a time."""


def all_alike(cases: Mapping[str, Fabric], dead: Mapping[str, tuple[tuple[Link, ...], ...]]) -> None:
    """Compare some fabrics, two at a time; whatever is wrong of any is told."""
    needed()

    def wrong(name: str) -> str | None:
        try:
            compare(cases[name], *dead.get(name, ()))
        except AssertionError as error:
            return f"{name}: {error}"
        return None

    with ThreadPoolExecutor(TOGETHER) as threads:
        assert [one for one in threads.map(wrong, cases) if one is not None] == []


def test_the_routes_of_small_intents() -> None:
    all_alike({name: build(shipped(name)) for name in INTENTS}, {})


@pytest.mark.parametrize("preferences", [False, True], ids=["shortest", "preferences"])
def test_the_routes_of_random_fabrics(*, preferences: bool) -> None:
    cases: dict[str, Fabric] = {}
    dead: dict[str, tuple[tuple[Link, ...], ...]] = {}
    for seed in count():
        fabric = routed(Random(seed), preferences=preferences)
        before, after = failing(fabric, seed)
        if settles(fabric, ends(before)) and settles(fabric, ends((*before, *after))):
            cases[f"seed {seed}"], dead[f"seed {seed}"] = fabric, (before, after)
        if len(cases) == COUNT[preferences]:
            break
    all_alike(cases, dead)


@pytest.mark.parametrize("far", [False, True], ids=["over links", "between loopbacks"])
def test_the_routes_of_random_fabrics_with_random_lines(*, far: bool) -> None:
    needed()
    with ThreadPoolExecutor(TOGETHER) as threads:
        rows = list(threads.map(partial(trial, far=far), range(LINED)))
    assert [row for row in rows if row["result"] == "different"] == []
    assert any(row["result"] == "alike" for row in rows)
