"""A function of the tests run as root or as an ordinary user, beside stand-ins for the host's folders.

As root it runs in a mount namespace in which STAND_INS are folders of a guarded one, so that a twin that writes to them
harms nobody.
"""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from nodrop.resources import resource_folder

USERS: Final = ("root", "ordinary") if os.geteuid() == 0 else ("self",)
STAND_INS: Final = ("/etc", "/var/log", "/var/tmp", "/dev/shm", "/opt", "/tmp")
"""Folders of the host that attacks name; the first is a copy."""
NOBODY: Final = 65534
_AGAIN: Final = "import sys; from support import twin_user; twin_user.main(*sys.argv[1:])"
_HERE: Final = "/srv"
"""Where the guarded folder is in a namespace made by root: its own path may be out of an ordinary user's reach."""


class Ran(NamedTuple):
    """What a function returned, as JSON has it, or None; and what it printed as errors."""

    value: Any
    errors: str


def prepare(guard: Path, user: str) -> None:
    """Make the stand-ins, and all of a guarded folder that user's."""
    (guard / "work").mkdir()
    for path in STAND_INS:
        (guard / "host" / path.strip("/").replace("/", "-")).mkdir(parents=True, exist_ok=True)
    shutil.copytree("/etc", guard / "host/etc", symlinks=True, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    if user == "ordinary":
        for path in (guard, *guard.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def as_user(user: str, guard: Path, function: str, *given: str) -> Ran:
    """Call `module:function(path of the guarded folder, *given)` as one of USERS."""
    words = ["unshare", "--mount", "--"] if user != "self" else []
    done = subprocess.run(
        [*words, sys.executable, "-c", _AGAIN, user, str(guard), function, *given],
        env=_environment(),
        cwd=guard / "work",
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(json.loads(done.stdout) if done.returncode == 0 else None, done.stderr[-4000:])


def main(user: str, guard: str, function: str, *given: str) -> None:
    """Put stand-ins in place where root runs this, become the user, and call the function."""
    if user in ("root", "ordinary"):
        _stand_in(guard)
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if user == "ordinary" else []
        again = [*words, sys.executable, "-c", _AGAIN, "self", _HERE, function, *given]
        own = {"HOME": f"{_HERE}/home", "TMPDIR": f"{_HERE}/work"}
        sys.exit(subprocess.run(again, env=_environment() | own, cwd=f"{_HERE}/work", check=False).returncode)
    module, _, name = function.partition(":")
    print(json.dumps(getattr(importlib.import_module(module), name)(guard, *given)))
    subprocess.run(["true"], check=True)  # with /etc/ld.so.preload as it is by now


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _stand_in(guard: str) -> None:
    """Mount GUARD and its stand-ins, and what Python needs where an ordinary user cannot get to it."""
    bases = _needed()
    closed = {one for base in bases for one in base.parents if not one.stat().st_mode & 1}
    held = {base: os.open(base, os.O_PATH) for base in bases}
    for path in closed:
        _mount("-t", "tmpfs", "-o", "mode=755", "nodrop", str(path))
    for base, number in held.items() if closed else ():
        base.mkdir(parents=True, exist_ok=True)
        _mount("-c", "--bind", f"/proc/self/fd/{number}", str(base), keep=number)  # by its number, not its name
    _mount("--bind", guard, _HERE)
    for path in STAND_INS:
        if not any(base.is_relative_to(path) for base in bases):
            _mount("--bind", f"{_HERE}/host/{path.strip('/').replace('/', '-')}", path)


def _needed() -> list[Path]:
    """Where Python and nodrop are; a stand-in over them would end the run, and is left out."""
    paths = (sys.base_prefix, sys.prefix, *sys.path, str(resource_folder("rules")))
    found = sorted({Path(path).resolve() for path in paths if path and Path(path).is_dir()})
    return [one for one in found if not any(one.is_relative_to(other) for other in found if other != one)]


def _mount(*words: str, keep: int = 0) -> None:
    subprocess.run(["mount", *words], check=True, pass_fds=(keep,) if keep else ())
