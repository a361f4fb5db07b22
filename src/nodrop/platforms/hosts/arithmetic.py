"""Arithmetic of a shell in lines of scripts: `$((DSCP << 2))` with variables whose values are known."""

import ast
import operator
import re
from collections.abc import Callable, Mapping

_EXPANSION_PATTERN = re.compile(r"\$\(\(([^()]{1,100})\)\)")
"""An expansion without brackets inside."""
_VARIABLE_SIGN_PATTERN = re.compile(r"\$\{?(\w+)\}?")
_LARGEST_NUMBER = 2**63
_LARGEST_SHIFT = 63
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}
"""What a shell and Python compute alike, with the same precedence."""


class _NotKnownError(ValueError):
    pass


def expand_arithmetic(line: str, variables: Mapping[str, str]) -> str:
    """Return a line with each arithmetic expansion replaced by its result; one that is not known is kept as written."""

    def expand(expansion: re.Match[str]) -> str:
        try:
            tree = ast.parse(_VARIABLE_SIGN_PATTERN.sub(r"\1", expansion[1]).strip(), mode="eval")
            return str(_compute(tree.body, variables))
        except (SyntaxError, ValueError):
            return expansion[0]

    return _EXPANSION_PATTERN.sub(expand, line) if "$((" in line else line


def _compute(node: ast.expr, variables: Mapping[str, str]) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in variables:
            return int(variables[name], 0)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            first, second = _compute(left, variables), _compute(right, variables)
            if isinstance(operation, ast.LShift | ast.RShift) and not 0 <= second <= _LARGEST_SHIFT:
                raise _NotKnownError
            number = _OPERATIONS[type(operation)](first, second)
            if abs(number) < _LARGEST_NUMBER:
                return number
    raise _NotKnownError
