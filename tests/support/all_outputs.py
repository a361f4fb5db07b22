"""Everything that nodrop writes in a folder of intents and configurations: `python outputs.py JOBS [shuffled]`.

It runs in that folder, which has intents/ and broken/, and runs command by command. What they print and how they end
goes to said/, reports to reports/, and what they build, export and patch to folders beside them. It needs nothing but
nodrop, so that any Python can run it, under any environment.
"""

import os
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
SCHEMAS = ("intent", "fabric", "config", "profile", "rule", "findings", "plan", "check", "drift")
STRICT = ("-v", "--strictness", "auditor")

Command = tuple[str, ...]


def commands(jobs: str) -> Iterator[Command]:
    """All commands that are run in the folder at hand."""
    intents = sorted(str(path) for path in Path("intents").iterdir())
    for intent in intents:
        yield from of_intent(intent, jobs)
    if len(intents) > 1:
        yield "build", *intents, "-o", "built-together", "-j", jobs, "--fail-on", "never"
        yield "lint", "built-together", "-j", jobs, *STRICT, *_into("lint-together")
    for broken in sorted(str(path) for path in Path("broken").iterdir()):
        yield from of_broken(broken, f"built/{Path(intents[0]).stem}", jobs)
    yield from of_nothing()


def of_intent(intent: str, jobs: str) -> Iterator[Command]:
    """The commands that build an intent, and look at what was built."""
    name = Path(intent).stem
    built = f"built/{name}"
    yield "build", intent, "-o", built, "-j", jobs, "--strictness", "auditor"
    yield "lint", built, "-j", jobs, *STRICT, *_into(f"lint-{name}")
    yield "lint", intent, "-j", jobs, *STRICT, *_into(f"lint-intent-{name}")
    yield from (("show", intent, "--format", form) for form in ("text", "json"))
    yield "validate", built, "-j", jobs, *_into(f"validate-{name}")
    yield "export", "batfish", built, "-o", f"batfish/{name}"
    yield "export", "containerlab", built, "-o", f"containerlab/{name}"


def of_broken(broken: str, whole: str, jobs: str) -> Iterator[Command]:
    """The commands that find faults in configurations, explain and mend them, and tell what changes."""
    name = Path(broken).name
    for cache in ("cold", "warm"):
        yield "lint", broken, "-j", jobs, *STRICT, *_into(f"lint-{name}-{cache}")
    yield "lint", broken, "-j", jobs, "--no-suppressions"
    yield "validate", broken, "-j", jobs, *STRICT, *_into(f"validate-{name}")
    yield "fix", broken, "--diff", "--unsafe", "-j", jobs
    yield "fix", broken, "--patch", f"fixes/{name}", "--unsafe", "-j", jobs
    yield "baseline", broken, "-o", f"{name}.baseline.yaml"
    yield "plan", whole, broken, "--patch", f"patches/{name}", *_into(f"plan-{name}", ("text", "json", "markdown"))
    yield "drift", broken, whole, "--patch", f"back/{name}", *_into(f"drift-{name}", ("text", "json", "markdown"))
    yield "explain", "--at", "leaf1/Ethernet0", broken
    yield "explain", "pfc-without-watchdog", "--at", "leaf1/Ethernet0", broken


def of_nothing() -> Iterator[Command]:
    """The commands that say what nodrop knows; help alone is as wide as the terminal."""
    yield from (("rules", "--format", form) for form in ("text", "json", "markdown"))
    yield from (("schema", name) for name in SCHEMAS)
    yield from (("hardware", "--format", form) for form in ("text", "json"))
    yield "hardware", "SN4700", "--format", "json"
    yield "explain", "pfc-without-watchdog"
    yield "init", "first"
    yield "lint", "nowhere-ış"


def _into(name: str, formats: tuple[str, ...] = FORMATS) -> Iterator[str]:
    for form in formats:
        yield from ("--format", f"{form}=reports/{name}.{form}")


def run(command: Command, to: str) -> None:
    """Run a command in this process; what it prints goes to TO.out and TO.err, and its exit code after that."""
    from nodrop.cli.main import run as nodrop

    streams = (sys.stdout, sys.stderr)
    with Path(f"{to}.out").open("wb") as out, Path(f"{to}.err").open("wb") as err:
        kept = [os.dup(stream.fileno()) for stream in streams]
        for stream, file in zip(streams, (out, err), strict=True):
            os.dup2(file.fileno(), stream.fileno())
        try:
            code = nodrop(list(command))
        finally:
            for stream, before in zip(streams, kept, strict=True):
                stream.flush()
                os.dup2(before, stream.fileno())
                os.close(before)
        err.seek(0, os.SEEK_END)
        err.write(f"exit {code}\n".encode())


class _Listed:
    """What a folder holds, in an order that no file system has promised."""

    def __init__(self, found: Any, order: random.Random) -> None:
        with found:
            every = list(found)
        self._entries = iter(order.sample(every, len(every)))

    def __enter__(self) -> "_Listed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> "_Listed":
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def close(self) -> None:
        """Nothing is open."""


def shuffle_folders(seed: int) -> None:
    """Let this process see what folders hold in another order each time."""
    order, scandir, listdir = random.Random(seed), os.scandir, os.listdir

    def names(path: Any = ".") -> list[Any]:
        found = listdir(path)
        return order.sample(found, len(found))

    os.scandir = lambda path=".": _Listed(scandir(path), order)  # type: ignore[assignment,misc]
    os.listdir = names  # type: ignore[assignment]


def main() -> None:
    """Run all commands as the command line does: in UTF-8, and in processes however small a fabric is."""
    from nodrop import parallel
    from nodrop.cli.main import switch_to_utf8

    switch_to_utf8()
    warnings.filterwarnings("error", category=EncodingWarning, module=r"nodrop\b")
    jobs = sys.argv[1]
    parallel.MIN_DEVICES_FOR_PROCESSES = 1
    Path("said").mkdir()
    Path("reports").mkdir()
    for number, command in enumerate(commands(jobs)):
        said = "-".join(part.replace("/", "-") for part in command[:3])
        run(command, f"said/{number:03}-{said}"[:80])


if __name__ == "__main__":
    if sys.argv[2:] == ["shuffled"]:
        shuffle_folders(7)
    main()
