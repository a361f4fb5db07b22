"""Expressions of AS paths and communities: answered as regcomp of the C library answers, or unknown, in linear work."""

import ctypes
import platform
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from nodrop.model.policy_values import parse_as_path_expression, parse_community_expression
from nodrop.syntax.posix import MAX_EXPRESSION_CHARACTERS, MAX_STATES, PosixRegularExpression, compile_posix_regex
from support.places import TESTS

CASES: dict[str, list[dict[str, str]]] = YAML(typ="safe").load((TESTS / "routing" / "expressions.yaml").read_text())
READERS = {"paths": parse_as_path_expression, "communities": parse_community_expression}


@pytest.mark.parametrize(
    ("kind", "case"),
    [(kind, case) for kind, cases in CASES.items() for case in cases],
    ids=lambda value: value if isinstance(value, str) else f"{value['of']} of {value['text']}",
)
def test_what_an_expression_says_of_a_text(kind: str, case: dict[str, Any]) -> None:
    found = READERS[kind](case["of"])
    wanted = {True: "yes", False: "no"}.get(case["answer"], case["answer"])
    assert ("unknown" if found is None else "yes" if found.matches_anywhere(case["text"]) else "no") == wanted


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("^(([0-9]+)+[ ]?)+,$", "65001 " * 400),
        ("(1*)*(1*)*(1*)*(1*)*2", "1" * 2000),
        ("(1|11|111)*2", "1" * 2000),
        ("^(.*.*.*.*){20}$|2", "1" * 2000),
    ],
)
def test_the_work_is_linear_in_the_text(expression: str, text: str) -> None:
    """No state is visited more often than once per character, whatever is nested in what."""
    work = []
    for factor in (1, 2):
        found = compile_posix_regex(expression)
        assert found is not None
        found.matches_anywhere(text * factor)
        assert found.visited <= (len(text) * factor + 2) * found.states
        work.append(found.visited)
    assert work[1] <= 2 * work[0] + 4 * MAX_STATES


def test_many_different_texts_do_not_fill_memory() -> None:
    drawn = random.Random(7)
    found = compile_posix_regex("^(1|2)*1(1|2){14}$")
    assert found is not None
    for _ in range(300):
        text = "".join(drawn.choice("12") for _ in range(200))
        assert found.matches_anywhere(text) == (text[-15] == "1")
    assert found.remembered <= found.MOST_REMEMBERED


@pytest.mark.parametrize(
    "expression",
    [
        "1" * (MAX_STATES + 1),
        "[" + "1" * MAX_EXPRESSION_CHARACTERS + "]",
        "(" * 4000 + "1" + ")" * 4000,
        "1{2000}{2000}",
        "(1{1000}|2{1000}){9}",
    ],
)
def test_what_is_beyond_the_limits_is_unknown(expression: str) -> None:
    assert compile_posix_regex(expression) is None


def test_as_many_states_as_the_limit_has_are_taken() -> None:
    found = compile_posix_regex("1" * (MAX_STATES // 2))
    assert found is not None
    assert found.matches_anywhere("1" * (MAX_STATES // 2))


REG_EXTENDED, REG_NOSUB = 1, 8


@cache
def _libc() -> ctypes.CDLL:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("regcomp of this machine is not that of glibc, which switches have")
    return ctypes.CDLL("libc.so.6")


def answered(expression: str, texts: list[str]) -> list[bool] | None:
    """What regcomp and regexec answer; None where the expression is refused."""
    libc, kept = _libc(), ctypes.create_string_buffer(256)
    if libc.regcomp(kept, expression.encode(), REG_EXTENDED | REG_NOSUB):
        return None
    try:
        return [libc.regexec(kept, text.encode(), 0, None, 0) == 0 for text in texts]
    finally:
        libc.regfree(kept)


_ATOMS = st.sampled_from(["1", "2", "3", " ", ".", "^", "$", "[12]", "[^1]", "[1-3]", "[[:digit:]]", "\\.", "()", ","])
_BOUNDS = st.tuples(st.integers(0, 3), st.integers(1, 3)).map(lambda pair: f"{{{min(pair)},{max(pair)}}}")
_REPEATS = st.one_of(st.sampled_from(["*", "+", "?", "{2}", "{1,}"]), _BOUNDS)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, _REPEATS).map(lambda two: f"({two[0]}){two[1]}"),
        st.tuples(st.sampled_from("12."), _REPEATS).map("".join),
    )


WELL_FORMED = st.recursive(_ATOMS, _larger, max_leaves=8)
ANYTHING = st.text("12 .^$[]()*+?{}|\\,-:_<w", max_size=9)
TEXTS = st.lists(st.text("123 .,a\\", max_size=8), min_size=3, max_size=6)


@settings(max_examples=1500)
@given(WELL_FORMED, TEXTS)
def test_well_formed_expressions_are_answered_as_the_c_library_does(expression: str, texts: list[str]) -> None:
    wanted, found = answered(expression, texts), compile_posix_regex(expression)
    assert found is not None or wanted is None or re.search(r"[\^$].*[*+?{]", expression)
    if found is not None:
        assert [found.matches_anywhere(text) for text in texts] == wanted


@settings(max_examples=1500)
@given(ANYTHING, TEXTS)
def test_of_any_text_an_expression_that_is_compiled_is_one_of_the_c_library(expression: str, texts: list[str]) -> None:
    found = compile_posix_regex(expression)
    if found is not None:
        assert [found.matches_anywhere(text) for text in texts] == answered(expression, texts)


def _readings(expression: str, texts: list[str]) -> Iterator[tuple[str, bool, bool]]:
    found, between = parse_as_path_expression(expression), "(^|[,{}() ]|$)"
    if isinstance(found, PosixRegularExpression):
        wanted = answered(expression.replace("_", between), texts)
        assert wanted is not None, expression
        yield from zip(texts, map(found.matches_anywhere, texts), wanted, strict=True)


@settings(max_examples=300)
@given(st.text("12 .^$[]()*+?|_", max_size=9), TEXTS)
def test_the_underscore_is_what_frr_puts_in_its_place(expression: str, texts: list[str]) -> None:
    for text, found, wanted in _readings(expression, texts):
        assert found == wanted, text
