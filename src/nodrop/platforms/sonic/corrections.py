"""Settings of a config_db.json whose right value the rest of the file, or the catalogue, determines.

Each function returns what in the file ends a fault that the reader remarks; nothing where only the owner knows it. For
fields and tables without a model, these are the commands for each case.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from nodrop.hardware import switch
from nodrop.model.change import FILE_SETTING_AREA, CommandsForCase
from nodrop.model.reading import FileCorrection
from nodrop.model.subject import Subject
from nodrop.platforms.kit.command_lines import is_typable
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.platforms.sonic.config import DeviceTables, RowFields, model_of, name_in_reference
from nodrop.platforms.sonic.document import spell_field_in_database
from nodrop.platforms.sonic.draft import ports_and_indexes_of_key
from nodrop.platforms.sonic.naming import panel_and_lane_offset_of_port
from nodrop.platforms.sonic.secret_fields import is_secret_field
from nodrop.platforms.sonic.spelling import format_ranges

MAX_REMOVED_ROWS = 16
"""Rows of a table without a model that commands remove."""
_CONFIG_DB = "sudo sonic-db-cli CONFIG_DB"
_QOS_PATH_BY_TABLE = {
    "BUFFER_PG": ("priority_groups", "buffer"),
    "BUFFER_QUEUE": ("queues", "buffer"),
    "QUEUE": ("queues", "wred"),
}
"""By tables of cells: the list of a port's QoS that their rows are about, and what their profiles set there."""


def corrections_narrowing_range(
    config: DeviceTables, table: str, key: str, numbers: Sequence[str]
) -> tuple[FileCorrection, ...]:
    """Return the corrections that leave numbers to their own rows; a range then sets the others only."""
    row, (ports, _, _) = config.rows(table)[key], key.rpartition("|")
    left = {index for _, index in ports_and_indexes_of_key(key) if index is not None and str(index) not in numbers}
    new_keys = [f"{ports}|{span}" for span in format_ranges(left)]
    if any(new_key in config.rows(table) for new_key in new_keys):
        return ()
    added = (
        FileCorrection((FILE_SETTING_AREA, table, new_key, field), None, value)
        for new_key in new_keys
        for field, value in row.items()
    )
    return (
        *(FileCorrection((FILE_SETTING_AREA, table, key, field), value, None) for field, value in row.items()),
        *added,
    )


def is_group_lossless_by_pfc(config: DeviceTables, port: str, number: str) -> bool:
    """Whether a port pauses a priority that fills the priority group of this number."""
    row = config.rows("PORT_QOS_MAP").get(port, {})
    groups = config.rows("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP").get(name_in_reference(row.get("pfc_to_pg_map", "")), {})
    return any(
        groups.get(priority, priority) == number for priority in row.get("pfc_enable", "").split(",") if priority
    )


def corrections_of_double_threshold(config: DeviceTables, name: str, row: RowFields) -> tuple[FileCorrection, ...]:
    """Return the correction of a profile with both thresholds: the one that its pool does not take goes."""
    mode = config.rows("BUFFER_POOL").get(name_in_reference(row.get("pool", "")), {}).get("mode")
    other = {"dynamic": "static_th", "static": "dynamic_th"}.get(str(mode))
    return (
        () if other is None else (FileCorrection((FILE_SETTING_AREA, "BUFFER_PROFILE", name, other), row[other], None),)
    )


def index_parts_by_profile(config: DeviceTables, field: str, *tables: str) -> Mapping[str, tuple[Subject, ...]]:
    """Return by profile the parts of ports that rows of these tables give it, as the model has them, below the device.

    Every row is read once, however many profiles have a fault.
    """
    parts: dict[str, dict[Subject, None]] = {}
    for name, part in _profiles_of_parts(config, field, tables):
        parts.setdefault(name, {})[part] = None
    return {name: tuple(own_parts) for name, own_parts in parts.items()}


def _profiles_of_parts(config: DeviceTables, field: str, tables: Sequence[str]) -> Iterator[tuple[str, Subject]]:
    ports = config.rows("PORT")
    for direction in ("ingress", "egress") if field == "profile" else ():
        for port, row in config.rows(f"BUFFER_PORT_{direction.upper()}_PROFILE_LIST").items():
            for name in row.get("profile_list", "").split(",") if port in ports else ():
                yield name_in_reference(name), (port, "qos", f"{direction}_buffers")
    for table in tables:
        members, part = _QOS_PATH_BY_TABLE[table]
        for key, row in config.rows(table).items():
            for port, index in ports_and_indexes_of_key(key):
                if port in ports and index is not None:
                    yield name_in_reference(row.get(field, "")), (port, "qos", members, str(index), part)


def lane_corrections(config: DeviceTables, name: str) -> tuple[FileCorrection, ...]:
    """Return the correction that gives a port the lanes that its model's catalogue entry has for its name."""
    model, stated = model_of(config), config.rows("PORT")[name].get("lanes", "")
    count = len(stated.split(","))
    place = None if model is None else panel_and_lane_offset_of_port(model, name)
    if model is None or place is None:
        return ()
    panel, offset, _ = place
    lanes = ",".join(map(str, switch(model).sonic_ports[panel].lanes[offset : offset + count]))
    return (FileCorrection((FILE_SETTING_AREA, "PORT", name, "lanes"), stated, lanes),) if lanes != stated else ()


def commands_to_correct_or_remove_field(path: tuple[str, ...], near: str, value: object) -> Iterator[CommandsForCase]:
    """Yield the commands that write a field's value to the one that its name may be a slip of, or remove the field.

    A value that may be a secret is copied on the switch, so that no command shows it.
    """
    table, key, field = path if len(path) == 3 else ("", "", "")
    row = f'"{table}|{key}"'
    if not all(map(is_typable, (table, field, *key.split("|")))):
        return
    name_in_database, text = spell_field_in_database(field, value)
    remove = f"{_CONFIG_DB} HDEL {row} {name_in_database}"
    secret = is_secret_field(table, key, near) or is_secret_field(table, key, field)
    if near and isinstance(value, str | list) and (secret or (is_typable(text) and not looks_like_secret(text))):
        new = f'"$({_CONFIG_DB} HGET {row} {name_in_database})"' if secret else shlex.quote(text)
        lines = (f"{_CONFIG_DB} HSET {row} {spell_field_in_database(near, value)[0]} {new}", remove)
        yield CommandsForCase(condition=f"if {near} is meant", language="sonic", lines=lines)
    yield CommandsForCase(condition="if the field is not needed", language="sonic", lines=(remove,))


def commands_to_remove_table_rows(table: str, rows: Mapping[str, object]) -> Iterator[CommandsForCase]:
    """Yield the commands that remove the rows of a table without a model."""
    if 0 < len(rows) <= MAX_REMOVED_ROWS and all(
        map(is_typable, (table, *(p for key in rows for p in key.split("|"))))
    ):
        lines = tuple(f'{_CONFIG_DB} DEL "{table}|{key}"' for key in rows)
        yield CommandsForCase(condition="if the table is not needed", language="sonic", lines=lines)
