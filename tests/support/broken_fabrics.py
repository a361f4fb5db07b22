"""Fabrics with the faults of bad examples of rules."""

from dataclasses import replace
from functools import cache

from nodrop.engine.example_setup import EXAMPLES, build_port_name_table, rename_ports
from nodrop.engine.rule import RuleExample
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.fabric_readings import read_fabric_or_intent
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.inputs import find_inputs
from nodrop.judging import CheckSettings
from nodrop.model.edit import set_value
from nodrop.model.reading import Reading
from nodrop.model.subject import parse_subject
from support.single_faults import clean, written

RELEASES = {"sonic": "202505", "nvue": "5.16"}


@cache
def bad_examples() -> tuple[RuleExample, ...]:
    """Return the bad examples of all rules that change nothing but the model."""
    rules = select_lint_rules(shipped_rules())
    every = (one for rule in rules for one in rule.examples if one.name.startswith("bad"))
    return tuple(one for one in every if one.model and one.intent is None)


def broken(platform: str, examples: list[RuleExample]) -> dict[str, str]:
    """Return the files of two-by-two with the faults of examples; ValueError where they do not go together."""
    fabric = clean("two-by-two", platform, RELEASES[platform], "{}")
    fabric = rename_ports(fabric, build_port_name_table(fabric, EXAMPLES))
    for example in examples:
        for subject, value in (example.model or {}).items():
            fabric = set_value(fabric, parse_subject(subject), value)
    fabric = replace(fabric, devices=tuple(map(fill_in_computed_buffer_sizes, fabric.devices)))
    return written(rename_ports(fabric, build_port_name_table(fabric, platform)))


def said(files: dict[str, str] | dict[str, str | bytes]) -> Reading:
    held = {f"net/{name}": text.encode() if isinstance(text, str) else text for name, text in files.items()}
    held = {name: text for name, text in held.items() if "/apply/" not in name}
    return read_fabric_or_intent(find_inputs(sorted(held), held=held).require_single_fabric(), CheckSettings())
