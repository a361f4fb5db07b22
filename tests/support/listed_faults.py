"""Acceptance lists under `lint --fail-on unknown`: single faults and harmless changes, put alone into clean files."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import pytest
from _pytest.mark.structures import ParameterSet

from nodrop.model.fabric import Fabric
from support.running_faults import lint, names_device
from support.single_faults import Fault, inject, written


@dataclass(frozen=True)
class Report:
    """What `lint --fail-on unknown` reports of files."""

    failed: bool
    lines: frozenset[str]
    """Findings, problems and unknowns, a line each."""


def report(files: Mapping[str, str]) -> Report:
    """Return what `lint --fail-on unknown` reports of files."""
    code, lines, unknown = lint(files, "--fail-on", "unknown")
    return Report(code != 0, lines | unknown)


@cache
def _clean(fabric: Fabric) -> Report:
    return report(written(fabric))


@cache
def changed(case: Fault) -> Report:
    """Return what is reported of a case and not of the clean build."""
    now = report(inject(case))
    return Report(now.failed, now.lines - _clean(case.fabric).lines)


def is_found(case: Fault) -> bool:
    """Return whether lint fails for a case and something new names one of its devices."""
    seen = changed(case)
    return seen.failed and names_device(case, seen.lines)


def quick_first(cases: Iterable[Fault], quick: int = 2) -> list[ParameterSet]:
    """Return cases as parameters of a test: the first few of each family are quick, the rest are slow."""
    families: Counter[str] = Counter()
    parameters = []
    for case in cases:
        families[case.row["of"]] += 1
        marks = () if families[case.row["of"]] <= quick else (pytest.mark.slow,)
        parameters.append(pytest.param(case, id=case.name, marks=marks))
    return parameters
