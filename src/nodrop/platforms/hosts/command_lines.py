"""Commands of a host's shell, as root, and lines for the files of a job."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile

from nodrop.model.change import EditResult
from nodrop.platforms.hosts import describe_application
from nodrop.platforms.hosts.environment import RDMA_VARIABLE_PREFIXES
from nodrop.platforms.kit.command_lines import repeat_for_ports
from nodrop.platforms.kit.secrets import looks_like_secret

LANGUAGE_TITLE = "host"
_NEXT_JOB_LINE = "# a job that runs keeps the old value: start it again"
_ENVIRONMENT_VARIABLE_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")
LINES_BEFORE: tuple[str, ...] = ()
LINES_AFTER: tuple[str, ...] = ()
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = False


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command for each port."""
    return repeat_for_ports(command, ports)


def format_job_file_lines(name: str, file_content: bytes, commands: Sequence[str]) -> tuple[str, ...]:
    """Return commands as lines of the file of a job, below its name: an environment file takes `KEY=value` alone.

    A variable that is set on a separate line or in front of a command is deleted there: `unset` does not reach it.
    """
    text = file_content.decode("utf-8", "replace").split("\n")
    stated = [line.strip() for line in text if line.strip() and not line.lstrip().startswith("#")]
    is_environment = all(map(_ENVIRONMENT_VARIABLE_PATTERN.fullmatch, stated))
    lines: list[str] = []
    for command in commands:
        word, *names = command.split(" ")
        places = _assignment_line_numbers(names, text) if word == "unset" else []
        if places:
            numbers = " and ".join(map(str, places))
            lines.append(f"# delete {' and '.join(names)} from line{'s' if len(places) > 1 else ''} {numbers}")
        elif word == "export" and is_environment:
            lines += names
        else:
            lines.append(command)
    return f"# in {name}{'' if is_environment else ' before the job starts'}:", *lines, _NEXT_JOB_LINE


def _assignment_line_numbers(names: Sequence[str], text: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that set a variable of these: at their beginning, or by `-x` of mpirun."""
    return [
        number for number, line in enumerate(text, 1) if any(word in names for word in _variables_set_on_line(line))
    ]


def _variables_set_on_line(line: str) -> Iterator[str]:
    words = line.split()
    words = words[1:] if words[:1] == ["export"] else words
    assigned = takewhile(_ENVIRONMENT_VARIABLE_PATTERN.fullmatch, words)
    exported = (
        word for option, word in pairwise(words) if option == "-x" and _ENVIRONMENT_VARIABLE_PATTERN.fullmatch(word)
    )
    for word in (*assigned, *exported):
        yield word.partition("=")[0]


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return the lines that an edit changes, each below its place, and what puts the files into effect then.

    There are none where one may hold a secret.
    """
    lines: list[str] = []
    effects: list[str] = []
    for name, new in edit.files.items():
        texts = (raw.decode("utf-8", "replace").split("\n") for raw in (bundle[name], new))
        for number, (before, after) in enumerate(zip(*texts, strict=False), 1):
            if before != after:
                if looks_like_secret(before) or looks_like_secret(after):
                    return ()
                lines += [f"# in {name} in place of line {number}:", after.rstrip()]
                effects.append(
                    _NEXT_JOB_LINE if _sets_variable_of_job(after) else f"# then {describe_application(name, new)}"
                )
    return *lines, *dict.fromkeys(effects)


def _sets_variable_of_job(line: str) -> bool:
    """Whether a line sets an environment variable that the libraries of a job read."""
    return any(name.startswith(RDMA_VARIABLE_PREFIXES) for name in _variables_set_on_line(line))
