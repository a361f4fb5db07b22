"""Comparing and projecting values of the model: exact paths, three states, nothing raised."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.model.buffers import BufferPool, BufferProfile
from nodrop.model.compare import ModelDifference, apply_differences, differences, mask_unsupported_fields
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Loopback, Port, TrafficClass
from nodrop.model.qos import PfcWatchdog, PriorityGroup, QosProfile, Queue, Scheduler
from nodrop.model.routing import Bgp, BgpNeighbor, CommunityList, PrefixList, PrefixRule, StaticRoute
from nodrop.model.states import UNKNOWN

WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")
QOS = QosProfile(
    trust="dscp",
    dscp_to_tc=tuple(range(8)) * 8,
    pfc_watchdog=WATCHDOG,
    priority_groups=(PriorityGroup(index=0), PriorityGroup(index=3, buffer=BufferProfile(pool="p", size_bytes=0))),
    queues=(Queue(index=3, scheduler=Scheduler(type="dwrr", weight=60)), Queue(index=6)),
)
DEVICE = Device(
    name="leaf1",
    platform="sonic",
    interfaces=(Interface(name="Ethernet0", port=Port(1), qos=QOS), Interface(name="Ethernet8", qos=None)),
    loopbacks=(Loopback(name="Loopback0", addresses=("10.0.0.1/32",)),),
    bgp=Bgp(asn=1, neighbors=(BgpNeighbor(address="10.1.0.1"), BgpNeighbor(interface="Ethernet8"))),
    buffer_pools=(BufferPool(name="ingress", direction="ingress", mode="dynamic", size_bytes=5),),
)


def spelled(a: Any, b: Any) -> list[str]:
    return [str(difference) for difference in differences(a, b)]


def with_port(**changes: Any) -> Device:
    return replace(DEVICE, interfaces=(replace(DEVICE.interfaces[0], **changes), DEVICE.interfaces[1]))


def with_qos(**changes: Any) -> Device:
    return with_port(qos=replace(QOS, **changes))


def test_equal_values_differ_nowhere() -> None:
    again = replace(DEVICE, interfaces=(replace(DEVICE.interfaces[0], qos=replace(QOS)), DEVICE.interfaces[1]))
    assert again.interfaces[0].qos is not QOS
    assert spelled(DEVICE, again) == []


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (with_port(mtu_bytes=9100), ["interfaces/Ethernet0/mtu_bytes: None is not 9100"]),
        (with_port(mtu_bytes=UNKNOWN), ["interfaces/Ethernet0/mtu_bytes: None is not UNKNOWN"]),
        (with_port(enabled=1), ["interfaces/Ethernet0/enabled: True is not 1"]),
        (with_port(addresses=("10.0.0.0/31",)), ["interfaces/Ethernet0/addresses: () is not ('10.0.0.0/31',)"]),
        (
            with_port(port=Port(1, 1)),
            ["interfaces/Ethernet0/port: Port(panel=1, split=0) is not Port(panel=1, split=1)"],
        ),
        (with_qos(dscp_to_tc=(9, *QOS.dscp_to_tc[1:])), ["interfaces/Ethernet0/qos/dscp_to_tc/0: 0 is not 9"]),
        (with_qos(dscp_to_tc=(None, *QOS.dscp_to_tc[1:])), ["interfaces/Ethernet0/qos/dscp_to_tc/0: 0 is not None"]),
        (with_qos(trust=UNKNOWN), ["interfaces/Ethernet0/qos/trust: 'dscp' is not UNKNOWN"]),
        (
            with_qos(pfc_watchdog=replace(WATCHDOG, detection_ms=None)),
            ["interfaces/Ethernet0/qos/pfc_watchdog/detection_ms: 200 is not None"],
        ),
        (
            with_qos(queues=(replace(QOS.queues[0], scheduler=Scheduler(type="strict", weight=60)), QOS.queues[1])),
            ["interfaces/Ethernet0/qos/queues/3/scheduler/type: 'dwrr' is not 'strict'"],
        ),
        (
            with_qos(queues=(QOS.queues[1], QOS.queues[0])),
            ["interfaces/Ethernet0/qos/queues: ('3', '6') is not ('6', '3')"],
        ),
        (
            with_qos(priority_groups=QOS.priority_groups[:1]),
            [f"interfaces/Ethernet0/qos/priority_groups/3: {QOS.priority_groups[1]!r} is not None"],
        ),
        (
            replace(DEVICE, bgp=replace(DEVICE.bgp, neighbors=(BgpNeighbor(address="10.1.0.1", bfd=True),))),
            [
                "bgp/neighbors/10.1.0.1/bfd: False is not True",
                f"bgp/neighbors/Ethernet8: {DEVICE.bgp.neighbors[1]!r} is not None",
            ],
        ),
        (
            replace(DEVICE, buffer_pools=(replace(DEVICE.buffer_pools[0], size_bytes=UNKNOWN),)),
            ["buffer_pools/ingress/size_bytes: 5 is not UNKNOWN"],
        ),
        (replace(DEVICE, buffer_pools=UNKNOWN), [f"buffer_pools: {DEVICE.buffer_pools!r} is not UNKNOWN"]),
    ],
)
def test_every_difference_has_its_path(other: Device, expected: list[str]) -> None:
    assert spelled(DEVICE, other) == expected


def test_rows_with_a_name_are_matched_by_it() -> None:
    more = replace(DEVICE, interfaces=(Interface(name="Ethernet4"), *DEVICE.interfaces))
    assert list(differences(DEVICE, more)) == [ModelDifference(("interfaces", "Ethernet4"), None, more.interfaces[0])]


def test_rows_with_one_name_twice_are_one_difference() -> None:
    twice = replace(DEVICE, interfaces=(DEVICE.interfaces[0],) * 2)
    (found,) = differences(DEVICE, twice)
    assert found == ModelDifference(("interfaces",), DEVICE.interfaces, twice.interfaces)


def test_rows_without_a_name_are_matched_by_position() -> None:
    rules = (("permit", ("1:1",)), ("deny", ("2:2", "3:3")))
    a, b = (CommunityList(name="x", rules=own) for own in (rules, (rules[0], ("deny", ("2:2", "4:4")))))
    assert spelled(a, b) == ["rules/1/1/1: '3:3' is not '4:4'"]
    profiles = tuple(BufferProfile(pool="p", size_bytes=size) for size in (1, 2))
    assert spelled(profiles, (profiles[0], profiles[0])) == ["1/size_bytes: 2 is not 1"]
    assert spelled(profiles, profiles[:1]) == [f": {profiles!r} is not {profiles[:1]!r}"]


def test_prefix_rules_and_routes_are_named_as_in_subjects() -> None:
    rule = PrefixRule(sequence=10, action="permit", prefix="10.0.0.0/8")
    a = PrefixList(name="x", family="ipv4", rules=(rule,))
    assert spelled(a, replace(a, rules=(replace(rule, le=32),))) == ["rules/10/le: None is not 32"]
    route = StaticRoute(prefix="10.0.0.0/8", next_hop="blackhole")
    assert spelled((route,), (replace(route, vrf="x"),)) == ["10.0.0.0%2F8/vrf: None is not 'x'"]


def test_whole_fabrics_compare() -> None:
    link = Link(a=End("leaf1", "Ethernet0"), b=End("spine1", "Ethernet0"), length_m=30)
    one = TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True)
    fabric = Fabric(name="f", mode="lossless", devices=(DEVICE,), links=(link,), classes=(one,))
    other = replace(fabric, links=(replace(link, length_m=3),), classes=(replace(one, tc=UNKNOWN),))
    assert spelled(fabric, other) == [
        "links/leaf1:Ethernet0--spine1:Ethernet0/length_m: 30 is not 3",
        "classes/rdma/tc: 3 is not UNKNOWN",
    ]


def test_unknown_equals_only_unknown() -> None:
    assert spelled(UNKNOWN, UNKNOWN) == []
    for value in (None, 0, "", (), False):
        assert list(differences(UNKNOWN, value)) == [ModelDifference((), UNKNOWN, value)]
        assert list(differences(value, UNKNOWN)) == [ModelDifference((), value, UNKNOWN)]


VALUES: Any = st.sampled_from([UNKNOWN, None, True, False, 0, 1])
QUEUES = st.builds(
    Queue,
    index=st.integers(0, 2),
    scheduler=st.none() | st.just(UNKNOWN) | st.builds(Scheduler, type=st.just("dwrr"), weight=st.none() | st.just(1)),
)
PROFILES = st.builds(
    QosProfile,
    trust=VALUES,
    dscp_to_tc=st.just(UNKNOWN) | st.lists(st.sampled_from([None, 0, 1]), max_size=3).map(tuple),
    queues=st.just(UNKNOWN) | st.lists(QUEUES, max_size=3).map(tuple),
)


@given(PROFILES, PROFILES)
def test_no_difference_means_equal_and_nothing_raises(a: QosProfile, b: QosProfile) -> None:
    found = list(differences(a, b))
    alike = repr(a) == repr(b)  # `==` takes True for 1, which the comparison does not
    assert (not found) == alike
    for path, one, other in differences(b, a):
        assert any(path == there.path for there in found)
        assert one is not other


def test_project_sets_paths_to_unknown() -> None:
    pause = "interfaces/*/link_pause"
    assert spelled(DEVICE, mask_unsupported_fields(DEVICE, [pause])) == [
        "interfaces/Ethernet0/link_pause: None is not UNKNOWN",
        "interfaces/Ethernet8/link_pause: None is not UNKNOWN",
    ]
    assert spelled(DEVICE, mask_unsupported_fields(DEVICE, ["interfaces/Ethernet8/mtu_bytes", "mac"])) == [
        "mac: None is not UNKNOWN",
        "interfaces/Ethernet8/mtu_bytes: None is not UNKNOWN",
    ]
    assert spelled(DEVICE, mask_unsupported_fields(DEVICE, ["interfaces/*/qos/queues/6/wred"])) == [
        "interfaces/Ethernet0/qos/queues/6/wred: None is not UNKNOWN"
    ]
    assert mask_unsupported_fields(DEVICE, []) is DEVICE


def test_project_leaves_what_is_not_there() -> None:
    unknown = replace(DEVICE, bgp=None, loopbacks=UNKNOWN)
    assert mask_unsupported_fields(
        unknown, ["bgp/neighbors/*/bfd", "loopbacks/*/vrf", "interfaces/*/qos/trust"]
    ) == replace(
        unknown, interfaces=(replace(DEVICE.interfaces[0], qos=replace(QOS, trust=UNKNOWN)), DEVICE.interfaces[1])
    )


def test_project_of_a_misspelt_path_is_an_error() -> None:
    with pytest.raises(AttributeError, match="link_pauses"):
        mask_unsupported_fields(DEVICE, ["interfaces/*/link_pauses"])


def neighbors(*addresses: str) -> tuple[BgpNeighbor, ...]:
    return tuple(BgpNeighbor(address=address) for address in addresses)


def test_rows_with_keys_are_mixed_one_by_one() -> None:
    old, new = neighbors("10.0.0.1", "10.0.0.2"), neighbors("10.0.0.1", "10.0.0.3", "10.0.0.4")
    asked = []

    def takes(path: Any, _old: Any, _new: Any) -> bool:
        asked.append(path)
        return bool(path == ("10.0.0.3",))

    assert apply_differences(old, new, takes) == neighbors("10.0.0.1", "10.0.0.2", "10.0.0.3")
    assert sorted(asked) == [("10.0.0.2",), ("10.0.0.3",), ("10.0.0.4",)]


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("10.0.0.1", "10.0.0.1"), ("10.0.0.1", "10.0.0.2")),
        (("10.0.0.1", "10.0.0.2"), ("10.0.0.1", "10.0.0.1")),
        (("10.0.0.1",), ("10.0.0.1", "10.0.0.1")),
    ],
)
def test_rows_of_which_two_have_one_key_are_mixed_as_a_whole(
    old: tuple[str, ...], new: tuple[str, ...], taken: bool
) -> None:
    asked = []

    def takes(path: Any, _old: Any, _new: Any) -> bool:
        asked.append(path)
        return taken

    assert apply_differences(neighbors(*old), neighbors(*new), takes) == neighbors(*(new if taken else old))
    assert asked == [()]
