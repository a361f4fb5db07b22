"""Every shipped rule, by its own examples: exactly the subjects that it says, on every platform that can say them."""

import pytest

from nodrop.lint.examples import run_example
from nodrop.lint.rule import Example, Rule
from nodrop.lint.rules import shipped

import rule_examples  # isort: skip

CASES = [(rule, example) for rule in shipped() for example in rule.examples]


@pytest.mark.parametrize(("rule", "example"), CASES, ids=[f"{rule.name}-{example.name}" for rule, example in CASES])
def test_example(rule: Rule, example: Example) -> None:
    failures = run_example(rule, example, rule_examples.base, rule_examples.views, rule_examples.artifact)
    assert not failures, "\n".join(map(str, failures))


def test_the_rules_of_this_release() -> None:
    assert [rule.name for rule in shipped()] == [
        "bracket-reference",
        "comma-port-list",
        "dangling-reference",
        "duplicate-key",
        "ecn-inert",
        "ecn-never-before-pfc",
        "fabric-pfc-without-watchdog",
        "headroom-below-formula",
        "headroom-too-small",
        "malformed-value",
        "mtu-mismatch",
        "odd-name",
        "pfc-on-unintended-priority",
        "pfc-without-watchdog",
        "rdma-dscp-in-lossy-class",
        "storage-in-rdma-class",
        "watchdog-mask-differs",
    ]


def test_a_sound_fabric_has_no_findings() -> None:
    from nodrop.lint.engine import judge

    ((_, reading),) = rule_examples.views(rule_examples.base({}))
    verdict = judge(reading, shipped(), strictness="auditor")
    assert verdict.findings == ()
    assert verdict.unknown == ()
    assert verdict.rules == len(shipped())
