"""Run git such that it only reads, and runs nothing that a repository or the environment configures.

Git gets the git directory and work tree as arguments, and discovers none. Options switch off everything that a
configuration could make it run: monitors of the file system, hooks, attributes (and with them filters), credential
helpers, ssh, and every transport; a partial clone is therefore not completed. Replace refs and grafts do not count.
From the environment git gets the variables that `_PASSED_ENVIRONMENT_VARIABLES` names, and the safe.directory entries
of GIT_CONFIG_COUNT: any other variable that begins with GIT_ could name other objects, indexes or programs. Needs git
2.35.2 (safe.directory); from 2.38 on, safe.bareRepository counts too.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.units import parse_whole_number

_SAFE_GIT_SETTINGS = (
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.sshCommand=false",
    "core.askPass=false",
    "credential.helper=",
)
_SAFE_GIT_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    *(word for setting in _SAFE_GIT_SETTINGS for word in ("-c", setting)),
)
_SAFE_GIT_VARIABLES: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_PASSED_ENVIRONMENT_VARIABLES = (
    "PATH",
    "LD_LIBRARY_PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "SUDO_UID",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)
"""Where git and its libraries are, where the configuration of the user and the system is, and who the user is."""
_SAFE_DIRECTORY_KEY = "safe.directory"
_MAX_GIT_CONFIG_COUNT = 999
"""Settings that GIT_CONFIG_COUNT may announce."""
REVISION_HINT = (
    "--base takes a revision, such as origin/main, or a folder with the files as they were, such as ./before"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlace:
    """Where a repository is; no path has links in it."""

    top: Path
    """The work tree."""
    git_dir: Path
    common: Path
    """The git directory that holds the objects: that of the repository that a linked work tree belongs to."""

    def git_client(self) -> "GitClient":
        """Return git as it reads this repository."""
        return GitClient(cwd=self.top, options=(f"--git-dir={self.git_dir}", f"--work-tree={self.top}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GitClient:
    """Git, in a folder and with options that name a repository."""

    cwd: Path
    options: tuple[str, ...] = ()

    def output_of_command(self, *words: str) -> bytes:
        """Return the output of a command; InputProblems has the first line of git's error message."""
        try:
            done = subprocess.run(
                self._build_command(words),
                cwd=self.cwd,
                env=_restricted_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except (OSError, ValueError) as error:
            raise InputProblems([_git_start_problem(error)]) from None
        if done.returncode:
            raise InputProblems([_git_failure_problem(self.cwd, words, done.stderr.decode("utf-8", "replace"))])
        return done.stdout

    def output_line_of_command(self, *words: str) -> str:
        """Return the output of a command without the line break at its end."""
        return os.fsdecode(self.output_of_command(*words)).removesuffix("\n")

    def start_command_process(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command that answers the lines written to it; InputProblems if there is no git."""
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self._build_command(words),
                cwd=self.cwd,
                env=_restricted_environment(),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise InputProblems([_git_start_problem(error)]) from None

    def _build_command(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return ("git", *_SAFE_GIT_OPTIONS, *self.options, *words)


def _restricted_environment() -> dict[str, str]:
    environment = os.environ
    passed = {name: environment[name] for name in _PASSED_ENVIRONMENT_VARIABLES if name in environment}
    count = parse_whole_number(environment.get("GIT_CONFIG_COUNT", ""), _MAX_GIT_CONFIG_COUNT) or 0
    trusted = [
        environment.get(f"GIT_CONFIG_VALUE_{at}", "")
        for at in range(count)
        if environment.get(f"GIT_CONFIG_KEY_{at}", "").lower() == _SAFE_DIRECTORY_KEY
    ]
    passed["GIT_CONFIG_COUNT"] = str(len(trusted))
    for at, folder in enumerate(trusted):
        passed |= {f"GIT_CONFIG_KEY_{at}": _SAFE_DIRECTORY_KEY, f"GIT_CONFIG_VALUE_{at}": folder}
    return {**passed, **_SAFE_GIT_VARIABLES}


def _git_start_problem(error: Exception) -> Problem:
    if isinstance(error, FileNotFoundError):
        hint = "install git, or give --base a folder with the files as they were"
        return Problem(path="--base", found="there is no `git` to ask for a revision", hint=hint)
    return Problem(path="--base", found=f"git cannot be asked: {error}")


def _git_failure_problem(folder: Path, words: tuple[str, ...], output: str) -> Problem:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    first_line = next((line.removeprefix("fatal: ") for line in lines), f"`git {words[0]}` failed")
    if "dubious ownership" in output:
        command = next((line for line in lines if line.startswith("git config --global --add safe.directory")), "")
        hint = f"if you trust it: `{command}`" if command else "git's safe.directory says whom it trusts"
        return Problem(path=str(folder), found="git does not read a repository of another owner", hint=hint)
    if "not a git repository" in output:
        return Problem(path=str(folder), found="in no git repository", hint=REVISION_HINT)
    return Problem(path=str(folder), found=f"git says: {first_line}")
