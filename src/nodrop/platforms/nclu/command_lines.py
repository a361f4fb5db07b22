"""Commands of NCLU: `net add` and `net del`, with ranges of ports, and `net commit`."""

from collections.abc import Mapping, Sequence

from nodrop.model.change import Edit
from nodrop.platforms.kit.command_lines import fill_slots, has_slot, runs

TITLE = "NCLU"
BEFORE: tuple[str, ...] = ()
AFTER = ("net commit",)
KEPT = ""
DISTURBS_AS_PATCH = False


def for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with its ports as one list: `swp1-16,swp20`."""
    if not has_slot(command):
        return (command,)
    entries = (
        entry if isinstance(entry, str) else f"{entry.before}{entry.first}-{entry.last}" for entry in runs(ports)
    )
    return (fill_slots(command, ",".join(entries)),)


def of_edit(bundle: Mapping[str, bytes], edit: Edit) -> tuple[str, ...]:
    """Return nothing: an edit of NCLU is by hand: its manual steps have the commands."""
    return ()
