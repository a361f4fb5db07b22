"""Changes of a switch whose files are edited by hand, as the lines to write and the command that makes them hold."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nodrop.model.change import Change, EditResult
from nodrop.model.subject import subject_text
from nodrop.platforms.cumulus.adaptive_routing import ADAPTIVE_ROUTING_FILE
from nodrop.platforms.cumulus.command_lines import SHELL_HEADING
from nodrop.platforms.cumulus.features import (
    QOS_FEATURES_FILES,
    SWITCHD_FILE,
    SWITCHD_RELOAD_COMMAND,
    port_ranges_of_set,
)
from nodrop.platforms.cumulus.interfaces import INTERFACES_FILE
from nodrop.platforms.cumulus.keys import QosFileSetting, parse_lines
from nodrop.platforms.kit.command_lines import PORT, PORTS
from nodrop.platforms.kit.editing import RetryBudget, as_manual_steps
from nodrop.platforms.nvue.names import expand_names

_IFRELOAD_COMMAND = "sudo ifreload -a"
_WATCHDOG_KEY = "pfc_watchdog"


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: RetryBudget | None = None
) -> EditResult:
    """Leave the files unchanged, and report for each change which line to write into which of them."""
    file = next((file for file in QOS_FEATURES_FILES if file in config_files), QOS_FEATURES_FILES[0])
    features = _QosFeaturesFile(file, config_files.get(file, b"").decode("utf-8", "replace"))
    return as_manual_steps(
        changes,
        lambda change: _describe_manual_change(change, features),
        lambda change: _lines_for_change(change, features),
        lambda change: (
            features.ports_in_watchdog_group_of(change.subject[1]) if change.subject[3:] == ("pfc_watchdog",) else ()
        ),
    )


class _QosFeaturesFile:
    """The file of QoS features of a switch: its name, and the groups of ports that the watchdog is on."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        settings = [line for line in parse_lines(file, text) if isinstance(line, QosFileSetting)]
        own = [setting for setting in settings if setting.parts[0] == _WATCHDOG_KEY]
        self._sets = {one.parts[1]: one.value.strip("[] ") for one in own if one.parts[2:] == ("port_set",)}
        self._listed = [item for one in own if one.parts[1:] == ("port_group_list",) for item in one.items]

    def watchdog_lines_for_port(self, port: str, ports: str) -> tuple[str, ...]:
        """Return the lines that put a port under the watchdog and leave all that is there.

        `ports` is written for it and others. Groups that are listed and have no ports are left out.
        """
        group = next((name for name, members in self._sets.items() if _has_port(members, port)), "watched")
        listed = [name for name in self._listed if name in self._sets and name != group]
        lines = (f"{_WATCHDOG_KEY}.port_group_list = [{','.join([*listed, group])}]",)
        members = self._sets.get(group, "")
        if _has_port(members, port):
            return lines
        return *lines, f"{_WATCHDOG_KEY}.{group}.port_set = {f'{members},' if members else ''}{ports}"

    def ports_in_watchdog_group_of(self, port: str) -> tuple[str, ...]:
        """Return the ports of the group that the watchdog is turned on for with a port."""
        members = next((members for members in self._sets.values() if _has_port(members, port)), port)
        return tuple(expand_names(",".join(port_ranges_of_set(members))))


def _has_port(members: str, port: str) -> bool:
    """Whether a set of ports such as `swp1-2,swp31` has a port."""
    number = re.fullmatch(r"(\D+)(\d+)", port)
    for item in port_ranges_of_set(members):
        run = re.fullmatch(r"(\D+)(\d+)-(\d+)", item)
        if item == port or (run and number and run[1] == number[1] and int(run[2]) <= int(number[2]) <= int(run[3])):
            return True
    return False


def _lines_for_change(change: Change, features: _QosFeaturesFile) -> tuple[str, ...]:
    """Return the lines of a change below the file that they go to, and the command that loads it, as one block."""
    rendered = _render_change(change, features, PORT, PORTS)
    if rendered is None:
        return ()
    file, lines, command = rendered
    return ("\n".join((f"# {file}:", *lines, SHELL_HEADING, command)),)


def _describe_manual_change(change: Change, features: _QosFeaturesFile) -> str:
    subject = subject_text(change.subject)
    name = change.subject[1] if len(change.subject) > 1 else ""
    found_change = _render_change(change, features, name, name)
    if found_change is None:
        return f"{subject}: which line changes this is not known here"
    file, lines, command = found_change
    return f"{subject}: write {', '.join(f'`{line}`' for line in lines)} into {file}, then type `{command}`"


def _render_change(
    change: Change, features: _QosFeaturesFile, port: str, ports: str
) -> tuple[str, tuple[str, ...], str] | None:
    """Return the file, the lines and the command that make a change; None where they are not known.

    `port` is written where a line has one port, `ports` where it has a list.
    """
    name, *field_path = change.subject[1:] or ("",)
    if field_path == ["qos", "pfc_watchdog"] and change.new is not None and features.file == QOS_FEATURES_FILES[0]:
        return features.file, features.watchdog_lines_for_port(name, ports), SWITCHD_RELOAD_COMMAND
    row = _LINE_BY_PORT_FIELD.get(tuple(field_path)) if field_path else _LINE_BY_SWITCH_FIELD.get(name)
    if row is None or not name.startswith(row.ports) or not isinstance(change.new, row.kind):
        return None
    value = row.words.get(change.new) if row.words else change.new
    if value is None:
        return None
    line = row.line.format(value=value, port=port)
    return row.place.format(ports=ports, features=features.file), (line,), row.command


class _SettingLine(NamedTuple):
    """How a setting is written: the type of its values, its place, its line, and the command that loads the file."""

    kind: type[int] | type[str]
    place: str
    line: str
    command: str
    words: Mapping[object, str] = {}
    """How its values are written; without any, as they are."""
    ports: str = ""
    """How the names of the ports begin that have it there."""


_STANZA = f"the stanza of {{ports}} in {INTERFACES_FILE}"
_TRUE_OR_FALSE: Mapping[object, str] = {True: "TRUE", False: "FALSE"}
_LINE_BY_PORT_FIELD: Mapping[tuple[str, ...], _SettingLine] = {
    ("mtu_bytes",): _SettingLine(int, _STANZA, "mtu {value}", _IFRELOAD_COMMAND, ports="swp"),
    ("enabled",): _SettingLine(
        bool, _STANZA, "link-down {value}", _IFRELOAD_COMMAND, words={True: "no", False: "yes"}, ports="swp"
    ),
    ("speed_mbps",): _SettingLine(int, _STANZA, "link-speed {value}", _IFRELOAD_COMMAND, ports="swp"),
    ("qos", "trust"): _SettingLine(
        str,
        "{features}",
        "traffic.packet_priority_source_set = [{value}]",
        SWITCHD_RELOAD_COMMAND,
        words={"dscp": "dscp", "pcp": "802.1p", "both": "802.1p,dscp"},
    ),
    ("cable_length_m",): _SettingLine(
        int, "the port group of {ports} in {features}", "cable_length = {value}", SWITCHD_RELOAD_COMMAND
    ),
    ("adaptive_routing",): _SettingLine(
        bool,
        ADAPTIVE_ROUTING_FILE,
        "interface.{port}.adaptive_routing.enable = {value}",
        SWITCHD_RELOAD_COMMAND,
        words=_TRUE_OR_FALSE,
    ),
}
_LINE_BY_SWITCH_FIELD: Mapping[str, _SettingLine] = {
    "@adaptive_routing": _SettingLine(
        bool, ADAPTIVE_ROUTING_FILE, "adaptive_routing.enable = {value}", SWITCHD_RELOAD_COMMAND, words=_TRUE_OR_FALSE
    ),
    "@watchdog_polling_ms": _SettingLine(int, SWITCHD_FILE, "pfc_wd.poll_interval = {value}", SWITCHD_RELOAD_COMMAND),
}
