"""Commands of NVUE: `nv set` and `nv unset`, with ranges of ports, and `nv config apply`."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from nodrop.model.change import EditResult
from nodrop.model.fabric import Device
from nodrop.platforms.kit.command_lines import fill_port_slots, has_port_slot, is_typable
from nodrop.platforms.nvue.edit_document import join_single_keys
from nodrop.platforms.nvue.edit_removals import raise_removal_commands
from nodrop.platforms.nvue.edit_steps import COMMANDS
from nodrop.platforms.nvue.key_splits import explain_key_splits
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile
from nodrop.platforms.nvue.spelling import GLOBAL_PROFILE, PROFILE_KINDS, dialect_of_release
from nodrop.platforms.nvue.tree import Node, NvueFileTree

LANGUAGE_TITLE = "NVUE"
LINES_BEFORE: tuple[str, ...] = ()
LINES_AFTER = ("nv config apply",)
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = True
_GLOBAL_PROFILE_PATTERN = re.compile(rf"(nv (?:un)?set qos ([a-z-]+)) {GLOBAL_PROFILE} ")
"""How a command about the profile begins that ports without their own have, and the kind of that profile."""


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with its ports as one key."""
    return (fill_port_slots(command, join_single_keys("interface", ports)),) if has_port_slot(command) else (command,)


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return the commands of an edit: those of its form for a shell of the switch."""
    return tuple(edit.forms.get(COMMANDS, "").splitlines())


def commands_of_port(
    commands: Sequence[str], port: str, read_files: Callable[[], Mapping[str, bytes]]
) -> tuple[str, ...]:
    """Return commands about global profiles with the profiles that a port is bound to.

    The global ones do nothing for a port with its own. None where the name of a profile has a meaning for a shell.
    """
    if not any(_GLOBAL_PROFILE_PATTERN.match(line) for command in commands for line in command.split("\n")):
        return tuple(commands)
    bound = _profiles_of_port(*next(iter(read_files().items())), port)
    if not all(map(is_typable, bound.values())):
        return ()
    return tuple(
        "\n".join(
            f"{match[1]} {bound[match[2]]} {line[match.end() :]}"
            if (match := _GLOBAL_PROFILE_PATTERN.match(line)) and match[2] in bound
            else line
            for line in command.split("\n")
        )
        for command in commands
    )


@lru_cache(maxsize=1024)
def _profiles_of_port(name: str, text: bytes, port: str) -> Mapping[str, str]:
    """Return the profiles of a file that a port is bound to, by kind; without those that are not there."""
    interfaces, top = _parse_interfaces(name, text)
    bindings = interfaces.view(port).below("qos")
    bound = {kind: bindings.below(kind).text("profile") or "" for kind in PROFILE_KINDS}
    return {kind: profile for kind, profile in bound.items() if profile and top.below("qos", kind).has(profile)}


@lru_cache(maxsize=4)
def _parse_interfaces(name: str, text: bytes) -> tuple[FileInterfaces, ConfigNodeView]:
    """Return the interfaces of a switch's file, and its settings."""
    config = NvueConfigFile("", NvueFileTree(text, name))
    return FileInterfaces(config), config.top


def fit_commands(lines: Sequence[str], read_files: Callable[[], Mapping[str, bytes]]) -> tuple[str, ...]:
    """Return commands that leave nothing empty behind in the file of a switch."""
    if not any(line.startswith("nv unset ") for line in lines):
        return tuple(lines)
    return raise_removal_commands(_parse_root(*next(iter(read_files().items()))), lines)


def drain_commands(device: Device, _file_names: Collection[str]) -> tuple[str, str]:
    """Return the commands that announce all routes as a last resort, and no longer (RFC 8326)."""
    words = dialect_of_release(device.version)
    setting = "nv set router bgp graceful-shutdown"
    return f"{setting} {words.on}", f"{setting} {words.off}"


def explain_commands(lines: Sequence[str], read_files: Callable[[], Mapping[str, bytes]]) -> tuple[str, ...]:
    """Return which keys of the switch's file commands split."""
    return tuple(explain_key_splits(_parse_root(*next(iter(read_files().items()))), lines))


@lru_cache(maxsize=4)
def _parse_root(name: str, text: bytes) -> Node:
    """Return the tree of a switch's file, which is asked for each finding of the switch."""
    return NvueFileTree(text, name).root
