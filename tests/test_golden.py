"""What every shipped intent becomes, file by file: `make golden` writes golden/ anew, a person reads the difference."""

import shutil
from functools import cache
from pathlib import Path

import pytest

import nodrop
from nodrop.design import adaptations
from nodrop.design.defaults import defaulted
from nodrop.export.batfish import snapshot
from nodrop.export.containerlab import lab
from nodrop.fabric.fabric import Fabric
from nodrop.fabric.reading import Reading
from nodrop.lint.engine import judge
from nodrop.lint.rules import shipped
from nodrop.report.fabric import facts
from nodrop.report.outcome import Outcome
from nodrop.report.page import text as page
from nodrop.report.text import render
from nodrop.resources import home

SMALL = 6
"""Devices of a fabric all of whose files are kept."""

LABS = ("adaptive", "two-by-two")
"""Of which a lab's topology is kept, and what a switch has there that is not its own file."""

GOLDEN = Path(__file__).parents[1] / "golden"
EXPORTED = ("two-by-two", "storage-vlan", "unnumbered", "adaptive", "reference-256-nvue-leaves")
"""Intents of which the snapshot for Batfish is kept: on SONiC, on NVUE, and on both."""
INTENTS = sorted(path.stem for path in home("intents").glob("*.yaml"))


@cache
def made(intent: str) -> dict[str, str]:
    """Return the files of an intent: what `show` says, what `lint` finds, and all artifacts.

    Of a large fabric one switch of each role is kept, the others being like it.
    """
    loaded = nodrop.load(home("intents") / f"{intent}.yaml")
    fabric = nodrop.build(loaded)
    artifacts = list(nodrop.write(fabric))
    artifacts += nodrop.host_files(fabric)
    plan = list(nodrop.rack(fabric))
    reading = nodrop.read_back(artifacts, fabric)
    verdict = judge(reading, shipped(), strictness="auditor")
    return {
        "show.txt": page(facts(fabric, defaulted(loaded), adaptations(loaded))),
        "findings.txt": render(Outcome.of(reading, verdict)),
        **(exported(reading) if intent in EXPORTED else {}),
        **(lab_files(reading) if intent in LABS else {}),
    } | {f"{one.device}/{one.path}".lstrip("/"): one.text for one in (*artifacts, *plan) if one.device in kept(fabric)}


def exported(reading: Reading) -> dict[str, str]:
    """Return the snapshot for Batfish, but for files that are a switch's own, and hosts that are like the first."""
    found = snapshot(reading)
    own = {f"{node}/frr.conf" for node in found.names if f"sonic_configs/{node}/frr.conf" in found.files}
    nodes = {node for node, name in found.names.items() if name in kept(reading.fabric)} | {"gpu1", "layer1_topology"}
    return {
        f"batfish/{name}": text
        for name, text in found.files.items()
        if not name.endswith(tuple(own)) and {Path(name).stem, Path(name).parent.name} & nodes
    }


def lab_files(reading: Reading) -> dict[str, str]:
    """Return a lab's topology and scripts, and of its first switch what is not the very file that was read."""
    first = reading.fabric.devices[0].name
    own = {source.held for source in reading.sources[first]}
    return {
        f"lab/{name}": text
        for name, text in lab(reading).files.items()
        if name.startswith(f"{first}/") or "/" not in name
        if text.encode() not in own
    }


def kept(fabric: Fabric) -> set[str]:
    """Return whose files are kept: all devices', or the first of each role where there are many."""
    if len(fabric.devices) <= SMALL:
        return {"", *(device.name for device in fabric.devices)}
    return {"", *({device.role: device.name for device in reversed(fabric.devices)}.values())}


@pytest.fixture(scope="session", autouse=True)
def written_anew(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for intent in INTENTS:
            for name, text in made(intent).items():
                path = GOLDEN / intent / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)


@pytest.mark.parametrize("intent", INTENTS)
def test_golden(intent: str) -> None:
    folder = GOLDEN / intent
    there = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    wanted = made(intent)
    assert sorted(wanted.keys() - there.keys()) == [], "not in golden/; make golden"
    assert sorted(there.keys() - wanted.keys()) == [], "of no build any more; make golden"
    assert [name for name in wanted if there[name] != wanted[name]] == [], "not as they are built now; make golden"


def test_every_intent_has_golden_files_and_no_other_has() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == INTENTS
