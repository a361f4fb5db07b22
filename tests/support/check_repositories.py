"""Repositories that `nodrop check` is run in."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nodrop.resources import resource_folder
from support.command import nodrop

INTENT = resource_folder("intents") / "two-by-two.yaml"
Git = Callable[..., str]


def commit(git: Git) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "as it is")


def written(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def of_json(*words: str | Path) -> Any:
    return json.loads(nodrop("check", *words, "--format", "json").out)


def built_pods() -> None:
    """Build all intents, whatever the fabrics have in common."""
    assert nodrop("build", *sorted(Path("intents").iterdir()), "-o", "build", "--ignore", "topology").code == 0


def written_before(git: Git, seconds: int) -> None:
    """Let the index know all files as they are, written so long before it was."""
    then = time.time_ns() - seconds * 10**9
    for path in Path("build").rglob("*"):
        os.utime(path, ns=(then, then))
    git("update-index", "-q", "--refresh")
