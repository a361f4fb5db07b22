"""What is wrong in the text itself is remarked at its place, and what is not understood is noted."""

import pytest

from nodrop.model.reading import DeviceReading
from support.nvue_startup import read, state


def remarks(reading: DeviceReading) -> list[tuple[str, int, dict[str, str]]]:
    """Kind, line below the header, and facts."""
    return [(one.kind, one.place.span.line - 6 if one.place else 0, dict(one.facts)) for one in reading.remarks]


def malformed(path: str, found: str, expected: str) -> dict[str, str]:
    return {"path": path, "found": found, "expected": expected}


@pytest.mark.parametrize(
    ("body", "version", "kind", "line", "facts"),
    [
        (
            "qos:\n  roce:\n    state: enabled",
            "5.14.0",
            "mixed-dialect",
            3,
            {
                "path": "qos roce state",
                "releases": "5.15 and later",
                "because": "the file is of 5.14",
                "instead": "enable on",
            },
        ),
        (
            "interface:\n  swp1-4:\n    ip:\n      address:\n        10.0.0.1/31: {}",
            "5.16.0",
            "mixed-dialect",
            4,
            {
                "path": "interface swp1-4 ip address",
                "releases": "5.14 and earlier",
                "because": "the file is of 5.16",
                "instead": "ipv4 address",
            },
        ),
        (
            "service:\n  ntp:\n    mgmt:\n      server:\n        a: {}",
            "5.16.0",
            "mixed-dialect",
            2,
            {
                "path": "service ntp",
                "releases": "5.14 and earlier",
                "because": "the file is of 5.16",
                "instead": "system ntp",
            },
        ),
        (
            "interface:\n  swp1:\n    link:\n      auto-negotiate: enabled",
            "5.14.0",
            "mixed-dialect",
            4,
            {
                "path": "interface swp1 link auto-negotiate",
                "releases": "5.15 and later",
                "because": "the file is of 5.14",
                "instead": "on",
            },
        ),
        (
            "qos:\n  roce:\n    enable: on\nrouter:\n  bgp:\n    enable: on\n    graceful-shutdown: enabled",
            "unreleased",
            "mixed-dialect",
            7,
            {
                "path": "router bgp graceful-shutdown",
                "releases": "5.15 and later",
                "because": "the rest of the file has the syntax of 5.14 and earlier",
                "instead": "on",
            },
        ),
        (
            "qos:\n  pfc:\n    default-global:\n      cable-lenght: 30",
            "5.14.0",
            "unknown-setting",
            4,
            {"path": "qos pfc default-global", "word": "cable-lenght", "hint": "did you mean `cable-length`?"},
        ),
        (
            "qos:\n  pfc-watchdog:\n    transmit-queue-threshold:\n      percent: 10",
            "5.19.0",
            "condition-off",
            4,
            {"setting": "transmit-queue-threshold percent", "value": "10", "key": "transmit-queue-threshold"},
        ),
        (
            "interface:\n  bond1-2,vlan10,swp1:\n    qos:\n      pfc-watchdog:\n        state: enable",
            "5.16.0",
            "watchdog-not-on-port",
            4,
            {"interface": "bond1, bond2, vlan10"},
        ),
        (
            "interface:\n  swp1-2:\n    qos:\n      pfcwd: {}",
            "5.14.0",
            "unknown-setting",
            4,
            {"path": "interface swp1-2 qos", "word": "pfcwd", "hint": "did you mean `pfc`?"},
        ),
        (
            "qos:\n  congestion-control:\n    early:\n      traffic-class:\n        0,3: {min-threshold: 150KB}",
            "5.14.0",
            "unit-suffix",
            5,
            {
                "path": "qos congestion-control early traffic-class 0,3 min-threshold",
                "found": "150KB",
                "unit": "bytes",
            },
        ),
        (
            "interface:\n  swp3:\n    qos:\n      pfc:\n        profile: long",
            "5.14.0",
            "dangling-reference",
            5,
            {"kind": "pfc profile", "name": "long", "field": "profile"},
        ),
        (
            "qos:\n  roce:\n    mode: loseless",
            "5.14.0",
            "malformed-value",
            3,
            malformed(
                "qos roce mode",
                "'loseless'",
                "lossless or lossless-single-ipool or lossy or lossy-multi-tc (did you mean `lossless`?)",
            ),
        ),
        (
            "qos:\n  pfc:\n    default-global:\n      switch-priority:\n        3-9: {}\n  roce: {}",
            "5.14.0",
            "malformed-value",
            5,
            malformed("qos pfc default-global switch-priority 3-9", "'3-9'", "numbers from 0 to 7, such as 0-2,4"),
        ),
        (
            "qos:\n  pfc-watchdog:\n    polling-interval: 50",
            "5.14.0",
            "malformed-value",
            3,
            malformed("qos pfc-watchdog polling-interval", "'50'", "a whole number of ms from 100 to 5000"),
        ),
        (
            "interface:\n  swp1:\n    link:\n      speed: 400",
            "5.14.0",
            "malformed-value",
            4,
            malformed("interface swp1 link speed", "'400'", "a speed such as 400G"),
        ),
        (
            "qos:\n  roce:\n    mode: lossy\n    mode: lossless",
            "5.14.0",
            "duplicate-key",
            4,
            {"path": "qos roce mode", "first_line": "9"},
        ),
        ("system:\n  hostname: a b", "5.14.0", "odd-name", 2, {"name": "'a b'"}),
    ],
)
def test_what_is_wrong_is_remarked_where_it_stands(
    body: str, version: str, kind: str, line: int, facts: dict[str, str]
) -> None:
    assert remarks(read(state(body, version, "SN5600"))) == [(kind, line, facts)]


@pytest.mark.parametrize(
    ("lines", "kind", "name", "field"),
    [
        ("neighbor swp1 peer-group spines", "peer-group", "spines", "peer-group"),
        ("neighbor swp1 address-family ipv4-unicast policy inbound route-map IN", "route-map", "IN", "route-map"),
    ],
)
def test_names_that_lead_nowhere_in_bgp(lines: str, kind: str, name: str, field: str) -> None:
    bgp = "nv set vrf default router bgp"
    reading = read(f"{bgp} autonomous-system 65001\n{bgp} {lines}\n")
    (remark,) = reading.remarks
    assert (remark.kind, remark.subject, dict(remark.facts)) == (
        "dangling-reference",
        ("sw1", "@bgp"),
        {"kind": kind, "name": name, "field": field},
    )
    assert remark.place is not None
    assert remark.place.span.line == 2


def test_one_remark_for_each_kind_of_setting_of_the_other_dialect() -> None:
    ports = "".join(f"  swp{panel}: {{ip: {{address: {{10.0.0.{panel}/32: {{}}}}}}}}\n" for panel in range(1, 33))
    assert [one["path"] for _, _, one in remarks(read(state(f"interface:\n{ports}", "5.16.0")))] == [
        "interface swp1 ip address"
    ]


def test_settings_whose_effect_is_not_known_are_unknown_lines_and_others_left_alone() -> None:
    reading = read(
        state(
            """
acl: {x: {type: ipv4}}
bridge: {domain: {br_default: {}}}
interface: {swp1: {link: {dot1x: {mab: on}}}, bond1: {bond: {member: {swp1: {}}}}}
system: {aaa: {user: {}}, dot1x: {}, forwarding: {mood: good}}
vrf: {red: {router: {temper: mild}}, blue: {table: 7}}
""".replace("mab: on", "mab: enabled"),
            "5.19.0",
        ),
    )
    assert reading.remarks == ()
    assert [(note.kind, note.message, note.line) for note in reading.notes] == [
        ("unknown-line", f"`{path}` is neither modelled nor known to be harmless", line)
        for path, line in (
            ("interface swp1 link dot1x", 9),
            ("system forwarding mood", 10),
            ("vrf red router temper", 11),
        )
    ]


def test_a_value_for_a_range_of_ports_is_wrong_once() -> None:
    commands = "nv set interface swp1-7 ip address MINE/31\nnv set interface swp8 ip address MINE/31\n"
    assert [(one.kind, one.place and one.place.span.line) for one in read(commands).remarks] == [
        ("malformed-value", 1),
        ("malformed-value", 2),
    ]


def test_a_setting_that_nvue_does_not_have_is_told_once_and_not_noted_besides() -> None:
    reading = read(
        state("""
interface: {swp1: {telepathy: on}, swp2: {telepathy: on}}
lights: {on: {}}
""")
    )
    told = [(one.facts["path"], one.facts["word"], one.place and one.place.span.column) for one in reading.remarks]
    assert told == [("interface swp1", "telepathy", 24), ("NVUE", "lights", 5)]
    assert reading.notes == ()


def test_a_misspelt_setting_on_many_ports_is_one_remark() -> None:
    ports = "".join(f"  swp{panel}:\n    qos: {{pfc-watchdog: {{status: enable}}}}\n" for panel in range(1, 33))
    assert [one["path"] for _, _, one in remarks(read(state(f"interface:\n{ports}")))] == [
        "interface swp1 qos pfc-watchdog"
    ]


def test_qos_of_a_bond_is_noted() -> None:
    reading = read(state("interface:\n  bond1:\n    qos: {mapping: {profile: x}}\n    type: bond"))
    assert [(note.message, note.line) for note in reading.notes] == [
        ("QoS of 'bond1' was not checked: only that of switch ports is", 9)
    ]


def test_other_commands_are_unknown_and_nv_config_is_not() -> None:
    reading = read("#!/bin/sh\nset -e\nnv set qos roce\nnv config apply -y && nv config save\nifreload -a\n")
    assert [(note.message, note.line) for note in reading.notes] == [
        ("`ifreload -a` is neither modelled nor known to be harmless", 5)
    ]


OVERLAPS = """interface:
  swp1-4,7:
    link: {mtu: 9216, state: {up: {}}}
    qos: {pfc: {profile: long}}
  ? swp3-5
  : link: {mtu: 4200, state: {down: {}}}
    qos: {pfc: {profile: long}}
  swp6: {link: {mtu: 9000}}
  swp7: {link: {mtu: 9216}}
qos:
  pfc: {long: {switch-priority: {'3': {}}}}
  mapping:
    default-global:
      dscp:
        0-31: {switch-priority: 0}
        26: {switch-priority: 3}
  traffic-pool: {default-lossless: {memory-percent: 50}}
"""


def test_two_keys_that_say_different_things_of_the_same_are_found_where_the_later_one_stands() -> None:
    assert remarks(read(state(OVERLAPS))) == [
        (
            "overlapping-keys",
            6,
            {
                "path": "interface swp3-5 link mtu",
                "names": "swp3 to swp4",
                "value": "4200",
                "other": "9216",
                "key": "swp1-4,7",
            },
        ),
        (
            "overlapping-keys",
            6,
            {
                "path": "interface swp3-5 link state",
                "names": "swp3 to swp4",
                "value": "down",
                "other": "up",
                "key": "swp1-4,7",
            },
        ),
        (
            "overlapping-keys",
            16,
            {
                "path": "qos mapping default-global dscp 26 switch-priority",
                "names": "26",
                "value": "3",
                "other": "0",
                "key": "0-31",
            },
        ),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "nv set interface swp1-4 link mtu 9216\nnv set interface swp3 link mtu 4200\n",
        "- set: {interface: {swp1-4: {link: {mtu: 9216}}}}\n- set: {interface: {swp3: {link: {mtu: 4200}}}}\n",
        "- set: {interface: {swp1-4: {link: {mtu: 9216}}, swp3: {link: {mtu: 9216}, ip: {vrf: red}}}}\n",
    ],
)
def test_what_is_said_later_or_the_same_is_no_overlap(text: str) -> None:
    assert remarks(read(text)) == []


def test_what_is_no_address_is_none_and_is_found() -> None:
    body = (
        "interface:\n  eth0: {ip: {address: {dhcp: {}}}}\n  swp1: {ip: {address: {<ask-me>/24: {}, 10.0.0.1/31: {}}}}"
    )
    reading = read(state(body))
    expected = "an address and its length, such as 10.1.0.0/31"
    assert remarks(reading) == [
        ("malformed-value", 3, malformed("interface swp1 ip address <ask-me>/24", "'<ask-me>/24'", expected))
    ]
    assert reading.device.interfaces[0].addresses == ("10.0.0.1/31",)


def test_words_after_a_value_are_found() -> None:
    reading = read("nv set qos roce enable on mode lossy\nnv set interface swp1 link mtu 9000 speed 400G\n")
    found = [one for one in reading.remarks if one.kind == "malformed-value"]
    assert [(one.facts["path"], one.facts["found"], one.place and one.place.span.line) for one in found] == [
        ("qos roce enable", "'on mode …'", 1),
        ("interface swp1 link mtu", "'9000 speed …'", 2),
    ]


@pytest.mark.parametrize(
    ("said", "line", "setting", "value", "mode"),
    [
        (["mode: relative", "min-threshold: 0", "max-threshold: 7"], 8, "max-threshold", "7", "relative"),
        (["max-threshold-percent: 9"], 6, "max-threshold-percent", "9", "absolute"),
    ],
)
def test_thresholds_of_the_mode_that_is_not_on(said: list[str], line: int, setting: str, value: str, mode: str) -> None:
    head = "qos:\n  congestion-control:\n    default-global:\n      traffic-class:\n        3:\n"
    found = read(state(head + "".join(f"          {one}\n" for one in said), "5.17.0", "SN5600"))
    percent = "-percent" if mode == "relative" else ""
    instead = f"min-threshold{percent} and max-threshold{percent}"
    facts = {"setting": setting, "value": value, "mode": mode, "instead": instead}
    assert remarks(found) == [("threshold-ignored", line, facts)]
