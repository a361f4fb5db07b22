"""BGP and static routes of the tables, as SONiC's daemons translate them to FRR.

bgpcfgd reads BGP_NEIGHBOR and fills in its templates (sonic-buildimage dockers/docker-fpm-frr/frr/bgpd and
files/build_templates/constants.yml.j2); with `frr_mgmt_framework_config`, frrcfgd writes BGP_GLOBALS and its related
tables (src/sonic-frr-mgmt-framework/templates/bgpd) and bgpcfgd does not run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, StaticRoute
from nodrop.model.states import UNKNOWN, Unknown, require_fact
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.frr import FrrRouting
from nodrop.platforms.frr.words import is_neighbor_address
from nodrop.platforms.sonic.bgp_rows import DEFAULT_VRF
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.platforms.sonic.document import ROUTING_MODE_FIELD
from nodrop.platforms.sonic.frr_text import FrrText
from nodrop.platforms.sonic.routing_tables import FRRCFGD_DEFAULT_REASON_BY_FIELD, read_bgp_process, uses_frrcfgd
from nodrop.units import parse_whole_number

BGPCFGD_MAXIMUM_PATHS = 514
"""bgpcfgd's (constants.yml.j2)."""
ALLOWAS_IN_BY_SWITCH_TYPE = {"ToRRouter": 1}
"""How often bgpcfgd lets a switch of this type see its own AS number (bgpd/templates/general/peer-group.conf.j2)."""
_ALLOWAS_IN_SOURCE = "bgpcfgd's templates say allowas-in 1 for the type ToRRouter (peer-group.conf.j2)"
_GRACEFUL_RESTART_BY_SWITCH_TYPE: Mapping[str, dict[str, Any]] = {
    "ToRRouter": {"graceful_restart": True, "preserve_forwarding": True, "restart_s": 240, "select_defer_s": 45}
}
"""How a switch of this type restarts (bgpd.main.conf.j2, constants.yml)."""
DERIVED_FIELD_REASONS = {
    "maximum_paths": f"bgpcfgd's templates say maximum-paths {BGPCFGD_MAXIMUM_PATHS} (constants.yml)",
    "maximum_paths_ipv6": f"bgpcfgd's templates say maximum-paths {BGPCFGD_MAXIMUM_PATHS} (constants.yml)",
    "multipath_relax": "bgpcfgd's templates say bestpath as-path multipath-relax (bgpd.main.conf.j2)",
    "default_ipv4_unicast": "bgpcfgd's templates say no bgp default ipv4-unicast (bgpd.main.conf.j2)",
    "requires_policy": "bgpcfgd's templates say no bgp ebgp-requires-policy (bgpd.main.conf.j2)",
    **dict.fromkeys(
        ("graceful_restart", "preserve_forwarding", "restart_s", "select_defer_s"),
        "bgpcfgd's templates say bgp graceful-restart for the type ToRRouter (bgpd.main.conf.j2)",
    ),
    "networks": "bgpcfgd advertises Loopback0 and the networks of VLANs (bgpd.main.conf.j2)",
}
"""The fields of a BGP process of bgpcfgd that no table states, and the source of each value."""

SESSION_TABLES = ("BGP_NEIGHBOR", "BGP_INTERNAL_NEIGHBOR", "BGP_VOQ_CHASSIS_NEIGHBOR")
"""Tables of which bgpcfgd makes sessions; BGP_PEER_RANGE, BGP_MONITORS and BGP_SENTINELS are opened by others."""

_HOLD_S_BY_TABLE = {"BGP_NEIGHBOR": 180, "BGP_INTERNAL_NEIGHBOR": 10}
"""The hold time of sessions in seconds; a row of BGP_NEIGHBOR can have another. VOQ chassis differ by release."""
_HOLD_SOURCE_BY_TABLE = {
    "BGP_NEIGHBOR": "bgpcfgd's templates have 180 s (bgpd/templates/general/instance.conf.j2)",
    "BGP_INTERNAL_NEIGHBOR": "bgpcfgd's templates have 10 s (bgpd/templates/internal/instance.conf.j2)",
}

_TABLES_SHUT_BY_DEFAULT = frozenset({"BGP_NEIGHBOR", "BGP_VOQ_CHASSIS_NEIGHBOR"})
"""Tables whose template shuts a row without admin_status if `default_bgp_status` of DEVICE_METADATA is down."""
_SHUT_SOURCE = "DEVICE_METADATA has default_bgp_status down, and the row has no admin_status (general/instance.conf.j2)"


def read_routing(
    config: DeviceTables, localhost: RowFields, text: FrrText | None, frr_routing: FrrRouting | None
) -> tuple[dict[str, Any], Mapping[Subject, str]]:
    """Return the routing of a device: that of FRR's text with the sessions that bgpcfgd adds, else that of the tables.

    The second part has the fields of BGP that no table states, with their sources. BGP is UNKNOWN if FRR has own files
    that are not given.
    """
    reasons: dict[Subject, str] = {}
    process = (
        read_bgp_process(config, DEFAULT_VRF)
        if uses_frrcfgd(localhost)
        else _build_bgpcfgd_bgp_process(config, localhost)
    )
    bgp: Bgp | None | Unknown = process
    vrf_bgp: tuple[Bgp, ...] | Unknown = UNKNOWN
    if text and frr_routing and text.would_hold_bgp:
        bgp = _add_bgpcfgd_sessions(frr_routing.bgp, process) if uses_foreign_frr_files(localhost) else frr_routing.bgp
        vrf_bgp = frr_routing.vrf_bgp
    elif uses_foreign_frr_files(localhost) or not config.whole:
        bgp = UNKNOWN
    elif uses_frrcfgd(localhost):
        reasons = (
            {} if process is None else {("@bgp", field): why for field, why in FRRCFGD_DEFAULT_REASON_BY_FIELD.items()}
        )
        other_bgps = (read_bgp_process(config, vrf) for vrf in sorted(config.rows("BGP_GLOBALS"), key=natural_sort_key))
        vrf_bgp = tuple(other_bgp for other_bgp in other_bgps if other_bgp is not None and other_bgp.vrf is not None)
    else:
        reasons = {} if process is None else _reason_by_default_bgp_setting(config, process)
        vrf_bgp = UNKNOWN if any("|" in key for key in config.rows(SESSION_TABLES[0])) else ()
    if isinstance(bgp, Bgp):
        bgp = _drop_fib_suppression_unless_fpmsyncd_waits(bgp, config, localhost)
    if isinstance(vrf_bgp, tuple):
        vrf_bgp = tuple(
            _drop_fib_suppression_unless_fpmsyncd_waits(other_bgp, config, localhost) for other_bgp in vrf_bgp
        )
    routes = _collect_static_routes(config, localhost, text, frr_routing)
    tables = is_bgp_from_tables(config, localhost)
    routing_fields = {"bgp": bgp, "vrf_bgp": vrf_bgp, "static_routes": routes, "routing_tables": tables}
    return routing_fields | {"shut_by_daemon": _interfaces_shut_by_zebra(localhost, text, frr_routing)}, reasons


def _interfaces_shut_by_zebra(
    localhost: RowFields, text: FrrText | None, frr_routing: FrrRouting | None
) -> tuple[str, ...] | Unknown:
    """Return the interfaces that zebra takes down, by frr.conf or zebra.conf; SONiC writes no such line itself."""
    if text is None or frr_routing is None or not text.would_hold_interfaces:
        return UNKNOWN if uses_foreign_frr_files(localhost) or text is not None else ()
    return tuple(sorted(frr_routing.shut, key=natural_sort_key))


def is_bgp_from_tables(config: DeviceTables, localhost: RowFields) -> bool | Unknown:
    """Return whether frrcfgd makes the switch's BGP from tables; UNKNOWN if no file states which daemon runs."""
    if not config.is_conclusive_about_table("DEVICE_METADATA"):
        return UNKNOWN
    return uses_frrcfgd(localhost) and not uses_foreign_frr_files(localhost) and bool(config.rows("BGP_GLOBALS"))


def _collect_static_routes(
    config: DeviceTables, localhost: RowFields, frr_text: FrrText | None, stated_routing: FrrRouting | None
) -> tuple[StaticRoute, ...] | Unknown:
    """Return the static routes of FRR's text and those that the daemons add, one for each next hop."""
    static_routes = tuple(
        route for key, row in config.rows("STATIC_ROUTE").items() for route in _read_static_routes(key, row)
    )
    if frr_text and stated_routing and frr_text.would_hold_static_routes:
        return (
            *stated_routing.static_routes,
            *(route for route in static_routes if route not in stated_routing.static_routes),
        )
    return (
        UNKNOWN
        if uses_foreign_frr_files(localhost) or not config.is_conclusive_about_table("STATIC_ROUTE")
        else static_routes
    )


def uses_foreign_frr_files(localhost: RowFields) -> bool:
    """Whether FRR starts with files that SONiC does not write."""
    return localhost.get(ROUTING_MODE_FIELD, "").startswith("split")


def fpmsyncd_waits_for_hardware(localhost: RowFields) -> bool:
    """Whether fpmsyncd answers zebra only once orchagent has a route in the hardware.

    Without the field it answers for each route at once, and BGP waits for nothing (sonic-swss fpmsyncd/routesync.cpp,
    onRouteMsg). Without the synchronous mode, which is the default, orchagent does not wait for the hardware.
    """
    synchronous = localhost.get("synchronous_mode") != "disable"
    return synchronous and localhost.get("suppress-fib-pending") == "enabled"


def _drop_fib_suppression_unless_fpmsyncd_waits(bgp: Bgp, config: DeviceTables, localhost: RowFields) -> Bgp:
    """Return a process that waits for the hardware only if fpmsyncd waits for it too."""
    if not bgp.suppress_fib_pending or fpmsyncd_waits_for_hardware(localhost):
        return bgp
    return replace(bgp, suppress_fib_pending=False if config.whole else UNKNOWN)


def _add_bgpcfgd_sessions(bgp: Bgp | None, new_bgp: Bgp | None) -> Bgp | None:
    """Return what FRR starts with and the sessions that bgpcfgd adds to it, be it the first of all."""
    if new_bgp is None or not new_bgp.neighbors or isinstance(new_bgp.neighbors, Unknown):
        return bgp
    if bgp is None or isinstance(bgp.neighbors, Unknown):
        return bgp or Bgp(asn=new_bgp.asn, neighbors=new_bgp.neighbors)
    known_keys = {neighbor.key for neighbor in bgp.neighbors}
    return replace(
        bgp, neighbors=(*bgp.neighbors, *(neighbor for neighbor in new_bgp.neighbors if neighbor.key not in known_keys))
    )


def _read_static_routes(key: str, row: RowFields) -> Iterator[StaticRoute]:
    vrf, bar, prefix = key.rpartition("|")
    own_vrf = vrf if bar and vrf != DEFAULT_VRF else None
    hops = row.get("nexthop", "").split(",")
    ports = row.get("ifname", "").split(",")
    holes = row.get("blackhole", "").split(",")
    distances = row.get("distance", "").split(",")
    for number in range(max(len(hops), len(ports), len(holes))):
        hop, port, hole = (texts[number] if number < len(texts) else "" for texts in (hops, ports, holes))
        next_hop = "blackhole" if hole == "true" else hop or port
        if next_hop:
            word = distances[number] if number < len(distances) else ""
            distance = (
                parse_whole_number(word, MAX_ADMINISTRATIVE_DISTANCE) or 1
            )  # 0 and no word are staticd's own choice
            yield StaticRoute(prefix=prefix, next_hop=next_hop, vrf=own_vrf, distance=distance)


def _reason_by_default_bgp_setting(config: DeviceTables, bgp: Bgp) -> dict[Subject, str]:
    """Return the sources of the settings that no table states of a process of bgpcfgd and of its sessions."""
    reasons: dict[Subject, str] = {("@bgp", field): why for field, why in DERIVED_FIELD_REASONS.items()}
    for neighbor in require_fact(bgp.neighbors):
        table = next((name for name in SESSION_TABLES if neighbor.key in config.rows(name)), "")
        if neighbor.allowas_in or neighbor.ipv6.allowas_in:
            place = ("allowas_in",) if neighbor.allowas_in else ("ipv6", "allowas_in")
            reasons["@neighbors", neighbor.key, *place] = _ALLOWAS_IN_SOURCE
        if neighbor.enabled is False and "admin_status" not in config.rows(table).get(neighbor.key, {}):
            reasons["@neighbors", neighbor.key, "enabled"] = _SHUT_SOURCE
        if table in _HOLD_S_BY_TABLE and not _states_hold_time(config, table, neighbor.key):
            reasons["@neighbors", neighbor.key, "hold_s"] = _HOLD_SOURCE_BY_TABLE[table]
    return reasons


def _states_hold_time(config: DeviceTables, table_name: str, address: str) -> bool:
    """Return whether a row decides the hold time of its session: only the template of BGP_NEIGHBOR has the column."""
    return table_name == SESSION_TABLES[0] and "holdtime" in config.rows(table_name)[address]


def _read_hold_time_s(config: DeviceTables, table_name: str, address: str) -> int | None:
    if _states_hold_time(config, table_name, address):
        return config.integer((table_name, address), config.rows(table_name)[address], "holdtime")
    return _HOLD_S_BY_TABLE.get(table_name)


def _build_bgpcfgd_bgp_process(config: DeviceTables, localhost: RowFields) -> Bgp | None:
    asn = localhost.get("bgp_asn", "none")
    if asn.lower() in ("none", "null", ""):
        return None
    number = config.integer(("DEVICE_METADATA", "localhost"), localhost, "bgp_asn")
    if number is None:
        return None
    addresses = [key.partition("|")[2] for key in config.rows("LOOPBACK_INTERFACE") if key.startswith("Loopback0|")]
    first_v4 = next((address.partition("/")[0] for address in addresses if ":" not in address), None)
    inside = [address for key in config.rows("VLAN_INTERFACE") if (address := key.partition("|")[2])]
    host_wide = localhost.get("bgp_adv_lo_prefix_as_128") == "true"
    first_v6 = next((address.partition("/")[0] for address in addresses if ":" in address), None)
    advertised = [f"{first_v4}/32"] if first_v4 else []
    advertised += [address for address in inside if ":" not in address]
    advertised += [f"{first_v6}/{128 if host_wide else 64}"] if first_v6 else []
    advertised += [address for address in inside if ":" in address]
    return Bgp(
        asn=number,
        router_id=localhost.get("bgp_router_id", first_v4),
        networks=tuple(advertised),
        maximum_paths=BGPCFGD_MAXIMUM_PATHS,
        maximum_paths_ipv6=BGPCFGD_MAXIMUM_PATHS,
        multipath_relax=True,
        default_ipv4_unicast=False,
        suppress_fib_pending=True,
        **_GRACEFUL_RESTART_BY_SWITCH_TYPE.get(localhost.get("type", ""), {}),
        neighbors=tuple(_build_bgpcfgd_sessions(config, localhost)),
    )


def _build_bgpcfgd_sessions(config: DeviceTables, localhost: RowFields) -> Iterator[BgpNeighbor]:
    """Yield the sessions, without the policies that the templates bind, because those permit all routes."""
    own_as_count = ALLOWAS_IN_BY_SWITCH_TYPE.get(localhost.get("type", ""))
    for table in SESSION_TABLES:
        usual = localhost.get("default_bgp_status", "up") if table in _TABLES_SHUT_BY_DEFAULT else "up"
        for address, row in config.rows(table).items():
            if is_neighbor_address(address):
                family = "ipv6" if ":" in address else "ipv4"
                allowed = own_as_count if table == SESSION_TABLES[0] else None
                itself = table == SESSION_TABLES[0] and row.get("nhopself", "0") not in ("0", "")
                yield BgpNeighbor(
                    address=address,
                    remote_asn=config.integer((table, address), row, "asn"),
                    description=row.get("name"),
                    enabled=row.get("admin_status", usual) != "down",
                    hold_s=_read_hold_time_s(config, table, address),
                    active=family == "ipv4",
                    allowas_in=allowed if family == "ipv4" else None,
                    next_hop_self=itself and family == "ipv4",
                    ipv6=Ipv6Unicast(active=True, allowas_in=allowed, next_hop_self=itself)
                    if family == "ipv6"
                    else Ipv6Unicast(),
                )
