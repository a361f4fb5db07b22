"""A document as the comment of a pull request: the verdict first, long lists in folds."""

from collections.abc import Iterable, Iterator, Sequence

from nodrop.report.document import (
    ChangeRow,
    ChangeTable,
    FactList,
    FindingList,
    ListItem,
    Node,
    Paragraph,
    ReportDocument,
    RuleName,
    Section,
    Span,
    Table,
    Tone,
    VerdictLine,
)
from nodrop.report.escape import escape_html, escape_markdown
from nodrop.report.finding_items import list_finding_causes, list_problems
from nodrop.report.links import RulePageUrls
from nodrop.report.names import format_count

COMMENT_LIMIT_BYTES = 60_000
"""Of a comment; GitHub takes 65,536 characters."""
_MAX_TABLE_ROWS = 20
"""Rows of the table: of a larger plan, the rest is in the fold."""
_MAX_FACTS_PER_ROW = 3
"""Facts in a row."""
_MAX_DETAILED_ROWS = 60
"""Places that are shown in full."""
_MARKS_LEGEND = "🔴 error, loss or removed · 🟡 warning or changed · 🔵 note · 🟢 added"
_MARK_BY_TONE: dict[Tone, str] = {
    "added": "🟢",
    "removed": "🔴",
    "replaced": "🔴",
    "changed": "🟡",
    "harmless": "🟢",
    "error": "🔴",
    "warning": "🟡",
    "note": "🔵",
}


def render(
    document: ReportDocument, pages: RulePageUrls | None = None, *, limit_bytes: float = COMMENT_LIMIT_BYTES
) -> str:
    """Write a document as GitHub's and GitLab's Markdown; no text in it is markup or HTML.

    Beyond the limit whole parts are left out, the last first, and the text states that.
    """
    every = _MarkdownCommentWriter(pages or RulePageUrls()).parts(document, "### nodrop: ")
    parts = list(_drop_excess_parts([part for part in every if part], limit_bytes))
    verdict = document.verdict
    if verdict and verdict.base:
        text = "; ".join((f"compared with {verdict.base}", *verdict.unchanged))
        marked = any(mark in part for part in parts for mark in ("🔴", "🟡", "🔵"))
        parts.append(f"<sub>{escape_markdown(text)}{f'<br>{_MARKS_LEGEND}' if marked else ''}</sub>")
    return "\n\n".join(parts) + "\n"


def _drop_excess_parts(parts: Sequence[str], limit_bytes: float) -> Iterator[str]:
    """Yield the parts that fit, the first first, and that others were left out."""
    for number, part in enumerate(parts):
        limit_bytes -= len(part.encode()) + 2
        if limit_bytes < 0:
            left = format_count(len(parts) - number, "part")
            yield f"{left} left out here, which would not fit: `--format text` tells all."
            return
        yield part


def format_markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table as lines; its cells are Markdown already."""
    head, *others = ("".join(f"| {cell} " if cell else "| " for cell in row) + "|" for row in (heads, *rows))
    return [head, f"|{'---|' * len(heads)}", *others]


class _MarkdownCommentWriter:
    """Writes nodes as parts of a comment, with an empty line between two."""

    def __init__(self, pages: RulePageUrls) -> None:
        self._pages = pages

    def parts(self, document: ReportDocument, title: str = "") -> Iterator[str]:
        """Yield the parts of a document; `title` makes its verdict the title of the comment."""
        if document.heading:
            yield f"#### {escape_markdown(document.heading)}"
        if document.verdict:
            yield f"{title}{_format_verdict(document.verdict)}" if title else f"**{_format_verdict(document.verdict)}**"
        for node in (*document.lead, *document.urgent, *document.body):
            yield from self._node_parts(node)

    def _node_parts(self, node: Node) -> Iterator[str]:
        match node:
            case Paragraph(text):
                yield escape_markdown(text)
            case Section():
                yield from self._section_parts(node)
            case Table():
                yield self._table(node)
            case FactList(facts):
                yield self._list(tuple(ListItem((f"{name}: ", text)) for name, text in facts))
            case ChangeTable():
                yield from self._table_parts(node)
            case FindingList():
                yield self._list(tuple(list_problems(node)))
                yield self._list(tuple(list_finding_causes(node)))
            case ReportDocument():
                yield from self.parts(node)

    def _section_parts(self, section: Section) -> Iterator[str]:
        if not section.folded:
            yield self._list((*section.items, *section.remarks), section.title)
            return
        title = section.title[:1].upper() + section.title[1:]
        if section.numbered:
            rows = [f"{number}. {self._text(item.spans)}" for number, item in enumerate(section.items, 1)]
        else:
            rows = [line for item in section.items for line in self._item_lines(item)]
            title = f"{title}: {len(section.items)}"
        yield self._list(section.remarks)
        yield _fold(title, rows)

    def _list(self, items: Sequence[ListItem], title: str = "") -> str:
        return "\n".join(line for item in items for line in self._item_lines(item, title))

    def _item_lines(self, item: ListItem, title: str = "") -> Iterator[str]:
        """Yield an item behind its mark and the title of its list, and its details below it."""
        mark = f"{_MARK_BY_TONE[item.tone]} " if item.tone else ""
        brief = f" ({escape_markdown(item.brief)})" if item.brief else ""
        head = f"{escape_markdown(title)}: " if title else ""
        yield f"- {mark}{head}{self._text(item.spans)}{brief}"
        if not item.brief:
            yield from (f"  - {self._text(detail.spans)}" for detail in item.details)

    def _text(self, spans: Sequence[Span], *, cell: bool = False) -> str:
        return "".join(
            self._format_rule_name(span) if isinstance(span, RuleName) else _escape_span(span, cell) for span in spans
        )

    def _format_rule_name(self, name: RuleName) -> str:
        address = self._pages.find_address(name.rule)
        shown = f"`{name.rule}`" if address is None else f"[`{name.rule}`]({address})"
        return f"**{name.label}** {shown}" if name.label else shown

    def _table(self, table: Table) -> str:
        heads, *rows = ([escape_markdown(cell, cell=True) for cell in row] for row in (table.heads, *table.rows))
        title = [f"**{escape_markdown(table.title)}**", ""] if table.title else []
        explanation = ["", escape_markdown(table.explanation)] if table.explanation else []
        return "\n".join((*title, *format_markdown_table(heads, rows), *explanation)) if rows else ""

    def _table_parts(self, table: ChangeTable) -> Iterator[str]:
        rows = sorted(table.rows, key=lambda row: -row.risk_rank)
        cells = [self._change_row_cells(row) for row in rows[:_MAX_TABLE_ROWS]]
        if (more := len(rows) - _MAX_TABLE_ROWS) > 0:
            cells.append((f"{more} more", "in the fold", ""))
        if rows:
            heads = ("where", escape_markdown(table.title, cell=True), "risk")
            yield "\n".join(format_markdown_table(heads, cells))
        yield _fold("In full, with reasons", list(self._detail_lines(rows)))

    def _change_row_cells(self, row: ChangeRow) -> tuple[str, str, str]:
        facts = [self._text(item.spans, cell=True) for item in row.items[:_MAX_FACTS_PER_ROW]]
        if (more := len(row.items) - _MAX_FACTS_PER_ROW) > 0:
            facts.append(f"and {more} more")
        where = [escape_markdown(text, cell=True) for text in (row.short_place, row.others) if text]
        return "<br>".join(where), "<br>".join(facts), escape_markdown(row.short_risk, cell=True)

    def _detail_lines(self, rows: Sequence[ChangeRow]) -> Iterator[str]:
        """Yield in full the rows that the table shortens: many facts, long lists of ports, effects and reasons."""
        untold = [row for at, row in enumerate(rows) if at >= _MAX_TABLE_ROWS or not _fits_in_table_row(row)]
        for row in untold[:_MAX_DETAILED_ROWS]:
            yield f"**{escape_markdown(row.place)}**: {escape_markdown(row.risk)}"
            yield ""
            yield from (line for item in row.items for line in self._item_lines(item))
            if row.others:
                yield f"- {escape_markdown(row.others)}"
            yield ""
        if len(untold) > _MAX_DETAILED_ROWS:
            yield f"{format_count(len(untold) - _MAX_DETAILED_ROWS, 'place')} more: see the whole plan"


def _format_verdict(verdict: VerdictLine) -> str:
    decision = ""
    if verdict.decision is not None:
        blocked = f"❌ blocked by {escape_markdown(verdict.decision)}; "
        decision = blocked if verdict.decision else "✅ passes; "
    return f"{decision}{escape_markdown(verdict.text)}"


def _escape_span(text: str, cell: bool) -> str:
    """Return text as Markdown; the spaces at its ends, which part it from a rule, stay."""
    before, after = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{before}{escape_markdown(text, cell=cell)}{after}"


def _fits_in_table_row(row: ChangeRow) -> bool:
    """Whether a row of the table holds all that there is to say of it."""
    return len(row.items) <= _MAX_FACTS_PER_ROW and row.short_place == row.place and row.quiet


def _fold(heading: str, lines: Sequence[str]) -> str:
    """Return lines in a fold; nothing where there are none."""
    if not lines:
        return ""
    shown = lines[: -1 if not lines[-1] else None]
    return "\n".join((f"<details><summary>{escape_html(heading)}</summary>", "", *shown, "", "</details>"))
