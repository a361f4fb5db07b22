"""Every condition of every rule is pinned by an example: a rule with one changed fails (`nodrop.engine.mutants`).

`pytest tests/rules/test_rule_mutants.py -k NAME` tries one rule, with `-v` it counts. What no fabric can tell from
the rule itself stands in `rule_mutants.yaml`, by rule and change, with the reason.
"""

import pytest

from nodrop.engine.mutants import mutants_of
from nodrop.engine.rule import Rule
from nodrop.engine.rule_loader import parse_rule
from nodrop.engine.rules import shipped_rules
from nodrop.syntax.yaml import parse_yaml
from support import rule_mutants
from support.places import TESTS

ARGUED = TESTS / "rules" / "rule_mutants.yaml"
RULES = [rule for rule in shipped_rules() if rule.conditions]


def argued() -> dict[str, dict[str, str]]:
    """Return the changes that no fabric can tell, by rule, each with the reason."""
    return parse_yaml(ARGUED.read_bytes(), ARGUED.name).data or {}


@pytest.mark.nightly
@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_an_example_fails_for_each_mutant(
    rule: Rule, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    survivors, tried = rule_mutants.survivors(rule), len(mutants_of(rule))
    if request.config.get_verbosity() > 0:
        with capsys.disabled():
            print(f" {tried - len(survivors)} of {tried} killed", end=" ")
    assert sorted(survivors) == sorted(argued().get(rule.name, {}))


def test_what_is_argued_is_of_a_rule_and_has_a_reason() -> None:
    names = {rule.name for rule in RULES}
    assert [name for name in argued() if name not in names] == []
    assert [(name, change) for name, changes in argued().items() for change in changes if not changes[change]] == []


def loaded(when: str, claim: str, good: str = "model: {}") -> Rule:
    """Return a rule of ports with one bad and one good example."""
    raw = f"""
severity: error
scope: interface
when: {when}
assert: {claim}
message: "{{{{ interface.name }}}} is at fault"
why: it is
fix: mend it
references: [a paper]
since: "0.1"
examples:
  bad: [{{model: {{leaf1/Ethernet0/mtu_bytes: 1500}}, at: [leaf1/Ethernet0]}}]
  good: [{{{good}}}]
"""
    return parse_rule(raw.encode(), "rules/links/small.yaml", name="small", area="links")


def changes(when: str, claim: str) -> list[str]:
    """Return the mutants of a rule in words."""
    return [mutant.change for mutant in mutants_of(loaded(when, claim))]


def test_each_operand_is_replaced_once() -> None:
    when = "interface.enabled and interface.qos and (interface.autoneg or interface.lanes)"
    assert changes(when, "interface.port") == [
        "when: (interface.enabled and interface.qos) and (interface.autoneg or interface.lanes) -> true",
        "when: (interface.enabled and interface.qos) and (interface.autoneg or interface.lanes) -> false",
        "when: interface.enabled and interface.qos -> true",
        "when: interface.enabled -> true",
        "when: interface.qos -> true",
        "when: interface.autoneg or interface.lanes -> true",
        "when: interface.autoneg -> false",
        "when: interface.lanes -> false",
        "assert: interface.port -> true",
        "assert: interface.port -> false",
    ]


def test_comparisons_become_their_neighbours() -> None:
    found = changes("interface.speed_mbps and interface.mtu_bytes", "0 < interface.speed_mbps <= 7")
    assert [change.rpartition(" -> ")[2] for change in found if "<" in change] == [
        "true",
        "false",
        "0 <= interface.speed_mbps <= 7",
        "0 < interface.speed_mbps < 7",
        "0 < interface.speed_mbps <= 6",
        "0 < interface.speed_mbps <= 8",
    ]
    for claim, neighbour in (
        ("interface.side != 'host'", "interface.side != 'host' -> interface.side == 'host'"),
        ("interface.name in ('a', 'b')", "interface.name in ('a', 'b') -> interface.name not in ('a', 'b')"),
        ("interface.side is not none", "interface.side is none -> not interface.side is none"),
        ("not interface.enabled is in_use", "interface.enabled is in_use -> not interface.enabled is in_use"),
    ):
        assert changes("interface.qos", claim)[-1] == f"assert: {neighbour}"


def test_a_rule_whose_examples_are_too_few_is_found_out() -> None:
    rule = loaded("interface.enabled is in_use and interface.mtu_bytes", "interface.mtu_bytes > 1500")
    assert rule_mutants.survivors(rule) == [
        "when: interface.enabled is in_use and interface.mtu_bytes -> true",
        "when: interface.enabled is in_use -> true",
        "when: interface.mtu_bytes -> true",
        "assert: interface.mtu_bytes > 1500 -> interface.mtu_bytes > 1501",
    ]
    shut = "model: {leaf1/Ethernet0/mtu_bytes: 1500, leaf1/Ethernet0/enabled: false, leaf1/Ethernet8/mtu_bytes: 1501}"
    rule = loaded("interface.enabled is in_use and interface.mtu_bytes", "interface.mtu_bytes > 1500", shut)
    assert rule_mutants.survivors(rule) == ["when: interface.mtu_bytes -> true"]
