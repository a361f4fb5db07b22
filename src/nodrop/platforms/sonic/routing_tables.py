"""BGP and static routes in the tables of SONiC's management framework: from a device to tables, and back.

`bgp_rows` and `policy_rows` hold the meaning of each column. bgpd decides settings that the tables of a process leave
open.
"""

from collections.abc import Iterator
from typing import Any

from nodrop.errors import Unsupported
from nodrop.model.fabric import Device
from nodrop.model.routing import SOURCES, Aggregate, Bgp, BgpNeighbor, Ipv6Unicast, Redistribution, StaticRoute
from nodrop.model.states import known_rows, require_fact
from nodrop.platforms.frr import limits as frr_limits
from nodrop.platforms.frr.words import is_address
from nodrop.platforms.kit.bindings import decoded, encoded
from nodrop.platforms.kit.expressible import refuse
from nodrop.platforms.kit.session_groups import mark_local_asn_of_group
from nodrop.platforms.sonic.bgp_rows import (
    CONSTANT,
    DEFAULT,
    EVPN,
    FAMILIES,
    FAMILY,
    PATHS,
    PROCESS,
    SESSION,
    TableRow,
    check_part,
)
from nodrop.platforms.sonic.config import Config, Row
from nodrop.platforms.sonic.policy_rows import Rows, check_policies, policy_tables, read_policies

FRAMEWORK_DERIVED = {"requires_policy": "FRR's default is bgp ebgp-requires-policy, and no table changes it"}
"""The fields of a process of frrcfgd that no table states, and the source of each value."""
INSTEAD = "use routing.delivery: frr.conf"
"""What to do about a part of a design that tables cannot express."""


def framework(localhost: Row) -> bool:
    """Whether frrcfgd, and not bgpcfgd, makes FRR's configuration."""
    return localhost.get("frr_mgmt_framework_config") == "true"


def read_process(config: Config, vrf: str) -> Bgp | None:
    """Return the process of a VRF; it requires policies on sessions to other ASes, because no table can change that."""
    row = TableRow(config, "BGP_GLOBALS", vrf, config.rows("BGP_GLOBALS").get(vrf, {}))
    process_fields = decoded(PROCESS, row)
    if "asn" not in process_fields:
        return None
    networks = config.rows("BGP_GLOBALS_AF_NETWORK")
    for family, word in FAMILIES.items():
        key = f"{vrf}|{word}"
        process_fields |= decoded((PATHS[family],), _row(config, "BGP_GLOBALS_AF", key))
    return Bgp(
        **process_fields,
        **read_policies(config),
        vrf=None if vrf == DEFAULT else vrf,
        networks=tuple(
            key.removeprefix(f"{vrf}|{word}|")
            for word in FAMILIES.values()
            for key in networks
            if key.startswith(f"{vrf}|{word}|")
        ),
        aggregates=tuple(_read_aggregates(config, vrf)),
        redistributions=tuple(
            sorted(
                _redistributions(config, vrf), key=lambda redistribution: (redistribution.family, redistribution.source)
            )
        ),
        requires_policy=True,
        neighbors=tuple(
            _read_sessions(config, vrf, process_fields["asn"], unicast=process_fields["default_ipv4_unicast"])
        ),
    )


def _row(config: Config, table: str, key: str) -> TableRow:
    return TableRow(config, table, key, config.rows(table).get(key, {}))


def _read_aggregates(config: Config, vrf: str) -> Iterator[Aggregate]:
    """Yield the aggregates of a process, those of IPv4 first."""
    for word in FAMILIES.values():
        for key, row in config.rows("BGP_GLOBALS_AF_AGGREGATE_ADDR").items():
            prefix = key.removeprefix(f"{vrf}|{word}|")
            if prefix != key:
                only, as_set = row.get("summary_only") == "true", row.get("as_set") == "true"
                yield Aggregate(prefix=prefix, summary_only=only, as_set=as_set)


def _redistributions(config: Config, vrf: str) -> Iterator[Redistribution]:
    for key, row in config.rows("ROUTE_REDISTRIBUTE").items():
        match key.split("|"):
            case [one, source, "bgp", ("ipv4" | "ipv6") as family] if one == vrf and source in SOURCES:
                policy = row.get("route_map", "").split(",")[0] or None
                yield Redistribution(source=SOURCES[source], family=family, policy=policy)


def _read_sessions(config: Config, vrf: str, asn: int, *, unicast: bool) -> Iterator[BgpNeighbor]:
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
            identity = {"address" if is_address(name) else "interface": name, "ipv6": ipv6}
            session = BgpNeighbor(**{"active": unicast} | inherited | own_session_fields | identity)
            yield session if "local_asn" in own_session_fields else mark_local_asn_of_group(session, asn)


def _read_session_fields(config: Config, table_name: str, key: str) -> dict[str, Any]:
    """Return the fields of a session that a row, and those of its address families, state."""
    ipv4, ipv6 = (decoded(FAMILY, _row(config, f"{table_name}_AF", f"{key}|{word}")) for word in FAMILIES.values())
    evpn = decoded(FAMILY[:1], _row(config, f"{table_name}_AF", f"{key}|{EVPN}"))
    carries = {"evpn": evpn["active"]} if evpn else {}
    return decoded(SESSION, _row(config, table_name, key)) | ipv4 | carries | ({"ipv6": ipv6} if ipv6 else {})


def tables(device: Device) -> dict[str, Rows]:
    """Return the tables of a device's routing; Unsupported names the model path that they cannot express."""
    try:
        processes = _checked_processes(device)
    except Unsupported as error:
        raise Unsupported(error.path, f"{error.reason}; {INSTEAD}") from None
    rows_by_table: dict[str, Rows] = {}
    for bgp in processes:
        for table, rows in _build_bgp_tables(bgp):
            rows_by_table.setdefault(table, {}).update(rows)
    rows_by_table |= policy_tables(processes[0])
    rows_by_table["STATIC_ROUTE"] = _static_rows(require_fact(device.static_routes))
    return {table: rows for table, rows in sorted(rows_by_table.items()) if rows}


def _build_bgp_tables(bgp: Bgp) -> Iterator[tuple[str, Rows]]:
    vrf, unicast = bgp.key, require_fact(bgp.default_ipv4_unicast)
    yield "BGP_GLOBALS", {vrf: _encode_row("BGP_GLOBALS", PROCESS, bgp)}
    families = {f"{vrf}|{FAMILIES[family]}": _encode_row("", (row,), bgp) for family, row in PATHS.items()}
    yield "BGP_GLOBALS_AF", {key: columns for key, columns in families.items() if columns}
    networks = [(FAMILIES["ipv6" if ":" in network else "ipv4"], network) for network in bgp.networks]
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
        yield "BGP_NEIGHBOR", {key: _encode_row("BGP_NEIGHBOR", SESSION, neighbor)}
        for word, session_part, by_default in (
            (FAMILIES["ipv4"], neighbor, BgpNeighbor(active=unicast)),
            (FAMILIES["ipv6"], neighbor.ipv6, Ipv6Unicast()),
        ):
            columns = _encode_row("", FAMILY, session_part)
            if columns != _encode_row("", FAMILY, by_default):
                yield "BGP_NEIGHBOR_AF", {f"{key}|{word}": columns}


def _encode_row(table: str, rows: Any, model_part: object) -> dict[str, Any]:
    row_columns: dict[str, object] = dict(CONSTANT.get(table, {}))
    for columns in encoded(rows, model_part, None):
        row_columns |= columns
    return dict(sorted(row_columns.items()))


def _static_rows(routes: tuple[StaticRoute, ...]) -> Rows:
    rows: Rows = {}
    distances: dict[tuple[str | None, str], list[str]] = {}
    for route in routes:
        columns = rows.setdefault(f"{route.vrf or DEFAULT}|{route.prefix}", {})
        column, value = static_column(route)
        columns[column] = f"{columns[column]},{value}" if column in columns else value
        distances.setdefault((route.vrf, route.prefix), []).append(str(route.distance))
    for (vrf, prefix), words in distances.items():
        if set(words) != {"1"}:
            rows[f"{vrf or DEFAULT}|{prefix}"]["distance"] = ",".join(words)
    return rows


def static_column(route: StaticRoute) -> tuple[str, str]:
    """Return the column of STATIC_ROUTE that states a route's next hop, and its value."""
    if route.next_hop == "blackhole":
        return "blackhole", "true"
    return "nexthop" if is_address(route.next_hop) else "ifname", route.next_hop


def _checked_processes(device: Device) -> tuple[Bgp, ...]:
    """Return a device's BGP processes; Unsupported if FRR or its tables cannot express a part of the routing."""
    processes = frr_limits.check(device)
    if not processes or processes[0].vrf is not None:
        raise refuse(["routing_tables"], "there is no BGP process of the default VRF")
    if known_rows(device.extra_lines):
        raise refuse(["extra_lines"], "are written into frr.conf, which is made of the tables")
    if device.shut_by_daemon:
        raise refuse(["shut_by_daemon"], "is written into frr.conf, which is made of the tables")
    for bgp in processes:
        path = ("bgp",) if bgp.vrf is None else ("vrf_bgp", bgp.key)
        check_part(bgp, *path)
        for neighbor in require_fact(bgp.neighbors):
            where = (*path, "neighbors", neighbor.key)
            check_part(neighbor, *where)
            check_part(neighbor.ipv6, *where, "ipv6")
    check_policies(processes[0])
    _check_static_routes(require_fact(device.static_routes))
    return processes


def _check_static_routes(routes: tuple[StaticRoute, ...]) -> None:
    kinds: dict[tuple[str | None, str], str] = {}
    for position, route in enumerate(routes):
        key = (route.vrf, route.prefix)
        kind, _ = static_column(route)
        if kinds.setdefault(key, kind) != kind or (kind == "blackhole" and routes.index(route) != position):
            raise refuse(["static_routes", route.prefix], "next hops of one prefix are all addresses or all ports")
    order = list(dict.fromkeys((route.vrf, route.prefix) for route in routes))
    if [(route.vrf, route.prefix) for route in routes] != sorted(
        ((route.vrf, route.prefix) for route in routes), key=order.index
    ):
        raise refuse(["static_routes"], "are not in the order in which they would be read back")
