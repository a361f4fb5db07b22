"""Changes of a switch with NCLU, as commands to type: a list of commands records input, and none is written."""

from collections.abc import Iterable, Mapping

from nodrop.model.change import Change, EditResult
from nodrop.model.subject import subject_text
from nodrop.platforms.kit.command_lines import PORT
from nodrop.platforms.kit.editing import RetryBudget, as_manual_steps

_NCLU_WORD_BY_FEC = {"rs": "rs", "fc": "baser", "none": "off"}


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: RetryBudget | None = None
) -> EditResult:
    """Leave the files unchanged, and give for each change the commands to type."""
    return as_manual_steps(changes, _describe_manual_change, _command_with_port_slot)


def _command_with_port_slot(change: Change) -> tuple[str, ...]:
    """Return the command of a change with a slot for its port."""
    command = _command_for_change(change, PORT)
    return () if command is None else (command,)


def _describe_manual_change(change: Change) -> str:
    subject = subject_text(change.subject)
    command = _command_for_change(change, change.subject[1] if len(change.subject) > 1 else "")
    if command is None:
        return f"{subject}: NCLU has no command for this; Cumulus Linux keeps it in traffic.conf and datapath.conf"
    return f"{subject}: type `{command}`, then `net commit`"


def _command_for_change(change: Change, spelled_port: str) -> str | None:
    """Return the command that makes a change; None where there is none."""
    name, *field_path = change.subject[1:] or ("",)
    new = change.new
    port = f"interface {spelled_port}"
    match field_path:
        case ["enabled"] if name.startswith("swp") and isinstance(new, bool):
            return f"net {'del' if new else 'add'} {port} link down"
        case ["mtu_bytes"] if name.startswith("swp") and isinstance(new, int):
            return f"net add {port} mtu {new}"
        case ["speed_mbps"] if name.startswith("swp") and isinstance(new, int):
            return f"net add {port} link speed {new}"
        case ["autoneg"] if name.startswith("swp") and isinstance(new, bool):
            return f"net add {port} link autoneg {'on' if new else 'off'}"
        case ["fec"] if name.startswith("swp") and new in _NCLU_WORD_BY_FEC:
            return f"net add {port} link fec {_NCLU_WORD_BY_FEC[str(new)]}"
        case ["router_id"] if name == "@bgp" and isinstance(new, str):
            return f"net add bgp router-id {new}"
        case ["maximum_paths"] if name == "@bgp" and isinstance(new, int):
            return f"net add bgp maximum-paths {new}"
        case ["multipath_relax"] if name == "@bgp" and isinstance(new, bool):
            return f"net {'add' if new else 'del'} bgp bestpath as-path multipath-relax"
    return None
