"""Commands of SONiC: those of sonic-utilities where one makes the change, else writes to CONFIG_DB; FRR's by vtysh.

An edit is written from the rows that differ between the old and the new config_db.json. A command for one port is
repeated by a loop of the shell. Sources: sonic-utilities config/main.py (`config interface mtu|speed|fec|autoneg|
link-training|startup|shutdown`), pfcwd/main.py (`start`, `stop`, `interval`), scripts/ecnconfig and mmuconfig
(gcu.yaml), sonic-swss-common sonic-db-cli (`HSET`, `HDEL`, `DEL` of CONFIG_DB; a row without fields holds NULL).
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodrop.model.change import EditResult
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown
from nodrop.platforms.frr.changes import find_vtysh_changes
from nodrop.platforms.frr.files import FRR_FILE
from nodrop.platforms.kit.command_lines import (
    PORT,
    PORTS,
    are_all_ports_typable,
    fill_port_slots,
    group_numbered_names,
    has_port_slot,
    is_typable,
    ports_by_command,
)
from nodrop.platforms.sonic.config import CONFIG_DB_FILE
from nodrop.platforms.sonic.document import spell_field_in_database
from nodrop.platforms.sonic.gcu import gcu_facts
from nodrop.platforms.sonic.starting import FRR_FILES
from nodrop.platforms.sonic.tables import EMPTY_ROW_FIELD
from nodrop.platforms.sonic.traffic_shift import export_policies, is_shifted_policy
from nodrop.platforms.sonic.typed_rows import would_refuse_commands as would_refuse_commands
from nodrop.syntax.json import parse_json_text
from nodrop.syntax.shapes import mapping_at, mapping_or_empty

LANGUAGE_TITLE = "SONiC"
LINES_BEFORE: tuple[str, ...] = ()
LINES_AFTER = ("sudo config save -y",)
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = False

_TRAFFIC_SHIFT_COMMANDS = ("sudo TSA", "sudo TSB && sudo config save -y")
"""Traffic shift away and back; a `config save` while it is away keeps it across a restart, so the last one follows it
(sonic-buildimage dockers/docker-fpm-frr/TSA, TSB)."""
_GRACEFUL_SHUTDOWN_COMMANDS = (
    "sudo vtysh -c 'configure terminal' -c 'router bgp' -c 'bgp graceful-shutdown'",
    "sudo vtysh -c 'configure terminal' -c 'router bgp' -c 'no bgp graceful-shutdown' -c end -c 'write memory'",
)
"""FRR's own announcement of all routes as a last resort (RFC 8326), and its end; FRR takes `router bgp` without the AS
number for the process of the default VRF, whatever number the commands in between give it (bgpd/bgp_vty.c)."""
_WATCHDOG_TABLE = "PFC_WD"
_WATCHDOG_FIELDS = {"action", "detection_time", "restoration_time"}
_WATCHDOG_MASK_FIELD = "pfcwd_sw_enable"
_ADMIN_COMMAND_BY_STATUS = {"up": "startup", "down": "shutdown"}
_COMMAND_BY_PORT_FIELD: Mapping[str, str] = {
    "mtu": "mtu {port} {value}",
    "speed": "speed {port} {value}",
    "fec": "fec {port} {value}",
    "link_training": "link-training {port} {value}",
}
_COMMAND_BY_ROW_FIELD_VALUE: Mapping[tuple[str, str, str, str], str] = {
    ("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled", "false"): "sudo TSB",
    ("MGMT_VRF_CONFIG", "vrf_global", "mgmtVrfEnabled", "true"): "sudo config vrf add mgmt",
}
"""Commands that set one field of a row, and also restart what reads it, or tell the operator the rest
(sonic-utilities config/main.py; sonic-buildimage dockers/docker-fpm-frr/base_image_files/TSB)."""
_AUTONEG_COMMAND_WORDS = {"on": "enabled", "off": "disabled"}

RowFields = Mapping[str, Any]


def closing_lines(file_names: Collection[str]) -> tuple[str, ...]:
    """Return the closing commands of every list; none where FRR's files are alone, which `write memory` saves.

    No file says then that the router runs SONiC.
    """
    return () if _are_of_frr_alone(file_names) else LINES_AFTER


def _are_of_frr_alone(file_names: Collection[str]) -> bool:
    return bool(file_names) and {*file_names} <= {*FRR_FILES}


def drain_commands(device: Device, file_names: Collection[str]) -> tuple[str, str]:
    """Return the commands that move traffic off a switch, and bring it back.

    The traffic shift where it changes the export policies of all sessions, or where bgpcfgd's templates name them;
    where they have other names, it would change none of them, and FRR's graceful shutdown does. So does it where FRR's
    files are alone.
    """
    if _are_of_frr_alone(file_names):
        return _GRACEFUL_SHUTDOWN_COMMANDS
    shifted = all(isinstance(policy, Unknown) or is_shifted_policy(policy) for policy in export_policies([device.bgp]))
    return _TRAFFIC_SHIFT_COMMANDS if shifted else _GRACEFUL_SHUTDOWN_COMMANDS


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with a list of ports where it takes one, else in a loop of the shell over them."""
    if not has_port_slot(command):
        return (command,)
    listed = " ".join(
        entry if isinstance(entry, str) else f"{entry.before}{{{entry.first}..{entry.last}{_format_step(entry.step)}}}"
        for entry in group_numbered_names(ports, stepped=True)
    )
    if len(set(ports)) == 1 or PORT not in command:
        return (fill_port_slots(command, listed),)
    return (f"for port in {listed}; do {fill_port_slots(command, '$port')}; done",)


def _format_step(step: int) -> str:
    return f"..{step}" if step > 1 else ""


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return the commands that make an edit; a setting that is read at start needs the configuration loaded again."""
    lines: list[str] = []
    if CONFIG_DB_FILE in edit.files:
        old, new = (
            mapping_or_empty(parse_json_text(bundle[CONFIG_DB_FILE], CONFIG_DB_FILE)),
            mapping_or_empty(parse_json_text(edit.files[CONFIG_DB_FILE], CONFIG_DB_FILE)),
        )
        commands = (*_row_commands(old, new), *_watchdog_restart_commands(old, new))
        if not are_all_ports_typable(commands):
            return ()
        for command, ports in ports_by_command(commands).items():
            lines += fill_ports_into_command(command, ports)
        if _changes_field_read_at_start(old, new):
            lines += [*LINES_AFTER, "sudo config reload -y"]
    if FRR_FILE in edit.files:
        texts = [files.get(FRR_FILE, b"").decode(errors="replace") for files in (bundle, edit.files)]
        routing = find_vtysh_changes(*texts)
        if routing is None:
            return ()
        lines.append(_format_vtysh_command(line for line in routing.splitlines() if line.strip(" !")))
    return tuple(lines)


def frr_lines_as_vtysh_command(lines: Sequence[str], device: Device) -> tuple[str, ...]:
    """Return lines of FRR as one command of vtysh; that of the only process names its AS, as frr.conf does."""
    bgp = device.bgp
    head = f"router bgp {bgp.asn}" if isinstance(bgp, Bgp) else "router bgp"
    return (_format_vtysh_command(head if line == "router bgp" else line for line in lines),)


def _format_vtysh_command(lines: Iterable[str]) -> str:
    words = " ".join(f"-c {shlex.quote(line)}" for line in ("configure terminal", *lines))
    return f"sudo vtysh {words} -c end -c 'write memory'"


def _changes_field_read_at_start(old: RowFields, new: RowFields) -> bool:
    """Whether a field differs that a service reads when it starts."""
    return any(
        mapping_or_empty(row).get(name) != mapping_or_empty(mapping_at(new, table).get(key)).get(name)
        for table, fields in gcu_facts()["read_at_start"].items()
        for key, row in mapping_at(old, table).items()
        for name in fields
    )


def _row_commands(old: RowFields, new: RowFields) -> Iterator[tuple[str, str]]:
    """Yield the commands for all rows that differ, each with a slot for the port, and the port."""
    ports = {*mapping_at(old, "PORT"), *mapping_at(new, "PORT"), *mapping_at(new, "PORTCHANNEL")}
    for table in dict.fromkeys((*new, *old)):
        was, will = mapping_at(old, table), mapping_at(new, table)
        for key in dict.fromkeys((*will, *was)):
            if was.get(key) != will.get(key):
                head, bar, rest = str(key).partition("|")
                slotted = f"{PORT}{bar}{rest}" if head in ports else str(key)
                for command in _commands_for_row(table, slotted, was.get(key), will.get(key)):
                    if head in ports:
                        yield command.replace(_FIELDS_SEPARATOR, " "), head
                    else:
                        yield from _commands_for_fields_named_by_port(command, ports)


def _watchdog_restart_commands(old: RowFields, new: RowFields) -> Iterator[tuple[str, str]]:
    """Yield the commands that stop and start running watchdogs whose mask changes, each with the port.

    orchagent reads the mask when a watchdog starts; `pfcwd start` writes the priorities of PFC there (sonic-swss
    orchagent/pfcwdorch.cpp, sonic-utilities pfcwd/main.py).
    """
    maps, watchdogs = mapping_at(new, "PORT_QOS_MAP"), mapping_at(new, _WATCHDOG_TABLE)
    for port, row in maps.items():
        mask = mapping_or_empty(row).get(_WATCHDOG_MASK_FIELD)
        changed = mask and mask != mapping_or_empty(mapping_at(old, "PORT_QOS_MAP").get(port)).get(_WATCHDOG_MASK_FIELD)
        watchdog = mapping_or_empty(watchdogs.get(port))
        running = watchdog.keys() >= _WATCHDOG_FIELDS and watchdog == mapping_at(old, _WATCHDOG_TABLE).get(port)
        if changed and running and mask == mapping_or_empty(row).get("pfc_enable"):
            yield f"sudo pfcwd stop {PORTS}", port
            yield _watchdog_start_command(watchdog), port


def _watchdog_start_command(row: RowFields) -> str:
    """Return the command that starts a watchdog with the times and action of its row."""
    action, detection, restoration = (
        shlex.quote(str(row[name])) for name in ("action", "detection_time", "restoration_time")
    )
    return f"sudo pfcwd start --action {action} --restoration-time {restoration} {PORTS} {detection}"


def _commands_for_fields_named_by_port(command: str, ports: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the commands of a row whose fields are named by ports, as CABLE_LENGTH is, with a slot for each port."""
    head, mark, fields = command.partition(_FIELDS_SEPARATOR)
    words = shlex.split(fields) if mark else []
    if not words or not set(words[:: 2 if " HSET " in head else 1]) <= set(ports):
        yield command.replace(_FIELDS_SEPARATOR, " "), ""
        return
    width = 2 if " HSET " in head else 1
    for at in range(0, len(words), width):
        yield f"{head} {PORT}{''.join(f' {shlex.quote(word)}' for word in words[at + 1 : at + width])}", words[at]


_FIELDS_SEPARATOR = "\x1f"
"""Parts the fields of a write to CONFIG_DB from the row."""


def _commands_for_row(table: str, key: str, old: object, new: object) -> Iterator[str]:
    """Yield the commands that change a row to its new content."""
    was, will = mapping_or_empty(old), mapping_or_empty(new)
    fields = {name: value for name, value in will.items() if was.get(name) != value}
    gone = [name for name in was if name not in will]
    if new is None:
        yield (
            f"sudo pfcwd stop {PORTS}"
            if (table, key) == (_WATCHDOG_TABLE, PORT)
            else _format_db_write("DEL", table, key)
        )
        return
    for name, value in list(fields.items()):
        if (command := _COMMAND_BY_ROW_FIELD_VALUE.get((table, key, name, str(value)))) is not None:
            yield command
            del fields[name]
    if old is not None:
        yield from _tool_commands(table, key, fields)
    if (
        table == _WATCHDOG_TABLE
        and key == PORT
        and fields.keys() & _WATCHDOG_FIELDS
        and will.keys() >= _WATCHDOG_FIELDS
    ):
        yield _watchdog_start_command(will)
        fields = {name: value for name, value in fields.items() if name not in _WATCHDOG_FIELDS}
    if table == "PORT" and old is not None:
        for name in list(fields):
            command = _port_command(name, str(fields[name]))
            if command is not None:
                yield command
                del fields[name]
    if fields or (old is None and not will):
        yield _format_db_write("HSET", table, key, fields or {EMPTY_ROW_FIELD: EMPTY_ROW_FIELD})
    if gone:
        yield _format_db_write("HDEL", table, key, {name: was[name] for name in gone})


def _tool_commands(table: str, key: str, fields: dict[str, object]) -> Iterator[str]:
    """Yield the command of a tool for fields of a row, and take these out of `fields`."""
    if (table, key, *fields) == (_WATCHDOG_TABLE, "GLOBAL", "POLL_INTERVAL"):
        yield f"sudo pfcwd interval {shlex.quote(str(fields.pop('POLL_INTERVAL')))}"
    tool = gcu_facts()["typed"].get(table)
    options = {name: tool["options"][name] for name in fields if name in tool["options"]} if tool else {}
    refused = tool.get("without", {"values": ()})["values"] if tool else ()
    options = {name: option for name, option in options.items() if str(fields[name]) not in refused}
    if options:
        words = [word for name, option in options.items() for word in (option, str(fields.pop(name)))]
        yield f"sudo {tool['command']} {shlex.join((key, *words))}"


def _port_command(name: str, value: str) -> str | None:
    """Return the command for a field of a port, if there is one."""
    if name == "admin_status" and value in _ADMIN_COMMAND_BY_STATUS:
        return f"sudo config interface {_ADMIN_COMMAND_BY_STATUS[value]} {PORT}"
    if name == "autoneg" and value in _AUTONEG_COMMAND_WORDS:
        return f"sudo config interface autoneg {PORT} {_AUTONEG_COMMAND_WORDS[value]}"
    if name in _COMMAND_BY_PORT_FIELD:
        return f"sudo config interface {_COMMAND_BY_PORT_FIELD[name].replace('{value}', shlex.quote(value))}"
    return None


def _format_db_write(operation: str, table: str, key: str, fields: Mapping[str, object] | None = None) -> str:
    """Return a write to CONFIG_DB: fields that it sets, or only names that it removes."""
    words = (
        []
        if fields is None
        else [
            shlex.quote(word)
            for name, value in fields.items()
            for word in spell_field_in_database(name, value)[: 1 if operation == "HDEL" else 2]
        ]
    )
    row = _quote_row(f"{table}|{key}")
    return f"sudo sonic-db-cli CONFIG_DB {operation} {row}" + (_FIELDS_SEPARATOR + " ".join(words) if words else "")


def _quote_row(row: str) -> str:
    """Return the name of a row as one word of a shell, which fills a slot for a port in double quotes."""
    head, slot, rest = row.partition(PORT)
    if all(is_typable(part) for part in (head + rest).split("|") if part):
        return f'"{row}"'
    return "".join((shlex.quote(head), f'"{slot}"' if slot else "", shlex.quote(rest) if rest else ""))
