"""From Jinja2's tree to ours: each node is whitelisted here and given a type, or refused at its place."""

from collections.abc import Mapping
from functools import reduce
from math import isfinite

from jinja2 import nodes as jinja

from nodrop.engine import nodes
from nodrop.engine.located_text import ExpressionText, MayBeNoneError
from nodrop.engine.nodes import (
    ArithmeticSign,
    Attribute,
    Call,
    Comparison,
    Constant,
    ListLiteral,
    Name,
    Node,
    format_node,
    may_be_none,
    nodes_not_none,
)
from nodrop.engine.vocabulary import VocabularyWord, WordKind, vocabulary
from nodrop.model.fabric import End
from nodrop.model.types import (
    ValueType,
    attributes_of,
    did_you_mean_hint,
    join_types,
    known_word_hint,
    owner_label,
    type_of,
)

MAX_DEPTH, MAX_NODES = 32, 200
MAX_NUMBER, MAX_TEXT = 2**63, 200

_COMPARISON_BY_JINJA_NAME: Mapping[str, Comparison] = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lteq": "<=",
    "gt": ">",
    "gteq": ">=",
    "in": "in",
    "notin": "not in",
}
_SIGN_BY_NODE_TYPE: Mapping[type[jinja.Node], ArithmeticSign] = {
    jinja.Add: "+",
    jinja.Sub: "-",
    jinja.Mul: "*",
    jinja.Div: "/",
}
_WORD_KIND_BY_NODE: Mapping[type[jinja.Node], WordKind] = {
    jinja.Filter: "filter",
    jinja.Test: "test",
    jinja.Call: "function",
}
_REFUSED_NODE_TITLES: Mapping[type[jinja.Node], str] = {
    jinja.Getitem: "a subscript",
    jinja.CondExpr: "an inline `if`",
    jinja.Concat: "`~`",
    jinja.Pow: "`**`",
    jinja.FloorDiv: "`//`",
    jinja.Mod: "`%`",
    jinja.Pos: "a `+` before a number",
    jinja.Dict: "a mapping",
}


class ExpressionTypeChecker:
    """Checks the expressions of one text; those of a message are counted together."""

    def __init__(self, written: ExpressionText, names: Mapping[str, ValueType]) -> None:
        self.written, self.names = written, names
        self.nodes = 0

    def check(self, node: jinja.Node, surely: frozenset[Node], depth: int = 1) -> Node:
        """Return the typed node; `surely` are those known not to be None where this one is evaluated."""
        self.nodes += 1
        if depth > MAX_DEPTH:
            raise self.written.fault("expressions in expressions", f"at most {MAX_DEPTH} levels")
        if self.nodes > MAX_NODES:
            raise self.written.fault(f"more than {MAX_NODES} names, values and signs", f"at most {MAX_NODES}")

        def below(child: jinja.Node) -> Node:
            return self.check(child, surely, depth + 1)

        match node:
            case jinja.Const():
                return self._check_constant(node.value)
            case jinja.Name():
                return self._check_name(node.name)
            case jinja.Getattr():
                return self._check_attribute(below(node.node), node.attr)
            case jinja.Tuple() | jinja.List():
                return _build_list_literal([below(item) for item in node.items])
            case jinja.Not():
                return nodes.Not(below(node.node))
            case jinja.Neg():
                return nodes.Negative(self._require_number(below(node.node), surely, "-"))
            case jinja.And() | jinja.Or():
                is_and = isinstance(node, jinja.And)
                left = below(node.left)
                right = self.check(node.right, surely | nodes_not_none(left, holds=is_and), depth + 1)
                return nodes.Logic("and" if is_and else "or", left, right)
            case jinja.Compare():
                first_node = below(node.expr)
                comparisons = [(_COMPARISON_BY_JINJA_NAME[operand.op], below(operand.expr)) for operand in node.ops]
                return self._check_comparison(first_node, comparisons, surely)
            case jinja.Add() | jinja.Sub() | jinja.Mul() | jinja.Div():
                sign = _SIGN_BY_NODE_TYPE[type(node)]
                left, right = (self._require_number(below(side), surely, sign) for side in (node.left, node.right))
                return nodes.Arithmetic(sign, left, right)
            case jinja.Test(name="none", args=[]):
                return nodes.IsNone(below(node.node))
            case jinja.Call() | jinja.Filter() | jinja.Test():
                if node.kwargs or node.dyn_args is not None or node.dyn_kwargs is not None:
                    raise self.written.fault("an argument with a name or a star", "arguments one after the other")
                word = self._find_word(node)
                subject = [] if isinstance(node, jinja.Call) else [node.node]
                return self._check_call(
                    word, [below(expr) for expr in (*subject, *node.args) if expr is not None], surely
                )
        kind = type(node)
        raise self.written.fault(
            _REFUSED_NODE_TITLES.get(kind, f"`{kind.__name__.lower()}`"), "something that rules may say"
        )

    def check_printable(self, node: jinja.Node, surely: frozenset[Node]) -> Node:
        """Return the typed node of a message: a number, a text or a list of them."""
        found_node = self.check(node, surely)
        inside = found_node.type.element or ValueType()
        if any(owner is not End for owner in found_node.type.owners + inside.owners) or inside.element is not None:
            raise self.written.fault(
                f"`{format_node(found_node)}` in a message",
                "a number, a text or a list of them",
                at=format_node(found_node),
            )
        return found_node

    def _check_constant(self, value: object) -> Constant:
        if isinstance(value, int | float) and (abs(value) > MAX_NUMBER or not isfinite(value)):
            raise self.written.fault("a huge number", "at most 2**63")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise self.written.fault(f"a text of {len(value)} characters", f"at most {MAX_TEXT}")
        assert value is None or isinstance(value, str | int | float | bool)
        return Constant(value, type_of(type(value)))

    def _check_name(self, name: str) -> Name:
        if name not in self.names:
            raise self.written.fault(f"no name `{name}` here", hint=known_word_hint(name, self.names), at=name)
        return Name(name, self.names[name])

    def _check_attribute(self, node: Node, name: str) -> Attribute:
        owners, before = node.type.owners, f"{format_node(node)}."
        if not owners or node.type.kinds != set(map(owner_label, owners)):
            described = node.type.describe()
            raise self.written.fault(
                f"`.{name}` of {described}", "an attribute of the model", at=before + name, after=before
            )
        for owner in owners:
            if name not in attributes_of(owner):
                hint = _suggest_attribute(name, attributes_of(owner))
                raise self.written.fault(
                    f"{owner_label(owner)} has no `{name}`", hint=hint, at=before + name, after=before
                )
        return Attribute(node, name, reduce(join_types, (attributes_of(owner)[name] for owner in owners)))

    def _check_comparison(
        self, first_node: Node, comparisons: list[tuple[Comparison, Node]], surely: frozenset[Node]
    ) -> Node:
        left = first_node
        for sign, right in comparisons:
            other_kind = right.type
            if sign in ("in", "not in"):
                other_kind = self._require_list(right, surely, sign).type.element or ValueType()
            elif sign not in ("==", "!="):
                self._require_number(left, surely, sign)
                self._require_number(right, surely, sign)
            if not _may_equal(left.type, other_kind):
                raise self.written.fault(
                    f"{left.type.describe()} `{sign}` {right.type.describe()}", "things alike", at=format_node(left)
                )
            self._require_text_to_be_possible_word(left, other_kind)
            self._require_text_to_be_possible_word(right, left.type)
            left = right
        return nodes.Compare(first_node, tuple(comparisons))

    def _require_number(self, node: Node, surely: frozenset[Node], sign: str) -> Node:
        if not node.type.is_number:
            raise self.written.fault(f"`{sign}` with {node.type.describe()}", "a number", at=format_node(node))
        self._require_present(node, surely, sign)
        return node

    def _require_list(self, node: Node, surely: frozenset[Node], sign: str) -> Node:
        if node.type.kinds != {"a list"}:
            raise self.written.fault(f"`{sign}` {node.type.describe()}", "a list", at=format_node(node))
        self._require_present(node, surely, sign)
        return node

    def _require_present(self, node: Node, surely: frozenset[Node], sign: str) -> None:
        if may_be_none(node, surely):
            node_text = format_node(node)
            hint = f"deal with that first: `{node_text} and …`, or in `when`"
            fault = self.written.fault(f"`{sign}` with `{node_text}`, which may be none", hint=hint, at=node_text)
            raise MayBeNoneError(fault.problems)

    def _require_text_to_be_possible_word(self, node: Node, kind: ValueType) -> None:
        """Refuse a text that is none of the words which the other side may be."""
        words = {word for word in kind.words if isinstance(word, str)}
        for operand in (node, *(node.items if isinstance(node, ListLiteral) else ())):
            value = operand.value if isinstance(operand, Constant) else None
            if isinstance(value, str) and words and str not in kind.scalars and value not in words:
                raise self.written.fault(f"`{value}`", kind.describe(), hint=did_you_mean_hint(value, words), at=value)

    def _find_word(self, node: jinja.Call | jinja.Filter | jinja.Test) -> VocabularyWord:
        kind = _WORD_KIND_BY_NODE[type(node)]
        name = getattr(node.node, "name", "") if isinstance(node, jinja.Call) else node.name
        if isinstance(node, jinja.Call) and not isinstance(node.node, jinja.Name):
            raise self.written.fault("a call of something that is no name", "a function of the vocabulary")
        if word := vocabulary().get((kind, name)):
            return word
        kinds = [sort for sort, word_name in vocabulary() if word_name == name]
        hint = known_word_hint(name, (word_name for sort, word_name in vocabulary() if sort == kind))
        raise self.written.fault(f"no {kind} `{name}`", hint=f"it is a {kinds[0]}" if kinds else hint, at=name)

    def _check_call(self, word: VocabularyWord, arguments: list[Node], surely: frozenset[Node]) -> Call:
        if not word.required <= len(arguments) <= len(word.parameters):
            expected = " and ".join(name for name, _ in word.parameters) or "nothing"
            hint = "a list needs its own brackets: `((1, 2))`" if word.kind == "test" else ""
            raise self.written.fault(f"`{word.name}` of {len(arguments)} things", expected, hint=hint, at=word.name)
        for (name, kind), node in zip(word.parameters, arguments, strict=False):
            if not accepts_argument(kind, node.type):
                found_text = f"{node.type.describe()} as {name} of `{word.name}`"
                raise self.written.fault(found_text, kind.describe(), at=format_node(node))
            if not kind.none:
                self._require_present(node, surely, word.name)
            self._require_text_to_be_possible_word(node, kind)
        return Call(word, tuple(arguments))


def _build_list_literal(items: list[Node]) -> ListLiteral:
    return ListLiteral(tuple(items), ValueType(element=reduce(join_types, (item.type for item in items), ValueType())))


def _may_equal(left: ValueType, right: ValueType) -> bool:
    """Whether values of the two types can ever be equal."""
    if left.anything or right.anything or not left.kinds or not right.kinds:
        return True
    if left.element is not None and right.element is not None:
        return _may_equal(left.element, right.element)
    return bool(left.kinds & right.kinds)


def accepts_argument(parameter_type: ValueType, argument_type: ValueType) -> bool:
    """Whether a parameter takes the given argument, None and UNKNOWN aside."""
    if parameter_type.anything:
        return True
    if parameter_type.element is not None and argument_type.element is not None:
        inside, needed = argument_type.element, parameter_type.element
        if not accepts_argument(needed, inside) or (inside.none and not needed.none):
            return False
    return not argument_type.anything and argument_type.kinds <= parameter_type.kinds


def _suggest_attribute(name: str, known_types: Mapping[str, ValueType]) -> str:
    """Return the attribute that was meant: one of the owner's, else one a step further down."""
    further = sorted(
        f"{step}.{inner}"
        for step, kind in known_types.items()
        for owner in kind.owners
        for inner in attributes_of(owner)
        if did_you_mean_hint(name, [inner])
    )
    if further and not did_you_mean_hint(name, known_types):
        return f"did you mean `{further[0]}`?"
    return known_word_hint(name, known_types)
