"""Designs that cannot work, as shipped in intents/refused: all reasons at once, word for word, and a fix that works.

The words are kept beside this file, `refused/<name>.txt`; `pytest --update-golden` writes them anew.
"""

from pathlib import Path
from typing import Any

import pytest

from nodrop.cli.main import WRONG, run
from nodrop.design import build as design
from nodrop.errors import InputProblems
from nodrop.resources import resource_folder
from support.designs import Data, build, changed, data_of, links_between, load
from support.places import TESTS

NAMES = sorted(path.stem for path in (resource_folder("intents") / "refused").glob("*.yaml"))

LITERAL = "reference-256-literal"
FIX: dict[str, Any] = {
    "topology.leaves.ids": "1-4",
    "topology.leaves.ports": {"endpoints": "1-16", "uplinks": "17-32"},
    "topology.uplinks.per_spine": "8",
    "topology.uplinks.speed": "400G",
    "topology.uplinks.media": "DR4",
    "endpoints.gpu.leaf_group": "8",
}
"""What the hint of the literal reading says: 4 leaves of 16 endpoint ports and 16 uplinks, and the keys it names."""


def text_of(name: str) -> str:
    return (resource_folder("intents") / "refused" / f"{name}.yaml").read_text()


def refusal(data: Data) -> dict[str, str]:
    """What is found wrong with the data of an intent, by path."""
    with pytest.raises(InputProblems) as refused:
        design(load(data))
    return {problem.where: problem.found for problem in refused.value.problems}


def test_every_refused_intent_has_its_words() -> None:
    assert sorted(path.stem for path in (TESTS / "design" / "refused").glob("*.txt")) == NAMES == [LITERAL]


@pytest.mark.parametrize("name", NAMES)
def test_words(
    name: str, update_golden: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(resource_folder("intents"))
    assert run(["show", f"refused/{name}.yaml"]) == WRONG
    captured = capsys.readouterr()
    assert captured.out == ""
    golden = TESTS / "design" / "refused" / f"{name}.txt"
    if update_golden:
        golden.write_text(captured.err)
    assert captured.err == golden.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_built(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    intent = resource_folder("intents") / "refused" / f"{name}.yaml"
    assert run(["build", str(intent), "--output", str(tmp_path / "out")]) == WRONG
    assert not (tmp_path / "out").exists()
    assert capsys.readouterr().out.count("error: ") == 3


def test_the_literal_reading_has_all_its_reasons() -> None:
    assert refusal(data_of(text_of(LITERAL))) == {
        "topology.leaves.ports.uplinks": "SN4700 has no ports 33-34 for the fabric, "
        "and 32 × 400G host ports leave none for uplinks",
        "topology.uplinks.speed": "SN4700 (Spectrum-3) has no 800G port",
        "topology.max_oversubscription": "leaf1 is 8:1 oversubscribed, 12.8T down and 1.6T up; "
        "one-way bisection is 1.6T, half of the 3.2T that all 4 uplinks sum to",
    }


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"topology.spines.ids": "1-4", "topology.leaves.ports.uplinks": "33-36"}, (4, "3.2T", "3.2T", "6.4T", 8)),
        ({"topology.uplinks.speed": "200G", "topology.uplinks.media": "AOC"}, (32, "400G", "400G", "800G", 4)),
    ],
)
def test_the_numbers_are_worked_out(changes: Data, found: tuple[Any, ...]) -> None:
    ratio, up, bisection, total, count = found
    assert refusal(changed(data_of(text_of(LITERAL)), changes))["topology.max_oversubscription"] == (
        f"leaf1 is {ratio}:1 oversubscribed, 12.8T down and {up} up; "
        f"one-way bisection is {bisection}, half of the {total} that all {count} uplinks sum to"
    )


def test_host_ports_that_leave_some_are_no_reason() -> None:
    fewer = refusal(changed(data_of(text_of(LITERAL)), {"endpoints.gpu.ids": "1-15, 17-31"}))
    assert fewer["topology.leaves.ports.uplinks"] == "SN4700 has no ports 33-34 for the fabric"


def test_the_smallest_fix_works() -> None:
    """It is what reference-256 is: 64 host ports at 1:1, every port of every switch used."""
    said = (TESTS / "design" / "refused" / f"{LITERAL}.txt").read_text()
    assert "4 leaves of 16 endpoint ports and 16 uplinks" in said
    for path in ("per_spine", "speed", "media"):
        assert f"{path}: {FIX[f'topology.uplinks.{path}']}" in said
    assert f"leaf_group: {FIX['endpoints.gpu.leaf_group']}" in said
    fixed = build(changed(data_of(text_of(LITERAL)), FIX))
    assert [device.name for device in fixed.devices] == ["leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"]
    assert all(port.enabled for device in fixed.devices for port in device.interfaces)
    assert {links_between(fixed, f"leaf{leaf}", f"spine{spine}") for leaf in (1, 2, 3, 4) for spine in (1, 2)} == {8}


@pytest.mark.parametrize("left", FIX)
def test_no_part_of_the_fix_can_be_left_out(left: str) -> None:
    with pytest.raises(InputProblems):
        build(changed(data_of(text_of(LITERAL)), {path: value for path, value in FIX.items() if path != left}))
