"""The syntax of FRR configurations: lines, and the blocks that they open, each with its place.

FRR strips the leading space of a line and searches its command in the current block, then in the blocks around, up to
the top (lib/command.c, command_config_read_one_line): a block ends with `exit`, with the next block or with a command
that only the top has, and indentation means nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nodrop.syntax.places import Span

_TOP_BLOCK_STARTS = ("router ", "route-map ", "interface ", "vrf ", "line ", "bfd ", "segment-routing ", "key chain ")
_INNER_BLOCK_STARTS = ("address-family ", "peer ", "profile ")
_TOP_COMMAND_STARTS = (
    "access-list ",
    "agentx ",
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
_FIRST_WORDS = frozenset(start.split()[0] for start in (*_TOP_BLOCK_STARTS, *_INNER_BLOCK_STARTS, *_TOP_COMMAND_STARTS))
"""The first words of commands that may begin or end a block; every other one belongs to the block around it."""
_TOP_LEVEL_IP_WORDS = {
    "interface": ("access-list", "forwarding", "import-table", "nht", "prefix-list", "protocol", "route", "router-id"),
    "vrf": ("access-list", "forwarding", "import-table", "prefix-list"),
}
"""By block that has commands of its own which begin with `ip` or `ipv6`, the second words of those of the top."""
_AMBIGUOUS_COMMANDS_BY_BLOCK = {"router isis": ("hostname dynamic",), "router rip": ("bfd default-profile",)}
"""By block, its commands that begin as a command or block of the top does (FRR user guide, IS-IS and RIP)."""
_BLOCK_BY_END_COMMAND = {
    "end": "",
    "exit": "",
    "quit": "",
    "exit-address-family": "address-family",
    "exit-vrf": "vrf",
    "exit-route-map": "route-map",
}
"""Commands that end a block, and the only block that each ends."""


@dataclass(slots=True)
class FrrStatement:
    """A command with its words, its place, and the commands of the block that it opens."""

    words: tuple[str, ...]
    line: int
    column: int
    length: int
    children: list["FrrStatement"] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Where the command stands."""
        return Span(self.line, self.column, self.line, self.column + self.length)

    @property
    def text(self) -> str:
        """The command with single spaces."""
        return " ".join(self.words)

    def starts_with_words(self, *words: str) -> bool:
        """Whether the command begins with these words."""
        return self.words[: len(words)] == words


def parse_frr(text: str) -> list[FrrStatement]:
    """Return the commands of the top level in order; comments (`!`, `#`) and blank lines are dropped."""
    top: list[FrrStatement] = []
    stack: list[FrrStatement] = []
    for number, line in enumerate(text.split("\n"), 1):
        command = line.strip()
        if not command or command[0] in "!#":
            continue
        if command in _BLOCK_BY_END_COMMAND:
            if _BLOCK_BY_END_COMMAND[command] in ("", stack[-1].words[0] if stack else ""):
                stack = [] if command == "end" else stack[:-1]
            continue
        statement = FrrStatement(tuple(command.split()), number, len(line) - len(line.lstrip()) + 1, len(command))
        if stack and statement.words[0] not in _FIRST_WORDS:
            stack[-1].children.append(statement)
            continue
        words = f"{statement.text} "
        if not stack or _ends_current_block(words, stack[0]):
            stack = [statement] if words.startswith(_TOP_BLOCK_STARTS) else []
            top.append(statement)
        elif words.startswith(_INNER_BLOCK_STARTS):
            stack[0].children.append(statement)
            stack = [stack[0], statement]
        else:
            stack[-1].children.append(statement)
    return top


def _ends_current_block(words: str, block: FrrStatement) -> bool:
    """Whether a command ends the block that it stands in, which has none of that name."""
    if not words.startswith((*_TOP_BLOCK_STARTS, *_TOP_COMMAND_STARTS)):
        return False
    if words.startswith(_AMBIGUOUS_COMMANDS_BY_BLOCK.get(" ".join(block.words[:2]), ())):
        return False
    verb, *args = words.removeprefix("no ").split()
    return (
        verb not in ("ip", "ipv6")
        or block.words[0] not in _TOP_LEVEL_IP_WORDS
        or not {*args[:1]}.isdisjoint(_TOP_LEVEL_IP_WORDS[block.words[0]])
    )


def walk_statements(statements: list[FrrStatement]) -> Iterator[tuple[tuple[FrrStatement, ...], FrrStatement]]:
    """Yield (enclosing blocks, command) for every command, depth first."""
    for statement in statements:
        yield (), statement
        for outer, inner in walk_statements(statement.children):
            yield (statement, *outer), inner
