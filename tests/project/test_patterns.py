"""No regular expression takes much longer for a text that someone made for it: each is tried on long repeats."""

import importlib
import inspect
import pkgutil
import re
import signal
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import pytest

import nodrop

SOURCE = Path(nodrop.__file__).parent
LENGTH = 60_000
"""Characters of a text: with the square of it, a pattern takes more than LONG."""
LONG = 0.5
"""Seconds. A pattern that takes time with the length takes a few milliseconds."""
REPEATS = {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}
CHARACTERS = " a1-.:,\"'/\\#_\n"
TAILS = ("\x01", "")


def patterns() -> dict[str, re.Pattern[Any]]:
    """Return every pattern that a module of the package holds, also in a table, by the name that holds it."""
    found: dict[str, re.Pattern[Any]] = {}
    for module in pkgutil.walk_packages(nodrop.__path__, "nodrop."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                for at, one in enumerate(held(value)):
                    if not any(one is other for other in found.values()):
                        found[f"{module.name}:{name}:{at}"] = one
    return found


def held(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from held(one, depth + 1)
    elif depth < 3 and isinstance(value, dict):
        for one in value.values():
            yield from held(one, depth + 1)


@cache
def sources() -> str:
    return "\n".join(path.read_text() for path in sorted(SOURCE.rglob("*.py")))


def methods(module: str, name: str) -> set[str]:
    """Return how a pattern of this name is used: from the start of a text, or from each character of it on."""
    text = inspect.getsource(importlib.import_module(module)) if name.startswith("_") else sources()
    used = set(re.findall(rf"\b{re.escape(name)}\.(match|fullmatch|search|findall|finditer|sub|split)\b", text))
    return {one if one in ("match", "fullmatch") else "search" for one in used} or {"match", "fullmatch"}


def spelt(nodes: Any, least: int = 0) -> str:
    """Return a text that fits a part of a pattern, each repeat `least` times at the least."""
    text = ""
    for kind, value in nodes:
        if kind in REPEATS:
            text += spelt(value[2], least) * max(value[0], least)
        elif kind is code.SUBPATTERN:
            text += spelt(value[3], least)
        elif kind is code.ATOMIC_GROUP:
            text += spelt(value, least)
        elif kind is code.BRANCH:
            text += spelt(value[1][0], least)
        else:
            text += character(kind, value)
    return text


def character(kind: Any, value: Any) -> str:
    if kind is code.LITERAL:
        return chr(value)
    if kind in (code.ANY, code.NOT_LITERAL):
        return "a"
    if kind is not code.IN:
        return ""
    fitting = characters(value)
    if fitting:
        return fitting[0]
    kind, value = value[0]
    return chr(value[0] if kind is code.RANGE else value) if kind in (code.RANGE, code.LITERAL) else ""


def characters(items: Sequence[Any]) -> str:
    """Return those of CHARACTERS that a set of characters holds."""
    found = ""
    for one in CHARACTERS:
        inside = any(
            (kind is code.LITERAL and chr(value) == one)
            or (kind is code.RANGE and value[0] <= ord(one) <= value[1])
            or (kind is code.CATEGORY and category(value, one))
            for kind, value in items
        )
        if inside != (items[0][0] is code.NEGATE):
            found += one
    return found


def category(value: Any, one: str) -> bool:
    name = str(value).removeprefix("CATEGORY_")
    fits = {"SPACE": one.isspace(), "DIGIT": one.isdigit(), "WORD": one.isalnum() or one == "_"}
    return not fits[name[4:]] if name.startswith("NOT_") else fits[name]


def repeats(nodes: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text that a pattern may repeat without an end, behind a text that leads there."""
    for kind, value in nodes:
        if kind in REPEATS:
            if value[1] > 1000:
                texts = {spelt(value[2]), spelt(value[2], 1)}
                for inner, items in value[2]:
                    texts |= set(characters(items)) if inner is code.IN else set()
                    texts |= set(CHARACTERS) if inner in (code.ANY, code.NOT_LITERAL) else set()
                yield from ((before, text) for text in texts if text)
            yield from repeats(value[2], before)
            before += spelt(value[2]) * value[0]
        elif kind in (code.SUBPATTERN, code.ATOMIC_GROUP):
            inner = value[3] if kind is code.SUBPATTERN else value
            yield from repeats(inner, before)
            before += spelt(inner)
        elif kind is code.BRANCH:
            for branch in value[1]:
                yield from repeats(branch, before)
            before += spelt(value[1][0])
        elif kind in (code.ASSERT, code.ASSERT_NOT):
            yield from repeats(value[1], before)
        else:
            before += character(kind, value)


def slow(pattern: re.Pattern[Any], used: set[str]) -> str:
    """Return the first text for which a pattern takes too long; nothing where there is none."""
    for before, part in sorted(set(repeats(parser.parse(pattern.pattern, pattern.flags)))):
        for lead in {before, f"x{before}"}:
            for tail in TAILS:
                text: Any = lead + part * (LENGTH // len(part)) + tail
                if isinstance(pattern.pattern, bytes):
                    text = text.encode("latin-1", "replace")
                for method in sorted(used):
                    if not in_time(pattern, method, text):
                        return f"{method}: {lead[:40]!r}, many {part!r}, {tail!r}"
    return ""


def in_time(pattern: re.Pattern[Any], method: str, text: Any) -> bool:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONG * 2)
    began = time.process_time()
    try:
        if method == "search":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, method)(text)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    return time.process_time() - began < LONG


@pytest.mark.slow
def test_no_pattern_takes_long() -> None:
    found = patterns()
    assert len(found) > 200
    told = {name: slow(one, methods(*name.split(":")[:2])) for name, one in found.items()}
    assert {name: text for name, text in told.items() if text} == {}


def test_a_pattern_that_goes_back_is_found() -> None:
    assert slow(re.compile(r"\s*;"), {"search"}) == "search: '', many '\\n', '\\x01'"
    assert slow(re.compile(r"[\w.-]+:?[\w.-]*#"), {"match"})
    assert not slow(re.compile(r"[\w.-]++:?[\w.-]*+#"), {"match"})
