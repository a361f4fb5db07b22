"""Settings of a config_db.json that pass SONiC's schema, and are rejected, ignored or misread by its daemons.

Each is a remark of the reader, because it is about rows and fields and not about the behavior of the switch.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache, partial

from nodrop.hardware import asic, switch
from nodrop.model.buffers import BufferProfile, Headroom, HeadroomRow
from nodrop.model.change import FILE_SETTING_AREA
from nodrop.model.reading import FileCorrection, Remedy
from nodrop.model.states import Unknown, UnknownFact
from nodrop.model.subject import Subject
from nodrop.platforms.sonic.config import DeviceTables, RowFields, is_chassis_key, model_of, name_in_reference
from nodrop.platforms.sonic.corrections import (
    commands_to_correct_or_remove_field,
    corrections_narrowing_range,
    corrections_of_double_threshold,
    index_parts_by_profile,
    is_group_lossless_by_pfc,
    lane_corrections,
)
from nodrop.platforms.sonic.read_secrets import build_remedy_without_secrets
from nodrop.platforms.sonic.tables import COMPUTED_PROFILE_WORD
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number, show_bytes, show_ids, show_speed

ACCEPTED_FIELDS_BY_TABLE: dict[str, frozenset[str]] = {
    "PFC_WD": frozenset({"action", "detection_time", "restoration_time", "pfc_stat_history"}),
    "SCHEDULER": frozenset({"type", "weight", "meter_type", "cir", "cbs", "pir", "pbs"}),
    "WRED_PROFILE": frozenset(
        {"ecn"}
        | {f"wred_{color}_enable" for color in ("green", "yellow", "red")}
        | {
            f"{color}_{field}"
            for color in ("green", "yellow", "red")
            for field in ("min_threshold", "max_threshold", "drop_probability")
        }
    ),
}
"""Tables of which orchagent rejects a whole row for a field that it does not know, and those that it does
(sonic-swss orchagent/pfcwdorch.cpp createEntry, qosorch.cpp handleSchedulerTable and WredMapHandler)."""

_EFFECT_OF_REJECTED_ROW = {
    "PFC_WD": "the port has no PFC watchdog",
    "SCHEDULER": "its queues have no scheduler",
    "WRED_PROFILE": "its queues neither mark nor drop early",
}
LARGEST_THRESHOLD = 2**31 - 1
"""What orchagent reads by `stoi` (qosorch.cpp)."""
_LARGEST_QUEUE_OR_GROUP_INDEX = 99
"""More than any number of a queue or priority group."""
_LARGEST_PORT_SPEED_MBPS = 9_999_999
"""More than any speed of a port."""
_LARGEST_LANE = 99_999
"""More than any number of a lane or panel port."""
QUEUE_TABLES = ("QUEUE", "BUFFER_QUEUE")
_TABLES_WITH_RANGES = ("BUFFER_PG", *QUEUE_TABLES)


def remark_if_row_rejected(config: DeviceTables, table: str, key: str, row: RowFields) -> bool:
    """Whether orchagent rejects a row for a field that it does not know, with a remark."""
    unknown = sorted(row.keys() - ACCEPTED_FIELDS_BY_TABLE[table])
    if unknown:
        field, path = unknown[0], (table, key, unknown[0])
        subject = (key,) if table == "PFC_WD" else ()
        facts = {"table": table, "row": key, "field": quote_text(field), "effect": _EFFECT_OF_REJECTED_ROW[table]}
        remedy = build_remedy_without_secrets(config, table, commands_to_correct_or_remove_field(path, "", row[field]))
        config.remark("rejected-row", subject, path, remedy, **facts)
    return bool(unknown)


def remark_refused_queue_keys(config: DeviceTables, table: str) -> frozenset[str]:
    """Return the keys of a table of queues that orchagent refuses, with a remark for each.

    A switch with virtual output queues takes `host|asic|port|3` alone, any other `Ethernet0|3` alone.
    """
    localhost = config.rows("DEVICE_METADATA").get("localhost")
    switch_type = "switch" if localhost is None else localhost.get("switch_type", "switch")
    is_virtual = switch_type == "voq"
    if localhost is None or (is_virtual and not config.database.is_new_enough_for("queues by host and ASIC")):
        return frozenset()
    expected = "host|asic|port|queue" if is_virtual else "port|queue"
    refused_keys = frozenset(key for key in config.rows(table) if is_chassis_key(key) != is_virtual)
    for key in sorted(refused_keys):
        ports, span = _split_queue_key(key)
        subject = (ports.rpartition("|")[2].split(",")[0], "qos", "queues", span.partition("-")[0])
        facts = {"table": table, "key": key, "type": quote_text(switch_type), "expected": expected}
        config.remark("refused-queue-key", subject, (table, key), **facts)
    return refused_keys


def remark_qos_faults(config: DeviceTables) -> None:
    """Report faults of the tables that state the traffic handling of ports."""
    for table in _TABLES_WITH_RANGES:
        _remark_overlapping_ranges(config, table)
    parts_with_buffers = cache(partial(index_parts_by_profile, config, "profile", "BUFFER_PG", "BUFFER_QUEUE"))
    parts_with_wred = cache(partial(index_parts_by_profile, config, "wred_profile", "QUEUE"))
    for name, row in config.rows("BUFFER_PROFILE").items():
        _remark_wrong_threshold(config, name, row, parts_with_buffers)
    for name, row in config.rows("WRED_PROFILE").items():
        for field, text in row.items():
            is_number = field.endswith("_threshold") and text.isdecimal()
            if is_number and parse_whole_number(text, LARGEST_THRESHOLD) is None:
                facts = {"path": f"WRED_PROFILE/{name}/{field}", "found": text, "largest": str(LARGEST_THRESHOLD)}
                remedy = Remedy(parts=parts_with_wred().get(name, ()))
                config.remark("threshold-too-large", (), ("WRED_PROFILE", name, field), remedy, **facts)
    if config.rows("PFC_WD").get("GLOBAL", {}).get("BIG_RED_SWITCH") == "enable":
        keys = ("PFC_WD", "GLOBAL", "BIG_RED_SWITCH")
        remedy = Remedy(corrections=(FileCorrection((FILE_SETTING_AREA, *keys), "enable", None),))
        config.remark("watchdog-drops-everything", (), keys, remedy)


def _remark_overlapping_ranges(config: DeviceTables, table: str) -> None:
    """Report rows of one port that set something for the same number."""
    taken: dict[tuple[str, str], str] = {}
    for key in config.rows(table):
        if "-" not in key.rpartition("|")[2]:
            taken[_split_queue_key(key)] = key
    for key in config.rows(table):
        ports, span = _split_queue_key(key)
        first_text, dash, last = span.partition("-")
        low, high = parse_whole_number(first_text), parse_whole_number(last, _LARGEST_QUEUE_OR_GROUP_INDEX)
        if dash and low is not None and high is not None:
            numbers = map(str, range(low, high + 1))
            owners = {number: owner for number in numbers if (owner := taken.setdefault((ports, number), key)) != key}
            unlike = {
                number: owner
                for number, owner in owners.items()
                if not _are_equally_lossless(config, table, key, owner)
            }
            for number, overlapping_key in list((unlike or owners).items())[:1]:
                facts = {"table": table, "key": key, "number": number, "other": overlapping_key}
                kind = "lossless-row-overlapped" if unlike else "overlapping-range"
                corrections = _overlap_corrections_by_pfc(config, table, key, unlike, tuple(owners))
                parts = tuple((port, "qos", "priority_groups") for port in ports.split(",") if corrections)
                config.remark(kind, (ports.split(",")[0],), (table, key), Remedy(corrections, parts), **facts)


def _overlap_corrections_by_pfc(
    config: DeviceTables, table: str, key: str, unlike: Mapping[str, str], owned: Sequence[str]
) -> tuple[FileCorrection, ...]:
    """Return what takes `owned` groups out of a range, if by the port's PFC the other rows of `unlike` are right."""
    ports, profiles = _split_queue_key(key)[0].split(","), config.rows("BUFFER_PROFILE")
    right = all(
        is_group_lossless_by_pfc(config, port, number) == _names_lossless_profile(config.rows(table)[owner], profiles)
        for port in ports
        for number, owner in unlike.items()
    )
    return corrections_narrowing_range(config, table, key, owned) if unlike and right else ()


def _are_equally_lossless(config: DeviceTables, table: str, *keys: str) -> bool:
    """Whether rows of priority groups are all lossless or all lossy; rows of other tables are alike."""
    rows = (config.rows(table)[key] for key in keys) if table == "BUFFER_PG" else ()
    profiles = config.rows("BUFFER_PROFILE")
    return len({_names_lossless_profile(row, profiles) for row in rows}) < 2


def _names_lossless_profile(table_row: RowFields, profiles: Mapping[str, RowFields]) -> bool:
    """Whether a row names a profile with headroom, or lets the switch compute one."""
    name = name_in_reference(table_row.get("profile", ""))
    return name == COMPUTED_PROFILE_WORD or "xoff" in profiles.get(name, {})


def _split_queue_key(key: str) -> tuple[str, str]:
    ports, _, span = key.rpartition("|")
    return ports, span


def _remark_wrong_threshold(
    config: DeviceTables,
    name: str,
    table_row: RowFields,
    parts_by_profile: Callable[[], Mapping[str, tuple[Subject, ...]]],
) -> None:
    """Remark a buffer profile that has not one threshold, or not that of its pool's mode."""
    stated = [field for field in ("dynamic_th", "static_th") if field in table_row]
    keys = ("BUFFER_PROFILE", name)
    if len(stated) != 1:
        found_text = "both dynamic_th and static_th" if stated else "neither dynamic_th nor static_th"
        remedy = (
            Remedy(corrections=corrections_of_double_threshold(config, name, table_row))
            if stated
            else Remedy(parts=parts_by_profile().get(name, ()))
        )
        config.remark("profile-without-one-threshold", (), (*keys, *stated[1:]), remedy, name=name, found=found_text)
        return
    pool = table_row.get("pool", "")
    mode = config.rows("BUFFER_POOL").get(pool, {}).get("mode")
    if mode in ("static", "dynamic") and stated != [f"{mode}_th"] and _chip_vendor(config) == "NVIDIA":
        facts = {"name": name, "found": stated[0], "pool": pool, "mode": mode}
        remedy = Remedy(parts=parts_by_profile().get(name, ()))
        config.remark("threshold-unlike-pool", (), (*keys, stated[0]), remedy, **facts)


def _chip_vendor(config: DeviceTables) -> str | None:
    """Return who makes the switch's chip; None where the catalogue does not have the switch."""
    model = model_of(config)
    return None if model is None else asic(switch(model).asic).vendor


def remark_port_faults(config: DeviceTables, rows: Sequence[HeadroomRow] | Unknown) -> None:
    """Remark what does not go with a port.

    That is lanes of another port, a panel port with a part missing or not configured, a pause inside the chip, or a
    headroom profile of another speed or length; `rows` are those of the switch's headroom table.
    """
    _remark_pfc_on_internal_ports(config)
    _remark_shared_lanes(config)
    _remark_incomplete_breakouts(config)
    _remark_breakouts_without_admin_status(config)
    _remark_mismatched_headroom_profiles(config, rows)


_INTERNAL_PORT_PATTERN = re.compile(r"Ethernet-(Rec|IB)[0-9]+")
_INTERNAL_KIND_BY_ROLE = {"Rec": "recirculation", "Inb": "inband", "IB": "inband"}
"""Ports that lead back into the chip: by role (sonic-port.yang), and by name (sonic-buildimage qos_config.j2)."""


def _remark_pfc_on_internal_ports(config: DeviceTables) -> None:
    """Remark ports that lead back into the chip and have PFC or lossless priority groups."""
    rows, maps = config.rows("PORT"), config.rows("PORT_QOS_MAP")
    match_of = {name: _INTERNAL_PORT_PATTERN.fullmatch(name) for name in (*rows, *(maps.keys() - rows.keys()))}
    lossless_ports: set[str] | None = None
    for name, match in match_of.items():
        kind = _INTERNAL_KIND_BY_ROLE.get(rows.get(name, {}).get("role", match[1] if match else ""))
        if kind is None:
            continue
        lossless_ports = _statically_lossless_ports(config) if lossless_ports is None else lossless_ports
        priorities = maps.get(name, {}).get("pfc_enable", "")
        if priorities or name in lossless_ports:
            found = f"PFC on {quote_text(priorities)}" if priorities else "a lossless priority group"
            keys = ("PORT_QOS_MAP", name, "pfc_enable") if priorities else ("PORT", name)
            config.remark("pause-inside-chip", (name,), keys, name=name, kind=kind, found=found)


_GENERATED_PROFILE_PATTERN = re.compile(r"pg_lossless_([0-9]{1,7})_([0-9]{1,6})m(?:_[A-Za-z0-9_]*)?_profile")
"""How buffermgrd names a headroom profile: by speed and cable length (sonic-swss cfgmgr/buffermgr.cpp)."""


def _remark_mismatched_headroom_profiles(config: DeviceTables, rows: Sequence[HeadroomRow] | Unknown) -> None:
    """Report priority groups whose profile is, by its name, for another speed or length than their port has.

    If buffermgrd is known to write another profile over it, the report states that.
    """
    matches = {
        name: match for name in config.rows("BUFFER_PROFILE") if (match := _GENERATED_PROFILE_PATTERN.fullmatch(name))
    }
    if not matches:
        return
    localhost = config.rows("DEVICE_METADATA").get("localhost", {})
    known_rows = () if localhost.get("buffer_model") == "dynamic" or isinstance(rows, Unknown) else rows
    ports = config.rows("PORT")
    metres = {port: text for row in config.rows("CABLE_LENGTH").values() for port, text in row.items()}
    remarked_ports = {remark.facts["port"] for remark in config.remarks if remark.kind == "replaced-profile"}
    for port, group, key, row in config.port_rows("BUFFER_PG"):
        name, port_row = name_in_reference(row.get("profile", "")), ports.get(port, {})
        if name not in matches or port in remarked_ports or port_row.get("admin_status") != "up":
            continue
        stated = (matches[name][1], f"{matches[name][2]}m")
        speed, length = port_row.get("speed", stated[0]), metres.get(port, stated[1])
        if (speed, length) != stated:
            lacking = _describe_cable_lengths_in_headroom_table(known_rows, speed, length)
            has = f"{_format_speed(speed)} and {length} of cable{lacking}"
            facts = {"port": port, "group": group, "found": name, "has": has}
            subject = (port, "qos", "priority_groups", group.partition("-")[0])
            config.remark("profile-of-another-speed", subject, ("BUFFER_PG", key, "profile"), **facts)


def _describe_cable_lengths_in_headroom_table(rows: Sequence[HeadroomRow], speed: str, length: str) -> str:
    """Return the cable lengths of a switch's table at a speed, if the table is known and has no row for the port's."""
    lengths_m = sorted({row.cable_m for row in rows if str(row.speed_mbps) == speed})
    if not rows or length in [f"{length_m}m" for length_m in lengths_m]:
        return ""
    listed = ", ".join(f"{length_m}m" for length_m in lengths_m) or "none"
    return f", for which the table of the switch has no row (at this speed: {listed})"


def _format_speed(text: str) -> str:
    mbps = parse_whole_number(text, _LARGEST_PORT_SPEED_MBPS)
    return quote_text(text) if mbps is None else show_speed(mbps)


def _remark_shared_lanes(config: DeviceTables) -> None:
    """Remark lanes that two ports have, but for those that the model's own port files share."""
    rows = config.rows("PORT")
    lanes = [lane for row in rows.values() for lane in row.get("lanes", "").split(",") if lane]
    if len(set(lanes)) == len(lanes):
        return
    model = model_of(config)
    shared = () if model is None else map(str, switch(model).sonic.shared_lanes)
    owner = dict.fromkeys(shared, "")
    for name, row in rows.items():
        remedy: Remedy | None = None
        for lane in _row_lanes(row):
            if owner.setdefault(lane, name) not in (name, ""):
                facts = {"name": name, "lane": lane, "other": owner[lane]}
                remedy = remedy or Remedy(corrections=lane_corrections(config, name))
                config.remark("lane-of-two-ports", (name,), ("PORT", name, "lanes"), remedy, **facts)


_BREAKOUT_COUNTS = frozenset({1, 2, 4, 8})
"""Into how many equal parts a panel port is broken out (sonic-buildimage platform.json, `breakout_modes`)."""


def _remark_incomplete_breakouts(config: DeviceTables) -> None:
    """Remark panel ports that are broken out into a number of equal parts that no breakout makes.

    A cage of more than eight ports is not one panel port, and parts of different widths are not equal.
    """
    if not config.whole:
        return
    panels: dict[int, list[str]] = {}
    rows = config.rows("PORT")
    for name, row in rows.items():
        index = parse_whole_number(row.get("index", ""), _LARGEST_LANE)
        if index is not None and row.get("lanes"):
            panels.setdefault(index, []).append(name)
    owned = {lane for row in rows.values() for lane in _row_lanes(row)}
    for index, names in panels.items():
        shapes = {(rows[name]["lanes"].count(","), rows[name].get("speed")) for name in names}
        if len(shapes) == 1 and len(names) not in _BREAKOUT_COUNTS and len(names) < max(_BREAKOUT_COUNTS):
            facts = {
                "index": str(index),
                "count": str(len(names)),
                "missing": _format_missing_lanes(rows, names, owned),
            }
            config.remark("part-missing", (), ("PORT", names[-1]), **facts)


def _remark_breakouts_without_admin_status(config: DeviceTables) -> None:
    """Remark parts of a panel port that pause and have no admin_status, while another part of it is up.

    Of those with a row in DEVICE_NEIGHBOR, the rule for cables of ports that are shut reports it. A lossless group that
    a row states is there in the traditional model without admin_status.
    """
    rows, maps, neighbors = config.rows("PORT"), config.rows("PORT_QOS_MAP"), config.rows("DEVICE_NEIGHBOR")
    stated_ports = _statically_lossless_ports(config)
    up_panels = {row.get("index") for row in rows.values() if row.get("admin_status") == "up"} - {None}
    for name, row in rows.items():
        priorities = maps.get(name, {}).get("pfc_enable", "")
        if priorities and "admin_status" not in row and row.get("index") in up_panels and name not in neighbors:
            effect = "" if name in stated_ports else " and gets no lossless priority group"
            facts = {"name": name, "priorities": priorities, "effect": effect}
            config.remark("part-without-admin-status", (name,), ("PORT", name), **facts)


def _statically_lossless_ports(config: DeviceTables) -> set[str]:
    """Return the ports that have a lossless priority group by a row of BUFFER_PG; none in the dynamic buffer model."""
    if config.rows("DEVICE_METADATA").get("localhost", {}).get("buffer_model") == "dynamic":
        return set()
    profiles = config.rows("BUFFER_PROFILE")
    stated_keys = (
        key
        for key, row in config.rows("BUFFER_PG").items()
        if "xoff" in profiles.get(name_in_reference(row.get("profile", "")), {})
    )
    return {port for key in stated_keys for port in _split_queue_key(key)[0].split(",")}


def _format_missing_lanes(rows: Mapping[str, RowFields], names: list[str], owned: Set[str]) -> str:
    """Return the lanes between those of a panel port that are not `owned`, as the end of a clause; else ""."""
    lanes = (parse_whole_number(lane, _LARGEST_LANE) for name in names for lane in _row_lanes(rows[name]))
    own_lanes = {lane for lane in lanes if lane is not None}
    first_lane, last = min(own_lanes, default=0), max(own_lanes, default=0)
    if last - first_lane > len(own_lanes) * max(_BREAKOUT_COUNTS):
        return ""
    holes = [lane for lane in range(first_lane, last) if lane not in own_lanes and str(lane) not in owned]
    return f" without {'lane' if len(holes) == 1 else 'lanes'} {show_ids(tuple(holes))}" if holes else ""


def _row_lanes(row: RowFields) -> Iterator[str]:
    return (lane for lane in row.get("lanes", "").split(",") if lane)


_NAMES_EXPECTED_BY_TOOLS = (
    (
        "ecnconfig",
        ("WRED_PROFILE", "AZURE_LOSSLESS"),
        "it binds only that profile; before 202505 `config apply-patch` changes only that",
    ),
    ("buffermgrd", ("BUFFER_POOL", "ingress_lossless_pool"), "it makes lossless profiles in that pool only"),
    ("db_migrator", ("CABLE_LENGTH", "AZURE"), "it migrates only that list"),
)
"""Tools, the name that is written into each, and what a switch without it goes without (sonic-utilities
scripts/ecnconfig, scripts/db_migrator.py; sonic-swss cfgmgr/buffermgr.h)."""


def remark_names_missed_by_sonic_tools(config: DeviceTables) -> None:
    """Remark names that SONiC's own tools look for and do not find here, and a watchdog that nobody has started."""
    for tool, (table, name), effect in _NAMES_EXPECTED_BY_TOOLS if _has_pfc(config) else ():
        rows = config.rows(table)
        if rows and name not in rows:
            facts = {
                "tool": tool,
                "table": table,
                "name": name,
                "effect": effect,
                "found": ", ".join(map(quote_text, rows)),
            }
            config.remark("name-not-known-to-tools", (), (table,), **facts)
    localhost = config.rows("DEVICE_METADATA").get("localhost", {})
    if config.whole and localhost.get("default_pfcwd_status") == "enable" and not config.rows("PFC_WD"):
        config.remark("watchdog-not-started", (), ("DEVICE_METADATA", "localhost", "default_pfcwd_status"))


def _has_pfc(config: DeviceTables) -> bool:
    return any(row.get("pfc_enable") for row in config.rows("PORT_QOS_MAP").values())


def has_same_sizes_and_thresholds(buffer_profile: BufferProfile | None, other_buffer_profile: BufferProfile) -> bool:
    """Return whether a profile has the size, xoff, thresholds and offset of another; an absent number is 0."""
    try:
        return buffer_profile is not None and _size_and_threshold_key(buffer_profile) == _size_and_threshold_key(
            other_buffer_profile
        )
    except UnknownFact:
        return False


def _size_and_threshold_key(profile: BufferProfile) -> tuple[object, ...]:
    room = profile.headroom
    rooms = (room.xoff_bytes, room.xon_bytes or 0, room.xon_offset_bytes or 0) if isinstance(room, Headroom) else room
    return profile.pool, profile.size_bytes, profile.dynamic_th, profile.static_th_bytes, rooms


def remark_profile_overwritten_by_buffermgrd(
    config: DeviceTables, port: str, index: int, stated: str, written_profile: str, lost_headroom: str
) -> None:
    """Remark that buffermgrd writes another profile over the one that a row of BUFFER_PG names.

    `lost_headroom` says in words how much headroom that takes away; it is empty if it takes none.
    """
    key = next(
        (
            key
            for key in config.rows("BUFFER_PG")
            if (p := _split_queue_key(key))[0] == port and _span_covers_index(p[1], index)
        ),
        f"{port}|{index}",
    )
    facts = {"port": port, "group": str(index), "found": stated, "made": written_profile, "lost": lost_headroom}
    config.remark("replaced-profile", (port,), ("BUFFER_PG", key, "profile"), **facts)


def describe_lost_headroom(stated: object, written: BufferProfile) -> str:
    """Return what headroom a profile lacks against another one, as the end of a sentence; nothing if it has as much."""
    rooms = [profile.headroom if isinstance(profile, BufferProfile) else None for profile in (stated, written)]
    former_xoff, new_xoff = (room.xoff_bytes if isinstance(room, Headroom) else 0 for room in rooms)
    if isinstance(former_xoff, Unknown) or isinstance(new_xoff, Unknown) or new_xoff >= former_xoff:
        return ""
    return f", which has {show_bytes(new_xoff)} of headroom, not {show_bytes(former_xoff)}"


def _span_covers_index(span: str, index: int) -> bool:
    first_text, _, last = span.partition("-")
    low, high = parse_whole_number(first_text), parse_whole_number(last or first_text)
    return low is not None and high is not None and low <= index <= high
