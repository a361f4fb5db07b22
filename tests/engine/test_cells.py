"""Which items are alike for a rule: what it reads decides, parts of the model by identity, plain values by value."""

from dataclasses import fields

import pytest

from nodrop.engine.cells import EACH_ITEM_ALONE, GroupingColumn, ItemGroup, ItemGroups, grouping_columns
from nodrop.engine.names_read import find_attribute_names_used_by_code
from nodrop.engine.scopes import SCOPES, UnknownItems
from nodrop.engine.vocabulary import vocabulary
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from support.small_fabrics import LOSSLESS, LOSSY, device, fabric, port, rule

DEVICE, PORT = 0, 1


@pytest.mark.parametrize(
    ("scope", "claim", "expected"),
    [
        ("interface", "interface.qos.pfc_watchdog.action == 'drop'", {GroupingColumn(PORT, "qos", by_value=False)}),
        ("interface", "interface.mtu_bytes == 9216 and device.role",
         {GroupingColumn(PORT, "mtu_bytes", by_value=True), GroupingColumn(DEVICE, "role", by_value=True)}),
        ("interface", "interface.addresses", {GroupingColumn(PORT, "addresses", by_value=False)}),
        ("interface", "interface.lane_mbps",
         {GroupingColumn(PORT, "lanes", by_value=True), GroupingColumn(PORT, "speed_mbps", by_value=True)}),
        ("interface", "interface.port.panel == 1", {GroupingColumn(PORT, "port", by_value=False)}),
        ("interface", "device is known", {GroupingColumn(DEVICE, "", by_value=False)}),
        ("interface", "interface is known and interface.mtu_bytes", set(EACH_ITEM_ALONE)),
        ("interface", "fabric.mode == 'trim'", set()),
        ("queue", "queue.wred", {GroupingColumn(PORT, "qos", by_value=False)}),
        ("queue", "queue is known and interface.lanes",
         {GroupingColumn(PORT, "qos", by_value=False), GroupingColumn(PORT, "lanes", by_value=True)}),
        ("queue", "interface is known", set(EACH_ITEM_ALONE)),
        ("neighbor", "neighbor.bfd", {GroupingColumn(1, "bfd", by_value=True)}),
        ("neighbor", "device is known", {GroupingColumn(DEVICE, "", by_value=False)}),
        ("link", "a.mtu_bytes == b.mtu_bytes",
         {GroupingColumn(1, "mtu_bytes", by_value=True), GroupingColumn(2, "mtu_bytes", by_value=True)}),
        ("link", "link is known", set(EACH_ITEM_ALONE)),
        ("link", "device_b is known", {GroupingColumn(4, "", by_value=False)}),
    ],
)  # fmt: skip
def test_columns_are_what_is_read(scope: str, claim: str, expected: set[GroupingColumn]) -> None:
    made = rule(scope=scope, claim=claim)
    assert set(grouping_columns(made.scope, made.deciding_paths)) == expected
    assert made.verdict_columns == grouping_columns(made.scope, made.deciding_paths)


def test_columns_of_a_part_given_to_a_word_are_the_fields_that_the_word_reads() -> None:
    made = rule(scope="queue", claim="depth_when_all_senders_pause_bytes(device, interface, queue) is none")
    pause_fields = {("buffer_model", True), ("buffer_pools", False), ("interfaces", False), ("model", True)}
    expected = {GroupingColumn(DEVICE, name, by_value=by_value) for name, by_value in pause_fields}
    expected |= {GroupingColumn(PORT, "enabled", by_value=True), GroupingColumn(PORT, "qos", by_value=False)}
    assert set(made.verdict_columns) == expected
    assert ("interface",) in made.read_paths_and_subtrees[1]  # a finding still rests on all that the word is given


def test_a_word_reads_no_field_of_a_part_but_those_that_it_declares() -> None:
    words = [word for word in vocabulary().values() if word.fields_read]
    assert words
    for word in words:
        types = dict(word.parameters)
        for name, declared in word.fields_read.items():
            (owner,) = types[name].owners
            every = {field.name for field in fields(owner)} - {"name"}  # pools and groups have names too
            read = find_attribute_names_used_by_code(word.function) & every
            others = {other for part, names in word.fields_read.items() if part != name for other in names}
            assert read <= {*declared, *others} | _READ_OF_OTHER_PARTS, word.name


_READ_OF_OTHER_PARTS = {"lanes"}
"""Names of fields that words read of chips and models, and not of the parts that they are given."""


def test_equal_profiles_that_are_not_one_object_cost_an_evaluation_and_nothing_else() -> None:
    twin = QosProfile(trust="dscp")
    assert twin == LOSSY
    assert twin is not LOSSY
    whole = fabric(device("leaf1", port(0, qos=LOSSY), port(1, qos=twin), port(2, qos=LOSSLESS), port(3, qos=LOSSY)))
    cases = list(
        ItemGroups(Index(whole)).groups_of_scope_items(
            SCOPES["interface"], (GroupingColumn(PORT, "qos", by_value=False),)
        )
    )
    assert [list(case.places) for case in cases if isinstance(case, ItemGroup)] == [[0, 3], [1], [2]]


def test_an_empty_fabric_has_nothing_to_judge() -> None:
    cells = ItemGroups(Index(fabric()))
    for scope in SCOPES.values():
        expected = [()] if scope.name == "fabric" else []
        assert [case.item for case in cells.groups_of_scope_items(scope, ()) if isinstance(case, ItemGroup)] == expected
        assert not [gap for gap in cells.groups_of_scope_items(scope, ()) if isinstance(gap, UnknownItems)]


def test_rules_that_read_the_same_share_the_work() -> None:
    whole = fabric(device("leaf1", port(0), port(1)))
    cells, chosen = ItemGroups(Index(whole)), (GroupingColumn(PORT, "qos", by_value=False),)
    (first,) = cells.groups_of_scope_items(SCOPES["interface"], chosen)
    (again,) = cells.groups_of_scope_items(SCOPES["interface"], chosen)
    queues = list(cells.groups_of_scope_items(SCOPES["queue"], chosen))
    assert isinstance(first, ItemGroup)
    assert isinstance(again, ItemGroup)
    assert again.places is first.places
    assert {id(case.places) for case in queues if isinstance(case, ItemGroup)} == {id(first.places)}
    assert [list(case.members()) for case in queues if isinstance(case, ItemGroup)] == [
        [(whole.devices[0], interface, queue) for interface in whole.devices[0].interfaces]
        for queue in LOSSLESS.queues  # type: ignore[union-attr]
    ]
