"""Fabrics of two trees, paired by name for comparison."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.model.subject import natural_sort_key


class OldAndNewFabric(NamedTuple):
    """A fabric as it is and as it will be; a side is a fabric without switches where only the other side has it."""

    old: Reading
    new: Reading


def pair_fabrics(
    old_readings: Sequence[Reading], new_readings: Sequence[Reading], paths: tuple[str, str]
) -> Iterator[OldAndNewFabric]:
    """Yield fabrics by name; where each side has only one, these two are compared even if their names differ.

    Of an intent and its build in one tree the intent counts. Raise InputProblems where a tree, under its path, has two
    others of one name.
    """
    before, after = (
        _readings_by_name(side, path) for side, path in zip((old_readings, new_readings), paths, strict=True)
    )
    if len(before) == len(after) == 1:
        (reading,), (other_reading,) = before.values(), after.values()
        yield OldAndNewFabric(reading, other_reading)
        return
    for name in sorted({*before, *after}, key=natural_sort_key):
        yield OldAndNewFabric(
            before.get(name) or _empty_reading(name, after), after.get(name) or _empty_reading(name, before)
        )


def _empty_reading(name: str, other_readings: dict[str, Reading]) -> Reading:
    """Return the same fabric without anything in it."""
    mode = other_readings[name].fabric.mode
    return Reading(fabric=Fabric(name=name, mode=mode, devices=()))


def _readings_by_name(readings: Sequence[Reading], path: str) -> dict[str, Reading]:
    found_readings: dict[str, Reading] = {}
    for reading in sorted(readings, key=lambda candidate: candidate.decided is None):  # intents first
        name = reading.fabric.name
        if name not in found_readings:
            found_readings[name] = reading
        elif found_readings[name].decided is None or reading.decided is not None:
            twice = f"two fabrics called {name}"
            raise InputProblems([Problem(path=path, found=twice, expected="unique names in fabric.yaml")])
    return found_readings
