"""What goes wrong with Spectrum switches in practice: a configuration that has each fault, and exactly what is found.

The rows are those of troubles that were met and reported, numbered 1 to 26, the clauses of NVIDIA's documentation, and
the tests 0 to 5 of `netq check roce`. Rows that no file decides say why.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.locate import add_finding_places
from nodrop.model.subject import subject_text
from nodrop.syntax.yaml import parse_yaml
from support.places import ROOT, TESTS

BASES: dict[str, dict[str, str]] = parse_yaml(
    (TESTS / "rules" / "nvidia" / "bases.yaml").read_bytes(), "bases.yaml"
).data
TABLE: list[dict[str, Any]] = parse_yaml((TESTS / "rules" / "nvidia" / "table.yaml").read_bytes(), "table.yaml").data
ROWS = [row for row in TABLE if "undecided" not in row]

Found = list[tuple[str, tuple[str, ...], str, str]]
"""Rule, subjects, file, and the text of the line, for each line with findings."""


def findings(where: Path, files: dict[str, str], strictness: str = "regular") -> Found:
    """Lint files below a folder."""
    for name, said in files.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(said)
    reading = nodrop.read([str(where)])
    assert reading.problems == ()
    verdict = judge(reading, select_lint_rules(shipped_rules()), strictness=strictness)
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in add_finding_places(verdict.findings, reading, platforms.make_place_finder).findings:
        assert one.located is not None, one.rule
        assert one.located.span is not None, one.rule
        (name,) = (name for name in files if one.located.file.endswith(f"/{name}"))
        line = files[name].split("\n")[one.located.span.line - 1].strip()
        rows.setdefault((one.rule, name, line), []).append(subject_text(one.subject))
    return sorted((rule, tuple(sorted(at)), file, line) for (rule, file, line), at in rows.items())


@cache
def changed(number: int) -> dict[str, str]:
    """Return the files of a row: those of its base, edited, and its own."""
    row = ROWS[number]
    files = dict(BASES[row["base"]])
    for name, edits in row.get("edits", {}).items():
        for edit in edits:
            assert edit["replace"] in files[name], edit["replace"]
            files[name] = files[name].replace(edit["replace"], edit["with"], 1)
    return files | row.get("files", {})


@pytest.mark.parametrize("base", BASES)
def test_what_is_in_order_has_no_findings(base: str, tmp_path: Path) -> None:
    assert findings(tmp_path, BASES[base]) == []


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[f"{row['of']}: {row['says']}" for row in ROWS])
def test_row(number: int, tmp_path: Path) -> None:
    row = ROWS[number]
    expected = sorted((one["rule"], tuple(one["at"]), one["file"], one["line"]) for one in row["finds"])
    assert findings(tmp_path, changed(number), row.get("strictness", "regular")) == expected


def test_every_row_and_every_test_of_netq_is_there() -> None:
    found = {row["of"] for row in TABLE}
    assert found == {"clause", *(f"row {number}" for number in range(1, 27)), *(f"netq {test}" for test in range(6))}
    assert {row["of"] for row in TABLE if "undecided" in row}.isdisjoint(row["of"] for row in ROWS)
    assert [row["says"] for row in ROWS if not row["finds"]] == [
        "the minimum at the maximum: a step, which marks all from there on"
    ]


def test_the_comparison_says_which_rules_go_with_which_test_of_netq() -> None:
    page = (ROOT / "docs/comparison.md").read_text()
    section = page.split("## The tests of `netq check roce` as rules\n")[1]
    said = dict(re.findall(r"^\| ([0-5]) [^|]*\|([^|]*)\|$", section, re.MULTILINE))
    assert {name for names in said.values() for name in re.findall(r"`([^`]+)`", names)} <= {
        rule.name for rule in shipped_rules()
    }
    for row in ROWS:
        if row["of"].startswith("netq"):
            assert {one["rule"] for one in row["finds"]} <= set(re.findall(r"`([^`]+)`", said[row["of"][-1]])), row
