"""A rule's view of a place of a fabric: the files are read and checked by that rule alone, then reported."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from nodrop import context
from nodrop.engine.finding import Finding
from nodrop.engine.rule import Rule
from nodrop.engine.rules import select_lint_rules
from nodrop.engine.verdicts import rule_options, rule_severity
from nodrop.fabric_readings import read_fabric_at_path
from nodrop.judging import CheckSettings, all_rules, run_rules
from nodrop.model.declared import DeclaredFacts
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import parse_subject
from nodrop.model.types import known_word_hint
from nodrop.syntax import yaml


def rule_of_name(name: str, settings: CheckSettings) -> Rule:
    """Return the rule of a name or former name; ValueError names the nearest, or the rules of an area."""
    rules = all_rules(settings.config, settings.store)
    known_rules = {word: rule for rule in rules for word in (*rule.aliases, rule.name)}
    if name in known_rules:
        return known_rules[name]
    if of_area := [rule.name for rule in rules if rule.area == name]:
        raise ValueError(f"{name} is an area; its rules: {', '.join(of_area)}")
    raise ValueError(f"no rule {name!r} ({known_word_hint(name, known_rules, listed_by='nodrop rules')})")


def render_rule_at_subject(name: str, at: str, path: str, settings: CheckSettings, platform: str | None = None) -> str:
    """Return as a page the view of the named rule at a subject of the fabric at a path.

    InputProblems where the files are wrong; ValueError where there is no such rule, or it checks nothing there.
    """
    from nodrop.report.witnessed import ExplainRequest, render_witness_page

    rule = rule_of_name(name, settings)
    if rule.observed:
        raise ValueError(
            f"{name} checks the results of a validator: `nodrop validate --batfish` or `--twin` shows them"
        )
    config = settings.config
    off = f"severity off in {config.path}" if rule_severity(rule, config.severity) == "off" else ""
    severity = {rule_name: level for rule_name, level in config.severity.items() if level != "off"}
    settings = replace(settings, strictness="auditor", config=replace(config, severity=severity), whole=True)
    reading = read_fabric_at_path(path, settings, platform)
    index = Index(reading.fabric)
    before = (
        [
            earlier_rule
            for earlier_rule in select_lint_rules(all_rules(config))
            if not earlier_rule.reads_other_findings and earlier_rule.name != rule.name
        ]
        if rule.reads_other_findings
        else []
    )
    asked = ExplainRequest(
        rule=rule,
        at=parse_subject(at),
        reading=reading,
        index=index,
        outcome=run_rules(reading, [*before, rule], settings, index=index),
        options=rule_options(rule, config.options),
        set_at=_places_of_options(rule, settings),
        stated_by=_make_fabric_key_source_lookup(path, settings),
        in_intent=partial(_diff_intent_fix, path, reading),
        off=off,
    )
    return render_witness_page(asked)


def _diff_intent_fix(path: str, reading: Reading, finding: Finding) -> list[str]:
    """Return a diff of the intent lines that end a finding and their new text; nothing where no key ends it."""
    from nodrop.fixing.intents import intent_values_of_fix
    from nodrop.inputs import find_inputs
    from nodrop.intent.load import MAX_INTENT_BYTES
    from nodrop.report.text_change import diff_file_texts
    from nodrop.syntax.yaml_set import set_yaml_value

    if reading.decided is None or not (edits := intent_values_of_fix(finding, reading)):
        return []
    (text,) = find_inputs((path,)).all_intents()
    old = new = text.read_bytes(MAX_INTENT_BYTES)
    for keys, value in edits:
        try:
            new = set_yaml_value(new, keys, value)
        except ValueError as error:
            return [f"{'.'.join(keys)}: {error}"]
    return list(diff_file_texts(text.display, old, new))


def _places_of_options(rule: Rule, settings: CheckSettings) -> Mapping[str, str]:
    """Where the site's configuration sets the options of a rule."""
    config = settings.config
    place_of_option = {}
    for name in (*rule.aliases, rule.name):
        for option in config.options.get(name, {}):
            line = ":".join(map(str, config.places.get(("options", name, option), ())))
            place_of_option[option] = f"set in {config.path}{f':{line}' if line else ''}"
    return place_of_option


def _make_fabric_key_source_lookup(path: str, settings: CheckSettings) -> Callable[[str], str]:
    """Return the source of a key of the fabric: the command line, a fabric.yaml next to the files, or the
    configuration.
    """
    from nodrop.inputs import find_inputs

    sources: list[tuple[DeclaredFacts, Callable[[str], str]]] = [(settings.declared, lambda _key: "--assume")]
    inputs = find_inputs((path,), exclude=settings.config.excludes)
    for text in () if inputs.all_intents() else inputs.require_single_fabric().stated:
        raw = text.read_bytes(context.MAX_FABRIC_FILE_BYTES)
        sources.append((context.loads(raw, text.display), _make_fabric_key_locator(raw, text.display)))
    sources.append((settings.config.declared, lambda key: f"{settings.config.path}, fabric.{key}"))

    def by(key: str) -> str:
        return next((describe_source(key) for declared, describe_source in sources if getattr(declared, key, None)), "")

    return by


def _make_fabric_key_locator(raw: bytes, display: str) -> Callable[[str], str]:
    document = yaml.parse_yaml(raw, display)

    def locate_key(key: str) -> str:
        line, column = document.line_and_column(("fabric", key), of="key")
        return f"{display}:{line}:{column}"

    return locate_key
