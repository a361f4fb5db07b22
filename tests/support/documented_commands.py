"""Commands of a page of documentation, and their run."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from support.command import nodrop


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the paragraph before it, and its line."""

    language: str
    text: str
    before: str
    line: int


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a console, and what it prints."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output: str) -> str:
    """Return what is shown as a pattern, in which `...` matches anything."""
    return re.escape(output).replace(re.escape("...\n"), "(?s:.*)").replace(re.escape("..."), "[^\n]*")


def run(command: str) -> str:
    """What a command prints; what is not nodrop's goes to a shell, and must go well."""
    words = shlex.split(command)
    if words[0] == "nodrop":
        done = nodrop(*words[1:])
        return done.out + done.err
    done = subprocess.run(["sh", "-euc", command], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr
