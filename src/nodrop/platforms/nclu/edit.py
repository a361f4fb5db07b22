"""Changes of a switch with NCLU, as commands to type: a list of commands records input, and none is written."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from nodrop.model.change import Change, EditResult
from nodrop.model.subject import subject_text
from nodrop.platforms.kit.command_lines import PORT, is_typable
from nodrop.platforms.kit.editing import RetryBudget, as_manual_steps

_SERVER_COMMANDS = {"@ntp_servers": "time ntp server", "@syslog_servers": "syslog host ipv4"}
_NCLU_WORD_BY_FEC = {"rs": "rs", "fc": "baser", "none": "off"}


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: RetryBudget | None = None
) -> EditResult:
    """Leave the files unchanged, and give for each change the commands to type."""
    return as_manual_steps(changes, _describe_manual_change, _commands_with_port_slot)


def _commands_with_port_slot(change: Change) -> tuple[str, ...]:
    """Return the commands of a change with a slot for its port."""
    return _commands_for_change(change, PORT)


def _describe_manual_change(change: Change) -> str:
    subject = subject_text(change.subject)
    commands = _commands_for_change(change, change.subject[1] if len(change.subject) > 1 else "")
    if not commands:
        return f"{subject}: NCLU has no command for this; Cumulus Linux keeps it in traffic.conf and datapath.conf"
    return f"{subject}: type {', then '.join(f'`{command}`' for command in commands)}, then `net commit`"


def _commands_for_change(change: Change, spelled_port: str) -> tuple[str, ...]:
    """Return the commands that make a change; none where there are none."""
    name, *field_path = change.subject[1:] or ("",)
    new = change.new
    match field_path:
        case [field] if name.startswith("swp"):
            return _commands_for_port_field(field, new, f"interface {spelled_port}")
        case ["router_id"] if name == "@bgp" and isinstance(new, str):
            return (f"net add bgp router-id {new}",)
        case ["asn"] if name == "@bgp" and isinstance(new, int):
            return (f"net add bgp autonomous-system {new}",)
        case ["maximum_paths"] if name == "@bgp" and isinstance(new, int):
            return (f"net add bgp maximum-paths {new}",)
        case ["multipath_relax"] if name == "@bgp" and isinstance(new, bool):
            return (f"net {'add' if new else 'del'} bgp bestpath as-path multipath-relax",)
        case ["networks"] if name == "@bgp" and isinstance(new, tuple) and isinstance(change.old, tuple):
            return tuple(_commands_for_rows(change.old, new, _place_of_network))
        case [session, *_] if name == "@neighbors" and not is_typable(session):
            return ()
        case [session, "remote_asn"] if name == "@neighbors" and isinstance(new, int | str):
            return (f"net add bgp neighbor {session} remote-as {new}",)
        case [session, "passive"] if name == "@neighbors" and isinstance(new, bool):
            return (f"net {'add' if new else 'del'} bgp neighbor {session} passive",)
        case [] if name in _SERVER_COMMANDS and isinstance(new, tuple) and isinstance(change.old, tuple):
            return tuple(_commands_for_rows(change.old, new, lambda _: _SERVER_COMMANDS[name]))
        case ["own_vrf"] if name == "@management" and new is True:
            return "net add vrf mgmt", "net add interface eth0 vrf mgmt"
    return ()


def _commands_for_port_field(field: str, new: object, port: str) -> tuple[str, ...]:
    match field:
        case "enabled" if isinstance(new, bool):
            return (f"net {'del' if new else 'add'} {port} link down",)
        case "mtu_bytes" if isinstance(new, int):
            return (f"net add {port} mtu {new}",)
        case "speed_mbps" if isinstance(new, int):
            return (f"net add {port} link speed {new}",)
        case "autoneg" if isinstance(new, bool):
            return (f"net add {port} link autoneg {'on' if new else 'off'}",)
        case "fec" if new in _NCLU_WORD_BY_FEC:
            return (f"net add {port} link fec {_NCLU_WORD_BY_FEC[str(new)]}",)
    return ()


def _place_of_network(network: object) -> str:
    return f"bgp {'ipv6' if ':' in str(network) else 'ipv4'} unicast network"


def _commands_for_rows(
    old: tuple[object, ...], new: tuple[object, ...], place: Callable[[object], str]
) -> Iterator[str]:
    """Yield the commands that add rows and remove others, each behind the words for its place."""
    for row in (*new, *old):
        if (row not in old or row not in new) and is_typable(str(row)):
            yield f"net {'add' if row in new else 'del'} {place(row)} {row}"
