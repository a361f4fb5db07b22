"""The syntax of FRR configurations: which command is in which block, however it is laid out, and where it stands."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.syntax.frr import FrrStatement, parse_frr, walk_statements
from nodrop.syntax.places import Span

Tree = list[Any]


def tree(statements: list[FrrStatement]) -> Tree:
    """Commands as text; one with a block as (text, block)."""
    return [(one.text, tree(one.children)) if one.children else one.text for one in statements]


BGP = """\
frr defaults datacenter
router bgp 65000
 bgp router-id 10.0.0.1
 neighbor 10.0.0.2 remote-as 1
 !
 address-family ipv4 unicast
  network 10.0.0.0/8
  neighbor 10.0.0.2 activate
 exit-address-family
 !
 address-family ipv6 unicast
  network ::/0
 exit-address-family
exit
!
ip prefix-list A permit any
"""
FAMILIES = [
    ("address-family ipv4 unicast", ["network 10.0.0.0/8", "neighbor 10.0.0.2 activate"]),
    ("address-family ipv6 unicast", ["network ::/0"]),
]
BLOCK = ("router bgp 65000", ["bgp router-id 10.0.0.1", "neighbor 10.0.0.2 remote-as 1", *FAMILIES])


def unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        BGP,
        unindented(BGP),
        BGP.replace(" exit-address-family\n", ""),
        unindented(BGP).replace("exit-address-family\n", ""),
        BGP.replace("exit\n", ""),
        unindented(BGP).replace("\nexit\n", "\n"),
        unindented(BGP).replace("exit-address-family", "exit"),
        BGP.replace("exit\n", "end\n"),
        BGP.replace("\n", "\r\n"),
        BGP.replace("  ", "\t\t").replace("\n ", "\n\t"),
        BGP.replace("\n ", "\n        "),
    ],
)
def test_blocks_are_told_by_their_words(text: str) -> None:
    assert tree(parse_frr(text)) == ["frr defaults datacenter", BLOCK, "ip prefix-list A permit any"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n\t\n", []),
        ("! x\n# y\n  ! z\n", []),
        ("exit\nend\nexit-vrf\nhostname a", ["hostname a"]),
        ("  hostname a", ["hostname a"]),
        (" neighbor x", ["neighbor x"]),
        ("a  b\t c", ["a b c"]),
        ("route-map A permit 10\n match tag 1\nroute-map A permit 20\n set tag 2", [
            ("route-map A permit 10", ["match tag 1"]), ("route-map A permit 20", ["set tag 2"])]),
        ("route-map A permit 10\nmatch tag 1\nexit\nset tag 2", [
            ("route-map A permit 10", ["match tag 1"]), "set tag 2"]),
        ("route-map A permit 10\non-match next\nlog x", [("route-map A permit 10", ["on-match next"]), "log x"]),
        ("vrf a\n ip route 10.0.0.0/8 Null0\nexit-vrf\nip route 0.0.0.0/0 Null0", [
            ("vrf a", ["ip route 10.0.0.0/8 Null0"]), "ip route 0.0.0.0/0 Null0"]),
        ("interface Ethernet0\n ip address 10.0.0.1/31\nline vty\n exec-timeout 0", [
            ("interface Ethernet0", ["ip address 10.0.0.1/31"]), ("line vty", ["exec-timeout 0"])]),
        ("router bgp 1\n neighbor 10.0.0.1 description !x # y", [
            ("router bgp 1", ["neighbor 10.0.0.1 description !x # y"])]),
        ("bfd\n profile fast\n  detect-multiplier 3\n profile slow\n  shutdown", [
            ("bfd", [("profile fast", ["detect-multiplier 3"]), ("profile slow", ["shutdown"])])]),
        ("router bgp 1\nbgp router-id 10.0.0.1\nbgp session-dscp 3\nbgp log-neighbor-changes", [
            ("router bgp 1", ["bgp router-id 10.0.0.1"]), "bgp session-dscp 3", "bgp log-neighbor-changes"]),
        ("router bgp 1\n address-family ipv4 unicast\n exit-address-family\n neighbor a shutdown", [
            ("router bgp 1", ["address-family ipv4 unicast", "neighbor a shutdown"])]),
        ("router bgp 1\n neighbor a\n route-map X deny 10\n match tag 1\n router bgp 2 vrf b\n neighbor c", [
            ("router bgp 1", ["neighbor a"]), ("route-map X deny 10", ["match tag 1"]),
            ("router bgp 2 vrf b", ["neighbor c"])]),
        ("route-map X deny 10\n ip prefix-list A permit any\n match tag 1", [
            "route-map X deny 10", "ip prefix-list A permit any", "match tag 1"]),
        ("vrf a\nip route 10.0.0.0/8 Null0\nno ip route 10.0.0.0/9 Null0\nip prefix-list A permit any", [
            ("vrf a", ["ip route 10.0.0.0/8 Null0", "no ip route 10.0.0.0/9 Null0"]), "ip prefix-list A permit any"]),
        ("interface a\nip address 10.0.0.1/31\nno ipv6 nd suppress-ra\nip\n ip route 10.0.0.0/8 Null0", [
            ("interface a", ["ip address 10.0.0.1/31", "no ipv6 nd suppress-ra", "ip"]), "ip route 10.0.0.0/8 Null0"]),
        ("router bgp 1\n exit-address-family\n exit-vrf\n neighbor a\nexit\nneighbor b", [
            ("router bgp 1", ["neighbor a"]), "neighbor b"]),
        ("router bgp 1\n quit\n neighbor a", ["router bgp 1", "neighbor a"]),
        ("router isis a\n hostname dynamic\n net b\n hostname c", [
            ("router isis a", ["hostname dynamic", "net b"]), "hostname c"]),
        ("router rip\n bfd default-profile a\nbfd\n peer 10.0.0.1\n  shutdown", [
            ("router rip", ["bfd default-profile a"]), ("bfd", [("peer 10.0.0.1", ["shutdown"])])]),
    ],
)  # fmt: skip
def test_commands_and_their_blocks(text: str, expected: Tree) -> None:
    assert tree(parse_frr(text)) == expected


def test_every_command_knows_its_place_and_words() -> None:
    (bgp,) = parse_frr("!\nrouter bgp  65000\r\n\t neighbor é𝄞 description a  b  \n")
    (neighbor,) = bgp.children
    assert (bgp.words, bgp.text, bgp.span) == (("router", "bgp", "65000"), "router bgp 65000", Span(2, 1, 2, 18))
    assert neighbor.span == Span(3, 3, 3, 31)
    assert neighbor.text == "neighbor é𝄞 description a b"
    assert neighbor.starts_with_words("neighbor", "é𝄞")
    assert not neighbor.starts_with_words("neighbor", "description")
    assert neighbor.starts_with_words()
    assert not bgp.starts_with_words("router", "bgp", "65000", "vrf")


def test_walk_goes_into_blocks_in_order() -> None:
    walked = [([block.words[0] for block in outer], one.text) for outer, one in walk_statements(parse_frr(BGP))]
    assert walked == [
        ([], "frr defaults datacenter"),
        ([], "router bgp 65000"),
        (["router"], "bgp router-id 10.0.0.1"),
        (["router"], "neighbor 10.0.0.2 remote-as 1"),
        (["router"], "address-family ipv4 unicast"),
        (["router", "address-family"], "network 10.0.0.0/8"),
        (["router", "address-family"], "neighbor 10.0.0.2 activate"),
        (["router"], "address-family ipv6 unicast"),
        (["router", "address-family"], "network ::/0"),
        ([], "ip prefix-list A permit any"),
    ]


words = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=5)
inside = st.lists(words.map(lambda word: f"neighbor {word} x"), min_size=1, max_size=3)
families = st.lists(st.tuples(st.sampled_from(["address-family ipv4 unicast", "address-family l2vpn evpn"]), inside))
routers = st.tuples(st.sampled_from(["router bgp 1", "router bgp 2 vrf a"]), st.tuples(inside, families))
tops = st.lists(routers | words.map(lambda word: f"hostname {word}"), max_size=4)


@given(tops, st.randoms(use_true_random=False))
def test_any_layout_of_the_same_commands_is_the_same(trees: Any, random: Any) -> None:
    lines: list[str] = []
    expected: Tree = []
    indent = random.random() < 0.5

    def say(depth: int, command: str) -> None:
        if random.random() < 0.2:
            lines.append(random.choice(["", "!", " # x", "   "]))
        lines.append(
            ("\t" if random.random() < 0.3 else " ") * (depth if indent else 0) + command + random.choice(["", " "])
        )

    for one in trees:
        if isinstance(one, str):
            say(0, one)
            expected.append(one)
            continue
        router, (own, of_families) = one
        say(0, router)
        for command in own:
            say(1, command)
        for family, commands in of_families:
            say(1, family)
            for command in commands:
                say(2, command)
            say(1, "exit-address-family")
        if random.random() < 0.5:
            say(0, "exit")
        expected.append((router, [*own, *of_families]))
    found = parse_frr("\n".join(lines))
    assert tree(found) == expected
    for _, command in walk_statements(found):
        assert lines[command.line - 1][command.column - 1 :][: command.length].split() == list(command.words)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.lists(words, max_size=9).map("\n ".join))
def test_no_text_stops_the_parser_and_no_command_is_lost(text: str) -> None:
    kept = [line.split() for line in text.split("\n") if line.strip() and line.strip()[0] not in "!#"]
    ends = ("exit", "exit-address-family", "exit-vrf", "exit-route-map", "end")
    assert [list(one.words) for _, one in walk_statements(parse_frr(text))] == [
        line for line in kept if " ".join(line) not in ends
    ]
