"""MLAG, EVPN multihoming and VXLAN of NVUE files: facts, and where they stand."""

from dataclasses import replace

import pytest

from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.bridging import PortChannel
from nodrop.model.index import Index
from nodrop.model.overlays import MultiChassis, Tunnel
from nodrop.model.subject import parse_subject
from support.designs import build, shipped
from support.nvue_startup import FILE, device, read, state

LEAF = """
evpn: {enable: on, multihoming: {enable: on, segment: {mac-address: "44:38:39:BE:EF:AA"}}}
interface:
  bond1:
    bond: {member: {swp1: {}}, mlag: {id: 1}}
  bond2:
    bond: {member: {swp2: {}}}
    evpn: {multihoming: {segment: {enable: on, local-id: 2}}}
  peerlink: {type: peerlink, bond: {member: {swp3-4: {}}}}
mlag: {mac-address: "44:38:39:BE:EF:AA", backup: {10.0.0.2: {}}, peer-ip: linklocal}
nve:
  vxlan:
    source: {address: 10.0.0.1}
    encapsulation: {dscp: {action: copy}}
    decapsulation: {dscp: {action: preserve}}
"""


def test_a_pair_of_switches_a_segment_and_a_tunnel() -> None:
    found = device(LEAF)
    assert found.multi_chassis == MultiChassis(peer_link="peerlink", port_channels=("bond1",))
    assert found.tunnels == (Tunnel(name="vxlan", kind="vxlan", dscp_mode="uniform", dscp_after="kept"),)
    assert isinstance(found.port_channels, tuple)
    assert [(one.name, one.segment) for one in found.port_channels] == [
        ("bond1", None),
        ("bond2", "44:38:39:BE:EF:AA/2"),
        ("peerlink", None),
    ]


def test_commands_say_the_same() -> None:
    script = """
nv set evpn multihoming segment mac-address 44:38:39:BE:EF:AA
nv set interface bond1 bond member swp1
nv set interface bond1 bond mlag id 1
nv set interface bond2 bond member swp2
nv set interface bond1-2 evpn multihoming segment local-id 2
nv unset interface bond1 evpn
nv set interface peerlink bond member swp3-4
nv set mlag backup 10.0.0.2
nv set nve vxlan encapsulation dscp action copy
nv set nve vxlan decapsulation dscp action preserve
"""
    found, other = read(script).device, device(LEAF)
    assert (found.multi_chassis, found.tunnels, found.port_channels) == (
        other.multi_chassis,
        other.tunnels,
        other.port_channels,
    )


@pytest.mark.parametrize(
    ("action", "mode"), [("copy", "uniform"), ("set", "pipe"), ("derive", "derived"), (None, "derived")]
)
def test_what_is_outside_a_tunnel_is_copied_or_hidden_or_derived(action: str | None, mode: object) -> None:
    said = f", encapsulation: {{dscp: {{action: {action}}}}}" if action else ""
    found = device(f"nve: {{vxlan: {{source: {{address: 10.0.0.1}}{said}}}}}").tunnels
    assert isinstance(found, tuple)
    assert [(one.dscp_mode, one.dscp_after) for one in found] == [(mode, "derived")]


@pytest.mark.parametrize(
    "body",
    [
        "interface: {swp1: {link: {mtu: 9216}}}",
        "mlag: {enable: off, backup: {10.0.0.2: {}}}\nnve: {vxlan: {enable: off, source: {address: 10.0.0.1}}}",
    ],
)
def test_what_is_not_there_or_turned_off_is_none(body: str) -> None:
    assert (device(body).multi_chassis, device(body).tunnels) == (None, ())


def test_a_bond_that_is_taken_out_of_the_pair_or_its_segment_is_in_neither() -> None:
    found = device("""
interface:
  bond1: {bond: {member: {swp1: {}}, mlag: {id: 1, enable: off}}}
  bond2: {bond: {member: {swp2: {}}}, evpn: {multihoming: {segment: {enable: off, local-id: 2}}}}
mlag: {backup: {10.0.0.2: {}}}
""")
    assert found.multi_chassis == MultiChassis(peer_link=None, port_channels=())
    assert isinstance(found.port_channels, tuple)
    assert [one.segment for one in found.port_channels] == [None, None]


def test_a_segment_is_not_written() -> None:
    built = build(shipped("two-by-two", {"topology.leaves.platform": "nvue", "topology.leaves.version": "5.16"}))
    bond = PortChannel(name="bond1", members=("swp1",), mtu_bytes=9216, segment="44:38:39:BE:EF:AA/2")
    with pytest.raises(UnsupportedByPlatform) as caught:
        list(
            platforms.writer_of_platform("nvue").write(
                replace(built.device("leaf1"), port_channels=(bond,)), Index(built)
            )
        )
    assert (caught.value.path, caught.value.reason) == (
        "port_channels/bond1/segment",
        "is read for rules, and not written",
    )


@pytest.mark.parametrize(
    ("subject", "line", "text"),
    [
        ("@port_channels/bond2/segment", 13, "segment"),
        ("@multi_chassis/peer_link", 14, "bond"),
        ("@multi_chassis/port_channels/0", 10, "1"),
        ("@multi_chassis", 15, "mlag"),
        ("@tunnels/vxlan/dscp_mode", 19, "copy"),
        ("@tunnels/vxlan", 17, "vxlan"),
    ],
)
def test_places(subject: str, line: int, text: str) -> None:
    whole = state(LEAF)
    place = platforms.make_place_finder("nvue", {FILE: whole.encode()})(("sw1", *parse_subject(subject)))
    assert place is not None
    span = place.span
    assert (span.line, whole.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]) == (line, text)
