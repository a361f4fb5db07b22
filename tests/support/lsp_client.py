"""An editor for tests: pygls' own client, which talks to `nodrop lsp` as a process of its own, over its pipes."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from support.patience import END_S


class Editor:
    """What an editor keeps of the files that it has open, and of what it was told."""

    def __init__(self) -> None:
        self.client = LanguageClient("tests", "1")
        self.found: dict[str, types.PublishDiagnosticsParams] = {}
        self.published = 0
        self.logged: list[str] = []
        self.registered: list[str] = []
        self.versions: dict[str, int] = {}
        self._news = asyncio.Event()
        self.capabilities: types.ServerCapabilities

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.found[params.uri] = params
            self.published += 1
            self._news.set()

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += [one.method for one in params.registrations]

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

    async def start(self, folder: Path, *encodings: str, options: Any = None, workspace: Any = None) -> None:
        """Begin, in a folder, with the encodings and changes of workspaces that the editor knows."""
        await self.client.start_io(
            sys.executable,
            "-m",
            "nodrop",
            "lsp",
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        general = types.GeneralClientCapabilities(position_encodings=list(encodings) or None)
        params = types.InitializeParams(
            capabilities=types.ClientCapabilities(general=general, workspace=workspace),
            root_uri=folder.as_uri(),
            initialization_options=options,
        )
        self.capabilities = (await self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> int:
        """End as editors do, and return the exit code."""
        await asyncio.wait_for(self.client.shutdown_async(None), END_S)
        self.client.exit(None)
        server: Any = self.client._server
        code: int = await asyncio.wait_for(server.wait(), END_S)
        await self.client.stop()
        return code

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, with another text where one is given, and return its URI."""
        uri = path.as_uri()
        self.versions[uri] = self.versions.get(uri, 0) + 1
        shown = path.read_text() if text is None else text
        item = types.TextDocumentItem(uri=uri, language_id="any", version=self.versions[uri], text=shown)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        return uri

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent) -> int:
        """Change an open text, and return its version."""
        self.versions[uri] += 1
        named = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=named, content_changes=list(changes))
        )
        return self.versions[uri]

    def replace(self, uri: str, text: str) -> int:
        """Give an open text anew."""
        return self.change(uri, types.TextDocumentContentChangeWholeDocument(text=text))

    def close(self, uri: str) -> None:
        """Close a file."""
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(text_document=types.TextDocumentIdentifier(uri=uri))
        )

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Wait for what is said of a text as it is now."""

        async def now() -> None:
            while uri not in self.found or self.found[uri].version != self.versions[uri]:
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(now(), END_S)
        return list(self.found[uri].diagnostics)


def session(
    do: Callable[[Editor], Awaitable[None]],
    folder: Path,
    *encodings: str,
    options: Any = None,
    workspace: Any = None,
) -> Editor:
    """Do something with an editor, whose server must then end well."""

    async def whole() -> Editor:
        editor = Editor()
        await editor.start(folder, *encodings, options=options, workspace=workspace)
        try:
            await do(editor)
        finally:
            code = await editor.stop()
        assert code == 0
        return editor

    return asyncio.run(whole())
