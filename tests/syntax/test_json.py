"""JSON of configurations: what is refused and where, places of keys and values, keys that stand twice."""

import json as reference
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodrop.errors import InputProblems
from nodrop.syntax import json
from nodrop.syntax.places import Lines, Span, read_regular_file

characters = st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('"\\/\n\r\té𝄞\u2028'))
texts = st.text(characters, max_size=6)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Any, str]:
    """A random value and a random way to write it."""
    random = draw(st.randoms(use_true_random=False))

    def space() -> str:
        return "".join(random.choice([" ", "\t", "\n", "\r\n", "\r"]) for _ in range(random.choice([0, 0, 1, 2])))

    def text(value: str) -> str:
        return reference.dumps(value, ensure_ascii=random.random() < 0.5)

    def write(value: Any) -> str:
        if isinstance(value, dict):
            entries = [
                f"{space()}{text(key)}{space()}:{space()}{write(inner)}{space()}" for key, inner in value.items()
            ]
            return "{" + (",".join(entries) or space()) + "}"
        if isinstance(value, list):
            return "[" + (",".join(f"{space()}{write(inner)}{space()}" for inner in value) or space()) + "]"
        return text(value) if isinstance(value, str) else reference.dumps(value)

    value = draw(values)
    return value, space() + write(value) + space()


def cut(text: str, span: Span) -> str:
    """The text at a span, counted line by line."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    start = sum(map(len, lines[: span.line - 1])) + span.column - 1
    return text[start : sum(map(len, lines[: span.end_line - 1])) + span.end_column - 1]


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """Every path in a value, with what is there."""
    yield path, value
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield from paths(inner, (*path, step))


@given(layouts(), st.booleans())
@settings(deadline=None)
def test_places_hold_exactly_the_keys_and_values(layout: tuple[Any, str], mark: bool) -> None:
    value, text = layout
    raw = ("\ufeff" * mark + text).encode()
    assert json.parse_json_text(raw, "f") == value
    assert json.duplicate_keys(raw) == []
    locator = json.JsonPlaceLocator(raw)
    for path, inner in paths(value):
        span = locator.value_span(path)
        assert span is not None
        assert reference.loads(cut(text, span)) == inner
        assert cut(text, span) == cut(text, span).strip(" \t\n\r")
        key = locator.key_span(path)
        if path and isinstance(path[-1], str):
            assert key is not None
            assert reference.loads(cut(text, key)) == path[-1]
        else:
            assert key is None


@given(st.binary(max_size=60) | st.text(st.sampled_from('{}[]",:1ae\\u0 \n\0é'), max_size=40).map(str.encode))
@settings(deadline=None)
def test_any_bytes_are_read_or_refused_with_a_place(raw: bytes) -> None:
    json.JsonPlaceLocator(raw).value_span(["a", 0])
    try:
        json.parse_json_text(raw, "f.json")
    except InputProblems as error:
        (problem,) = error.problems
        assert problem.line
        assert problem.column
        assert problem.found
        assert str(problem).isprintable()


FAULTS = {
    b"": "1:1: an empty file; expected JSON",
    b" \n": "1:1: an empty file; expected JSON",
    b"\xef\xbb\xbf": "1:1: an empty file; expected JSON",
    b"[nope]": "1:2: 'nope'; expected a value",
    b"{1:2}": "1:2: '1'; expected a key in double quotes",
    b"[1 2]": "1:4: '2'; expected ',' or ']'",
    b'{"a": 1\n "b c": 2}': "2:2: '\"b c\"'; expected ',' or '}'",
    b'{"a" 2}': "1:6: '2'; expected ':' after the key",
    b"[] []": "1:4: '['; expected the end of the file",
    b"[1,]": "1:3: ','; expected no comma after the last entry",
    b'{"a":1,\n}': "1:7: ','; expected no comma after the last entry",
    b'["ab\n"]': "1:5: a line break; expected an escape such as \\n, or the closing quote",
    b'["\x1b[0m"]': "1:3: U+001B; expected an escape such as \\n, or the closing quote",
    b'["\\q"]': "1:3: '\\q'; expected an escape that JSON knows",
    b'["\\ud800"]': "1:3: '\\ud800'; expected a pair of surrogates",
    b"[1e999]": "1:2: '1e999'; expected a number below 1.8e308",
    b"[012]": "1:2: '012'; expected a number without leading zeros",
    b"[-]": "1:3: ']'; expected a digit",
    b"[True]": "1:2: 'True'; expected a value (JSON writes it true)",
    b"{'a':1}": '1:2: a single quote; expected a key in double quotes (JSON quotes with ")',
    b"[NaN]": "1:2: 'NaN'; expected a value (JSON has no such number)",
    b'{"a":1, # x\n"b":2}': "1:9: '#'; expected a key in double quotes (JSON has no comments)",
    b'{"PORT": {\n "a": "b': "2:9: the file ends inside a text opened at line 2, column 7",
    b'{"PORT": {\n "a": "b"\n\n': "2:10: the file ends inside an object opened at line 1, column 10",
    b'[1, {"a": 2}, [3], "]", "\\"[",': "1:31: the file ends inside a list opened at line 1, column 1",
    b"tru": "1:4: the file ends inside a value",
    b"[" * 65 + b"]" * 65: "1:65: a list at level 65; expected at most 64 levels",
    b'{"a":' * 65 + b"1" + b"}" * 65: "1:321: an object at level 65; expected at most 64 levels",
    b"[" * 100_000: "1:65: a list at level 65; expected at most 64 levels",
    b"\0\0\0": "1:1: a NUL byte; expected a value",
    b'["\xc3\xa9", \0]': "1:7: a NUL byte; expected a value",
    b"\xff\xfe[\0]\0": "1:1: UTF-16 text; expected UTF-8",
    b'{"\xc3\xa9":\r\n"\xf0\x9d\x84\x9e\xff"}': "2:3: byte 0xff at offset 13; expected UTF-8",
    '\ufeff["𝄞é", x]'.encode(): "1:8: 'x'; expected a value",
}


@pytest.mark.parametrize(("raw", "said"), FAULTS.items(), ids=lambda case: repr(case)[:40])
def test_faults_are_named_with_their_place(raw: bytes, said: str) -> None:
    with pytest.raises(InputProblems) as caught:
        json.parse_json_text(raw, "f.json")
    assert str(caught.value) == f"f.json:{said}"


def test_sixty_four_levels_are_read() -> None:
    assert json.parse_json_text(b"[" * 64 + b"]" * 64, "f") == reference.loads("[" * 64 + "]" * 64)


def test_oversize_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InputProblems, match=r"^f: 11 bytes; expected at most 10 bytes$"):
        json.parse_json_text(b"not JSON at", "f", max_bytes=10)


CONFIG = b"""{
    "PORT": {"Ethernet0": {"mtu": "9100"}, "Ethernet\\u0030": {"mtu": "1500"}},
    "QUEUE": [1, {"\xc3\xa9": [true], "lanes": "1,2", "lanes": "3,4", "lanes": 5}],
    "PORT": {"Ethernet0": {"mtu": "9216"}},
    "half": "\\ud83d\\ude00 \\\\"
}
"""


def test_the_last_of_equal_keys_is_the_one_that_counts() -> None:
    assert json.parse_json_text(CONFIG, "f")["PORT"]["Ethernet0"]["mtu"] == "9216"
    locator = json.JsonPlaceLocator(CONFIG)
    assert locator.value_span(["PORT", "Ethernet0", "mtu"]) == Span(4, 35, 4, 41)
    assert locator.key_span(["PORT"]) == Span(4, 5, 4, 11)
    assert locator.value_span(["QUEUE", 1, "é", 0]) == Span(3, 25, 3, 29)
    assert locator.value_span(["QUEUE", 1, "lanes"]) == Span(3, 73, 3, 74)
    assert locator.value_span([]) == Span(1, 1, 6, 2)


@pytest.mark.parametrize(
    "keys", [["NOPE"], ["PORT", 0], ["QUEUE", 2], ["QUEUE", "1"], ["half", 0], ["half", "x"], ["QUEUE", -1]]
)
def test_what_is_not_there_has_no_place(keys: list[str | int]) -> None:
    locator = json.JsonPlaceLocator(CONFIG)
    assert locator.value_span(keys) is None
    assert locator.key_span(keys) is None


def test_a_text_that_is_not_json_has_places_as_far_as_it_is() -> None:
    assert json.JsonPlaceLocator(b'{"a": 1, b}').value_span(["a"]) is None
    assert json.JsonPlaceLocator(b'{"a": {"b": "\xff"}, "c": 1}').value_span(["c"]) == Span(1, 24, 1, 25)
    assert json.JsonPlaceLocator(b"[" * 100_000).value_span([0]) is None
    assert json.JsonPlaceLocator(b"").value_span([]) is None


def test_the_locator_reads_an_object_once_and_only_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    went_through = []
    members = json.iterate_json_members
    monkeypatch.setattr(
        json, "iterate_json_members", lambda text, at, decoder: went_through.append(at) or members(text, at, decoder)
    )
    raw = reference.dumps({table: {str(row): {"x": row} for row in range(50)} for table in "abcdef"}).encode()
    locator = json.JsonPlaceLocator(raw)
    assert went_through == []
    for row in range(50):
        assert locator.value_span(["c", str(row)]) is not None
    assert len(went_through) == 2


def test_keys_that_stand_twice() -> None:
    assert json.duplicate_keys(CONFIG) == [
        json.DuplicateJsonKey(keys=("PORT", "Ethernet0"), span=Span(2, 44, 2, 60), first=Span(2, 14, 2, 25)),
        json.DuplicateJsonKey(keys=("QUEUE", 1, "lanes"), span=Span(3, 48, 3, 55), first=Span(3, 32, 3, 39)),
        json.DuplicateJsonKey(keys=("QUEUE", 1, "lanes"), span=Span(3, 64, 3, 71), first=Span(3, 32, 3, 39)),
        json.DuplicateJsonKey(keys=("PORT",), span=Span(4, 5, 4, 11), first=Span(2, 5, 2, 11)),
    ]
    assert json.duplicate_keys(b'["a", 1, {"a": {}}]') == []


@given(
    st.recursive(st.integers(0, 1), lambda inner: st.lists(inner) | st.lists(st.tuples(st.sampled_from("ab"), inner)))
)
@settings(deadline=None)
def test_every_key_but_the_first_of_its_name_is_a_duplicate(tree: Any) -> None:
    expected = 0

    def write(node: Any) -> str:
        nonlocal expected
        if not isinstance(node, list):
            return str(node)
        if node and isinstance(node[0], tuple):
            expected += len(node) - len(dict(node))
            return "{" + ",".join(f'"{key}":{write(inner)}' for key, inner in node) + "}"
        return f"[{','.join(map(write, node))}]"

    text = write(tree)
    found = json.duplicate_keys(text.encode())
    assert len(found) == expected
    for duplicate in found:
        assert cut(text, duplicate.span) == cut(text, duplicate.first) == f'"{duplicate.keys[-1]}"'
        assert duplicate.first < duplicate.span


def test_duplicates_are_found_around_values_of_all_kinds() -> None:
    text = r"""[-1e40, {"a" : [ 1.5, {"\u0061\"": -2, "a\"" :{} } ] , "long": 12345678901234567890, "a":"}\\",
      "b": null}, [[]], {}]"""
    found = json.duplicate_keys(text.encode())
    assert [duplicate.keys for duplicate in found] == [(1, "a", 1, 'a"'), (1, "a")]
    assert [cut(text, duplicate.span) for duplicate in found] == [r'"a\""', '"a"']


def test_a_text_is_gone_through_up_to_its_last_duplicate(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    real = json._decode_key
    monkeypatch.setattr(json, "_decode_key", lambda *given: keys.append(real(*given)) or keys[-1])
    raw = b'{"a": 1, "b": {"c": 2, "c": 3}, ' + b",".join(b'"d%d": 4' % number for number in range(1000)) + b"}"
    assert [duplicate.keys for duplicate in json.duplicate_keys(raw)] == [("b", "c")]
    assert keys == ["a", "b", "c", "c"]


def test_duplicates_have_a_limit() -> None:
    raw = b"[" + b'{"a":1,"a":2,"a":3},' * 5000 + b"1]"
    assert [duplicate.keys for duplicate in json.duplicate_keys(raw, limit=3)] == [(0, "a"), (0, "a"), (1, "a")]


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_bytes(b"x" * 10)
    (tmp_path / "link").symlink_to(file)
    assert read_regular_file(tmp_path / "link", "d", 10) == b"x" * 10
    with pytest.raises(InputProblems, match=r"^d: 10 bytes; expected at most 9 bytes$"):
        json.read_regular_file(file, "d", 9)


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused = {
        tmp_path: "a folder; expected a regular file",
        tmp_path / "pipe": "a pipe; expected a regular file",
        Path("/dev/zero"): "a device; expected a regular file",
        tmp_path / "none": "no such file or directory; expected a readable file",
        tmp_path / "loop": "too many levels of symbolic links; expected a readable file",
        tmp_path / "a\0b": "a NUL character in the name; expected a readable file",
        Path("/proc/self/status"): "a file that grows while it is read",
    }
    for path, said in refused.items():
        with pytest.raises(InputProblems) as caught:
            read_regular_file(path, "given", 1000)
        assert str(caught.value) == f"given: {said}"


@given(st.text(st.sampled_from("a𝄞\n\r\u2028\x0b\x85"), max_size=12))
@settings(deadline=None)
def test_lines_end_at_line_feeds_and_carriage_returns_only(text: str) -> None:
    lines, line, column = Lines(text), 1, 1
    for offset in range(len(text)):
        assert lines.line_and_column(offset) == (line, column)
        ends = text[offset] == "\n" or (text[offset] == "\r" and text[offset : offset + 2] != "\r\n")
        line, column = (line + 1, 1) if ends else (line, column + 1)
    assert lines.line_and_column(len(text)) == (line, column)
