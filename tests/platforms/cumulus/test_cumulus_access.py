"""Rules of cl-acltool: which entries they are, where they stand, and which lines are not understood."""

from pathlib import Path

import pytest

import nodrop
from nodrop.locate import add_finding_places
from nodrop.model.access import AccessEntry, AccessList, Bits, PortRange
from nodrop.model.reading import DeviceReading, Source
from nodrop.model.states import known_rows
from nodrop.platforms import make_place_finder, reader

STANZAS = """auto swp1
iface swp1
    address 10.2.0.1/31
auto swp2
iface swp2
    address 10.1.0.0/31
auto swp3
iface swp3
auto swp4
iface swp4
auto bond1
iface bond1
    bond-slaves swp4
auto bridge
iface bridge
    bridge-ports swp3
    bridge-vlan-aware yes
    bridge-vids 10
auto vlan10
iface vlan10
    address 10.3.0.1/24
    vlan-id 10
    vlan-raw-device bridge
"""


def switch(**files: str) -> DeviceReading:
    texts = {"interfaces": STANZAS, **{f"policy.d/{name}.rules": text for name, text in files.items()}}
    bundle = [(Source(name=name, display=name), text.encode()) for name, text in texts.items()]
    return reader("cumulus").read_device("leaf1", bundle)


def lists(rules: str, section: str = "iptables") -> dict[str, AccessList]:
    return {one.name: one for one in known_rows(switch(a=f"[{section}]\n{rules}\n").device.access_lists)}


def entry(rule: str, section: str = "iptables", chain: str = "FORWARD") -> AccessEntry:
    (found,) = known_rows(lists(rule, section)[chain].entries)
    return found


@pytest.mark.parametrize(
    ("rule", "stages"),
    [
        ("-A FORWARD -i swp1 -j DROP", {"FORWARD": "transit"}),
        ("-A FORWARD -p udp -j DROP", {"FORWARD": "transit"}),
        ("-A FORWARD -o swp1 -j DROP", {"FORWARD -o": "transit-out"}),
        ("-A INPUT,FORWARD -i swp1 -j DROP", {"FORWARD": "transit", "INPUT": "control-plane"}),
        ("-A OUTPUT -o swp1 -j DROP", {"OUTPUT": "control-plane-out"}),
        ("-t mangle -A PREROUTING -i swp1 -j DROP", {"mangle PREROUTING": "ingress"}),
        ("-t mangle -A POSTROUTING -o swp1 -j DROP", {"mangle POSTROUTING": "egress"}),
    ],
)
def test_chains_say_where_a_list_acts(rule: str, stages: dict[str, str]) -> None:
    found = lists(rule)
    assert {name: one.bindings[0].stage for name, one in found.items()} == stages
    assert all(one.bindings[0].interface is None and one.otherwise == "permit" for one in found.values())


def test_conditions_of_packets() -> None:
    found = entry(
        "-A FORWARD -s 10.0.0.0/8,192.0.2.1 -d 10.2.0.0/16 -p tcp -m multiport --dports 22,100:200 "
        "--sport bgp -m dscp --dscp 0x1a --tcp-flags SYN,ACK SYN -j DROP"
    )
    assert found == AccessEntry(
        name="a.rules:2",
        action="deny",
        family="ipv4",
        protocol=6,
        sources=("10.0.0.0/8", "192.0.2.1/32"),
        destinations=("10.2.0.0/16",),
        source_ports=(PortRange(179, 179),),
        destination_ports=(PortRange(22, 22), PortRange(100, 200)),
        dscps=(26,),
        tcp_flags=Bits(2, 18),
    )


@pytest.mark.parametrize(
    ("named", "ports"),
    [
        ("swp1", ("swp1",)),
        ("swp1,swp2", ("swp1", "swp2")),
        ("swp+", ()),
        ("ANY", ()),
        ("eth0", ("eth0",)),
        ("bond1", ("bond1", "swp4")),
        ("bond+", ("bond1", "swp4")),
        ("vlan10", ("VLAN 10", "swp3")),
    ],
)
def test_names_of_interfaces_stand_for_ports(named: str, ports: tuple[str, ...]) -> None:
    assert entry(f"-A FORWARD -i {named} -p udp -j DROP").interfaces == ports


def test_a_rule_may_name_the_ports_of_both_sides() -> None:
    found = entry("-A FORWARD -i swp1 -o bond1 -p udp -j DROP")
    assert (found.interfaces, found.far_interfaces, found.others) == (("swp1",), ("bond1", "swp4"), ())
    assert entry("-A FORWARD -i swp1 -o swp+ -p udp -j DROP").far_interfaces == ()


def test_ecn_bits_alone_and_reversed() -> None:
    assert entry("-A FORWARD -m ecn --ecn-ip-ect 3 -j DROP").ecns == (3,)
    assert entry("-A FORWARD -m ecn ! --ecn-ip-ect 0 -j DROP").ecns == (1, 2, 3)


def test_what_comes_for_the_switch_by_a_vlan_is_not_of_switch_ports() -> None:
    assert entry("-A INPUT -i swp+ -p udp -j DROP", chain="INPUT").interfaces == ("swp1", "swp2", "swp4")


@pytest.mark.parametrize(
    ("rule", "others"),
    [
        ("-t mangle -A PREROUTING -i swp1 -o swp2 -j DROP", ("-o swp2",)),
        ("-A FORWARD -p tcp -m ecn --ecn-tcp-cwr -j DROP", ("--ecn-tcp-cwr",)),
        ("-A FORWARD -m ecn --ecn-ip-ect 4 -j DROP", ("--ecn-ip-ect 4",)),
        ("-A FORWARD ! -s 10.0.0.0/8,11.0.0.0/8 -j DROP", ("! -s 10.0.0.0/8,11.0.0.0/8",)),
        ("-A FORWARD ! -d 0.0.0.0/0 -j DROP", ("! -d 0.0.0.0/0",)),
        ("-A FORWARD ! -i swp1 -j DROP", ("! -i swp1",)),
        ("-A FORWARD ! -p udp -j DROP", ("! -p udp",)),
        ("-A FORWARD -m state --state NEW -j DROP", ("-m state", "--state NEW")),
        ("-A FORWARD -p udp --dport nothing -j DROP", ("--dport nothing",)),
        ("-A FORWARD -i swp1 -j LOG --log-prefix seen", ("-j LOG",)),
    ],
)
def test_other_conditions_are_kept_as_such(rule: str, others: tuple[str, ...]) -> None:
    found = entry(rule, chain="mangle PREROUTING" if "mangle" in rule else "FORWARD")
    assert (found.others, found.action) == (others, "deny")


@pytest.mark.parametrize("rule", ["! -s 128.0.0.0/2", "-s ! 128.0.0.0/2"])
def test_a_reversed_address_is_all_others_of_its_family(rule: str) -> None:
    assert entry(f"-A FORWARD {rule} -j DROP").sources == ("0.0.0.0/1", "192.0.0.0/2")


def test_reversed_ports_and_dscps_are_all_others() -> None:
    found = entry("-A FORWARD -p udp ! --dport 4791 --sport ! 0:1023 -m dscp ! --dscp 26 -j DROP")
    assert found.destination_ports == (PortRange(0, 4790), PortRange(4792, 65535))
    assert found.source_ports == (PortRange(1024, 65535),)
    assert found.dscps == tuple(dscp for dscp in range(64) if dscp != 26)
    assert found.others == ()


@pytest.mark.parametrize(
    ("rule", "field", "values"),
    [
        ("-m dscp ! --dscp 26 -m dscp ! --dscp 48", "dscps", tuple(sorted({*range(64)} - {26, 48}))),
        ("-m dscp --dscp 26 -m dscp ! --dscp 48", "dscps", (26,)),
        ("-m dscp ! --dscp 48 -m dscp --dscp 26", "dscps", (26,)),
        ("-s 10.0.0.0/8 -s 10.0.0.0/8", "sources", ("10.0.0.0/8",)),
        (
            "-p udp -m multiport --dports 4000:5000 -m multiport ! --dports 4791",
            "destination_ports",
            (PortRange(4000, 4790), PortRange(4792, 5000)),
        ),
        (
            "-p udp ! --sport 1 -m multiport ! --sports 2",
            "source_ports",
            (PortRange(0, 0), PortRange(3, 65535)),
        ),
    ],
)
def test_two_conditions_on_a_field_match_what_both_do(rule: str, field: str, values: tuple[object, ...]) -> None:
    found = entry(f"-A FORWARD {rule} -j DROP")
    assert (getattr(found, field), found.others) == (values, ())


@pytest.mark.parametrize(
    ("first", "second", "field", "values"),
    [
        ("-m dscp --dscp 26", "! --dscp 26", "dscps", (26,)),
        ("-p udp --dport 4791", "--dports 22", "destination_ports", (PortRange(4791, 4791),)),
        ("-s 10.0.0.0/8", "! -s 10.1.0.0/16", "sources", ("10.0.0.0/8",)),
        ("-p udp", "-p tcp", "protocol", 17),
        ("-p tcp --syn", "--tcp-flags ACK ACK", "tcp_flags", Bits(2, 23)),
    ],
)
def test_a_second_condition_that_joins_no_first_leaves_the_entry_unsure(
    first: str, second: str, field: str, values: object
) -> None:
    found = entry(f"-A FORWARD {first} {second} -j DROP")
    assert (getattr(found, field), found.others) == (values, (second,))


def test_targets() -> None:
    police = entry("-A FORWARD -i swp1 -j POLICE --set-mode pkt --set-rate 9 --set-burst 9 --set-class 2")
    assert (police.action, police.polices, police.traffic_class) == ("next", True, 2)
    three = "-A FORWARD -i swp1 -j TRICOLORPOLICE --set-cir 1 --set-exceed-action-dscp 8 --set-violate-action accept"
    assert (entry(three).polices, entry(three).dscp) == (False, 8)
    classed = entry("-A FORWARD -i swp1 -j SETCLASS --class 5")
    assert (classed.action, classed.traffic_class) == ("next", 5)
    marked = entry("-A FORWARD -i swp1 -j SETQOS --set-dscp-class af11")
    assert (marked.action, marked.dscp) == ("permit", 10)
    copied = entry("-A FORWARD -p udp --dport 4791 -j SPAN --dport swp2")
    assert (copied.action, copied.mirrors, copied.destination_ports) == ("permit", True, (PortRange(4791, 4791),))


def test_a_rule_that_accepts_everything_or_only_counts_is_ignored() -> None:
    assert lists("-A FORWARD -j ACCEPT\n-A FORWARD -p udp") == {}
    assert entry("-A FORWARD -j ACCEPT\n-A FORWARD -j DROP").name == "a.rules:3"


def test_rules_for_frames_are_doubtful_and_come_last() -> None:
    found = entry("-A FORWARD -p IPv4 --ip-proto udp --ip-dport 4791 -j drop", "ebtables")
    assert (found.family, found.protocol, found.destination_ports) == ("ipv4", 17, (PortRange(4791, 4791),))
    assert found.others == ("a rule for bridged frames",)
    assert entry("-A FORWARD -p ARP -j drop", "ebtables").family == "other"
    both = switch(a="[ebtables]\n-A FORWARD -p IPv4 -j drop\n", b="[iptables]\n-A FORWARD -p udp -j DROP\n")
    (forward,) = known_rows(both.device.access_lists)
    assert [one.name for one in known_rows(forward.entries)] == ["b.rules:2", "a.rules:2"]


def test_files_go_by_their_names() -> None:
    files = {"20": "[iptables]\n-A FORWARD -p udp -j DROP\n", "100": "[iptables]\n-A FORWARD -p tcp -j DROP\n"}
    (forward,) = known_rows(switch(**files).device.access_lists)
    assert [one.name for one in known_rows(forward.entries)] == ["100.rules:2", "20.rules:2"]


def test_values_of_variables_do_not_make_a_line_of_any_length() -> None:
    drops = "-A FORWARD -i $PORTS -j DROP\n-A FORWARD -i $PORTS$PORTS$PORTS -j DROP\n"
    reading = switch(a=f"[iptables]\nPORTS = {'swp1,' * 1000}swp2\n{drops}")
    (found,) = known_rows(reading.device.access_lists)
    assert [one.name for one in known_rows(found.entries)] == ["a.rules:3"]
    assert [(one.about, one.line) for one in reading.notes] == [("variables with more than 10000 characters", 4)]


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("-P FORWARD DROP", "a line without `-A` and a chain"),
        ("-A INPUT -o swp1 -j DROP", "an output in the chain INPUT, which cl-acltool refuses"),
        ("FORWARD -j DROP", "a word without an option"),
        ("-A FORWARD -j MYCHAIN", "a target that cl-acltool does not have"),
        ("-A MYCHAIN -j DROP", "a chain or table that cl-acltool does not have"),
        ("-t nat -A PREROUTING -j DROP", "a chain or table that cl-acltool does not have"),
        ("-A FORWARD -s $NOWHERE -j DROP", "a variable without a value"),
        ("-A FORWARD -m comment --comment 'open -j DROP", "a quote without an end"),
        ("-A FORWARD -i -p udp -j DROP", "`-i` without a value"),
        ("-A FORWARD -i swp1 -j SETCLASS --class 9", "the value of an option of the target SETCLASS"),
        ("-A FORWARD -i swp1 -j POLICE --set-colour red", "an option of the target POLICE"),
    ],
)
def test_a_line_that_is_not_understood_is_unknown(line: str, about: str) -> None:
    reading = switch(a=f"[iptables]\n{line}\n-A FORWARD -p tcp --dport 23 -j DROP\n")
    assert [(one.about, one.file, one.line) for one in reading.notes] == [(about, "policy.d/a.rules", 2)]
    (forward,) = known_rows(reading.device.access_lists)
    assert [one.name for one in known_rows(forward.entries)] == ["a.rules:3"]


def test_a_rule_outside_of_a_section_is_unknown() -> None:
    assert [one.about for one in switch(a="-A FORWARD -j DROP\n").notes] == ["a rule outside of a section"]


@pytest.mark.parametrize("below", [".", "policy.d", "acl/policy.d", "etc/cumulus/acl/policy.d"])
def test_rules_below_a_device_are_its_own_and_findings_stand_at_their_line(tmp_path: Path, below: str) -> None:
    folder = tmp_path / "leaf1" / below
    folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / "leaf1" / "interfaces").write_text(STANZAS)
    (tmp_path / "leaf1" / "qos_features.conf").write_text(
        "pfc.port_group_list = [a]\npfc.a.port_set = swp1\npfc.a.cos_list = [3]\n"
    )
    (folder / "50_a.rules").write_text("PORTS = swp1\n\n[iptables]\n-A FORWARD -i $PORTS -p udp -j DROP\n")
    (folder / "notes.txt").write_text("not a rule\n")
    reading = nodrop.read([str(tmp_path)])
    assert [one.name for one in reading.fabric.devices] == ["leaf1"]
    assert [Path(one.file or "").name for one in reading.notes if one.kind == "not-read"] == ["notes.txt"]
    verdict = nodrop.lint(reading)
    found = add_finding_places(verdict.findings, reading, make_place_finder).findings
    (place,) = [one.located for one in found if one.rule == "access-list-drops-rdma"]
    assert place is not None
    assert place.span is not None
    assert (Path(place.file).name, place.span.line) == ("50_a.rules", 4)


def test_files_without_rules_leave_the_lists_unknown() -> None:
    assert known_rows(switch().device.access_lists) == ()
    assert switch(a="[iptables]\n").device.access_lists == ()
