"""Commands of fixes in reports: below a line that names the device and what takes them."""

from collections.abc import Iterator

from nodrop import platforms
from nodrop.engine.finding import Fix, FixCommands
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list


def format_device_and_shell(commands: FixCommands) -> str:
    """Return the device of commands and what takes them: `leaf1 (NVUE)`."""
    title = platforms.command_lines(commands.language).LANGUAGE_TITLE
    return f"{commands.device} ({title})" if commands.device else f"the {title}"


def introduce_commands(commands: FixCommands) -> Iterator[str]:
    """Yield the lines above commands: what they disturb, the ports that they change unnamed, and where to type them."""
    if commands.impact:
        yield f"impact: {commands.impact}"
    if commands.ports:
        yield (
            f"changes {format_count(len(commands.ports), 'port')}: "
            f"{format_name_list(map(escape_or_quote_name, commands.ports))}"
        )
    yield (
        f"{commands.condition}, on {format_device_and_shell(commands)}:"
        if commands.condition
        else f"on {format_device_and_shell(commands)}:"
    )


def command_lines(fix: Fix) -> Iterator[str]:
    """Yield the commands of a fix below the lines that introduce them."""
    for commands in fix.commands:
        yield from introduce_commands(commands)
        yield from (f"  {line}" for line in commands.lines)
