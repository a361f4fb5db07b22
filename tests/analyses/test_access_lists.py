"""Which entries of access lists are reported, at which ports, and what stays unknown."""

from typing import Any

import pytest

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses.access_lists import find
from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Binding, Bits, PortRange
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import with_changes

DROP_ALL = AccessEntry(name="rest", action="deny")
BGP = (PortRange(179, 179),)


def site(
    *entries: AccessEntry, at: tuple[str, ...] = ("Ethernet0",), stage: AccessListStage = "ingress", **more: Any
) -> AccessList:
    bindings = tuple(Binding(interface=name, stage=stage) for name in at)
    return AccessList(name="SITE", entries=entries, bindings=bindings, **more)


def having(lists: Any, changes: dict[str, object] | None = None, device: str = "leaf1") -> Fabric:
    fabric = with_changes(changes or {})
    devices = tuple(replace_fields(one, access_lists=lists) if one.name == device else one for one in fabric.devices)
    return replace_fields(fabric, devices=devices)


def found(fabric: Fabric, what: str, does: str = "drop") -> dict[str, Any]:
    hits = [one for one in find(Index(fabric), what=what, does=does) if isinstance(one, AnalysisHit)]
    return {"/".join(one.subject[2:]): one.facts["ports"] for one in hits}


def missing(fabric: Fabric, what: str = "rdma") -> list[str]:
    return [one.missing for one in find(Index(fabric), what=what, does="drop") if isinstance(one, UndecidedSubject)]


def test_a_drop_at_ports_of_hosts_and_towards_spines() -> None:
    at = ("Ethernet0", "Ethernet8", "Ethernet224")
    assert found(having((site(DROP_ALL, at=at),)), "rdma") == {"SITE/entries/rest": "Ethernet0 and 2 more"}
    assert found(having((site(DROP_ALL, at=at),)), "cnp") == {"SITE/entries/rest": "Ethernet0 and 2 more"}


def test_nothing_at_ports_that_are_shut_uncabled_or_not_bound() -> None:
    assert found(having((site(DROP_ALL, at=("Ethernet24",)),)), "rdma") == {}
    assert found(having((site(DROP_ALL),), {"leaf1/Ethernet0/enabled": False}), "rdma") == {}
    assert found(having((site(DROP_ALL, at=()),)), "rdma") == {}


def test_addresses_that_come_from_the_wrong_side_may_be_dropped() -> None:
    """What claims to be a host of this leaf and comes from a spine is no packet of the fabric."""
    spoofed = AccessEntry(name="own", action="deny", sources=("10.2.1.0/24",))
    assert found(having((site(spoofed, at=("Ethernet224",)),)), "rdma") == {}
    assert found(having((site(spoofed, at=("Ethernet224",), stage="egress"),)), "rdma") == {
        "SITE/entries/own": "Ethernet224"
    }


def test_a_list_without_an_entry_for_roce_that_ends_in_a_deny_is_at_fault_itself() -> None:
    bgp = AccessEntry(name="bgp", protocol=6, destination_ports=BGP)
    assert found(having((site(bgp, otherwise="deny"),)), "rdma") == {"SITE": "Ethernet0"}


def test_sessions_at_the_ports_that_they_go_over() -> None:
    drop = AccessEntry(name="bgp", action="deny", protocol=6, destination_ports=BGP)
    assert found(having((site(drop, at=("Ethernet0", "Ethernet224")),)), "bgp") == {"SITE/entries/bgp": "Ethernet224"}
    for stage in ("control-plane", "ingress"):
        assert found(having((site(drop, at=("Ethernet224",), stage=stage),)), "bgp")  # type: ignore[arg-type]
    assert found(having((site(drop, at=("Ethernet224",), stage="services"),)), "bgp") == {}


def test_answers_from_port_179_are_missed_only_if_both_ends_drop_them() -> None:
    answers = site(AccessEntry(name="answers", action="deny", protocol=6, source_ports=BGP), at=("Ethernet224",))
    fabric = having((answers,))
    assert found(fabric, "bgp") == {}
    there = replace_fields(answers, bindings=(Binding(interface="Ethernet0", stage="ingress"),))
    devices = tuple(
        replace_fields(one, access_lists=(there,)) if one.name == "spine1" else one for one in fabric.devices
    )
    hits = [
        one
        for one in find(Index(replace_fields(fabric, devices=devices)), what="bgp", does="drop")
        if isinstance(one, AnalysisHit)
    ]
    assert [one.subject[0] for one in hits] == ["leaf1", "spine1"]


def test_a_list_for_services_drops_bfd_that_it_does_not_accept_and_never_bgp() -> None:
    ssh = AccessEntry(name="ssh", protocol=6, destination_ports=(PortRange(22, 22),))
    service = replace_fields(site(ssh, otherwise="deny"), bindings=(Binding(interface=None, stage="services"),))
    watched = {"leaf1/@neighbors/10.1.1.225/bfd": True}
    assert found(having((service,), watched), "bfd") == {"SITE": "Ethernet224"}
    assert (found(having((service,), watched), "bgp"), found(having((service,)), "bfd")) == ({}, {})
    everything = replace_fields(service, entries=(AccessEntry(name="any"),))
    assert found(having((everything,), watched), "bfd") == {}


def test_packets_of_the_switch_itself_pass_lists_of_egress_where_the_platform_says_so() -> None:
    drop = AccessEntry(name="bgp", action="deny", protocol=6, destination_ports=BGP)
    own = site(drop, at=("Ethernet224",), stage="egress", own_packets=True)
    assert found(having((own,)), "bgp") == {"SITE/entries/bgp": "Ethernet224"}
    unsaid = having((replace_fields(own, own_packets=UNKNOWN),))
    assert (found(unsaid, "bgp"), missing(unsaid, "bgp")) == ({}, ["device.access_lists"])


@pytest.mark.parametrize(
    ("entry", "does", "hit"),
    [
        (AccessEntry(name="x", dscp=0), "remark", True),
        (AccessEntry(name="x", dscps=(26,), dscp=26), "remark", False),
        (AccessEntry(name="x", dscps=(10,), dscp=0), "remark", False),
        (AccessEntry(name="x", traffic_class=0, action="next"), "class", True),
        (AccessEntry(name="x", dscps=(26,), traffic_class=3, action="next"), "class", False),
        (AccessEntry(name="x", polices=True, action="next"), "police", True),
        (AccessEntry(name="x", polices=True, protocol=6, action="next"), "police", False),
        (AccessEntry(name="x", redirects="Ethernet224"), "redirect", True),
    ],
)
def test_marks_policers_and_redirections(entry: AccessEntry, does: str, hit: bool) -> None:
    assert bool(found(having((site(entry),)), "roce", does)) is hit


OPCODES = [
    pytest.param(Bits(0x81, 0xFF), (False, True), id="CNPs"),
    pytest.param(Bits(0x11, 0xFF), (True, False), id="acknowledgements"),
    pytest.param(Bits(0x00, 0xE0), (True, False), id="reliable connections"),
    pytest.param(Bits(0x80, 0x80), (False, True), id="CNPs, and transports that hosts may use"),
    pytest.param(Bits(0x00, 0x00), (True, True), id="all"),
    pytest.param(Bits(0x40, 0xE0), (False, False), id="reliable datagrams, which no NIC has"),
    pytest.param(Bits(0x20, 0xE0), (False, False), id="unreliable connections"),
]


@pytest.mark.parametrize(("opcode", "drops"), OPCODES)
def test_opcodes_tell_data_from_cnps(opcode: Bits, drops: tuple[bool, bool]) -> None:
    fabric = having((site(AccessEntry(name="x", action="deny", opcode=opcode)),))
    assert (bool(found(fabric, "rdma")), bool(found(fabric, "cnp"))) == drops
    assert found(fabric, "bgp") == found(fabric, "bfd") == {}
    maybe = opcode in (Bits(0x80, 0x80), Bits(0x20, 0xE0))
    assert missing(fabric) == (["device.access_lists"] if maybe else [])


def test_a_finding_names_the_opcodes_and_ecn_bits_that_are_dropped() -> None:
    entry = AccessEntry(name="x", action="deny", opcode=Bits(0x10, 0xFE), ecns=(3,))
    (hit,) = find(Index(having((site(entry),))), what="rdma", does="drop")
    assert isinstance(hit, AnalysisHit)
    assert hit.facts["part"] == ", opcode 0x10-0x11, ECN 3"


def test_cnps_without_a_stated_dscp_are_surely_dropped_by_their_opcode() -> None:
    drop = AccessEntry(name="x", action="deny", opcode=Bits(0x81, 0xFF))
    classes = having((site(drop),)).classes
    unstated = {"@fabric/classes": [one for one in classes if one.purpose != "cnp"]}
    (hit,) = find(Index(having((site(drop),), unstated)), what="cnp", does="drop")
    assert isinstance(hit, AnalysisHit)
    assert hit.facts["dscps"] == "any"
    by_dscp = replace_fields(drop, dscps=(48,))
    assert found(having((site(by_dscp),), unstated), "cnp") == {}
    assert missing(having((site(by_dscp),), unstated), "cnp") == ["classes"]


def test_ecn_bits_that_hosts_do_not_send_are_not_dropped() -> None:
    stated = AccessEntry(name="x", action="deny", ecns=(0,))
    assert found(having((site(stated),)), "rdma") == {}
    assert missing(having((site(stated),))) == []
    (unstated,) = {str(one.tos) for one in having(()).hosts}
    assert unstated == "106"
    fabric = having((site(stated),))
    hosts = tuple(replace_fields(one, tos=UNKNOWN) for one in fabric.hosts)
    assert missing(replace_fields(fabric, hosts=hosts)) == ["host.tos"]
    marked = AccessEntry(name="x", action="deny", ecns=(3,))
    assert found(having((site(marked),)), "rdma") == {"SITE/entries/x": "Ethernet0"}
    assert found(having((site(marked, at=("Ethernet224",)),)), "bgp") == {}


def test_an_entry_for_ports_of_both_sides_drops_what_passes_both() -> None:
    def drop(here: str, there: str) -> dict[str, Any]:
        entry = AccessEntry(name="x", action="deny", interfaces=(here,), far_interfaces=(there,))
        lists = AccessList(name="SITE", entries=(entry,), bindings=(Binding(interface=None, stage="transit"),))
        return found(having((lists,)), "rdma")

    hit = "SITE/entries/x"
    assert drop("Ethernet224", "Ethernet0") == {hit: "Ethernet224"}
    assert drop("Ethernet0", "Ethernet224") == {hit: "Ethernet0"}
    assert drop("Ethernet0", "Ethernet8") == {hit: "Ethernet0"}
    assert drop("Ethernet224", "Ethernet232") == {}, "between uplinks nothing of this fabric passes"
    assert drop("Ethernet0", "Ethernet24") == {}, "no host is there"


def test_what_is_not_known_is_unknown() -> None:
    assert missing(having((site(replace_fields(DROP_ALL, others=("VLAN_ID 7",))),))) == ["device.access_lists"]
    assert missing(having((replace_fields(site(), entries=UNKNOWN),))) == ["device.access_lists"]
    assert missing(having(UNKNOWN)) == ["device.access_lists"]


def test_without_traffic_classes_of_rdma_nothing_is_reported() -> None:
    assert found(having((site(DROP_ALL),), {"@fabric/classes": []}), "rdma") == {}


def without_ipv6_links() -> dict[str, object]:
    """Return changes by which the session of leaf1 over Ethernet224 is one over an interface without addresses."""
    over = [{"interface": "Ethernet224", "remote_asn": "external"}]
    return {"leaf1/@neighbors": over, "leaf1/Ethernet224/addresses": []}


def test_neighbor_discovery_is_dropped_where_no_icmpv6_passes() -> None:
    tcp = AccessEntry(name="10", family="ipv6", protocol=6)
    rest = replace_fields(DROP_ALL, family="ipv6")
    at: Any = {"at": ("Ethernet224",)}
    changes = without_ipv6_links()
    assert found(having((site(tcp, rest, **at),), changes), "nd") == {"SITE/entries/rest": "Ethernet224"}
    assert found(having((site(tcp, rest, at=("Ethernet232",)),), changes), "nd") == {}
    icmp = replace_fields(tcp, name="20", protocol=58)
    assert found(having((site(tcp, icmp, rest, **at),), changes), "nd") == {}
    typed = replace_fields(icmp, others=("type 135",))
    assert found(having((site(tcp, typed, rest, **at),), changes), "nd") == {}
    assert missing(having((site(tcp, typed, rest, **at),), changes), "nd") == []
    assert found(having((site(tcp, rest, **at),)), "nd") == {}


def test_neighbor_discovery_that_is_dropped_with_bgp_is_one_finding() -> None:
    fabric = having((site(replace_fields(DROP_ALL, family="ipv6"), at=("Ethernet224",)),), without_ipv6_links())
    assert found(fabric, "bgp") == {"SITE/entries/rest": "Ethernet224"}
    assert found(fabric, "nd") == {}


PERMIT = AccessEntry(name="9", action="permit", protocol=6)
DENY = AccessEntry(name="10", action="deny")


@pytest.mark.parametrize(
    ("entries", "more", "numbers"),
    [
        ((PERMIT, DENY), {}, ("8", "7")),
        ((AccessEntry(name="1", action="deny"),), {}, ("", "")),
        ((replace_fields(DENY, name="rest"),), {}, ("", "")),
        ((replace_fields(DENY, priority=20),), {"family": "ipv4"}, ("21", "22")),
        ((replace_fields(PERMIT, priority=21), replace_fields(DENY, priority=20)), {"family": "ipv4"}, ("22", "23")),
        ((replace_fields(DENY, priority=20),), {}, ("", "")),
        ((PERMIT,), {"otherwise": "deny"}, ("10", "11")),
        ((replace_fields(PERMIT, priority=9),), {"family": "ipv4", "otherwise": "deny"}, ("8", "7")),
    ],
)
def test_new_entries_have_free_numbers_that_decide_first(
    entries: tuple[AccessEntry, ...], more: dict[str, Any], numbers: tuple[str, str]
) -> None:
    fabric = having((site(*entries, **more),))
    (hit,) = (one for one in find(Index(fabric), what="rdma", does="drop") if isinstance(one, AnalysisHit))
    assert (hit.facts["number"], hit.facts["next_number"]) == numbers
