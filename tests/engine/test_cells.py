"""Which items are alike for a rule: what it reads decides, parts of the model by identity, plain values by value."""

import pytest

from nodrop.engine.cells import EACH, Case, Cells, Column, columns
from nodrop.engine.scopes import SCOPES, Gap
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from support.small_fabrics import LOSSLESS, LOSSY, device, fabric, port, rule

DEVICE, PORT = 0, 1


@pytest.mark.parametrize(
    ("scope", "claim", "expected"),
    [
        ("interface", "interface.qos.pfc_watchdog.action == 'drop'", {Column(PORT, "qos", by_value=False)}),
        ("interface", "interface.mtu_bytes == 9216 and device.role",
         {Column(PORT, "mtu_bytes", by_value=True), Column(DEVICE, "role", by_value=True)}),
        ("interface", "interface.addresses", {Column(PORT, "addresses", by_value=False)}),
        ("interface", "interface.lane_mbps",
         {Column(PORT, "lanes", by_value=True), Column(PORT, "speed_mbps", by_value=True)}),
        ("interface", "interface.port.panel == 1", {Column(PORT, "port", by_value=False)}),
        ("interface", "device is known", {Column(DEVICE, "", by_value=False)}),
        ("interface", "interface is known and interface.mtu_bytes", set(EACH)),
        ("interface", "fabric.mode == 'trim'", set()),
        ("queue", "queue.wred", {Column(PORT, "qos", by_value=False)}),
        ("queue", "queue is known and interface.lanes",
         {Column(PORT, "qos", by_value=False), Column(PORT, "lanes", by_value=True)}),
        ("queue", "interface is known", set(EACH)),
        ("neighbor", "neighbor.bfd", {Column(1, "bfd", by_value=True)}),
        ("neighbor", "device is known", {Column(DEVICE, "", by_value=False)}),
        ("link", "a.mtu_bytes == b.mtu_bytes",
         {Column(1, "mtu_bytes", by_value=True), Column(2, "mtu_bytes", by_value=True)}),
        ("link", "link is known", set(EACH)),
        ("link", "device_b is known", {Column(4, "", by_value=False)}),
    ],
)  # fmt: skip
def test_columns_are_what_is_read(scope: str, claim: str, expected: set[Column]) -> None:
    made = rule(scope=scope, claim=claim)
    assert set(columns(made.scope, made.reads)) == expected
    assert made.verdict_columns == columns(made.scope, made.reads)


def test_equal_profiles_that_are_not_one_object_cost_an_evaluation_and_nothing_else() -> None:
    twin = QosProfile(trust="dscp")
    assert twin == LOSSY
    assert twin is not LOSSY
    whole = fabric(device("leaf1", port(0, qos=LOSSY), port(1, qos=twin), port(2, qos=LOSSLESS), port(3, qos=LOSSY)))
    cases = list(Cells(Index(whole)).cases(SCOPES["interface"], (Column(PORT, "qos", by_value=False),)))
    assert [list(case.places) for case in cases if isinstance(case, Case)] == [[0, 3], [1], [2]]


def test_an_empty_fabric_has_nothing_to_judge() -> None:
    cells = Cells(Index(fabric()))
    for scope in SCOPES.values():
        expected = [()] if scope.name == "fabric" else []
        assert [case.item for case in cells.cases(scope, ()) if isinstance(case, Case)] == expected
        assert not [gap for gap in cells.cases(scope, ()) if isinstance(gap, Gap)]


def test_rules_that_read_the_same_share_the_work() -> None:
    whole = fabric(device("leaf1", port(0), port(1)))
    cells, chosen = Cells(Index(whole)), (Column(PORT, "qos", by_value=False),)
    (first,) = cells.cases(SCOPES["interface"], chosen)
    (again,) = cells.cases(SCOPES["interface"], chosen)
    queues = list(cells.cases(SCOPES["queue"], chosen))
    assert isinstance(first, Case)
    assert isinstance(again, Case)
    assert again.places is first.places
    assert {id(case.places) for case in queues if isinstance(case, Case)} == {id(first.places)}
    assert [list(case.members()) for case in queues if isinstance(case, Case)] == [
        [(whole.devices[0], interface, queue) for interface in whole.devices[0].interfaces]
        for queue in LOSSLESS.queues  # type: ignore[union-attr]
    ]
