"""Sessions whose packets access lists drop: surely, perhaps, or not at all."""

from typing import Any

import pytest

from nodrop.model.access import AccessEntry, AccessList, Bits, PortRange
from nodrop.model.bridging import PortChannel
from nodrop.model.fabric import Device, Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing import ControlPlane, compute_control_plane
from support.filtered_sessions import ALL, BGP, CABLE, FROM_BGP, REST6, SIX, TCP6, TO_BGP, site, wired
from support.wired_routers import fabric, port, router, to


def outcome(made: Fabric) -> str:
    """Return what the session is: `up`, or the reason why it is not, which both ends have."""
    plane: ControlPlane = compute_control_plane(Index(made))
    if plane.sessions:
        assert plane.down == ()
        return "up"
    reasons = {one.reason for one in plane.down}
    assert len(plane.down) == 2
    assert len(reasons) == 1
    assert {(one.facts["where"], one.facts["list"]) for one in plane.down} <= {("r1", "SITE"), ("r2", "SITE")}
    return reasons.pop()


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        pytest.param((site(TO_BGP, FROM_BGP),), "filtered", id="what comes to and from port 179"),
        pytest.param((site(TO_BGP),), "up", id="what comes to port 179: this end opens the session"),
        pytest.param((site(FROM_BGP),), "up", id="what comes from port 179: the other end opens it"),
        pytest.param((site(ALL),), "filtered", id="all packets"),
        pytest.param((site(otherwise="deny"),), "filtered", id="what no entry matches"),
        pytest.param((site(otherwise=UNKNOWN),), "may-be-filtered", id="an unknown last action"),
        pytest.param((site(AccessEntry(name="1", action="deny", protocol=17)),), "up", id="UDP"),
        pytest.param((site(ALL, at=()),), "up", id="a list that is not bound"),
        pytest.param((site(ALL, at=("e1",)),), "up", id="another port"),
        pytest.param((site(ALL, at=(None,)),), "filtered", id="every port"),
        pytest.param((site(replace_fields(ALL, sources=("10.1.0.1/32",))),), "filtered", id="the neighbor's address"),
        pytest.param((site(replace_fields(ALL, sources=("10.1.0.0/32",))),), "up", id="the own address as a source"),
        pytest.param((site(replace_fields(ALL, destinations=("10.1.0.0/16",))),), "filtered", id="addresses of links"),
        pytest.param((site(replace_fields(ALL, family="ipv6")),), "up", id="packets of IPv6"),
        pytest.param(
            (site(replace_fields(ALL, others=("VLAN_ID 5",))),), "may-be-filtered", id="a condition not modelled"
        ),
        pytest.param(
            (site(replace_fields(ALL, source_ports=(PortRange(1024, 40_000), *BGP)), at=("e0",)),),
            "may-be-filtered",
            id="some of the ports that connections come from",
        ),
        pytest.param(
            (site(AccessEntry(name="1", action="permit", tcp_flags=Bits(16, 16), protocol=6), ALL),),
            "may-be-filtered",
            id="TCP without the flag of the first packet",
        ),
        pytest.param((site(replace_fields(ALL, dscps=(26,))),), "may-be-filtered", id="one DSCP"),
        pytest.param((site(ALL, stage="control-plane"),), "filtered", id="the control plane"),
        pytest.param((site(ALL, stage="control-plane-out"),), "filtered", id="what the control plane sends"),
        pytest.param((site(ALL, stage="services"),), "up", id="services, where BGP is accepted first"),
        pytest.param((site(ALL, stage="transit"),), "up", id="packets to others"),
        pytest.param((site(ALL, stage="transit-out"),), "up", id="packets from others"),
        pytest.param((site(ALL, stage="egress", own_packets=True),), "filtered", id="egress, also its own packets"),
        pytest.param((site(ALL, stage="egress", own_packets=False),), "up", id="egress, not its own packets"),
        pytest.param((site(ALL, stage="egress"),), "may-be-filtered", id="egress, own packets not known"),
        pytest.param(
            (replace_fields(site(), entries=UNKNOWN),), "may-be-filtered", id="a list whose entries are not known"
        ),
        pytest.param(
            (site(AccessEntry(name="1", redirects="e3", protocol=6)),), "may-be-filtered", id="BGP sent elsewhere"
        ),
        pytest.param(
            (site(replace_fields(ALL, others=("TTL 5",))), replace_fields(site(ALL), name="OTHER", bindings=())),
            "may-be-filtered",
            id="one list in doubt and one not bound",
        ),
    ],
)
def test_what_a_list_at_one_end_does_to_a_session(lists: tuple[AccessList, ...], expected: str) -> None:
    assert outcome(wired(*lists)) == expected


def test_a_list_that_surely_drops_decides_beside_one_in_doubt() -> None:
    plane = compute_control_plane(
        Index(wired(site(replace_fields(ALL, others=("TTL 5",))), replace_fields(site(ALL), name="CPU")))
    )
    assert {(one.reason, one.facts["list"]) for one in plane.down} == {("filtered", "CPU")}


def test_each_end_may_block_what_the_other_opens() -> None:
    assert outcome(wired(site(TO_BGP), there=(site(TO_BGP),))) == "filtered"
    assert outcome(wired(site(TO_BGP), there=(site(FROM_BGP),))) == "up"
    assert outcome(wired(site(FROM_BGP), there=(site(FROM_BGP),))) == "filtered"
    assert outcome(wired(site(TO_BGP), other=to("10.1.0.0", passive=True))) == "up"
    assert outcome(wired(site(FROM_BGP), other=to("10.1.0.0", passive=True))) == "filtered"


def test_the_end_at_fault_is_named_at_the_list() -> None:
    plane = compute_control_plane(Index(wired(there=(site(ALL),))))
    found = {one.router.name: (one.reason, one.there, one.related) for one in plane.down}
    subject = ("r2", "@access_lists", "SITE")
    assert found == {"r1": ("filtered", True, (subject,)), "r2": ("filtered", False, (subject,))}


def test_a_doubtful_session_leaves_routes_unknown_and_a_filtered_one_does_not() -> None:
    doubtful = compute_control_plane(Index(wired(site(replace_fields(ALL, others=("VLAN_ID 5",))))))
    assert {gap.what for gap in doubtful.gaps} == {"whether access list SITE drops BGP"}
    assert compute_control_plane(Index(wired(site(ALL)))).gaps == ()


def test_a_session_over_an_interface_is_between_link_local_addresses() -> None:
    over = {"one": to("e0", ipv6=SIX), "other": to("e0", ipv6=SIX), "ports": ()}
    ends = {"one": to("e0"), "other": to("e0"), "ports": ("10.1.0.0/31", "10.1.0.1/31")}
    six, four = site(replace_fields(ALL, family="ipv6")), site(replace_fields(ALL, family="ipv4"))
    assert outcome(wired(six, **over)) == "filtered"  # type: ignore[arg-type]
    assert outcome(wired(four, **over)) == "up"  # type: ignore[arg-type]
    assert outcome(wired(four, **ends)) == "filtered"  # type: ignore[arg-type]
    assert outcome(wired(six, **ends)) == "up"  # type: ignore[arg-type]
    inside = site(replace_fields(ALL, sources=("fe80::/10",)))
    assert outcome(wired(inside, **over)) == "filtered"  # type: ignore[arg-type]
    one_host = site(replace_fields(ALL, sources=("fe80::1/128",)))
    assert outcome(wired(one_host, **over)) == "may-be-filtered"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        pytest.param((site(TCP6, REST6),), "filtered", id="all but TCP where packets enter"),
        pytest.param((site(TCP6, REST6, stage="control-plane-out"),), "filtered", id="all but TCP that it sends"),
        pytest.param((site(TCP6, replace_fields(TCP6, protocol=58), REST6),), "up", id="all but TCP and ICMPv6"),
        pytest.param((site(TCP6, replace_fields(TCP6, protocol=58, others=("type 135",)), REST6),), "up", id="types"),
        pytest.param((site(replace_fields(REST6, protocol=58, destinations=("ff02::/16",))),), "up", id="groups alone"),
        pytest.param((site(replace_fields(REST6, protocol=17)),), "up", id="UDP"),
    ],
)
@pytest.mark.parametrize("numbered", [False, True])
def test_without_neighbor_discovery_no_session_of_ipv6_opens(
    lists: tuple[AccessList, ...], expected: str, numbered: bool
) -> None:
    one = to("fd01::1", ipv6=SIX, active=False) if numbered else to("e0", ipv6=SIX)
    other = to("fd01::", ipv6=SIX, active=False) if numbered else to("e0", ipv6=SIX)
    ports = ("fd01::/127", "fd01::1/127") if numbered else ()
    made = wired(*lists, one=one, other=other, ports=ports)
    assert outcome(made) == expected
    if expected == "filtered":
        assert {down.facts["what"] for down in compute_control_plane(Index(made)).down} == {"neighbor discovery"}
    assert outcome(wired(*lists)) == "up"


def bundle(*at: str) -> str:
    """Return what becomes of a session over a bundle of two ports with a list at some names."""
    channel = PortChannel(name="po1", members=("e0", "e1"), addresses=("10.1.0.0/31",))
    far = PortChannel(name="po1", members=("e0", "e1"), addresses=("10.1.0.1/31",))
    ports = [port("e0"), port("e1")]
    one = router("r1", 65001, ports, [to("10.1.0.1")], port_channels=(channel,), access_lists=(site(ALL, at=at),))
    other = router("r2", 65002, ports, [to("10.1.0.0")], port_channels=(far,))
    return outcome(fabric(one, other, cables=(CABLE, "r1 e1 - r2 e1")))


def test_a_bundle_is_blocked_at_itself_or_at_all_of_its_ports() -> None:
    assert bundle("po1") == bundle("e0", "e1") == "filtered"
    assert bundle("e0") == "may-be-filtered"
    assert bundle("e7") == "up"


def test_the_ports_of_an_entry_count() -> None:
    assert outcome(wired(site(replace_fields(ALL, interfaces=("e5",)), at=("e0",)))) == "up"
    assert outcome(wired(site(replace_fields(ALL, interfaces=("e0",)), at=("e0",)))) == "filtered"


def chain(*lists: AccessList, at: str = "r1") -> str:
    """Return what becomes of a session between loopbacks of r1 and r3 over r2, with lists at one of them."""

    def own(name: str) -> dict[str, Any]:
        said: dict[str, Any] = {"loopbacks": (Loopback(name="lo0", addresses=(f"10.9.9.{name[1:]}/32",)),)}
        return said | ({"access_lists": lists} if name == at else {})

    def far(number: int) -> BgpNeighbor:
        return to(f"10.9.9.{number}", ebgp_multihop=3, update_source="lo0", active=False, evpn=True)

    announced = {"networks": ("10.9.9.1/32", "10.9.9.3/32")}
    devices: list[Device] = [
        router("r1", 65001, [port("e0", "10.1.0.0/31")], [to("10.1.0.1"), far(3)], bgp=announced, **own("r1")),
        router(
            "r2",
            65002,
            [port("e0", "10.1.0.1/31"), port("e1", "10.1.2.0/31")],
            [to("10.1.0.0"), to("10.1.2.1")],
            **own("r2"),
        ),
        router("r3", 65003, [port("e0", "10.1.2.1/31")], [to("10.1.2.0"), far(1)], bgp=announced, **own("r3")),
    ]
    plane = compute_control_plane(Index(fabric(*devices, cables=(CABLE, "r2 e1 - r3 e0"))))
    ends = [one.a.neighbor.key for one in plane.sessions]
    found = {one.reason for one in plane.down if one.neighbor.ebgp_multihop}
    return "up" if "10.9.9.3" in ends else ", ".join(sorted(found))


LOOPBACKS = AccessEntry(name="1", action="deny", sources=("10.9.9.0/24",), protocol=6)


def test_a_session_over_several_hops_passes_lists_of_both_ends_and_of_switches_between() -> None:
    assert chain() == "up"
    assert chain(site(LOOPBACKS)) == "filtered"
    assert chain(site(LOOPBACKS), at="r3") == "filtered"
    assert chain(site(LOOPBACKS), at="r2") == "may-be-filtered"
    assert chain(site(LOOPBACKS, stage="transit"), at="r2") == "may-be-filtered"
    assert chain(site(LOOPBACKS, stage="control-plane"), at="r2") == "up"
    assert chain(site(replace_fields(LOOPBACKS, sources=("10.7.0.0/16",))), at="r2") == "up"


def test_a_switch_whose_lists_are_not_known_counts_as_one_without() -> None:
    made = wired()
    devices = tuple(replace_fields(one, access_lists=UNKNOWN) for one in made.devices)
    assert outcome(replace_fields(made, devices=devices)) == "up"
