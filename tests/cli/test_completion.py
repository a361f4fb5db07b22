"""Shell completion: the scripts, and what they ask nodrop for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import SCRIPT, nodrop, process


def offered(line: str) -> list[str]:
    """What is offered at the end of a command line, as bash asks for it."""
    words = line.split(" ")
    asked = {"_NODROP_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = process(env=asked)
    assert done.err == ""
    return done.out.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nodrop li", ["plain,lint"]),
        ("nodrop lint --select pfc-without", ["plain,pfc-without-watchdog"]),
        ("nodrop lint --ignore ecn,watchdog-without-d", ["plain,ecn,watchdog-without-detection-time"]),
        ("nodrop lint --select deadl", ["plain,deadlock"]),
        ("nodrop lint --strictness p", ["plain,pedantic"]),
        ("nodrop lint --format s", ["plain,sarif"]),
        ("nodrop lint --platform cu", ["plain,cumulus"]),
        ("nodrop lint --assume mode=tr", ["plain,mode=trim"]),
        ("nodrop lint --profile nv", ["plain,nvidia", "file,"]),
        ("nodrop explain fabric-pfc", ["plain,fabric-pfc-without-watchdog", "file,"]),
        ("nodrop build int", ["file,int"]),
        ("nodrop schema f", ["plain,fabric", "plain,findings"]),
    ],
)
def test_what_is_offered(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(shell: str, tmp_path: Path) -> None:
    done = nodrop("completion", shell)
    assert (done.code, f"_NODROP_COMPLETE={shell}_complete" in done.out) == (0, True)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(done.out)
    checked = subprocess.run([shell, "-n", script], capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")


def test_bash_completes_by_it(tmp_path: Path) -> None:
    command = tmp_path / "nodrop"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{SCRIPT}' \"$@\"\n")
    command.chmod(0o755)
    script = f"""{nodrop("completion", "bash").out}
    COMP_WORDS=(nodrop explain no-such-rul) COMP_CWORD=2
    PATH={tmp_path}:$PATH _nodrop_completion nodrop; echo "[${{COMPREPLY[@]}}]"
    COMP_WORDS=(nodrop rul) COMP_CWORD=1
    PATH={tmp_path}:$PATH _nodrop_completion nodrop; echo "[${{COMPREPLY[@]}}]"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-1] == "[rules]"


def test_a_shell_that_is_not_known() -> None:
    assert "no value 'bsh' (did you mean `bash`?)" in nodrop("completion", "bsh").err
