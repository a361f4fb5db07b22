"""Comments that allow findings, `nodrop: allow[...]`: those of a change count as far as the base has them too."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from nodrop.checking.policy import PolicyChange
from nodrop.checking.sides import What
from nodrop.errors import InputProblems
from nodrop.fabric.reading import Allow, Reading
from nodrop.formats.places import BOM, read_limited
from nodrop.inputs import Text

_MAX_BYTES = 1 << 30
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"(?:^|\s)[#!]+[ \t]*nodrop:.*", re.IGNORECASE)
_Key = tuple[str, str, str, tuple[str, ...]]
"""Device, file and rule of a comment, and the line that it covers first, with the lines around that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A reading with the comments that count, and those that are new or hold longer than before."""

    reading: Reading
    changes: tuple[PolicyChange, ...] = ()


def allowed_before(reading: Reading, what: What | None, former: Reading | None, was: What | None) -> Allowed:
    """Return a reading in which only comments count that the former state has too, and as long as they hold there.

    A comment is the same where it names the same rule and covers the same line, below the same lines around it.
    """
    if not reading.allowed:
        return Allowed(reading=reading)
    known = dict(_keys(former, was)) if former is not None and former.allowed else {}
    kept: dict[str, list[Allow]] = {}
    changes = []
    for key, one in _keys(reading, what):
        before = known.get(key)
        if before is not None:
            kept.setdefault(key[0], []).append(replace(one, until=before.until))
        if before is None or before.until != one.until:
            file, line = _shown(reading, key[0], one), one.span.line
            changes.append(PolicyChange(file=file, kind="comment", what=_said(one, before), line=line))
    if not changes:
        return Allowed(reading=reading)
    allowed = {device: tuple(kept.get(device, ())) for device in reading.allowed}
    return Allowed(reading=replace(reading, allowed=allowed), changes=tuple(changes))


def _said(one: Allow, before: Allow | None) -> str:
    if before is None:
        return f"a new comment allows {one.rule}"
    return f"a comment allows {one.rule} {'for good' if one.until is None else f'until {one.until}'}"


def _shown(reading: Reading, device: str, one: Allow) -> str:
    sources = reading.sources.get(device, ())
    return next((source.display for source in sources if source.name == one.file), one.file)


def _keys(reading: Reading, what: What | None) -> Iterator[tuple[_Key, Allow]]:
    for device, allows in reading.allowed.items():
        lines: dict[str, set[int]] = {}
        for one in allows:
            lines.setdefault(one.file, set()).add(one.lines[0])
        around = {file: _around(_rows(reading, what, device, file), some) for file, some in lines.items()}
        for one in allows:
            file = one.file if device else ""
            yield (device, file, one.rule, around[one.file][one.lines[0]]), one


def _rows(reading: Reading, what: What | None, device: str, file: str) -> Sequence[str]:
    """Return the lines of a file; none where they are not to be had any more, so that no two comments are the same."""
    raw = b""
    source = next((one for one in reading.sources.get(device, ()) if one.name == file), None)
    try:
        if not device and isinstance(what, Text):
            raw = what.read(_MAX_BYTES)
        elif source is not None and source.held is not None:
            raw = source.held
        elif source is not None and source.path is not None:
            raw = read_limited(source.path, source.display, _MAX_BYTES)
    except InputProblems:
        return ()
    return _LINE_END.split(raw.decode("utf-8", "replace").removeprefix(BOM))


def _around(rows: Sequence[str], lines: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return each of some lines without its comment, and the lines that it is indented below, from the inside out.

    The file is gone through once: kept are the lines that the next one may be indented below.
    """
    wanted = {min(line, len(rows)) for line in lines}
    above: list[tuple[int, str]] = []
    found: dict[int, tuple[str, ...]] = {0: ()}
    for number, row in enumerate(rows, 1):
        text = _COMMENT.sub("", row)
        said = text.strip()
        here = len(text) - len(text.lstrip())
        if said and not said.startswith(("#", "!")):
            while above and above[-1][0] >= here:
                above.pop()
            above.append((here, said))
        if number in wanted:
            found[number] = tuple(said for _, said in reversed(above))
    return {line: found[min(line, len(rows))] for line in lines}
