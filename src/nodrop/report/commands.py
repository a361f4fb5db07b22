"""Commands of fixes in reports: below a line that names the device and what takes them."""

from collections.abc import Iterator, Sequence

from nodrop import platforms
from nodrop.engine.finding import Fix, FixCommands
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list


def format_device_and_shell(commands: FixCommands) -> str:
    """Return the device of commands and what takes them: `leaf1 (NVUE)`."""
    title = platforms.load_command_lines_module(commands.language).LANGUAGE_TITLE
    return f"{commands.device} ({title})" if commands.device else f"the {title}"


def introduce_commands(commands: FixCommands) -> Iterator[str]:
    """Yield the lines above commands: what they disturb, what they do not show, and where to type them."""
    if commands.impact:
        yield f"impact: {commands.impact}"
    if commands.ports:
        yield _describe_ports(commands, "")
    yield from commands.notes
    yield (
        f"{commands.condition}, on {format_device_and_shell(commands)}:"
        if commands.condition
        else f"on {format_device_and_shell(commands)}:"
    )


def describe_outdated_files(fix: Fix) -> Iterator[str]:
    """Yield which files the commands of a fix leave out of date, and what to do about that."""
    files = dict.fromkeys(file for commands in fix.commands for file in commands.outdated_files)
    if files:
        yield (
            f"out of date afterwards: {format_name_list(map(escape_or_quote_name, files))}; "
            "change the intent too and run `nodrop build`, or make the same change in these files"
        )


def describe_changed_ports(alike: Sequence[FixCommands]) -> tuple[str, ...]:
    """Return which ports equal commands change unnamed on several switches, where that is on each or differs."""
    first = alike[0]
    if not any(commands.ports for commands in alike):
        return ()
    if all(commands.ports == first.ports for commands in alike):
        return (_describe_ports(first, " on each"),)
    changing = (commands for commands in alike if commands.ports)
    return tuple(_describe_ports(commands, f" on {escape_or_quote_name(commands.device)}") for commands in changing)


def _describe_ports(commands: FixCommands, where: str) -> str:
    names = format_name_list(map(escape_or_quote_name, commands.ports))
    return f"changes {format_count(len(commands.ports), 'port')}{where}: {names}"


def command_lines(fix: Fix) -> Iterator[str]:
    """Yield the commands of a fix below the lines that introduce them."""
    for commands in fix.commands:
        yield from introduce_commands(commands)
        yield from (f"  {line}" for line in commands.lines)
    yield from describe_outdated_files(fix)
