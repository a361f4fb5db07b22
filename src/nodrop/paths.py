"""Why a path that a user named leads nowhere, and what lies there under almost the same name."""

import contextlib
import difflib
import os
import re
from pathlib import Path

from nodrop.errors import Problem
from nodrop.publish import recover


def fault(text: str) -> Problem | None:
    """Return why a path leads nowhere; what a build that was cut short has left there is mended first."""
    if not text:
        return Problem(path='""', found="an empty path", hint="`.` is the working directory")
    path = Path(text)
    try:
        for folder in (path, path.parent):
            if not os.path.lexists(folder):
                recover(folder)
        path.stat()
    except FileNotFoundError:
        return Problem(path=text, found="no such file or folder", hint=_alike(path))
    except (OSError, ValueError) as error:
        return Problem(path=text, found=reason(error))
    return None


def _alike(path: Path) -> str:
    """Return a hint at what lies there under almost the same name; leaf1 is no misspelt leaf3, though."""
    with contextlib.suppress(OSError, ValueError):
        others = sorted(one.name for one in path.parent.iterdir() if _undigited(one.name) != _undigited(path.name))
        close = difflib.get_close_matches(path.name, others, n=1, cutoff=0.75)
        return f"did you mean {path.parent / close[0]}?" if close else ""
    return ""


def _undigited(name: str) -> str:
    return re.sub(r"[0-9]+", "", name)


def reason(error: Exception) -> str:
    """Return what a system call says, in lower case."""
    return (getattr(error, "strerror", None) or str(error)).lower()
