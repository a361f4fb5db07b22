"""Commands of fixes in reports: how the languages that take them are called."""

from collections.abc import Iterator, Mapping

from nodrop.engine.finding import Fix

SPOKEN: Mapping[str, str] = {
    "cumulus": "Cumulus Linux files",
    "frr": "FRR",
    "hosts": "host",
    "nclu": "NCLU",
    "nvue": "NVUE",
    "onyx": "Onyx",
    "sonic": "SONiC",
}
"""Names of what takes commands, by language."""


def command_lines(fix: Fix) -> Iterator[str]:
    """Yield the commands of a fix below a line for each device."""
    for commands in fix.commands:
        yield f"On {commands.device} ({SPOKEN[commands.language]}):"
        yield from (f"  {line}" for line in commands.lines)
