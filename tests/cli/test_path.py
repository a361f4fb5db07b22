"""`nodrop path`: the way of packets, with what every switch on it does to their class."""

import json
from pathlib import Path

import pytest

from nodrop.resources import resource_folder
from support.access_sites import site
from support.command import nodrop
from support.places import TESTS

TWO = str(resource_folder("intents") / "two-by-two.yaml")
REFERENCE = str(resource_folder("intents") / "reference-256.yaml")
DUAL = str(resource_folder("intents") / "dual-stack.yaml")
BORDER = str(resource_folder("intents") / "border.yaml")
PAGES = {
    "one-leaf": ("gpu1", "gpu2", TWO),
    "over-spines": ("gpu1", "gpu20", REFERENCE),
    "storage-class": ("gpu1", "storage2", TWO, "--dscp", "10"),
    "from-a-switch": ("leaf1", "spine2", TWO),
    "ipv6": ("fd00:2:0:1::9", "fd00:2:0:2::9", DUAL),
    "nvue": ("gpu1", "gpu20", str(resource_folder("intents") / "reference-256-nvue-leaves.yaml")),
    "to-outside": ("gpu1", "8.8.8.8", BORDER),
    "from-outside": ("gateway", "gpu1", BORDER),
    "half-gone": ("gpu1", "storage2", TWO, "--without", "spine1", "--without", "leaf1:Ethernet240"),
}


@pytest.mark.parametrize("page", PAGES)
def test_the_page(page: str, update_golden: bool) -> None:
    done = nodrop("path", *PAGES[page])
    assert (done.code, done.err) == (0, "")
    kept = TESTS / "cli" / "paths" / f"{page}.txt"
    if update_golden:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(done.out)
    assert done.out == kept.read_text()


def shown(*words: str) -> tuple[int, dict[str, object]]:
    done = nodrop("path", *words, "--format", "json")
    return done.code, json.loads(done.out)


def test_the_facts_of_a_way() -> None:
    code, found = shown("gpu1", "storage2", TWO)
    assert code == 0
    assert {key: found[key] for key in ("source", "destination", "address", "dscp", "paths", "delivered")} == {
        "source": "gpu1",
        "destination": "storage2",
        "address": "10.2.2.17",
        "dscp": 26,
        "paths": 8,
        "delivered": True,
    }
    assert found["traces"] == [
        {"switches": ["leaf1", spine, "leaf2"], "paths": 4, "outcome": "delivered"} for spine in ("spine1", "spine2")
    ]
    leaf = found["hops"][0]  # type: ignore[index]
    assert leaf["ingress"] == [
        {
            "ports": ["Ethernet0"],
            "tc": 3,
            "priority_group": 3,
            "lossless": True,
            "pauses": [3],
            "xoff_bytes": leaf["ingress"][0]["xoff_bytes"],
        }
    ]
    assert leaf["egress"][0]["ports"] == ["Ethernet224", "Ethernet232", "Ethernet240", "Ethernet248"]
    assert (leaf["egress"][0]["queue"], leaf["egress"][0]["obeys_pause"]) == (3, [3])


def test_a_cable_that_is_taken_away_is_not_gone_over() -> None:
    _, found = shown("gpu1", "storage2", TWO, "--without", "leaf1:Ethernet224")
    assert [(way["switches"][1], way["paths"]) for way in found["traces"]] == [("spine1", 2), ("spine2", 4)]  # type: ignore[attr-defined]


def test_hosts_on_isolated_rails_reach_each_other_rail_by_rail() -> None:
    """The design wants no way between rails, so pairs of ports of two rails are no failure."""
    rails = str(resource_folder("intents") / "rail-only.yaml")
    code, found = shown("gpu1", "gpu2", rails)
    pairs = [(pair["source"], pair["destination"], pair["outcome"]) for pair in found["pairs"]]  # type: ignore[attr-defined]
    assert (code, pairs) == (0, [(f"gpu1:nic{n}", f"gpu2:nic{n}", "delivered") for n in range(1, 9)])
    across = nodrop("path", "gpu1:nic1", "gpu2:nic2", rails)
    assert across.code == 1
    assert across.out.splitlines()[0].endswith("DSCP 26: 0 of 1 equal paths arrive")


def test_a_way_that_ends_nowhere_is_told_and_fails() -> None:
    code, found = shown("gpu1", "storage2", TWO, "--without", "spine1", "--without", "spine2")
    assert (code, found["traces"]) == (1, [{"switches": ["leaf1"], "paths": 1, "outcome": "no route"}])


def test_addresses_that_nobody_has_are_dropped_by_their_leaf() -> None:
    code, found = shown("gpu1", "10.2.2.200", TWO)
    outcomes = {way["outcome"] for way in found["traces"]}  # type: ignore[attr-defined]
    assert (code, outcomes) == (1, {"discarded"})


def test_two_static_routes_that_lead_to_one_another_are_a_loop(tmp_path: Path) -> None:
    build = tmp_path / "build"
    assert nodrop("build", TWO, "-o", str(build)).code == 0
    for name, hop in (("leaf1", "10.1.1.225"), ("spine1", "10.1.1.224")):
        file = build / name / "frr.conf"
        file.write_text(file.read_text().replace("\nrouter bgp", f"\nip route 10.9.9.0/24 {hop}\n!\nrouter bgp"))
    code, found = shown("gpu1", "10.9.9.9", str(build))
    assert (code, found["traces"]) == (1, [{"switches": ["leaf1", "spine1", "leaf1"], "paths": 1, "outcome": "loop"}])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gpu9", "gpu1"), "no host or switch 'gpu9' (did you mean `"),
        (("gpu1", "leaf9"), "no host or switch 'leaf9' (did you mean `"),
        (("gpu1:p9", "gpu2"), "no port of gpu1 'p9'"),
        (("leaf1:Ethernet7", "gpu2"), "leaf1:Ethernet7 routes nothing"),
        (("10.99.0.1", "gpu2"), "no switch has an address in a subnet with 10.99.0.1"),
        (("gpu1", "gpu2", TWO, "--without", "leaf7"), "no switch 'leaf7' (did you mean `"),
        (("gpu1", "gpu2", TWO, "--without", "leaf1:Ethernet1"), "no port of leaf1 'Ethernet1'"),
    ],
)
def test_what_is_not_there_is_said_with_the_nearest(words: tuple[str, ...], said: str) -> None:
    done = nodrop("path", *words, *([] if TWO in words else [TWO]))
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_every_pair_of_ports_of_two_hosts_is_tried() -> None:
    code, found = shown("gpu1", "gpu2", TWO)
    rows = [(one["source"], one["destination"], one["paths"]) for one in found["pairs"]]  # type: ignore[attr-defined]
    assert code == 0
    assert rows == [
        ("gpu1:nic1", "gpu2:nic1", 1),
        ("gpu1:nic1", "gpu2:nic2", 8),
        ("gpu1:nic2", "gpu2:nic1", 8),
        ("gpu1:nic2", "gpu2:nic2", 1),
    ]
    assert shown("gpu1:nic1", "gpu2:nic1", TWO)[1]["pairs"] == []


def test_a_pair_that_does_not_reach_each_other_fails() -> None:
    done = nodrop("path", "gpu1", "gpu2", TWO, "--without", "spine1", "--without", "spine2")
    assert done.code == 1
    assert done.out.splitlines()[4:7] == [
        "  2 of 4 pairs of ports reach each other: 2 over 1 path",
        "  gpu1:nic1 to gpu2:nic2 (10.2.2.9): no route",
        "  gpu1:nic2 to gpu2:nic1 (10.2.1.9): no route",
    ]


def test_a_pair_with_a_cable_that_is_taken_away_fails() -> None:
    code, found = shown("gpu1", "storage2", TWO, "--without", "leaf1:Ethernet0")
    lost = [one["source"] for one in found["pairs"] if one["outcome"] == "no cable"]  # type: ignore[attr-defined]
    assert (code, lost) == (1, ["gpu1:nic1"])


def test_the_entry_of_an_access_list_that_decides_is_shown(tmp_path: Path) -> None:
    """A list at the port of gpu1 drops UDP to one host; packets to others are permitted by another entry."""
    rules = {
        "SITE|OTHERS": {"PRIORITY": "5", "PACKET_ACTION": "FORWARD", "IP_PROTOCOL": "17"},
        "SITE|ONE": {"PRIORITY": "10", "PACKET_ACTION": "DROP", "IP_PROTOCOL": "17", "DST_IP": "10.2.2.17/32"},
    }
    lists = {"ACL_TABLE": {"SITE": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}}, "ACL_RULE": rules}
    intent = tmp_path / "two.yaml"
    intent.write_text(Path(TWO).read_text() + f"extra: {json.dumps({'leaf1': {'tables': lists}})}\n")
    dropped = nodrop("path", "gpu1:nic1", "storage2", str(intent))
    assert (dropped.code, "   acl  Ethernet0, ingress: SITE, entry ONE, drops\n" in dropped.out) == (1, True)
    permitted = nodrop("path", "gpu1:nic1", "10.2.2.9", str(intent))
    assert (permitted.code, "   acl  Ethernet0, ingress: SITE, entry OTHERS, permits\n" in permitted.out) == (0, True)
    both = nodrop("path", "gpu1", "storage2", str(intent))
    assert "gpu1:nic1 to storage2:nic1 (10.2.2.17): dropped by access list SITE\n" in both.out


def test_an_entry_for_some_opcodes_is_shown_with_them(tmp_path: Path) -> None:
    kind = {"MATCHES": ["BTH_OPCODE"], "ACTIONS": ["PACKET_ACTION"], "BIND_POINTS": ["PORT"]}
    tables = {
        "ACL_TABLE_TYPE": {"BTH": kind},
        "ACL_TABLE": {"SITE": {"type": "BTH", "stage": "ingress", "ports": ["Ethernet0"]}},
        "ACL_RULE": {"SITE|ACKS": {"PRIORITY": "5", "PACKET_ACTION": "DROP", "BTH_OPCODE": "0x11/0xff"}},
    }
    intent = tmp_path / "two.yaml"
    intent.write_text(Path(TWO).read_text() + f"extra: {json.dumps({'leaf1': {'tables': tables}})}\n")
    data = nodrop("path", "gpu1:nic1", "gpu2:nic1", str(intent))
    assert (data.code, "   acl  Ethernet0, ingress: SITE, entry ACKS, drops opcode 0x11\n" in data.out) == (1, True)
    cnps = nodrop("path", "gpu1:nic1", "gpu2:nic1", str(intent), "--dscp", "48")
    assert (cnps.code, "ACKS" in cnps.out) == (0, False)


def test_an_entry_for_a_port_in_and_a_port_out_is_shown_where_both_are_passed(tmp_path: Path) -> None:
    for name, text in site("cumulus").items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "leaf1" / "policy.d").mkdir(exist_ok=True)
    rule = "[iptables]\n-A FORWARD -i swp29,swp30,swp31,swp32 -o swp1 -p udp --dport 4791 -j DROP\n"
    (tmp_path / "leaf1" / "policy.d" / "50.rules").write_text(rule)
    to_first = nodrop("path", "gpu2:nic2", "gpu1:nic1", str(tmp_path))
    assert (to_first.code, "   acl  swp29, ingress: FORWARD, entry 50.rules:2, drops\n" in to_first.out) == (1, True)
    beside = nodrop("path", "gpu2:nic1", "gpu1:nic1", str(tmp_path))
    assert (beside.code, "50.rules" in beside.out) == (0, False)
    back = nodrop("path", "gpu1:nic1", "gpu2:nic2", str(tmp_path))
    assert (back.code, "50.rules" in back.out) == (0, False)
