"""Find the unit tests: those whose code reaches no command line, no process and no verb for a whole fabric.

`reached` follows the names in the code of a test, of its fixtures and of the helpers that these call. Nobody marks a
unit test by hand, so that a test that begins to call the command line leaves the layer by itself.
"""

import asyncio
import importlib
import os
import subprocess
import sys
import types
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import pytest

WHOLE: Final = {
    "nodrop": ("check", "drift", "fix", "plan", "read", "read_back", "validate", "write"),
    "nodrop.checking.check": ("check",),
    "nodrop.cli.main": ("main", "run"),
    "nodrop.explaining": ("render_rule_at_subject",),
    "nodrop.fixing": ("fix",),
    "nodrop.judging": ("run_rules",),
    "nodrop.fabric_readings": (
        "build_and_read_back",
        "read_fabric_or_intent",
        "read_fabric_at_path",
        "require_one_fabric_reading",
        "readings_of",
    ),
    "nodrop.engine.examples": ("run_example", "run_rule", "build_example_views"),
    "nodrop.plan.drifting": ("drift",),
    "nodrop.plan.planning": ("plan",),
    "nodrop.outcome_cache": ("check_or_recall_outcome",),
    "nodrop.rule_tests": ("run_rule_examples",),
    "nodrop.validating.twin": ("require_twin_support", "observe_in_twin"),
    "nodrop.validating.twin.box": ("call_in_sandbox", "usable_unshare_command"),
    "nodrop.validating.twin.daemons": ("FrrDaemons",),
    "nodrop.validating.twin.lab": ("TwinLab",),
}
"""Functions that do the work of a command, and classes that start processes, by module."""
MANY: Final = {
    "nodrop": ("build",),
    "nodrop.design": ("build",),
    "nodrop.importing": ("derive_intent",),
    "nodrop.routing": ("compute_control_plane",),
}
"""Functions that a unit test may call, but not once for each of many random inputs."""
PROCESSES: Final = (subprocess.Popen, subprocess.run, subprocess.check_output, os.fork, os.system)
OTHERS: Final = ("slow", "nightly", "batfish_live")
"""Markers of the other layers."""
ELSEWHERE: Final = ("fuzzing", "project", "rules")
"""Folders of tests that are of no package."""


@cache
def whole(*, random: bool) -> dict[int, str]:
    """Return the functions that no unit test reaches, by identity, with their names."""
    listed = [(module, name) for table in (WHOLE, MANY if random else {}) for module in table for name in table[module]]
    found = {f"{module}.{name}": vars(importlib.import_module(module))[name] for module, name in listed}
    found |= {f"{one.__module__}.{one.__qualname__}": one for one in (*PROCESSES, asyncio.create_subprocess_exec)}
    return {id(_plain(one)): name for name, one in found.items()}


def unit(item: pytest.Item) -> bool:
    """Return whether a collected test is a unit test."""
    if not isinstance(item, pytest.Function) or any(item.get_closest_marker(name) for name in OTHERS):
        return False
    path = item.path.relative_to(item.config.rootpath / "tests").as_posix()
    elsewhere = path.startswith(tuple(f"{folder}/" for folder in ELSEWHERE))
    return not elsewhere and not any(reached(function) for function in (item.obj, *_fixtures(item)))


def _fixtures(item: pytest.Function) -> Iterator[Callable[..., Any]]:
    for name in item.fixturenames:
        for fixture in item._fixtureinfo.name2fixturedefs.get(name, ()):
            yield fixture.func


def reached(function: Callable[..., Any]) -> str:
    """Return the name of a function that no unit test may call and that a function reaches; empty for none."""
    return _reached(_plain(function), random="hypothesis" in vars(function))


@cache
def _reached(function: Any, *, random: bool) -> str:
    todo, seen = [function], {id(function)}
    while todo:
        for one in map(_plain, _used(todo.pop())):
            if id(one) in whole(random=random):
                return whole(random=random)[id(one)]
            if id(one) not in seen and _of_tests(one):
                seen.add(id(one))
                todo.append(one)
    return ""


def _used(one: Any) -> Iterator[Any]:
    """Yield the objects that the code of a function, or of the methods of a class, names."""
    if isinstance(one, type):
        for part in vars(one).values():
            if callable(part := getattr(part, "__func__", getattr(part, "fget", part))):
                yield part
        return
    if not isinstance(one, types.FunctionType):
        return
    for part in one.__closure__ or ():
        yield part.cell_contents
    names = set(_names(one.__code__))
    found = [one.__globals__[name] for name in names if name in one.__globals__]
    found += [sys.modules[name] for name in names if name in sys.modules]
    yield from found
    for module in found:
        if isinstance(module, types.ModuleType):
            yield from (vars(module)[name] for name in names if name in vars(module))


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _names(part)


def _plain(one: Any) -> Any:
    """Return the function below decorators; other objects as they are, for those of the model may refuse every name."""
    if isinstance(one, types.FunctionType) and "hypothesis" in vars(one):
        one = one.hypothesis.inner_test
    if isinstance(one, types.MethodType):
        one = one.__func__
    while isinstance(one, types.FunctionType | _CACHED) and "__wrapped__" in vars(one):
        one = one.__wrapped__
    return one


_CACHED: Final = type(whole)


def _of_tests(one: Any) -> bool:
    return isinstance(one, types.FunctionType | type) and str(one.__module__).startswith(("tests.", "support."))


PARTS: Final = 20
"""How many parts the nightly tests have: a pipeline has the time for one of them."""


def part(text: str) -> int:
    """Return the part of the nightly tests that `3`, or the hash of a commit, names; ValueError for others.

    Digits alone are a number, unless they are as many as those of a hash.
    """
    return int(text, 10 if text.isdecimal() and len(text) < SHORTEST_HASH else 16) % PARTS


SHORTEST_HASH: Final = 4
"""The fewest digits of a commit's hash that git takes for one."""


def part_of(nodeid: str) -> int:
    """Return the part of the nightly tests in which a test is, the same in every run."""
    return zlib.crc32(nodeid.encode()) % PARTS
