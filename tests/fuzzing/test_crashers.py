"""Inputs that once ended a command with a traceback: each ends with its exit code and reports what is odd in it.

A case is a file `tests/fuzzing/crashers/<reader>/<name>.yaml`; README.md in that folder describes the format. Add a
file there for every new crash; nothing else has to change.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nodrop.syntax.yaml import parse_yaml
from support.command import nodrop
from support.places import GOLDEN, TESTS

CASES = TESTS / "fuzzing" / "crashers"
KEYS = {"was", "run", "files", "bytes", "copy", "tables", "exit", "says"}
NAMES = sorted(path.relative_to(CASES).with_suffix("").as_posix() for path in CASES.glob("*/*.yaml"))
_REPEATED = re.compile(r"<<(.+?) x ([0-9]+)>>", re.DOTALL)


def spelt(text: str) -> str:
    """Return a text of a case with every `<<part x count>>` written out."""
    return _REPEATED.sub(lambda found: found[1] * int(found[2]), text)


def case_of(name: str) -> dict[str, Any]:
    path = CASES / f"{name}.yaml"
    case: dict[str, Any] = parse_yaml(path.read_bytes(), path.name).data
    assert case.keys() <= KEYS, case.keys() - KEYS
    assert case.keys() >= {"was", "run", "exit", "says"}, KEYS - case.keys()
    return case


def lay_out(case: dict[str, Any]) -> None:
    """Write the files of a case below the working directory."""
    contents: dict[str, bytes] = {name: (GOLDEN / source).read_bytes() for name, source in case.get("copy", {}).items()}
    contents |= {name: spelt(text).encode("utf-8", "surrogatepass") for name, text in case.get("files", {}).items()}
    contents |= {name: base64.b64decode(text) for name, text in case.get("bytes", {}).items()}
    for name, tables in case.get("tables", {}).items():
        contents[name] = json.dumps(json.loads(contents[name]) | tables).encode()
    for name, raw in contents.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


@pytest.mark.parametrize("name", NAMES)
def test_a_former_crash_is_reported(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of(name)
    monkeypatch.chdir(tmp_path)
    lay_out(case)
    for command in case["run"]:
        done = nodrop(*map(spelt, command))
        said = done.out + done.err
        assert "Traceback" not in said, said
        assert done.code != 70, said
    assert done.code == int(case["exit"]), said
    said = re.sub(r"\s+", " ", said)
    for part in case["says"]:
        assert spelt(part) in said, (part, said)
