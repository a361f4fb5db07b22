"""The one YAML loader: plain dicts, lists and texts in one pass over the parser's events, and the place of each.

A scalar keeps its text, because the schema gives it a type (`version: 5.10` is "5.10", `on` is "on"); only an unquoted
`null`, `~` or nothing is None, and an unquoted `true` or `false` a bool. Constructs that give YAML another meaning than
it shows are refused: duplicate and merge keys, tags, second documents, invisible line breaks and control characters.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from nodrop.errors import InputProblems, Problem
from nodrop.syntax.places import (
    BYTE_ORDER_MARK,
    Lines,
    decode_utf8,
    quote_text,
    refuse_oversize,
    sanitize_for_message,
    word_at_offset_for_message,
)
from nodrop.syntax.plain import NOT_PLAIN_YAML, VALUE_BY_YAML_WORD
from nodrop.syntax.plain import load_simple_yaml_or_marker as load_plain

try:
    from _ruamel_yaml import CParser  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    CParser = None

MAX_YAML_BYTES = 8_000_000
MAX_LEVELS = 64
MAX_ALIASES = 100
MAX_ALIAS_REPEATED_CHARACTERS = 1_000_000
MAX_PROBLEMS = 20

_OffsetsByKey: TypeAlias = "dict[str | int, tuple[int, int, _OffsetsByKey | None]]"
"""Of a list or mapping, by index or key: the offset of the key, that of the value, and the same for what that holds."""

# YAML's printable characters but those that end a line for some programs only, and the byte order mark.
_UNPRINTABLE_PATTERN = re.compile(
    r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATE_PATTERN = re.compile(r"[\ud800-\udfff]")

# By a part of what the C parser or the Python one says: what was found (where empty, the word at the place), what was
# expected ({line} is where the construct begins), a hint, and whether to point at the beginning of the construct.
_SYNTAX_ERROR_TEXTS: tuple[tuple[str, str, str, str, bool], ...] = (
    ("tab character", "a tab", "spaces", "YAML indents with spaces only", False),
    ("mapping values are not", "':' where no key ends", "", "quote text with ': ', or mind the indentation", False),
    ("sequence entries are not", "'-' where no list can begin", "", "begin a list on a separate line", False),
    ("mapping keys are not", "'?' where no key can begin", "", "quote text that begins with '?'", False),
    ("could not find expected ':'", "", "a key with ':' after it", "", True),
    ("a quoted scalar found unexpected", "a quote that is never closed", "", "", True),
    ("found unexpected ':'", "':' inside text in [ ] or { }", "quotes around it", "", False),
    ("scanning an alias", "'*' without a name", "an anchor's name", "quote text that begins with '*'", True),
    ("scanning an anchor", "'&' without a name", "an anchor's name", "quote text that begins with '&'", True),
    ("escape", "", "an escape that YAML knows", "in single quotes a backslash is just that", False),
    ("hexdecimal", "", "a hexadecimal digit", "in single quotes a backslash is just that", False),
    ("a block scalar", "", "a line break after '|' or '>'", "", False),
    ("tag", "a tag", "a value without a tag", "quote text that begins with '!'", True),
    ("directive", "a directive", "none", "quote text that begins with '%'", True),
    ("incompatible", "another version of YAML", "1.2", "", False),
    ("document", "", "the end of the document", "mind the indentation", False),
    ("node content", "", "a value", "", False),
    ("a block mapping", "", "a key, or the end of the mapping of line {line}", "mind indentation and quotes", False),
    ("a block collection", "", "'- ', or the end of the list of line {line}", "mind the indentation", False),
    ("a flow sequence", "", "',' or ']' in the list opened at line {line}", "", False),
    ("a flow mapping", "", "',' or '}}' in the mapping opened at line {line}", "", False),
)


class DocumentWithPlaces:
    """The `data` of a document, and its places, which stay the same when a caller changes the data."""

    def __init__(self, data: object, path: str, read: "_YamlEventReader") -> None:
        """`read` has the text, and has read it or will when a place is asked for."""
        self.data = data
        self.path = path
        self._read = read

    @property
    def text(self) -> str:
        """Return the text read, without its byte order mark."""
        return self._read.text

    def line_and_column(self, keys: Sequence[str | int], *, of: Literal["key", "value"] = "value") -> tuple[int, int]:
        """Return line and column of the value at `keys`, or of its key; equal for entries of lists and the root.

        A step that is not in the document is skipped: pydantic puts the tags of unions into its `loc`, and a missing
        value gets the place of its nearest ancestor. Below an alias, places are those of its anchor's value.
        """
        if not self._read.root.places:
            self._read.read_document()
        key_at, value_at, inside = self._read.root.places[0]
        for step in keys:
            if inside is not None and step in inside:
                key_at, value_at, inside = inside[step]
        return self._read.lines.line_and_column(key_at if of == "key" else value_at)

    def problem(
        self,
        keys: Sequence[str | int],
        fault: str,
        expected: str = "",
        hint: str = "",
        *,
        of: Literal["key", "value"] = "value",
    ) -> Problem:
        """Return a problem of the value at `keys`, or of its key, at its `line_and_column`."""
        line, column = self.line_and_column(keys, of=of)
        where = ".".join(sanitize_for_message(str(key)) for key in keys)
        return Problem(
            path=self.path,
            line=line,
            column=column,
            where=where,
            found=fault,
            expected=expected,
            hint=hint,
            quoted_line=self.line_text(line),
        )

    def line_text(self, line: int) -> str | None:
        """Return the text of a line; None where it is not to be quoted."""
        return self._read.lines.text(line)


class DuplicateKey(NamedTuple):
    """A key that stands twice in a mapping: its path, the place of the later one, and the line of the earlier."""

    keys: tuple[str, ...]
    line: int
    column: int
    first_line: int


def parse_yaml(
    raw: bytes | str, path: str, *, max_bytes: int = MAX_YAML_BYTES, doubled: list[DuplicateKey] | None = None
) -> DocumentWithPlaces:
    """Return the one document of `raw`, its data None if it is empty; raises InputProblems that name the file `path`.

    With a list `doubled`, keys that stand twice are added to it and the last one counts, as programs that are not as
    strict have it; without it they are refused.
    """
    refuse_oversize(len(raw), path, max_bytes)
    text = raw.removeprefix(BYTE_ORDER_MARK) if isinstance(raw, str) else decode_utf8(raw, path)
    reader = _YamlEventReader(text, path, doubled)
    data = load_plain(text)
    if data is not NOT_PLAIN_YAML:
        return DocumentWithPlaces(data, path, reader)
    refuse_oversize(
        len(raw), path, MAX_YAML_BYTES
    )  # what programs write is plain; the full parser takes 150 bytes a byte
    return reader.read_document()


def yaml_events(source_text: str) -> Iterator[Any]:
    """Return the parser's events; without the C extension 14 times slower, and stricter about tabs."""
    if CParser is not None:
        yield from iter(CParser(source_text).get_event, None)
        return
    try:
        yield from YAML(typ="safe", pure=True).parse(source_text)
    except (ValueError, OverflowError) as error:
        raise YAMLError(str(error)) from error


def read_top_level_text(file_content: bytes, key: str) -> str | None:
    """Return the text of a key at the top of a document, read only up to that key; None if there is none.

    Faults below it are not found, and a text that is not YAML up to there has no such key.
    """
    level, last = 0, None
    try:
        for event in yaml_events(file_content.decode().removeprefix("\ufeff")):
            if isinstance(event, MappingStartEvent | SequenceStartEvent):
                level, last = level + 1, None
            elif isinstance(event, MappingEndEvent | SequenceEndEvent):
                level -= 1
            elif isinstance(event, ScalarEvent) and level == 1:
                if last == key:
                    return str(event.value)
                last = None if last is not None else event.value
    except (YAMLError, UnicodeDecodeError):
        pass
    return None


class _YamlNode:
    """A list or mapping while it is read, and any value that an anchor names."""

    __slots__ = ("closed", "data", "flow", "key", "key_at", "levels", "places", "repeated", "size", "start")

    def __init__(self, data: Any, start: int, *, flow: bool = False, repeated: int = 0) -> None:
        self.data = data
        self.start = start
        self.flow = flow
        self.places: _OffsetsByKey = {}
        self.key: str | None = None
        """The key whose value comes next; None where a key is due, and in lists."""
        self.key_at = 0
        self.closed = False
        self.levels = 0
        """How deep containers are nested from here on, this one counted and aliases followed."""
        self.repeated = repeated
        """Characters that aliases had repeated when this began."""
        self.size = 1
        """Characters of the text from here to the end of this, and of what aliases in it repeat."""


class _YamlEventReader:
    """Makes data of events. A fault that leaves the structure clear does not stop it: one run then names many."""

    def __init__(self, text: str, path: str, doubled: list[DuplicateKey] | None = None) -> None:
        self.text, self.path, self.lines, self.doubled = text, path, Lines(text), doubled
        self.root = _YamlNode([], 0)
        self.open = [self.root]
        self.anchors: dict[str, _YamlNode] = {}
        self.aliases = self.repeated = self.documents = 0
        self.problems: list[Problem] = []

    def read_document(self) -> DocumentWithPlaces:
        if invisible := _UNPRINTABLE_PATTERN.search(self.text):
            self.raise_fault_and_noted_ones(invisible.start(), quote_text(invisible[0]), "visible characters")
        steps = {
            ScalarEvent: self.read_scalar,
            AliasEvent: self.read_alias,
            MappingStartEvent: self.open_collection,
            SequenceStartEvent: self.open_collection,
            MappingEndEvent: self.close_collection,
            SequenceEndEvent: self.close_collection,
            DocumentStartEvent: self.refuse_second_document,
        }
        try:
            for event in yaml_events(self.text):
                if step := steps.get(type(event)):
                    step(event)
        except YAMLError as error:
            self.raise_syntax_error(error)
        if self.problems:
            raise InputProblems(self.problems)
        (data,) = self.root.data or (None,)
        self.root.places = self.root.places or {0: (0, 0, None)}
        return DocumentWithPlaces(data, self.path, self)

    def refuse_second_document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self.raise_fault_and_noted_ones(event.start_mark.index, "a second document", "one document in a file")

    def read_scalar(self, event: Any) -> None:
        at, value, top = event.start_mark.index, event.value, self.open[-1]
        plain = event.implicit[0]
        self.refuse_tag(event)
        if plain and top.flow and ":" in value:
            # The C parser refuses this by itself; whether a file can be read must not depend on the parser.
            self.raise_fault_and_noted_ones(
                at + value.index(":"), "':' inside text in [ ] or { }", "quotes around it", where=""
            )
        if not value.isascii() and _SURROGATE_PATTERN.search(value):
            self.raise_fault_and_noted_ones(at, "half of a surrogate pair", "a character")
        if top.key is None and type(top.data) is dict:
            self.read_key(top, value, at, plain)
            return
        if plain and value in VALUE_BY_YAML_WORD:
            value = VALUE_BY_YAML_WORD[value]
        if event.anchor:
            node = self.anchors[event.anchor] = _YamlNode(value, at)
            node.closed, node.size = True, max(1, event.end_mark.index - at)
        self.add_value_to_open_collection(value, at, None)

    def read_key(self, top: _YamlNode, key: str, at: int, plain: bool) -> None:
        if plain and VALUE_BY_YAML_WORD.get(key, "") is None:
            self.note_fault(at, "an empty key" if not key else f"the key {key}", "a key with a name")
        elif plain and key == "<<":
            self.note_fault(at, "a merge key", "keys written out", "aliases of whole values are fine")
        elif key in top.places:
            top.key = key
            first_column = self.lines.line_and_column(top.places[key][0])[0]
            if self.doubled is None:
                self.note_fault(
                    at, f"the key {quote_text(key)} again", "each key once", f"first at line {first_column}"
                )
            elif len(self.doubled) < MAX_PROBLEMS:
                self.doubled.append(
                    DuplicateKey(self.path_to_next_value(), *self.lines.line_and_column(at), first_column)
                )
        top.key, top.key_at = key, at

    def read_alias(self, event: Any) -> None:
        at, top, node = event.start_mark.index, self.open[-1], self.anchors.get(event.anchor)
        name = quote_text(f"*{event.anchor}")
        if top.key is None and type(top.data) is dict:
            self.raise_fault_and_noted_ones(at, f"the alias {name} as a key", "a key written out")
        if node is None:
            self.note_fault(
                at, f"the alias {name}", "the name of an anchor above it", "quote text that begins with '*'"
            )
            self.add_value_to_open_collection(None, at, None)
            return
        if not node.closed:
            self.raise_fault_and_noted_ones(
                at, f"the alias {name} inside its own anchor", "an alias of a complete value"
            )
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            self.raise_fault_and_noted_ones(at, f"alias number {self.aliases}", f"at most {MAX_ALIASES} aliases")
        self.repeated += node.size
        if self.repeated > MAX_ALIAS_REPEATED_CHARACTERS:
            fault = f"{self.repeated:,} characters repeated by aliases"
            self.raise_fault_and_noted_ones(at, fault, f"at most {MAX_ALIAS_REPEATED_CHARACTERS:,}")
        self.refuse_depth(at, len(self.open) - 1 + node.levels)
        top.levels = max(top.levels, node.levels + 1)
        self.add_value_to_open_collection(node.data, at, node.places or None)

    def open_collection(self, event: Any) -> None:
        at, top = event.start_mark.index, self.open[-1]
        if top.key is None and type(top.data) is dict:
            self.raise_fault_and_noted_ones(
                at, "a list or mapping as a key", "text", "quote text that begins with a bracket"
            )
        self.refuse_tag(event)
        self.refuse_depth(at, len(self.open))
        data: Any = {} if type(event) is MappingStartEvent else []
        node = _YamlNode(data, at, flow=event.flow_style, repeated=self.repeated)
        node.levels = 1
        self.open.append(node)
        if event.anchor:
            self.anchors[event.anchor] = node

    def close_collection(self, event: Any) -> None:
        node = self.open.pop()
        node.closed = True
        node.size = max(1, event.end_mark.index - node.start) + self.repeated - node.repeated
        self.open[-1].levels = max(self.open[-1].levels, node.levels + 1)
        self.add_value_to_open_collection(node.data, node.start, node.places)

    def add_value_to_open_collection(self, value: Any, at: int, inside: "_OffsetsByKey | None") -> None:
        top = self.open[-1]
        if top.key is None:
            top.places[len(top.data)] = (at, at, inside)
            top.data.append(value)
        else:
            top.places[top.key] = (top.key_at, at, inside)
            top.data[top.key] = value
            top.key = None

    def refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            fault = f"the tag {quote_text(str(event.tag).replace('tag:yaml.org,2002:', '!!'))}"
            self.note_fault(event.start_mark.index, fault, "a value without a tag", "quote text that begins with '!'")

    def refuse_depth(self, at: int, levels: int) -> None:
        if levels > MAX_LEVELS:
            self.raise_fault_and_noted_ones(at, f"a list or mapping at level {levels}", f"at most {MAX_LEVELS} levels")

    def raise_syntax_error(self, error: YAMLError) -> None:
        """Raise a parser's fault in our words: the parsers' own differ, and name their tokens."""
        if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
            self.raise_fault_and_noted_ones(0, "text that cannot be read", "YAML", where="")
        at = error.problem_mark.index
        begin = error.context_mark.index if error.context_mark else at
        parser_message = f"{error.context or ''} {error.problem}"
        if "cannot start any token" in parser_message:
            tab = self.text.startswith("\t", at)
            hint = "YAML indents with spaces only" if tab else "quote text that begins with it"
            self.raise_fault_and_noted_ones(at, word_at_offset_for_message(self.text, at), "a value", hint, where="")
        for pattern, token, expected, hint, at_begin in _SYNTAX_ERROR_TEXTS:
            if pattern in parser_message:
                at = begin if at_begin else at
                expected = expected.format(line=self.lines.line_and_column(begin)[0])
                self.raise_fault_and_noted_ones(
                    at, token or word_at_offset_for_message(self.text, at), expected, hint, where=""
                )
        self.raise_fault_and_noted_ones(at, word_at_offset_for_message(self.text, at), "YAML", where="")

    def path_to_next_value(self) -> tuple[str, ...]:
        """Return the path to the next value, by key and by number."""
        steps = (str(len(node.data)) if type(node.data) is list else node.key for node in self.open[1:])
        return tuple(step for step in steps if step is not None)

    def dotted_path_to_next_value(self) -> str:
        """Return the path to the next value, as a message shows it."""
        return ".".join(map(sanitize_for_message, self.path_to_next_value()))

    def note_fault(self, at: int, fault_text: str, expected: str, hint: str = "", *, where: str | None = None) -> None:
        """Note a fault and go on, unless there are too many."""
        line, column = self.lines.line_and_column(at)
        where = self.dotted_path_to_next_value() if where is None else where
        texts = {"found": fault_text, "expected": expected, "hint": hint}
        self.problems.append(Problem(path=self.path, line=line, column=column, where=where, **texts))
        if len(self.problems) >= MAX_PROBLEMS:
            raise InputProblems(self.problems)

    def raise_fault_and_noted_ones(
        self, at: int, fault_text: str, expected: str, hint: str = "", *, where: str | None = None
    ) -> NoReturn:
        """Raise with this fault and those noted before."""
        self.note_fault(at, fault_text, expected, hint, where=where)
        raise InputProblems(self.problems)
