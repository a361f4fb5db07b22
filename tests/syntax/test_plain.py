"""YAML read line by line: what is taken reads just as the full parser reads it, and has the same places."""

import random
import time

import pytest

from nodrop.errors import InputProblems
from nodrop.resources import resource_folder
from nodrop.syntax import yaml
from nodrop.syntax.plain import NOT_PLAIN_YAML, load_simple_yaml_or_marker

TEXT = """\
# as a switch exports it
- header:
    model: SN5600
    version: Cumulus Linux 5.16.0

- set:
    interface:
      swp1-16,17s0:
        description: 'leaf1: port #1'
        link:
          speed: 400G
          state:
            up: {}
        ipv4:
          address:
            10.0.0.1/31: {}
            fd00::1/64: {}
      ? swp20s0-1,swp21s0-1,swp22
      : type: swp
        link:
          mtu: 9216
      ? 'a key: quoted'
      : link: {}
    router:
      '10':
        "a b": "x: y"
        flags: [on, 'off']
    none:
    nothing: null
    tilde: ~
    yes: true
    no: false
    quoted: "true"
  list:
  - one
  - two: 2
    three: [a, "b, c", {d: e}]
  -  spaced
hosts:
  gpu1: {gpus: 8, ports: {nic1: {speed: 400G, addresses: ["10.2.1.1/31"], up: true}}, none: null}
cables:
  - gpu1:nic1--leaf1:Ethernet0 3m DR4
"""
TAKEN = TEXT.replace("""        flags: [on, 'off']\n""", "").replace("    tilde: ~\n", "").replace("  -  spaced\n", "")
TAKEN = TAKEN.replace("hosts:\n", "- hosts:\n").replace("  gpu1:", "    gpu1:").replace("cables:\n", "- cables:\n")
TAKEN = TAKEN.replace("  list:\n", "  list:\n").replace("  - gpu1", "    - gpu1")
LETTERS = "  \n-:{}[],'\"#&*!|>%@?\\~=ax10./\t\r\x00é"


def full(text: str) -> object:
    """Read with the full parser; the problems where it refuses."""
    try:
        return yaml._YamlEventReader(text, "x").read_document().data
    except InputProblems as error:
        return error


def test_what_programs_write_is_taken() -> None:
    assert repr(load_simple_yaml_or_marker(TAKEN)) == repr(full(TAKEN))
    for name in ("two-by-two", "reference-256"):
        text = (resource_folder("intents").parent / "golden" / name / "fabric.yaml").read_text()
        assert repr(load_simple_yaml_or_marker(text)) == repr(full(text))


def paths(data: object) -> list[tuple[str | int, ...]]:
    inside: list[tuple[str | int, object]] = []
    if isinstance(data, dict):
        inside = list(data.items())
    elif isinstance(data, list):
        inside = list(enumerate(data))
    return [(), *((key, *rest) for key, value in inside for rest in paths(value))]


def test_places_are_those_of_the_full_parser() -> None:
    one, other = yaml.parse_yaml(TAKEN, "x"), yaml._YamlEventReader(TAKEN, "x").read_document()
    one.data.append("what a caller adds")
    ways = paths(other.data)
    assert len(ways) > 40
    for way in ways:
        assert one.line_and_column(way) == other.line_and_column(way)
        assert one.line_and_column(way, of="key") == other.line_and_column(way, of="key")


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n  c: d\n", "a: b\n  c\n", "a:\n  b\n", "a: b # c\n", "a: &x b\n", "a: *x\n", "a: !!str b\n",
        "a: |\n  b\n",
        "<<: {a: b}\n", "null: a\n", "a: 1\na: 2\n", "a: {b: 1, b: 2}\n", "a: {b}\n", "a: {b:c}\n", "a: [b: c]\n",
        "a: [b, ]\n", "a: 'b''c'\n", 'a: "b\\n"\n', "a: b:\n", "a: b: c\n", "---\na: b\n", "a: b\n...\n", "- - a\n",
        "-\n  a: b\n", "a:  b\n", "a: b \n", "\ta: b\n", "a:\tb\n", "a: b\r\n", "a: é\n", "é: a\n",
        "? a\n: b\n", "",
        "\n", "# a\n", "a\n", "'a'\n", "{a: b}\n", "a: {\n  b: c}\n", "  a: b\n c: d\n", "a:\n    b: c\n  d: e\n",
        "- a\nb: c\n", "a: b\n- c\n", "a: %b\n", "a: @b\n", "%a: b\n", "a: -b\n", "a: .5\n", "a: []b\n", "a: {}}\n",
        f"{'k' * 1100}: b\n", "a: {%s: b}\n" % ("k" * 1100), "a: 'b\n", 'a: "b\n', "a: {'b': c}\n", "a: {b: 'c'}\n",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_the_full_parser(text: str) -> None:
    data = load_simple_yaml_or_marker(text)
    assert data is NOT_PLAIN_YAML


def test_whatever_is_taken_reads_as_the_full_parser_reads_it() -> None:
    dice, taken = random.Random(5), 0
    for _ in range(6000):
        lines = TAKEN.splitlines(keepends=True)
        at = dice.randrange(len(lines))
        lines = lines[at : at + dice.randrange(1, 8)] if dice.random() < 0.7 else lines
        for _ in range(dice.randrange(1, 4)):
            which = dice.randrange(len(lines))
            line, where = lines[which], dice.randrange(len(lines[which]) + 1)
            kind = dice.randrange(5)
            if kind == 0:
                lines[which] = line[:where] + dice.choice(LETTERS) + line[where:]
            elif kind == 1:
                lines[which] = line[:where] + line[where + 1 :]
            elif kind == 2:
                lines[which] = "  " + line if dice.random() < 0.5 else line.removeprefix("  ")
            elif kind == 3:
                lines.insert(which, dice.choice(lines))
            else:
                lines[which] = line.lstrip(" ") if dice.random() < 0.3 else line
        text = "".join(lines)
        data = load_simple_yaml_or_marker(text)
        if data is not NOT_PLAIN_YAML:
            taken += 1
            assert repr(data) == repr(full(text)), text
    assert taken > 300


def test_no_text_takes_longer_than_its_length_lets_expect() -> None:
    begun = time.process_time()
    repeated = ("a: " + "b " * 100_000, "a: " + "b:" * 100_000, "a: " + "[" * 100_000, "a: " + "b, " * 100_000)
    for text in ("a" * 200_000, "'" * 100_000, 'a: "' + "b" * 200_000, "{" + "a: [" * 50_000, *repeated):
        load_simple_yaml_or_marker(text)
        load_simple_yaml_or_marker(text + "\n" + text)
    assert time.process_time() - begun < 2
