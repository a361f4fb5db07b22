"""Where a subject stands in SONiC's files: the reverse of the reader, for findings only."""

from collections.abc import Callable, Iterator, Mapping

from nodrop.fabric.reading import Place
from nodrop.fabric.subject import Subject
from nodrop.formats.json import Locator, parse
from nodrop.formats.places import Span
from nodrop.platforms import frr
from nodrop.platforms.sonic.config import FILE
from nodrop.platforms.sonic.reader import FRR_FILE
from nodrop.platforms.sonic.tables import MAPS, POOL_SUFFIX

Path = tuple[str, ...]

_PORT_FIELDS = {
    "enabled": "admin_status",
    "speed_mbps": "speed",
    "lanes": "lanes",
    "lane_mbps": "speed",
    "fec": "fec",
    "autoneg": "autoneg",
    "link_training": "link_training",
    "mtu_bytes": "mtu",
    "description": "description",
}
_WATCHDOG_FIELDS = {"detection_ms": "detection_time", "restoration_ms": "restoration_time", "action": "action"}
_QOS_FIELDS = {"pfc_rx_priorities": "pfc_enable", "pfc_tx_priorities": "pfc_enable", "pfc_priorities": "pfc_enable"}
_QUEUE_TABLES = {"scheduler": "QUEUE", "wred": "QUEUE", "buffer": "BUFFER_QUEUE"}
_SCHEDULER_FIELDS = {
    "type": "type",
    "weight": "weight",
    "guaranteed_bytes_per_s": "cir",
    "guaranteed_burst_bytes": "cbs",
    "peak_bytes_per_s": "pir",
    "peak_burst_bytes": "pbs",
}
_BUFFER_FIELDS = {
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
_COLOR_FIELDS = {
    "min_bytes": "_min_threshold",
    "max_bytes": "_max_threshold",
    "probability_percent": "_drop_probability",
}
_DEVICE_PATHS: Mapping[str, Path] = {
    "@watchdog_polling_ms": ("PFC_WD", "GLOBAL", "POLL_INTERVAL"),
    "@buffer_model": ("DEVICE_METADATA", "localhost", "buffer_model"),
    "@model": ("DEVICE_METADATA", "localhost", "hwsku"),
    "@role": ("DEVICE_METADATA", "localhost", "type"),
    "@hash_seed": ("DEVICE_METADATA", "localhost", "type"),
    "@version": ("VERSIONS", "DATABASE", "VERSION"),
    "@loopbacks": ("LOOPBACK_INTERFACE",),
    "@management": ("MGMT_INTERFACE",),
    "@counters": ("FLEX_COUNTER_TABLE",),
    "@ntp_servers": ("NTP_SERVER",),
    "@syslog_servers": ("SYSLOG_SERVER",),
    "@dynamic_buffers": ("DEFAULT_LOSSLESS_BUFFER_PARAMETER",),
    "@trimming": ("SWITCH_TRIMMING", "GLOBAL"),
    "@switch_dscp_to_tc": ("PORT_QOS_MAP", "global", "dscp_to_tc_map"),
}


def where(bundle: Mapping[str, bytes]) -> Callable[[Subject], Place | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    config = bundle.get(FILE)
    find_in_config = _Finder(config) if config is not None else None
    routing = bundle.get(FRR_FILE)
    find_in_frr = frr.where(routing.decode(errors="replace")) if routing is not None else None

    def find(subject: Subject) -> Place | None:
        part = subject[1:]
        span = find_in_config(part) if find_in_config else None
        if span is not None:
            return Place(FILE, span)
        span = find_in_frr(part) if find_in_frr else None
        return None if span is None else Place(FRR_FILE, span)

    return find


class _Finder:
    def __init__(self, raw: bytes) -> None:
        self._locator = Locator(raw)
        self._data = parse(raw, FILE)

    def __call__(self, subject: Subject) -> Span | None:
        if not subject:
            return self._span(("DEVICE_METADATA", "localhost", "hostname"))
        return next((span for path in self._paths(subject) if (span := self._span(path))), None)

    def _span(self, path: Path) -> Span | None:
        return self._locator.value_span(path) if len(path) == 3 else self._locator.key_span(path)

    def _paths(self, subject: Subject) -> Iterator[Path]:
        head, *rest = subject
        if head == "@buffer_pools" and rest:
            for name in (rest[0] + POOL_SUFFIX, rest[0]):
                fields = {"size_bytes": "size", "percentage": "percentage", "mode": "mode", "direction": "type"}
                if rest[1:]:
                    yield ("BUFFER_POOL", name, fields.get(rest[1], rest[1]))
                yield ("BUFFER_POOL", name)
        elif head.startswith("@"):
            if head in _DEVICE_PATHS:
                yield _DEVICE_PATHS[head]
                yield _DEVICE_PATHS[head][:2]
        else:
            yield from self._port_paths(head, tuple(rest))

    def _port_paths(self, port: str, part: Path) -> Iterator[Path]:
        if part[:1] == ("qos",) and len(part) > 1:
            yield from self._qos_paths(port, part[1:])
        elif part[:1] == ("qos",):
            yield ("PORT_QOS_MAP", port)
        elif part[:1] == ("cable_length_m",):
            yield from (("CABLE_LENGTH", name, port) for name in self._table("CABLE_LENGTH"))
        elif part[:1] == ("addresses",):
            yield from (("INTERFACE", key) for key in self._table("INTERFACE") if key.startswith(f"{port}|"))
            yield ("INTERFACE", port)
        elif part and part[0] in _PORT_FIELDS:
            yield ("PORT", port, _PORT_FIELDS[part[0]])
        yield ("PORT", port)
        for table in ("PORT_QOS_MAP", "PFC_WD"):
            yield (table, port)

    def _qos_paths(self, port: str, part: Path) -> Iterator[Path]:
        head, *rest = part
        if head in MAPS:
            table, field, _ = MAPS[head]
            name = self._row("PORT_QOS_MAP", port).get(field)
            if rest and name:
                yield (table, str(name), rest[0])
            yield ("PORT_QOS_MAP", port, field)
        elif head in _QOS_FIELDS:
            yield ("PORT_QOS_MAP", port, _QOS_FIELDS[head])
        elif head == "pfc_watchdog":
            if rest[:1] == ["priorities"]:
                yield ("PORT_QOS_MAP", port, "pfcwd_sw_enable")
            elif rest:
                yield ("PFC_WD", port, _WATCHDOG_FIELDS.get(rest[0], rest[0]))
            yield ("PFC_WD", port)
            yield ("PORT_QOS_MAP", port, "pfc_enable")
        elif head == "queues" and rest:
            yield from self._queue_paths(port, rest[0], tuple(rest[1:]))
        elif head == "priority_groups" and rest:
            for key in self._keys("BUFFER_PG", port, rest[0]):
                yield from self._profile_paths(self._row("BUFFER_PG", key).get("profile"), tuple(rest[1:]))
                yield ("BUFFER_PG", key)
        elif head in ("ingress_buffers", "egress_buffers"):
            yield (f"BUFFER_PORT_{head.split('_')[0].upper()}_PROFILE_LIST", port, "profile_list")
        yield ("PORT_QOS_MAP", port)

    def _queue_paths(self, port: str, index: str, part: Path) -> Iterator[Path]:
        table = _QUEUE_TABLES.get(part[0], "QUEUE") if part else "QUEUE"
        for key in self._keys(table, port, index):
            row = self._row(table, key)
            if part[:1] == ("scheduler",):
                if len(part) > 1:
                    yield ("SCHEDULER", str(row.get("scheduler")), _SCHEDULER_FIELDS.get(part[1], part[1]))
                yield ("QUEUE", key, "scheduler")
            elif part[:1] == ("wred",):
                yield from _wred_paths(str(row.get("wred_profile")), part[1:])
                yield ("QUEUE", key, "wred_profile")
            elif part[:1] == ("buffer",):
                yield from self._profile_paths(row.get("profile"), part)
            yield (table, key)

    def _profile_paths(self, name: object, part: Path) -> Iterator[Path]:
        """Yield where a part (`buffer`, …, attribute) of a buffer profile stands."""
        if name is None or part[:1] != ("buffer",):
            return
        for attribute in reversed(part[1:]):
            yield ("BUFFER_PROFILE", str(name), _BUFFER_FIELDS.get(attribute, attribute))
        if len(part) > 1:
            yield ("BUFFER_PROFILE", str(name))

    def _keys(self, table: str, port: str, index: str) -> Iterator[str]:
        """Yield the keys of a table that name a port and cover an index."""
        for key in self._table(table):
            ports, _, span = key.partition("|")
            first, _, last = span.partition("-")
            if port in ports.split(",") and first.isdigit() and int(first) <= int(index) <= int(last or first):
                yield key

    def _table(self, table: str) -> Mapping[str, object]:
        rows = self._data.get(table)
        return rows if isinstance(rows, dict) else {}

    def _row(self, table: str, key: str) -> Mapping[str, object]:
        row = self._table(table).get(key)
        return row if isinstance(row, dict) else {}


def _wred_paths(name: str, part: Path) -> Iterator[Path]:
    if len(part) > 1:
        color, attribute = part[0], part[1]
        yield ("WRED_PROFILE", name, f"{color}{_COLOR_FIELDS.get(attribute, '')}")
        if attribute == "enabled":
            yield ("WRED_PROFILE", name, f"wred_{color}_enable")
    if part[:1] == ("ecn_colors",):
        yield ("WRED_PROFILE", name, "ecn")
    if part:
        yield ("WRED_PROFILE", name)
