"""Ports that an NVUE file names and the switch has not, breakouts that it cannot do, and QoS that comes too early."""

import pytest

from nodrop.model.qos import QosProfile
from nodrop.model.reading import Source
from nodrop.platforms.cumulus import reader
from support.nvue_startup import read, state


def remarks(text: str) -> list[tuple[str, int, str]]:
    """Kind, line, and the facts in one text."""
    found = read(text).remarks
    return [(one.kind, one.place.span.line if one.place else 0, " | ".join(one.facts.values())) for one in found]


def below(body: str, model: str = "SN5600") -> list[tuple[str, int, str]]:
    """The remarks of a startup.yaml, lines counted below the header."""
    return [(kind, line - 6, facts) for kind, line, facts in remarks(state(body, "5.16.0", model))]


PARTS = "swp10s0-1,swp11s0-1,swp12s0-1"


@pytest.mark.parametrize(
    ("ports", "line", "kind", "facts"),
    [
        ("swp64-67: {type: swp}", 2, "port-not-on-model", "swp66, swp67 | SN5600 | 65"),
        ("swp70s0: {type: swp}", 2, "port-not-on-model", "swp70s0 | SN5600 | 65"),
        (f"{PARTS}: {{type: swp}}", 2, "part-without-breakout",
         "swp10s0, swp10s1, swp11s0, swp11s1 and 2 more | swp10, swp11, swp12 are not broken out"),
        ("swp1: {link: {breakout: {disabled: {}}}}\n  swp1s0: {type: swp}", 3, "part-without-breakout",
         "swp1s0 | swp1 is disabled"),
        ("swp1-2: {link: {breakout: {2x: {}}}}\n  swp2s0-3: {type: swp}", 3, "part-without-breakout",
         "swp2s2, swp2s3 | swp2 is broken out into 2"),
    ],
)  # fmt: skip
def test_ports_that_there_are_not(ports: str, line: int, kind: str, facts: str) -> None:
    assert below(f"interface:\n  {ports}") == [(kind, line, facts)]


def test_a_name_with_a_space_is_told_by_itself() -> None:
    assert below("interface:\n  ? swp1-2,sw   p3\n  : {type: swp}") == [
        ("malformed-value", 2, "interface swp1-2,sw   p3 | 'sw p3' | names without spaces, such as swp1-4,swp6")
    ]


def test_ports_that_there_are() -> None:
    assert (
        below("interface:\n  swp1-32: {type: swp}\n  swp1-2: {link: {breakout: {2x: {}}}}\n  swp1s0-1: {type: swp}")
        == []
    )
    ports = f"nv set interface {PARTS} qos pfc-watchdog state enable\n"
    assert remarks(ports) == []


def test_a_script_that_breaks_out_some_ports_may_speak_of_others_that_were_broken_out_before() -> None:
    ports = f"nv set interface {PARTS} ipv4 address 10.0.0.0/31\n"
    breakout = "nv set interface swp1 link breakout 2x\n"
    assert remarks(f"{breakout}{ports}") == []
    found = remarks(f"{breakout}nv set interface swp10-12 link state down\n{ports}")
    assert [(kind, line) for kind, line, _ in found] == [("part-without-breakout", 3)]
    found = remarks(f"nv set interface swp10-12 link breakout disabled\n{ports}")
    assert [(kind, line) for kind, line, _ in found] == [("part-without-breakout", 2)]


def test_ports_beyond_those_that_are_looked_up_are_counted() -> None:
    ports = "".join(f"  swp{number}: {{type: swp}}\n" for number in range(33, 153))
    found = below(f"interface:\n{ports}", model="SN4700")
    assert [line for _, line, _ in found] == list(range(2, 102))
    assert found[-1][2] == "swp132, swp133, swp134, swp135 and 17 more | SN4700 | 32"


@pytest.mark.parametrize(
    ("model", "ports", "line", "facts"),
    [
        ("SN4700", "swp1: {link: {breakout: {8x: {}}}}", 0, ""),
        ("SN4700", "swp2: {link: {breakout: {8x: {}}}}", 2,
         "swp2 | SN4700 | only odd ports split into 8, and use the next port"),
        ("SN5640", "swp2: {link: {breakout: {8x: {}}}}", 0, ""),
        ("SN3700", "swp2-4: {link: {breakout: {8x: {}}}}", 2,
         "swp2, swp3, swp4 | SN3700 | ports 1-32 are broken out into 2, 4"),
        ("SN2410", "swp1: {link: {breakout: {2x: {}}}}", 2, "swp1 | SN2410 | such a port stays whole"),
        ("SN2410", "swp49: {link: {breakout: {4x: {}}}}", 0, ""),
        ("SN4700", "swp2: {link: {breakout: {4x: {lanes-per-port: '4'}}}}", 2,
         "swp2 | SN4700 | it has 8 lanes, and 4 ports of 4 need 16"),
        ("SN4700", "swp2: {link: {breakout: {4x: {lanes-per-port: '1'}}}}", 0, ""),
        ("vx", "swp2: {link: {breakout: {8x: {}}}}", 0, ""),
    ],
)  # fmt: skip
def test_breakouts_that_a_model_has_not(model: str, ports: str, line: int, facts: str) -> None:
    assert below(f"interface:\n  {ports}", model) == ([("breakout-not-on-model", line, facts)] if facts else [])


LOST = "swp8 | swp7 is broken out into 8"


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("swp8: {link: {breakout: {disabled: {}}}}", []),
        ("swp8: {type: swp, link: {mtu: 9216, state: down}}", []),
        ("swp9: {vrf: RED}", []),
        ("swp8: {link: {state: up}}", [("port-lost-to-breakout", 3, LOST)]),
        ("swp8: {ipv4: {address: {10.0.0.0/31: {}}}}", [("port-lost-to-breakout", 3, LOST)]),
        ("swp8: {link: {breakout: {2x: {}}}}", [("port-lost-to-breakout", 3, LOST)]),
        ("swp1-6,swp8: {qos: {pfc-watchdog: {state: enable}}}", [("port-lost-to-breakout", 3, LOST)]),
    ],
)
def test_a_port_that_is_lost_to_the_one_before_it(after: str, found: list[tuple[str, int, str]]) -> None:
    assert below(f"interface:\n  swp7: {{link: {{breakout: {{8x: {{}}}}}}}}\n  {after}") == found
    assert below(f"interface:\n  swp7: {{link: {{breakout: {{4x: {{}}}}}}}}\n  {after}") == []


BROKEN = "interface:\n  swp1-2: {link: {breakout: {2x: {}}}}\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"{BROKEN}  swp1-3: {{link: {{mtu: 4200, state: up}}}}",
         [("setting-of-broken-out-port", 3, "swp1, swp2 | link mtu")]),
        (f"{BROKEN}  swp2: {{ipv4: {{address: {{10.0.0.0/31: {{}}}}}}, qos: {{}}, type: swp}}",
         [("setting-of-broken-out-port", 3, "swp2 | ipv4, qos")]),
        (f"{BROKEN}  swp1: {{description: to servers, link: {{state: up}}}}\n  swp1s0-1: {{link: {{mtu: 4200}}}}", []),
        ("interface:\n  swp1-3: {link: {fec: auto}}", [("fec-auto-stated", 2, "swp1, swp2, swp3")]),
        ("interface:\n  swp1-3: {link: {fec: rs}}", []),
        ("interface:\n  swp1-3: {link: {auto-negotiate: enabled}}", []),
    ],
)  # fmt: skip
def test_settings_that_do_nothing_or_harm(body: str, found: list[tuple[str, int, str]]) -> None:
    assert below(body) == found


def test_parts_that_a_port_has_from_the_start() -> None:
    assert below("interface:\n  swp1s0-1: {type: swp}", "SN6600_LD") == []
    found = below("interface:\n  swp1s0-3: {type: swp}", "SN6600_LD")
    assert found == [("part-without-breakout", 2, "swp1s2, swp1s3 | swp1 is not broken out")]


BREAK = "nv set interface swp1-2 link breakout 2x\n"
WATCH = "nv set interface swp1s0-1,swp2s0-1 qos pfc-watchdog state enable\n"
PATCH = "interface:\n      swp1: {link: {breakout: {2x: {}}}}\n      swp1s0-1: {qos: {pfc-watchdog: {state: enable}}}\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BREAK + WATCH, [(2, "swp1s0, swp1s1, swp2s0, swp2s1")]),
        (BREAK + "nv config apply -y\n" + WATCH + "nv config apply -y\n", []),
        (BREAK + "nv config save\n" + WATCH + "nv config apply -y\n", [(3, "swp1s0, swp1s1, swp2s0, swp2s1")]),
        (BREAK + "nv set interface swp3 qos pfc-watchdog state enable\n", []),
        (WATCH + BREAK.replace("2x", "1x"), []),
        (f"- set:\n    {PATCH}", [(4, "swp1s0, swp1s1")]),
        (state(PATCH.replace("\n      ", "\n  "), "5.16.0"), []),
    ],
)
def test_qos_of_parts_in_the_revision_that_makes_them(text: str, found: list[tuple[int, str]]) -> None:
    assert [(line, facts) for kind, line, facts in remarks(text) if kind == "qos-with-breakout"] == found


SESSIONS = "nv set vrf default router bgp neighbor {} type unnumbered\n"
MACRO = "nv set qos roce mode lossless\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BREAK + SESSIONS.format("swp1s0-3,swp2s1,swp3s0"), ["swp1s0", "swp1s1", "swp2s1"]),
        (BREAK + SESSIONS.format("swp1s1").replace("default", "RED"), ["swp1s1"]),
        (BREAK.replace("2x", "disabled") + SESSIONS.format("swp1s0"), []),
        (SESSIONS.format("swp1s0"), []),
    ],
)
def test_parts_that_only_bgp_sessions_name_are_ports(text: str, found: list[str]) -> None:
    device = read(MACRO + text).device
    ports = {port.name: port.qos for port in device.interfaces if "s" in port.name[3:]}
    assert list(ports) == found
    assert all(isinstance(qos, QosProfile) and qos.pfc_rx_priorities == (3,) for qos in ports.values())


def test_a_port_that_is_lost_while_only_a_session_names_a_part_of_the_next() -> None:
    parts = "interface:\n  swp7: {link: {breakout: {8x: {}}}}\n  swp8: {link: {breakout: {2x: {}}}}\n"
    sessions = "vrf: {default: {router: {bgp: {neighbor: {swp8s0: {type: unnumbered}}}}}}"
    assert below(parts + sessions) == [("port-lost-to-breakout", 3, LOST)]


def test_files_of_cumulus_linux_are_a_state() -> None:
    ports = b"1=2x\n2=1x\n"
    features = (
        b"traffic.packet_priority_source_set = [dscp]\npfc.port_group_list = [p]\npfc.p.cos_list = [3]\n"
        b"pfc.p.port_set = swp1s0-swp1s1\npfc.p.tx_enable = true\npfc.p.rx_enable = true\n"
    )
    bundle = [
        (Source(name="qos_features.conf", display="qos_features.conf"), features),
        (Source(name="ports.conf", display="ports.conf"), ports),
    ]
    reading = reader.read_device("sw1", bundle)
    assert {port.name for port in reading.device.interfaces} >= {"swp1s0", "swp1s1"}
    assert "qos-with-breakout" not in {remark.kind for remark in reading.remarks}


@pytest.mark.parametrize(
    ("last", "found"),
    [
        (64, []),
        (
            65,
            [
                (
                    "malformed-value",
                    2,
                    "interface bond1 bond member | 65 ports | 64 at most: all of them go down when more are applied",
                )
            ],
        ),
    ],
)
def test_ports_that_one_bond_has_at_most(last: int, found: list[tuple[str, int, str]]) -> None:
    body = f"interface:\n  bond1: {{type: bond, bond: {{member: {{swp1-{last}: {{}}}}}}}}"
    assert below(body) == found
