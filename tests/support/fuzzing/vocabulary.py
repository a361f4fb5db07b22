"""The words and numbers that mutations put in: those of the product itself, those of the corpus, and nasty ones."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from support.fuzzing.texts import Pairs, Raw, Tree, nodes

LIMITS = (
    *(-1, 0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 63, 64, 65, 100, 101, 127, 128, 255, 256, 1000, 1500, 4094, 4095, 4096),
    *(9100, 9216, 9217, 65535, 65536, 100000, 400000, 800000, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**30),
)
NASTY = (
    *(
        "",
        " ",
        "-",
        "0",
        "00",
        "-0",
        "+1",
        "1.0",
        "1e3",
        "1e400",
        "nan",
        "inf",
        "0x10",
        "0b1",
        "1_000",
        " 5",
        "5 ",
        "\t",
    ),
    *(
        "\u0663",
        "\u00b2",
        "\uff11",
        "\u2028",
        "\u202e",
        "\ud800",
        "\x00",
        "\x1b[2J",
        "\r",
        "\n",
        "\\",
        '"',
        "'",
        "`id`",
    ),
    *(
        "é",
        "e\u0301",
        "\U0001f469\u200d\U0001f680",
        "ß",
        "İ",
        "true",
        "null",
        "None",
        "none",
        "all",
        "any",
        "*",
        "?",
        "[",
    ),
    *(
        "|",
        "||",
        "a|",
        "|a",
        ":",
        "::",
        ",",
        ",,",
        "/",
        "//",
        "..",
        "../x",
        "{{ x }}",
        "%s",
        "{}",
        "{0}",
        "$x",
        "#",
        "!",
    ),
    *("Ethernet", "Ethernet0", "Ethernet999999", "Ethernet-1", "swp1s", "swp1-99999", "1/1", "1/1/1", "eth0", "lo"),
    *(
        "10.0.0.0",
        "10.0.0.1/33",
        "10.0.0.1/-1",
        "65536/24",
        "10.2.4.0/",
        "0.0.0.0/0",
        "::/0",
        "fe80::1%eth0",
        "::ffff:1.2.3.4",
    ),
    *(
        "18446744073709551616/31",
        "1.10",
        "65536.1",
        "4294967296",
        "as:1",
        "999:999:999",
        "no-export",
        "(a+)+$",
        "[",
        "(?P<",
    ),
    "9" * 5000,
    "A" * 3000,
    "0," * 500,
    "0-99999999",
    "1-2-3",
    "3-1",
)
RAW = tuple(
    map(
        Raw,
        (
            *("1e400", "-1e400", "1E5", "-0", "1.5", "0.1e-400", "9" * 5000, "1" * 400 + ".5", "NaN", "Infinity"),
            *(
                "true",
                "false",
                "null",
                "[]",
                "{}",
                "[[]]",
                '[""]',
                '{"": ""}',
                "[null]",
                '{"a": null}',
                "3",
                '"\\ud800"',
            ),
            *(
                "~",
                "!!binary x",
                "!!set {a}",
                "2026-01-01",
                "2026-01-01T00:00:00Z",
                "0o17",
                "1:30",
                ".inf",
                ".nan",
                "*a",
                "&a b",
            ),
            *(
                "|\n  x",
                ">-\n  y",
                "yes",
                "No",
                "0b11",
                "1_0",
                "<<",
                "? a",
                "- b",
                "'",
                "@x",
                "%TAG",
                "- - - a",
                "[1, [2, [3]]]",
            ),
        ),
    )
)
"""Values as they stand in a text, some of which one syntax has and another refuses."""


@dataclass
class Vocabulary:
    """What a target's inputs are made of."""

    keys: list[Any] = field(default_factory=list)
    values: dict[Any, list[Any]] = field(default_factory=lambda: defaultdict(list))
    """By key, the values that it has in the corpus."""
    words: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def learn(self, tree: Tree) -> None:
        """Take the keys and values of a document."""
        for holder, index, key in nodes(tree):
            value = holder[index]
            if key is not None and key not in self.values:
                self.keys.append(key)
            known = self.values[key]
            if len(known) < 40 and value not in known:
                known.append(value)
            if isinstance(value, str) and not isinstance(value, Raw):
                self.words.append(value)

    def learn_lines(self, text: str) -> None:
        """Take the lines and words of a text."""
        for line in text.splitlines():
            if line.strip():
                self.lines.append(line)
                self.words.extend(line.split())

    def settle(self, more: Iterable[str] = ()) -> "Vocabulary":
        """Have each word and line once, with `more` words; return the vocabulary."""
        self.words = sorted({*self.words, *more})
        self.lines = sorted(set(self.lines))
        return self

    def word(self, random: Random) -> str:
        """Return a word, a limit or something nasty."""
        chance = random.random()
        if chance < 0.5 and self.words:
            return random.choice(self.words)
        return str(random.choice(LIMITS)) if chance < 0.75 else random.choice(NASTY)

    def usual(self, random: Random, key: Any) -> Tree:
        """Return a value that the key has elsewhere, or a limit."""
        known = self.values.get(key)
        return random.choice(known) if known and random.random() < 0.8 else random.choice(LIMITS)

    def value(self, random: Random, key: Any = None) -> Tree:
        """Return a value: one that the key has elsewhere, that another has, or none that any has."""
        chance = random.random()
        if chance < 0.3 and self.values.get(key):
            return random.choice(self.values[key])
        if chance < 0.5 and self.keys:
            return random.choice(self.values[random.choice(self.keys)] or [""])
        if chance < 0.65:
            return random.choice(LIMITS)
        if chance < 0.75:
            return random.choice(RAW)
        if chance < 0.85:
            return random.choice(
                (None, True, False, 1.5, [], Pairs(), [""], Pairs([["", ""]]), Pairs([["x", Pairs()]]))
            )
        return self.word(random)


@cache
def of_source(folder: Path) -> frozenset[str]:
    """Return the short words and the numbers that Python modules below a folder have as constants."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant):
                if isinstance(node.value, str) and 0 < len(node.value) <= 40 and not set(node.value) & set(" \n\\"):
                    found.add(node.value)
                elif type(node.value) is int:
                    found.update((str(node.value), str(node.value + 1)))
    return frozenset(found)
