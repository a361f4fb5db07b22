"""Runs of apply.sh on a switch of stand-ins: programs in a PATH that count their calls, and fail where they are told.

One call of a run can fail, fail half way, hang, or be the moment of a signal. The stand-in of `timeout` ends a program
that hangs at once.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from support.patience import END_S

_HEAD = r"""#!/bin/sh
# One program for all names: counts the call, then fails, hangs, signals, or does what the program does.
name=${0##*/}
[ "$name" = env ] || [ "$name" = timeout ] || {
    printf '%s\n' "$name $*" >>"$STATE/calls"
    read -r at <"$STATE/count"
    at=$((at + 1))
    echo "$at" >"$STATE/count"
    if [ "$at" -eq "${AT:-0}" ]; then
        case $HOW in
        fail) echo "$name: injected" >&2; exit 1 ;;
        half) half=yes ;;
        hang) PATH=/usr/bin exec sleep 1000 ;;
        INT | TERM) read -r _ _ _ _ _ session _ </proc/$$/stat; kill -s "$HOW" "$session"; /usr/bin/sleep 0.05 ;;
        esac
    fi
}
half=${half-}
[ "$name" = env ] || [ "$name" = timeout ] || PATH=/usr/bin:/bin
"""
_COMMON = r"""case $name in
timeout)
    shift 3
    read -r at <"$STATE/count"
    [ "$HOW" != hang ] || [ $((at + 1)) -ne "${AT:-0}" ] || exec /usr/bin/timeout -k 1 0.2 "$@"
    exec "$@"
    ;;
id) echo "${USER_ID-0}" ;;
date) case $1 in +%s) exec date +%s ;; *) echo "20261123-${RUN-1}" ;; esac ;;
sync | sleep) : ;;
"""
_REST = r"""*)
    exec "/usr/bin/$name" "$@"
    ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of apply.sh came to."""

    code: int
    said: str
    error: str
    calls: tuple[str, ...]
    """What it called, in order, with paths below the test's folder shortened."""


def install(folder: Path, programs: Iterable[str], functions: str, cases: str) -> None:
    """Write stand-ins: `cases` are those of a shell's `case`, and `functions` what they call."""
    folder.mkdir(parents=True)
    for name in programs:
        (folder / name).write_text(f"{_HEAD}\n{functions}\n{_COMMON}{cases}{_REST}")
        (folder / name).chmod(0o755)


def start(
    command: Iterable[str],
    folder: Path,
    facts: Mapping[str, str],
    *,
    at: int,
    how: str,
    run: int,
    user: int,
    closed: bool,
) -> subprocess.CompletedProcess[str]:
    """Run a command with the stand-ins of `folder`/bin; `closed` closes its output, as the end of a terminal does."""
    (folder / "state" / "calls").write_text("")
    (folder / "state" / "count").write_text("0\n")
    # a program that was started in the background would ignore SIGINT
    words = ["/usr/bin/env", "--default-signal", *command]
    return subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", *words] if closed else words,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=END_S,
        env={
            "PATH": f"{folder / 'bin'}:{os.defpath}",
            "STATE": str(folder / "state"),
            "AT": str(at),
            "HOW": how,
            "RUN": str(run),
            "USER_ID": str(user),
            **facts,
        },
    )
