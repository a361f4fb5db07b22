"""Access lists of a config_db.json: as orchagent installs them, what it refuses, where they stand, and their edits."""

import json
from typing import Any

import pytest

from nodrop.model.access import AccessEntry, AccessList, Binding, Bits, PortRange
from nodrop.model.change import Change
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.sonic import edit
from nodrop.platforms.sonic.places import place_finder_for_files
from support.sonic_configs import read

METADATA = {"localhost": {"hostname": "leaf1", "hwsku": "ACS-MSN4700", "type": "ToRRouter"}}
PORTS = {"DEVICE_METADATA": METADATA, "PORT": {"Ethernet0": {"lanes": "1", "speed": "100000"}}}
DROP = {"PRIORITY": "10", "PACKET_ACTION": "DROP"}
ROCE = {"ROCE": {"MATCHES": ["BTH_OPCODE"], "ACTIONS": ["PACKET_ACTION"], "BIND_POINTS": ["PORT"]}}
"""A type of tables of a file's own, whose rules match opcodes."""
Row = dict[str, str]


def tables(table: dict[str, Any], rules: dict[str, Row], **more: Any) -> dict[str, Any]:
    return {
        **PORTS,
        "ACL_TABLE": {"SITE": table},
        "ACL_RULE": {f"SITE|{name}": row for name, row in rules.items()},
        **more,
    }


def lists(table: dict[str, Any], **rules: Row) -> tuple[AccessList, ...]:
    found = read(tables(table, rules, ACL_TABLE_TYPE=ROCE)).device.access_lists
    assert isinstance(found, tuple)
    return found


def entry(row: Row, kind: str = "L3", stage: str = "ingress") -> AccessEntry:
    (one,) = lists({"type": kind, "stage": stage, "ports": ["Ethernet0"]}, R=row)
    assert isinstance(one.entries, tuple)
    return one.entries[0]


def test_the_highest_priority_decides_and_what_no_rule_matches_is_forwarded() -> None:
    table = {"type": "L3", "stage": "EGRESS", "ports": ["Vlan100", "PortChannel1", "Ethernet0"]}
    (one,) = lists(table, LOW=DROP, HIGH={"PRIORITY": "9000", "PACKET_ACTION": "FORWARD", "IP_PROTOCOL": "6"})
    assert isinstance(one.entries, tuple)
    assert [each.name for each in one.entries] == ["HIGH", "LOW"]
    assert (one.family, one.otherwise, one.own_packets) == ("ipv4", "permit", UNKNOWN)
    assert one.bindings == tuple(
        Binding(interface=name, stage="egress") for name in ("Ethernet0", "PortChannel1", "VLAN 100")
    )


def test_a_switch_without_access_lists_and_a_part_of_a_configuration() -> None:
    assert read(PORTS).device.access_lists == ()
    assert read({"PORT": PORTS["PORT"]}).device.access_lists is UNKNOWN


@pytest.mark.parametrize(
    ("row", "kind", "fields"),
    [
        ({"IP_PROTOCOL": "17", "L4_DST_PORT_RANGE": "1024-65535"}, "L3",
         {"protocol": 17, "destination_ports": (PortRange(1024, 65535),)}),
        ({"SRC_IP": "10.2.0.0/16", "DST_IP": "10.2.1.1"}, "L3",
         {"family": "ipv4", "sources": ("10.2.0.0/16",), "destinations": ("10.2.1.1/32",)}),
        ({"SRC_IP": "10.2.0.0", "SRC_IP_MASK": "255.255.0.0"}, "L3", {"family": "ipv4", "sources": ("10.2.0.0/16",)}),
        ({"ETHER_TYPE": "2048"}, "L3", {"family": "ipv4"}),
        ({"ETHER_TYPE": "0x0806"}, "L3", {"family": "other"}),
        ({"IP_TYPE": "IPV6ANY", "NEXT_HEADER": "6", "L4_SRC_PORT": "179"}, "L3V6",
         {"family": "ipv6", "protocol": 6, "source_ports": (PortRange(179, 179),)}),
        ({"TCP_FLAGS": "0x2/0x3f"}, "L3", {"protocol": 6, "tcp_flags": Bits(2, 63)}),
        ({"VLAN_ID": "7", "IP_PROTOCOL": "17"}, "L3", {"protocol": 17, "others": ("VLAN_ID 7",)}),
        ({"DSCP": "0x18/0x38"}, "MIRROR_DSCP", {"dscps": tuple(range(24, 32)), "others": ("PACKET_ACTION DROP",)}),
        ({"BTH_OPCODE": "0x80/0xF0"}, "ROCE", {"opcode": Bits(0x80, 0xF0)}),
        ({"IN_PORTS": "Ethernet0"}, "L3V4V6", {"interfaces": ("Ethernet0",)}),
    ],
)  # fmt: skip
def test_what_a_rule_matches(row: Row, kind: str, fields: dict[str, Any]) -> None:
    assert entry({**DROP, **row}, kind) == AccessEntry(name="R", action="deny", priority=10, **fields)


@pytest.mark.parametrize(
    ("row", "kind", "why"),
    [
        ({**DROP, "IP_TYPE": "IPV4", "IP_PROTOCOL": "17"}, "L3", "IP_TYPE 'IPV4' is unknown to orchagent"),
        ({**DROP, "DSCP": "26"}, "L3", "DSCP is no match of a table of type L3"),
        ({**DROP, "L4_DST_PORT_RANGE": "1-9"}, "L3V4V6", "L4_DST_PORT_RANGE is no match of a table of type L3V4V6"),
        ({**DROP, "PACKET_ACTION": "ACCEPT", "IP_PROTOCOL": "17"}, "L3", "PACKET_ACTION 'ACCEPT' is unknown"),
        (DROP, "L3", "it matches on nothing"),
        ({**DROP, "BTH_OPCODE": "0x81/0xff"}, "L3", "BTH_OPCODE is no match of a table of type L3"),
        ({"PRIORITY": "10", "IP_PROTOCOL": "17"}, "L3", "it has no action"),
    ],
)
def test_a_rule_that_orchagent_refuses_matches_nothing_and_is_remarked(row: Row, kind: str, why: str) -> None:
    refused = entry(row, kind).refused
    assert refused is not None
    assert refused.startswith(why)
    reading = read(tables({"type": kind, "ports": ["Ethernet0"]}, {"R": row}, ACL_TABLE_TYPE=ROCE))
    (remark,) = [one for one in reading.remarks if one.kind == "refused-rule"]
    assert remark.subject == ("leaf1", "@access_lists", "SITE", "entries", "R")


def test_an_opcode_that_the_schema_refuses_too_matches_nothing() -> None:
    assert entry({**DROP, "BTH_OPCODE": "0x81"}, "ROCE").refused == "BTH_OPCODE '0x81' has no mask (0x81/0xff)"
    assert entry({**DROP, "BTH_OPCODE": "0x181/0xff"}, "ROCE").refused == "BTH_OPCODE '0x181' is no number up to 255"


def test_rules_of_the_control_plane_are_for_services_and_none_of_them_is_refused() -> None:
    (one,) = lists(
        {"type": "CTRLPLANE", "services": ["SSH"]}, R={**DROP, "PACKET_ACTION": "ACCEPT", "SRC_IP": "0.0.0.0/0"}
    )
    assert one.bindings == (Binding(interface=None, stage="services"),)
    assert isinstance(one.entries, tuple)
    assert (one.entries[0].action, one.entries[0].refused) == ("permit", None)
    assert (one.entries[0].protocol, one.entries[0].destination_ports) == (6, (PortRange(22, 22),))
    assert one.otherwise == "deny"
    assert lists({"type": "CTRLPLANE", "services": ["SSH"]})[0].otherwise == "permit"


def test_a_type_of_the_files_own_and_one_that_is_not_there() -> None:
    rules = {"R": {**DROP, "DSCP": "48"}}
    own = {"DSCPS": {"MATCHES": ["DSCP"], "ACTIONS": ["PACKET_ACTION"], "BIND_POINTS": ["PORT"]}}
    (one,) = read(tables({"type": "dscps", "ports": ["Ethernet0"]}, rules, ACL_TABLE_TYPE=own)).device.access_lists
    assert one.entries == (AccessEntry(name="R", action="deny", priority=10, dscps=(48,)),)
    (none,) = lists({"type": "L2", "ports": ["Ethernet0"]}, **rules)
    assert none.entries is UNKNOWN


def test_places_of_lists_entries_and_bindings() -> None:
    text = json.dumps(tables({"type": "L3", "ports": ["Ethernet0"]}, {"R": {**DROP, "IP_PROTOCOL": "17"}}), indent=1)
    find = place_finder_for_files({"config_db.json": text.encode()})
    lines = text.splitlines()

    def at(subject: str) -> str:
        place = find(parse_subject(subject))
        assert place is not None
        return lines[place.span.line - 1].strip()

    assert at("leaf1/@access_lists/SITE/entries/R/protocol") == '"IP_PROTOCOL": "17"'
    assert at("leaf1/@access_lists/SITE/entries/R") == '"SITE|R": {'
    assert at("leaf1/@access_lists/SITE/bindings/ingress Ethernet0") == '"ports": ['
    assert at("leaf1/@access_lists/SITE") == '"SITE": {'


def test_edits_of_entries_and_bindings_are_made_and_what_has_no_field_is_by_hand() -> None:
    text = json.dumps(
        tables({"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}, {"R": {**DROP, "IP_PROTOCOL": "17"}})
    )
    bundle = {"config_db.json": text.encode()}
    at = ("leaf1", "@access_lists", "SITE", "entries")
    new = AccessEntry(name="S", priority=20, protocol=17, destination_ports=(PortRange(4791, 4791),))
    made = edit.edit(bundle, [Change(subject=(*at, "S"), old=None, new=new)])
    assert made.by_hand == ()
    rules = json.loads(made.files["config_db.json"])["ACL_RULE"]
    assert rules["SITE|S"] == {
        "PRIORITY": "20", "PACKET_ACTION": "FORWARD", "IP_PROTOCOL": "17", "L4_DST_PORT": "4791",
    }  # fmt: skip
    by_opcode = AccessEntry(name="S", priority=20, action="deny", opcode=Bits(0x81, 0xFF))
    of_roce = json.dumps(tables({"type": "ROCE", "ports": ["Ethernet0"]}, {}, ACL_TABLE_TYPE=ROCE)).encode()
    made = edit.edit({"config_db.json": of_roce}, [Change(subject=(*at, "S"), old=None, new=by_opcode)])
    assert made.by_hand == ()
    assert json.loads(made.files["config_db.json"])["ACL_RULE"]["SITE|S"] == {
        "PRIORITY": "20", "PACKET_ACTION": "DROP", "BTH_OPCODE": "0x81/0xff",
    }  # fmt: skip
    odd = AccessEntry(name="S", priority=20, others=("VLAN_ID 7",))
    assert len(edit.edit(bundle, [Change(subject=(*at, "S"), old=None, new=odd)]).by_hand) == 1
