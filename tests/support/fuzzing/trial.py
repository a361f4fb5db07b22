"""One input: written to disk, read and judged, given to a command, within limits of time and memory."""

import contextlib
import io
import os
import re
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from unittest import mock

from nodrop.cli.main import run
from nodrop.errors import NodropError
from support.fuzzing.mutation import Files
from support.fuzzing.targets import CODES, HANG_S, MEMORY_BYTES, Command, RuleFailed, Target

_FRAME = re.compile(r'^[ |]*File "[^"]*/nodrop/([^"]*)", line \d+, in (\S+)', re.MULTILINE)
_ERROR = re.compile(
    r"^[ |]*([A-Za-z_.]+(?:Error|Exception|Exit|Interrupt|Iteration|MalformedText|[A-Z]\w+))(?::|$)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Crash:
    """What went wrong: `kind` is a word of the yardstick, `key` the same for crashes of one cause."""

    kind: str
    key: str
    text: str
    step: Command
    """The words of the command line that crashed; none for what is done with every input."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of an input."""

    made: object
    """What the product made of it; what is false is not past syntax and schema."""
    crash: Crash | None

    @property
    def accepted(self) -> bool:
        """Whether it is past syntax and schema."""
        return bool(self.made)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and all that it printed."""

    code: int
    text: str


class Hang(BaseException):
    """The input takes too long; no `except Exception` stops it."""


def command(words: Sequence[str]) -> Done:
    """Run a command line in this process."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", newline="")
    given = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), mock.patch.object(sys, "stdin", given):
        code = run(list(words))
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return Done(code, out.buffer.getvalue().decode())


def write(files: Files, folder: Path) -> None:
    """Write an input below a folder."""
    for path, raw in files.items():
        where = folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(raw)


def limit_memory(more: int = MEMORY_BYTES) -> None:
    """Let this process have so many bytes of address space more than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _alarm(_number: int, _frame: FrameType | None) -> None:
    raise Hang


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise Hang in the block once it has used so many seconds of processor time."""
    before = signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Bench:
    """A folder in which inputs of a target are tried: `new` is the input, `old` what it was made from."""

    def __init__(self, target: Target, folder: Path, hang_s: float = HANG_S, *, repository: bool = True) -> None:
        self.target, self.folder, self.hang_s = target, folder, hang_s
        self.new, self.old, self.out = folder / "new", folder / "old", folder / "out"
        if repository and any("{revision}" in step for step in target.commands):
            self._make_repository()

    def _make_repository(self) -> None:
        """Make a repository of one commit, which inputs are put into."""
        import subprocess

        self.new.mkdir(parents=True, exist_ok=True)
        for words in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "x")):
            identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
            subprocess.run(["git", *identity, *words], cwd=self.new, check=True)

    def put(self, files: Files, old: Files) -> None:
        """Replace what is in the folders."""
        for folder, held in ((self.new, files), (self.old, old)):
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    if path.name != ".git":
                        shutil.rmtree(path)
                else:
                    path.unlink()
            write(held, folder)
        self._clear_out()

    def _clear_out(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.unlink(missing_ok=True)

    def tried(self, files: Files, old: Files) -> Tried:
        """Read an input, which is done with every one."""
        self.put(files, old)
        os.chdir(self.new)
        return Tried(*self._guarded((), self._read))

    def judged(self, made: object) -> Crash | None:
        """Give what was read to every rule; return how that crashes."""
        judge = self.target.judge
        return self._guarded((), lambda: judge(made))[1] if judge is not None and made else None

    def crash_of(self, files: Files, old: Files, step: Command) -> Crash | None:
        """Return how a step crashes on an input, if it does; an empty step is what is done with every input."""
        self.put(files, old)
        os.chdir(self.new)
        return self._guarded(step, (lambda: self._commanded(step, files)) if step else self._read_and_judged)[1]

    def _read(self) -> object:
        try:
            return self.target.accepted(self.new)
        except NodropError:
            return None

    def _read_and_judged(self) -> None:
        made = self._read()
        if made and self.target.judge is not None:
            self.target.judge(made)

    def words(self, step: Command, files: Files, new: str = "", old: str = "../old/") -> list[str]:
        """Return the words of a command line for an input that lies below `new`, made from what is below `old`."""
        named = self.target.named
        revision = files.get("revision.txt", b"").decode("utf-8", "surrogateescape").rstrip("\n")
        places = {"{new}": (new + named) or ".", "{old}": old + named, "{out}": "../out", "{revision}": revision}
        words = [places.get(word, word) for word in step]
        platform = self.target.platform
        if platform and step[0] in ("lint", "import", "fix", "validate", "drift", "baseline", "export", "explain"):
            words += ["--platform", platform]
        return words

    def _commanded(self, step: Command, files: Files) -> None:
        self._clear_out()
        done = command(self.words(step, files))
        if done.code not in CODES:
            raise _Ended(done)

    def _guarded(self, step: Command, act) -> tuple[object, Crash | None]:  # type: ignore[no-untyped-def]
        try:
            with _within(self.hang_s):
                return act(), None
        except Hang as hang:
            where = "".join(traceback.format_tb(hang.__traceback__))
            return None, Crash("hang", f"hang {_place(where).partition(':')[0]}", where, step)
        except MemoryError as error:
            where = "".join(traceback.format_tb(error.__traceback__))
            return None, Crash("memory", f"memory {_place(where)}", where, step)
        except RuleFailed as error:
            return None, Crash("rule", _rule_of(str(error)), str(error), step)
        except _Ended as end:
            return None, _crash_of(end.done, step)
        except Exception as error:  # noqa: BLE001 -- whatever is raised is a crash
            where = "".join(traceback.format_exception(error))
            return None, Crash("traceback", f"{type(error).__name__} {_place(where)}", where, step)


class _Ended(Exception):
    def __init__(self, done: Done) -> None:
        self.done = done


def _place(text: str) -> str:
    """Return the file and function of nodrop that a traceback ends in."""
    frames = _FRAME.findall(text)
    return ":".join(frames[-1]) if frames else "?"


def _crash_of(done: Done, step: Command) -> Crash:
    if done.code != 70:
        return Crash("exit", f"exit {done.code} of {step[0]}", done.text[-4000:], step)
    start = done.text.find("Traceback (most recent call last)")
    if start >= 0:
        text = done.text[start:]
        errors = _ERROR.findall(text)
        name = errors[-1].rpartition(".")[2] if errors else "?"
        kind = "memory" if name == "MemoryError" else "traceback"
        return Crash(kind, f"{'memory' if kind == 'memory' else name} {_place(text)}", text[:20_000], step)
    return Crash("rule", _rule_of(done.text), done.text[-4000:], step)


def _rule_of(text: str) -> str:
    """Return the key of a rule that failed."""
    failed = re.search(r"rules/[a-z]+/[a-z0-9-]+\.yaml", text)
    return f"rule {failed[0] if failed else '?'}"
