"""The base that a change is compared with, by name: a folder, or a revision of git."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.revisions.asking import REVISION_HINT
from nodrop.revisions.folder import former_state_of_folder
from nodrop.revisions.git import open_repository
from nodrop.revisions.state import FormerTree
from nodrop.revisions.tree import former_state_of_revision
from nodrop.syntax.places import sanitize_for_message

_REMOTE_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_MAX_REVISION_PART_BYTES = 255
_MAX_REVISION_BYTES = 4095
"""What names of files have at most on Linux (NAME_MAX, PATH_MAX), and so branches and tags."""


@contextmanager
def open_base_state(paths: Sequence[str], base: str, *, exact: bool = False) -> Iterator[tuple[FormerTree, str]]:
    """Yield the state that a base names, and its name: of a revision, where HEAD left it unless `exact` is set.

    A folder begins with `/` or `.`, ends with `/`, or has a part that begins with `.`, as no branch has. It replaces
    the working directory. Anything else is a revision in the repository of the working directory, even if a folder has
    that name: a change could bring along a folder for a branch that was not fetched. InputProblems if there is no
    such base, or it cannot be a former state of the paths.
    """
    _refuse_impossible_base(base)
    if base.startswith((".", "/")) or base.endswith("/") or "/." in base:
        yield former_state_of_folder(Path(base), paths), base
        return
    try:
        repository = open_repository(paths)
        commit = repository.commit_to_compare_with(base, exact=exact)
    except InputProblems as error:
        if not Path(base).is_dir():
            raise
        raise InputProblems(replace(problem, hint=f"`{base}/` is the folder") for problem in error.problems) from None
    with former_state_of_revision(repository, commit) as former:
        yield former, commit[:12] if commit.startswith(base) else f"{base} ({commit[:12]})"


def is_base_on_empty_remote(paths: Sequence[str], base: str, remote: str) -> bool:
    """Whether a base is a branch of the remote that a hook pushes to, and nothing was pushed there before.

    `remote` is the name that pre-commit gives to hooks before a push; elsewhere a missing base is an error.
    """
    if not _REMOTE_NAME_PATTERN.fullmatch(remote) or not base.startswith(f"{remote}/"):
        return False
    return not open_repository(paths).has_remote_branches(remote)


def _refuse_impossible_base(base: str) -> None:
    """Raise InputProblems where no revision and no folder can be called so."""
    if not base:
        raise InputProblems([Problem(path='--base ""', found="an empty base", hint=REVISION_HINT)])
    named_path = f"--base {sanitize_for_message(base)}"
    if any(ord(character) < ord(" ") or ord(character) == 127 for character in base):
        raise InputProblems([Problem(path=named_path, found="a control character in the base", hint=REVISION_HINT)])
    sizes = [len(segment.encode("utf-8", "surrogateescape")) for segment in (base, *base.split("/"))]
    if sizes[0] > _MAX_REVISION_BYTES or max(sizes[1:]) > _MAX_REVISION_PART_BYTES:
        expected = f"at most {_MAX_REVISION_PART_BYTES} bytes between slashes, and {_MAX_REVISION_BYTES:,} in all"
        raise InputProblems([Problem(path=named_path, found=f"a name of {len(base):,} characters", expected=expected)])
