"""The layers of tests: which tests are unit tests, and which part of the nightly tests a commit runs."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.resources import resource_folder
from support import command, designs
from support.command import built, nodrop
from support.layers import PARTS, part, part_of, reached
from support.places import ROOT, SOURCE


def calls_the_command_line() -> None:
    nodrop("rules")


def calls_it_through_a_module() -> None:
    command.nodrop("rules")


def calls_a_helper() -> None:
    calls_the_command_line()


@cache
def calls_it_once() -> None:
    calls_a_helper()


def calls_it_later() -> Callable[[], Any]:
    return lambda: [nodrop(word) for word in ("rules", "hardware")]


class Site:
    @property
    def built(self) -> None:
        built("intent.yaml", "build")


def uses_a_class() -> None:
    print(Site().built)


def imports_it_itself() -> None:
    from nodrop.cli.main import run

    run(["rules"])


def starts_a_process() -> None:
    subprocess.run(["true"], check=True)


@given(st.integers())
def builds_many(number: int) -> None:
    designs.build({"mtu": number})


def builds_one() -> None:
    designs.build(designs.shipped("two-by-two"))


def reads_a_file() -> str:
    return Path(resource_folder("rules")).read_text()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (calls_the_command_line, "nodrop.cli.main.run"),
        (calls_it_through_a_module, "nodrop.cli.main.run"),
        (calls_a_helper, "nodrop.cli.main.run"),
        (calls_it_once, "nodrop.cli.main.run"),
        (calls_it_later, "nodrop.cli.main.run"),
        (uses_a_class, "nodrop.cli.main.run"),
        (imports_it_itself, "nodrop.cli.main.run"),
        (starts_a_process, "subprocess.run"),
        (builds_many, "nodrop.design.build"),
        (builds_one, ""),
        (reads_a_file, ""),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_keeps_a_test_out_of_the_unit_layer(function: Callable[..., Any], expected: str) -> None:
    assert reached(function) == expected


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("7", 7), ("19", 19), ("1f", 31 % PARTS), ("40153298", 0x40153298 % PARTS)]
)
def test_a_part_by_number_or_commit(text: str, number: int) -> None:
    assert part(text) == number


def test_parts_are_alike_in_size() -> None:
    sizes = Counter(part_of(f"tests/rules/test_rules.py::test_example[{number}]") for number in range(2000))
    assert sizes.keys() == set(range(PARTS))
    assert all(70 <= size <= 130 for size in sizes.values())


def collected(*words: str) -> set[str]:
    """The ids of the tests that pytest collects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 5), done.stdout[-2000:]
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.nightly
def test_a_part_has_those_of_the_nightly_tests_that_are_in_it() -> None:
    every = collected("-m", "nightly")
    assert set(map(part_of, every)) == set(range(PARTS))
    assert collected("-m", "nightly", "--part", "3") == {one for one in every if part_of(one) == 3}


@pytest.mark.nightly
def test_no_module_without_the_word_has_a_nightly_test() -> None:
    assert collected("-m", "nightly") == collected("-m", "nightly and not unit")


@pytest.mark.nightly
def test_every_package_has_unit_tests() -> None:
    packages = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py")} - {"."}
    tested = {Path(one.partition("::")[0]).parent.relative_to("tests").as_posix() for one in collected("-m", "unit")}
    assert packages - tested - WITHIN == set()


WITHIN = {"cli/export", "export/batfish", "model/fields", "engine/vocabulary"}
"""Packages that are tested in the folder of the package around them."""
