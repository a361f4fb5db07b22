"""The values that a rule saw at a subject, as `nodrop explain RULE --at SUBJECT PATH` prints them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodrop.engine.fact_words import describe_fact
from nodrop.engine.finding import FileLocation, Finding
from nodrop.engine.nodes import (
    Attribute,
    Call,
    Logic,
    Node,
    Not,
    facts_used_by,
    format_node,
    format_without_brackets,
    model_path_of,
    stored_field_paths,
)
from nodrop.engine.rule import OptionArgument, Rule
from nodrop.engine.scopes import ScopeItem, UnknownItems
from nodrop.engine.unknowns import advise_on_missing_fact
from nodrop.engine.witness import (
    AbsentValue,
    EvaluatedExpression,
    RuleAtItem,
    describe_absent_subject,
    items_at_subject,
)
from nodrop.model.fabric import MODES
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import FABRIC_HEAD, Subject, subject_sort_key
from nodrop.model.subject import subject_text as subject_text
from nodrop.report.document_text import render_lines
from nodrop.report.explained import format_model_value
from nodrop.report.origins import DescribeKeySource, explain_fabric_key_origins, explain_value_origins
from nodrop.report.rules import message_of_rule
from nodrop.report.table import TABLE_WIDTH_CHARACTERS, wrap_text
from nodrop.report.text_change import fix_diff_and_manual_steps
from nodrop.results.outcome import FabricOutcome

_MAX_LISTED_SUBJECTS = 12
"""How many subjects of one verdict are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainRequest:
    """A rule, the subject to explain, and the rule's results for the whole fabric."""

    rule: Rule
    at: Subject
    reading: Reading
    index: Index
    outcome: FabricOutcome
    options: Mapping[str, object]
    set_at: Mapping[str, str] = field(default_factory=dict)
    """Where a site set an option; those that are missing have their defaults."""
    stated_by: DescribeKeySource = lambda _key: ""
    in_intent: Callable[[Finding], Iterable[str]] = lambda _finding: ()
    """Of an intent: the lines of its text that end a finding, as a diff."""
    off: str = ""
    """Why the rule is not judged by, empty where it is."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the rule's findings, suppressed and baseline ones included."""
        found_findings = (*self.outcome.findings, *self.outcome.hidden)
        return tuple(
            sorted(
                (finding for finding in found_findings if finding.rule == self.rule.name),
                key=lambda finding: subject_sort_key(finding.subject),
            )
        )


def render_witness_page(witness_request: ExplainRequest) -> str:
    """Return the values that a rule saw at a subject; ValueError if it checks nothing there."""
    lines = (
        _item_lines(witness_request)
        if witness_request.rule.claim is not None
        else _analysis_finding_lines(witness_request)
    )
    return render_lines((*_reasons_rule_does_not_apply(witness_request), *lines))


def _reasons_rule_does_not_apply(asked: ExplainRequest) -> Iterator[str]:
    """Yield the reasons why the rule does not apply to this fabric, regardless of its values."""
    if asked.rule.modes.isdisjoint(asked.reading.modes):
        mode = " or ".join(mode_name for mode_name in MODES if mode_name in asked.reading.modes)
        speaks = ", ".join(mode_name for mode_name in MODES if mode_name in asked.rule.modes)
        yield from _wrap_sentence(
            f"{asked.rule.name} does not apply here: it checks {speaks} fabrics, and this one is {mode}"
        )
        yield ""
    if len(asked.reading.modes) > 1:
        several = " or ".join(mode_name for mode_name in MODES if mode_name in asked.reading.modes)
        yield from _wrap_sentence(f"the mode is {several}; values are shown for {asked.reading.fabric.mode}")
        yield ""
    if asked.off:
        yield from _wrap_sentence(f"{asked.rule.name} is off: {asked.off}")
        yield ""


def _item_lines(asked: ExplainRequest) -> Iterator[str]:
    selection = items_at_subject(asked.rule, asked.at, asked.index)
    if len(selection.items) == 1:
        yield from _lines_of_item(asked, selection.items[0])
    else:
        yield from _lines_of_several_items(asked, selection.items)
    for gap in selection.gaps:
        yield from _wrap_sentence(
            f"unknown: needs {describe_fact(gap.missing)} on {gap.device}; "
            f"supply {_advice_on_unknown_items(asked, gap)}"
        )


def _advice_on_unknown_items(witness_request: ExplainRequest, gap: UnknownItems) -> str:
    unknown_verdicts = [
        unknown_verdict
        for unknown_verdict in witness_request.outcome.unknown
        if (unknown_verdict.rule, unknown_verdict.missing) == (witness_request.rule.name, gap.missing)
    ]
    return next(
        (unknown_verdict.resolved_by for unknown_verdict in unknown_verdicts if gap.device in unknown_verdict.devices),
        advise_on_missing_fact(gap.missing),
    )


def _lines_of_several_items(asked: ExplainRequest, items: Sequence[ScopeItem]) -> Iterator[str]:
    """Yield the rule's verdict on each item below a subject."""
    rule = asked.rule
    if not items:
        yield f"{rule.name} at {subject_text(asked.at)}: cannot be decided"
        return
    yield f"{rule.name} checks {len(items)} parts at {subject_text(asked.at)}"
    verdicts: dict[str, list[Subject]] = {}
    for item in items:
        witness = RuleAtItem(rule=rule, item=item, index=asked.index, options=asked.options)
        verdicts.setdefault(_describe_verdict(rule, _evaluated_conditions_by_key(witness)), []).append(
            rule.scope.subject(item)
        )
    for verdict, subjects in verdicts.items():
        names = [subject_text(subject) for subject in sorted(subjects, key=subject_sort_key)]
        overflow = f" and {len(names) - _MAX_LISTED_SUBJECTS} more" if len(names) > _MAX_LISTED_SUBJECTS else ""
        yield ""
        yield from _wrap_sentence(f"{verdict}: {', '.join(names[:_MAX_LISTED_SUBJECTS])}{overflow}")
    yield ""
    yield "name one of them to see its values"


def _evaluated_conditions_by_key(witness: RuleAtItem) -> Mapping[str, EvaluatedExpression]:
    """Yield the conditions by their keys, as far as they are evaluated."""
    rule = witness.rule
    steps = {"when": witness.evaluate_node_in_parts(rule.when)} if rule.when is not None else {}
    when = steps.get("when")
    if rule.claim is not None and (when is None or (when.has_value and bool(when.value))):
        steps["assert"] = witness.evaluate_node_in_parts(rule.claim)
    return steps


def _describe_verdict(rule: Rule, steps: Mapping[str, EvaluatedExpression]) -> str:
    for step in steps.values():
        if step.crash:
            return f"the rule fails: {step.crash}"
        if step.missing:
            return f"undecided: missing {step.missing}"
    if "when" in steps and not steps["when"].value:
        return "nothing to ask, `when` does not hold"
    if rule.claim is None or not steps["assert"].value:
        return "found"
    return "nothing found"


def _lines_of_item(asked: ExplainRequest, item: ScopeItem) -> Iterator[str]:
    rule = asked.rule
    subject = rule.scope.subject(item)
    witness = RuleAtItem(rule=rule, item=item, index=asked.index, options=asked.options)
    steps = _evaluated_conditions_by_key(witness)
    findings = [candidate for candidate in asked.findings if candidate.subject == subject]
    verdict = _describe_verdict(rule, steps)
    silent = rule.modes.isdisjoint(asked.reading.modes)
    yield _format_title(rule, subject, "would be found" if silent and verdict == "found" else verdict, findings)
    for finding in findings:
        yield from _finding_lines(finding)
    yield from _deciding_condition_lines(steps)
    yield from _condition_lines(steps)
    yield from _format_facts(asked, witness)
    for finding in findings:
        yield from _format_changes(finding, asked)


def _deciding_condition_lines(steps: Mapping[str, EvaluatedExpression]) -> Iterator[str]:
    """Yield what decides, or the missing fact: the last condition that was evaluated, before all values."""
    if not steps:
        return
    yield ""
    step = list(steps.values())[-1]
    if step.missing:
        advice = advise_on_missing_fact(step.missing)
        supply = f"; supply {advice}" if advice else ""
        yield from _wrap_sentence(f"undecided: needs {describe_fact(step.missing)}{supply}", "  ")
        return
    deciding = list(
        dict.fromkeys(f"{format_node(leaf.node)} is {_format_step(leaf)}" for leaf in _innermost_deciding_steps(step))
    )
    yield from _wrap_sentence(f"decided by: {'; '.join(deciding[:_MAX_LISTED_SUBJECTS])}", "  ")


def _innermost_deciding_steps(step: EvaluatedExpression) -> Iterator[EvaluatedExpression]:
    """Yield the innermost conditions that decide: all parts of `and` and `or` where none of them does alone."""
    parts = [part for part in step.parts if part.decides] or [*(step.parts if isinstance(step.node, Logic) else ())]
    yield from (found for part in parts for found in _innermost_deciding_steps(part))
    if not parts:
        yield step


def _format_title(rule: Rule, subject: Subject, verdict: str, findings: Sequence[Finding]) -> str:
    how = f" ({findings[0].severity}, {findings[0].confidence})" if findings else ""
    return f"{rule.name} at {subject_text(subject)}: {verdict}{how}"


def _finding_lines(finding: Finding) -> Iterator[str]:
    yield ""
    yield from _wrap_sentence(finding.message, "  ")
    yield from _place_lines(finding.located, "  ")
    if finding.suppressed is not None:
        until = f" until {finding.suppressed.until}" if finding.suppressed.until else ""
        yield from _wrap_sentence(
            f"suppressed{until} by {finding.suppressed.location}: {finding.suppressed.reason}", "  "
        )
    if finding.baselined:
        yield "  in the baseline"
    if finding.fix is not None:
        yield from _wrap_sentence(f"fix: {finding.fix.text.strip()}", "  ")
    for related in finding.related:
        yield from _wrap_sentence(related.message, "  ")
        yield from _place_lines(related.located, "  ")


def _place_lines(located: FileLocation | None, indent: str) -> Iterator[str]:
    if located is not None:
        yield f"{indent}  --> {located.describe()}"


_TEXT_BY_RULE_KEY = {"when": "when, which says where the rule is asked", "assert": "assert, which must be true there"}


def _condition_lines(witness_steps: Mapping[str, EvaluatedExpression]) -> Iterator[str]:
    for key, step in witness_steps.items():
        yield ""
        yield f"{_TEXT_BY_RULE_KEY[key]}: {_format_truth(step)}"
        rows = list(_condition_rows(step, 1, head=isinstance(step.node, Logic) and step.node.word == "or"))
        width = min(max((len(row[0]) for row in rows), default=0), TABLE_WIDTH_CHARACTERS - 24)
        for written, value, note in rows:
            yield f"{written:{width}}  {value}{note}".rstrip()


def _condition_rows(
    step: EvaluatedExpression, nesting_depth: int, *, head: bool = True
) -> Iterator[tuple[str, str, str]]:
    """Yield a condition as lines: its text, its value, and whether it decided; of the whole, without `and`."""
    indent, note = "  " * nesting_depth, "  <- decides" if step.decides else ""
    match step.node:
        case Logic(word=word) if step.parts:
            if head:
                yield f"{indent}{'all' if word == 'and' else 'one'} of", _format_truth(step), note
            for substep in step.parts:
                yield from _condition_rows(substep, nesting_depth + head)
        case Not(node=Logic()):
            yield f"{indent}not", _format_truth(step), note
            yield from _condition_rows(step.parts[0], nesting_depth + 1)
        case _:
            yield f"{indent}{format_without_brackets(step.node)}", _format_step(step), note


def _format_truth(step: EvaluatedExpression) -> str:
    if step.value is AbsentValue.NOT_REACHED or not step.has_value:
        return _format_step(step)
    return "true" if step.value else "false"


def _format_step(step: EvaluatedExpression) -> str:
    if isinstance(step.value, AbsentValue):
        return step.value.value
    if step.crash:
        return step.crash
    if step.missing:
        return f"unknown ({step.missing})"
    return "''" if step.value == "" else format_model_value(step.value)


def _format_facts(witness_request: ExplainRequest, witness: RuleAtItem) -> Iterator[str]:
    """Yield the facts that the rule rests on, each with its value and where that comes from."""
    facts = [leaf for leaf in witness_request.rule.facts_used if not witness_request.rule.is_only_naming(leaf)]
    if not facts:
        return
    yield ""
    yield "What it saw"
    for leaf in facts:
        step = witness.evaluate_node_in_parts(leaf)
        yield from _wrap_sentence(f"{format_node(leaf)} = {_format_step(step)}", "  ")
        for origin in dict.fromkeys(_describe_value_origin(witness_request, witness, leaf, step.value)):
            yield from _wrap_sentence(origin, "    ")


def _describe_value_origin(asked: ExplainRequest, witness: RuleAtItem, leaf: Node, value: object) -> Iterator[str]:
    match leaf:
        case Attribute():
            yield from _describe_attribute_origin(asked, witness, leaf, value)
        case Call(word=word):
            yield f"computed by {word.name}:  {' '.join(word.doc.split()).partition('. ')[0].rstrip('.')}"
            for argument in leaf.arguments:
                for inner in facts_used_by(argument):
                    step = witness.evaluate_node_in_parts(inner)
                    origin_text = "; ".join(_describe_value_origin(asked, witness, inner, step.value))
                    yield f"from {format_node(inner)} = {_format_step(step)}; {origin_text}"
            for topic in sorted(word.rests_on):
                yield from (
                    f"from the fabric's {topic}; {line}"
                    for line in explain_fabric_key_origins(asked.reading, topic, asked.stated_by)
                )


def _describe_attribute_origin(
    asked: ExplainRequest, witness: RuleAtItem, leaf: Attribute, value: object
) -> Iterator[str]:
    written = model_path_of(leaf)
    if written is None:
        return
    if written[0] == "options":
        yield asked.set_at.get(written[1], "the default of the option")
    elif written[0] == "facts":
        yield "derived from the names in the rule"
    else:
        for paths in sorted(stored_field_paths(leaf)) or [written]:
            at = asked.rule.scope.subject_of_path(witness.item, paths)
            yield from explain_value_origins(asked.reading, at, ".".join(paths), value, asked.stated_by)


def _analysis_finding_lines(witness_request: ExplainRequest) -> Iterator[str]:
    """Yield the findings of an analysis or a remark at the subject, with their facts."""
    rule = witness_request.rule
    findings = [candidate for candidate in witness_request.findings if candidate.concerns(witness_request.at)]
    if not findings:
        yield from _no_finding_lines(witness_request)
    for number, finding in enumerate(findings):
        if number:
            yield ""
        yield _format_title(rule, finding.subject, "found", [finding])
        yield from _finding_lines(finding)
        yield from _analysis_argument_lines(witness_request)
        if finding.facts:
            yield ""
            yield "What it saw"
            for name, fact in finding.facts.items():
                yield from _wrap_sentence(f"{name} = {format_model_value(fact)}", "  ")
        if rule.when is not None:
            witness = RuleAtItem(
                rule=rule, item=(finding.facts,), index=witness_request.index, options=witness_request.options
            )
            yield from _condition_lines(_evaluated_conditions_by_key(witness))
        yield from _format_changes(finding, witness_request)


def _no_finding_lines(witness_request: ExplainRequest) -> Iterator[str]:
    rule, at = witness_request.rule, witness_request.at
    if (
        at[0] != FABRIC_HEAD
        and at[0] not in witness_request.index.devices
        and at[0] not in witness_request.reading.sources
    ):
        raise ValueError(describe_absent_subject(at, witness_request.index, ()))
    unknown = [candidate for candidate in witness_request.outcome.unknown if candidate.rule == rule.name]
    open_here = [candidate for candidate in unknown if at[0] in (FABRIC_HEAD, *candidate.devices)]
    verdict = f"undecided: missing {open_here[0].missing}" if open_here else "nothing found"
    yield _format_title(rule, at, verdict, [])
    yield from _analysis_argument_lines(witness_request)
    for unknown_verdict in open_here:
        yield from _wrap_sentence(f"unknown: {unknown_verdict.reason}", "  ")
    if not open_here:
        yield ""
        yield from _wrap_sentence(f"it looks for: {message_of_rule(rule)}", "  ")
    other_places = [subject_text(finding.subject) for finding in witness_request.findings]
    if other_places:
        overflow = (
            f" and {len(other_places) - _MAX_LISTED_SUBJECTS} more" if len(other_places) > _MAX_LISTED_SUBJECTS else ""
        )
        yield ""
        yield from _wrap_sentence(
            f"it finds something at {', '.join(other_places[:_MAX_LISTED_SUBJECTS])}{overflow}", "  "
        )


def _analysis_argument_lines(asked: ExplainRequest) -> Iterator[str]:
    arguments = asked.rule.arguments
    if not arguments:
        return
    yield ""
    yield f"What {asked.rule.analysis} was given"
    for name, value in arguments.items():
        if isinstance(value, OptionArgument):
            origin = asked.set_at.get(value.name, "the default of the option")
            yield from _wrap_sentence(
                f"{name} = {format_model_value(asked.options[value.name])}: options.{value.name}, {origin}", "  "
            )
        else:
            yield from _wrap_sentence(f"{name} = {format_model_value(value)}", "  ")


def _format_changes(finding: Finding, asked: ExplainRequest) -> Iterator[str]:
    lines = [*fix_diff_and_manual_steps(finding, asked.reading), *((True, line) for line in asked.in_intent(finding))]
    if lines:
        yield ""
        yield "What to change"
    for verbatim, line in lines:
        yield from [f"    {line}"] if verbatim else _wrap_sentence(line, "  ")


def _wrap_sentence(sentence: str, indent: str = "") -> list[str]:
    return wrap_text(sentence, indent, f"{indent}  ")
