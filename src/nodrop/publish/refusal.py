"""Messages about a folder that cannot be written, with the name that the user gave it."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.publish.disk import ForeignEntry
from nodrop.publish.held import HeldFolderError
from nodrop.publish.landing import OutputIsLink
from nodrop.publish.swap import OutputTreePlace
from nodrop.publish.tree import printable_path
from nodrop.syntax.root import LinkLeadsOut, user_name

_REASON_BY_ERRNO = {
    errno.EBUSY: "it is a mount point or in use",
    errno.EXDEV: "the file system cannot rename it; does it come from an image layer of a container?",
    errno.EEXIST: "another process filled it while the build ran, or two names in it differ only in case",
    errno.ENOTEMPTY: "another process filled it while the build ran",
    errno.ESTALE: "another process replaced it while the build ran",
}
"""Where the system's own words would not help."""


def make_refusal(path: str, message: str, hint: str) -> InputProblems:
    """Return the refusal of a path, and what to do about it."""
    return InputProblems([Problem(path=path, found=message, hint=hint)])


def describe_errno(error: OSError) -> str:
    """Return the system's error, in words that help."""
    code = error.errno or errno.EIO
    return _REASON_BY_ERRNO.get(code) or os.strerror(code).lower()


@contextmanager
def errors_as_problems(display: str) -> Iterator[None]:
    """Report errors of the system as a problem of the folder, or of the file in it, by the name that the user gave."""
    try:
        yield
    except (LinkLeadsOut, OutputIsLink) as error:
        raise InputProblems([Problem(path=display, found=str(error.strerror))]) from None
    except (OSError, ValueError) as error:
        name = f"{display}/{printable_path(error.filename)}" if isinstance(error, HeldFolderError) else display
        message = f"cannot be read or written: {describe_errno(error) if isinstance(error, OSError) else error}"
        raise make_refusal(name, message, "nothing was touched; mend this or give another folder") from error


def make_foreign_file_refusal(place: OutputTreePlace, display: str, error: ForeignEntry) -> InputProblems:
    """Return the advice for a file in the way that nodrop did not make."""
    message = f"{error.name} beside it was not made by nodrop, and a build needs the name"
    if error.owner is not None:
        message = (
            f"{error.name} beside it belongs to another user, {user_name(error.owner)}, and a build needs the name"
        )
    elif error.name == place.old_tree_place.name and place.tree.status() is None:
        message = f"{error.name} beside it is not what a build left, or was changed since"
    return make_refusal(display, message, f"move {error.name} away; nothing was touched")


def make_unsettled_build_refusal(place: OutputTreePlace, display: str, error: OSError) -> InputProblems:
    """Return the steps by hand after an earlier build was cut short that this run may not clear up."""
    if place.old_tree_place.status() is not None and place.tree.status() is None:
        hint = f"the tree as it was is whole: rename {place.old_tree_place.name} beside it to {place.tree.name}"
    else:
        hint = f"remove {place.new_tree_place.name} beside it by hand"
    return make_refusal(
        display, f"an earlier build was cut short, and clearing up after it fails: {describe_errno(error)}", hint
    )


def require_folder_or_absent(place: OutputTreePlace, display: str) -> None:
    """Refuse an existing entry that is not a folder."""
    status = place.tree.status()
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise make_refusal(display, "is not a folder", "give a new or an empty folder")


def require_replaceable(place: OutputTreePlace, display: str) -> None:
    """Refuse what cannot be renamed, or not without pulling the floor from under the user's shell."""
    status, above = place.tree.status(), os.fstat(place.tree.folder)
    if status is None:
        return
    if status.st_dev != above.st_dev or os.path.samestat(status, above):
        raise make_refusal(display, "is a mount point, which cannot be replaced", "build into a folder inside it")
    path = Path.cwd()
    if any(os.path.samestat(status, parent.stat()) for parent in (path, *path.parents)):
        message = "is or holds the working directory, and a build replaces the whole folder"
        raise make_refusal(display, message, "build from outside the folder")
