"""Names of parts: what was put together comes apart again."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodrop.model.fabric import End
from nodrop.model.subject import ends_of_cable_key, link_subject, matches


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (End("leaf1", "Ethernet0"), End("spine1", "Ethernet8")),
        (End("leaf--1", "Ethernet0"), End("spine--1", "Ethernet8")),
        (End("leaf1", "swp1s0"), End("leaf1--", "swp1")),
    ],
)
def test_the_ends_of_a_cable(a: End, b: End) -> None:
    assert ends_of_cable_key(link_subject(a, b)[-1]) == tuple(sorted((a, b)))


@pytest.mark.parametrize("name", ["leaf1", "leaf--1", "", "*", "leaf1:Ethernet0"])
def test_what_is_no_cable_has_no_ends(name: str) -> None:
    assert ends_of_cable_key(name) == ()


@settings(max_examples=100)
@given(st.text("ab*?.", max_size=8), st.text("ab.\n", max_size=8))
def test_a_glob_is_any_text_for_a_star_and_any_character_for_a_question_mark(glob: str, text: str) -> None:
    plain = "".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in glob)
    assert matches((glob,), (text,)) == (re.fullmatch(plain, text, re.DOTALL) is not None)


def test_a_glob_of_many_stars_does_not_take_long() -> None:
    """With `.*` for each star, this would take longer than there is time."""
    assert not matches(("*a" * 100 + "b",), ("a" * 5000,))
