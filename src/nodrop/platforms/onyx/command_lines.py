"""Commands of Onyx, typed in configuration mode, with ranges of ports."""

import re
from collections.abc import Iterator, Mapping, Sequence

from nodrop.model.change import EditResult
from nodrop.platforms.kit.command_lines import NameRunWithStep, fill_port_slots, group_numbered_names, has_port_slot

LANGUAGE_TITLE = "Onyx"
LINES_BEFORE = ("enable", "configure terminal")
LINES_AFTER = ("configuration write",)
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = False
_PORT_NAME_PATTERN = re.compile(r"Eth([0-9]+/[0-9]+)")


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with ranges of ports: `ethernet 1/1-1/16`; ports of a breakout have a line each."""
    return (
        tuple(fill_port_slots(command, spelling) for spelling in _format_ports(ports))
        if has_port_slot(command)
        else (command,)
    )


def _format_ports(ports: Sequence[str]) -> Iterator[str]:
    for entry in group_numbered_names(ports):
        if isinstance(entry, str):
            yield _format_port_with_kind(entry)
        elif _PORT_NAME_PATTERN.fullmatch(f"{entry.before}{entry.first}"):
            head = entry.before.removeprefix("Eth")
            yield f"ethernet {head}{entry.first}-{head}{entry.last}"
        else:
            yield from (_format_port_with_kind(f"{entry.before}{number}") for number in _numbers_of_run(entry))


def _numbers_of_run(run: NameRunWithStep) -> range:
    return range(run.first, run.last + 1, run.step)


def _format_port_with_kind(name: str) -> str:
    """Return a port as the configuration names it: `ethernet 1/1`, `port-channel 1`."""
    for prefix, kind in (("Eth", "ethernet"), ("Mpo", "mlag-port-channel"), ("Po", "port-channel")):
        if name.startswith(prefix):
            return f"{kind} {name.removeprefix(prefix)}"
    return name


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return nothing: an edit of Onyx is by hand: its manual steps have the commands."""
    return ()
