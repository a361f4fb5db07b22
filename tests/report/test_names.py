import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.model.subject import parse_subject
from nodrop.report.names import (
    collapse_names,
    format_count,
    format_counts_by_kind,
    format_name_list,
    subject_kind,
    subject_label,
)


def eights(first: int, last: int) -> list[str]:
    return [f"Ethernet{number}" for number in range(first, last + 1, 8)]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["leaf1"], "leaf1"),
        (["leaf1", "leaf2"], "leaf1, leaf2"),
        (["leaf9", "leaf4", "leaf3", "leaf2", "leaf1"], "leaf[1-4], leaf9"),
        (eights(0, 248), "Ethernet[0-248 by 8]"),
        ([*eights(0, 24), "Ethernet25", "Ethernet26"], "Ethernet[0-24 by 8], Ethernet25, Ethernet26"),
        (["swp1", "swp5", "swp9"], "swp1, swp5, swp9"),
        ([f"swp{panel}s{split}" for panel in range(1, 33) for split in range(4)], "swp[1-32]s[0-3]"),
        (["swp1s0", "swp1s1", "swp1s2", "swp2s0"], "swp1s[0-2], swp2s0"),
        (["leaf08", "leaf09", "leaf10", "leaf11"], "leaf[08-11]"),
        (["leaf8", "leaf09", "leaf10", "leaf11"], "leaf8, leaf[09-11]"),
        (["leaf1", "leaf01", "leaf001"], "leaf001, leaf01, leaf1"),
        (["leaf9", "leaf10", "leaf11"], "leaf[9-11]"),
        ([f"10.1.0.{host}" for host in range(1, 9, 2)], "10.1.0.[1-7 by 2]"),
        (["fd00::8", "fd00::9", "fd00::10"], "fd00::8, fd00::9, fd00::10"),
        (["leaf1", "leaf1", "leaf1"], "leaf1"),
        (["a", "b1", "b2", "b3", "10"], "10, a, b[1-3]"),
    ],
)
def test_numbers_that_run_are_drawn_together(names: list[str], text: str) -> None:
    assert format_name_list(names) == text


def test_a_long_list_says_how_many_names_it_leaves_out() -> None:
    names = [f"port{letter}" for letter in "abcdefgh"] + [f"x{number}" for number in range(30)]
    assert format_name_list(names) == "porta, portb, portc, portd, porte, portf, portg, porth and 30 more"


def spelt_out(text: str) -> set[str]:
    pieces = re.split(r"\[(\d+)-(\d+)(?: by (\d+))?\]", text)
    choices = [[pieces[0]]]
    for first, last, step, literal in _fours(pieces[1:]):
        width = len(first) if first.startswith("0") else 1
        choices.append([str(n).zfill(width) for n in range(int(first), int(last) + 1, int(step or 1))])
        choices.append([literal])
    return {"".join(choice) for choice in itertools.product(*choices)}


def _fours(pieces: list[str]) -> list[list[str]]:
    return [pieces[start : start + 4] for start in range(0, len(pieces), 4)]


@given(st.sets(st.from_regex(r"\A[a-c]{0,1}[0-9]{1,2}(s[0-9]{0,2})?\Z"), max_size=60))
def test_a_run_means_exactly_the_names_it_was_made_of(names: set[str]) -> None:
    entries = collapse_names(names)
    spelt = [spelt_out(entry.text) for entry in entries]
    assert [len(each) for each in spelt] == [entry.names for entry in entries]
    assert set().union(*spelt) == names
    assert sum(map(len, spelt)) == len(names)


@given(st.lists(st.from_regex(r"\A[a-c]{0,1}[0-9]{1,3}\Z"), max_size=40))
def test_the_order_of_the_names_does_not_matter(names: list[str]) -> None:
    assert collapse_names(names) == collapse_names(reversed(names))


@pytest.mark.parametrize(
    ("subject", "called", "what"),
    [
        ("leaf1", "leaf1", "device"),
        ("leaf1/Ethernet8", "Ethernet8", "port"),
        ("leaf1/Eth1%2F1", "Eth1/1", "port"),
        ("leaf1/Ethernet8/qos/queues/3", "Ethernet8 queue 3", "queue"),
        ("leaf1/Ethernet8/qos/priority_groups/3", "Ethernet8 priority group 3", "priority group"),
        ("leaf1/Ethernet8/qos/pfc_watchdog", "Ethernet8/qos/pfc_watchdog", "part"),
        ("leaf1/@neighbors/10.1.0.1", "10.1.0.1", "neighbor"),
        ("leaf1/@buffer_pools/ingress", "ingress", "buffer pool"),
        ("@fabric", "the fabric", "fabric"),
        ("@fabric/classes/rdma", "rdma", "class"),
        ("@fabric/links/leaf1:Ethernet8--spine1:Ethernet0", "leaf1:Ethernet8--spine1:Ethernet0", "link"),
        ("leaf1/Ethernet0, Ethernet[1-9]", '"Ethernet0, Ethernet[1-9]"', "port"),
        ('leaf1/a "b" \x1b', r'"a \"b\" \x1b"', "port"),
        ("leaf1/", '""', "port"),
    ],
)
def test_parts_are_called_by_their_names_in_the_field(subject: str, called: str, what: str) -> None:
    assert (subject_label(parse_subject(subject)), subject_kind(parse_subject(subject))) == (called, what)


@pytest.mark.parametrize(
    ("device", "called"),
    [
        ("leaf7", "Ethernet128"),
        ("spine1", "Ethernet0"),
        ("leaf8", "leaf7:Ethernet128--spine1:Ethernet0"),
        (None, "leaf7:Ethernet128--spine1:Ethernet0"),
    ],
)
def test_a_link_is_called_as_its_port_on_a_device(device: str | None, called: str) -> None:
    assert subject_label(parse_subject("@fabric/links/leaf7:Ethernet128--spine1:Ethernet0"), device) == called
    assert subject_label(parse_subject("@fabric/links/a:1--a:2"), "a") == "a:1--a:2", "both ends are there"


def test_names_in_quotes_are_never_drawn_together() -> None:
    assert (
        format_name_list([subject_label(("leaf1", f"port {number}")) for number in range(3)])
        == '"port 0", "port 1", "port 2"'
    )


def test_counts_are_of_different_parts_by_kind() -> None:
    subjects = ["leaf1", "leaf1/e1", "leaf1/e2", "leaf2/e1", "leaf2/e1", "@fabric/classes/a", "@fabric/classes/b"]
    assert format_counts_by_kind(map(parse_subject, subjects)) == ["3 ports", "2 classes"]
    assert [format_count(number, "port") for number in (0, 1, 2)] == ["0 ports", "1 port", "2 ports"]
