"""Commands with a slot for ports, and the ports to fill it with, many in one line.

`{port}` stands for one port, and `{ports}` for a list of them in the same place: a language that has neither lists nor
ranges repeats the command for each port.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nodrop.model.change import Disruption
from nodrop.model.subject import natural

PORT, PORTS = "{port}", "{ports}"
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})")
_TYPABLE = re.compile(r"[\w.,:/@%+=][\w.,:/@%+= -]*", re.ASCII)
"""Text that a shell takes as it is, and that is no option of a command."""
_RESTART = re.compile(r"(?:sudo )?systemctl restart ([\w.@-]+)")
_REMOVED_PROCESS = re.compile(r"\bno router bgp\b")
_RESTARTS = {"bgp": "bgp restarts, so all BGP sessions go down and come up again"}
"""What a restart does, by service."""
_LEAST = 3
"""The fewest numbers with a step of more than 1 that are drawn together."""


class Run(NamedTuple):
    """Names that differ in the number at their end, which grows by a step."""

    before: str
    first: int
    last: int
    step: int


def runs(names: Iterable[str], *, stepped: bool = False) -> list[Run | str]:
    """Return names in natural order, those with running numbers drawn together; `stepped` allows steps above 1."""
    out: list[Run | str] = []
    numbers_by_head: dict[str, list[int]] = {}
    for name in sorted(dict.fromkeys(names), key=natural):
        match = _NUMBERED.fullmatch(name)
        if match is None or (match[2] != "0" and match[2].startswith("0")):
            out.append(name)
        else:
            numbers_by_head.setdefault(match[1], []).append(int(match[2]))
    for head, numbers in numbers_by_head.items():
        start = 0
        while start < len(numbers):
            end = _end_of_run(numbers, start, stepped=stepped)
            if end == start + 1:
                out.append(f"{head}{numbers[start]}")
            else:
                out.append(Run(head, numbers[start], numbers[end - 1], numbers[start + 1] - numbers[start]))
            start = end
    return out


def _end_of_run(numbers: Sequence[int], start: int, *, stepped: bool) -> int:
    """Return where the longest run from a number on ends."""
    if start + 1 == len(numbers):
        return start + 1
    step = numbers[start + 1] - numbers[start]
    end = start + 2
    while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
        end += 1
    return end if step == 1 or (stepped and end - start >= _LEAST) else start + 1


def disruptions_of_lines(lines: Iterable[str]) -> Iterator[tuple[Disruption, str]]:
    """Yield what commands do to a running switch beyond the settings that they change, with the reason."""
    for line in lines:
        if restarted := _RESTART.fullmatch(line):
            yield "service restart", _RESTARTS.get(restarted[1], f"{restarted[1]} restarts")
        elif _REMOVED_PROCESS.search(line):
            yield "service restart", "all BGP sessions of the process close and open again"


def is_typable(text: str) -> bool:
    """Whether a name or value of a file under check can be part of a command."""
    return _TYPABLE.fullmatch(text) is not None


def has_typable_ports(commands: Iterable[tuple[str, str]]) -> bool:
    """Whether the names of all ports can be part of commands, which are given with one port or none each."""
    return all(is_typable(port) for _, port in commands if port)


def fill_slots(command: str, ports: str) -> str:
    """Return a command with ports in its slots."""
    return command.replace(PORTS, ports).replace(PORT, ports)


def has_slot(command: str) -> bool:
    """Whether a command has a slot for ports."""
    return PORT in command or PORTS in command


def repeat_for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command once for each port, of a language without lists."""
    if not has_slot(command):
        return (command,)
    return tuple(fill_slots(command, port) for port in sorted(ports, key=natural))


def merge_ports(commands: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the ports of each command, given with one port each, in the order of the commands."""
    ports: dict[str, list[str]] = {}
    for command, port in commands:
        ports.setdefault(command, []).append(port)
    return ports
