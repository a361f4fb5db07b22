"""How what is found is told: names that do not count for the cause of a finding."""

import re

from hypothesis import given
from hypothesis import strategies as st

from nodrop.engine.causes import replace_name_by_star

TEXTS = st.text(st.sampled_from("ab1_.:-| "), max_size=24)


@given(TEXTS, st.text(st.sampled_from("ab1|-"), min_size=1, max_size=3))
def test_a_name_is_starred_where_it_stands_as_a_whole(text: str, name: str) -> None:
    assert replace_name_by_star(text, name) == re.sub(rf"(?<![\w.:-]){re.escape(name)}(?![\w.:-])", "*", text)
