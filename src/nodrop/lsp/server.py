"""The server: an editor's requests and the answers over the protocol, and the time when a text is checked."""

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from nodrop.engine.rule import Rule
from nodrop.errors import InputProblems
from nodrop.inputs import DiskWithHeldTexts
from nodrop.lsp.desk import OpenTextByPath, TextChecker, TextCheckResult
from nodrop.lsp.diagnostics import build_diagnostic, worst_marks
from nodrop.lsp.features import (
    EXPLAIN_COMMAND,
    EditorAction,
    complete,
    hover,
    list_code_actions,
    outline,
    text_kind_of_open_file,
)
from nodrop.lsp.rows import EditorLines, PositionEncoding, encode_text
from nodrop.lsp.text_kinds import TextKind
from nodrop.lsp.texts import OpenTextDocument, install_document_class
from nodrop.report.links import RulePageUrls
from nodrop.report.rules import render_rule_page as page_of
from nodrop.syntax.json import MAX_JSON_BYTES

LEAST_S, MOST_S = 0.02, 0.15
"""How long a text must have been left alone before it is judged: as long as half of the last judgment, within these."""
WATCHED_FILE_PATTERNS = ("**/*.yaml", "**/*.conf", "**/*.json")
"""Files on the disk by which open ones are judged."""
_log = logging.getLogger(__name__)


class Server(LanguageServer):
    """A language server that checks the open texts, one text at a time and each only in its latest state."""

    def __init__(self) -> None:
        super().__init__("nodrop", version("nodrop"))
        self.desk = TextChecker()
        self.looks: dict[str, TextCheckResult] = {}
        """What was last seen of each file that is open, by path."""
        self.shown: dict[str, list[types.Diagnostic]] = {}
        """What is shown of each file, by path."""
        self._uris: dict[str, str] = {}
        self.worker = ThreadPoolExecutor(1)
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._last_s: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: set[str] = set()
        self._running: set[str] = set()
        self._again: set[str] = set()

    def take_editor_options(self, params: types.InitializeParams) -> None:
        """Take the editor's description of itself, and load rules in the background."""
        install_document_class(self.workspace)
        options = params.initialization_options
        strictness = options.get("strictness") if isinstance(options, dict) else None
        if strictness in ("regular", "pedantic", "auditor"):
            self.desk = TextChecker(strictness)
        self.worker.submit(self._preload_rules_and_log_failure)

    async def register_file_watch(self) -> None:
        """Ask the editor to report changes of files that affect the check of others, if the editor can be asked."""
        field = "workspace.did_change_watched_files.dynamic_registration"
        if get_capability(self.client_capabilities, field, False):
            watched = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher(glob_pattern) for glob_pattern in WATCHED_FILE_PATTERNS]
            )
            asked = types.Registration("watched", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched)
            await self.client_register_capability_async(types.RegistrationParams([asked]))

    def _preload_rules_and_log_failure(self) -> None:
        try:
            self.desk.warm()
        except Exception:  # noqa: BLE001 -- what cannot be loaded now is told when it is needed
            _log.exception("the rules could not be loaded")

    @property
    def encoding(self) -> PositionEncoding:
        """What columns count."""
        return cast("PositionEncoding", self.workspace.position_encoding)

    @property
    def does_editor_take_versions(self) -> bool:
        """Whether the editor takes changes that state the version of a text."""
        return bool(get_capability(self.client_capabilities, "workspace.workspace_edit.document_changes", False))

    @property
    def does_editor_make_files(self) -> bool:
        """Whether the editor makes files that a change needs."""
        known_resource_operation_kinds = get_capability(
            self.client_capabilities, "workspace.workspace_edit.resource_operations", ()
        )
        return self.does_editor_take_versions and types.ResourceOperationKind.Create in known_resource_operation_kinds

    def version_of(self, path: str) -> int | None:
        """Return the version of a text, None where it is not open."""
        return self.document_of(path).version if path in self._uris else None

    def kind_of(self, path: str) -> TextKind:
        """Return what kind of file an open text is."""
        return text_kind_of_open_file(
            self.desk, Path(path), self.document_of(path).source, self.open_texts, self.looks.get(path)
        )

    def rules_at(self, path: str) -> tuple[Rule, ...]:
        """Return all rules for a file."""
        look = self.looks.get(path)
        return (
            look.site.every if look is not None else self.desk.site_settings_for_path(Path(path), self.open_texts).every
        )

    @property
    def open_texts(self) -> OpenTextByPath:
        """The texts that are open, by path."""
        return {path: encode_text(self.document_of(path).source) for path in self._uris}

    def document_of(self, path: str) -> OpenTextDocument:
        """Return an open text."""
        return cast("OpenTextDocument", self.workspace.get_text_document(self._uris[path]))

    def path_of(self, uri: str) -> str | None:
        """Return the path of a file that is open; None for what lies in no file."""
        path = to_fs_path(uri)
        return None if path is None or not uri.startswith("file:") else os.path.abspath(path)  # noqa: PTH100

    def open_path_of(self, uri: str) -> str | None:
        """Return the path of a file that is open, by the name that the editor has for it."""
        path = self.path_of(uri)
        return path if path in self._uris else None

    def uri_of(self, path: str) -> str:
        """Return the name of a file as the editor gave it, or as it would."""
        return self._uris.get(path) or from_fs_path(path) or ""

    def rows_of(self, path: str) -> EditorLines | None:
        """Return the lines of a file, open or on the disk."""
        if path in self._uris:
            return self.document_of(path).rows
        try:
            text = DiskWithHeldTexts().text(Path(path)).read_bytes(MAX_JSON_BYTES).decode("utf-8", "replace")
        except InputProblems:
            return None
        return EditorLines(text, self.encoding)

    def open(self, uri: str) -> None:
        """Judge a file that was opened, at once."""
        if (path := self.path_of(uri)) is not None:
            self._uris[path] = uri
            self.schedule_check(path, 0.0)

    def change(self, uri: str) -> None:
        """Check a changed file as soon as it is left alone, and update its effects on others."""
        path = self.path_of(uri)
        if path is None or path not in self._uris:
            return
        self.schedule_check(path, min(max(self._last_s.get(path, 0.0) / 2, LEAST_S), MOST_S))
        look = self.looks.get(path)
        if look is not None and look.kind in ("fabric", "config", "rule", "profile"):
            self.recheck_other_files(path)

    def close(self, uri: str) -> None:
        """Show nothing any more of a file that was closed, and judge the others as it is on the disk."""
        path = self.path_of(uri)
        if path is None or path not in self._uris:
            return
        del self._uris[path]
        for cache in (self.looks, self._last_s):
            cache.pop(path, None)
        if (timer := self._waiting.pop(path, None)) is not None:
            timer.cancel()
        self.shown.pop(path, None)
        self._publish_diagnostics(uri, [], None)
        self.recheck_other_files(path)

    def recheck_other_files(self, path: str = "") -> None:
        """Judge all other open files anew, soon."""
        for other_uri in self._uris:
            if other_uri != path:
                self.schedule_check(other_uri, MOST_S)

    def schedule_check(self, path: str, delay_s: float) -> None:
        """Check a file after a while, and only once however often this is called before."""
        if (timer := self._waiting.pop(path, None)) is not None:
            timer.cancel()
        self._waiting[path] = asyncio.get_running_loop().call_later(delay_s, self._start_check, path)

    def _start_check(self, path: str) -> None:
        self._waiting.pop(path, None)
        if path in self._running:
            self._again.add(path)
            return
        task = asyncio.get_running_loop().create_task(self._check_file(path))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _check_file(self, path: str) -> None:
        """Check a file and show the findings; once more where that was asked for in the meantime."""
        self._running.add(path)
        try:
            if path in self._uris:
                await self._recheck_in_worker_and_show(path)
        finally:
            self._running.discard(path)
            if path in self._again:
                self._again.discard(path)
                self.schedule_check(path, 0.0)

    async def _recheck_in_worker_and_show(self, path: str) -> None:
        open_texts, before = self.open_texts, self._open_document_versions()
        try:
            look, seconds = await asyncio.get_running_loop().run_in_executor(
                self.worker, self._check_text_and_time_it, path, open_texts
            )
        except Exception as error:  # noqa: BLE001 -- one look that fails must not end the server
            _log.exception("checking %s failed", path)
            self.log_once(f"nodrop failed on {path}: {error!r}")
            return
        self._last_s[path] = seconds
        if path in self._uris:
            self.looks[path] = look
            self._show_marks(look, before)
        for line in look.log:
            self.log_once(line)

    def _check_text_and_time_it(self, path: str, open_texts: OpenTextByPath) -> tuple[TextCheckResult, float]:
        began = perf_counter()
        look = self.desk.check_text(Path(path), open_texts)
        return look, perf_counter() - began

    def _open_document_versions(self) -> dict[str, int | None]:
        return {path: self.document_of(path).version for path in self._uris}

    def _show_marks(self, look: TextCheckResult, before: dict[str, int | None]) -> None:
        """Show the marks of files that are open and still as they were when they were judged."""
        pages = RulePageUrls(look.site.settings.config.rule_pages)
        for file, marks in look.marks.items():
            if file not in self._uris or file not in before or self.document_of(file).version != before[file]:
                continue
            rows = self.document_of(file).rows
            diagnostics = [
                build_diagnostic(mark, rows, self.rows_of, self.uri_of, pages) for mark in worst_marks(marks)
            ]
            self.shown[file] = diagnostics
            self._publish_diagnostics(self._uris[file], diagnostics, before[file])

    def _publish_diagnostics(self, uri: str, diagnostics: list[types.Diagnostic], number: int | None) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=number)
        )

    def log_once(self, line: str) -> None:
        """Write a line to the editor's log, once."""
        if line not in self._told:
            self._told.add(line)
            self.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=line))

    def stop_scheduling_checks(self) -> None:
        """Begin nothing any more."""
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        self.worker.shutdown(wait=False, cancel_futures=True)


def make_server() -> Server:
    """Return a server that handles all requests of an editor."""
    server = Server()

    def on(method: str, options: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return server.feature(method, options)

    @on(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.take_editor_options(params)

    @on(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        await server.register_file_watch()

    @on(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document.uri)

    @on(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.change(params.text_document.uri)

    @on(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.change(params.text_document.uri)

    @on(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.recheck_other_files()

    @on(types.TEXT_DOCUMENT_HOVER)
    async def explain(params: types.HoverParams) -> types.Hover | None:
        path = server.open_path_of(params.text_document.uri)
        return None if path is None else await hover(server, path, params.position)

    @on(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[" ", "{", "[", ","]))
    def completion(params: types.CompletionParams) -> types.CompletionList | None:
        path = server.open_path_of(params.text_document.uri)
        return None if path is None else complete(server, path, params.position)

    @on(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    async def code_action(params: types.CodeActionParams) -> list[EditorAction]:
        path = server.open_path_of(params.text_document.uri)
        return [] if path is None else await list_code_actions(server, path, params)

    @on(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        path = server.open_path_of(params.text_document.uri)
        return [] if path is None else outline(server, path)

    @server.command(EXPLAIN_COMMAND)
    def explain_rule(name: str) -> str:
        page = next((page_of(rule, server.desk.all_rules) for rule in server.desk.all_rules if rule.name == name), "")
        if page:
            server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=page))
        return page

    @on(types.SHUTDOWN)
    def shutdown(*_: object) -> None:
        server.stop_scheduling_checks()

    return server
