"""The public verbs, as a program that imports nodrop uses them."""

import subprocess
import sys
from pathlib import Path

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.resources import resource_folder

PROGRAM = """
import sys
from pathlib import Path

import nodrop

for _ in range(2):
    fabric = nodrop.build(nodrop.load(Path(sys.argv[1])))
    artifacts = list(nodrop.write(fabric))
    for verdict in (nodrop.lint(nodrop.read_back(artifacts, fabric)), nodrop.lint(nodrop.read([]))):
        print(len(artifacts), len(verdict.findings), verdict.rules > 0)
"""


def test_verbs_can_be_called_again_and_again() -> None:
    """`nodrop.lint` is a verb and a package; whatever is imported, it stays the verb."""
    intent = str(resource_folder("intents") / "two-by-two.yaml")
    done = subprocess.run([sys.executable, "-c", PROGRAM, intent], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("13 0 True\n" * 4, "")


def test_every_verb_is_a_function_and_told_in_the_docstring() -> None:
    assert nodrop.__doc__ is not None
    for name in nodrop.__all__:
        assert callable(getattr(nodrop, name)), name
        assert name == "read_back" or f"    {name}(" in nodrop.__doc__


def test_a_change_of_files_can_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    for folder, changed in (
        ("old", text),
        ("same", text.replace("150kB", "200kB")),
        (".", text.replace("150kB", "200kB")),
    ):
        Path(folder).mkdir(exist_ok=True)
        Path(folder, "pod.yaml").write_text(changed)
    assert nodrop.check(["pod.yaml"], "./same").fabrics == ()
    (only,) = nodrop.check(["pod.yaml"], "./old").fabrics
    assert {one.path[-1] for told in only.plan.changes for fact in told.facts for one in fact.entries} == {"min_bytes"}
    with pytest.raises(InputProblems):
        nodrop.check(["pod.yaml"], "nowhere")
