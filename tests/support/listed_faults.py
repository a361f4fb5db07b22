"""Acceptance lists under `lint --fail-on unknown`: single faults and harmless changes, put alone into clean files."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import pytest
from _pytest.mark.structures import ParameterSet

from nodrop.model.fabric import Fabric
from support.places import TESTS
from support.running_faults import lint, names_device
from support.single_faults import RELEASES, Fault, edited, inject, read_faults, written

SWITCHES = {"cumulus": "platforms/cumulus/good", "onyx": "platforms/onyx/good.txt"}
"""Where the clean files of platforms are that nothing is built for, below tests/; each is the switch leaf1."""


@dataclass(frozen=True)
class Report:
    """What `lint --fail-on unknown` reports of files."""

    failed: bool
    lines: frozenset[str]
    """Errors, warnings, problems and unknowns, a line each."""


@cache
def cases(path: str) -> tuple[Fault, ...]:
    """Return every case of a list below tests/."""
    rows = read_faults(path)
    return tuple(Fault(row, platform, path) for row in rows for platform in (*RELEASES, *SWITCHES) if platform in row)


def report(files: Mapping[str, str]) -> Report:
    """Return what `lint --fail-on unknown` reports of files."""
    code, lines, unknown = lint(files, "--fail-on", "unknown", but=frozenset(["note"]))
    return Report(code != 0, lines | unknown)


@cache
def _switch(platform: str) -> dict[str, str]:
    path = TESTS / SWITCHES[platform]
    if path.is_file():
        return {f"leaf1{path.suffix}": path.read_text()}
    return {f"leaf1/{file.name}": file.read_text() for file in sorted(path.iterdir())}


def files(case: Fault) -> dict[str, str]:
    """Return the files with the change of a case in them."""
    return edited(case, _switch(case.platform)) if case.platform in SWITCHES else inject(case)


@cache
def _before(start: Fabric | str) -> Report:
    return report(written(start) if isinstance(start, Fabric) else _switch(start))


def before(case: Fault) -> Report:
    """Return what is reported before the change of a case, computed once for all cases of the same files."""
    return _before(case.platform if case.platform in SWITCHES else case.fabric)


@cache
def changed(case: Fault) -> Report:
    """Return what is reported of a case and not before its change."""
    now = report(files(case))
    return Report(now.failed, now.lines - before(case).lines)


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
