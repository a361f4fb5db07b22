"""From a fault to findings: message, place, facts, group, fingerprint, fix, and how sure it is."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from nodrop import platforms
from nodrop.analyses import AnalysisHit
from nodrop.engine.causes import consists_only_of_names, pointed_part_names, replace_row_names_by_star
from nodrop.engine.cells import ItemGroup, split_by_columns
from nodrop.engine.evidence import ReadingEvidence
from nodrop.engine.finding import Confidence, FileLocation, Finding, FindingFact, Fix, RelatedPart, Severity
from nodrop.engine.nodes import Call, Node, format_node, model_path_of
from nodrop.engine.remedies import changes_making_part, part_changes_between
from nodrop.engine.rule import Rule, TypedLines
from nodrop.engine.scopes import ScopeItem
from nodrop.engine.value_text import escape_control_characters, plain_fact_or_nothing, render_value
from nodrop.model.change import Change, CommandsForCase
from nodrop.model.index import Index
from nodrop.model.reading import FilePlace, Reading, Remark
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.model.subject import subject_text as subject_text
from nodrop.platforms.kit.command_lines import is_typable

_FINGERPRINT_SEPARATOR = "\x1f"
_AND_MORE_PATTERN = re.compile(r" and \d+ more$")
"""The end of a list that leaves names out."""


@dataclass(frozen=True, kw_only=True)
class FindingBuilder:
    """Tells the findings of one rule in one fabric; there may be 150,000 of them in a file of 5 MB."""

    rule: Rule
    severity: Severity
    options: Mapping[str, object]
    reading: Reading
    index: Index
    evidence: ReadingEvidence
    brief: bool = False
    """Whether to leave out fixes and doubts, for states whose findings are only compared."""

    def build_from_group(self, item_group: ItemGroup) -> Iterator[Finding]:
        """Yield a finding for each item that a case represents; their common parts are computed once."""
        for subcase in split_by_columns(item_group, self.rule.finding_columns):
            shared = self._find_parts_shared_by_cause(subcase.item)
            for item in subcase.members():
                yield self._build_finding_of_item(item, shared)

    def build_from_hit(self, hit: AnalysisHit) -> Finding:
        """Return the finding of an analysis."""
        at = hit.at or hit.subject
        related = tuple(RelatedPart(subject=subject, message=message) for subject, message in hit.related)
        located = self._locate_place(hit.subject[0], hit.place)
        changes = tuple(
            change
            for subject, new in (() if self.brief else hit.changes)
            for change in changes_making_part(self.index, subject, new)
        )
        return self._build_finding_of_facts(
            hit.subject,
            at,
            hit.facts,
            related,
            hit.discriminator,
            changes,
            located=located,
            rows=hit.names,
            left_out=hit.left_out,
            doubt=hit.doubt,
        )

    def build_from_remark(self, remark: Remark) -> Finding:
        """Return the finding for a reader's remark, at its place."""
        device = remark.subject[0]
        located, names = self._locate_place(device, remark.place), remark.names
        at = remark.at or remark.subject
        changes = tuple(
            Change(subject=(device, *correction.keys), old=correction.old, new=correction.new)
            for correction in (remark.remedy.corrections if self._has_stated_mode(remark) else ())
        )
        finding = self._build_finding_of_facts(
            remark.subject, at, remark.facts, changes=changes, located=located, rows=names
        )
        if (
            remark.remedy.choices
            and not changes
            and finding.fix is not None
            and (choices := tuple(self._choices_in_languages_of_device(remark)))
        ):
            finding = replace(finding, fix=replace(finding.fix, choices=choices))
        return (
            replace(finding, parts=tuple((device, *part) for part in remark.remedy.parts))
            if remark.remedy.parts
            else finding
        )

    def _has_stated_mode(self, remark: Remark) -> bool:
        """Whether the corrections of a remark are right in this fabric: a mode that is only assumed decides nothing."""
        modes = remark.remedy.modes
        return not modes or (self.reading.fabric.mode in modes and not self.evidence.assumption("mode", remark.subject))

    def _choices_in_languages_of_device(self, remark: Remark) -> "Iterator[CommandsForCase]":
        """Yield the choices of a remark that are in a language of its device."""
        device = self.index.devices.get(remark.subject[0])
        spoken = None if device is None else platforms.command_languages_of_device(device)
        return (choice for choice in remark.remedy.choices if spoken is None or choice.language in spoken)

    def passes_condition(self, condition: Node | None, facts: Mapping[str, FindingFact]) -> bool:
        """Whether `when` lets a hit or remark pass; UnknownFact where it meets UNKNOWN."""
        return condition is None or bool(self._value(condition, (facts,)))

    @cached_property
    def _message_pieces_with_sources(self) -> tuple[tuple[str, Node | None], ...]:
        """The pieces of the message: each as it is written, and the node of an expression."""
        return tuple(
            (piece, None) if isinstance(piece, str) else (format_node(piece), piece) for piece in self.rule.message
        )

    @cached_property
    def _message_nodes_of_byte_sizes(self) -> Mapping[int, Node]:
        """The pieces of the message that write a size, each with the node of its number of bytes."""
        return {
            number: node.arguments[0]
            for number, (_, node) in enumerate(self._message_pieces_with_sources)
            if isinstance(node, Call) and (node.word.kind, node.word.name) == ("filter", "bytes")
        }

    @cached_property
    def _find_parts_shared_by_subject(self) -> "Callable[[Subject, Subject, str], _PartsSharedBySubject]":
        """The function that gives what follows from subject, place and discriminator: many remarks share these."""

        @lru_cache(maxsize=64)
        def about(subject: Subject, at: Subject, discriminator: str) -> _PartsSharedBySubject:
            fingerprint, *former = self._build_fingerprints(subject, discriminator)
            return _PartsSharedBySubject(
                device=_device_of(subject, at),
                doubt="" if self.brief else self.evidence.explain_doubt(self.rule.topics, (subject, at)),
                fingerprint=fingerprint,
                former=tuple(former),
                names=pointed_part_names(subject, at),
            )

        return about

    @cached_property
    def _fix_without_changes(self) -> Fix | None:
        """The fix without changes, where all findings have the same."""
        rule = self.rule
        typed = rule.commands or rule.check_first or rule.otherwise
        alike = not typed and all(isinstance(piece, str) for piece in rule.fix)
        return self._build_fix(()) if alike else None

    def _find_parts_shared_by_cause(self, item: ScopeItem) -> "_PartsSharedByCause":
        """Return the facts that equal items share, computed for the first of them."""
        rule = self.rule
        pieces: list[str | Node] = [
            piece
            if isinstance(piece, str) or rule.is_only_naming(piece)
            else render_value(self._value_or_unknown(piece, item))
            for piece in rule.message
        ]
        self._distinguish_sizes(pieces, item)
        facts = {
            format_node(leaf): self._value_or_unknown(leaf, item)
            for leaf in rule.facts_used
            if not rule.is_only_naming(leaf)
        }
        return _PartsSharedByCause(
            pieces=tuple(pieces),
            group=digest_parts(rule.name, *(piece for piece in pieces if isinstance(piece, str))),
            facts={name: fact for name, value in facts.items() for fact in plain_fact_or_nothing(value)},
            changes=() if self.brief else tuple(self._changes_of_item(rule.changes, item)),
            default_changes=() if self.brief else tuple(self._changes_of_item(rule.default_changes, item)),
        )

    def _changes_of_item(self, fields: Iterable[tuple[Node, Node]], item: ScopeItem) -> "Iterator[_FieldChange]":
        """Yield the changes that set fields of an item, part by part."""
        for target, new_node in fields:
            old_value, new_value = self._value_or_unknown(target, item), self._value_or_unknown(new_node, item)
            for below, old, new in part_changes_between(old_value, new_value):
                yield (*(model_path_of(target) or ()), *below), old, new

    def _build_finding_of_item(self, item: ScopeItem, shared: "_PartsSharedByCause") -> Finding:
        rule, scope = self.rule, self.rule.scope
        subject = scope.subject(item)
        at = scope.subject_of_path(item, rule.pointed_path) if rule.pointed_path else subject
        pieces = (
            piece if isinstance(piece, str) else render_value(self._value_or_unknown(piece, item))
            for piece in shared.pieces
        )
        fingerprint, *former = self._build_fingerprints(subject)
        assumed = self._sole_assumption(item, at)
        doubt = assumed or ("" if self.brief else self._doubt_about_item(item))
        return Finding(
            rule=rule.name,
            severity=self._severity_of_finding(item, assumed),
            confidence=_lower_confidence(rule.confidence, doubt),
            doubt=doubt or rule.because,
            message="".join(pieces),
            subject=subject,
            at=at,
            device=_device_of(subject, at),
            group=shared.group,
            fingerprint=fingerprint,
            facts=shared.facts,
            related=self._other_end_of_link(item),
            fix=None if self.brief else self._build_fix_of_item(item, shared, _device_of(subject, at)),
            former=tuple(former),
        )

    def _doubt_about_item(self, item: ScopeItem) -> str:
        """Return why what a rule says of an item is likely at most; "" if it is certain."""
        rule, scope = self.rule, self.rule.scope
        resting, whole_paths = rule.read_paths_and_subtrees
        return self.evidence.explain_doubt(
            rule.topics,
            (scope.subject_of_path(item, paths) for paths in sorted(resting) if paths[0] != "options"),
            (scope.subject_of_path(item, paths) for paths in sorted(whole_paths) if paths[0] != "options"),
            rule.names_read_whole,
        )

    def _build_fix_of_item(self, item: ScopeItem, shared: "_PartsSharedByCause", device: str | None) -> Fix:
        """Return the fix of an item, with the changes that it makes there."""
        rule = self.rule
        changes, default_changes = (
            tuple(Change(subject=rule.scope.subject_of_path(item, where), old=old, new=new) for where, old, new in rows)
            for rows in (shared.changes, shared.default_changes)
        )
        fix = self._build_fix(item, changes, device=device)
        if default_changes:
            safe = rule.default_safe_if is not None and self._value_or_unknown(rule.default_safe_if, item) is True
            fix = replace(fix, default_changes=default_changes, default_safe=safe)
        return fix if rule.as_siblings else fix.or_default()

    def _other_end_of_link(self, item: ScopeItem) -> tuple[RelatedPart, ...]:
        """Of a rule that points at one end of a link, the same of the other end."""
        end, *inner_path = self.rule.pointed_path or ("",)
        if self.rule.scope.name != "link" or end not in _OTHER_LINK_END:
            return ()
        return (
            RelatedPart(
                subject=self.rule.scope.subject_of_path(item, (_OTHER_LINK_END[end], *inner_path)),
                message="the other end",
            ),
        )

    def _build_finding_of_facts(
        self,
        subject: Subject,
        at: Subject,
        facts: Mapping[str, FindingFact],
        related: tuple[RelatedPart, ...] = (),
        discriminator: str = "",
        changes: tuple[Change, ...] = (),
        located: FileLocation | None = None,
        rows: tuple[str, ...] = (),
        left_out: tuple[str, ...] = (),
        doubt: str = "",
    ) -> Finding:
        """Return a finding whose facts came with it.

        In its group, words that only name the subject do not count, nor those that name the ends of a link, or the port
        that is pointed at. What else happens to have such a name, as the same port of another switch, counts. Nor do
        `rows`, the words that only name a row of a file, wherever they are.
        """
        rule, names, about = self.rule, (facts,), self._find_parts_shared_by_subject(subject, at, discriminator)
        rows = tuple(sorted(filter(None, rows), key=len, reverse=True)) if rows else ()
        pieces = [
            written if node is None else render_value(self._value_or_unknown(node, names))
            for written, node in self._message_pieces_with_sources
        ]
        self._distinguish_sizes(pieces, names)
        cause = []
        naming: dict[str, str] = {}  # the parts of the subject, and what names each first
        for (written, node), piece in zip(self._message_pieces_with_sources, pieces, strict=True):
            if (
                node is None
                or not consists_only_of_names(piece, subject, about.names)
                or naming.setdefault(piece, written) != written
            ):
                cause.append(replace_row_names_by_star(piece, rows))
        assumed = self._sole_assumption(names, at)
        doubt = assumed or about.doubt or doubt
        return Finding(
            rule=rule.name,
            severity=self._severity_of_finding(names, assumed),
            confidence=_lower_confidence(rule.confidence, doubt),
            doubt=doubt or rule.because,
            message="".join(pieces),
            subject=subject,
            at=at,
            device=about.device,
            group=digest_parts(rule.name, *cause),
            fingerprint=about.fingerprint,
            facts=dict(facts),
            related=related,
            fix=None
            if self.brief
            else (None if changes else self._fix_without_changes)
            or self._build_fix(names, changes, device=about.device),
            located=located,
            left_out=left_out,
            former=about.former,
        )

    def _distinguish_sizes(self, pieces: MutableSequence[Any], names: Sequence[Any]) -> None:
        """Write sizes exactly in the pieces of a message where two different ones are rounded to one text."""
        if len(self._message_nodes_of_byte_sizes) < 2:
            return
        sizes = {
            number: self._value_or_unknown(node, names) for number, node in self._message_nodes_of_byte_sizes.items()
        }
        exact = {number: f"{round(size)} B" for number, size in sizes.items() if isinstance(size, int | float)}
        texts = [pieces[number] for number in {exact[number]: number for number in exact}.values()]
        ambiguous = {text for text in texts if texts.count(text) > 1}
        for number in exact:
            if pieces[number] in ambiguous:
                pieces[number] = exact[number]

    def _severity_of_finding(self, names: Sequence[object], assumed: str) -> Severity:
        """Return the severity of a finding; an owner's choice for the rule counts regardless of statements about the
        fabric.
        """
        rule = self.rule
        if self.severity != rule.severity:
            return self.severity
        if (
            rule.severity_if_stated is not None
            and rule.stated is not None
            and self._value_or_unknown(rule.stated, names) is True
        ):
            return rule.severity_if_stated
        if rule.severity_if_assumed is not None and assumed:
            return rule.severity_if_assumed
        return self.severity

    def _sole_assumption(self, name_values: Sequence[object], subject_path: Subject) -> str:
        """Return the assumption that a finding rests on alone; "" if it is stated, or the files show it themselves."""
        for topic, unless in self.rule.assumed:
            assumed = self.evidence.assumption(topic, subject_path)
            if assumed and (unless is None or self._value_or_unknown(unless, name_values) is False):
                return assumed
        return ""

    def _build_fix(self, names: Sequence[object], changes: tuple[Change, ...] = (), device: str | None = None) -> Fix:
        r"""Return what to do, on one line as the rule's author wrote it: line breaks of values are written as `\n`."""
        rule = self.rule
        intent = tuple(rule.intent_fix.items())
        pieces = (
            piece
            if isinstance(piece, str)
            else escape_control_characters(render_value(self._value_or_unknown(piece, names)))
            for piece in rule.fix
        )
        language, commands = self._spell_commands(rule.commands, names, device) if rule.commands else ("", ())
        return Fix(
            text="".join(pieces),
            safe=rule.fix_safe and bool(changes or intent),
            changes=changes,
            intent=intent,
            spelled=commands,
            language=language,
            condition=rule.condition,
            choices=tuple(self._build_choices(names, device, bool(commands or changes))),
            after=self.rule.after,
        )

    def _build_choices(
        self, names: Sequence[object], device: str | None, has_commands: bool
    ) -> "Iterator[CommandsForCase]":
        """Yield the commands that show which case it is, and those of the other case.

        Where that of the rule's condition has no commands, the other one names it.
        """
        otherwise = "else" if has_commands else self.rule.condition.replace("if ", "unless ", 1)
        for condition, commands in (("first check", self.rule.check_first), (otherwise, self.rule.otherwise)):
            language, lines = self._spell_commands(commands, names, device) if commands else ("", ())
            if lines:
                yield CommandsForCase(condition, language, lines, shows_only=condition == "first check")

    def _spell_commands(
        self, commands: TypedLines, names: Sequence[object], device: str | None
    ) -> tuple[str, tuple[str, ...]]:
        """Return what takes commands of the rule on a device, and the commands, with slots for its ports.

        A value that is several keys gives a command for each, and no command where it is empty. There are no commands
        where one of them needs a value that is unknown, that stands for more than it names, or that a shell would not
        take as it is.
        """
        known = self.index.devices.get(device or "")
        spoken = platforms.command_languages_of_device(known) if known is not None else (platforms.HOSTS_PLATFORM,)
        language = next((one for one in spoken if one in commands), "")
        lines: list[str] = []
        for line in commands.get(language, ()):
            keys_by_node: dict[Node, tuple[str, ...]] = {}
            for node in (piece for piece in line if not isinstance(piece, str)):
                keys = self._command_texts_of_slot(node, names)
                if keys is None:
                    return "", ()
                keys_by_node[node] = keys
            for chosen in product(*keys_by_node.values()):
                key_by_node = dict(zip(keys_by_node, chosen, strict=True))
                lines.append("".join(piece if isinstance(piece, str) else key_by_node[piece] for piece in line))
        return language, tuple(lines)

    def _command_texts_of_slot(self, node: Node, names: Sequence[object]) -> tuple[str, ...] | None:
        """Return a value, or each of several keys, as commands have it; None if not known whole or safe to type."""
        value = self._value_or_unknown(node, names)
        if value is None or isinstance(value, Unknown) or _AND_MORE_PATTERN.search(str(value)):
            return None
        typed = tuple(map(render_value, value)) if type(value) is tuple else (render_value(value),)
        return typed if all(map(is_typable, typed)) else None

    def _build_fingerprints(self, subject: Subject, discriminator: str = "") -> tuple[str, ...]:
        """Return the fingerprint of a finding, then those that it had under former names of the rule."""
        return tuple(
            digest_parts(name, subject_text(subject), discriminator) for name in (self.rule.name, *self.rule.aliases)
        )

    def _value(self, node: Node, names: Sequence[object]) -> object:
        return self.rule.function_of_expression(node)(*names, self.reading.fabric, self.options, index=self.index)

    def _value_or_unknown(self, node: Node, names: Sequence[Any]) -> object:
        """Return the value of a node, UNKNOWN if it depends on that: a finding is reported without the detail."""
        try:
            return self._value(node, names)
        except UnknownFact:
            return UNKNOWN

    def _locate_place(self, device: str, place: FilePlace | None) -> FileLocation | None:
        if place is None:
            return None
        sources = self.reading.sources.get(device, ())
        display = next((source.display for source in sources if source.name == place.file), place.file)
        return FileLocation(file=display, span=place.span)


_OTHER_LINK_END = {"a": "b", "b": "a"}
"""The ends of a link, as rules name them."""


_FieldChange = tuple[tuple[str, ...], object, object]
"""The path of a field, its old and its new value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartsSharedByCause:
    """What findings of one cause have in common; `pieces` still holds the nodes that name each item."""

    pieces: tuple[str | Node, ...]
    group: str
    facts: Mapping[str, FindingFact]
    changes: "tuple[_FieldChange, ...]"
    default_changes: "tuple[_FieldChange, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartsSharedBySubject:
    """What findings of one rule share that have one subject and one place; `name_values` name these."""

    device: str | None
    doubt: str
    fingerprint: str
    former: tuple[str, ...]
    names: frozenset[str]


def digest_parts(*texts: str) -> str:
    """BLAKE2b-128 of the parts (contract 9.13); names of files may hold half of a surrogate pair."""
    joined = _FINGERPRINT_SEPARATOR.join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=16).hexdigest()


def _device_of(subject: Subject, subject_path: Subject) -> str | None:
    return next((candidate[0] for candidate in (subject, subject_path) if candidate[0] != FABRIC_HEAD), None)


def _lower_confidence(confidence: Confidence, doubt: str) -> Confidence:
    return "likely" if doubt and confidence == "certain" else confidence
