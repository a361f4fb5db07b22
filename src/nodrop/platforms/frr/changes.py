"""Lines for vtysh that make FRR, running with one frr.conf, run with another, without touching unchanged parts.

`vtysh -b` and `vtysh -f` of the new file only add: lines missing from it would stay. So removed lines are taken back,
each in its block (FRR user guide, "VTY shell"; the effects of the lines are tested with FRR itself).
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.commands import VALUE_PLACEHOLDERS
from nodrop.syntax.frr import FrrStatement, parse_frr

VTYSH_CHANGES_FILE = "changes.vtysh"
"""The file, for `vtysh -f`."""

EnclosingBlockCommands = tuple[str, ...]
"""The commands that lead into a block, outermost first; none of the top."""


def _single_value_command_patterns() -> Iterator[str]:
    """Yield a pattern for each command of BGP whose row has a value."""
    for commands, subject in (
        (frr_rows.ALL_PROCESS_COMMANDS, ""),
        (frr_rows.ALL_SESSIONS_OF_PROCESS_COMMANDS, ""),
        (frr_rows.SESSION_AND_FAMILY_COMMANDS, r"neighbor \S+(?: interface)? "),
    ):
        for words in (row.where[0].split() for row in commands.rows if row.decode is not None):
            positions = [position for position, word in enumerate(words) if word in VALUE_PLACEHOLDERS]
            if positions and positions[-1] + 1 < len(words):
                yield rf"({subject}{' '.join(words[: positions[0]])}) .+ ({' '.join(words[positions[-1] + 1 :])})"
            elif positions:
                yield rf"({subject}{' '.join(words[: positions[0]])})(?: .+)?"


_SINGLE_VALUE_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(bgp (?:cluster-id|listen limit)) .+",
        r"(hostname|log syslog|description|set local-preference|set metric|set weight) .+",
        r"(maximum-paths ibgp) .+",
        r"(ip prefix-list \S+ seq \d+|ipv6 prefix-list \S+ seq \d+) .+",
        r"(neighbor \S+ (?:advertisement-interval|maximum-prefix|timers connect)) .+",
        r"(neighbor \S+ filter-list) \S+ (in|out)",
        *_single_value_command_patterns(),
    )
)
"""Commands of which a block has one: another value takes the place of the one before."""
_PREFIX_LIST_ENTRY_LINE = re.compile(r"(ip(?:v6)? prefix-list \S+) seq (\d+) (.+)")
_NEIGHBOR_LINE = re.compile(r"neighbor (\S+)(?: .+)")
_PEER_GROUP_MEMBER_LINE = re.compile(r"neighbor (\S+)(?: interface)? peer-group \S+")
_WHOLLY_REMOVED_BLOCKS = ("router bgp ", "route-map ")
"""Blocks that are taken back as a whole."""
_LINE_WISE_REMOVED_BLOCKS = ("interface ", "address-family ")
"""Blocks that are there whatever is said in them: their lines are taken back one by one."""


def find_vtysh_changes(old_text: str, new_text: str) -> str | None:
    """Return lines for `vtysh -f`, none where nothing changes; None where the two files do not settle them.

    That is where FRR's defaults change, which it takes when it starts, or a block that is not known here, or where a
    session stays and leaves its peer group: FRR removes the sessions of a group with it.
    """
    before, after = _commands_by_block(parse_frr(old_text)), _commands_by_block(parse_frr(new_text))
    if _frr_profile_lines(before) != _frr_profile_lines(after):
        return None
    if any(_any_session_left_peer_group(before[block], after.get(block, ())) for block in before):
        return None
    gone = [block for block in before if block and block not in after]
    if any(not block[-1].startswith((*_WHOLLY_REMOVED_BLOCKS, *_LINE_WISE_REMOVED_BLOCKS)) for block in gone):
        return None
    removed_blocks = [block for block in gone if len(block) == 1 and block[0].startswith(_WHOLLY_REMOVED_BLOCKS)]
    lines = [*_removals_of_reordered_entries(before[()], after[()]), *_find_added_lines((), before, after)]
    lines += [f"no {block[0]}" for block in reversed(removed_blocks)]
    for block in [block for block in before if block and block[:1] not in removed_blocks]:
        lines += _wrap_block(block, [*_removal_commands(block, before, after)])
    for block in [block for block in after if block]:
        lines += _wrap_block(block, [*_find_added_lines(block, before, after)], is_new=block not in before)
    lines += [line for line in _removal_commands((), before, after) if line not in lines]
    return "".join(f"{line}\n" for line in lines)


def find_peer_group_change_effects(old: str, new: str) -> Iterator[str]:
    """Yield the effects of a remaining session that joins or leaves a peer group, as reasons.

    FRR closes a session that it binds to a group (bgpd/bgpd.c, peer_group_bind: CEASE, configuration change). A session
    that leaves its group is removed and created again (peer_group_unbind); no lines of vtysh are written here to do
    that.
    """
    before, after = _commands_by_block(parse_frr(old)), _commands_by_block(parse_frr(new))
    for block in before:
        if not block or not block[-1].startswith("router bgp "):
            continue
        groups = [_peer_group_by_session(lines) for lines in (before[block], after.get(block, ()))]
        stay = _session_names(before[block]) & _session_names(after.get(block, ()))
        for name in sorted(stay & (groups[0].keys() | groups[1].keys())):
            was, new_group = (group_of.get(name) for group_of in groups)
            if was is None and new_group is not None:
                yield f"BGP session {name} is reset: it joins peer group {new_group}"
            elif was is not None and new_group != was:
                yield (
                    f"BGP session {name} is reset: it leaves peer group {was}, which {VTYSH_CHANGES_FILE} cannot do; "
                    "load the new frr.conf with apply.sh"
                )


def _peer_group_by_session(lines: Sequence[str]) -> Mapping[str, str]:
    """Return the peer group of each session that is in one."""
    joins = (match for line in lines if (match := _PEER_GROUP_MEMBER_LINE.fullmatch(line)))
    return {join[1]: join[0].split()[-1] for join in joins}


def _commands_by_block(
    statements: Sequence[FrrStatement], at: EnclosingBlockCommands = ()
) -> dict[EnclosingBlockCommands, list[str]]:
    """Return the commands of each block, in order; of two blocks that begin alike, those of both."""
    blocks: dict[EnclosingBlockCommands, list[str]] = {at: []}
    for statement in statements:
        if statement.children or statement.text.startswith((*_WHOLLY_REMOVED_BLOCKS, *_LINE_WISE_REMOVED_BLOCKS)):
            for block, commands in _commands_by_block(statement.children, (*at, statement.text)).items():
                blocks.setdefault(block, []).extend(commands)
        else:
            blocks[at].append(statement.text)
    return blocks


def _removals_of_reordered_entries(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield lines that remove entries of prefix lists which get another place there: FRR takes none twice."""
    new_entries = {
        entry.group(1, 3) for line in new if line not in old and (entry := _PREFIX_LIST_ENTRY_LINE.fullmatch(line))
    }
    for line in old:
        match = _PREFIX_LIST_ENTRY_LINE.fullmatch(line)
        if match and line not in new and match.group(1, 3) in new_entries:
            yield f"no {line}"


def _any_session_left_peer_group(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a session is in a peer group before, and afterwards in none or in another."""
    joins = [match for line in before if line not in after and (match := _PEER_GROUP_MEMBER_LINE.fullmatch(line))]
    return not _session_names(after).isdisjoint(join[1] for join in joins)


def _frr_profile_lines(blocks: Mapping[EnclosingBlockCommands, Sequence[str]]) -> list[str]:
    return [line for line in blocks[()] if line.startswith(("frr defaults ", "service "))]


def _find_added_lines(
    block: EnclosingBlockCommands,
    blocks_before: Mapping[EnclosingBlockCommands, Sequence[str]],
    blocks_after: Mapping[EnclosingBlockCommands, Sequence[str]],
) -> list[str]:
    had = blocks_before.get(block, ())
    return [line for line in blocks_after.get(block, ()) if line not in had]


def _removal_commands(
    block: EnclosingBlockCommands,
    before: Mapping[EnclosingBlockCommands, Sequence[str]],
    after: Mapping[EnclosingBlockCommands, Sequence[str]],
) -> Iterator[str]:
    """Yield the commands that undo those that a block no longer has, the last first."""
    new_lines = after.get(block, ())
    new_keys = {key for line in new_lines if (key := _key_of_single_value_command(line))}
    neighbors = _session_names(after.get(block[:1], ()))
    gone: set[str] = set()
    for line in reversed(before[block]):
        peer = _NEIGHBOR_LINE.fullmatch(line)
        if peer and peer[1] not in neighbors:
            if len(block) == 1 and peer[1] not in gone:
                gone.add(peer[1])
                yield f"no neighbor {peer[1]}{' interface' if _is_interface_neighbor(peer[1], before[block]) else ''}"
        elif line not in new_lines and not (
            _key_of_single_value_command(line) and _key_of_single_value_command(line) in new_keys
        ):
            yield line.removeprefix("no ") if line.startswith("no ") else f"no {line}"


def _key_of_single_value_command(line: str) -> str:
    """Return the key of a command that a block has only once; empty for all others."""
    for pattern in _SINGLE_VALUE_PATTERNS:
        if match := pattern.fullmatch(line):
            return " ".join(match.groups())
    return ""


def _session_names(lines: Sequence[str]) -> set[str]:
    return {match[1] for line in lines if (match := _NEIGHBOR_LINE.fullmatch(line))}


def _is_interface_neighbor(peer: str, lines: Sequence[str]) -> bool:
    return any(line.startswith(f"neighbor {peer} interface") for line in lines)


def _wrap_block(block: EnclosingBlockCommands, lines: Sequence[str], *, is_new: bool = False) -> list[str]:
    """Return lines in their block, each block by itself to leave their order free; nothing where there are none."""
    if not lines and not is_new:
        return []
    ends = ["exit-address-family" if step.startswith("address-family") else "exit" for step in reversed(block)]
    return [*block, *lines, *ends]
