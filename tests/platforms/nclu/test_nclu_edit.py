"""Changes of a switch with NCLU: nothing is written, and the command to type is told and reads back."""

import pytest

from nodrop.model.change import Change
from nodrop.platforms import find_editor, lines_as_typed_on_device
from support.legacy_platforms import port, read


def advice_on(subject: tuple[str, ...], new: object) -> str:
    nclu = find_editor("nclu")
    assert nclu is not None
    edit = nclu.edit({"nclu.txt": b""}, [Change(subject=("sw1", *subject), old=None, new=new)])
    assert (edit.files, edit.steps) == ({}, ())
    (hand,) = edit.by_hand
    return hand.line


@pytest.mark.parametrize(
    ("field", "new", "command"),
    [
        ("mtu_bytes", 9216, "net add interface swp1 mtu 9216"),
        ("speed_mbps", 100_000, "net add interface swp1 link speed 100000"),
        ("autoneg", False, "net add interface swp1 link autoneg off"),
        ("fec", "fc", "net add interface swp1 link fec baser"),
        ("enabled", False, "net add interface swp1 link down"),
    ],
)
def test_the_command_to_type_reads_back(field: str, new: object, command: str) -> None:
    assert advice_on(("swp1", field), new) == f"sw1/swp1/{field}: type `{command}`, then `net commit`"
    assert getattr(port(read("nclu", nclu__txt=command), "swp1"), field) == new


def test_bgp() -> None:
    assert advice_on(("@bgp", "multipath_relax"), True) == (
        "sw1/@bgp/multipath_relax: type `net add bgp bestpath as-path multipath-relax`, then `net commit`"
    )


def test_what_has_no_command_is_said() -> None:
    assert advice_on(("swp1", "qos", "trust"), "dscp") == (
        "sw1/swp1/qos/trust: NCLU has no command for this; Cumulus Linux keeps it in traffic.conf and datapath.conf"
    )


def test_networks_sessions_servers_and_the_management_vrf() -> None:
    networks = Change(subject=("sw1", "@bgp", "networks"), old=("10.0.0.1/32",), new=("10.0.0.1/32", "2001:db8::/64"))
    nclu = find_editor("nclu")
    assert nclu is not None
    (hand,) = nclu.edit({"nclu.txt": b""}, [networks]).by_hand
    assert hand.commands == ("net add bgp ipv6 unicast network 2001:db8::/64",)
    assert "`net add bgp neighbor swp31 remote-as external`" in advice_on(
        ("@neighbors", "swp31", "remote_asn"), "external"
    )
    servers = Change(subject=("sw1", "@ntp_servers"), old=("192.0.2.1",), new=("192.0.2.1", "192.0.2.2"))
    (hand,) = nclu.edit({"nclu.txt": b""}, [servers]).by_hand
    assert hand.commands == ("net add time ntp server 192.0.2.2",)
    assert advice_on(("@management", "own_vrf"), True).endswith(
        "type `net add vrf mgmt`, then `net add interface eth0 vrf mgmt`, then `net commit`"
    )


@pytest.mark.parametrize(
    ("lines", "commands"),
    [
        (
            ["router bgp 65001", "bgp bestpath as-path multipath-relax", "neighbor 10.1.0.1 timers 3 9"],
            ["net add bgp bestpath as-path multipath-relax", "net add bgp neighbor 10.1.0.1 timers 3 9"],
        ),
        (
            ["router bgp vrf blue", "address-family ipv4 unicast", "network 10.2.0.0/24", "exit-address-family"],
            ["net add bgp vrf blue ipv4 unicast network 10.2.0.0/24"],
        ),
        (["router bgp", "no neighbor 10.1.0.1 shutdown"], ["net del bgp neighbor 10.1.0.1 shutdown"]),
        (["no ip route 10.2.0.0/23 10.1.0.9"], ["net del routing route 10.2.0.0/23 10.1.0.9"]),
        (["router bgp", "no bgp ebgp-requires-policy"], []),
        (["interface swp1", "no shutdown"], []),
    ],
)
def test_lines_of_frr_are_commands_of_nclu_where_it_has_them(lines: list[str], commands: list[str]) -> None:
    device = read("nclu", nclu__txt="net add hostname sw1\n").device
    assert lines_as_typed_on_device(device, "frr", lines) == ("nclu", tuple(commands))
