"""An editor for tests: pygls' own client, which talks to the language server in a thread, or to `nodrop lsp`.

A thread needs none of the second that a process takes to import nodrop and read its rules.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import chdir
from pathlib import Path
from threading import Thread
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from nodrop.lsp import server
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
        self._thread: Thread | None = None
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

    async def start(self, folder: Path, *encodings: str, options: Any, workspace: Any, process: bool) -> None:
        """Begin, in a folder, with the encodings and changes of workspaces that the editor knows."""
        await (self._start_process(folder) if process else self._start_thread())
        general = types.GeneralClientCapabilities(position_encodings=list(encodings) or None)
        params = types.InitializeParams(
            capabilities=types.ClientCapabilities(general=general, workspace=workspace),
            root_uri=folder.as_uri(),
            initialization_options=options,
        )
        self.capabilities = (await self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())

    async def _start_process(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        await self.client.start_io(sys.executable, "-m", "nodrop", "lsp", cwd=folder, env=environment)

    async def _start_thread(self) -> None:
        """Serve this editor in a thread, over a pair of sockets."""
        ours, theirs = socket.socketpair()

        def serve() -> None:
            with theirs, theirs.makefile("rb") as requests, theirs.makefile("wb") as answers:
                server.make_server().start_io(requests, answers)

        self._thread = Thread(target=serve, daemon=True)
        self._thread.start()
        reader, writer = await asyncio.open_connection(sock=ours)
        client: Any = self.client
        client.protocol.set_writer(writer)
        served = run_async(client._stop_event, reader, client.protocol, error_handler=client.report_server_error)
        client._async_tasks.append(asyncio.create_task(served))

    async def stop(self) -> int:
        """End as editors do, and return the exit code."""
        await asyncio.wait_for(self.client.shutdown_async(None), END_S)
        self.client.exit(None)
        code = 0
        if self._thread is None:
            process: Any = self.client._server
            code = await asyncio.wait_for(process.wait(), END_S)
        else:
            writer: Any = self.client.protocol.writer
            writer.close()  # the thread reads until this end is closed
            await writer.wait_closed()
            await asyncio.to_thread(self._thread.join, END_S)
            assert not self._thread.is_alive()
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
    process: bool = False,
) -> Editor:
    """Do something with an editor, whose server must then end well; the server is `nodrop lsp` in a `process`."""

    async def whole() -> Editor:
        editor = Editor()
        await editor.start(folder, *encodings, options=options, workspace=workspace, process=process)
        try:
            await do(editor)
        finally:
            code = await editor.stop()
        assert code == 0
        return editor

    with chdir(folder):
        return asyncio.run(whole())
