"""The command line as tests run it: in this process, or as a process of its own."""

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from jsonschema import Draft202012Validator

from nodrop.cli.main import run
from nodrop.schemas import json_schema

SCRIPT = "from nodrop.cli.main import main; main()"


@dataclass(frozen=True)
class Done:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


def nodrop(*args: str | Path, stdin: bytes = b"") -> Done:
    """Run a command in this process, with streams of bytes as a shell gives them."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.object(sys, "stdin", given):
        code = run(list(map(str, args)))
    done = Done(code, _written(out), _written(err))
    _require_fit(list(map(str, args)), done.out)
    return done


def _require_fit(words: list[str], out: str) -> None:
    """Have what plan, check and drift say as JSON fit its schema, whatever a test is about."""
    if words[:1] not in (["plan"], ["check"], ["drift"]):
        return
    files = (Path(word.removeprefix("json=")) for word in words if word.startswith("json="))
    documents = [out] if "json" in words and out.startswith("{") else []
    for text in (*documents, *(file.read_text() for file in files if file.is_file())):
        _schema(words[0]).validate(json.loads(text))


@cache
def _schema(kind: str) -> Draft202012Validator:
    return Draft202012Validator(json_schema(kind))


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def on_terminal(*args: str | Path, **environment: str) -> Done:
    """Run a command in this process, both of its streams the same terminal; `out` holds what that gets."""
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(max_workers=1) as reader, mock.patch.dict(os.environ, environment):
        written = reader.submit(_read_terminal, ours)
        with (
            open(theirs, "w", encoding="utf-8", newline="") as terminal,  # noqa: PTH123 -- an open descriptor
            contextlib.redirect_stdout(terminal),
            contextlib.redirect_stderr(terminal),
        ):
            code = run(list(map(str, args)))
        return Done(code, written.result().decode(), "")


def _read_terminal(descriptor: int) -> bytes:
    """Read what a terminal gets until nobody writes to it any more."""
    text = b""
    try:
        while part := os.read(descriptor, 65536):
            text += part
    except OSError:  # Linux's way of saying that the other end is closed
        pass
    os.close(descriptor)
    return text


def process(*args: str | Path, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Done:
    """Run a command as a process of its own, in the working directory of the test."""
    command = [sys.executable, "-c", SCRIPT, *map(str, args)]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, env={**os.environ, **(env or {})})
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def unwatched(*ports: str, path: str = "build/leaf1/config_db.json") -> None:
    """Take the PFC watchdogs of ports out of a configuration."""
    config = json.loads(Path(path).read_text())
    for port in ports:
        del config["PFC_WD"][port]
    Path(path).write_text(json.dumps(config, indent=4))


def built(intent: str | Path, directory: str | Path, *options: str) -> None:
    """Build an intent, which must go well."""
    done = nodrop("build", intent, "-o", directory, *options)
    if done.code:
        pytest.fail(f"{intent} was not built: {done}")
