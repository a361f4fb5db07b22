"""Changing one part of a fabric by its subject, and reading it back."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.edit import ABSENT, find_value, get_value, set_value
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port, TrafficClass
from nodrop.model.qos import PfcWatchdog, PriorityGroup, QosProfile, Queue, Scheduler, WredColor, WredProfile
from nodrop.model.routing import Bgp, BgpNeighbor, PrefixList, PrefixRule
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject

WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")
WRED = WredProfile(ecn_colors=("green",), green=WredColor(min_bytes=1), yellow=WredColor(), red=WredColor())
QOS = QosProfile(
    trust="dscp",
    dscp_to_tc=tuple(range(8)) * 8,
    pfc_rx_priorities=(3,),
    pfc_watchdog=WATCHDOG,
    priority_groups=(PriorityGroup(index=0), PriorityGroup(index=3)),
    queues=(Queue(index=0), Queue(index=3, wred=WRED)),
)


def leaf(name: str) -> Device:
    return Device(
        name=name,
        platform="sonic",
        interfaces=(
            Interface(name="Ethernet0", port=Port(1), qos=QOS, addresses=("10.2.0.1/31",)),
            Interface(name="Ethernet8", port=Port(2), qos=QOS),
            Interface(name="Ethernet16/1", qos=None),
        ),
        buffer_pools=(BufferPool(name="ingress", direction="ingress", mode="dynamic", size_bytes=10),),
        bgp=Bgp(
            asn=65001,
            neighbors=(BgpNeighbor(address="10.1.0.1", remote_asn=65100), BgpNeighbor(interface="Ethernet8")),
            prefix_lists=(PrefixList(name="OWN", family="ipv4", rules=(_rule(5), _rule(10))),),
        ),
        watchdog_polling_ms=100,
    )


def _rule(sequence: int) -> PrefixRule:
    return PrefixRule(sequence=sequence, action="permit", prefix="10.0.0.0/8")


BASE = Fabric(
    name="base",
    mode="lossless",
    devices=(leaf("leaf1"), leaf("leaf2"), Device(name="spine1", platform="nvue", buffer_pools=UNKNOWN)),
    links=(Link(a=End("leaf1", "Ethernet8"), b=End("spine1", "Ethernet0"), length_m=30),),
    classes=(TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True),),
)
LINK = "@fabric/links/leaf1:Ethernet8--spine1:Ethernet0"


def changed(subject: str, value: object) -> Fabric:
    return set_value(BASE, parse_subject(subject), value)


def got(subject: str, fabric: Fabric = BASE) -> Any:
    return get_value(fabric, parse_subject(subject))


@pytest.mark.parametrize(
    ("subject", "given", "expected"),
    [
        ("leaf1/Ethernet0/qos/pfc_watchdog", None, None),
        ("leaf1/Ethernet0/qos/pfc_watchdog", "unknown", UNKNOWN),
        ("leaf1/Ethernet0/qos/pfc_watchdog", UNKNOWN, UNKNOWN),
        ("leaf1/Ethernet0/qos/pfc_watchdog", WATCHDOG, WATCHDOG),
        ("leaf1/Ethernet0/qos/pfc_watchdog",
         {"priorities": ["3", "4"], "detection_ms": "100", "restoration_ms": None, "action": "alert"},
         PfcWatchdog(priorities=(3, 4), detection_ms=100, restoration_ms=None, action="alert")),
        ("leaf1/Ethernet0/qos/pfc_watchdog/detection_ms", "100", 100),
        ("leaf1/Ethernet0/qos/queues/3/wred/green/min_bytes", "5000", 5000),
        ("leaf1/Ethernet0/qos/queues/3/wred/green/enabled", True, True),
        ("leaf1/Ethernet0/qos/queues/0", {"scheduler": {"type": "dwrr", "weight": "20"}},
         Queue(index=0, scheduler=Scheduler(type="dwrr", weight=20))),
        ("leaf1/Ethernet0/qos/priority_groups/3/buffer",
         {"pool": "ingress", "size_bytes": "0", "headroom": {"xoff_bytes": "10", "xon_bytes": "5"}},
         BufferProfile(pool="ingress", size_bytes=0, headroom=Headroom(xoff_bytes=10, xon_bytes=5))),
        ("leaf1/Ethernet0/qos/dscp_to_tc/26", "1", 1),
        ("leaf1/Ethernet0/qos/dscp_to_tc/26", None, None),
        ("leaf1/Ethernet0/qos/pfc_rx_priorities", [], ()),
        ("leaf1/Ethernet0/qos/trust", "pcp", "pcp"),
        ("leaf1/Ethernet0/enabled", False, False),
        ("leaf1/Ethernet0/fec", "none", "none"),
        ("leaf1/Ethernet0/port", {"panel": "4", "split": "2"}, Port(4, 2)),
        ("leaf1/Ethernet0/port/split", "1", 1),
        ("leaf1/Ethernet0/addresses", ["10.0.0.1/31"], ("10.0.0.1/31",)),
        ("leaf1/Ethernet0/addresses/1", "fd00::1/127", "fd00::1/127"),
        ("leaf1/Ethernet16%2F1/mtu_bytes", "9216", 9216),
        ("leaf1/@watchdog_polling_ms", "50", 50),
        ("leaf1/@buffer_pools", "unknown", UNKNOWN),
        ("leaf1/@buffer_pools/ingress/size_bytes", "99", 99),
        ("leaf1/@neighbors/10.1.0.1/remote_asn", "65200", 65200),
        ("leaf1/@neighbors/10.1.0.1/remote_asn", "external", "external"),
        ("leaf1/@neighbors/Ethernet8/bfd", True, True),
        ("leaf1/@bgp/router_id", "10.0.0.1", "10.0.0.1"),
        ("leaf1/@bgp/prefix_lists/OWN/rules/10/action", "deny", "deny"),
        ("leaf1/@role", "leaf", "leaf"),
        ("@fabric/mode", "trim", "trim"),
        ("@fabric/classes/rdma/dscp", ["24", "26"], (24, 26)),
        ("@fabric/classes/rdma/purpose", "unknown", "unknown"),
        ("@fabric/classes/rdma/tc", "unknown", UNKNOWN),
        (f"{LINK}/length_m", "5", 5),
        ("@fabric/policy/fabric_watchdog", None, None),
    ],
)  # fmt: skip
def test_a_value_is_set_and_can_be_read(subject: str, given: object, expected: object) -> None:
    fabric = changed(subject, given)
    found = got(subject, fabric)
    assert found is expected or found == expected
    assert type(found) is type(expected)
    assert fabric != BASE or subject.endswith("pfc_watchdog")


def test_an_end_and_a_name_are_texts() -> None:
    assert changed(f"{LINK}/b", "spine1:Ethernet24").links[0].b == End("spine1", "Ethernet24")
    assert changed("leaf1/Ethernet0/name", "unknown").devices[0].interfaces[0].name == "unknown"


def test_nothing_else_changes() -> None:
    fabric = changed("leaf1/Ethernet0/qos/queues/3/wred/green/min_bytes", 2)
    back = set_value(fabric, parse_subject("leaf1/Ethernet0/qos/queues/3/wred/green/min_bytes"), 1)
    assert back == BASE
    assert fabric.devices[1] is BASE.devices[1]
    assert fabric.devices[0].interfaces[1] is BASE.devices[0].interfaces[1]


def test_globs_mean_all_matches_and_what_is_shared_stays_shared() -> None:
    fabric = changed("leaf*/Ethernet?/qos/pfc_watchdog", None)
    ports = [port for device in fabric.devices for port in device.interfaces]
    assert [port.qos.pfc_watchdog if port.qos else "no qos" for port in ports] == [None, None, "no qos"] * 2
    assert len({id(port.qos) for port in ports if port.qos}) == 1
    one = changed("*/Ethernet8/qos/queues/*/wred/*/min_bytes", 7)
    assert [color.min_bytes for color in _colors(one.devices[1].interfaces[1])] == [7, 7, 7]
    assert [color.min_bytes for color in _colors(one.devices[1].interfaces[0])] == [1, None, None]
    assert one.devices[0].interfaces[1].qos is one.devices[1].interfaces[1].qos
    whole = changed("*/*/qos", {"trust": "pcp"})
    assert {id(port.qos) for device in whole.devices for port in device.interfaces} == {
        id(whole.devices[0].interfaces[0].qos)
    }


def _colors(port: Interface) -> tuple[WredColor, ...]:
    wred = port.qos.queues[1].wred  # type: ignore[union-attr, index]
    return (wred.green, wred.yellow, wred.red)  # type: ignore[union-attr]


def test_rows_are_added_in_order_and_removed() -> None:
    more = changed("leaf1/Ethernet0/qos/queues/1", {"scheduler": None})
    assert [queue.index for queue in got("leaf1/Ethernet0/qos/queues", more)] == [0, 1, 3]
    less = changed("leaf*/Ethernet0/qos/queues/3", None)
    assert [queue.index for queue in got("leaf2/Ethernet0/qos/queues", less)] == [0]
    neighbor = changed("leaf1/@neighbors/10.1.0.9", {"address": "10.1.0.9", "remote_asn": "internal"})
    assert [each.key for each in got("leaf1/@neighbors", neighbor)] == ["10.1.0.1", "10.1.0.9", "Ethernet8"]
    cable = changed("@fabric/links/leaf2:Ethernet8--spine1:Ethernet8", {"length_m": "3"})
    assert cable.links[1] == Link(a=End("leaf2", "Ethernet8"), b=End("spine1", "Ethernet8"), length_m=3)
    assert changed(LINK, None).links == ()
    assert [device.name for device in changed("leaf1", None).devices] == ["leaf2", "spine1"]
    assert changed("leaf1/Ethernet0/addresses/0", None).devices[0].interfaces[0].addresses == ()
    pool = changed("leaf1/@buffer_pools/egress", {"direction": "egress", "mode": "static"})
    assert [each.name for each in got("leaf1/@buffer_pools", pool)] == ["egress", "ingress"]


@pytest.mark.parametrize(
    ("subject", "value", "told"),
    [
        ("leaf3/Ethernet0/enabled", True, "there is no `leaf3` (did you mean `leaf1` or `leaf2`?)"),
        ("leaf1/Ethernet1/enabled", True, "there is no `Ethernet1` (did you mean `Ethernet0` or `Ethernet8`?)"),
        ("leaf1/Ethernet0/enabld", True, "Interface has no `enabld` (did you mean `enabled`?)"),
        ("leaf1/Ethernet0/qos/pfc_watchdg", None, "QosProfile has no `pfc_watchdg` (did you mean `pfc_watchdog`?)"),
        ("leaf1/Ethernet0/qos/pfc_priorities", [], "`pfc_priorities` is computed from `pfc_rx_priorities`; set that"),
        ("leaf1/Ethernet0/lane_mbps", 1, "`lane_mbps` is computed from `lanes` and `speed_mbps`; set that"),
        ("leaf1/Ethernet0/qos/queues/9/wred", None, "there is no `9` (known: 0, 3)"),
        ("leaf1/Ethernet0/qos/queues/9", None, "there is no `9` (known: 0, 3)"),
        ("leaf1/Ethernet0/qos/dscp_to_tc/64", "1", "there is no `64` ("),
        ("leaf1/Ethernet0/qos/dscp_to_tc/65", "1", "there is no `65` ("),
        ("leaf1/Ethernet16%2F1/qos/trust", "pcp", "none has no `trust`; give the whole"),
        ("spine1/@buffer_pools/ingress/size_bytes", 1, "unknown has no `ingress`; give the whole"),
        ("spine1/Ethernet0", {"x": 1}, "Interface has no `x` (known: adaptive_routing, "),
        ("spine1/Ethernet0/enabled", True, "there is no `Ethernet0`, nor any other"),
        ("leaf1/@polling", 1, "Device has no `polling` (known: access_lists, adaptive_routing, "),
        ("leaf*/Ethernet9*/enabled", True, "nothing fits the pattern"),
        ("leaf*/Ethernet16*/qos/trust", "pcp", "nothing fits the pattern"),
        ("leaf?/Ethernet16%2F1/qos/trust", "pcp", "nothing fits the pattern"),
        ("@fabric/links/nonsense", {"a": "x:1", "b": "y:2"}, "the row calls itself `x:1--y:2`"),
        ("@fabric/links/x:1--y:2/length_m", "3", "there is no `x:1--y:2` ("),
        ("leaf*/*/qos/trst", "pcp", "QosProfile has no `trst` (did you mean `trust`?)"),
        ("leaf1/Ethernet0/name", None, "none; expected text"),
        ("leaf1/Ethernet0/mtu_bytes", "9k", "`9k`; expected a number or none or unknown"),
        ("leaf1/Ethernet0/mtu_bytes", True, "`True`; expected a number or none or unknown"),
        ("leaf1/Ethernet0/enabled", "1", "`1`; expected true or false or unknown"),
        ("leaf1/Ethernet0/enabled", None, "none; expected true or false or unknown"),
        ("leaf1/Ethernet0/fec", "rss", "`rss`; expected one of auto, fc, none, rs or none or unknown"),
        ("leaf1/Ethernet0/qos/pfc_rx_priorities", "3", "`3`; expected a list of a number or unknown"),
        ("leaf1/Ethernet0/qos/pfc_rx_priorities", ["x"], "`x`; expected a number"),
        ("leaf1/Ethernet0/qos/pfc_watchdog", "drop", "`drop`; expected PfcWatchdog or none or unknown"),
        ("leaf1/Ethernet0/qos/pfc_watchdog", {"detecton_ms": 1},
         "PfcWatchdog has no `detecton_ms` (did you mean `detection_ms`?)"),
        ("leaf1/Ethernet0/qos/pfc_watchdog", {"detection_ms": 1},
         "PfcWatchdog needs 'priorities', 'restoration_ms', and 'action'"),
        ("leaf1/Ethernet0/qos/queues/0", {"index": "1"}, "the row calls itself `1`"),
        ("@fabric/mode", "losless", "`losless`; expected one of lossless, lossy, pfc-only, trim, uec"),
        ("@fabric/name", UNKNOWN, "unknown; expected text"),
        ("@fabric/classes/rdma/dscp", {"26": 1}, "a mapping; expected a list of a number"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_with_the_nearest_word(subject: str, value: object, told: str) -> None:
    with pytest.raises(ValueError) as refused:
        changed(subject, value)
    assert str(refused.value).startswith(f"{subject}: {told}")


def test_reading_what_is_worked_out_and_what_is_not_there() -> None:
    assert got("leaf1/Ethernet0/qos/pfc_priorities") == (3,)
    assert got("leaf1/@neighbors/10.1.0.1/key") == "10.1.0.1"
    assert got("leaf1") is BASE.devices[0]
    assert got("leaf1/Ethernet0/qos/dscp_to_tc/26") == 2
    assert got("@fabric/links/leaf1:Ethernet8--spine1:Ethernet0") is BASE.links[0]
    for subject, told in (
        ("leaf1/Ethernet0/qos/pfc", "QosProfile has no `pfc` ("),
        ("leaf1/Ethernet0/qos/queues/4", "there is no `4` (known: 0, 3)"),
        ("leaf1/Ethernet16%2F1/qos/trust", "none has no `trust`"),
        ("spine1/@buffer_pools/ingress", "unknown has no `ingress`"),
    ):
        with pytest.raises(ValueError) as refused:
            got(subject)
        assert str(refused.value).startswith(f"{subject}: {told}")
        assert find_value(BASE, parse_subject(subject)) is ABSENT


def test_what_is_only_looked_for_is_not_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.model.edit.known_word_hint", lambda *_: pytest.fail("a hint was looked for"))
    assert find_value(BASE, parse_subject("leaf1/Ethernet0/qos/pfc")) is ABSENT
    assert find_value(BASE, parse_subject("leaf1/Ethernet0/qos/queues/4")) is ABSENT
    assert find_value(BASE, parse_subject("leaf1/Ethernet16%2F1/qos")) is None
    assert find_value(BASE, parse_subject("spine1/@buffer_pools")) is UNKNOWN
    assert find_value(BASE, parse_subject("leaf1/Ethernet0/qos/pfc_priorities")) == (3,)


def test_of_two_rows_with_one_name_the_last_is_found() -> None:
    port = BASE.devices[0].interfaces[0]
    twice = replace(BASE.devices[0], interfaces=(port, replace(port, description="again")))
    assert find_value(replace(BASE, devices=(twice,)), parse_subject("leaf1/Ethernet0/description")) == "again"


def test_a_value_of_the_model_is_kept_as_it_is() -> None:
    profile = replace(QOS, trust=None)
    assert got("leaf1/Ethernet0/qos", changed("leaf1/Ethernet0/qos", profile)) is profile
