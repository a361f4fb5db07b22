"""Why a command that a reader does not understand cannot be meant: it belongs to another block, or has wrong values.

All other commands that are not understood are unknown: FRR may have them, and their effect is not known.
"""

from collections.abc import Sequence
from functools import lru_cache

from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.rows import FAMILY_BY_BLOCK_COMMAND
from nodrop.platforms.frr.text_reader import read_frr
from nodrop.platforms.frr.words import strip_no_word
from nodrop.syntax.frr import parse_frr, walk_statements
from nodrop.syntax.lines import CommandNotUnderstood

_SAMPLE_BLOCKS: dict[str, tuple[str, ...]] = {
    "the top level": (),
    "`router bgp`": ("router bgp 64512",),
    "`address-family ipv4 unicast` of `router bgp`": ("router bgp 64512", "address-family ipv4 unicast"),
    "`address-family ipv6 unicast` of `router bgp`": ("router bgp 64512", "address-family ipv6 unicast"),
    "`route-map`": ("route-map SAMPLE permit 10",),
    "`interface`": ("interface sample",),
    "`vrf`": ("vrf sample",),
    "`profile` of `bfd`": ("bfd", "profile sample"),
}
"""By name, the commands that open each kind of block of which commands are read."""
_NAMED_BLOCK_STARTS = ("router bgp ", "route-map ", "interface ", "vrf ", "profile ")
_WORD_OF_SESSIONS = "neighbor"
_SESSION_STARTS = frozenset({"remote-as", "interface", "peer-group"})


def is_session_start(words: Sequence[str]) -> bool:
    """Whether a command makes a session or peer group; FRR takes no other command of it before."""
    return words[0] == _WORD_OF_SESSIONS and len(words) > 2 and words[2] in _SESSION_STARTS


@lru_cache(maxsize=1024)
def explain_refused_command(blocks: tuple[str, ...], command: str, sessions: frozenset[str]) -> str:
    """Return why a command that is not understood in these blocks cannot be meant; nothing where FRR may have it.

    `blocks` are the commands that open the blocks around it, the outermost first; `sessions` are the neighbors and peer
    groups that the configuration has.
    """
    words, is_enabled = strip_no_word(tuple(command.split()))
    if words[:2] == ("router", "bgp"):
        return "opens another BGP process than the switch has; `router bgp` without a number opens its own"
    if not blocks and words[0] == _WORD_OF_SESSIONS:
        return "belongs in `router bgp`"
    if blocks and blocks[0].startswith("router bgp"):
        if words[0] == _WORD_OF_SESSIONS and words[1:2] and words[1] not in sessions:
            return f"is about {words[1]}, which is no neighbor and no peer group of the switch"
        if _has_refused_values(blocks, words, is_enabled):
            return "is modelled, and has values that FRR is not known to take"
    for name, sample in _SAMPLE_BLOCKS.items():
        if _block_kinds(sample) != _block_kinds(blocks) and _is_understood_in(sample, " ".join(words)):
            return f"belongs in {name}"
    return ""


def _block_kinds(blocks: tuple[str, ...]) -> list[list[str]]:
    """Return what kinds of blocks commands open: for all but address families without names and numbers."""
    return [block.split()[: 1 if block.startswith(_NAMED_BLOCK_STARTS) else 3] for block in blocks]


def _is_understood_in(blocks: tuple[str, ...], command: str) -> bool:
    """Whether a command is read and understood in these blocks, and does not end them."""
    text = "\n".join((*blocks, command))
    placed = next(
        (around for around, statement in walk_statements(parse_frr(text)) if statement.line > len(blocks)), ()
    )
    return len(placed) == len(blocks) and not read_frr(text).not_understood


def _has_refused_values(blocks: tuple[str, ...], words: tuple[str, ...], is_enabled: bool) -> bool:
    """Whether a command of a BGP process is one of which FRR takes other values only."""
    if words[0] == _WORD_OF_SESSIONS:
        words, tables = words[2:], [frr_rows.SESSION_AND_FAMILY_COMMANDS]
    else:
        family = FAMILY_BY_BLOCK_COMMAND.get(tuple(blocks[-1].split()), "ipv4")
        tables = [
            frr_rows.PROCESS_COMMANDS,
            frr_rows.ALL_SESSIONS_OF_PROCESS_COMMANDS,
            frr_rows.PROCESS_FAMILY_COMMANDS[family],
        ]
    try:
        for table in tables:
            table.read_fields(words, is_enabled)
    except CommandNotUnderstood:
        return True
    return False
