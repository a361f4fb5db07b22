"""The conditions of schema.yaml in plain words, for messages."""

import ast

_WORDS_BY_COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Eq: "is",
    ast.NotEq: "is not",
    ast.Lt: "is below",
    ast.LtE: "is at most",
    ast.Gt: "is above",
    ast.GtE: "is at least",
}
_NEGATION_BY_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_SIGN_BY_OPERATOR: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "x"}
_FAMILY_BY_SEPARATOR = {":": "IPv6", ".": "IPv4"}
_WORDS_BY_FUNCTION = {
    "length": "the length of {}",
    "before": "{} before {}",
    "after": "{} after {}",
    "part": "{2} characters of {0} from {1} on",
}
"""The functions of operands that are one phrase with their arguments."""


def describe_condition(text: str) -> str:
    """Return a condition of schema.yaml in words: `pir is at least cir`, `cir is set and cir is above 0`."""
    return _describe_condition(ast.parse(text, mode="eval").body)


def _describe_condition(node: ast.expr) -> str:
    match node:
        case ast.BoolOp(op=ast.Or(), values=values) if fields := _fields_of_same_family(values):
            return f"{fields[0]} and {fields[1]} are of one address family"
        case ast.BoolOp(op=ast.Or(), values=[ast.UnaryOp(op=ast.Not(), operand=premise), conclusion]):
            return f"{_describe_condition(conclusion)} if {_describe_condition(premise)}"
        case ast.BoolOp(op=op, values=values):
            word, clauses = "and" if isinstance(op, ast.And) else "or", [_describe_condition(value) for value in values]
            nested = any(isinstance(value, ast.BoolOp) for value in values)
            return f"{',' if nested else ''} {word} ".join(clauses)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[op], comparators=[right])):
            return _describe_condition(
                ast.Compare(left=left, ops=[_NEGATION_BY_COMPARISON[type(op)]()], comparators=[right])
            )
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as several):
            return f"it is not so that {_describe_condition(several)}"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="contains"), args=[term, sign])):
            return f"{_describe_operand(term)} {_describe_contains(sign, denied=True)}"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Subscript(value=ast.Name(id=table), slice=key)):
            return f"{table} has no row {_describe_operand(key)}"
        case ast.UnaryOp(op=ast.Not(), operand=term):
            return f"{_describe_operand(term)} is not set"
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Tuple(elts=choices)]):
            options = ", ".join(map(_describe_operand, choices))
            return f"{_describe_operand(left)} is {'' if isinstance(op, ast.In) else 'not '}one of {options}"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return f"{_describe_operand(left)} {_WORDS_BY_COMPARISON[type(op)]} {_describe_operand(right)}"
        case ast.Call(func=ast.Name(id="contains"), args=[term, sign]):
            return f"{_describe_operand(term)} {_describe_contains(sign, denied=False)}"
        case ast.Call(func=ast.Name(id="starts"), args=[term, start]):
            return f"{_describe_operand(term)} starts with {_describe_operand(start)}"
        case ast.Subscript(value=ast.Name(id=table), slice=key):
            return f"{table} has a row {_describe_operand(key)}"
    return f"{_describe_operand(node)} is set"


def _fields_of_same_family(values: list[ast.expr]) -> tuple[str, ...]:
    """Return two fields if their values are both IPv4 or both IPv6; else nothing."""
    pairs = [_fields_by_family(value) for value in values]
    names = {tuple(name for name, _ in pair) for pair in pairs}
    families = [{family for _, family in pair} for pair in pairs]
    if len(names) == 1 and sorted(map(sorted, families)) == [["IPv4"], ["IPv6"]]:
        (fields,) = names
        return fields if len(fields) == 2 else ()
    return ()


def _fields_by_family(node: ast.expr) -> list[tuple[str, str]]:
    """Return the fields whose address family a conjunction states, with the family, sorted; nothing for others."""
    found = []
    for clause in node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else ():
        match clause:
            case ast.Call(func=ast.Name(id="contains"), args=[term, ast.Constant(value=str() as sign)]):
                found.append((_describe_operand(term), _FAMILY_BY_SEPARATOR.get(sign, sign)))
            case _:
                return []
    return sorted(found)


def _describe_contains(sign: ast.expr, *, denied: bool) -> str:
    family = (
        _FAMILY_BY_SEPARATOR.get(sign.value) if isinstance(sign, ast.Constant) and isinstance(sign.value, str) else None
    )
    if family is not None:
        return f"is {'not ' if denied else ''}{family}"
    return f"{'does not contain' if denied else 'contains'} {_describe_operand(sign)}"


def _describe_operand(node: ast.expr) -> str:
    """Return the operands of a part of a condition, in words."""
    match node:
        case ast.Constant(value=str() as text):
            return repr(text)
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=table), attr=key), attr=name):
            return f"{name} of {table} {key}"
        case ast.Attribute(value=ast.Subscript(value=ast.Name(id=table), slice=key), attr=name):
            return f"{name} of {table} {_describe_operand(key)}"
        case ast.Attribute(value=ast.Name(id=table), attr=key):
            return f"{table} {key}"
        case ast.BinOp(left=left, op=op, right=right):
            return f"{_describe_operand(left)} {_SIGN_BY_OPERATOR[type(op)]} {_describe_operand(right)}"
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)], keywords=keywords):
            with_values = " and ".join(f"{keyword.arg} {_describe_operand(keyword.value)}" for keyword in keywords)
            return f"the number of {table} rows{f' with {with_values}' if with_values else ''}"
        case ast.Call(func=ast.Name(id="count"), args=[several, *choices]):
            of_values = f" that are {' or '.join(map(_describe_operand, choices))}" if choices else ""
            return f"the number of values of {_describe_operand(several)}{of_values}"
        case ast.Call(func=ast.Name(id=name), args=terms) if name in _WORDS_BY_FUNCTION:
            return _WORDS_BY_FUNCTION[name].format(*map(_describe_operand, terms))
        case ast.Call(func=ast.Name(id="concat"), args=terms):
            return " with ".join(map(_describe_operand, terms))
    return _describe_condition(node)
