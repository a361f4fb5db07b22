"""BGP and static routes of the tables, as SONiC's own daemons make FRR of them.

bgpcfgd reads BGP_NEIGHBOR and fills in its templates (sonic-buildimage dockers/docker-fpm-frr/frr/bgpd and
files/build_templates/constants.yml.j2); with `frr_mgmt_framework_config`, frrcfgd spells BGP_GLOBALS and what belongs
to it (src/sonic-frr-mgmt-framework/templates/bgpd) and bgpcfgd does not run.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, Redistribution, StaticRoute
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural
from nodrop.platforms.frr import Routing
from nodrop.platforms.frr_words import is_address
from nodrop.platforms.sonic.config import Config, Row
from nodrop.platforms.sonic.frr_text import FrrText

MAXIMUM_PATHS = 514
"""bgpcfgd's (constants.yml.j2)."""
ALLOWED_OWN = {"ToRRouter": 1}
"""How often bgpcfgd lets a switch of this type see its own AS number (bgpd/templates/general/peer-group.conf.j2)."""
DERIVED = {
    "maximum_paths": f"bgpcfgd's templates say maximum-paths {MAXIMUM_PATHS} (constants.yml)",
    "maximum_paths_ipv6": f"bgpcfgd's templates say maximum-paths {MAXIMUM_PATHS} (constants.yml)",
    "multipath_relax": "bgpcfgd's templates say bestpath as-path multipath-relax (bgpd.main.conf.j2)",
    "default_ipv4_unicast": "bgpcfgd's templates say no bgp default ipv4-unicast (bgpd.main.conf.j2)",
    "requires_policy": "bgpcfgd's templates say no bgp ebgp-requires-policy (bgpd.main.conf.j2)",
    "networks": "bgpcfgd advertises Loopback0 and the networks of VLANs (bgpd.main.conf.j2)",
}
"""What no table says of a BGP process that bgpcfgd makes, by field, and why it is so."""

FRAMEWORK_DERIVED = {"requires_policy": "no table says so, and FRR's own default is bgp ebgp-requires-policy"}
"""The same of one that frrcfgd makes."""

SESSIONS = ("BGP_NEIGHBOR", "BGP_INTERNAL_NEIGHBOR", "BGP_VOQ_CHASSIS_NEIGHBOR")
"""Tables of which bgpcfgd makes sessions; BGP_PEER_RANGE, BGP_MONITORS and BGP_SENTINELS are opened by others."""
_DEFAULT = "default"
_MOST_HOPS = 255
"""Where `ebgp_multihop` comes without a number (bgpd.conf.db.nbr_or_peer.j2)."""
_IPV4, _IPV6 = "ipv4_unicast", "ipv6_unicast"
_TRUE = ("true", "up")


def framework(localhost: Row) -> bool:
    """Whether frrcfgd, and not bgpcfgd, makes FRR's configuration."""
    return localhost.get("frr_mgmt_framework_config") == "true"


def routing(
    config: Config, localhost: Row, text: FrrText | None, said: Routing | None
) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Return what of a device is routing: as FRR's text says it, with the sessions that bgpcfgd adds, else the tables.

    With it come the fields of BGP that no table says, and why they are so. Where FRR keeps files of one's own that are
    not given, BGP is not known.
    """
    reasons: Mapping[str, str] = {}
    made = _framework_bgp(config, _DEFAULT) if framework(localhost) else _bgpcfgd_bgp(config, localhost)
    bgp: Bgp | None | Unknown = made
    vrf_bgp: tuple[Bgp, ...] | Unknown = UNKNOWN
    if text and said and text.says_bgp:
        bgp = _with_sessions(said.bgp, made) if own_files(localhost) else said.bgp
        vrf_bgp = said.vrf_bgp
    elif own_files(localhost) or not config.whole:
        bgp = UNKNOWN
    elif framework(localhost):
        reasons = {} if made is None else FRAMEWORK_DERIVED
        others = (_framework_bgp(config, vrf) for vrf in sorted(config.rows("BGP_GLOBALS"), key=natural))
        vrf_bgp = tuple(one for one in others if one is not None and one.vrf is not None)
    else:
        reasons = {} if made is None else DERIVED
        vrf_bgp = UNKNOWN if any("|" in key for key in config.rows(SESSIONS[0])) else ()
    routes = _static_routes(config, localhost, text, said)
    return {"bgp": bgp, "vrf_bgp": vrf_bgp, "static_routes": routes}, reasons


def _static_routes(
    config: Config, localhost: Row, text: FrrText | None, said: Routing | None
) -> tuple[StaticRoute, ...] | Unknown:
    """Return the static routes of FRR's text and those that the daemons add, one for each next hop."""
    made = tuple(route for key, row in config.rows("STATIC_ROUTE").items() for route in _routes(key, row))
    if text and said and text.says_routes:
        return (*said.static_routes, *(route for route in made if route not in said.static_routes))
    return UNKNOWN if own_files(localhost) or not config.covers("STATIC_ROUTE") else made


def own_files(localhost: Row) -> bool:
    """Whether FRR starts with files that SONiC does not write."""
    return localhost.get("docker_routing_config_mode", "").startswith("split")


def _with_sessions(said: Bgp | None, made: Bgp | None) -> Bgp | None:
    """Return what FRR starts with and the sessions that bgpcfgd adds to it, be it the first of all."""
    if made is None or not made.neighbors or isinstance(made.neighbors, Unknown):
        return said
    if said is None or isinstance(said.neighbors, Unknown):
        return said or Bgp(asn=made.asn, neighbors=made.neighbors)
    known = {neighbor.key for neighbor in said.neighbors}
    return replace(said, neighbors=(*said.neighbors, *(one for one in made.neighbors if one.key not in known)))


def _routes(key: str, row: Row) -> Iterator[StaticRoute]:
    vrf, bar, prefix = key.rpartition("|")
    own = vrf if bar and vrf != _DEFAULT else None
    hops = row.get("nexthop", "").split(",")
    ports = row.get("ifname", "").split(",")
    holes = row.get("blackhole", "").split(",")
    for number in range(max(len(hops), len(ports), len(holes))):
        hop, port, hole = (one[number] if number < len(one) else "" for one in (hops, ports, holes))
        next_hop = "blackhole" if hole == "true" else hop or port
        if next_hop:
            yield StaticRoute(prefix=prefix, next_hop=next_hop, vrf=own)


def _bgpcfgd_bgp(config: Config, localhost: Row) -> Bgp | None:
    asn = localhost.get("bgp_asn", "none")
    if asn.lower() in ("none", "null", ""):
        return None
    number = config.integer(("DEVICE_METADATA", "localhost"), localhost, "bgp_asn")
    if number is None:
        return None
    own = [key.partition("|")[2] for key in config.rows("LOOPBACK_INTERFACE") if key.startswith("Loopback0|")]
    first_v4 = next((address.partition("/")[0] for address in own if ":" not in address), None)
    inside = [address for key in config.rows("VLAN_INTERFACE") if (address := key.partition("|")[2])]
    host_wide = localhost.get("bgp_adv_lo_prefix_as_128") == "true"
    first_v6 = next((address.partition("/")[0] for address in own if ":" in address), None)
    advertised = [f"{first_v4}/32"] if first_v4 else []
    advertised += [address for address in inside if ":" not in address]
    advertised += [f"{first_v6}/{128 if host_wide else 64}"] if first_v6 else []
    advertised += [address for address in inside if ":" in address]
    return Bgp(
        asn=number,
        router_id=localhost.get("bgp_router_id", first_v4),
        networks=tuple(advertised),
        maximum_paths=MAXIMUM_PATHS,
        maximum_paths_ipv6=MAXIMUM_PATHS,
        multipath_relax=True,
        default_ipv4_unicast=False,
        neighbors=tuple(_bgpcfgd_sessions(config, localhost)),
    )


def _bgpcfgd_sessions(config: Config, localhost: Row) -> Iterator[BgpNeighbor]:
    """Yield the sessions; the policies that the templates bind permit all, and are not told."""
    usual, own = localhost.get("default_bgp_status", "up"), ALLOWED_OWN.get(localhost.get("type", ""))
    for table in SESSIONS:
        for address, row in config.rows(table).items():
            if is_address(address):
                family = "ipv6" if ":" in address else "ipv4"
                allowed = own if table == SESSIONS[0] else None
                itself = table == SESSIONS[0] and row.get("nhopself", "0") not in ("0", "")
                yield BgpNeighbor(
                    address=address,
                    remote_asn=config.integer((table, address), row, "asn"),
                    description=row.get("name"),
                    enabled=row.get("admin_status", usual) != "down",
                    hold_s=config.integer((table, address), row, "holdtime"),
                    active=family == "ipv4",
                    allowas_in=allowed if family == "ipv4" else None,
                    next_hop_self=itself and family == "ipv4",
                    ipv6=Ipv6Unicast(active=True, allowas_in=allowed, next_hop_self=itself)
                    if family == "ipv6"
                    else Ipv6Unicast(),
                )


def _framework_bgp(config: Config, vrf: str) -> Bgp | None:
    """Return the process of a VRF; FRR asks for policies on sessions to other ASes, and no table tells it not to."""
    row = config.rows("BGP_GLOBALS").get(vrf, {})
    asn = config.integer(("BGP_GLOBALS", vrf), row, "local_asn")
    if asn is None:
        return None
    families = [f"{vrf}|{family}" for family in (_IPV4, _IPV6)]
    paths = [
        config.integer(("BGP_GLOBALS_AF", key), config.rows("BGP_GLOBALS_AF").get(key, {}), "max_ebgp_paths")
        for key in families
    ]
    return Bgp(
        asn=asn,
        vrf=None if vrf == _DEFAULT else vrf,
        router_id=row.get("router_id"),
        networks=tuple(
            key.removeprefix(f"{family}|")
            for family in families
            for key in config.rows("BGP_GLOBALS_AF_NETWORK")
            if key.startswith(f"{family}|")
        ),
        redistributions=tuple(sorted(_redistributions(config, vrf), key=lambda one: (one.family, one.source))),
        maximum_paths=paths[0],
        maximum_paths_ipv6=paths[1],
        multipath_relax=row.get("load_balance_mp_relax") == "true",
        compare_router_id=row.get("external_compare_router_id") == "true",
        always_compare_med=row.get("always_compare_med") == "true",
        requires_policy=True,
        import_check=row.get("network_import_check") != "false",
        default_ipv4_unicast=row.get("default_ipv4_unicast") == "true",
        graceful_shutdown=row.get("graceful_shutdown") == "true",
        neighbors=tuple(_framework_sessions(config, vrf, row.get("default_ipv4_unicast") == "true")),
    )


def _redistributions(config: Config, vrf: str) -> Iterator[Redistribution]:
    for key, row in config.rows("ROUTE_REDISTRIBUTE").items():
        match key.split("|"):
            case [one, ("connected" | "static" | "kernel") as source, "bgp", ("ipv4" | "ipv6") as family] if one == vrf:
                policy = row.get("route_map", "").split(",")[0] or None
                yield Redistribution(source=source, family=family, policy=policy)


def _framework_sessions(config: Config, vrf: str, unicast: bool) -> Iterator[BgpNeighbor]:
    groups = {
        key.partition("|")[2]: _said(config, "BGP_PEER_GROUP", key, row)
        for key, row in config.rows("BGP_PEER_GROUP").items()
        if key.startswith(f"{vrf}|")
    }
    for key, row in config.rows("BGP_NEIGHBOR").items():
        inside, _, name = key.partition("|")
        if inside == vrf and name:
            inherited = dict(groups.get(row.get("peer_group_name", ""), {}))
            inherited.pop("description", None)
            own = _said(config, "BGP_NEIGHBOR", key, row)
            ipv6 = Ipv6Unicast(**inherited.pop("ipv6", {}) | own.pop("ipv6", {}))
            named = {"address" if is_address(name) else "interface": name, "ipv6": ipv6}
            yield BgpNeighbor(**{"active": unicast} | inherited | own | named)


_WORDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("description", str),
    "admin_status": ("enabled", lambda word: word not in ("false", "down")),
    "bfd": ("bfd", lambda word: word == "true"),
    "peer_type": ("remote_asn", str),
    "local_addr": ("update_source", str),
    "capability_ext_nexthop": ("extended_next_hop", lambda word: word == "true"),
}
_FAMILY_WORDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "admin_status": ("active", lambda word: word in _TRUE),
    "route_map_in": ("import_policy", lambda names: names.split(",")[0]),
    "route_map_out": ("export_policy", lambda names: names.split(",")[0]),
    "prefix_list_in": ("import_prefix_list", str),
    "prefix_list_out": ("export_prefix_list", str),
    "nhself": ("next_hop_self", lambda word: word == "true"),
}


def _said(config: Config, table: str, key: str, row: Row) -> dict[str, Any]:
    """Return the fields of a session that a row, and those of its address families, say."""
    found: dict[str, Any] = {"remote_asn": config.integer((table, key), row, "asn")} if "asn" in row else {}
    found |= {field: read(row[word]) for word, (field, read) in _WORDS.items() if word in row}
    if "holdtime" in row:
        found["hold_s"] = config.integer((table, key), row, "holdtime")
    if row.get("ebgp_multihop") == "true":
        found["ebgp_multihop"] = config.integer((table, key), row, "ebgp_multihop_ttl") or _MOST_HOPS
    ipv6 = _said_of_family(config, f"{table}_AF", f"{key}|{_IPV6}")
    return found | _said_of_family(config, f"{table}_AF", f"{key}|{_IPV4}") | ({"ipv6": ipv6} if ipv6 else {})


def _said_of_family(config: Config, table: str, key: str) -> dict[str, Any]:
    row = config.rows(table).get(key, {})
    found = {field: read(row[word]) for word, (field, read) in _FAMILY_WORDS.items() if word in row}
    if row.get("allow_as_in") == "true":
        found["allowas_in"] = config.integer((table, key), row, "allow_as_count") or 3
    return found
