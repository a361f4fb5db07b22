"""The acceptance list of what runs and of routing: single faults and harmless changes, each put into a clean build."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from support.command import nodrop
from support.single_faults import RELEASES, Fault, inject, read_faults, reading_of, written

LIST = "data/acceptance/running.yaml"


@cache
def cases(path: str = LIST) -> tuple[Fault, ...]:
    """Return every case of a list below tests/."""
    return tuple(Fault(row, platform, path) for row in read_faults(path) for platform in RELEASES if platform in row)


def read(case: Fault) -> Reading:
    """Return the reading of the build with the change of a case in it."""
    return reading_of(case, inject(case))


def linted(files: Mapping[str, str]) -> frozenset[str]:
    """Return what `nodrop lint` finds in files, and what it cannot read, a line each."""
    return lint(files)[1]


def lint(
    files: Mapping[str, str], *options: str, but: frozenset[str] = frozenset()
) -> tuple[int, frozenset[str], frozenset[str]]:
    """Run `nodrop lint` on files; return its exit code, findings with problems, and unknowns, each one line.

    Findings of the severities in `but` are left out.
    """
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            if "/apply/" in name:  # made of the files beside them; a change alone makes them disagree
                continue
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = nodrop("lint", "--no-config", "--no-cache", "--format", "json", *options, folder)
        said = json.loads(done.out)
        unknown = (f"{', '.join(one['devices'])} {one['rule']}: unknown {one['missing']}" for one in said["unknown"])
        said["findings"] = [one for one in said["findings"] if one["severity"] not in but]
        return done.code, frozenset(_lines(said, f"{folder}/")), frozenset(unknown)


def _lines(said: Mapping[str, list[dict[str, Any]]], folder: str) -> Iterator[str]:
    """Write each finding and problem as one line: findings begin with their device and subject."""
    for one in said["findings"]:
        yield f"{one['device']} {one['subject']} {one['rule']}: {one['message']}"
    for one in said["problems"]:
        yield json.dumps(one).replace(folder, "")


@cache
def _clean(fabric: Fabric) -> frozenset[str]:
    return linted(written(fabric))


def new(case: Fault) -> frozenset[str]:
    """Return what lint says of a case and not of the clean build."""
    return linted(inject(case)) - _clean(case.fabric)


def found(case: Fault) -> bool:
    """Return whether something new names one of the devices of a case, and what it is `about` where that is said."""
    return names_device(case, new(case))


def names_device(case: Fault, lines: frozenset[str]) -> bool:
    """Return whether a line names one of the devices of a case, and what it is `about` where that is stated."""
    names = re.compile(rf"\b({'|'.join(case.row['at'])})\b")
    about = re.compile(case.row.get("about", ""))
    return any(names.search(line) and about.search(line) for line in lines)
