"""The commands of fixes for the findings of a group on a switch or host, and for all of its ports.

Where a fix has changes, its commands are those of the edit that `nodrop fix` makes in the files of the switch, so that
advice and fix cannot disagree. Else they are the `commands` of the rule. Findings of one group on one switch share
their commands, in which the ports are lists or ranges.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nodrop import platforms
from nodrop.advice_order import host_of_finding, is_port_change, port_of_finding, ports_changed_by_edit
from nodrop.engine.finding import Finding, FixCommands
from nodrop.errors import InputProblems
from nodrop.limits import MAX_ADVISED_EDITS
from nodrop.locate import load_unchanged_source
from nodrop.model.change import DISRUPTIONS, Change, Disruption, EditResult
from nodrop.model.fabric import Device
from nodrop.model.reading import Reading, Remark
from nodrop.model.subject import Subject
from nodrop.platforms.hosts import edit as hosts
from nodrop.platforms.hosts.command_lines import format_job_file_lines
from nodrop.platforms.kit.change_effects import effect_of_change
from nodrop.platforms.kit.command_lines import (
    are_all_ports_typable,
    disruptions_of_lines,
    fill_port_slots,
    has_port_slot,
    is_typable,
    ports_by_command,
)
from nodrop.platforms.kit.editing import RetryBudget
from nodrop.platforms.kit.outdated_names import find_names_with_outdated_numbers

RemarkKey = tuple[Subject, str]
"""What a reader's remark and its finding have in common."""
_ALL_SESSIONS_CLOSE = "all BGP sessions "
"""How the reason of an impact begins before which a switch is drained."""


class GroupCommands(NamedTuple):
    """The commands for the findings of a group on a switch, and what these do."""

    commands: tuple[FixCommands, ...] = ()
    make_changes: bool = False
    """Whether the commands make the changes of the fixes."""
    ended_remarks: frozenset[RemarkKey] = frozenset()
    """The remarks of readers that the commands end."""
    outdated_names: tuple[str, ...] = ()
    """Names that the commands leave, though they state a number that changes."""


def remark_key(remark: Remark | Finding) -> RemarkKey:
    """Return what a reader's remark and its finding have in common."""
    return remark.subject, repr(sorted(remark.facts.items()))


class FixCommandMaker:
    """Makes the commands for groups of findings of a fabric, once for the same findings."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._devices = {device.name: device for device in reading.fabric.devices}
        self._edits_left = MAX_ADVISED_EDITS
        self._remarks_by_device: dict[str, set[RemarkKey] | None] = {}
        self._made: dict[tuple[int, ...], GroupCommands] = {}
        """What was made, by the numbers of the findings."""

    def make_commands(self, group: Mapping[int, Finding]) -> GroupCommands:
        """Return the commands for the findings of a group on a switch, which are given by their numbers.

        Findings with the same numbers have the same fixes each time: they get the commands that were made before.
        """
        numbers = tuple(group)
        if numbers not in self._made:
            self._made[numbers] = self._make_commands(tuple(group.values()))
        return self._made[numbers]

    def _make_commands(self, group: Sequence[Finding]) -> GroupCommands:
        """Return the commands for a group, by device: derived from the changes, else those that the rule has.

        Where only some have changes, all get those of the rule if it has any.
        """
        changes: dict[str, dict[tuple[object, str], Change]] = {}
        for finding in group:
            for change in (*finding.fix.changes, *finding.fix.completing) if finding.fix else ():
                changes.setdefault(change.subject[0], {})[change.subject, repr(change.new)] = change
        derived = [self._commands_of_changes(name, list(asked.values())) for name, asked in changes.items()]
        known = [made for made in derived if made is not None]
        partial = any(not finding.fix.changes and finding.fix.spelled for finding in group if finding.fix)
        make_changes = bool(derived) and len(known) == len(derived) and not partial
        condition = next((finding.fix.condition for finding in group if finding.fix), "")
        own = (
            (_omit_ports_named_by_findings(commands, group) for commands, _ in known)
            if make_changes
            else self._fill_commands_written_in_rule(group)
        )
        commands = (
            *self._commands_for_cases_owner_must_decide(group, shows_only=True),
            *(replace(each, condition=condition) for each in own),
            *self._commands_for_cases_owner_must_decide(group, shows_only=False),
        )
        made = GroupCommands(tuple(map(self._add_notes, commands)), make_changes)
        if not make_changes:
            return made
        return made._replace(
            ended_remarks=frozenset[RemarkKey]().union(*(ended for _, ended in known)),
            outdated_names=find_names_with_outdated_numbers(
                [line for commands, _ in known for line in commands.lines],
                [change for asked in changes.values() for change in asked.values()],
            ),
        )

    def _add_notes(self, commands: FixCommands) -> FixCommands:
        """Return commands with notes on their effects that the lines do not show."""
        sources = self._reading.sources.get(commands.device)
        device = self._devices.get(commands.device)
        if device is None or not sources:
            return commands
        try:
            notes = platforms.explain_commands(
                commands.language, commands.lines, lambda: self._load_source_files_of_device(commands.device)
            )
        except InputProblems:
            notes = ()
        if _ALL_SESSIONS_CLOSE in commands.impact and (drain := self._drain_commands(device)):
            start, end = drain
            notes = (*notes, f"drain first: `{start}`; at the end `{end}`")
        outdated = self._find_outdated_stages(device, commands.lines) if commands.condition != "first check" else ()
        return replace(commands, notes=notes, outdated_files=outdated)

    def _drain_commands(self, device: Device) -> tuple[str, ...]:
        return platforms.drain_commands(device, device.platform, self._file_names_of_device(device.name))

    def _file_names_of_device(self, name: str) -> frozenset[str]:
        return frozenset(source.name for source in self._reading.sources.get(name, ()))

    def _find_outdated_stages(self, device: Device, lines: Sequence[str]) -> tuple[str, ...]:
        """Return the stages beside the state of a switch that commands leave behind; all if that is not known."""
        outdated: list[str] = []
        module = platforms.find_staged_module(device.platform)
        for source in self._reading.sources[device.name]:
            stages = self._reading.stages.get(source.display, ())
            if not stages or module is None:
                continue
            try:
                texts = {stage.display: load_unchanged_source(stage) for stage in stages}
                outdated += module.find_outdated_stages(load_unchanged_source(source), texts, lines)
            except InputProblems:
                outdated += (stage.display for stage in stages)
        return tuple(outdated)

    def _commands_for_cases_owner_must_decide(
        self, group: Sequence[Finding], *, shows_only: bool
    ) -> Iterator[FixCommands]:
        """Yield the commands for the cases that only the owner can distinguish, or those that show which it is.

        The lines of a choice stay together, in their order.
        """
        spelled: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for finding in group:
            port = port_of_finding(finding)
            for choice in finding.fix.choices if finding.fix else ():
                if choice.shows_only == shows_only:
                    where = finding.device or host_of_finding(finding), choice.language, choice.condition
                    in_order = "\n".join(self._commands_of_port(finding, choice.language, choice.lines))
                    if in_order and (port or not has_port_slot(in_order)):
                        spelled.setdefault(where, []).append((in_order, port if has_port_slot(in_order) else ""))
        for (device, language, condition), commands in spelled.items():
            if self._would_refuse_commands(device, language, commands):
                continue
            language, lines = self._lines_to_type_on_device(device, language, commands, saved=not shows_only)
            if lines := self._fit_lines_to_switch_files(device, language, lines):
                impact = _format_impact(disruptions_of_lines(lines))
                yield FixCommands(device=device, language=language, lines=lines, condition=condition, impact=impact)

    def _fill_commands_written_in_rule(self, group: Sequence[Finding]) -> Iterator[FixCommands]:
        """Yield the commands of the rule of a group, filled with its ports."""
        spelled: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for finding in group:
            assert finding.fix is not None
            where = (
                finding.device or host_of_finding(finding),
                finding.fix.language,
                self._host_file_of_finding(finding),
            )
            port = port_of_finding(finding)
            commands = self._commands_of_port(finding, finding.fix.language, finding.fix.spelled)
            if commands and platforms.depends_on_context(finding.fix.language):
                commands = ("\n".join(commands),)
            spelled.setdefault(where, []).extend(
                (command, port if has_port_slot(command) else "")
                for command in commands
                if port or not has_port_slot(command)
            )
        for (device, language, file), slotted in spelled.items():
            if not slotted or self._would_refuse_commands(device, language, slotted):
                continue
            language, lines = self._lines_to_type_on_device(device, language, slotted)
            if lines := self._fit_lines_to_host_file(
                device, file, self._fit_lines_to_switch_files(device, language, lines)
            ):
                impact = _format_impact(disruptions_of_lines(lines))
                yield FixCommands(device=device, language=language, lines=lines, impact=impact)

    def _commands_of_port(self, finding: Finding, language: str, commands: tuple[str, ...]) -> tuple[str, ...]:
        """Return commands of a rule with the names of what the port of a finding uses, as its switch's files have it.

        None where the files have changed since, or a name cannot be typed.
        """
        port, device = port_of_finding(finding), finding.device or ""
        if not port or not commands or not self._reading.sources.get(device):
            return commands
        try:
            return platforms.commands_of_port(
                language, commands, port, lambda: self._load_source_files_of_device(device)
            )
        except InputProblems:
            return ()

    def _lines_to_type_on_device(
        self, name: str, language: str, commands: Sequence[tuple[str, str]], *, saved: bool = True
    ) -> tuple[str, tuple[str, ...]]:
        """Return what takes commands, given with a port each, on a device, and all that is typed there.

        What changes nothing is not `saved`. There are none where the name of a port has a meaning for a shell.
        """
        if not are_all_ports_typable(commands):
            return language, ()
        lines = _fold_commands_over_ports(language, commands)
        if (device := self._devices.get(name)) is not None:
            language, lines = platforms.lines_as_typed_on_device(device, language, lines)
        if saved and lines:
            lines = _add_opening_and_closing_lines(language, lines, self._file_names_of_device(name))
        return language, lines

    def _host_file_of_finding(self, finding: Finding) -> str:
        """Return the file of a host that a finding is about; "" for a switch, or where it is about no file."""
        names = [source.name for source in self._reading.sources.get(finding.subject[0], ())]
        is_host = finding.fix is not None and finding.fix.language == platforms.HOSTS_PLATFORM
        return finding.subject[1] if is_host and finding.subject[1:2] and finding.subject[1] in names else ""

    def _fit_lines_to_host_file(self, device: str, file: str, lines: tuple[str, ...]) -> tuple[str, ...]:
        """Return lines in the form of the file of a host that they go to."""
        source = next((source for source in self._reading.sources.get(device, ()) if source.name == file), None)
        if source is None or not lines:
            return lines
        try:
            fitted = format_job_file_lines(file, load_unchanged_source(source), lines)
        except InputProblems:
            return lines
        return fitted

    def _fit_lines_to_switch_files(self, device: str, language: str, lines: tuple[str, ...]) -> tuple[str, ...]:
        """Return lines in the form that fits the files of a switch."""
        if device not in self._devices or not self._reading.sources.get(device):
            return lines
        try:
            return platforms.fit_commands(language, lines, lambda: self._load_source_files_of_device(device))
        except InputProblems:
            return lines

    def _load_source_files_of_device(self, device: str) -> Mapping[str, bytes]:
        return {source.name: load_unchanged_source(source) for source in self._reading.sources.get(device, ())}

    def _would_refuse_commands(self, name: str, language: str, commands: Iterable[tuple[str, str]]) -> bool:
        """Whether commands, given with a port each, name what the device does not have; it is not known of all."""
        filled = (fill_port_slots(*command) for command in commands)
        try:
            return platforms.would_refuse_commands(language, filled, lambda: self._load_source_files_of_device(name))
        except InputProblems:
            return True

    def _commands_of_changes(
        self, name: str, changes: Sequence[Change]
    ) -> tuple[FixCommands, frozenset[RemarkKey]] | None:
        """Return the commands that make changes on a switch, all of them, and the remarks that these end.

        None where the commands are not known.
        """
        device = self._devices.get(name)
        if device is None and name in self._reading.sources:
            self._edits_left -= 1
            return self._commands_of_host_changes(name, changes) if self._edits_left >= 0 else None
        if device is None or name not in self._reading.sources or device.platform not in platforms.command_languages():
            return None
        self._edits_left -= 1
        return self._commands_of_switch_changes(device, changes) if self._edits_left >= 0 else None

    def _commands_of_host_changes(
        self, name: str, changes: Sequence[Change]
    ) -> tuple[FixCommands, frozenset[RemarkKey]] | None:
        """Return the lines that make changes in the files of a host; None where no number in them does."""
        try:
            bundle = self._load_source_files_of_device(name)
            edit = hosts.edit(bundle, changes, name=name)
        except InputProblems:
            return None
        lines = (
            ()
            if edit.by_hand
            else platforms.load_command_lines_module(platforms.HOSTS_PLATFORM).commands_of_edit(bundle, edit)
        )
        made = FixCommands(device=name, language=platforms.HOSTS_PLATFORM, lines=lines)
        return (made, frozenset()) if lines else None

    def _find_ended_remarks(self, device: Device, edited: Mapping[str, bytes]) -> frozenset[RemarkKey]:
        """Return the remarks that the reader of a switch makes about its files and not about them as edited."""
        if not any(remark.subject[0] == device.name for remark in self._reading.remarks):
            return frozenset()
        if device.name not in self._remarks_by_device:
            self._remarks_by_device[device.name] = self._read_remarks(
                device, self._load_source_files_of_device(device.name)
            )
        old, new = self._remarks_by_device[device.name], self._read_remarks(device, edited)
        return frozenset() if old is None or new is None else frozenset(old - new)

    def _read_remarks(self, device: Device, files: Mapping[str, bytes]) -> set[RemarkKey] | None:
        """Return the remarks of a switch's reader about files; None where these have problems."""
        bundle = [(source, files[source.name]) for source in self._reading.sources[device.name]]
        found = platforms.reader(device.platform).read_device(device.name, bundle)
        return None if found.problems else {remark_key(remark) for remark in found.remarks}

    def _name_file_as_shown(self, device: str, line: str) -> str:
        """Return a line that ends with a file of a device with the name that reports give the file."""
        for source in self._reading.sources[device]:
            if line.startswith("# ") and line.endswith(f" of {source.name}") and is_typable(source.display):
                return f"{line.removesuffix(source.name)}{source.display}"
        return line

    def _commands_of_switch_changes(
        self, device: Device, changes: Sequence[Change]
    ) -> tuple[FixCommands, frozenset[RemarkKey]] | None:
        editor = platforms.find_editor(device.platform)
        if editor is None:
            return None
        try:
            bundle = self._load_source_files_of_device(device.name)
            edit = editor.edit(bundle, changes, name=device.name, budget=RetryBudget(bundle, most=0))
        except InputProblems:
            return None
        lines = tuple(
            self._name_file_as_shown(device.name, line) for line in _commands_of_edit(device.platform, bundle, edit)
        )
        if not lines:
            return None
        made = FixCommands(
            device=device.name,
            language=device.platform,
            lines=lines,
            impact=_describe_impact(device.platform, changes, edit, lines),
            ports=ports_changed_by_edit(changes, edit),
        )
        return made, self._find_ended_remarks(device, {**bundle, **edit.files}) if edit.files else frozenset()


def _describe_impact(platform: str, changes: Iterable[Change], edit: EditResult, lines: Iterable[str]) -> str:
    """Return the worst disruption of changes on a running switch, with its reason; "" where none is known."""
    of_fields = (
        effect_of_change(
            platform,
            change.subject[2 if is_port_change(change) else 1 :],
            is_port_change(change),
            change.old,
            change.new,
        )
        for change in changes
    )
    disruptions = [(impact.disruption, impact.reason) for impact in of_fields if impact is not None]
    if platforms.load_command_lines_module(platform).DISTURBS_AS_PATCH:
        disruptions += [(step.disruption, step.reason) for step in edit.steps if step.disruption != "refused"]
    return _format_impact([*disruptions, *disruptions_of_lines(lines)])


def _format_impact(disruptions: Iterable[tuple[Disruption, str]]) -> str:
    worst, reason = max(disruptions, key=lambda row: DISRUPTIONS.index(row[0]), default=("none", ""))
    return "" if worst == "none" else f"{worst}: {reason}"


def _omit_ports_named_by_findings(commands: FixCommands, group: Sequence[Finding]) -> FixCommands:
    """Return commands with the ports that they change, where those are not said otherwise.

    They are said where a command names a port, as long as the findings on the device name all that change.
    """
    subjects = [
        subject
        for finding in group
        for subject in (finding.subject, *(part.subject for part in finding.related))
        if subject[:1] == (commands.device,)
    ]
    named = {subject[1] for subject in subjects if len(subject) > 1 and not subject[1].startswith("@")}
    kinds = {port.rstrip("0123456789/").lower() for port in commands.ports}
    are_typed = any(kind in line.lower() for kind in kinds for line in commands.lines)
    return replace(commands, ports=()) if are_typed and (not named or named.issuperset(commands.ports)) else commands


def _commands_of_edit(platform: str, bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return the commands of an edit and of its manual steps; none where some are not known."""
    if not all(hand.commands for hand in edit.by_hand):
        return ()
    by_hand = [
        (command, hand.change.subject[1] if has_port_slot(command) else "")
        for hand in edit.by_hand
        for command in hand.commands
    ]
    made = platforms.load_command_lines_module(platform).commands_of_edit(bundle, edit)
    commands = [*((line, "") for line in made), *by_hand]
    return (
        _add_opening_and_closing_lines(platform, _fold_commands_over_ports(platform, commands), bundle)
        if commands and are_all_ports_typable(commands)
        else ()
    )


def _fold_commands_over_ports(language: str, commands: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return commands, given with a port each, in as few lines as a language allows."""
    fill_ports_into_command = platforms.load_command_lines_module(language).fill_ports_into_command
    lines = tuple(
        line
        for command, ports in ports_by_command(commands).items()
        for block in fill_ports_into_command(command, ports)
        for line in block.split("\n")
    )
    return platforms.omit_already_open_contexts(language, lines) if platforms.depends_on_context(language) else lines


def _add_opening_and_closing_lines(language: str, lines: Sequence[str], file_names: Collection[str]) -> tuple[str, ...]:
    """Return lines between those that a language has before and after all commands on a device with these files."""
    opening = platforms.load_command_lines_module(language).LINES_BEFORE
    closing = platforms.closing_lines(language, file_names)
    return (*opening, *lines, *(line for line in closing if line not in lines))
