import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nodrop.engine.finding import FileLocation, Fix, UnknownVerdict
from nodrop.errors import Problem
from nodrop.inputs.known import IgnoredPath
from nodrop.model.change import Change
from nodrop.model.fabric import End, Port
from nodrop.model.qos import PfcWatchdog, QosProfile
from nodrop.model.reading import Assumption, Note
from nodrop.model.states import UNKNOWN
from nodrop.report.json import json_value, render
from nodrop.report.schema import findings_schema
from nodrop.results.outcome import FabricOutcome, ReadAndIgnoredFiles
from support.report_samples import at, finding, outcome, related

WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")
WHOLE = outcome(
    finding(
        "leaf1/Ethernet8",
        at("build/leaf1/config_db.json", 812, 9, 20),
        at=("leaf1", "Ethernet8", "qos", "pfc_priorities"),
        facts={"priorities": "3", "detection_ms": None, "share": 0.5, "host": True},
        related=(
            related("spine1/Eth1%2F1", "the other end", at("build/spine1/config_db.json", 3, 5, 9)),
            related("spine1", "without a place"),
        ),
        fix=Fix(
            text="give the class a watchdog",
            safe=True,
            changes=(Change(subject=("leaf1", "Ethernet8", "qos", "pfc_watchdog"), old=None, new=WATCHDOG),),
        ),
    ),
    finding("@fabric", rule="no-rdma-class", severity="note", confidence="possible", message="no class is for RDMA"),
    unknown=(
        UnknownVerdict(
            rule="headroom-below-bound",
            missing="link.length_m",
            subjects_count=2,
            devices=("leaf1",),
            resolved_by="fabric.cables",
        ),
    ),
    notes=(Note(kind="table", message="BANNER is not understood", device="leaf1", file="a.json", line=4),),
    problems=(
        Problem(path="b.yaml", line=3, column=5, where="fabric.mode", found="'x'", expected="a mode", hint="lossy?"),
        Problem(path="c.yaml", found="a pipe"),
    ),
    assumed=(Assumption(fact="mode", value="lossless", reason="PFC is on"),),
    files=ReadAndIgnoredFiles(read=("a.json", "c.yaml"), ignored=(IgnoredPath("README.md", "documentation"),)),
    suppressed=3,
    baseline=12,
)


def read_back(shown: FabricOutcome) -> Any:
    document = json.loads(render(shown))
    Draft202012Validator(findings_schema()).validate(document)
    return document


def test_a_whole_report() -> None:
    assert (
        render(WHOLE).decode()
        == """\
{
  "version": 2,
  "findings": [
    {
      "rule": "pfc-without-watchdog",
      "severity": "error",
      "confidence": "certain",
      "message": "Ethernet8 honours pause on priority 3 but has no PFC watchdog",
      "subject": "leaf1/Ethernet8",
      "at": "leaf1/Ethernet8/qos/pfc_priorities",
      "device": "leaf1",
      "file": "build/leaf1/config_db.json",
      "line": 812,
      "column": 9,
      "end_line": 812,
      "end_column": 20,
      "facts": {
        "detection_ms": null,
        "host": true,
        "priorities": "3",
        "share": 0.5
      },
      "related": [
        {
          "subject": "spine1/Eth1%2F1",
          "message": "the other end",
          "file": "build/spine1/config_db.json",
          "line": 3,
          "column": 5
        },
        {
          "subject": "spine1",
          "message": "without a place",
          "file": null,
          "line": null,
          "column": null
        }
      ],
      "fix": {
        "safe": true,
        "text": "give the class a watchdog",
        "changes": [
          {
            "subject": "leaf1/Ethernet8/qos/pfc_watchdog",
            "old": null,
            "new": {
              "priorities": [
                3
              ],
              "detection_ms": 200,
              "restoration_ms": 400,
              "action": "drop",
              "history": null
            }
          }
        ],
        "commands": []
      },
      "group": "no watchdog",
      "explained_by": null,
      "fingerprint": "fingerprint of leaf1/Ethernet8",
      "suppressed": null,
      "baselined": false
    },
    {
      "rule": "no-rdma-class",
      "severity": "note",
      "confidence": "possible",
      "message": "no class is for RDMA",
      "subject": "@fabric",
      "at": "@fabric",
      "device": null,
      "file": null,
      "line": null,
      "column": null,
      "end_line": null,
      "end_column": null,
      "facts": {},
      "related": [],
      "fix": null,
      "group": "no watchdog",
      "explained_by": null,
      "fingerprint": "fingerprint of @fabric",
      "suppressed": null,
      "baselined": false
    }
  ],
  "unknown": [
    {
      "rule": "headroom-below-bound",
      "missing": "link.length_m",
      "subjects_count": 2,
      "devices": [
        "leaf1"
      ],
      "resolved_by": "fabric.cables"
    }
  ],
  "notes": [
    {
      "kind": "table",
      "message": "BANNER is not understood",
      "device": "leaf1",
      "file": "a.json",
      "line": 4
    }
  ],
  "problems": [
    {
      "file": "b.yaml",
      "line": 3,
      "column": 5,
      "path": "fabric.mode",
      "message": "'x'; expected a mode",
      "hint": "lossy?"
    },
    {
      "file": "c.yaml",
      "line": null,
      "column": null,
      "path": null,
      "message": "a pipe",
      "hint": null
    }
  ],
  "files": {
    "read": [
      "a.json"
    ],
    "ignored": [
      {
        "file": "README.md",
        "reason": "documentation"
      }
    ],
    "unread": [
      {
        "file": "b.yaml",
        "reason": "'x'; expected a mode"
      },
      {
        "file": "c.yaml",
        "reason": "a pipe"
      }
    ]
  },
  "assumed": [
    {
      "fact": "mode",
      "value": "lossless",
      "reason": "PFC is on"
    }
  ],
  "statistics": null,
  "validations": null,
  "skipped": [],
  "summary": {
    "devices": 6,
    "interfaces": 192,
    "rules": 11,
    "error": 1,
    "warning": 0,
    "note": 1,
    "causes": 2,
    "unknown": 1,
    "suppressed": 3,
    "baseline": 12,
    "evpn_not_computed": 0,
    "leaks_not_computed": 0,
    "declared_harmless": 0
  }
}
"""
    )


def test_it_follows_its_schema() -> None:
    Draft202012Validator.check_schema(findings_schema())
    read_back(WHOLE)
    read_back(outcome())


@pytest.mark.parametrize("part", ["findings", "unknown", "notes", "problems", "assumed"])
def test_the_schema_admits_no_other_and_no_missing_key(part: str) -> None:
    for spoil in (lambda entry: entry.popitem(), lambda entry: entry.update(surplus=1)):
        document = json.loads(render(WHOLE))
        spoil(document[part][0])
        assert not Draft202012Validator(findings_schema()).is_valid(document)


def test_findings_are_sorted_by_file_line_rule_and_subject_and_never_grouped() -> None:
    expected = [
        finding("leaf2/Ethernet8", FileLocation(file="leaf2.json", span=None)),
        finding("leaf2/Ethernet0", at("leaf2.json", 9, 1, 2), rule="z"),
        finding("leaf2/Ethernet0", at("leaf2.json", 10, 1, 2), rule="a"),
        finding("leaf2/Ethernet8", at("leaf2.json", 10, 1, 2), rule="b"),
        finding("leaf2/Ethernet16", at("leaf2.json", 10, 1, 2), rule="b"),
        finding("leaf10/Ethernet0", at("leaf10.json", 1, 1, 2)),
        finding("leaf1"),
        finding("leaf3"),
    ]
    for given_order in (expected, expected[::-1], expected[::2] + expected[1::2]):
        assert list(outcome(*given_order).findings) == expected
    assert [each["subject"] for each in read_back(outcome(*expected[::-1]))["findings"]] == [
        "leaf2/Ethernet8",
        "leaf2/Ethernet0",
        "leaf2/Ethernet0",
        "leaf2/Ethernet8",
        "leaf2/Ethernet16",
        "leaf10/Ethernet0",
        "leaf1",
        "leaf3",
    ]


def test_a_place_without_a_line_is_a_file() -> None:
    (only,) = read_back(outcome(finding("leaf1", FileLocation(file="a.json", span=None))))["findings"]
    assert [only[key] for key in ("file", "line", "column", "end_line", "end_column")] == [
        "a.json",
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (UNKNOWN, {"unknown": True}),
        (None, None),
        (True, True),
        (9216, 9216),
        ("rs", "rs"),
        ((3, None, 4), [3, None, 4]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Port(3, 1), {"panel": 3, "split": 1}),
        ((End("leaf1", "swp1"),), [{"node": "leaf1", "port": "swp1"}]),
        ({3: UNKNOWN}, {"3": {"unknown": True}}),
        (
            WATCHDOG,
            {"priorities": [3], "detection_ms": 200, "restoration_ms": 400, "action": "drop", "history": None},
        ),
    ],
)
def test_values_of_the_model_become_plain_json(value: object, said: object) -> None:
    assert json_value(value) == said


def test_unknown_facts_inside_a_value_stay_visible() -> None:
    said = json_value(QosProfile(trust=UNKNOWN, dscp_to_tc=(0,) * 64))
    assert said["trust"] == {"unknown": True}
    assert said["dscp_to_tc"] == [0] * 64
    assert said["queues"] == []


def test_what_is_not_of_the_model_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^object is not a type of the model$"):
        json_value(object())


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
# Other numbers, such as ², are left out only because `subject.natural` cannot sort them yet.
NAMES = st.text(st.characters(exclude_categories=("No",)), max_size=20)


@given(ANY_TEXT, NAMES, st.integers())
def test_hostile_text_and_numbers_give_valid_utf8_that_reads_back(text: str, name: str, number: int) -> None:
    hostile = finding(
        f"leaf1/{name}",
        at(name, 1, 1, 2),
        message=text,
        facts={text: number, "x" + text: text},
        fix=Fix(text=text, changes=(Change(subject=("leaf1", text), old=text, new={text: number}),)),
    )
    (said,) = read_back(outcome(hostile))["findings"]
    assert said["message"] == text.encode("utf-8", "backslashreplace").decode()
    assert number in said["facts"].values()


def test_a_lone_surrogate_is_written_out() -> None:
    assert read_back(outcome(finding("leaf1", message="a\udcffb\x1b")))["findings"][0]["message"] == "a\\udcffb\x1b"


def test_integers_beyond_64_bits_keep_every_digit() -> None:
    (said,) = read_back(outcome(finding("leaf1", facts={"speed_mbps": 10**30, "least": -(10**30)})))["findings"]
    assert said["facts"] == {"speed_mbps": 10**30, "least": -(10**30)}
