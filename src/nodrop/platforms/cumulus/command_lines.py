"""Lines for the files of a Cumulus switch that is configured by hand, each with its file, and the reload command."""

from collections.abc import Mapping, Sequence

from nodrop.model.change import Edit
from nodrop.model.subject import natural
from nodrop.platforms.kit.command_lines import PORTS, repeat_for_ports

TITLE = "Cumulus Linux files"
BEFORE: tuple[str, ...] = ()
AFTER: tuple[str, ...] = ()
KEPT = ""
DISTURBS_AS_PATCH = False


def for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a line with its ports as a list, else one for each port."""
    return repeat_for_ports(command.replace(PORTS, ",".join(sorted(set(ports), key=natural))), ports)


def of_edit(bundle: Mapping[str, bytes], edit: Edit) -> tuple[str, ...]:
    """Return nothing: these files are edited by hand, with the lines of its manual steps."""
    return ()
