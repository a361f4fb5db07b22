"""An editor's questions about a place: explanations, completion, actions for a finding, and an outline."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from nodrop.engine.finding import Finding
from nodrop.engine.rule import Rule
from nodrop.lsp.changes import FileRewrite, find_text_changes, fix_findings, suppress_by_comment, suppress_in_config
from nodrop.lsp.completions import explain_key, find_offers
from nodrop.lsp.cursor import find_spot
from nodrop.lsp.desk import OpenTextByPath, TextChecker, TextCheckResult
from nodrop.lsp.diagnostics import protocol_range
from nodrop.lsp.hover_pages import rule_page
from nodrop.lsp.rows import EditorLines, encode_text
from nodrop.lsp.text_kinds import YAML_KINDS, TextKind, text_kind_of_file
from nodrop.lsp.values import explain_value_at_position
from nodrop.report.escape import fence_code_block
from nodrop.syntax.places import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from nodrop.lsp.server import Server

EditorAction = types.CodeAction | types.Command
EXPLAIN_COMMAND = "nodrop.explain"
_MOST_FINDINGS_WITH_FIXES = 8
"""For how many findings at a time fixes are worked out."""
_OUTLINE_KEY_LINE = re.compile(r"^( {0,2})([A-Za-z0-9_][\w.-]*):(?=\s|$)", re.MULTILINE)
_WORD_PATTERN = re.compile(r"[\w.%-]*")


async def hover(server: "Server", path: str, at: types.Position) -> types.Hover | None:
    """Explain the findings at a place, else the key there, else the meaning of a configuration."""
    rules = _rules_by_name(server.rules_at(path))
    diagnostics = [diagnostic for diagnostic in server.shown.get(path, ()) if _range_contains(diagnostic.range, at)]
    pages = [
        rule_page(rules[name])
        for name in dict.fromkeys(str(diagnostic.code) for diagnostic in diagnostics)
        if name in rules
    ]
    if pages:
        return types.Hover(_markdown_content("\n\n---\n\n".join(pages)), diagnostics[0].range)
    kind = server.kind_of(path)
    if kind == "device":
        return await _hover_value(server, path, at)
    return _hover_key(server, path, kind, at) if _is_yaml(kind, path) else None


async def _hover_value(server: "Server", path: str, at: types.Position) -> types.Hover | None:
    """Describe the line's meaning, if the text has not changed since its check."""
    look, rows = server.looks.get(path), server.document_of(path).rows
    if look is None or look.reading is None or look.inputs is None:
        return None
    held = next((text.held for bundle in look.inputs.bundles for _, text in bundle.files if text.display == path), b"")
    if held != encode_text(rows.text):
        return None
    before = rows.offset((at.line, at.character)) - rows.offset((at.line, 0))
    column = before + 1 - (at.line == 0 and rows.text.startswith(BYTE_ORDER_MARK))
    loop = asyncio.get_running_loop()
    explanation = await loop.run_in_executor(
        server.worker, explain_value_at_position, look.reading, look.inputs, path, at.line + 1, max(column, 1)
    )
    if explanation is None:
        return None
    text, span = explanation
    return types.Hover(
        _markdown_content("\n".join(fence_code_block(text.splitlines(), "text"))), protocol_range(rows.range(span))
    )


def _hover_key(server: "Server", path: str, kind: TextKind, at: types.Position) -> types.Hover | None:
    rows = server.document_of(path).rows
    offset = rows.offset((at.line, at.character))
    word = _WORD_PATTERN.match(rows.text, offset)
    found_spot = find_spot(rows.text, word.end() if word else offset)
    about = None if found_spot is None else explain_key(kind, found_spot, server.rules_at(path))
    if found_spot is None or about is None:
        return None
    return types.Hover(
        _markdown_content(about), protocol_range((rows.position(found_spot.start), rows.position(found_spot.end)))
    )


def complete(server: "Server", path: str, at: types.Position) -> types.CompletionList | None:
    """Offer the keys or values that a place may hold."""
    kind = server.kind_of(path)
    if not _is_yaml(kind, path):
        return None
    rows = server.document_of(path).rows
    found_spot = find_spot(rows.text, rows.offset((at.line, at.character)))
    if found_spot is None:
        return None
    covered = protocol_range((rows.position(found_spot.start), rows.position(found_spot.end)))
    colon = "" if re.match(r"\s*:(?:\s|$)", rows.text[found_spot.end :]) else ": "
    items = [
        types.CompletionItem(
            label=offer.word,
            kind=types.CompletionItemKind.Property if offer.is_key else types.CompletionItemKind.Value,
            detail=offer.short or None,
            documentation=_markdown_content(offer.about) if offer.about else None,
            text_edit=types.TextEdit(covered, f"{offer.word}{colon}" if offer.is_key else offer.word),
            filter_text=offer.word,
            sort_text=f"{number:04}",
        )
        for number, offer in enumerate(find_offers(kind, found_spot, server.rules_at(path)))
    ]
    return types.CompletionList(is_incomplete=False, items=items)


async def list_code_actions(server: "Server", path: str, asked: types.CodeActionParams) -> list[EditorAction]:
    """Offer fixes for the findings at a place, entries of nodrop.yaml that live with them, and explanations."""
    look, shown = server.looks.get(path), server.shown.get(path, ())
    only = asked.context.only
    if look is None or (only and types.CodeActionKind.QuickFix not in only):
        return []
    diagnostics = [candidate for candidate in shown if _ranges_overlap(candidate.range, asked.range)]
    known_findings = {mark.finding.fingerprint: mark.finding for mark in look.marks.get(path, ()) if mark.finding}
    actions: list[EditorAction] = []
    for diagnostic in diagnostics[:_MOST_FINDINGS_WITH_FIXES]:
        finding = known_findings.get(diagnostic.data["fingerprint"]) if isinstance(diagnostic.data, dict) else None
        if finding is not None:
            alike = [match for match in known_findings.values() if match.rule == finding.rule and match.fix is not None]
            actions += await _fix_actions(server, look, diagnostic, [finding])
            actions += await _fix_actions(server, look, diagnostic, alike) if len(alike) > 1 else []
            actions += await _suppress_and_explain_actions(server, path, look, diagnostic, finding)
    named_titles = [action.title for action in actions]
    return [
        action
        for number, action in enumerate(actions)
        if action.title not in named_titles[:number] or " all " not in action.title
    ]


async def _fix_actions(
    server: "Server", look: TextCheckResult, diagnostic: types.Diagnostic, findings: Sequence[Finding]
) -> list[types.CodeAction]:
    """Return the action that fixes findings of one rule, where they can be fixed."""
    loop = asyncio.get_running_loop()
    changed = await loop.run_in_executor(server.worker, fix_findings, look, findings, server.open_texts)
    edit = _build_workspace_edit(server, changed) if changed else None
    if edit is None:
        return []
    many = f"all {len(findings)} of " if len(findings) > 1 else ""
    safe = all(finding.fix is not None and finding.fix.safe for finding in findings)
    title = f"Fix {many}{findings[0].rule}" + ("" if safe else " (unsafe: review the change)")
    preferred = True if safe and not many else None
    return [types.CodeAction(title, types.CodeActionKind.QuickFix, [diagnostic], is_preferred=preferred, edit=edit)]


async def _suppress_and_explain_actions(
    server: "Server", path: str, look: TextCheckResult, diagnostic: types.Diagnostic, finding: Finding
) -> list[EditorAction]:
    """Return what else can be done about a finding: suppress it, with a reason, or read of it."""
    actions: list[EditorAction] = []
    texts, line = server.open_texts, diagnostic.range.start.line
    comment = await asyncio.get_running_loop().run_in_executor(
        server.worker, suppress_by_comment, server.desk, look, finding, Path(path), line, texts
    )
    options = (
        ("a comment above", comment),
        ("an entry in nodrop.yaml", suppress_in_config(finding, look, Path(path), texts)),
    )
    for method, changed in options:
        if changed is not None and (edit := _build_workspace_edit(server, [changed])) is not None:
            title = f"Suppress {finding.rule} here by {method}, with a reason"
            actions.append(types.CodeAction(title, types.CodeActionKind.QuickFix, [diagnostic], edit=edit))
    actions.append(types.Command(f"Explain {finding.rule}", EXPLAIN_COMMAND, arguments=[finding.rule]))
    return actions


def _build_workspace_edit(server: "Server", changed: Sequence[FileRewrite]) -> types.WorkspaceEdit | None:
    """Return files as an editor has them changed; None where one is another now, or cannot be made."""
    edits: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for rewrite in changed:
        uri = server.uri_of(rewrite.path)
        rows = server.rows_of(rewrite.path) if rewrite.old is not None else EditorLines("", server.encoding)
        if rows is None or rows.text.removeprefix(BYTE_ORDER_MARK) != (rewrite.old or "").removeprefix(BYTE_ORDER_MARK):
            return None
        if rewrite.old is None:
            if not server.does_editor_make_files:
                return None
            edits.append(types.CreateFile(uri=uri, options=types.CreateFileOptions(ignore_if_exists=True)))
        new = (BYTE_ORDER_MARK if rows.text.startswith(BYTE_ORDER_MARK) else "") + rewrite.new.removeprefix(
            BYTE_ORDER_MARK
        )
        texts = [
            types.TextEdit(protocol_range((rows.position(piece.start), rows.position(piece.end))), piece.text)
            for piece in find_text_changes(rows.text, new)
        ]
        number = server.version_of(rewrite.path)
        edits.append(types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, number), [*texts]))
    if server.does_editor_take_versions:
        return types.WorkspaceEdit(document_changes=edits)
    changes = {edit.text_document.uri: edit.edits for edit in edits if isinstance(edit, types.TextDocumentEdit)}
    plain = {uri: [text for text in texts if isinstance(text, types.TextEdit)] for uri, texts in changes.items()}
    return types.WorkspaceEdit(changes=plain)


def outline(server: "Server", path: str) -> list[types.DocumentSymbol]:
    """Return the keys of an intent, or of another file in YAML, two levels of them."""
    if not _is_yaml(server.kind_of(path), path):
        return []
    rows = server.document_of(path).rows
    document_symbols: list[types.DocumentSymbol] = []
    titles = list(_OUTLINE_KEY_LINE.finditer(rows.text))
    for number, title in enumerate(titles):
        depth = len(title[1])
        behind = (other_title.start() for other_title in titles[number + 1 :] if len(other_title[1]) <= depth)
        end = next(behind, len(rows.text))
        selection = protocol_range((rows.position(title.start(2)), rows.position(title.end(2))))
        whole_protocol_range = protocol_range((rows.position(title.start()), rows.position(max(title.end(), end))))
        symbol = types.DocumentSymbol(title[2], types.SymbolKind.Key, whole_protocol_range, selection, children=[])
        if depth == 0:
            document_symbols.append(symbol)
        elif document_symbols and isinstance(document_symbols[-1].children, list):
            document_symbols[-1].children.append(symbol)
    return document_symbols


def text_kind_of_open_file(
    desk: TextChecker, path: Path, document_text: str, open_texts: OpenTextByPath, look: TextCheckResult | None
) -> TextKind:
    """Return what kind of file a text is, be it judged already or not."""
    if look is not None and look.kind != "other":
        return look.kind
    return text_kind_of_file(
        path, encode_text(document_text), desk.site_settings_for_path(path, open_texts).settings.config.rules
    )


def _is_yaml(kind: TextKind, path: str) -> bool:
    """Whether a file is YAML with a schema; a configuration may be TOML."""
    return kind in YAML_KINDS and not path.endswith(".toml")


def _rules_by_name(rules: Sequence[Rule]) -> dict[str, Rule]:
    return {rule.name: rule for rule in rules}


def _markdown_content(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def _range_contains(text_range: types.Range, at: types.Position) -> bool:
    return text_range.start <= at <= text_range.end


def _ranges_overlap(first_range: types.Range, second_range: types.Range) -> bool:
    """Whether two ranges have anything in common, lines they only touch included: editors ask for the cursor's."""
    return first_range.start.line <= second_range.end.line and second_range.start.line <= first_range.end.line
