"""Changes of BGP sessions whose settings an frr.conf states at a peer group.

Settings that change for all sessions of a group alike change at the group. A command of one session overrides that of
its group. A setting that a session loses moves from the group to its other sessions: FRR has no command to take it back
from a session, and none that overrides the AS number of a group (bgpd/bgpd.c, peer_remote_as; tried with FRR 8.4).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.model.states import Unknown
from nodrop.model.values import replace_fields
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.commands import FieldCommandTable
from nodrop.platforms.frr.rows import FAMILY_BY_BLOCK_COMMAND
from nodrop.platforms.kit.editing import is_equal
from nodrop.syntax.frr import FrrStatement

_REMOTE_ASN_FIELD = "remote_asn"
SessionBeforeAndAfter = tuple[BgpNeighbor, BgpNeighbor]
"""A session before and after the change."""
ChangedGroupFields = frozenset[tuple[str, bool, str]]
"""The fields that are changed at a group: the session's key, whether it is a field of IPv6 unicast, and its name."""


class EditableLines(Protocol):
    """The lines of a text, as they are changed."""

    def replace_words(self, statement: FrrStatement, *words: str) -> None:
        """Replace the words of a command."""

    def drop(self, statement: FrrStatement) -> None:
        """Remove a command, with its line."""

    def add(self, behind: FrrStatement, indent: int, *words: str, before: bool = False) -> None:
        """Add a command behind another, or before it."""


class _CommandBlock(NamedTuple):
    """A part of a process, a block or an address family: its commands, and its settings of sessions."""

    inside: Sequence[FrrStatement]
    commands: FieldCommandTable
    ipv6: bool = False

    def settings_of_session(self, session: BgpNeighbor) -> BgpNeighbor | Ipv6Unicast | None | Unknown:
        """Return the settings of a session in this part."""
        return session.ipv6 if self.ipv6 else session

    def states_field(self, key: str, field: str) -> bool:
        """Whether a session or group states a field here."""
        return any(
            frr_rows.is_session_field_command(field, statement.words)
            for statement in self.inside
            if _is_session_statement(statement, key)
        )


def change_peer_groups(
    lines: EditableLines,
    block: FrrStatement,
    pairs: Mapping[str, SessionBeforeAndAfter],
    by_default: Mapping[bool, object],
) -> ChangedGroupFields:
    """Change the settings of groups, and return the fields of sessions that need no more change.

    `by_default` states whether a session carries IPv6 unicast, and IPv4 unicast, if no command states it.
    """
    group_of = {
        child.words[1]: child.words[-1]
        for child in block.children
        if child.words[0] == "neighbor" and "peer-group" in child.words[2:-1]
    }
    done: set[tuple[str, bool, str]] = set()
    for scope in _session_command_blocks(block):
        for statement in [
            line for line in scope.inside if line.words[0] == "neighbor" and line.words[1] in group_of.values()
        ]:
            every = [key for key, group in group_of.items() if group == statement.words[1]]
            for field in [
                row.field
                for row in scope.commands.rows
                if frr_rows.is_session_field_command(row.field, statement.words)
            ]:
                members = [key for key in every if not scope.states_field(key, field)]
                values = {
                    key: getattr(scope.settings_of_session(pairs[key][1]), field)
                    for key in members
                    if _has_field_change(scope, pairs, key, field)
                }
                if values:
                    unless = {"active": by_default[scope.ipv6]}
                    done |= _edit_group_command(lines, block, scope, statement, field, members, values, pairs, unless)
    return frozenset(done)


def _session_command_blocks(block: FrrStatement) -> Iterator[_CommandBlock]:
    yield _CommandBlock(block.children, frr_rows.SESSION_AND_FAMILY_COMMANDS)
    for inner in block.children:
        if family := FAMILY_BY_BLOCK_COMMAND.get(inner.words):
            yield _CommandBlock(inner.children, frr_rows.SESSION_FAMILY_COMMANDS, family == "ipv6")


def _has_field_change(scope: _CommandBlock, pairs: Mapping[str, SessionBeforeAndAfter], key: str, field: str) -> bool:
    if key not in pairs:
        return False
    before, after = (getattr(scope.settings_of_session(neighbor), field) for neighbor in pairs[key])
    return not is_equal(before, after)


def _edit_group_command(
    lines: EditableLines,
    block: FrrStatement,
    scope: _CommandBlock,
    stated: FrrStatement,
    field: str,
    members: Sequence[str],
    values: Mapping[str, object],
    pairs: Mapping[str, SessionBeforeAndAfter],
    unless: Mapping[str, object],
) -> set[tuple[str, bool, str]]:
    """Change a command of a group, and return the fields of sessions that are done."""
    name = stated.words[1]
    commands = {
        key: scope.commands.line(field, scope.settings_of_session(_session_as_group(pairs[key][1])), **unless)
        for key in values
    }
    done = {(key, scope.ipv6, field) for key in values}
    if len(values) == len(members) and len(set(commands.values())) == 1:
        command = next(iter(commands.values()))
        if command is None:
            lines.drop(stated)
        else:
            lines.replace_words(stated, *frr_rows.format_session_command(name, command).split())
        return done
    if field != _REMOTE_ASN_FIELD and None not in commands.values():
        return set()
    lines.drop(stated)
    for key in members:
        words = commands.get(key, " ".join(stated.words[2:]))
        if words is not None:
            first_statement, *_, last = [child for child in block.children if _is_session_statement(child, key)]
            behind = (
                stated
                if scope.inside is not block.children
                else first_statement
                if field == _REMOTE_ASN_FIELD
                else last
            )
            added = frr_rows.format_session_command(key, words).split()
            lines.add(behind, behind.column - 1, *added, before=field == _REMOTE_ASN_FIELD)
    return done


def _session_as_group(session: BgpNeighbor) -> BgpNeighbor:
    """Return a session as a group, whose command for the AS number names no interface."""
    return replace_fields(session, address=None, interface=None)


def _is_session_statement(statement: FrrStatement, key: str) -> bool:
    return statement.starts_with_words("neighbor", key) or statement.starts_with_words("no", "neighbor", key)
