"""Which names a command gives to what it writes, so that a manifest can claim no other file."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

Names = Callable[[str], bool]
"""Whether a command can have written a file of this name."""


def matching(patterns: Iterable[str]) -> Names:
    """Return which paths match one of the patterns, part by part: `*/apply/*.nv`; no part begins with a dot."""
    split = [pattern.split("/") for pattern in patterns]

    def matches(path: str) -> bool:
        parts = path.split("/")
        if not all(parts) or any(part.startswith(".") for part in parts):
            return False
        return any(len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern)) for pattern in split)

    return matches
