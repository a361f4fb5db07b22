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
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from nodrop.cache import code
from support.fuzzing import corpora
from support.fuzzing.coverage import Coverage
from support.fuzzing.minimize import minimized
from support.fuzzing.mutation import Files, mutated, syntax_of
from support.fuzzing.targets import HANG_S, SILENCE_S, TARGETS, Target
from support.fuzzing.texts import Unreadable, load
from support.fuzzing.trial import Bench, Crash, limit_memory
from support.fuzzing.vocabulary import Vocabulary, of_source

BATCH, BATCH_S = 400, 60.0
"""How many inputs a worker tries, and how long, before the next one begins with fresh memory."""
MINIMIZE_S = 40.0
"""How long a crash is made smaller, in seconds."""
REFUSED = 0.1
"""How many of the refused inputs that reach new code are kept: what begins with them is mostly refused too."""
_WORDS = {"sonic-frr": ("sonic", "."), "nvue-set": ("nvue",), "frr": (".",), "stated": ("../stated",)}
_PLATFORMS = Path(corpora.ROOT, "src", "nodrop", "platforms")


@dataclass
class Counts:
    """What a campaign of a target has done so far."""

    tried: int = 0
    accepted: int = 0
    seconds: float = 0.0
    warmed: int = 0
    """How many inputs of the corpus were tried as they are, in the code of now."""
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
        TARGETS[0].accepted(Path(place))


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
        if raw[:32] != code():
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
        _replace(self.folder / "seen.bin", code() + self.seen.to_bytes(self.coverage.blocks + 1, "little"))

    def run(self, inputs: int, until: float | None = None, silence_s: float = SILENCE_S) -> None:
        """Try so many inputs more, or as many as fit in before `until` (of `time.monotonic`)."""
        last = self.counts.tried + inputs
        while self.counts.tried < last and (until is None or time.monotonic() < until):
            soon = time.monotonic() + BATCH_S
            self._batch(min(BATCH, last - self.counts.tried), soon if until is None else min(soon, until), silence_s)
            self.save()

    def _batch(self, size: int, until: float, silence_s: float) -> None:
        """Have a worker try inputs, and note what it tells; where it hangs or dies, its input is a crash."""
        reading, writing = os.pipe()
        place = tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        gc.collect()
        gc.freeze()
        process = os.fork()
        if process == 0:
            os.close(reading)
            _Worker(self, Path(place), writing).run(size, until)
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
            self.counts.tried += 1
            self._crashed(Crash(kind, f"{kind} {step[:1]} {how}", told.text, tuple(step)), new, old)
        shutil.rmtree(place, ignore_errors=True)
        gc.unfreeze()

    def _note(self, line: list[Any]) -> None:
        match line:
            case ["tried", accepted, seconds]:
                self.counts.tried += 1
                self.counts.accepted += accepted
                self.counts.slowest_s = round(max(self.counts.slowest_s, seconds), 3)
            case ["seen", slots]:
                for slot in slots:
                    self.seen |= 1 << (8 * slot)
            case ["new", files]:
                if self.counts.warmed == len(self.corpus):
                    self.counts.warmed += 1
                self.corpus.append(unpacked(files))
                with (self.folder / "corpus.jsonl").open("a") as file:
                    file.write(json.dumps(files) + "\n")
            case ["warmed", number]:
                self.counts.warmed = number
            case ["again", key]:
                self.counts.crashes[key] = self.counts.crashes.get(key, 0) + 1
            case ["crash", crash, files, old]:
                crash["step"] = tuple(crash["step"])
                self._crashed(Crash(**crash), unpacked(files), unpacked(old))

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


class _Worker:
    """A process that tries inputs of a campaign and tells what comes of them, a line of JSON each."""

    def __init__(self, campaign: Campaign, place: Path, pipe: int) -> None:
        self.campaign, self.pipe = campaign, pipe
        self.target, self.coverage = campaign.target, campaign.coverage
        self.known = set(campaign.counts.crashes)
        self.place = place

    def run(self, size: int, until: float) -> None:
        """Try inputs, and end the process."""
        try:
            os.environ["NODROP_NO_CACHE"] = "1"
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1):
                os.dup2(null, number)
            self.bench = Bench(self.target, self.place, self.campaign.hang_s)
            limit_memory()
            self._warm(until)
            first = self.campaign.counts.tried
            for number in range(first, first + size):
                if time.monotonic() >= until:
                    break
                self._one(number)
        except BrokenPipeError:  # the campaign has ended
            os._exit(0)
        except BaseException:  # noqa: BLE001 -- told by the exit code, and in words
            traceback.print_exc(file=sys.stderr)
            os._exit(99)
        os._exit(0)

    def _tell(self, *line: object) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(self.pipe, data) :]

    def _warm(self, until: float) -> None:
        """Try the corpus as it is, for half of the time that there is."""
        half = (time.monotonic() + until) / 2
        corpus, first = self.campaign.corpus, self.campaign.counts.warmed
        for number in range(first, len(corpus)):
            if time.monotonic() > half:
                break
            self._tell("step", ["seed", number])
            self.coverage.clear()
            tried = self.bench.tried(corpus[number], corpus[number], self._steps(number))
            self._reached()
            self._tell("warmed", number + 1)
            if tried.crash is not None:
                self._crash(tried.crash, corpus[number], corpus[number])

    def _steps(self, number: int) -> list[tuple[str, ...]]:
        commands = self.target.commands
        return [commands[number % len(commands)]] if commands else []

    def _reached(self) -> bool:
        """Note the blocks that were reached for the first time; return whether there are any."""
        new = self.coverage.seen() & ~self.campaign.seen
        if not new:
            return False
        self.campaign.seen |= new
        raw = new.to_bytes(self.coverage.blocks + 1, "little")
        self._tell("seen", [slot for slot, byte in enumerate(raw) if byte])
        return True

    def _one(self, number: int) -> None:
        random = Random(f"{self.campaign.seed} {self.target.name} {number}")
        corpus = self.campaign.corpus
        start = max(0, len(corpus) - 40) if random.random() < 0.4 else 0
        old = corpus[random.randrange(start, len(corpus))]
        others = [random.choice(corpus) for _ in range(3)]
        files = mutated(old, self.target.syntax, self.campaign.vocabulary, others, random)
        steps = self._steps(number)
        self._tell("step", list(steps[0]) if steps else [])
        self.coverage.clear()
        tried = self.bench.tried(files, old, steps)
        self._tell("tried", tried.accepted, tried.seconds)
        if tried.crash is not None:
            self._crash(tried.crash, files, old)
        elif self._reached() and (tried.accepted or random.random() < REFUSED):
            self._tell("new", packed(files))
            self.campaign.corpus.append(files)
            if tried.accepted:
                self._all(files, old)

    def _all(self, files: Files, old: Files) -> None:
        """Give an accepted input that reached something new to every command."""
        for step in self.target.commands:
            self._tell("step", list(step))
            crash = self.bench.crash_of(files, old, step)
            if crash is not None:
                self._crash(crash, files, old)
        self._reached()

    def _crash(self, crash: Crash, files: Files, old: Files) -> None:
        if crash.key in self.known:
            self._tell("again", crash.key)
            return
        self.known.add(crash.key)

        def same(candidate: Files) -> bool:
            self._tell("step", list(crash.step))
            found = self.bench.crash_of(candidate, old, crash.step)
            return found is not None and found.key == crash.key

        small = files
        if crash.kind != "hang" and same(files):
            small = minimized(files, self.target.syntax, same, MINIMIZE_S)
            if "old" in " ".join(crash.step):

                def same_from(candidate: Files) -> bool:
                    found = self.bench.crash_of(small, candidate, crash.step)
                    return found is not None and found.key == crash.key

                old = minimized(old, self.target.syntax, same_from, MINIMIZE_S)
        self._tell("crash", asdict(crash), packed(small), packed(old))


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


def packed(files: Files) -> dict[str, str]:
    """Return an input as JSON has it: each byte a character."""
    return {path: raw.decode("latin-1") for path, raw in files.items()}


def unpacked(files: dict[str, str]) -> Files:
    """Return the input that was packed."""
    return {path: text.encode("latin-1") for path, text in files.items()}


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
