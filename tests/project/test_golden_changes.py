"""`make golden`: it finds every snapshot, and its summary has an entry for each cause of a change."""

import ast
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from support.gitops import committed, git
from support.golden_changes import Change, State, changed, changes, report, state, summary, written_since
from support.places import TESTS

OPTION = "update_golden"


def digest_line(name: str, text: str) -> str:
    return f"{name}  1 lines  sha256 {sha256(text.encode()).hexdigest()}"


def test_a_change_has_the_lines_of_its_hunk_whatever_they_look_like() -> None:
    diff = (
        "diff --git old/a new/a\nindex 1..2 100644\n--- old/a\n+++ new/a\n"
        "@@ -1,2 +1 @@\n--- old/b\n-@@ -1 +1 @@\n+++ new/b\n\\ No newline at end of file\n"
        "diff --git old/c d new/c d\n--- old/c d\t\n+++ new/c d\t\n@@ -4,0 +5 @@ context\n+x\n"
    )
    assert changes(diff) == {
        "a": [Change(("-- old/b", "@@ -1 +1 @@"), ("++ new/b",))],
        "c d": [Change((), ("x",))],
    }


def test_the_same_change_of_many_ports_and_files_is_one_entry() -> None:
    found = {
        f"golden/{fabric}/leaf{leaf}/frr.conf": [
            Change((), (f" neighbor 10.0.{leaf}.{port} description spine{port}",)) for port in range(4)
        ]
        for fabric in ("one", "two")
        for leaf in (1, 2)
    }
    found["golden/two/leaf2/frr.conf"].append(Change(("maximum-paths 32",), ("maximum-paths 64",)))
    assert summary(found).splitlines() == [
        "1. 1 change in 4 files, 16 places",
        "   + neighbor 10.0.1.0 description spine0",
        "",
        "   golden/one: leaf1/frr.conf leaf2/frr.conf",
        "   golden/two: leaf1/frr.conf leaf2/frr.conf",
        "",
        "2. 1 change in 1 file, 1 place",
        "   - maximum-paths 32",
        "   + maximum-paths 64",
        "",
        "   golden/two: leaf2/frr.conf",
    ]


def test_changes_of_the_same_files_are_one_entry_and_many_lines_are_cut() -> None:
    found = {"a": [Change((f"{letter}",), tuple("0123456789")) for letter in "vwxyz"]}
    lines = summary(found).splitlines()
    assert lines[0] == "1. 5 changes in 1 file, 5 places"
    assert lines[1:9] == ["   - v", *(f"   + {number}" for number in range(6)), "   + … 4 more lines"]
    assert lines[-3:] == ["   … 2 more changes", "", "   a"]


def test_other_values_and_other_names_that_replace_one_another_are_other_causes() -> None:
    one = Change(('"mtu": "9216"',), ('"mtu": "9100"',))
    assert one.form() != Change(('"mtu": "9216"',), ('"mtu": "9000"',)).form()
    counted = Change(("4 devices, 275 rules",), ("4 devices, N rules",))
    assert counted.form() == Change(("6 devices, 275 rules",), ("6 devices, N rules",)).form()
    assert counted.form() != Change(("4 devices, 199 rules",), ("4 devices, N rules",)).form()
    assert Change((), ("mtu 9216",)).form() != Change((), ("mtu 9000",)).form()
    model = Change(("leaf1 SN4700",), ("leaf1 SN5600",))
    assert model.form() == Change(("leaf2 SN4700",), ("leaf2 SN5600",)).form()
    assert model.form() != Change(("leaf1 SN4700",), ("leaf1 SN2700",)).form()


def test_a_digested_file_is_compared_by_its_former_and_new_text() -> None:
    old = State({}, {"golden/one/leaf2/a": digest_line("leaf2/a", "x\n")})
    new = State({}, {"golden/one/leaf2/a": digest_line("leaf2/a", "y\n")})
    assert changed(old, new) == {"golden/one/leaf2/a"}
    assert report(old, new) == "Changed, known by digest only: 1 file\n   golden/one: leaf2/a\n"
    texts = (old.with_outputs({"golden/one/leaf2/a": b"x\n"}), new.with_outputs({"golden/one/leaf2/a": b"y\n"}))
    assert report(*texts).splitlines()[:3] == ["1. 1 change in 1 file, 1 place", "   - x", "   + y"]
    assert old.with_outputs({"golden/one/leaf2/a": b"of other code\n"}) == old


def test_a_file_that_becomes_a_digest_is_no_change_and_others_are_named(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/digests.txt").write_text(f"{digest_line('leaf2/a', 'x')}\n")
    (tmp_path / "more").write_text("more")
    new = state(tmp_path, ["one/digests.txt", "more", "less"])
    old = State({"one/leaf2/a": b"x", "less": b""}, {})
    assert report(old, new) == "Added: 1 file\n   more\n\nRemoved: 1 file\n   less\n"
    assert report(new, new) == "No snapshot changed.\n"


def test_files_that_were_written_again_are_found_even_if_they_are_equal(tmp_path: Path) -> None:
    for name in ("kept", "written", "removed", ".gitignore"):
        (tmp_path / name).write_text("ignored\n")
    git(tmp_path, "init", "-q")
    committed(tmp_path, "all")
    for path in (tmp_path / "kept", tmp_path / "written", tmp_path / ".gitignore"):
        os.utime(path, ns=(5, 5))
    (tmp_path / "removed").unlink()
    git(tmp_path, "rm", "-q", "--cached", "removed")
    for name in ("written", "new", "ignored"):
        (tmp_path / name).write_text("ignored\n")
        os.utime(tmp_path / name, ns=(7, 7))
    assert written_since(tmp_path, 6) == ["new", "removed", "written"]


def test_the_option_selects_the_tests_that_write_snapshots_and_no_others(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(TESTS / "conftest.py", tests)
    (tests / "test_none.py").write_text("raise AssertionError('collected')\n")
    (tests / "test_some.py").write_text(
        "import pytest\n"
        "@pytest.fixture\ndef through(update_golden): ...\n"
        "def test_indirect(through): ...\n"
        "def test_other(): ...\n"
        "def test_direct(update_golden): assert update_golden\n"
        "@pytest.mark.slow\ndef test_slow(update_golden): ...\n"
    )
    options = ("-vv", "-p", "no:cacheprovider", "-o", "markers=slow", "--update-golden")
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tests]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    ran = [line.split()[0].partition("::")[2] for line in done.stdout.splitlines() if "PASSED" in line]
    assert (done.returncode, ran) == (0, ["test_slow", "test_indirect", "test_direct"]), done.stdout


@pytest.mark.slow
def test_tests_that_write_snapshots_of_one_group_run_in_one_process(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(TESTS / "conftest.py", tests)
    text = (
        "import pytest\n"
        "%s\n"
        "@pytest.mark.parametrize('number', range(3))\n"
        "def test(number, update_golden, worker_id):\n"
        "    with open('%s', 'a') as file: file.write(f'%s {worker_id}\\n')\n"
    )
    ran = tmp_path / "ran"
    for name, mark in (("a", 'pytestmark = pytest.mark.xdist_group("shared")'), ("b", ""), ("c", "")):
        (tests / f"test_{name}.py").write_text(text % (mark, ran, name))
    (tests / "test_d.py").write_text((tests / "test_a.py").read_text().replace("f'a ", "f'd "))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--update-golden", "-n", "2", "--dist", "load"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    done = subprocess.run([*command, tests], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    workers = {tuple(line.split()) for line in ran.read_text().splitlines()}
    assert (done.returncode, sorted(name for name, _ in workers)) == (0, ["a", "b", "c", "d"]), done.stdout
    assert len({worker for name, worker in workers if name in "ad"}) == 1


def test_no_snapshot_escapes_the_option() -> None:
    """Tests are found by the word `update_golden` in their module, so a fixture of another module may not hide it."""
    modules = {path: path.read_text() for path in TESTS.rglob("*.py")}
    hiding: set[str] = set()
    wrong = []
    for path, text in modules.items():
        if OPTION not in text and "getoption" not in text:
            continue
        tree = ast.parse(text)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        takers = {OPTION}
        while more := {one.name for one in functions if _is_fixture(one) and _arguments(one) & takers} - takers:
            takers |= more
        hiding |= takers - {OPTION}
        if not path.name.startswith("test_"):
            wrong += [f"{path}: the fixture {name} takes `{OPTION}`" for name in takers - {OPTION}]
        calls = {ast.unparse(node.func).split(".")[-1] for node in ast.walk(tree) if isinstance(node, ast.Call)}
        if "getoption" in calls and path != TESTS / "conftest.py":
            wrong.append(f"{path}: reads an option of pytest; take `{OPTION}`")
    for path, text in modules.items():
        nodes = ast.walk(ast.parse(text)) if any(name in text for name in hiding) else ()
        imported = {name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
        wrong += [f"{path}: the imported fixture {name} takes `{OPTION}`" for name in imported & hiding]
    assert hiding >= {"written_anew", "rebuilt"}
    assert wrong == []


def _is_fixture(node: ast.FunctionDef) -> bool:
    return any("fixture" in ast.unparse(one) for one in node.decorator_list)


def _arguments(node: ast.FunctionDef) -> set[str]:
    return {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
