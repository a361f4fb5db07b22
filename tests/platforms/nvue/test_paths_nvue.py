"""Which files are read when a path is named: exports under any name, lines of `nv set`, and not the way there."""

from pathlib import Path

import pytest

import nodrop
from support.nvue_startup import state

PORTS = state("interface:\n  swp1-4: {type: swp}\nsystem: {hostname: %s}")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    return path


def devices(*paths: str) -> dict[str, tuple[str, int]]:
    """Name, platform and number of ports of each device that the paths lead to."""
    fabric = nodrop.read(paths).fabric
    return {one.name: (one.platform, len(one.interfaces)) for one in fabric.devices}


def test_a_folder_of_a_build_is_its_startup_files_and_not_the_way_there() -> None:
    write("build/leaf1/startup.yaml", PORTS % "leaf1")
    write("build/leaf1/apply/10-breakout.yaml", "- set: {interface: {swp1: {link: {breakout: {2x: {}}}}}}\n")
    write("build/leaf1/apply/10-breakout.nv", "nv set interface swp1 link breakout 2x\n")
    assert devices("build") == {"leaf1": ("nvue", 4)}


def test_a_folder_of_exports_is_a_device_for_each_whatever_they_are_called() -> None:
    write("exports/core-01.yaml", "# exported\n" + PORTS % "core-01")
    write("exports/unnamed.yml", "- set: {interface: {swp1: {}}}\n")
    write("exports/playbook.yaml", "- hosts: all\n  tasks: []\n")
    assert devices("exports") == {"core-01": ("nvue", 4), "unnamed": ("nvue", 1)}


def test_lines_of_nv_set_are_a_device_in_a_folder_as_when_they_are_named() -> None:
    write("a/leaf7.nv", "nv set interface swp1-2 type swp\nnv set qos roce\nnv config apply -y\n")
    write("a/leaf8.sh", "#!/bin/sh\nnv set interface swp1 type swp\n")
    expected = {"leaf7": ("nvue", 2), "leaf8": ("nvue", 1)}
    assert (devices("a/leaf7.nv", "a/leaf8.sh"), devices("a")) == (expected, expected)
