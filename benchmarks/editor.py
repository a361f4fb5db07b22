"""The language server on one large switch file: what a change costs the one who waits for its findings.

An SN5600 of 128 ports (over 250 kB), one of them without a watchdog. The median from the change to its diagnostics,
the time for which a text must be left alone included, is compared with parsing the same JSON, in one run.

    python benchmarks/editor.py [--changes 20] [--json FILE]
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from lsprotocol import types
from processes import run
from pygls.lsp.client import LanguageClient

from nodrop.resources import resource_folder


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=20, help="changes to wait for")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nodrop-editor-") as folder:
        path = switch(Path(folder))
        text = path.read_text()
        parsed = statistics.median(timed(lambda: orjson.loads(text)) for _ in range(20))
        waited = asyncio.run(changes(path, text, options.changes))
    figures = {
        "kilobytes": round(len(text) / 1000),
        "change_to_diagnostics_ms": round(1000 * statistics.median(waited)),
        "slowest_ms": round(1000 * max(waited)),
        "times_parsing": round(statistics.median(waited) / parsed),
    }
    print(
        "{kilobytes} kB: diagnostics {change_to_diagnostics_ms} ms after a change (slowest {slowest_ms} ms), "
        "{times_parsing} times what parsing takes".format(**figures)
    )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def timed(do: Any) -> float:
    """Return how long it takes, in seconds."""
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def switch(folder: Path) -> Path:
    """Build switches of 128 ports, and return the largest file of one without the watchdog of one port."""
    done = run(folder, "build", str(resource_folder("intents") / "rail-256.yaml"), "-o", "build")
    assert done.code == 0, done.err
    path = max(folder.glob("build/*/config_db.json"), key=lambda one: one.stat().st_size)
    rows = json.loads(path.read_text())
    watched = rows["PFC_WD"]
    del watched[next(name for name in watched if name != "GLOBAL")]
    path.write_text(json.dumps(rows, indent=4))
    return path


async def changes(path: Path, text: str, count: int) -> list[float]:
    """Change the text so often, and return how long the diagnostics took each time, in seconds."""
    client, news = LanguageClient("benchmark", "1"), asyncio.Event()
    shown: list[int | None] = []

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]  # pygls has no type
    def publish(params: types.PublishDiagnosticsParams) -> None:
        assert params.diagnostics
        shown.append(params.version)
        news.set()

    await client.start_io(sys.executable, "-m", "nodrop", "lsp", env=dict(os.environ))
    await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    item = types.TextDocumentItem(uri=path.as_uri(), language_id="json", version=0, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    waited = []
    for version in range(count + 1):
        began = time.perf_counter()
        if version:
            named = types.VersionedTextDocumentIdentifier(uri=path.as_uri(), version=version)
            start = types.Position(0, 1)
            change = types.TextDocumentContentChangePartial(range=types.Range(start, start), text=" ")
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(text_document=named, content_changes=[change])
            )
        while not shown or shown[-1] != version:
            news.clear()
            await asyncio.wait_for(news.wait(), 60)
        waited.append(time.perf_counter() - began)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]  # pygls has no type
    return waited[1:]


if __name__ == "__main__":
    main()
