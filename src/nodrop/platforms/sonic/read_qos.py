"""QoS and buffers of a config_db.json: each distinct combination of rows is read once and shared by its ports."""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from nodrop.model.buffers import BufferProfile, DynamicBuffers, Headroom
from nodrop.model.qos import (
    COLORS,
    NumberMap,
    PfcWatchdog,
    PriorityGroup,
    QosProfile,
    Queue,
    Scheduler,
    Trust,
    WredColor,
    WredProfile,
)
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject
from nodrop.platforms.sonic.config import DeviceTables, RowFields, asic_key_of_tables, is_chassis_key, name_in_reference
from nodrop.platforms.sonic.read_buffers import read_buffer_profile, read_dynamic_buffers
from nodrop.platforms.sonic.read_faults import (
    QUEUE_TABLES,
    remark_if_row_rejected,
    remark_qos_faults,
    remark_refused_queue_keys,
)
from nodrop.platforms.sonic.tables import (
    ALL_PRIORITIES,
    COLORS_BY_ECN_WORD,
    COMPUTED_PROFILE_WORD,
    IS_ENABLED_BY_WORD,
    MAX_VALUE_BY_MAP,
    TABLE_BY_MAP_ATTRIBUTE,
)

_T = TypeVar("_T")
_INDEX_PATTERN = re.compile(r"[0-9]{1,3}")
IS_TRUE_BY_WORD = {"true": True, "false": False}
WATCHDOG_ACTION_BY_WORD: Mapping[str, Literal["drop", "forward", "alert"]] = {
    "drop": "drop",
    "forward": "forward",
    "alert": "alert",
}
_SCHEDULER_TYPE_BY_WORD: Mapping[str, Literal["strict", "dwrr", "wrr"]] = {
    "STRICT": "strict",
    "DWRR": "dwrr",
    "WRR": "wrr",
}
_WRED_FIELDS_OF_COLORS = tuple(
    (color, f"{color}_min_threshold", f"{color}_max_threshold", f"{color}_drop_probability", f"wred_{color}_enable")
    for color in COLORS
)
TABLES_KEYED_BY_PORT = ("PORT_QOS_MAP", "PFC_WD", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
TABLES_KEYED_BY_PORT_AND_INDEX = ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG")
_WATCHDOG_MASK_FEATURE = "a mask of the watchdog"

QOS_TABLES = (
    *TABLES_KEYED_BY_PORT,
    *TABLES_KEYED_BY_PORT_AND_INDEX,
    *(table for table, _, _ in TABLE_BY_MAP_ATTRIBUTE.values()),
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
    "SCHEDULER",
    "SWITCH_TRIMMING",
    "WRED_PROFILE",
)
"""All tables that are read here and nowhere else."""

_QosReaderCacheKey = tuple[bool, frozenset[str], tuple[str, str] | None]
_RECENT_READERS: deque[tuple[_QosReaderCacheKey, dict[str, Any], "QosReader"]] = deque(maxlen=8)


def reuse_or_make_qos_reader(config: DeviceTables) -> "QosReader":
    """Return a reader of a device's QoS: a former one where its tables are equal and were without remarks.

    The switches of one role mostly have equal QoS tables, and comparing them is a tenth of the work of reading them.
    """
    tables = {table: config.data.get(table) for table in QOS_TABLES}
    reading_key = _qos_cache_key(config)
    for known_key, known_tables, former in _RECENT_READERS:
        if known_key == reading_key and known_tables == tables:
            return former
    return QosReader(config)


def _qos_cache_key(config: DeviceTables) -> _QosReaderCacheKey:
    """Return the facts that make equal QoS tables read differently: whole or part, the grammar, and the ASIC."""
    return config.whole, config.database.features, _chassis_host_and_asic(config)


def _chassis_host_and_asic(config: DeviceTables) -> tuple[str, str] | None:
    """Return the host and ASIC of the tables where keys name these, as in a chassis; None where no key does."""
    keys = (key for table in QUEUE_TABLES for key in config.rows(table))
    return asic_key_of_tables(config.data) if any(map(is_chassis_key, keys)) else None


def parse_map_row(config: DeviceTables, keys: tuple[str, ...], row: RowFields, size: int) -> NumberMap:
    """Return a row of a table of maps as a map with `size` entries."""
    targets: list[int | None] = [None] * size
    for index in row:
        target = config.integer(keys, row, index)
        most = MAX_VALUE_BY_MAP[keys[0]]
        if not _INDEX_PATTERN.fullmatch(index) or int(index) >= size:
            config.remark_malformed_value((*keys, index), index, f"a key from 0 to {size - 1}")
        elif target is not None and 0 <= target <= most:  # any other is a fault of the schema, which reports it
            targets[int(index)] = target
    return tuple(targets)


class QosReader:
    """Reads the QoS of all ports of one device."""

    def __init__(self, config: DeviceTables) -> None:
        self._config = config
        self._by_key: dict[Any, QosProfile | None | Unknown] = {}
        self._by_port: dict[str, list[Any]] = defaultdict(lambda: [None] * 4 + [[], [], []])
        self._collect_port_rows()
        self._read: dict[Any, QosProfile] = {}
        self._memo: dict[tuple[str, str], Any] = {}
        self.dynamic = read_dynamic_buffers(config)
        remark_qos_faults(config)

    def _collect_port_rows(self) -> None:
        config, by_port = self._config, self._by_port
        for slot, table in enumerate(TABLES_KEYED_BY_PORT):
            for port, _, _, row in config.port_rows(table):
                by_port[port][slot] = row
        for slot, table in enumerate(TABLES_KEYED_BY_PORT_AND_INDEX, len(TABLES_KEYED_BY_PORT)):
            refused_keys = remark_refused_queue_keys(config, table) if table in QUEUE_TABLES else frozenset()
            for port, index, key, row in config.port_rows(table):
                if key not in refused_keys:
                    by_port[port][slot].append((index, key, row))
        asic = _chassis_host_and_asic(config)
        self._has_unplaced_rows = asic is not None and not all(asic)
        by_port.pop("GLOBAL", None)
        self.switch_row: RowFields | None = (by_port.pop("global", None) or [None])[0]
        by_port.pop("CPU", None)

    def cache_if_faultless(self) -> None:
        """Let `reuse_or_make_qos_reader` give this reader to later devices, where all was read and nothing remarked."""
        unread = self._by_port.keys() - {port for port, *_ in self._by_key}
        if not unread and not self._config.remarks and all(former is not self for _, _, former in _RECENT_READERS):
            tables = {table: self._config.data.get(table) for table in QOS_TABLES}
            _RECENT_READERS.appendleft((_qos_cache_key(self._config), tables, self))

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports that any QoS table names."""
        return tuple(self._by_port)

    def qos_profile_of_port(
        self, port: str, asymmetric: bool, added: tuple[PriorityGroup, ...]
    ) -> QosProfile | None | Unknown:
        """Return a port's profile; None if no table names it, UNKNOWN if a part of a file does not state it."""
        key = (port, asymmetric, added)
        if key not in self._by_key:
            self._by_key[key] = self._read_qos_profile_or_unknown(port, asymmetric, added)
        return self._by_key[key]

    def _read_qos_profile_or_unknown(
        self, port: str, asymmetric: bool, added: tuple[PriorityGroup, ...]
    ) -> QosProfile | None | Unknown:
        port_rows = self._by_port.get(port)
        if port_rows is None and not added:
            return None if self._config.is_conclusive_about_table("PORT_QOS_MAP") else UNKNOWN
        qos_rows: list[Any] = port_rows or [None] * 4 + [[], [], []]
        binding, watchdog, ingress, egress, queues, queue_buffers, groups = qos_rows
        signature = (
            asymmetric,
            added,
            _hashable_row_items(binding),
            _hashable_row_items(watchdog),
            _hashable_row_items(ingress),
            _hashable_row_items(egress),
            *(tuple((index, *row.items()) for index, _, row in rows) for rows in (queues, queue_buffers, groups)),
        )
        if signature not in self._read:
            self._read[signature] = self._read_qos_profile(port, asymmetric, added, qos_rows)
        return self._read[signature]

    def pfc_enable_of_port(self, port: str) -> tuple[int, ...]:
        """Return a port's `pfc_enable`."""
        row = self._by_port[port][0] if port in self._by_port else None
        return self._config.priorities(("PORT_QOS_MAP", port), row, "pfc_enable") if row else ()

    def profile_name_by_group(self, port: str) -> dict[int, str]:
        """Return the profiles that the rows of a port's priority groups name, by group."""
        rows = self._by_port[port][6] if port in self._by_port else ()
        return {
            number: name_in_reference(row.get("profile", ""))
            for index, key, row in rows
            for number in self._config.parse_index_range(("BUFFER_PG", key), index, 7)
        }

    def find_buffer_profile(self, name: str) -> BufferProfile | None:
        """Return the buffer profile of that name, if there is one."""
        row = self._config.rows("BUFFER_PROFILE").get(name)
        return None if row is None else self._read_row_once("BUFFER_PROFILE", name, row, self._buffer_profile)

    def _read_qos_profile(
        self, port: str, asymmetric: bool, added: tuple[PriorityGroup, ...], qos_rows: list[Any]
    ) -> QosProfile:
        config = self._config
        binding, watchdog, ingress, egress, queues, queue_buffers, groups = qos_rows
        unbound: Any = UNKNOWN if not config.is_conclusive_about_table("PORT_QOS_MAP") else None
        maps: dict[str, Any] = dict.fromkeys(TABLE_BY_MAP_ATTRIBUTE, unbound)
        sent: Any = UNKNOWN if unbound is UNKNOWN else ()
        if binding is not None:
            keys = ("PORT_QOS_MAP", port)
            maps = {
                attribute: self._read_map(keys, binding, attribute, (port, "qos", attribute))
                for attribute in TABLE_BY_MAP_ATTRIBUTE
            }
            sent = config.priorities(keys, binding, "pfc_enable")
        if maps["dscp_to_tc"] is None and self._has_switch_wide_map:
            maps["dscp_to_tc"] = UNKNOWN
        return QosProfile(
            trust=_trust_by_bound_maps(maps["dscp_to_tc"], maps["pcp_to_tc"]),
            **maps,
            pfc_rx_priorities=ALL_PRIORITIES if asymmetric else sent,
            pfc_tx_priorities=sent,
            pfc_watchdog=self._watchdog(port, binding, watchdog),
            priority_groups=self._priority_groups(port, groups, added),
            queues=self._queues(port, queues, queue_buffers),
            ingress_buffers=self._read_port_buffer_profile_list(port, ingress, "INGRESS"),
            egress_buffers=self._read_port_buffer_profile_list(port, egress, "EGRESS"),
        )

    @property
    def _has_switch_wide_map(self) -> bool:
        """Whether the switch has a DSCP map: SAI leaves open whether a port without a map has that of the switch."""
        return self.switch_row is not None and TABLE_BY_MAP_ATTRIBUTE["dscp_to_tc"][1] in self.switch_row

    def switch_wide_dscp_map(self) -> NumberMap | None | Unknown:
        """Return the DSCP map of the whole switch."""
        if self.switch_row is None:
            return None if self._config.is_conclusive_about_table("PORT_QOS_MAP") else UNKNOWN
        return self._read_map(("PORT_QOS_MAP", "global"), self.switch_row, "dscp_to_tc", ("@switch_dscp_to_tc",))

    def _read_map(
        self, keys: tuple[str, ...], row: RowFields, attribute: str, subject: Subject
    ) -> NumberMap | None | Unknown:
        table, field, size = TABLE_BY_MAP_ATTRIBUTE[attribute]
        if field not in row:
            return None
        map_row = self._config.row_of_reference(keys, row, field, table, subject)
        if map_row is None:
            return None if self._config.is_conclusive_about_table(table) else UNKNOWN
        return self._read_row_once(
            table,
            name_in_reference(row[field]),
            map_row,
            lambda name, row: parse_map_row(self._config, (table, name), row, size),
        )

    def _read_row_once(self, table: str, name: str, row: RowFields, make: Callable[[str, RowFields], _T]) -> _T:
        """Return what `make` reads from a row, read once."""
        if (table, name) not in self._memo:
            self._memo[table, name] = make(name, row)
        once: _T = self._memo[table, name]
        return once

    def _watchdog(self, port: str, binding: RowFields | None, row: RowFields | None) -> PfcWatchdog | None | Unknown:
        config, keys = self._config, ("PFC_WD", port)
        if row is None:
            return None if config.is_conclusive_about_table("PFC_WD") else UNKNOWN
        if remark_if_row_rejected(config, *keys, row):
            return None
        mask: tuple[int, ...] | Unknown = () if config.is_conclusive_about_table("PORT_QOS_MAP") else UNKNOWN
        if binding is not None:
            field = "pfcwd_sw_enable" if config.database.is_new_enough_for(_WATCHDOG_MASK_FEATURE) else "pfc_enable"
            mask = config.priorities(("PORT_QOS_MAP", port), binding, field)
        return PfcWatchdog(
            priorities=mask,
            detection_ms=config.integer(keys, row, "detection_time"),
            restoration_ms=config.integer(keys, row, "restoration_time"),
            action=config.meaning_of_word(keys, row, "action", WATCHDOG_ACTION_BY_WORD),
            history=config.meaning_of_word(keys, row, "pfc_stat_history", IS_ENABLED_BY_WORD),
        )

    def _queues(self, port: str, rows: list[Any], buffers: list[Any]) -> tuple[Queue, ...] | Unknown:
        config = self._config
        if not config.is_conclusive_about_table("QUEUE") and not config.is_conclusive_about_table("BUFFER_QUEUE"):
            return UNKNOWN
        if not rows and not buffers and self._has_unplaced_rows:
            return UNKNOWN
        queue_fields: dict[int, dict[str, Any]] = defaultdict(dict)
        for index, key, row in rows:
            stated: dict[str, Any] = {}
            numbers = config.parse_index_range(("QUEUE", key), index, 9)
            subject = (port, "qos", "queues", str(numbers[0]) if numbers else index)
            if "scheduler" in row:
                reference = self._read_row_named_by_field(
                    ("QUEUE", key), row, "scheduler", "SCHEDULER", subject, self._scheduler
                )
                stated["scheduler"] = reference
            if "wred_profile" in row:
                stated["wred"] = self._read_row_named_by_field(
                    ("QUEUE", key), row, "wred_profile", "WRED_PROFILE", subject, self._wred
                )
            for number in numbers:
                queue_fields[number] |= stated
        for index, key, row in buffers:
            buffer = self._read_referenced_buffer_profile(("BUFFER_QUEUE", key), row, (port, "qos", "queues", index))
            for number in config.parse_index_range(("BUFFER_QUEUE", key), index, 9):
                queue_fields[number]["buffer"] = buffer
        missing: dict[str, Any] = (
            {} if config.is_conclusive_about_table("QUEUE") else {"scheduler": UNKNOWN, "wred": UNKNOWN}
        )
        missing |= {} if config.is_conclusive_about_table("BUFFER_QUEUE") else {"buffer": UNKNOWN}
        return tuple(Queue(index=number, **{**missing, **queue_fields[number]}) for number in sorted(queue_fields))

    def _priority_groups(
        self, port: str, rows: list[Any], added: tuple[PriorityGroup, ...]
    ) -> tuple[PriorityGroup, ...] | Unknown:
        if not self._config.is_conclusive_about_table("BUFFER_PG"):
            return UNKNOWN
        groups = {group.index: group for group in added}
        for index, key, row in rows:
            keys, subject = ("BUFFER_PG", key), (port, "qos", "priority_groups", index)
            computes = row.get("profile") == COMPUTED_PROFILE_WORD
            buffer = (
                self.make_computed_profile() if computes else self._read_referenced_buffer_profile(keys, row, subject)
            )
            for number in self._config.parse_index_range(keys, index, 7):
                groups.setdefault(number, PriorityGroup(index=number, buffer=buffer))
        return tuple(groups[number] for number in sorted(groups))

    def _buffer_profile(self, name: str, table_row: RowFields) -> BufferProfile:
        return read_buffer_profile(self._config, name, table_row)

    def make_computed_profile(self) -> BufferProfile:
        """Return the profile of a priority group whose headroom the switch computes."""
        headroom = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
        dynamic = self.dynamic
        threshold = dynamic.dynamic_th if isinstance(dynamic, DynamicBuffers) else None
        return BufferProfile(pool="ingress_lossless", size_bytes=UNKNOWN, dynamic_th=threshold, headroom=headroom)

    def _read_port_buffer_profile_list(
        self, port: str, row: RowFields | None, direction: str
    ) -> tuple[BufferProfile, ...] | Unknown:
        table = f"BUFFER_PORT_{direction}_PROFILE_LIST"
        if row is None:
            return () if self._config.is_conclusive_about_table(table) else UNKNOWN
        names = [name for name in row.get("profile_list", "").split(",") if name]
        subject = (port, "qos", f"{direction.lower()}_buffers")
        rows = ({"profile": name} for name in names)
        buffer_profiles = [
            self._read_referenced_buffer_profile((table, port, "profile_list"), ref, subject, field=None)
            for ref in rows
        ]
        if any(isinstance(buffer, Unknown) for buffer in buffer_profiles):
            return UNKNOWN
        return tuple(buffer for buffer in buffer_profiles if isinstance(buffer, BufferProfile))

    def _read_referenced_buffer_profile(
        self, keys: tuple[str, ...], row: RowFields, subject: Subject, field: str | None = "profile"
    ) -> BufferProfile | None | Unknown:
        name = row.get("profile")
        if name is None:
            return None
        path = keys if field is None else (*keys, field)
        return self._read_row(path, name, "BUFFER_PROFILE", subject, self._buffer_profile)

    def _read_row_named_by_field(
        self,
        keys: tuple[str, ...],
        table_row: RowFields,
        field: str,
        table_name: str,
        subject: Subject,
        make: Callable[[str, RowFields], object],
    ) -> object:
        return self._read_row((*keys, field), table_row[field], table_name, subject, make)

    def _read_row(
        self, keys: tuple[str, ...], name: str, table_name: str, subject: Subject, make: Callable[[str, RowFields], _T]
    ) -> _T | None | Unknown:
        """Return what `make` reads from the row `name` of `table_name`, once; None or UNKNOWN where it is not there."""
        row = self._config.find_row(keys, name, table_name, subject)
        if row is None:
            return None if self._config.is_conclusive_about_table(table_name) else UNKNOWN
        return self._read_row_once(table_name, name_in_reference(name), row, make)

    def _scheduler(self, name: str, table_row: RowFields) -> Scheduler | None | Unknown:
        config, keys = self._config, ("SCHEDULER", name)
        if remark_if_row_rejected(config, *keys, table_row):
            return None
        if table_row.get("meter_type") == "packets" and table_row.keys() & {"cir", "pir", "cbs", "pbs"}:
            return UNKNOWN
        return Scheduler(
            type=config.meaning_of_word(keys, table_row, "type", _SCHEDULER_TYPE_BY_WORD) or "wrr",
            weight=config.integer(keys, table_row, "weight"),
            guaranteed_bytes_per_s=config.integer(keys, table_row, "cir"),
            guaranteed_burst_bytes=config.integer(keys, table_row, "cbs"),
            peak_bytes_per_s=config.integer(keys, table_row, "pir"),
            peak_burst_bytes=config.integer(keys, table_row, "pbs"),
        )

    def _wred(self, name: str, table_row: RowFields) -> WredProfile | None:
        config, keys = self._config, ("WRED_PROFILE", name)
        if remark_if_row_rejected(config, *keys, table_row):
            return None
        colors = {
            color: WredColor(
                min_bytes=config.integer(keys, table_row, low),
                max_bytes=config.integer(keys, table_row, high),
                probability_percent=config.integer(keys, table_row, probability),
                enabled=config.meaning_of_word(keys, table_row, enabled, IS_TRUE_BY_WORD),
            )
            for color, low, high, probability, enabled in _WRED_FIELDS_OF_COLORS
        }
        return WredProfile(
            ecn_colors=config.meaning_of_word(keys, table_row, "ecn", COLORS_BY_ECN_WORD) or (), **colors
        )


def _hashable_row_items(row: RowFields | None) -> tuple[tuple[str, str], ...] | None:
    return None if row is None else tuple(row.items())


def _trust_by_bound_maps(dscp: object, pcp: object) -> Trust | None | Unknown:
    if isinstance(dscp, Unknown) or isinstance(pcp, Unknown):
        return UNKNOWN
    if dscp is not None:
        return "dscp" if pcp is None else "both"
    return None if pcp is None else "pcp"
