"""Access lists as programs of BPF: what they drop is what the lists deny, in an interpreter and in the kernel."""

import struct
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Bits, PortRange
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing.filtering import PacketSet, decide_packets
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.session_packets import single_address_range
from nodrop.validating.twin import bpf
from nodrop.validating.twin.bpf import BpfInstruction, BpfProgram, JumpLabel
from nodrop.validating.twin.list_programs import DROP, PASS, InexpressibleAccessList, compile_access_list
from support.bpf_machine import interpreted, run_by_kernel
from support.frames import Frame


def at(text: str) -> Address:
    found = parse_address(text)
    assert found is not None
    return found


FOUR = Frame(at("10.2.1.1"), at("10.2.2.1"))
SIX = Frame(at("fd00:2::1"), at("fd00:3::1"))
DENY = AccessEntry(name="1", action="deny")


def program(
    *entries: AccessEntry, stage: AccessListStage = "ingress", own: tuple[str, ...] = (), **more: Any
) -> Sequence[BpfInstruction]:
    rules = AccessList(name="A", entries=entries, **more)
    return compile_access_list(rules, entries, stage, map(at, own))


def drops(rows: Sequence[BpfInstruction], frame: Frame | bytes) -> bool:
    """Whether a program drops a frame: in the interpreter as in the kernel, which keeps so many bytes of it."""
    raw = frame if isinstance(frame, bytes) else frame.raw()
    found = interpreted(rows, raw)
    assert found in (DROP, PASS)
    assert run_by_kernel(rows, [raw]) == [DROP if found == DROP else len(raw)]
    return found == DROP


def entry(**conditions: Any) -> AccessEntry:
    return AccessEntry(name="1", action="deny", **conditions)


CONDITIONS = [
    pytest.param(entry(), FOUR, True, id="every packet"),
    pytest.param(entry(), SIX, True, id="every packet of IPv6"),
    pytest.param(entry(family="ipv4"), SIX, False, id="IPv4"),
    pytest.param(entry(family="ipv6"), SIX, True, id="IPv6"),
    pytest.param(entry(family="other"), FOUR, False, id="what is not IP"),
    pytest.param(entry(refused="why"), FOUR, False, id="a refused entry"),
    pytest.param(entry(protocol=17), FOUR, True, id="UDP"),
    pytest.param(entry(protocol=17), FOUR._replace(protocol=6), False, id="not TCP"),
    pytest.param(entry(protocol=17), SIX, True, id="UDP of IPv6"),
    pytest.param(entry(sources=("10.2.1.0/24",)), FOUR, True, id="a source"),
    pytest.param(entry(sources=("10.2.0.0/24",)), FOUR, False, id="another source"),
    pytest.param(entry(sources=("10.2.0.0/24", "10.2.1.1/32")), FOUR, True, id="one of two sources"),
    pytest.param(entry(sources=("0.0.0.0/0",)), FOUR, True, id="any source of IPv4"),
    pytest.param(entry(sources=("0.0.0.0/0",)), SIX, False, id="any source of IPv4 is none of IPv6"),
    pytest.param(entry(destinations=("10.2.2.1/32",)), FOUR, True, id="a destination"),
    pytest.param(entry(destinations=("10.2.1.1/32",)), FOUR, False, id="the source is no destination"),
    pytest.param(entry(destinations=("10.2.2.0/31",)), FOUR, True, id="/31"),
    pytest.param(entry(destinations=("10.2.2.2/31",)), FOUR, False, id="another /31"),
    pytest.param(entry(sources=("fd00:2::/64",)), SIX, True, id="/64"),
    pytest.param(entry(sources=("fd00:2:0:1::/64",)), SIX, False, id="another /64"),
    pytest.param(entry(sources=("fd00::/12",), destinations=("fd00:3::1/128",)), SIX, True, id="/12 and /128"),
    pytest.param(entry(destinations=("fd00:3::2/127",)), SIX, False, id="/127"),
    pytest.param(entry(destination_ports=(PortRange(4791, 4791),)), FOUR, True, id="a port"),
    pytest.param(entry(destination_ports=(PortRange(4792, 65535),)), FOUR, False, id="ports above it"),
    pytest.param(entry(destination_ports=(PortRange(0, 4790),)), FOUR, False, id="ports below it"),
    pytest.param(entry(destination_ports=(PortRange(1, 2), PortRange(4700, 4791))), SIX, True, id="two ranges"),
    pytest.param(entry(source_ports=(PortRange(49152, 65535),)), FOUR, True, id="source ports"),
    pytest.param(entry(source_ports=(PortRange(4791, 4791),)), FOUR, False, id="the destination is no source port"),
    pytest.param(
        entry(destination_ports=(PortRange(4791, 4791),)), FOUR._replace(options=3), True, id="behind options of IPv4"
    ),
    pytest.param(
        entry(destination_ports=(PortRange(4791, 4791),)), FOUR._replace(offset=185), False, id="a later fragment"
    ),
    pytest.param(entry(protocol=17), FOUR._replace(offset=185), True, id="a later fragment without ports asked for"),
    pytest.param(
        entry(destination_ports=(PortRange(4791, 4791),)), FOUR._replace(offset=0x2000), True, id="a first fragment"
    ),
    pytest.param(
        entry(destination_ports=(PortRange(4791, 4791),)), FOUR._replace(protocol=6), True, id="ports of TCP too"
    ),
    pytest.param(
        entry(destination_ports=(PortRange(4791, 4791),)), FOUR._replace(protocol=47), False, id="no ports in GRE"
    ),
    pytest.param(entry(dscps=(26,)), FOUR, True, id="DSCP"),
    pytest.param(entry(dscps=(25, 27, 48)), FOUR, False, id="other DSCPs"),
    pytest.param(entry(dscps=(0, 26)), SIX, True, id="DSCP of IPv6"),
    pytest.param(entry(dscps=(0, 63)), SIX, False, id="other DSCPs of IPv6"),
    pytest.param(entry(tcp_flags=Bits(2, 18)), FOUR._replace(protocol=6, flags=2), True, id="SYN without ACK"),
    pytest.param(entry(tcp_flags=Bits(2, 18)), FOUR._replace(protocol=6, flags=18), False, id="SYN with ACK"),
    pytest.param(entry(tcp_flags=Bits(2, 18)), SIX._replace(protocol=6, flags=3), True, id="SYN of IPv6"),
    pytest.param(entry(tcp_flags=Bits(0, 0)), FOUR, False, id="flags of UDP"),
    pytest.param(entry(ecns=(2,)), FOUR, True, id="ECN"),
    pytest.param(entry(ecns=(0, 1, 3)), FOUR, False, id="other ECN bits"),
    pytest.param(entry(ecns=(2,)), SIX, True, id="ECN of IPv6"),
    pytest.param(entry(ecns=(3,)), SIX, False, id="other ECN bits of IPv6"),
    pytest.param(entry(opcode=Bits(0x81, 0xFF)), FOUR._replace(opcode=0x81), True, id="an opcode"),
    pytest.param(entry(opcode=Bits(0x81, 0xFF)), FOUR, False, id="another opcode"),
    pytest.param(entry(opcode=Bits(0x08, 0xF8)), FOUR._replace(options=3), True, id="opcodes behind options"),
    pytest.param(entry(opcode=Bits(0x81, 0xFF)), SIX._replace(opcode=0x81), True, id="an opcode of IPv6"),
    pytest.param(entry(opcode=Bits(0, 0)), FOUR._replace(destination_port=4790), False, id="no opcode but in RoCE"),
    pytest.param(entry(opcode=Bits(0, 0)), FOUR._replace(protocol=6), False, id="no opcode in TCP"),
    pytest.param(entry(opcode=Bits(0, 0)), FOUR._replace(offset=185), False, id="no opcode in a later fragment"),
    pytest.param(
        entry(tcp_flags=Bits(16, 16)), FOUR._replace(protocol=6, flags=16, options=1), True, id="ACK behind options"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "frame", "expected"), CONDITIONS)
def test_one_entry(one: AccessEntry, frame: Frame, expected: bool) -> None:
    assert drops(program(one), frame) is expected
    permit = replace_fields(one, action="permit")
    assert drops(program(permit, otherwise="deny"), frame) is not expected
    after = (replace_fields(one, action="next"), replace_fields(DENY, name="2"))
    assert drops(program(*after), frame)


def test_the_last_action_is_of_the_lists_family() -> None:
    assert drops(program(otherwise="deny"), FOUR)
    assert not drops(program(), FOUR)
    assert not drops(program(otherwise="deny", family="ipv6"), FOUR)
    assert drops(program(otherwise="deny", family="ipv6"), SIX)
    assert not drops(program(DENY, family="ipv4"), SIX)


def test_frames_of_others_pass() -> None:
    arp = b"\x02" * 12 + struct.pack(">H", 0x0806) + bytes(28)
    assert not drops(program(DENY, otherwise="deny"), arp)


OWN = ("10.2.2.1", "fd00:3::1", "10.0.0.9")
TO_OWN = (FOUR, SIX, FOUR._replace(destination=at("224.0.0.5")), SIX._replace(destination=at("ff02::1")))
TO_OTHERS = (FOUR._replace(destination=at("10.2.2.2")), SIX._replace(destination=at("fd00:3::2")))
FROM_OWN = tuple(one._replace(source=one.destination, destination=one.source) for one in (FOUR, SIX))


def mapped(frames: Sequence[Frame], **more: Any) -> set[bool]:
    return {drops(program(DENY, own=OWN, **more), one) for one in frames}


def of_bgp(frames: Sequence[Frame]) -> list[Frame]:
    return [one._replace(protocol=6, destination_port=179) for one in frames]


def test_control_plane_lists_let_the_twins_own_roce_pass() -> None:
    bfd = [one._replace(destination_port=3784) for one in TO_OWN]
    for frames, stage in ((TO_OWN, "control-plane"), (FROM_OWN, "control-plane-out")):
        assert mapped(frames, stage=stage) == {False}
        assert mapped(frames, stage=stage, otherwise="deny") == {False}
    assert mapped(bfd, stage="control-plane") == {True}


def test_stages_tell_packets_of_the_switch_itself_from_others() -> None:
    local = SIX._replace(destination=at("fe80::1"), source=at("fe80::2"))
    assert mapped(of_bgp([*TO_OWN, local]), stage="control-plane") == {True}
    assert mapped(of_bgp(TO_OTHERS), stage="control-plane") == {False}
    assert mapped([*TO_OWN, local], stage="transit") == {False}
    assert mapped(TO_OTHERS, stage="transit") == {True}
    assert mapped(of_bgp([*FROM_OWN, local]), stage="control-plane-out") == {True}
    assert mapped(of_bgp(TO_OWN), stage="control-plane-out") == {False}
    assert mapped([*FROM_OWN, local], stage="transit-out") == {False}
    assert mapped(TO_OWN[:2], stage="transit-out") == {True}
    assert mapped([*TO_OWN, *TO_OTHERS, *FROM_OWN, local], stage="ingress") == {True}
    assert mapped([*TO_OWN, *FROM_OWN, local], stage="egress", own_packets=True) == {True}
    for value in (False, UNKNOWN):
        assert mapped([*FROM_OWN, local], stage="egress", own_packets=value) == {False}
        assert mapped(TO_OTHERS, stage="egress", own_packets=value) == {True}


@pytest.mark.parametrize(
    ("entries", "stage", "more", "words"),
    [
        ((DENY,), "services", {}, "no connection tracking"),
        (
            tuple(entry(sources=(f"10.{number >> 8}.{number & 255}.0/24",)) for number in range(600)),
            "ingress", {}, "rows of BPF, and 2000 are possible",
        ),
    ],
)  # fmt: skip
def test_what_no_program_can_do_is_said(
    entries: tuple[AccessEntry, ...], stage: AccessListStage, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(InexpressibleAccessList, match=words):
        program(*entries, stage=stage, **more)


def test_an_entry_that_decides_nothing_may_have_other_conditions() -> None:
    assert not drops(program(entry(far_interfaces=("swp1",))), FOUR)
    mirror = entry(others=("TTL 5",))
    assert not drops(program(replace_fields(mirror, action="next")), FOUR)
    assert not drops(program(replace_fields(mirror, refused="why")), FOUR)


def test_labels_that_are_far_away_are_reached() -> None:
    """A comparison jumps over 255 rows at most."""
    far, made = JumpLabel(), BpfProgram()
    made.add_operation(bpf.LOAD_BYTE, 0)
    made.branch(bpf.EQUAL, 7, label_if_true=far)
    for _ in range(300):
        made.add_operation(bpf.AND, 255)
    made.add_operation(bpf.RETURN, 5)
    made.place_label(far)
    made.add_operation(bpf.RETURN, 9)
    rows = made.rows()
    assert [interpreted(rows, packet) for packet in (b"\7", b"\x08")] == [9, 5]
    assert run_by_kernel(rows, [b"\7" * 20, b"\x08" * 20]) == [9, 5]
    assert bpf.format_bytecode(rows).startswith("306,48 0 0 0,21 0 1 7,5 0 0 302,5 0 0 0,84 0 0 255,")


PORTS = (PortRange(0, 65535), PortRange(4791, 4791), PortRange(179, 179), PortRange(1024, 40000), PortRange(5, 4791))
NETS = {
    "ipv4": ("10.2.1.0/24", "10.2.2.0/24", "10.2.0.0/16", "10.2.1.1/32", "10.2.2.1/32", "0.0.0.0/0", "10.2.1.0/30"),
    "ipv6": ("fd00:2::/64", "fd00:3::/64", "fd00::/8", "fd00:2::1/128", "fd00:3::/127", "::/0", "fd00:2::/100"),
}
HOSTS = {
    "ipv4": ("10.2.1.1", "10.2.1.9", "10.2.2.1", "10.3.0.1"),
    "ipv6": ("fd00:2::1", "fd00:2::99", "fd00:3::1", "2001:db8::1"),
}


def random_entry(chance: Random, name: str) -> AccessEntry:
    def some(of: Sequence[Any], least: int = 0) -> tuple[Any, ...]:
        return tuple(chance.sample(of, chance.randint(least, 2))) if chance.random() < 0.5 else ()

    family = chance.choice(["ipv4", "ipv6", None])
    nets = NETS[family] if family else (*NETS["ipv4"], *NETS["ipv6"])
    return AccessEntry(
        name=name,
        action=chance.choice(["permit", "deny", "deny", "next"]),
        family=family,  # type: ignore[arg-type]
        protocol=chance.choice([None, None, 6, 17]),
        sources=some(nets),
        destinations=some(nets),
        source_ports=some(PORTS),
        destination_ports=some(PORTS),
        dscps=some(range(20, 30)),
        ecns=some(range(4)),
        opcode=chance.choice([None, None, Bits(0x0A, 0xFF), Bits(0x80, 0x81)]),
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_lists_drop_what_they_are_held_to_deny(seed: int) -> None:
    """Held against `decide_packets`, which rules and paths use, on single packets; some lists make long programs."""
    chance = Random(f"programs {seed}")
    entries = tuple(random_entry(chance, str(number)) for number in range(chance.choice([1, 3, 8, 40])))
    rules = AccessList(
        name="A",
        entries=entries,
        family=chance.choice(["ipv4", "ipv6", None]),  # type: ignore[arg-type]
        otherwise=chance.choice(["permit", "deny"]),  # type: ignore[arg-type]
    )
    rows = compile_access_list(rules, entries, "ingress", ())
    frames, expected = [], []
    for _ in range(120):
        family: Any = chance.choice(["ipv4", "ipv6"])
        one = Frame(
            at(chance.choice(HOSTS[family])),
            at(chance.choice(HOSTS[family])),
            chance.choice([6, 17, 1]),
            chance.choice([4791, 179, 1024, 40000, 40001, 49152]),
            chance.choice([4791, 179, 4, 5, 65535]),
            chance.randint(19, 31),
            options=chance.choice([0, 0, 1, 10]) if family == "ipv4" else 0,
            ecn=chance.randint(0, 3),
            opcode=chance.choice([0x0A, 0x11, 0x81, 0x80]),
        )
        ports = [(PortRange(number, number),) for number in (one.source_port, one.destination_port)]
        dscp = frozenset({one.dscp})
        sides = (single_address_range(one.source),), (single_address_range(one.destination),)
        packets = PacketSet(family, one.protocol, *sides, ports[0], ports[1], dscp, frozenset({one.ecn}))
        if (one.protocol, one.destination_port) == (17, 4791):
            packets = packets._replace(opcodes=frozenset({one.opcode}))
        (found,) = decide_packets(rules, "e0", packets)
        if found.action != "unknown":
            frames.append(one.raw())
            expected.append(found.action == "deny")
    assert len(frames) > 30
    assert [interpreted(rows, raw) == DROP for raw in frames] == expected
    kept = run_by_kernel(rows, frames)
    assert [length == DROP for length in kept] == expected
    assert {length for length, raw in zip(kept, frames, strict=True) if length != len(raw)} <= {DROP}
