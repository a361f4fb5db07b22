"""Commands of a page of documentation, and their run."""

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.command import nodrop
from support.places import ROOT


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the paragraph before it, and its line."""

    language: str
    text: str
    before: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """Each fenced block of a page that names its language."""
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        before = text[: match.start()].strip().rpartition("\n\n")[2]
        yield Block(match[1], match[2], before, text[: match.start()].count("\n") + 1)


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


def run_page(page: str) -> str:
    """Run a page in the working directory, its blocks in order; return what its Python prints.

    Blocks of YAML are written to the file that is named last in the paragraph before them. Commands of consoles have to
    print what is shown.
    """
    printed_by_python = io.StringIO()
    for block in blocks((ROOT / page).read_text()):
        if block.language == "yaml" and (names := re.findall(r"`([\w-]+\.yaml)`", block.before)):
            Path(names[-1]).write_text(block.text)
        elif block.language == "console":
            for command, output in commands(block):
                printed = run(command)
                assert re.fullmatch(pattern(output), printed), f"{page}:{block.line}: {command}\n{printed}"
        elif block.language == "python":
            with contextlib.redirect_stdout(printed_by_python):
                exec(block.text, {})
    return printed_by_python.getvalue()
