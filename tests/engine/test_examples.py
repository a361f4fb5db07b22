"""Examples of rules: what holds is silent, and each way of not holding is told."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine.examples import FabricOnPlatform, run_example
from nodrop.engine.finding import FileLocation, Finding
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading, Remark
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.syntax.places import Span
from support.small_fabrics import rule, two_leaves

KEYS = {"when": "interface.side == 'fabric'", "claim": "interface.qos.pfc_watchdog"}
BAD = {"model": {"leaf*/Ethernet8/qos/pfc_watchdog": None}, "at": ["leaf1/Ethernet8", "leaf2/Ethernet8"]}
GOOD = {"model": {"leaf*/Ethernet0/qos/pfc_watchdog": None}}


def base(intent: Mapping[str, Any]) -> Fabric:
    """The example fabric; an intent may state its mode."""
    return set_value(two_leaves(), parse_subject("@fabric/mode"), intent.get("mode", "lossless"))


def views(fabric: Fabric) -> Iterable[FabricOnPlatform]:
    """As two platforms say it: one loses what is at the far end of a cable on spines."""
    yield FabricOnPlatform("sonic", Reading(fabric=fabric))
    yield FabricOnPlatform("nvue", Reading(fabric=set_value(fabric, parse_subject("spine1/*/side"), "host")))


def told(bad: object = BAD, good: object = GOOD, **keys: Any) -> list[str]:
    made = rule(**KEYS | keys, examples={"bad": [bad], "good": [good]})
    return [str(failure) for example in made.examples for failure in run_example(made, example, base, views, artifact)]


def artifact(edits: Mapping[str, Any], _: Mapping[str, Any]) -> Iterable[FabricOnPlatform]:
    remark = Remark(kind="syntax", subject=("leaf1",), place=None, facts={"file": next(iter(edits["sonic"]))})
    yield FabricOnPlatform("sonic", Reading(fabric=two_leaves(), remarks=(remark,)))


def test_examples_that_hold_are_silent() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (BAD | {"at": ["leaf1/Ethernet8"]},
         [f"fault: bad[0] on {name}: a finding at leaf2/Ethernet8" for name in ("sonic", "nvue")]),
        (BAD | {"at": [*BAD["at"], "spine1/Ethernet0", "leaf1/Ethernet0"]},
         [f"fault: bad[0] on {name}: no finding at leaf1/Ethernet0, spine1/Ethernet0" for name in ("sonic", "nvue")]),
        ({"model": {"spine1/Ethernet0/qos/pfc_watchdog": None}, "at": ["spine1/Ethernet0"]},
         ["fault: bad[0] on nvue: no finding at spine1/Ethernet0"]),
        (BAD | {"model": {"leaf1/Ethernet8/qos/pfc_watchdgo": None}},
         ["fault: bad[0]: leaf1/Ethernet8/qos/pfc_watchdgo: QosProfile has no `pfc_watchdgo` "
          "(did you mean `pfc_watchdog`?)"]),
        (BAD | {"model": BAD["model"] | {"leaf1/Ethernet0/side": "unknown"}},
         [f"fault: bad[0] on {name}: unknown, because of missing interface.side" for name in ("sonic", "nvue")]),
    ],
    ids=["too-few", "too-many", "one-platform", "no-such-path", "unknown"],
)  # fmt: skip
def test_each_difference_is_told(bad: object, expected: list[str]) -> None:
    assert told(bad) == expected


def test_a_platform_s_own_names_are_spelt_as_in_the_example() -> None:
    made = rule(**KEYS, examples={"bad": [BAD], "good": [GOOD]})
    renamed = {"swp2": "Ethernet8"}

    def own(fabric: Fabric) -> Iterable[FabricOnPlatform]:
        named = set_value(
            set_value(fabric, parse_subject("leaf*/Ethernet8/name"), "swp2"), parse_subject("spine1/*/side"), "host"
        )
        yield FabricOnPlatform(
            "nvue", Reading(fabric=named), lambda subject: tuple(renamed.get(part, part) for part in subject)
        )

    bad = {"model": {"leaf*/swp2/qos/pfc_watchdog": None}, "at": ["leaf1/Ethernet8"]}
    made = rule(**KEYS, examples={"bad": [BAD, bad], "good": [GOOD]})
    assert run_example(made, made.examples[0], base, own) == []


def test_a_finding_without_a_line_is_told() -> None:
    made = rule(**KEYS, examples={"bad": [BAD], "good": [GOOD]})

    def found(findings: Iterable[Finding], reading: Reading) -> Iterable[Finding]:
        spans = {"leaf1": Span(7, 1, 7, 9), "leaf2": None}
        return [
            replace(one, located=FileLocation(file="config_db.json", span=spans[str(one.device)])) for one in findings
        ]

    failures = run_example(made, made.examples[0], base, views, locate=found)
    assert [failure.message for failure in failures] == ["no line for the finding at leaf2/Ethernet8"] * 2


def test_a_good_example_has_no_fault() -> None:
    assert told(good={"model": BAD["model"]}) == [
        f"fault: good[0] on {name}: a finding at leaf1/Ethernet8, leaf2/Ethernet8" for name in ("sonic", "nvue")
    ]


def test_an_example_in_the_wrong_mode_is_told() -> None:
    failures = told(bad={"intent": {"mode": "lossy"}, "at": ["leaf1/Ethernet8"]}, modes=["lossless", "pfc-only"])
    assert failures[0] == "fault: bad[0] on sonic: the rule does not apply in this mode, but in lossless, pfc-only"
    assert failures[1] == "fault: bad[0] on sonic: no finding at leaf1/Ethernet8"


def test_examples_of_stricter_rules_are_run_too() -> None:
    assert told(strictness="auditor", confidence="possible") == []
    assert told(good={"model": BAD["model"]}, strictness="auditor") != []


def test_a_crash_is_told() -> None:
    assert "ZeroDivisionError" in told(claim="1 / (count(interface.addresses)) > 2")[0]


def test_artifacts_are_the_caller_s_to_edit() -> None:
    bad = {"artifact": {"sonic": {"leaf1/config_db.json": []}}, "at": ["leaf1"]}
    made = rule(remark="syntax", facts=["file"], examples={"bad": [bad], "good": [{"model": {}}]})
    assert [run_example(made, example, base, views, artifact) for example in made.examples] == [[], []]
    (failure,) = run_example(made, made.examples[0], base, views)
    assert str(failure) == "fault: bad[0]: no platform can say it"


def test_an_example_that_no_platform_can_say_is_a_failure() -> None:
    made = rule(**KEYS, examples={"bad": [BAD], "good": [GOOD]})
    (failure,) = run_example(made, made.examples[0], base, lambda fabric: [])
    assert (failure.rule, failure.example, failure.platform, failure.message) == (
        "fault", "bad[0]", "", "no platform can say it",
    )  # fmt: skip


def test_the_base_is_not_changed_by_an_example() -> None:
    fabric = two_leaves()
    made = rule(**KEYS, examples={"bad": [BAD], "good": [GOOD]})
    assert run_example(made, made.examples[0], lambda intent: fabric, views) == []
    assert fabric == two_leaves()
    assert fabric.policy.rdma_mtu_bytes is UNKNOWN
