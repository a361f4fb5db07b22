"""The text of a JSON document by its parts, and RFC 6902 as its text has it: both written for tests alone."""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_TOKEN = re.compile(r'(\s*)("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)')


def entries(text: str) -> dict[tuple[str, ...], str]:
    """Every entry of every object that holds no entries itself: its path, and its text from the white space before."""
    found: dict[tuple[str, ...], str] = {}
    tokens = [(match.start(), match[1], match[2]) for match in _TOKEN.finditer(text)]
    path: list[str] = []
    key = ""
    at = starts = 0
    while at < len(tokens):
        start, _, token = tokens[at]
        if at + 1 < len(tokens) and tokens[at + 1][2] == ":":
            key, starts = token[1:-1], start
            at += 2
            token = tokens[at][2]
            if token != "{" or tokens[at + 1][2] == "}":
                at = _end(tokens, at)
                end = tokens[at][0] + len(tokens[at][1]) + len(tokens[at][2])
                found[(*path, key)] = text[starts:end]
            else:
                path.append(key)
        elif token == "}" and path:
            path.pop()
        at += 1
    return found


def _end(tokens: Sequence[tuple[int, str, str]], at: int) -> int:
    """The last token of a value that is no object with entries."""
    if tokens[at][2] not in "{[":
        return at
    close = {"{": "}", "[": "]"}[tokens[at][2]]
    return next(here for here in range(at, len(tokens)) if tokens[here][2] == close)


def applied(patch: Sequence[Mapping[str, Any]], document: Any) -> Any:
    """What a patch makes of a document of objects; KeyError or AssertionError where it cannot be applied."""
    result = copy.deepcopy(document)
    for step in patch:
        *way, last = _parts(step["path"])
        place = result
        for part in way:
            place = place[part]
        assert isinstance(place, dict)
        if step["op"] == "remove":
            del place[last]
        else:
            assert step["op"] == "add" or last in place
            place[last] = copy.deepcopy(step["value"])
    return result


def _parts(path: str) -> Iterator[str]:
    assert path.startswith("/")
    yield from (part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))
