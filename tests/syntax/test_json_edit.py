"""Another value for a JSON text: what changes looks like its neighbors, what does not keeps its bytes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.syntax.json_edit import rewrite_json
from support.json_text import entries

PRETTY = '{\n    "PORT": {\n        "Ethernet0": {\n            "mtu": "9100"\n        }\n    }\n}\n'


def changed(text: str, value: Any) -> str:
    return rewrite_json(text.encode(), value).decode()


def with_field(text: str, *path: str, value: Any) -> str:
    data = json.loads(text.removeprefix("\ufeff"))
    part = data
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return changed(text, data)


@pytest.mark.parametrize(
    ("text", "path", "value", "wanted"),
    [
        ('{"a": "1"}', ("a",), "2", '{"a": "2"}'),
        ('{"a":1,"b":2}', ("c",), "3", '{"a":1,"b":2,"c":"3"}'),
        ('{ "a" : "1" }', ("b",), "2", '{ "a" : "1", "b" : "2" }'),
        ('{"a": "1", "b": {}}', ("b", "x"), "2", '{"a": "1", "b": {"x": "2"}}'),
        ("{}", ("a",), {"b": "1", "c": "2"}, '{"a": {"b": "1","c": "2"}}'),
        ("{}\n", ("a",), "1", '{"a": "1"}\n'),
        ('\ufeff{\n\t"a": {\n\t\t"b": "1"\n\t}\n}', ("a", "c"), "é", None),
        (
            PRETTY,
            ("PORT", "Ethernet4"),
            {"mtu": "9100", "fec": "rs"},
            '{\n    "PORT": {\n        "Ethernet0": {\n            "mtu": "9100"\n        },\n        "Ethernet4": {\n'
            '            "mtu": "9100",\n            "fec": "rs"\n        }\n    }\n}\n',
        ),
        (
            PRETTY.replace("\n", "\r\n").replace("    ", "\t"),
            ("NEW",),
            {"row": {"a": "1"}},
            '{\r\n\t"PORT": {\r\n\t\t"Ethernet0": {\r\n\t\t\t"mtu": "9100"\r\n\t\t}\r\n\t},\r\n'
            '\t"NEW": {\r\n\t\t"row": {\r\n\t\t\t"a": "1"\r\n\t\t}\r\n\t}\r\n}\r\n',
        ),
        (
            '{\n "PORT": {\n  "Ethernet0": {"mtu": "9100", "fec": "rs"}\n }\n}',
            ("PORT", "Ethernet4"),
            {"mtu": "1500", "fec": "fc"},
            '{\n "PORT": {\n  "Ethernet0": {"mtu": "9100", "fec": "rs"},\n'
            '  "Ethernet4": {"mtu": "1500", "fec": "fc"}\n }\n}',
        ),
        ('{"a": "1", "a": "2"}', ("a",), "3", '{"a": "1", "a": "3"}'),
        ('{"a": ["1",  "2"]}', ("a",), ["1"], '{"a": ["1"]}'),
    ],
)
def test_what_is_new_looks_like_what_is_there(text: str, path: tuple[str, ...], value: Any, wanted: str | None) -> None:
    found = with_field(text, *path, value=value)
    if wanted is None:
        wanted = '\ufeff{\n\t"a": {\n\t\t"b": "1",\n\t\t"c": "\\u00e9"\n\t}\n}'
    assert found == wanted


@pytest.mark.parametrize(
    ("gone", "wanted"),
    [
        ("a", '{\n  "b": "2",\n  "c": "3"\n}'),
        ("b", '{\n  "a": "1",\n  "c": "3"\n}'),
        ("c", '{\n  "a": "1",\n  "b": "2"\n}'),
    ],
)
def test_what_goes_takes_its_comma_with_it(gone: str, wanted: str) -> None:
    text = '{\n  "a": "1",\n  "b": "2",\n  "c": "3"\n}'
    assert changed(text, {key: value for key, value in json.loads(text).items() if key != gone}) == wanted


def test_the_last_entry_leaves_an_empty_object() -> None:
    assert changed('{"a": {"b": "1"}}', {"a": {}}) == '{"a": {}}'


def test_a_new_entry_stands_behind_the_one_before_it() -> None:
    assert changed('{"a": "1", "c": "3"}', {"a": "1", "b": "2", "c": "3"}) == '{"a": "1", "b": "2", "c": "3"}'


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), max_size=6)
VALUES = st.recursive(TEXTS, lambda inner: st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)
LAYOUTS = st.sampled_from([{"indent": 4}, {"indent": "\t"}, {"indent": 1}, {"separators": (",", ":")}, {}])


@given(OBJECTS, OBJECTS, LAYOUTS, st.booleans())
def test_any_text_comes_to_say_any_value(old: Any, new: Any, layout: Any, dos: bool) -> None:
    text = json.dumps(old, **layout)
    text = text.replace("\n", "\r\n") if dos else text
    merged = {**old, **new}
    found = changed(text, merged)
    assert json.loads(found) == merged
    assert changed(text, old) == text
    before, after = entries(text), entries(found)
    same = {path for path in before if path[0] in old and old[path[0]] == merged[path[0]]}
    assert {path: before[path] for path in same} == {path: after[path] for path in same}
