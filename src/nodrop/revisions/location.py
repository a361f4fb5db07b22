"""Find the repository that `nodrop check` reads, in Python and from the working directory upwards.

Git itself searches from a folder upwards and accepts a bare repository, even if it is committed as ordinary files.
nodrop accepts a folder called `.git`, or the git directory that a file called `.git` names: no commit can hold either
name. The result is passed to git by name, and git searches for nothing.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from nodrop.errors import InputProblems, Problem, describe_os_failure
from nodrop.revisions.asking import REVISION_HINT, GitClient, RepositoryPlace

_MAX_GIT_FILE_BYTES = 10_000
"""What a file called `.git` has at most: one path."""


def find_repository(paths: Sequence[str]) -> RepositoryPlace:
    """Return the git directory and the work tree of the working directory, or those that GIT_DIR names.

    InputProblems where there is none, git does not trust its owner, it has no work tree, or a path, or what its links
    lead to, is not in the work tree.
    """
    current_dir = Path(os.path.realpath("."))
    stated_dir = os.environ.get("GIT_DIR")
    place = _resolve_stated_repository(current_dir, stated_dir) if stated_dir else _discover_repository(current_dir)
    wrong = [problem for path in paths if (problem := _path_outside_problem(path, place)) is not None]
    if wrong:
        raise InputProblems(wrong)
    return place


def locate_submodule(outer: RepositoryPlace, folder: Path) -> RepositoryPlace | None:
    """Return where a submodule is that is checked out in a folder of a work tree; None where none is.

    Its git directory must lie where `git submodule` puts it: below `modules` in the git directory of the outer
    repository, which is trusted. InputProblems where it lies elsewhere.
    """
    git_dir = _resolve_git_dir(folder / ".git") if os.path.realpath(folder) == str(folder) else None
    if git_dir is None:
        return None
    segments = git_dir.relative_to(outer.common).parts if git_dir.is_relative_to(outer.common) else ()
    if segments[:1] == ("worktrees",):
        segments = segments[2:]
    if segments[:1] != ("modules",):
        fault = "the git directory of the submodule is not below that of the repository, so it is not asked"
        raise InputProblems([Problem(path=str(folder), found=fault, hint="`git submodule absorbgitdirs` moves it")])
    return RepositoryPlace(top=folder, git_dir=git_dir, common=_common_git_dir(git_dir))


def _discover_repository(path: Path) -> RepositoryPlace:
    for top in _parents_below_ceiling(path):
        git_dir = _resolve_git_dir(top / ".git")
        if git_dir is not None:
            _refuse_embedded_git_dir(git_dir, top)
            _refuse_untrusted(git_dir, top)
            return RepositoryPlace(top=top, git_dir=git_dir, common=_common_git_dir(git_dir))
    with suppress(OSError):
        if _is_git_dir(path):
            raise InputProblems([_bare_repository_problem(path)])
    raise InputProblems([Problem(path=str(path), found="in no git repository", hint=REVISION_HINT)])


def _resolve_stated_repository(path: Path, stated_dir: str) -> RepositoryPlace:
    """Return the place that GIT_DIR names, and GIT_WORK_TREE; both are relative to the working directory."""
    git_dir = _resolve_git_dir(path / stated_dir)
    if git_dir is None:
        raise InputProblems([Problem(path=f"GIT_DIR={stated_dir}", found="no git directory", hint=REVISION_HINT)])
    tree = os.environ.get("GIT_WORK_TREE")
    if not tree:
        asked = GitClient(cwd=path, options=(f"--git-dir={git_dir}",))
        if asked.output_line_of_command("rev-parse", "--is-bare-repository") == "true":
            raise InputProblems([_bare_repository_problem(git_dir)])
        tree = asked.output_line_of_command("rev-parse", "--show-toplevel")
    top = Path(os.path.realpath(path / tree))
    if not top.is_dir():
        raise InputProblems([Problem(path=f"GIT_WORK_TREE={tree}", found="no such folder")])
    return RepositoryPlace(top=top, git_dir=git_dir, common=_common_git_dir(git_dir))


def _parents_below_ceiling(path: Path) -> Iterator[Path]:
    """Yield a folder and those above it that are below what GIT_CEILING_DIRECTORIES names."""
    ceiling_texts = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(ceiling) for ceiling in ceiling_texts if ceiling}
    yield path
    for above in path.parents:
        if str(above) in ceilings:
            return
        yield above


def _resolve_git_dir(named_path: Path) -> Path | None:
    """Return the git directory that a folder is or a file names (`gitdir: PATH`), without links; None if neither."""
    try:
        if named_path.is_dir():
            return Path(os.path.realpath(named_path)) if _is_git_dir(named_path) else None
        if not named_path.is_file():
            return None
        with named_path.open("rb") as file:
            raw = file.read(_MAX_GIT_FILE_BYTES)
        key, _, path = raw.rstrip(b"\r\n").partition(b": ")
        to = Path(os.path.realpath(named_path.parent / os.fsdecode(path)))
        is_one = key == b"gitdir" and path != b"" and _is_git_dir(to)
    except (OSError, ValueError) as error:
        raise InputProblems([Problem(path=str(named_path), found=describe_os_failure(error))]) from None
    if not is_one:
        fault = "a file that names no git directory"
        raise InputProblems([Problem(path=str(named_path), found=fault, expected="`gitdir: ` and the path of one")])
    return to


def _is_git_dir(folder: Path) -> bool:
    """Whether a folder is a git directory, of a repository or of a linked work tree; OSError if it is unreadable."""
    is_repository = (folder / "objects").is_dir() and (folder / "refs").is_dir()
    return (is_repository or (folder / "commondir").is_file()) and os.path.lexists(folder / "HEAD")


def _common_git_dir(git_dir: Path) -> Path:
    """Return the git directory that holds the objects: another one for a linked work tree."""
    try:
        return Path(os.path.realpath(git_dir / os.fsdecode((git_dir / "commondir").read_bytes().rstrip(b"\r\n"))))
    except OSError:
        return git_dir


def _refuse_embedded_git_dir(git_dir: Path, top: Path) -> None:
    """Raise InputProblems if a git directory is among the files of a work tree, where a commit can put it.

    Directories below a folder `.git` are not, nor is the one that a file `.git` of a work tree further up names itself.
    """
    for folder in (top, *top.parents):
        if not git_dir.is_relative_to(folder) or ".git" in git_dir.relative_to(folder).parts:
            continue
        own_path = None if folder == top else _git_dir_or_none(folder)
        if folder == top or (own_path is not None and not git_dir.is_relative_to(own_path)):
            fault = f"its git directory {git_dir} lies among the files of the work tree {folder}, so it is not asked"
            raise InputProblems([Problem(path=str(top / ".git"), found=fault)])


def _git_dir_or_none(folder: Path) -> Path | None:
    try:
        return _resolve_git_dir(folder / ".git")
    except InputProblems:
        return None


def _refuse_untrusted(git_dir: Path, top: Path) -> None:
    """Let git decide by its rules (safe.directory) whether it reads the repository of that work tree."""
    words = ("rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-prefix", "--absolute-git-dir")
    bare, inside, prefix, git_path = (
        GitClient(cwd=top).output_of_command(*words).decode("utf-8", "surrogateescape").split("\n", 3)
    )
    if bare == "true":
        raise InputProblems([_bare_repository_problem(git_dir)])
    if inside != "true" or prefix:
        fault, hint = "its configuration has another work tree (core.worktree)", "set GIT_DIR and GIT_WORK_TREE"
        raise InputProblems([Problem(path=str(git_dir), found=fault, hint=hint)])
    if os.path.realpath(git_path.removesuffix("\n")) != str(git_dir):
        raise InputProblems([Problem(path=str(top), found=f"git takes {git_path.strip()} for its repository")])


def _path_outside_problem(path: str, place: RepositoryPlace) -> Problem | None:
    """Return why a path is not answered by the repository; None if it lies in the work tree."""
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None  # it leads nowhere, which is told where it is looked for
    of_git = place.git_dir.is_relative_to(place.top) and real.is_relative_to(place.git_dir)
    if real.is_relative_to(place.top) and not of_git:
        return None
    where = "is in its git directory" if of_git else "is not in it"
    fault = f"leads to {real}, and that {where}: the work tree of the working directory is {place.top}"
    return Problem(path=path, found=fault, hint="run it in the repository that the base is a revision of")


def _bare_repository_problem(at: Path) -> Problem:
    fault, hint = "a bare repository, which has no files to check", "run in a work tree: `git worktree add`"
    return Problem(path=str(at), found=fault, hint=hint)
