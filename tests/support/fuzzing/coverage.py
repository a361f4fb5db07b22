"""Which blocks of a package run: its source is given counters as it is imported, on every Python and at little cost.

Each function, branch, loop, handler, case, arm of a conditional expression and later operand of `and` and `or` sets a
byte. An `if` without `else` gets one, so that a branch that is not taken is seen too. `sys.monitoring` would do the
same from Python 3.12 on; nodrop runs on 3.11.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

SLOTS = 1 << 17
_MAP, _CALL = "__fuzz_hits__", "__fuzz_hit__"


class Coverage:
    """The counters of a package: `hits` has a byte for each block, which is 1 once the block has run."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.hits = bytearray(SLOTS)
        self.blocks = 0

    def install(self) -> None:
        """Count in every module of the package that is imported from now on; RuntimeError where one was before."""
        if self.package in sys.modules:
            raise RuntimeError(f"{self.package} is imported already")
        sys.meta_path.insert(0, _Finder(self))

    def clear(self) -> None:
        """Forget what has run."""
        self.hits[:] = bytes(SLOTS)

    def seen(self) -> int:
        """Return what has run since the last `clear`, as a number with a byte for each block."""
        return int.from_bytes(self.hits[: self.blocks], "little")

    def slot(self) -> int:
        """Return the number of one more block."""
        self.blocks += 1
        if self.blocks > SLOTS:
            raise RuntimeError(f"more than {SLOTS} blocks")
        return self.blocks - 1


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._coverage.package and not fullname.startswith(f"{self._coverage.package}."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return spec
        spec.loader = _Loader(fullname, spec.loader.path, self._coverage)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, coverage: Coverage) -> None:
        super().__init__(fullname, path)
        self._coverage = coverage

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = _Counting(self._coverage).visit(ast.parse(self.get_data(path), path))
        code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        hits = self._coverage.hits
        module.__dict__[_MAP] = hits

        def hit(slot: int) -> None:
            hits[slot] = 1

        module.__dict__[_CALL] = hit
        super().exec_module(module)


class _Counting(ast.NodeTransformer):
    """Puts a counter into every block."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage

    def _counted(self, body: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
        """Return a block that counts; a docstring stays its first statement."""
        target = ast.Subscript(
            value=ast.Name(_MAP, ast.Load()), slice=ast.Constant(self._coverage.slot()), ctx=ast.Store()
        )
        counter = ast.copy_location(ast.Assign(targets=[target], value=ast.Constant(1)), body[0] if body else at)
        documented = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        return [*body[:documented], counter, *body[documented:]]

    def _marked(self, value: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name(_CALL, ast.Load()), [ast.Constant(self._coverage.slot())], [])
        return ast.copy_location(ast.BoolOp(ast.Or(), [call, value]), value)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        match node:
            case ast.If():
                node.body, node.orelse = self._counted(node.body, node), self._counted(node.orelse, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.For() | ast.While() | ast.ExceptHandler():
                node.body = self._counted(node.body, node)
            case ast.match_case():
                node.body = self._counted(node.body, node.pattern)
            case ast.IfExp():
                node.body, node.orelse = self._marked(node.body), self._marked(node.orelse)
            case ast.BoolOp():
                node.values = [node.values[0], *map(self._marked, node.values[1:])]
        return node


def load_all(package: str, without: tuple[str, ...] = ()) -> None:
    """Import every module of a package in the order of their names, so that blocks have the same numbers in each run.

    Modules that need a library that is missing are left out, and those that begin with a name in `without`.
    """
    import pkgutil

    top: Any = importlib.import_module(package)
    names = sorted(one.name for one in pkgutil.walk_packages(top.__path__, f"{package}."))
    for name in names:
        if name.startswith(without) or name.endswith("__main__"):
            continue
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith(package):
                raise
