"""The loop: inputs by number, in workers that end after some hundreds, and a state on disk that a later run resumes.

Input n of a target is the same whenever it is tried with the same seed and the same inputs before it: what a slow
machine finds, a fast one finds too.
"""

import base64
import gc
import json
import os
import re
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nodrop.cache import code_digest
from support.fuzzing import corpora
from support.fuzzing.coverage import Coverage
from support.fuzzing.mutation import Files, syntax_of
from support.fuzzing.targets import HANG_S, SILENCE_S, TARGETS, Target
from support.fuzzing.texts import Unreadable, load
from support.fuzzing.trial import Bench, Crash
from support.fuzzing.vocabulary import Vocabulary, of_source
from support.fuzzing.worker import Worker, unpacked

BATCH, BATCH_S = 2000, 60.0
"""How many inputs a worker tries, and how long, before the next one begins with fresh memory."""
_WORDS = {"sonic-frr": ("sonic", "."), "nvue-set": ("nvue",), "frr": (".",), "stated": ("../stated",)}
_PLATFORMS = Path(corpora.ROOT, "src", "nodrop", "platforms")


@dataclass
class Counts:
    """What a campaign of a target has done so far."""

    tried: int = 0
    accepted: int = 0
    seconds: float = 0.0
    judged: int = 0
    """How many were judged by every rule."""
    commands: int = 0
    """How many commands were given an input."""
    warmed: int = 0
    """How many inputs of the corpus were tried as they are, in the code of now."""
    refused: list[int] = field(default_factory=list)
    """Which of those were not accepted, by their number in the corpus."""
    begun: int = 0
    """Blocks of nodrop that its seeds reach."""
    blocks: int = 0
    """Blocks of nodrop that its inputs have reached."""
    slowest_s: float = 0.0
    peak_mb: int = 0
    """The most memory that a worker held, which had tried hundreds of inputs."""
    crashes: dict[str, int] = field(default_factory=dict)
    """By key, how many inputs crashed so."""


def load_once() -> None:
    """Load the rules and what else is loaded for the first input alone, so that workers begin with it."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "leaf1", "config_db.json")
        path.parent.mkdir()
        path.write_text('{"PORT": {"Ethernet0": {"speed": "400000"}}}')
        TARGETS[0].judge(TARGETS[0].accepted(Path(place)))  # type: ignore[misc]


class Campaign:
    """A target's inputs, numbered on from where the last run ended."""

    def __init__(self, target: Target, state: Path, coverage: Coverage, seed: int = 0, hang_s: float = HANG_S) -> None:
        self.target, self.coverage, self.seed, self.hang_s = target, coverage, seed, hang_s
        self.folder = state / target.name
        (self.folder / "crashes").mkdir(parents=True, exist_ok=True)
        self.counts = self._counts()
        self.seen = 0
        self.seeds = corpora.seeds(target.name)
        self.corpus = [*self.seeds, *self._kept()]
        if not self._recall():
            self.counts.warmed = 0
            self.counts.refused.clear()
        self.vocabulary = self._vocabulary()

    def _counts(self) -> Counts:
        path = self.folder / "counts.json"
        return Counts(**json.loads(path.read_text())) if path.exists() else Counts()

    def _kept(self) -> Iterator[Files]:
        path = self.folder / "corpus.jsonl"
        for line in path.read_text().splitlines() if path.exists() else ():
            yield unpacked(json.loads(line))

    def _recall(self) -> bool:
        """Take what was reached before; False where there is nothing, or it was reached in other code."""
        path = self.folder / "seen.bin"
        if not path.exists():
            return False
        raw = path.read_bytes()
        if raw[:32] != code_digest():
            return False
        self.seen = int.from_bytes(raw[32:], "little")
        return True

    def _vocabulary(self) -> Vocabulary:
        found = Vocabulary()
        for files in self.seeds:
            for path, raw in files.items():
                syntax = syntax_of(path, self.target.syntax)
                if syntax == "lines":
                    found.learn_lines(raw.decode("utf-8", "replace"))
                elif syntax not in (None, "bytes"):
                    try:
                        found.learn(load(raw, str(syntax)))
                    except Unreadable:
                        found.learn_lines(raw.decode("utf-8", "replace"))
        folders = _WORDS.get(self.target.name, (self.target.name,))
        return found.settle(word for one in folders for word in of_source(_PLATFORMS / one))

    def save(self) -> None:
        """Write what a later run begins with."""
        self.counts.blocks = self.seen.bit_count()
        _replace(self.folder / "counts.json", json.dumps(asdict(self.counts), indent=1).encode())
        _replace(self.folder / "seen.bin", code_digest() + self.seen.to_bytes(self.coverage.blocks + 1, "little"))

    def run(self, inputs: int, until: float | None = None, silence_s: float = SILENCE_S) -> None:
        """Try so many inputs more, or as many as fit in before `until` (of `time.monotonic`)."""
        last = self.counts.tried + inputs
        while self.counts.tried < last and (until is None or time.monotonic() < until):
            soon = time.monotonic() + BATCH_S
            size = min(BATCH, last - self.counts.tried)
            self._batch(size, soon if until is None else min(soon, until), silence_s, hurried=until is not None)
            self.save()

    def _batch(self, size: int, until: float, silence_s: float, *, hurried: bool) -> None:
        """Have a worker try inputs, and note what it tells; where it hangs or dies, its input is a crash."""
        reading, writing = os.pipe()
        place = tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        gc.collect()
        gc.freeze()
        process = os.fork()
        if process == 0:
            os.close(reading)
            Worker(self, Path(place), writing).run(size, until, hurried=hurried)
        os.close(writing)
        step: list[str] = []
        told = _Lines(reading)
        began = time.monotonic()
        try:
            while (line := told.next(silence_s)) is not None:
                if line[0] == "step":
                    step = line[1]
                else:
                    self._note(line)
            dead = told.silent
            if dead:
                os.kill(process, signal.SIGKILL)
        finally:
            os.close(reading)
            _, status, used = os.wait4(process, 0)
            self.counts.seconds += time.monotonic() - began
            self.counts.peak_mb = max(self.counts.peak_mb, used.ru_maxrss // 1024)
        if status:
            kind = "hang" if dead else "death"
            new, old = (_files(Path(place, name)) for name in ("new", "old"))
            how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
            if self.counts.warmed < len(self.corpus):
                self._warmed(False)
            else:
                self.counts.tried += 1
            self._crashed(Crash(kind, f"{kind} {step[:1]} {how}", told.text, tuple(step)), new, old)
        shutil.rmtree(place, ignore_errors=True)
        gc.unfreeze()

    def _note(self, line: list[Any]) -> None:
        match line:
            case ["tried", accepted, judged, commands, seconds]:
                self.counts.tried += 1
                self.counts.accepted += accepted
                self.counts.judged += judged
                self.counts.commands += commands
                self.counts.slowest_s = round(max(self.counts.slowest_s, seconds), 3)
            case ["seen", slots]:
                for slot in slots:
                    self.seen |= 1 << (8 * slot)
            case ["new", files, accepted]:
                if self.counts.warmed == len(self.corpus):
                    self._warmed(accepted)
                self.corpus.append(unpacked(files))
                with (self.folder / "corpus.jsonl").open("a") as file:
                    file.write(json.dumps(files) + "\n")
            case ["warmed", accepted]:
                self._warmed(accepted)
            case ["again", key]:
                self.counts.crashes[key] = self.counts.crashes.get(key, 0) + 1
            case ["crash", crash, files, old]:
                crash["step"] = tuple(crash["step"])
                self._crashed(Crash(**crash), unpacked(files), unpacked(old))

    def _warmed(self, accepted: bool) -> None:
        """Note what came of the next input of the corpus."""
        if not accepted:
            self.counts.refused.append(self.counts.warmed)
        self.counts.warmed += 1
        if self.counts.warmed == len(self.seeds):
            self.counts.begun = self.seen.bit_count()

    def _crashed(self, crash: Crash, files: Files, old: Files) -> None:
        self.counts.crashes[crash.key] = self.counts.crashes.get(crash.key, 0) + 1
        path = self.folder / "crashes" / f"{re.sub('[^A-Za-z0-9]+', '-', crash.key).strip('-')[:120]}.yaml"
        if not path.exists():
            path.write_text(case(self.target, crash, files, old))


def case(target: Target, crash: Crash, files: Files, old: Files) -> str:
    """Return a crash as a case for tests/fuzzing/crashers, which says what its folder's README.md says."""
    bench = Bench(target, Path(), repository=False)
    held = files if "old" not in " ".join(crash.step) else {f"new/{path}": raw for path, raw in files.items()}
    if held is not files:
        held |= {f"old/{path}": raw for path, raw in old.items()}
    lint = ("lint", "{new}", "--no-config", "--strictness", "auditor")
    words = bench.words(crash.step or lint, files, "new/" if held is not files else "", "old/")
    texts = {path: raw.decode() for path, raw in held.items() if _is_text(raw)}
    binary = {path: base64.b64encode(raw).decode() for path, raw in held.items() if not _is_text(raw)}
    run = [word.encode("utf-8", "backslashreplace").decode() for word in words]
    lines = [f"was: {json.dumps(crash.key)}", "run:", f"- {json.dumps(run)}"]
    for kind, members in (("files", texts), ("bytes", binary)):
        lines += [f"{kind}:"] if members else []
        for path, text in sorted(members.items()):
            lines.append(f"  {json.dumps(path)}: {json.dumps(text)}")
    return "\n".join([*lines, *(f"# {line}".rstrip() for line in crash.text[-6000:].splitlines())]) + "\n"


def _is_text(raw: bytes) -> bool:
    try:
        return raw.decode().isprintable() or not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", raw.decode())
    except UnicodeDecodeError:
        return False


class _Lines:
    """Lines of JSON from a pipe, as they come."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._held = pipe, b""
        self.silent = False
        """Whether nothing came for too long."""
        self.text = ""

    def next(self, seconds: float) -> list[Any] | None:
        """Return the next line; None where the other end is gone, or nothing comes for so many seconds."""
        while b"\n" not in self._held:
            if not select.select([self._pipe], [], [], seconds)[0]:
                self.silent = True
                self.text = f"no answer for {seconds:.0f} s, and no exception raised in it is seen"
                return None
            data = os.read(self._pipe, 1 << 20)
            if not data:
                return None
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        found: list[Any] = json.loads(line)
        return found


def _files(folder: Path) -> Files:
    paths: Sequence[Path] = sorted(folder.rglob("*")) if folder.is_dir() else ()
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in paths
        if path.is_file() and ".git" not in path.parts
    }


def _replace(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.replace(path)
