"""What access lists do to packets: the first entry that matches decides each part of them, and doubt is kept."""

from typing import Any

from nodrop.model.access import AccessEntry, AccessList, Bits, PortRange
from nodrop.model.states import UNKNOWN
from nodrop.routing.filtering import AddressRange, PacketSet, decide_packets
from nodrop.routing.prefixes import parse_prefix
from nodrop.routing.roce_opcodes import DATA_OPCODES, OPTIONAL_DATA_OPCODES


def atom(text: str) -> AddressRange:
    found = parse_prefix(text)
    assert found is not None
    return AddressRange(found)


HOSTS = (atom("10.2.1.1"), atom("10.2.1.9"))
ROCE = PacketSet(
    "ipv4", 17, HOSTS, (atom("10.2.2.1"),), destination_ports=(PortRange(4791, 4791),), dscps=frozenset({26})
)


def deny(name: str = "drop", **conditions: Any) -> AccessEntry:
    return AccessEntry(name=name, action="deny", **conditions)


def decided(*entries: AccessEntry, packets: PacketSet = ROCE, **fields: Any) -> set[tuple[str, str | None, bool]]:
    rules = AccessList(name="SITE", entries=entries, **fields)
    found = decide_packets(rules, "Ethernet0", packets)
    return {(one.action, None if one.entry is None else one.entry.name, one.sure) for one in found}


def test_the_first_entry_that_matches_decides() -> None:
    permit = AccessEntry(name="roce", protocol=17, destination_ports=(PortRange(4000, 5000),))
    assert decided(permit, deny()) == {("permit", "roce", True)}
    assert decided(deny(), permit) == {("deny", "drop", True)}


def test_without_a_match_the_last_action_of_the_platform_holds() -> None:
    other = deny(protocol=6)
    assert decided(other) == {("permit", None, True)}
    assert decided(other, otherwise="deny") == {("deny", None, True)}
    assert decided(other, otherwise=UNKNOWN) == {("unknown", None, False)}


def test_packets_are_cut_by_addresses_ports_and_dscps() -> None:
    assert decided(deny(sources=("10.2.1.1/32",))) == {("deny", "drop", True), ("permit", None, True)}
    assert decided(deny(sources=("10.9.0.0/16",))) == {("permit", None, True)}
    assert decided(deny(source_ports=(PortRange(0, 1023),))) == {("deny", "drop", True), ("permit", None, True)}
    assert decided(deny(dscps=(10,))) == {("permit", None, True)}
    assert decided(deny(destination_ports=(PortRange(1, 4790),))) == {("permit", None, True)}


def test_of_a_subnet_around_a_prefix_it_is_not_sure_that_a_host_is_in_it() -> None:
    wide = ROCE._replace(sources=(atom("10.2.1.0/24"),))
    assert decided(deny(sources=("10.2.1.7/32",)), packets=wide) == {("deny", "drop", False), ("permit", None, False)}


def test_a_condition_that_the_model_lacks_makes_a_drop_unknown_unless_the_rest_drops_too() -> None:
    odd = deny("odd", others=("VLAN_ID 7",))
    assert decided(odd) == {("unknown", "odd", False)}
    assert decided(odd, deny()) == {("deny", "drop", True)}
    assert decided(AccessEntry(name="odd", others=("VLAN_ID 7",)), deny()) == {("unknown", "odd", False)}


def test_entries_of_one_priority_that_disagree_are_unknown() -> None:
    assert decided(deny(priority=5), AccessEntry(name="pass", priority=5)) == {("unknown", "pass", False)}
    assert decided(deny(priority=5), AccessEntry(name="pass", priority=4)) == {("deny", "drop", True)}


def test_entries_that_are_refused_or_name_other_ports_match_nothing() -> None:
    assert decided(deny(refused="DSCP is no match")) == {("permit", None, True)}
    assert decided(deny(interfaces=("Ethernet8",))) == {("permit", None, True)}


def test_a_list_for_one_family_may_match_the_other_unless_it_says_which() -> None:
    six = PacketSet("ipv6", 6, (atom("fe80::/10"),), (atom("fe80::/10"),))
    assert decided(deny(), packets=six, family="ipv4") == {("unknown", "drop", False)}
    assert decided(deny(family="ipv4"), packets=six, family="ipv4") == {("permit", None, True)}


def test_marks_of_entries_that_go_on_and_of_the_last_one() -> None:
    classed = AccessEntry(name="class", action="next", traffic_class=0)
    marked = AccessEntry(name="mark", dscp=10)
    (found,) = decide_packets(AccessList(name="SITE", entries=(classed, marked)), "Ethernet0", ROCE)
    assert (found.action, found.marks.traffic_class, found.marks.dscp) == ("permit", (classed, 0), (marked, 10))
    (kept,) = decide_packets(
        AccessList(name="SITE", entries=(AccessEntry(name="x", dscps=(10,), dscp=0), marked)), "", ROCE
    )
    assert kept.marks.dscp == (marked, 10)


ACK, CNP = Bits(0x11, 0xFF), Bits(0x81, 0xFF)
DATA = ROCE._replace(opcodes=DATA_OPCODES, doubtful_opcodes=OPTIONAL_DATA_OPCODES, doubtful_ecns=frozenset({0, 1}))


def test_packets_of_roce_are_cut_by_opcodes_and_others_have_none() -> None:
    assert decided(deny(opcode=ACK), packets=DATA) == {("deny", "drop", True), ("permit", None, True)}
    assert decided(deny(opcode=CNP), packets=DATA) == {("permit", None, True)}
    assert decided(deny(opcode=Bits(0, 0)), packets=DATA) == {("deny", "drop", True)}
    assert decided(deny(opcode=ACK), deny("rest"), packets=DATA) == {("deny", "drop", True), ("deny", "rest", True)}
    assert decided(deny(opcode=Bits(0, 0))) == {("permit", None, True)}


def test_of_opcodes_and_ecn_bits_that_packets_may_lack_a_drop_is_not_sure() -> None:
    unreliable = Bits(0x20, 0xE0)
    assert decided(deny(opcode=unreliable), packets=DATA) == {("deny", "drop", False), ("permit", None, True)}
    assert decided(deny(ecns=(0,)), packets=DATA) == {("deny", "drop", False), ("permit", None, True)}
    assert decided(deny(ecns=(0, 3)), packets=DATA) == {("deny", "drop", True), ("permit", None, True)}
    assert decided(deny(ecns=(0, 1, 2, 3)), packets=DATA) == {("deny", "drop", True)}


def test_an_entry_for_ports_of_the_other_side_matches_only_what_passes_there() -> None:
    to_host = deny(far_interfaces=("swp1",))
    assert decided(to_host, packets=DATA._replace(far_port="swp1")) == {("deny", "drop", True)}
    assert decided(to_host, packets=DATA._replace(far_port="swp2")) == {("permit", None, True)}
    assert decided(to_host, packets=DATA) == {("unknown", "drop", False)}


def test_a_list_that_is_not_read_is_unknown() -> None:
    assert [one.action for one in decide_packets(AccessList(name="SITE", entries=UNKNOWN), "Ethernet0", ROCE)] == [
        "unknown"
    ]
