"""Rules with one condition changed, and whether their examples notice: a condition that nothing pins may be wrong.

A mutant puts true or false for the whole of `when` or `assert` or for an operand of its `and` and `or`, turns a
comparison into its neighbour, or moves a number in a comparison by one. The examples of a rule kill a mutant if its
verdict on any of them differs, on any platform.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from nodrop.engine.examples import FabricOnPlatform, find_example_differences
from nodrop.engine.nodes import (
    Arithmetic,
    Attribute,
    Call,
    Compare,
    Comparison,
    Constant,
    IsNone,
    ListLiteral,
    Logic,
    Name,
    Negative,
    Node,
    Not,
    format_without_brackets,
)
from nodrop.engine.rule import Rule, RuleExample
from nodrop.model.types import BOOLEAN_TYPE

MUTATED_COMPARISON_BY_COMPARISON: Mapping[Comparison, Comparison] = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
}
TRUE, FALSE = Constant(True, BOOLEAN_TYPE), Constant(False, BOOLEAN_TYPE)


@dataclass(frozen=True)
class RuleMutant:
    """A rule with one thing changed, and the change in words: `when: interface.qos -> true`."""

    change: str
    rule: Rule

    @property
    def changed_key(self) -> str:
        """The key of the rule's file that is changed: `when` or `assert`."""
        return self.change.partition(":")[0]


def mutants_of(rule: Rule) -> list[RuleMutant]:
    """Return all mutants of a rule, each once: true for an operand of `or` is true for the whole."""
    new_mutants: list[RuleMutant] = []
    for key, condition in (("when", rule.when), ("assert", rule.claim)):
        if condition is None:
            continue
        seen, changes = {simplify_condition(condition)}, Counter[str]()
        for old, new, changed in _find_node_changes(condition, whole=True):
            if (short := simplify_condition(changed)) not in seen:
                seen.add(short)
                change = f"{key}: {format_without_brackets(old)} -> {format_without_brackets(new)}"
                changes[change] += 1
                nth = f" ({changes[change]})" if changes[change] > 1 else ""
                field = {"when": changed} if key == "when" else {"claim": changed}
                new_mutants.append(RuleMutant(change + nth, replace(rule, **field)))  # type: ignore[arg-type]
    return new_mutants


def _find_node_changes(node: Node, *, whole: bool = False) -> Iterator[tuple[Node, Node, Node]]:
    """Yield each change of a node or below: the old part, the new part, and the whole with the change."""
    if whole:
        yield from ((node, new, new) for new in (TRUE, FALSE))
    yield from ((node, new, new) for new in _mutate_node(node))
    match node:
        case Logic():
            for side in ("left", "right"):
                for old, new, changed in _find_node_changes(getattr(node, side), whole=True):
                    yield old, new, replace(node, **{side: changed})  # type: ignore[arg-type]
        case Not() | Negative() | IsNone():
            yield from ((old, new, replace(node, node=changed)) for old, new, changed in _find_node_changes(node.node))
        case Attribute():
            yield from ((old, new, replace(node, of=changed)) for old, new, changed in _find_node_changes(node.of))
        case Arithmetic():
            yield from ((old, new, replace(node, left=changed)) for old, new, changed in _find_node_changes(node.left))
            yield from (
                (old, new, replace(node, right=changed)) for old, new, changed in _find_node_changes(node.right)
            )
        case Compare():
            yield from (
                (old, new, replace(node, first=changed)) for old, new, changed in _find_node_changes(node.first)
            )
            for at, (sign, right) in enumerate(node.rest):
                for old, new, changed in _find_node_changes(right):
                    yield old, new, replace(node, rest=(*node.rest[:at], (sign, changed), *node.rest[at + 1 :]))
        case ListLiteral():
            for at, item in enumerate(node.items):
                for old, new, changed in _find_node_changes(item):
                    yield old, new, replace(node, items=(*node.items[:at], changed, *node.items[at + 1 :]))
        case Call():
            for at, argument in enumerate(node.arguments):
                for old, new, changed in _find_node_changes(argument):
                    arguments = (*node.arguments[:at], changed, *node.arguments[at + 1 :])
                    yield old, new, replace(node, arguments=arguments)
        case Constant() | Name():
            pass


def _mutate_node(node: Node) -> Iterator[Node]:
    """Yield the expressions that a comparison may be mistaken for."""
    match node:
        case Compare():
            for at, (sign, right) in enumerate(node.rest):
                comparisons = [(MUTATED_COMPARISON_BY_COMPARISON[sign], right)]
                if isinstance(right, Constant) and type(right.value) is int:
                    comparisons += [(sign, replace(right, value=right.value + step)) for step in (-1, 1)]
                for comparison in comparisons:
                    yield replace(node, rest=(*node.rest[:at], comparison, *node.rest[at + 1 :]))
        case IsNone():
            yield Not(node)
        case Call() if node.word.kind == "test":
            yield Not(node)
        case _:
            pass


def simplify_condition(node: Node) -> Node:
    """Return a condition without the constants in it that decide nothing, or decide all."""
    match node:
        case Not():
            inner = simplify_condition(node.node)
            if isinstance(inner, Not):
                return inner.node
            return FALSE if inner == TRUE else TRUE if inner == FALSE else Not(inner)
        case Logic():
            left, right = simplify_condition(node.left), simplify_condition(node.right)
            idle, deciding = (TRUE, FALSE) if node.word == "and" else (FALSE, TRUE)
            if deciding in (left, right):
                return deciding
            return right if left == idle else left if right == idle else replace(node, left=left, right=right)
        case _:
            return node


def find_surviving_mutants(
    rule: Rule, platforms: Iterable[str], views: Callable[[RuleExample, str], Iterable[FabricOnPlatform]]
) -> list[RuleMutant]:
    """Return the mutants of a rule that none of its examples notices.

    `views` gives an example as a platform expresses it, nothing where the platform cannot. An example that fails for
    the rule itself notices nothing.
    """
    remaining_mutants = mutants_of(rule)
    for example in rule.examples if remaining_mutants else ():
        for platform in platforms:
            for view in views(example, platform):
                if not any(find_example_differences(rule, example, view)):
                    remaining_mutants = [
                        mutant
                        for mutant in remaining_mutants
                        if not any(find_example_differences(mutant.rule, example, view))
                    ]
    return remaining_mutants
