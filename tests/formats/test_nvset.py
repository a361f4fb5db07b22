"""Lines of `nv set` as a shell reads them: words, what they stand for, and where they are."""

import time

import pytest

from nodrop.formats.nvset import detect, parse


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
    ],
)
def test_words_of_a_command(line: str, verb: str, words: tuple[str, ...]) -> None:
    (command,) = parse(line).commands
    assert (command.verb, command.words) == (verb, words)


def test_commands_follow_each_other_by_lines_and_signs() -> None:
    script = parse("nv set a b; nv set c d && nv unset e f\r\nnv config apply -y\n\n# nv set x y\nreload it\n")
    assert [(one.verb, one.words) for one in script.commands] == [
        ("set", ("a", "b")),
        ("set", ("c", "d")),
        ("unset", ("e", "f")),
    ]
    assert script.others == ((5, "reload it"),)


def test_a_misspelt_verb_is_not_passed_over() -> None:
    script = parse("nv sett qos roce\nnv set\nnv show qos\nnv action clear qos\nnv\n")
    assert script.commands == ()
    assert script.others == ((1, "nv sett qos roce"), (2, "nv set"), (5, "nv"))


def test_each_word_has_its_place() -> None:
    (command,) = parse("\nnv set qos 'a b' \\\n  c\n").commands
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
        (b"we say nv set\n", False),
        (b"nv show qos\n", False),
    ],
)
def test_what_has_such_lines(head: bytes, ours: bool) -> None:
    assert detect(head) is ours


@pytest.mark.parametrize("text", ["'" * 100_000, "nv set '" + 'a"' * 50_000, "\\" * 100_000, "nv set " + "a" * 500_000])
def test_no_text_takes_longer_than_its_length_lets_expect(text: str) -> None:
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < 3
