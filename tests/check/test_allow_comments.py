"""Comments of a change are held against those of the base in one pass over each file."""

import time

from nodrop.checking import comments
from nodrop.fabric.allowing import allowing
from nodrop.formats.comments import Comment
from nodrop.limits import MAX_ALLOWED


def test_lines_around_a_line_are_those_it_is_indented_below() -> None:
    rows = ["a", "  b  ! nodrop: allow[x] y", "", "    c", "  ! d", "    e", "  f", "g"]
    assert comments._around(rows, {1, 2, 3, 4, 5, 6, 7, 8, 99, 0}) == {
        0: (),
        1: ("a",),
        2: ("b", "a"),
        3: ("b", "a"),
        4: ("c", "b", "a"),
        5: ("c", "b", "a"),
        6: ("e", "b", "a"),
        7: ("f", "a"),
        8: ("g",),
        99: ("g",),
    }


def test_a_file_is_gone_through_once_for_all_its_comments() -> None:
    rows = ["router bgp 65001", *[" neighbor swp1 remote-as external"] * 20_000]
    began = time.process_time()
    assert len(comments._around(rows, set(range(1, 20_001)))) == 20_000
    assert time.process_time() - began < 5


def test_a_file_allows_so_many_rules_and_no_more() -> None:
    every = [
        Comment(line=line, column=1, text=f"nodrop: allow[pfc-{line}] x", lines=(line, line), misplaced=False)
        for line in range(1, MAX_ALLOWED + 4)
    ]
    allows, remarks = allowing(every, "frr.conf", ("leaf1",))
    assert [one.rule for one in allows] == [f"pfc-{line}" for line in range(1, MAX_ALLOWED + 1)]
    assert [(one.place.span.line, one.facts["found"]) for one in remarks if one.place and one.place.span] == [
        (MAX_ALLOWED + 1, "more than 2,000 allowed rules in one file, those from here on")
    ]
