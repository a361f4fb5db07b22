"""Keys that name the same object and set different values: `swp1-8` has one MTU, `swp3` another.

In exports, overlapping keys complement each other. In a file written by hand they may contradict, and no document
states which of them counts. Commands and patches have an order, and there the later key counts.
"""

from collections.abc import Iterator

from nodrop.platforms.nvue.names import PARENTS_OF_INTERFACE_KEYS, PARENTS_OF_NUMBER_KEYS, expand_key
from nodrop.platforms.nvue.read_values import NvueConfigFile, render_path
from nodrop.platforms.nvue.tree import Node, Path
from nodrop.syntax.places import sanitize_for_message
from nodrop.syntax.shapes import mapping_at, mapping_or_empty, value_at

MAX_OVERLAPS = 100
"""More than anyone reads."""
MAX_COMPARED_KEY_PAIRS = 20_000
"""Pairs of keys that are compared in one file."""

_SINGLE_CHOICE_KEYS = frozenset({"state", "breakout", "action"})
"""Settings that hold one of several words, written as the only key below."""


def remark_overlaps(config: NvueConfigFile) -> None:
    """Remark each setting that two keys of one mapping give different values, at the later one."""
    if config.tree is None or not config.tree.is_unmerged:
        return
    count = 0
    for above, parent, node in _mappings_with_lists(config.tree.root):
        for names, first_text, later in _overlapping_keys(parent, node):
            for below, first_value, value in _differing_settings(node[first_text], node[later], ()):
                path = (*above, later, *below)
                shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
                facts = {
                    "path": render_path(path),
                    "names": shown,
                    "value": value,
                    "other": first_value,
                    "key": sanitize_for_message(first_text),
                }
                config.remark("overlapping-keys", (), path, **facts)
                count += 1
                if count >= MAX_OVERLAPS:
                    return


def _mappings_with_lists(root: Node) -> Iterator[tuple[Path, str, Node]]:
    """Yield the mappings with a key that names several objects, each with its path and the kind of object."""
    yield from _list_keyed_node(root.get("interface"), ("interface",))
    yield from _walk_list_keyed_nodes(root.get("qos"), ("qos",))
    for vrf in mapping_at(root, "vrf"):
        path = ("vrf", vrf, "router", "bgp", "neighbor")
        yield from _list_keyed_node(value_at(root, *path), path)


def _walk_list_keyed_nodes(node: object, path: Path) -> Iterator[tuple[Path, str, Node]]:
    yield from _list_keyed_node(node, path)
    for key, inside in mapping_or_empty(node).items():
        yield from _walk_list_keyed_nodes(inside, (*path, key))


def _list_keyed_node(node: object, path: Path) -> Iterator[tuple[Path, str, Node]]:
    parent = path[-1]
    if not isinstance(node, dict) or (parent not in PARENTS_OF_INTERFACE_KEYS and parent not in PARENTS_OF_NUMBER_KEYS):
        return
    if any("-" in key or "," in key for key in node):
        yield path, parent, node


def _overlapping_keys(parent: str, node: Node) -> Iterator[tuple[list[str], str, str]]:
    """Yield (what two keys have in common, the first, the later), by the later."""
    keys_of_name: dict[str, list[str]] = {}
    common: dict[tuple[str, str], list[str]] = {}
    for key, inside in node.items():
        if not isinstance(inside, dict) or not inside:
            continue
        for single_key in expand_key(parent, key):
            for before in keys_of_name.setdefault(single_key, []):
                if len(common) < MAX_COMPARED_KEY_PAIRS and not inside.keys().isdisjoint(
                    mapping_or_empty(node[before])
                ):
                    common.setdefault((before, key), []).append(single_key)
            keys_of_name[single_key].append(key)
    for (first_key, later), names in common.items():
        yield names, first_key, later


def _differing_settings(first_text: object, later: object, above: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield (path, value, other value) of each setting that is not the same in both."""
    if isinstance(first_text, dict) and isinstance(later, dict):
        if (
            above
            and above[-1] in _SINGLE_CHOICE_KEYS
            and len(first_text) == len(later) == 1
            and first_text.keys() != later.keys()
        ):
            yield above, next(iter(first_text)), next(iter(later))
        for key in (key for key in later if key in first_text):
            yield from _differing_settings(first_text[key], later[key], (*above, key))
    elif isinstance(first_text, str) and isinstance(later, str) and first_text != later:
        yield above, sanitize_for_message(first_text), sanitize_for_message(later)
