"""Which sessions come up, over what, for which families, and why the others do not."""

from typing import Any

import pytest

from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, End, Fabric, Host, Loopback
from nodrop.model.index import Index
from nodrop.model.overlays import Tunnel
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing import ControlPlane, compute_control_plane
from support.wired_routers import fabric, port, router, to

SIX = Ipv6Unicast(active=True)
CABLE = "r1 e0 - r2 e0"


def plane(*devices: Device, cables: tuple[str, ...] = (CABLE,)) -> ControlPlane:
    return compute_control_plane(Index(fabric(*devices, cables=cables)))


def pair(
    one: BgpNeighbor | None, other: BgpNeighbor | None, addresses: tuple[str, ...] = ("10.1.0.0/31", "10.1.0.1/31")
) -> ControlPlane:
    """Two routers, 65001 and 65002, with a cable between and a statement each."""
    return plane(
        router("r1", 65001, [port("e0", *addresses[:1])], [one] if one else []),
        router("r2", 65002, [port("e0", *addresses[1:])], [other] if other else []),
    )


def up(found: ControlPlane) -> list[tuple[str, str, str, str, tuple[str, ...]]]:
    """The sessions: router and leg at both ends, and the families."""
    return [
        (found.routers[a.router].name, a.leg.name, found.routers[b.router].name, b.leg.name, families)
        for a, b, families, _ in found.sessions
    ]


def down(found: ControlPlane) -> dict[str, tuple[str, dict[str, str | int]]]:
    """Why statements have no session, by router and neighbor."""
    return {f"{one.router.name} {one.neighbor.key}": (one.reason, dict(one.facts)) for one in found.down}


@pytest.mark.parametrize(
    ("platform", "ports", "reason"),
    [
        pytest.param("sonic", [port("e0")], "no-subnet", id="a platform that lists every port"),
        pytest.param("sonic", [], "unread", id="a part of a configuration, without ports"),
        pytest.param("nvue", [port("e0")], "unread", id="a platform that lists what is configured"),
        pytest.param("cumulus", [port("e0")], "unread", id="a platform that is only read"),
    ],
)
def test_an_interface_of_which_nothing_is_said_may_be_there(platform: str, ports: list[Any], reason: str) -> None:
    found = plane(replace_fields(router("r1", 65001, ports, [to("e1")]), platform=platform), cables=())
    assert [one.reason for one in found.down] == [reason]


@pytest.mark.parametrize(
    ("addresses", "one", "other", "families"),
    [
        pytest.param(("10.1.0.0/31", "10.1.0.1/31"), to("10.1.0.1"), to("10.1.0.0"), ("ipv4",), id="numbered"),
        pytest.param(("10.1.0.1/30", "10.1.0.2/30"), to("10.1.0.2"), to("10.1.0.1"), ("ipv4",), id="/30"),
        pytest.param(("10.1.0.1/24", "10.1.0.9/24"), to("10.1.0.9"), to("10.1.0.1"), ("ipv4",), id="/24"),
        pytest.param((), to("e0"), to("e0", ipv6=SIX), ("ipv4",), id="unnumbered"),
        pytest.param((), to("e0", ipv6=SIX), to("e0", ipv6=SIX), ("ipv4", "ipv6"), id="unnumbered, two families"),
        pytest.param(("10.1.0.0/31", "10.1.0.1/31"), to("e0"), to("e0"), ("ipv4",), id="over a port with a /31"),
        pytest.param(("10.1.0.1/30", "10.1.0.2/30"), to("e0"), to("10.1.0.1"), ("ipv4",), id="a /30 from one side"),
        pytest.param(
            ("fd01::/127", "fd01::1/127"),
            to("fd01::1", active=False, ipv6=SIX),
            to("fd01::", ipv6=SIX),
            ("ipv6",),
            id="IPv6",
        ),
        pytest.param(
            ("fd01::/127", "fd01::1/127"),
            to("fd01::1", extended_next_hop=True, ipv6=SIX),
            to("fd01::", extended_next_hop=True),
            ("ipv4",),
            id="next hops of IPv6",
        ),
        pytest.param(
            ("fd01::/127", "fd01::1/127"),
            to("fd01::1", extended_next_hop=True, ipv6=SIX),
            to("fd01::", ipv6=SIX),
            ("ipv6",),
            id="next hops of IPv6 at one end only",
        ),
    ],
)
def test_a_session_between_two_ports(
    addresses: tuple[str, ...], one: BgpNeighbor, other: BgpNeighbor, families: tuple[str, ...]
) -> None:
    found = pair(one, other, addresses)
    assert (up(found), down(found)) == ([("r1", "e0", "r2", "e0", families)], {})


HERE, THERE = to("10.1.0.1", 65002), to("10.1.0.0", 65001)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(
            replace_fields(HERE, enabled=False), THERE,
            {"r1 10.1.0.1": ("shutdown", {"where": "r1"}), "r2 10.1.0.0": ("shutdown", {"where": "r1"})},
            id="shutdown",
        ),
        pytest.param(
            to("10.1.0.3"), THERE,
            {"r1 10.1.0.3": ("no-subnet", {}), "r2 10.1.0.0": ("missing-there", {"peer": "r1", "port": "e0"})},
            id="no subnet",
        ),
        pytest.param(
            to("e0.4094"), THERE,
            {
                "r1 e0.4094": ("unread", {"node": "", "missing": "interface.addresses"}),
                "r2 10.1.0.0": ("missing-there", {"peer": "r1", "port": "e0"}),
            },
            id="a sub-interface at one end, whose addresses the model does not have",
        ),
        pytest.param(
            to("e7.10"), THERE,
            {"r1 e7.10": ("no-subnet", {}), "r2 10.1.0.0": ("missing-there", {"peer": "r1", "port": "e0"})},
            id="a sub-interface of no port",
        ),
        pytest.param(
            to("e7"), THERE,
            {"r1 e7": ("no-subnet", {}), "r2 10.1.0.0": ("missing-there", {"peer": "r1", "port": "e0"})},
            id="no such port",
        ),
        pytest.param(HERE, None, {"r1 10.1.0.1": ("missing-there", {"peer": "r2", "port": "e0"})}, id="missing"),
        pytest.param(
            replace_fields(HERE, remote_asn=65009), THERE,
            dict.fromkeys(
                ("r1 10.1.0.1", "r2 10.1.0.0"),
                ("asn", {"where": "r1", "expected": 65009, "peer": "r2", "found": 65002}),
            ),
            id="wrong AS number",
        ),
        pytest.param(
            HERE, replace_fields(THERE, remote_asn="internal"),
            dict.fromkeys(
                ("r1 10.1.0.1", "r2 10.1.0.0"),
                ("asn", {"where": "r2", "expected": "internal", "peer": "r1", "found": 65001}),
            ),
            id="internal",
        ),
        pytest.param(
            replace_fields(HERE, remote_asn=None), THERE,
            dict.fromkeys(
                ("r1 10.1.0.1", "r2 10.1.0.0"),
                ("asn", {"where": "r1", "expected": "none", "peer": "r2", "found": 65002}),
            ),
            id="no AS number",
        ),
        pytest.param(
            HERE, replace_fields(THERE, active=False),
            {"r1 10.1.0.1": ("families", {"peer": "r2"}), "r2 10.1.0.0": ("families", {"peer": "r1"})},
            id="no family of both",
        ),
    ],
)  # fmt: skip
def test_why_a_session_does_not_come_up(
    one: BgpNeighbor, other: BgpNeighbor | None, expected: dict[str, tuple[str, dict[str, Any]]]
) -> None:
    found = pair(one, other)
    assert (up(found), down(found)) == ([], expected)


def source(of: BgpNeighbor, update_source: str) -> BgpNeighbor:
    return replace_fields(of, update_source=update_source)


@pytest.mark.parametrize(
    ("one", "other", "comes"),
    [
        pytest.param(source(HERE, "Loopback0"), source(THERE, "Loopback0"), False, id="both from other addresses"),
        pytest.param(source(HERE, "Loopback0"), THERE, True, id="one from another address"),
        pytest.param(source(HERE, "10.9.0.1"), replace_fields(THERE, passive=True), False, id="the other only waits"),
        pytest.param(
            source(HERE, "10.1.0.0"), replace_fields(THERE, passive=True), True, id="from the address of the link"
        ),
        pytest.param(source(HERE, "e0"), replace_fields(THERE, passive=True), True, id="from the port"),
        pytest.param(source(HERE, "e7"), source(THERE, "e7"), False, id="from ports that are not there"),
        pytest.param(source(HERE, "10.1.0.0"), source(THERE, "e7"), True, id="one of both does"),
    ],
)
def test_one_end_opens_a_session_from_the_address_that_the_other_expects(
    one: BgpNeighbor, other: BgpNeighbor, *, comes: bool
) -> None:
    found = pair(one, other)
    facts = {"r1 10.1.0.1": ("r2", "10.1.0.0"), "r2 10.1.0.0": ("r1", "10.1.0.1")}
    reasons = {end: ("source", {"peer": peer, "address": address}) for end, (peer, address) in facts.items()}
    assert (len(up(found)), down(found)) == ((1, {}) if comes else (0, reasons))
    assert [where.there for where in found.down] == ([] if comes else [False, True])


@pytest.mark.parametrize(
    ("to_prefix", "via", "comes"),
    [
        pytest.param("10.1.0.1/32", "blackhole", False, id="the address is dropped"),
        pytest.param("10.1.0.1/32", "10.1.2.1", False, id="it is led over another link"),
        pytest.param("10.1.0.1/32", "e0", True, id="it is led over the link itself"),
        pytest.param("10.1.0.1/32", "10.9.9.9", True, id="the next hop is in no subnet"),
        pytest.param("10.1.0.0/16", "blackhole", True, id="a wider prefix than the subnet"),
        pytest.param("10.1.0.0/31", "blackhole", True, id="the subnet itself"),
    ],
)
def test_a_static_route_hides_a_neighbor(to_prefix: str, via: str, *, comes: bool) -> None:
    route = StaticRoute(prefix=to_prefix, next_hop=via)
    ports = [port("e0", "10.1.0.0/31"), port("e1", "10.1.2.0/31")]
    one = router("r1", 65001, ports, [HERE], static_routes=(route,))
    found = plane(one, router("r2", 65002, [port("e0", "10.1.0.1/31")], [THERE]))
    assert len(up(found)) == int(comes)
    assert [(where.router.name, where.reason, where.there, dict(where.facts)) for where in found.down] == (
        []
        if comes
        else [
            ("r1", "static", False, {"prefix": to_prefix, "via": via, "hop": via}),
            ("r2", "static", True, {"prefix": to_prefix, "via": via, "hop": via}),
        ]
    )


def test_external_needs_two_numbers() -> None:
    found = plane(
        router("r1", 65001, [port("e0")], [to("e0")]), router("r2", 65001, [port("e0")], [to("e0", "internal")])
    )
    assert down(found)["r1 e0"] == ("asn", {"where": "r1", "expected": "external", "peer": "r2", "found": 65001})


def test_a_port_that_is_off_at_either_end_or_fails() -> None:
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], [HERE])
    for off in (port("e0", "10.1.0.1/31", enabled=False), port("e0", "10.1.0.1/31")):
        devices = one, router("r2", 65002, [off], [THERE])
        failed = frozenset({End("r1", "e0")}) if off.enabled is True else frozenset()
        found = compute_control_plane(Index(fabric(*devices, cables=[CABLE])), failed)
        assert down(found) == {
            "r1 10.1.0.1": ("port-down", {"port": "e0"}),
            "r2 10.1.0.0": ("port-down", {"port": "e0"}),
        }


def test_nobody_has_the_address() -> None:
    found = pair(HERE, None, ("10.1.0.0/31",))
    assert down(found) == {"r1 10.1.0.1": ("nobody", {"port": "e0"})}


def test_a_cable_that_leads_to_another() -> None:
    """The address is there, on a switch to which the port is not cabled."""
    found = plane(
        router("r1", 65001, [port("e0", "10.1.0.0/31")], [HERE]),
        router("r2", 65002, [port("e0", "10.1.0.1/31")], [THERE]),
        router("r3", 65003, [port("e0")]),
        cables=("r1 e0 - r3 e0",),
    )
    where = {"owner": "r2", "port": "e0", "far": str(End("r3", "e0"))}
    assert down(found)["r1 10.1.0.1"] == ("cabled-elsewhere", where)


def test_without_a_known_cable_an_address_is_enough() -> None:
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], [HERE])
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [THERE])
    assert up(plane(one, other, cables=())) == [("r1", "e0", "r2", "e0", ("ipv4",))]
    bare = router("r1", 65001, [port("e0")], [to("e0")]), router("r2", 65002, [port("e0")], [to("e0")])
    assert down(plane(*bare, cables=())) == {"r1 e0": ("unread", {"node": ""}), "r2 e0": ("unread", {"node": ""})}


@pytest.mark.parametrize("neighbor", [to("e0"), HERE], ids=["unnumbered", "numbered"])
def test_a_far_end_that_is_not_read(neighbor: BgpNeighbor) -> None:
    addresses = ["10.1.0.0/31"] if neighbor.address else []
    one = router("r1", 65001, [port("e0", *addresses)], [neighbor])
    assert down(plane(one)) == {f"r1 {neighbor.key}": ("unread", {"node": "r2"})}
    far = ["10.1.0.1/31"] if neighbor.address else []
    unknown = Device(name="r2", platform="sonic", interfaces=(port("e0", *far),), bgp=UNKNOWN)
    for other in (unknown, router("r2", 65002, [port("e0", *far)], UNKNOWN)):
        assert down(plane(one, other)) == {f"r1 {neighbor.key}": ("unread", {"node": "r2"})}
    empty = router("r2", 65002, [port("e0", *far)])
    assert down(plane(one, empty)) == {f"r1 {neighbor.key}": ("missing-there", {"peer": "r2", "port": "e0"})}


def test_a_host_may_speak_and_is_not_read() -> None:
    one = router("r1", 65001, [port("e0")], [to("e0")])
    made: Fabric = replace_fields(
        fabric(one, cables=["r1 e0 - h1 p0"]), hosts=(Host(name="h1", group="gpu", gpus=8, nic=UNKNOWN, ports=()),)
    )
    assert down(compute_control_plane(Index(made))) == {"r1 e0": ("unread", {"node": "h1"})}


def bundled(name: str, asn: int, address: str, far: str, **more: Any) -> Device:
    ports = [port("e0"), port("e1")]
    channel = PortChannel(name="PortChannel1", members=("e0", "e1"), addresses=(address,), **more)
    return router(name, asn, ports, [to(far)], port_channels=(channel,))


def test_a_session_over_a_port_channel_lasts_as_long_as_it_has_ports_enough() -> None:
    both = ("r1 e0 - r2 e0", "r1 e1 - r2 e1")
    for least, alive in ((None, True), (2, False)):
        made = fabric(
            bundled("r1", 65001, "10.1.0.0/31", "10.1.0.1"),
            bundled("r2", 65002, "10.1.0.1/31", "10.1.0.0", min_links=least),
            cables=both,
        )
        whole = [("r1", "PortChannel1", "r2", "PortChannel1", ("ipv4",))]
        assert up(compute_control_plane(Index(made))) == whole
        assert up(compute_control_plane(Index(made), frozenset({End("r1", "e0")}))) == (whole if alive else [])
        assert up(compute_control_plane(Index(made), frozenset({End("r1", "e0"), End("r1", "e1")}))) == []


@pytest.mark.parametrize(("platform", "reason"), [("sonic", "port-down"), ("nvue", "unread")])
def test_members_of_a_bundle_may_be_stated_there_alone_if_files_need_not_list_ports(platform: str, reason: str) -> None:
    """As the peer link of an MLAG pair in a startup.yaml, over a sub-interface of which sessions go."""
    channel = PortChannel(name="peerlink", members=("swp49", "swp50"))
    over = BgpNeighbor(interface="peerlink.4094", remote_asn="external")
    alone = router("r1", 65001, [port("e0")], [over], port_channels=(channel,))
    found = plane(replace_fields(alone, platform=platform), cables=())
    assert [one.reason for one in found.down] == [reason]


def test_a_session_over_a_vlan() -> None:
    def bridged(name: str, asn: int, address: str, far: str) -> Device:
        vlan = Vlan(id=10, members=(VlanMember(interface="e0", tagged=False),), addresses=(address,))
        return router(name, asn, [port("e0")], [to(far)], vlans=(vlan,))

    found = plane(bridged("r1", 65001, "10.1.0.1/24", "10.1.0.2"), bridged("r2", 65002, "10.1.0.2/24", "10.1.0.1"))
    assert up(found) == [("r1", "VLAN 10", "r2", "VLAN 10", ("ipv4",))]


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"port_channels": (PortChannel(name="PortChannel1", addresses=("10.1.0.0/31",)),)}, "PortChannel1"),
        ({"vlans": (Vlan(id=10, addresses=("10.1.0.0/31",)),)}, "VLAN 10"),
    ],
)
def test_an_interface_with_the_subnet_and_no_port_carries_no_session(part: dict[str, Any], name: str) -> None:
    """The address is right: what is missing are the ports, and the other end is not at fault."""
    memberless = replace_fields(router("r1", 65001, [port("e0")], [HERE]), **part)
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [THERE])
    found = plane(memberless, other)
    assert down(found) == {
        "r1 10.1.0.1": ("no-member", {"port": name}),
        "r2 10.1.0.0": ("no-member", {"port": name}),
    }
    assert [one.there for one in found.down] == [False, True]


def test_a_vlan_without_ports_may_lead_over_vxlan() -> None:
    vxlan = Tunnel(name="vxlan", kind="vxlan", dscp_mode="uniform", dscp_after=None)
    own = replace_fields(
        router("r1", 65001, [port("e0")], [HERE]),
        vlans=(Vlan(id=10, addresses=("10.1.0.0/31",)),),
        tunnels=(vxlan,),
    )
    found = plane(own, router("r2", 65002, [port("e0", "10.1.0.1/31")], [THERE]))
    unread = ("unread", {"node": "", "missing": "the other end of a session"})
    assert down(found) == {"r1 10.1.0.1": unread, "r2 10.1.0.0": unread}


EMPTY_VLAN = {"vlans": (Vlan(id=900, addresses=("10.0.0.254/24",)),)}


@pytest.mark.parametrize("at", [0, 1])
def test_a_port_carries_the_session_though_an_interface_without_ports_has_its_subnet(at: int) -> None:
    channel = PortChannel(name="PortChannel1", addresses=(f"10.1.0.{at}/31",))
    ends = [
        router("r1", 65001, [port("e0", "10.1.0.0/31")], [HERE]),
        router("r2", 65002, [port("e0", "10.1.0.1/31")], [THERE]),
    ]
    ends[at] = replace_fields(ends[at], port_channels=(channel,))
    assert up(plane(*ends)) == [("r1", "e0", "r2", "e0", ("ipv4",))]


@pytest.mark.parametrize("at", [0, 1])
def test_a_session_over_routes_comes_up_though_an_interface_without_ports_has_its_subnet(at: int) -> None:
    """Nothing leads out of such a VLAN: neither connected nor learned routes go by it."""
    ends = []
    for number in (1, 2):
        far = to(f"10.0.0.{3 - number}", ebgp_multihop=4, update_source="Loopback0")
        link = f"10.1.0.{2 - number}"
        ends.append(
            router(
                f"r{number}",
                65000 + number,
                [port("e0", f"10.1.0.{number - 1}/31")],
                [far, to(link)],
                loopbacks=(Loopback(name="Loopback0", addresses=(f"10.0.0.{number}/32",)),),
                static_routes=(StaticRoute(prefix=f"10.0.0.{3 - number}/32", next_hop=link),),
            )
        )
    ends[at] = replace_fields(ends[at], **EMPTY_VLAN)
    found = plane(*ends)
    assert down(found) == {}
    assert ("r1", "Loopback0", "r2", "Loopback0", ("ipv4",)) in up(found)


def test_a_session_in_a_vrf_and_one_across_vrfs() -> None:
    """Each VRF has routers of its own: the same address in another VRF is another address."""

    def red(name: str, asn: int, address: str, far: str) -> Device:
        process = Bgp(asn=asn, vrf="RED", router_id=f"10.9.9.{asn % 100}", neighbors=(to(far),))
        return router(name, asn, [port("e0", address, vrf="RED")], vrf_bgp=(process,))

    one, other = red("r1", 65001, "10.1.0.0/31", "10.1.0.1"), red("r2", 65002, "10.1.0.1/31", "10.1.0.0")
    assert up(plane(one, other)) == [("r1 VRF RED", "e0", "r2 VRF RED", "e0", ("ipv4",))]
    plain = router("r1", 65001, [port("e0", "10.1.0.0/31", vrf="RED")], [HERE])
    assert down(plane(plain, other)) == {
        "r1 10.1.0.1": ("no-subnet", {}),
        "r2 VRF RED 10.1.0.0": ("missing-there", {"peer": "r1 VRF RED", "port": "e0"}),
    }


@pytest.mark.parametrize(("at", "there"), [(0, False), (1, True)])
def test_a_port_that_the_routing_daemon_shuts_is_down_at_both_ends(at: int, there: bool) -> None:
    ports = [port("e0", "10.1.0.0/31")], [port("e0", "10.1.0.1/31")]
    made = [router("r1", 65001, ports[0], [to("10.1.0.1")]), router("r2", 65002, ports[1], [to("10.1.0.0")])]
    made[at] = replace_fields(made[at], shut_by_daemon=("e0",))
    found = plane(*made)
    assert up(found) == []
    assert [(one.router.name, one.reason, one.there) for one in found.down] == [
        ("r1", "port-down", there),
        ("r2", "port-down", not there),
    ]


def test_what_the_routing_daemon_shuts_is_no_leg_that_works() -> None:
    loopback = Loopback(name="Loopback0", addresses=("10.9.9.1/32",))
    vlan = Vlan(id=100, members=(VlanMember(interface="e0", tagged=False),), addresses=("10.2.0.1/24",))
    made = router("r1", 65001, [port("e0")], [], loopbacks=(loopback,), vlans=(vlan,))
    assert plane(made, cables=()).up == ({"e0": True, "Loopback0": True, "VLAN 100": True},)
    shut = replace_fields(made, shut_by_daemon=("Loopback0", "Vlan100"))
    assert plane(shut, cables=()).up == ({"e0": True, "Loopback0": False, "VLAN 100": False},)
