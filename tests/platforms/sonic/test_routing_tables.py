"""BGP in the tables of SONiC's management framework: what its templates and frrcfgd translate, and what they cannot.

The rows follow sonic-buildimage src/sonic-frr-mgmt-framework of 202511 to master: templates/bgpd fill in frr.conf when
the bgp container starts, and frrcfgd/frrcfgd.py types the changes. A design has to be in both.
"""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes, omit_computed_shared_headroom
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device
from nodrop.model.index import Index
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
from nodrop.platforms import unsupported_paths
from nodrop.platforms.sonic import bgp_rows
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE
from nodrop.resources import resource_folder
from support import random_values
from support.random_fabrics import alone
from support.sonic_configs import read_bundle

PEER = BgpNeighbor(address="10.9.0.1", remote_asn=65002, active=False)
BGP = Bgp(asn=65001, requires_policy=True, default_ipv4_unicast=False, neighbors=(PEER,))
PREFIXES = PrefixList(name="P", family="ipv4", rules=(PrefixRule(sequence=5, action="deny", prefix="10.0.0.0/16"),))
PREFIXES6 = PrefixList(name="Q", family="ipv6", rules=(PrefixRule(sequence=5, action="permit", prefix="fd00::/48"),))
COMMUNITIES = CommunityList(name="C", rules=(("permit", ("65000:1",)),))
PATHS = AsPathList(name="A", rules=(("permit", "^65000_"), ("permit", "_65001$")))
LISTS = {"prefix_lists": (PREFIXES, PREFIXES6), "community_lists": (COMMUNITIES,), "as_path_lists": (PATHS,)}
NEWEST = list(DATABASE_VERSION_BY_RELEASE)[-1]


@cache
def leaf() -> Device:
    return nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml")).device("leaf1")


def device(bgp: Bgp = BGP, release: str = NEWEST, **changes: Any) -> Device:
    made = {"bgp": bgp, "version": release, "routing_tables": True, "static_routes": (), "extra": ()} | changes
    return fill_in_computed_buffer_sizes(omit_computed_shared_headroom(replace(leaf(), **made)))


def written(one: Device) -> dict[str, str]:
    return {
        artifact.path: artifact.text for artifact in platforms.writer_of_platform("sonic").write(one, Index(alone(one)))
    }


def tables(one: Device) -> Any:
    return json.loads(written(one)["config_db.json"])


def mapped(*, matches: Any = (), sets: Any = (), **more: Any) -> Bgp:
    """A process with one entry of a route map, and the lists that it names."""
    rule = RouteMapRule(sequence=10, action="permit", matches=matches, sets=sets)
    return replace(BGP, route_maps=(RouteMap(name="IN", rules=(rule,)),), **LISTS | more)


def session(**changes: Any) -> Bgp:
    return replace(BGP, neighbors=(replace(PEER, **changes),))


def listed(*rules: PrefixRule, family: Any = "ipv4") -> Bgp:
    return replace(BGP, prefix_lists=(PrefixList(name="P", family=family, rules=rules),))


def rule(prefix: str, ge: int | None = None, le: int | None = None) -> PrefixRule:
    return PrefixRule(sequence=10, action="permit", prefix=prefix, ge=ge, le=le)


KEY, KEY_4, KEY_6 = "default|10.9.0.1", "default|10.9.0.1|ipv4_unicast", "default|10.9.0.1|ipv6_unicast"
ENTRY = ("ROUTE_MAP", "IN|10")

EXPRESSED: list[tuple[str, Bgp, str, str, dict[str, Any] | None]] = [
    ("asn", replace(BGP, asn=4200000000), "BGP_GLOBALS", "default", {"local_asn": "4200000000"}),
    ("router-id", replace(BGP, router_id="10.0.0.1"), "BGP_GLOBALS", "default", {"router_id": "10.0.0.1"}),
    ("relax", replace(BGP, multipath_relax=True), "BGP_GLOBALS", "default", {"load_balance_mp_relax": "true"}),
    ("compare", replace(BGP, compare_router_id=True), "BGP_GLOBALS", "default", {"external_compare_router_id": "true"}),
    ("med", replace(BGP, always_compare_med=True), "BGP_GLOBALS", "default", {"always_compare_med": "true"}),
    (
        "preference",
        replace(BGP, default_preference=0),
        "BGP_GLOBALS",
        "default",
        {"default_local_preference": "0"},
    ),
    ("drained", replace(BGP, graceful_shutdown=True), "BGP_GLOBALS", "default", {"graceful_shutdown": "true"}),
    ("unicast", replace(BGP, default_ipv4_unicast=True), "BGP_GLOBALS", "default", {"default_ipv4_unicast": "true"}),
    ("paths", replace(BGP, maximum_paths=64), "BGP_GLOBALS_AF", "default|ipv4_unicast", {"max_ebgp_paths": "64"}),
    ("paths-6", replace(BGP, maximum_paths_ipv6=2), "BGP_GLOBALS_AF", "default|ipv6_unicast", {"max_ebgp_paths": "2"}),
    (
        "network",
        replace(BGP, networks=("10.0.0.1/32",)),
        "BGP_GLOBALS_AF_NETWORK",
        "default|ipv4_unicast|10.0.0.1/32",
        {},
    ),
    (
        "network-6",
        replace(BGP, networks=("fd00::/64",)),
        "BGP_GLOBALS_AF_NETWORK",
        "default|ipv6_unicast|fd00::/64",
        {},
    ),
    (
        "redistribution",
        mapped(redistributions=(Redistribution(source="connected", policy="IN"),)),
        "ROUTE_REDISTRIBUTE",
        "default|connected|bgp|ipv4",
        {"route_map": ["IN"]},
    ),
    (
        "redistribution-6",
        replace(BGP, redistributions=(Redistribution(source="static", family="ipv6"),)),
        "ROUTE_REDISTRIBUTE",
        "default|static|bgp|ipv6",
        {},
    ),
    ("remote-as", BGP, "BGP_NEIGHBOR", KEY, {"asn": "65002", "admin_status": "up"}),
    ("external", session(remote_asn="external"), "BGP_NEIGHBOR", KEY, {"peer_type": "external"}),
    (
        "unnumbered",
        session(address=None, interface="Ethernet0", remote_asn="internal"),
        "BGP_NEIGHBOR",
        "default|Ethernet0",
        {"peer_type": "internal"},
    ),
    ("description", session(description='spine1 "x"'), "BGP_NEIGHBOR", KEY, {"name": 'spine1 "x"'}),
    ("shutdown", session(enabled=False), "BGP_NEIGHBOR", KEY, {"admin_status": "down"}),
    ("bfd", session(bfd=True), "BGP_NEIGHBOR", KEY, {"bfd": "true"}),
    ("timers", session(hold_s=9), "BGP_NEIGHBOR", KEY, {"keepalive": "3", "holdtime": "9"}),
    ("no-timers", session(hold_s=0), "BGP_NEIGHBOR", KEY, {"keepalive": "0", "holdtime": "0"}),
    ("source", session(update_source="Loopback0"), "BGP_NEIGHBOR", KEY, {"local_addr": "Loopback0"}),
    ("multihop", session(ebgp_multihop=2), "BGP_NEIGHBOR", KEY, {"ebgp_multihop": "true", "ebgp_multihop_ttl": "2"}),
    ("next-hop", session(extended_next_hop=True), "BGP_NEIGHBOR", KEY, {"capability_ext_nexthop": "true"}),
    ("active", session(active=True), "BGP_NEIGHBOR_AF", KEY_4, {"admin_status": "up"}),
    ("active-6", session(ipv6=Ipv6Unicast(active=True)), "BGP_NEIGHBOR_AF", KEY_6, {"admin_status": "up"}),
    ("inactive", session(), "BGP_NEIGHBOR_AF", KEY_4, None),
    ("nhself", session(next_hop_self=True), "BGP_NEIGHBOR_AF", KEY_4, {"nhself": "true"}),
    ("allowas", session(allowas_in=2), "BGP_NEIGHBOR_AF", KEY_4, {"allow_as_in": "true", "allow_as_count": "2"}),
    (
        "policies",
        replace(mapped(), neighbors=(replace(PEER, import_policy="IN", export_policy="IN"),)),
        "BGP_NEIGHBOR_AF",
        KEY_4,
        {"route_map_in": ["IN"], "route_map_out": ["IN"]},
    ),
    (
        "prefix-lists",
        replace(BGP, neighbors=(replace(PEER, import_prefix_list="P", export_prefix_list="P"),), **LISTS),
        "BGP_NEIGHBOR_AF",
        KEY_4,
        {"prefix_list_in": "P", "prefix_list_out": "P"},
    ),
    ("set", listed(rule("10.0.0.0/16")), "PREFIX_SET", "P", {"mode": "IPv4"}),
    ("set-6", listed(rule("fd00::/48"), family="ipv6"), "PREFIX_SET", "P", {"mode": "IPv6"}),
    ("exact", listed(rule("10.0.0.0/16")), "PREFIX", "P|10|10.0.0.0/16|exact", {"action": "permit"}),
    ("le", listed(rule("10.0.0.0/16", None, 24)), "PREFIX", "P|10|10.0.0.0/16|16..24", {"action": "permit"}),
    ("range", listed(rule("10.0.0.0/16", 24, 32)), "PREFIX", "P|10|10.0.0.0/16|24..32", {"action": "permit"}),
    ("ge-6", listed(rule("fd00::/48", 64, 64), family="ipv6"), "PREFIX", "P|10|fd00::/48|64..64", {"action": "permit"}),
    (
        "community",
        replace(BGP, community_lists=(COMMUNITIES,)),
        "COMMUNITY_SET",
        "C",
        {"set_type": "STANDARD", "match_action": "ANY", "community_member": ["65000:1"]},
    ),
    (
        "community-all",
        replace(BGP, community_lists=(replace(COMMUNITIES, rules=(("permit", ("65000:1", "no-export")),)),)),
        "COMMUNITY_SET",
        "C",
        {"match_action": "ALL", "community_member": ["65000:1", "no-export"]},
    ),
    (
        "community-expanded",
        replace(BGP, community_lists=(CommunityList(name="C", expanded=True, rules=(("permit", ("^65000:.*",)),)),)),
        "COMMUNITY_SET",
        "C",
        {"set_type": "EXPANDED", "community_member": ["^65000:.*"]},
    ),
    (
        "as-path",
        replace(BGP, as_path_lists=(PATHS,)),
        "AS_PATH_SET",
        "A",
        {"as_path_set_member": ["^65000_", "_65001$"]},
    ),
    ("map", mapped(), "ROUTE_MAP_SET", "IN", {}),
    ("entry", mapped(), *ENTRY, {"route_operation": "permit"}),
    ("match-prefix", mapped(matches=(("ip address prefix-list", "P"),)), *ENTRY, {"match_prefix_set": "P"}),
    ("match-prefix-6", mapped(matches=(("ipv6 address prefix-list", "Q"),)), *ENTRY, {"match_prefix_set": "Q"}),
    ("match-next-hop", mapped(matches=(("ip next-hop prefix-list", "P"),)), *ENTRY, {"match_next_hop_set": "P"}),
    ("match-as-path", mapped(matches=(("as-path", "A"),)), *ENTRY, {"match_as_path": "A"}),
    ("match-community", mapped(matches=(("community", "C"),)), *ENTRY, {"match_community": "C"}),
    ("match-tag", mapped(matches=(("tag", "7"),)), *ENTRY, {"match_tag": ["7"]}),
    ("match-interface", mapped(matches=(("interface", "Ethernet0"),)), *ENTRY, {"match_interface": "Ethernet0"}),
    ("set-metric", mapped(sets=(("metric", "10"),)), *ENTRY, {"set_med": "10"}),
    (
        "set-community",
        mapped(sets=(("community", "65000:1 additive"),)),
        *ENTRY,
        {"set_community_inline": ["65000:1", "additive"]},
    ),
    ("set-next-hop", mapped(sets=(("ip next-hop", "10.0.0.1"),)), *ENTRY, {"set_next_hop": "10.0.0.1"}),
    (
        "prefer-global",
        mapped(sets=(("ipv6 next-hop", "prefer-global"),)),
        *ENTRY,
        {"set_ipv6_next_hop_prefer_global": "true"},
    ),
    (
        "set-global",
        mapped(sets=(("ipv6 next-hop global", "fd00::1"),)),
        *ENTRY,
        {"set_ipv6_next_hop_global": "fd00::1"},
    ),
    ("set-origin", mapped(sets=(("origin", "igp"),)), *ENTRY, {"set_origin": "igp"}),
]
"""What tables can say: a name, the process, and the row and columns that it has; None is a row that is not there."""

_LOST = "SONiC's template leaves it out"
_SKIPPED = "compares lengths as text"
REFUSED: list[tuple[str, Bgp, str, str]] = [
    ("policy-not-required", replace(BGP, requires_policy=False), "bgp/requires_policy", "no table"),
    ("no-import-check", replace(BGP, import_check=False), "bgp/import_check", _LOST),
    ("dscp", replace(BGP, session_dscp=48), "bgp/session_dscp", "no table"),
    ("paths-beyond", replace(BGP, maximum_paths=257), "bgp/maximum_paths", "is not from 1 to 256"),
    ("paths-beyond-6", replace(BGP, maximum_paths_ipv6=257), "bgp/maximum_paths_ipv6", "is not from 1 to 256"),
    ("ge-dropped", listed(rule("fd00::/48", 128, 128), family="ipv6"), "bgp/prefix_lists/P/rules/10/ge", _SKIPPED),
    ("ge-dropped-4", listed(rule("10.0.0.0/8", 24, 24)), "bgp/prefix_lists/P/rules/10/ge", _SKIPPED),
    ("ge-alone", listed(rule("10.0.0.0/16", 24)), "bgp/prefix_lists/P/rules/10/le", "a range has both ends"),
    (
        "one-name",
        replace(BGP, prefix_lists=(PREFIXES, replace(PREFIXES6, name="P"))),
        "bgp/prefix_lists",
        "P is there twice",
    ),
    (
        "community-denied",
        replace(BGP, community_lists=(replace(COMMUNITIES, rules=(("deny", ("65000:1",)),)),)),
        "bgp/community_lists/C/rules",
        "permits",
    ),
    (
        "communities-mixed",
        replace(
            BGP,
            community_lists=(
                replace(COMMUNITIES, rules=(("permit", ("65000:1", "no-export")), ("permit", ("65000:2",)))),
            ),
        ),
        "bgp/community_lists/C/rules",
        "any one of its members or all",
    ),
    (
        "community-twice",
        replace(BGP, community_lists=(replace(COMMUNITIES, rules=COMMUNITIES.rules * 2),)),
        "bgp/community_lists/C/rules",
        "65000:1 is there twice",
    ),
    ("apostrophe", session(description="o'hare"), "bgp/neighbors/10.9.0.1/description", "apostrophe"),
    (
        "as-path-denied",
        replace(BGP, as_path_lists=(replace(PATHS, rules=(("deny", ".*"),)),)),
        "bgp/as_path_lists/A/rules",
        "permits",
    ),
    (
        "as-path-comma",
        replace(BGP, as_path_lists=(replace(PATHS, rules=(("permit", "6{1,2}"),)),)),
        "bgp/as_path_lists/A/rules",
        "comma",
    ),
    ("local-preference", mapped(sets=(("local-preference", "0"),)), "bgp/route_maps/IN/rules/10/sets", _LOST),
    ("prepend", mapped(sets=(("as-path prepend", "65000"),)), "bgp/route_maps/IN/rules/10/sets", _LOST),
    ("weight", mapped(sets=(("weight", "5"),)), "bgp/route_maps/IN/rules/10/sets", "no table"),
    ("tag", mapped(sets=(("tag", "5"),)), "bgp/route_maps/IN/rules/10/sets", _LOST),
    ("on-match", mapped(sets=(("on-match", "next"),)), "bgp/route_maps/IN/rules/10/sets", "no table"),
    ("metric-added", mapped(sets=(("metric", "+5"),)), "bgp/route_maps/IN/rules/10/sets", "is not a number"),
    (
        "both-families",
        mapped(matches=(("ip address prefix-list", "P"), ("ipv6 address prefix-list", "Q"))),
        "bgp/route_maps/IN/rules/10/matches",
        "one column",
    ),
    (
        "order",
        mapped(matches=(("tag", "7"), ("community", "C"))),
        "bgp/route_maps/IN/rules/10/matches",
        "are not in the order in which they would be read back",
    ),
    (
        "exact-match",
        mapped(matches=(("community", "C exact-match"),)),
        "bgp/route_maps/IN/rules/10/matches",
        "is not the name of a list",
    ),
]
"""What tables cannot say: a name, the process, the path that is refused, and a part of the reason."""


@pytest.mark.parametrize(
    ("bgp", "table", "row", "columns"), [case[1:] for case in EXPRESSED], ids=[c[0] for c in EXPRESSED]
)
def test_what_tables_say(bgp: Bgp, table: str, row: str, columns: dict[str, Any] | None) -> None:
    one = device(bgp)
    found = tables(one).get(table, {}).get(row)
    if columns is None:
        assert found is None
    else:
        assert found is not None
        assert {name: found.get(name) for name in columns} == columns
    back = read_bundle(written(one), one.name).device
    assert list(differences(mask_unsupported_fields(one, unsupported_paths("sonic")), back)) == []


@pytest.mark.parametrize(("bgp", "path", "reason"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_tables_cannot_say(bgp: Bgp, path: str, reason: str) -> None:
    one = device(bgp)
    with pytest.raises(UnsupportedByPlatform) as refusal:
        written(one)
    assert refusal.value.path == path
    assert reason in str(refusal.value)
    assert str(refusal.value).endswith("; use routing.delivery: frr.conf")
    assert random_values.leads_somewhere(one, refusal.value.path)


@pytest.mark.parametrize("release", DATABASE_VERSION_BY_RELEASE)
def test_releases_that_take_routing_from_tables(release: str) -> None:
    """Before 202511 frrcfgd reads prefix lists by keys that the YANG models refuse (sonic-buildimage#22888)."""
    if release >= "202511":
        assert tables(device(release=release))["BGP_GLOBALS"]["default"]["local_asn"] == "65001"
        return
    with pytest.raises(
        UnsupportedByPlatform, match=f"routing in tables since 202511, and this is {release}"
    ) as refusal:
        written(device(release=release))
    assert refusal.value.path == "routing_tables"


def test_static_routes_of_one_prefix_share_a_row() -> None:
    routes = (
        StaticRoute(prefix="10.2.0.0/24", next_hop="blackhole"),
        StaticRoute(prefix="10.3.0.0/24", next_hop="10.0.0.1"),
        StaticRoute(prefix="10.3.0.0/24", next_hop="10.0.0.3"),
        StaticRoute(prefix="fd00::/48", next_hop="Ethernet0", vrf="Vrf1"),
    )
    one = device(static_routes=routes)
    assert tables(one)["STATIC_ROUTE"] == {
        "default|10.2.0.0/24": {"blackhole": "true"},
        "default|10.3.0.0/24": {"nexthop": "10.0.0.1,10.0.0.3"},
        "Vrf1|fd00::/48": {"ifname": "Ethernet0"},
    }
    assert read_bundle(written(one), one.name).device.static_routes == routes


def test_there_is_no_frr_conf_beside_the_tables() -> None:
    one = device()
    assert sorted(written(one)) == ["apply/apply.sh", "config_db.json"]
    localhost = tables(one)["DEVICE_METADATA"]["localhost"]
    assert (localhost["docker_routing_config_mode"], localhost["frr_mgmt_framework_config"]) == ("unified", "true")


@pytest.mark.parametrize("kind", [Bgp, BgpNeighbor, Ipv6Unicast])
def test_each_field_has_a_column_or_a_row_or_is_refused(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that is added to the model is refused in tables until it has a row."""
    part = {Bgp: BGP, BgpNeighbor: PEER, Ipv6Unicast: Ipv6Unicast(active=True)}[kind]
    bgp_rows.check_bgp_part_fits_columns(part, "x")
    monkeypatch.setitem(bgp_rows.BINDINGS_BY_CLASS, kind, ())  # type: ignore[index]
    with pytest.raises(UnsupportedByPlatform, match="no table has a column for it"):
        bgp_rows.check_bgp_part_fits_columns(part, "x")
