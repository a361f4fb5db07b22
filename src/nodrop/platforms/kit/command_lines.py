"""Commands with a slot for ports, and the ports to fill it with, many in one line.

`{port}` stands for one port, and `{ports}` for a list of them in the same place: a language that has neither lists nor
ranges repeats the command for each port.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nodrop.model.change import Disruption
from nodrop.model.subject import natural_sort_key

PORT, PORTS = "{port}", "{ports}"
_NUMBERED_NAME_PATTERN = re.compile(r"(.*?)([0-9]{1,9})")
_SHELL_SAFE_PATTERN = re.compile(r"[\w.,:/@%+=][\w.,:/@%+= -]*", re.ASCII)
"""Text that a shell takes as it is, and that is no option of a command."""
_SERVICE_RESTART_LINE = re.compile(r"(?:sudo )?systemctl restart ([\w.@-]+)")
_BGP_REMOVAL_PATTERN = re.compile(r"\bno router bgp(?: [0-9.]+)?(?: (?:vrf|view) [^ ']+)?(?='|$)")
"""The removal of a whole process, alone or in a command of vtysh; Onyx begins the removal of each setting alike."""
_RESTART_EFFECT_BY_SERVICE = {"bgp": "bgp restarts, so all BGP sessions go down and come up again"}
"""What a restart does, by service."""
_MIN_NUMBERS_WITH_LARGER_STEP = 3
"""The fewest numbers with a step of more than 1 that are drawn together."""


class NameRunWithStep(NamedTuple):
    """Names that differ in the number at their end, which grows by a step."""

    before: str
    first: int
    last: int
    step: int


def group_numbered_names(names: Iterable[str], *, stepped: bool = False) -> list[NameRunWithStep | str]:
    """Return names in natural order, those with running numbers drawn together; `stepped` allows steps above 1."""
    out: list[NameRunWithStep | str] = []
    numbers_by_head: dict[str, list[int]] = {}
    for name in sorted(dict.fromkeys(names), key=natural_sort_key):
        match = _NUMBERED_NAME_PATTERN.fullmatch(name)
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
                out.append(NameRunWithStep(head, numbers[start], numbers[end - 1], numbers[start + 1] - numbers[start]))
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
    return end if step == 1 or (stepped and end - start >= _MIN_NUMBERS_WITH_LARGER_STEP) else start + 1


def disruptions_of_lines(lines: Iterable[str]) -> Iterator[tuple[Disruption, str]]:
    """Yield what commands do to a running switch beyond the settings that they change, with the reason."""
    for line in lines:
        if restarted := _SERVICE_RESTART_LINE.fullmatch(line):
            yield "service restart", _RESTART_EFFECT_BY_SERVICE.get(restarted[1], f"{restarted[1]} restarts")
        elif _BGP_REMOVAL_PATTERN.search(line):
            yield "service restart", "all BGP sessions of the process close and open again"


def is_typable(text: str) -> bool:
    """Whether a name or value of a file under check can be part of a command."""
    return _SHELL_SAFE_PATTERN.fullmatch(text) is not None


def are_all_ports_typable(commands: Iterable[tuple[str, str]]) -> bool:
    """Whether the names of all ports can be part of commands, which are given with one port or none each."""
    return all(is_typable(port) for _, port in commands if port)


def fill_port_slots(command: str, ports: str) -> str:
    """Return a command with ports in its slots."""
    return command.replace(PORTS, ports).replace(PORT, ports)


def has_port_slot(command: str) -> bool:
    """Whether a command has a slot for ports."""
    return PORT in command or PORTS in command


def repeat_for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command once for each port, of a language without lists."""
    if not has_port_slot(command):
        return (command,)
    return tuple(fill_port_slots(command, port) for port in sorted(ports, key=natural_sort_key))


def ports_by_command(commands: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the ports of each command, given with one port each, in the order of the commands."""
    ports: dict[str, list[str]] = {}
    for command, port in commands:
        ports.setdefault(command, []).append(port)
    return ports
