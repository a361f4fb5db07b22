"""Where the changes of fixes come from: parts of a value, sound siblings, and words for what a part ought to be."""

from dataclasses import replace

import pytest

from nodrop.engine.finding import Finding
from nodrop.engine.remedies import changes_making_part, part_changes_between
from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.buffers import BufferProfile
from nodrop.model.change import Change
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.qos import Scheduler, WredColor
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from support.single_faults import clean


def fabric(**changes: object) -> Fabric:
    """Two-by-two with changes, `/` in their names written as `__` and `@` as `AT`."""
    made = clean("two-by-two", "sonic", "202505", "{}")
    for subject, value in changes.items():
        made = set_value(made, parse_subject(subject.replace("__", "/").replace("AT", "@")), value)
    return made


def found(rule: str, of: Fabric) -> list[Finding]:
    rules = [one for one in shipped_rules() if one.name == rule]
    return list(judge(Reading(fabric=of), rules, strictness="auditor").findings)


def changes(rule: str, of: Fabric) -> list[tuple[str, object, object]]:
    return [
        ("/".join(each.subject), each.old, each.new)
        for one in found(rule, of)
        for each in (one.fix.changes if one.fix else ())
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (WredColor(min_bytes=1), WredColor(min_bytes=2), [(("min_bytes",), 1, 2)]),
        (None, WredColor(), [((), None, WredColor())]),
        ((0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 2, 4, 4, 5, 6, 7), [(("3",), 3, 4)]),
        ((3,), (4,), [((), (3,), (4,))]),
        ((3,), (3,), []),
        (UNKNOWN, 5, [((), UNKNOWN, 5)]),
        (5, UNKNOWN, []),
    ],
)
def test_a_change_is_of_the_smallest_part(old: object, new: object, expected: object) -> None:
    assert list(part_changes_between(old, new)) == expected


def test_what_is_not_there_is_added() -> None:
    index = Index(fabric())
    queue = next(one for one in index.devices["leaf1"].interfaces[0].qos.queues if one.index == 3)
    at = ("leaf1", "Ethernet0", "qos", "queues", "9")
    assert list(changes_making_part(index, at, queue)) == [Change(subject=at, old=None, new=queue)]


def test_the_ports_of_the_same_switch_decide_before_others() -> None:
    broken = fabric(leaf1__Ethernet0__qos__dscp_to_tc__10=3, **{"leaf2__*__qos__dscp_to_tc__10": 5})
    assert changes("storage-in-rdma-class", broken) == [("leaf1/Ethernet0/qos/dscp_to_tc/10", 3, 2)]


def test_where_the_whole_switch_is_at_fault_its_like_decide() -> None:
    broken = fabric(**{"leaf1__*__qos__dscp_to_tc__10": 3})
    ports = [one.subject[1] for one in found("storage-in-rdma-class", broken)]
    assert changes("storage-in-rdma-class", broken) == [(f"leaf1/{port}/qos/dscp_to_tc/10", 3, 2) for port in ports]


def test_where_all_are_at_fault_nothing_is_known() -> None:
    broken = fabric(**{"*__*__qos__dscp_to_tc__10": 3})
    assert found("storage-in-rdma-class", broken)
    assert changes("storage-in-rdma-class", broken) == []


def test_siblings_that_do_not_agree_decide_nothing() -> None:
    values = {"leaf1__Ethernet224": 3, "leaf1__Ethernet232": 1, "leaf1__Ethernet240": 4, "leaf1__Ethernet248": 5}
    values |= {"leaf2__Ethernet224": 1, "leaf2__Ethernet232": 4, "leaf2__Ethernet240": 5, "leaf2__Ethernet248": 6}
    odd = fabric(**{f"{port}__qos__dscp_to_tc__10": tc for port, tc in values.items()})
    assert [one.subject for one in found("storage-in-rdma-class", odd)] == [("leaf1", "Ethernet224")]
    assert changes("storage-in-rdma-class", odd) == []


def test_the_length_of_a_cable_is_never_guessed_from_siblings() -> None:
    lost = fabric(leaf1__Ethernet0__cable_length_m=None)
    lost = replace(lost, links=tuple(replace(one, length_m=UNKNOWN) for one in lost.links))
    assert [one.subject for one in found("lossless-without-cable-length", lost)] == [("leaf1", "Ethernet0")]
    assert changes("lossless-without-cable-length", lost) == []
    assert [rule.name for rule in shipped_rules() if any("cable_length_m" in path for path in rule.as_siblings)] == [
        "rdma-dscp-in-lossy-class"  # which gives a port without any lossless class all that its siblings have
    ]


def test_siblings_without_marking_do_not_take_it_from_a_queue_with_bad_thresholds() -> None:
    bare = fabric(**{"leaf1__*__qos__queues__3__wred": None, "leaf2__*__qos__queues__3__wred": None})
    wred = fabric().device("leaf1").interfaces[0].qos.queues
    profile = next(one.wred for one in wred if one.index == 3)
    green = replace(profile.green, min_bytes=1500000, max_bytes=150000)
    broken = set_value(bare, parse_subject("leaf1/Ethernet0/qos/queues/3/wred"), replace(profile, green=green))
    at = [("leaf1", "Ethernet0", "qos", "queues", "3")]
    assert [one.subject for one in found("ecn-thresholds-inverted", broken)] == at
    assert changes("ecn-thresholds-inverted", broken) == []


def test_siblings_give_a_queue_only_the_setting_that_is_at_fault() -> None:
    lossy = BufferProfile(pool="egress_lossy", size_bytes=0, dynamic_th=3)
    siblings = ("Ethernet8", "Ethernet16", "Ethernet224", "Ethernet232", "Ethernet240", "Ethernet248")
    broken = fabric(
        leaf1__Ethernet0__qos__queues__3__scheduler=Scheduler(type="dwrr", weight=10),
        **{f"leaf1__{port}__qos__queues__3__buffer": lossy for port in siblings},
    )
    assert changes("rdma-share-below-plan", broken) == [("leaf1/Ethernet0/qos/queues/3/scheduler/weight", 10, 60)]


def test_a_queue_that_only_siblings_have_is_given_whole() -> None:
    queues = fabric().device("leaf1").interfaces[0].qos.queues
    (rdma,) = (queue for queue in queues if queue.index == 3)
    broken = fabric(leaf1__Ethernet0__qos__queues=tuple(queue for queue in queues if queue is not rdma))
    assert changes("lossless-queue-without-buffer", broken) == [("leaf1/Ethernet0/qos/queues/3", None, rdma)]


def test_the_owners_own_watchdog_is_safe() -> None:
    (one,) = found("pfc-without-watchdog", fabric(leaf1__Ethernet0__qos__pfc_watchdog=None))
    assert one.fix is not None
    assert one.fix.safe
    (odd,) = found("storage-in-rdma-class", fabric(leaf1__Ethernet0__qos__dscp_to_tc__10=3))
    assert odd.fix is not None
    assert not odd.fix.safe


def test_the_stated_length_of_a_cable_counts() -> None:
    broken = fabric(leaf1__Ethernet0__cable_length_m=None)
    link = next(one for one in broken.links if ("leaf1", "Ethernet0") in (one.a, one.b))
    longer = replace(broken, links=tuple(replace(one, length_m=7) if one is link else one for one in broken.links))
    assert changes("lossless-without-cable-length", longer) == [("leaf1/Ethernet0/cable_length_m", None, 7)]


def test_rdma_goes_where_its_class_says() -> None:
    broken = fabric(**{"*__*__qos__dscp_to_tc__26": 1})
    told = changes("rdma-dscp-in-lossy-class", broken)
    assert told
    assert {(subject.split("/", 2)[2], old, new) for subject, old, new in told} == {("qos/dscp_to_tc/26", 1, 3)}


def test_switches_that_all_want_one_number_of_a_spine_are_believed() -> None:
    broken = fabric(spine1__ATbgp__asn=4200100001)
    (told,) = set(changes("session-with-wrong-asn", broken))
    assert told == ("spine1/@bgp/asn", 4200100001, 4200000000)


def test_one_end_of_a_cable_obeys_what_the_other_sends() -> None:
    silent = fabric(
        leaf1__Ethernet224__qos__pfc_rx_priorities=(),
        leaf1__Ethernet224__qos__pfc_watchdog=None,
    )
    assert ("leaf1/Ethernet224/qos/pfc_rx_priorities", (), (3,)) in changes("pfc-one-sided", silent)


def test_a_part_that_is_missing_is_given_whole() -> None:
    lost = fabric(leaf2__Ethernet8__qos=None)
    (told,) = {(subject, old) for subject, old, _ in changes("rdma-dscp-in-lossy-class", lost)}
    assert told == ("leaf2/Ethernet8/qos", None)


def test_what_a_rule_writes_first_goes_first() -> None:
    first = {rule.name: rule.siblings_first for rule in shipped_rules() if rule.changes and rule.as_siblings}
    assert first["rdma-dscp-in-lossy-class"] is False
    assert first["watchdog-restores-too-soon"] is True
    short = fabric(spine1__Ethernet0__qos__pfc_watchdog__restoration_ms=100)
    usual = fabric().device("spine1").interfaces[1].qos.pfc_watchdog.restoration_ms
    assert changes("watchdog-restores-too-soon", short) == [
        ("spine1/Ethernet0/qos/pfc_watchdog/restoration_ms", 100, usual)
    ]


def test_a_sibling_that_is_sound_for_another_reason_gives_nothing_that_leaves_the_finding() -> None:
    rule = "lossless-queue-without-buffer"
    bare = {"*__*__qos__queues__3__buffer": None, "leaf2__Ethernet0__qos__pfc_rx_priorities": (4,)}
    broken = fabric(**bare, leaf2__Ethernet0__qos__pfc_tx_priorities=(4,), leaf1__Ethernet8__qos__queues__3__wred=None)
    assert "leaf2/Ethernet0" not in ["/".join(each.subject) for each in found(rule, broken)]
    assert changes(rule, broken) == []
