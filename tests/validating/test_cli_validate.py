"""`nodrop validate` with other validators, and `nodrop twin`: the table, the findings, and what cannot be had."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nodrop.engine.rules import shipped_rules
from nodrop.errors import ServiceUnavailable
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.routing.observation import DifferingFlow, ValidatorObservation
from nodrop.validating import batfish, compute_observation, twin
from support.command import nodrop

SESSION = ("leaf1", "@neighbors", "10.1.1.225")


def sees(by: str, asked: list[object]) -> Callable[..., ValidatorObservation]:
    """A validator that sees what nodrop computes; what it is asked with is kept."""

    def observe(_reading: Reading, index: Index, *given: object, **options: object) -> ValidatorObservation:
        asked.append((by, *given, *(value for name, value in options.items() if name != "progress")))
        return replace(compute_observation(index), by=by)

    return observe


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What validators are asked with."""
    found: list[object] = []
    monkeypatch.setattr(batfish, "observe_in_batfish", sees("Batfish", found))
    monkeypatch.setattr(twin, "observe_in_twin", sees("real FRR", found))
    return found


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ((), {}, []),
        (("--batfish", "somewhere:1234"), {}, [("Batfish", "somewhere:1234")]),
        (("--twin",), {}, [("real FRR", twin.TwinOptions())]),
        (("--all",), {}, [("Batfish", "127.0.0.1"), ("real FRR", twin.TwinOptions())]),
        (("--all",), {"NODROP_BATFISH": "there"}, [("Batfish", "there"), ("real FRR", twin.TwinOptions())]),
        (
            ("--all", "--batfish", "here"),
            {"NODROP_BATFISH": "there"},
            [("Batfish", "here"), ("real FRR", twin.TwinOptions())],
        ),
    ],
)
def test_who_is_asked(
    options: tuple[str, ...],
    environment: dict[str, str],
    expected: list[object],
    asked: list[object],
    two_by_two: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = nodrop("validate", *options, two_by_two)
    assert (done.code, asked) == (0, expected)
    assert ("\nvalidation\n" in done.out) == bool(expected)


def test_what_one_of_them_sees_otherwise_is_found_and_shown_side_by_side(
    two_by_two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def observe(_reading: Reading, index: Index, _service: str, **_: object) -> ValidatorObservation:
        own = compute_observation(index)
        sessions = {**own.seen["sessions"], SESSION: "down"}
        said = {("sessions", SESSION): "HALF_OPEN"}
        return replace(own, by="Batfish", seen={**own.seen, "sessions": sessions}, said=said)  # type: ignore[arg-type]

    monkeypatch.setattr(batfish, "observe_in_batfish", observe)
    done = nodrop("validate", "--batfish", "here", "--format", "json", two_by_two)
    report = json.loads(done.out)
    assert done.code == 1
    assert [(one["rule"], one["subject"], Path(one["file"]).name) for one in report["findings"]] == [
        ("session-not-seen-up", "leaf1/@neighbors/10.1.1.225", "frr.conf"),
        ("validators-disagree", "leaf1/@neighbors/10.1.1.225", "frr.conf"),
    ]
    first = report["findings"][0]
    assert first["message"] == "Batfish sees the session from leaf1 to 10.1.1.225 down: HALF_OPEN"
    (validation,) = report["validations"]
    (row,) = [row for row in validation["rows"] if row["check"] == "sessions"]
    assert row == {
        "check": "sessions",
        "items": 16,
        "columns": [
            {"validator": "nodrop", "correct": 16, "observed": 16, "not_observable": 0, "different": 0, "reasons": []},
            {"validator": "Batfish", "correct": 15, "observed": 16, "not_observable": 0, "different": 1, "reasons": []},
        ],
    }


def test_a_validator_that_cannot_be_had_is_one_sentence(two_by_two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def observe(*_: object, **__: object) -> ValidatorObservation:
        raise ServiceUnavailable("no Batfish at here:9996")

    monkeypatch.setattr(batfish, "observe_in_batfish", observe)
    done = nodrop("validate", "--batfish", "here", two_by_two)
    assert (done.code, done.out, done.err) == (2, "", "error: no Batfish at here:9996\n")


def test_the_rules_about_validators_are_judged_only_where_one_was_asked(two_by_two: Path, asked: list[object]) -> None:
    counted = [
        json.loads(nodrop(*words, "--format", "json", two_by_two).out)["summary"]["rules"]
        for words in (("validate",), ("validate", "--twin"))
    ]
    assert counted[1] - counted[0] == len([rule for rule in shipped_rules() if rule.observed])


def test_another_build_is_compared_by_batfish(
    two_by_two: Path, asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = {"port": "", "destination": "10.2.2.1", "old": "ACCEPTED", "new": "NO_ROUTE"}
    flows = (
        DifferingFlow(source="leaf1", prefix="10.2.2.0/24", lost=True, **lost),
        DifferingFlow(source="leaf2", prefix="10.2.1.0/24", lost=False, **lost),
    )

    def difference(old: Reading, new: Reading, service: str, **_: object) -> batfish.PacketDifference:
        assert (old.fabric, new.fabric, service) == (new.fabric, old.fabric, "here")
        return batfish.PacketDifference(flows=flows, notes=("compared",))

    monkeypatch.setattr(batfish, "compare_builds", difference)
    done = nodrop("validate", two_by_two, "--batfish", "here", "--against", two_by_two, "--format", "concise")
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if "packets-lost-since-build" in line]
    assert (
        "by Batfish, packets from leaf1 to 10.2.2.0/24 arrived in the previous build, but not in this one: NO_ROUTE"
        in line
    )


@pytest.mark.parametrize("words", [(), ("--twin",), ("--batfish", "here", "elsewhere")])
def test_another_build_is_compared_with_one_by_batfish_alone(words: tuple[str, ...], two_by_two: Path) -> None:
    done = nodrop("validate", two_by_two, "--against", two_by_two, *words)
    assert done.code == 2
    assert "--against compares one PATH with another build, and asks Batfish: give --batfish HOST" in done.err


def test_twin_runs_the_twin(two_by_two: Path, asked: list[object]) -> None:
    done = nodrop("twin", two_by_two)
    assert (done.code, asked) == (0, [("real FRR", twin.TwinOptions())])
    assert "real FRR" in done.out


def test_what_a_validator_saw_is_not_explained_without_it(two_by_two: Path) -> None:
    done = nodrop("explain", "session-not-seen-up", "--at", "leaf1/@neighbors/10.1.1.225", two_by_two)
    assert done.code == 2
    assert "`nodrop validate --batfish` or `--twin` shows them" in done.err


def test_an_empty_address_of_a_service_is_a_mistake(two_by_two: str) -> None:
    done = nodrop("validate", two_by_two, "--batfish", "")
    assert done.code == 2
    assert "--batfish is empty: give HOST or HOST:PORT, or leave the option out" in done.err
