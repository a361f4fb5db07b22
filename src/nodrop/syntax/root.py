"""Open files below a folder such that no link leads out of it, even one that is swapped while the file is opened.

A *root* is the folder that must contain all files read. Links inside may lead anywhere below it, also by an absolute
path, but not into a repository's own files (`.git`), which may hold credentials. Hard links look the same as files.
"""

import errno
import os
import stat
import struct
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

GIT_FOLDER = ".git"
_MAX_LINK_HOPS = 40
"""How many links are followed, as the kernel has it."""
_OPENAT2_SYSCALL = 437
"""The number of the system call, which is the same on every architecture that Python is built for (since Linux 5.6)."""
_RESOLVE_FLAGS = 0x08 | 0x04 | 0x02
"""RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS of linux/openat2.h."""
_STATUS_OPEN_FLAGS = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
"""How a file is opened for its status alone. Only Linux has O_PATH; elsewhere the file must be readable."""
FOLDER_OPEN_FLAGS = _STATUS_OPEN_FLAGS | os.O_DIRECTORY | os.O_CLOEXEC
"""How a folder is opened to walk on from it."""


class LinkLeadsOut(OSError):
    """A link that leads out of a root; whether there is anything is not checked."""

    def __init__(self, root: str) -> None:
        super().__init__(errno.EXDEV, f"a link that leads out of {root}")


class ForeignLink(LinkLeadsOut):
    """A link that another user put where all users may write."""

    def __init__(self, owner: int) -> None:
        fault = f"a link of another user, {user_name(owner)}, where all users may write, so it is not followed"
        OSError.__init__(self, errno.EXDEV, fault)


def user_name(uid: int) -> str:
    """Return how a user is called in messages."""
    import pwd

    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _close_handle(handle: int) -> None:
    with suppress(OSError):
        os.close(handle)


class InputRoot:
    """A folder that contains all files read, or a single file that a user named; it can be sent to another process."""

    def __init__(self, top: str, shown: str, handle: int | None = None) -> None:
        """`top` is absolute, without `.` and `..`; links in it are the user's own, and followed. `shown` names it.

        `handle` is its descriptor, if it is open, which is closed with the root.
        """
        self.top, self.shown = top, shown
        self._prefix = top if top.endswith("/") else f"{top}/"
        self._handle: int | None = None
        if handle is not None:
            self._keep_open_until_root_closes(handle)

    def _keep_open_until_root_closes(self, handle: int) -> int:
        """Keep a descriptor that is closed with the root, at the latest when the process ends."""
        weakref.finalize(self, _close_handle, handle)
        self._handle = handle
        return handle

    def __reduce__(self) -> tuple[type["InputRoot"], tuple[str, str]]:
        return InputRoot, (self.top, self.shown)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputRoot) and self.top == other.top

    def __hash__(self) -> int:
        return hash(self.top)

    def __contains__(self, path: str) -> bool:
        """Whether an absolute path without `.` and `..` is named below the root."""
        return path == self.top or path.startswith(self._prefix)

    def open(self, path: str | os.PathLike[str], flags: int) -> int:
        """Open a path below the root and return the descriptor; LinkLeadsOut, or another OSError, if it fails."""
        below = self._path_below_root(path)
        if not below:
            return self._open_root(flags | os.O_CLOEXEC)
        handle = _open_without_links(self.handle, below, flags | os.O_CLOEXEC)
        if handle is not None:
            return handle
        with self.walk_below_root(path) as (folders, names, _):
            if len(folders) == len(names) + 1:
                return os.open(".", flags | os.O_CLOEXEC, dir_fd=folders[-1])
            return os.open(names[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folders[-1])

    def status(self, path: str | os.PathLike[str]) -> os.stat_result:
        """Return the status of a path's target below the root, like `os.stat`; LinkLeadsOut if that is outside."""
        handle = self.open(path, _STATUS_OPEN_FLAGS)
        try:
            return os.fstat(handle)
        finally:
            os.close(handle)

    def resolve_path(self, path: str | os.PathLike[str]) -> str:
        """Return the real path of a path below the root; its last parts may be missing."""
        with self.walk_below_root(path, missing=True) as (_, names, missing_names):
            return os.path.join(os.path.realpath(self.top), *names, *missing_names)  # noqa: PTH118

    @property
    def handle(self) -> int:
        """The descriptor of the folder, opened when it is first asked for."""
        if self._handle is None:
            return self._keep_open_until_root_closes(self._open_root(FOLDER_OPEN_FLAGS))
        return self._handle

    def _open_root(self, flags: int) -> int:
        """Open the root itself, as seen from the working directory where one may not enter what lies above that."""
        try:
            return os.open(self.top, flags)
        except PermissionError:
            return os.open(os.path.relpath(self.top), flags)

    def _path_below_root(self, path: str | os.PathLike[str]) -> str:
        """Return a path as it is named below the root."""
        absolute = os.path.abspath(path)  # noqa: PTH100 -- as it is named: links are looked at when it is opened
        if absolute == self.top:
            return ""
        if not absolute.startswith(self._prefix):
            raise LinkLeadsOut(self.shown)
        return absolute[len(self._prefix) :]

    @contextmanager
    def walk_below_root(
        self, path: str | os.PathLike[str], *, missing: bool = False
    ) -> Iterator[tuple[list[int], list[str], list[str]]]:
        """Walk to a path below the root, link by link; yield the open folders on the way, and their names.

        A target that is no folder is the last name, without a folder. With `missing`, missing parts at the end are
        allowed and yielded too.
        LinkLeadsOut if a link leads out, or is another user's in a folder that all users may write to.
        """
        pending_names, hops = self._path_below_root(path).split("/")[::-1], 0
        folders, names = [os.open(".", FOLDER_OPEN_FLAGS, dir_fd=self.handle)], list[str]()
        try:
            while pending_names:
                name = pending_names.pop()
                if name in ("", "."):
                    continue
                if name == "..":
                    self._leave_folder(folders, names)
                    continue
                if hops and name.casefold() == GIT_FOLDER:
                    raise LinkLeadsOut(self.shown)
                try:
                    status = os.stat(name, dir_fd=folders[-1], follow_symlinks=False)
                except FileNotFoundError:
                    if not missing or ".." in pending_names:
                        raise
                    pending_names.append(name)
                    break
                if stat.S_ISDIR(status.st_mode):
                    folders.append(os.open(name, FOLDER_OPEN_FLAGS | os.O_NOFOLLOW, dir_fd=folders[-1]))
                    names.append(name)
                elif stat.S_ISLNK(status.st_mode):
                    hops += 1
                    if hops > _MAX_LINK_HOPS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    target = _read_link(name, status, folders[-1])
                    pending_names += self._parts_of_link_target(target, folders, names)[::-1]
                elif pending_names:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                else:
                    names.append(name)
            yield folders, names, [segment for segment in reversed(pending_names) if segment not in ("", ".")]
        finally:
            for handle in folders:
                os.close(handle)

    def _leave_folder(self, folders: list[int], names: list[str]) -> None:
        if len(folders) == 1:
            raise LinkLeadsOut(self.shown)
        os.close(folders.pop())
        names.pop()

    def _parts_of_link_target(self, target: str, folders: list[int], names: list[str]) -> list[str]:
        """Return the parts that a link leads to; an absolute one leads there from the root."""
        if not target.startswith("/"):
            return target.split("/")
        for top in (self.top, os.path.realpath(self.top)):
            if target == top or target.startswith(f"{top.rstrip('/')}/"):
                while len(folders) > 1:
                    self._leave_folder(folders, names)
                return target[len(top) :].split("/")
        raise LinkLeadsOut(self.shown)


def _read_link(name: str, link: os.stat_result, folder: int) -> str:
    """Return where a link leads whose status is known; ForeignLink, or an OSError if it was swapped meanwhile."""
    _refuse_foreign_link(link, folder)
    target = os.readlink(name, dir_fd=folder)
    now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if (now.st_dev, now.st_ino, now.st_ctime_ns) != (link.st_dev, link.st_ino, link.st_ctime_ns):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    return target


def _refuse_foreign_link(link: os.stat_result, folder: int) -> None:
    """Refuse a link that another user put where all users may write, as kernels do in folders such as /tmp."""
    where = os.fstat(folder)
    if where.st_mode & stat.S_IWOTH and link.st_uid not in (os.geteuid(), where.st_uid):
        raise ForeignLink(link.st_uid)


def topmost_repository_of_path(absolute: str) -> str | None:
    """Return the top of the repository around a named path; None if there is none.

    Below the top of a repository no link leads to another one: the author of a commit could choose it.
    """
    top = None
    at = ""
    for segment in absolute.split("/"):
        at = f"{at}/{segment}" if at != "/" else f"/{segment}"
        if top is not None and os.path.islink(at):  # noqa: PTH114
            break
        if os.path.lexists(f"{at}/{GIT_FOLDER}"):
            top = at
    return top


def find_containment_root(path: str | os.PathLike[str], repository: str | None = None) -> InputRoot:
    """Return the root for a path that a user named: the top of its repository, else the folder, or the file's folder.

    Outside a repository a user may name a link; its target is the root. `repository` is its top, if it is known.
    """
    absolute = os.path.abspath(path)  # noqa: PTH100
    top = repository or topmost_repository_of_path(absolute)
    if top is not None:
        return InputRoot(top, "the repository")
    if os.path.isdir(path) or os.path.islink(path):  # noqa: PTH112, PTH114
        return InputRoot(absolute, os.fspath(path))
    return InputRoot(os.path.dirname(absolute), os.path.dirname(os.fspath(path)) or ".")  # noqa: PTH120


@cache
def _load_syscall() -> "tuple[Callable[..., int], Callable[[], int]] | None":
    """Return the C library's `syscall`, and what returns its error; None where there is no way to them.

    Other systems give the number of the call to another one.
    """
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).syscall
    except (ImportError, OSError, AttributeError):
        return None
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call, ctypes.get_errno


_OPENAT2_FALLBACK_ERRNOS = frozenset(
    {errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.ELOOP, errno.EXDEV, errno.EAGAIN, errno.E2BIG}
)
"""What the kernel answers where it has no openat2, a sandbox refuses it, or a link is on the way."""


def _open_without_links(folder: int, below: str, flags: int) -> int | None:
    """Open a path that has no links in it; None where it may have, or where the kernel has no such call."""
    if (calls := _load_syscall()) is None:
        return None
    call, error = calls
    name = os.fsencode(below)
    if b"\0" in name:
        raise ValueError("embedded null byte")
    how = struct.pack("QQQ", flags, 0, _RESOLVE_FLAGS)
    handle = call(_OPENAT2_SYSCALL, folder, name, how, len(how))
    if handle >= 0:
        return handle
    code = error()
    if code in _OPENAT2_FALLBACK_ERRNOS:
        return None
    raise OSError(code, os.strerror(code))
