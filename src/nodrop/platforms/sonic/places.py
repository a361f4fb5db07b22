"""Where a subject stands in SONiC's files: the reverse of the reader, for findings only."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms import frr
from nodrop.platforms.sonic.config import asic_key_of_tables, key_within_asic, name_in_reference
from nodrop.platforms.sonic.document import (
    LOCALHOST_PATH,
    ROUTING_MODE_FIELD,
    TablesDocument,
    find_place,
    merge_documents,
)
from nodrop.platforms.sonic.frr_text import read_tables_and_frr
from nodrop.platforms.sonic.places_routing import routing_paths, row_at_position
from nodrop.platforms.sonic.read_access import paths_of_access_list_part
from nodrop.platforms.sonic.read_overlays import FIELD_BY_TUNNEL_MAP
from nodrop.platforms.sonic.spelling import vlan_name
from nodrop.platforms.sonic.streams import GROUP, PROFILE, telemetry_group_word_of_kind
from nodrop.platforms.sonic.tables import (
    POOL_SUFFIX,
    TABLE_BY_MAP_ATTRIBUTE,
    TABLE_FIELD_BY_DYNAMIC_BUFFERS_FIELD,
    TABLE_FIELD_BY_PORT_FIELD,
    TABLE_FIELD_BY_TRIMMING_FIELD,
)
from nodrop.units import parse_whole_number

Path = tuple[str, ...]

_TABLE_FIELD_BY_PORT_FIELD = {**TABLE_FIELD_BY_PORT_FIELD, "lanes": "lanes", "macsec": "macsec", "lane_mbps": "speed"}
_TABLE_FIELD_BY_WATCHDOG_FIELD = {
    "detection_ms": "detection_time",
    "restoration_ms": "restoration_time",
    "action": "action",
    "history": "pfc_stat_history",
}
_TABLE_FIELD_BY_PFC_FIELD = {
    "pfc_rx_priorities": "pfc_enable",
    "pfc_tx_priorities": "pfc_enable",
    "pfc_priorities": "pfc_enable",
}
_TABLE_FIELD_BY_SCHEDULER_FIELD = {
    "type": "type",
    "weight": "weight",
    "guaranteed_bytes_per_s": "cir",
    "guaranteed_burst_bytes": "cbs",
    "peak_bytes_per_s": "pir",
    "peak_burst_bytes": "pbs",
}
_TABLE_FIELD_BY_BUFFER_FIELD = {
    "pool": "pool",
    "size_bytes": "size",
    "dynamic_th": "dynamic_th",
    "static_th_bytes": "static_th",
    "xoff_bytes": "xoff",
    "xon_bytes": "xon",
    "xon_offset_bytes": "xon_offset",
    "headroom": "xoff",
    "discard": "packet_discard_action",
}
_WRED_SUFFIX_BY_COLOR_FIELD = {
    "min_bytes": "_min_threshold",
    "max_bytes": "_max_threshold",
    "probability_percent": "_drop_probability",
}
_TABLE_FIELD_BY_POOL_FIELD = {
    "size_bytes": "size",
    "percentage": "percentage",
    "mode": "mode",
    "direction": "type",
    "shared_headroom_bytes": "xoff",
}
_TABLE_FIELD_BY_COUNTER_FIELD = {"enabled": "FLEX_COUNTER_STATUS", "interval_ms": "POLL_INTERVAL"}
_TABLE_FIELD_BY_STREAM_FIELD = {"enabled": "stream_state", "interval_us": "poll_interval"}
_BRIDGING_TABLE_BY_DEVICE_PART = {"@port_channels": "PORTCHANNEL", "@vlans": "VLAN"}
_TABLE_FIELD_BY_BRIDGING_FIELD = {
    "enabled": "admin_status",
    "mtu_bytes": "mtu",
    "min_links": "min_links",
    "fast_rate": "fast_rate",
    "fallback": "fallback",
    "description": "description",
}
_SERVER_TABLE_BY_DEVICE_PART = {
    "@ntp_servers": "NTP_SERVER",
    "@syslog_servers": "SYSLOG_SERVER",
    "@dns_servers": "DNS_NAMESERVER",
}
_TABLE_PATH_BY_DEVICE_FIELD: Mapping[str, Path] = {
    "@watchdog_polling_ms": ("PFC_WD", "GLOBAL", "POLL_INTERVAL"),
    "@snmp_location": ("SNMP", "LOCATION", "Location"),
    "@snmp_contact": ("SNMP", "CONTACT", "Contact"),
    "@hash_fields": ("SWITCH_HASH", "GLOBAL", "ecmp_hash"),
    "@buffer_model": (*LOCALHOST_PATH, "buffer_model"),
    "@routing_tables": (*LOCALHOST_PATH, ROUTING_MODE_FIELD),
    "@model": (*LOCALHOST_PATH, "hwsku"),
    "@hwsku": (*LOCALHOST_PATH, "hwsku"),
    "@role": (*LOCALHOST_PATH, "type"),
    "@dual_tor": (*LOCALHOST_PATH, "subtype"),
    "@hash_seed": (*LOCALHOST_PATH, "type"),
    "@mac": (*LOCALHOST_PATH, "mac"),
    "@version": ("VERSIONS", "DATABASE", "VERSION"),
    "@gnmi_port": ("GNMI", "gnmi", "port"),
}
_FIELD_BY_TUNNEL_PART = {"near": "dst_ip", "sender": "src_ip", **FIELD_BY_TUNNEL_MAP}
_QOS_TABLES_WITH_PORT_ROWS = ("PORT_QOS_MAP", "PFC_WD", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE")


def place_finder_for_files(config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    documents, routing = read_tables_and_frr(config_files)
    find_in_config = _SubjectPlaceFinder(documents)
    find_in_frr = frr.place_finder_for_files(routing.text) if routing is not None else None

    def find(subject: Subject) -> FilePlace | None:
        subjects = subject[1:]
        if routing and find_in_frr and (span := find_in_frr(subjects)):
            return routing.place(span)
        return find_in_config(subjects)

    return find


class _SubjectPlaceFinder:
    def __init__(self, documents: Sequence[TablesDocument]) -> None:
        self._documents = documents
        self._data: Mapping[str, object] = merge_documents(documents)
        self._here = asic_key_of_tables(self._data)

    def __call__(self, subject: Subject) -> FilePlace | None:
        return next((found_place for path in self._paths(subject) if (found_place := self._find_place(path))), None)

    def _find_place(self, path: Path) -> FilePlace | None:
        return find_place(self._documents, path, exactly=True)

    def _paths(self, subject: Subject) -> Iterator[Path]:
        """Yield the paths of tables, rows and fields at which the subject may stand, the most exact first."""
        head, *field_path = subject or ("",)
        if head.startswith("@"):
            for path in self._device_paths(head, tuple(field_path)):
                yield path
                yield path[:2]
        elif head:
            yield from self._port_paths(head, tuple(field_path))
        yield (*LOCALHOST_PATH, "hostname")
        yield LOCALHOST_PATH

    def _device_paths(self, head: str, path: Path) -> Iterator[Path]:
        if head in _TABLE_PATH_BY_DEVICE_FIELD:
            yield _TABLE_PATH_BY_DEVICE_FIELD[head]
        elif (find := _PATH_FINDER_BY_DEVICE_PART.get(head)) is not None:
            yield from find(self, head, path)

    def _pool_paths(self, _head: str, path: Path) -> Iterator[Path]:
        pool, field = (*path, "", "")[:2]
        for name in (pool + POOL_SUFFIX, pool):
            yield ("BUFFER_POOL", name, _TABLE_FIELD_BY_POOL_FIELD.get(field, field))
        yield ("BUFFER_POOL",)

    def _dynamic_buffer_paths(self, _head: str, path: Path) -> Iterator[Path]:
        for table, column in (
            TABLE_FIELD_BY_DYNAMIC_BUFFERS_FIELD.get("".join(path[:1]), ("", "")),
            *TABLE_FIELD_BY_DYNAMIC_BUFFERS_FIELD.values(),
        ):
            yield from ((table, row, column) for row in self._table(table))

    def _trimming_paths(self, _head: str, path: Path) -> Iterator[Path]:
        field = "".join(path[:1])
        yield ("SWITCH_TRIMMING", "GLOBAL", TABLE_FIELD_BY_TRIMMING_FIELD.get(field, field))

    def _switch_map_paths(self, _head: str, path: Path) -> Iterator[Path]:
        yield from self._map_paths("global", "dscp_to_tc", path)

    def _counter_paths(self, _head: str, path: Path) -> Iterator[Path]:
        group, field = (*path, "", "")[:2]
        yield ("FLEX_COUNTER_TABLE", group, _TABLE_FIELD_BY_COUNTER_FIELD.get(field, field))
        yield ("FLEX_COUNTER_TABLE",)

    def _loopback_paths(self, _head: str, path: Path) -> Iterator[Path]:
        yield from self._address_paths("LOOPBACK_INTERFACE", "".join(path[:1]), path[1:])
        yield ("LOOPBACK_INTERFACE",)

    def _mclag_paths(self, _head: str, path: Path) -> Iterator[Path]:
        for domain in sorted(self._table("MCLAG_DOMAIN")):
            yield from (("MCLAG_DOMAIN", domain, "".join(path[:1])), ("MCLAG_DOMAIN", domain))

    def _access_paths(self, _head: str, path: Path) -> Iterator[Path]:
        yield from paths_of_access_list_part(path)

    def _tunnel_paths(self, _head: str, path: Path) -> Iterator[Path]:
        name, part = (*path, "", "")[:2]
        field = _FIELD_BY_TUNNEL_PART.get(part, part)
        for table in ("TUNNEL", "VXLAN_TUNNEL"):
            yield from ((table, name, field), (table, name)) if name in self._table(table) else ()
        if not path:
            yield ("PEER_SWITCH",)

    def _mux_paths(self, _head: str, path: Path) -> Iterator[Path]:
        port, part = (*path, "", "")[:2]
        yield from (("MUX_CABLE", port, part), ("MUX_CABLE", port), ("MUX_CABLE",))

    def _server_paths(self, head: str, path: Path) -> Iterator[Path]:
        table = _SERVER_TABLE_BY_DEVICE_PART[head]
        yield from ((table, name) for name in row_at_position("".join(path[:1]), sorted(self._table(table))))
        yield (table,)

    def _routing_paths(self, head: str, path: Path) -> Iterator[Path]:
        yield from routing_paths(head, path, self._table)

    def _stream_paths(self, _head: str, path: Path) -> Iterator[Path]:
        """Yield where a stream of counters, or one of its groups, stands."""
        name, field, kind, stat = (*path, "", "", "", "")[:4]
        keys = [key for key in self._table(GROUP) if key.partition("|")[0] == name]
        chosen = [key for key in keys if field == "samples" and key == f"{name}|{telemetry_group_word_of_kind(kind)}"]
        yield from ((GROUP, key, f"object_{'names' if stat == 'objects' else stat}") for key in chosen if stat)
        yield from ((GROUP, key) for key in (chosen or keys if field == "samples" else ()))
        yield (PROFILE, name, _TABLE_FIELD_BY_STREAM_FIELD.get(field, field))
        yield (PROFILE, name)
        yield (PROFILE,)

    def _bridging_paths(self, head: str, path: Path) -> Iterator[Path]:
        """Yield where a part of a port channel, named by its name, or of a VLAN, by its number, stands."""
        table, key, path = _BRIDGING_TABLE_BY_DEVICE_PART[head], "".join(path[:1]), path[1:]
        number = parse_whole_number(key) if table == "VLAN" else None
        name = key if number is None else vlan_name(number)
        members = [row for row in self._table(f"{table}_MEMBER") if row.startswith(f"{name}|")]
        if path[:1] == ("members",):
            at = "".join(path[1:2])
            chosen = [row for row in members if row == f"{name}|{at}"] or row_at_position(
                at, sorted(members, key=natural_sort_key)
            )
            yield from ((f"{table}_MEMBER", row, "tagging_mode") for row in chosen if path[2:] == ("tagged",))
            yield from ((f"{table}_MEMBER", row) for row in (*chosen, *members))
            yield (table, name, "members")
        elif path[:1] in (("addresses",), ("vrf",)):
            yield from self._address_paths(f"{table}_INTERFACE", name, path)
        elif path:
            yield (table, name, _TABLE_FIELD_BY_BRIDGING_FIELD.get(path[0], path[0]))
        yield (table, name)
        yield (table,)

    def _management_paths(self, _head: str, path: Path) -> Iterator[Path]:
        keys = [key for key in self._table("MGMT_INTERFACE") if "|" in key]
        if path[:1] == ("own_vrf",):
            yield ("MGMT_VRF_CONFIG", "vrf_global", "mgmtVrfEnabled")
        if path[:1] == ("gateway",):
            yield from (("MGMT_INTERFACE", key, "gwaddr") for key in keys)
        if path[:1] == ("addresses",):
            yield from (("MGMT_INTERFACE", key) for key in row_at_position("".join(path[1:]), keys))
        yield from (("MGMT_INTERFACE", key) for key in keys)
        yield ("MGMT_INTERFACE",)

    def _address_paths(self, table: str, name: str, path: Path) -> Iterator[Path]:
        """Yield the rows of an interface's addresses, the one at the position first, and its own row."""
        keys = [key for key in self._table(table) if key.startswith(f"{name}|")]
        if path[:1] == ("vrf",):
            yield (table, name, "vrf_name")
        if path[:1] == ("addresses",):
            yield from ((table, key) for key in row_at_position("".join(path[1:]), keys))
            yield from ((table, key) for key in keys)
        yield (table, name)
        yield from ((table, key) for key in keys)

    def _port_paths(self, port: str, path: Path) -> Iterator[Path]:
        if path[:1] == ("qos",):
            yield from self._qos_paths(port, path[1:])
        elif path[:1] == ("cable_length_m",):
            yield from self._cable_length_paths(port)
        elif path[:1] == ("neighbor",):
            rows = {key: self._row("DEVICE_NEIGHBOR", key) for key in self._table("DEVICE_NEIGHBOR")}
            yield from (("DEVICE_NEIGHBOR", key) for key, row in rows.items() if row.get("local_port", key) == port)
        elif path[:1] == ("link_local",):
            yield ("INTERFACE", port, "ipv6_use_link_local_only")
            yield from self._address_paths("INTERFACE", port, ())
        elif path[:1] in (("addresses",), ("vrf",)):
            yield from self._address_paths("INTERFACE", port, path)
        elif path and path[0] in _TABLE_FIELD_BY_PORT_FIELD:
            yield ("PORT", port, _TABLE_FIELD_BY_PORT_FIELD[path[0]])
        yield ("PORT", port)
        for table in _QOS_TABLES_WITH_PORT_ROWS:
            keys = ((key, key_within_asic(key, self._here).partition("|")[0]) for key in self._table(table))
            yield from ((table, key) for key, ports in keys if port in ports.split(","))
        yield from self._cable_length_paths(port)

    def _cable_length_paths(self, port: str) -> Iterator[Path]:
        yield from (("CABLE_LENGTH", name, port) for name in self._table("CABLE_LENGTH"))

    def _qos_paths(self, port: str, path: Path) -> Iterator[Path]:
        head, *field_path = (*path, "")[: max(len(path), 1)]
        if head in TABLE_BY_MAP_ATTRIBUTE:
            yield from self._map_paths(port, head, tuple(field_path))
        elif head == "trust":
            yield from (("PORT_QOS_MAP", port, TABLE_BY_MAP_ATTRIBUTE[name][1]) for name in ("dscp_to_tc", "pcp_to_tc"))
        elif head in _TABLE_FIELD_BY_PFC_FIELD:
            if head in ("pfc_rx_priorities", "pfc_priorities") and self._row("PORT", port).get("pfc_asym") == "on":
                yield ("PORT", port, "pfc_asym")
            yield ("PORT_QOS_MAP", port, _TABLE_FIELD_BY_PFC_FIELD[head])
        elif head == "pfc_watchdog":
            if field_path[:1] == ["priorities"]:
                yield from (("PORT_QOS_MAP", port, field) for field in ("pfcwd_sw_enable", "pfc_enable"))
            elif field_path:
                yield ("PFC_WD", port, _TABLE_FIELD_BY_WATCHDOG_FIELD.get(field_path[0], field_path[0]))
            yield ("PFC_WD", port)
            yield ("PORT_QOS_MAP", port, "pfc_enable")
        elif head == "queues":
            yield from self._queue_paths(port, tuple(field_path))
        elif head == "priority_groups":
            for key in self._keys_of_port("BUFFER_PG", port, "".join(field_path[:1])):
                yield from self._profile_paths(self._row("BUFFER_PG", key).get("profile"), tuple(field_path[2:]))
                yield ("BUFFER_PG", key)
        elif head in ("ingress_buffers", "egress_buffers"):
            table = f"BUFFER_PORT_{head.split('_')[0].upper()}_PROFILE_LIST"
            names = str(self._row(table, port).get("profile_list", "")).split(",")
            for name in row_at_position("".join(field_path[:1]), names):
                yield from self._profile_paths(name, tuple(field_path[1:]))
            yield (table, port, "profile_list")
        yield ("PORT_QOS_MAP", port)

    def _map_paths(self, port: str, attribute: str, path: Path) -> Iterator[Path]:
        table, field, _ = TABLE_BY_MAP_ATTRIBUTE[attribute]
        name = self._row("PORT_QOS_MAP", port).get(field)
        if path and isinstance(name, str):
            yield from ((table, name_in_reference(name), path[0]), (table, name_in_reference(name)))
        yield ("PORT_QOS_MAP", port, field)

    def _queue_paths(self, port: str, path: Path) -> Iterator[Path]:
        index, queue_field, *sub_path = (*path, "", "")
        tables = {"scheduler": "SCHEDULER", "wred": "WRED_PROFILE"}
        for table in ("BUFFER_QUEUE", "QUEUE") if queue_field == "buffer" else ("QUEUE", "BUFFER_QUEUE"):
            for key in self._keys_of_port(table, port, index):
                row = self._row(table, key)
                if table == "BUFFER_QUEUE" and queue_field == "buffer":
                    yield from self._profile_paths(row.get("profile"), tuple(sub_path[: len(path) - 2]))
                elif table == "QUEUE" and queue_field in tables:
                    field = "scheduler" if queue_field == "scheduler" else "wred_profile"
                    name = name_in_reference(str(row.get(field)))
                    yield from (
                        (tables[queue_field], name, column) for column in _profile_columns(queue_field, path[2:])
                    )
                    yield from (("WRED_PROFILE", name) for _ in path[2:3] if queue_field == "wred")
                    yield (table, key, field)
                yield (table, key)

    def _profile_paths(self, name: object, path: Path) -> Iterator[Path]:
        """Yield where an attribute of a buffer profile stands."""
        if isinstance(name, str) and path:
            for attribute in reversed(path):
                yield (
                    "BUFFER_PROFILE",
                    name_in_reference(name),
                    _TABLE_FIELD_BY_BUFFER_FIELD.get(attribute, attribute),
                )
            yield ("BUFFER_PROFILE", name_in_reference(name))

    def _keys_of_port(self, table: str, port: str, index: str) -> Iterator[str]:
        """Yield the keys of a table that name a port and cover an index; all of the port's where there is no index."""
        for key in self._table(table):
            ports, _, span = key_within_asic(key, self._here).partition("|")
            start, _, last = span.partition("-")
            if port in ports.split(",") and (not index or _covers_index(start, last or start, index)):
                yield key

    def _table(self, table: str) -> Mapping[str, object]:
        rows = self._data.get(table)
        return rows if isinstance(rows, dict) else {}

    def _row(self, table: str, key: str) -> Mapping[str, object]:
        row = self._table(table).get(key)
        return row if isinstance(row, dict) else {}


def _profile_columns(queue_field: str, path: Path) -> Iterator[str]:
    """Yield the fields of a scheduler or WRED profile that state a part of it."""
    if queue_field == "scheduler":
        yield from (_TABLE_FIELD_BY_SCHEDULER_FIELD.get(attribute, attribute) for attribute in path[:1])
    elif path[:1] == ("ecn_colors",):
        yield "ecn"
    elif path:
        color, attribute = (*path, "")[:2]
        yield (
            f"wred_{color}_enable"
            if attribute == "enabled"
            else f"{color}{_WRED_SUFFIX_BY_COLOR_FIELD.get(attribute, '')}"
        )


def _covers_index(start: str, last: str, index: str) -> bool:
    low, number, high = map(parse_whole_number, (start, index, last))
    return low is not None and number is not None and high is not None and low <= number <= high


_PATH_FINDER_BY_DEVICE_PART: Mapping[str, Callable[[_SubjectPlaceFinder, str, Path], Iterator[Path]]] = {
    **dict.fromkeys(("@static_routes", "@bgp", "@neighbors", "@vrf_bgp"), _SubjectPlaceFinder._routing_paths),
    **dict.fromkeys(_SERVER_TABLE_BY_DEVICE_PART, _SubjectPlaceFinder._server_paths),
    **dict.fromkeys(_BRIDGING_TABLE_BY_DEVICE_PART, _SubjectPlaceFinder._bridging_paths),
    "@buffer_pools": _SubjectPlaceFinder._pool_paths,
    "@dynamic_buffers": _SubjectPlaceFinder._dynamic_buffer_paths,
    "@trimming": _SubjectPlaceFinder._trimming_paths,
    "@switch_dscp_to_tc": _SubjectPlaceFinder._switch_map_paths,
    "@counters": _SubjectPlaceFinder._counter_paths,
    "@high_frequency": _SubjectPlaceFinder._stream_paths,
    "@loopbacks": _SubjectPlaceFinder._loopback_paths,
    "@multi_chassis": _SubjectPlaceFinder._mclag_paths,
    "@access_lists": _SubjectPlaceFinder._access_paths,
    "@mux_cables": _SubjectPlaceFinder._mux_paths,
    "@tunnels": _SubjectPlaceFinder._tunnel_paths,
    "@management": _SubjectPlaceFinder._management_paths,
}
"""Finders of facts of a device that `_TABLE_PATH_BY_DEVICE_FIELD` does not place, by the first word of the subject."""
