"""What comments of a file allow, and when they are about the same part of it in another state."""

import pytest

from nodrop.limits import MAX_ALLOW_COMMENT_RULES
from nodrop.model.allowing import parse_allow_comments
from nodrop.syntax.comments import CommentSyntax, NodropComment, find_nodrop_comments


def around(text: str, syntax: CommentSyntax) -> str:
    """What the only comment of a text is about."""
    (one,) = find_nodrop_comments(text.encode(), syntax)
    return one.around


BLOCK = "a:\n  b:  # nodrop: allow[x] y\n    c: 1\n"


def test_a_comment_is_about_the_same_wherever_that_lies_in_the_file() -> None:
    moved = "z: 1\n# more\n" + BLOCK.replace("    c: 1", "    d: 2").replace("  b:", "  e: 3\n  b:")
    assert around(moved, "yaml") == around(BLOCK, "yaml")
    assert around(BLOCK.replace("  b:  # nodrop: allow[x] y", "  # nodrop: allow[x] y\n  b:"), "yaml") == around(
        BLOCK, "yaml"
    )
    for other in (
        BLOCK.replace("a:", "z:"),
        BLOCK.replace("b:", "z:"),
        BLOCK.replace("  b", "b").replace("    c", "  c"),
    ):
        assert around(other, "yaml") != around(BLOCK, "yaml")


def test_a_comment_of_frr_is_about_a_command_in_its_blocks_however_that_is_indented() -> None:
    family = " address-family ipv4 unicast\n  ! nodrop: allow[x] y\n  network 10.0.0.0/8\n exit-address-family\n"
    one, other = (around(f"router bgp 65001{vrf}\n{family}", "frr") for vrf in ("", " vrf blue"))
    assert one != other
    assert around(f"router bgp 65001\n{family}".replace("  ", ""), "frr") == one


def test_a_comment_in_brackets_allows_nothing() -> None:
    text = (
        "a:\n  {\n  b:  # nodrop: allow[x] y\n    {c: 1}, d: 2}\n# nodrop: allow[z] y\ne: [1]  # nodrop: allow[v] y\n"
    )
    allows, remarks = parse_allow_comments(find_nodrop_comments(text.encode(), "yaml"), "startup.yaml", ("leaf1",))
    assert [(one.rule, one.lines) for one in allows] == [("z", (6, 6)), ("v", (6, 6))]
    assert [one.facts["found"] for one in remarks] == ["a comment in brackets"]


@pytest.mark.parametrize(("syntax", "mark"), [("frr", "!"), ("lines", "!"), ("shell", "#")])
def test_a_comment_allows_nothing_where_readers_and_comments_count_other_lines(
    syntax: CommentSyntax, mark: str
) -> None:
    text = f"{mark} nodrop: allow[x] y\n{mark}\r neighbor a shutdown\nneighbor b shutdown\n"
    allows, remarks = parse_allow_comments(find_nodrop_comments(text.encode(), syntax), "frr.conf", ("leaf1",))
    assert allows == []
    assert [one.facts["found"] for one in remarks] == ["a comment in a file with a carriage return that ends no line"]
    assert (
        parse_allow_comments(find_nodrop_comments(text.replace("\r", "").encode(), syntax), "frr.conf", ("leaf1",))[0]
        != []
    )


def test_a_file_allows_so_many_rules_and_no_more() -> None:
    every = [
        NodropComment(line=line, column=1, text=f"nodrop: allow[pfc-{line}] x", lines=(line, line), around="")
        for line in range(1, MAX_ALLOW_COMMENT_RULES + 4)
    ]
    allows, remarks = parse_allow_comments(every, "frr.conf", ("leaf1",))
    assert [one.rule for one in allows] == [f"pfc-{line}" for line in range(1, MAX_ALLOW_COMMENT_RULES + 1)]
    assert [(one.place.span.line, one.facts["found"]) for one in remarks if one.place and one.place.span] == [
        (MAX_ALLOW_COMMENT_RULES + 1, "more than 2,000 allowed rules in one file, those from here on")
    ]
