"""A rule's view of one place: the items that a subject means, and its conditions step by step with their values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from nodrop.engine.cells import EACH_ITEM_ALONE, ItemGroup, ItemGroups
from nodrop.engine.nodes import Logic, Node, Not
from nodrop.engine.rule import Rule
from nodrop.engine.scopes import ScopeItem, UnknownItems
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.model.subject import subject_text as subject_text
from nodrop.model.types import did_you_mean_hint as guess_word
from nodrop.model.types import known_word_hint


class AbsentValue(Enum):
    """A placeholder for a value that does not exist."""

    NOT_REACHED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedExpression:
    """An expression and its value.

    The value is UNKNOWN where `missing` is a fact that nobody states, and NOT_REACHED where an earlier operand decided.
    `decides` means that the surrounding expression has the value of this one.
    """

    node: Node
    value: object
    missing: str = ""
    crash: str = ""
    parts: tuple["EvaluatedExpression", ...] = ()
    decides: bool = False

    @property
    def has_value(self) -> bool:
        """Whether it has a value."""
        return not (self.missing or self.crash)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAtItem:
    """One rule at one item; of an analysis or a remark, `scope_item` are its facts."""

    rule: Rule
    item: ScopeItem
    index: Index
    options: Mapping[str, object] = field(default_factory=dict)

    def evaluate_node_in_parts(self, node: Node) -> EvaluatedExpression:
        """Return an expression, taken apart at `and`, `or` and `not` as it is evaluated."""
        match node:
            case Not(node=inside):
                inner_step = self.evaluate_node_in_parts(inside)
                return _replace_step_parts(
                    node, inner_step, not inner_step.value if inner_step.has_value else UNKNOWN, (inner_step,)
                )
            case Logic(word=word):
                return self._evaluate_logic_chain(node, word)
        try:
            value = self.rule.function_of_expression(node)(
                *self.item, self.index.fabric, self.options, index=self.index
            )
        except UnknownFact as unknown:
            return EvaluatedExpression(node=node, value=UNKNOWN, missing=str(unknown))
        except Exception as crash:  # noqa: BLE001 -- a rule that fails is told of like any other
            return EvaluatedExpression(node=node, value=UNKNOWN, crash=f"{type(crash).__name__}: {crash}")
        return EvaluatedExpression(node=node, value=value)

    def _evaluate_logic_chain(self, node: Logic, word: str) -> EvaluatedExpression:
        """All operands of a chain of one word, up to the one that decides."""
        steps: list[EvaluatedExpression] = []
        operands = list(_operands_of_chain(node, word))
        for at, operand in enumerate(operands):
            step = self.evaluate_node_in_parts(operand)
            steps.append(step)
            if not step.has_value or bool(step.value) == (word == "or") or at == len(operands) - 1:
                break
        remaining_steps = [
            EvaluatedExpression(node=operand, value=AbsentValue.NOT_REACHED) for operand in operands[len(steps) :]
        ]
        last = steps[-1]
        every = last.has_value and bool(last.value) != (word == "or")
        shown = steps if every else [*steps[:-1], _mark_deciding_step(last)]
        return _replace_step_parts(node, last, last.value, (*shown, *remaining_steps))


def _operands_of_chain(node: Node, word: str) -> Iterator[Node]:
    if isinstance(node, Logic) and node.word == word:
        yield from _operands_of_chain(node.left, word)
        yield from _operands_of_chain(node.right, word)
    else:
        yield node


def _replace_step_parts(
    node: Node, step: EvaluatedExpression, value: object, steps: tuple[EvaluatedExpression, ...]
) -> EvaluatedExpression:
    return EvaluatedExpression(node=node, value=value, missing=step.missing, crash=step.crash, parts=steps)


def _mark_deciding_step(step: EvaluatedExpression) -> EvaluatedExpression:
    return EvaluatedExpression(
        node=step.node, value=step.value, missing=step.missing, crash=step.crash, parts=step.parts, decides=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectItems:
    """The items of a rule that a subject means: one item, or those of the parts below it; `gaps` may hide some."""

    items: tuple[ScopeItem, ...]
    gaps: tuple[UnknownItems, ...]


def items_at_subject(rule: Rule, subject_path: Subject, index: Index) -> SubjectItems:
    """Return the items at a subject: the one that it names or lies in, else those in it or that end there.

    ValueError where the fabric has none, with the nearest that it has.
    """
    cases = list(ItemGroups(index).groups_of_scope_items(rule.scope, EACH_ITEM_ALONE))
    gaps = tuple(gap for gap in cases if isinstance(gap, UnknownItems) and subject_path[0] in (gap.device, FABRIC_HEAD))
    items = [item for case in cases if isinstance(case, ItemGroup) for item in case.members()]
    for fits in (_is_in_item, _is_in_link_end, _is_above_item):
        if chosen := [item for item in items if fits(rule, item, subject_path)]:
            return SubjectItems(items=tuple(chosen), gaps=gaps)
    if gaps:
        return SubjectItems(items=(), gaps=gaps)
    raise ValueError(describe_absent_subject(subject_path, index, [rule.scope.subject(item) for item in items]))


def _is_in_item(rule: Rule, scope_item: ScopeItem, subject_path: Subject) -> bool:
    """Whether a subject is that of an item, or of a part of it."""
    subject = rule.scope.subject(scope_item)
    return subject_path[: len(subject)] == subject or (subject == (FABRIC_HEAD,) and not rule.scope.parts)


def _is_in_link_end(rule: Rule, item: ScopeItem, at: Subject) -> bool:
    """Whether it is that of an end of a link, or of a part of that end."""
    ends = [tell(item) for name, tell in rule.scope.subjects.items() if rule.scope.name == "link" and name in "ab"]
    return any(at[: len(end)] == end for end in ends)


def _is_above_item(rule: Rule, item: ScopeItem, at: Subject) -> bool:
    """Whether the subject is that of a part that contains an item."""
    item_subjects = (rule.scope.subject(item), *(tell(item) for tell in rule.scope.subjects.values()))
    return any(subject[: len(at)] == at for subject in item_subjects)


def _describe_absent_port(subject_path: Subject, index: Index) -> str:
    """Say that a device has no such port, and name the nearest; empty where the subject names none, or one it has."""
    if len(subject_path) < 2 or subject_path[0] == FABRIC_HEAD or subject_path[1].startswith("@"):
        return ""
    device, port = subject_path[:2]
    names = [interface.name for interface in index.devices[device].interfaces]
    if port in names:
        return ""
    hint = guess_word(port, names)
    return f"{device} has no {port}" + (f" ({hint})" if hint else "")


def describe_absent_subject(subject_path: Subject, index: Index, subjects: Sequence[Subject]) -> str:
    """Describe a subject that the fabric does not have: the nearest device, else the nearest subject."""
    if subject_path[0] != FABRIC_HEAD and subject_path[0] not in index.devices:
        near = known_word_hint(subject_path[0], index.devices)
        return f"{subject_text(subject_path)}: there is no device `{subject_path[0]}` ({near})"
    if absent_port := _describe_absent_port(subject_path, index):
        return absent_port
    alike = [subject_text(subject) for subject in subjects if subject[0] == subject_path[0]]
    hint = known_word_hint(subject_text(subject_path), alike) or "nor elsewhere on it"
    return f"{subject_text(subject_path)}: the rule checks nothing there ({hint})"
