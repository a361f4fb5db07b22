"""Commands of fixes in reports: below a line that names the devices and what takes them, equal ones once."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodrop import platforms
from nodrop.engine.finding import Finding, FixCommands
from nodrop.model.subject import Subject
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list

_DeviceKey = tuple[str, str]
"""The folder of a fabric, empty where there is one, and a device in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandParagraph:
    """Commands as reports show them: where to type them, what to know before, and the lines."""

    heading: str
    remarks: tuple[str, ...]
    lines: tuple[str, ...]


def build_command_paragraphs(group: Sequence[Finding]) -> list[CommandParagraph]:
    """Return the commands for findings that are shown together, equal commands once with all of their devices."""
    ports_found: dict[_DeviceKey, set[str]] = {}
    for finding in group:
        if port := _port_of_subject(finding.subject):
            ports_found.setdefault((finding.within, finding.subject[0]), set()).add(port)
    alike: dict[tuple[str, str, tuple[str, ...]], list[tuple[_DeviceKey, FixCommands]]] = {}
    for finding in group:
        for commands in finding.fix.commands if finding.fix else ():
            key = (commands.condition, commands.language, commands.lines)
            alike.setdefault(key, []).append(((finding.within, commands.device), commands))
    return [_merge_equal_commands(rows, ports_found) for rows in alike.values()]


def describe_outdated_files(group: Iterable[Finding]) -> Iterator[str]:
    """Yield which files the commands for findings leave out of date, and what to do about that."""
    files = dict.fromkeys(
        file
        for finding in group
        if finding.fix
        for commands in finding.fix.commands
        for file in commands.outdated_files
    )
    if files:
        yield (
            f"out of date afterwards: {format_name_list(map(escape_or_quote_name, files))}; "
            "change the intent too and run `nodrop build`, or make the same change in these files"
        )


def lines_of_fix(finding: Finding) -> Iterator[str]:
    """Yield what to do about a finding, and the commands for it below the lines that introduce them."""
    if finding.fix is None:
        return
    sentence = f"Fix: {finding.fix.text}"
    paragraphs = build_command_paragraphs([finding])
    yield f"{sentence}; {paragraphs[0].heading}" if paragraphs else sentence
    for number, paragraph in enumerate(paragraphs):
        yield from [paragraph.heading] if number else []
        yield from paragraph.remarks
        yield from (f"  {line}" for line in paragraph.lines)
    yield from describe_outdated_files([finding])


def _port_of_subject(subject: Subject) -> str:
    """Return the port that a subject is or is part of; empty where there is none."""
    return subject[1] if len(subject) > 1 and not subject[1].startswith("@") else ""


def _merge_equal_commands(
    alike: Sequence[tuple[_DeviceKey, FixCommands]], ports_found: Mapping[_DeviceKey, Collection[str]]
) -> CommandParagraph:
    """Return equal commands once, for all of their devices, with the impact and the notes of each."""
    every = [commands for _, commands in alike]
    impacts = dict.fromkeys(f"impact: {commands.impact}" for commands in every if commands.impact)
    notes = dict.fromkeys(note for commands in every for note in commands.notes)
    are_found = all(commands.ports and {*commands.ports} == ports_found.get(key) for key, commands in alike)
    return CommandParagraph(
        heading=_format_heading(every) + (", changing only the affected ports:" if are_found else ":"),
        remarks=(*impacts, *([] if are_found else _describe_changed_ports(every)), *notes),
        lines=every[0].lines,
    )


def _format_heading(alike: Sequence[FixCommands]) -> str:
    """Return the devices of commands and what takes them, `on leaf1 (NVUE)`, after the case that they are for."""
    first = alike[0]
    title = platforms.load_command_lines_module(first.language).LANGUAGE_TITLE
    devices = format_name_list(escape_or_quote_name(commands.device) for commands in alike if commands.device)
    where = f"on {devices} ({title})" if devices else f"on the {title}"
    return f"{first.condition}, {where}" if first.condition else where


def _describe_changed_ports(alike: Sequence[FixCommands]) -> list[str]:
    """Return which ports equal commands change unnamed, for each device where they differ."""
    changing = [commands for commands in alike if commands.ports]
    if changing == [*alike] and all(commands.ports == alike[0].ports for commands in alike):
        return [_describe_ports(alike[0], " on each" if len(alike) > 1 else "")]
    return [_describe_ports(commands, f" on {escape_or_quote_name(commands.device)}") for commands in changing]


def _describe_ports(commands: FixCommands, where: str) -> str:
    names = format_name_list(map(escape_or_quote_name, commands.ports))
    return f"changes {format_count(len(commands.ports), 'port')}{where}: {names}"
