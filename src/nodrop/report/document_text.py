"""A document for a person at a terminal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodrop.report.document import (
    ChangeRow,
    ChangeTable,
    FactList,
    FindingList,
    ListItem,
    Node,
    Paragraph,
    ReportDocument,
    Section,
    Table,
    Tone,
)
from nodrop.report.escape import escape_terminal
from nodrop.report.paint import style_text
from nodrop.report.table import format_table, wrap_text

if TYPE_CHECKING:
    from nodrop.report.links import TerminalLinks

_GREEN, _RED, _YELLOW, _CYAN = "32", "31", "33", "36"
_ANSI_STYLE_BY_TONE: dict[Tone | None, str] = {
    "added": _GREEN,
    "removed": _RED,
    "replaced": _RED,
    "changed": _YELLOW,
    "harmless": _GREEN,
    "error": _RED,
    "warning": _YELLOW,
    "note": _CYAN,
}
_MARK_BY_TONE: dict[Tone | None, str] = {"added": "+ ", "removed": "- ", "replaced": "! ", "changed": "~ "}
_STRONG = "1"


def render(
    document: ReportDocument, *, color: bool = False, verbose: bool = False, links: "TerminalLinks | None" = None
) -> str:
    """Write a document with the verdict last; `verbose` folds no findings and shows optional sections."""
    sheets = _TerminalWriter(color, verbose, links).document_sheets(document)
    page_text = "\n\n".join("\n".join(lines) for lines in sheets if lines)
    return page_text + "\n" if page_text else ""


def render_lines(lines: Iterable[str]) -> str:
    """Write a page that has no other format, of lines that keep their spaces."""
    return "".join(f"{escape_terminal(line).rstrip()}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _TerminalWriter:
    color: bool
    verbose: bool
    links: "TerminalLinks | None"

    def document_sheets(self, document: ReportDocument) -> Iterator[list[str]]:
        """Yield blocks of lines, with an empty line between two."""
        if document.heading:
            yield [self._strong(f"== {document.heading}")]
        for node in (*document.lead, *document.body, *document.urgent):
            yield from self._node_sheets(node)
        if verdict := document.verdict:
            phrases = "; ".join((verdict.text, *verdict.unchanged))
            yield [self._strong(f"since {verdict.base}: {phrases}" if verdict.base else phrases)]

    def _node_sheets(self, node: Node) -> Iterator[list[str]]:
        match node:
            case Paragraph(text):
                yield wrap_text(text, "", "  ")
            case Section():
                yield self._section_lines(node) if self.verbose or not node.optional else []
            case Table(title=title, heads=heads, rows=rows, explanation=explanation):
                yield [*format_table(title, heads, rows), *wrap_text(explanation, "  ")] if rows else []
            case FactList(facts):
                width = max((len(name) for name, _ in facts), default=0)
                yield [escape_terminal(f"  {name:{width}}  {text}") for name, text in facts]
            case ChangeTable():
                yield from map(self._row_lines, node.rows)
            case FindingList(outcome=outcome):
                from nodrop.report.text import render as findings_text

                text = findings_text(outcome, color=self.color, verbose=self.verbose, quiet=True, links=self.links)
                yield [text.rstrip("\n")] if text else []
            case ReportDocument():
                yield from self.document_sheets(node)

    def _section_lines(self, section: Section) -> list[str]:
        lines: list[str] = [self._strong(section.title)] if section.title and (section.items or section.remarks) else []
        for number, item in enumerate((*section.items, *section.remarks), 1):
            if section.numbered and number <= len(section.items):
                lines += self._item_lines(item, f"  {number}. ", "    ")
            elif section.title:
                lines += self._item_lines(item, "  ", "    ")
            else:
                lines += self._item_lines(item, _MARK_BY_TONE.get(item.tone, ""), "  ")
        return lines

    def _row_lines(self, row: ChangeRow) -> list[str]:
        items = (line for item in row.items for line in self._item_lines(item, "  ", "      "))
        others = wrap_text(row.others, "  ", "    ")
        return [self._strong(row.place), *items, *others]

    def _item_lines(self, item: ListItem, indent: str, later_indent: str) -> Iterator[str]:
        """Yield an item and its details, wrapped and colored."""
        text = "".join(span if isinstance(span, str) else f"{span.label}[{span.rule}]" for span in item.spans)
        yield from self._wrap(text, item.tone, indent, later_indent)
        for detail in item.details:
            yield from self._item_lines(detail, "    = ", "      ")

    def _wrap(self, text: str, tone: Tone | None, indent: str, later_indent: str) -> Iterable[str]:
        style = _ANSI_STYLE_BY_TONE.get(tone, "")
        return (style_text(line, style, self.color) for line in wrap_text(text, indent, later_indent))

    def _strong(self, text: str) -> str:
        return style_text(escape_terminal(text), _STRONG, self.color)
