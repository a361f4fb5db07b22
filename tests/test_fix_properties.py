"""Fixing fabrics with several faults at once: nothing new is found, nothing else changes, and it comes to an end."""

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fixing import after, fixed, found, left
from injected import clean, written
from nodrop.errors import Unsupported
from nodrop.fabric.edit import set_value
from nodrop.fabric.reading import Reading
from nodrop.fabric.subject import parse
from nodrop.hardware.dynamic import resolve
from nodrop.inputs import find
from nodrop.judging import Settings, read
from nodrop.lint.rule import Example
from nodrop.lint.rules import of_files, shipped
from nodrop.lint.setting import EXAMPLES, names, renamed
from nodrop.report.fixed import Fixed

RELEASES = {"sonic": "202505", "nvue": "5.16"}


@cache
def bad_examples() -> tuple[Example, ...]:
    """Return the bad examples of all rules that change nothing but the model."""
    rules = of_files(shipped())
    every = (one for rule in rules for one in rule.examples if one.name.startswith("bad"))
    return tuple(one for one in every if one.model and one.intent is None)


def broken(platform: str, examples: list[Example]) -> dict[str, str]:
    """Return the files of two-by-two with the faults of examples; ValueError where they do not go together."""
    fabric = clean("two-by-two", platform, RELEASES[platform], "{}")
    fabric = renamed(fabric, names(fabric, EXAMPLES))
    for example in examples:
        for subject, value in (example.model or {}).items():
            fabric = set_value(fabric, parse(subject), value)
    fabric = replace(fabric, devices=tuple(map(resolve, fabric.devices)))
    return written(renamed(fabric, names(fabric, platform)))


def said(files: dict[str, str] | dict[str, str | bytes]) -> Reading:
    held = {f"net/{name}": text.encode() if isinstance(text, str) else text for name, text in files.items()}
    held = {name: text for name, text in held.items() if "/apply/" not in name}
    return read(find(sorted(held), held=held).only(), Settings())


def before(made: Fixed) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return what was found before anything was fixed."""
    return found(made) + Counter((one.rule, one.subject) for one in made.made)


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
@pytest.mark.slow
def test_several_faults_at_once(platform: str, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(bad_examples()), min_size=2, max_size=4, unique_by=id))
    try:
        files = broken(platform, chosen)
    except (ValueError, Unsupported):
        assume(False)
    made = fixed(files)
    nothing = fixed(files, settings=Settings(select=("name-of-two-devices",)))
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
    from nodrop.judging import judged

    return judged(said(files), of_files(shipped()), Settings()).findings
