"""Python out of typed expressions: one function per rule, which checks all items that it is given in one loop.

    def check_items(items, n_fabric, n_options, index):
        outcomes = []
        for n_device, n_interface in items:
            try:
                outcomes.append(bool((WHEN) and not (ASSERT)))
            except Exception as why:
                outcomes.append(why)
        return outcomes

Only checked nodes come here: names are the scope's, behind `n_`; attributes are the model's; options and facts are
keys; constants are written by `repr`; words are reached as `w0`, `w1` …. There are no builtins, and nothing else to
name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nodrop.engine.nodes import (
    Arithmetic,
    Attribute,
    Call,
    Compare,
    Constant,
    IsNone,
    ListLiteral,
    Logic,
    Name,
    Negative,
    Node,
    Not,
    format_node,
    may_be_none,
)
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.model.types import RecordType

ItemOutcome = bool | Exception
"""What became of one item: whether it is at fault, or the UnknownFact, with its path, or crash that left it open."""


class UnknownFactAtPath(UnknownFact):
    """An UNKNOWN fact, by its path."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)


def compile_check(
    names: Sequence[str], constants: Sequence[str], when: Node | None, claim: Node
) -> Callable[..., list[ItemOutcome]]:
    """Return the function that checks items, tuples in the order of `names`; it takes constants and index too."""
    source = _PythonSource()
    condition = " and ".join(
        f"({term})"
        for term in [
            *([source.python_expression_of_node(when)] if when else []),
            f"not {source.python_expression_of_node(claim)}",
        ]
    )
    return source.compiled(
        "check_items",
        [
            f"def check_items(items, {_format_parameters(constants)}index):",
            "    outcomes = []",
            f"    for ({_format_parameters(names)}) in items:",
            "        try:",
            f"            outcomes.append(bool({condition}))",
            "        except Exception as why:",
            "            outcomes.append(why)",
            "    return outcomes",
        ],
    )


def compile_value(names: Iterable[str], node: Node) -> Callable[..., Any]:
    """Return the function that gives the value of one expression; it takes the names in order and the index."""
    source = _PythonSource()
    body = source.python_expression_of_node(node)
    return source.compiled("value", [f"def value({_format_parameters(names)}index):", f"    return {body}"])


def _format_parameters(names: Iterable[str]) -> str:
    return "".join(f"n_{name}, " for name in names)


@dataclass(slots=True)
class _PythonSource:
    """Python source as it grows: the temporary names that it has used, and its references to the outside."""

    temporaries: int = 0
    outside: dict[str, object] = field(
        default_factory=lambda: {
            "__builtins__": {},
            "UNKNOWN": UNKNOWN,
            "Exception": Exception,
            "bool": bool,
            "known": _raise_missing,
            "property_of": _read_property,
        }
    )

    def compiled(self, name: str, lines: list[str]) -> Callable[..., Any]:
        """Return the function `name` that the lines define."""
        code = compile("\n".join(lines), f"<rule: {name}>", "exec", dont_inherit=True)
        exec(code, self.outside)  # noqa: S102 -- the source is ours, made of whitelisted nodes
        function: Callable[..., object] = self.outside[name]  # type: ignore[assignment]
        return function

    def python_expression_of_node(self, node: Node, *, lenient: bool = False) -> str:
        """Return the node as a Python expression in brackets; where `lenient`, UNKNOWN is passed on and not raised."""
        match node:
            case Constant():
                return f"({node.value!r})"
            case Name():
                return f"n_{node.name}"
            case Attribute():
                return self.python_expression_of_attribute(node, lenient=lenient)
            case ListLiteral():
                return f"({''.join(f'{self.python_expression_of_node(item)}, ' for item in node.items)})"
            case Not():
                return f"(not {self.python_expression_of_node(node.node)})"
            case Negative():
                return f"(-{self.python_expression_of_node(node.node)})"
            case Logic():
                left, right = map(self.python_expression_of_node, (node.left, node.right))
                return f"({left} {node.word} {right})"
            case Compare():
                remainder = " ".join(f"{sign} {self.python_expression_of_node(right)}" for sign, right in node.rest)
                return f"({self.python_expression_of_node(node.first)} {remainder})"
            case Arithmetic():
                left, right = map(self.python_expression_of_node, (node.left, node.right))
                return f"({left} {node.sign} {right})"
            case IsNone():
                return f"({self.python_expression_of_node(node.node)} is None)"
            case Call():
                return self.python_expression_of_call(node, lenient=lenient)

    def python_expression_of_attribute(self, node: Attribute, *, lenient: bool) -> str:
        """Return an attribute; of None it is None, and UNKNOWN is raised where it is met."""
        owner = self.python_expression_of_node(node.of, lenient=lenient)
        stops = [*(["None"] if may_be_none(node.of) else []), *(["UNKNOWN"] if lenient else [])]
        guard = ""
        if stops:
            kept_temporary = self.new_temporary_name()
            tests = [
                f"({kept_temporary} := {owner}) is {stops[0]}",
                *(f"{kept_temporary} is {stop}" for stop in stops[1:]),
            ]
            owner, guard = kept_temporary, f"{kept_temporary} if {' or '.join(tests)} else "
        read = f"{owner}.{node.name}"
        if isinstance(node.of.type.owners[0], RecordType):
            read = f"{owner}[{node.name!r}]"
        elif node.reads_property:
            read = f"property_of({owner}, {node.name!r}, {format_node(node)!r}, {lenient})"
        if node.type.unknown and not lenient:
            read = self.expression_raising_if_unknown(read, format_node(node))
        return f"({guard}{read})"

    def python_expression_of_call(self, node: Call, *, lenient: bool) -> str:
        """Return a word with its arguments; a parameter that may be UNKNOWN is given it."""
        name = f"w{len(self.outside)}"
        self.outside[name] = _wrap_word_to_name_missing(node.word.function, format_node(node), lenient=lenient)
        arguments = [
            self.python_expression_of_node(argument, lenient=kind.unknown)
            for argument, (_, kind) in zip(node.arguments, node.word.parameters, strict=False)
        ]
        called = f"{name}({', '.join([*arguments, *(['index=index'] if node.word.indexed else [])])})"
        return (
            self.expression_raising_if_unknown(called, format_node(node))
            if node.type.unknown and not lenient
            else called
        )

    def expression_raising_if_unknown(self, read: str, path: str) -> str:
        """Return the value that was read; raise if it is UNKNOWN."""
        kept_temporary = self.new_temporary_name()
        return f"({kept_temporary} if ({kept_temporary} := {read}) is not UNKNOWN else known({path!r}))"

    def new_temporary_name(self) -> str:
        """Return a name that nothing else has."""
        self.temporaries += 1
        return f"t{self.temporaries}"


def _raise_missing(path: str) -> NoReturn:
    raise UnknownFactAtPath(path) from None


def _read_property(owner: object, name: str, path: str, lenient: bool) -> object:
    """Return a property, which meets UNKNOWN without knowing its own path."""
    try:
        return getattr(owner, name)
    except UnknownFact:
        return UNKNOWN if lenient else _raise_missing(path)


def _wrap_word_to_name_missing(
    function: Callable[..., object], written_text: str, *, lenient: bool
) -> Callable[..., object]:
    """Return a word that names the missing fact: its own text, else the call as it is written."""

    def ask(*arguments: object, **index: object) -> object:
        try:
            return function(*arguments, **index)
        except UnknownFact as unknown:
            return UNKNOWN if lenient else _raise_missing(str(unknown) or written_text)

    return ask
