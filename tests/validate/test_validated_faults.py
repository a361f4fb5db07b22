"""Every single fault of routing is caught by every validator, or it is named with the reason why it is not."""

from collections.abc import Sequence

from fault_columns import COLUMNS, caught_by, caught_here, reading_of, table, unseen, written

from routing_faults import FAULTS


def compare(column: str, found: Sequence[list[str]], *, update: bool) -> None:
    if update:
        written(column, found)
    rows = table()
    assert list(rows) == [fault.says for fault in FAULTS]
    assert {says: row[column] for says, row in rows.items()} == dict(zip(rows, found, strict=True))


def test_the_rules_that_need_no_other_validator(update_golden: bool) -> None:
    compare("nodrop", [caught_here(fault) for fault in FAULTS], update=update_golden)


def test_what_is_not_caught_is_named_with_its_reason() -> None:
    missed = {(says, column) for says, row in table().items() for column in COLUMNS if not row[column]}
    assert missed == set(unseen())
    assert all(len(reason) > 20 for reason in unseen().values())


WORKS_AS_SAID = {
    "a port's subnet is longer than that of the other end": "both ends still are in the other's subnet",
    "the out-of-band network is announced": "a route more, which nothing lacks",
    "a leaf takes paths with its own AS number": "no path has it until something fails",
    "spines take paths with their own AS number": "no path has it until something fails",
    "a leaf announces its links": "routes more, which nothing lacks",
    "a spine was left drained": "it asks to be routed around, and is",
    "spines have AS numbers of their own, and leaves pass on what they hear": "a longer way after failures is a way",
    "both ends of a link have a smaller MTU than the hosts": "the largest packet of its ends crosses",
}
"""Faults with which everything that the checks ask is as it should be."""


def test_of_a_validator_that_sees_what_nodrop_computes_all_else_is_told() -> None:
    silent = {fault.says for fault in FAULTS if not caught_by(reading_of(fault), lambda _, own: own)}
    assert silent == set(WORKS_AS_SAID)
