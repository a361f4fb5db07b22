"""The removal of an object with its last setting: NVUE keeps an object that `nv unset` leaves empty."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from nodrop.platforms.nvue.edit_operations import combine_operations
from nodrop.platforms.nvue.edit_script import format_command
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.schema import SchemaNode, WordsAfterPath, node_below, schema_root
from nodrop.platforms.nvue.tree import Path
from nodrop.syntax import nvset

_MAX_CHECKED_PATHS_OF_COMMAND = 4096
"""Most settings of one command whose objects are checked."""


def raise_removals_to_empty_parents(
    root: object, gone: Iterable[Path], wanted: Iterable[Path] = (), *, keeps_holders: bool = True
) -> dict[Path, None]:
    """Return paths to remove from a tree, each raised to the object that nothing is left of.

    Nothing is left of it where all below it is removed, and nothing of `wanted` is set there. Ports stay, and what
    holds objects of the owner's names does, too, if it `keeps_holders`.
    """
    raised = dict.fromkeys(gone)
    kept = {path[:length] for path in wanted for length in range(1, len(path) + 1)}
    for depth in range(max(map(len, raised), default=0), 1, -1):
        removed_below: dict[Path, set[str]] = {}
        for path in raised:
            if len(path) == depth and not (keeps_holders and _is_named_by_owner(path)):
                removed_below.setdefault(path[:-1], set()).add(path[-1])
        ended = {
            above
            for above, names in removed_below.items()
            if above not in kept and above[:-1] != ("interface",) and _holds_only(root, above, names)
        }
        raised = {path if path[: depth - 1] not in ended else path[: depth - 1]: None for path in raised}
    return raised


def raise_removal_commands(root: object, lines: Sequence[str]) -> tuple[str, ...]:
    """Return commands with their removals raised to the objects that nothing is left of, those first."""
    parsed = nvset.parse_nv_commands(
        "".join(f"{line}\n" for line in lines if line.startswith(("nv set ", "nv unset ")))
    ).commands
    unset_paths = (path for each in parsed if each.verb == "unset" for path in _single_paths(each.words))
    removed = list(islice(unset_paths, _MAX_CHECKED_PATHS_OF_COMMAND + 1))
    if not removed or len(removed) > _MAX_CHECKED_PATHS_OF_COMMAND:
        return tuple(lines)
    wanted = [path for each in parsed if each.verb == "set" for path in _single_paths(each.words)]
    raised = raise_removals_to_empty_parents(root, removed, wanted)
    if raised.keys() == set(removed):
        return tuple(lines)
    others = [line for line in lines if not line.startswith("nv unset ")]
    return (*map(format_command, combine_operations(raised)), *others)


def _single_paths(words: Sequence[str], above: Path = ()) -> Iterator[Path]:
    if not words:
        yield above
        return
    for key in expand_key(above[-1] if above else "", words[0]):
        yield from _single_paths(words[1:], (*above, key))


def _is_named_by_owner(path: Path) -> bool:
    """Whether a path leads to an object of the owner's name, or to one that the schema does not know."""
    node: SchemaNode | None = schema_root()
    for word in path:
        node = node_below(node, word)
    return node is None or (isinstance(node, WordsAfterPath) and node.pattern[-1].startswith("<"))


def _holds_only(root: object, path: Path, names: set[str]) -> bool:
    """Whether a part of a tree has settings, and no others than some."""
    found = {name for node in _nodes_at_path(root, path) for name in _names_in(node, path[-1])}
    return bool(found) and found <= names


def _names_in(node: object, parent: str) -> Iterator[str]:
    if isinstance(node, Mapping):
        for key in node:
            yield from expand_key(parent, str(key))
    elif node is not None:
        yield str(node)


def _nodes_at_path(node: object, path: Path, parent: str = "") -> Iterator[object]:
    """Yield the parts of a tree at a path of single keys: several where keys are lists."""
    if not path:
        yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if path[0] in expand_key(parent, str(key)):
                yield from _nodes_at_path(value, path[1:], path[0])
