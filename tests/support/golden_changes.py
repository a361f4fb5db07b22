"""Rewrite every snapshot and print what changed since the last commit, by cause: `make golden`.

A cause is a set of changes that the same files have. Files that golden/ keeps as digests count like any other: their
former text is made by the code of the last commit, as long as that text has the digest that the commit kept.
"""

import io
import os
import re
import subprocess
import sys
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from support.golden_outputs import DIGESTS, digested
from support.places import ROOT

PYTEST = ("-m", "pytest", "-q", "--update-golden", "-n", "3", "--no-loadscope-reorder")
"""The slowest snapshot waits for daemons most of its time, so that two cores have work for three processes."""
SHOWN, CHANGES = 6, 3
"""Lines that are shown of a side of a change, and changes of a cause."""
WIDTH = 120
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
NAME = re.compile(r"[0-9a-f]*:[0-9a-f:]*:[0-9a-f:/]*|\d+\.\d+\.\d+\.\d+(?:/\d+)?|[A-Za-z_][A-Za-z_-]*\d\w*")
"""Addresses and names with a number, such as those of ports and switches."""
WORD = re.compile(rf"{NAME.pattern}|\d+")
"""These and plain numbers."""


@dataclass(frozen=True)
class Change:
    """Adjacent lines of a file that were replaced, removed or added."""

    removed: tuple[str, ...]
    added: tuple[str, ...]

    def form(self) -> "Change":
        """Return the change with addresses, names and numbers masked, so that it is equal for all ports and fabrics.

        Of a replacement, what only one side has stays: it is what changed. Numbers of added or removed lines stay.
        """
        replaced = self.removed and self.added
        word = WORD if replaced else NAME
        before, after = ({one for line in side for one in word.findall(line)} for side in (self.removed, self.added))
        masked = before & after if replaced else before | after
        sides = (
            tuple(word.sub(lambda found: "#" if found[0] in masked else found[0], line) for line in side)
            for side in (self.removed, self.added)
        )
        return Change(*sides)

    def lines(self) -> Iterator[str]:
        """Yield the change as people read it, cut after some lines."""
        for sign, side in (("-", self.removed), ("+", self.added)):
            yield from (f"   {sign} {line.strip()}"[:WIDTH] for line in side[:SHOWN])
            if len(side) > SHOWN:
                yield f"   {sign} … {len(side) - SHOWN} more lines"


def changes(diff: str) -> dict[str, list[Change]]:
    """Return the changes of each file of a unified diff without context, by the name of the new file."""
    found: dict[str, list[Change]] = defaultdict(list)
    name, lines = "", iter(diff.split("\n"))
    for line in lines:
        if line.startswith("+++ "):
            name = line.removeprefix("+++ new/").removesuffix("\t")
        elif head := HUNK.match(line):
            counts = [int(count or 1) for count in head.groups()]
            sides: dict[str, list[str]] = {"-": [], "+": []}
            while sum(map(len, sides.values())) < sum(counts):
                line = next(lines)
                if line[0] in sides:
                    sides[line[0]].append(line[1:])
            found[name].append(Change(tuple(sides["-"]), tuple(sides["+"])))
    return dict(found)


def summary(found: dict[str, list[Change]]) -> str:
    """Return the causes of the changes of files: those in most files first, each with all its files."""
    places: Counter[Change] = Counter()
    files: dict[Change, set[str]] = defaultdict(set)
    example: dict[Change, Change] = {}
    for name, each in found.items():
        for change in each:
            form = change.form()
            places[form] += 1
            files[form].add(name)
            example.setdefault(form, change)
    causes: dict[tuple[str, ...], list[Change]] = defaultdict(list)
    for form, names in files.items():
        causes[tuple(sorted(names))].append(form)
    lines = []
    for number, (inside, forms) in enumerate(sorted(causes.items(), key=lambda one: (-len(one[0]), one[0])), 1):
        total = _count(sum(places[form] for form in forms), "place")
        lines.append(f"{number}. {_count(len(forms), 'change')} in {_count(len(inside), 'file')}, {total}")
        for form in forms[:CHANGES]:
            lines += [*example[form].lines(), ""]
        if len(forms) > CHANGES:
            lines += [f"   … {_count(len(forms) - CHANGES, 'more change')}", ""]
        lines += [*listed(inside), ""]
    return "\n".join(lines)


def listed(names: Iterable[str]) -> Iterator[str]:
    """Yield names as lines, those of a folder together."""
    for folder, inside in groupby(sorted(names), key=lambda name: "/".join(name.split("/")[:2])):
        rest = [name.removeprefix(folder).lstrip("/") for name in inside]
        yield f"   {folder}{': ' if any(rest) else ''}{' '.join(rest)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class State:
    """Snapshots as they were or are: the content of files by path, or the line of their digest."""

    texts: dict[str, bytes]
    digests: dict[str, str]

    @property
    def names(self) -> set[str]:
        """All files, whether they are kept in full or as a digest."""
        return {*self.texts, *self.digests}

    def hash(self, name: str) -> str:
        """Return the SHA-256 of a file."""
        return sha256(self.texts[name]).hexdigest() if name in self.texts else self.digests[name].split()[-1]

    def with_outputs(self, outputs: dict[str, bytes]) -> "State":
        """Return the state with the content of digested files, where outputs have the content of the digest."""
        found = {name: raw for name, raw in outputs.items() if name in self.digests}
        return State(
            self.texts | {name: raw for name, raw in found.items() if sha256(raw).hexdigest() == self.hash(name)},
            self.digests,
        )


def state(root: Path, names: Iterable[str]) -> State:
    """Read snapshots below a folder; those that do not exist there are left out."""
    texts = {name: (root / name).read_bytes() for name in names if (root / name).is_file()}
    lists = {Path(name).parent: texts.pop(name).decode() for name in list(texts) if Path(name).name == DIGESTS}
    return State(
        texts, {f"{folder}/{name}": line for folder, text in lists.items() for name, line in digested(text).items()}
    )


def changed(old: State, new: State) -> set[str]:
    """Return the files that both states have, with different content."""
    return {name for name in old.names & new.names if old.hash(name) != new.hash(name)}


def report(old: State, new: State) -> str:
    """Return what differs between two states."""
    known = {name for name in changed(old, new) if name in old.texts and name in new.texts}
    parts = [summary(changes(compared(old.texts, new.texts, known)))]
    for title, names in (
        ("Added", new.names - old.names),
        ("Removed", old.names - new.names),
        ("Changed, known by digest only", changed(old, new) - known),
    ):
        if names:
            parts.append("\n".join((f"{title}: {_count(len(names), 'file')}", *listed(names), "")))
    return "\n".join(filter(None, parts)) or "No snapshot changed.\n"


def compared(old: dict[str, bytes], new: dict[str, bytes], names: Iterable[str]) -> str:
    """Return a diff of files without context."""
    with TemporaryDirectory() as folder:
        for side, files in (("old", old), ("new", new)):
            (Path(folder) / side).mkdir()
            for name in names:
                path = Path(folder) / side / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
        command = ["git", "-c", "core.quotePath=false", "diff", "--no-index", "--no-prefix", "--no-color", "-U0"]
        done = subprocess.run([*command, "old", "new"], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode(errors="replace")


def written_since(root: Path, start: int) -> list[str]:
    """Return the files that were written since a time in nanoseconds, and those of the last commit that are missing."""
    names: set[str] = set()
    for command in ("ls-files -z --cached --others --exclude-standard", "ls-tree -rz --name-only HEAD"):
        done = subprocess.run(["git", *command.split()], cwd=root, capture_output=True, check=True)
        names |= {*done.stdout.decode().split("\0")} - {""}
    paths = {name: root / name for name in names}
    return sorted(name for name, path in paths.items() if not path.exists() or path.stat().st_mtime_ns >= start)


def outputs_of(root: Path) -> dict[str, bytes]:
    """Return all files that golden/ is made of, by the code below a folder; none if that code cannot make them."""
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root / 'tests'}"}
        command = [sys.executable, "-m", "support.golden_outputs", folder]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        paths = [] if done.returncode else [path for path in Path(folder).rglob("*") if path.is_file()]
        return {f"golden/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}


def against_last_commit(root: Path, names: Iterable[str]) -> str:
    """Return what changed in files since the last commit."""
    with TemporaryDirectory() as folder:
        head = subprocess.run(["git", "-C", str(root), "archive", "HEAD"], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(head)) as archive:
            archive.extractall(folder, filter="data")
        old, new = state(Path(folder), names), state(root, names)
        if any(name not in old.texts or name not in new.texts for name in changed(old, new)):
            old, new = old.with_outputs(outputs_of(Path(folder))), new.with_outputs(outputs_of(root))
        return report(old, new)


def main() -> int:
    """Run the snapshot tests, print what changed, and return the exit code of pytest."""
    start = time.time_ns()
    code = subprocess.run([sys.executable, *PYTEST], cwd=ROOT, check=False).returncode
    names = written_since(ROOT, start)
    print(f"\n{_count(len(names), 'snapshot')} written.\n\n{against_last_commit(ROOT, names)}", end="")
    return code


if __name__ == "__main__":
    sys.exit(main())
