"""The name of any part of a fabric: a tuple of parts, written with `/` between them (contract 9.5).

`("leaf1", "Ethernet8", "qos", "queues", "3", "wred")` is `leaf1/Ethernet8/qos/queues/3/wred`; parts of a device that
are not interfaces begin with `@` (`leaf1/@neighbors/10.1.0.1`), parts of the fabric stand under `@fabric`.
"""

import re
from functools import lru_cache

from nodrop.model.fabric import End

Subject = tuple[str, ...]
FABRIC_HEAD = "@fabric"

_DIGITS_PATTERN = re.compile(r"([0-9]+)")
_CABLE_KEY_PATTERN = re.compile(r"([^:]*+):(?>(.*?)--)([^:]*+):(.*)", re.DOTALL)


def subject_text(subject: Subject) -> str:
    """Join the parts with `/`; a `/` or `%` inside a part becomes %2F or %25."""
    return "/".join(segment.replace("%", "%25").replace("/", "%2F") for segment in subject)


def parse_subject(written: str) -> Subject:
    """Read what `subject_text` wrote."""
    return tuple(segment.replace("%2F", "/").replace("%25", "%") for segment in written.split("/"))


def link_subject(a: End, b: End) -> Subject:
    """Return the subject of the link between two ends."""
    first_end, second_end = sorted((a, b))
    return (FABRIC_HEAD, "links", f"{first_end}--{second_end}")


def ends_of_cable_key(key: str) -> tuple[End, ...]:
    """Return both ends of a link by the last part of its subject; nothing where it names no link.

    A node ends at its `:`, which no name of one holds; the first port ends at the next `--`, which a name may hold.
    """
    cable = _CABLE_KEY_PATTERN.fullmatch(key)
    return () if cable is None else (End(cable[1], cable[2]), End(cable[3], cable[4]))


@lru_cache(maxsize=1024)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    """Return a glob as a pattern that never backtracks behind a `*`, to keep every glob fast."""
    head, *tails = ("".join("." if c == "?" else re.escape(c) for c in literal) for literal in pattern.split("*"))
    between = "".join(f"(?>.*?{segment})" for segment in tails[:-1])
    return re.compile(f"{head}{between}.*{tails[-1]}" if tails else head, re.DOTALL)


def matches(pattern: Subject, subject: Subject) -> bool:
    """Whether a pattern of globs, one per part, fits; a last part `**` stands for the rest, also for nothing."""
    if pattern and pattern[-1] == "**":
        pattern, subject = pattern[:-1], subject[: len(pattern) - 1]
    return len(pattern) == len(subject) and all(map(matches_part, pattern, subject))


def matches_part(glob: str, part: str) -> bool:
    """Whether a glob fits one part of a subject."""
    if glob == part:
        return True
    return ("*" in glob or "?" in glob) and _compile_glob(glob).fullmatch(part) is not None


@lru_cache(maxsize=1 << 18)
def natural_sort_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts Ethernet8 before Ethernet16: digits compare by count, then by value."""
    return tuple(_piece_sort_key(piece) for piece in _DIGITS_PATTERN.split(name) if piece)


def _piece_sort_key(piece: str) -> tuple[int, int, str]:
    if piece[0] not in "0123456789":
        return (1, 0, piece)
    digits = piece.lstrip("0")
    return (0, len(digits), digits)


def subject_sort_key(subject: Subject) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Return a key that sorts subjects part by part, numbers by value."""
    return tuple(map(natural_sort_key, subject))
