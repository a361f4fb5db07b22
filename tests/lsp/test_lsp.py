"""`nodrop lsp`, driven by a client that editors' authors use: what is shown, where, and when it is gone."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from lsprotocol import types

from nodrop.resources import resource_folder
from support.command import nodrop
from support.lsp_client import Editor, session


def without_watchdog(site: Path) -> str:
    """The file of a leaf of which one port has no watchdog."""
    rows = json.loads((site / "build/leaf1/config_db.json").read_text())
    del rows["PFC_WD"]["Ethernet0"]
    return json.dumps(rows, indent=4) + "\n"


def covered(text: str, of: types.Range) -> str:
    """What a range in UTF-16 covers, all in one line."""
    assert of.start.line == of.end.line
    line = text.split("\n")[of.start.line].encode("utf-16-le")
    return line[2 * of.start.character : 2 * of.end.character].decode("utf-16-le")


def test_a_fault_of_a_switch_is_shown_where_it_stands_and_gone_when_it_is_mended(site: Path) -> None:
    path = site / "build/leaf1/config_db.json"
    good, bad = path.read_text(), without_watchdog(site)

    async def do(editor: Editor) -> None:
        uri = editor.open(path)
        assert await editor.diagnostics(uri) == []
        editor.replace(uri, bad)
        (one,) = await editor.diagnostics(uri)
        assert (one.code, one.severity, one.source) == (
            "pfc-without-watchdog",
            types.DiagnosticSeverity.Error,
            "nodrop",
        )
        assert one.message.startswith(
            "leaf1: Ethernet0 obeys pause on priority 3 but has no PFC watchdog\nfix: enable the PFC watchdog"
        )
        line = bad.split("\n")[one.range.start.line]
        assert (line.strip(), covered(bad, one.range)) == ('"pfc_enable": "3",', '"3"')
        editor.replace(uri, good)
        assert await editor.diagnostics(uri) == []

    session(do, site, process=True)


def test_each_file_of_a_device_has_its_own_and_counts_as_it_is_open(site: Path) -> None:
    """frr.conf says of config_db.json what that is held against, saved or not; closed, it is as on the disk."""
    config, frr = site / "build/leaf1/config_db.json", site / "build/leaf1/frr.conf"
    text = frr.read_text()
    bad = text.replace("route-map FABRIC-OUT out", "route-map NOPE out", 1)

    async def do(editor: Editor) -> None:
        config_uri, frr_uri = editor.open(config), editor.open(frr)
        assert await editor.diagnostics(config_uri) == await editor.diagnostics(frr_uri) == []
        editor.replace(frr_uri, bad)
        found = {str(one.code): one for one in await editor.diagnostics(frr_uri)}
        assert sorted(found) == ["dangling-reference", "policy-not-there"]
        for one in found.values():
            assert covered(bad, one.range).endswith("route-map NOPE out")
        editor.close(frr_uri)
        while editor.found[frr_uri].diagnostics:
            await editor.diagnostics(config_uri)
            editor.replace(config_uri, config.read_text())
        assert await editor.diagnostics(config_uri) == []

    session(do, site)


@pytest.mark.parametrize(
    ("old", "new", "code", "word"),
    [
        ("platform: sonic", "platform: sonik", "input", "sonik"),
        ("topology:", "topologie:", "input", "topologie"),
        ("share: 60%", "share: 61%", "input", "rdma"),
        ("classes:", "hosts: {tos: 104}\nclasses:", "nic-tos-without-ecn", "tos: 104"),
    ],
)
def test_faults_of_an_intent_are_shown_at_the_keys_that_decide_them(
    site: Path, old: str, new: str, code: str, word: str
) -> None:
    path = site / "intent.yaml"
    assert old in path.read_text()
    text = path.read_text().replace(old, new, 1)

    async def do(editor: Editor) -> None:
        uri = editor.open(path, text)
        found = {(one.code, covered(text, one.range)) for one in await editor.diagnostics(uri)}
        assert (code, word) in found, found
        editor.replace(uri, path.read_text())
        assert await editor.diagnostics(uri) == []

    session(do, site)


NVUE = """- header: {model: MSN4700, nvue-api-version: nvue_v1, rev-id: 1.0, version: Cumulus Linux 5.14.0}
- set:
    system: {hostname: leaf1}
    interface:
      swp1: {type: swp, link: {state: {up: {}}, mtu: 9216 MB}}
"""


KINDS: list[tuple[str, str, str | None, str]] = [
    ("nodrop.yaml", "strictness: strict\n", "input", "strict"),
    ("nodrop.yaml", "severity:\n  no-such-rule: note\n", "input", "no-such-rule"),
    ("build/fabric.yaml", "mode: loss\n", "input", "loss"),
    ("profiles/ours.yaml", "about: ours\necn: [{min: 150, source: us}]\n", "input", "150"),
    ("rules/pfc/own.yaml", "severity: fatal\n", "input", "fatal"),
    ("pyproject.toml", "[tool.nodrop]\nfail_on = 'all'\n", "input", "fail_on = 'all'"),
    ("nv/startup.yaml", NVUE, "unit-suffix", "9216 MB"),
    ("leaf9.json", '{"PORT": {"Ethernet0": {"mtu": "9216"}},,}', "input", ","),
    ("leaf9.cfg", "nv set interface swp1 link mtu 9216 MB\n", "malformed-value", "mtu"),
    ("package.json", '{"name": "x",,}', None, ""),
    ("compose.yaml", "services: {a: {image: x}}\n", None, ""),
]


def test_every_kind_of_file_is_judged(site: Path) -> None:
    async def do(editor: Editor) -> None:
        for name, text, code, word in KINDS:
            path = site / name
            path.parent.mkdir(exist_ok=True, parents=True)
            uri = editor.open(path, text)
            found = {(one.code, covered(text, one.range)) for one in await editor.diagnostics(uri)}
            assert (code, word) in found if code else not found, (name, found)
            editor.close(uri)

    session(do, site)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-32"])
def test_columns_are_in_the_units_that_were_agreed_on(site: Path, encoding: str) -> None:
    path = site / "build/leaf1/config_db.json"
    line = '        "Ethernet0": {"description": "𝄞é", "no_such": "1",'

    async def do(editor: Editor) -> None:
        assert editor.capabilities.position_encoding == encoding
        before, ports, after = path.read_text().partition('    "PORT": {')
        uri = editor.open(path, before + ports + after.replace('        "Ethernet0": {', line, 1))
        ones = [one for one in await editor.diagnostics(uri) if "no_such" in one.message]
        units = {"utf-16": "utf-16-le", "utf-8": "utf-8", "utf-32": "utf-32-le"}[encoding]
        width = len("a".encode(units))
        at = {line.encode(units)[width * one.range.start.character :].decode(units)[:4] for one in ones}
        assert at == {'"1",'}

    session(do, site, encoding)


def test_changes_are_made_as_the_protocol_counts(site: Path) -> None:
    """Lines end at LF, CR LF and CR only; columns beyond a line's end are that end; a range may run backwards."""
    path = site / "nodrop.yaml"

    def at(line: int, start: int, end: int, text: str) -> Any:
        return types.TextDocumentContentChangePartial(
            range=types.Range(types.Position(line, start), types.Position(line, end)), text=text
        )

    async def do(editor: Editor) -> None:
        uri = editor.open(path, "# é𝄞\rstrictness: regular\r\nfail_on: error")
        assert await editor.diagnostics(uri) == []
        editor.change(uri, at(1, 12, 99, "strict"))
        (one,) = await editor.diagnostics(uri)
        assert (one.range.start.line, one.range.start.character, one.range.end.character) == (1, 12, 18)
        editor.change(uri, at(1, 12, 99, "auditor"), at(2, 999, 999, "s"))
        (one,) = await editor.diagnostics(uri)
        assert (one.range.start.line, one.range.start.character, one.range.end.character) == (2, 9, 15)
        editor.change(uri, at(2, 15, 14, ""), at(99, 0, 0, "\n# end"))
        assert await editor.diagnostics(uri) == []

    session(do, site)


def test_what_the_site_states_counts_saved_or_not(site: Path) -> None:
    path, configuration = site / "build/leaf1/config_db.json", site / "nodrop.yaml"
    configuration.write_text("severity: {pfc-without-watchdog: note}\n")

    async def do(editor: Editor) -> None:
        uri = editor.open(path, without_watchdog(site))
        (one,) = await editor.diagnostics(uri)
        assert one.severity == types.DiagnosticSeverity.Information
        other = editor.open(configuration)
        assert await editor.diagnostics(other) == []
        editor.replace(other, 'severity: {pfc-without-watchdog: "off"}\n')
        while editor.found[uri].diagnostics:
            editor._news.clear()
            await editor._news.wait()
        editor.replace(other, "severity: {pfc-without-watchdogs: note}\n")
        while not editor.logged:
            await editor._news.wait()
            editor._news.clear()
            editor.replace(uri, without_watchdog(site))
        (one,) = await editor.diagnostics(uri)
        assert one.severity == types.DiagnosticSeverity.Error, "a configuration with faults counts as none"
        assert "no rule `pfc-without-watchdogs`" in editor.logged[0]

    session(do, site)


def test_what_has_no_effect_is_shown_faded_and_other_ends_are_named(site: Path) -> None:
    path, other = site / "build/leaf1/frr.conf", site / "build/leaf1/config_db.json"
    text = f"! nodrop: allow[dangling-reference]: hides nothing\n{path.read_text()}"

    async def do(editor: Editor) -> None:
        uri = editor.open(path, text)
        (one,) = await editor.diagnostics(uri)
        assert (one.code, list(one.tags or ())) == ("unused-suppression", [types.DiagnosticTag.Unnecessary])
        assert covered(text, one.range) == "dangling-reference"
        rows = json.loads(other.read_text())
        first = next(row for row in rows["INTERFACE"] if row.startswith("Ethernet0|"))
        again = first.replace("Ethernet0", "Ethernet8")
        rows["INTERFACE"][again] = {}
        doubled = json.dumps(rows, indent=4)
        there = editor.open(other, doubled)
        found = next(one for one in await editor.diagnostics(there) if one.code == "duplicate-address")
        (end,) = found.related_information or ()
        assert covered(doubled, found.range).startswith('"Ethernet8|')
        assert (end.location.uri, covered(doubled, end.location.range)) == (there, f'"{first}"')

    session(do, site)


def test_what_is_suppressed_is_not_shown(site: Path) -> None:
    entry = "{rule: pfc-without-watchdog, at: leaf1/Ethernet0, reason: a pilot}"
    (site / "nodrop.yaml").write_text(f"suppress: [{entry}]\n")

    async def do(editor: Editor) -> None:
        uri = editor.open(site / "build/leaf1/config_db.json", without_watchdog(site))
        assert await editor.diagnostics(uri) == []

    session(do, site)


def test_what_is_in_the_baseline_is_not_shown_until_it_has_other_facts(site: Path) -> None:
    path = site / "build/leaf1/config_db.json"
    before = path.read_text()
    path.write_text(without_watchdog(site))
    assert nodrop("baseline", site / "build", "-o", site / "nodrop.baseline.yaml").code == 0
    path.write_text(before)
    (site / "nodrop.yaml").write_text("baseline: nodrop.baseline.yaml\n")

    async def do(editor: Editor) -> None:
        uri = editor.open(path, without_watchdog(site))
        assert await editor.diagnostics(uri) == []

    session(do, site)
    (site / "nodrop.yaml").unlink()

    async def again(editor: Editor) -> None:
        uri = editor.open(path, without_watchdog(site))
        assert [one.code for one in await editor.diagnostics(uri)] == ["pfc-without-watchdog"]

    session(again, site)


def test_files_that_others_are_judged_by_are_watched(site: Path) -> None:
    path, configuration = site / "build/leaf1/config_db.json", site / "nodrop.yaml"
    able = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)

    async def do(editor: Editor) -> None:
        uri = editor.open(path, without_watchdog(site))
        assert len(await editor.diagnostics(uri)) == 1
        assert editor.registered == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
        configuration.write_text('severity: {pfc-without-watchdog: "off"}\n')
        event = types.FileEvent(configuration.as_uri(), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        while editor.found[uri].diagnostics:
            editor._news.clear()
            await editor._news.wait()

    session(do, site, workspace=types.WorkspaceClientCapabilities(did_change_watched_files=able))


def test_a_text_that_is_typed_is_judged_when_it_is_left_alone(site: Path) -> None:
    path = site / "build/leaf1/config_db.json"

    async def do(editor: Editor) -> None:
        uri = editor.open(path)
        assert await editor.diagnostics(uri) == []
        before = editor.published
        for _ in range(40):
            editor.replace(uri, path.read_text())
        assert await editor.diagnostics(uri) == []
        assert editor.published - before <= 3

    session(do, site)


def test_an_editor_may_ask_for_more(site: Path) -> None:
    async def do(editor: Editor) -> None:
        uri = editor.open(resource_folder("intents") / "trim.yaml")
        assert {one.severity for one in await editor.diagnostics(uri)} == {types.DiagnosticSeverity.Information}

    session(do, site, options={"strictness": "auditor"})


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    done = nodrop("lsp")
    assert (done.code, done.out) == (2, "")
    assert "pip install '.[lsp]'" in done.err
