"""The guide to own rules: its rule passes, its commands print what it says, and its words are those of the code."""

import re
from pathlib import Path

import pytest

from nodrop.engine.rule_file import RuleFile
from nodrop.engine.vocabulary import vocabulary
from nodrop.report.rule_words import render_word_reference
from nodrop.resources import resource_folder
from support.command import built, nodrop
from support.documented_commands import pattern
from support.places import ROOT

DOCS = ROOT / "docs"
GUIDE, WORDS = DOCS / "own-rules.md", DOCS / "rule-words.md"


def blocks(language: str) -> list[str]:
    """Return the guide's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_rule_of_the_guide_passes_and_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built(resource_folder("intents") / "two-by-two.yaml", "build")
    rule, config = blocks("yaml")
    path = Path("ours/watchdog/site-watchdog-too-slow.yaml")
    assert str(path) in GUIDE.read_text()
    path.parent.mkdir(parents=True)
    path.write_text(rule)
    consoles = blocks("console")
    assert len(consoles) == 2
    for console in consoles:
        command, _, printed = console.partition("\n")
        done = nodrop(*command.removeprefix("$ nodrop ").split())
        assert done.code == 0
        assert re.fullmatch(pattern(printed), done.out), done.out
    Path("nodrop.yaml").write_text(config)
    selected = nodrop("lint", "build", "--select", "site-watchdog-too-slow").out
    assert re.fullmatch(pattern(consoles[1].partition("\n")[2]), selected), selected
    assert (
        "options.most_ms = 300" in nodrop("explain", "site-watchdog-too-slow", "--at", "leaf1/Ethernet0", "build").out
    )


def test_every_key_of_a_rule_is_told_of() -> None:
    text = GUIDE.read_text()
    keys = [field.alias or name for name, field in RuleFile.model_fields.items()]
    assert [key for key in keys if not re.search(rf"`{key}[:`]|^{key}:", text, re.MULTILINE)] == []


def test_the_words_are_those_of_the_code(update_golden: bool) -> None:
    if update_golden:
        WORDS.write_text(render_word_reference())
    assert WORDS.read_text() == render_word_reference(), "make golden"
    rows = set(re.findall(r"^\| `(?:[^`]*→ )?(\w+)[(`]", WORDS.read_text(), re.MULTILINE))
    assert {name for _, name in vocabulary()} <= rows
