"""From marks to the diagnostics of the protocol."""

from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types

from nodrop.engine.finding import SEVERITIES, FileLocation, Severity
from nodrop.lsp.cursor import word_end
from nodrop.lsp.desk import EditorDiagnostic
from nodrop.lsp.rows import EditorLines, Range
from nodrop.report.links import RulePageUrls
from nodrop.syntax.places import Span

SOURCE, MORE = "nodrop", "more"
MAX_FINDINGS_PER_FILE = 400
"""How many findings are shown of a file."""
_UNUSED_RULE_WORD = "unused"
"""In the name of a rule: what it finds has no effect, and editors show that faded."""
_LSP_SEVERITY_BY_SEVERITY: Mapping[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
FindEditorLines = Callable[[str], EditorLines | None]
"""The lines of a file, where they are at hand."""
UriOf = Callable[[str], str]


def worst_marks(marks: Sequence[EditorDiagnostic]) -> list[EditorDiagnostic]:
    """Return as many marks of a file as an editor can show without delay, the worst, and how many more there are."""
    if len(marks) <= MAX_FINDINGS_PER_FILE:
        return list(marks)
    kept_marks = sorted(marks, key=lambda mark: SEVERITIES.index(mark.severity))[:MAX_FINDINGS_PER_FILE]
    message = (
        f"{len(marks) - MAX_FINDINGS_PER_FILE:,} more, none worse than those that are shown; `nodrop lint` lists all"
    )
    return [*kept_marks, EditorDiagnostic(severity="note", message=message, code=MORE)]


def build_diagnostic(
    mark: EditorDiagnostic, symbol_rows: EditorLines, rows_of: FindEditorLines, uri_of: UriOf, pages: RulePageUrls
) -> types.Diagnostic:
    """Return what to show for a mark in the text of these rows; its code is a link where the rule has a page."""
    related = [_build_related_information(located, message, rows_of, uri_of) for located, message in mark.related]
    finding = mark.finding
    address = pages.find_address(mark.code)
    return types.Diagnostic(
        range=protocol_range(range_of_mark(mark, symbol_rows)),
        message=mark.message,
        severity=_LSP_SEVERITY_BY_SEVERITY[mark.severity],
        code=mark.code,
        code_description=None if address is None else types.CodeDescription(href=address),
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if _UNUSED_RULE_WORD in mark.code.split("-") else None,
        related_information=[
            diagnostic_related_information
            for diagnostic_related_information in related
            if diagnostic_related_information is not None
        ]
        or None,
        data=None if finding is None else {"fingerprint": finding.fingerprint},
    )


def range_of_mark(mark: EditorDiagnostic, symbol_rows: EditorLines) -> Range:
    """Return the range that a mark covers: its span, the word at its point, or the first line."""
    if mark.span is not None:
        return symbol_rows.range(mark.span)
    if mark.point is None:
        return symbol_rows.visible_range_of_line(0)
    line, column = mark.point
    text = symbol_rows.line(line - 1)
    return symbol_rows.range(Span(line, column, line, word_end(text, column - 1) + 1))


def protocol_range(text_range: Range) -> types.Range:
    """Return a range in the protocol's words."""
    (line, column), (end_line, end_column) = text_range
    return types.Range(types.Position(line, column), types.Position(end_line, end_column))


def _build_related_information(
    located: FileLocation, message: str, rows_of: FindEditorLines, uri_of: UriOf
) -> types.DiagnosticRelatedInformation | None:
    rows = rows_of(located.file)
    if rows is None or located.span is None:
        return None
    place = types.Location(uri_of(located.file), protocol_range(rows.range(located.span)))
    return types.DiagnosticRelatedInformation(place, message)
