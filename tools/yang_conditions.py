"""The must and when statements of YANG models, as conditions of schema.yaml.

An expression of XPath becomes one of Python's syntax, which platforms/sonic/schema_conditions.py reads. What has no
such form raises Unsaid.
"""

import ast
import keyword
from collections.abc import Iterator
from dataclasses import dataclass, replace

from yang_paths import Expression, Node, Unsaid, child_of, parent_of, parsed, top_of

_COMPARE: dict[str, type[ast.cmpop]] = {
    "=": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
_ARITHMETIC: dict[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult}
_FUNCTIONS = {
    "contains": ("contains", 2),
    "string-length": ("length", 1),
    "starts-with": ("starts", 2),
    "substring-before": ("before", 2),
    "substring-after": ("after", 2),
    "substring": ("part", 3),
    "concat": ("concat", 2),
}
"""Functions of XPath that the conditions have: their name there, and how many arguments they take."""


def condition(text: str, context: Node) -> str:
    """Return the condition that an expression states where it is read at a leaf or row; Unsaid where none says it."""
    return ast.unparse(ast.fix_missing_locations(_Reader(context).truth(parsed(text))))


@dataclass(frozen=True)
class _Target:
    """Where a path leads: to a field of the row that is read, or to a row of a table, or a field of that."""

    field: str | None
    """None for the row itself."""
    table: str | None = None
    """None for the row that is read."""
    key: ast.expr | None = None
    """What names the row; None for all rows of the table."""
    search: tuple[tuple[str, ast.expr], ...] = ()
    """What fields of the rows have to be equal to, where that is not what names one row."""
    choices: tuple[str, ...] = ()
    """Values, one of which the field has; of a list, those that are meant."""
    is_list: bool = False
    """Whether the field has several values."""
    is_only: bool = False
    """Whether the table has rows of one shape."""


class _Reader:
    def __init__(self, context: Node) -> None:
        self._context = context
        self._row = parent_of(context) if context.keyword in ("leaf", "leaf-list") else context
        self._is_table = context.keyword == "container" and context.parent.parent.keyword == "module"

    def truth(self, node: Expression) -> ast.expr:
        """Return the expression for a truth value; a path asks whether something is there."""
        match _bare(node):
            case ("bool", "or" | "and" as op, left, right):
                return _together(ast.Or() if op == "or" else ast.And(), [self.truth(left), self.truth(right)])
            case ("comp", op, left, right):
                return self._compared(op, left, right)
            case ("function_call", "not", [inner]):
                return ast.UnaryOp(ast.Not(), self.truth(inner))
            case ("function_call", "boolean", [inner]):
                return self.truth(inner)
            case ("function_call", "contains" | "starts-with", _) as call:
                return self._value(call)
            case bare if (target := self._target(bare)) is not None:
                if target.search:
                    return ast.Compare(_number_of(target), [ast.Gt()], [ast.Constant(0)])
                return _asked(target)
            case bare:
                raise Unsaid(_named(bare))

    def _compared(self, op: str, left: Expression, right: Expression) -> ast.expr:
        for one, other, wanted in ((left, right, op), (right, left, op.translate(str.maketrans("<>", "><")))):
            target = self._target(_bare(one))
            if target is not None and target.table and _is_key(target) and not target.search:
                if wanted != "=":
                    raise Unsaid(f"`{wanted}` with all rows of {target.table}")
                key = self._value(other)
                if target.key is not None and ast.dump(target.key) != ast.dump(key):
                    raise Unsaid(f"two names of a row of {target.table}")
                return _asked(_Target(None, target.table, key))
        return ast.Compare(self._value(left), [_COMPARE[op]()], [self._value(right)])

    def _counted(self, counted: Expression) -> ast.expr:
        """Return the number of values of a list of the row, or of rows of a table that has one shape of rows."""
        target = self._target(_bare(counted))
        if target is None:
            raise Unsaid("count() of a single value")
        if target.table is None and target.is_list:
            choices = [ast.Constant(each) for each in target.choices]
            return ast.Call(ast.Name("count"), [_asked(replace(target, choices=())), *choices], [])
        if target.table is not None and target.field is None and target.key is None:
            return _number_of(target)
        raise Unsaid("count() of this")

    def _value(self, node: Expression) -> ast.expr:
        match _bare(node):
            case ("literal", text):
                return ast.Constant(text[1:-1])
            case ("number", text):
                return ast.Constant(float(text) if "." in text else int(text))
            case ("arith", op, left, right) if op in _ARITHMETIC:
                return ast.BinOp(self._value(left), _ARITHMETIC[op](), self._value(right))
            case ("function_call", "count", [counted]):
                return self._counted(counted)
            case ("function_call", "number", [inner]):
                return self._value(inner)
            case ("function_call", name, arguments) if name in _FUNCTIONS:
                called, number = _FUNCTIONS[name]
                if len(arguments) != number:
                    raise Unsaid(f"{name} of {len(arguments)} arguments")
                return ast.Call(ast.Name(called), [self._value(each) for each in arguments], [])
            case bare if (target := self._target(bare)) is not None:
                if target.field is None or target.choices or target.is_list:
                    raise Unsaid("the value of a row or list")
                return _asked(target)
            case bare:
                raise Unsaid(_named(bare))

    def _target(self, node: Expression) -> _Target | None:
        """Return where a path leads; None for a value that is no path."""
        match node:
            case ("relative", steps):
                return self._walked(self._context, steps)
            case ("absolute", [first, *steps]):
                return self._walked(top_of(self._context, first[2][-1]), steps)
            case ("function_call", "current", []):
                return self._walked(self._context, [])
            case [("function_call", "current", []), *steps]:
                return self._walked(self._context, steps)
        return None

    def _walked(self, node: Node, steps: Expression) -> _Target:
        key: ast.expr | None = None
        search: tuple[tuple[str, ast.expr], ...] = ()
        choices: tuple[str, ...] = ()
        is_own = not self._is_table and node in (self._row, self._context)
        for _, axis, test, predicates in steps:
            if axis == "self":
                continue
            if axis == "parent":
                node = parent_of(node)
                is_own = is_own and node is self._row
            elif axis == "child":
                node = child_of(node, test[-1])
            else:
                raise Unsaid(f"axis {axis}")
            if predicates and node.keyword == "list" and key is None:
                key, search = self._searched(node, predicates)
            elif predicates and node.keyword in ("leaf", "leaf-list"):
                choices = _choices(predicates)
            elif predicates:
                raise Unsaid(f"a predicate on {node.keyword} {node.arg}")
        field = node.arg if node.keyword in ("leaf", "leaf-list") else None
        if is_own:
            return _Target(field, choices=choices, is_list=node.keyword == "leaf-list")
        row = parent_of(node) if field else node
        table = parent_of(row)
        parent_of(table)
        if row.keyword == "container":
            key = ast.Constant(row.arg)
        elif len(row.i_key) > 1 and field not in (None, *(each.arg for each in row.i_key)):
            raise Unsaid(f"a field of {table.arg}, which has a key of {len(row.i_key)} parts")
        elif field in [each.arg for each in row.i_key]:
            field = None
        if choices or node.keyword == "leaf-list":
            raise Unsaid(f"values of {table.arg}.{node.arg}")
        shapes = [each for each in table.i_children if each.keyword in ("list", "container")]
        return _Target(field, table.arg, key, search, is_only=len(shapes) == 1)

    def _searched(self, row: Node, predicates: Expression) -> tuple[ast.expr | None, tuple[tuple[str, ast.expr], ...]]:
        """Return what names a row, `[key = ...]` with the last part of its key; or else what fields are equal to."""
        wanted = [one for each in predicates for one in self._equalities(row, each)]
        if [name for name, _ in wanted] == [row.i_key[-1].arg]:
            return wanted[0][1], ()
        return None, tuple((_identifier(name.replace("-", "_")), value) for name, value in wanted)

    def _equalities(self, row: Node, predicate: Expression) -> Iterator[tuple[str, ast.expr]]:
        """Yield the fields of a row and what each has to be: `[name = current() and mode = 'a']`."""
        match _bare(predicate):
            case ("bool", "and", left, right):
                yield from self._equalities(row, left)
                yield from self._equalities(row, right)
            case ("comp", "=", ("relative", [("step", "child", test, [])]), other) if _bare(other)[0] != "relative":
                yield child_of(row, test[-1]).arg, self._value(other)
            case _:
                raise Unsaid(f"a search of {row.arg}")


def _bare(node: Expression) -> Expression:
    while isinstance(node, tuple) and node[0] == "path_expr" and len(node) == 2:
        node = node[1]
    return node


def _named(node: Expression) -> str:
    return f"{node[1]}()" if node[0] == "function_call" else str(node[0])


def _choices(predicates: Expression) -> tuple[str, ...]:
    """Return the values of `[. = 'a' or . = 'b']`."""

    def values(node: Expression) -> list[str]:
        match _bare(node):
            case ("bool", "or", left, right):
                return values(left) + values(right)
            case (
                "comp",
                "=",
                ("relative", [("step", "self", _, []) | ("step", "child", ("node_type", "text"), [])]),
                other,
            ):
                kind, text = _bare(other)
                if kind == "literal":
                    return [text[1:-1]]
        raise Unsaid("a predicate that names no values")

    if len(predicates) > 1:
        raise Unsaid("two predicates")
    return tuple(dict.fromkeys(values(predicates[0])))


def _is_key(target: _Target) -> bool:
    return target.table is not None and target.field is None


def _number_of(target: _Target) -> ast.expr:
    """Return the number of rows that a search finds, or of all rows of a table that has one shape of them."""
    if target.table is None or target.field is not None or not (target.search or target.is_only):
        raise Unsaid("the number of these")
    words = [ast.keyword(name, value) for name, value in target.search]
    return ast.Call(ast.Name("rows"), [ast.Name(_identifier(target.table))], words)


def _asked(target: _Target) -> ast.expr:
    """Return the expression for a field, or for whether a row is there."""
    if target.search:
        raise Unsaid(f"a search of {target.table}")
    if target.table is None:
        if target.field is None:
            raise Unsaid("the row itself")
        name = ast.Name(_identifier(target.field.replace("-", "_")))
        if not target.choices:
            return name
        if target.is_list:
            raise Unsaid(f"whether {target.field} has a value")
        return ast.Compare(name, [ast.In()], [ast.Tuple([ast.Constant(each) for each in target.choices])])
    table = ast.Name(_identifier(target.table))
    if target.key is None:
        raise Unsaid(f"all rows of {target.table}")
    if isinstance(target.key, ast.Constant):
        row: ast.expr = ast.Attribute(table, _identifier(str(target.key.value)))
        if keyword.iskeyword(str(target.key.value)):
            if target.field is None:
                raise Unsaid(f"whether {target.table} has {target.key.value!r}")
            row = ast.Subscript(table, target.key)
    else:
        row = ast.Subscript(table, target.key)
    return ast.Attribute(row, _identifier(target.field)) if target.field is not None else row


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise Unsaid(f"the name {name}")
    return name


def _together(op: ast.boolop, values: list[ast.expr]) -> ast.expr:
    """Put parts of one operator on one level; comparisons of one field with words become one, with `in`."""
    parts: list[ast.expr] = []
    for value in values:
        parts += value.values if isinstance(value, ast.BoolOp) and type(value.op) is type(op) else [value]
    made: list[ast.expr] = []
    for part in parts:
        if made and (one := _merged(op, made[-1], part)) is not None:
            made[-1] = one
        else:
            made.append(part)
    return made[0] if len(made) == 1 else ast.BoolOp(op, made)


def _merged(op: ast.boolop, one: ast.expr, other: ast.expr) -> ast.expr | None:
    """Return `a in ('b', 'c')` for `a = 'b' or a = 'c'`, and `not in` for `!=` and `and`."""
    is_or = isinstance(op, ast.Or)
    found = [_words(each, is_or) for each in (one, other)]
    if found[0] is None or found[1] is None or found[0][0] != found[1][0]:
        return None
    how = ast.In() if is_or else ast.NotIn()
    return ast.Compare(ast.Name(found[0][0]), [how], [ast.Tuple([*found[0][1], *found[1][1]])])


def _words(node: ast.expr, are_wanted: bool) -> tuple[str, list[ast.expr]] | None:
    """Return the field and the words of `a = 'b'` and `a in (...)`, or of `!=` and `not in`."""
    single, many = (ast.Eq, ast.In) if are_wanted else (ast.NotEq, ast.NotIn)
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[how], comparators=[ast.Constant(value=str()) as word]):
            return (name, [word]) if isinstance(how, single) else None
        case ast.Compare(left=ast.Name(id=name), ops=[how], comparators=[ast.Tuple(elts=words)]):
            return (name, words) if isinstance(how, many) else None
    return None
