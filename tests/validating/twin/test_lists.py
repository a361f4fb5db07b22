"""At which interfaces of a twin access lists act, and what of them is not applied and why."""

from typing import Any

import pytest

from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Binding, PortRange
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, End, Fabric, Interface, Link
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.validating.twin.list_programs import DROP, PASS
from nodrop.validating.twin.lists import TwinFilters, build_filters
from nodrop.validating.twin.packets import ProbePacket
from nodrop.validating.twin.plan import NamespaceKey, TwinInterface, plan_twin
from nodrop.validating.twin.reaching import DeniedPacket
from support.bpf_machine import interpreted
from support.frames import Frame
from validating.twin.test_list_programs import FOUR, at

DENY = AccessEntry(name="1", action="deny")
PERMIT = AccessEntry(name="0", action="permit", sources=("10.2.1.0/24",))
PORTS = tuple(Interface(name=f"p{number}", addresses=(f"10.0.{number}.0/31",)) for number in (1, 2))
VLAN = Vlan(id=5, members=(VlanMember(interface="p2", tagged=False),), addresses=("10.5.0.1/24",))


def site(
    *entries: AccessEntry, ports: tuple[str | None, ...] = ("p1",), stage: AccessListStage = "ingress", **more: Any
) -> Any:
    bindings = tuple(Binding(interface=port, stage=stage) for port in ports)
    return AccessList(name="A", entries=entries, bindings=bindings, **more)


def applied(*lists: AccessList, **device: Any) -> TwinFilters:
    """Return what applies lists of switch a, whose ports p1 and p2 lead to switch b."""
    made = {"interfaces": PORTS, **device}
    devices = (
        Device(name="a", platform="sonic", access_lists=lists, **made),
        Device(name="b", platform="sonic", **made),
    )
    links = tuple(Link(a=End("a", f"p{n}"), b=End("b", f"p{n}")) for n in (1, 2))
    fabric = Fabric(name="pair", mode="lossless", devices=devices, links=links)
    return build_filters(fabric, plan_twin(fabric))


def where(found: TwinFilters) -> dict[str, list[str]]:
    """Return the ways by the interfaces at which programs run, all of switch a."""
    assert {space.node for space, _ in found.programs} <= {"a"}
    return {name: [way for way, _ in rows] for (_, name), rows in found.programs.items()}


def verdicts(found: TwinFilters, name: str, frame: Frame) -> list[bool]:
    """Return of each program at an interface whether it drops a frame."""
    rows = next(rows for (_, at_name), rows in found.programs.items() if at_name == name)
    ends = [interpreted(program, frame.raw()) for _, program in rows]
    assert set(ends) <= {DROP, PASS}
    return [end == DROP for end in ends]


@pytest.mark.parametrize(
    ("ports", "stage", "expected"),
    [
        (("p1",), "ingress", {"p1": ["ingress"]}),
        (("p1", "p2"), "egress", {"p1": ["egress"], "p2": ["egress"]}),
        ((None,), "transit", {"p1": ["ingress"], "p2": ["ingress"]}),
        ((None,), "control-plane-out", {"p1": ["egress"], "p2": ["egress"]}),
        (("p9",), "ingress", {}),
    ],
)
def test_a_list_acts_at_its_ports(
    ports: tuple[str | None, ...], stage: AccessListStage, expected: dict[str, list[str]]
) -> None:
    assert where(applied(site(DENY, ports=ports, stage=stage, own_packets=True))) == expected


def test_lists_are_asked_in_their_order_and_each_by_itself() -> None:
    found = applied(site(PERMIT, DENY), replace_fields(site(DENY), name="B"))
    assert where(found) == {"p1": ["ingress", "ingress"]}
    assert verdicts(found, "p1", FOUR) == [False, True]
    assert verdicts(found, "p1", FOUR._replace(source=at("10.9.9.9"))) == [True, True]
    space = next(iter(found.programs))[0]
    lines = list(found.tc_batch_commands(space))
    assert lines[0] == "qdisc add dev p1 clsact"
    assert [line.split(' bytecode "')[0] for line in lines[1:]] == [
        "filter add dev p1 ingress pref 1 bpf da", "filter add dev p1 ingress pref 2 bpf da",
    ]  # fmt: skip
    assert list(found.rendered_notes) == []
    assert found.lacking == []


def test_entries_for_some_ports_act_there_alone() -> None:
    found = applied(site(replace_fields(DENY, interfaces=("p2",)), ports=(None,)))
    assert (verdicts(found, "p1", FOUR), verdicts(found, "p2", FOUR)) == ([False], [True])


def test_a_vlan_is_its_interface_and_its_members_are_ports() -> None:
    routed = {"interfaces": (PORTS[0], Interface(name="p2")), "vlans": (VLAN,)}
    assert where(applied(site(DENY, ports=("VLAN 5",)), **routed)) == {"Vlan5": ["ingress"]}
    member = where(applied(site(DENY, ports=("p2",)), **routed))
    assert list(member.values()) == [["ingress"]]
    assert "Vlan5" not in member
    named = applied(site(replace_fields(DENY, interfaces=("VLAN 5", "p2")), ports=(None,)), **routed)
    assert verdicts(named, "Vlan5", FOUR) == [True]
    assert verdicts(named, "p1", FOUR) == [False]


BUNDLE = {
    "interfaces": (Interface(name="p1"), Interface(name="p2")),
    "port_channels": (PortChannel(name="po1", members=("p1", "p2"), addresses=("10.0.0.0/31",)),),
}


def test_a_bundle_is_one_interface_for_lists_at_it_or_at_all_of_its_members() -> None:
    assert where(applied(site(DENY, ports=("po1",)), **BUNDLE)) == {"po1": ["ingress"]}
    assert where(applied(site(DENY, ports=("p1", "p2")), **BUNDLE)) == {"po1": ["ingress"]}
    some = applied(site(DENY, ports=("p1",)), **BUNDLE)
    assert where(some) == {}
    why = "access list A, for it acts at some members of po1, which is one interface in the twin"
    assert list(some.rendered_notes) == [f"not applied in the twin: {why} (a)"]
    assert some.lacking == [f"{why} of a"]
    entry = applied(site(replace_fields(DENY, interfaces=("p1",)), ports=(None,)), **BUNDLE)
    assert where(entry) == {}
    assert entry.lacking


def test_own_addresses_tell_packets_of_the_switch_itself() -> None:
    found = applied(site(DENY, ports=(None,), stage="control-plane"))
    bgp = FOUR._replace(protocol=6, destination_port=179)
    assert verdicts(found, "p2", bgp._replace(destination=at("10.0.1.0"))) == [True]
    assert verdicts(found, "p2", bgp._replace(destination=at("10.0.1.1"))) == [False]


@pytest.mark.parametrize(
    ("rules", "note", "lacks"),
    [
        (replace_fields(site(), entries=UNKNOWN), "access list A, whose entries are not known", True),
        (site(otherwise=UNKNOWN), "what access list A does without a match, for that is not known", True),
        (
            site(PERMIT, otherwise=UNKNOWN, family="ipv4"),
            "what access list A does without a match, for that is not known", True,
        ),
        (
            site(replace_fields(DENY, others=("VLAN_ID 5",))),
            "entry 1 of access list A, for conditions that the twin lacks: VLAN_ID 5", True,
        ),
        (
            site(replace_fields(DENY, protocol=1, others=("icmp-type 8",))),
            "entry 1 of access list A, for conditions that the twin lacks: icmp-type 8", False,
        ),
        (site(replace_fields(PERMIT, polices=True)), "its policers, access list A", False),
        (site(replace_fields(PERMIT, redirects="p2")), "its redirects, access list A", False),
        (site(replace_fields(PERMIT, dscp=0)), "the DSCPs that it sets, access list A", False),
        (site(replace_fields(PERMIT, traffic_class=0)), "the traffic classes that it sets, access list A", False),
        (
            site(DENY, stage="services", ports=(None,)),
            "access list A of the control plane, which lets BGP pass", False,
        ),
        (site(DENY, ports=("VLAN 9",)), "access list A at VLAN 9, which the twin does not have", False),
        (
            site(DENY, stage="egress"),
            "access list A at egress to what the switch itself sends, for it is not known whether it is", False,
        ),
    ],
)  # fmt: skip
def test_what_is_not_applied_is_named(rules: AccessList, note: str, lacks: bool) -> None:
    found = applied(rules)
    assert list(found.rendered_notes) == [f"not applied in the twin: {note} (a)"]
    assert bool(found.lacking) is lacks


def test_the_last_entry_of_a_list_settles_what_it_does_without_a_match() -> None:
    every = AccessEntry(name="2", family="ipv4")
    found = applied(site(replace_fields(DENY, protocol=17), every, otherwise=UNKNOWN, family="ipv4"))
    assert verdicts(found, "p1", FOUR) == [True]
    assert list(found.rendered_notes) == []
    both = applied(site(every, otherwise=UNKNOWN))
    assert both.lacking == ["what access list A does without a match, for that is not known of a"]


def test_entries_around_one_that_the_twin_lacks_are_applied() -> None:
    doubtful = AccessEntry(name="1", others=("TTL 5",), sources=("10.2.1.0/24",), action="deny")
    drop = replace_fields(DENY, name="2", protocol=17)
    near, far = FOUR, FOUR._replace(source=at("10.9.9.9"))
    found = applied(site(doubtful, drop))
    assert (verdicts(found, "p1", near), verdicts(found, "p1", far)) == ([True], [True])
    assert len(found.lacking) == 1
    permitted = applied(site(replace_fields(doubtful, action="permit"), drop))
    assert (verdicts(permitted, "p1", near), verdicts(permitted, "p1", far)) == ([False], [True])


@pytest.mark.parametrize(
    ("conditions", "matters"),
    [
        ({}, True),
        ({"protocol": 17, "destination_ports": ((4000, 5000),)}, True),
        ({"protocol": 17, "source_ports": ((49152, 65535),)}, True),
        ({"protocol": 17, "destination_ports": ((53, 53),)}, False),
        ({"protocol": 6, "destination_ports": ((22, 22),)}, False),
        ({"protocol": 6, "destination_ports": ((179, 179),)}, True),
        ({"protocol": 6, "source_ports": ((179, 179),), "destination_ports": ((1024, 65535),)}, True),
        ({"protocol": 6, "source_ports": ((22, 22),), "destination_ports": ((1024, 65535),)}, False),
        ({"protocol": 58}, True),
        ({"protocol": 1}, False),
        ({"family": "other"}, False),
    ],
)
def test_what_cannot_match_the_twins_packets_holds_nothing_up(conditions: dict[str, Any], matters: bool) -> None:
    ports = {field: (PortRange(*port_ranges[0]),) for field, port_ranges in conditions.items() if "ports" in field}
    found = applied(site(AccessEntry(name="1", action="deny", others=("TTL 5",), **{**conditions, **ports})))
    assert len(list(found.rendered_notes)) == 1
    assert bool(found.lacking) is matters


FROM_HOST = ProbePacket(NamespaceKey("h"), at("10.0.7.1"), at("10.9.9.9"))
HERE, BEHIND = (NamespaceKey("a"), "p1"), (NamespaceKey("a"), "p2")


@pytest.mark.parametrize(
    ("rules", "where", "said"),
    [
        (site(PERMIT, DENY), HERE, ", dropped there by entry 1 of access list A"),
        (site(PERMIT, otherwise="deny"), HERE, ", dropped there by the last action of access list A"),
        (site(DENY, stage="egress"), BEHIND, ", dropped by entry 1 of access list A where it leaves a"),
        (site(DENY, stage="transit-out"), BEHIND, ", dropped by entry 1 of access list A where it leaves a"),
        (site(DENY), BEHIND, ""),
        (site(replace_fields(DENY, dscps=(48,))), HERE, ""),
        (site(replace_fields(DENY, source_ports=(PortRange(1, 1023),))), HERE, ""),
        (site(DENY, stage="control-plane"), HERE, ""),
    ],
)
def test_the_entry_that_drops_a_packet_is_named(rules: AccessList, where: tuple[NamespaceKey, str], said: str) -> None:
    assert applied(rules).denial_cause(DeniedPacket(FROM_HOST, where, ("p1",))) == said


EGRESS = site(replace_fields(DENY, name="7"), stage="egress")
OTHER = replace_fields(site(DENY, ports=("p2",), stage="egress"), name="B")


@pytest.mark.parametrize(
    ("leaves_by", "named"),
    [
        (("p1",), "entry 7 of access list A"),
        (("p2",), "entry 1 of access list B"),
        (("p2", "p1"), "entry 1 of access list B or entry 7 of access list A"),
        ((), ""),
    ],
)
def test_only_lists_where_the_route_of_a_packet_leaves_drop_it(leaves_by: tuple[str, ...], named: str) -> None:
    said = named and f", dropped by {named} where it leaves a"
    assert applied(EGRESS, OTHER).denial_cause(DeniedPacket(FROM_HOST, HERE, leaves_by)) == said


def test_entries_of_ports_of_a_vlan_drop_what_leaves_by_it() -> None:
    ports = (PORTS[0], replace_fields(PORTS[1], addresses=()))
    found = applied(EGRESS, OTHER, interfaces=ports, vlans=(VLAN,))
    (bridge,) = (name for space, name in found.bridged if space == NamespaceKey("a"))
    said = ", dropped by entry 1 of access list B where it leaves a"
    assert found.denial_cause(DeniedPacket(FROM_HOST, HERE, (bridge,))) == said


def test_packets_for_a_switch_and_from_it_pass_lists_for_others_and_for_the_control_plane() -> None:
    to_switch = DeniedPacket(FROM_HOST._replace(target=at("10.0.1.0")), HERE, ())
    assert applied(site(DENY)).denial_cause(to_switch) == ", dropped there by entry 1 of access list A"
    stages: tuple[AccessListStage, ...] = ("transit", "control-plane")
    for stage in stages:
        assert applied(site(DENY, stage=stage)).denial_cause(to_switch) == ""
    from_switch = DeniedPacket(ProbePacket(NamespaceKey("a"), at("10.0.7.1"), at("10.0.1.0")), None, ("p1",))
    named = ", dropped by entry 1 of access list A where it leaves a"
    assert applied(site(DENY, stage="egress")).denial_cause(from_switch) == ""
    assert applied(site(DENY, stage="egress", own_packets=True)).denial_cause(from_switch) == named
    out_stages: tuple[AccessListStage, ...] = ("transit-out", "control-plane-out")
    for stage in out_stages:
        assert applied(site(DENY, stage=stage)).denial_cause(from_switch) == ""


def test_a_frame_that_is_seen_nowhere_is_dropped_at_the_other_end_of_its_cable() -> None:
    lost = DeniedPacket(ProbePacket(NamespaceKey("b"), at("10.0.7.1"), at("10.9.9.9"), "p1"), None, ("p1",))
    assert applied(site(DENY)).denial_cause(lost) == ", dropped by entry 1 of access list A where it enters a"
    assert applied(site(DENY, ports=("p2",))).denial_cause(lost) == ""


@pytest.mark.parametrize(("stage", "expected"), [("egress", True), ("transit-out", True), ("ingress", False)])
def test_it_is_known_where_lists_act_on_what_leaves(stage: AccessListStage, expected: bool) -> None:
    fabric_filters = applied(site(DENY, stage=stage))
    nics = [TwinInterface(space=NamespaceKey("a"), name=name, leg=name) for name in ("p1", "p2")]
    assert [fabric_filters.filters_egress(nic) for nic in nics] == [expected, False]


def test_an_entry_for_another_port_drops_nothing_here() -> None:
    found = applied(site(replace_fields(DENY, interfaces=("p2",)), ports=(None,)))
    assert found.denial_cause(DeniedPacket(FROM_HOST, HERE, ())) == ""
    assert found.denial_cause(DeniedPacket(FROM_HOST, BEHIND, ())) == ", dropped there by entry 1 of access list A"


def test_notes_name_some_switches() -> None:
    devices = tuple(
        Device(name=f"s{number}", platform="sonic", access_lists=(replace_fields(site(), entries=UNKNOWN),))
        for number in range(10)
    )
    fabric = Fabric(name="ten", mode="lossless", devices=devices)
    (told,) = build_filters(fabric, plan_twin(fabric)).rendered_notes
    assert told.endswith("(s0, s1, s2, s3, s4, s5, s6, s7 and 2 more switches)")


def test_lists_that_act_nowhere_or_are_not_known_make_no_note() -> None:
    assert list(applied(site(DENY, ports=())).rendered_notes) == []
    devices = (Device(name="a", platform="sonic", access_lists=UNKNOWN),)
    fabric = Fabric(name="one", mode="lossless", devices=devices)
    assert list(build_filters(fabric, plan_twin(fabric)).rendered_notes) == []
