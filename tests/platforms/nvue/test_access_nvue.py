"""Access lists of NVUE files: facts, where they stand, and their edits."""

from typing import Any

import pytest

from nodrop.model.access import AccessEntry, AccessList, Binding, PortRange
from nodrop.model.change import Change
from nodrop.platforms.nvue import edit
from support.nvue_startup import device, read, state

SITE = """
acl:
  SITE:
    type: ipv4
    rule:
      100: {action: {deny: {}}}
      20:
        match: {ip: {udp: {dest-port: {4791: {}}}, dscp: cs6, source-ip: 10.2.0.0/16}}
        action: {permit: {}}
interface:
  swp1-2: {acl: {SITE: {inbound: {}}}}
  swp3: {acl: {SITE: {outbound: {control-plane: {}}}}}
  vlan10: {type: svi, vlan: 10, acl: {SITE: {outbound: {}}}}
"""


def lists(text: str) -> tuple[AccessList, ...]:
    found = device(text).access_lists
    assert isinstance(found, tuple)
    return found


def test_rules_go_by_number_and_bindings_by_interface_and_way() -> None:
    (one,) = lists(SITE)
    assert one == AccessList(
        name="SITE",
        entries=(
            AccessEntry(
                name="20", family="ipv4", protocol=17, sources=("10.2.0.0/16",), dscps=(48,),
                destination_ports=(PortRange(4791, 4791),),
            ),
            AccessEntry(name="100", family="ipv4", action="deny"),
        ),
        bindings=(
            Binding(interface="VLAN 10", stage="egress"),
            Binding(interface="swp1", stage="ingress"),
            Binding(interface="swp2", stage="ingress"),
            Binding(interface="swp3", stage="control-plane-out"),
        ),
        own_packets=True,
    )  # fmt: skip


def test_ecn_bits_are_read_and_flags_of_tcp_are_other_conditions() -> None:
    (one,) = lists("""
    acl: {SITE: {type: ipv4, rule: {
      10: {match: {ip: {ecn: {ip-ect: 3}}}, action: {deny: {}}},
      20: {match: {ip: {protocol: tcp, ecn: {flags: {tcp-cwr: {}}}}}, action: {deny: {}}}}}}
""")
    assert isinstance(one.entries, tuple)
    assert [(entry.ecns, entry.others) for entry in one.entries] == [((3,), ()), ((), ("ecn flags",))]


def test_commands_say_the_same() -> None:
    script = """
nv set acl SITE type ipv4
nv set acl SITE rule 20 match ip udp dest-port 4791
nv set acl SITE rule 20 match ip dscp cs6
nv set acl SITE rule 20 match ip source-ip 10.2.0.0/16
nv set acl SITE rule 20 action permit
nv set acl SITE rule 100 action deny
nv set interface swp1-2 acl SITE inbound
nv set interface swp3 acl SITE outbound control-plane
nv set interface vlan10 acl SITE outbound
"""
    assert read(script).device.access_lists == lists(SITE)


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("{match: {ip: {protocol: tcp, tcp: {dest-port: {bgp: {}}}}}, action: {deny: {}}}",
         {"action": "deny", "protocol": 6, "destination_ports": (PortRange(179, 179),)}),
        ("{match: {ip: {source-ip: ANY, udp: {source-port: {ANY: {}}}}}, action: {permit: {}}}", {"protocol": 17}),
        ("{match: {ip: {tcp: {dest-port: {1-1023: {}}, state: established}}}, action: {permit: {}}}",
         {"protocol": 6, "destination_ports": (PortRange(1, 1023),), "others": ("tcp state",)}),
        ("{match: {ip: {protocol: udp, hashlimit: {name: x}}, vlan: 7}, action: {deny: {}}}",
         {"action": "deny", "protocol": 17, "others": ("hashlimit", "vlan")}),
        ("{action: {set: {class: 2}}}", {"action": "next", "traffic_class": 2}),
        ("{action: {set: {dscp: af11}}}", {"dscp": 10}),
        ("{action: {police: {mode: packet, rate: 400, burst: 200}}}", {"action": "next", "polices": True}),
        ("{action: {span: swp9}}", {"mirrors": True}),
        ("{match: {mac: {protocol: arp}}, action: {deny: {}}}", {"action": "deny", "family": "other"}),
    ],
)  # fmt: skip
def test_what_a_rule_matches_and_does(rule: str, fields: dict[str, Any]) -> None:
    (one,) = lists(f"acl: {{SITE: {{type: ipv4, rule: {{10: {rule}}}}}}}")
    assert one.entries == (AccessEntry(name="10", **{"family": "ipv4", **fields}),)


def test_a_list_that_is_not_there_is_remarked_and_those_of_the_image_are_not() -> None:
    text = state("""
interface: {swp1: {acl: {NONE: {inbound: {}}}}}
system: {control-plane: {acl: {acl-default-dos: {inbound: {}}}}}
""")
    remarks = [one.facts["name"] for one in read(text).remarks if one.kind == "dangling-reference"]
    assert remarks == ["NONE"]


def test_edits_add_and_remove_rules_lists_and_bindings() -> None:
    bundle = {"startup.yaml": state(SITE).encode()}
    name = read(state(SITE)).device.name

    def lines(subject: tuple[str, ...], old: Any, new: Any) -> list[str]:
        made = edit.edit(bundle, [Change(subject=(name, "@access_lists", *subject), old=old, new=new)])
        assert made.by_hand == ()
        return made.forms["changes.nv"].splitlines()

    before = lists(SITE)[0]
    new = AccessEntry(name="10", family="ipv4", action="deny", protocol=6, destination_ports=(PortRange(1, 9),))
    assert [one for one in lines(("SITE", "entries", "10"), None, new) if one.startswith("nv ")] == [
        "nv set acl SITE rule 10 match ip tcp dest-port 1-9",
        "nv set acl SITE rule 10 action deny",
    ]
    binding = ("SITE", "bindings", "egress VLAN 10")
    assert "nv unset interface vlan10 acl SITE" in lines(binding, before.bindings[0], None)
    assert "nv unset acl SITE" in lines(("SITE",), before, None)
