"""New text is plain: the phrases to avoid, in which lines they are looked for, and the subjects of commits."""

import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.places import ROOT

SCRIPTS = ROOT / "scripts"
WORDS: dict[str, Any] = runpy.run_path(str(SCRIPTS / "check_words.py"), run_name="check_words")
SUBJECT: dict[str, Any] = runpy.run_path(str(SCRIPTS / "check_subject.py"), run_name="check_subject")
_, AVOIDED = WORDS["phrases"]()


@pytest.mark.parametrize("phrase", AVOIDED, ids=lambda phrase: phrase.wrong)
def test_a_phrase_is_found_in_its_wrong_sentence_and_no_phrase_in_its_right_one(phrase: Any) -> None:
    assert phrase.pattern.search(phrase.wrong)
    assert [other.pattern.pattern for other in AVOIDED if other.pattern.search(phrase.right)] == []


def git(top: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.hooksPath=/dev/null"]
    return subprocess.run(["git", "-C", str(top), *own, *words], capture_output=True, text=True, check=True).stdout


UNCHECKED = ("docs/rules/a.md", "tests/plan/golden/a.md", "tests/project/story/a/comment.md", "notes.txt")
"""Generated pages, snapshots of reports, and what is no text of the project."""
OLD = "The fault is told once.\n"
MODULE = '''"""Module that judges."""

import re

NAME = "judged"


def told(one: str) -> str:
    """{docstring}"""
    return re.sub("x", f"a port is told {{one}}", one)
'''


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with old text, and lines in it that are new."""
    (tmp_path / "src").mkdir()
    for name in ("examples/a.md", *UNCHECKED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(OLD)
    (tmp_path / "src" / "old.py").write_text(MODULE.format(docstring="Judges old text."))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Add old text")
    words = {"since": git(tmp_path, "rev-parse", "HEAD").strip()}
    (tmp_path / "words.yaml").write_text((SCRIPTS / "words.yaml").read_text())
    text = (tmp_path / "words.yaml").read_text().splitlines()
    text = [f"since: {words['since']}" if line.startswith("since:") else line for line in text]
    (tmp_path / "words.yaml").write_text("\n".join(text))
    return tmp_path


def checked(top: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = WORDS["main"](top, top / "words.yaml")
    *messages, _ = capsys.readouterr().out.splitlines()
    return code, messages


def test_old_lines_pass(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(top, capsys) == (0, [])


def test_old_lines_of_pages_for_readers_are_checked_too(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("README.md", "docs/concepts/a.md", "docs/rule-words.md"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(OLD)
    git(top, "add", ".")
    git(top, "commit", "-qm", "Add pages")
    words = (top / "words.yaml").read_text().splitlines()
    since = f"since: {git(top, 'rev-parse', 'HEAD').strip()}"
    (top / "words.yaml").write_text("\n".join(since if line.startswith("since:") else line for line in words))
    found = "avoid `is told`; write: is reported; nodrop reports"
    assert checked(top, capsys) == (1, [f"README.md:1: {found}", f"docs/concepts/a.md:1: {found}"])


def test_new_lines_of_prose_are_checked_and_code_is_not(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = (
        OLD
        + "\n```console\nIt is told twice.\n```\n\n    It is told in code.\n\nWrite `is told`, and it is told thrice.\n"
    )
    for name in ("examples/a.md", *UNCHECKED):
        (top / name).write_text(new)
    assert checked(top, capsys) == (1, ["examples/a.md:9: avoid `is told`; write: is reported; nodrop reports"])


def test_new_files_and_their_strings_and_docstrings_are_checked(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "src" / "new.py").write_text(MODULE.format(docstring="Returns one that was told."))
    code, messages = checked(top, capsys)
    assert (code, messages) == (
        1,
        [
            "src/new.py:1: avoid `judges`; write: check",
            "src/new.py:9: avoid `was told`; write: is reported; nodrop reports",
            "src/new.py:10: avoid `is told`; write: is reported; nodrop reports",
            'src/new.py:9: First line of docstring should be in imperative mood: "Returns one that was told." (D401)',
        ],
    )


@pytest.mark.parametrize(
    ("added", "faults"),
    [("import sys\n", 0), ("from sys import (\n    argv,\n)\n", 0), ("WIDTH = 3\n", 1)],
)
def test_a_module_of_which_only_imports_changed_keeps_its_docstrings(
    top: Path, capsys: pytest.CaptureFixture[str], added: str, faults: int
) -> None:
    (top / "src" / "kept.py").write_text(
        '"""A fact."""\n\n\ndef first() -> int:\n    """Returns one."""\n    return 1\n'
    )
    git(top, "add", ".")
    git(top, "commit", "-qm", "Add a module")
    words = (top / "words.yaml").read_text().splitlines()
    since = f"since: {git(top, 'rev-parse', 'HEAD').strip()}"
    (top / "words.yaml").write_text("\n".join(since if one.startswith("since:") else one for one in words))
    text = (top / "src" / "kept.py").read_text()
    (top / "src" / "kept.py").write_text(text.replace('"""\n', f'"""\n{added}', 1))
    assert (checked(top, capsys)[0], len(checked(top, capsys)[1])) == (faults, faults)


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        ("one", "port", []),
        ("is told {one}", "was told {one}", ["src/kept.py:6: avoid `was told`; write: is reported; nodrop reports"]),
        ("a port is", "{one} is", ["src/kept.py:6: avoid `is told`; write: is reported; nodrop reports"]),
    ],
)
def test_a_name_that_is_renamed_beside_a_text_makes_no_new_text(
    top: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, messages: list[str]
) -> None:
    text = '"""A fact."""\n\n\ndef tell(one: str) -> str:\n    """Return it."""\n    return f"a port is told {one}"\n'
    (top / "src" / "kept.py").write_text(text)
    git(top, "add", ".")
    git(top, "commit", "-qm", "Add a module")
    words = (top / "words.yaml").read_text().splitlines()
    since = f"since: {git(top, 'rev-parse', 'HEAD').strip()}"
    (top / "words.yaml").write_text("\n".join(since if one.startswith("since:") else one for one in words))
    (top / "src" / "kept.py").write_text(text.replace(old, new))
    assert checked(top, capsys)[1] == messages


LONG = "Set it where all of the ports that are up have a cable to one of the hosts, and on no other port."
"""23 words: too long for a message, not for a help text."""


@pytest.mark.parametrize(
    ("file", "text", "messages"),
    [
        ("src/nodrop/a.py", '"""It judges."""\n', []),
        (
            "src/nodrop/a.py",
            'MESSAGE = "the port is told"\n',
            ["1: avoid `is told`; write: is reported; nodrop reports"],
        ),
        ("src/nodrop/a.py", 'TABLE = "is told"\n', []),
        (
            "src/nodrop/a.py",
            f"MESSAGE = {LONG!r}\n",
            ["1: a sentence of 23 words, expected at most 20: Set it where all of the …"],
        ),
        ("src/nodrop/cli/a.py", f"HELP = {LONG!r}\n", []),
        (
            "src/nodrop/a.py",
            'MESSAGE = f"a port is told {1} of"\n',
            ["1: avoid `is told`; write: is reported; nodrop reports"],
        ),
        ("rules/a/b.yaml", f"why: >-\n  {LONG}\n", []),
        (
            "rules/a/b.yaml",
            "fix: no\nwhy: >-\n  " + 2 * LONG[:-1] + "\n",
            ["2: a sentence of 45 words, expected at most 25: Set it where all of the …"],
        ),
        ("rules/a/b.yaml", "fix: the port is told\n", ["1: avoid `is told`; write: is reported; nodrop reports"]),
    ],
)
def test_printed_texts_and_rules_are_checked_as_a_whole(
    top: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, messages: list[str]
) -> None:
    (top / file).parent.mkdir(parents=True, exist_ok=True)
    (top / file).write_text(text)
    git(top, "add", ".")
    git(top, "commit", "-qm", "Add text")
    words = (top / "words.yaml").read_text().splitlines()
    since = f"since: {git(top, 'rev-parse', 'HEAD').strip()}"
    (top / "words.yaml").write_text("\n".join(since if one.startswith("since:") else one for one in words))
    assert checked(top, capsys)[1] == [f"{file}:{message}" for message in messages]


def test_without_the_commit_nothing_is_compared(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "examples/a.md").write_text("It is told here.\n")
    missing = "0" * 40
    (top / "words.yaml").write_text(f"since: '{missing}'\nphrases: []\n")
    assert WORDS["main"](top, top / "words.yaml") == 0
    assert capsys.readouterr().out == (
        f"words: only whole texts, for the history has no commit {missing} (a shallow clone?)\n"
        f"words: 0 to change in whole texts, and in lines that are new since {missing[:12]}\n"
    )


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        ("Report ports without a watchdog\n\nBecause.\n", []),
        ("Merge branch 'x'\n", []),
        ("Report " + "a" * 65 + "\n", []),
        ("Report " + "a" * 66 + "\n", ["the subject has 73 characters; expected at most 72"]),
        ("Report ports.\n", ["the subject ends in a full stop"]),
        ("# only comments\n", ["the subject is empty"]),
        ("Report ports\nBecause.\n", ["the line below the subject is not empty"]),
        (
            "reported ports\n",
            [
                "the subject does not begin with a capital letter",
                "`reported` is no imperative; write what the commit does, such as `Report …`, `Fix …`",
            ],
        ),
        ("Test: report\n", ["`Test:` is no imperative; write what the commit does, such as `Report …`, `Fix …`"]),
    ],
)
def test_a_subject_says_in_one_line_what_a_commit_does(message: str, faults: list[str]) -> None:
    assert list(SUBJECT["faults"](message)) == faults


def test_the_hook_refuses_a_commit_with_such_a_subject(top: Path) -> None:
    (top / "scripts").symlink_to(SCRIPTS)
    (top / ".venv").symlink_to(SCRIPTS.parent / ".venv")
    commit = ["git", "-C", str(top), "-c", "core.hooksPath=scripts/hooks", "-c", "user.name=a", "-c", "user.email=a@a"]
    done = subprocess.run(
        [*commit, "commit", "--allow-empty", "-m", "Fixes it"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "`Fixes` is no imperative" in done.stderr) == (1, True)
    done = subprocess.run(
        [*commit, "commit", "--allow-empty", "-m", "Fix it"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
