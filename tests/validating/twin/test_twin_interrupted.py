"""A twin that is interrupted at any moment leaves no process, namespace, interface or file behind."""

import random
import signal
from pathlib import Path

import pytest

from support.twin_interrupted import SIGNALS, interrupted
from support.twin_runs import needed

pytestmark = pytest.mark.nightly


WHOLE = 15
"""The processes of a twin of two-by-two: the command, two that make its namespaces, three daemons of each switch."""


@pytest.mark.parametrize("by", SIGNALS, ids=lambda one: one.name)
@pytest.mark.parametrize(("least", "most_s"), [(0, 3.0), (WHOLE, 8.0)], ids=["starting", "running"])
def test_an_interrupted_twin_leaves_nothing(tmp_path: Path, by: signal.Signals, least: int, most_s: float) -> None:
    needed()
    after_s = random.Random(f"{by} {least}").uniform(0, most_s)
    had, left = interrupted("two-by-two", after_s, by, tmp_path, least)
    assert left == {}
    assert had >= least
