"""The texts that an editor has open, kept up to date by its changes."""

from functools import partial
from typing import cast

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from nodrop.lsp.rows import EditorLines, PositionEncoding


class OpenTextDocument(TextDocument):
    """A text whose lines end where the protocol defines, with every position moved into the text."""

    @property
    def rows(self) -> EditorLines:
        """The lines as they are now."""
        return EditorLines(self.source, cast("PositionEncoding", self.position_codec.encoding))

    @property
    def source(self) -> str:
        """The text, which is never read from the disk."""
        return self._source or ""

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        rows, text_range = self.rows, change.range
        ends = [rows.offset((position.line, position.character)) for position in (text_range.start, text_range.end)]
        start, end = min(ends), max(ends)
        self._source = f"{rows.text[:start]}{change.text}{rows.text[end:]}"


def install_document_class(workspace: Workspace) -> None:
    """Have a workspace make its documents of this kind."""
    make: object = partial(_create_document, workspace)
    setattr(workspace, "_create_text_document", make)  # noqa: B010 -- it has no other seam for this


def _create_document(
    workspace: Workspace,
    doc_uri: str,
    source: str | None = None,
    version: int | None = None,
    language_id: str | None = None,
) -> OpenTextDocument:
    return OpenTextDocument(
        doc_uri, source=source, version=version, language_id=language_id, position_codec=workspace.position_codec
    )
