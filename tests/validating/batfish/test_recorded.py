"""Frozen configurations, judged by what a real Batfish service answered of them: the whole way, without a network."""

import socket
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.routing.observation import OBSERVATION_CHECKS, ValidatorObservation
from nodrop.validating import compute_observation
from nodrop.validating.batfish import compare_builds, observe_in_batfish
from support.batfish_frozen import CASES, HERE, Fault, faults, faulty, read, shown
from support.batfish_recording import AGAINST, ANSWERS, REPAIRED
from support.batfish_recordings import Recording, Stale, parameters, replayed

pytest.importorskip("pybatfish")

FAULTS = faults()
NOWHERE = "nowhere.invalid"
"""Where the service would be."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a test without a service opens a connection")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@cache
def sound(name: str) -> Reading:
    """A frozen case as it is."""
    return read(HERE / name)


def seen(name: str, reading: Reading) -> tuple[ValidatorObservation, ValidatorObservation]:
    """What Batfish sees, and what is computed."""
    index = Index(reading.fabric)
    with replayed(ANSWERS / f"{name}.json"):
        return observe_in_batfish(reading, index, NOWHERE), compute_observation(index)


def compare(name: str, text: str, update: bool) -> None:
    path = ANSWERS / f"{name}.txt"
    if update:
        path.write_text(text)
    assert path.read_text() == text


@pytest.mark.parametrize("name", CASES)
def test_batfish_sees_a_sound_fabric_as_it_is_computed(name: str, update_golden: bool) -> None:
    observation, there = seen(name, sound(name))
    for check in OBSERVATION_CHECKS:
        found = observation.seen.get(check, {})
        for item, value in there.seen[check].items():
            assert found.get(item, value) == value, (check, item)
            assert (item in found) != bool(observation.reason_unseen(check, item)), (check, item)
    assert [one for one in observation.refused if one.matters] == []
    compare(name, shown(observation, there), update_golden)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_batfish_sees_of_a_fault(fault: Fault, tmp_path: Path, update_golden: bool) -> None:
    observation, there = seen(fault.name, faulty(fault, tmp_path))
    before, _ = seen(fault.of, sound(fault.of))
    compare(fault.name, shown(observation, there, before), update_golden)


def _by_name(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("filter", [("leaf1", "10.2.2.0/24", "NO_ROUTE"), ("leaf2", "10.2.1.0/24", "NO_ROUTE")]),
        ("static-loop", [("leaf1", "10.2.2.0/24", "LOOP")]),
    ],
)
def test_what_a_build_loses_against_the_one_before(name: str, lost: list[tuple[str, str, str]], tmp_path: Path) -> None:
    with replayed(ANSWERS / f"{name}-against.json"):
        found = compare_builds(sound("two-by-two"), faulty(_by_name(name), tmp_path), NOWHERE)
    assert [(one.source, one.prefix, one.new) for one in found.flows] == lost
    assert {(one.port, one.lost, one.old) for one in found.flows} <= {("", True, "ACCEPTED")}


def test_what_a_build_gains_is_told_apart_from_what_it_loses(tmp_path: Path) -> None:
    with replayed(ANSWERS / "filter-repaired.json"):
        found = compare_builds(faulty(_by_name("filter"), tmp_path), sound("two-by-two"), NOWHERE)
    assert [(one.source, one.prefix, one.old, one.lost) for one in found.flows] == [
        ("leaf1", "10.2.2.0/24", "NO_ROUTE", False),
        ("leaf2", "10.2.1.0/24", "NO_ROUTE", False),
    ]


def test_other_configurations_than_the_recorded_have_no_answers(tmp_path: Path) -> None:
    change = Fault("changed", "two-by-two", (("spine1/frr.conf", "maximum-paths 32", "maximum-paths 64"),))
    with pytest.raises(
        Stale, match=r"two-by-two\.json was recorded for other files than sonic_configs/spine1/frr\.conf;"
    ):
        seen("two-by-two", faulty(change, tmp_path))


def test_other_questions_than_the_recorded_have_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.validating.batfish.failures.MAX_SHOWN_PACKET_PATHS", 5)
    with pytest.raises(Stale, match=r'has no answer to .*"maxTraces": 5'):
        seen("two-by-two", sound("two-by-two"))


def test_another_failure_than_the_recorded_has_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = sound("two-by-two")
    index = Index(reading.fabric)
    monkeypatch.setitem(compute_observation(index).seen["failures"], ("@fabric", "failures", "spine2"), frozenset())  # type: ignore[arg-type]
    with replayed(ANSWERS / "two-by-two.json"), pytest.raises(Stale, match="without spine2"):
        observe_in_batfish(reading, index, NOWHERE)


def test_recordings_hold_nothing_that_nobody_asks() -> None:
    recordings = [Recording.read(path) for path in sorted(ANSWERS.glob("*.json"))]
    asked = {answer["question"] for one in recordings for answer in one.answers.values()}
    assert asked == parameters().keys()
    names = {one.path.stem for one in recordings}
    assert names == {*CASES, *(fault.name for fault in FAULTS), *AGAINST, *REPAIRED}


def test_recordings_stay_small() -> None:
    assert (
        sum(path.stat().st_size for path in HERE.rglob("*") if path.suffix in (".json", ".txt", ".yaml", ".conf"))
        < 1_500_000
    )
