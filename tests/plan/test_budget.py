"""How much a plan tries for a switch whose changes cannot be made together: one budget over all edits of it."""

from pathlib import Path

import pytest

from nodrop.limits import MAX_EDIT_TRIALS
from nodrop.platforms.kit import editing
from support.command import nodrop
from support.single_faults import clean, written

OLD = """\
nv set interface swp1-32 type swp
nv set interface swp1-4 link mtu 9216
nv set interface swp1s0-1,swp2s0-1 qos egress-shaper profile tc6-min-20G-max-20G
nv set qos roce mode lossless
nv set interface swp40 link breakout 4x
"""
NEW = """\
nv set interface swp1s0-1,swp2s0-1,swp33s0-1,swp34s0-1 qos pfc-watchdog state enable
nv set interface swp2
nv set interface swp40 link breakout 2x
"""
"""Another breakout of a port is for no patch of whole files, which would make all other changes."""


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect why changes cannot be made, one for each time that it is tried."""
    found: list[str] = []
    take = editing.EditState._make_all_or_none

    def counted(state: editing.EditState, changes):  # type: ignore[no-untyped-def]
        why = take(state, changes)
        found.extend([why] if why is not None else [])
        return why

    monkeypatch.setattr(editing.EditState, "_make_all_or_none", counted)
    return found


def test_a_switch_has_one_budget_over_all_edits_of_a_plan(tmp_path: Path, failed: list[str]) -> None:
    paths = [tmp_path / name / "leaf1.nv" for name in ("old", "new")]
    for path, text in zip(paths, (OLD, NEW), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    done = nodrop("plan", *paths, "--no-config", "--patch", tmp_path / "out")
    assert done.code == 1
    assert 0 < len(failed) <= 2 * MAX_EDIT_TRIALS  # of each edit, the first trial is free
    left = (tmp_path / "out" / "leaf1" / "by-hand.txt").read_text()
    assert "not tried, for too many changes of this switch cannot be made together" in left


def test_shares_that_change_together_are_tried_once_each_and_not_in_parts(tmp_path: Path, failed: list[str]) -> None:
    """One share alone would exceed the whole, on any port: trying it port by port tells nothing more."""
    shares = {"classes": {"rdma": {"share": "65%"}, "storage": {"share": "15%"}}}
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder, overlay in zip(folders, ({}, shares), strict=True):
        for name, text in written(clean("two-by-two", "nvue", "5.16", repr(overlay))).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    assert "queue 3: scheduler: weight: 60 -> 65" in nodrop("plan", *folders).out
    assert 0 < len(failed) <= 4, failed
