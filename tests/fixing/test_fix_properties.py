"""Fixing fabrics with several faults at once: nothing new is found, nothing else changes, and it comes to an end."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.errors import UnsupportedByPlatform
from nodrop.judging import CheckSettings
from nodrop.results.fixed import FixedFabric
from support.broken_fabrics import bad_examples, broken, said
from support.fixed_files import after, fixed, found, left


def before(made: FixedFabric) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return what was found before anything was fixed."""
    return found(made) + Counter((one.rule, one.subject) for one in made.made)


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
@pytest.mark.nightly
def test_several_faults_at_once(platform: str, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(bad_examples()), min_size=2, max_size=4, unique_by=id))
    try:
        files = broken(platform, chosen)
    except (ValueError, UnsupportedByPlatform):
        assume(False)
    made = fixed(files)
    nothing = fixed(files, settings=CheckSettings(select=("name-of-two-devices",)))
    assert nothing.files == {}
    new = after(files, made)
    assert before(made) == Counter((one.rule, one.subject) for one in _all(files))
    again = fixed(new)
    assert again.files == {}
    assert found(again) == found(made)
    assert left(again) == left(made)
    changed = {name.removeprefix("net/").partition("/")[0] for name in made.files}
    old, now = said(files).fabric, said(new).fabric
    assert {one.name for one, other in zip(old.devices, now.devices, strict=True) if one != other} == changed


def _all(files: dict[str, str]) -> tuple[object, ...]:
    from nodrop.judging import run_rules

    return run_rules(said(files), select_lint_rules(shipped_rules()), CheckSettings()).findings
