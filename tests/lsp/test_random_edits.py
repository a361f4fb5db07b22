"""Random edits in every kind of file, by a real client: the server lives, and no position is outside of the text."""

import random
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from lsprotocol import types

from nodrop.lsp.rows import EditorLines
from nodrop.resources import resource_folder
from support.lsp_client import Editor, session

PIECES = (
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    '"',
    "'",
    "#",
    "- ",
    "\n",
    "\r\n",
    "\r",
    "  ",
    "𝄞",
    "é",
    "0",
    "x",
    "null",
    "&a",
    "*a",
    "\t",
    "\u2028",
    "\x00",
)


async def scribble(editor: Editor, paths: list[Path], rounds: int, seed: int) -> None:
    """Edit in rounds, asking all there is to ask after each, and looking at what is shown."""
    chance = random.Random(seed)
    texts = {editor.open(path): path.read_bytes().decode() for path in paths}
    for _ in range(rounds):
        uri = chance.choice(list(texts))
        for _ in range(chance.randrange(1, 6)):
            rows = EditorLines(texts[uri])
            start = chance.randrange(len(rows.text) + 1)
            end = min(len(rows.text), start + chance.choice((0, 0, 1, 3, 40)))
            (line, column), (end_line, end_column) = rows.position(start), rows.position(end)
            start, end = rows.offset((line, column)), rows.offset((end_line, end_column))
            new = chance.choice(PIECES) if chance.random() < 0.8 else ""
            covered = types.Range(types.Position(line, column), types.Position(end_line, end_column))
            editor.change(uri, types.TextDocumentContentChangePartial(range=covered, text=new))
            texts[uri] = rows.text[:start] + new + rows.text[end:]
        named, at = types.TextDocumentIdentifier(uri), types.Position(line, column)
        await editor.client.text_document_completion_async(types.CompletionParams(named, at))
        await editor.client.text_document_hover_async(types.HoverParams(named, at))
        found = await editor.diagnostics(uri)
        rows = EditorLines(texts[uri])
        for one in found:
            for place in (one.range.start, one.range.end):
                assert rows.position(rows.offset((place.line, place.character))) == (place.line, place.character)
            assert one.range.start <= one.range.end
        asked = types.CodeActionParams(named, covered, types.CodeActionContext([]))
        await editor.client.text_document_code_action_async(asked)
        await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(named))
        if chance.random() < 0.1:
            path = Path(next(path for path in paths if path.as_uri() == uri))
            editor.close(uri)
            texts[uri] = path.read_bytes().decode()
            editor.open(path)


def every_kind(site: Path) -> list[Path]:
    """A file of each kind, some below the site."""
    files = {
        "nodrop.yaml": "strictness: regular\nseverity: {pfc-without-watchdog: note}\n",
        "profiles/ours.yaml": "about: ours\necn: [{min: 150kB, source: us}]\n",
        "rules/pfc/ours.yaml": (resource_folder("rules") / "pfc" / "link-pause-with-pfc.yaml").read_text(),
        "typed/leaf3.txt": "nv set interface swp1 link mtu 9216\nnv set qos roce mode lossless\n",
        "onyx/leaf4.cfg": "interface ethernet 1/1 mtu 9216\ndcb priority-flow-control enable force\n",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    built = ["build/leaf1/config_db.json", "build/leaf1/frr.conf", "build/fabric.yaml", "intent.yaml"]
    return [site / name for name in (*files, *built)]


def lived(site: Path, rounds: int, seed: int) -> None:
    async def do(editor: Editor) -> None:
        await scribble(editor, every_kind(site), rounds, seed)
        assert not [line for line in editor.logged if "nodrop failed" in line]
        assert not [line for line in editor.logged if "Traceback" in line]

    session(do, site)


@pytest.mark.slow
def test_a_few_random_edits(site: Path) -> None:
    lived(site, 40, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [2, 3])
def test_random_edits_for_a_while(site: Path, seed: int) -> None:
    lived(site, 400, seed)
