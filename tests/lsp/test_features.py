"""What an editor asks the language server about a place: hover, completion, fixes and an outline, by a real client."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from lsprotocol import types

from nodrop.resources import resource_folder
from support.lsp_client import Editor, session


def placed(text: str) -> tuple[str, types.Position]:
    """A text without the `|` that is a place in it, and the place."""
    before, _, after = text.partition("|")
    return before + after, types.Position(before.count("\n"), len(before.rpartition("\n")[2]))


def without_watchdog(site: Path) -> str:
    rows = json.loads((site / "build/leaf1/config_db.json").read_text())
    del rows["PFC_WD"]["Ethernet0"]
    return json.dumps(rows, indent=4) + "\n"


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text of one-unit characters with edits made, the last first."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(at: types.Position) -> int:
        return starts[at.line] + at.character

    for edit in sorted(edits, key=lambda one: offset(one.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


NVUE = """- header: {model: MSN4700, nvue-api-version: nvue_v1, rev-id: 1.0, version: Cumulus Linux 5.14.0}
- set:
    system: {hostname: leaf1}
    interface:
      swp1:
        type: swp
        link: {state: {up: {}}, mtu: 9216 MB}
"""
COMPLETED: list[tuple[str, str, set[str], set[str]]] = [
    ("i.yaml", "nodrop: 1\n|", {"fabric", "topology", "classes", "routing"}, {"nodrop", "model"}),
    ("i.yaml", "nodrop: 1\nmode: |", {"lossless", "pfc-only", "lossy", "trim", "uec"}, {"true"}),
    ("i.yaml", "nodrop: 1\ntopology:\n  spines: {model: SN47|", {"SN4700", "SN5600"}, {"ConnectX-7"}),
    ("i.yaml", "nodrop: 1\ntopology:\n  spines: {platform: |", {"sonic", "nvue"}, {"onyx"}),
    ("i.yaml", "nodrop: 1\ntopology:\n  spines: {platform: nvue, version: |", {'"5.14"'}, {'"202505"'}),
    ("i.yaml", "nodrop: 1\ntopology:\n  spines: {version: |, platform: sonic}", {'"202505"'}, {'"5.14"'}),
    ("i.yaml", "nodrop: 1\ntopology:\n  uplinks: {media: |", {"DR4"}, {"SN4700"}),
    ("i.yaml", "nodrop: 1\nendpoints:\n  gpu: {nic: |", {"ConnectX-7"}, {"SN4700"}),
    ("i.yaml", "nodrop: 1\nclasses:\n  rdma: {dscp: |", {"rest"}, set()),
    ("i.yaml", "nodrop: 1\nclasses:\n  rdma: {dscp: 26, |}", {"priority", "ecn", "lossless"}, {"dscp"}),
    ("i.yaml", "nodrop: 1\nclasses:\n  rdma:\n    ecn:\n      m|", {"min", "max", "probability"}, {"dscp"}),
    (
        "i.yaml",
        "nodrop: 1\nclasses:\n  rdma: {dscp: [\npfc:\n  watchdog:\n    hosts: {action: |",
        {"drop", "alert"},
        set(),
    ),
    ("nodrop.yaml", "sever|", {"severity", "suppress", "strictness"}, {"rule"}),
    ("nodrop.yaml", "severity:\n  |", {"pfc-without-watchdog"}, {"pfc"}),
    ("nodrop.yaml", "severity: {pfc-without-watchdog: |", {"error", "note", '"off"'}, {"pedantic"}),
    ("nodrop.yaml", "options:\n  watchdog-slower-than-rdma-timeout:\n    |", {"timeout_ms"}, {"severity"}),
    ("nodrop.yaml", "profile: |", {"nvidia", "dell"}, set()),
    ("nodrop.yaml", "suppress:\n  - rule: |", {"pfc-without-watchdog"}, set()),
    ("nodrop.yaml", "suppress:\n  - rule: a\n    |", {"at", "reason", "until"}, {"rule"}),
    ("nodrop.yaml", "fabric: {models: {leaf1: |", {"SN4700"}, set()),
    ("fabric.yaml", "mode: lossless\nclasses: {rdma: {|", {"dscp", "tc"}, {"mode"}),
    ("fabric.yaml", "models:\n  leaf1: |", {"SN5600"}, set()),
    ("rules/pfc/ours.yaml", "scope: |", {"interface", "link"}, {"error"}),
    ("rules/pfc/ours.yaml", "severity: error\n|", {"assert", "message", "examples"}, {"severity", "claim"}),
    ("rules/pfc/ours.yaml", "analysis: |", {"own_asn"}, {"_plane"}),
    ("profiles/ours.yaml", "about: x\nwatchdog:\n  - side: |", {"hosts", "fabric"}, set()),
    ("x.json", '{"a": |', set(), {"severity"}),
    ("pyproject.toml", "[tool.nodrop]\nsever|", set(), {"severity"}),
]


def test_keys_and_values_are_offered_where_they_fit(site: Path) -> None:
    async def do(editor: Editor) -> None:
        for name, marked, offered, not_offered in COMPLETED:
            path = site / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text, at = placed(marked)
            uri = editor.open(path, text)
            asked = types.CompletionParams(types.TextDocumentIdentifier(uri), at)
            found = await editor.client.text_document_completion_async(asked)
            items = found.items if isinstance(found, types.CompletionList) else []
            words = {one.label for one in items}
            assert words >= offered, marked
            assert not words & not_offered, marked
            editor.close(uri)

    session(do, site)


def test_a_key_that_is_taken_is_written_with_its_colon(site: Path) -> None:
    async def do(editor: Editor) -> None:
        for marked, word, made in (
            ("nodrop: 1\nmo|", "mode", "nodrop: 1\nmode: "),
            ("nodrop: 1\nm|od: lossy", "mode", "nodrop: 1\nmode: lossy"),
            ("nodrop: 1\nmode: lo|", "lossy", "nodrop: 1\nmode: lossy"),
            ("nodrop: 1\nbuffers: {alp|: 1}", "alpha", "nodrop: 1\nbuffers: {alpha: 1}"),
        ):
            text, at = placed(marked)
            uri = editor.open(site / "i.yaml", text)
            asked = types.CompletionParams(types.TextDocumentIdentifier(uri), at)
            found = await editor.client.text_document_completion_async(asked)
            assert isinstance(found, types.CompletionList)
            (edit,) = [one.text_edit for one in found.items if one.label == word]
            assert isinstance(edit, types.TextEdit)
            assert applied(text, [edit]) == made
            editor.close(uri)

    session(do, site)


async def said(editor: Editor, uri: str, at: types.Position) -> str:
    asked = types.HoverParams(types.TextDocumentIdentifier(uri), at)
    found = await editor.client.text_document_hover_async(asked)
    assert found is None or isinstance(found.contents, types.MarkupContent)
    return "" if found is None else found.contents.value


def test_a_hover_explains_the_rule_the_value_or_the_key(site: Path) -> None:
    bad = without_watchdog(site)

    async def do(editor: Editor) -> None:
        uri = editor.open(site / "build/leaf1/config_db.json", bad)
        (one,) = await editor.diagnostics(uri)
        page = await said(editor, uri, one.range.start)
        assert page.startswith("**pfc-without-watchdog** (error, certain, area watchdog)\n\n**Why**\n\n")
        assert "**What to do**" in page
        assert await said(editor, uri, types.Position(0, 0)) == ""
        number = next(at for at, line in enumerate(bad.split("\n")) if '"mtu": "9216"' in line)
        value = await said(editor, uri, types.Position(number, bad.split("\n")[number].index("9216")))
        assert value.startswith("```text\nleaf1/Ethernet0/mtu_bytes: MTU: 9216 bytes\nfrom   ")
        assert "\n\nValue\n  9216\n" in value
        frr = editor.open(site / "build/leaf1/frr.conf")
        await editor.diagnostics(frr)
        lines = (site / "build/leaf1/frr.conf").read_text().split("\n")
        number = next(at for at, line in enumerate(lines) if "remote-as" in line)
        assert f"leaf1/@neighbors/{lines[number].split()[1]}: " in await said(editor, frr, types.Position(number, 8))
        for marked, words in (
            (
                "nodrop: 1\nclasses: {rdma: {e|cn: {min: 1kB}}}",
                "**classes.rdma.ecn**\n\nmarking of ECN-capable packets",
            ),
            ("nodrop: 1\nclasses: {rdma: {ecn: {min: 1|kB}}}", "bytes with their unit, such as 150kB or 1MiB"),
            (
                "nodrop: 1\nmt|u: 9216",
                "**mtu**\n\nMTU of every port in the fabric, bytes\n\nfrom 1280 to 9216\n\ndefault: 9216",
            ),
            ("nodrop: 1\n# m|tu: 9216", ""),
        ):
            text, at = placed(marked)
            other = editor.open(site / "i.yaml", text)
            found = await said(editor, other, at)
            assert words in found if words else not found, found
            editor.close(other)

    session(do, site)


async def asked_for(editor: Editor, uri: str, of: types.Diagnostic) -> list[types.CodeAction | types.Command]:
    context = types.CodeActionContext([of])
    asked = types.CodeActionParams(types.TextDocumentIdentifier(uri), of.range, context)
    return list(await editor.client.text_document_code_action_async(asked) or [])


async def actions(editor: Editor, uri: str, of: types.Diagnostic) -> dict[str, types.CodeAction]:
    found = await asked_for(editor, uri, of)
    return {one.title: one for one in found if isinstance(one, types.CodeAction)}


CAPABLE = types.WorkspaceClientCapabilities(
    workspace_edit=types.WorkspaceEditClientCapabilities(
        document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
    )
)


def edits_of(action: types.CodeAction) -> dict[str, list[types.TextEdit]]:
    """The edits of an action, by URI."""
    assert action.edit is not None
    if action.edit.changes is not None:
        return {uri: list(edits) for uri, edits in action.edit.changes.items()}
    return {
        one.text_document.uri: [each for each in one.edits if isinstance(each, types.TextEdit)]
        for one in action.edit.document_changes or ()
        if isinstance(one, types.TextDocumentEdit)
    }


@pytest.mark.parametrize("capable", [True, False])
def test_a_quick_fix_leaves_nothing_to_find_and_changes_no_more_than_it_has_to(site: Path, capable: bool) -> None:
    path = site / "build/leaf1/config_db.json"
    bad = without_watchdog(site)

    async def do(editor: Editor) -> None:
        uri = editor.open(path, bad)
        (one,) = await editor.diagnostics(uri)
        found = await actions(editor, uri, one)
        fix = found["Fix pfc-without-watchdog"]
        assert fix.is_preferred
        edits = edits_of(fix)[uri]
        mended = applied(bad, edits)
        assert sum(edit.new_text.count("\n") for edit in edits) < 10
        assert json.loads(mended)["PFC_WD"].keys() == json.loads(path.read_text())["PFC_WD"].keys()
        editor.replace(uri, mended)
        assert await editor.diagnostics(uri) == []

    session(do, site, workspace=CAPABLE if capable else None)


def test_all_findings_of_a_rule_are_fixed_at_once(site: Path) -> None:
    path = site / "build/leaf1/config_db.json"
    rows = json.loads(path.read_text())
    for port in ("Ethernet0", "Ethernet8", "Ethernet16"):
        del rows["PFC_WD"][port]
    bad = json.dumps(rows, indent=4) + "\n"

    async def do(editor: Editor) -> None:
        uri = editor.open(path, bad)
        one, *others = await editor.diagnostics(uri)
        assert len(others) == 2
        found = await actions(editor, uri, one)
        mended = applied(bad, edits_of(found["Fix all 3 of pfc-without-watchdog"])[uri])
        editor.replace(uri, mended)
        assert await editor.diagnostics(uri) == []

    session(do, site)


def test_an_intent_is_fixed_at_its_key(site: Path) -> None:
    path = site / "intent.yaml"
    bad = path.read_text().replace("classes:", "hosts: {trust: pcp}  # as it came\nclasses:", 1)

    async def do(editor: Editor) -> None:
        uri = editor.open(path, bad)
        (one,) = await editor.diagnostics(uri)
        assert one.code == "nic-trusts-pcp"
        (fix,) = [each for title, each in (await actions(editor, uri, one)).items() if title.startswith("Fix")]
        mended = applied(bad, edits_of(fix)[uri])
        assert "hosts: {trust: dscp}  # as it came\n" in mended
        editor.replace(uri, mended)
        assert await editor.diagnostics(uri) == []

    session(do, site)


def test_an_entry_in_nodrop_yaml_is_made_where_the_editor_can(site: Path) -> None:
    path, bad = site / "build/leaf1/config_db.json", without_watchdog(site)
    title = "Suppress pfc-without-watchdog here by an entry in nodrop.yaml, with a reason"
    entry = "suppress:\n- rule: pfc-without-watchdog\n  at: leaf1/Ethernet0\n  reason: say here why this is all right\n"

    async def do(editor: Editor) -> None:
        uri = editor.open(path, bad)
        (one,) = await editor.diagnostics(uri)
        ((name, (edit,)),) = edits_of((await actions(editor, uri, one))[title]).items()
        assert (name, applied("", [edit])) == ((site / "nodrop.yaml").as_uri(), entry)

    session(do, site, workspace=CAPABLE)

    async def there(editor: Editor) -> None:
        (site / "nodrop.yaml").write_text("strictness: regular\nsuppress:\n  - {rule: a, at: b, reason: c}\n")
        uri = editor.open(path, bad)
        (one,) = await editor.diagnostics(uri)
        ((_, edits),) = edits_of((await actions(editor, uri, one))[title]).items()
        indented = entry.partition("\n")[2].replace("- rule", "  - rule").replace("\n  ", "\n    ")
        assert applied((site / "nodrop.yaml").read_text(), edits) == (
            f"strictness: regular\nsuppress:\n{indented}  - {{rule: a, at: b, reason: c}}\n"
        )

    session(there, site)

    async def not_able(editor: Editor) -> None:
        (site / "nodrop.yaml").unlink()
        uri = editor.open(path, bad)
        (one,) = await editor.diagnostics(uri)
        assert title not in await actions(editor, uri, one)

    session(not_able, site)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("intent.yaml", "classes:", "pfc:\n  # by the tests\n  {}\nhosts:\n  tos: 104\nclasses:"),
        ("build/leaf1/frr.conf", "route-map FABRIC-OUT out", "route-map NOPE out"),
        ("nv/startup.yaml", "", NVUE),
    ],
)
def test_a_comment_suppresses_where_there_are_comments(site: Path, name: str, old: str, new: str) -> None:
    path = site / name
    path.parent.mkdir(exist_ok=True)
    bad = path.read_text().replace(old, new, 1) if old else new

    async def do(editor: Editor) -> None:
        uri = editor.open(path, bad)
        one, *others = await editor.diagnostics(uri)
        title = f"Suppress {one.code} here by a comment above, with a reason"
        (edit,) = edits_of((await actions(editor, uri, one))[title])[uri]
        line = bad.split("\n")[one.range.start.line]
        indent = line[: len(line) - len(line.lstrip())]
        assert edit.new_text == f"{indent}# nodrop: allow[{one.code}]: say here why this is all right\n"
        editor.replace(uri, applied(bad, [edit]))
        assert len(await editor.diagnostics(uri)) == len(others)

    session(do, site)


def test_an_explanation_is_a_command(site: Path) -> None:
    async def do(editor: Editor) -> None:
        uri = editor.open(site / "build/leaf1/config_db.json", without_watchdog(site))
        (one,) = await editor.diagnostics(uri)
        (command,) = [each for each in await asked_for(editor, uri, one) if isinstance(each, types.Command)]
        assert command.title == "Explain pfc-without-watchdog"
        asked = types.ExecuteCommandParams(command.command, arguments=command.arguments)
        page = await editor.client.workspace_execute_command_async(asked)
        assert str(page).startswith("pfc-without-watchdog  (error, certain)")

    session(do, site)


def test_an_intent_has_an_outline(site: Path) -> None:
    async def do(editor: Editor) -> None:
        uri = editor.open(resource_folder("intents") / "two-by-two.yaml")
        asked = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        found = await editor.client.text_document_document_symbol_async(asked) or []
        symbols = {one.name: one for one in found if isinstance(one, types.DocumentSymbol)}
        assert list(symbols) == ["nodrop", "fabric", "topology", "endpoints", "classes", "routing", "addressing"]
        inner = [one.name for one in symbols["classes"].children or ()]
        assert inner == ["rdma", "cnp", "control", "storage", "inband", "default"]

    session(do, site)
