"""The conditions of schema.yaml in plain words, for messages."""

import ast

_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "is",
    ast.NotEq: "is not",
    ast.Lt: "is below",
    ast.LtE: "is at most",
    ast.Gt: "is above",
    ast.GtE: "is at least",
}
_DENIED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "x"}
_FAMILIES = {":": "IPv6", ".": "IPv4"}


def describe_condition(text: str) -> str:
    """Return a condition of schema.yaml in words: `pir is at least cir`, `cir is set and cir is above 0`."""
    return _describe(ast.parse(text, mode="eval").body)


def _describe(node: ast.expr) -> str:
    match node:
        case ast.BoolOp(op=ast.Or(), values=values) if fields := _fields_of_one_family(values):
            return f"{fields[0]} and {fields[1]} are of one address family"
        case ast.BoolOp(op=ast.Or(), values=[ast.UnaryOp(op=ast.Not(), operand=premise), conclusion]):
            return f"{_describe(conclusion)} if {_describe(premise)}"
        case ast.BoolOp(op=op, values=values):
            word, clauses = "and" if isinstance(op, ast.And) else "or", [_describe(value) for value in values]
            nested = any(isinstance(value, ast.BoolOp) for value in values)
            return f"{',' if nested else ''} {word} ".join(clauses)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[op], comparators=[right])):
            return _describe(ast.Compare(left=left, ops=[_DENIED[type(op)]()], comparators=[right]))
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as several):
            return f"it is not so that {_describe(several)}"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="contains"), args=[term, sign])):
            return f"{_value(term)} {_contains(sign, denied=True)}"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Subscript(value=ast.Name(id=table), slice=key)):
            return f"{table} has no row {_value(key)}"
        case ast.UnaryOp(op=ast.Not(), operand=term):
            return f"{_value(term)} is not set"
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Tuple(elts=choices)]):
            options = ", ".join(map(_value, choices))
            return f"{_value(left)} is {'' if isinstance(op, ast.In) else 'not '}one of {options}"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return f"{_value(left)} {_COMPARED[type(op)]} {_value(right)}"
        case ast.Call(func=ast.Name(id="contains"), args=[term, sign]):
            return f"{_value(term)} {_contains(sign, denied=False)}"
        case ast.Call(func=ast.Name(id="starts"), args=[term, start]):
            return f"{_value(term)} starts with {_value(start)}"
        case ast.Subscript(value=ast.Name(id=table), slice=key):
            return f"{table} has a row {_value(key)}"
    return f"{_value(node)} is set"


def _fields_of_one_family(values: list[ast.expr]) -> tuple[str, ...]:
    """Return two fields if their values are both IPv4 or both IPv6; else nothing."""
    pairs = [_families(value) for value in values]
    names = {tuple(name for name, _ in pair) for pair in pairs}
    families = [{family for _, family in pair} for pair in pairs]
    if len(names) == 1 and sorted(map(sorted, families)) == [["IPv4"], ["IPv6"]]:
        (fields,) = names
        return fields if len(fields) == 2 else ()
    return ()


def _families(node: ast.expr) -> list[tuple[str, str]]:
    """Return the fields whose address family a conjunction states, with the family, sorted; nothing for others."""
    found = []
    for clause in node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else ():
        match clause:
            case ast.Call(func=ast.Name(id="contains"), args=[term, ast.Constant(value=str() as sign)]):
                found.append((_value(term), _FAMILIES.get(sign, sign)))
            case _:
                return []
    return sorted(found)


def _contains(sign: ast.expr, *, denied: bool) -> str:
    family = _FAMILIES.get(sign.value) if isinstance(sign, ast.Constant) and isinstance(sign.value, str) else None
    if family is not None:
        return f"is {'not ' if denied else ''}{family}"
    return f"{'does not contain' if denied else 'contains'} {_value(sign)}"


def _value(node: ast.expr) -> str:
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
            return f"{name} of {table} {_value(key)}"
        case ast.Attribute(value=ast.Name(id=table), attr=key):
            return f"{table} {key}"
        case ast.BinOp(left=left, op=op, right=right):
            return f"{_value(left)} {_SIGNS[type(op)]} {_value(right)}"
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)], keywords=keywords):
            with_values = " and ".join(f"{keyword.arg} {_value(keyword.value)}" for keyword in keywords)
            return f"the number of {table} rows{f' with {with_values}' if with_values else ''}"
        case ast.Call(func=ast.Name(id="count"), args=[several, *choices]):
            of_values = f" that are {' or '.join(map(_value, choices))}" if choices else ""
            return f"the number of values of {_value(several)}{of_values}"
        case ast.Call(func=ast.Name(id="length"), args=[term]):
            return f"the length of {_value(term)}"
        case ast.Call(func=ast.Name(id="before" | "after" as side), args=[term, sign]):
            return f"{_value(term)} {side} {_value(sign)}"
        case ast.Call(func=ast.Name(id="part"), args=[term, start, size]):
            return f"{_value(size)} characters of {_value(term)} from {_value(start)} on"
        case ast.Call(func=ast.Name(id="concat"), args=terms):
            return " with ".join(map(_value, terms))
    return _describe(node)
