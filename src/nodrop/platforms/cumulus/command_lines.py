"""Lines for the files of a Cumulus switch that is configured by hand, each with its file, and the reload command."""

from collections.abc import Mapping, Sequence

from nodrop.model.change import EditResult
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.command_lines import PORTS, repeat_for_ports

LANGUAGE_TITLE = "Cumulus Linux files"
LINES_BEFORE: tuple[str, ...] = ()
LINES_AFTER: tuple[str, ...] = ()
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = False
SHELL_HEADING = "# then in a shell:"
"""The line above commands that are typed and belong into no file."""


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a line with its ports as a list, else one for each port."""
    return repeat_for_ports(command.replace(PORTS, ",".join(sorted(set(ports), key=natural_sort_key))), ports)


def drop_openings_of_open_context(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines of several blocks, sorted by file with one heading for each, and the lines for a shell last."""
    lines_by_heading: dict[str, dict[str, None]] = {}
    heading = ""
    for line in lines:
        if line.startswith("# "):
            heading = line
        else:
            lines_by_heading.setdefault(heading, {})[line] = None
    last = sorted(lines_by_heading, key=lambda heading: heading == SHELL_HEADING)
    return tuple(line for heading in last for line in (heading, *lines_by_heading[heading]) if line)


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return nothing: these files are edited by hand, with the lines of its manual steps."""
    return ()
