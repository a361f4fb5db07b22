"""From the text of a rule file to a rule: its shape, then each expression, typed against the model, all with places."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache, reduce
from types import ModuleType
from typing import Literal

from pydantic import ValidationError

from nodrop import analyses, platforms
from nodrop.engine import expression
from nodrop.engine.expression_types import accepts_argument
from nodrop.engine.located_text import ExpressionText, MayBeNoneError
from nodrop.engine.nodes import Attribute, Name, Node, may_be_none, model_path_of, nodes_not_none
from nodrop.engine.remedies import EACH_ROW
from nodrop.engine.rule import OptionArgument, Rule, RuleExample, RuleOption
from nodrop.engine.rule_file import GoodAndBadExamples, RuleFile, rule_file_problems
from nodrop.engine.scopes import SCOPES, typed_names
from nodrop.errors import InputProblems, Problem
from nodrop.model.fabric import Device, Interface
from nodrop.model.fields import field_of
from nodrop.model.types import RecordType, ValueType, join_types, known_word_hint, type_of
from nodrop.model.types import fields_of as fields_of
from nodrop.syntax.places import decode_utf8, split_lines
from nodrop.syntax.shapes import mapping_or_empty
from nodrop.syntax.yaml import parse_yaml

MAX_RULE_BYTES = 64 * 1024

_OPTION_REFERENCE_PATTERN = re.compile(r"options\.(\w+)")
_INTEGER_PATTERN = re.compile(r"-?\d{1,18}")
_DECIMAL_PATTERN = re.compile(r"-?\d{1,18}\.\d{1,9}")
_FACT_TYPES: Mapping[str, ValueType] = {kind.__name__: type_of(kind) for kind in (str, int, float, bool)}

EACH_ROW_INFIX = f".{EACH_ROW}."
_PARTS_WITH_SIBLINGS = ("device", "interface", "queue", "priority_group", "buffer_pool", "a", "b")

KeyPath = tuple[str | int, ...]
TypesByName = Mapping[str, ValueType]


@contextmanager
def collect_problems(problems: list[Problem]) -> Iterator[None]:
    """Note the problems that a step raises, and let the next step find its own."""
    try:
        yield
    except InputProblems as error:
        problems += error.problems


def parse_rule(file_content: bytes, path: str, *, name: str, area: str) -> Rule:
    """Return the rule that a text holds; `path` is how problems name it, InputProblems holds all of them."""
    return _RuleLoader(file_content, path).rule(name, area)


_STATED_KEYS_HINT = "stated and severity_if_stated, or neither"


class _RuleLoader:
    """One file on its way to a rule; a fault of one key does not hide those of others."""

    def __init__(self, raw: bytes, path: str) -> None:
        self.document = parse_yaml(raw, path, max_bytes=MAX_RULE_BYTES)
        self.path = path
        self.lines = split_lines(decode_utf8(raw, path))
        self.problems: list[Problem] = []
        self.unguarded = False
        """Whether a condition is at fault, so that what it would have said about None is not known."""
        try:
            self.file = RuleFile.model_validate(self.document.data)
        except ValidationError as error:
            raise InputProblems(rule_file_problems(self.document, error)) from None

    def rule(self, name: str, area: str) -> Rule:
        """Return the rule, where nothing is wrong with it."""
        file, options, module = self.file, self.options(), self.analysis()
        if self.problems:
            raise InputProblems(self.problems)
        facts = tuple((key, _FACT_TYPES[kind]) for key, kind in file.facts.items())
        names = self.names_for_expressions(options, facts)
        scope_condition = self.expression(("scope",), SCOPES[file.scope].held or None, names) if file.claim else None
        surely = frozenset({scope_condition}) if scope_condition else frozenset[Node]()
        when = self.expression(("when",), file.when, names, surely)
        surely |= nodes_not_none(when, holds=True) if when else frozenset()
        claim = self.expression(("assert",), file.claim, names, surely)
        surely |= nodes_not_none(claim, holds=False) if claim else frozenset()
        new_rule = Rule(
            name=name,
            area=area,
            path=self.path,
            severity=file.severity,
            severity_if_stated=file.severity_if_stated,
            stated=self.parse_declared_condition(names),
            severity_if_assumed=file.severity_if_assumed,
            assumed=tuple(
                (topic, self.expression(("assumed", topic), unless, names, surely))
                for topic, unless in file.assumed.items()
            ),
            confidence=file.confidence,
            because=(file.because or "").strip(),
            strictness=file.strictness,
            modes=frozenset(file.modes),
            scope=SCOPES[file.scope],
            when=when,
            claim=claim,
            analysis=file.analysis or "",
            arguments=self.analysis_arguments(options, module),
            rests_on=self.topics_analysis_rests_on(module),
            routed=bool(getattr(module, "NEEDS_ROUTING", False)),
            failures=bool(getattr(module, "NEEDS_FAILURES", False)),
            observed=bool(getattr(module, "NEEDS_OBSERVATIONS", False)),
            beside=bool(getattr(module, "NEEDS_OTHER_FABRICS", False)),
            looks_near=bool(getattr(module, "READS_NEARBY_FACTS", False)),
            looks_at=_attributes_read_by_analysis(module),
            gives_changes=self.file.corrected or self.gives_changes(module),
            remark=file.remark or "",
            facts=facts,
            at=self.part_to_point_at(names),
            message=self.parse_text("message", file.message, names, surely),
            why=file.why.strip(),
            fix=self.parse_text("fix", file.fix, names, surely),
            commands=self.commands("commands", self.file.commands, names, surely),
            condition=self.file.condition or "",
            check_first=self.commands("check_first", self.file.check_first, names, surely),
            otherwise=self.commands("otherwise", self.file.otherwise, names, surely),
            no_commands=file.no_commands,
            references=file.references,
            since=file.since,
            aliases=file.aliases,
            after=file.after,
            options=options,
            changes=tuple(self.changes("set", file.set, names, surely)),
            default_changes=tuple(self.changes("set_default", file.set_default, names, surely)),
            default_safe_if=self.expression(("default_safe_if",), file.default_safe_if, names, surely),
            as_siblings=tuple(self.paths_set_like_siblings(names)),
            as_siblings_if=self.expression(("as_siblings_if",), file.as_siblings_if, names, surely),
            siblings_first=next(
                (key for key in mapping_or_empty(self.document.data) if key in ("as_siblings", "set")), ""
            )
            != "set",
            fix_safe=file.fix_safety == "safe",
            intent_fix=file.intent_fix,
            unseen=self.platforms_not_showing_fault(),
            examples=_build_examples(file.examples),
        )
        if self.problems:
            raise InputProblems(self.problems)
        return new_rule

    def parse_declared_condition(self, known_types: TypesByName) -> Node | None:
        """Return the condition under which the owner states the fault; it goes with a severity for that case."""
        condition, severity = self.file.stated, self.file.severity_if_stated
        for key, text, counterpart in (("stated", condition, severity), ("severity_if_stated", severity, condition)):
            if text is not None and counterpart is None:
                self.problems += self.locate_text((key,), text).fault("one key of two", _STATED_KEYS_HINT).problems
        return self.expression(("stated",), condition, known_types)

    @contextmanager
    def collect_own_problems(self) -> Iterator[None]:
        """Note problems of an expression, but none that only follow from those of a condition."""
        with collect_problems(self.problems):
            try:
                yield
            except MayBeNoneError:
                if not self.unguarded:
                    raise

    def locate_text(
        self, key_path: KeyPath, expression_text: str, *, key_or_value: Literal["key", "value"] = "value"
    ) -> ExpressionText:
        """Return a text with its place: of a quoted one behind the quote, of a block the line below its `>`."""
        line, column = self.document.line_and_column(key_path, of=key_or_value)
        where = ".".join(map(str, key_path))
        below = self.lines[line] if line < len(self.lines) else ""
        for at, start in ((line, column - 1), (line, column), (line + 1, len(below) - len(below.lstrip()))):
            if expression_text and self.lines[min(at, len(self.lines)) - 1].startswith(expression_text, start):
                return ExpressionText(text=expression_text, path=self.path, where=where, line=at, column=start + 1)
        return ExpressionText(
            text=expression_text, path=self.path, where=where, line=line, column=column, literal=False
        )

    def names_for_expressions(
        self, options: Sequence[RuleOption], facts: tuple[tuple[str, ValueType], ...]
    ) -> TypesByName:
        """Return what expressions may name; analyses and remarks bring facts, not an item of the scope."""
        known_record = RecordType("options", tuple((option.name, option.type) for option in options))
        if self.file.claim is None:
            return typed_names({}, known_record, RecordType("facts", facts))
        return typed_names(SCOPES[self.file.scope].parts, known_record)

    def expression(
        self,
        key_path: KeyPath,
        text: str | None,
        known_types: TypesByName,
        not_none_nodes: frozenset[Node] = frozenset(),
    ) -> Node | None:
        """Return the expression at a key; None where there is none, or none that can be used."""
        if text is None:
            return None
        with self.collect_own_problems():
            return expression.parse_expression(self.locate_text(key_path, text), known_types, not_none_nodes)
        self.unguarded = True
        return None

    def part_to_point_at(self, names: TypesByName) -> Attribute | Name | None:
        """Return the part to point at."""
        with collect_problems(self.problems):
            if self.file.at is not None:
                return expression.parse_path(self.locate_text(("at",), self.file.at), names, self.file.scope)
        return None

    def parse_text(self, key: str, text: str, names: TypesByName, surely: frozenset[Node]) -> tuple[str | Node, ...]:
        """Return the pieces of the message or of the fix, at its key."""
        if key == "fix" and "{{" not in text:
            return (text.strip(),)
        with self.collect_own_problems():
            return expression.parse_message(self.locate_text((key,), text.strip()), names, surely)
        return ()

    def commands(
        self,
        key: str,
        file_commands: Mapping[str, Sequence[str | Sequence[str]]],
        names: TypesByName,
        surely: frozenset[Node],
    ) -> Mapping[str, tuple[tuple[str | Node, ...], ...]]:
        """Return the pieces of each command of a key, by language; the lines of one are between line breaks."""
        commands: dict[str, list[tuple[str | Node, ...]]] = {}
        for language, lines in file_commands.items():
            for number, command in enumerate(lines):
                with self.collect_own_problems():
                    place: tuple[str | int, ...] = (key, language, number)
                    pieces: list[str | Node] = []
                    for at, line in enumerate((command,) if isinstance(command, str) else command):
                        keys = place if isinstance(command, str) else (*place, at)
                        pieces += ["\n"] if at else []
                        pieces += expression.parse_message(self.locate_text(keys, line.strip()), names, surely)
                    commands.setdefault(language, []).append(tuple(pieces))
        return {language: tuple(lines) for language, lines in commands.items()}

    def changes(
        self, key_of_fields: str, fields: Mapping[str, str], names: TypesByName, surely: frozenset[Node]
    ) -> Iterator[tuple[Attribute, Node]]:
        """Return the fields that a fix sets, with their values."""
        for key, text in fields.items():
            with self.collect_own_problems():
                keys = key_of_fields, key
                written = self.locate_text(keys, key, key_or_value="key")
                target = expression.parse_path(written, names, self.file.scope)
                if (
                    not isinstance(target, Attribute)
                    or target.reads_property
                    or (model_path_of(target) or ())[0] in ("fabric", "options")
                ):
                    raise written.fault(f"`{key}`", "a field of an item")
                written = self.locate_text(keys, text)
                value = expression.parse_expression(written, names, surely)
                if not accepts_argument(target.type, value.type) or (
                    may_be_none(value, surely) and not target.type.none
                ):
                    raise written.fault(f"`{key}` set to {value.type.describe()}", target.type.describe())
                yield target, value

    def paths_set_like_siblings(self, names: TypesByName) -> Iterator[tuple[str, ...]]:
        """Return the paths that a fix sets as siblings have them; of an analysis, below the part that it points at."""
        analysis = self.file.claim is None
        known_types = typed_names(SCOPES["interface"].parts) if analysis else names
        for position, text in enumerate(self.file.as_siblings):
            written = self.locate_text(("as_siblings", position), text)
            with self.collect_own_problems():
                if analysis and text == "at":
                    yield ()
                    continue
                rows, _, field = text.partition(EACH_ROW_INFIX)
                node = expression.parse_path(
                    self.locate_text(("as_siblings", position), rows),
                    known_types,
                    "interface" if analysis else self.file.scope,
                )
                target = model_path_of(node) or ()
                if target[0] not in _PARTS_WITH_SIBLINGS or len(target) < 2:
                    raise written.fault(f"`{text}`", "a field of a device, a port or a row of it")
                if field:
                    row_fields = {
                        name for owner in (node.type.element or ValueType()).owners for name in fields_of(owner)
                    }
                    if field not in row_fields:
                        raise written.fault(f"no field `{field}` of rows", hint=known_word_hint(field, row_fields))
                    target = (*target, EACH_ROW, field)
                yield target

    def options(self) -> tuple[RuleOption, ...]:
        """Return the options, each with the type of its default; without one, expressions cannot be checked."""
        parsed_options: list[RuleOption] = []
        for name, file in self.file.options.items():
            default = _parse_untyped_value(file.default)
            try:
                kind = type_of_value(default)
            except TypeError:
                written = self.locate_text(("options", name, "default"), "")
                expected = "a number, a text, true or false, or a list of them"
                self.problems += written.fault("no plain value", expected).problems
            else:
                parsed_options.append(
                    RuleOption(name=name, default=default, description=file.description.strip(), type=kind)
                )
        return tuple(parsed_options)

    def platforms_not_showing_fault(self) -> Mapping[str, str]:
        """Return the platforms that cannot show the fault; one that nodrop does not write has no examples to miss."""
        for name in self.file.unseen:
            with collect_problems(self.problems):
                if name not in platforms.writable_platforms():
                    hint = known_word_hint(name, platforms.writable_platforms())
                    raise self.locate_text(("unseen", name), name, key_or_value="key").fault(
                        f"no platform `{name}`", hint=hint
                    )
        return self.file.unseen

    def analysis(self) -> ModuleType | None:
        """Return the module of the analysis."""
        name = self.file.analysis
        with collect_problems(self.problems):
            if name is not None and name not in analyses.analysis_names():
                raise self.locate_text(("analysis",), name).fault(
                    f"no analysis `{name}`", hint=known_word_hint(name, analyses.analysis_names())
                )
            return None if name is None else analyses.analysis_module(name)
        return None

    def analysis_arguments(self, options: Sequence[RuleOption], module: ModuleType | None) -> Mapping[str, object]:
        """Return the arguments of the analysis; the text `options.name` represents the option's value."""
        parameters = list(inspect.signature(module.find).parameters)[1:] if module else []
        new_arguments: dict[str, object] = {}
        for key, value in self.file.arguments.items():
            with collect_problems(self.problems):
                if module is not None and key not in parameters:
                    written = self.locate_text(("with", key), key, key_or_value="key")
                    raise written.fault(f"no parameter `{key}`", hint=known_word_hint(key, parameters))
                new_arguments[key] = self.analysis_argument(key, value, [option.name for option in options])
        return new_arguments

    def topics_analysis_rests_on(self, module: ModuleType | None) -> frozenset[str]:
        """Return the statements that the analysis takes for true, always or with these arguments."""
        always: frozenset[str] = getattr(module, "RESTS_ON", frozenset())
        at_times: Mapping[str, frozenset[object]] = getattr(module, "RESTS_ON_WITH", {})
        arguments = [value for value in self.file.arguments.values() if isinstance(value, str | bool)]
        return always | {topic for topic, values in at_times.items() if any(value in values for value in arguments)}

    def gives_changes(self, module: ModuleType | None) -> bool:
        """Whether the analysis names the changes that would end its findings, always or with these arguments."""
        repairs: bool | frozenset[str] = getattr(module, "GIVES_CHANGES", False)
        if isinstance(repairs, bool):
            return repairs
        return any(isinstance(value, str) and value in repairs for value in self.file.arguments.values())

    def analysis_argument(self, key: str, value: object, options: Sequence[str]) -> object:
        """One argument, with the option that it names."""
        named_match = _OPTION_REFERENCE_PATTERN.fullmatch(value) if isinstance(value, str) else None
        if named_match is None:
            return _parse_untyped_value(value)
        if named_match[1] not in options:
            raise self.locate_text(("with", key), named_match[0]).fault(
                f"no option `{named_match[1]}`", hint=known_word_hint(named_match[1], options)
            )
        return OptionArgument(named_match[1])


def _attributes_read_by_analysis(module: ModuleType | None) -> frozenset[str]:
    """Return the attributes of switches and ports that an analysis reads; nothing if it does not declare them."""
    stated: frozenset[str] = frozenset(getattr(module, "LOOKS_AT", ()))
    return stated | _routing_fields() if getattr(module, "NEEDS_ROUTING", False) else stated


@cache
def _routing_fields() -> frozenset[str]:
    """Return the attributes of switches and ports that sessions and routes depend on."""
    rows = ((kind, field.name) for kind in (Device, Interface) for field in fields(kind))
    return frozenset(name for kind, name in rows if field_of(kind, name).routing)


def _build_examples(file: GoodAndBadExamples) -> tuple[RuleExample, ...]:
    return tuple(
        RuleExample(
            name=f"{kind}[{at}]",
            at=example.at,
            intent=example.intent,
            model=example.model,
            artifact=example.artifact,
            beside=None if example.beside is None else example.beside.model_dump(),
            seen=None if example.seen is None else example.seen.model_dump(),
        )
        for kind, examples in (("bad", file.bad), ("good", file.good))
        for at, example in enumerate(examples)
    )


def _parse_untyped_value(value: object) -> object:
    """Return a value that has no schema: what looks like a number is one, and lists are tuples."""
    if isinstance(value, list):
        return tuple(map(_parse_untyped_value, value))
    if isinstance(value, str) and _INTEGER_PATTERN.fullmatch(value):
        return int(value)
    return float(value) if isinstance(value, str) and _DECIMAL_PATTERN.fullmatch(value) else value


def type_of_value(value: object) -> ValueType:
    """Return the type of a value that has no schema; TypeError where it is no plain one."""
    if isinstance(value, tuple):
        return ValueType(element=reduce(join_types, map(type_of_value, value), ValueType()))
    if value is None:
        raise TypeError
    return type_of(type(value))
