"""Reports for pipelines and editors: what each says, exactly, and that hostile names and texts stay texts."""

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.cli.output import has_finding_at_threshold
from nodrop.engine.finding import FileLocation, Fix, UnknownVerdict
from nodrop.errors import Problem
from nodrop.report import concise, github, gitlab, junit, sarif
from nodrop.report import json as json_report
from nodrop.results.outcome import FabricOutcome
from support.report_samples import at, finding, outcome, related

HOSTILE = "a\r\n::error::x\n]]><b>&\"'%0A,:\x1b[2J\u202e\x00"
UNKNOWN = UnknownVerdict(
    rule="headroom-too-small",
    missing="link.length_m",
    subjects_count=2,
    devices=("leaf1",),
    resolved_by="cables in fabric.yaml",
)
WHOLE = outcome(
    finding(
        "leaf1/Ethernet8",
        at("build/leaf1/config_db.json", 812, 9, 20),
        related=(related("spine1/Ethernet0", "the other end", at("build/spine1/config_db.json", 3, 5, 9)),),
        fix=Fix(text="give it one"),
    ),
    finding("leaf1/Ethernet16", at("build/leaf1/config_db.json", 820, 9, 20)),
    finding("@fabric", rule="rdma-mtu-above-port-mtu", severity="note", message="too large", group="mtu"),
    unknown=(UNKNOWN,),
    problems=(Problem(path="b.yaml", line=3, column=5, where="fabric.mode", found="'x'", expected="a mode"),),
)


def test_concise_is_a_line_each() -> None:
    assert concise.render(WHOLE).decode().splitlines() == [
        "b.yaml:3:5: problem: fabric.mode: 'x'; expected a mode",
        "build/leaf1/config_db.json:812:9: error[pfc-without-watchdog] Ethernet8 honours pause on priority 3 but has "
        "no PFC watchdog (leaf1/Ethernet8)",
        "build/leaf1/config_db.json:820:9: error[pfc-without-watchdog] Ethernet16 honours pause on priority 3 but has "
        "no PFC watchdog (leaf1/Ethernet16)",
        "note[rdma-mtu-above-port-mtu] too large (@fabric)",
        "unknown[headroom-too-small] needs the length of the cable; supply cables in fabric.yaml",
    ]
    assert concise.render(outcome()) == b""


def test_github_has_an_annotation_for_each_cause() -> None:
    assert github.render(WHOLE).decode().splitlines() == [
        "::error title=nodrop cannot read this,file=b.yaml,line=3,col=5::fabric.mode: 'x'; expected a mode",
        "::error title=pfc-without-watchdog,file=build/leaf1/config_db.json,line=812,endLine=812,col=9,endColumn=20::"
        "leaf1: Ethernet8 honours pause on priority 3 but has no PFC watchdog%0AThe same on leaf1/Ethernet16.%0A"
        "build/spine1/config_db.json:3: the other end%0AFix: give it one",
        "::notice title=rdma-mtu-above-port-mtu::too large",
    ]


def test_github_names_three_others_and_counts_the_rest() -> None:
    many = outcome(*(finding(f"leaf1/Ethernet{port}") for port in range(6)))
    assert "The same on leaf1/Ethernet1, leaf1/Ethernet2, leaf1/Ethernet3 and 2 more." in github.render(many).decode()


def test_gitlab_has_an_entry_for_each_finding_and_no_two_fingerprints() -> None:
    rows = json.loads(gitlab.render(WHOLE))
    assert [(row["check_name"], row["severity"], row["location"]) for row in rows] == [
        ("unreadable", "blocker", {"path": "b.yaml", "lines": {"begin": 3}}),
        ("pfc-without-watchdog", "critical", {"path": "build/leaf1/config_db.json", "lines": {"begin": 812}}),
        ("pfc-without-watchdog", "critical", {"path": "build/leaf1/config_db.json", "lines": {"begin": 820}}),
        ("rdma-mtu-above-port-mtu", "info", {"path": ".", "lines": {"begin": 1}}),
    ]
    twice = outcome(finding("leaf1"), finding("leaf1"), finding("leaf1", within="pod2"))
    prints = [row["fingerprint"] for row in json.loads(gitlab.render(twice))]
    assert len(set(prints)) == 3
    moved = json.loads(gitlab.render(outcome(finding("leaf1", at("a", 7, 1, 2)))))
    assert moved[0]["fingerprint"] in prints, "it stays when lines move"


def test_junit_has_a_suite_for_each_device_and_a_case_for_each_rule() -> None:
    root = ElementTree.fromstring(junit.render(WHOLE))
    assert root.attrib == {"name": "nodrop", "tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    assert [(suite.get("name"), [(case.get("name"), case[0].tag) for case in suite]) for suite in root] == [
        ("leaf1", [("pfc-without-watchdog", "failure")]),
        ("the fabric", [("rdma-mtu-above-port-mtu", "system-out")]),
        ("input", [("b.yaml", "error")]),
    ]
    failure = root[0][0][0]
    assert failure.get("message", "").endswith("has no PFC watchdog (and 1 more)")
    assert [line.partition(":")[0] for line in (failure.text or "").splitlines()] == ["build/leaf1/config_db.json"] * 2
    (suite,) = ElementTree.fromstring(junit.render(outcome()))
    assert [len(case) for case in suite] == [0], "nothing found is a case that passes"


def test_what_another_finding_explains_names_it_in_sarif_and_json() -> None:
    cause = {"rule": "pfc-one-sided", "severity": "warning", "group": "cause"}
    found = outcome(
        finding("leaf1/Ethernet0", at("b", 1, 1, 2), group="effect", explained_by="cause"),
        finding("leaf1/Ethernet8", at("b", 2, 1, 2), **cause),
        finding("leaf2/Ethernet0", at("c", 1, 1, 2), group="effect", explained_by="cause"),
        finding("leaf2/Ethernet8", at("c", 2, 1, 2), **cause),
    )
    first, second, third, _ = json.loads(sarif.render(found))["runs"][0]["results"]
    assert (first["properties"]["group"], first["properties"]["explainedBy"]) == ("effect", "cause")
    assert "explainedBy" not in second["properties"]
    for result, file in ((first, "b"), (third, "c")):
        (related_place,) = result["relatedLocations"]
        assert related_place["physicalLocation"]["artifactLocation"]["uri"] == file, "the cause on its own switch"
        assert related_place["message"]["text"].startswith("ends with the correction of pfc-one-sided: leaf")
    document = json.loads(json_report.render(found))
    assert [row["explained_by"] for row in document["findings"]] == ["cause", None, "cause", None]
    summary = document["summary"]
    assert (summary["error"], summary["warning"], summary["causes"]) == (2, 2, 1)
    assert [has_finding_at_threshold(found, threshold) for threshold in ("error", "warning", "never")] == [
        True,
        True,
        False,
    ]


def test_sarif_has_what_code_scanning_needs() -> None:
    document = json.loads(sarif.render(WHOLE))
    (run,) = document["runs"]
    assert (document["version"], run["columnKind"]) == ("2.1.0", "unicodeCodePoints")
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "headroom-too-small",
        "pfc-without-watchdog",
        "rdma-mtu-above-port-mtu",
    ]
    first, second, third = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("pfc-without-watchdog", 1, "error")
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "build/leaf1/config_db.json"},
                "region": {"startLine": 812, "startColumn": 9, "endLine": 812, "endColumn": 20},
            },
            "logicalLocations": [{"fullyQualifiedName": "leaf1/Ethernet8"}],
        }
    ]
    assert [one["message"]["text"] for one in first["relatedLocations"]] == ["the other end"]
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert third["locations"] == [{"logicalLocations": [{"fullyQualifiedName": "@fabric"}]}]
    said = run["invocations"][0]
    assert said["executionSuccessful"] is False
    assert [one["message"]["text"] for one in said["toolExecutionNotifications"]] == [
        "fabric.mode: 'x'; expected a mode",
        "headroom-too-small is unknown: needs the length of the cable; supply cables in fabric.yaml",
    ]


@pytest.mark.parametrize(
    ("file", "uri"),
    [("./a b/ü.json", "a%20b/%C3%BC.json"), ("/srv/x.json", "file:///srv/x.json"), ("a\\b.json", "a/b.json")],
)
def test_a_path_is_a_uri_in_sarif(file: str, uri: str) -> None:
    document = json.loads(sarif.render(outcome(finding("leaf1", FileLocation(file=file, span=None)))))
    physical = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert physical == {"artifactLocation": {"uri": uri}}, "without a line there is no region"


def hostile(text: str) -> FabricOutcome:
    whole: dict[str, Any] = {"message": text, "rule": text, "fix": Fix(text=text), "within": text, "group": text}
    intent = related("leaf1", f"decided here: extra.{text}", at(text, 1, 1, 2))
    return outcome(
        finding(f"leaf1/{text.replace('/', '')}", at(f"{text}/x", 1, 1, 2), related=(intent,), **whole),
        problems=(Problem(path=text, line=1, column=1, where=text, found=text, expected=text),),
        unknown=(UnknownVerdict(rule=text, missing=text, subjects_count=1, devices=(), resolved_by=text),),
    )


@given(st.one_of(st.just(HOSTILE), st.text(min_size=1)))
def test_hostile_text_stays_text_in_every_report(text: str) -> None:
    said = hostile(text)
    commands = github.render(said).decode().splitlines()
    assert len(commands) == 2
    assert all(re.fullmatch(r"::error [^:\r\n]*::[^\r\n]*", line) for line in commands)
    assert len(concise.render(said).decode().split("\n")) == 4
    root = ElementTree.fromstring(junit.render(said))
    assert [len(suite) for suite in root] == [1, 1]
    assert len(json.loads(gitlab.render(said))) == 2
    assert len(json.loads(sarif.render(said))["runs"][0]["results"]) == 1


INTENT = finding(
    "leaf1/Ethernet8",
    at("pod.yaml/leaf1/config_db.json", 812, 9, 20),
    related=(
        replace(related("leaf1/Ethernet8", "decided here: pfc.watchdog", at("pod.yaml", 14, 5, 19)), decides=True),
    ),
)


def test_findings_of_a_linted_intent_stand_where_they_can_be_opened() -> None:
    """What such an intent comes to is written nowhere; no editor, and no page of a merge request, has those files."""
    said = outcome(INTENT)
    assert concise.render(said).decode().startswith("pod.yaml:14:5: error[")
    assert ",file=pod.yaml,line=14,endLine=14,col=5,endColumn=19::" in github.render(said).decode()
    assert "decided here" not in github.render(said).decode(), "it stands there"
    assert json.loads(gitlab.render(said))[0]["location"] == {"path": "pod.yaml", "lines": {"begin": 14}}
    ((case,),) = ElementTree.fromstring(junit.render(said))
    assert (case.get("file"), (case[0].text or "").partition(": ")[0]) == ("pod.yaml", "pod.yaml:14")
    (result,) = json.loads(sarif.render(said))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "pod.yaml"}
    (other,) = result["relatedLocations"]
    assert other["message"] == {"text": "resulting configuration"}
    assert other["physicalLocation"]["artifactLocation"] == {"uri": "pod.yaml/leaf1/config_db.json"}


def test_findings_of_a_build_stand_in_the_intent_too() -> None:
    said = outcome(replace(INTENT, located=at("out/leaf1/config_db.json", 812, 9, 20)))
    assert concise.render(said).decode().startswith("pod.yaml:14:5: ")
    assert ",file=pod.yaml,line=14," in github.render(said).decode()
    (result,) = json.loads(sarif.render(said))["runs"][0]["results"]
    (other,) = result["relatedLocations"]
    assert other["message"] == {"text": "resulting configuration"}
    assert other["physicalLocation"]["artifactLocation"] == {"uri": "out/leaf1/config_db.json"}


def test_findings_of_files_that_name_another_place_stand_in_the_files() -> None:
    other = related("leaf1/Ethernet8", "the other end", at("pod.yaml", 14, 5, 19))
    said = outcome(replace(INTENT, located=at("out/leaf1/config_db.json", 812, 9, 20), related=(other,)))
    assert concise.render(said).decode().startswith("out/leaf1/config_db.json:812:9: ")
    assert "%0Apod.yaml:14: the other end\n" in github.render(said).decode()
