"""FRR's daemons of one device: started with its frr.conf, asked which lines of it they refuse, stopped."""

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from nodrop.syntax.json import parse_json_text as parse_json
from nodrop.validating.twin.entering import namespace_command_prefix
from nodrop.validating.twin.own_root import DAEMONS_FOLDER
from nodrop.validating.twin.vty import VtyConnection

FRR_FOLDER: Final = Path("/usr/lib/frr")
"""Where packages of FRR have the daemons."""

_REFUSED_LINE_PATTERN = re.compile(r"line (\d+): (.*)")
"""How vtysh names a line that it or a daemon does not take (FRR, vtysh/vtysh.c, vtysh_config_from_file)."""
_UNKNOWN_COMMAND_PATTERN = re.compile(r"% Unknown command\[\d+\]:.*|\[\w+\] Unknown command:.*")
_CONFIGURATION_FAILED_TEXT = "% Configuration failed."
"""How a daemon refuses lines that it takes together (FRR, lib/northbound_cli.c, nb_cli_apply_changes_internal)."""
_VTYSH_REFUSED_TEXT = "vtysh_pam:"
"""How vtysh says that it ends without having read anything, and with 0 (FRR, vtysh/vtysh_user.c)."""
_VRF_NAME_PATTERN = re.compile(r"[^/\s\0]{1,35}")
"""What FRR takes as the name of a VRF that is a namespace: that of a file (lib/vrf.h, VRF_NAMSIZ)."""
_START_TIMEOUT_S = 60
_INITIAL_CONFIG_BY_DAEMON: Final[Mapping[str, str]] = {"zebra": "no zebra nexthop kernel enable\n"}
"""With what a daemon starts before it reads frr.conf.

zebra tells the kernel of each route with its next hops, not of groups of next hops by number: before FRR 9 it loses
those of an interface that went down and came back (FRRouting/frr, pull request 13413). Switches have their routes from
zebra another way, into the ASIC.
"""


class RefusedFrrLine(NamedTuple):
    """A refused line of frr.conf, counted from 1, or None if the line is not given; and the message about it."""

    line: int | None
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BootConfiguration:
    """The configuration that a device starts with."""

    text: str
    """Its frr.conf."""
    daemons: tuple[str, ...]
    profile: str
    vrfs: Mapping[str, str] = field(default_factory=dict)
    """Its VRFs, each with the name of the namespace that it is."""


class DaemonsFailed(Exception):
    """Daemons that did not start, or did not read their configuration in time."""


class FrrDaemons:
    """The daemons of one device, in the namespace of its default VRF."""

    def __init__(self, number: str, space: str, boot: BootConfiguration) -> None:
        self._home, self._space, self._boot = DAEMONS_FOLDER / number, space, boot
        self._asked: dict[str, VtyConnection] = {}

    @property
    def daemon_names(self) -> tuple[str, ...]:
        """The daemons that it is started with."""
        return self._boot.daemons

    def start(self) -> tuple[RefusedFrrLine, ...]:
        """Start them, let them read frr.conf, and return the lines that they refuse; Failed if one does not start."""
        home = self._home
        home.mkdir(exist_ok=True)
        for daemon in self._boot.daemons:
            (home / f"{daemon}.conf").write_text(_INITIAL_CONFIG_BY_DAEMON.get(daemon, ""))
        (home / "frr.conf").write_text(self._boot.text)
        (home / "vtysh.conf").write_text("service integrated-vtysh-config\n")
        for daemon in self._boot.daemons:
            done = self._run_in_namespace(daemon, self._daemon_command(daemon))
            if done.returncode:
                raise DaemonsFailed(f"{daemon}: {done.stderr.strip() or done.stdout.strip() or done.returncode}")
        done = self._run_in_namespace("vtysh", f"exec stdbuf -o0 vtysh --vty_socket {home} --config_dir {home} -b 2>&1")
        if done.stdout.startswith(_VTYSH_REFUSED_TEXT):
            raise DaemonsFailed(done.stdout.strip())
        return parse_refusals(done.stdout, self._boot.text)

    def _daemon_command(self, daemon: str) -> str:
        home = self._home
        words = [
            *(
                FRR_FOLDER / daemon,
                "-d",
                "-u",
                "root",
                "-g",
                "root",
                "-F",
                self._boot.profile,
                "-A",
                "127.0.0.1",
                "-P",
                "0",
            ),
            *("--log", f"file:{home / daemon}.log", "--log-level", "info", "-f", home / f"{daemon}.conf"),
            *("-i", home / f"{daemon}.pid", "--vty_socket", home, "-z", home / "zserv.api"),
        ]
        if not self._boot.vrfs:
            return "exec " + shlex.join(map(str, words))
        for vrf in self._boot.vrfs:
            if vrf in (".", "..") or not _VRF_NAME_PATTERN.fullmatch(vrf):
                raise DaemonsFailed(f"{daemon}: {vrf!r} cannot be the name of a VRF")
        own_path = home / "netns"
        lines = [f"mkdir -p {own_path}"]
        for vrf, space in sorted(self._boot.vrfs.items()):
            file = shlex.quote(str(own_path / vrf))
            lines += [f"touch {file}", f"mount --bind /run/netns/{space} {file}"]
        lines += [f"mount --rbind {own_path} /run/netns"]
        words += ["--vrfwnetns"] if daemon == "zebra" else []
        return " && ".join((*lines, "exec " + shlex.join(map(str, words))))

    def _run_in_namespace(self, program: str, script: str) -> subprocess.CompletedProcess[str]:
        words = list(namespace_command_prefix(self._space))
        words += ["unshare", "--mount", "--"] if self._boot.vrfs else []
        words += ["sh", "-c", script]
        try:
            return subprocess.run(
                words, capture_output=True, text=True, errors="replace", check=False, timeout=_START_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            raise DaemonsFailed(f"{program} is not done with its configuration after {_START_TIMEOUT_S} s") from None

    def answer_of_daemon(self, command: str, daemon: str) -> str:
        """Return a daemon's answer to a command of vtysh; Silent if it does not answer."""
        if daemon not in self._asked:
            self._asked[daemon] = VtyConnection(self._home / f"{daemon}.vty")
        return self._asked[daemon].ask(command)

    def json_answer_of_daemon(self, command: str, daemon: str) -> Any:
        """Return such an answer as parsed JSON; {} if it has none."""
        output = self.answer_of_daemon(f"{command} json", daemon).strip()
        return parse_json(output.encode(), f"{daemon}: {command}") if output.startswith(("{", "[")) else {}

    def read_daemon_log(self, daemon: str) -> str:
        """Return the lines of a daemon's log, of the level `informational` and above."""
        file = self._home / f"{daemon}.log"
        return file.read_text(errors="replace") if file.exists() else ""


def parse_refusals(output: str, frr_text: str) -> tuple[RefusedFrrLine, ...]:
    """Return the refused lines of a frr.conf, from the output of vtysh and the daemons while they read it.

    A daemon's own words come before vtysh's line that names the number. For lines that a daemon accepts or refuses as a
    whole no number is given, but their words are.
    """
    refusals: list[RefusedFrrLine] = []
    words: list[str] = []
    for line in filter(None, map(str.strip, output.splitlines())):
        match = _REFUSED_LINE_PATTERN.fullmatch(line)
        if match is None:
            words.append(line)
            continue
        _move_group_refusals(words, frr_text, refusals)
        reason = match[2] if match[2].startswith("%") else " ".join(words).removeprefix("% ") or match[2]
        refusals.append(RefusedFrrLine(int(match[1]), _UNKNOWN_COMMAND_PATTERN.sub("unknown command", reason)))
        words.clear()
    _move_group_refusals(words, frr_text, refusals)
    refusals += [RefusedFrrLine(None, word.removeprefix("% ")) for word in words if word.startswith("%")]
    return tuple(refusals)


def _move_group_refusals(words: list[str], text: str, refusals: list[RefusedFrrLine]) -> None:
    """Remove from `words` the messages about lines that are refused together, and add these to `refusals`."""
    while _CONFIGURATION_FAILED_TEXT in words:
        start = words.index(_CONFIGURATION_FAILED_TEXT)
        last = start + 1
        while last < len(words) and not words[last].startswith("%"):
            last += 1
        rows, block = words[start:last], {row[1:].strip() for row in words[start:last] if row.startswith("-")}
        error_text = "; ".join(row for row in rows[1:] if row.startswith("Error")) or _CONFIGURATION_FAILED_TEXT
        lines = {refusal.line for refusal in refusals}
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() in block and number not in lines:
                refusals.append(RefusedFrrLine(number, error_text))
        del words[start:last]
