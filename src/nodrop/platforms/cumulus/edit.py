"""Changes of a switch whose files are edited by hand, as the lines to write and the command that makes them hold."""

from collections.abc import Iterable, Mapping

from nodrop.model.change import Change, Edit
from nodrop.model.subject import text
from nodrop.platforms.cumulus.adaptive_routing import ADAPTIVE
from nodrop.platforms.cumulus.features import FEATURES, SWITCHD
from nodrop.platforms.cumulus.interfaces import INTERFACES
from nodrop.platforms.kit.command_lines import PORT, PORTS
from nodrop.platforms.kit.editing import Budget, as_manual_steps

_RELOAD = "systemctl reload switchd"
_IFRELOAD = "ifreload -a"
_SOURCES = {"dscp": "dscp", "pcp": "802.1p", "both": "802.1p,dscp"}


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: Budget | None = None
) -> Edit:
    """Leave the files unchanged, and report for each change which line to write into which of them."""
    features = next((file for file in FEATURES if file in config_files), FEATURES[0])
    return as_manual_steps(
        changes,
        lambda change: _describe_manual_change(change, features),
        lambda change: _lines_for_change(change, features),
    )


def _lines_for_change(change: Change, features: str) -> tuple[str, ...]:
    """Return the lines of a change below the file that they go to, and the command that loads it."""
    rendered = _render_change(change, features, PORT, PORTS)
    if rendered is None:
        return ()
    file, lines, command = rendered
    return f"# {file}:", *lines, command


def _describe_manual_change(change: Change, features: str) -> str:
    subject = text(change.subject)
    name = change.subject[1] if len(change.subject) > 1 else ""
    found_change = _render_change(change, features, name, name)
    if found_change is None:
        return f"{subject}: which line changes this is not known here"
    file, lines, command = found_change
    return f"{subject}: write {', '.join(f'`{line}`' for line in lines)} into {file}, then type `{command}`"


def _render_change(change: Change, features: str, port: str, ports: str) -> tuple[str, tuple[str, ...], str] | None:
    """Return the file, the lines and the command that make a change; None where they are not known.

    `port` is written where a line has one port, `ports` where it has a list.
    """
    name, *field_path = change.subject[1:] or ("",)
    new = change.new
    match field_path:
        case ["mtu_bytes"] if name.startswith("swp") and isinstance(new, int):
            return f"the stanza of {ports} in {INTERFACES}", (f"mtu {new}",), _IFRELOAD
        case ["enabled"] if name.startswith("swp") and isinstance(new, bool):
            return f"the stanza of {ports} in {INTERFACES}", (f"link-down {'no' if new else 'yes'}",), _IFRELOAD
        case ["speed_mbps"] if name.startswith("swp") and isinstance(new, int):
            return f"the stanza of {ports} in {INTERFACES}", (f"link-speed {new}",), _IFRELOAD
        case ["qos", "trust"] if new in _SOURCES:
            return features, (f"traffic.packet_priority_source_set = [{_SOURCES[str(new)]}]",), _RELOAD
        case ["qos", "pfc_watchdog"] if new is not None and features == FEATURES[0]:
            lines = "pfc_watchdog.port_group_list = [watched]", f"pfc_watchdog.watched.port_set = {ports}"
            return features, lines, _RELOAD
        case ["cable_length_m"] if isinstance(new, int):
            return f"the port group of {ports} in {features}", (f"cable_length = {new}",), _RELOAD
        case ["adaptive_routing"] if isinstance(new, bool):
            return ADAPTIVE, (f"interface.{port}.adaptive_routing.enable = {_format_boolean(new)}",), _RELOAD
        case [] if name == "@adaptive_routing" and isinstance(new, bool):
            return ADAPTIVE, (f"adaptive_routing.enable = {_format_boolean(new)}",), _RELOAD
        case [] if name == "@watchdog_polling_ms" and isinstance(new, int):
            return SWITCHD, (f"pfc_wd.poll_interval = {new}",), _RELOAD
    return None


def _format_boolean(new: bool) -> str:
    return "TRUE" if new else "FALSE"
