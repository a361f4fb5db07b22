"""A real Batfish service, asked of everything that is built today: `make batfish-live NODROP_BATFISH=HOST[:PORT]`."""

import os

import pytest

import nodrop
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.resources import resource_folder
from nodrop.routing.observation import OBSERVATION_CHECKS
from nodrop.validating import compute_observation
from nodrop.validating.batfish import compare_builds, observe_in_batfish
from support.batfish_frozen import shown
from support.batfish_recording import record
from support.designs import build, shipped
from support.routing_faults import FAULTS, Fault, edited

SERVICE = os.environ.get("NODROP_BATFISH", "")
RECORD = os.environ.get("NODROP_BATFISH_RECORD", "")
INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))

pytestmark = [
    pytest.mark.batfish_live,
    pytest.mark.skipif(not SERVICE, reason="NODROP_BATFISH=HOST[:PORT] names no Batfish service"),
]


def _agrees(reading: Reading) -> str:
    """What is seen otherwise than computed, or neither seen nor explained; empty where nothing is.

    A device of which a line is refused that matters is taken in part, and that is no difference.
    """
    index = Index(reading.fabric)
    there, seen = compute_observation(index), observe_in_batfish(reading, index, SERVICE)
    harmed = {(one.device,): "in part" for one in seen.refused if one.matters}
    wrong = []
    for check in OBSERVATION_CHECKS:
        found = seen.seen.get(check, {})
        for item, value in there.seen.get(check, {}).items():
            wanted = harmed.get(item, value) if check == "configuration" else value
            if not seen.reason_unseen(check, item) and found.get(item) != wanted:
                wrong.append(f"{check} {item}")
    return shown(seen, there) if wrong else ""


@pytest.mark.parametrize("name", INTENTS)
def test_batfish_sees_what_is_computed_of_every_intent(name: str) -> None:
    fabric = build(shipped(name))
    reading = nodrop.read_back(tuple(nodrop.write(fabric)), fabric)
    assert _agrees(reading) == ""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.says.replace(" ", "-"))
def test_batfish_sees_what_is_computed_of_every_fault_of_routing(fault: Fault) -> None:
    fabric, artifacts = edited(fault)
    assert _agrees(nodrop.read_back(artifacts, fabric)) == ""


def test_two_builds_of_one_intent_lose_nothing() -> None:
    fabric = build(shipped("two-by-two"))
    other = build(shipped("two-by-two", {"topology.spines.platform": "nvue", "topology.spines.version": "5.16"}))
    old, new = (nodrop.read_back(tuple(nodrop.write(one)), one) for one in (fabric, other))
    found = compare_builds(old, new, SERVICE)
    assert found.flows == ()


@pytest.mark.skipif(not RECORD, reason="RECORD=1 records anew what is stale, RECORD=all everything")
def test_recordings_are_made_anew() -> None:
    print("recorded anew:", ", ".join(record(SERVICE, everything=RECORD == "all")) or "nothing")
