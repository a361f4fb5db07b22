"""Values of parametrized tests that a longer run tries: the quick tests try those that differ in kind."""

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet


def slow(*values: object) -> list[ParameterSet]:
    """Return values that the slow tests try."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def nightly(*values: object) -> list[ParameterSet]:
    """Return values that the nightly tests try."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


def mostly_nightly(values: Iterable[str], *, quick: Iterable[str]) -> list[object]:
    """Return values, of which the quick tests try those that are named, and the nightly tests the others."""
    chosen = set(quick)
    return [value if value in chosen else pytest.param(value, marks=pytest.mark.nightly) for value in values]
