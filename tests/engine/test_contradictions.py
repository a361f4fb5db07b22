"""Rules that can never speak are found out, and no rule that might is."""

from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.engine.contradictions import find_contradiction
from nodrop.engine.rule import Rule
from nodrop.engine.rule_loader import parse_rule
from nodrop.engine.rules import shipped_rules


def rule(when: str | None, claim: str, modes: str = "[lossless, lossy]") -> Rule:
    """Return a rule of ports with these conditions."""
    raw = f"""
severity: error
scope: interface
modes: {modes}
{f'when: "{when}"' if when else ""}
assert: "{claim}"
message: "{{{{ interface.name }}}} is at fault"
why: it is
fix: mend it
options: {{least: {{default: 1, description: a number}}}}
references: [a paper]
since: "0.1"
examples:
  bad: [{{model: {{leaf1/Ethernet0/mtu_bytes: 1500}}, at: [leaf1/Ethernet0]}}]
  good: [{{model: {{}}}}]
"""
    return parse_rule(raw.encode(), "rules/links/small.yaml", name="small", area="links")


MTU = "interface.mtu_bytes"


@pytest.mark.parametrize(
    ("when", "claim", "key", "parts"),
    [
        (f"{MTU} and {MTU} < 3 and {MTU} > 5", "interface.qos", "when", (f"{MTU} < 3", f"{MTU} > 5")),
        (f"{MTU} and 3 < {MTU} < 4", "interface.qos", "when", (f"3 < {MTU} < 4",)),
        (f"{MTU} == 3", f"{MTU} != 4", "assert", (f"{MTU} == 3", f"not ({MTU} != 4)")),
        ("interface.side == 'host' and interface.side == 'fabric'", "false", "when", None),
        ("interface.side in ('host', 'fabric')", "interface.side != none", "assert", None),
        ("interface.side != none and interface.side not in ('host', 'fabric')", "false", "when", None),
        ("interface.qos is none", "interface.qos.trust != 'dscp'", "assert", None),
        ("interface.enabled", "interface.enabled or not interface.enabled", "assert", None),
        ("not interface.enabled and interface.enabled == true", "false", "when", None),
        ("interface.enabled", "true", "assert", ("not true",)),
        ("1 + 1 == 3", "interface.enabled", "when", ("(1 + 1) == 3",)),
        ("fabric.mode == 'trim'", "interface.enabled", "when", ("fabric.mode == 'trim'",)),
        (None, "fabric.mode in ('lossless', 'lossy')", "assert", None),
        ("not interface", "interface.enabled", "when", ("not interface",)),
        ("interface.enabled is in_use and not interface.enabled is in_use", "false", "when", None),
        (
            f"interface.speed_mbps and {MTU} and interface.speed_mbps < {MTU}",
            f"{MTU} > interface.speed_mbps",
            "assert",
            (f"interface.speed_mbps < {MTU}", f"not ({MTU} > interface.speed_mbps)"),
        ),
    ],
)
def test_a_rule_that_can_never_speak_is_told_with_what_contradicts(
    when: str | None, claim: str, key: str, parts: tuple[str, ...] | None
) -> None:
    found = find_contradiction(rule(when, claim))
    assert found is not None
    assert found.key == key
    assert parts is None or found.parts == parts


@pytest.mark.parametrize(
    ("when", "claim"),
    [
        (f"{MTU} and 3 < {MTU} < 5", "interface.enabled"),
        (f"{MTU} and {MTU} > 3", f"{MTU} > options.least"),
        ("fabric.mode != 'trim'", "interface.enabled"),
        ("interface.qos is none or interface.side == 'host'", "interface.qos"),
        (None, f"{MTU} != 9100"),
        ("interface.side not in ('host',)", "false"),
        ("interface.qos", "interface.qos.pfc_watchdog"),
    ],
)
def test_a_rule_that_may_speak_is_let_be(when: str | None, claim: str) -> None:
    assert find_contradiction(rule(when, claim)) is None


def test_every_shipped_rule_may_speak() -> None:
    assert [one.name for one in shipped_rules() if find_contradiction(one)] == []


VALUES = {
    "mtu_bytes": (None, 0, 1, 2, 3),
    "speed_mbps": (None, 0, 1, 2, 3),
    "side": (None, "host", "fabric"),
    "enabled": (True, False),
}
"""What a port may have, few enough to try each with each."""

NUMBERS = st.sampled_from(["mtu_bytes", "speed_mbps"])
SIGNS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])


@st.composite
def facts(draw: st.DrawFn) -> str:
    """Draw one condition; where it measures a number, that is known to be there."""
    number, other, value = draw(NUMBERS), draw(NUMBERS), draw(st.integers(0, 3))
    name, sign = f"interface.{number}", draw(SIGNS)
    word = draw(st.sampled_from(["'host'", "'fabric'", "none"]))
    return draw(
        st.sampled_from(
            [
                name,
                f"{name} is none",
                f"({name} is not none and {name} {sign} {value})",
                f"({name} is not none and interface.{other} is not none and {name} {sign} interface.{other})",
                f"({name} is not none and 0 <= {name} < {value})",
                f"{name} in ({value}, 1)",
                f"{name} not in ({value},)",
                f"interface.side == {word}",
                f"interface.side != {word}",
                f"interface.side in ({word}, 'host')",
                "interface.enabled",
                "interface.enabled == false",
            ]
        )
    )


CONDITIONS = st.recursive(
    facts(),
    lambda inside: st.one_of(
        st.builds("({} and {})".format, inside, inside),
        st.builds("({} or {})".format, inside, inside),
        st.builds("(not {})".format, inside),
    ),
    max_leaves=5,
)


@given(CONDITIONS, CONDITIONS)
def test_what_is_said_never_to_speak_finds_nothing_whatever_a_port_has(when: str, claim: str) -> None:
    made = rule(when, claim)
    ports = [SimpleNamespace(**dict(zip(VALUES, each, strict=True))) for each in product(*VALUES.values())]
    fabric = SimpleNamespace(mode="lossless")
    speaks = any(
        outcome is True
        for outcome in made.check_function([(None, port) for port in ports], fabric, {"least": 1}, index=None)
    )
    if speaks:
        assert find_contradiction(made) is None
