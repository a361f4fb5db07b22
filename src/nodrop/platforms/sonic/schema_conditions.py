"""The conditions of schema.yaml: comparisons of fields, with XPath's meaning for absent values.

A name is a field of the row, `T.r.f` and `T['r'].f` the field f of row r of table T, `T[f]` the row of T that field f
names. An absent value is never less than, more than, equal or unequal to anything; a name alone asks whether it exists.
Functions are those of XPath by shorter names; `rows(T)` is the number of rows of table T, `rows(T, f=g)` that of the
rows whose field f is field g of this row, and `count(f, 'a')` how many values of list f are `a`.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodrop.syntax.shapes import mapping_at

ConditionValue = Any
GetCompletedRow = Callable[[str, str, Mapping[str, object] | None], Mapping[str, object]]
"""Returns the row of a table and key as conditions see it, from its values; None for a row that is absent."""

_FUNCTION_BY_COMPARISON: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTION_BY_OPERATOR: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_CONDITION_FUNCTION_BY_NAME: dict[str, Callable[..., ConditionValue]] = {
    "contains": lambda text, substring: substring in text,
    "starts": lambda text, part: text.startswith(part),
    "length": len,
    "before": lambda text, part: text.partition(part)[0] if part in text else "",
    "after": lambda text, part: text.partition(part)[2],
    "part": lambda text, start, size: text[int(start) - 1 : int(start) - 1 + int(size)],
    "concat": lambda *texts: "".join(texts),
}
"""Functions of texts: contains, starts-with, string-length, substring-before, -after, substring and concat of XPath."""


class ConditionTables:
    """The tables of a configuration as conditions see them: rows with their keys and defaults."""

    def __init__(self, data: Mapping[str, object], complete_row: GetCompletedRow) -> None:
        """Take tables by name, of any shape."""
        self._data = data
        self._whole = complete_row
        self._rows: dict[tuple[str, str], Mapping[str, object]] = {}
        self._counts: dict[tuple[str, tuple[str, ...]], Counter[tuple[ConditionValue, ...]]] = {}

    def rows_by_key(self, table: str) -> Mapping[str, object]:
        """Return the content of a table by key."""
        return mapping_at(self._data, table)

    def has_row_with_key(self, table: str, key: ConditionValue) -> bool:
        """Whether a table has a row of this key, or whose key ends with it."""
        rows = self.rows_by_key(table)
        return key in rows or any(row.endswith(f"|{key}") for row in rows)

    def row(self, table: str, key: str) -> Mapping[str, object]:
        """Return a row; of one that is absent its defaults, if the table names it."""
        at = (table, key)
        if at not in self._rows:
            values = mapping_at(self._data, *at) if key in self.rows_by_key(table) else None
            self._rows[at] = self._whole(table, key, values)
        return self._rows[at]

    def count_rows_with_values(self, table: str, row_values: Mapping[str, ConditionValue]) -> int:
        """Return the number of rows that have these values; an absent value equals none."""
        names = tuple(row_values)
        if (table, names) not in self._counts:
            rows = (self.row(table, key) for key in self.rows_by_key(table))
            self._counts[table, names] = Counter(tuple(_field_value(row, name) for name in names) for row in rows)
        values = tuple(row_values.values())
        return 0 if None in values else self._counts[table, names][values]


_EvaluateCondition = Callable[[Mapping[str, object], ConditionTables], ConditionValue]


@dataclass(frozen=True, slots=True, eq=False)
class RowCondition:
    """A condition on a row: where it applies, its requirements, and whether it is met."""

    subject: str
    """The field that has to be there for the condition to apply; `row` for always."""
    is_when: bool
    """Whether the subject may be left out, though required, where this does not hold."""
    text: str
    names: frozenset[str]
    """Fields of the row that it looks at."""
    tables: frozenset[str]
    """Tables that it looks at."""
    holds: Callable[[Mapping[str, object], ConditionTables], bool]


def parse_condition(value_text: str) -> RowCondition:
    """Return the condition that a line of schema.yaml describes, without its releases; ValueError where none."""
    subject, when, expression = value_text.partition(" when ")
    if not when or " " in subject:
        subject, _, expression = value_text.partition(": ")
    names: set[str] = set()
    tables: set[str] = set()
    evaluate = _compile_condition(ast.parse(expression, mode="eval").body, names, tables)

    def holds(row: Mapping[str, object], data: ConditionTables) -> bool:
        return _is_true(evaluate(row, data))

    return RowCondition(
        subject=subject,
        is_when=bool(when) and " " not in subject,
        text=expression,
        names=frozenset(names),
        tables=frozenset(tables),
        holds=holds,
    )


def table_referenced_by_condition(condition: RowCondition) -> str | None:
    """Return the table of a condition `f: T[f]`, which is that f names a row of T; None for any other condition."""
    table, _, remainder = condition.text.partition("[")
    return table if table.isidentifier() and remainder == f"{condition.subject}]" else None


def _is_true(value: ConditionValue) -> bool:
    return value is not None and value is not False


def _compile_condition(node: ast.expr, names: set[str], tables: set[str]) -> _EvaluateCondition:
    def inner(expr: ast.expr) -> _EvaluateCondition:
        return _compile_condition(expr, names, tables)

    match node:
        case ast.Constant(value=constant):
            return lambda _row, _data: constant
        case ast.Name(id=name):
            return _field_evaluator(name, names)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=table), attr=key), attr=name):
            tables.add(table)
            return lambda _row, data: data.row(table, key).get(name)
        case ast.Attribute(value=ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(value=word)), attr=name):
            tables.add(table)
            return lambda _row, data: data.row(table, str(word)).get(name)
        case ast.Attribute(value=ast.Subscript(value=ast.Name(id=table), slice=named), attr=name):
            tables.add(table)
            key_of = inner(named)
            return lambda row, data: data.row(table, str(key_of(row, data))).get(name)
        case ast.Attribute(value=ast.Name(id=table), attr=key):
            tables.add(table)
            return lambda _row, data: key in data.rows_by_key(table)
        case ast.Subscript(value=ast.Name(id=table), slice=named):
            tables.add(table)
            key_of = inner(named)
            return lambda row, data: data.has_row_with_key(table, key_of(row, data))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            denied = inner(operand)
            return lambda row, data: not _is_true(denied(row, data))
        case ast.BoolOp(op=op, values=values):
            clauses, every = [inner(value) for value in values], isinstance(op, ast.And)
            quantifier = all if every else any
            return lambda row, data: quantifier(_is_true(clause(row, data)) for clause in clauses)
        case ast.BinOp(left=left, op=op, right=right):
            term, other_term, arithmetic = inner(left), inner(right), _FUNCTION_BY_OPERATOR[type(op)]
            return lambda row, data: _calculate_if_numeric(arithmetic, term(row, data), other_term(row, data))
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Tuple(elts=choices)]):
            term, words, is_in = inner(left), {ast.literal_eval(choice) for choice in choices}, isinstance(op, ast.In)
            return lambda row, data: (term_value := term(row, data)) is not None and (str(term_value) in words) is is_in
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            term, other_term, compare = inner(left), inner(right), _FUNCTION_BY_COMPARISON[type(op)]
            numeric = not isinstance(op, ast.Eq | ast.NotEq)
            return lambda row, data: _compare_values(compare, numeric, term(row, data), other_term(row, data))
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)], keywords=[]):
            tables.add(table)
            return lambda _row, data: len(data.rows_by_key(table))
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)], keywords=searched):
            tables.add(table)
            asked = {str(keyword.arg): inner(keyword.value) for keyword in searched}
            return lambda row, data: data.count_rows_with_values(
                table, {name: value(row, data) for name, value in asked.items()}
            )
        case ast.Call(func=ast.Name(id="count"), args=[several, *choices]):
            term, options = inner(several), {ast.literal_eval(choice) for choice in choices}
            return lambda row, data: sum(not options or value in options for value in _as_values(term(row, data)))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _CONDITION_FUNCTION_BY_NAME:
            function, texts = _CONDITION_FUNCTION_BY_NAME[name], [inner(argument) for argument in arguments]
            return lambda row, data: function(*(_text_of_value(text_term(row, data)) for text_term in texts))
    raise ValueError(ast.unparse(node))


def _field_evaluator(name: str, names: set[str]) -> _EvaluateCondition:
    """Return the field of a row; one that is written with hyphens stands with underscores in a condition."""
    names.add(name)
    return lambda row, _data: _field_value(row, name)


def _field_value(table_row: Mapping[str, object], name: str) -> ConditionValue:
    return table_row.get(name, table_row.get(name.replace("_", "-")))


def _text_of_value(value: ConditionValue) -> str:
    return "" if value is None else str(value)


def _as_values(value: ConditionValue) -> Iterable[ConditionValue]:
    """Return the values of a list; that of a single value, and none where it is absent."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _compare_values(
    compare: Callable[[Any, Any], bool], numeric: bool, left_value: ConditionValue, right_value: ConditionValue
) -> bool:
    if left_value is None or right_value is None:
        return False
    if numeric or isinstance(left_value, float | int) or isinstance(right_value, float | int):
        left_number, right = _parse_number(left_value), _parse_number(right_value)
        return left_number is not None and right is not None and compare(left_number, right)
    return compare(str(left_value), str(right_value))


def _calculate_if_numeric(
    calculate: Callable[[float, float], float], left_value: ConditionValue, right_value: ConditionValue
) -> float | None:
    left_number, right = _parse_number(left_value), _parse_number(right_value)
    return None if left_number is None or right is None else calculate(left_number, right)


def _parse_number(value: ConditionValue) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
