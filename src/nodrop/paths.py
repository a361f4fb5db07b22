"""Why a path that a user named leads nowhere, what lies there under almost the same name, and how files are called."""

import contextlib
import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from nodrop.errors import Problem, describe_os_failure
from nodrop.publish import interrupted_build_hint
from nodrop.syntax.places import link_leads_out_problem
from nodrop.syntax.root import InputRoot, LinkLeadsOut, find_containment_root


def find_path_fault(text: str, root: InputRoot | None = None) -> Problem | None:
    """Return why a path leads nowhere, or out of its root; that a build of it was interrupted is such a reason."""
    if not text:
        return Problem(path='""', found="an empty path", hint="`.` is the working directory")
    path = Path(text)
    try:
        (root or find_containment_root(text)).status(text)
    except LinkLeadsOut as error:
        return link_leads_out_problem(text, error)
    except FileNotFoundError:
        hint = next(filter(None, map(interrupted_build_hint, (path, path.parent))), None)
        return Problem(path=text, found="no such file or folder", hint=hint or _suggest_similar_path(path))
    except (OSError, ValueError) as error:
        return Problem(path=text, found=describe_os_failure(error))
    return None


def _suggest_similar_path(path: Path) -> str:
    """Return a hint at what lies there under almost the same name; leaf1 is no misspelt leaf3, though."""
    with contextlib.suppress(OSError, ValueError):
        other_names = sorted(
            sibling.name for sibling in path.parent.iterdir() if _strip_digits(sibling.name) != _strip_digits(path.name)
        )
        close = difflib.get_close_matches(path.name, other_names, n=1, cutoff=0.75)
        return f"did you mean {path.parent / close[0]}?" if close else ""
    return ""


def _strip_digits(name: str) -> str:
    return re.sub(r"[0-9]+", "", name)


def stable_path_names(paths: Sequence[str]) -> list[str]:
    """Return what files are called wherever a command runs: the path below their repository (.git), else the name.

    Where two would be called alike, folders above go before it until they are not. None is absolute.
    """
    files = [Path(os.path.abspath(path)).parts for path in paths]  # noqa: PTH100 -- a link is called as it is named
    lengths = [_depth_below_repository(path_parts) for path_parts in files]
    while True:
        called = ["/".join(path_parts[-length:]) for path_parts, length in zip(files, lengths, strict=True)]
        meant: dict[str, set[tuple[str, ...]]] = {}
        for name, file_parts in zip(called, files, strict=True):
            meant.setdefault(name, set()).add(file_parts)
        if all(len(same_name_files) == 1 for same_name_files in meant.values()):
            return called
        lengths = [
            min(length + (len(meant[name]) > 1), len(path_parts) - 1)
            for name, path_parts, length in zip(called, files, lengths, strict=True)
        ]


def _depth_below_repository(path_parts: Sequence[str]) -> int:
    """How many parts of a path are below the nearest repository; 1 where there is none."""
    return next((below for below in range(1, len(path_parts)) if Path(*path_parts[:-below], ".git").exists()), 1)
