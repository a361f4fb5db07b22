"""A function called in a process tree that can change nothing of the host and leaves nothing behind.

The tree's first process is PID 1 of a separate namespace: when it ends, for any reason, the kernel ends all others, and
with them go the network namespaces, their interfaces, and the files, which are in a tmpfs that nobody else sees.
It ends when the pipe that it got its work over closes: that is when its caller ends, even by SIGKILL. The permissions
of the tree are set in `inside`; if the kernel refuses any of it, nothing is run.
"""

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Final, TypeVar

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import answers

_R = TypeVar("_R")
ReportProgress = Callable[[str], None]
"""Takes a line for the user about what is being done."""
MAX_PROCESSES: Final = 1024
"""How many processes and threads a tree may have that does not say how many it needs."""
_UNSHARE_COMMAND = ("unshare", "--pid", "--fork", "--kill-child", "--mount")
_USER_NAMESPACE_OPTIONS = ("--user", "--map-root-user")
_NESTED_UNSHARE_COMMAND = ("unshare", "--user", "--map-root-user", "--mount")
"""What is tried within: nothing that reads a configuration runs in namespaces that the host's root owns."""
_CHILD_PROGRAM = "from nodrop.validating.twin.inside import main; main()"
_PASSED_ENVIRONMENT_VARIABLES: Final = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONHASHSEED", "NODROP_TWIN_MARK")
"""Variables that the tree gets: others may hold secrets. The mark is for whoever looks for its processes."""
_MAX_OUTPUT_BYTES: Final = 4096
_TREE_END_TIMEOUT_S = 20
"""How long the kernel may take to end a tree before its outermost process is killed; it takes a second."""
_PACKAGE_BY_PROGRAM: Final[Mapping[str, str]] = {"unshare": "util-linux", "nsenter": "util-linux", "mount": "mount"}
"""Programs that the tree is made with, and Debian's packages that have them."""


def require_programs(needed: Mapping[str, str]) -> None:
    """See that programs are there, each by its name or path with the package that has it; ServiceUnavailable if not."""
    lacking = {
        name: package
        for name, package in {**_PACKAGE_BY_PROGRAM, **needed}.items()
        if find_program_or_root_program(name) is None
    }
    if lacking:
        packages = " ".join(sorted(set(lacking.values())))
        raise ServiceUnavailable(f"there is no {', '.join(sorted(lacking))} here (apt install {packages})")


def find_program_or_root_program(name: str) -> str | None:
    """Return the path of a program, also of one for root that a user's search path leaves out."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin")))


def usable_unshare_command() -> tuple[str, ...]:
    """Return the command that makes namespaces here: as root without one of users, else with it.

    Raise ServiceUnavailable where neither works.
    """
    error_text = ""
    for words in (
        ((*_UNSHARE_COMMAND,), (*_UNSHARE_COMMAND, *_USER_NAMESPACE_OPTIONS))
        if os.geteuid() == 0
        else ((*_UNSHARE_COMMAND, *_USER_NAMESPACE_OPTIONS),)
    ):
        tried = subprocess.run([*words, *_NESTED_UNSHARE_COMMAND, "true"], capture_output=True, check=False)
        if tried.returncode == 0:
            return words
        error_text = tried.stderr.decode(errors="replace").strip()
    hint = (
        "run it as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces"
    )
    raise ServiceUnavailable(f"the kernel allows no separate namespaces ({error_text}; {hint})")


def call_in_sandbox(
    function: Callable[..., _R],
    *arguments: object,
    progress: ReportProgress | None = None,
    processes: int = MAX_PROCESSES,
) -> _R:
    """Call a function of a module in such a tree, `function(tell, *given)`, and return its result.

    It may have so many `processes` and threads. Its result is made of plain values, dataclasses and named tuples,
    according to its annotation. ServiceUnavailable if it raises that, or the kernel refuses any part of such a tree;
    RuntimeError with its traceback if it fails.
    """
    require_programs({})
    progress_bytes = 0
    with _run_process_tree(usable_unshare_command()) as (tree, errors):
        assert tree.stdin is not None and tree.stdout is not None  # noqa: PT018 -- for the type checker
        answers.send_message(tree.stdin, "work", pickle.dumps((sys.path, processes, function, arguments)))
        while (answer := answers.receive_message(tree.stdout, answers.ANSWER_KINDS)) is not None:
            kind, body = answer
            progress_bytes += answers.MESSAGE_HEADER.size + len(body)
            if kind == "progress" and progress_bytes > answers.MAX_PROGRESS_BYTES:
                raise ServiceUnavailable("the twin tells more about its work than it can have to tell")
            match kind:
                case "progress" if progress is not None:
                    progress(answers.decode_text(body))
                case "done":
                    return answers.unpack_result(function, body)  # type: ignore[no-any-return]
                case "missing":
                    raise ServiceUnavailable(answers.decode_text(body))
                case "failed":
                    raise RuntimeError(answers.decode_text(body))
        errors.seek(0)
        error_text = answers.decode_text(errors.read(_MAX_OUTPUT_BYTES)).strip()
    raise ServiceUnavailable(
        f"the twin was ended from outside: {error_text}" if error_text else "the twin was ended from outside"
    )


@contextmanager
def _run_process_tree(words: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Yield a running tree, and its standard error; it is gone with the block."""
    with os.fdopen(os.memfd_create("nodrop"), "w+b") as errors:
        tree = subprocess.Popen(
            [*words, sys.executable, "-P", "-c", _CHILD_PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={name: os.environ[name] for name in _PASSED_ENVIRONMENT_VARIABLES if name in os.environ}
            | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        try:
            yield tree, errors
        finally:
            _end_process_tree(tree)


def _end_process_tree(tree: subprocess.Popen[bytes]) -> None:
    """Close the pipe, which ends PID 1, and wait until the kernel has ended the rest."""
    for pipe in (tree.stdin, tree.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    try:
        tree.wait(_TREE_END_TIMEOUT_S)
    except BaseException:
        tree.kill()
        tree.wait()
        raise
