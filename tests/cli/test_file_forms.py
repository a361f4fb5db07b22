"""`nodrop lint` names every file below a folder that it does not read, whatever its form (`support/file_forms.py`)."""

import json
from pathlib import Path

import pytest

from support.command import Done, nodrop
from support.file_forms import FORMS, GOOD, RULE, Form


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lay(form: Form, folder: str) -> None:
    for name, raw in form.files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    for name, target in form.links:
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def linted(folder: str, *options: str) -> Done:
    config = ("-c", f"{folder}/nodrop.yaml") if Path(folder, "nodrop.yaml").exists() else ()
    return nodrop("lint", folder, "--no-cache", "--select", RULE, *config, *options)


CODES = {"read": (1, 1), "problem": (2, 2), "unread": (3, 0), "nothing": (3, 3), "ignored": (3, 0)}
"""By word: the exit codes alone, and beside a switch without faults."""


@pytest.mark.parametrize("name", FORMS)
def test_no_form_is_skipped_in_silence(name: str) -> None:
    form = FORMS[name]
    has_good = GOOD in form.files.values()
    for beside in (False, True):
        folder = "beside" if beside else "alone"
        lay(form, folder)
        if beside:
            lay(Form("read", {"leaf2/config_db.json": GOOD}), folder)
        done = linted(folder, "--format", "text", "--format", f"json={folder}.out")
        path, files = f"{folder}/{form.subject}", json.loads(Path(f"{folder}.out").read_text())["files"]
        listed = {kind: [one if kind == "read" else one["file"] for one in files[kind]] for kind in files}
        above = [path, *(str(one) for one in Path(path).parents)]
        assert form.says == "cut" or done.code == CODES[form.says][beside or has_good], done.out
        if form.says == "ignored":
            assert [one for one in listed["ignored"] if one in above]
            assert any(one in linted(folder, "-v").out for one in above[:-2])
            continue
        assert path in done.out
        assert form.told in done.out
        assert path in listed["read" if form.says == "read" else "unread"]
        if form.says in ("unread", "nothing", "cut"):
            assert "not read" in done.out.splitlines()[-2]
            assert linted(folder, "--fail-on", "unknown").code == 1
