"""Where the entries of a YAML document stand, from the first character of the key to the last of the value."""

from collections.abc import Sequence
from functools import cached_property

from nodrop.syntax.places import Lines, Span, split_lines
from nodrop.syntax.yaml_edit import Entry, Node, compose


class Entries:
    """The entries of a text that `syntax.yaml.parse` has accepted; it is looked through when first asked."""

    def __init__(self, text: str) -> None:
        self._text, self._lines = text, Lines(text)

    @cached_property
    def _root(self) -> Node:
        return compose(self._text)

    def count_existing_keys(self, keys: Sequence[str | int]) -> int:
        """How many of the keys, from the first on, the document has."""
        return len(self._way(keys))

    def scalar(self, keys: Sequence[str | int]) -> bool:
        """Whether the nearest entry to `keys` that the document has is a text or number, which ends the way there."""
        way = self._way(keys)
        node = way[-1].value if way and isinstance(way[-1], Entry) else way[-1] if way else self._root
        return isinstance(node, Node) and node.entries is None and not node.items

    def span(self, keys: Sequence[str | int]) -> Span:
        """Return the place of the entry at `keys` or the nearest around it; of a value over several lines, its key."""
        way = [found for found in self._way(keys) if _begin(found) is not None]
        if not way:
            return self._lines.span(0, 0)
        start, end, key_end = _begin(way[-1]) or 0, _end(way[-1]), _key_end(way[-1])
        span = self._lines.span(start, end)
        return span if span.line == span.end_line else self._lines.span(start, key_end)

    def line(self, number: int) -> str:
        """Return the text of a line, from 1."""
        return self._rows[number - 1]

    @cached_property
    def _rows(self) -> list[str]:
        return split_lines(self._text)

    def _way(self, keys: Sequence[str | int]) -> list[Entry | Node]:
        """Return the entries and items that the keys lead through, as far as there are any."""
        way: list[Entry | Node] = []
        node = self._root
        for step in keys:
            if node.entries is not None:
                entry = next((one for one in node.entries if one.key == step), None)
                if entry is None:
                    break
                way.append(entry)
                node = entry.value
            elif isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                way.append(node)
            else:
                break
        return way


def _begin(found: Entry | Node) -> int | None:
    """Where it begins; None below an alias, which stands for what is written elsewhere."""
    return found.start


def _end(found: Entry | Node) -> int:
    return max(found.end, found.value.end) if isinstance(found, Entry) else found.end


def _key_end(found: Entry | Node) -> int:
    return found.end if isinstance(found, Entry) else (found.start or 0) + 1
