"""What rules found and cost: counted and timed where somebody asks, in the text, in JSON, over several fabrics."""

import json
import re
from pathlib import Path

import pytest

from nodrop.engine import verdicts
from nodrop.report.json import render as render_json
from nodrop.report.statistics import format_statistics_table
from nodrop.report.text import render
from nodrop.resources import resource_folder
from nodrop.results.outcome import FabricOutcome, RuleCost
from support.command import nodrop
from support.report_samples import finding, outcome

WORK = (
    RuleCost(rule="quick", evaluations=3, seconds=0.0004),
    RuleCost(rule="pfc-without-watchdog", evaluations=12, seconds=0.25),
    *(RuleCost(rule=f"slow-{number}", evaluations=1, seconds=1 + number) for number in range(10)),
    RuleCost(rule="idle", evaluations=0, seconds=0.0),
)
ASKED = outcome(finding("leaf1/Ethernet0"), finding("leaf1/Ethernet8"), work=WORK)


def test_the_table_has_the_slowest_rules_and_those_that_found_something() -> None:
    assert format_statistics_table(ASKED, verbose=False) == [
        "rule                  findings  evaluations  seconds",
        *(f"slow-{number}                       0            1  {1 + number:7.3f}" for number in range(9, -1, -1)),
        "pfc-without-watchdog         2           12    0.250",
        "(2 more rules)               0            3    0.000",
        "(13 rules together)          2           25   55.250",
    ]
    last = [line.split()[0] for line in format_statistics_table(ASKED, verbose=True)][-4:]
    assert last == ["pfc-without-watchdog", "quick", "idle", "(13"]


def test_the_totals_stay_the_last_line() -> None:
    paragraphs = render(ASKED).split("\n\n")
    assert paragraphs[-2].startswith("rule  ")
    assert paragraphs[-1].splitlines()[-1].startswith("6 devices")
    assert render(ASKED, quiet=True).split("\n\n")[-1].startswith("rule  ")
    assert "evaluations" not in render(outcome(finding("leaf1/Ethernet0")))


def test_json_has_every_rule_the_slowest_first() -> None:
    rows = json.loads(render_json(ASKED))["statistics"]
    assert [row["rule"] for row in rows[9:]] == ["slow-0", "pfc-without-watchdog", "quick", "idle"]
    assert rows[10] == {"rule": "pfc-without-watchdog", "findings": 2, "evaluations": 12, "seconds": 0.25}
    assert json.loads(render_json(outcome()))["statistics"] is None


def test_a_hostile_rule_name_stays_a_name() -> None:
    hostile = FabricOutcome(work=(RuleCost(rule="a\n\x1b[31m\u202eb", evaluations=1, seconds=0.0),))
    assert "\n" + r"a\n\x1b[31m\u202eb " in render(hostile)


@pytest.fixture
def pods(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    for pod in ("one", "two"):
        intent = (resource_folder("intents") / "two-by-two.yaml").read_text().replace("fabric: two", f"fabric: {pod}")
        Path(f"{pod}.yaml").write_text(intent.replace("min: 150kB, max: 1500kB", "min: 1kB, max: 2kB"))
    return tmp_path


def test_several_fabrics_are_added_up(pods: Path) -> None:
    one, both = (
        json.loads(nodrop("lint", *names, "--statistics", "--ignore", "topology", "--format", "json").out)
        for names in (["one.yaml"], ["one.yaml", "two.yaml"])
    )
    single = {row["rule"]: row for row in one["statistics"]}
    double = {row["rule"]: row for row in both["statistics"]}
    assert single.keys() == double.keys()
    assert len(single) == one["summary"]["rules"]
    for rule, row in single.items():
        assert (double[rule]["findings"], double[rule]["evaluations"]) == (2 * row["findings"], 2 * row["evaluations"])
    assert single["ecn-below-one-packet"]["findings"] == sum(
        found["rule"] == "ecn-below-one-packet" for found in one["findings"]
    )
    assert sum(row["seconds"] for row in single.values()) > 0


def test_nobody_looks_at_the_clock_unasked(pods: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = nodrop("lint", "one.yaml")
    assert "evaluations" not in plain.out
    asked = nodrop("lint", "one.yaml", "--statistics")
    assert re.search(r"\necn-below-one-packet +\d+ +\d+ +\d\.\d{3}\n", asked.out)

    def clock() -> float:
        raise AssertionError("a clock was asked")

    monkeypatch.setattr(verdicts, "perf_counter", clock)
    assert nodrop("lint", "one.yaml").out == plain.out
