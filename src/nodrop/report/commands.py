"""Commands of fixes in reports: below a line that names the device and what takes them."""

from collections.abc import Iterator

from nodrop import platforms
from nodrop.engine.finding import Commands, Fix
from nodrop.report.names import count, format_name_list, name


def where_typed(commands: Commands) -> str:
    """Return the device of commands and what takes them: `leaf1 (NVUE)`."""
    title = platforms.command_lines(commands.language).TITLE
    return f"{commands.device} ({title})" if commands.device else f"the {title}"


def introduce_commands(commands: Commands) -> Iterator[str]:
    """Yield the lines above commands: what they disturb, the ports that they change unnamed, and where to type them."""
    if commands.impact:
        yield f"impact: {commands.impact}"
    if commands.ports:
        yield f"changes {count(len(commands.ports), 'port')}: {format_name_list(map(name, commands.ports))}"
    yield f"{commands.condition}, on {where_typed(commands)}:" if commands.condition else f"on {where_typed(commands)}:"


def command_lines(fix: Fix) -> Iterator[str]:
    """Yield the commands of a fix below the lines that introduce them."""
    for commands in fix.commands:
        yield from introduce_commands(commands)
        yield from (f"  {line}" for line in commands.lines)
