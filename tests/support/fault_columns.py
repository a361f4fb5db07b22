"""The single faults of routing against each validator: which rules catch them, kept in one table that is read.

A column is what one validator catches; each is written anew by the test that has that validator at hand
(`--update-golden`), and the others stay as they are.
"""

from collections.abc import Callable, Sequence
from typing import Any

import nodrop
from nodrop.engine.rules import select_validate_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.routing.observation import OBSERVATIONS_CHANNEL, ValidatorObservation
from nodrop.syntax.yaml import parse_yaml
from support.places import TESTS
from support.routing_faults import FAULTS, Fault, edited

TABLE, REASONS = TESTS / "validating" / "caught.yaml", TESTS / "validating" / "reasons.yaml"
COLUMNS = ("nodrop", "Batfish", "real FRR")
HEAD = "# Which rules catch each fault of support/routing_faults.py, by validator; reasons.yaml says why none does.\n"
DIFFER = "validators-disagree"
Observe = Callable[[Reading, Index], ValidatorObservation]


def reading_of(fault: Fault) -> Reading:
    """A fabric with a fault in it, as it is read."""
    fabric, artifacts = edited(fault)
    return nodrop.read_back(artifacts, fabric)


def caught_by(reading: Reading, observe: Observe) -> list[str]:
    """The rules that catch what a validator sees of a fabric."""
    index = Index(reading.fabric)
    index.set_channel_value(OBSERVATIONS_CHANNEL, (observe(reading, index),))
    rules = [rule for rule in select_validate_rules(shipped_rules(), observed=True) if rule.observed]
    verdict = judge(reading, rules, index=index)
    assert verdict.problems == ()
    return sorted({finding.rule for finding in verdict.findings})


def caught_here(fault: Fault) -> list[str]:
    """The rules that catch it without any other validator, as tests/routing/test_routing_faults.py sees to."""
    return sorted({rule for rule, _, _ in fault.caught})


def table() -> dict[str, dict[str, list[str]]]:
    """By fault and column, the rules."""
    data: Any = parse_yaml(TABLE.read_bytes(), TABLE.name).data if TABLE.exists() else []
    return {row["fault"]: {column: list(row.get(column) or ()) for column in COLUMNS} for row in data}


def explained(kind: str) -> dict[tuple[str, str], str]:
    """Why a validator catches a fault by no rule (`missed`), or sees otherwise than nodrop computes (`differs`)."""
    data: Any = parse_yaml(REASONS.read_bytes(), REASONS.name).data
    rows = [row for row in data if kind in row]
    return {(row["fault"], column): row[kind] for row in rows for column in row["by"]}


def written(column: str, found: Sequence[list[str]]) -> None:
    """Write a column of the table anew."""
    before = table()
    lines = [HEAD]
    for fault, rules in zip(FAULTS, found, strict=True):
        row = before.get(fault.says, {}) | {column: rules}
        lines.append(f"- fault: {fault.says}\n")
        lines += [f"  {name}: [{', '.join(row.get(name, []))}]\n" for name in COLUMNS]
    TABLE.write_text("".join(lines))
