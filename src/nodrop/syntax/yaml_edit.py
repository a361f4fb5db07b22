"""A YAML document as an editable tree, and the text of the changed tree, with every other byte unchanged.

Made for mappings of mappings and scalars, in block style with flow style inside; lists may get new mappings at their
end. The caller renders keys and values. `parse` (syntax/yaml.py) has accepted the text before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from nodrop.syntax.yaml import yaml_events

SpellText = Callable[[str], str]
_INDENT_SPACES = 2
_MAX_SIMPLE_KEY_CHARACTERS = 128
"""Characters of a key with a colon behind it; a longer one has a question mark before it."""
_OPENING_EVENTS = (MappingStartEvent, SequenceStartEvent)
_CLOSING_EVENTS = (MappingEndEvent, SequenceEndEvent)


@dataclass(slots=True, eq=False)
class EditableYamlNode:
    """A value: a mapping has `entries`, a list `items`, a scalar `source_text`, which is None for an empty scalar."""

    text: str | None = None
    raw: str | None = None
    """The text of a scalar, None where it is not yet chosen."""
    entries: "list[EditableYamlEntry] | None" = None
    items: "list[EditableYamlNode]" = field(default_factory=list)
    start: int | None = None
    """Its place in the text, None where it is new; `end` is behind its last character."""
    end: int = 0
    flow: bool = False
    stood: "tuple[str | None, tuple[EditableYamlEntry, ...]]" = (None, ())
    """The text and entries that it had."""
    named: object = None
    """Of an alias, what it stood for."""


@dataclass(slots=True, eq=False)
class EditableYamlEntry:
    """A key and its value; for those that are in the text, the old key and value, None for a new entry."""

    key: str
    value: EditableYamlNode
    start: int | None = None
    end: int = 0
    stood: "tuple[str, EditableYamlNode] | None" = None


def node_to_data(node: EditableYamlNode) -> Any:
    """Return the value of a node, as plain dicts, lists and texts."""
    if node.entries is not None:
        return {entry.key: node_to_data(entry.value) for entry in node.entries}
    return [node_to_data(item) for item in node.items] if node.items else node.text


def data_to_node(data: Any) -> EditableYamlNode:
    """Return new nodes for data: mappings and texts."""
    if isinstance(data, dict):
        return EditableYamlNode(entries=[EditableYamlEntry(key, data_to_node(value)) for key, value in data.items()])
    if isinstance(data, list):
        return EditableYamlNode(items=[data_to_node(item) for item in data])
    return EditableYamlNode(text=data)


def copy_node(node: EditableYamlNode) -> EditableYamlNode:
    """Return new nodes with the same data, written alike."""
    copy = EditableYamlNode(text=node.text, raw=node.raw, items=[copy_node(item) for item in node.items])
    if node.entries is not None:
        copy.entries = [EditableYamlEntry(entry.key, copy_node(entry.value)) for entry in node.entries]
    return copy


def compose_yaml(source_text: str) -> EditableYamlNode:
    """Return the document as a tree; the value of an alias is new at each use, and so written out."""
    done = EditableYamlNode()
    children_stack: list[list[EditableYamlNode]] = [[]]
    opened: list[EditableYamlNode] = []
    anchors: dict[str, EditableYamlNode] = {}
    for event in yaml_events(source_text):
        kind = type(event)
        if kind in _OPENING_EVENTS:
            node = EditableYamlNode(start=event.start_mark.index, flow=bool(event.flow_style))
            opened.append(node)
            children_stack.append([])
            if event.anchor:
                anchors[event.anchor] = node
            continue
        if kind in _CLOSING_EVENTS:
            node = opened.pop()
            _fill_finished_node(node, children_stack.pop(), mapping=kind is MappingEndEvent)
            node.end = event.end_mark.index if node.flow else node.end
        elif kind is ScalarEvent:
            scalar = None if event.implicit[0] and not event.value else event.value
            node = EditableYamlNode(
                text=scalar, start=event.start_mark.index, end=event.end_mark.index, stood=(scalar, ())
            )
            spelt = source_text[node.start : node.end] if node.start is not None else ""
            node.raw = None if "\n" in spelt or event.style in ("|", ">") else spelt
            if event.anchor:
                anchors[event.anchor] = node
        elif kind is AliasEvent:
            node = copy_node(anchors[event.anchor])
            node.start, node.end, node.named = event.start_mark.index, event.end_mark.index, node_to_data(node)
        else:
            continue
        children_stack[-1].append(node)
        done = node
    return done


def _fill_finished_node(node: EditableYamlNode, nodes: list[EditableYamlNode], *, mapping: bool) -> None:
    if mapping:
        pairs = zip(nodes[::2], nodes[1::2], strict=True)
        entries = [
            EditableYamlEntry(key.text or "", value, key.start, key.end, (key.text or "", value))
            for key, value in pairs
        ]
        node.entries, node.stood = entries, (None, tuple(entries))
    else:
        node.items = nodes
    node.end = nodes[-1].end if nodes else node.start or 0


def write_yaml(source_text: str, root: EditableYamlNode, key: SpellText, value: SpellText) -> str:
    """Return the text of the changed tree of `source_text`; `key` and `value` render keys and scalars."""
    return _YamlTextEdits(source_text, key, value).write(root)


def dump_mappings(nodes: list[EditableYamlNode], key: SpellText, value: SpellText) -> str:
    """Return a list of mappings as a separate text."""
    writer = _YamlTextEdits("", key, value)
    bodies = ["".join(writer.render_new_entry_lines(node.entries or [], _INDENT_SPACES)) for node in nodes]
    return "".join(f"- {body[_INDENT_SPACES:]}" for body in bodies)


class _YamlTextEdits:
    """The edits of a text, by offset."""

    def __init__(self, text: str, key: SpellText, value: SpellText) -> None:
        self._text, self._key, self._value = text, key, value
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._edits: list[tuple[int, int, str]] = []

    def write(self, root: EditableYamlNode) -> str:
        self._write_node_changes(root)
        out, at = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[0]):
            out += [self._text[at:start], new]
            at = max(at, end)
        return "".join([*out, self._text[at:]])

    def _write_node_changes(self, node: EditableYamlNode) -> None:
        for item in node.items:
            if item.start is not None:
                self._write_node_changes(item)
            else:
                self._append_mapping_item(node, item)
        if node.entries is not None:
            (self._write_flow_mapping if node.flow else self._write_block_mapping)(node, node.entries)

    def _append_mapping_item(self, node: EditableYamlNode, item: EditableYamlNode) -> None:
        """Write a new mapping at the end of a list in block style."""
        assert node.start is not None
        indent = self._column_of_offset(node.start)
        body = "".join(self.render_new_entry_lines(item.entries or [], indent + _INDENT_SPACES))
        self._insert_lines(self._line_end(node.end), f"{' ' * indent}- {body[indent + _INDENT_SPACES :]}")

    def _write_block_mapping(self, node: EditableYamlNode, entries: list[EditableYamlEntry]) -> None:
        kept_entries = [entry for entry in node.stood[1] if entry in entries]
        begins = [self._start_of_entry(entry) for entry in kept_entries]
        for place, entry in enumerate(node.stood[1]):
            if entry not in entries:
                self._delete_entry(node, entry, place)
        indent = self._column_of_offset(begins[0]) if begins else 0
        behind: int | None = None
        for entry in entries:
            if entry.stood is not None:
                self._write_entry_changes(entry, indent)
                behind = self._line_end(_original_end(entry))
            elif behind is not None:
                self._insert_lines(behind, "".join(self.render_new_entry_lines([entry], indent)))
            else:
                body = "".join(self.render_new_entry_lines([entry], indent))
                self._edits.append((begins[0], begins[0], body[indent:] + " " * indent))

    def _delete_entry(self, node: EditableYamlNode, entry: EditableYamlEntry, place: int) -> None:
        """Take out an entry with its lines; what shares its first line moves up."""
        begin, stop = self._start_of_entry(entry), self._line_end(_original_end(entry))
        line = self._line_start(begin)
        if not self._text[line:begin].strip(" "):
            self._edits.append((line, stop, ""))
        elif place + 1 < len(node.stood[1]):
            self._edits.append((begin, self._start_of_entry(node.stood[1][place + 1]), ""))

    def _write_entry_changes(self, entry: EditableYamlEntry, indent: int) -> None:
        """Write what became of an entry that the text has."""
        assert entry.start is not None
        assert entry.stood is not None
        key, value = entry.stood
        if value.named is not None and entry.value is value and node_to_data(value) == value.named:
            return
        if entry.value is not value or self._has_only_new_entries(value):
            body = "".join(self.render_new_entry_lines([entry], indent))[indent:]
            begin, end = self._start_of_entry(entry), self._line_end(max(entry.end, value.end))
            if entry.value is value and entry.key == key and (below := self._block_mapping_start(value)) is not None:
                begin, body = below, body.partition(self._newline)[2]  # the key's line stays, with what is behind it
            if not self._text[:end].endswith("\n"):
                body = body.removesuffix(self._newline)
            self._edits.append((begin, end, body))
            return
        if entry.key != key:
            self._edits.append((entry.start, entry.end, self._key(entry.key)))
        if value.entries is None and not value.items and value.text != value.stood[0]:
            assert value.start is not None
            spelt = self._format_scalar(value)
            lead = "" if self._text[value.start - 1].isspace() else " "
            self._edits.append((value.start, value.end, lead + spelt))
            return
        self._write_node_changes(value)

    def _block_mapping_start(self, value: EditableYamlNode) -> int | None:
        """Return where the lines of a mapping in block style begin that has entries now and had some; else None."""
        if value.flow or not value.entries or not value.stood[1]:
            return None
        begin = self._start_of_entry(value.stood[1][0])
        line = self._line_start(begin)
        return None if self._text[line:begin].strip(" ") else line

    @staticmethod
    def _has_only_new_entries(value: EditableYamlNode) -> bool:
        """Whether a mapping has none of its old entries: it was empty, or everything in it is new."""
        has_old_entries = any(entry.stood for entry in value.entries or ())
        return bool(value.stood[1] or value.entries) and not has_old_entries

    def _write_flow_mapping(self, node: EditableYamlNode, entries: list[EditableYamlEntry]) -> None:
        """Write what became of the entries of a mapping in braces, which had some and has some of them still."""
        if not node.stood[1]:
            return
        kept_entries = [entry for entry in node.stood[1] if entry in entries]
        for place, entry in enumerate(node.stood[1]):
            if entry not in kept_entries and place < node.stood[1].index(kept_entries[0]):
                self._edits.append((_original_start(entry), _original_start(node.stood[1][place + 1]), ""))
            elif entry not in kept_entries:
                self._edits.append((_original_end(node.stood[1][place - 1]), _original_end(entry), ""))
        between = self._separator_in_braces(node)
        behind: int | None = None
        for entry in entries:
            if entry.stood is not None:
                self._edit_entry_in_braces(entry)
                behind = _original_end(entry)
            elif behind is None:
                first_start = _original_start(kept_entries[0])
                self._edits.append((first_start, first_start, self._format_flow_entry(entry) + between))
            else:
                self._edits.append((behind, behind, between + self._format_flow_entry(entry)))

    def _separator_in_braces(self, node: EditableYamlNode) -> str:
        """Return what stands between two entries in braces."""
        assert node.start is not None
        first_entry, *other_entries = node.stood[1]
        if other_entries:
            return self._text[_original_end(first_entry) : _original_start(other_entries[0])]
        lead = self._text[node.start + 1 : _original_start(first_entry)]
        return f",{lead}" if "\n" in lead else ", "

    def _edit_entry_in_braces(self, entry: EditableYamlEntry) -> None:
        assert entry.stood is not None
        key, value = entry.stood
        if value.named is not None and entry.value is value and node_to_data(value) == value.named:
            return
        is_said = value.text == value.stood[0]
        if entry.value is not value or self._has_only_new_entries(value) or not (is_said or value.start != value.end):
            self._edits.append((_original_start(entry), _original_end(entry), self._format_flow_entry(entry)))
            return
        if entry.key != key:
            self._edits.append((_original_start(entry), entry.end, self._key(entry.key)))
        if value.entries:
            self._write_flow_mapping(value, value.entries)
        elif not is_said:
            self._edits.append((value.start or 0, value.end, self._format_scalar(value)))

    def _format_flow_entry(self, entry: EditableYamlEntry) -> str:
        """Return an entry on one line."""
        return f"{self._key(entry.key)}: {self._format_flow_value(entry.value)}"

    def _format_flow_value(self, value: EditableYamlNode) -> str:
        if value.items:
            return f"[{', '.join(map(self._format_flow_value, value.items))}]"
        if value.entries is None:
            return self._format_scalar(value)
        return f"{{{', '.join(map(self._format_flow_entry, value.entries))}}}"

    def render_new_entry_lines(self, entries: list[EditableYamlEntry], indent: int) -> Iterator[str]:
        """Yield new lines for entries, line breaks included."""
        for entry in entries:
            value, key, end = entry.value, self._key(entry.key), self._newline
            mark = (
                f"{' ' * indent}? {key}{end}{' ' * indent}"
                if len(key) > _MAX_SIMPLE_KEY_CHARACTERS
                else f"{' ' * indent}{key}"
            )
            if value.entries and len(key) > _MAX_SIMPLE_KEY_CHARACTERS:
                inner = "".join(self.render_new_entry_lines(value.entries, indent + _INDENT_SPACES))
                yield f"{mark}: {inner[indent + _INDENT_SPACES :]}"
            elif value.entries:
                yield f"{mark}:{end}"
                yield from self.render_new_entry_lines(value.entries, indent + _INDENT_SPACES)
            elif value.entries is not None or value.items:
                yield f"{mark}: {self._format_flow_value(value)}{end}"
            else:
                yield f"{mark}:{end}" if value.text is None else f"{mark}: {self._format_scalar(value)}{end}"

    def _format_scalar(self, node: EditableYamlNode) -> str:
        return self._value(node.text or "") if node.raw is None else node.raw

    def _insert_lines(self, at: int, body: str) -> None:
        """Put lines behind the line that ends at an offset."""
        if at and not self._text[:at].endswith("\n"):
            body = self._newline + body.removesuffix(self._newline)
        self._edits.append((at, at, body))

    def _start_of_entry(self, entry: EditableYamlEntry) -> int:
        """Return where an entry begins: at its key, or the question mark before it."""
        assert entry.start is not None
        line = self._text[self._line_start(entry.start) : entry.start]
        before = line.rstrip(" ")
        return entry.start - (len(line) - len(before) + 1) if before.endswith("?") else entry.start

    def _line_start(self, at: int) -> int:
        return self._text.rfind("\n", 0, at) + 1

    def _column_of_offset(self, at: int) -> int:
        return at - self._line_start(at)

    def _line_end(self, at: int) -> int:
        """Return the end of the line where a value ends, its line break included."""
        if at and self._text[at - 1] == "\n":
            return at
        line_break = self._text.find("\n", at)
        return len(self._text) if line_break < 0 else line_break + 1


def _original_value(entry: EditableYamlEntry) -> EditableYamlNode:
    assert entry.stood is not None
    return entry.stood[1]


def _original_start(entry: EditableYamlEntry) -> int:
    assert entry.start is not None
    return entry.start


def _original_end(entry: EditableYamlEntry) -> int:
    """Return where an entry ended in the text."""
    return max(entry.end, _original_value(entry).end)
