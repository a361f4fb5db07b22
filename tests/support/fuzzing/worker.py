"""A process that tries inputs of a campaign, and tells what comes of each as a line of JSON."""

import json
import math
import os
import sys
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from support.fuzzing.minimize import minimized
from support.fuzzing.mutation import Files, mutated
from support.fuzzing.targets import Command
from support.fuzzing.trial import Bench, Crash, limit_memory

if TYPE_CHECKING:
    from support.fuzzing.campaign import Campaign

MINIMIZE_S = 40.0
"""How long a crash is made smaller, in seconds."""
REFUSED = 0.1
"""How many of the refused inputs that reach new code are kept, and how many inputs may begin with a refused one."""
SMALLEST = 0.8
"""How many inputs begin with the smallest of three: a small one takes a tenth of the time of a large one."""
JUDGED = 0.1
"""How many of the accepted configurations are judged by every rule, beside those that reach new code."""
FURTHER = 3
"""How many commands more an accepted input is given that reaches new code."""


class Worker:
    """Tries inputs of a campaign, and writes what comes of them into a pipe."""

    def __init__(self, campaign: "Campaign", place: Path, pipe: int) -> None:
        self.campaign, self.pipe = campaign, pipe
        self.target, self.coverage = campaign.target, campaign.coverage
        self.known = set(campaign.counts.crashes)
        self.refused = set(campaign.counts.refused)
        self.place = place

    def run(self, size: int, until: float, *, hurried: bool) -> None:
        """Try the corpus as it is, then inputs, and end the process; half of the time is for inputs if it is short."""
        try:
            os.environ["NODROP_NO_CACHE"] = "1"
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1):
                os.dup2(null, number)
            self.bench = Bench(self.target, self.place, self.campaign.hang_s)
            limit_memory()
            self._warm((time.monotonic() + until) / 2 if hurried else math.inf)
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
        """Try the corpus as it is."""
        corpus, first = self.campaign.corpus, self.campaign.counts.warmed
        for number in range(first, len(corpus)):
            if time.monotonic() > until:
                break
            files, commands = corpus[number], self.target.commands
            self.coverage.clear()
            tried = self.bench.tried(files, files)
            crash = tried.crash or self.bench.judged(tried.made)
            crash = crash or (commands and self._given(commands[number % len(commands)], files, files)) or None
            self._reached()
            self._tell("warmed", tried.accepted)
            if not tried.accepted:
                self.refused.add(number)
            if crash is not None:
                self._crash(crash, files, files)

    def _given(self, step: Command, files: Files, old: Files) -> Crash | None:
        """Give an input to a command; return the crash of it."""
        self._tell("step", list(step))
        crash = self.bench.crash_of(files, old, step)
        self._tell("step", [])
        return crash

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
        corpus, target = self.campaign.corpus, self.target
        old = self._base(random)
        others = [random.choice(corpus) for _ in range(3)]
        files = mutated(old, target.syntax, self.campaign.vocabulary, others, random, gentle=target.gentle)
        self.coverage.clear()
        began = time.perf_counter()
        tried = self.bench.tried(files, old)
        judged = tried.accepted and target.judge is not None and random.random() < JUDGED
        crashes = [tried.crash, self.bench.judged(tried.made) if judged else None]
        steps: list[Command] = []
        if target.commands and random.random() < (target.share if tried.accepted else target.share * REFUSED):
            steps.append(random.choice(target.commands))
        crashes += [self._given(step, files, old) for step in steps]
        new = self._reached() and not any(crashes) and (tried.accepted or random.random() < REFUSED)
        if new and tried.accepted:
            if not judged and target.judge is not None:
                judged = True
                crashes.append(self.bench.judged(tried.made))
            steps += (further := random.sample(target.commands, min(FURTHER, len(target.commands))))
            crashes += [self._given(step, files, old) for step in further]
            self._reached()
        self._tell("tried", tried.accepted, judged, len(steps), time.perf_counter() - began)
        if new:
            self._tell("new", packed(files), tried.accepted)
            if not tried.accepted:
                self.refused.add(len(corpus))
            corpus.append(files)
        for crash in filter(None, crashes):
            self._crash(crash, files, old)

    def _base(self, random: Random) -> Files:
        """Return the input of the corpus that one begins with: mostly small, accepted, and often one of the newest."""
        corpus = self.campaign.corpus
        start = max(0, len(corpus) - 40) if random.random() < 0.4 else 0
        picks = [random.randrange(start, len(corpus)) for _ in range(3)]
        if random.random() >= REFUSED:
            picks = [number for number in picks if number not in self.refused] or picks
        found = [corpus[number] for number in picks]
        return min(found, key=size_of) if random.random() < SMALLEST else found[0]

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


def size_of(files: Files) -> int:
    """Return the bytes of an input."""
    return sum(map(len, files.values()))


def packed(files: Files) -> dict[str, str]:
    """Return an input as JSON has it: each byte a character."""
    return {path: raw.decode("latin-1") for path, raw in files.items()}


def unpacked(files: dict[str, str]) -> Files:
    """Return the input that was packed."""
    return {path: text.encode("latin-1") for path, text in files.items()}
