"""All facts about a rule, in one place: `nodrop explain` prints them, the rule book is made of them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from typing import Any

from nodrop import platforms
from nodrop.engine.evidence import TOPIC_LABELS
from nodrop.engine.nodes import Attribute, Call, Constant, Name, Node, facts_used_by
from nodrop.engine.rule import Rule, RuleExample
from nodrop.model.fabric import MODES
from nodrop.platforms.kit.command_lines import PORT, PORTS
from nodrop.report.document_text import render_lines
from nodrop.report.escape import format_nodrop_text_as_markdown
from nodrop.report.table import wrap_text

RULE_PAGE_WIDTH_CHARACTERS = 96
"""Columns of a page."""

TEXT_BY_STRICTNESS: Mapping[str, str] = {
    "regular": "a fault",
    "pedantic": "also findings that may be harmless, and good practice",
    "auditor": "also facts worth knowing that are no fault",
}
"""How far each strictness goes; each holds those before it."""

_TEXT_BY_SCOPE: Mapping[str, str] = {
    "fabric": "the fabric as a whole",
    "device": "each switch",
    "interface": "each port",
    "link": "both ends of each cable",
    "traffic_class": "each class of traffic",
    "queue": "each queue of each port",
    "priority_group": "each priority group of each port",
    "neighbor": "each BGP session",
    "buffer_pool": "each buffer pool",
}


UNCHANGED_EXAMPLE_TEXT = "no change: the example itself"
"""What an example has that is the fabric itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFileText:
    """A file of an example: given whole, or as lines that go (`-`) and come (`+`)."""

    name: str
    whole: bool
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExample:
    """An example: values that are set in the fabric, files, and the subjects at which the fault is found."""

    values: tuple[str, ...]
    files: tuple[ExampleFileText, ...]
    at: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePagePart:
    """A part of a page: its title, and its texts or examples."""

    title: str
    blocks: tuple[str | ShownExample, ...]
    prose: bool = False
    """Whether its texts are paragraphs; they are entries of a list otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePage:
    """A rule's page: its name, its findings, facts by their names, and the parts."""

    name: str
    finds: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[RulePagePart, ...]


def build_rule_page(rule: Rule) -> RulePage:
    """Return all facts about a rule."""
    sections = [
        RulePagePart(title="Why", blocks=(rule.why,), prose=True),
        RulePagePart(title="What to do", blocks=(advice_of_rule(rule), *_describe_automatic_fix(rule)), prose=True),
    ]
    if rule.commands or rule.check_first or rule.no_commands:
        typed = (*_describe_commands(rule), *_describe_missing_commands(rule))
        sections.append(RulePagePart(title="What to type", blocks=typed))
    if rule.options:
        option_lines = (
            f"{option.name} = {format_yaml_value(option.default)}: {option.description}" for option in rule.options
        )
        sections.append(RulePagePart(title="Options", blocks=tuple(option_lines)))
    for kind, verdict in (("bad", "Reported"), ("good", "Not reported")):
        examples = tuple(_build_shown_example(example) for example in rule.examples if example.kind == kind)
        title = f"{verdict} after these changes to the fabric of intents/two-by-two.yaml"
        sections.append(RulePagePart(title=title, blocks=examples))
    sections.append(RulePagePart(title="References", blocks=rule.references))
    return RulePage(name=rule.name, finds=message_of_rule(rule), facts=tuple(_fact_rows(rule)), parts=tuple(sections))


def _describe_commands(rule: Rule) -> Iterator[str]:
    """Yield the commands of a rule by what takes them, the words that differ from finding to finding in brackets."""
    cases = ("first check", rule.check_first), (rule.condition, rule.commands), ("else", rule.otherwise)
    for case, commands in cases:
        for language, lines in commands.items():
            spelling = platforms.load_command_lines_module(language)
            typed = [
                line.replace(PORTS, "[ports]").replace(PORT, "[port]")
                for command in lines
                for line in _render_message_pieces(command).split("\n")
            ]
            every = (*spelling.LINES_BEFORE, *typed, *(line for line in spelling.LINES_AFTER if line not in typed))
            shown = typed if commands is rule.check_first else every
            case_text = f", {case}" if case else ""
            yield (
                f"{spelling.LANGUAGE_TITLE}{case_text}: "
                f"{', '.join(f'`{line}`' for line in shown)}{spelling.PERSISTENCE_NOTE}"
            )


def _describe_missing_commands(rule: Rule) -> Iterator[str]:
    """Yield why findings of a rule have no commands, by platform."""
    for platform, reason in rule.no_commands.items():
        where = (
            f"{platforms.load_command_lines_module(platform).LANGUAGE_TITLE}, no commands"
            if platform
            else "No commands"
        )
        yield f"{where}: {reason}"


def _describe_automatic_fix(rule: Rule) -> Iterator[str]:
    """Return what nodrop can do of a fix."""
    if rule.has_known_changes:
        flag = "" if rule.fix_safe and not rule.default_changes else " --unsafe"
        why = "; review the changes first: the intended value may differ" if flag else ""
        yield f"`nodrop fix{flag}` {_describe_changes(rule)}{why}."
        if flag and rule.fix_safe:
            yield "Without --unsafe: only where policy, other ports or a cable known to reach a host give the value."
        if rule.changes_switch_configurations:
            yield "`nodrop lint` prints the commands for the switch, where it knows the value."


def _describe_changes(rule: Rule) -> str:
    """Return what an automatic fix changes: the values that it sets, or where it takes them from."""
    if not rule.changes_switch_configurations:
        return "changes this in an intent"
    constants = [(path, node) for path, node in rule.changes if isinstance(node, Constant)]
    if constants and len(constants) == len(rule.changes) and not rule.as_siblings:
        values = (f"`{_format_attribute_node(path)}` to {_format_constant(node)}" for path, node in constants)
        return f"sets {' and '.join(values)}"
    source = " to the value that most similar ports or switches have" if rule.as_siblings and not rule.changes else ""
    return f"changes this{source}"


def _format_constant(node: Constant) -> str:
    return "none" if node.value is None else format_yaml_value(node.value)


def _format_attribute_node(node: Node) -> str:
    """Return an attribute as a rule has it."""
    return (
        f"{_format_attribute_node(node.of)}.{node.name}" if isinstance(node, Attribute) else getattr(node, "name", "")
    )


def message_of_rule(rule: Rule) -> str:
    """Return the message of a rule, what differs from finding to finding in brackets."""
    return _render_message_pieces(rule.message)


def advice_of_rule(rule: Rule) -> str:
    """Return a rule's advice, with the words that differ from finding to finding in brackets."""
    return _render_message_pieces(rule.fix)


def _render_message_pieces(pieces: tuple[str | Node, ...]) -> str:
    return "".join(piece if isinstance(piece, str) else f"[{_describe_message_slot(piece)}]" for piece in pieces)


def _describe_message_slot(node: Node) -> str:
    """Return a few words for the value that a message shows here: the function, or the field."""
    match node:
        case Call() if node.word.kind == "function":
            return _spell_attribute_name(node.word.name)
        case Call():
            shown = _describe_message_slot(node.arguments[0])
            return f"{_spell_attribute_name(node.word.name)} {shown}" if node.word.name.endswith("_of") else shown
        case Attribute(name="name" | "index", of=Name() as owner) if owner.name != "facts":
            return _spell_attribute_name(owner.name)
        case Attribute() | Name():
            return _spell_attribute_name(node.name)
    return " ".join(dict.fromkeys(_describe_message_slot(leaf) for leaf in facts_used_by(node)))


def _spell_attribute_name(name: str) -> str:
    return "port" if name == "interface" else name.replace("_", " ")


def _fact_rows(rule: Rule) -> Iterator[tuple[str, str]]:
    yield "severity", rule.severity
    if rule.severity_if_assumed is not None:
        topics = " or ".join(TOPIC_LABELS[topic] for topic, _ in rule.assumed)
        states = "states or shows" if any(condition is not None for _, condition in rule.assumed) else "states"
        yield "if assumed", f"{rule.severity_if_assumed}, if no file {states} {topics}"
    yield "confidence", rule.confidence
    if rule.because:
        yield "not certain", rule.because
    yield "strictness", f"{rule.strictness} ({TEXT_BY_STRICTNESS[rule.strictness]})"
    yield "fabric modes", format_rule_modes(rule)
    yield "checks", _TEXT_BY_SCOPE[rule.scope.name]
    yield "checked by", rule_check_command(rule)
    yield "tested on", ", ".join(platforms_with_fault(rule))
    yield from ((f"not on {platform}", reason) for platform, reason in sorted(rule.unseen.items()))
    yield "area", rule.area
    yield "since", rule.since
    if rule.aliases:
        yield "former names", ", ".join(rule.aliases)
    if any(not isinstance(piece, str) for piece in (*rule.message, *rule.fix)):
        yield "[words]", "in brackets are values of the finding"


def rule_check_command(rule: Rule) -> str:
    """Return the command that checks a rule, with its options."""
    if rule.observed:
        return "nodrop validate --batfish or --twin"
    if rule.beside:
        return "nodrop build, lint, validate and check, over all fabrics of the command"
    return "nodrop validate" if rule.failures else "nodrop lint"


def platforms_with_fault(rule: Rule) -> tuple[str, ...]:
    """Return the platforms whose configurations can have the fault; `hosts` are files of servers.

    Of the platforms that are written these are all that the rule does not leave out, of others those with an example
    or whose reader supplies what an example is found by. What a rule leaves out of the platform that a switch would be
    written as is left out here, too.
    """
    named_artifacts = [set(example.artifact or ()) for example in rule.examples if example.kind == "bad"]
    if all(artifacts == {platforms.HOSTS_PLATFORM} for artifacts in named_artifacts):
        return (platforms.HOSTS_PLATFORM,)
    written = {platform for platform in platforms.writable_platforms() if platform not in rule.unseen}
    read = {
        platform
        for platform in platforms.platform_names()
        if rule.name in platforms.rules_reader_can_find_on_read_only_platform(platform)
        and platforms.writable_platform_for(platform) not in rule.unseen
    }
    return tuple(sorted(written.union(read, *named_artifacts) - set(rule.unseen)))


def format_rule_modes(rule: Rule) -> str:
    """Return the modes that a rule applies to."""
    return "all" if len(rule.modes) == len(MODES) else ", ".join(mode for mode in MODES if mode in rule.modes)


def _build_shown_example(example: RuleExample) -> ShownExample:
    values: list[str] = []
    for changes, verb in ((example.model, "set"), (example.intent, "in the intent, set")):
        if changes is not None and not changes and not example.intent and example.beside is None and not example.seen:
            values.append(UNCHANGED_EXAMPLE_TEXT)
        values += [f"{verb} {path} to {format_yaml_value(value)}" for path, value in (changes or {}).items()]
    values += _format_second_fabric(example.beside)
    values += _format_observations(example.seen or {})
    files = (
        _changed_file_of_edits(path, edits)
        for files in (example.artifact or {}).values()
        for path, edits in files.items()
    )
    return ShownExample(values=tuple(values), files=tuple(files), at=example.at)


def _format_second_fabric(spec: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield a description of an example's other fabric, which begins as the same fabric."""
    if spec is None:
        return
    yield f"a second fabric is {'in the same site' if spec['one_site'] else 'in another site'}"
    if not spec["intent"] and not spec["model"]:
        yield "the second fabric is built from the same intent"
    yield from (
        f"in the intent of the second fabric, set {path} to {format_yaml_value(value)}"
        for path, value in spec["intent"].items()
    )
    yield from (
        f"in the second fabric, set {path} to {format_yaml_value(value)}" for path, value in spec["model"].items()
    )
    yield from (f"a cable from {a} to {b} is stated" for a, b in spec["cables"])


def _format_observations(observed_differences: Mapping[str, Any]) -> Iterator[str]:
    """Yield an example's facts that a validator sees and that its files do not state."""
    for path, value in observed_differences.get("model", {}).items():
        yield f"Batfish sees that {path} is {format_yaml_value(value)}"
    for line in observed_differences.get("refused", ()):
        yield f"Batfish refuses `{line['text']}` of {line['device']}: {line['said']}"
    for flow in observed_differences.get("lost", ()):
        yield f"packets from {flow['source']} to {flow['prefix']}: {flow['old']} before, {flow['new']} now"
    for check, rows in observed_differences.get("values", {}).items():
        yield from (f"Batfish returns {format_yaml_value(value)} for {item} ({check})" for item, value in rows.items())


def _changed_file_of_edits(path: str, edits: str | Sequence[Mapping[str, str]]) -> ExampleFileText:
    if isinstance(edits, str):
        return ExampleFileText(name=path, whole=True, lines=tuple(edits.splitlines()))
    lines = []
    for edit in edits:
        before, after = edit["replace"].splitlines(), edit["with"].splitlines()
        lines += [line.rstrip() for line in ndiff(before, after) if not line.startswith("?")]
    return ExampleFileText(name=path, whole=False, lines=tuple(lines))


def format_yaml_value(value: object) -> str:
    """Return a value of an example in YAML on one line; texts that YAML would take for more are quoted."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {format_yaml_value(child)}' for key, child in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_yaml_value, value))}]"
    plain = isinstance(value, str) and re.fullmatch(r"[\w./%*-]+( [\w./%*-]+)*", value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def render_rule_page(rule: Rule, rules: Iterable[Rule] = ()) -> str:
    """Return a rule's page for a terminal; it says how to list others of its area in `rules`."""
    lines = [*_page_lines(build_rule_page(rule))]
    if any(other_rule.area == rule.area and other_rule.name != rule.name for other_rule in rules):
        lines += ["", f"Other rules of this area: nodrop rules {rule.area}"]
    return render_lines(lines).removesuffix("\n")


def _page_lines(rule_sheet: RulePage) -> Iterator[str]:
    facts = dict(rule_sheet.facts)
    yield f"{rule_sheet.name}  ({facts.pop('severity')}, {facts.pop('confidence')})"
    yield ""
    yield from _wrap_text(rule_sheet.finds)
    yield ""
    width = max(map(len, facts))
    for name, text in facts.items():
        yield from _wrap_text(text, f"  {name:{width}}  ", " " * (width + 4))
    for section in rule_sheet.parts:
        yield ""
        yield section.title
        for block in section.blocks:
            yield from _block_lines(block, "  " if section.prose else "  - ")


def _block_lines(block: str | ShownExample, bullet: str) -> Iterator[str]:
    match block:
        case ShownExample():
            first_bullet = bullet
            for line in _format_example(block):
                yield from (
                    _wrap_text(line, first_bullet, "      ")
                    if line == line.lstrip()
                    else [f"{first_bullet}{line}".rstrip()]
                )
                first_bullet = "    "
        case _:
            yield from _wrap_text(block, bullet, " " * len(bullet))


def _format_example(example: ShownExample) -> Iterator[str]:
    yield from example.values
    for file in example.files:
        yield f"{file.name} {'is' if file.whole else 'has'}"
        yield from (f"  {line}" for line in file.lines)
    if example.at:
        yield f"reported at {', '.join(example.at)}"


def _wrap_text(text: str, indent: str = "", later_indent: str | None = None) -> list[str]:
    return wrap_text(" ".join(text.split()), indent, later_indent, width=RULE_PAGE_WIDTH_CHARACTERS)


def format_first_reason_sentence(rule: Rule) -> str:
    """Return the first sentence of why, as a cell of a table in Markdown."""
    return format_nodrop_text_as_markdown(first_sentence(rule.why), cell=True)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return text.partition(". ")[0].rstrip(".") + "."
