"""Parts that a run leaves out, in words: files that were not read or are ignored, and rules that did not run."""

from collections.abc import Iterable, Sequence

from nodrop.inputs.known import IgnoredPath
from nodrop.model.reading import Note
from nodrop.report.block import ReportStyle
from nodrop.report.names import format_count
from nodrop.results.outcome import FabricOutcome

_MAX_NAMED_FILES = 20
"""Files of one reason that are named, unless the report is verbose."""
_MAX_FILES_NAMED_IN_LAST_LINE = 3
"""Files that the last line names."""


def unread_file_lines_by_reason(notes: Sequence[Note], report_style: ReportStyle) -> list[str]:
    """Return a line for each reason why files were not read, with their names."""
    rows = ((note.file or "", note.message) for note in notes)
    return [
        report_style.format_note_line("unknown", "not read", text)
        for text in _format_files_by_reason(rows, report_style)
    ]


def ignored_file_lines_by_reason(outcome: FabricOutcome, report_style: ReportStyle) -> list[str]:
    """Return a line for each reason why files are ignored, with their names."""
    rows = outcome.files.ignored if outcome.files is not None else ()
    return [
        report_style.format_note_line("note", "ignored", text) for text in _format_files_by_reason(rows, report_style)
    ]


def summarize_unread_files_and_skipped_rules(outcome: FabricOutcome) -> str:
    """Return the line before the totals: files that were not read or are excluded, and rules that did not run."""
    return "; ".join(filter(None, (_format_file_counts(outcome), _format_skipped_rules(outcome))))


def _format_skipped_rules(outcome: FabricOutcome) -> str:
    """Return how many rules did not run, and why; nothing where all did, or where there was nothing to check."""
    total = sum(len(skip.rules) for skip in outcome.skipped if outcome.devices or outcome.hosts)
    reasons = ", ".join(f"{len(skip.rules)} {skip.reason}" for skip in outcome.skipped)
    return f"{format_count(total, 'rule')} skipped: {reasons}" if total else ""


def _format_file_counts(outcome: FabricOutcome) -> str:
    """Return how many files were read, and which were not or are excluded; nothing where there are none of these."""
    unread = list(dict.fromkeys(note.file or "" for note in outcome.unread_notes))
    excluded = [row.file for row in outcome.files.ignored if row.is_excluded] if outcome.files is not None else []
    file_counts = (
        [f"{len(unread):,} not read ({_format_first_files(unread, _MAX_FILES_NAMED_IN_LAST_LINE)})"] if unread else []
    )
    file_counts += (
        [f"{len(excluded):,} excluded ({_format_first_files(excluded, _MAX_FILES_NAMED_IN_LAST_LINE)})"]
        if excluded
        else []
    )
    if not file_counts:
        return ""
    read_count = 0 if outcome.files is None else len(set(outcome.files.read) - set(unread))
    read = [] if outcome.files is None else [f"{format_count(read_count, 'file')} read"]
    return "files: " + ", ".join([*read, *file_counts])


def _format_files_by_reason(rows: Iterable[tuple[str, str] | IgnoredPath], page: ReportStyle) -> list[str]:
    files: dict[str, list[str]] = {}
    for row in rows:
        files.setdefault(row[1], []).append(row[0])
    return [
        f"{_format_first_files(names, len(names) if page.verbose else _MAX_NAMED_FILES)}: {reason}"
        for reason, names in files.items()
    ]


def _format_first_files(files: Sequence[str], most: int) -> str:
    more_count = len(files) - most
    return ", ".join(files[:most]) + (f" and {more_count:,} more; -v lists them" if more_count > 0 else "")
