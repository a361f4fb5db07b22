"""The smallest input that still crashes the same way: files, then parts of documents and lines, then words."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from support.fuzzing.mutation import Files, syntax_of
from support.fuzzing.texts import Pairs, Tree, Unreadable, dump, load, nodes

_T = TypeVar("_T")


def minimized(files: Files, syntaxes: Mapping[str, str], crashes: Callable[[Files], bool], seconds: float) -> Files:
    """Return an input of which nothing more can go, as far as the seconds suffice; it crashes as the given one does."""
    trier = _Trier(crashes, time.monotonic() + seconds)
    kept = dict(files)
    for path in sorted(files):
        without = {name: raw for name, raw in kept.items() if name != path}
        if without and trier(without):
            kept = without
    for path in sorted(kept):
        syntax = syntax_of(path, syntaxes) or {"json": "json", "yaml": "yaml"}.get(path.rpartition(".")[2], "lines")

        def still(raw: bytes, path: str = path) -> bool:
            return trier({**kept, path: raw})

        kept[path] = _text(kept[path], syntax, still)
    return kept


class _Trier:
    """Asks whether an input crashes, until the time is over; from then on none does."""

    def __init__(self, crashes: Callable[[Files], bool], until: float) -> None:
        self._crashes, self._until = crashes, until

    def __call__(self, files: Files) -> bool:
        return time.monotonic() < self._until and self._crashes(files)


def _text(raw: bytes, syntax: str, still: Callable[[bytes], bool]) -> bytes:
    if still(b""):
        return b""
    if syntax not in ("lines", "bytes"):
        try:
            tree = load(raw, syntax)
            if isinstance(tree, list) and still(dump(tree, syntax)):
                _tree(tree, syntax, still)
                return dump(tree, syntax)
        except Unreadable:
            pass
    if syntax == "bytes":
        return b"".join(fewest([raw[at : at + 1] for at in range(len(raw))], lambda part: still(b"".join(part))))
    lines = fewest(raw.split(b"\n"), lambda part: still(b"\n".join(part)))
    for at, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]

        def with_words(words: Sequence[bytes], at: int = at, indent: bytes = indent) -> bytes:
            return b"\n".join([*lines[:at], indent + b" ".join(words), *lines[at + 1 :]])

        words = line.split()
        if words and still(with_words(words)):
            lines[at] = indent + b" ".join(fewest(words, lambda part: still(with_words(part))))
    return b"\n".join(lines)


def _tree(tree: Tree, syntax: str, still: Callable[[bytes], bool]) -> None:
    """Cut a document in place: members of each container from the top, then each value that is left."""

    def of(holder: list[Any]) -> Callable[[Sequence[Any]], bool]:
        def test(part: Sequence[Any]) -> bool:
            before = list(holder)
            holder[:] = part
            if still(dump(tree, syntax)):
                return True
            holder[:] = before
            return False

        return test

    pending = [tree]
    while pending:
        holder = pending.pop(0)
        holder[:] = fewest(list(holder), of(holder))
        values = [one[1] for one in holder] if isinstance(holder, Pairs) else holder
        pending += [value for value in values if isinstance(value, list)]
    for holder, index, _ in list(nodes(tree)):
        value = holder[index]
        for simple in ("", "x", 0, Pairs()):
            if value == simple or (isinstance(value, int | str) and len(str(value)) <= 1):
                break
            holder[index] = simple
            if still(dump(tree, syntax)):
                break
            holder[index] = value


def fewest(items: list[_T], test: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """Return items of which none can go without the test failing (Zeller's ddmin, complements alone)."""
    if test([]):
        return []
    size = max(1, len(items) // 2)
    while True:
        at, changed = 0, False
        while at < len(items):
            part = [*items[:at], *items[at + size :]]
            if len(part) < len(items) and test(part):
                items, changed = part, True
            else:
                at += size
        if size == 1 and not changed:
            return items
        size = max(1, size // 2)
