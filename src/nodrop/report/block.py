"""One block of the text report: findings with one cause, the first shown in its file, the others counted and listed."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nodrop.engine.finding import FileLocation, Finding, Fix, FixCommands, RelatedPart
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.subject import Subject
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.report.commands import describe_changed_ports, describe_outdated_files, introduce_commands
from nodrop.report.escape import escape_terminal
from nodrop.report.links import TerminalLinks, format_link
from nodrop.report.names import (
    escape_or_quote_name,
    finding_message_with_device,
    format_count,
    format_counts_by_kind,
    format_name_list,
    subject_label,
)
from nodrop.report.paint import style_text
from nodrop.report.quote import fit_quoted_line
from nodrop.results.outcome import MAX_DEVICES_WITH_COMMANDS, ReadLine, location_to_correct, related_places
from nodrop.syntax.places import Span

_ANSI_STYLE_BY_NAME = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "unknown": "1;35",
    "frame": "1;34",
    "strong": "1",
}
_MAX_RELATED_PLACES = 4
_MAX_COMMAND_LINES_PER_DEVICE = 16
"""How many lines of commands it shows for each."""
_MARKED_WORD_PATTERN = re.compile(r"\"[^\"]*+\"|'[^']*+'|[^\s,\]}]+")
"""The text that is marked at the place of a problem."""
_UNCERTAIN_BY_RULE_REASON = "the files do not show all that decides it"
"""Why a finding is not certain whose rule says so itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStyle:
    """How a report looks, and where the lines that it quotes come from."""

    color: bool
    verbose: bool
    width: int
    line: ReadLine
    links: TerminalLinks | None = None

    def escape_and_style(self, style: str, text: str) -> str:
        """Return text in a style, escaped: text from users and configurations reaches the page through here alone."""
        return style_text(escape_terminal(text), _ANSI_STYLE_BY_NAME.get(style, ""), self.color)

    def format_note_line(self, style: str, heading: str, shown_text: str) -> str:
        """Return one line of a report: a head in a style, and its text."""
        return f"{self.escape_and_style(style, heading)}: {self.escape_and_style('', shown_text)}"

    def format_rule_heading(self, style: str, word: str, *names: str) -> str:
        """Return a word and the rules that it is about, as `error[pfc-without-watchdog]`, each linked to its page."""
        if self.links is None:
            return self.escape_and_style(style, f"{word}[{', '.join(names)}]")
        shown = (
            format_link(self.links.address_of_rule_page(name), self.escape_and_style(style, name)) for name in names
        )
        opening, comma, closing = (self.escape_and_style(style, text) for text in (f"{word}[", ", ", "]"))
        return f"{opening}{comma.join(shown)}{closing}"

    def format_place(self, located: FileLocation) -> str:
        """Return a place, linked to its file."""
        span = located.span
        text = self.escape_and_style("", located.describe())
        return (
            format_link(self.links.address_of_file_line(located.file, span.line if span else None), text)
            if self.links
            else text
        )

    def format_problem(self, problem: Problem) -> list[str]:
        """Return a problem of the input, its place linked to its file, and the quoted line with its place marked."""
        return [self._problem_headline(problem), *self._quoted_problem(problem)]

    def _quoted_problem(self, problem: Problem) -> list[str]:
        line, number, column = problem.quoted_line, problem.line, problem.column
        if line is None or number is None or column is None or looks_like_secret(line):
            return []
        word = _MARKED_WORD_PATTERN.match(line, column - 1)
        end = word.end() if word else column
        quoted = fit_quoted_line(line, Span(number, column, number, end + 1), room=self.width - len(str(number)) - 3)
        bar, space = self.escape_and_style("frame", "|"), " " * len(str(number))
        return [
            f"{space} {bar}",
            f"{self.escape_and_style('frame', str(number))} {bar} {self.escape_and_style('', quoted.text)}",
            f"{space} {bar} {'':{quoted.indent}}{self.escape_and_style('error', '^' * quoted.length)}",
        ]

    def _problem_headline(self, problem: Problem) -> str:
        if self.links is None:
            return self.format_note_line("error", "error", str(problem))
        place = ":".join(str(field) for field in (problem.path, problem.line, problem.column) if field is not None)
        address = self.links.address_of_file_line(problem.path, problem.line)
        shown = format_link(address, self.escape_and_style("", place))
        error, words = self.escape_and_style("error", "error"), str(problem).removeprefix(place)
        return f"{error}: {shown}{self.escape_and_style('', words)}"

    def first_line_of_place(self, located: FileLocation | None) -> str | None:
        """Return the first line of a place, if it is available."""
        return self.line(located.file, located.span.line) if located and located.span else None


def format_finding_block(
    group: Sequence[Finding], report_style: ReportStyle, explained: Sequence[Sequence[Finding]] = ()
) -> list[str]:
    """Return the first of a group in full; the others counted and listed, or one by one where the page is verbose.

    `explained` are the groups that end with this one.
    """
    first_finding, *other_findings = group
    place, besides = location_to_correct(first_finding), related_places(first_finding)
    related = besides if report_style.verbose else besides[:_MAX_RELATED_PLACES]
    body = _BlockBody(
        page=report_style, gutter=_line_number_width([place, *(mention.located for mention in related)], report_style)
    )
    lines = [
        f"{report_style.format_rule_heading(first_finding.severity, first_finding.severity, first_finding.rule)}: "
        f"{report_style.escape_and_style('strong', finding_message_with_device(first_finding))}"
    ]
    captions = [
        subject.subject_text(first_finding.subject),
        *(_format_caption(mention, first_finding) for mention in related),
    ]
    if place is not first_finding.located:
        captions[:2] = [first_finding.related[0].message, f"{related[0].message}: {captions[0]}"]
    lines += body.format_quoted_place("-->", place, ("^", first_finding.severity), captions[0])
    for related_place, caption in zip(related, captions[1:], strict=True):
        lines += body.format_quoted_place(":::", related_place.located, ("-", "frame"), caption)
    if remaining_number := len(besides) - len(related):
        lines.append(body.format_footer_line(f"{format_count(remaining_number, 'more related part')}; -v shows them"))
    if first_finding.left_out:
        lines += body.wrap_footer(f"also: {', '.join(first_finding.left_out)}")
    if first_finding.confidence != "certain":
        lines += body.wrap_footer(
            f"{first_finding.confidence}, not certain: {first_finding.doubt or _UNCERTAIN_BY_RULE_REASON}"
        )
    lines += (
        body.format_fix(_merge_commands_of_other_findings(first_finding.fix, other_findings))
        if first_finding.fix
        else []
    )
    lines += (
        body.list_other_findings(other_findings)
        if report_style.verbose
        else body.summarize_other_findings(first_finding, other_findings)
    )
    for other_group in explained:
        more = f" ({len(other_group) - 1} more of the same)" if len(other_group) > 1 else ""
        lines += body.wrap_footer(
            f"also ends {other_group[0].rule}: {finding_message_with_device(other_group[0])}{more}"
        )
    return lines


def _merge_commands_of_other_findings(fix: Fix, other_findings: Iterable[Finding]) -> Fix:
    """Return a fix with the commands of other switches, equal commands once, with all of their switches."""
    if not fix.commands:
        return fix
    others = (each for finding in other_findings if finding.fix for each in finding.fix.commands)
    alike: dict[tuple[str, tuple[str, ...]], list[FixCommands]] = {}
    for each in (*fix.commands, *others):
        alike.setdefault((each.condition, each.lines), []).append(each)
    return replace(fix, commands=tuple(map(_merge_equal_commands, alike.values())))


def _merge_equal_commands(alike: Sequence[FixCommands]) -> FixCommands:
    """Return equal commands once, for all of their switches, with the notes on any of them."""
    names = (escape_or_quote_name(commands.device) for commands in alike if commands.device)
    merged = replace(alike[0], device=format_name_list(names))
    if len(alike) == 1:
        return merged
    notes = dict.fromkeys(note for commands in alike for note in commands.notes)
    outdated_files = dict.fromkeys(file for commands in alike for file in commands.outdated_files)
    notes_of_all = (*describe_changed_ports(alike), *notes)
    return replace(merged, ports=(), notes=notes_of_all, outdated_files=tuple(outdated_files))


def _line_number_width(places: Iterable[FileLocation | None], page: ReportStyle) -> int:
    """How many columns the numbers of the quoted lines need."""
    numbers = [
        place.span.line for place in places if place and place.span and page.first_line_of_place(place) is not None
    ]
    return len(str(max(numbers, default=1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlockBody:
    """What stands under the head of a block; `gutter` columns hold the numbers of lines."""

    page: ReportStyle
    gutter: int

    def format_quoted_place(
        self, arrow: str, located: FileLocation | None, mark: tuple[str, str], caption: str
    ) -> list[str]:
        """Return a place and its line, with the span underlined and a caption; without a line, the caption alone."""
        page, gutter = self.page, self.gutter
        lines = (
            [f"{'':{gutter}}{page.escape_and_style('frame', arrow)} {page.format_place(located)}"] if located else []
        )
        text = page.first_line_of_place(located)
        if text is None or located is None or located.span is None:
            return [*lines, self.format_footer_line(caption)]
        quoted = fit_quoted_line(text, located.span, room=page.width - gutter - 3)
        bar, (character, style) = page.escape_and_style("frame", "|"), mark
        marks = page.escape_and_style(style, f"{character * quoted.length} {caption}")
        number = page.escape_and_style("frame", f"{located.span.line:>{gutter}}")
        return [
            *lines,
            f"{'':{gutter}} {bar}",
            f"{number} {bar} {page.escape_and_style('', quoted.text)}",
            f"{'':{gutter}} {bar} {'':{quoted.indent}}{marks}",
        ]

    def format_footer_line(self, text: str) -> str:
        """Return a line about the finding rather than a place."""
        return f"{'':{self.gutter}} {self.page.escape_and_style('frame', '=')} {self.page.escape_and_style('', text)}"

    def format_footer_with_details(self, first_text: str, other_texts: Iterable[str]) -> list[str]:
        """Such a line, and others that belong to it."""
        return [
            self.format_footer_line(first_text),
            *self.indent_under_footer(self.page.escape_and_style("", text) for text in other_texts),
        ]

    def indent_under_footer(self, texts: Iterable[str]) -> Iterable[str]:
        """Lines that belong to a footer, already escaped."""
        return (f"{'':{self.gutter + 3}}{text}" for text in texts)

    def format_fix(self, fix: Fix) -> list[str]:
        """Return what to do, wrapped, and the commands for it, as they are typed: a long one is not broken."""
        lines = self.wrap_footer(f"fix: {fix.text.strip()}")
        shown = fix.commands if self.page.verbose else fix.commands[:MAX_DEVICES_WITH_COMMANDS]
        for commands in shown:
            lines += self.indent_under_footer(
                self.page.escape_and_style("", line) for line in introduce_commands(commands)
            )
            typed = commands.lines if self.page.verbose else commands.lines[:_MAX_COMMAND_LINES_PER_DEVICE]
            lines += self.indent_under_footer(f"  {self.page.escape_and_style('strong', line)}" for line in typed)
            if left := len(commands.lines) - len(typed):
                lines += self.indent_under_footer(
                    [self.page.escape_and_style("", f"  {format_count(left, 'more line')}; -v shows them")]
                )
        for line in describe_outdated_files(fix):
            lines += self.wrap_footer(line)
        if left := len(fix.commands) - len(shown):
            lines += self.indent_under_footer(
                [
                    self.page.escape_and_style(
                        "", f"and on {format_count(left, 'more switch')}, needed with these; -v shows them"
                    )
                ]
            )
        return lines

    def wrap_footer(self, text: str) -> list[str]:
        """Return a footer in lines that fit; the line breaks of its author stay."""
        room = max(self.page.width - self.gutter - 3, 40)
        written = escape_terminal(text, lines=True).split("\n")
        first_row, *other_rows = (row for line in written for row in textwrap.wrap(line, room, break_long_words=False))
        return self.format_footer_with_details(first_row, other_rows)

    def list_other_findings(self, other_findings: Sequence[Finding]) -> list[str]:
        """Return the others of a group, one by one."""
        page = self.page

        def place(finding: Finding) -> str:
            return (
                page.format_place(finding.located)
                if finding.located
                else page.escape_and_style("", subject.subject_text(finding.subject))
            )

        rows = (
            f"{place(finding)}: {page.escape_and_style('', finding_message_with_device(finding))}"
            for finding in other_findings
        )
        return (
            [self.format_footer_line(f"{len(other_findings)} more of the same:"), *self.indent_under_footer(rows)]
            if other_findings
            else []
        )

    def summarize_other_findings(self, first_finding: Finding, other_findings: Sequence[Finding]) -> list[str]:
        """Return the others of a group: by name on the device of the first, by number elsewhere, fabric by fabric."""
        inside = [finding for finding in other_findings if finding.within == first_finding.within]
        subjects = [finding.subject for finding in inside if finding.device == first_finding.device]
        away = [finding for finding in inside if finding.device != first_finding.device]
        outside = [finding for finding in other_findings if finding.within != first_finding.within]
        lines = [_format_more_of_same_subjects(first_finding.device, subjects)] if subjects else []
        if outside:
            lines.append(_format_findings_elsewhere(away, outside))
        elif away:
            lines.append(_format_same_on_devices(away))
        return [self.format_footer_line(line) for line in lines]


def _format_caption(related: RelatedPart, finding: Finding) -> str:
    """Return the message of a related part, after its name unless it is the very part that the finding points at."""
    return (
        related.message
        if related.subject == finding.at
        else f"{subject.subject_text(related.subject)}: {related.message}"
    )


def _format_more_of_same_subjects(device: str | None, subjects: Sequence[Subject]) -> str:
    where = "" if device is None else f" on {escape_or_quote_name(device)}"
    labels = [subject_label(other_subject, device) for other_subject in subjects if other_subject != (device,)]
    return f"{len(subjects)} more of the same{where}" + (f": {format_name_list(labels)}" if labels else "")


def _format_same_on_devices(other_findings: Sequence[Finding]) -> str:
    devices = {escape_or_quote_name(finding.device) if finding.device else "the fabric" for finding in other_findings}
    if len(devices) == len(other_findings) == 1:
        label = subject_label(other_findings[0].subject, other_findings[0].device)
        part = f": {label}" if other_findings[0].subject[1:] else ""
        return f"the same on {format_name_list(devices)}{part}"
    numbers = [
        format_count(len(devices), "device"),
        *format_counts_by_kind(finding.subject for finding in other_findings),
    ]
    return f"the same on {format_name_list(devices)} ({', '.join(numbers)})"


def _format_findings_elsewhere(away: Sequence[Finding], outside: Sequence[Finding]) -> str:
    """Of findings on other devices, those of the first one's fabric by name, and those of other fabrics by folder."""
    other_findings = (*away, *outside)
    near = {escape_or_quote_name(finding.device) for finding in away if finding.device}
    fabrics = {escape_or_quote_name(finding.within) for finding in outside}
    devices = {(finding.within, finding.device) for finding in other_findings if finding.device}
    numbers = [format_count(len(fabrics), "other fabric"), *([format_count(len(devices), "device")] if devices else [])]
    totals = format_counts_by_kind(
        (finding.subject for finding in other_findings), (finding.within for finding in other_findings)
    )
    location = f"on {format_name_list(near)}, and " if near else ""
    return f"the same {location}in {format_name_list(fabrics)} ({', '.join([*numbers, *totals])})"
