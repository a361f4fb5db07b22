"""From SONiC's files to a device: config_db.json, whole or in part, and frr.conf."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.hardware import switch
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.buffers import BufferProfile, HeadroomRow
from nodrop.model.fabric import Device, Fec, Interface
from nodrop.model.qos import PriorityGroup, QosProfile
from nodrop.model.reading import DeviceReading, FilePlace, Note, Source
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms import frr
from nodrop.platforms.frr.faults import statements_with_unknown_effect
from nodrop.platforms.kit.unknown_lines import note_unknown_command, note_unknown_line
from nodrop.platforms.sonic.config import DeviceTables, RowFields, model_of
from nodrop.platforms.sonic.document import CONFIG_FILES, ROUTING_MODE_FIELD, TablesDocument
from nodrop.platforms.sonic.document import tables_not_in_config_db as tables_not_in_config_db
from nodrop.platforms.sonic.frr_text import FrrText, running_frr_text
from nodrop.platforms.sonic.headroom_table import (
    HEADROOM_TABLE_FILE,
    find_headroom_rows,
    lossless_profile_of_row,
    read_headroom_table,
)
from nodrop.platforms.sonic.naming import port_by_name_and_lanes
from nodrop.platforms.sonic.neighbors import neighbor_cables
from nodrop.platforms.sonic.read_access import read_access_lists, remark_refused_rules
from nodrop.platforms.sonic.read_bgp import SESSION_TABLES, is_bgp_from_tables, read_routing
from nodrop.platforms.sonic.read_bridging import (
    DEFAULT_MTU_BYTES,
    addresses_by_interface_of_table,
    read_port_channel_and_vlan_fields,
)
from nodrop.platforms.sonic.read_buffers import read_buffer_pools, read_trimming
from nodrop.platforms.sonic.read_faults import (
    describe_lost_headroom,
    has_same_sizes_and_thresholds,
    remark_names_missed_by_sonic_tools,
    remark_port_faults,
    remark_profile_overwritten_by_buffermgrd,
)
from nodrop.platforms.sonic.read_listening import remark_services_outside_management_vrf
from nodrop.platforms.sonic.read_overlays import read_pairing_and_tunnel_fields
from nodrop.platforms.sonic.read_qos import QosReader, reuse_or_make_qos_reader
from nodrop.platforms.sonic.read_routing_faults import find_differences_from_frr_files, remark_routing_faults
from nodrop.platforms.sonic.read_secrets import remark_secrets
from nodrop.platforms.sonic.read_services import (
    read_counter_polling_groups,
    read_ecmp_hash_fields,
    read_gnmi_port,
    read_loopbacks,
    read_management_port,
    read_row_names,
    read_snmp_text,
    read_watchdog_polling_ms,
)
from nodrop.platforms.sonic.routing_tables import uses_frrcfgd
from nodrop.platforms.sonic.schema import schema_of_release
from nodrop.platforms.sonic.schema_check import remark_schema_faults
from nodrop.platforms.sonic.starting import FRR_FILES, MINIGRAPH_FILE, bgp_container_start_of
from nodrop.platforms.sonic.streams import read_streams
from nodrop.platforms.sonic.tables import (
    HASH_SEED_BY_DEVICE_TYPE,
    IS_ENABLED_BY_WORD,
    ROLE_BY_DEVICE_TYPE,
    parse_advertised_speeds_mbps,
)
from nodrop.platforms.sonic.traffic_shift import remark_traffic_shift
from nodrop.platforms.sonic.unknown_tables import (
    tables_of_unknown_effect,
    unknown_frrcfgd_columns,
    unmodeled_bgpcfgd_columns,
    unreleased_table_subjects,
)
from nodrop.platforms.sonic.unloaded_files import remark_unloaded_tables_and_routing
from nodrop.syntax.places import Span, decode_utf8, quote_text

CANONICAL_FILES, COMPANION_FILES, USUAL_SUFFIXES = (
    (*CONFIG_FILES, *FRR_FILES),
    (MINIGRAPH_FILE, HEADROOM_TABLE_FILE),
    (".json",),
)
SUBFOLDER_ENDINGS: tuple[tuple[str, str], ...] = ()
DEFAULT_HOSTNAME = "sonic"
"""The hostname of a switch that nobody has named (sonic-buildimage build_debian.sh)."""

_HOSTNAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_TABLE_KEY_PATTERN = re.compile(rb'"([A-Z][A-Z0-9_]+)(?:\|[^"\n]+)?"\s*:\s*\{')
_TABLE_LEVELS = 2
"""Levels of a JSON object on which tables can stand: below the names of ASICs, too."""
_OPENING_BRACE_LINE = re.compile(rb"^\{", re.MULTILINE)
_FEC_BY_SONIC_WORD: dict[str, Fec] = {"rs": "rs", "fc": "fc", "none": "none", "auto": "auto"}
_BUFFER_MODELS: dict[str, Literal["dynamic", "traditional"]] = {"dynamic": "dynamic", "traditional": "traditional"}
_IS_ON_BY_WORD = {"on": True, "off": False}
_IS_UP_BY_WORD = {"up": True, "down": False}


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is SONiC's: a JSON object of tables, be it printed in a terminal, or FRR's files."""
    if name in FRR_FILES:
        return True
    text = file_head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not _OPENING_BRACE_LINE.search(text):
        return False
    names = {match.decode() for match in _TABLE_KEY_PATTERN.findall(text)}
    if _known_tables().isdisjoint(names):
        return False
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):  # the beginning of a file, or what a terminal printed
        return True
    return _has_known_table(document, _TABLE_LEVELS)


@cache
def _known_tables() -> frozenset[str]:
    """Return the tables that any release has, and those that SONiC has designed."""
    return frozenset((*schema_of_release(None).table_names(), *unreleased_table_subjects()))


def _has_known_table(value: object, levels: int) -> bool:
    """Whether a JSON value is an object with a table, or a row of one, on one of its first levels."""
    if not isinstance(value, dict):
        return False
    return any(
        isinstance(rows, dict)
        and (key.partition("|")[0] in _known_tables() or (levels > 1 and _has_known_table(rows, levels - 1)))
        for key, rows in value.items()
    )


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading, the others count."""
    problems: list[Problem] = []
    documents: list[TablesDocument] = []
    routing: dict[str, str] = {}
    sources = []
    table: tuple[HeadroomRow, ...] | Unknown = UNKNOWN
    for source, raw in bundle:
        sources.append(source)
        try:
            if source.name == HEADROOM_TABLE_FILE:
                table = read_headroom_table(raw, source.display)
                continue
            if source.name in (*FRR_FILES, MINIGRAPH_FILE):
                routing[source.name] = decode_utf8(raw, source.display)
            else:
                loaded = source.path is not None and Path(source.display).name == source.name
                documents.append(TablesDocument(source.name, raw, source.display, loaded=loaded))
        except InputProblems as error:
            problems.extend(error.problems)
    return _DeviceReader(name, tuple(sources), documents, routing, problems, table).build_reading()


class _DeviceReader:
    def __init__(
        self,
        name: str,
        sources: tuple[Source, ...],
        documents: list[TablesDocument],
        routing: dict[str, str],
        problems: list[Problem],
        table: tuple[HeadroomRow, ...] | Unknown,
    ) -> None:
        self._table: tuple[HeadroomRow, ...] | None | Unknown = table
        self._sources, self._problems = sources, problems
        self._display = {source.name: source.display for source in sources}
        self._notes: list[Note] = []
        self._derived: dict[Subject, str] = {}
        self._config = DeviceTables(name, documents)
        self._localhost: RowFields = self._config.rows("DEVICE_METADATA").get("localhost", {})
        self._start = bgp_container_start_of(documents, routing.pop(MINIGRAPH_FILE, None))
        if self._start is not None:
            self._localhost = {**self._localhost, ROUTING_MODE_FIELD: self._start.mode}
        self._frr: FrrText | None = running_frr_text(routing, documents, self._start)
        self._routing = frr.read_frr(self._frr.text) if self._frr else None
        self._called: str | None = None
        self.name = self._config.set_device_name(self._hostname(name))

    def build_reading(self) -> DeviceReading:
        config = self._config
        config.remark_odd_keys()
        device = self._build_device()
        self._note_unread_parts(device)
        remark_routing_faults(config, self._localhost, self._frr, self._routing, device)
        remark_traffic_shift(config, self._localhost, device, self._frr)
        remark_unloaded_tables_and_routing(config, self._localhost, self._start, self._frr, self._routing)
        remark_secrets(config, self._frr)
        remark_services_outside_management_vrf(config)
        remark_schema_faults(config)
        remark_refused_rules(config, device.access_lists)
        return DeviceReading(
            device=fill_in_computed_buffer_sizes(device),
            called=self._called,
            sources=self._sources,
            cables=tuple(neighbor_cables(config, self._localhost)),
            remarks=tuple(config.remarks),
            notes=tuple(self._notes),
            problems=tuple(self._problems),
            derived=self._derived,
        )

    def _hostname(self, name: str) -> str:
        stated, asic = self._localhost.get("hostname"), self._localhost.get("asic_name")
        if stated and asic:
            stated = f"{stated}-{asic.lower()}"
        if stated is None and self._routing is not None:
            stated = self._routing.hostname
        self._called = None if stated in (None, DEFAULT_HOSTNAME) else name
        if stated is None or stated == name:
            return name
        if not _HOSTNAME_PATTERN.fullmatch(stated):
            self._config.remark("odd-name", (), ("DEVICE_METADATA", "localhost", "hostname"), name=quote_text(stated))
            return name
        return stated

    def _build_device(self) -> Device:
        config = self._config
        routes, reasons = read_routing(config, self._localhost, self._frr, self._routing)
        self._problems += find_differences_from_frr_files(config, self._localhost, self._frr, routes)
        self._derived |= {(self.name, *subject): reason for subject, reason in reasons.items()}
        qos = reuse_or_make_qos_reader(config)
        dynamic = self._buffer_model()
        self._model, hwsku = self._read_model_and_sku()
        if isinstance(self._table, Unknown) and config.database.is_before_first_known_release:
            self._table = None
        self._headroom_rows = find_headroom_rows(self._table, self._model, self._localhost.get("hwsku"))
        interfaces = tuple(self._interfaces(qos, dynamic))
        device = Device(
            name=self.name,
            platform="sonic",
            version=self._version(),
            model=self._model,
            hwsku=hwsku,
            role=self._device_role(),
            mac=self._localhost.get("mac", None if config.whole else UNKNOWN),
            interfaces=interfaces,
            loopbacks=read_loopbacks(config),
            **read_port_channel_and_vlan_fields(config, self._derived),
            **read_pairing_and_tunnel_fields(config, self._localhost),
            access_lists=read_access_lists(config),
            management=read_management_port(config),
            **routes,
            buffer_model=dynamic,
            dynamic_buffers=qos.dynamic,
            headroom_table=self._table,
            buffer_pools=read_buffer_pools(config, not isinstance(dynamic, Unknown) and dynamic == "dynamic"),
            switch_dscp_to_tc=qos.switch_wide_dscp_map(),
            watchdog_polling_ms=read_watchdog_polling_ms(config),
            counters=read_counter_polling_groups(config),
            trimming=read_trimming(config),
            hash_seed=self._hash_seed(),
            mac_ageing_s=UNKNOWN,
            arp_reachable_s=UNKNOWN,
            nd_reachable_s=UNKNOWN,
            ntp_servers=read_row_names(config, "NTP_SERVER"),
            syslog_servers=read_row_names(config, "SYSLOG_SERVER"),
            dns_servers=read_row_names(config, "DNS_NAMESERVER"),
            snmp_location=read_snmp_text(config, "LOCATION", "Location"),
            snmp_contact=read_snmp_text(config, "CONTACT", "Contact"),
            hash_fields=read_ecmp_hash_fields(config),
            gnmi_port=read_gnmi_port(config),
            otlp_collectors=() if config.whole else UNKNOWN,
            high_frequency=read_streams(config),
        )
        qos.cache_if_faultless()
        remark_port_faults(config, self._headroom_rows)
        remark_names_missed_by_sonic_tools(config)
        return device

    def _version(self) -> str | Unknown:
        """Return the release that the database version names (`version_202505_01`); older schemes name none."""
        text = self._config.rows("VERSIONS").get("DATABASE", {}).get("VERSION", "")
        match = re.fullmatch(r"version_([0-9]{6})_[0-9]{2}", text)
        return match[1] if match else UNKNOWN

    def _read_model_and_sku(self) -> tuple[str | Unknown, str | None | Unknown]:
        """Return the model, and the name of its SKU where that is not the usual one."""
        stated = self._localhost.get("hwsku", UNKNOWN)
        model = model_of(self._config) or UNKNOWN
        usual = not isinstance(model, Unknown) and stated == switch(model).sonic.hwsku
        return model, None if usual else stated

    def _device_type(self) -> str | None:
        """Return the tier that a DEVICE_METADATA.type means to SONiC's templates, which look for a part of it."""
        stated = self._localhost.get("type", "")
        return next((kind for kind in ROLE_BY_DEVICE_TYPE if kind in stated and "Mgmt" not in stated), None)

    def _device_role(self) -> str | Unknown:
        kind = self._device_type()
        return UNKNOWN if kind is None else ROLE_BY_DEVICE_TYPE[kind]

    def _hash_seed(self) -> int | None | Unknown:
        kind = self._device_type()
        return UNKNOWN if kind is None else HASH_SEED_BY_DEVICE_TYPE[kind]

    def _buffer_model(self) -> Literal["dynamic", "traditional"] | Unknown:
        stated = self._config.meaning_of_word(
            ("DEVICE_METADATA", "localhost"),
            self._localhost,
            "buffer_model",
            _BUFFER_MODELS,
        )
        if stated is None and self._config.whole:
            self._derived[self.name, "@buffer_model"] = "DEVICE_METADATA has no buffer_model, which is traditional"
            return "traditional"
        return UNKNOWN if stated is None else stated

    def _interfaces(self, qos: QosReader, dynamic: object) -> Iterator[Interface]:
        config = self._config
        ports = config.rows("PORT")
        cables = {
            port: self._read_cable_length_m(name, port, row)
            for name, row in config.rows("CABLE_LENGTH").items()
            for port in row
        }
        addresses = addresses_by_interface_of_table(self._config, "INTERFACE")
        named_ports = ports or dict.fromkeys(port for port in (*qos.ports, *cables) if port.startswith("Ethernet"))
        for name in sorted(named_ports, key=natural_sort_key):
            row = ports.get(name)
            cable = cables.get(name, None if config.is_conclusive_about_table("CABLE_LENGTH") else UNKNOWN)
            if row is None:
                profile = qos.qos_profile_of_port(name, False, ())
                if isinstance(profile, QosProfile) and not isinstance(profile.pfc_rx_priorities, Unknown):
                    reason = "no PORT table says pfc_asym, which is off unless stated (sonic-port.yang)"
                    self._derived[self.name, name, "qos", "pfc_rx_priorities"] = reason
                interface = Interface(
                    name=name, port=UNKNOWN, enabled=UNKNOWN, speed_mbps=UNKNOWN, lanes=UNKNOWN, fec=UNKNOWN,
                    autoneg=UNKNOWN, advertised_speeds_mbps=UNKNOWN, link_training=UNKNOWN, mtu_bytes=UNKNOWN,
                    addresses=UNKNOWN, link_local=UNKNOWN, vrf=UNKNOWN,
                    description=UNKNOWN, link_pause=UNKNOWN, macsec=UNKNOWN, cable_length_m=cable, qos=profile,
                )  # fmt: skip
            else:
                own_addresses = addresses.get(name, () if config.is_conclusive_about_table("INTERFACE") else UNKNOWN)
                interface = self._read_port(name, row, cable, own_addresses, qos, dynamic)
            yield interface

    def _read_port(
        self,
        name: str,
        row: RowFields,
        cable: int | None | Unknown,
        addresses: tuple[str, ...] | Unknown,
        qos: QosReader,
        dynamic: object,
    ) -> Interface:
        config, keys = self._config, ("PORT", name)
        lanes = len(row["lanes"].split(",")) if row.get("lanes") else None
        speed = config.integer(keys, row, "speed")
        enabled = config.meaning_of_word(keys, row, "admin_status", _IS_UP_BY_WORD)
        if enabled is None and config.lists_ports_with_lanes:
            self._derived[self.name, name, "enabled"] = "PORT has no admin_status, which is down (sonic-port.yang)"
        mtu = config.integer(keys, row, "mtu")
        if mtu is None:
            self._derived[self.name, name, "mtu_bytes"] = f"PORT has no mtu, which is {DEFAULT_MTU_BYTES} (portmgrd)"
        asymmetric = config.meaning_of_word(keys, row, "pfc_asym", _IS_ON_BY_WORD) or False
        added = self._groups_added_by_buffermgrd(name, qos, dynamic, speed, cable, enabled or False)
        return Interface(
            name=name,
            port=UNKNOWN
            if isinstance(self._model, Unknown) or not lanes
            else port_by_name_and_lanes(self._model, name, lanes),
            enabled=enabled if enabled is not None else False if config.lists_ports_with_lanes else UNKNOWN,
            speed_mbps=speed,
            lanes=lanes,
            fec=config.meaning_of_word(keys, row, "fec", _FEC_BY_SONIC_WORD),
            autoneg=config.meaning_of_word(keys, row, "autoneg", _IS_ON_BY_WORD),
            advertised_speeds_mbps=parse_advertised_speeds_mbps(row.get("adv_speeds", "")),
            link_training=config.meaning_of_word(keys, row, "link_training", _IS_ON_BY_WORD),
            mtu_bytes=DEFAULT_MTU_BYTES if mtu is None else mtu,
            addresses=addresses,
            link_local=self._is_link_local_only(name),
            vrf=config.rows("INTERFACE").get(name, {}).get("vrf_name", None if config.whole else UNKNOWN),
            description=row.get("description"),
            link_pause=UNKNOWN,
            macsec=bool(row.get("macsec")),
            cable_length_m=cable,
            qos=qos.qos_profile_of_port(name, asymmetric, added),
        )

    def _groups_added_by_buffermgrd(
        self, name: str, qos: QosReader, dynamic: object, speed: int | None, cable: int | None | Unknown, enabled: bool
    ) -> tuple[PriorityGroup, ...]:
        """Return the priority groups that buffermgrd writes in the traditional model, over any that are stated.

        Each number of pfc_enable gets pg_lossless_<speed>_<cable>_profile: yours if there is one of that name, else
        the row of the SKU's table; where the table has no row, all stays as it is (sonic-swss cfgmgr/buffermgr.cpp).
        Without the table, a group that is stated with headroom is taken as it is, and any other is not known.
        """
        if isinstance(dynamic, Unknown) or dynamic != "traditional" or not enabled or not self._config.whole:
            return ()
        if speed is None or isinstance(cable, Unknown) or not cable:
            return ()
        new_name = f"pg_lossless_{speed}_{cable}m_profile"
        stated = qos.profile_name_by_group(name)
        wanted_pauses = [index for index in qos.pfc_enable_of_port(name) if stated.get(index) != new_name]
        buffer: BufferProfile | None | Unknown = qos.find_buffer_profile(new_name) if wanted_pauses else None
        if isinstance(self._headroom_rows, Unknown):
            wanted_pauses = [
                index for index in wanted_pauses if not self._is_lossless_buffer_profile(qos, stated.get(index))
            ]
            buffer = buffer or UNKNOWN
        elif wanted_pauses:
            from_table = lossless_profile_of_row(self._config, self._headroom_rows, speed, cable)
            buffer = from_table and (buffer or from_table)
            if buffer is not None:
                for index in wanted_pauses:
                    former = stated.get(index)
                    stated_profile = qos.find_buffer_profile(former) if former else None
                    if former and not has_same_sizes_and_thresholds(stated_profile, buffer):
                        lost = describe_lost_headroom(stated_profile, buffer)
                        remark_profile_overwritten_by_buffermgrd(self._config, name, index, former, new_name, lost)
        if buffer is None:
            return ()
        reason = f"buffermgrd writes it, for pg_profile_lookup.ini has a row for {speed} and {cable}m"
        for index in wanted_pauses:
            self._derived[self.name, name, "qos", "priority_groups", str(index)] = reason
        return tuple(PriorityGroup(index=index, buffer=buffer) for index in wanted_pauses)

    def _is_lossless_buffer_profile(self, qos: QosReader, name: str | None) -> bool:
        """Whether a profile is for a lossless priority group, which is the criterion for a switch that is not known."""
        profile = qos.find_buffer_profile(name) if name else None
        return profile is not None and profile.headroom is not None

    def _read_cable_length_m(self, name: str, port: str, row: RowFields) -> int | None:
        text = row[port]
        if not re.fullmatch(r"[0-9]{1,6}m", text):
            self._config.remark_malformed_value(("CABLE_LENGTH", name, port), text, "metres, such as 40m")
            return None
        return int(text[:-1])

    def _is_link_local_only(self, name: str) -> bool | Unknown:
        config = self._config
        row = config.rows("INTERFACE").get(name)
        if not row:
            return False if row is not None or config.is_conclusive_about_table("INTERFACE") else UNKNOWN
        return config.meaning_of_word(("INTERFACE", name), row, "ipv6_use_link_local_only", IS_ENABLED_BY_WORD) is True

    def _note_unread_parts(self, device: Device) -> None:
        database = self._config.database
        if database.reason_unmodelled:
            message = f"a database of {database.text} {database.reason_unmodelled}: its fields were not checked"
            self._note("not-checked", message, self._config.place(("VERSIONS", "DATABASE", "VERSION")))
        lines = [(table, table, self._config.place((table,))) for table in tables_of_unknown_effect(self._config)]
        columns = [*unmodeled_bgpcfgd_columns(self._config, () if uses_frrcfgd(self._localhost) else SESSION_TABLES)]
        if is_bgp_from_tables(self._config, self._localhost) is True:
            columns += unknown_frrcfgd_columns(self._config)
        lines += [
            (f"{table} {key} {column}", f"{table} {column}", self._config.place((table, key, column)))
            for table, key, column in columns
        ]
        for text, about, place in lines:
            self._notes.append(note_unknown_line(text, about, self.name, *self._file_and_line(place)))
        if self._frr and self._routing:
            unread = [] if self._frr.would_hold_static_routes else self._routing.static_statements
            for statement in (*statements_with_unknown_effect(self._routing, device), *unread):
                file_and_line = self._file_and_line(self._frr.place(statement.span))
                self._notes.append(note_unknown_command(statement.text, self.name, *file_and_line))
        for name, why in self._frr.unused.items() if self._frr else ():
            self._note("not-read", f"{name} was not checked: {why}", FilePlace(name, Span(1, 1, 1, 1)))

    def _note(self, kind: str, message: str, place: FilePlace | None) -> None:
        file, line = self._file_and_line(place)
        self._notes.append(Note(kind=kind, message=message, device=self.name, file=file, line=line))

    def _file_and_line(self, source_place: FilePlace | None) -> tuple[str | None, int | None]:
        """Return the name under which the file of a place is shown, and the line."""
        return (self._display.get(source_place.file), source_place.span.line) if source_place else (None, None)
