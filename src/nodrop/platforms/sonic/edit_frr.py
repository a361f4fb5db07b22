"""Changes of BGP in an frr.conf: each field that one command states; its row names it (`platforms/frr/rows.py`).

A static route is removed as well. All else of the file consists of lines that belong together, and is left for an edit
by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType

from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, StaticRoute
from nodrop.model.states import Unknown
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.commands import FieldCommandTable
from nodrop.platforms.frr.rows import FAMILY_BY_BLOCK_COMMAND
from nodrop.platforms.kit.bindings import bound_fields
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.sonic.edit_frr_groups import ChangedGroupFields, change_peer_groups
from nodrop.syntax.frr import FrrStatement, parse_frr

_MaybeStaticRoutes = tuple[StaticRoute, ...] | Unknown

MANUAL_EDIT_REASON = (
    "the routing daemon's own file says it, which is not edited: change frr.conf, then type the same in vtysh, or "
    "restart bgp (`vtysh -b` only adds)"
)


def change_frr(file_content: bytes | None, old_device: Device, new_device: Device) -> bytes | None:
    """Return an frr.conf that states the BGP of `new` in place of that of `old`; ValueError where no command does."""
    if (
        is_equal(old_device.bgp, new_device.bgp)
        and is_equal(old_device.vrf_bgp, new_device.vrf_bgp)
        and is_equal(old_device.static_routes, new_device.static_routes)
    ):
        return file_content
    a, b = old_device.bgp, new_device.bgp
    if file_content is None or not isinstance(a, Bgp) or not isinstance(b, Bgp):
        raise ValueError(MANUAL_EDIT_REASON)
    if not is_equal(old_device.vrf_bgp, new_device.vrf_bgp):
        raise ValueError(MANUAL_EDIT_REASON)
    text = file_content.decode()
    top = parse_frr(text)
    blocks = [
        statement for statement in top if statement.starts_with_words("router", "bgp") and len(statement.words) == 3
    ]
    if len(blocks) != 1:
        raise ValueError(MANUAL_EDIT_REASON)
    lines = _EditedLines(text)
    _remove_static_routes(lines, top, old_device.static_routes, new_device.static_routes)
    _edit_process(lines, top, blocks[0], a, b)
    return lines.text.encode()


class _EditedLines:
    """The lines of a text, as they are changed; one that is added comes behind the one that it belongs to."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._ended = "\r" if self._lines[0].endswith("\r") else ""
        self._added: dict[int, list[str]] = {}
        self._gone: set[int] = set()

    @property
    def text(self) -> str:
        """Return the text, as it is now."""
        lines = ((at, [line] if at not in self._gone else []) for at, line in enumerate(self._lines, 1))
        return "\n".join(text_line for at, own_lines in lines for text_line in (*own_lines, *self._added.get(at, ())))

    def replace_words(self, statement: FrrStatement, *words: str) -> None:
        """Replace the words of a command."""
        line = self._lines[statement.line - 1]
        end = statement.column - 1 + statement.length
        self._lines[statement.line - 1] = line[: statement.column - 1] + " ".join(words) + line[end:]

    def drop(self, statement: FrrStatement) -> None:
        """Take a command out, with its line."""
        self._gone.add(statement.line)

    def add(self, behind: FrrStatement, indent: int, *words: str, before: bool = False) -> None:
        """Put a command behind another, or before it."""
        self._added.setdefault(behind.line - before, []).append(" " * indent + " ".join(words) + self._ended)


def _remove_static_routes(
    lines: _EditedLines, top: Sequence[FrrStatement], old: _MaybeStaticRoutes, new: _MaybeStaticRoutes
) -> None:
    """Take out the commands of static routes of the default VRF that are gone; ValueError for any other change."""
    if is_equal(old, new):
        return
    if isinstance(old, Unknown) or isinstance(new, Unknown) or not set(new) < set(old):
        raise ValueError(MANUAL_EDIT_REASON)
    for route in set(old) - set(new):
        words = "ipv6" if ":" in route.prefix else "ip", "route", route.prefix, route.next_hop
        stated = [statement for statement in top if statement.starts_with_words(*words)]
        if route.vrf is not None or len(stated) != 1:
            raise ValueError(MANUAL_EDIT_REASON)
        lines.drop(stated[0])


def _changed_fields(a: Bgp | BgpNeighbor | Ipv6Unicast, b: Bgp | BgpNeighbor | Ipv6Unicast) -> set[str]:
    return {field.name for field in fields(a) if not is_equal(getattr(a, field.name), getattr(b, field.name))}


def _edit_process(lines: _EditedLines, top: Sequence[FrrStatement], block: FrrStatement, a: Bgp, b: Bgp) -> None:
    moved = _changed_fields(a, b)
    _require_commands(moved - {"neighbors"}, frr_rows.ALL_PROCESS_COMMANDS)
    _edit_block_fields(lines, frr_rows.TOP_LEVEL_COMMANDS, moved, b, top, None)
    _edit_block_fields(lines, frr_rows.PROCESS_COMMANDS, moved, b, [block, *block.children], block)
    for family, commands in frr_rows.PROCESS_FAMILY_COMMANDS.items():
        if not moved.isdisjoint(bound_fields(commands.rows)):
            inner = _family_block(block, family)
            _edit_block_fields(lines, commands, moved, b, inner.children, inner)
    pairs = {key: (before, after) for key, before, after in (_changed_neighbors(a, b) if "neighbors" in moved else ())}
    done = change_peer_groups(lines, block, pairs, {False: b.default_ipv4_unicast, True: False})
    for key, (before, after) in pairs.items():
        _change_session(lines, block, key, before, after, b, done)


def _changed_neighbors(a: Bgp, b: Bgp) -> Iterator[tuple[str, BgpNeighbor, BgpNeighbor]]:
    """Yield the neighbors that are other than they were, by key."""
    if isinstance(a.neighbors, Unknown) or isinstance(b.neighbors, Unknown):
        raise ValueError(MANUAL_EDIT_REASON)
    old: Mapping[str, BgpNeighbor] = {neighbor.key: neighbor for neighbor in a.neighbors}
    new: Mapping[str, BgpNeighbor] = {neighbor.key: neighbor for neighbor in b.neighbors}
    if old.keys() != new.keys():
        raise ValueError(MANUAL_EDIT_REASON)
    yield from ((key, old[key], neighbor) for key, neighbor in new.items() if not is_equal(old[key], neighbor))


def _change_session(
    lines: _EditedLines,
    block: FrrStatement,
    key: str,
    neighbor_before: BgpNeighbor,
    neighbor_after: BgpNeighbor,
    process: Bgp,
    done: ChangedGroupFields,
) -> None:
    moved = {field for field in _changed_fields(neighbor_before, neighbor_after) if (key, False, field) not in done}
    moved_ipv6 = {
        field for field in _changed_fields(neighbor_before.ipv6, neighbor_after.ipv6) if (key, True, field) not in done
    }
    _require_commands(moved - {"ipv6"}, frr_rows.SESSION_AND_FAMILY_COMMANDS)
    own_statements = _session_statements(block, key)
    if not own_statements:
        raise ValueError(MANUAL_EDIT_REASON)
    _edit_block_fields(lines, frr_rows.SESSION_COMMANDS, moved, neighbor_after, own_statements, own_statements[-1], key)
    carried = bound_fields(frr_rows.SESSION_FAMILY_COMMANDS.rows)
    if not moved.isdisjoint(carried):
        inner = _family_block(block, "ipv4")
        statements = _session_statements(inner, key)
        unless = {"active": process.default_ipv4_unicast}
        _edit_block_fields(
            lines,
            frr_rows.SESSION_FAMILY_COMMANDS,
            moved,
            neighbor_after,
            [*own_statements, *statements],
            (statements or [inner])[-1],
            key,
            unless,
        )
    if moved_ipv6:
        inner = _family_block(block, "ipv6")
        statements = _session_statements(inner, key)
        _edit_block_fields(
            lines,
            frr_rows.SESSION_FAMILY_COMMANDS,
            moved_ipv6,
            neighbor_after.ipv6,
            statements,
            (statements or [inner])[-1],
            key,
            {"active": False},
        )


def _require_commands(moved: set[str], commands: FieldCommandTable) -> None:
    """Raise ValueError where a field has no command that states it, and it alone."""
    if moved - {row.field for row in commands.rows if row.encode is not None}:
        raise ValueError(MANUAL_EDIT_REASON)


def _family_block(block: FrrStatement, family: AddressFamily) -> FrrStatement:
    """Return the block of an address family; ValueError where there is none, or several."""
    statements = [child for child in block.children if FAMILY_BY_BLOCK_COMMAND.get(child.words) == family]
    if len(statements) != 1:
        raise ValueError(MANUAL_EDIT_REASON)
    return statements[0]


def _session_statements(block: FrrStatement, key: str) -> list[FrrStatement]:
    return [
        child
        for child in block.children
        if child.starts_with_words("neighbor", key) or child.starts_with_words("no", "neighbor", key)
    ]


def _edit_block_fields(
    lines: _EditedLines,
    commands: FieldCommandTable,
    moved: set[str],
    model_part: Bgp | BgpNeighbor | Ipv6Unicast,
    inside: Sequence[FrrStatement],
    behind: FrrStatement | None,
    key: str | None = None,
    unless: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Let a block state the fields of a part that are other than before; of several commands, the last one counts.

    A command that is not there yet comes behind another; ValueError where that is None. `key` is that of a session.
    """
    for field in commands.first_field_of_each_command(moved):
        states = frr_rows.is_session_field_command if key is not None else commands.states_field
        stated = [candidate for candidate in inside if states(field, candidate.words)]
        word = commands.line(field, model_part, **unless)
        if word is None:
            for statement in stated:
                lines.drop(statement)
            continue
        words = word.split() if key is None else frr_rows.format_session_command(key, word).split()
        if stated:
            lines.replace_words(stated[-1], *_keep_v6only_word(stated[-1], words))
        elif behind is not None:
            lines.add(behind, _next_indent(behind), *words)
        else:
            raise ValueError(MANUAL_EDIT_REASON)


def _keep_v6only_word(stated: FrrStatement, words: list[str]) -> list[str]:
    """Return the words of a session over an interface with `v6only` where it had that."""
    v6only = words[2:3] == ["interface"] and stated.words[2:4] == ("interface", "v6only")
    return [*words[:3], "v6only", *words[3:]] if v6only else words


def _next_indent(behind: FrrStatement) -> int:
    """Return how far a command behind another is indented: inside a block, as its first command is."""
    if behind.children:
        return behind.children[0].column - 1
    return (
        behind.column
        if behind.starts_with_words("router") or behind.starts_with_words("address-family")
        else behind.column - 1
    )
