"""The first process of the tree that `box` makes: it makes the tree its own and calls what it is told to.

Whatever is mounted here is seen by this tree alone, and goes with it.
"""

import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin.box import Kind, receive, send

HOME = Path("/run/nodrop")
"""Where daemons have their files and sockets."""

_HIDDEN = ("/run", "/var/tmp")  # noqa: S108 -- what is mounted over
"""What lies there belongs to the system; daemons write there (FRR, lib/zlog_5424.c and lib/zlog.c: /var/tmp/frr)."""
_USERS = "root:x:0:0:root:/:/bin/sh\n"
_GROUPS = "root:x:0:\nfrr:x:0:\nfrrvty:x:0:\n"
"""FRR asks that whoever it runs as be in the group of its sockets (lib/privs.c, zprivs_init); here all is root's."""


def main() -> None:
    """Do the work that comes over standard input, and tell how it goes over standard output."""
    words, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs print is no answer
    sys.path[:], function, given = receive(words) or os._exit(2)
    threading.Thread(target=_end_with, args=(words.fileno(),), daemon=True).start()
    lock = threading.Lock()

    def answer(kind: Kind, what: object) -> None:
        with lock:
            send(answers, (kind, what))

    try:
        _settle_in()
        answer("done", function(lambda line: answer("told", line), *given))
    except ServiceUnavailable as error:
        answer("missing", str(error))
    except BaseException:  # noqa: BLE001 -- it is raised again at the other end of the pipe
        answer("failed", traceback.format_exc())
    os._exit(0)


def _end_with(words: int) -> None:
    """End when the pipe closes, whatever the other threads do; the kernel then ends all that they started."""
    while os.read(words, 4096):
        continue
    os._exit(1)


def _settle_in() -> None:
    """Mount what the tree is to see: its own processes and users, and empty folders in place of the system's."""
    for folder in _HIDDEN:
        _mount("-t", "tmpfs", "nodrop", folder)
    _mount("-t", "proc", "nodrop", "/proc")
    netns = Path("/var/run/netns")
    if not Path("/var/run").resolve().is_relative_to("/run"):
        _mount("-t", "tmpfs", "nodrop", "/var/run")
    netns.mkdir(parents=True)
    HOME.mkdir()
    os.environ["HOME"] = str(HOME)  # where vtysh keeps a history
    for file, text in (("/etc/passwd", _USERS), ("/etc/group", _GROUPS)):
        own = HOME / Path(file).name
        own.write_text(text)
        _mount("--bind", str(own), file)
    if Path("/dev/log").is_socket():  # the system's log is no place for what a twin says
        (HOME / "log").touch()
        _mount("--bind", str(HOME / "log"), "/dev/log")
    if Path("/etc/frr").is_dir():
        (HOME / "etc").mkdir()
        _mount("--bind", str(HOME / "etc"), "/etc/frr")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServiceUnavailable(f"mount {' '.join(words)}: {done.stderr.strip()}")


if __name__ == "__main__":
    main()
