"""BGP and static routes in the tables of SONiC's management framework: from a device to tables, and back.

`bgp_rows` and `policy_rows` hold the meaning of each column. bgpd decides settings that the tables of a process leave
open.
"""

from collections.abc import Iterator
from typing import Any

from nodrop.errors import UnsupportedByPlatform
from nodrop.model.fabric import Device
from nodrop.model.routing import (
    ROUTE_SOURCE_BY_NAME,
    Aggregate,
    Bgp,
    BgpNeighbor,
    Ipv6Unicast,
    Redistribution,
    StaticRoute,
)
from nodrop.model.states import known_rows, require_fact
from nodrop.platforms.frr import limits as frr_limits
from nodrop.platforms.frr.words import is_neighbor_address
from nodrop.platforms.kit.bindings import decode_fields, encode_fields
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.kit.session_groups import mark_local_asn_of_group
from nodrop.platforms.sonic.bgp_rows import (
    DATACENTER_DEFAULT_COLUMNS,
    DEFAULT_VRF,
    EVPN_FAMILY,
    MAXIMUM_PATHS_BINDINGS,
    PROCESS_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
    SONIC_WORD_BY_FAMILY,
    TableRow,
    check_bgp_part_fits_columns,
)
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.platforms.sonic.policy_rows import (
    RowsByKey,
    encode_policy_tables,
    read_policy_lists_and_route_maps,
    require_expressible_policies,
)

FRRCFGD_DEFAULT_REASON_BY_FIELD = {
    "requires_policy": "FRR's default is bgp ebgp-requires-policy, and no table changes it"
}
"""The fields of a process of frrcfgd that no table states, and the source of each value."""
FRR_DELIVERY_HINT = "use routing.delivery: frr.conf"
"""What to do about a part of a design that tables cannot express."""


def uses_frrcfgd(localhost: RowFields) -> bool:
    """Whether frrcfgd, and not bgpcfgd, makes FRR's configuration."""
    return localhost.get("frr_mgmt_framework_config") == "true"


def read_bgp_process(config: DeviceTables, vrf: str) -> Bgp | None:
    """Return the process of a VRF; it requires policies on sessions to other ASes, because no table can change that."""
    row = TableRow(config, "BGP_GLOBALS", vrf, config.rows("BGP_GLOBALS").get(vrf, {}))
    process_fields = decode_fields(PROCESS_BINDINGS, row)
    if "asn" not in process_fields:
        return None
    networks = config.rows("BGP_GLOBALS_AF_NETWORK")
    for family, word in SONIC_WORD_BY_FAMILY.items():
        key = f"{vrf}|{word}"
        process_fields |= decode_fields((MAXIMUM_PATHS_BINDINGS[family],), _find_row(config, "BGP_GLOBALS_AF", key))
    return Bgp(
        **process_fields,
        **read_policy_lists_and_route_maps(config),
        vrf=None if vrf == DEFAULT_VRF else vrf,
        networks=tuple(
            key.removeprefix(f"{vrf}|{word}|")
            for word in SONIC_WORD_BY_FAMILY.values()
            for key in networks
            if key.startswith(f"{vrf}|{word}|")
        ),
        aggregates=tuple(_read_aggregates(config, vrf)),
        redistributions=tuple(
            sorted(
                _read_redistributions(config, vrf),
                key=lambda redistribution: (redistribution.family, redistribution.source),
            )
        ),
        requires_policy=True,
        neighbors=tuple(
            _read_sessions(config, vrf, process_fields["asn"], unicast=process_fields["default_ipv4_unicast"])
        ),
    )


def _find_row(config: DeviceTables, table: str, key: str) -> TableRow:
    return TableRow(config, table, key, config.rows(table).get(key, {}))


def _read_aggregates(config: DeviceTables, vrf: str) -> Iterator[Aggregate]:
    """Yield the aggregates of a process, those of IPv4 first."""
    for word in SONIC_WORD_BY_FAMILY.values():
        for key, row in config.rows("BGP_GLOBALS_AF_AGGREGATE_ADDR").items():
            prefix = key.removeprefix(f"{vrf}|{word}|")
            if prefix != key:
                only, as_set = row.get("summary_only") == "true", row.get("as_set") == "true"
                yield Aggregate(prefix=prefix, summary_only=only, as_set=as_set)


def _read_redistributions(config: DeviceTables, vrf: str) -> Iterator[Redistribution]:
    for key, row in config.rows("ROUTE_REDISTRIBUTE").items():
        match key.split("|"):
            case [one, source, "bgp", ("ipv4" | "ipv6") as family] if one == vrf and source in ROUTE_SOURCE_BY_NAME:
                policy = row.get("route_map", "").split(",")[0] or None
                yield Redistribution(source=ROUTE_SOURCE_BY_NAME[source], family=family, policy=policy)


def _read_sessions(config: DeviceTables, vrf: str, asn: int, *, unicast: bool) -> Iterator[BgpNeighbor]:
    groups = {
        key.partition("|")[2]: _read_session_fields(config, "BGP_PEER_GROUP", key)
        for key in config.rows("BGP_PEER_GROUP")
        if key.startswith(f"{vrf}|")
    }
    for key, row in config.rows("BGP_NEIGHBOR").items():
        inside, _, name = key.partition("|")
        if inside == vrf and name:
            inherited = dict(groups.get(row.get("peer_group_name", ""), {}))
            inherited.pop("description", None)
            own_session_fields = _read_session_fields(config, "BGP_NEIGHBOR", key)
            ipv6 = Ipv6Unicast(**inherited.pop("ipv6", {}) | own_session_fields.pop("ipv6", {}))
            identity = {"address" if is_neighbor_address(name) else "interface": name, "ipv6": ipv6}
            session = BgpNeighbor(**{"active": unicast} | inherited | own_session_fields | identity)
            yield session if "local_asn" in own_session_fields else mark_local_asn_of_group(session, asn)


def _read_session_fields(config: DeviceTables, table_name: str, key: str) -> dict[str, Any]:
    """Return the fields of a session that a row, and those of its address families, state."""
    ipv4, ipv6 = (
        decode_fields(SESSION_FAMILY_BINDINGS, _find_row(config, f"{table_name}_AF", f"{key}|{word}"))
        for word in SONIC_WORD_BY_FAMILY.values()
    )
    evpn = decode_fields(SESSION_FAMILY_BINDINGS[:1], _find_row(config, f"{table_name}_AF", f"{key}|{EVPN_FAMILY}"))
    carries = {"evpn": evpn["active"]} if evpn else {}
    return (
        decode_fields(SESSION_BINDINGS, _find_row(config, table_name, key))
        | ipv4
        | carries
        | ({"ipv6": ipv6} if ipv6 else {})
    )


def build_config_tables_of_routing(device: Device) -> dict[str, RowsByKey]:
    """Return the tables of a device's routing; UnsupportedByPlatform names the model path that they cannot express."""
    try:
        processes = _require_expressible_bgp(device)
    except UnsupportedByPlatform as error:
        raise UnsupportedByPlatform(error.path, f"{error.reason}; {FRR_DELIVERY_HINT}") from None
    rows_by_table: dict[str, RowsByKey] = {}
    for bgp in processes:
        for table, rows in _encode_bgp_config_tables(bgp):
            rows_by_table.setdefault(table, {}).update(rows)
    rows_by_table |= encode_policy_tables(processes[0])
    rows_by_table["STATIC_ROUTE"] = _encode_static_routes(require_fact(device.static_routes))
    return {table: rows for table, rows in sorted(rows_by_table.items()) if rows}


def _encode_bgp_config_tables(bgp: Bgp) -> Iterator[tuple[str, RowsByKey]]:
    vrf, unicast = bgp.key, require_fact(bgp.default_ipv4_unicast)
    yield "BGP_GLOBALS", {vrf: _encode_row("BGP_GLOBALS", PROCESS_BINDINGS, bgp)}
    families = {
        f"{vrf}|{SONIC_WORD_BY_FAMILY[family]}": _encode_row("", (row,), bgp)
        for family, row in MAXIMUM_PATHS_BINDINGS.items()
    }
    yield "BGP_GLOBALS_AF", {key: columns for key, columns in families.items() if columns}
    networks = [(SONIC_WORD_BY_FAMILY["ipv6" if ":" in network else "ipv4"], network) for network in bgp.networks]
    yield "BGP_GLOBALS_AF_NETWORK", {f"{vrf}|{word}|{network}": {} for word, network in networks}
    yield (
        "ROUTE_REDISTRIBUTE",
        {
            f"{vrf}|{redistribution.source}|bgp|{redistribution.family}": {"route_map": [redistribution.policy]}
            if redistribution.policy
            else {}
            for redistribution in bgp.redistributions
        },
    )
    for neighbor in require_fact(bgp.neighbors):
        key = f"{vrf}|{neighbor.key}"
        yield "BGP_NEIGHBOR", {key: _encode_row("BGP_NEIGHBOR", SESSION_BINDINGS, neighbor)}
        for word, session_part, by_default in (
            (SONIC_WORD_BY_FAMILY["ipv4"], neighbor, BgpNeighbor(active=unicast)),
            (SONIC_WORD_BY_FAMILY["ipv6"], neighbor.ipv6, Ipv6Unicast()),
        ):
            columns = _encode_row("", SESSION_FAMILY_BINDINGS, session_part)
            if columns != _encode_row("", SESSION_FAMILY_BINDINGS, by_default):
                yield "BGP_NEIGHBOR_AF", {f"{key}|{word}": columns}


def _encode_row(table: str, rows: Any, model_part: object) -> dict[str, Any]:
    row_columns: dict[str, object] = dict(DATACENTER_DEFAULT_COLUMNS.get(table, {}))
    for columns in encode_fields(rows, model_part, None):
        row_columns |= columns
    return dict(sorted(row_columns.items()))


def _encode_static_routes(routes: tuple[StaticRoute, ...]) -> RowsByKey:
    rows: RowsByKey = {}
    distances: dict[tuple[str | None, str], list[str]] = {}
    for route in routes:
        columns = rows.setdefault(f"{route.vrf or DEFAULT_VRF}|{route.prefix}", {})
        column, value = next_hop_column_and_value(route)
        columns[column] = f"{columns[column]},{value}" if column in columns else value
        distances.setdefault((route.vrf, route.prefix), []).append(str(route.distance))
    for (vrf, prefix), words in distances.items():
        if set(words) != {"1"}:
            rows[f"{vrf or DEFAULT_VRF}|{prefix}"]["distance"] = ",".join(words)
    return rows


def next_hop_column_and_value(route: StaticRoute) -> tuple[str, str]:
    """Return the column of STATIC_ROUTE that states a route's next hop, and its value."""
    if route.next_hop == "blackhole":
        return "blackhole", "true"
    return "nexthop" if is_neighbor_address(route.next_hop) else "ifname", route.next_hop


def _require_expressible_bgp(device: Device) -> tuple[Bgp, ...]:
    """Return a device's BGP processes; UnsupportedByPlatform if FRR or its tables cannot express a part."""
    processes = frr_limits.expressible_bgp_processes(device)
    if not processes or processes[0].vrf is not None:
        raise unsupported_error(["routing_tables"], "there is no BGP process of the default VRF")
    if known_rows(device.extra_lines):
        raise unsupported_error(["extra_lines"], "are written into frr.conf, which is made of the tables")
    if device.shut_by_daemon:
        raise unsupported_error(["shut_by_daemon"], "is written into frr.conf, which is made of the tables")
    for bgp in processes:
        path = ("bgp",) if bgp.vrf is None else ("vrf_bgp", bgp.key)
        check_bgp_part_fits_columns(bgp, *path)
        for neighbor in require_fact(bgp.neighbors):
            where = (*path, "neighbors", neighbor.key)
            check_bgp_part_fits_columns(neighbor, *where)
            check_bgp_part_fits_columns(neighbor.ipv6, *where, "ipv6")
    require_expressible_policies(processes[0])
    _require_expressible_static_routes(require_fact(device.static_routes))
    return processes


def _require_expressible_static_routes(routes: tuple[StaticRoute, ...]) -> None:
    kinds: dict[tuple[str | None, str], str] = {}
    for position, route in enumerate(routes):
        key = (route.vrf, route.prefix)
        kind, _ = next_hop_column_and_value(route)
        if kinds.setdefault(key, kind) != kind or (kind == "blackhole" and routes.index(route) != position):
            raise unsupported_error(
                ["static_routes", route.prefix], "next hops of one prefix are all addresses or all ports"
            )
    order = list(dict.fromkeys((route.vrf, route.prefix) for route in routes))
    if [(route.vrf, route.prefix) for route in routes] != sorted(
        ((route.vrf, route.prefix) for route in routes), key=order.index
    ):
        raise unsupported_error(["static_routes"], "are not in the order in which they would be read back")
