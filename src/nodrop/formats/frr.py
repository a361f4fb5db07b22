"""The syntax of FRR configurations: lines, and the blocks that they open, each with its place.

FRR knows blocks by their first words, not by indentation, and ends them with `exit`, with the next block or with a
command that belongs to the top (FRR user guide, "Basic config commands"; `vtysh -C` accepts all three).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nodrop.formats.places import Span

_TOP_BLOCKS = ("router ", "route-map ", "interface ", "vrf ", "line ", "bfd", "segment-routing", "key chain ")
_INNER_BLOCKS = ("address-family ", "peer ", "profile ")
_TOP_COMMANDS = (
    "access-list ",
    "agentx",
    "banner ",
    "bgp as-path ",
    "bgp session-dscp ",
    "bgp community-list ",
    "bgp large-community-list ",
    "bgp extcommunity-list ",
    "debug ",
    "enable ",
    "fpm ",
    "frr ",
    "hostname ",
    "ip ",
    "ipv6 ",
    "log ",
    "no ip ",
    "no ipv6 ",
    "no zebra ",
    "password ",
    "service ",
    "zebra ",
)
_ENDS = ("exit", "exit-address-family", "exit-vrf", "exit-route-map", "end")


@dataclass(slots=True)
class Statement:
    """A command with its words, its place, and the commands of the block that it opens."""

    words: tuple[str, ...]
    line: int
    column: int
    length: int
    children: list["Statement"] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Where the command stands."""
        return Span(self.line, self.column, self.line, self.column + self.length)

    @property
    def text(self) -> str:
        """The command with single spaces."""
        return " ".join(self.words)

    def starts(self, *words: str) -> bool:
        """Whether the command begins with these words."""
        return self.words[: len(words)] == words


def parse(text: str) -> list[Statement]:
    """Return the commands of the top level in order; comments (`!`, `#`) and blank lines are dropped."""
    top: list[Statement] = []
    stack: list[Statement] = []
    for number, line in enumerate(text.split("\n"), 1):
        command = line.strip()
        if not command or command[0] in "!#":
            continue
        if command in _ENDS:
            stack = [] if command == "end" else stack[:-1]
            continue
        indent = len(line) - len(line.lstrip())
        statement = Statement(tuple(command.split()), number, indent + 1, len(command))
        indented = indent > 0
        if indented and stack and not command.startswith(_INNER_BLOCKS):
            stack[-1].children.append(statement)
        elif command.startswith(_TOP_BLOCKS) and not (indented and stack):
            stack = [statement]
            top.append(statement)
        elif stack and command.startswith(_INNER_BLOCKS):
            stack[0].children.append(statement)
            stack = [stack[0], statement]
        elif not indented and (command.startswith(_TOP_COMMANDS) or not stack):
            stack = []
            top.append(statement)
        elif stack:
            stack[-1].children.append(statement)
        else:
            top.append(statement)
    return top


def walk(statements: list[Statement]) -> Iterator[tuple[tuple[Statement, ...], Statement]]:
    """Yield (enclosing blocks, command) for every command, depth first."""
    for statement in statements:
        yield (), statement
        for outer, inner in walk(statement.children):
            yield (statement, *outer), inner
