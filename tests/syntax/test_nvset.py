"""Lines of `nv set` as a shell reads them: words, what they stand for, and where they are."""

import time

import pytest

from nodrop.syntax.nvset import has_nv_lines, parse_nv_commands


@pytest.mark.parametrize(
    ("line", "verb", "words"),
    [
        ("nv set qos roce", "set", ("qos", "roce")),
        ("  nv   unset\tqos  roce  # off", "unset", ("qos", "roce")),
        (
            "nv set interface swp1 description 'to leaf1: #3'",
            "set",
            ("interface", "swp1", "description", "to leaf1: #3"),
        ),
        ('nv set a "b \\" c"d', "set", ("a", 'b " cd')),
        ("nv set a b\\ c", "set", ("a", "b c")),
        ("nv set a \\\n  b", "set", ("a", "b")),
        ("nv set a '1\n2'", "set", ("a", "1\n2")),
        ("nv set a ''", "set", ("a", "")),
        ("nv set a x#y", "set", ("a", "x#y")),
        ("nv set a b|c", "set", ("a", "b|c")),
        ("nv set a b >/dev/null 2>&1", "set", ("a", "b")),
        ("nv set a '>b'", "set", ("a", ">b")),
        ("nv set a <b>", "set", ("a", "<b>")),
        ("sudo nv set a b", "set", ("a", "b")),
        ("cumulus@leaf01:mgmt:~$ nv set a b", "set", ("a", "b")),
        ("root@leaf-01:/etc/nvue.d# nv unset a", "unset", ("a",)),
        ("$ nv set a b", "set", ("a", "b")),
    ],
)
def test_words_of_a_command(line: str, verb: str, words: tuple[str, ...]) -> None:
    (command,) = parse_nv_commands(line).commands
    assert (command.verb, command.words) == (verb, words)


def test_commands_follow_each_other_by_lines_and_signs() -> None:
    script = parse_nv_commands(
        "nv set a b; nv set c d && nv unset e f\r\nnv config apply -y\n\n# nv set x y\nreload it\n"
    )
    assert [(one.verb, one.words) for one in script.commands] == [
        ("set", ("a", "b")),
        ("set", ("c", "d")),
        ("unset", ("e", "f")),
    ]
    assert script.others == ((5, "reload it"),)


def test_a_misspelt_verb_is_not_passed_over() -> None:
    script = parse_nv_commands("nv sett qos roce\nnv set\nnv show qos\nnv action clear qos\nnv\n")
    assert script.commands == ()
    assert script.others == ((1, "nv sett qos roce"), (2, "nv set"), (5, "nv"))


@pytest.mark.parametrize(
    "line",
    [
        "nv config apply -y",
        "nv config apply --confirm 60",
        "nv config apply -y && nv config save",
        "nv config show -o commands | less",
        "cumulus@leaf01:~$ nv config diff",
        "set -euo pipefail",
        "echo 'nv unset a'",
        "cumulus@leaf01:~$",
        "# nv unset a",
    ],
)
def test_what_sets_nothing_is_passed_over(line: str) -> None:
    script = parse_nv_commands(f"nv set a b\n{line}\n")
    assert [command.words for command in script.commands] == [("a", "b")]
    assert script.others == ()


@pytest.mark.parametrize(
    "line",
    [
        "nv config apply empty",
        "nv config apply 12",
        "nv config detach",
        "nv config patch a.yaml",
        "nv config replace a",
    ],
)
def test_what_puts_another_revision_in_place_is_not_passed_over(line: str) -> None:
    assert parse_nv_commands(f"nv set a b\n{line} || exit 1\n").others == ((2, line),)


def test_what_is_emptied_before_anything_is_set_is_empty() -> None:
    assert parse_nv_commands("nv config detach\nnv config apply empty -y\nnv set a b\n").others == ()


def test_each_word_has_its_place() -> None:
    (command,) = parse_nv_commands("\nnv set qos 'a b' \\\n  c\n").commands
    assert [(one.line, one.column, one.end_line, one.end_column) for one in command.spans] == [
        (2, 8, 2, 11),
        (2, 12, 2, 17),
        (3, 3, 3, 4),
    ]


@pytest.mark.parametrize(
    ("head", "ours"),
    [
        (b"nv set qos roce\n", True),
        (b"#!/bin/sh\n\n  nv unset qos\n", True),
        (b"cumulus@leaf01:~$ nv set qos roce\n", True),
        (b"# nv set qos roce\n", False),
        (b"we say nv set\n", False),
        (b"nv show qos\n", False),
    ],
)
def test_what_has_such_lines(head: bytes, ours: bool) -> None:
    assert has_nv_lines(head) is ours


@pytest.mark.parametrize("text", ["'" * 100_000, "nv set '" + 'a"' * 50_000, "\\" * 100_000, "nv set " + "a" * 500_000])
def test_no_text_takes_longer_than_its_length_lets_expect(text: str) -> None:
    began = time.process_time()
    parse_nv_commands(text)
    assert time.process_time() - began < 3
