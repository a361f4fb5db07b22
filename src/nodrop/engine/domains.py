"""The known values of an expression's parts while its conditions are compared with each other.

A domain is the set of values that a single part may still have; it is empty if the facts about that part contradict
each other. None is known absence, as in expressions; a value that may be UNKNOWN settles nothing and is left out.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor, inf

from nodrop.engine.nodes import (
    Arithmetic,
    Attribute,
    Compare,
    Comparison,
    Constant,
    IsNone,
    ListLiteral,
    Negative,
    Node,
    format_node,
    may_be_none,
)
from nodrop.model.types import ValueType

_NEGATED_BY_COMPARISON: Mapping[Comparison, Comparison] = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
}
_MIRRORED_BY_COMPARISON: Mapping[Comparison, Comparison] = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    "==": "==",
    "!=": "!=",
}
_ORDERS_BY_COMPARISON: Mapping[Comparison, frozenset[str]] = {
    "<": frozenset("<"),
    "<=": frozenset("<="),
    ">": frozenset(">"),
    ">=": frozenset(">="),
    "==": frozenset("="),
    "!=": frozenset("<>?"),
}
"""How two values may lie to each other; `?` is neither before nor behind, as texts and None are."""
_OPERATOR_BY_SIGN: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True, slots=True)
class ValueDomain:
    """The values that a part may still have."""

    absent: bool = True
    """Whether it may be None."""
    present: bool = True
    """Whether it may be something."""
    among: frozenset[object] | None = None
    """The only values that it may have, None among them; None where it may have any."""
    never: frozenset[object] = frozenset()
    low: float = -inf
    high: float = inf
    above: bool = False
    """Whether it is more than `low`, not the same."""
    below: bool = False
    truths: frozenset[bool] = frozenset({True, False})

    def restrict_to_range(self, sign: Comparison, limit: float) -> "ValueDomain":
        """Return the domain of the numbers that compare so with a limit."""
        domain = replace(self, absent=False)
        if sign in (">", ">=") and limit >= self.low:
            return replace(domain, low=limit, above=sign == ">" or (self.above and limit == self.low))
        if sign in ("<", "<=") and limit <= self.high:
            return replace(domain, high=limit, below=sign == "<" or (self.below and limit == self.high))
        return domain

    def restrict_to_values(self, allowed_values: frozenset[object]) -> "ValueDomain":
        """Return the domain restricted to the values."""
        return replace(self, among=allowed_values if self.among is None else self.among & allowed_values)

    def is_any_value_left(self, node: Node) -> bool:
        """Whether any value is left that the node's type allows."""
        return self._may_be_none(node) or (self.present and self._may_be_other_than_none(node.type))

    def _may_be_none(self, node: Node) -> bool:
        listed = self.among is None or None in self.among
        return self.absent and may_be_none(node) and False in self.truths and listed and None not in self.never

    def _may_be_other_than_none(self, kind: ValueType) -> bool:
        values = self.among if self.among is not None else _all_values(kind)
        if values is not None:
            return any(value is not None and self._allows_value(value) for value in values)
        if kind.scalars and kind.scalars <= {int, float} and not kind.words and not kind.element and not kind.owners:
            return self._allows_number(whole=kind.scalars == {int})
        return True in self.truths or (False in self.truths and not _is_always_truthy(kind))

    def _allows_value(self, value: object) -> bool:
        if value in self.never or bool(value) not in self.truths:
            return False
        if isinstance(value, int | float):
            before, behind = value < self.low or (self.above and value == self.low), value > self.high
            return not (before or behind or (self.below and value == self.high))
        return self.low == -inf and self.high == inf

    def _allows_number(self, *, whole: bool) -> bool:
        if self.truths == {False}:
            return self._allows_value(0)
        if not self.truths or self.low > self.high:
            return False
        if not whole:
            same = self.low == self.high
            return self._allows_value(self.low) if same else True
        if self.high - self.low > len(self.never) + 3:  # as many whole numbers as cannot all be ruled out
            return True
        return any(self._allows_value(value) for value in range(ceil(self.low), floor(self.high) + 1))


def _is_always_truthy(kind: ValueType) -> bool:
    """Whether all that a type may hold counts as true: parts of the model, which are neither numbers nor lists."""
    if not kind.owners or kind.scalars or kind.words or kind.element is not None or kind.anything:
        return False
    return all(bool(getattr(owner, "_fields", None)) or not hasattr(owner, "__len__") for owner in kind.owners)


def _all_values(value_type: ValueType) -> frozenset[object] | None:
    """Return all values that a type may have in addition to None, if they are few."""
    if value_type.anything or value_type.owners or value_type.element is not None or value_type.scalars - {bool}:
        return None
    return frozenset(value_type.words) | (frozenset({True, False}) if value_type.scalars else frozenset())


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The known facts of each part, and of each pair of parts that were compared."""

    domains: Mapping[Node, ValueDomain] = field(default_factory=dict)
    orders: Mapping[tuple[Node, Node], frozenset[str]] = field(default_factory=dict)
    possible: bool = True

    def assume_value_among(self, node: Node, allowed_values: frozenset[object]) -> "KnownFacts":
        """Return the facts that follow where a part is one of the values."""
        return self._with_domain_of(node, self.domains.get(node, ValueDomain()).restrict_to_values(allowed_values))

    def assume_condition(self, node: Node, *, holds: bool) -> "KnownFacts":
        """Return the facts that follow where a single condition counts as true, or as false."""
        match node:
            case IsNone(node=inside):
                domain = self.domains.get(inside, ValueDomain())
                return self._with_domain_of(
                    inside, replace(domain, present=False) if holds else replace(domain, absent=False)
                )
            case Compare(first=left, rest=((sign, right),)):
                return self._add_comparison(left, sign if holds else _NEGATED_BY_COMPARISON[sign], right)
        if (value := fold_to_constant(node)) is not None:
            return replace(self, possible=self.possible and bool(value.value) == holds)
        domain = self.domains.get(node, ValueDomain())
        return self._with_domain_of(node, replace(domain, truths=domain.truths & {holds}))

    def _add_comparison(self, left_operand: Node, sign: Comparison, right_operand: Node) -> "KnownFacts":
        if sign in ("in", "not in"):
            return self._add_membership(left_operand, sign, right_operand)
        constant, other_constant = fold_to_constant(left_operand), fold_to_constant(right_operand)
        if constant is not None and other_constant is not None:
            return replace(
                self, possible=self.possible and _compare_constants(constant.value, sign, other_constant.value)
            )
        if constant is not None:
            return self._add_comparison(right_operand, _MIRRORED_BY_COMPARISON[sign], left_operand)
        if other_constant is not None:
            return self._with_domain_of(
                left_operand,
                _restrict_domain(self.domains.get(left_operand, ValueDomain()), sign, other_constant.value),
            )
        if format_node(right_operand) < format_node(left_operand):
            left_operand, sign, right_operand = right_operand, _MIRRORED_BY_COMPARISON[sign], left_operand
        before = self.orders.get(
            (left_operand, right_operand), frozenset("=") if left_operand == right_operand else frozenset("<=>?")
        )
        after = before & _ORDERS_BY_COMPARISON[sign]
        facts = self
        if sign not in ("==", "!="):
            for node in (left_operand, right_operand):
                facts = facts._with_domain_of(node, replace(facts.domains.get(node, ValueDomain()), absent=False))
        orders = {**facts.orders, (left_operand, right_operand): after}
        return replace(facts, orders=orders, possible=facts.possible and bool(after))

    def _add_membership(self, left_operand: Node, sign: Comparison, right_operand: Node) -> "KnownFacts":
        values = (
            [fold_to_constant(item) for item in right_operand.items]
            if isinstance(right_operand, ListLiteral)
            else [None]
        )
        constants = frozenset(value.value for value in values if value is not None)
        if len(constants) < len(values) and (None in values or not isinstance(right_operand, ListLiteral)):
            listed = Compare(left_operand, (("in", right_operand),))
            domain = self.domains.get(listed, ValueDomain())
            return self._with_domain_of(listed, replace(domain, truths=domain.truths & {sign == "in"}))
        domain = self.domains.get(left_operand, ValueDomain())
        return self._with_domain_of(
            left_operand,
            domain.restrict_to_values(constants) if sign == "in" else replace(domain, never=domain.never | constants),
        )

    def _with_domain_of(self, node: Node, domain: ValueDomain) -> "KnownFacts":
        """Return the facts with a part's domain; if the part is not None, the owner of the attribute is not either."""
        domains = {**self.domains, node: domain}
        possible = self.possible and domain.is_any_value_left(node)
        if isinstance(node, Attribute) and not domain._may_be_none(node):
            owner = domains.get(node.of, ValueDomain())
            if owner.absent:
                return replace(self, domains=domains, possible=possible)._with_domain_of(
                    node.of, replace(owner, absent=False)
                )
        return replace(self, domains=domains, possible=possible)


def _restrict_domain(domain: ValueDomain, sign: Comparison, value: object) -> ValueDomain:
    """Return the domain restricted by a comparison with a constant."""
    if sign == "==":
        return domain.restrict_to_values(frozenset({value}))
    if sign == "!=":
        return replace(domain, never=domain.never | {value})
    assert isinstance(value, int | float)
    return domain.restrict_to_range(sign, value)


def _compare_constants(left: object, sign: Comparison, right: object) -> bool:
    if sign in ("==", "!="):
        return (left == right) == (sign == "==")
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


def fold_to_constant(node: Node) -> Constant | None:
    """Return the constant value of a node for every fabric; None where that depends on it."""
    match node:
        case Constant():
            return node
        case Negative(node=inside):
            value = fold_to_constant(inside)
            if value is not None and isinstance(value.value, int | float):
                return Constant(-value.value, node.type)
        case Arithmetic(sign=sign, left=left, right=right):
            constant, other_constant = fold_to_constant(left), fold_to_constant(right)
            if constant is None or other_constant is None:
                return None
            if isinstance(constant.value, int | float) and isinstance(other_constant.value, int | float):
                if sign == "/" and other_constant.value == 0:
                    return None
                return Constant(_OPERATOR_BY_SIGN[sign](constant.value, other_constant.value), node.type)
    return None
