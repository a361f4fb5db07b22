"""What a change is held against, as it is named: a folder, or a revision of git."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.former.folder import of_folder
from nodrop.former.git import REVISION_HINT, open_repository
from nodrop.former.state import Former
from nodrop.former.tree import of_revision


@contextmanager
def at_base(paths: Sequence[str], base: str, *, exact: bool = False) -> Iterator[tuple[Former, str]]:
    """Give the state that a base names, and its name: of a revision, where HEAD left it unless it is to be `exact`.

    A word that is both is the revision; `./name` is the folder, which stands for the working directory. InputProblems
    where it is neither, or such a folder cannot be a former state of the paths.
    """
    if not base:
        raise InputProblems([Problem(path='--base ""', found="an empty base", hint=REVISION_HINT)])
    folder = Path(base)
    if folder.is_dir() and (folder.is_absolute() or base.endswith("/") or base.startswith(".")):
        yield of_folder(folder, paths), base
        return
    try:
        repository = open_repository(_nearest(paths))
        commit = repository.base(base, exact=exact)
    except InputProblems:
        if not folder.is_dir():
            raise
        yield of_folder(folder, paths), base
        return
    with of_revision(repository, commit) as former:
        yield former, commit[:12] if commit.startswith(base) else f"{base} ({commit[:12]})"


def _nearest(paths: Sequence[str]) -> Path:
    """Return the folder nearest to the first path that there is."""
    at = Path(paths[0]).absolute()
    return next(one for one in (at, *at.parents) if one.is_dir())
