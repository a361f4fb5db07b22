"""What access lists do to packets: the first entry that matches decides each part of them, and doubt is kept."""

from typing import Any

from nodrop.model.access import AccessEntry, AccessList, PortRange
from nodrop.model.states import UNKNOWN
from nodrop.routing.filtering import Atom, Packets, decide
from nodrop.routing.prefixes import prefix


def atom(text: str) -> Atom:
    found = prefix(text)
    assert found is not None
    return Atom(found)


HOSTS = (atom("10.2.1.1"), atom("10.2.1.9"))
ROCE = Packets(
    "ipv4", 17, HOSTS, (atom("10.2.2.1"),), destination_ports=(PortRange(4791, 4791),), dscps=frozenset({26})
)


def deny(name: str = "drop", **conditions: Any) -> AccessEntry:
    return AccessEntry(name=name, action="deny", **conditions)


def decided(*entries: AccessEntry, packets: Packets = ROCE, **fields: Any) -> set[tuple[str, str | None, bool]]:
    rules = AccessList(name="SITE", entries=entries, **fields)
    found = decide(rules, "Ethernet0", packets)
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
    six = Packets("ipv6", 6, (atom("fe80::/10"),), (atom("fe80::/10"),))
    assert decided(deny(), packets=six, family="ipv4") == {("unknown", "drop", False)}
    assert decided(deny(family="ipv4"), packets=six, family="ipv4") == {("permit", None, True)}


def test_marks_of_entries_that_go_on_and_of_the_last_one() -> None:
    classed = AccessEntry(name="class", action="next", traffic_class=0)
    marked = AccessEntry(name="mark", dscp=10)
    (found,) = decide(AccessList(name="SITE", entries=(classed, marked)), "Ethernet0", ROCE)
    assert (found.action, found.marks.traffic_class, found.marks.dscp) == ("permit", (classed, 0), (marked, 10))
    (kept,) = decide(AccessList(name="SITE", entries=(AccessEntry(name="x", dscps=(10,), dscp=0), marked)), "", ROCE)
    assert kept.marks.dscp == (marked, 10)


def test_a_list_that_is_not_read_is_unknown() -> None:
    assert [one.action for one in decide(AccessList(name="SITE", entries=UNKNOWN), "Ethernet0", ROCE)] == ["unknown"]
