"""Every single fault of routing is caught by every validator, or it is named with the reason why it is not."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.routing.observation import OBSERVATION_CHECKS, ValidatorObservation
from nodrop.validating import batfish, compute_observation, twin
from support.fault_columns import DIFFER, Observe, caught_by, caught_here, explained, reading_of, table, written
from support.routing_faults import FAULTS
from support.twin_runs import needed

SERVICE = os.environ.get("NODROP_BATFISH", "")
AT_ONCE = 3
"""So many faults are tried at a time: a twin of four switches waits more than it works."""


def compare(column: str, found: Sequence[list[str]], *, update: bool) -> None:
    if update:
        written(column, found)
    rows = table()
    assert list(rows) == [fault.says for fault in FAULTS]
    assert {says: row[column] for says, row in rows.items()} == dict(zip(rows, found, strict=True))


def test_the_rules_that_need_no_other_validator(update_golden: bool) -> None:
    compare("nodrop", [caught_here(fault) for fault in FAULTS], update=update_golden)


def test_what_is_not_caught_is_named_with_its_reason() -> None:
    rows = [(says, column, rules) for says, row in table().items() for column, rules in row.items()]
    assert {(says, column) for says, column, rules in rows if not rules} == set(explained("missed"))
    assert {(says, column) for says, column, rules in rows if DIFFER in rules} == set(explained("differs"))
    assert all(len(reason) > 20 for kind in ("missed", "differs") for reason in explained(kind).values())


def every_fault(observe: Observe) -> list[list[str]]:
    """What catches each of them, several tried at a time."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(lambda fault: caught_by(reading_of(fault), observe), FAULTS))


@pytest.mark.slow
def test_what_real_daemons_show(update_golden: bool) -> None:
    needed()

    def observe(reading: Reading, index: Index) -> ValidatorObservation:
        """Look and send packets; to let something fail beside the fault shows no more of it, and takes minutes."""
        found = twin.observe_in_twin(reading, index, options=options, progress=lambda _: None)
        left = {check: {(): "not tried beside a fault"} for check in OBSERVATION_CHECKS[-2:]}
        return replace(found, unseen={**found.unseen, **left})

    options = twin.TwinOptions()
    options = replace(options, checks=options.checks - {*OBSERVATION_CHECKS[-2:]})

    compare("real FRR", every_fault(observe), update=update_golden)


@pytest.mark.batfish_live
@pytest.mark.skipif(not SERVICE, reason="NODROP_BATFISH=HOST[:PORT] names no Batfish service")
def test_what_batfish_shows(update_golden: bool) -> None:
    found = every_fault(lambda reading, index: batfish.observe_in_batfish(reading, index, SERVICE))
    compare("Batfish", found, update=update_golden)


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
    silent = {
        fault.says for fault in FAULTS if not caught_by(reading_of(fault), lambda _, index: compute_observation(index))
    }
    assert silent == set(WORKS_AS_SAID)
