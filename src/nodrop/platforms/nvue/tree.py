"""The state that a file describes: a startup.yaml, or lines of `nv set`, as one tree of keys, and each key's place.

A startup.yaml is a list of `header`, `set` and `unset`, merged in their order. Most files have one `set`: then the
tree is the document's data itself, lists and ranges still in its keys. In all others they are written out. A leaf is
a text, or a mapping with it as the only key, as `nv set` writes it; the last one given counts.
"""

import re
from collections.abc import Iterator, Sequence

from nodrop.errors import InputProblems, Problem
from nodrop.identity import IdentityKey
from nodrop.limits import MAX_COMMANDS_PER_FILE
from nodrop.platforms.nvue.command_places import CommandPlaces
from nodrop.platforms.nvue.names import expand_key
from nodrop.syntax import nvset
from nodrop.syntax.places import Span, decode_utf8, split_lines
from nodrop.syntax.yaml import DocumentWithPlaces, DuplicateKey, parse_yaml

Path = tuple[str, ...]
Node = dict[str, object]

MAX_MERGED_KEYS = 2_000_000
"""Keys laid over each other in one file, ranges written out."""
MAX_COMMAND_WORDS = 40
_QUOTED_SCALAR_PATTERN = re.compile(r"'(?:[^'\n]|'')*'|\"(?:[^\"\\\n]|\\.)*\"")
_PROMPT_LINE = re.compile(rf"{nvset.PROMPT_PATTERN.pattern}.*$", re.MULTILINE)
"""The line of a session in which a configuration was asked for, when its output is kept with it."""


class NvueFileTree:
    """One file, read: `root` holds its settings, `unset` the words it takes back, `header` its data about itself."""

    def __init__(self, raw: bytes, display: str) -> None:
        """Raise InputProblems, naming the file `display`, where it is neither YAML of that shape nor `nv set`."""
        self.root: Node = {}
        self.unset: Node = {}
        self.header: Node = {}
        self.doubles: list[DuplicateKey] = []
        self.others: tuple[tuple[int, str], ...] = ()
        self._display, self._steps = display, 0
        self._text = decode_utf8(raw, display)
        self._lines: list[str] | None = None
        self._document: DocumentWithPlaces | None = None
        self._sets: list[tuple[int | str, ...]] = []
        self._unsets: list[tuple[int | str, ...]] = []
        self._script: nvset.NvSetScript | None = None
        self._places: dict[str, CommandPlaces] = {}
        self._raw_paths = _KeysAsWritten()
        if nvset.has_nv_lines(raw):
            self._script = nvset.parse_nv_commands(self._text)
            self.others = self._script.others
            if len(self._script.commands) > MAX_COMMANDS_PER_FILE:
                excess_text = f"{len(self._script.commands):,} commands"
                raise InputProblems(
                    [Problem(path=display, found=excess_text, expected=f"at most {MAX_COMMANDS_PER_FILE:,}")]
                )
            for command in self._script.commands:
                self._apply_command(command)
        else:
            self._text = comment_out_prompts(self._text)
            self._document = parse_yaml(self._text, display, doubled=self.doubles)
            self._merge_sections()

    def _merge_sections(self) -> None:
        assert self._document is not None
        sections: list[tuple[str, Node]] = []
        for prefix, verb, data in self._sections_of_document(self._document.data):
            if verb == "header":
                self.header = data if isinstance(data, dict) else {}
            elif isinstance(data, dict):
                sections.append((verb, data))
                (self._sets if verb == "set" else self._unsets).append(prefix)
            elif data is not None:
                self._raise_problem(prefix, f"`{verb}` of no mapping", "a mapping of settings")
        if [verb for verb, _ in sections] == ["set"]:
            self.root = sections[0][1]
            return
        for verb, data in sections:
            (self._merge_over if verb == "set" else self._drop_named_keys)(self.root, data, "")
            if verb == "unset":
                self._merge_over(self.unset, data, "")

    def _sections_of_document(self, data: object) -> Iterator[tuple[tuple[int | str, ...], str, object]]:
        entries = data if isinstance(data, list) else [data]
        for number, entry in enumerate(entries):
            place = (number,) if isinstance(data, list) else ()
            if not isinstance(entry, dict) or not entry.keys() <= {"header", "set", "unset"}:
                self._raise_problem(place, "another shape", "a list of `header`, `set` and `unset`")
            yield from (((*place, verb), verb, inside) for verb, inside in entry.items())

    def _raise_problem(self, place: Sequence[str | int], content: str, expected: str) -> None:
        assert self._document is not None
        line, column = self._document.line_and_column(place)
        raise InputProblems([Problem(path=self._display, line=line, column=column, found=content, expected=expected)])

    def _merge_over(self, target_node: Node, data: Node, parent: str) -> None:
        """Merge data over a tree; a later key moves to the end."""
        for key, value in data.items():
            for single_key in expand_key(parent, key):
                self._count_steps()
                old = target_node.pop(single_key, None)
                if isinstance(value, dict):
                    inside = old if isinstance(old, dict) else {}
                    self._merge_over(inside, value, single_key)
                    target_node[single_key] = inside
                else:
                    target_node[single_key] = value

    def _drop_named_keys(self, out_of: Node, data: Node, parent: str) -> None:
        """Take out of a tree what data names, and what that leaves empty."""
        for key, value in data.items():
            for single_key in expand_key(parent, key):
                self._count_steps()
                inside = out_of.get(single_key)
                if isinstance(value, dict) and value and isinstance(inside, dict):
                    self._drop_named_keys(inside, value, single_key)
                    if inside:
                        continue
                out_of.pop(single_key, None)

    def _apply_command(self, command: nvset.NvSetCommand) -> None:
        """Apply a command."""
        if len(command.words) > MAX_COMMAND_WORDS:
            return
        if command.verb == "unset":
            node = self.unset
            for word in command.words:
                node = _ensure_child_node(node, word)
        nodes, parent = [self.root], ""
        for position, word in enumerate(command.words):
            single = expand_key(parent, word)
            parent = word
            self._count_steps(len(nodes) * len(single))
            if command.verb == "set":
                nodes = [_ensure_child_node(node, key) for node in nodes for key in single]
            elif position == len(command.words) - 1:
                for node in nodes:
                    for single_key in single:
                        node.pop(single_key, None)
            else:
                inner = [node.get(key) for node in nodes for key in single]
                nodes = [node for node in inner if isinstance(node, dict)]

    def _count_steps(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MAX_MERGED_KEYS:
            excess_text = f"more than {MAX_MERGED_KEYS:,} keys, lists and ranges written out"
            raise InputProblems([Problem(path=self._display, found=excess_text, expected="a switch's configuration")])

    def span(self, path: Path, *, whole: bool = False, key: bool = False, unset: bool = False) -> Span | None:
        """Return the place of the value at a path of single keys, or of the nearest key above it; None above the first.

        If a value is a mapping, the place is that of its key. With `whole`, None unless all of the path exists;
        and for a mapping with a single key that is the whole value, `state: {up: {}}`, the place is that key's. With
        `key`, the place is that of the last word of the path, not of its value. With `unset`, it is the place where
        the path is taken back.
        """
        if self._script is not None:
            least = len(path) if whole else 1
            return self._places_of("unset" if unset else "set").span(path, least, key=key)
        assert self._document is not None
        best: tuple[int | str, ...] = ()
        for prefix in reversed(self._unsets if unset else self._sets):
            raw_path = self._raw_paths.find(_value_at_path(self._document.data, prefix), path, "")
            enough = len(path) if whole else 1
            if len(raw_path) >= enough and len(raw_path) + len(prefix) > len(best):
                best = (*prefix, *raw_path)
        if not best:
            return None
        value = _value_at_path(self._document.data, best)
        if whole and isinstance(value, dict) and len(value) == 1 and {} in value.values():
            best = (*best, *value)
        return self._span_of_raw_path(best, key=key)

    def _places_of(self, verb: str) -> CommandPlaces:
        if verb not in self._places:
            self._places[verb] = CommandPlaces(self._script.commands if self._script else (), verb)
        return self._places[verb]

    @property
    def revisions(self) -> tuple[tuple[nvset.NvSetCommand, ...], ...]:
        """The commands of each revision of a script, as `nv config apply` ends it; none where the file is no script."""
        if self._script is None:
            return ()
        commands = self._script.commands
        ends = (*self._script.applied, len(commands))
        return tuple(
            commands[first_end:last] for first_end, last in zip((0, *ends), ends, strict=False) if first_end < last
        )

    @property
    def is_unmerged(self) -> bool:
        """Whether `root` is the document's data itself: one state, with lists and ranges in its keys as written."""
        return len(self._sets) == 1 and self.root is _value_at_path(
            self._document and self._document.data, self._sets[0]
        )

    def header_span(self, key: str) -> Span | None:
        """Return where a value of the header stands."""
        if self._document is None or not isinstance(self._document.data, list):
            return None
        for number, entry in enumerate(self._document.data):
            if isinstance(entry, dict) and isinstance(entry.get("header"), dict) and key in entry["header"]:
                return self._span_of_raw_path((number, "header", key))
        return None

    def _span_of_raw_path(self, raw: tuple[int | str, ...], *, key: bool = False) -> Span:
        assert self._document is not None
        value = _value_at_path(self._document.data, raw)
        is_leaf = not key and not isinstance(value, dict | list) and value is not None
        line, column = self._document.line_and_column(raw, of="value" if is_leaf else "key")
        if self._lines is None:
            self._lines = split_lines(self._text)
        remainder = self._lines[line - 1][column - 1 :] if line <= len(self._lines) else ""
        leaf_text = value if isinstance(value, str) else remainder.split(" ")[0].rstrip(",}]")
        text = leaf_text if is_leaf else str(raw[-1])
        quoted = _QUOTED_SCALAR_PATTERN.match(remainder)
        length = quoted.end() if quoted else len(text) if remainder.startswith(text) else len(remainder.rstrip())
        return Span(line, column, line, column + length)

    def path_and_place_of_duplicate(self, double: DuplicateKey) -> tuple[Path, Span]:
        """Return the path and the place of a key that stands twice."""
        if self._lines is None:
            self._lines = split_lines(self._text)
        line, column = double.line, double.column
        remainder = self._lines[line - 1][column - 1 :]
        quoted = _QUOTED_SCALAR_PATTERN.match(remainder)
        length = quoted.end() if quoted else len(double.keys[-1])
        keys_of = double.keys[2:] if isinstance(self._document and self._document.data, list) else double.keys[1:]
        return keys_of, Span(line, column, line, column + length)


def comment_out_prompts(config_text: str) -> str:
    """Return a text of the same length, whose lines of a session are comments."""
    return _PROMPT_LINE.sub(_as_comment, config_text) if "@" in config_text else config_text


def _as_comment(match: re.Match[str]) -> str:
    """Return a line as a comment of the same length."""
    return "#" + match[0][1:]


def _ensure_child_node(node: Node, key: str) -> Node:
    """Return the node below a key, created if needed, and moved to the end of its siblings."""
    inside = node.pop(key, None)
    node[key] = inside = inside if isinstance(inside, dict) else {}
    return inside


def _value_at_path(data: object, path: Sequence[int | str]) -> object:
    for step in path:
        if isinstance(data, list) and isinstance(step, int):
            data = data[step]
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data


class _KeysAsWritten:
    """Leads paths of single keys down a document; which keys are lists or ranges is found once for each mapping."""

    def __init__(self) -> None:
        self._lists: dict[tuple[IdentityKey[Node], str], tuple[str, ...]] = {}

    def find(self, data: object, path: Path, parent: str) -> Path:
        """Return the keys, as the document writes them, that lead down a path as far as they go."""
        if not path or not isinstance(data, dict):
            return ()
        best: Path = ()
        for key in self._matching_keys(data, path[0], parent):
            raw_path = (key, *self.find(data[key], path[1:], path[0]))
            if len(raw_path) > len(best):
                best = raw_path
        return best

    def _matching_keys(self, data: Node, step: str, parent: str) -> Sequence[str]:
        """Return the keys that are a single key, or stand for it among others, the last one first."""
        at = (IdentityKey(data), parent)
        if at not in self._lists:
            self._lists[at] = tuple(key for key in data if expand_key(parent, key) != (key,))
        lists = [key for key in self._lists[at] if key == step or step in expand_key(parent, key)]
        if not lists or step not in data:
            return lists[::-1] or [step] * (step in data)
        fitting = {step, *lists}
        return [key for key in reversed(data) if key in fitting]
