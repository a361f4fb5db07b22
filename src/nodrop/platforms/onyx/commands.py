"""The commands of a running-config: one per line, each with its interfaces and its place.

Onyx writes every setting on a separate line (`interface ethernet 1/1-1/4 mtu 9216 force`); text that people type may
open an interface and set it in the lines below, or show the prompt.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from nodrop.syntax.places import Span, split_lines

NAME_PREFIX_BY_INTERFACE_KIND = {
    "ethernet": "Eth",
    "port-channel": "Po",
    "mlag-port-channel": "Mpo",
    "vlan": "Vlan",
    "loopback": "Loopback",
}
"""Kinds of interfaces, and what `show` puts before their numbers."""
MAX_INTERFACES_IN_COMMAND = 4096
"""More interfaces than a command can mean."""

_QUOTED_OR_PLAIN_WORD_PATTERN = re.compile(r'"([^"]*)"|(\S+)')
_PROMPT_PATTERN = re.compile(r"[\w.-]* ?(?:\[[^\]]*\] ?)?\(config ?([^)]*)\) ?(?:# ?)?|[\w.-]+ (?:\[[^\]]*\] )?[#>] ")
_HEADER_COMMENT_LINE = re.compile(r"## (Hostname|Product release): *(\S+)")
_INTERFACE_NUMBER_PATTERN = re.compile(r"(?:[0-9]{1,2}/){0,2}[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class OnyxCommand:
    """A command without its `no`; `kind` and `names` are the interfaces it is about, nothing for the switch itself."""

    words: tuple[str, ...]
    span: Span
    kind: str = ""
    names: tuple[str, ...] = ()
    negated: bool = False

    @property
    def text(self) -> str:
        """The command as it is typed, without its interface."""
        return " ".join((*(("no",) if self.negated else ()), *self.words))

    def starts(self, *words: str) -> bool:
        """Whether the command begins with these words."""
        return self.words[: len(words)] == words


@dataclass(frozen=True, slots=True)
class OnyxScript:
    """A whole text: the switch's data in its header, and its commands in their order."""

    header: dict[str, str]
    commands: tuple[OnyxCommand, ...]


@lru_cache(maxsize=1)
def parse_running_config(text: str) -> OnyxScript:
    """Read a text; comments and blank lines are dropped, and so are what asks and what saves.

    The last text is remembered: who has read it looks for places in it next.
    """
    header: dict[str, str] = {}
    commands: list[OnyxCommand] = []
    opened: tuple[str, tuple[str, ...]] | None = None
    depth = -1
    rows = split_lines(text)
    for number, row in enumerate(rows, 1):
        line = row.rstrip()
        body = line.lstrip()
        if body.startswith(("#", "!")):
            if match := _HEADER_COMMENT_LINE.match(body):
                header.setdefault(match[1], match[2])
            continue
        prompt = _PROMPT_PATTERN.match(body)
        if prompt:
            body = body[prompt.end() :]
        words = [quoted or plain for quoted, plain in _QUOTED_OR_PLAIN_WORD_PATTERN.findall(body)]
        if not words:
            continue
        indent = len(line) - len(body)
        span = Span(number, indent + 1, number, len(line) + 1)
        if words[0] in ("exit", "end"):
            opened = None
            continue
        if prompt and prompt[1] is not None:
            opened, depth = _parse_interface(prompt[1].split()[1:]), -1
        elif opened is not None and (words[:1] == ["interface"] or (depth >= 0 and indent <= depth and not prompt)):
            opened = None
        for command in _parse_commands(words, span, opened):
            if command.names and not command.words and _opens_block(rows, number, indent):
                opened, depth = (command.kind, command.names), _block_end_indent(rows, number, indent)
            commands.append(command)
    return OnyxScript(header, tuple(commands))


def _opens_block(rows: list[str], number: int, indent: int) -> bool:
    """Whether the line after `number` is part of the block that line `number` opens: deeper, or ended by `exit`."""
    for row in rows[number:]:
        words = row.split()
        if not words:
            continue
        if len(row) - len(row.lstrip()) > indent:
            return True
        if words[0] == "exit":
            return True
        if words[0] in ("interface", "no") or words[0].startswith("#"):
            return False
    return False


def _block_end_indent(rows: list[str], number: int, indent: int) -> int:
    """Return the indentation at which a block ends; -1 where only `exit` or another interface ends it."""
    below = next((row for row in rows[number:] if row.strip()), "")
    return indent if len(below) - len(below.lstrip()) > indent else -1


def _parse_commands(words: list[str], span: Span, opened: tuple[str, tuple[str, ...]] | None) -> Iterator[OnyxCommand]:
    negated = words[0] == "no" and len(words) > 1
    words = words[1:] if negated else words
    if words[0] in ("interface", "int") and (interface := _parse_interface(words[1:])) is not None:
        words = words[2:] if interface[0] == "mgmt" else words[3:]
        opened = interface
    elif words[0] in ("show", "configuration", "write", "enable", "configure"):
        return
    if words[:1] == ["no"] and not negated:
        negated, words = True, words[1:]
    kind, names = opened or ("", ())
    yield OnyxCommand(tuple(words), span, kind, names, negated)


def _parse_interface(words: list[str]) -> tuple[str, tuple[str, ...]] | None:
    if words and words[0].startswith("mgmt"):
        return "mgmt", (words[0],)
    if len(words) < 2 or words[0] not in NAME_PREFIX_BY_INTERFACE_KIND:
        return None
    prefix = NAME_PREFIX_BY_INTERFACE_KIND[words[0]]
    return words[0], tuple(prefix + number for number in expand_numbers(words[1]))


def expand_numbers(config_text: str) -> tuple[str, ...]:
    """Return the numbers that a list such as 1/1-1/32 or 1,3-5 means; a reversed range means none."""
    number_texts: list[str] = []
    for range_text in config_text.split(","):
        start, _, last = range_text.partition("-")
        if not _INTERFACE_NUMBER_PATTERN.fullmatch(start) or (last and not _INTERFACE_NUMBER_PATTERN.fullmatch(last)):
            continue
        number_texts += _expand_range(start, last or start)
    return tuple(number_texts[:MAX_INTERFACES_IN_COMMAND])


def _expand_range(start: str, last: str) -> Iterator[str]:
    """Yield the numbers of a range; of parts of ports, all parts from the first to the last on each port."""
    head = [int(piece) for piece in start.split("/")]
    tail = [int(piece) for piece in last.split("/")]
    tail = head[: len(head) - len(tail)] + tail if len(tail) < len(head) else tail
    if len(tail) != len(head) or len(head) > 3:
        return
    ranges = [range(low, min(high, low + MAX_INTERFACES_IN_COMMAND) + 1) for low, high in zip(head, tail, strict=True)]
    if len(ranges) == 1:
        yield from map(str, ranges[0])
    elif len(ranges) == 2:
        yield from (f"{slot}/{port}" for slot in ranges[0] for port in ranges[1])
    else:
        yield from (f"{slot}/{port}/{subport}" for slot in ranges[0] for port in ranges[1] for subport in ranges[2])
