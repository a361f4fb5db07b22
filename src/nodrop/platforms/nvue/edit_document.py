"""A given startup.yaml, changed in the values of settings and in nothing else: keys of several are taken apart."""

import json
import re
from collections.abc import Iterable, Sequence

from nodrop.model.subject import natural_sort_key
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE, MultiKeyPath, SetOrUnsetOperation
from nodrop.platforms.nvue.names import PARENTS_OF_NUMBER_KEYS, expand_key
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.spelling import format_numbers, format_port_key
from nodrop.platforms.nvue.stages import quote_yaml, quote_yaml_key
from nodrop.platforms.nvue.tree import comment_out_prompts
from nodrop.syntax.places import BYTE_ORDER_MARK
from nodrop.syntax.yaml_edit import EditableYamlEntry, EditableYamlNode, compose_yaml, copy_node, write_yaml
from nodrop.units import parse_whole_number


def join_single_keys(parent: str, singles: Iterable[str]) -> str:
    """Spell single keys below `parent` as one."""
    names = tuple(singles)
    if len(names) == 1:
        return names[0]
    if parent in PARENTS_OF_NUMBER_KEYS:
        indexes = [number for name in names if (number := parse_whole_number(name)) is not None]
        if len(indexes) == len(names):
            return format_numbers(indexes)
    if all(nvue_port(name) for name in names):
        return format_port_key(names)
    return ",".join(names)


_FREE_TEXT_KEYS = frozenset({"description", "hostname", "system-contact", "system-location"})
"""Settings whose value is any text; those of all others are words and numbers, of which YAML has its own idea."""
_UNQUOTED_VALUE_PATTERN = re.compile(r"on|off|[0-9]+(?:\.[0-9]+)?[GMT]?")


def leaf_node(setting: str, value: str) -> EditableYamlNode:
    """Return the value of a setting, written as exports do; THERE is an empty mapping."""
    if value == PRESENT_WITHOUT_VALUE:
        return EditableYamlNode(entries=[])
    plain = setting not in _FREE_TEXT_KEYS and _UNQUOTED_VALUE_PATTERN.fullmatch(value)
    return EditableYamlNode(text=value, raw=value if plain else quote_yaml(value))


class YamlDocument:
    """A document of `header`, `set` and `unset`."""

    def __init__(self, text: str) -> None:
        """Return the root of a text that the reader has accepted."""
        self._text = text.removeprefix(BYTE_ORDER_MARK)
        self._bom = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        self._root = compose_yaml(comment_out_prompts(self._text))
        self._is_json = self._text.lstrip().startswith(("[", "{"))
        nodes = self._root.items or [self._root]
        entries = [entry for node in nodes for entry in node.entries or () if entry.key == "set"]
        self._sets = [entry.value for entry in entries if entry.value.entries is not None]
        self._emptied: list[tuple[EditableYamlNode, EditableYamlEntry]] = []

    @property
    def text(self) -> str:
        """Return the current text, without entries that changes have left empty."""
        for node, entry in self._emptied:
            if not _entries_of_node(entry.value) and entry in _entries_of_node(node):
                _entries_of_node(node).remove(entry)
        self._emptied.clear()
        if self._is_json:
            _encode_texts_as_json(self._root)
        spell = (json.dumps, json.dumps) if self._is_json else (quote_yaml_key, quote_yaml)
        return self._bom + write_yaml(self._text, self._root, *spell)

    def apply_operation(self, operation: SetOrUnsetOperation) -> None:
        """Make a change where the document has the setting; raise ValueError where there is no place for it."""
        if operation.value is None:
            for node in self._sets:
                _drop_path(node, "", operation.steps, self._emptied)
            return
        if not self._sets:
            raise ValueError("the file has no `set` section to add it to")
        best = max(range(len(self._sets)), key=lambda at: (_matching_depth(self._sets[at], "", operation.steps), at))
        _put_value(self._sets[best], "", operation.steps, operation.value)

    def append_operations(self, operations: Sequence[SetOrUnsetOperation]) -> None:
        """Write changes behind all existing settings; raise ValueError where the document is no list."""
        if not self._root.items or self._is_json:
            raise ValueError("the file says it in a way that one change cannot reach")
        self._root.items += nodes_for_nv_config_patch(operations)


def _encode_texts_as_json(node: EditableYamlNode) -> None:
    """Write the new texts in JSON form."""
    for entry in _entries_of_node(node):
        value = entry.value
        if value.text is not None and (value.start is None or value.text != value.stood[0]):
            is_number = value.text.isascii() and value.text.isdecimal()
            value.raw = value.text if is_number else json.dumps(value.text)
        _encode_texts_as_json(value)
    for item in node.items:
        _encode_texts_as_json(item)


def nodes_for_nv_config_patch(operations: Sequence[SetOrUnsetOperation]) -> list[EditableYamlNode]:
    """Return operations as `nv config patch` takes them: first unset, then set."""
    nodes: list[EditableYamlNode] = []
    for verb, own_operations in (
        ("unset", [patch_operation for patch_operation in operations if patch_operation.value is None]),
        ("set", [patch_operation for patch_operation in operations if patch_operation.value is not None]),
    ):
        top = EditableYamlNode(entries=[])
        for operation in own_operations:
            inside, parent = top, ""
            for step in operation.steps:
                key = join_single_keys(parent, step)
                below = next((entry for entry in _entries_of_node(inside) if entry.key == key), None)
                if below is None:
                    below = EditableYamlEntry(key, EditableYamlNode(entries=[]))
                    _entries_of_node(inside).append(below)
                inside, parent = below.value, step[0]
            assert below is not None
            below.value = leaf_node(parent, operation.value or PRESENT_WITHOUT_VALUE)
        if top.entries:
            nodes.append(EditableYamlNode(entries=[EditableYamlEntry(verb, top)]))
    return nodes


def _find_matching_keys(parent: str, entry: EditableYamlEntry, step: Sequence[str]) -> list[str]:
    """Return those of some single keys that an entry stands for."""
    stands_for = expand_key(parent, entry.key)
    return [single for single in step if single in stands_for]


def _matching_depth(node: EditableYamlNode, parent: str, steps: MultiKeyPath) -> int:
    """Return how far a node leads down a path."""
    if not steps:
        return 0
    if node.entries is None:
        return int(node.text is not None and node.text in steps[0])
    entries = [entry for entry in node.entries if _find_matching_keys(parent, entry, steps[0])]
    return max((1 + _matching_depth(entry.value, steps[0][0], steps[1:]) for entry in entries), default=0)


def _put_value(node: EditableYamlNode, parent: str, steps: MultiKeyPath, value: str) -> None:
    """Set the value at a path below a mapping."""
    assert node.entries is not None
    step, remaining_steps = steps[0], steps[1:]
    chosen: dict[int, list[str]] = {}
    new: list[str] = []
    for single in step:
        fitting = [at for at, entry in enumerate(node.entries) if _find_matching_keys(parent, entry, (single,))]
        if fitting:
            best = max(
                fitting, key=lambda at: (_matching_depth(_entries_of_node(node)[at].value, single, remaining_steps), at)
            )
            chosen.setdefault(best, []).append(single)
        else:
            new.append(single)
    for entry, singles in [(node.entries[at], singles) for at, singles in chosen.items()]:
        own_entry = _separate_entry_for_keys(node, parent, entry, singles)
        if not remaining_steps:
            _set_leaf_value(own_entry, step[0], value)
            continue
        own_entry.value = _as_mapping(own_entry.value)
        _put_value(own_entry.value, step[0], remaining_steps, value)
    if new:
        path = (step, *remaining_steps)
        inside = leaf_node(path[-1][0], value)
        for at in range(len(path) - 1, 0, -1):
            inside = EditableYamlNode(entries=[EditableYamlEntry(join_single_keys(path[at - 1][0], path[at]), inside)])
        _insert_entry(node, EditableYamlEntry(join_single_keys(parent, new), inside), is_sorted=parent != "address")


def _as_mapping(node: EditableYamlNode) -> EditableYamlNode:
    """Return a value as a mapping: a text as its only key."""
    if node.entries is not None:
        return node
    return EditableYamlNode(
        entries=[] if node.text is None else [EditableYamlEntry(node.text, EditableYamlNode(entries=[]))]
    )


def _entries_of_node(node: EditableYamlNode) -> list[EditableYamlEntry]:
    return [] if node.entries is None else node.entries


def _set_leaf_value(entry: EditableYamlEntry, setting: str, value: str) -> None:
    """Give a leaf its value in the form of its existing value."""
    node = entry.value
    if value == PRESENT_WITHOUT_VALUE:
        return
    if node.entries:
        if [child.key for child in node.entries] != [value]:
            node.entries = [EditableYamlEntry(value, EditableYamlNode(entries=[]))]
    elif node.entries is not None:
        entry.value = leaf_node(setting, value)
    elif node.text != value:
        node.text, node.raw = value, leaf_node(setting, value).raw


def _insert_entry(node: EditableYamlNode, entry: EditableYamlEntry, *, is_sorted: bool = True) -> None:
    """Put a new entry where its key belongs, if the others are sorted; else behind them."""
    other_entries = _entries_of_node(node)
    order = [natural_sort_key(sibling.key) for sibling in other_entries]
    at = len(other_entries)
    if is_sorted and order == sorted(order):
        at = sum(sort_key <= natural_sort_key(entry.key) for sort_key in order)
    other_entries.insert(at, entry)


def _drop_path(
    node: EditableYamlNode, parent: str, steps: MultiKeyPath, emptied: list[tuple[EditableYamlNode, EditableYamlEntry]]
) -> None:
    """Remove the node at a path below a mapping, and remember entries that may be empty then, except interfaces.

    A value may still be put there; then the line, and its owner's text behind it, stays.
    """
    step, remaining_steps = steps[0], steps[1:]
    for entry in list(_entries_of_node(node)):
        singles = _find_matching_keys(parent, entry, step)
        if not singles or _matching_depth(entry.value, step[0], remaining_steps) < len(remaining_steps):
            continue
        own_entry = _separate_entry_for_keys(node, parent, entry, singles)
        if remaining_steps and own_entry.value.entries is not None:
            _drop_path(own_entry.value, step[0], remaining_steps, emptied)
            if parent != "interface":
                emptied.append((node, own_entry))
        elif own_entry.value.entries:
            own_entry.value.entries.clear()
            emptied.append((node, own_entry))
        else:
            _entries_of_node(node).remove(own_entry)


def _separate_entry_for_keys(
    node: EditableYamlNode, parent: str, entry: EditableYamlEntry, singles: Sequence[str]
) -> EditableYamlEntry:
    """Return an entry for some of the keys of an entry, taken out of it with all its settings."""
    other_keys = [key for key in expand_key(parent, entry.key) if key not in singles]
    if not other_keys:
        return entry
    entries = _entries_of_node(node)
    own_entry = _merge_into_other_entry(entries, join_single_keys(parent, singles), entry)
    if own_entry is None:
        own_entry = EditableYamlEntry(join_single_keys(parent, singles), copy_node(entry.value))
        entries.insert(entries.index(entry) + 1, own_entry)
    remainder = join_single_keys(parent, other_keys)
    if _merge_into_other_entry(entries, remainder, entry) is None:
        entry.key = remainder
    else:
        entries.remove(entry)
    return own_entry


def _merge_into_other_entry(
    entries: Sequence[EditableYamlEntry], key: str, entry: EditableYamlEntry
) -> EditableYamlEntry | None:
    """Return another entry with a key, the settings of several laid over or under it; None where none has the key."""
    at = entries.index(entry)
    for place, far_entry in enumerate(entries):
        if far_entry.key == key and far_entry is not entry:
            _merge_node(far_entry, entry.value, over=place < at)
            return far_entry
    return None


def _merge_node(entry: EditableYamlEntry, node: EditableYamlNode, *, over: bool) -> None:
    """Lay the settings of several keys over those of a single key, or under them."""
    if node.entries is None:
        if over:
            entry.value = copy_node(node)
        return
    entry.value = _as_mapping(entry.value)
    for child in node.entries:
        far_entry = next((candidate for candidate in _entries_of_node(entry.value) if candidate.key == child.key), None)
        if far_entry is None:
            _insert_entry(entry.value, EditableYamlEntry(child.key, copy_node(child.value)))
        else:
            _merge_node(far_entry, child.value, over=over)
