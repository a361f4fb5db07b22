"""Whether a rule can ever apply: conditions that contradict themselves, or each other, in every possible fabric.

The conditions are split as in a proof: `and` gives two goals, `or` two cases, and the rest are facts of
single values, which are kept together until they leave no possible value. A case that this cannot decide may hold:
a rule is never rejected for an uncertain contradiction.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodrop.engine.domains import KnownFacts
from nodrop.engine.nodes import Compare, Logic, Node, Not, format_without_brackets, model_path_of, walk_nodes
from nodrop.engine.rule import Rule

MAX_CASES = 512
"""How many cases are tried before an expression counts as one that may hold."""


@dataclass(frozen=True, slots=True)
class TruthRequirement:
    """An expression that has to count as true, or as false."""

    node: Node
    holds: bool

    def __str__(self) -> str:
        return format_without_brackets(self.node if self.holds else Not(self.node))


@dataclass(frozen=True, slots=True)
class RuleContradiction:
    """Why a rule never speaks: the key of the file at fault, and the parts that cannot hold together."""

    key: str
    parts: tuple[str, ...]


def find_contradiction(rule: Rule) -> RuleContradiction | None:
    """Return the reason why a rule can never find anything; None where it may."""
    stated = {"fabric.mode": frozenset[object](rule.modes)}
    when = (TruthRequirement(rule.when, True),) if rule.when is not None else ()
    claim = (TruthRequirement(rule.claim, False),) if rule.claim is not None else ()
    for key, goals in (("when", when), ("assert", claim), ("assert", when + claim)):
        if goals and not _can_goals_hold(goals, stated):
            return RuleContradiction(key, tuple(map(str, _minimal_contradiction(goals, stated))))
    return None


def _can_goals_hold(goals: tuple[TruthRequirement, ...], stated: Mapping[str, frozenset[object]]) -> bool:
    facts = KnownFacts()
    for goal in goals:
        for node in walk_nodes(goal.node):
            if (paths := model_path_of(node)) is not None and (words := stated.get(".".join(paths))) is not None:
                facts = facts.assume_value_among(node, words)
    cases = [(goals, facts)]
    for _ in range(MAX_CASES):
        if not cases:
            return False
        remaining_goals, facts = cases.pop()
        if not facts.possible:
            continue
        if not remaining_goals:
            return True
        cases += reversed(
            [
                (further_goals + remaining_goals[1:], further)
                for further_goals, further in _split_goal(remaining_goals[0], facts)
            ]
        )
    return True


def _split_goal(goal: TruthRequirement, facts: KnownFacts) -> Iterator[tuple[tuple[TruthRequirement, ...], KnownFacts]]:
    """Yield the cases that reach a goal: the goals that then remain, and the known facts."""
    match goal.node:
        case Not(node=inside):
            yield (TruthRequirement(inside, not goal.holds),), facts
        case Logic(word=word, left=left, right=right):
            sides = (TruthRequirement(left, goal.holds), TruthRequirement(right, goal.holds))
            if (word == "and") == goal.holds:
                yield sides, facts
            else:
                yield from (((side,), facts) for side in sides)
        case Compare(first=first, rest=(one, *more)) if more:
            links = [Compare(first, (one,))]
            for (_, left), step in zip(goal.node.rest, more, strict=False):
                links.append(Compare(left, (step,)))
            goals = tuple(TruthRequirement(link, goal.holds) for link in links)
            if goal.holds:
                yield goals, facts
            else:
                yield from (((subgoal,), facts) for subgoal in goals)
        case node:
            yield (), facts.assume_condition(node, holds=goal.holds)


def _minimal_contradiction(
    goals: tuple[TruthRequirement, ...], stated: Mapping[str, frozenset[object]]
) -> tuple[TruthRequirement, ...]:
    """As few parts of the goals as still contradict each other."""
    conjuncts = tuple(conjunct for goal in goals for conjunct in _split_conjuncts(goal))
    for candidate in conjuncts:
        without = tuple(goal for goal in conjuncts if goal is not candidate)
        if not _can_goals_hold(without, stated):
            conjuncts = without
    return conjuncts


def _split_conjuncts(goal: TruthRequirement) -> Iterator[TruthRequirement]:
    match goal.node:
        case Not(node=inside):
            yield from _split_conjuncts(TruthRequirement(inside, not goal.holds))
        case Logic(word=word, left=left, right=right) if (word == "and") == goal.holds:
            yield from _split_conjuncts(TruthRequirement(left, goal.holds))
            yield from _split_conjuncts(TruthRequirement(right, goal.holds))
        case _:
            yield goal
