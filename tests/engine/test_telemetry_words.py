"""Words about what a switch counts."""

import pytest

from nodrop.engine.vocabulary.telemetry import counted_too, counts, mark_counters
from nodrop.model.fabric import Counter, Device
from nodrop.model.states import UNKNOWN, UnknownFact

QUEUE = "WRED_ECN_QUEUE"


def switch(platform: str, version: object) -> Device:
    return Device(name="a", platform=platform, version=version)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("platform", "version", "group"),
    [
        ("sonic", "202411", ""),
        ("sonic", "202505", QUEUE),
        ("sonic", "202611", QUEUE),
        ("nvue", "5.14", ""),
        ("nvue", UNKNOWN, ""),
        ("cumulus", UNKNOWN, ""),
        ("onyx", None, ""),
        ("nclu", UNKNOWN, ""),
    ],
)
def test_sonic_alone_counts_marks_by_a_group_and_since_202505(platform: str, version: object, group: str) -> None:
    assert mark_counters(switch(platform, version)) == group


def test_it_takes_the_release_to_know() -> None:
    with pytest.raises(UnknownFact, match="version"):
        mark_counters(switch("sonic", UNKNOWN))


def test_a_group_that_is_off_by_default_has_to_be_on() -> None:
    off = (Counter(group=QUEUE, enabled=False, interval_ms=5000),)
    assert (counts((), QUEUE), counts(off, QUEUE)) == (False, False)
    assert counted_too(off, QUEUE) == (Counter(group=QUEUE, enabled=True, interval_ms=5000),)
    others = (Counter(group="PORT", enabled=True), Counter(group="Z", enabled=True))
    assert counted_too(others, QUEUE) == (others[0], Counter(group=QUEUE, enabled=True), others[1])
