"""Watchdogs out of order, and pause that the far end of a cable ignores: what the analyses find, and leave open."""

from dataclasses import replace
from itertools import pairwise

from nodrop.analyses import AnalysisHit, UndecidedSubject, one_sided_pause, watchdog_order
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import subject_text
from support.small_fabrics import LOSSLESS, LOSSY, WATCHDOG, device, fabric, port, two_leaves


def watched(number: int, side: str | None, detection_ms: int | None, **changes: object) -> Interface:
    timers = replace(WATCHDOG, detection_ms=detection_ms)
    return port(number, **{"side": side, "qos": replace(LOSSLESS, pfc_watchdog=timers)} | changes)


def leaf(name: str, host_ms: int | None, fabric_ms: int | None, **changes: object) -> Device:
    return device(
        name,
        watched(0, "host", host_ms),
        watched(1, "fabric", fabric_ms),
        **{"role": "leaf", "watchdog_polling_ms": 100} | changes,
    )


def cabled(*devices: Device) -> Fabric:
    """Devices joined one to the next by their ports between switches."""
    ends = [End(each.name, "Ethernet8") for each in devices]
    return fabric(*devices, links=tuple(Link(a=a, b=b) for a, b in pairwise(ends)))


def order(fabric: Fabric) -> dict[str, tuple[object, object]]:
    """By port, when it acts and with what it was compared; by device, what is missing."""
    found: dict[str, tuple[object, object]] = {}
    for each in watchdog_order.find(Index(fabric)):
        if isinstance(each, AnalysisHit):
            found[subject_text(each.subject)] = (each.facts["own_ms"], each.facts["other_ms"])
        else:
            found[subject_text(each.subject)] = ("missing", each.missing)
    return found


def test_the_right_order() -> None:
    assert order(cabled(leaf("a", 200, 600), leaf("b", 200, 401))) == {}
    assert order(cabled(leaf("a", None, 600), leaf("b", 200, None))) == {}


def test_early_between_switches() -> None:
    assert order(cabled(leaf("a", 200, 600), leaf("b", 200, 600), leaf("c", 200, 400))) == {"c/Ethernet8": (400, 400)}


def test_late_at_hosts() -> None:
    assert order(cabled(leaf("a", 200, 600), leaf("b", 200, 600), leaf("c", 400, 600))) == {"c/Ethernet0": (600, 600)}


def test_an_early_port_is_compared_with_the_latest_host_that_is_in_order() -> None:
    mixed = cabled(leaf("a", 200, 900), leaf("b", 200, 900), leaf("c", 500, 600))
    assert order(mixed) == {"c/Ethernet8": (600, 700)}


def test_wrong_in_general_is_told_of_all_between_switches() -> None:
    assert order(cabled(leaf("a", 200, 200), leaf("b", 200, 200))) == {
        "a/Ethernet8": (200, 400),
        "b/Ethernet8": (200, 400),
    }


def test_where_as_many_ports_have_either_time_the_order_is_given_the_benefit() -> None:
    assert order(cabled(leaf("a", 5000, 600), leaf("b", 200, 600))) == {"a/Ethernet0": (5200, 600)}


def test_fabrics_that_no_cable_joins_have_timers_of_their_own() -> None:
    assert order(fabric(leaf("a", 200, 600), leaf("b", 800, 2400))) == {}
    assert order(cabled(leaf("a", 200, 600), leaf("b", 800, 2400))) != {}


def test_a_switch_without_a_stated_polling_is_taken_at_its_detection_time() -> None:
    assert order(fabric(leaf("a", 200, 201, watchdog_polling_ms=None))) == {}
    assert order(fabric(leaf("a", 200, 200, watchdog_polling_ms=None))) == {"a/Ethernet8": (200, 200)}


def test_what_is_not_known_is_told_once_per_device() -> None:
    assert order(fabric(leaf("a", 200, 600, watchdog_polling_ms=UNKNOWN))) == {
        "a": ("missing", "device.watchdog_polling_ms")
    }
    two = device("a", watched(0, UNKNOWN, 200), watched(1, UNKNOWN, 200))
    found = list(watchdog_order.find(Index(fabric(two))))
    assert found == [UndecidedSubject(subject=("a",), missing="interface.side")]
    no_qos = device("a", port(0, qos=UNKNOWN), port(1, qos=replace(LOSSLESS, pfc_watchdog=UNKNOWN)), port(2, qos=None))
    assert {
        each.missing for each in watchdog_order.find(Index(fabric(no_qos))) if isinstance(each, UndecidedSubject)
    } == {
        "interface.qos",
        "interface.qos.pfc_watchdog",
    }


def test_ports_that_are_shut_or_uncabled_do_not_count() -> None:
    shut = device("a", watched(0, "host", 200), watched(1, "fabric", 100, enabled=False), watched(2, None, 100))
    assert order(fabric(shut)) == {}


def pair(a: QosProfile | None, b: QosProfile | None, **changes: object) -> Fabric:
    return fabric(
        device("a", port(0, side="fabric", qos=a)),
        device("b", port(0, side="fabric", qos=b, **changes)),
        links=(Link(a=End("a", "Ethernet0"), b=End("b", "Ethernet0")),),
    )


MAPPED = replace(LOSSLESS, tc_to_priority_group=(0, 0, 0, 3, 0, 0, 0, 0, *[None] * 8))
DEAF = replace(MAPPED, pfc_rx_priorities=())
SILENT = replace(MAPPED, pfc_tx_priorities=())


def one_sided(fabric: Fabric) -> list[tuple[str, str]]:
    """Who sends what is ignored, and where that is seen."""
    return [
        (hit.discriminator, subject_text(hit.at or ()))
        for hit in one_sided_pause.find(Index(fabric))
        if isinstance(hit, AnalysisHit)
    ]


def test_pause_that_the_far_end_ignores() -> None:
    assert one_sided(pair(MAPPED, MAPPED)) == []
    assert one_sided(pair(MAPPED, DEAF)) == [("a:Ethernet0", "b/Ethernet0/qos/pfc_rx_priorities")]
    (hit,) = one_sided_pause.find(Index(pair(MAPPED, DEAF)))
    assert isinstance(hit, AnalysisHit)
    assert hit.related == ((("a", "Ethernet0", "qos", "pfc_tx_priorities"), "the other end"),)
    assert one_sided(pair(MAPPED, SILENT)) == []
    assert one_sided(pair(DEAF, DEAF)) == [
        ("a:Ethernet0", "b/Ethernet0/qos/pfc_rx_priorities"),
        ("b:Ethernet0", "a/Ethernet0/qos/pfc_rx_priorities"),
    ]
    (hit,) = one_sided_pause.find(Index(pair(MAPPED, DEAF)))
    assert subject_text(hit.subject) == "@fabric/links/a:Ethernet0--b:Ethernet0"
    assert hit.facts == {
        "sender": "a Ethernet0",
        "receiver": "b Ethernet0",
        "priorities": "3",
    }


def test_ports_that_other_rules_tell() -> None:
    assert one_sided(pair(MAPPED, None)) == []
    assert one_sided(pair(MAPPED, LOSSY)) == [("a:Ethernet0", "b/Ethernet0/qos/pfc_rx_priorities")]
    assert one_sided(pair(MAPPED, DEAF, enabled=False)) == []


def test_pause_for_what_nothing_lands_in_does_not_count() -> None:
    both = replace(MAPPED, pfc_rx_priorities=(3, 4), pfc_tx_priorities=(3, 4))
    assert one_sided(pair(both, MAPPED)) == []


def test_nics_are_ends_too() -> None:
    nic = HostPort(name="nic1", speed_mbps=400_000, lanes=4)

    def beside(qos: QosProfile, priorities: object) -> Fabric:
        host = Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=(nic,), pfc_priorities=priorities)
        link = Link(a=End("gpu1", "nic1"), b=End("leaf1", "Ethernet0"))
        return fabric(device("leaf1", port(0, qos=qos)), hosts=(host,), links=(link,))

    assert one_sided(beside(MAPPED, (3,))) == []
    assert one_sided(beside(MAPPED, ())) == [("leaf1:Ethernet0", "leaf1/Ethernet0/qos/pfc_tx_priorities")]
    assert one_sided(beside(DEAF, (3,))) == [("gpu1:nic1", "leaf1/Ethernet0/qos/pfc_rx_priorities")]
    assert one_sided(beside(replace(DEAF, pfc_tx_priorities=()), (3,))) == []
    (open_,) = one_sided_pause.find(Index(beside(MAPPED, UNKNOWN)))
    assert open_ == UndecidedSubject(subject=("leaf1",), missing="host.pfc_priorities")


def test_a_far_end_that_was_not_read() -> None:
    whole = two_leaves()
    without = replace(whole, devices=whole.devices[:2], hosts=())
    found = list(one_sided_pause.find(Index(without)))
    assert found == [
        UndecidedSubject(subject=("leaf1",), missing="the other end of a link", others=frozenset({"gpu1", "spine1"})),
        UndecidedSubject(subject=("leaf2",), missing="the other end of a link", others=frozenset({"spine1"})),
    ]
