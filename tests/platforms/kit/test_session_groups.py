"""Which sessions are a peer group, and how it is called."""

from dataclasses import replace

import pytest

from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast
from nodrop.model.states import require_fact
from nodrop.platforms import frr
from nodrop.platforms.kit.session_groups import group_name_by_far_end, group_sessions_into_peer_groups
from support.designs import build, shipped

ENDS = {"10.0.0.1": "SPINES", "10.0.0.3": "SPINES", "Ethernet0": "HOSTS"}


def session(key: str, **settings: object) -> BgpNeighbor:
    end = {"interface": key} if key.startswith("Eth") else {"address": key}
    return BgpNeighbor(**{"remote_asn": 65001, **end, **settings})  # type: ignore[arg-type]


def members(*sessions: BgpNeighbor) -> dict[str, list[str]]:
    found = group_sessions_into_peer_groups(Bgp(asn=65000, neighbors=sessions), ENDS).group_of
    return {name: [key for key, own in found.items() if own == name] for name in found.values()}


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [
        ((), {}),
        ([session("10.0.0.1"), session("10.0.0.3", remote_asn=65003)], {"SPINES": ["10.0.0.1", "10.0.0.3"]}),
        (
            [session("10.0.0.1", enabled=False), session("10.0.0.3", description="spine2")],
            {"SPINES": ["10.0.0.1", "10.0.0.3"]},
        ),
        ([session("10.0.0.1"), session("Ethernet0")], {"SPINES": ["10.0.0.1"], "HOSTS": ["Ethernet0"]}),
        ([session("192.0.2.1"), session("2001:db8::1")], {"PEERS": ["192.0.2.1"], "PEERS-IPV6": ["2001:db8::1"]}),
        # the settings that most have are the group; one session with others is in none, two are the next group
        (
            [session("192.0.2.1", bfd=True), session("192.0.2.2"), session("192.0.2.3")],
            {"PEERS": ["192.0.2.2", "192.0.2.3"]},
        ),
        (
            [*(session(f"192.0.2.{at}") for at in (1, 2, 3)), *(session(f"192.0.2.{at}", hold_s=9) for at in (4, 5))],
            {"PEERS": ["192.0.2.1", "192.0.2.2", "192.0.2.3"], "PEERS-2": ["192.0.2.4", "192.0.2.5"]},
        ),
        # FRR takes no sessions inside and outside the AS in one group
        (
            [session("192.0.2.1"), session("192.0.2.2"), session("192.0.2.3", remote_asn=65000)],
            {"PEERS": ["192.0.2.1", "192.0.2.2"]},
        ),
        ([session("192.0.2.1", ipv6=Ipv6Unicast(active=True)), session("192.0.2.2")], {"PEERS": ["192.0.2.1"]}),
    ],
)
def test_sessions_with_the_same_settings_are_a_group(
    sessions: list[BgpNeighbor], expected: dict[str, list[str]]
) -> None:
    assert members(*sessions) == expected


def test_a_group_does_not_have_the_name_of_a_session() -> None:
    found = group_sessions_into_peer_groups(
        Bgp(asn=65000, neighbors=(replace(session("Ethernet0"), interface="PEERS"),)), {}
    )
    assert (found.groups, found.group_of) == ({}, {})


@pytest.mark.parametrize("name", ["two-by-two", "unnumbered", "dual-stack"])
def test_each_tier_has_one_group_for_each_other_tier_and_family(name: str) -> None:
    fabric = build(shipped(name))
    families = ("", "-IPV6") if name == "dual-stack" else ("",)
    for device in fabric.devices:
        found = group_sessions_into_peer_groups(device.bgp, group_name_by_far_end(device, Index(fabric)))
        tier = "SPINES" if device.role == "leaf" else "LEAVES"
        assert sorted(found.groups) == [f"{tier}{family}" for family in families]
        assert sorted(found.group_of) == sorted(one.key for one in require_fact(device.neighbors))


def test_frr_gets_the_settings_of_a_group_once() -> None:
    fabric = build(shipped("two-by-two"))
    leaf = fabric.devices[0]
    lines = [
        line.strip() for line in frr.render_frr_conf(leaf, group_name_by_far_end(leaf, Index(fabric))).splitlines()
    ]
    keys = [one.key for one in require_fact(leaf.neighbors)]
    assert [line for line in lines if "SPINES" in line] == [
        "neighbor SPINES peer-group",
        *(f"neighbor {key} peer-group SPINES" for key in keys),
        "neighbor SPINES activate",
        "neighbor SPINES route-map FABRIC-IN in",
        "neighbor SPINES route-map FABRIC-OUT out",
    ]
    of_session = [line for line in lines if line.startswith(f"neighbor {keys[0]} ")]
    assert of_session == [
        f"neighbor {keys[0]} remote-as 4200000000",
        f"neighbor {keys[0]} peer-group SPINES",
        f"neighbor {keys[0]} description spine1 port 1",
    ]
