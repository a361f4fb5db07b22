"""A twin of many hostile devices, run as root or as an ordinary user beside stand-ins for the host's folders.

`main` prints what each device refused, as JSON. As root it runs in a mount
namespace in which STAND_INS are folders of GUARD, so that a twin that writes to them harms nobody.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from nodrop.fabric.fabric import Device, Fabric
from nodrop.validating.twin import box
from nodrop.validating.twin.daemons import Boot
from nodrop.validating.twin.lab import Lab
from twin_attacks import ATTACKS

STAND_INS: Final = ("/etc", "/var/log", "/var/tmp", "/dev/shm", "/opt", "/tmp")
"""Folders of the host that attacks name; the first is a copy."""
NOBODY: Final = 65534
AGAIN: Final = "import sys, twin_attacked; twin_attacked.main(*sys.argv[1:])"
"""The tree finds functions by the name of their module."""
_HERE: Final = "/srv"
"""Where GUARD is in the namespace of a run by root, for its own path may be out of an ordinary user's reach."""
_SETTLE_S: Final = 4
"""How long daemons have to write: bgpd opens a dump at once, and its log with the first line of it."""


def prepare(guard: Path) -> None:
    """Fill a folder with what attacks are after."""
    for attack in ATTACKS:
        folder = guard / attack.name
        folder.mkdir()
        for name in ("precious", "secret"):
            (folder / name).write_text(f"{name}\n")
        (folder / "link").symlink_to("precious")
    home = guard / "home"
    (home / ".ssh").mkdir(parents=True)
    for name in (".bashrc", ".profile", ".ssh/authorized_keys"):
        (home / name).write_text("# mine\n")
    (guard / "work").mkdir()
    for path in STAND_INS:
        (guard / "host" / path.strip("/").replace("/", "-")).mkdir(parents=True, exist_ok=True)
    shutil.copytree("/etc", guard / "host/etc", symlinks=True, dirs_exist_ok=True, ignore_dangling_symlinks=True)


def run(guard: str, token: str, filtered: bool) -> dict[str, tuple[str, ...]]:
    """Run the twin here, as who runs this."""
    return box.call(attacked, guard, token, filtered)


def attacked(tell: box.Tell, guard: str, token: str, filtered: bool) -> dict[str, tuple[str, ...]]:
    """Start a device for each attack; return the lines that each refused, or why it did not start."""
    devices = tuple(Device(name=attack.name, platform="nvue") for attack in ATTACKS)
    boots = {}
    for attack in ATTACKS:
        text = "\n".join(("router bgp 65000", " bgp router-id 10.0.0.1", "exit", *given(attack.lines, guard, token)))
        if filtered:
            from nodrop.validating.twin.outward import leave_out

            text = leave_out(text).text
        boots[attack.name] = Boot(text=text, daemons=("zebra", "bgpd", "staticd"), profile="datacenter")
    lab = Lab(Fabric(name="attacked", mode="lossless", devices=devices), boots)
    lab.start()
    time.sleep(_SETTLE_S)
    dead = {name: (f"dead: {why}",) for name, why in lab.dead.items()}
    return {**{name: tuple(one.said for one in rows) for name, rows in lab.refused.items()}, **dead}


def given(lines: tuple[str, ...], guard: str, token: str) -> list[str]:
    """The lines of an attack, with the paths of this run."""
    return [line.replace("{guard}", guard).replace("{token}", token) for line in lines]


def main(guard: str, token: str, filtered: str, user: str) -> None:
    """Put stand-ins in place where root runs this, become the user, and run."""
    if os.geteuid() == 0 and user != "done":
        _stand_in(guard)
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if user == "ordinary" else []
        again = [*words, sys.executable, "-c", AGAIN, _HERE, token, filtered, "done"]
        env = {**os.environ, "HOME": f"{_HERE}/home", "TMPDIR": f"{_HERE}/work"}
        env["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        sys.exit(subprocess.run(again, env=env, cwd=f"{_HERE}/work", check=False).returncode)
    print(json.dumps(run(guard, token, filtered == "filtered")))
    subprocess.run(["true"], check=True)  # with /etc/ld.so.preload as it is by now


def _stand_in(guard: str) -> None:
    """Mount GUARD and its stand-ins, and what Python needs where an ordinary user cannot get to it."""
    bases = [Path(sys.base_prefix)]
    closed = {one for base in bases for one in base.parents if not one.stat().st_mode & 1}
    held = {base: os.open(base, os.O_PATH) for base in bases}
    for path in closed:
        _mount("-t", "tmpfs", "-o", "mode=755", "nodrop", str(path))
    for base, number in held.items() if closed else ():
        base.mkdir(parents=True)
        _mount("-c", "--bind", f"/proc/self/fd/{number}", str(base), keep=number)  # by its number, not its name
    _mount("--bind", guard, _HERE)
    for path in STAND_INS:
        _mount("--bind", f"{_HERE}/host/{path.strip('/').replace('/', '-')}", path)


def _mount(*words: str, keep: int = 0) -> None:
    subprocess.run(["mount", *words], check=True, pass_fds=(keep,) if keep else ())
