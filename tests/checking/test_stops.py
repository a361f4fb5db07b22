"""Whatever makes a check end with 1 is in every format: rollout hazards, builds that do not fit, and risks."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from nodrop.results.rulings import BUILTIN_VERDICTS
from support.check_repositories import Git, built_pods, commit, of_json, written
from support.command import built, nodrop

HAZARD = ("check", "fabric.yaml", "--base", "./old")
SAID = "between leaf1 and leaf2: error[rdma-dscp-in-lossy-class] on leaf1: DSCP 26 of RDMA"


def results(*words: str) -> list[dict[str, Any]]:
    """Return the results of a check as SARIF, each with its line, and the rules that it describes."""
    (run,) = json.loads(nodrop(*words, "--format", "sarif").out)["runs"]
    described = {one["id"] for one in run["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in run["results"]} <= described
    return list(run["results"])


def place(result: dict[str, Any]) -> tuple[str, int | None]:
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region", {}).get("startLine")


def line(path: str, text: str) -> int:
    return 1 + next(at for at, one in enumerate(Path(path).read_text().splitlines()) if text in one)


def test_a_hazard_is_a_result_at_the_fact_that_changes(intents: Path) -> None:
    (one,) = results(*HAZARD)
    assert (one["ruleId"], one["level"], place(one)) == (
        "rollout-hazard",
        "error",
        ("fabric.yaml", line("fabric.yaml", "classes:")),
    )
    assert one["message"]["text"].startswith(SAID)
    assert "the order is 1. leaf1; 2. leaf2; 3. spine1, spine2, one at a time" in one["message"]["text"]
    Path("fabric.yaml").write_text("# moved down\n" + Path("fabric.yaml").read_text())
    (moved,) = results(*HAZARD)
    assert place(moved)[1] == line("fabric.yaml", "classes:")
    assert moved["partialFingerprints"] == one["partialFingerprints"]


def test_a_hazard_that_is_let_through_is_a_note_and_one_that_nobody_looks_for_is_none(intents: Path) -> None:
    assert [one["level"] for one in results(*HAZARD, "--rollout", "report")] == ["note"]
    assert nodrop(*HAZARD, "--rollout", "report", "--fail-on", "note", "--format", "github").code == 0
    assert results(*HAZARD, "--rollout", "off") == []


def test_a_hazard_is_in_every_format(intents: Path) -> None:
    def told(name: str) -> str:
        done = nodrop(*HAZARD, "--format", name)
        assert done.code == 1
        return done.out

    at = line("fabric.yaml", "classes:")
    assert told("github").startswith(f"::error title=rollout-hazard,file=fabric.yaml,line={at},")
    assert told("concise").startswith(f"fabric.yaml:{at}:")
    (row,) = json.loads(told("gitlab"))
    assert (row["check_name"], row["severity"], row["location"]) == (
        "rollout-hazard",
        "critical",
        {"path": "fabric.yaml", "lines": {"begin": at}},
    )
    failure = ElementTree.fromstring(told("junit")).find(
        "testsuite[@name='leaf1']/testcase[@name='rollout-hazard']/failure"
    )
    assert failure is not None
    assert failure.attrib["message"].startswith(SAID)
    (stop,) = json.loads(told("json"))["blockers"]
    assert (stop["rule"], stop["related"][0]["file"], stop["related"][0]["line"]) == (
        "rollout-hazard",
        "fabric.yaml",
        at,
    )


def test_a_build_that_does_not_fit_is_a_result_where_it_differs_first(intent: Git) -> None:
    built("intents/fabric.yaml", "build")
    commit(intent)
    path = "build/leaf2/config_db.json"
    written(path, '"mtu": "9216"', '"mtu": "9100"')
    (one,) = [each for each in results("check", "--base", "HEAD") if each["ruleId"] == "build-unlike-intent"]
    assert (one["level"], place(one)) == ("error", (path, line(path, '"mtu": "9100"')))
    assert one["message"]["text"].startswith("build is out of date with intents/fabric.yaml: leaf2 different")


def test_a_build_that_is_gone_is_told_at_its_intent(pods: Git) -> None:
    for file in Path("build/pod1").rglob("*.*"):
        if file.is_file():
            file.unlink()
    (one,) = results("check", "--base", "HEAD")
    assert (one["ruleId"], place(one)) == ("build-unlike-intent", ("intents/pod1.yaml", None))


def test_a_risk_that_is_not_let_through_is_a_result_for_each_change(intents: Path) -> None:
    words = (*HAZARD, "--rollout", "off", "--fail-on-risk", "traffic-affecting")
    found = results(*words)
    assert {(one["ruleId"], one["level"]) for one in found} == {("risk-of-change", "error")}
    assert place(found[0]) == ("fabric.yaml", line("fabric.yaml", "classes:"))
    assert any("DSCP 10: traffic class 2 -> 0" in one["message"]["text"] for one in found)
    assert "more risk than --fail-on-risk lets through" in nodrop(*words).out.splitlines()[-1]
    assert results(*HAZARD, "--rollout", "off", "--fail-on-risk", "reboot") == []


def test_verdicts_of_several_fabrics_are_told_apart(pods: Git) -> None:
    for number in (1, 2):
        written(f"intents/pod{number}.yaml", "rdma:    {dscp: 26", "rdma:    {dscp: 24")
        written(f"intents/pod{number}.yaml", "storage: {dscp: 10", "storage: {dscp: 26")
        Path(f"intents/pod{number}.yaml").write_text(
            Path(f"intents/pod{number}.yaml").read_text() + "hosts: {tos: 98}\n"
        )
    built_pods()
    found = results("check", "--base", "HEAD")
    assert [(one["ruleId"], place(one)[0]) for one in found] == [
        ("rollout-hazard", "intents/pod1.yaml"),
        ("rollout-hazard", "intents/pod2.yaml"),
    ]
    assert len({json.dumps(one["partialFingerprints"]) for one in found}) == 2
    assert [one["rule"] for one in of_json("--base", "HEAD")["blockers"]] == ["rollout-hazard"] * 2


@pytest.mark.parametrize("name", BUILTIN_VERDICTS)
def test_each_verdict_has_a_page(name: str) -> None:
    done = nodrop("explain", name)
    assert done.code == 0
    of_lines = "unknown, of every command that reads configurations"
    told = of_lines if name == "unknown-line" else "error, of `nodrop check` alone"
    assert done.out.startswith(f"{name}: {told}\n")
    assert "What to do: " in done.out
