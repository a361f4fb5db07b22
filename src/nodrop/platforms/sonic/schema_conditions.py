"""The conditions of schema.yaml: comparisons of fields, with the meaning that XPath gives to what is absent.

A name is a field of the row, `T.r.f` and `T['r'].f` the field f of row r of table T, `T[f]` the row of T that field f
names. What is absent is less, more, equal and unequal to nothing; standing alone, a name asks whether it is there.
Functions are those of XPath by shorter names; `rows(T)` is the number of rows of table T.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nodrop.formats.shapes import mapping_at

Data = Mapping[str, object]
"""Tables by name, of any shape."""
Value = Any
_Evaluate = Callable[[Mapping[str, object], Data], Value]

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "contains": lambda text, part: part in text,
    "starts": lambda text, part: text.startswith(part),
    "length": len,
    "before": lambda text, part: text.partition(part)[0] if part in text else "",
    "after": lambda text, part: text.partition(part)[2],
    "part": lambda text, first, size: text[int(first) - 1 : int(first) - 1 + int(size)],
    "concat": lambda *texts: "".join(texts),
}
"""Functions of texts: contains, starts-with, string-length, substring-before, -after, substring and concat of XPath."""


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A condition on a row: where it applies, what it needs, and whether it holds."""

    subject: str
    """The field that has to be there for the condition to apply; `row` for always."""
    is_when: bool
    """Whether the subject may be left out, though required, where this does not hold."""
    text: str
    names: frozenset[str]
    """Fields of the row that it looks at."""
    tables: frozenset[str]
    """Tables that it looks at."""
    holds: Callable[[Mapping[str, object], Data], bool]


def condition_of(text: str) -> Condition:
    """Return the condition that a line of schema.yaml describes, without its releases; ValueError where none."""
    subject, when, said = text.partition(" when ")
    if not when or " " in subject:
        subject, _, said = text.partition(": ")
    names: set[str] = set()
    tables: set[str] = set()
    evaluate = _compiled(ast.parse(said, mode="eval").body, names, tables)

    def holds(row: Mapping[str, object], data: Data) -> bool:
        return _is_true(evaluate(row, data))

    return Condition(
        subject=subject,
        is_when=bool(when) and " " not in subject,
        text=said,
        names=frozenset(names),
        tables=frozenset(tables),
        holds=holds,
    )


def named_by_itself(condition: Condition) -> str | None:
    """Return the table of a condition `f: T[f]`, which is that f names a row of T; None for any other condition."""
    table, _, rest = condition.text.partition("[")
    return table if table.isidentifier() and rest == f"{condition.subject}]" else None


def _is_true(value: Value) -> bool:
    return value is not None and value is not False


def _compiled(node: ast.expr, names: set[str], tables: set[str]) -> _Evaluate:
    def inner(each: ast.expr) -> _Evaluate:
        return _compiled(each, names, tables)

    match node:
        case ast.Constant(value=constant):
            return lambda _row, _data: constant
        case ast.Name(id=name):
            return _own(name, names)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=table), attr=key), attr=name):
            tables.add(table)
            return lambda _row, data: _row_of(data, table, key).get(name)
        case ast.Attribute(value=ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(value=key)), attr=name):
            tables.add(table)
            return lambda _row, data: _row_of(data, table, key).get(name)
        case ast.Attribute(value=ast.Subscript(value=ast.Name(id=table), slice=named), attr=name):
            tables.add(table)
            key_of = inner(named)
            return lambda row, data: _row_of(data, table, key_of(row, data)).get(name)
        case ast.Attribute(value=ast.Name(id=table), attr=key):
            tables.add(table)
            return lambda _row, data: key in mapping_at(data, table)
        case ast.Subscript(value=ast.Name(id=table), slice=named):
            tables.add(table)
            key_of = inner(named)
            return lambda row, data: _has(data, table, key_of(row, data))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            denied = inner(operand)
            return lambda row, data: not _is_true(denied(row, data))
        case ast.BoolOp(op=op, values=values):
            parts, every = [inner(value) for value in values], isinstance(op, ast.And)
            quantifier = all if every else any
            return lambda row, data: quantifier(_is_true(part(row, data)) for part in parts)
        case ast.BinOp(left=left, op=op, right=right):
            one, other, arithmetic = inner(left), inner(right), _ARITHMETIC[type(op)]
            return lambda row, data: _calculated(arithmetic, one(row, data), other(row, data))
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Tuple(elts=choices)]):
            one, words, wanted = inner(left), {ast.literal_eval(each) for each in choices}, isinstance(op, ast.In)
            return lambda row, data: (found := one(row, data)) is not None and (str(found) in words) is wanted
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            one, other, compare = inner(left), inner(right), _COMPARE[type(op)]
            numeric = not isinstance(op, ast.Eq | ast.NotEq)
            return lambda row, data: _compared(compare, numeric, one(row, data), other(row, data))
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)]):
            tables.add(table)
            return lambda _row, data: len(mapping_at(data, table))
        case ast.Call(func=ast.Name(id="count"), args=[several]):
            one = inner(several)
            return lambda row, data: _number_of(one(row, data))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            function, texts = _FUNCTIONS[name], [inner(each) for each in arguments]
            return lambda row, data: function(*(_text(each(row, data)) for each in texts))
    raise ValueError(ast.unparse(node))


def _own(name: str, names: set[str]) -> _Evaluate:
    """Return the field of a row; one that is written with hyphens stands with underscores in a condition."""
    names.add(name)
    hyphened = name.replace("_", "-")
    return lambda row, _data: row.get(name, row.get(hyphened))


def _text(value: Value) -> str:
    return "" if value is None else str(value)


def _number_of(value: Value) -> int:
    """Return how many values a list has; one where it is a single value, and none where it is absent."""
    return len(value) if isinstance(value, list) else int(value is not None)


def _row_of(data: Data, table: str, key: Value) -> Mapping[str, object]:
    return mapping_at(data, table, str(key))


def _has(data: Data, table: str, key: Value) -> bool:
    """Whether a table has a row of this key, or whose key ends with it."""
    rows = mapping_at(data, table)
    return key in rows or any(each.endswith(f"|{key}") for each in rows)


def _compared(compare: Callable[[Any, Any], bool], numeric: bool, one: Value, other: Value) -> bool:
    if one is None or other is None:
        return False
    if numeric or isinstance(one, float | int) or isinstance(other, float | int):
        left, right = _number(one), _number(other)
        return left is not None and right is not None and compare(left, right)
    return compare(str(one), str(other))


def _calculated(calculate: Callable[[float, float], float], one: Value, other: Value) -> float | None:
    left, right = _number(one), _number(other)
    return None if left is None or right is None else calculate(left, right)


def _number(value: Value) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
