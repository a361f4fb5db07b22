"""BGP and static routes of the tables: what SONiC's daemons make of them, beside FRR's text or without it."""

import json
from typing import Any

import pytest

from nodrop import platforms
from nodrop.model.change import Change
from nodrop.model.compare import differences
from nodrop.model.routing import Aggregate, Bgp, BgpNeighbor, Ipv6Unicast, Redistribution, StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.frr.words import password_digest
from nodrop.platforms.sonic.edit import edit
from support.sonic_configs import NAME, read, read_bundle, stock

PEERS = {
    "10.0.0.0": {"asn": "65002", "local_addr": "10.0.0.1", "name": "spine1", "holdtime": "10"},
    "10.0.0.2": {"asn": "65003", "name": "spine2", "admin_status": "down"},
    "fc00::2": {"asn": "65002", "name": "spine1"},
}
OWN = {"Loopback0": {}, "Loopback0|10.1.0.1/32": {}, "Loopback0|fc00:1::32/128": {}, "Loopback1|10.9.0.1/32": {}}


def switch(localhost: dict[str, str] | None = None, **tables: Any) -> dict[str, Any]:
    config = stock(**{"LOOPBACK_INTERFACE": OWN, "BGP_NEIGHBOR": PEERS} | tables)
    config["DEVICE_METADATA"]["localhost"] |= {"bgp_asn": "65001"} | (localhost or {})
    return config


SESSIONS = (
    BgpNeighbor(address="10.0.0.0", remote_asn=65002, description="spine1", hold_s=10),
    BgpNeighbor(address="10.0.0.2", remote_asn=65003, description="spine2", enabled=False, hold_s=180),
    BgpNeighbor(
        address="fc00::2",
        remote_asn=65002,
        description="spine1",
        active=False,
        hold_s=180,
        ipv6=Ipv6Unicast(active=True),
    ),
)


def test_what_bgpcfgd_makes() -> None:
    """sonic-buildimage dockers/docker-fpm-frr/frr/bgpd: bgpd.main.conf.j2, templates/general; constants.yml.j2."""
    reading = read(switch(VLAN_INTERFACE={"Vlan10": {}, "Vlan10|192.0.2.1/24": {}}))
    expected = Bgp(
        asn=65001,
        router_id="10.1.0.1",
        networks=("10.1.0.1/32", "192.0.2.1/24", "fc00:1::32/64"),
        maximum_paths=514,
        maximum_paths_ipv6=514,
        multipath_relax=True,
        default_ipv4_unicast=False,
        neighbors=SESSIONS,
    )
    assert list(differences(reading.device.bgp, expected)) == []
    derived = {"/".join(subject): reason for subject, reason in reading.derived.items()}
    assert derived[f"{NAME}/@bgp/maximum_paths"] == "bgpcfgd's templates say maximum-paths 514 (constants.yml)"
    assert {f"{NAME}/@bgp/{field}" for field in ("multipath_relax", "default_ipv4_unicast", "networks")} <= set(derived)
    holds = {subject: reason for subject, reason in derived.items() if subject.endswith("hold_s")}
    assert holds == dict.fromkeys(
        (f"{NAME}/@neighbors/10.0.0.2/hold_s", f"{NAME}/@neighbors/fc00::2/hold_s"),
        "bgpcfgd's templates have 180 s (bgpd/templates/general/instance.conf.j2)",
    )


def test_the_hold_time_of_internal_sessions_is_that_of_their_template() -> None:
    row = {"asn": "65001", "name": "asic1"}
    tables = {"BGP_NEIGHBOR": {}, "BGP_INTERNAL_NEIGHBOR": {"10.0.0.4": row, "10.0.0.6": row | {"holdtime": "30"}}}
    reading = read(switch(**tables))
    assert [one.hold_s for one in reading.device.bgp.neighbors] == [10, 10]  # type: ignore[union-attr]
    assert [subject[2] for subject in reading.derived if subject[-1] == "hold_s"] == ["10.0.0.4", "10.0.0.6"]


@pytest.mark.parametrize(
    ("localhost", "field", "found"),
    [
        ({"bgp_router_id": "10.2.0.1"}, "router_id", "10.2.0.1"),
        ({"bgp_adv_lo_prefix_as_128": "true"}, "networks", ("10.1.0.1/32", "fc00:1::32/128")),
        ({}, "networks", ("10.1.0.1/32", "fc00:1::32/64")),
    ],
)
def test_what_the_switch_says_of_bgp(localhost: dict[str, str], field: str, found: Any) -> None:
    assert getattr(read(switch(localhost)).device.bgp, field) == found


@pytest.mark.parametrize(
    ("localhost", "enabled", "allowas_in"),
    [
        ({"default_bgp_status": "down"}, (False, False, False), None),
        ({"default_bgp_status": "up", "type": "ToRRouter"}, (True, False, True), 1),
        ({"type": "SpineRouter"}, (True, False, True), None),
    ],
)
def test_what_the_switch_says_of_sessions(localhost: dict[str, str], enabled: Any, allowas_in: int | None) -> None:
    neighbors = read(switch(localhost)).device.bgp.neighbors
    assert tuple(one.enabled for one in neighbors) == enabled
    assert [one.allowas_in for one in neighbors] == [allowas_in, allowas_in, None]
    assert [one.ipv6.allowas_in for one in neighbors] == [None, None, allowas_in]


def test_a_session_that_the_default_shuts_names_it_and_is_started_in_its_row() -> None:
    """sonic-buildimage bgpd/templates: general and voq_chassis look at default_bgp_status, internal does not."""
    inner = {"10.8.0.1": {"asn": "65001", "name": "ASIC1"}}
    reading = read(switch({"default_bgp_status": "down"}, BGP_INTERNAL_NEIGHBOR=inner))
    states = {one.key: one.enabled for one in reading.device.bgp.neighbors}  # type: ignore[union-attr]
    assert states == {"10.0.0.0": False, "10.0.0.2": False, "fc00::2": False, "10.8.0.1": True}
    derived = {subject[2]: reason for subject, reason in reading.derived.items() if subject[-1] == "enabled"}
    assert set(derived) == {"10.0.0.0", "fc00::2"}
    assert "DEVICE_METADATA has default_bgp_status down" in derived["fc00::2"]


def test_a_session_of_bgpcfgd_is_started_and_shut_in_its_row() -> None:
    subjects = {"10.0.0.0": False, "10.0.0.2": True}
    changes = [
        Change(subject=(NAME, "@neighbors", key, "enabled"), old=not value, new=value)
        for key, value in subjects.items()
    ]
    made = edit({"config_db.json": json.dumps(switch()).encode()}, changes, name=NAME)
    rows = json.loads(made.files["config_db.json"])["BGP_NEIGHBOR"]
    assert {key: row.get("admin_status") for key, row in rows.items()} == {
        "10.0.0.0": "down",
        "10.0.0.2": "up",
        "fc00::2": None,
    }
    assert made.by_hand == ()


def test_sessions_between_asics_and_line_cards_count() -> None:
    inner = {"10.8.0.1": {"asn": "65001", "name": "ASIC1"}}
    bgp = read(
        switch(BGP_NEIGHBOR={}, BGP_INTERNAL_NEIGHBOR=inner, BGP_VOQ_CHASSIS_NEIGHBOR={"10.8.0.3": {}})
    ).device.bgp
    assert [one.key for one in bgp.neighbors] == ["10.8.0.1", "10.8.0.3"]


def test_a_session_with_its_own_next_hop_and_one_of_a_vrf() -> None:
    rows = {"10.8.0.1": {"asn": "65002", "nhopself": "1"}, "fc00::1": {"asn": "65002", "nhopself": "1"}}
    device = read(switch({}, BGP_NEIGHBOR=rows)).device
    assert [(one.next_hop_self, one.ipv6.next_hop_self) for one in device.bgp.neighbors] == [
        (True, False),
        (False, True),
    ]
    assert device.vrf_bgp == ()
    other = {"Vrf1|10.8.0.1": {"asn": "65002"}}
    assert read(switch({}, BGP_NEIGHBOR=other)).device.vrf_bgp is UNKNOWN


FRAMEWORK: dict[str, Any] = {
    "BGP_GLOBALS": {
        "default": {"local_asn": "65001", "router_id": "10.1.0.1", "load_balance_mp_relax": "true"},
        "Vrf1": {
            "local_asn": "65009",
            "network_import_check": "false",
            "always_compare_med": "true",
            "external_compare_router_id": "true",
        },
    },
    "BGP_GLOBALS_AF": {"default|ipv4_unicast": {"max_ebgp_paths": "64"}},
    "BGP_GLOBALS_AF_NETWORK": {"default|ipv4_unicast|10.1.0.1/32": {}, "default|ipv6_unicast|fc00::/64": {}},
    "BGP_PEER_GROUP": {"default|SPINES": {"peer_type": "external", "bfd": "true", "name": "all of them"}},
    "BGP_PEER_GROUP_AF": {"default|SPINES|ipv4_unicast": {"admin_status": "up", "allow_as_in": "true"}},
    "BGP_NEIGHBOR": {
        "default|Ethernet0": {"peer_group_name": "SPINES"},
        "default|10.0.0.2": {"asn": "65003", "name": "spine2", "admin_status": "down"},
        "Vrf1|10.0.0.9": {
            "asn": "65003",
            "local_addr": "Loopback0",
            "ebgp_multihop": "true",
            "ebgp_multihop_ttl": "2",
        },
    },
    "ROUTE_REDISTRIBUTE": {
        "default|static|bgp|ipv6": {},
        "default|connected|bgp|ipv4": {"route_map": ["LO"]},
        "default|ospf|bgp|ipv4": {},
        "Vrf2|connected|bgp|ipv4": {},
    },
    "BGP_NEIGHBOR_AF": {
        "Vrf1|10.0.0.9|ipv4_unicast": {"nhself": "true", "prefix_list_in": "P"},
        "default|Ethernet0|ipv6_unicast": {"admin_status": "up", "route_map_in": ["IN6"]},
        "default|10.0.0.2|ipv4_unicast": {
            "admin_status": "up",
            "route_map_in": ["IN"],
            "route_map_out": ["OUT"],
            "allow_as_in": "true",
            "allow_as_count": "2",
        },
    },
}
KEPT = {"docker_routing_config_mode": "split-unified"}
MANAGED = {"frr_mgmt_framework_config": "true", "docker_routing_config_mode": "unified"}


def test_what_frrcfgd_makes() -> None:
    """sonic-buildimage src/sonic-frr-mgmt-framework/templates/bgpd."""
    reading = read(switch(MANAGED, **FRAMEWORK))
    expected = Bgp(
        asn=65001,
        router_id="10.1.0.1",
        networks=("10.1.0.1/32", "fc00::/64"),
        redistributions=(
            Redistribution(source="connected", policy="LO"),
            Redistribution(source="static", family="ipv6"),
        ),
        maximum_paths=64,
        multipath_relax=True,
        requires_policy=True,
        default_ipv4_unicast=False,
        neighbors=(
            BgpNeighbor(
                interface="Ethernet0",
                remote_asn="external",
                bfd=True,
                active=True,
                allowas_in=3,
                ipv6=Ipv6Unicast(active=True, import_policy="IN6"),
            ),
            BgpNeighbor(
                address="10.0.0.2",
                remote_asn=65003,
                description="spine2",
                enabled=False,
                import_policy="IN",
                export_policy="OUT",
                allowas_in=2,
            ),
        ),
    )
    assert list(differences(reading.device.bgp, expected)) == []
    assert [subject for subject in reading.derived if "@bgp" in subject] == [(NAME, "@bgp", "requires_policy")]
    red = BgpNeighbor(
        address="10.0.0.9",
        remote_asn=65003,
        active=False,
        update_source="Loopback0",
        ebgp_multihop=2,
        import_prefix_list="P",
        next_hop_self=True,
    )
    assert reading.device.vrf_bgp == (
        Bgp(
            asn=65009,
            vrf="Vrf1",
            always_compare_med=True,
            compare_router_id=True,
            requires_policy=True,
            import_check=False,
            default_ipv4_unicast=False,
            neighbors=(red,),
        ),
    )


def with_row(table: str, key: str, **columns: str) -> Any:
    rows = FRAMEWORK.get(table, {})
    return read(switch(MANAGED, **FRAMEWORK | {table: {**rows, key: {**rows.get(key, {}), **columns}}}))


def unknown(reading: Any) -> list[str]:
    return [note.about for note in reading.notes if note.kind == "unknown-line"]


@pytest.mark.parametrize(
    ("word", "columns", "expected"),
    [
        ("ipv4_unicast|10.2.0.0/16", {}, Aggregate(prefix="10.2.0.0/16")),
        (
            "ipv6_unicast|fd00::/16",
            {"summary_only": "true", "as_set": "true"},
            Aggregate(prefix="fd00::/16", summary_only=True, as_set=True),
        ),
        ("ipv4_unicast|10.2.0.0/16", {"summary_only": "false"}, Aggregate(prefix="10.2.0.0/16")),
    ],
)
def test_aggregates_of_frrcfgd(word: str, columns: dict[str, str], expected: Aggregate) -> None:
    reading = with_row("BGP_GLOBALS_AF_AGGREGATE_ADDR", f"default|{word}", **columns)
    assert reading.device.bgp.aggregates == (expected,)
    assert [one.aggregates for one in reading.device.vrf_bgp] == [()]


def test_a_password_of_frrcfgd_is_kept_as_a_digest() -> None:
    reading = with_row("BGP_NEIGHBOR", "default|10.0.0.2", auth_password="fabric")
    found = {one.key: one.password for one in reading.device.bgp.neighbors}
    assert found == {"Ethernet0": None, "10.0.0.2": password_digest("fabric encrypted")}
    assert unknown(reading) == unknown(read(switch(MANAGED, **FRAMEWORK)))


@pytest.mark.parametrize(
    ("table", "key", "column", "value", "is_unknown"),
    [
        ("BGP_NEIGHBOR", "default|10.0.0.2", "local_asn", "65009", False),
        ("BGP_NEIGHBOR", "default|10.0.0.2", "dont_negotiate_capability", "true", True),
        ("BGP_NEIGHBOR", "default|10.0.0.2", "dont_negotiate_capability", "false", False),
        ("BGP_NEIGHBOR", "default|10.0.0.2", "conn_retry", "10", False),
        ("BGP_GLOBALS", "default", "default_local_preference", "200", False),
        ("BGP_GLOBALS_AF", "default|ipv4_unicast", "ebgp_route_distance", "255", True),
        ("BGP_GLOBALS_AF_NETWORK", "default|ipv4_unicast|10.1.0.1/32", "policy", "LO", True),
        ("BGP_NEIGHBOR_AF", "default|10.0.0.2|ipv4_unicast", "send_community", "none", True),
        ("BGP_NEIGHBOR_AF", "default|10.0.0.2|ipv4_unicast", "send_community", "both", False),
    ],
)
def test_a_column_of_frrcfgd_that_is_not_read_is_unknown(
    table: str, key: str, column: str, value: str, *, is_unknown: bool
) -> None:
    before = unknown(read(switch(MANAGED, **FRAMEWORK)))
    new = [about for about in unknown(with_row(table, key, **{column: value})) if about not in before]
    assert new == ([f"{table} {column}"] if is_unknown else [])


def test_columns_of_frrcfgd_count_only_where_it_runs() -> None:
    rows = {**FRAMEWORK["BGP_NEIGHBOR"], "default|10.0.0.2": {"asn": "65003", "local_asn": "65009"}}
    assert "BGP_NEIGHBOR local_asn" not in unknown(read(switch({}, **FRAMEWORK | {"BGP_NEIGHBOR": rows})))


def test_frrcfgd_without_an_asn_makes_nothing() -> None:
    assert read(switch(MANAGED)).device.bgp is None


FRR = "router bgp 65001\n no bgp default ipv4-unicast\n neighbor 10.0.0.0 remote-as 64999\n"


@pytest.mark.parametrize("mode", [{}, {"docker_routing_config_mode": "unified"}])
def test_the_tables_count_where_the_text_of_frr_is_not_kept(mode: dict[str, str]) -> None:
    bgp = read(switch(mode), FRR).device.bgp
    assert (bgp.neighbors[0].key, bgp.neighbors[0].remote_asn) == ("10.0.0.0", 65002)
    assert bgp == read(switch(mode)).device.bgp


@pytest.mark.parametrize(
    ("mode", "text", "keys"),
    [
        (KEPT, FRR, ["10.0.0.0", "10.0.0.2", "fc00::2"]),
        (KEPT, "ip route 0.0.0.0/0 10.0.0.0\n", [*PEERS]),
    ],
)
def test_the_text_of_frr_is_stronger_and_bgpcfgd_adds_to_files_of_ones_own(
    mode: dict[str, str], text: str, keys: list[str]
) -> None:
    bgp = read(switch(mode), text).device.bgp
    assert [one.key for one in bgp.neighbors] == keys
    assert bgp.neighbors[0].remote_asn == (64999 if text == FRR else 65002)
    assert (bgp.maximum_paths, bgp.multipath_relax) == (None, False)


def test_a_frr_conf_beside_tables_is_not_read_for_it_is_written_from_them() -> None:
    """sonic-buildimage dockers/docker-fpm-frr/docker_init.sh: `unified` makes frr.conf of the tables."""
    reading = read(switch(MANAGED, **FRAMEWORK), FRR)
    assert [one.key for one in reading.device.bgp.neighbors] == ["Ethernet0", "10.0.0.2"]
    assert reading.device.routing_tables is True
    assert [note.message for note in reading.notes] == [
        "frr.conf was not checked: the bgp container writes it from the tables when it starts"
    ]
    own = read(switch(MANAGED | {"docker_routing_config_mode": "split-unified"}, **FRAMEWORK), FRR)
    assert own.device.bgp.neighbors[0].key == "10.0.0.0"
    assert own.device.routing_tables is False


def test_without_its_own_files_routing_is_not_known() -> None:
    device = read(switch({"docker_routing_config_mode": "split"})).device
    assert (device.bgp, device.static_routes) == (UNKNOWN, UNKNOWN)
    config = json.dumps(switch({"docker_routing_config_mode": "split"}))
    device = read_bundle({"config_db.json": config, "staticd.conf": "ip route 0.0.0.0/0 10.0.0.0\n"}).device
    assert (device.bgp, device.static_routes) == (UNKNOWN, (StaticRoute(prefix="0.0.0.0/0", next_hop="10.0.0.0"),))
    device = read_bundle({"config_db.json": config, "bgpd.conf": FRR}).device
    assert (device.bgp.asn, device.static_routes) == (65001, UNKNOWN)


def test_static_routes_of_the_tables() -> None:
    """sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_static_rt.py."""
    rows = {
        "10.0.0.0/8": {"nexthop": "10.0.0.0,10.0.0.2", "ifname": "Ethernet0,Ethernet8"},
        "default|192.0.2.0/24": {"ifname": "Ethernet0"},
        "Vrf1|198.51.100.0/24": {"blackhole": "true"},
        "203.0.113.0/24": {},
    }
    found = (
        StaticRoute(prefix="10.0.0.0/8", next_hop="10.0.0.0"),
        StaticRoute(prefix="10.0.0.0/8", next_hop="10.0.0.2"),
        StaticRoute(prefix="192.0.2.0/24", next_hop="Ethernet0"),
        StaticRoute(prefix="198.51.100.0/24", next_hop="blackhole", vrf="Vrf1"),
    )
    assert read(switch(STATIC_ROUTE=rows)).device.static_routes == found
    stated = "ip route 10.0.0.0/8 10.0.0.0\nip route 0.0.0.0/0 blackhole\n"
    both = (found[0], StaticRoute(prefix="0.0.0.0/0", next_hop="blackhole"), *found[1:])
    assert (
        read(switch({"docker_routing_config_mode": "split-unified"}, STATIC_ROUTE=rows), stated).device.static_routes
        == both
    )


@pytest.mark.parametrize(
    ("subject", "text", "managed"),
    [
        ("@bgp", '"65001"', False),
        ("@bgp/asn", '"65001"', False),
        ("@bgp/router_id", '"10.2.0.1"', False),
        ("@neighbors/10.0.0.2/remote_asn", '"65003"', False),
        ("@neighbors/10.0.0.2/enabled", '"down"', False),
        ("@neighbors/10.0.0.2/description", '"spine2"', False),
        ("@neighbors/10.0.0.2", '"10.0.0.2"', False),
        ("@static_routes/192.0.2.0%2F24", '"10.0.0.0"', False),
        ("@bgp/asn", '"65001"', True),
        ("@bgp/maximum_paths", '"64"', True),
        ("@bgp/multipath_relax", '"true"', True),
        ("@bgp/networks/0", '"default|ipv4_unicast|10.1.0.1/32"', True),
        ("@neighbors/10.0.0.2", '"default|10.0.0.2"', True),
        ("@neighbors/10.0.0.2/remote_asn", '"65003"', True),
        ("@neighbors/10.0.0.2/allowas_in", '"2"', True),
        ("@neighbors/10.0.0.2/import_policy", '["IN"]', True),
        ("@neighbors/Ethernet0", '"default|Ethernet0"', True),
    ],
)
def test_the_text_at_a_place_of_the_tables_alters_the_fact(subject: str, text: str, managed: bool) -> None:
    routes = {"192.0.2.0/24": {"nexthop": "10.0.0.0"}}
    tables = switch(MANAGED, **FRAMEWORK) if managed else switch({"bgp_router_id": "10.2.0.1"}, STATIC_ROUTE=routes)
    lines = json.dumps(tables, indent=1).replace('[\n    "IN"\n   ]', '["IN"]').split("\n")
    raw = "\n".join(lines)
    place = platforms.make_place_finder("sonic", {"config_db.json": raw.encode()})((NAME, *parse_subject(subject)))
    assert place is not None
    line, span = lines[place.span.line - 1], place.span
    assert line[span.column - 1 : span.end_column - 1] == text
    new = {'"true"': '"false"', '"down"': '"up"'}.get(text, '["OTHER"]' if text[0] == "[" else '"9"')
    lines[span.line - 1] = line[: span.column - 1] + new + line[span.end_column - 1 :]
    before, after = read(raw).device, read("\n".join(lines)).device
    found = {"/".join(one.path) for one in differences(before, after)}
    root = "static_routes" if "static" in subject else "bgp"
    assert found
    assert all(one.startswith(root) for one in found), found


def test_a_peer_group_may_give_a_session_a_local_as_number_that_bgpd_refuses_there() -> None:
    tables = {
        "BGP_GLOBALS": {"default": {"local_asn": "65001"}},
        "BGP_PEER_GROUP": {"default|G": {"local_asn": "65009"}},
        "BGP_NEIGHBOR": {
            "default|10.0.0.1": {"peer_group_name": "G", "asn": "65001"},
            "default|10.0.0.3": {"peer_group_name": "G", "asn": "65100"},
            "default|10.0.0.5": {"local_asn": "65009", "asn": "65001"},
        },
    }
    bgp = read(switch({"frr_mgmt_framework_config": "true"}, **tables)).device.bgp
    assert [(one.local_asn, one.local_asn_of_group) for one in bgp.neighbors] == [
        (65009, True),
        (65009, False),
        (65009, False),
    ]


def test_frrcfgd_says_which_sessions_carry_evpn() -> None:
    """By a row of the family of the session itself, or of its peer group."""
    tables = {
        "BGP_GLOBALS": {"default": {"local_asn": "65001", "default_ipv4_unicast": "true"}},
        "BGP_PEER_GROUP": {"default|OVERLAY": {"asn": "65100"}},
        "BGP_PEER_GROUP_AF": {"default|OVERLAY|l2vpn_evpn": {"admin_status": "true"}},
        "BGP_NEIGHBOR": {
            "default|10.0.0.1": {"peer_group_name": "OVERLAY"},
            "default|10.0.0.3": {"asn": "65100"},
            "default|10.0.0.5": {"asn": "65100"},
        },
        "BGP_NEIGHBOR_AF": {"default|10.0.0.3|l2vpn_evpn": {"admin_status": "true"}},
    }
    bgp = read(switch({"frr_mgmt_framework_config": "true"}, **tables)).device.bgp
    assert [(one.key, one.evpn) for one in bgp.neighbors] == [
        ("10.0.0.1", True),
        ("10.0.0.3", True),
        ("10.0.0.5", False),
    ]
