"""A function called in a process tree with its own process, mount and network namespaces, of which nothing can be left.

The tree's first process is PID 1 of its own namespace: when it ends, for whatever reason, the kernel ends all others,
and with them go the network namespaces, their interfaces, and the files, which lie in a tmpfs that nobody else sees.
It ends when the pipe closes over which it got its work: that is when its caller ends, be it by SIGKILL.
"""

import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final, Literal, TypeVar

from nodrop.errors import ServiceUnavailable

_R = TypeVar("_R")
Tell = Callable[[str], None]
"""Takes a line for the user about what is being done."""
Kind = Literal["told", "done", "failed", "missing"]

LENGTH: Final = struct.Struct(">Q")
_SPACES = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--net", "--ipc", "--uts")
_USER = ("--user", "--map-root-user")
_END_S = 20
"""How long the kernel may take to end a tree before its outermost process is killed; it takes a second."""
_TOOLS: Final[Mapping[str, str]] = {"unshare": "util-linux", "nsenter": "util-linux", "mount": "mount"}
"""Programs that the tree is made with, and Debian's packages that have them."""


def programs(needed: Mapping[str, str]) -> None:
    """See that programs are there, each by its name or path with the package that has it; ServiceUnavailable if not."""
    lacking = {name: package for name, package in {**_TOOLS, **needed}.items() if which(name) is None}
    if lacking:
        packages = " ".join(sorted(set(lacking.values())))
        raise ServiceUnavailable(f"there is no {', '.join(sorted(lacking))} here (apt install {packages})")


def which(name: str) -> str | None:
    """The path of a program, also of one for root that a user's search path leaves out."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin")))


def spaces() -> tuple[str, ...]:
    """The words that make namespaces here: as root without one of users, else with it; ServiceUnavailable for none."""
    said = ""
    for words in ((*_SPACES,), (*_SPACES, *_USER)) if os.geteuid() == 0 else ((*_SPACES, *_USER),):
        tried = subprocess.run([*words, "mount", "-t", "tmpfs", "nodrop", "/run"], capture_output=True, check=False)
        if tried.returncode == 0:
            return words
        said = tried.stderr.decode(errors="replace").strip()
    hint = (
        "run it as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces"
    )
    raise ServiceUnavailable(f"the kernel gives no namespaces of one's own ({said}; {hint})")


def call(function: Callable[..., _R], *given: Any, progress: Tell | None = None) -> _R:
    """Call a function of a module in such a tree, `function(tell, *given)`, and return what it returns.

    ServiceUnavailable where it raises that, or no tree can be made; RuntimeError with its traceback where it fails.
    """
    programs({})
    with _tree(spaces()) as (tree, errors):
        assert tree.stdin is not None and tree.stdout is not None  # noqa: PT018 -- for the type checker
        send(tree.stdin, (sys.path, function, given))
        for kind, what in _answers(tree.stdout):
            match kind:
                case "told" if progress is not None:
                    progress(what)
                case "done":
                    return what  # type: ignore[no-any-return]
                case "missing":
                    raise ServiceUnavailable(what)
                case "failed":
                    raise RuntimeError(what)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    raise ServiceUnavailable(f"the twin was ended from outside: {said}" if said else "the twin was ended from outside")


@contextmanager
def _tree(words: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Give a tree that runs, and what it writes to standard error; it is gone with the block."""
    with tempfile.TemporaryFile() as errors:
        tree = subprocess.Popen(
            [*words, sys.executable, "-P", "-m", "nodrop.validating.twin.inside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        try:
            yield tree, errors
        finally:
            _end(tree)


def _end(tree: subprocess.Popen[bytes]) -> None:
    """Close the pipe, by which PID 1 ends, and wait until the kernel has ended the rest."""
    for pipe in (tree.stdin, tree.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    try:
        tree.wait(_END_S)
    except BaseException:
        tree.kill()
        tree.wait()
        raise


def _answers(pipe: IO[bytes]) -> Iterator[tuple[Kind, Any]]:
    while (found := receive(pipe)) is not None:
        yield found


def send(pipe: IO[bytes], what: Any) -> None:
    """Write a value; nothing where nobody reads it any more, which shows when the answer is read."""
    packed = pickle.dumps(what)
    try:
        pipe.write(LENGTH.pack(len(packed)) + packed)
        pipe.flush()
    except BrokenPipeError:
        return


def receive(pipe: IO[bytes]) -> Any:
    """Read a value; None at the end. Both ends are nodrop's own, and share no pipe with anybody."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    packed = pipe.read(size)
    return pickle.loads(packed) if len(packed) == size else None
