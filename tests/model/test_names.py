"""Devices with the name of another, or another than their folder: told where names of folders mean something."""

import pytest

from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device
from nodrop.model.reading import DeviceReading, Source


def _reading(display: str, name: str, *, chosen: bool = True) -> DeviceReading:
    folder = display.split("/")[-2]
    return DeviceReading(
        device=Device(name=name, platform="sonic"),
        called=folder if chosen else None,
        sources=(Source(name="config_db.json", display=display),),
    )


def _told(*named: tuple[str, str]) -> dict[str, str]:
    readings = [_reading(f"{folder}/config_db.json", name) for folder, name in named]
    found = assemble_fabric(readings, DeclaredFacts()).remarks
    return {one.subject[0]: f"{one.kind} {one.facts['file']} {one.facts.get('other', '')}".strip() for one in found}


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ((("x/leaf1", "leaf1"), ("x/leaf2", "leaf2")), {}),
        ((("x/leaf1", "leaf1"), ("x/leaf2", "leaf1")), {"leaf1.2": "name-of-two-devices leaf2 leaf1"}),
        ((("x/a", "leaf1"), ("x/b", "leaf1")), {"leaf1.2": "name-of-two-devices b a"}),
        ((("old/leaf1", "leaf1"), ("new/leaf1", "leaf1")), {}),
        ((("x/leaf1-old", "leaf1"), ("x/leaf1-new", "leaf1")), {}),
        (
            (("x/leaf1", "leaf2"), ("x/leaf2", "leaf1")),
            {"leaf2": "name-unlike-file leaf1", "leaf1": "name-unlike-file leaf2"},
        ),
        ((("x/leaf1", "leaf1"), ("x/leaf2", "leaf2"), ("x/leaf3", "leaf4")), {"leaf4": "name-unlike-file leaf3"}),
        ((("x/leaf1", "leaf1"), ("x/leaf3", "leaf4")), {}),
        ((("x/a", "leaf1"), ("x/b", "leaf2"), ("x/c", "leaf3")), {}),
        ((("x/leaf1", "leaf1"), ("x/leaf2", "leaf2"), ("x/LEAF3.example.com", "leaf3")), {}),
        ((("x/leaf1", "leaf1"), ("x/leaf2", "leaf2"), ("x/leaf11", "leaf12")), {"leaf12": "name-unlike-file leaf11"}),
    ],
)
def test_names_of_devices_and_their_folders(named: tuple[tuple[str, str], ...], told: dict[str, str]) -> None:
    assert _told(*named) == told


def test_names_that_nobody_chose_are_not_held_against_anyone() -> None:
    readings = [_reading(f"x/{folder}/config_db.json", "switch", chosen=False) for folder in ("a", "b")]
    assert assemble_fabric(readings, DeclaredFacts()).remarks == ()
