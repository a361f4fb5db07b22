"""An expression of a rule after its check: a tree whose every node has a type, and facts about it.

`format_node` is the node as written in a rule, `paths_read_by` the paths of the model that it reads, `facts_used_by`
the facts that it rests on, and `nodes_not_none` the nodes that are surely not None once it is known to hold, or not to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nodrop.engine.vocabulary import VocabularyWord
from nodrop.model.types import (
    BOOLEAN_TYPE,
    NONE_TYPE,
    NUMBER_TYPE,
    ValueType,
    is_property,
    join_types,
    source_fields_of,
)

ModelPath = tuple[str, ...]
Comparison = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
ArithmeticSign = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, true, false or none."""

    value: str | int | float | bool | None
    type: ValueType


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the scope: `interface`, `fabric`, `options`."""

    name: str
    type: ValueType


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute; of nothing it is None."""

    of: "Node"
    name: str
    type: ValueType

    @property
    def reads_property(self) -> bool:
        """Whether it is a property, which may meet UNKNOWN during its evaluation."""
        return any(is_property(owner, self.name) for owner in self.of.type.owners)


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A list written out."""

    items: "tuple[Node, ...]"
    type: ValueType


@dataclass(frozen=True, slots=True)
class Not:
    """Negated truth."""

    node: "Node"
    type: ValueType = BOOLEAN_TYPE


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with its sign changed."""

    node: "Node"
    type: ValueType = NUMBER_TYPE


@dataclass(frozen=True, slots=True)
class Logic:
    """`left and right`, `left or right`; as in Python it is the side that decided."""

    word: Literal["and", "or"]
    left: "Node"
    right: "Node"

    @property
    def type(self) -> ValueType:
        """What either side may be."""
        return join_types(self.left.type, self.right.type)


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison, or a chain of them: `0 < x <= y`."""

    first: "Node"
    rest: "tuple[tuple[Comparison, Node], ...]"
    type: ValueType = BOOLEAN_TYPE


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two numbers and a sign."""

    sign: ArithmeticSign
    left: "Node"
    right: "Node"
    type: ValueType = NUMBER_TYPE


@dataclass(frozen=True, slots=True)
class IsNone:
    """`node is none`."""

    node: "Node"
    type: ValueType = BOOLEAN_TYPE


@dataclass(frozen=True, slots=True)
class Call:
    """A word of the vocabulary with its arguments."""

    word: VocabularyWord
    arguments: "tuple[Node, ...]"

    @property
    def type(self) -> ValueType:
        """Return the type of the word's result."""
        return self.word.result


Node = Constant | Name | Attribute | ListLiteral | Not | Negative | Logic | Compare | Arithmetic | IsNone | Call


def child_nodes(node: Node) -> tuple[Node, ...]:
    """Return the nodes right below, in order of evaluation."""
    match node:
        case Constant() | Name():
            return ()
        case Attribute():
            return (node.of,)
        case ListLiteral():
            return node.items
        case Not() | Negative() | IsNone():
            return (node.node,)
        case Logic() | Arithmetic():
            return (node.left, node.right)
        case Compare():
            return (node.first, *(right for _, right in node.rest))
        case Call():
            return node.arguments


def walk_nodes(node: Node) -> Iterator[Node]:
    """Return the node and all below it."""
    yield node
    for child in child_nodes(node):
        yield from walk_nodes(child)


def format_node(node: Node) -> str:
    """Render the node as an expression."""
    match node:
        case Constant(value=value):
            return str(value).lower() if value is None or isinstance(value, bool) else repr(value)
        case Name():
            return node.name
        case Attribute():
            return f"{format_node(node.of)}.{node.name}"
        case ListLiteral():
            return f"({', '.join(map(format_node, node.items))})"
        case Not():
            return f"not {format_node(node.node)}"
        case Negative():
            return f"-{format_node(node.node)}"
        case IsNone():
            return f"{format_node(node.node)} is none"
        case Logic(word=sign) | Arithmetic(sign=sign):
            return f"({format_node(node.left)} {sign} {format_node(node.right)})"
        case Compare():
            comparisons = (f"{sign} {format_node(right)}" for sign, right in node.rest)
            return f"({' '.join([format_node(node.first), *comparisons])})"
        case Call(word=VocabularyWord(kind="function", name=name)):
            return f"{name}({', '.join(map(format_node, node.arguments))})"
        case Call():
            subject, *argument_texts = map(format_node, node.arguments)
            argument_list = f"({', '.join(argument_texts)})" if argument_texts else ""
            return f"{subject} {'|' if node.word.kind == 'filter' else 'is'} {node.word.name}{argument_list}"


def format_without_brackets(node: Node) -> str:
    """Render the node alone, without the outermost brackets."""
    written = format_node(node)
    return written[1:-1] if isinstance(node, Compare | Logic | Arithmetic) else written


def model_path_of(node: Node) -> ModelPath | None:
    """Return the path that a name with attributes is: ("interface", "qos", "trust"); None for any other node."""
    if isinstance(node, Name):
        return (node.name,)
    if isinstance(node, Attribute) and (before := model_path_of(node.of)) is not None:
        return (*before, node.name)
    return None


def paths_read_by(node: Node) -> frozenset[ModelPath]:
    """Return the paths that the node reads, the longest ones only; a property and the fields behind it."""
    paths = model_path_of(node)
    if paths is None:
        return frozenset().union(*map(paths_read_by, child_nodes(node)))
    return frozenset({paths}) | stored_field_paths(node)


def deciding_paths_of(node: Node) -> frozenset[ModelPath]:
    """Return the paths that decide the value of the node: as `paths_read_by`, but no more than words say they read.

    Of a part that a word receives whole, those are the fields in its `fields_read`, if it declares any.
    """
    if model_path_of(node) is not None:
        return paths_read_by(node)
    if not isinstance(node, Call):
        return frozenset().union(*map(deciding_paths_of, child_nodes(node)))
    names = (name for name, _ in node.word.parameters)
    arguments = zip(names, node.arguments, strict=False)
    return frozenset().union(*(_deciding_paths_of_argument(node.word, *argument) for argument in arguments))


def _deciding_paths_of_argument(word: VocabularyWord, parameter: str, argument: Node) -> frozenset[ModelPath]:
    fields, path = word.fields_read.get(parameter, ()), model_path_of(argument)
    if not fields or path is None:
        return deciding_paths_of(argument)
    return frozenset((*path, field) for field in fields) | stored_field_paths(argument)


def stored_field_paths(node: Node) -> frozenset[ModelPath]:
    """Return the paths of the fields that a path reads, where a step of it is a property."""
    if not isinstance(node, Attribute):
        return frozenset()
    fields = frozenset().union(*(source_fields_of(owner, node.name) for owner in node.of.type.owners))
    before = model_path_of(node.of) or ()
    return frozenset((*before, field) for field in fields if field != node.name) | stored_field_paths(node.of)


def facts_used_by(node: Node) -> Iterator[Attribute | Call]:
    """Return the facts that the node rests on: attributes of the model, and what functions answer."""
    if isinstance(node, Attribute) or (isinstance(node, Call) and node.word.kind == "function"):
        yield node
    else:
        for child in child_nodes(node):
            yield from facts_used_by(child)


def paths_read_whole(node: Node) -> frozenset[ModelPath]:
    """Return the paths whose values a word receives whole; it may read anything below them."""
    calls = [inner_node for inner_node in walk_nodes(node) if isinstance(inner_node, Call)]
    whole_arguments = [argument for call in calls for argument in call.arguments if not argument.type.is_scalar]
    return frozenset().union(*map(paths_read_by, whole_arguments))


def may_be_none(node: Node, not_none_nodes: frozenset[Node] = frozenset()) -> bool:
    """Whether the node may be None, where those in `not_none_nodes` are not."""
    if node in not_none_nodes:
        return False
    match node:
        case Attribute():
            return node.type.none or may_be_none(node.of, not_none_nodes)
        case Logic():
            return may_be_none(node.right, not_none_nodes) or (
                node.word == "and" and may_be_none(node.left, not_none_nodes)
            )
        case Constant() | Name() | Call():
            return node.type.none
        case _:
            return False


def nodes_not_none(node: Node, *, holds: bool) -> frozenset[Node]:
    """Return the nodes that are surely not None where `node` counts as true, or (`holds=False`) as false."""
    match node:
        case Not():
            return nodes_not_none(node.node, holds=not holds)
        case Logic(word=word):
            left, right = nodes_not_none(node.left, holds=holds), nodes_not_none(node.right, holds=holds)
            return left | right if (word == "and") == holds else left & right
        case IsNone():
            return frozenset() if holds else _node_and_owners(node.node)
        case Compare(rest=((sign, right),)):
            return _nodes_not_none_by_comparison(node.first, sign, right, holds=holds)
        case Compare():
            return frozenset()
        case _:
            return _node_and_owners(node) if holds else frozenset()


def _nodes_not_none_by_comparison(
    left_operand: Node, sign: Comparison, right_operand: Node, *, holds: bool
) -> frozenset[Node]:
    holds = holds != (sign in ("!=", "not in"))
    present_nodes = _node_and_owners(left_operand) | _node_and_owners(right_operand)
    if sign in ("==", "!="):
        if NONE_TYPE in (left_operand.type, right_operand.type):
            return frozenset() if holds else present_nodes
        return (
            present_nodes if holds and not (may_be_none(left_operand) and may_be_none(right_operand)) else frozenset()
        )
    if sign in ("in", "not in") and holds:
        inside = right_operand.type.element
        return _node_and_owners(right_operand) if inside is None or inside.none else present_nodes
    return frozenset()


def _node_and_owners(node: Node) -> frozenset[Node]:
    """Return the node and its owners: where an attribute is not None, its owner is not."""
    return frozenset({node}) | (_node_and_owners(node.of) if isinstance(node, Attribute) else frozenset())
