"""One block of the text report: findings with one cause, the first shown in its file, the others counted and listed."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nodrop.engine.finding import FileLocation, Finding, Fix, RelatedPart
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.subject import Subject
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.report.commands import CommandParagraph, build_command_paragraphs, describe_outdated_files
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
    if first_finding.fix:
        shares_commands = bool(first_finding.fix.commands)
        lines += body.format_fix(first_finding.fix, build_command_paragraphs(group) if shares_commands else [])
        for line in describe_outdated_files(group) if shares_commands else ():
            lines += body.wrap_footer(line)
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

    def format_fix(self, fix: Fix, paragraphs: Sequence[CommandParagraph]) -> list[str]:
        """Return what to do and the commands for it: sentences are wrapped, a command is one line, as it is typed."""
        text = f"fix: {fix.text.strip()}"
        shown = paragraphs if self.page.verbose else paragraphs[:MAX_DEVICES_WITH_COMMANDS]
        first_row, *other_rows = self._join_heading(text, shown[0].heading) if shown else self.wrap_text(text)
        lines = self.format_footer_with_details(first_row, other_rows)
        for number, paragraph in enumerate(shown):
            lines += self._indent_rows([] if number == 0 else [paragraph.heading])
            lines += self._format_commands(paragraph)
        if left := len(paragraphs) - len(shown):
            lines += self._indent_rows(
                [f"and on {format_count(left, 'more switch')}, needed with these; -v shows them"]
            )
        return lines

    def _format_commands(self, paragraph: CommandParagraph) -> list[str]:
        page = self.page
        typed = paragraph.lines if page.verbose else paragraph.lines[:_MAX_COMMAND_LINES_PER_DEVICE]
        left = len(paragraph.lines) - len(typed)
        return [
            *self._indent_rows(paragraph.remarks),
            *self.indent_under_footer(f"  {page.escape_and_style('strong', line)}" for line in typed),
            *self.indent_under_footer([f"  {format_count(left, 'more line')}; -v shows them"] if left else []),
        ]

    def _indent_rows(self, texts: Iterable[str]) -> Iterable[str]:
        """Return texts under a footer, in rows that fit."""
        return self.indent_under_footer(
            self.page.escape_and_style("", row) for text in texts for row in self.wrap_text(text)
        )

    def _join_heading(self, text: str, heading: str) -> list[str]:
        """Return a text and the heading of commands as one sentence, in rows; the heading is not broken if it fits."""
        *rows, last_row = self.wrap_text(f"{text};")
        heading_rows = self.wrap_text(heading)
        joined = f"{last_row} {heading_rows[0]}"
        fits = len(heading_rows) == 1 and len(joined) <= self._room_for_text()
        return [*rows, joined] if fits else [*rows, last_row, *heading_rows]

    def _room_for_text(self) -> int:
        return max(self.page.width - self.gutter - 3, 40)

    def wrap_text(self, text: str) -> list[str]:
        """Return a text in rows that fit, escaped; names are not broken, and the line breaks of its author stay."""
        written = escape_terminal(text, lines=True).split("\n")
        return [
            row
            for line in written
            for row in textwrap.wrap(line, self._room_for_text(), break_long_words=False, break_on_hyphens=False)
        ]

    def wrap_footer(self, text: str) -> list[str]:
        """Return a footer in rows that fit."""
        first_row, *other_rows = self.wrap_text(text)
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
