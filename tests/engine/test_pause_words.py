"""The words about pause: the queue it stops, its headroom, the DSCPs that share it, and the watchdog's times."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine.rules import shipped_rules
from nodrop.engine.vocabulary import qos, sides, watchdog
from nodrop.model.buffers import HeadroomRow
from nodrop.model.fabric import Fabric, Purpose, TrafficClass
from nodrop.model.qos import PfcWatchdog, PriorityGroup
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact
from nodrop.model.timeouts import QP_RETRANSMIT_TIMEOUT_MS, QP_RETRIES
from support.small_fabrics import LOSSLESS, LOSSY, fabric

MAPPED = replace(
    LOSSLESS,
    tc_to_queue=(*range(8), *[None] * 8),
    tc_to_priority_group=(0, 0, 0, 3, 0, 0, 0, 0, *[None] * 8),
)


def with_classes(*classes: tuple[Purpose, tuple[int, ...], bool | Unknown]) -> Fabric:
    return fabric(
        classes=tuple(
            TrafficClass(name=purpose, purpose=purpose, dscp=dscp, tc=UNKNOWN, lossless=lossless)
            for purpose, dscp, lossless in classes
        )
    )


def mapped(**tcs: int) -> object:
    """DSCPs (`d27`) in other traffic classes than by the profile's map."""
    table = list(MAPPED.dscp_to_tc)
    for name, tc in tcs.items():
        table[int(name[1:])] = tc
    return replace(MAPPED, dscp_to_tc=tuple(table))


def test_pause_stops_the_queue_of_its_traffic() -> None:
    assert sides.misplaced_pause(MAPPED) == ""
    assert sides.misplaced_pause(LOSSY) == ""
    assert sides.misplaced_pause(replace(MAPPED, pfc_to_queue=(0, 1, 2, 3, 4, 5, 6, 7))) == ""
    assert sides.misplaced_pause(replace(MAPPED, pfc_to_queue=(0, 1, 2, 4, 4, 5, 6, 7))) == (
        "priority group 3 pauses priority 3, which stops queue 4, but traffic class 3 uses queue 3"
    )
    nowhere = replace(MAPPED, pfc_to_queue=(None,) * 8)
    assert "stops no queue" in sides.misplaced_pause(nowhere)


def test_pause_is_for_the_group_of_its_traffic() -> None:
    elsewhere = replace(MAPPED, tc_to_priority_group=(*[0] * 8, *[None] * 8))
    assert sides.misplaced_pause(elsewhere) == (
        "priority group 3 pauses priority 3, which stops queue 3, but traffic class 3 enters group 0"
    )
    for_another = replace(MAPPED, pfc_to_priority_group=(None, None, None, 4, None, None, None, None))
    assert sides.misplaced_tcs(for_another) == (3,)
    assert sides.group_pauses_nothing(for_another, 3) is False
    for_none = replace(MAPPED, pfc_to_priority_group=(None,) * 8)
    assert sides.misplaced_tcs(for_none) == ()
    assert sides.group_pauses_nothing(for_none, 3) is True
    assert sides.misplaced_tcs(mapped(d26=1)) == ()


def test_pause_for_another_priority_than_the_groups_number() -> None:
    groups = (None, None, None, None, 3, None, None, None)
    other = replace(MAPPED, pfc_rx_priorities=(4,), pfc_tx_priorities=(4,), pfc_to_priority_group=groups)
    assert "priority group 3 pauses priority 4, which stops queue 4" in sides.misplaced_pause(other)
    assert sides.misplaced_tcs(other) == (3,)
    assert sides.misplaced_tcs(replace(other, pfc_to_queue=(0, 1, 2, 3, 3, 5, 6, 7))) == ()


def test_a_class_that_shares_a_group_is_not_misplaced() -> None:
    shared = replace(mapped(d10=2), tc_to_priority_group=(0, 0, 3, 3, *[0] * 4, *[None] * 8))
    assert sides.misplaced_pause(shared) == ""


def test_groups_that_pause_without_headroom() -> None:
    assert sides.groups_without_headroom(MAPPED) == ()
    assert sides.groups_without_headroom(replace(MAPPED, priority_groups=())) == (3,)
    assert sides.groups_without_headroom(replace(MAPPED, priority_groups=MAPPED.priority_groups[:1])) == (3,)
    lossy = (PriorityGroup(index=3, buffer=MAPPED.priority_groups[0].buffer),)
    assert sides.groups_without_headroom(replace(MAPPED, priority_groups=lossy)) == (3,)
    unused = replace(mapped(d26=0), priority_groups=())
    assert sides.groups_without_headroom(unused) == ()
    assert sides.groups_without_headroom(replace(unused, pcp_to_tc=(0, 0, 0, 3, 0, 0, 0, 0))) == (3,)
    with pytest.raises(UnknownFact, match=r"priority_group\.buffer"):
        sides.groups_without_headroom(replace(MAPPED, priority_groups=(PriorityGroup(index=3, buffer=UNKNOWN),)))


def test_headroom_without_pause_is_left_to_its_own_rule() -> None:
    classes = with_classes(("rdma", (26,), True))
    silent = replace(MAPPED, pfc_rx_priorities=(), pfc_tx_priorities=())
    assert sides.group_pauses_nothing(MAPPED, 3) is False
    assert sides.group_pauses_nothing(silent, 3) is True
    assert qos.lossy_rdma_dscps(classes, MAPPED) == ()
    assert qos.lossy_rdma_dscps(classes, silent) == ()
    assert qos.lossy_rdma_dscps(classes, replace(silent, priority_groups=())) == (26,)
    assert qos.lossy_rdma_dscps(classes, replace(silent, priority_groups=UNKNOWN)) == (26,)
    assert qos.lossy_rdma_dscps(classes, None) == (26,)


OWN = (HeadroomRow(400_000, 7, 1248, 2288, 53248),)


@pytest.mark.parametrize(
    ("arguments", "lacks"),
    [
        (("traditional", "SN4700", None, UNKNOWN, 400_000, 7), True),
        (("traditional", "SN4700", None, UNKNOWN, 400_000, 40), False),
        (("traditional", "SN4700", None, UNKNOWN, 400_000, 1500), True),
        (("traditional", "SN4700", "Mellanox-SN4700-O32", UNKNOWN, 400_000, 1500), False),
        (("traditional", "SN4700", UNKNOWN, UNKNOWN, 400_000, 7), False),
        (("dynamic", "SN4700", None, UNKNOWN, 400_000, 7), False),
        (("traditional", "another", None, UNKNOWN, 400_000, 7), False),
        (("traditional", UNKNOWN, None, UNKNOWN, 400_000, 7), False),
        (("traditional", "SN4700", None, UNKNOWN, 400_000, None), False),
        (("traditional", "SN4700", None, OWN, 400_000, 7), False),
        (("traditional", "SN4700", None, OWN, 400_000, 40), True),
        (("traditional", UNKNOWN, None, OWN, 400_000, 40), True),
        (("traditional", "SN4700", None, (), 400_000, 40), True),
    ],
)
def test_a_table_without_the_row(arguments: tuple[Any, ...], lacks: bool) -> None:
    assert sides.writes_no_headroom_without_row(*arguments) is lacks


def test_dscps_that_belong_to_no_lossless_class() -> None:
    rdma = ("rdma", (26,), True)
    assert sides.unintended_lossless_dscps(with_classes(rdma), MAPPED) == ()
    assert sides.unintended_lossless_dscps(with_classes(rdma), mapped(d24=3, d27=3)) == (24, 27)
    assert sides.unintended_lossless_dscps(with_classes(rdma, ("default", (27,), False)), mapped(d27=3)) == (27,)
    assert sides.unintended_lossless_dscps(with_classes(rdma, ("storage", (27,), True)), mapped(d27=3)) == ()
    for purpose in ("cnp", "storage", "inband", "control"):
        assert sides.unintended_lossless_dscps(with_classes(rdma, (purpose, (27,), False)), mapped(d27=3)) == (), (
            purpose
        )


def test_where_no_intended_dscp_is_lossless_others_do_not_share_its_class() -> None:
    """SONiC's stock map: DSCP 3 is lossless and 26 is not, which is told of 26."""
    assert sides.unintended_lossless_dscps(with_classes(("rdma", (26,), True)), mapped(d3=3, d26=1)) == ()


def test_a_class_beside_lossless_storage_is_told() -> None:
    classes = with_classes(("storage", (26,), True), ("inband", (27,), False))
    assert sides.unintended_lossless_dscps(classes, mapped(d27=3)) == (27,)


@pytest.mark.parametrize(
    ("detection", "restoration", "polling", "said"),
    [
        (4193, None, 100, ""),
        (4194, None, 100, "acts after up to 4294 ms; expected before QPs time out, at 4294 ms"),
        (4293, None, None, ""),
        (4294, None, None, "acts after up to 4294 ms; expected before QPs time out, at 4294 ms"),
        (200, 34051, 100, ""),
        (200, 34052, 100, "drops for up to 34352 ms; expected to end before QPs give up, at 34352 ms"),
        (None, 60000, 100, ""),
    ],
)
def test_watchdogs_that_take_longer_than_rdma_waits(
    detection: int | None, restoration: int | None, polling: int | None, said: str
) -> None:
    timers = PfcWatchdog(priorities=(3,), detection_ms=detection, restoration_ms=restoration, action="drop")
    assert watchdog.exceeded_rdma_timeout(timers, polling, QP_RETRANSMIT_TIMEOUT_MS, QP_RETRIES) == said


def test_the_rule_waits_as_long_as_the_design() -> None:
    (rule,) = [one for one in shipped_rules() if one.name == "watchdog-slower-than-rdma-timeout"]
    assert [(one.name, one.default) for one in rule.options] == [
        ("timeout_ms", QP_RETRANSMIT_TIMEOUT_MS),
        ("retries", QP_RETRIES),
    ]


@pytest.mark.parametrize(
    ("priorities", "too_many"),
    [((3,), False), ((3, 4), False), ((3, 4, 5), True), ((2, 3, 4, 6), False), ((1, 2, 3, 4, 6), True)],
)
def test_two_lossless_classes_are_the_most_but_for_what_bounces(priorities: tuple[int, ...], too_many: bool) -> None:
    assert qos.too_many_paused(replace(LOSSLESS, pfc_rx_priorities=priorities, pfc_tx_priorities=())) is too_many
    assert qos.paused_priorities(replace(LOSSLESS, pfc_rx_priorities=priorities, pfc_tx_priorities=(3,))) == priorities
    assert qos.paused_priorities(None) == ()


@pytest.mark.parametrize(
    ("platform", "detection_ms", "acts_ms"),
    [("sonic", 400, 400), ("sonic", 401, 600), ("sonic", 399, 399), ("nvue", 401, 401), ("onyx", 401, 401)],
)
def test_a_detection_time_is_rounded_up_to_pollings_where_ports_have_their_own(
    platform: str, detection_ms: int, acts_ms: int
) -> None:
    timers = PfcWatchdog(priorities=(3,), detection_ms=detection_ms, restoration_ms=800, action="drop")
    assert watchdog.acts_after_ms(platform, 200, timers) == acts_ms
