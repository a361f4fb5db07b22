"""Where the entries of a YAML document stand, from the first character of the key to the last of the value."""

from collections.abc import Sequence
from functools import cached_property

from nodrop.syntax.places import Lines, Span, split_lines
from nodrop.syntax.yaml_edit import EditableYamlEntry, EditableYamlNode, compose_yaml


class YamlEntrySpans:
    """The entries of a text that `syntax.yaml.parse` has accepted; it is looked through when first asked."""

    def __init__(self, text: str) -> None:
        self._text, self._lines = text, Lines(text)

    @cached_property
    def _root_node(self) -> EditableYamlNode:
        return compose_yaml(self._text)

    def count_existing_keys(self, key_path: Sequence[str | int]) -> int:
        """How many of the keys, from the first on, the document has."""
        return len(self._trail_of_keys(key_path))

    def ends_at_scalar(self, keys: Sequence[str | int]) -> bool:
        """Whether the nearest entry to `key_path` in the document is a text or number, which ends the way."""
        trail = self._trail_of_keys(keys)
        node = (
            trail[-1].value
            if trail and isinstance(trail[-1], EditableYamlEntry)
            else trail[-1]
            if trail
            else self._root_node
        )
        return isinstance(node, EditableYamlNode) and node.entries is None and not node.items

    def span(self, keys: Sequence[str | int]) -> Span:
        """Return the place of the entry at `key_path` or the nearest around it; its key for a value over lines."""
        trail = [node for node in self._trail_of_keys(keys) if _start_of_node(node) is not None]
        if not trail:
            return self._lines.span(0, 0)
        start, end, key_end = _start_of_node(trail[-1]) or 0, _end_offset(trail[-1]), _key_end(trail[-1])
        span = self._lines.span(start, end)
        return span if span.line == span.end_line else self._lines.span(start, key_end)

    def line(self, number: int) -> str:
        """Return the text of a line, from 1."""
        return self._rows[number - 1]

    @cached_property
    def _rows(self) -> list[str]:
        return split_lines(self._text)

    def _trail_of_keys(self, keys: Sequence[str | int]) -> list[EditableYamlEntry | EditableYamlNode]:
        """Return the entries and items that the keys lead through, as far as there are any."""
        trail: list[EditableYamlEntry | EditableYamlNode] = []
        node = self._root_node
        for step in keys:
            if node.entries is not None:
                entry = next((candidate for candidate in node.entries if candidate.key == step), None)
                if entry is None:
                    break
                trail.append(entry)
                node = entry.value
            elif isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                trail.append(node)
            else:
                break
        return trail


def _start_of_node(node: EditableYamlEntry | EditableYamlNode) -> int | None:
    """Return where it begins; None below an alias, which stands for another node."""
    return node.start


def _end_offset(node: EditableYamlEntry | EditableYamlNode) -> int:
    return max(node.end, node.value.end) if isinstance(node, EditableYamlEntry) else node.end


def _key_end(node: EditableYamlEntry | EditableYamlNode) -> int:
    return node.end if isinstance(node, EditableYamlEntry) else (node.start or 0) + 1
