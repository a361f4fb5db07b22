"""frr.conf as others write it: peer groups, commands without indentation, lines that are not understood."""

from typing import Any

import pytest

from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND, DeviceReading
from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN, Unknown
from support.sonic_configs import NAME, read, stock


def notes(reading: DeviceReading) -> list[tuple[str, int | None]]:
    """The commands that were not understood, and their lines."""
    assert all(
        (note.kind, note.device, note.file) == (UNKNOWN_LINE_NOTE_KIND, NAME, "frr.conf") for note in reading.notes
    )
    return [(note.message.split("`")[1], note.line) for note in reading.notes]


def keeping() -> dict[str, Any]:
    """Return the tables of a switch that keeps its frr.conf."""
    tables: dict[str, Any] = stock()
    tables["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] = "split-unified"
    return tables


def bgp(text: str) -> Bgp:
    found = read(None, text).device.bgp
    assert isinstance(found, Bgp)
    return found


def neighbors(text: str) -> Any:
    return bgp(f"router bgp 65000\n{text}").neighbors


CLOS = """\
frr version 10.3
frr defaults datacenter
hostname tor1
log syslog informational
service integrated-vtysh-config
!
ip prefix-list LOOPBACKS seq 5 permit 10.0.0.0/16 ge 32
ip prefix-list LOOPBACKS permit any
ipv6 prefix-list LOOPBACKS seq 7 deny ::/0 le 64
bgp community-list standard GSHUT seq 5 permit graceful-shutdown
bgp community-list standard GSHUT deny 65000:1 65000:2
bgp community-list 7 permit no-export
!
route-map OUT permit 10
 match ip address prefix-list LOOPBACKS
 match community GSHUT exact-match
 set local-preference 0
 set community 65000:1 additive
exit
!
route-map OUT deny 20
exit
!
ip route 0.0.0.0/0 10.9.0.1
ip route 10.1.0.0/16 blackhole vrf Vrf-a
ipv6 route ::/0 2001:db8::1
!
bfd
 profile fast
  receive-interval 100
  transmit-interval 100
 exit
exit
!
bgp session-dscp 40
router bgp 65001
 bgp router-id 10.0.0.1
 bgp log-neighbor-changes
 no bgp default ipv4-unicast
 bgp bestpath as-path multipath-relax
 neighbor SPINES peer-group
 neighbor SPINES remote-as external
 neighbor SPINES bfd
 neighbor Ethernet0 interface peer-group SPINES
 neighbor Ethernet8 interface v6only remote-as 65009
 neighbor Ethernet8 bfd profile fast
 neighbor 10.1.0.1 peer-group SPINES
 neighbor 10.1.0.1 remote-as 65007
 neighbor 10.1.0.1 description "to spine 1" !x
 neighbor 10.1.0.3 remote-as internal
 neighbor 10.1.0.3 shutdown message maintenance
 !
 address-family ipv4 unicast
  network 10.0.0.1/32
  neighbor SPINES activate
  neighbor SPINES allowas-in
  neighbor SPINES route-map OUT out
  neighbor 10.1.0.1 allowas-in 2
  no neighbor 10.1.0.1 activate
  neighbor 10.1.0.3 activate
  maximum-paths 64
 exit-address-family
exit
!
line vty
!
"""


def test_a_rack_switch_with_a_peer_group() -> None:
    reading = read(None, CLOS)
    spines: Any = {"export_policy": "OUT", "bfd": True}
    assert reading.device.name == "tor1"
    assert reading.device.bgp == Bgp(
        asn=65001,
        router_id="10.0.0.1",
        networks=("10.0.0.1/32",),
        maximum_paths=64,
        multipath_relax=True,
        session_dscp=40,
        default_ipv4_unicast=False,
        prefix_lists=(
            PrefixList(
                name="LOOPBACKS",
                family="ipv4",
                rules=(
                    PrefixRule(sequence=5, action="permit", prefix="10.0.0.0/16", ge=32),
                    PrefixRule(sequence=10, action="permit", prefix="any"),
                ),
            ),
            PrefixList(
                name="LOOPBACKS", family="ipv6", rules=(PrefixRule(sequence=7, action="deny", prefix="::/0", le=64),)
            ),
        ),
        community_lists=(
            CommunityList(name="7", rules=(("permit", ("no-export",)),)),
            CommunityList(name="GSHUT", rules=(("permit", ("graceful-shutdown",)), ("deny", ("65000:1", "65000:2")))),
        ),
        route_maps=(
            RouteMap(
                name="OUT",
                rules=(
                    RouteMapRule(
                        sequence=10,
                        action="permit",
                        matches=(("ip address prefix-list", "LOOPBACKS"), ("community", "GSHUT exact-match")),
                        sets=(("local-preference", "0"), ("community", "65000:1 additive")),
                    ),
                    RouteMapRule(sequence=20, action="deny"),
                ),
            ),
        ),
        neighbors=(
            BgpNeighbor(interface="Ethernet0", remote_asn="external", allowas_in=3, **spines),
            BgpNeighbor(interface="Ethernet8", remote_asn=65009, active=False, bfd=True),
            BgpNeighbor(
                address="10.1.0.1",
                remote_asn=65007,
                description='"to spine 1" !x',
                active=False,
                allowas_in=2,
                **spines,
            ),
            BgpNeighbor(address="10.1.0.3", remote_asn="internal", enabled=False),
        ),
    )
    assert reading.device.static_routes == (
        StaticRoute(prefix="0.0.0.0/0", next_hop="10.9.0.1"),
        StaticRoute(prefix="10.1.0.0/16", next_hop="blackhole", vrf="Vrf-a"),
        StaticRoute(prefix="::/0", next_hop="2001:db8::1"),
    )
    assert (reading.notes, reading.remarks, reading.problems) == ((), (), ())


def test_routes_in_the_block_of_their_vrf() -> None:
    reading = read(None, "vrf Vrf-b\n ip route 10.2.0.0/16 10.9.0.2\n vni 7\nexit-vrf\nip route 10.3.0.0/16 Null0\n")
    assert reading.device.static_routes == (
        StaticRoute(prefix="10.2.0.0/16", next_hop="10.9.0.2", vrf="Vrf-b"),
        StaticRoute(prefix="10.3.0.0/16", next_hop="Null0"),
    )
    assert notes(reading) == [("vni 7", 3)]


def flat(text: str) -> str:
    """The same commands without indentation, comments and empty lines."""
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("!"))


@pytest.mark.parametrize(
    "text",
    [
        flat(CLOS),
        CLOS.replace("\n", "\r\n"),
        CLOS.replace("!\n", "# a comment\n\n! another\n"),
        CLOS.replace("exit\n", ""),
        CLOS.replace(" exit-address-family\n", ""),
        CLOS.replace("\n ", "\n\t"),
        CLOS.replace("\n ", "\n    "),
        "\ufeff" + CLOS,
        CLOS + "end\n",
    ],
    ids=["flat", "CR LF", "comments", "no exit", "no exit of family", "tabs", "deep", "byte order mark", "end"],
)
def test_layout_means_nothing(text: str) -> None:
    reading, expected = read(None, text), read(None, CLOS)
    assert reading.device == expected.device
    assert reading.notes == ()


def test_a_neighbor_is_active_by_default_unless_that_is_off() -> None:
    (found,) = neighbors(" neighbor 10.0.0.1 remote-as 1\n")
    assert found == BgpNeighbor(address="10.0.0.1", remote_asn=1)
    (off,) = neighbors(" neighbor 10.0.0.1 remote-as 1\n no bgp default ipv4-unicast\n")
    assert off == BgpNeighbor(address="10.0.0.1", remote_asn=1, active=False)
    (undone,) = neighbors(
        " neighbor 10.0.0.1 remote-as 1\n neighbor 10.0.0.1 shutdown\n no neighbor 10.0.0.1 shutdown\n"
    )
    assert undone == BgpNeighbor(address="10.0.0.1", remote_asn=1)


def test_a_member_has_what_its_group_says_later_and_its_own_over_it() -> None:
    found = neighbors(
        " neighbor G peer-group\n neighbor fc00::1 peer-group G\n neighbor 10.0.0.1 peer-group G\n"
        " neighbor 10.0.0.1 route-map OWN in\n neighbor G remote-as 7\n neighbor G route-map ALL in\n"
        " neighbor G description the group\n no neighbor G activate\n"
    )
    assert found == (
        BgpNeighbor(address="fc00::1", remote_asn=7, active=False, import_policy="ALL"),
        BgpNeighbor(address="10.0.0.1", remote_asn=7, active=False, import_policy="OWN"),
    )


def test_commands_of_ipv4_unicast_may_stand_under_bgp_itself() -> None:
    found = bgp("router bgp 65000\n network 10.0.0.0/8\n maximum-paths 4\n address-family ipv4\n  network 11.0.0.0/8\n")
    assert (found.networks, found.maximum_paths) == (("10.0.0.0/8", "11.0.0.0/8"), 4)


def test_two_blocks_of_one_process_are_one() -> None:
    found = bgp("router bgp 1\n neighbor 10.0.0.1 remote-as 2\n!\nrouter bgp 1\n bgp router-id 10.0.0.9\n")
    assert (found.router_id, len(found.neighbors)) == ("10.0.0.9", 1)


@pytest.mark.parametrize(
    "line",
    [
        "router bgp",
        "router bgp ²",
        "router bgp 65000 view A",
        "router bgp 65000 vrf",
        "bgp as-path access-list A permit",
        "bgp as-path access-list A seq x permit 1",
        "bgp as-path access-list A allow 1",
        "frr defaults",
        "frr defaults spine",
        "frr version",
        "router ospf",
        "nonsense",
        "ip prefix-list",
        "ip prefix-list A",
        "ip prefix-list A seq",
        "ip prefix-list A seq 5 permit",
        "ip prefix-list A seq x permit any",
        "ip prefix-list A permit any ge",
        "ip prefix-list A permit any ge x",
        "ip prefix-list A permit any gt 3",
        "ip prefix-list A allow any",
        "bgp community-list standard A permit",
        "bgp community-list standard A allow 1:1",
        "bgp community-list expanded A permit (",
        "bgp community-list 500 permit",
        "bgp community-list A permit 1:1",
        "bgp session-dscp x",
        "ip route 10.0.0.0/8",
        "ip route 10.0.0.0/8 10.0.0.1 tag 5",
        "route-map A allow 10",
        "route-map A permit x",
        "no ip prefix-list A",
    ],
)
def test_a_command_that_is_not_understood_is_noted_with_its_line(line: str) -> None:
    reading = read(None, f"!\n{line}\n")
    assert notes(reading) == [(line, 2)]
    assert (reading.device.bgp, reading.device.static_routes) == (None, ())


@pytest.mark.parametrize(
    "line",
    [
        "neighbor",
        "neighbor 10.0.0.1",
        "no neighbor",
        "no neighbor 10.0.0.1 remote-as 7",
        "neighbor 10.0.0.1 remote-as x",
        "neighbor 10.0.0.1 remote-as auto",
        "neighbor 10.0.0.1 peer-group NONE",
        "neighbor 10.0.0.1 route-map A",
        "neighbor 10.0.0.1 route-map A both",
        "neighbor 10.0.0.1 allowas-in origin",
        "neighbor 10.0.0.1 description",
        "neighbor 10.0.0.1 prefix-list A",
        "neighbor 10.0.0.1 prefix-list A both",
        "neighbor 10.0.0.1 next-hop-self always",
        "neighbor 10.0.0.1 update-source",
        "neighbor 10.0.0.1 ebgp-multihop x",
        "no neighbor 10.0.0.1 send-community",
        "neighbor 10.0.0.1 strict-capability-match",
        "neighbor 10.0.0.1 override-capability",
        "neighbor 10.0.0.1 dont-capability-negotiate",
        "neighbor 10.0.0.1 capability orf prefix-list both",
        "neighbor 10.0.0.1 capability link-local",
        "neighbor 10.0.0.1 attribute-unchanged",
        "neighbor 10.0.0.1 attribute-unchanged as-path next-hop med",
        "neighbor 10.0.0.1 nexthop-local unchanged",
        "neighbor 10.0.0.1 addpath-tx-all-paths",
        "neighbor 10.0.0.1 shutdown rtt 50",
        "neighbor 10.0.0.1 bfd strict",
        "redistribute ospf",
        "redistribute connected metric 5",
        "redistribute connected route-map",
        "network 10.0.0.0/8 route-map A",
        "network fd00::/8",
        "aggregate-address 10.0.0.0/8 suppress-map A",
        "aggregate-address fd00::/8",
        "no",
        "maximum-paths x",
        "address-family l2vpn evpn",
        "bgp bestpath med missing-as-worst",
        "bgp bestpath as-path confed",
        "bgp listen range 10.0.0.0/8 peer-group A",
    ],
)
def test_a_command_of_bgp_that_is_not_understood_is_noted_with_its_line(line: str) -> None:
    reading = read(None, f"router bgp 65000\n {line}\n")
    assert notes(reading) == [(line, 2)]
    assert reading.device.bgp == Bgp(asn=65000, requires_policy=True)


@pytest.mark.parametrize("line", ["network 10.0.0.0/8", "aggregate-address 10.0.0.0/8"])
def test_a_prefix_of_ipv4_in_the_family_of_ipv6_is_not_understood(line: str) -> None:
    reading = read(None, f"router bgp 65000\n address-family ipv6 unicast\n  {line}\n")
    assert notes(reading) == [(line, 3)]
    assert reading.device.bgp == Bgp(asn=65000, requires_policy=True)


@pytest.mark.parametrize(
    ("lines", "active", "refused"),
    [
        pytest.param(["10.0.0.1 remote-as 7", "10.0.0.2 remote-as 8"], [True, True], None, id="external ones"),
        pytest.param(["10.0.0.1", "10.0.0.2"], [True, True], None, id="none with a number"),
        pytest.param(["10.0.0.1", "10.0.0.2 remote-as 8"], [True, False], "10.0.0.2", id="the first has none"),
        pytest.param(["10.0.0.1 remote-as 7", "10.0.0.2"], [True, True], None, id="the second has none"),
        pytest.param(
            ["10.0.0.1 remote-as 65000", "10.0.0.2 remote-as 8"], [True, False], "10.0.0.2", id="the first is internal"
        ),
        pytest.param(
            ["G remote-as external", "10.0.0.1 remote-as internal"], [False], "10.0.0.1", id="the group is external"
        ),
        pytest.param(["G remote-as 7", "10.0.0.1 remote-as 65000"], [True], None, id="the group has a number"),
    ],
)
def test_a_peer_group_is_internal_or_external_as_its_first_member(
    lines: list[str], active: list[bool], refused: str | None
) -> None:
    """As FRR 8.4.4 answers `Peer-group members must be all internal or all external`."""
    said = ["no bgp default ipv4-unicast", "neighbor G peer-group", "neighbor G activate"]
    for line in lines:
        said += [f"neighbor {line}"] if "remote-as" in line else []
        key = line.split()[0]
        said += [f"neighbor {key} peer-group G"] if key != "G" else []
    reading = read(None, "router bgp 65000\n" + "".join(f" {one}\n" for one in said))
    bgp = reading.device.bgp
    assert isinstance(bgp, Bgp)
    assert isinstance(bgp.neighbors, tuple)
    assert [one.active for one in bgp.neighbors] == active
    assert [text for text, _ in notes(reading)] == ([f"neighbor {refused} peer-group G"] if refused else [])


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("bgp suppress-fib-pending", "suppress_fib_pending", UNKNOWN),
        ("no bgp suppress-fib-pending", "suppress_fib_pending", False),
        ("bgp graceful-restart", "graceful_restart", True),
        ("no bgp graceful-restart", "graceful_restart", False),
        ("bgp graceful-restart preserve-fw-state", "preserve_forwarding", True),
        ("bgp graceful-restart restart-time 240", "restart_s", 240),
        ("no bgp graceful-restart restart-time 240", "restart_s", None),
        ("bgp graceful-restart select-defer-time 0", "select_defer_s", 0),
    ],
)
def test_how_bgp_starts_and_announces(line: str, field: str, value: object) -> None:
    reading = read(None, f"router bgp 65000\n {line}\n")
    assert reading.notes == ()
    bgp = reading.device.bgp
    assert isinstance(bgp, Bgp)
    assert getattr(bgp, field) is value or (getattr(bgp, field) == value and not isinstance(value, bool))


@pytest.mark.parametrize(
    "line",
    [
        "bgp log-neighbor-changes",
        "no bgp log-neighbor-changes",
        "bgp graceful-restart stalepath-time 240",
        "bgp deterministic-med",
        "bgp listen limit 200",
        "bmp targets sonic-bmp",
        "coalesce-time 10000",
        "neighbor 10.0.0.1 timers connect 10",
        "no neighbor 10.0.0.1 timers 1 3",
        "neighbor 10.0.0.1 advertisement-interval 0",
        "neighbor 10.0.0.1 soft-reconfiguration inbound",
        "neighbor 10.0.0.1 send-community both",
        "neighbor 10.0.0.1 maximum-prefix 100 90 warning-only",
        "neighbor 10.0.0.1 capability dynamic",
        "no neighbor 10.0.0.1 capability dynamic",
        "no neighbor 10.0.0.1 capability orf prefix-list both",
        "no neighbor 10.0.0.1 dont-capability-negotiate",
        "no neighbor 10.0.0.1 override-capability",
        "no neighbor 10.0.0.1 strict-capability-match",
        "no neighbor 10.0.0.1 attribute-unchanged",
        "no neighbor 10.0.0.1 nexthop-local unchanged",
    ],
)
def test_what_changes_no_route_is_passed_over(line: str) -> None:
    reading = read(None, f"router bgp 65000\n neighbor 10.0.0.1 remote-as 1\n {line}\n")
    assert reading.notes == ()
    neighbor = BgpNeighbor(address="10.0.0.1", remote_asn=1)
    assert reading.device.bgp == Bgp(asn=65000, requires_policy=True, neighbors=(neighbor,))


@pytest.mark.parametrize(
    "line",
    [
        "ip nht resolve-via-default",
        "ipv6 nht resolve-via-default",
        "ip forwarding",
        "no fpm use-next-hop-groups",
        "username cumulus nopassword",
        "interface Ethernet0\n link-detect",
    ],
)
def test_what_bears_on_nothing_here_is_passed_over(line: str) -> None:
    assert read(None, f"{line}\nrouter bgp 1\n").notes == ()


@pytest.mark.parametrize(
    ("line", "sets", "noted"),
    [
        ("on-match next", (("on-match", "next"),), False),
        ("on-match goto 30", (("on-match", "goto 30"),), False),
        ("continue", (("on-match", "next"),), False),
        ("continue 30", (("on-match", "goto 30"),), False),
        ("continue x", (("continue", "x"),), True),
        ("on-match", (("on-match", ""),), True),
    ],
)
def test_where_a_route_goes_from_an_entry(line: str, sets: Any, noted: bool) -> None:
    reading = read(None, f"router bgp 1\nroute-map A permit 10\n {line}\n")
    assert reading.device.bgp.route_maps[0].rules[0].sets == sets
    assert notes(reading) == ([(line, 3)] if noted else [])


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        ("set ip next-hop unchanged", False),
        ("set ip next-hop peer-address", False),
        ("set ip next-hop 10.1.0.1", False),
        ("set ipv6 next-hop prefer-global", False),
        ("set ipv6 next-hop peer-address", True),
        ("set ipv6 next-hop global fd00::1", False),
        ("set ipv6 next-hop local fe80::1", True),
        ("set ipv4 vpn next-hop 10.1.0.1", True),
        ("set ipv6 vpn next-hop fd00::1", True),
    ],
)
def test_next_hops_that_are_not_computed_are_named_at_their_lines(line: str, noted: bool) -> None:
    reading = read(None, f"router bgp 1\nroute-map A permit 10\n {line}\n")
    assert notes(reading) == ([(line, 3)] if noted else [])


def test_a_denied_route_goes_nowhere() -> None:
    reading = read(None, "router bgp 1\nroute-map A deny 10\n on-match next\n")
    assert reading.device.bgp.route_maps[0].rules[0] == RouteMapRule(sequence=10, action="deny")
    assert notes(reading) == [("on-match next", 3)]


def test_what_a_route_map_calls_is_looked_for() -> None:
    reading = read(keeping(), "router bgp 1\nroute-map A permit 10\n description all\n call B\n match interface lo\n")
    (rule,) = reading.device.bgp.route_maps[0].rules
    assert rule == RouteMapRule(sequence=10, action="permit", matches=(("interface", "lo"),), sets=(("call", "B"),))
    assert reading.notes == ()
    assert [(one.facts["kind"], one.facts["name"]) for one in reading.remarks if one.kind == "dangling-reference"] == [
        ("route map", "B")
    ]


@pytest.mark.parametrize(
    ("text", "asks", "checks"),
    [
        ("router bgp 1\n", True, True),
        ("frr defaults traditional\nrouter bgp 1\n", True, True),
        ("frr defaults datacenter\nrouter bgp 1\n", False, True),
        ("router bgp 1\nfrr defaults datacenter\n", True, True),
        ("frr version 7.3.1\nrouter bgp 1\n", False, False),
        ("frr version 7.3.1\nfrr defaults datacenter\nrouter bgp 1\n", False, True),
        ("frr version 7.4\nrouter bgp 1\n", True, True),
        ("frr version 10.4.1\nrouter bgp 1\n no bgp ebgp-requires-policy\n", False, True),
        ("frr defaults datacenter\nrouter bgp 1\n bgp ebgp-requires-policy\n", True, True),
        ("router bgp 1\n no bgp network import-check\n", True, False),
        ("frr version 7.2\nrouter bgp 1\n bgp network import-check exact\n", False, True),
        ("frr version 7.2\nrouter bgp 1\n bgp network import-check\n", False, True),
    ],
)
def test_what_is_not_said_follows_profile_and_version(text: str, asks: bool, checks: bool) -> None:
    """FRRouting bgpd/bgp_vty.c, BGP_EBGP_REQUIRES_POLICY and BGP_IMPORT_CHECK."""
    found = bgp(text)
    assert (found.requires_policy, found.import_check) == (asks, checks)


def test_routes_of_other_sources_are_redistributed() -> None:
    reading = read(
        keeping(),
        "router bgp 1\n redistribute static route-map S\n address-family ipv6\n  redistribute connected\n"
        "  redistribute kernel route-map NONE\n address-family ipv4\n  redistribute connected\nroute-map S permit 10\n",
    )
    assert reading.device.bgp.redistributions == (
        Redistribution(source="connected"),
        Redistribution(source="static", policy="S"),
        Redistribution(source="connected", family="ipv6"),
        Redistribution(source="kernel", family="ipv6", policy="NONE"),
    )
    assert [dict(one.facts) for one in reading.remarks if one.kind == "dangling-reference"] == [
        {"kind": "route map", "name": "NONE", "field": "redistribute kernel route-map NONE"}
    ]


def test_lists_of_as_paths_go_by_their_numbers() -> None:
    reading = read(
        keeping(),
        "bgp as-path access-list A permit ^65000_\nbgp as-path access-list A seq 3 deny _65001 65002$\n"
        "ip as-path access-list OLD permit .*\nrouter bgp 1\nroute-map R permit 10\n match as-path A\n"
        "route-map R permit 20\n match as-path NONE\n",
    )
    assert reading.device.bgp.as_path_lists == (
        AsPathList(name="A", rules=(("deny", "_65001 65002$"), ("permit", "^65000_"))),
        AsPathList(name="OLD", rules=(("permit", ".*"),)),
    )
    assert [dict(one.facts) for one in reading.remarks if one.kind == "dangling-reference"] == [
        {"kind": "AS path list", "name": "NONE", "field": "match as-path NONE"}
    ]


@pytest.mark.parametrize(
    ("version", "missing", "unread"),
    [("frr version 4.0+cl3u8\n", [], 0), ("", [], 2), ("frr version 7.3\n", ["11", "OLD"], 2)],
)
def test_lists_that_begin_with_ip_are_those_of_releases_before_7_3(
    version: str, missing: list[str], unread: int
) -> None:
    reading = read(
        keeping(),
        f"{version}ip community-list 11 permit 65001:1\nip as-path access-list OLD permit .*\nrouter bgp 1\n"
        "route-map R permit 10\n match community 11\n match as-path OLD\n",
    )
    names = [dict(one.facts)["name"] for one in reading.remarks if one.kind == "dangling-reference"]
    assert (sorted(names), len(reading.notes)) == (missing, unread)


def test_rules_go_by_their_numbers_and_the_later_of_a_number_counts() -> None:
    found = bgp(
        "router bgp 1\nip prefix-list A seq 20 permit any\nip prefix-list A seq 5 deny 10.0.0.0/8\n"
        "ip prefix-list A deny 11.0.0.0/8\nip prefix-list A seq 20 deny any\n"
        "route-map R permit 20\nroute-map R permit 10\n match tag 3\n set tag 1\nroute-map R permit 10\n set tag 2\n"
    )
    (prefixes,), (policy,) = found.prefix_lists, found.route_maps
    assert [(rule.sequence, rule.action, rule.prefix) for rule in prefixes.rules] == [
        (5, "deny", "10.0.0.0/8"),
        (20, "deny", "any"),
        (25, "deny", "11.0.0.0/8"),
    ]
    assert policy.rules == (
        RouteMapRule(sequence=10, action="permit", matches=(("tag", "3"),), sets=(("tag", "2"),)),
        RouteMapRule(sequence=20, action="permit"),
    )


def test_prefix_lists_of_sessions_are_those_of_the_family() -> None:
    reading = read(
        keeping(),
        "ip prefix-list A permit any\nrouter bgp 1\n neighbor G peer-group\n neighbor G prefix-list A out\n"
        " neighbor 10.0.0.1 remote-as 2\n neighbor 10.0.0.1 peer-group G\n neighbor 10.0.0.1 prefix-list B in\n"
        " address-family ipv6\n  neighbor 10.0.0.1 prefix-list A in\n",
    )
    (found,) = reading.device.bgp.neighbors
    assert (found.import_prefix_list, found.export_prefix_list) == ("B", "A")
    assert (found.ipv6.import_prefix_list, found.ipv6.export_prefix_list) == ("A", None)
    kinds = [(one.kind, one.facts["kind"], one.facts["name"]) for one in reading.remarks if "name" in one.facts]
    assert kinds == [
        ("dangling-reference", "IPv4 prefix list", "B"),
        ("prefix-list-of-other-family", "IPv6 prefix list", "A"),
    ]


def test_how_a_session_is_opened_and_whose_next_hop_it_passes_on() -> None:
    found = neighbors(
        " neighbor 10.0.0.1 remote-as 2\n neighbor 10.0.0.1 update-source lo\n neighbor 10.0.0.1 ebgp-multihop\n"
        " neighbor 10.0.0.2 remote-as 2\n neighbor 10.0.0.2 update-source 10.9.0.1\n"
        " neighbor 10.0.0.2 ebgp-multihop 3\n neighbor 10.0.0.2 next-hop-self\n"
        " address-family ipv6\n  neighbor 10.0.0.1 next-hop-self\n"
    )
    assert found == (
        BgpNeighbor(
            address="10.0.0.1",
            remote_asn=2,
            update_source="lo",
            ebgp_multihop=255,
            ipv6=Ipv6Unicast(next_hop_self=True),
        ),
        BgpNeighbor(address="10.0.0.2", remote_asn=2, update_source="10.9.0.1", ebgp_multihop=3, next_hop_self=True),
    )


def test_a_session_over_an_interface_has_no_hops() -> None:
    (found,) = neighbors(
        " neighbor G peer-group\n neighbor G remote-as 2\n neighbor G ebgp-multihop\n"
        " neighbor Ethernet0 interface peer-group G\n"
    )
    assert found == BgpNeighbor(interface="Ethernet0", remote_asn=2)


def test_what_decides_between_routes() -> None:
    found = bgp("router bgp 1\n bgp bestpath compare-routerid\n bgp always-compare-med\n")
    assert (found.compare_router_id, found.always_compare_med) == (True, True)


def test_processes_of_vrfs_have_sessions_of_their_own_and_the_lists_of_all() -> None:
    text = (
        "ip prefix-list A permit any\nrouter bgp 1\n neighbor 10.0.0.1 remote-as 2\nrouter bgp 9 vrf RED\n"
        " bgp router-id 10.0.0.9\n neighbor 10.0.0.1 remote-as 3\n address-family ipv4\n  redistribute connected\n"
        "  neighbor 10.0.0.1 prefix-list A in\nrouter bgp 1 vrf BLUE\n bgp graceful-shutdown\n"
        "router bgp 1 vrf default\n network 10.0.0.0/8\n"
    )
    device = read(None, text).device
    assert device.bgp is not None
    lists = device.bgp.prefix_lists
    assert [one.name for one in lists] == ["A"]
    assert (device.bgp.networks, device.bgp.neighbors[0].remote_asn) == (("10.0.0.0/8",), 2)
    red = BgpNeighbor(address="10.0.0.1", remote_asn=3, import_prefix_list="A")
    assert device.vrf_bgp == (
        Bgp(asn=1, vrf="BLUE", requires_policy=True, graceful_shutdown=True, prefix_lists=lists),
        Bgp(
            asn=9,
            vrf="RED",
            router_id="10.0.0.9",
            redistributions=(Redistribution(source="connected"),),
            requires_policy=True,
            prefix_lists=lists,
            neighbors=(red,),
        ),
    )


def test_a_match_that_is_not_understood_is_noted_and_kept() -> None:
    reading = read(None, "router bgp 1\nroute-map A permit 10\n match rpki valid\n set tag 3\n on-match next\n")
    assert notes(reading) == [("match rpki valid", 3)]
    (rule,) = reading.device.bgp.route_maps[0].rules
    matches, sets = (("rpki", "valid"),), (("tag", "3"), ("on-match", "next"))
    assert rule == RouteMapRule(sequence=10, action="permit", matches=matches, sets=sets)


def test_names_of_nothing_are_remarked_where_they_stand() -> None:
    text = (
        "route-map A permit 10\n match ip address prefix-list P\n match community C exact-match\n"
        "router bgp 1\n neighbor 10.0.0.1 remote-as 2\n neighbor 10.0.0.1 route-map B in\n"
    )
    reading = read(keeping(), text)
    assert [
        (one.kind, one.subject, dict(one.facts), one.place and (one.place.file, one.place.span.line))
        for one in reading.remarks
    ] == [
        (
            "dangling-reference",
            (NAME, "@bgp"),
            {"kind": "IPv4 prefix list", "name": "P", "field": "match ip address prefix-list P"},
            ("frr.conf", 2),
        ),
        (
            "dangling-reference",
            (NAME, "@bgp"),
            {"kind": "community list", "name": "C", "field": "match community C exact-match"},
            ("frr.conf", 3),
        ),
        (
            "dangling-reference",
            (NAME, "@bgp"),
            {"kind": "route map", "name": "B", "field": "neighbor 10.0.0.1 route-map B in"},
            ("frr.conf", 6),
        ),
    ]


@pytest.mark.parametrize(
    ("localhost", "tables", "none"),
    [
        ({}, {}, (True, True)),
        ({"docker_routing_config_mode": "separated"}, {}, (True, True)),
        ({"docker_routing_config_mode": "unified"}, {}, (True, True)),
        ({"docker_routing_config_mode": "split"}, {}, (False, False)),
        ({"docker_routing_config_mode": "split-unified"}, {}, (False, False)),
        ({"bgp_asn": "None"}, {}, (True, True)),
        ({}, {"BGP_NEIGHBOR": {"10.0.0.1": {}}}, (True, True)),
        ({}, {"STATIC_ROUTE": {"10.0.0.0/8": {}}}, (True, True)),
    ],
)
def test_without_its_file_routing_is_known_to_be_none_or_not_known(
    localhost: Any, tables: Any, none: tuple[bool, bool]
) -> None:
    config = stock(**tables)
    config["DEVICE_METADATA"]["localhost"] |= localhost
    found = read(config).device
    assert (repr(found.bgp), repr(found.static_routes)) == (
        "None" if none[0] else "UNKNOWN",
        "()" if none[1] else "UNKNOWN",
    )


def test_both_families_of_a_session_are_read_with_the_policies_of_each() -> None:
    text = (
        "ipv6 prefix-list P6 seq 5 permit fd00::/48 ge 128\n"
        "route-map A permit 10\n match ipv6 address prefix-list P6\n set ipv6 next-hop prefer-global\n"
        "route-map B permit 10\n"
        "interface Ethernet0\n no ipv6 nd suppress-ra\n ipv6 nd ra-interval 5\n ip ospf cost 3\n"
        "router bgp 65000\n"
        " neighbor UP peer-group\n neighbor UP remote-as external\n neighbor UP capability extended-nexthop\n"
        " neighbor Ethernet0 interface peer-group UP\n"
        " neighbor fd00:1::1 remote-as 65001\n neighbor fd00:1::1 capability extended-nexthop\n"
        " address-family ipv6 unicast\n"
        "  network fd00::1/128\n  neighbor UP activate\n  neighbor UP route-map A in\n"
        "  neighbor Ethernet0 allowas-in 2\n  neighbor fd00:1::1 route-map B out\n  maximum-paths 32\n"
        "  neighbor fd00:1::1 description no\n"
        " exit-address-family\n"
        " address-family ipv4 unicast\n  network 10.0.0.1/32\n  neighbor UP route-map B in\n exit-address-family\n"
    )
    reading = read(None, text)
    assert notes(reading) == [("ip ospf cost 3", 9), ("neighbor fd00:1::1 description no", 24)]
    assert reading.remarks == ()
    bgp = reading.device.bgp
    assert (bgp.networks, bgp.maximum_paths, bgp.maximum_paths_ipv6) == (("10.0.0.1/32", "fd00::1/128"), None, 32)
    assert bgp.route_maps[0].rules[0].sets == (("ipv6 next-hop", "prefer-global"),)
    assert bgp.neighbors == (
        BgpNeighbor(
            interface="Ethernet0",
            remote_asn="external",
            import_policy="B",
            ipv6=Ipv6Unicast(active=True, import_policy="A", allowas_in=2),
        ),
        BgpNeighbor(
            address="fd00:1::1",
            remote_asn=65001,
            ipv6=Ipv6Unicast(active=False, export_policy="B"),
            extended_next_hop=True,
        ),
    )


def test_ipv6_is_carried_by_every_session_where_that_is_the_default() -> None:
    text = (
        "router bgp 65000\n bgp default ipv6-unicast\n neighbor fd00::1 remote-as 1\n neighbor fd00::2 remote-as 2\n"
        " address-family ipv6 unicast\n  no neighbor fd00::2 activate\n exit-address-family\n"
    )
    assert [one.ipv6.active for one in read(None, text).device.bgp.neighbors] == [True, False]


def test_a_prefix_list_of_the_other_family_is_none() -> None:
    text = (
        "router bgp 1\nip prefix-list P permit 10.0.0.0/8\nroute-map A permit 10\n match ipv6 address prefix-list P\n"
    )
    (remark,) = read(None, text).remarks
    assert (remark.kind, remark.facts) == (
        "prefix-list-of-other-family",
        {
            "kind": "IPv6 prefix list", "name": "P", "field": "match ipv6 address prefix-list P",
            "other_kind": "IPv4 prefix list",
        },
    )  # fmt: skip


def test_a_filter_outside_an_address_family_is_of_ipv4() -> None:
    text = (
        "ipv6 prefix-list P permit any\nrouter bgp 1\n no bgp default ipv4-unicast\n neighbor fd00::1 remote-as 2\n"
        " neighbor fd00::1 prefix-list P in\n address-family ipv6 unicast\n  neighbor fd00::1 activate\n"
    )
    found = [(remark.kind, remark.facts["other_kind"], remark.facts["field"]) for remark in read(None, text).remarks]
    assert found == [("prefix-list-of-other-family", "IPv6 prefix list", "neighbor fd00::1 prefix-list P in")]


@pytest.mark.parametrize(
    ("lines", "hold_s"),
    [
        ("", None),
        ("timers bgp 10 30", 30),
        ("neighbor 10.0.0.1 timers 1 3\n timers bgp 10 30", 3),
        ("neighbor 10.0.0.1 timers 0 0", 0),
        ("neighbor 10.0.0.1 timers connect 10", None),
        ("neighbor G peer-group\n neighbor G timers 60 180\n neighbor 10.0.0.1 peer-group G", 180),
        ("timers bgp 10 30\n no neighbor 10.0.0.1 timers 1 3", 30),
    ],
)
def test_hold_times_of_sessions(lines: str, hold_s: int | None) -> None:
    reading = read(None, f"router bgp 65000\n neighbor 10.0.0.1 remote-as 1\n {lines}\n")
    assert isinstance(reading.device.bgp, Bgp)
    assert [one.hold_s for one in reading.device.bgp.neighbors] == [hold_s]


SHUT_GROUP = "neighbor G peer-group\n neighbor G shutdown\n neighbor 10.0.0.1 peer-group G"


@pytest.mark.parametrize(
    ("lines", "stated"),
    [
        ("neighbor 10.0.0.1 passive", {"passive": True}),
        ("neighbor 10.0.0.1 ttl-security hops 3", {"ttl_security_hops": 3}),
        ("neighbor 10.0.0.1 disable-connected-check", {"connected_check": False}),
        (SHUT_GROUP, {"enabled": False}),
        (
            f"{SHUT_GROUP}\n no neighbor 10.0.0.1 shutdown",
            {"enabled": False},
        ),
        ("neighbor 10.0.0.1 passive\n no neighbor 10.0.0.1 passive", {}),
    ],
)
def test_what_decides_whether_a_session_opens(lines: str, stated: dict[str, Any]) -> None:
    reading = read(None, f"router bgp 65000\n neighbor 10.0.0.1 remote-as 1\n {lines}\n")
    assert isinstance(reading.device.bgp, Bgp)
    assert reading.device.bgp.neighbors == (BgpNeighbor(address="10.0.0.1", remote_asn=1, **stated),)
    assert reading.notes == ()


def test_passwords_are_compared_and_in_no_part_of_the_model() -> None:
    """Equal passwords have equal digests of sixteen bits, from which no password can be found."""

    def digest(password: str) -> str | None:
        found = bgp(f"router bgp 65000\n neighbor 10.0.0.1 remote-as 1\n neighbor 10.0.0.1 password {password}\n")
        assert not isinstance(found.neighbors, Unknown)
        assert password not in repr(found)
        return found.neighbors[0].password

    assert digest("correct-horse") == digest("correct-horse") != digest("battery-staple")
    assert len(digest("correct-horse") or "") == 4


@pytest.mark.parametrize("family", ["l2vpn evpn", "evpn"])
def test_evpn_is_read_of_each_session_and_its_block_is_an_unknown_line(family: str) -> None:
    """As FRR spells it, and as Quagga of Cumulus Linux did."""
    text = f"router bgp 65000\n neighbor 10.0.0.1 remote-as 1\n address-family {family}\n  neighbor 10.0.0.1 activate\n"
    reading = read(None, text)
    assert isinstance(reading.device.bgp, Bgp)
    assert reading.device.bgp.neighbors == (BgpNeighbor(address="10.0.0.1", remote_asn=1, evpn=True),)
    assert notes(reading) == [(f"address-family {family}", 3)]


@pytest.mark.parametrize(
    "lines",
    [
        "neighbor 10.0.0.1 ebgp-multihop 2\n neighbor 10.0.0.1 ttl-security hops 1",
        "neighbor 10.0.0.1 ttl-security hops 1\n neighbor 10.0.0.1 ebgp-multihop 2",
        "bgp log-neighbor-changes\n no neighbor Ethernet0 capability extended-nexthop",
        "bgp log-neighbor-changes\n neighbor Ethernet0 ttl-security hops 2",
    ],
)
def test_what_bgpd_refuses_is_an_unknown_line(lines: str) -> None:
    reading = read(None, f"router bgp 65000\n neighbor 10.0.0.1 remote-as 1\n {lines}\n")
    assert notes(reading) == [(lines.partition("\n ")[2], 4)]


@pytest.mark.parametrize(
    ("members", "clients"),
    [
        pytest.param(["internal", "internal"], [True, True], id="inside the AS"),
        pytest.param(["65000", "internal"], [True, True], id="by its number"),
        pytest.param(["external", "7"], [False, False], id="to other ones"),
        pytest.param([], [], id="nobody yet"),
    ],
)
def test_a_peer_group_has_clients_if_its_first_session_is_inside_the_as(
    members: list[str], clients: list[bool]
) -> None:
    """As bgpd takes it (bgpd/bgpd.c, peer_calc_sort and peer_af_flag_modify)."""
    said = ["neighbor G peer-group"]
    for number, asn in enumerate(members, 1):
        said += [f"neighbor 10.0.0.{number} remote-as {asn}", f"neighbor 10.0.0.{number} peer-group G"]
    line = "neighbor G route-reflector-client"
    reading = read(None, "router bgp 65000\n" + "".join(f" {one}\n" for one in (*said, line)))
    assert isinstance(reading.device.bgp, Bgp)
    assert isinstance(reading.device.bgp.neighbors, tuple)
    assert [one.reflector_client for one in reading.device.bgp.neighbors] == clients
    assert [text for text, _ in notes(reading)] == ([] if any(clients) else [line])


@pytest.mark.parametrize(
    ("lines", "is_of_group"),
    [
        pytest.param("G local-as 65009\nX remote-as internal\nX peer-group G", True, id="of a group"),
        pytest.param("G local-as 65009\nX remote-as 65009\nX peer-group G", True, id="the neighbor's own"),
        pytest.param("G local-as 65009\nX remote-as external\nX peer-group G", False, id="to another AS"),
        pytest.param("X remote-as internal\nX local-as 65009", False, id="of the session itself"),
    ],
)
def test_a_peer_group_may_give_a_session_a_local_as_number_that_bgpd_refuses_there(
    lines: str, *, is_of_group: bool
) -> None:
    """As bgpd takes it (bgpd/bgpd.c, peer_local_as_set and peer_group2peer_config_copy)."""
    said = "".join(f" neighbor {line}\n" for line in lines.replace("X", "10.0.0.1").split("\n"))
    reading = read(None, f"router bgp 65000\n neighbor G peer-group\n{said}")
    assert isinstance(reading.device.bgp, Bgp)
    assert isinstance(reading.device.bgp.neighbors, tuple)
    (neighbor,) = reading.device.bgp.neighbors
    assert (neighbor.local_asn, neighbor.local_asn_of_group) == (65009, is_of_group)


def test_a_profile_of_bfd_that_is_missing_and_a_line_of_one_that_is_unknown() -> None:
    text = "bfd\n profile slow\n  detect-multiplier 3\n  passive-mode\nrouter bgp 1\n neighbor 10.0.0.1 remote-as 2\n"
    reading = read(None, f"{text} neighbor 10.0.0.1 bfd profile fast\n neighbor 10.0.0.1 bfd profile slow\n")
    assert [(one.kind, one.facts["name"]) for one in reading.remarks] == [("dangling-reference", "fast")]
    assert notes(reading) == [("passive-mode", 4)]


def shutting(lines: str, state: str = "up") -> DeviceReading:
    """A switch with a port that is up or down in CONFIG_DB, and lines about it in frr.conf."""
    tables = keeping()
    tables["PORT"] = {"Ethernet0": {**tables["PORT"]["Ethernet0"], "admin_status": state}}
    return read(tables, f"interface Ethernet0\n{lines}exit\nrouter bgp 65000\n")


@pytest.mark.parametrize(
    ("lines", "state", "shut", "remarked", "unknown"),
    [
        (" shutdown\n", "up", ("Ethernet0",), ["interface-shut-by-frr"], []),
        (" shutdown\n", "down", ("Ethernet0",), [], []),
        (" shutdown\n no shutdown\n", "up", (), [], []),
        (" no shutdown\n shutdown\n", "up", ("Ethernet0",), ["interface-shut-by-frr"], []),
        (" no shutdown\n", "up", (), [], []),
        (" no shutdown\n", "down", (), [], [("no shutdown", 2)]),
    ],
)
def test_a_port_that_frr_shuts_or_raises_is_held_against_config_db(
    lines: str, state: str, shut: tuple[str, ...], remarked: list[str], unknown: list[tuple[str, int]]
) -> None:
    reading = shutting(lines, state)
    assert reading.device.shut_by_daemon == shut
    about = [one for one in reading.remarks if one.kind == "interface-shut-by-frr"]
    assert [one.kind for one in about] == remarked
    assert [(one.subject, one.place and one.place.span.line) for one in about] == [
        ((NAME, "Ethernet0"), 2 + lines.startswith(" no")) for _ in remarked
    ]
    assert notes(reading) == unknown


@pytest.mark.parametrize(("word", "family"), [("ip", "IPv4"), ("ipv6", "IPv6")])
def test_forwarding_that_zebra_turns_off_is_remarked_for_a_routed_family(word: str, family: str) -> None:
    routing = f"no {word} forwarding\nrouter bgp 65000\n neighbor 10.0.0.1 remote-as 65001\n"
    activated = " address-family ipv6 unicast\n  neighbor 10.0.0.1 activate\n exit-address-family\n"
    seen = {}
    for text in (routing, routing + activated, f"no {word} forwarding\nrouter bgp 65000\n"):
        reading = read(keeping(), text)
        seen[text] = [
            (one.place and one.place.span.line, one.facts) for one in reading.remarks if "forward" in one.kind
        ]
        assert notes(reading) == []
    remarked = [(1, {"family": family})]
    assert list(seen.values()) == [remarked if family == "IPv4" else [], remarked, []]
