"""Commands of fixes in reports: below a line that names the device and what takes them."""

from collections.abc import Iterator

from nodrop import platforms
from nodrop.engine.finding import Commands, Fix


def where_typed(commands: Commands) -> str:
    """Return the device of commands and what takes them: `leaf1 (NVUE)`."""
    title = platforms.command_lines(commands.language).TITLE
    return f"{commands.device} ({title})" if commands.device else f"the {title}"


def command_lines(fix: Fix) -> Iterator[str]:
    """Yield the commands of a fix below a line for each device."""
    for commands in fix.commands:
        yield f"On {where_typed(commands)}:"
        yield from (f"  {line}" for line in commands.lines)
