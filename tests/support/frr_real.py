"""FRR itself in a network namespace of its own: given an frr.conf, and lines for vtysh, asked what it runs."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DAEMONS = ("zebra", "bgpd", "staticd")
_HOME = Path("/usr/lib/frr")


def available() -> bool:
    """Whether there is FRR, and a namespace can be made for it."""
    if shutil.which("vtysh") is None or not (_HOME / "bgpd").exists() or os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


class Frr:
    """Daemons that run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def vtysh(self, *words: str) -> str:
        """What vtysh says; AssertionError where a line is refused."""
        done = subprocess.run(
            ["vtysh", "--vty_socket", str(self._folder), "--config_dir", str(self._folder), *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        said = done.stdout + done.stderr
        assert "%" not in said, said
        assert "line " not in said.partition("!")[0], said
        return done.stdout

    def load(self, text: str) -> None:
        """Give it lines, as `vtysh -f` does."""
        file = self._folder / "given"
        file.write_text(text)
        self.vtysh("-f", str(file))

    def runs(self) -> list[str]:
        """The running configuration, without how it is introduced."""
        lines = self.vtysh("-c", "show running-config").splitlines()
        return [line for line in lines if not line.startswith(("Building", "Current", "frr version"))]


@contextmanager
def started(folder: Path, text: str) -> Iterator[Frr]:
    """Daemons that have read an frr.conf; they end with the context."""
    folder.mkdir()
    shutil.chown(folder, "frr", "frr")
    (folder / "vtysh.conf").write_text("service integrated-vtysh-config\n")
    script = " && ".join(
        f"{_HOME / daemon} -d -F datacenter -A 127.0.0.1 -P 0 -f /dev/null -i {folder}/{daemon}.pid"
        f" --vty_socket {folder} -z {folder}/zserv.api --log file:{folder}/{daemon}.log"
        for daemon in DAEMONS
    )
    subprocess.run(["unshare", "--net", "sh", "-c", script], check=True, capture_output=True, timeout=60)
    frr = Frr(folder)
    try:
        frr.load(text)
        yield frr
    finally:
        for daemon in DAEMONS:
            file = folder / f"{daemon}.pid"
            if file.exists():
                subprocess.run(["kill", file.read_text().strip()], check=False, capture_output=True)
