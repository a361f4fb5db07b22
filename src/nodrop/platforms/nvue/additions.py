"""An owner's additions to a configuration: merged last, refused where the configuration has a setting there already."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from nodrop.errors import InputProblems
from nodrop.model.fabric import Extra
from nodrop.model.subject import natural_sort_key, subject_text
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.kit.extras import AdditionOverlap, RoutingLine
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.read_values import STARTUP_FILE
from nodrop.syntax.yaml import parse_yaml

_PATH_WORD_PATTERN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:/@,+-]*|::[A-Za-z0-9:./]*")
_PLAIN_VALUE_PATTERN = re.compile(
    r"(?!(?:y|n|yes|no|true|false|null)\b)(?:[0-9]{1,18}|[A-Za-z][A-Za-z0-9._-]*)", re.IGNORECASE
)
_UNPRINTABLE_PATTERN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_SINGLE_CHOICE_KEYS = frozenset({"action", "breakout", "state"})
"""Keys that have one of several keys below them: `state` has `up` or `down`."""

_StatementTree = dict[str, "_StatementTree | str"]
"""Statements by word; a leaf is what stands behind the path."""


def merge_statements(statements: str, extras: Sequence[Extra]) -> str:
    """Return the statements with the owner's additions.

    Raise UnsupportedByPlatform where these name an existing setting, or lead through a value.
    """
    tree: _StatementTree = {}
    for line in statements.splitlines():
        mark = " ~ " if " ~ " in line else " = "
        head, _, value = line.partition(mark)
        _put_leaf(tree, head.split(" "), f"{mark}{value}" if head != line else "")
    for extra in extras:
        _check_addition(tree, extra)
        if isinstance(extra.value, tuple):
            for leaf_key in extra.value:
                _put_leaf(tree, [*extra.path, leaf_key], "")
        else:
            _put_leaf(tree, list(extra.path), "" if extra.value is None else _format_value(extra.value))
    _check_sub_interfaces(tree, extras)
    return "".join(f"{line}\n" for line in _format_tree_lines(tree, ""))


def _format_value(config_text: str) -> str:
    return f" = {config_text}" if _PLAIN_VALUE_PATTERN.fullmatch(config_text) else f" ~ {config_text}"


def _put_leaf(tree: _StatementTree, path: list[str], leaf: str) -> None:
    """Put a leaf into a tree, with its keys sorted where their neighbors are."""
    head, *remaining_paths = path
    if head not in tree:
        before = list(tree)
        tree[head] = {} if remaining_paths else leaf
        if before == sorted(before, key=natural_sort_key):
            unsorted_tree = dict(tree)
            tree.clear()
            tree.update((key, unsorted_tree[key]) for key in sorted(unsorted_tree, key=natural_sort_key))
    if remaining_paths:
        inside = tree[head]
        if not isinstance(inside, dict):  # what was there and no more
            inside = tree[head] = {}
        _put_leaf(inside, remaining_paths, leaf)


def _format_tree_lines(tree: _StatementTree, before: str) -> Iterator[str]:
    for key, inside in tree.items():
        if isinstance(inside, dict):
            yield from _format_tree_lines(inside, f"{before}{key} ")
        else:
            yield f"{before}{key}{inside}"


def _check_addition(tree: _StatementTree, extra: Extra) -> None:
    path = ("extra", extra.key)
    for word in (*extra.path, *(extra.value if isinstance(extra.value, tuple) else ())):
        if not _PATH_WORD_PATTERN.fullmatch(word):
            raise unsupported_error(path, f"{word!r} is no word of an NVUE path")
    if not extra.path:
        raise unsupported_error(path, "without a path there is nothing to set")
    if isinstance(extra.value, str) and _UNPRINTABLE_PATTERN.search(extra.value):
        raise unsupported_error(path, f"{extra.value!r} has control characters")
    if reason := _addition_conflict(tree, extra.path, ""):
        raise unsupported_error(path, reason)


def _check_sub_interfaces(tree: _StatementTree, extras: Sequence[Extra]) -> None:
    """Raise AdditionOverlap for all settings of added sub-interfaces whose base interface does not exist."""
    interfaces = tree.get("interface")
    keys = interfaces if isinstance(interfaces, dict) else ()
    known = {name for key in keys for name in expand_key("interface", key)}
    without_base = {
        extra.path[1]: extra.value
        for extra in extras
        if extra.path[::2] == ("interface", "base-interface") and len(extra.path) == 3 and extra.value not in known
    }
    refusals = [
        AdditionOverlap(
            subject_text(("extra", extra.key)),
            f"{extra.path[1]} is a part of {without_base[extra.path[1]]}, which does not exist",
        )
        for extra in extras
        if extra.path[:1] == ("interface",) and extra.path[1] in without_base
    ]
    if refusals:
        refusals[0].others = tuple(refusals[1:])
        raise refusals[0]


def _addition_conflict(tree: _StatementTree, path: tuple[str, ...], parent: str) -> str:
    """Return why a path cannot be added: the tree has it, or a value on the way to it, under a list of names too."""
    head, *path_tail = path
    path_keys = set(expand_key(parent, head))
    for key, inside in tree.items():
        if key != head and not path_keys & set(expand_key(parent, key)):
            if parent in _SINGLE_CHOICE_KEYS and not isinstance(inside, dict):
                return f"{parent} is {key} already"
            continue
        if not path_tail or inside == "":
            if not path_tail:
                return "the configuration says so, or something else, already"
            continue
        if isinstance(inside, str):
            return f"{key} is a value, and has nothing below it"
        if reason := _addition_conflict(inside, tuple(path_tail), head):
            return reason
    return ""


def read_file_settings(config_files: Mapping[str, bytes]) -> Iterator[Extra]:
    """Yield every setting of a device's startup.yaml as it would be added; none of another form."""
    try:
        data = parse_yaml(config_files.get(STARTUP_FILE, b""), STARTUP_FILE).data
    except InputProblems:
        return
    for section in data if isinstance(data, list) else ():
        if isinstance(section, dict) and isinstance(section.get("set"), dict):
            yield from _extra_settings(section["set"], ())


def _extra_settings(tree: Mapping[str, object], above: tuple[str, ...]) -> Iterator[Extra]:
    for key, value in tree.items():
        path = (*above, str(key))
        if isinstance(value, dict) and value:
            yield from _extra_settings(value, path)
        elif isinstance(value, str):
            yield Extra(path=path, value=value or None)
        elif value in ({}, None):
            yield Extra(path=path, value=None)


def routing_daemon_lines(_bundle: Mapping[str, bytes]) -> tuple[RoutingLine, ...]:
    """Return nothing: commands for NVUE's daemon are among the settings."""
    return ()


def select_lines_beside_model(_bundle: Mapping[str, bytes], _lines: Collection[RoutingLine]) -> tuple[RoutingLine, ...]:
    """Return nothing, as `routing_daemon_lines` does."""
    return ()


def format_routing_lines(_lines: Sequence[RoutingLine]) -> tuple[tuple[str, frozenset[RoutingLine]], ...]:
    """Return nothing, as `routing_daemon_lines` does."""
    return ()
