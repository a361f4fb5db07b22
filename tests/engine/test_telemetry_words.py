"""Words about what a switch counts."""

import pytest

from nodrop.engine.vocabulary.telemetry import counters_with_group_on, ecn_mark_counter_group, is_counter_group_on
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
    assert ecn_mark_counter_group(switch(platform, version)) == group


def test_it_takes_the_release_to_know() -> None:
    with pytest.raises(UnknownFact, match="version"):
        ecn_mark_counter_group(switch("sonic", UNKNOWN))


def test_a_group_that_is_off_by_default_has_to_be_on() -> None:
    off = (Counter(group=QUEUE, enabled=False, interval_ms=5000),)
    assert (is_counter_group_on((), QUEUE), is_counter_group_on(off, QUEUE)) == (False, False)
    assert counters_with_group_on(off, QUEUE) == (Counter(group=QUEUE, enabled=True, interval_ms=5000),)
    others = (Counter(group="PORT", enabled=True), Counter(group="Z", enabled=True))
    assert counters_with_group_on(others, QUEUE) == (others[0], Counter(group=QUEUE, enabled=True), others[1])
