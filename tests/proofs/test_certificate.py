"""Certificates: they fit their schema, are sealed, and hold the premises that the graph was made of."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clos import two_tier
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.proofs.certificate import build_certificate, seal_digest
from nodrop.proofs.deadlock import check_deadlock
from nodrop.proofs.invariants import check_any_failure_conditions
from nodrop.routing import compute_control_plane
from nodrop.schemas import json_schema
from support.lossless_fabrics import links_between, lossless, ring


def certificate(fabric: Fabric, failed: str = "") -> dict[str, Any]:
    ends = links_between(fabric, failed)
    check = check_deadlock(compute_control_plane(Index(fabric), ends))
    document = build_certificate(
        check, check_any_failure_conditions(check.traffic.forwarding), [("a.json", "0" * 32)], ends
    )
    found: dict[str, Any] = json.loads(json.dumps(document))
    Draft202012Validator(json_schema("certificate")).validate(found)
    return found


def test_a_fabric_without_circles() -> None:
    found = certificate(lossless(two_tier(2, 2)))
    assert (found["claim"], found["failures"], found["failed"]) == ("deadlock-free", "any", [])
    assert found["witness"]["levels"] == {"l1": 0, "l2": 0, "s1": 1, "s2": 1}
    assert found["witness"]["cycle"] == []
    premises = found["premises"]
    assert premises["channels"][0] == ["l1", "e0", "s1", "e0", 0, 0]
    assert premises["destinations"] == [["10.128.0.0/24"], ["10.128.1.0/24"]]
    assert premises["sets"][premises["ends"]["l1"]] == [[0, 0]]
    up, down = premises["next_hops"]["l1"][0], premises["next_hops"]["s1"]
    assert (premises["sets"][up["to"]], up["over"]) == ([[0, 1]], [0, 1])
    assert [(premises["sets"][row["to"]], premises["channels"][row["over"][0]][2]) for row in down] == [
        ([[0, 0]], "l1"), ([[1, 1]], "l2"),
    ]  # fmt: skip
    assert sorted(position for *_, position in found["witness"]["positions"]) == [0] * 4 + [1] * 4


def test_a_circle_after_failures() -> None:
    fabric = lossless(two_tier(4, 2, shared=False, filtered=False))
    found = certificate(fabric, "l1-s1 l2-s2")
    assert (found["claim"], found["failures"]) == ("deadlock-possible", "listed")
    assert found["failed"] == [["l1", "e0"], ["l2", "e1"], ["s1", "e0"], ["s2", "e1"]]
    channels = found["premises"]["channels"]
    cycle = found["witness"]["cycle"]
    assert [channels[hop["channel"]][2] for hop in cycle] == ["l3", "s2", "l4", "s1"]
    assert [hop["source"] for hop in cycle] == ["l2", "l3", "l1", "l4"]
    assert {(hop["group"], hop["dscp"], hop["source_dscp"]) for hop in cycle} == {(3, 26, 26)}


@pytest.mark.parametrize("fabric", [ring(5), lossless(two_tier(2, 2))], ids=["circle", "none"])
def test_the_seal_is_of_all_but_itself(fabric: Fabric) -> None:
    found = certificate(fabric)
    assert found["seal"] == seal_digest(found) == seal_digest({**found, "seal": ""})
    assert seal_digest({**found, "fabric": "other"}) != found["seal"]


def test_a_steady_circle_needs_no_failure() -> None:
    found = certificate(ring(5))
    assert (found["claim"], found["failures"], found["failed"]) == ("deadlock-possible", "listed", [])
    assert "No port to hosts is known" in found["assumptions"][-1]
