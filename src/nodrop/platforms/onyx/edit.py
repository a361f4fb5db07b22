"""Changes of an Onyx switch, as the commands to type: a running-config is printed by a switch, and none is written."""

from collections.abc import Iterable, Mapping

from nodrop.model.change import Change, EditResult
from nodrop.platforms.kit.command_lines import PORT
from nodrop.platforms.kit.editing import RetryBudget, as_manual_steps
from nodrop.platforms.onyx.read_values import KIBIBYTE_BYTES

_ONYX_WORD_BY_TRUST = {"dscp": "L3", "pcp": "L2", "both": "both"}


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: RetryBudget | None = None
) -> EditResult:
    """Leave the files as they are, and return the commands to type for each change."""
    return as_manual_steps(changes, _describe_manual_change, _commands_with_port_slot)


def _commands_with_port_slot(change: Change) -> tuple[str, ...]:
    """Return the commands of a change with a slot for its port."""
    return _commands_for_change(change, PORT)


def _describe_manual_change(change: Change) -> str:
    subject = "/".join(change.subject)
    port = change.subject[1].removeprefix("Eth") if len(change.subject) > 1 else ""
    commands = _commands_for_change(change, f"ethernet {port}")
    if not commands:
        return f"{subject}: nodrop does not know the Onyx command"
    return f"{subject}: type {', then '.join(f'`{command}`' for command in commands)}"


def _commands_for_change(change: Change, spelled_port: str) -> tuple[str, ...]:
    """Return the commands that make a change; none where they are not known."""
    name, *field_path = change.subject[1:] or ("",)
    new = change.new
    if not name.startswith("Eth"):
        return ()
    port = f"interface {spelled_port}"
    match field_path:
        case ["enabled"] if isinstance(new, bool):
            return (f"{port} {'no ' if new else ''}shutdown",)
        case ["mtu_bytes"] if isinstance(new, int):
            return (f"{port} mtu {new} force",)
        case ["speed_mbps"] if isinstance(new, int):
            return (f"{port} speed {new // 1000}G force",)
        case ["link_pause"] if new in (False, None):
            return f"{port} flowcontrol send off force", f"{port} flowcontrol receive off force"
        case ["qos", "trust"] if new in _ONYX_WORD_BY_TRUST:
            return (f"{port} qos trust {_ONYX_WORD_BY_TRUST[str(new)]}",)
        case ["qos", "dscp_to_tc", dscp] if isinstance(new, int):
            return (f"{port} qos map dscp {dscp} to switch-priority {new}",)
        case ["qos", "tc_to_queue", priority] if isinstance(new, int):
            return (f"{port} traffic-class {new} bind switch-priority {priority}",)
        case ["qos", "pfc_watchdog"]:
            return (f"{port} {'no ' if new is None else ''}pfc-wd",)
        case ["qos", ("pfc_rx_priorities" | "pfc_tx_priorities")] if isinstance(new, list | tuple):
            return _pfc_commands(port, new)
        case ["qos", "queues", queue, "scheduler", "type"] if new == "strict":
            return (f"{port} traffic-class {queue} dcb ets strict",)
        case ["qos", "queues", queue, "wred"]:
            return _marking_commands(port, queue, new)
    return ()


def _pfc_commands(port: str, priorities: Iterable[object]) -> tuple[str, ...]:
    every = tuple(f"dcb priority-flow-control priority {priority} enable" for priority in priorities)
    if not every:
        return (f"{port} no dcb priority-flow-control mode force",)
    return "dcb priority-flow-control enable force", *every, f"{port} dcb priority-flow-control mode on force"


def _marking_commands(port: str, queue: str, new: object) -> tuple[str, ...]:
    """Return the command for marking with thresholds, which Onyx takes in kilobytes."""
    if new is None:
        return (f"{port} no traffic-class {queue} congestion-control",)
    green = getattr(new, "green", None)
    low, high = getattr(green, "min_bytes", None), getattr(green, "max_bytes", None)
    if low is None or high is None:
        return ()
    limits = f"minimum-absolute {low // KIBIBYTE_BYTES} maximum-absolute {high // KIBIBYTE_BYTES}"
    return (f"{port} traffic-class {queue} congestion-control ecn {limits}",)
