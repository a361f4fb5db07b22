"""Comments that speak to nodrop: in which texts they stand, and which lines they are about."""

import pytest

from nodrop.model.allowing import parse_allow_comments
from nodrop.syntax.comments import CommentSyntax, find_nodrop_comments

YAML = """\
# nodrop: allow[a]: the first node
- set:
    interface:
      swp1:  # nodrop: allow[b]: a block
        description: "# nodrop: allow[no]: in quotes"
        link: {state: up}  # nodrop: allow[c]: a line

      swp2:
        note: |
          # nodrop: allow[no]: in a text
        # nodrop: allow[d]: one key
        # another comment

        lanes: 2
    list:  # nodrop: allow[e]: a list
    - one
    - two
    other: x#nodrop: allow[no]
"""

SHELL = """\
nv set interface swp1 description "a # nodrop: allow[no]: b"
nv set interface swp2 mtu 9000  # nodrop: allow[a]: a line
# nodrop: allow[b]: what goes on
nv set interface \\
  swp3 mtu 9000
nv set interface swp4 mtu 9000
"""

FRR = """\
! nodrop: allow[a]: a block
router bgp 65001
 neighbor 10.0.0.1 remote-as 65002
 # nodrop: allow[b]: a family
 address-family ipv4 unicast
  network 10.0.0.0/8
 exit-address-family
exit
!
!nodrop:allow[c] one line
ip route 10.9.0.0/16 Null0
hostname leaf1
 description x ! nodrop: allow[no]: behind a command
"""

LINES = """\
## Hostname: leaf1
# nodrop: allow[a]: a line
interface ethernet 1/1 mtu 9216
interface ethernet 1/2 mtu 9216
! nodrop: allow[b]: a block
interface ethernet 1/3
  mtu 9216
  pfc-wd
exit
# nodrop: allow[c]: below it is nothing
"""


@pytest.mark.parametrize(
    ("syntax", "text", "expected"),
    [
        ("yaml", YAML, {"a": (2, 18), "b": (4, 6), "c": (6, 6), "d": (14, 14), "e": (15, 17)}),
        ("shell", SHELL, {"a": (2, 2), "b": (4, 5)}),
        ("yaml", SHELL, {"a": (2, 2), "b": (4, 5)}),
        ("frr", FRR, {"a": (2, 6), "b": (5, 6), "c": (11, 11)}),
        ("lines", LINES, {"a": (3, 3), "b": (6, 8), "c": (10, 10)}),
        ("yaml", '{"a": "# nodrop: allow[no]: JSON"}', {}),
    ],
    ids=["yaml", "shell", "yaml that is shell", "frr", "lines", "json"],
)
def test_comments_are_about_what_follows_or_stands_before_them(
    syntax: CommentSyntax, text: str, expected: dict[str, tuple[int, int]]
) -> None:
    for ends in ("\n", "\r\n"):
        found = find_nodrop_comments(text.replace("\n", ends).encode(), syntax)
        allows, remarks = parse_allow_comments(found, "file", ("leaf1",))
        assert {one.rule: one.lines for one in allows} == expected
        lines = text.split("\n")
        for one in allows:
            assert lines[one.span.line - 1][one.span.column - 1 : one.span.end_column - 1] == one.rule
        misplaced = [one.facts["found"] for one in remarks]
        assert misplaced == (["a comment behind a command"] if syntax == "frr" else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allow[a, b] until 2027-06-30: x: y", [("a", "x: y", "2027-06-30"), ("b", "x: y", "2027-06-30")]),
        ("allow[a,a] x", [("a", "x", None)]),
        ("allow [a]x", [("a", "x", None)]),
        ("allow[a] until 2028-02-29 x", [("a", "x", "2028-02-29")]),
        ("allow[a]: until then", [("a", "until then", None)]),
        ("allow[a] until then: x", "`then` for a day"),
        ("alow[a]: x", "`alow` (did you mean `allow`?)"),
        ("ignore a", "`ignore`"),
        ("", "nothing"),
        ("!", "`!`"),
        ("allow", "no rule in brackets"),
        ("allow a: x", "no rule in brackets"),
        ("allow[a: x", "a list without its end"),
        ("allow[]: x", "no name of a rule"),
        ("allow[a,]: x", "no name of a rule"),
        ("allow[A b]: x", "`A b` for the name of a rule"),
        ("allow[a] until 2027-02-29: x", "`2027-02-29` for a day"),
        ("allow[a] until: x", "no day after `until`"),
        ("allow[a, b] :", "a, b"),
        ("allow[a] until 2027-06-30", "a"),
        ("1", []),
    ],
)
def test_the_grammar(text: str, said: object) -> None:
    allows, remarks = parse_allow_comments(
        find_nodrop_comments(f"# nodrop: {text}\nkey: 1\n".encode(), "yaml"), "file", ("leaf1",)
    )
    if isinstance(said, str):
        (remark,) = remarks
        assert not allows
        assert remark.facts["found"] + remark.facts["hint"] == said
        assert remark.kind == ("suppression-without-reason" if said in ("a", "a, b") else "malformed-suppression")
        assert (remark.place and remark.place.span.line, remark.subject) == (1, ("leaf1",))
    else:
        assert not remarks
        assert [(one.rule, one.reason, one.until) for one in allows] == said
