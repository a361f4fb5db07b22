"""The classes of single failures are found in time linear in the failures, also where ports differ."""

from array import array
from types import SimpleNamespace
from typing import Any

from nodrop.proofs import failures
from nodrop.proofs.failures import FailureUnit
from support.processor_time import processor_seconds, slowness


def test_ports_are_compared_once_for_all_failures() -> None:
    """20,000 failures of a million ports: five minutes, if each failure compared the ports again."""
    left, entered = array("i", bytes(2_000_000)), array("i", bytes(2_000_000))
    entered[-1] = 1
    search: Any = object.__new__(failures._FailureSearch)
    search.every = [FailureUnit(f"cable {number}", 1, frozenset()) for number in range(20_000)]
    found: list[list[FailureUnit]] = []
    search._alike = SimpleNamespace(has_classes=False)
    traffic = SimpleNamespace(left=left, entered=entered, tunnels=(), floods=SimpleNamespace(all=()))
    search._check = SimpleNamespace(traffic=traffic)
    assert processor_seconds(lambda: found.extend(search._find_failure_classes())) < 5 * slowness()
    assert found == [[one] for one in search.every]
