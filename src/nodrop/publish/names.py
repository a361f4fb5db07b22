"""Names that a command gives to its output files, to keep a manifest from claiming any other file."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

IsOutputNameOfCommand = Callable[[str], bool]
"""Whether a command can have written a file of this name."""


def file_name_matcher(patterns: Iterable[str]) -> IsOutputNameOfCommand:
    """Return which paths match one of the patterns, part by part: `*/apply/*.nv`; no part begins with a dot."""
    split = [pattern.split("/") for pattern in patterns]

    def matches(path: str) -> bool:
        segments = path.split("/")
        if not all(segments) or any(segment.startswith(".") for segment in segments):
            return False
        return any(len(segments) == len(pattern) and all(map(fnmatchcase, segments, pattern)) for pattern in split)

    return matches
