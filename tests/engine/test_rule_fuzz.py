"""Whatever stands in a rule file, loading it gives a rule or problems with their place, and trying it gives results."""

import random
import re
from pathlib import Path

import pytest

from nodrop.engine.rules import shipped_rules
from nodrop.engine.site_rules import load_site_rules
from nodrop.errors import InputProblems
from nodrop.rule_tests import run_rule_examples

WORDS = (
    *("null", "true", "~", "[]", "{}", "''", '"', "5", "-1", "1e999", "0x10", "*a", "&a [*a]", "!!binary x"),
    *("<<: {a: b}", "? ", "- ", "---", "\t", "\x00", "\ud7ff", "\u202e", "{{ 1 }}", "{% x %}", "..", "@fabric", "%2F"),
    *("interface.nothing", "not " * 40, "(" * 40, "1 / 0", "x" * 600, "options.x", "fabric.mode", "a: b: c", "9" * 400),
    *("leaf1/Ethernet0", "leaf9", "**", "rdma", "[[[[", "{a: {b: {c: {d: {}}}}}", "'none'", "is none", "in (1, 2)"),
)


def mutated(text: str, chance: random.Random) -> bytes:
    """Return the text with a few things in it changed, as a tired author or a hostile one would."""
    for _ in range(chance.randint(1, 3)):
        lines = text.split("\n")
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        tokens = [match.span() for match in re.finditer(r"[\w./*-]+", text)] or [(0, 0)]
        start, end = chance.choice(tokens)
        match chance.randrange(8):
            case 0:
                del lines[at]
                text = "\n".join(lines)
            case 1:
                lines.insert(at, lines[other])
                text = "\n".join(lines)
            case 2:
                lines[at] = chance.choice((" ", "  ")) + lines[at] if chance.random() < 0.5 else lines[at].lstrip()
                text = "\n".join(lines)
            case 3 | 4:
                text = text[:start] + chance.choice(WORDS) + text[end:]
            case 5:
                other_start, other_end = chance.choice(tokens)
                text = text[:start] + text[other_start:other_end] + text[end:]
            case 6:
                text = text[:start] + text[end:]
            case _:
                text = text[: chance.randrange(len(text) + 1)]
    raw = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.05 and raw:
        at = chance.randrange(len(raw))
        raw = raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
    return raw


def outcome(raw: bytes, area: str, folder: Path) -> str:
    """Return what came of a rule file: `rule`, or `problems`, each of which names the file and has a line."""
    path = folder / area / "fuzzed.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(raw)
    try:
        rules = load_site_rules([folder])
    except InputProblems as error:
        for problem in error.problems:
            assert problem.path == str(path)
            assert problem.message
            assert "\n" not in problem.message
            assert problem.line is not None or "bytes" in problem.message, problem
        return "problems"
    finally:
        path.unlink()
    assert [rule.name for rule in rules] == ["fuzzed"]
    return "rule"


def loaded(times: int, folder: Path) -> set[str]:
    """Load so many changed rule files, and return what came of them."""
    chance = random.Random(9)
    texts = [(Path(rule.path).read_text(), rule.area) for rule in shipped_rules()]
    found = set()
    for _ in range(times):
        text, area = chance.choice(texts)
        found.add(outcome(mutated(text, chance), area, folder))
    return found


def test_a_broken_rule_file_is_a_rule_or_problems(tmp_path: Path) -> None:
    assert loaded(200, tmp_path) == {"rule", "problems"}


@pytest.mark.nightly
def test_two_thousand_broken_rule_files_are_rules_or_problems(tmp_path: Path) -> None:
    assert loaded(2000, tmp_path) == {"rule", "problems"}


def tried(times: int, folder: Path, seed: int) -> int:
    """Try so many rules whose examples were changed, and return how many of them loaded."""
    chance, count = random.Random(seed), 0
    texts = [(Path(rule.path).read_text(), rule.area) for rule in shipped_rules() if not rule.routed]
    for _ in range(times):
        text, area = chance.choice(texts)
        head, key, examples = text.partition("\nexamples:")
        (folder / area).mkdir(exist_ok=True)
        path = folder / area / "fuzzed.yaml"
        path.write_bytes((head + key).encode() + mutated(examples, chance))
        try:
            rules = load_site_rules([folder])
        except InputProblems:
            path.unlink()
            continue
        (result,) = run_rule_examples(rules)
        count += 1
        for fault in result.faults:
            assert fault.message
            assert fault.line > 0
            assert "\n" not in fault.message
        path.unlink()
    return count


@pytest.mark.slow
def test_a_broken_example_is_a_fault_of_its_rule(tmp_path: Path) -> None:
    assert tried(200, tmp_path, 9) > 10
