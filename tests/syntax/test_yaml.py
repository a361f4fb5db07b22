"""The YAML loader: what it makes of a document, where everything stands, and what it refuses."""

import json
import re
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nodrop.errors import InputProblems
from nodrop.syntax import yaml

PLAIN = ["26", "5.10", "on", "no", "True", "NULL", "0x1F", "012", "1e3", "2026-11-21", "a b", "10.0.0.0/16", "é𝄞", "-1"]
WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}
# What may stand in a document as it is: no controls, surrogates or line separators, and no byte order mark.
visible = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff")
texts = st.text(st.one_of(visible, st.sampled_from("'\"\\é𝄞:#-")), max_size=6)


@pytest.fixture(params=["c", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both of the parsers, one after the other."""
    if request.param == "python":
        monkeypatch.setattr(yaml, "CParser", None)
    elif yaml.CParser is None:
        pytest.skip("ruamel.yaml.clib is not installed")
    return str(request.param)


def refusal(text: bytes | str, **limits: int) -> str:
    with pytest.raises(InputProblems) as caught:
        yaml.parse_yaml(text, "f", **limits)
    return str(caught.value)


class Writer:
    """Writes random data in a random layout, and notes the offset of each key and value as it goes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.random = draw(st.randoms(use_true_random=False))
        self.text = ""
        self.expected: dict[tuple[str | int, ...], tuple[int, int | None]] = {}

    def scalar(self, indent: int | None) -> tuple[str, Any]:
        """The source of a scalar and what it means; block style only where there is an indent."""
        kind = self.random.choice(["plain", "word", "double", "single", "block"])
        if kind == "plain":
            source = self.random.choice(PLAIN)
            return source, source
        if kind == "word":
            source = self.random.choice(list(WORDS))
            return (source, WORDS[source]) if source or indent is not None else ("~", None)
        if kind == "single":
            value = self.draw(texts)
            return "'" + value.replace("'", "''") + "'", value
        value = self.draw(texts) + self.random.choice(["", "\n", "\t\x01", "null"])
        if kind == "double" or indent is None:
            return json.dumps(value, ensure_ascii=False), value
        value = self.random.choice(["x\n  y: z", "null", "# no comment", "- é"])
        return "|-\n" + "\n".join(" " * (indent + 1) + line for line in value.split("\n")), value

    def key(self, known: dict[str, Any]) -> tuple[str, str]:
        value = self.random.choice([*PLAIN[:-1], "k"]) if self.random.random() < 0.7 else self.draw(texts)
        while value in known:
            value += "x"
        plain = re.fullmatch(r"[\w. /]*\w", value, re.ASCII) and value not in WORDS
        return (value, value) if plain else (json.dumps(value, ensure_ascii=False), value)

    def put(self, path: tuple[str | int, ...], levels: int, indent: int | None, key_at: int | None) -> Any:
        """Write one value after what is written; `indent` is that of the block it stands in, None in flow style."""
        kind = self.random.choice(["scalar", "list", "mapping"] if levels else ["scalar"])
        if kind == "scalar":
            source, value = self.scalar(indent)
            self.note(path, key_at, empty=not source)
            self.text += source
            return value
        size = self.random.randint(0, 3)
        if indent is None or not size or self.random.random() < 0.3:
            return self.flow(path, kind, size, levels, key_at)
        return self.block(path, kind, size, levels, indent, key_at)

    def note(self, path: tuple[str | int, ...], key_at: int | None, *, empty: bool = False) -> None:
        self.expected[path] = (len(self.text) if key_at is None else key_at, None if empty else len(self.text))

    def flow(self, path: tuple[str | int, ...], kind: str, size: int, levels: int, key_at: int | None) -> Any:
        self.note(path, key_at)
        data: Any = [] if kind == "list" else {}
        self.text += "[" if kind == "list" else "{"
        for index in range(size):
            self.text += self.random.choice(["", " ", "\n" + " " * 40])
            if kind == "list":
                data.append(self.put((*path, index), levels - 1, None, None))
            else:
                (source, key), at = self.key(data), len(self.text)
                self.text += f"{source}: "
                data[key] = self.put((*path, key), levels - 1, None, at)
            self.text += self.random.choice(["", " "]) + ("," if index < size - 1 else self.random.choice(["", ","]))
        self.text += "]" if kind == "list" else "}"
        return data

    def block(
        self, path: tuple[str | int, ...], kind: str, size: int, levels: int, indent: int, key_at: int | None
    ) -> Any:
        inner = indent + self.random.randint(1, 3)
        data: Any = [] if kind == "list" else {}
        for index in range(size):
            self.text += "\n" + self.random.choice(["", "\n", " # é\n"]) + " " * inner
            if not index:
                self.note(path, key_at)
            if kind == "list":
                self.text += "- "
                data.append(self.put((*path, index), levels - 1, inner, None))
            else:
                (source, key), at = self.key(data), len(self.text)
                self.text += f"{source}: "
                data[key] = self.put((*path, key), levels - 1, inner, at)
        return data


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any, dict[tuple[str | int, ...], tuple[int, int | None]]]:
    writer = Writer(draw)
    writer.text = draw(st.sampled_from(["", "# é\n", "---\n"]))
    data = writer.put((), 3, 0, None)
    return writer.text, data, writer.expected


@given(documents(), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_data_and_places_are_exactly_those_that_were_written(
    parser: str, document: tuple[str, Any, dict[tuple[str | int, ...], tuple[int, int | None]]], end: str, mark: bool
) -> None:
    text, data, expected = document
    read = yaml.parse_yaml(("\ufeff" * mark + text.replace("\n", end)).encode(), "f")
    assert read.data == data

    def place(offset: int) -> tuple[int, int]:
        before = text[:offset].split("\n")
        return len(before), len(before[-1]) + 1

    for path, (key_at, value_at) in expected.items():
        if value_at is not None:
            assert read.line_and_column(path) == place(value_at)
        elif parser == "c" and path:
            assert read.line_and_column(path)[0] == place(key_at)[0]
        if path and isinstance(path[-1], str):
            assert read.line_and_column(path, of="key") == place(key_at)


tokens = ["a", "é", ": ", ":", "\n", "\n  ", "- ", "[", "]", "{", "}", ", ", '"', "'", "&x ", "*x", "|\n", "# ", "? "]
tokens += ["!t ", "<<: ", "null", "\t", "\r", "\\", "%", "---\n", "...\n", "@", "\0", "\ufeff", "𝄞", "x: ", "y:\n"]


@given(st.lists(st.sampled_from(tokens), max_size=12).map("".join) | st.binary(max_size=30))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_or_refused_with_a_place(parser: str, raw: str | bytes) -> None:
    try:
        document = yaml.parse_yaml(raw, "f")
    except InputProblems as error:
        for problem in error.problems:
            assert problem.line
            assert problem.column
            assert problem.found
            assert str(problem).isprintable()
            assert not re.search(r"<\w|\('|\bNone\b", str(problem))
    else:
        assert document.line_and_column([]) >= (1, 1)


def test_scalars_keep_their_text(parser: str) -> None:
    text = """
version: 5.10
26: 3
on: off
mac: 52:54:00
long: |
  two
  lines
folded: >-
  one
  line
quoted: ["null", 'true', "~", "", 'it''s', "\\u00e9\\n"]
words: [null, true, false, ~]
others: [Null, TRUE, yes, 0777, .inf, 1_000]
nothing:
"null": key
true: key
"""
    assert yaml.parse_yaml(text, "f").data == {
        "version": "5.10",
        "26": "3",
        "on": "off",
        "mac": "52:54:00",
        "long": "two\nlines\n",
        "folded": "one line",
        "quoted": ["null", "true", "~", "", "it's", "é\n"],
        "words": [None, True, False, None],
        "others": ["Null", "TRUE", "yes", "0777", ".inf", "1_000"],
        "nothing": None,
        "null": "key",
        "true": "key",
    }


@pytest.mark.parametrize("text", [b"", "", "# only a comment\n", "---\n", "\ufeff", "---\n# é\n..."])
def test_an_empty_document_has_no_data_and_a_place(parser: str, text: str | bytes) -> None:
    document = yaml.parse_yaml(text, "f")
    assert document.data is None
    assert document.line_and_column(["a"]) >= (1, 1)


def test_aliases_share_what_they_stand_for_and_point_there(parser: str) -> None:
    document = yaml.parse_yaml("a: &x {b: [1, 2]}\nc: *x\nd: &y text\ne: [*y, *x]\n", "f")
    assert document.data == {
        "a": {"b": ["1", "2"]},
        "c": {"b": ["1", "2"]},
        "d": "text",
        "e": ["text", {"b": ["1", "2"]}],
    }
    assert document.data["c"] is document.data["a"]
    assert document.line_and_column(["c"]) == (2, 4)
    assert document.line_and_column(["c", "b", 1]) == (1, 15)
    assert document.line_and_column(["e", 0]) == (4, 5)
    assert document.line_and_column(["e", 1, "b"], of="key") == (1, 8)


def test_an_anchor_may_be_set_again(parser: str) -> None:
    assert yaml.parse_yaml("- &x {a: &x 1, b: *x}\n- *x\n- &x 2\n- *x", "f").data == [
        {"a": "1", "b": "1"},
        "1",
        "2",
        "2",
    ]


def test_what_is_missing_has_the_place_of_its_nearest_ancestor() -> None:
    document = yaml.parse_yaml("top:\n  kind: torus\n  sizes: [2, 3]\n", "f")
    assert document.line_and_column(["top", "missing"]) == (2, 3)
    assert document.line_and_column(["top", "missing"], of="key") == (1, 1)
    assert document.line_and_column(["top", "sizes", 7]) == (3, 10)
    assert document.line_and_column(["top", "torus", "sizes", 1, "x"]) == (3, 14)
    assert document.line_and_column(["nope"]) == document.line_and_column([]) == (1, 1)


def test_places_stay_when_the_data_is_changed() -> None:
    document = yaml.parse_yaml("a: 1\nb: {c: 2}\n", "f")
    document.data.pop("a")
    document.data["b"].clear()
    assert document.line_and_column(["b", "c"]) == (2, 8)


class Torus(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["torus"]
    sizes: dict[int, list[int]]


class Cabling(BaseModel):
    kind: Literal["cabling"]


class Intent(BaseModel):
    topology: Annotated[Torus | Cabling, Field(discriminator="kind")]


def test_places_of_what_pydantic_refuses() -> None:
    text = "topology:\n  kind: torus\n  wrong: 1\n  sizes:\n    x: []\n    7: [1, é]\n"
    document = yaml.parse_yaml(text, "f")
    with pytest.raises(ValidationError) as caught:
        Intent.model_validate(document.data)
    places = {error["type"]: document.line_and_column(error["loc"], of="key") for error in caught.value.errors()}
    assert places == {"int_parsing": (6, 12), "extra_forbidden": (3, 3)}
    assert [document.line_and_column(error["loc"]) for error in caught.value.errors()] == [(5, 8), (6, 12), (3, 10)]


REFUSED = {
    # keys
    "a: 1\nb: 2\na: 3\n": "3:1: a: the key 'a' again; expected each key once (first at line 1)",
    'l:\n  - c: 1\n    "c": 2\n': "3:5: l.0.c: the key 'c' again; expected each key once (first at line 2)",
    "a: {b: 1, b: 2}": "1:11: a.b: the key 'b' again; expected each key once (first at line 1)",
    "null: a": "1:1: the key null; expected a key with a name",
    "x:\n  ~: a": "2:3: x: the key ~; expected a key with a name",
    "&x : a": "1:1: an empty key; expected a key with a name",
    "? [a, b]\n: c": "1:3: a list or mapping as a key; expected text (quote text that begins with a bracket)",
    "x: {{a: b}: c}": "1:5: x: a list or mapping as a key; expected text (quote text that begins with a bracket)",
    "a: &x b\n*x : c": "2:1: the alias '*x' as a key; expected a key written out",
    "a: &x {b: c}\nd:\n  <<: *x": "3:3: d: a merge key; expected keys written out (aliases of whole values are fine)",
    # tags, documents
    "a: !!str 1": "1:4: a: the tag '!!str'; expected a value without a tag (quote text that begins with '!')",
    "é: [𝄞, !env A]": "1:8: é.1: the tag '!env'; expected a value without a tag (quote text that begins with '!')",
    "! {a: b}": "1:1: the tag '!'; expected a value without a tag (quote text that begins with '!')",
    "!!python/object:os.system a": (
        "1:1: the tag '!!python/object:os.system'; expected a value without a tag (quote text that begins with '!')"
    ),
    "a: !e!x b": "1:4: a tag; expected a value without a tag (quote text that begins with '!')",
    "a: b\n---\nc: d\n": "2:1: a second document; expected one document in a file",
    "a: b\n...\n---\n": "3:1: a second document; expected one document in a file",
    "%YAML 2.0\n---\na": "1:1: another version of YAML; expected 1.2",
    # aliases
    "a: *x": "1:4: a: the alias '*x'; expected the name of an anchor above it (quote text that begins with '*')",
    "a: &x {b: [*x]}": "1:12: a.b.0: the alias '*x' inside its own anchor; expected an alias of a complete value",
    # characters
    "a: b\nc: \0": "2:4: a NUL byte; expected visible characters",
    "é𝄞: \x1b[0m": "1:5: U+001B; expected visible characters",
    "a: b\u2028c: d": "1:5: U+2028; expected visible characters",
    "a: b\x85": "1:5: U+0085; expected visible characters",
    "a: \ufeff": "1:4: U+FEFF; expected visible characters",
    "a: \ud800": "1:4: U+D800; expected visible characters",
    b"\xff\xfea\0": "1:1: UTF-16 text; expected UTF-8",
    b"\xfe\xff\0a": "1:1: UTF-16 text; expected UTF-8",
    b"a: b\r\n\xc3\xa9: \xf0\x9d\x84\x9e\xff": "2:5: byte 0xff at offset 14; expected UTF-8",
    b"\xef\xbb\xbfa: \x01": "1:4: U+0001; expected visible characters",
    # layout
    "a:\n\tb: c": "2:1: a tab; expected a value (YAML indents with spaces only)",
    "a: [1, 2": "1:9: the end of the file; expected ',' or ']' in the list opened at line 1",
    "\na: {b\nc: d": "3:2: ':'; expected ',' or '}' in the mapping opened at line 2",
    "a: 'x\nb: c\n": "1:4: a quote that is never closed",
    'a: "x\n---\ny"': "1:4: a quote that is never closed",
    "a: @x": "1:4: '@'; expected a value (quote text that begins with it)",
    "at: 90%\nb: %x": "2:4: '%'; expected a value (quote text that begins with it)",
    "a: b: c": "1:5: ':' where no key ends (quote text with ': ', or mind the indentation)",
    "a: b\n  c: d": "2:4: ':' where no key ends (quote text with ': ', or mind the indentation)",
    "a:\n  b: c\n d: e": "3:2: 'd'; expected a key, or the end of the mapping of line 1 (mind indentation and quotes)",
    "a: \"x\" y": "1:8: 'y'; expected a key, or the end of the mapping of line 1 (mind indentation and quotes)",
    "a: b\nfoo\nc: d": "2:1: 'foo'; expected a key with ':' after it",
    "- a\nb: c": "2:1: 'b'; expected '- ', or the end of the list of line 1 (mind the indentation)",
    "a: - b": "1:4: '-' where no list can begin (begin a list on a separate line)",
    "a: *": "1:4: '*' without a name; expected an anchor's name (quote text that begins with '*')",
    "a: [fd00::/48]": "1:9: ':' inside text in [ ] or { }; expected quotes around it",
    "a: {b: 10.0.0.1:80}": "1:16: ':' inside text in [ ] or { }; expected quotes around it",
    "{a: b}}": "1:7: '}'; expected the end of the document (mind the indentation)",
    "a: }": "1:4: '}'; expected a value",
    "a: |x\n b": "1:5: 'x'; expected a line break after '|' or '>'",
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REFUSED.items(), ids=lambda case: repr(case)[:40])
def test_what_is_refused_is_named_with_its_place(parser: str, text: str | bytes, said: str) -> None:
    assert refusal(text) == f"f:{said}"


def test_faults_that_leave_the_structure_clear_are_named_together() -> None:
    text = "a: !t 1\nb: {<<: 2}\na: *x\nc: [1\n"
    assert refusal(text).split("\n") == [
        "f:1:4: a: the tag '!t'; expected a value without a tag (quote text that begins with '!')",
        "f:2:5: b: a merge key; expected keys written out (aliases of whole values are fine)",
        "f:3:1: a: the key 'a' again; expected each key once (first at line 1)",
        "f:3:4: a: the alias '*x'; expected the name of an anchor above it (quote text that begins with '*')",
        "f:5:1: the end of the file; expected ',' or ']' in the list opened at line 4",
    ]
    assert refusal("a: 1\n" * 10_000).count("\n") == yaml.MAX_PROBLEMS - 1


def test_foreign_text_in_messages_is_short_and_on_one_line() -> None:
    key = json.dumps("\x1b\n" + "y" * 100)
    assert refusal(f"{key}: 1\n{key}: 2") == (
        f"f:2:1: \\u001b\\u000a{'y' * 38}…: the key '\\u001b\\u000a{'y' * 38}…' again; "
        "expected each key once (first at line 1)"
    )


class Count:
    """Counts the events that are asked of the parser; yields them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events = 0
        events = yaml.yaml_events

        def counted(text: str) -> Any:
            for event in events(text):
                self.events += 1
                yield event

        monkeypatch.setattr(yaml, "yaml_events", counted)


def test_oversize_is_refused_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch)
    assert refusal(b"a: [" * 10, max_bytes=39) == "f: 40 bytes; expected at most 39 bytes"
    assert refusal("a" * 8_000_001) == "f: 8,000,001 bytes; expected at most 8,000,000 bytes"
    assert count.events == 0


@pytest.mark.parametrize(("opening", "column"), [("[", 65), ("{a: ", 257), ("- ", 129), ("? ", 3)])
def test_deep_nesting_is_refused_at_its_first_level_too_many(
    parser: str, opening: str, column: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Count(monkeypatch)
    said = "a list or mapping at level 65; expected at most 64 levels"
    assert refusal(opening * 50_000).startswith(f"f:1:{column}: ")
    assert (said in refusal(opening * 50_000)) is (opening != "? ")
    assert count.events < 400


@pytest.mark.parametrize("text", ['"\\U00110000"', '"\\UFFFFFFFF"', '"\\ud800"', "%YAML 1." + "9" * 5000 + "\n---\n"])
def test_numbers_out_of_bounds_are_refused(parser: str, text: str) -> None:
    assert refusal(text).startswith("f:1:")


def test_sixty_four_levels_are_read(parser: str) -> None:
    assert yaml.parse_yaml("[" * 64 + "]" * 64, "f").data == json.loads("[" * 64 + "]" * 64)


def test_depth_counts_through_aliases(parser: str) -> None:
    half = "a: &a " + "[" * 30 + "]" * 30 + "\n"
    assert yaml.parse_yaml(half + "b: " + "[" * 33 + "*a" + "]" * 33, "f").line_and_column(["b"]) == (2, 4)
    said = refusal(half + "b: " + "[" * 34 + "*a" + "]" * 34)
    assert said == "f:2:38: b" + ".0" * 34 + ": a list or mapping at level 65; expected at most 64 levels"
    chain = "- &a0 []\n" + "".join(f"- &a{n + 1} [*a{n}]\n" for n in range(90))
    assert refusal(chain).endswith("a list or mapping at level 65; expected at most 64 levels")


def test_a_small_alias_bomb_is_refused_by_arithmetic(parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch)
    bomb = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol]\n"
    for name, before in zip("bcdefghij", "abcdefghi", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
    said = refusal(bomb)
    assert re.fullmatch(r"f:6:\d+: f\.\d: [\d,]+ characters repeated by aliases; expected at most 1,000,000", said)
    assert count.events < 100


def test_a_bomb_of_five_megabytes_is_refused_at_its_first_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch)
    said = refusal("a: &a " + "x" * 5_000_000 + "\nb: [" + "*a, " * 99 + "]\n")
    assert said == "f:2:5: b.0: 5,000,003 characters repeated by aliases; expected at most 1,000,000"
    assert count.events < 10
    count.events = 0
    said = refusal("a: &a x\nb:\n" + "- *a\n" * 1_000_000)
    assert said == "f:103:3: b.100: alias number 101; expected at most 100 aliases"
    assert count.events < 120


def test_a_hundred_aliases_are_read(parser: str) -> None:
    assert yaml.parse_yaml("a: &a {x: 1}\nb: [" + "*a, " * 100 + "]\n", "f").data["b"] == [{"x": "1"}] * 100


def test_doubled_keys_are_told_and_the_last_counts_where_that_is_asked_for() -> None:
    doubled: list[yaml.DuplicateKey] = []
    document = yaml.parse_yaml("l:\n  - c: 1\n    d: {e: 1, e: 2}\n    c: 3\n", "x", doubled=doubled)
    assert document.data == {"l": [{"c": "3", "d": {"e": "2"}}]}
    assert doubled == [
        yaml.DuplicateKey(keys=("l", "0", "d", "e"), line=3, column=15, first_line=3),
        yaml.DuplicateKey(keys=("l", "0", "c"), line=4, column=5, first_line=2),
    ]
    assert document.line_and_column(("l", 0, "c")) == (4, 8)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name: pod1\nmode: lossless\n", "pod1"),
        ("a: {name: no}\nb: [name, no]\nc: name\nname: 'pod 1'\n", "pod 1"),
        ("\ufeff# first\nname: 1.10\n", "1.10"),
        ("a:\n  name: no\n", None),
        ("name: [pod1]\n", None),
        ("name: pod1\n]: what follows is not read\n", "pod1"),
        ("]\nname: pod1\n", None),
        ("", None),
    ],
)
def test_a_key_at_the_top_is_read_without_the_rest(text: str, found: str | None) -> None:
    assert yaml.read_top_level_text(text.encode(), "name") == found
    assert yaml.read_top_level_text(b"\xff\xfe", "name") is None
