"""Commands of NCLU: `net add` and `net del`, with ranges of ports, and `net commit`."""

from collections.abc import Mapping, Sequence

from nodrop.model.change import EditResult
from nodrop.platforms.kit.command_lines import fill_port_slots, group_numbered_names, has_port_slot

LANGUAGE_TITLE = "NCLU"
LINES_BEFORE: tuple[str, ...] = ()
LINES_AFTER = ("net commit",)
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = False


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with its ports as one list: `swp1-16,swp20`."""
    if not has_port_slot(command):
        return (command,)
    entries = (
        entry if isinstance(entry, str) else f"{entry.before}{entry.first}-{entry.last}"
        for entry in group_numbered_names(ports)
    )
    return (fill_port_slots(command, ",".join(entries)),)


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return nothing: an edit of NCLU is by hand: its manual steps have the commands."""
    return ()
