"""Read NVUE's trees from the Python package `nvueschema`, which has a module per release made from NVIDIA's OpenAPI.

The modules are parsed and not run. Each states the version and the SHA-256 of the specification that it is made from.
The package drops what the value of a setting is by default, numbers among words, and the names of some chosen words.
"""

import ast
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

from nvue_tree import ANY, NO_LIMIT, Place, Source, Tree, Unusable, Value, chosen_name

_MODULE = re.compile(r"(?:.*/)?v(?P<major>[0-9]+)_(?P<minor>[0-9]+)\.py")
_DIGEST = re.compile(r"source SHA256: ([0-9a-f]{64})")
_VERSION = re.compile(r"spec version (\S+)")
_PATH = re.compile(r"^\s*Path: (\S+)$", re.MULTILINE)
_ROOT = "NvueConfig"
_UNNAMED = "name"


def texts_of(package: File) -> dict[tuple[int, int], str]:
    """Return the text of each release's module, from the wheel of the package or from a folder of modules."""
    if package.is_dir():
        found = {path.name: path.read_text() for path in sorted(package.glob("**/v*_*.py"))}
    else:
        try:
            with zipfile.ZipFile(package) as wheel:
                found = {
                    name: wheel.read(name).decode() for name in sorted(wheel.namelist()) if _MODULE.fullmatch(name)
                }
        except zipfile.BadZipFile as error:
            raise Unusable(f"{package}: {error}") from error
    matches = {name: match for name in found if (match := _MODULE.fullmatch(name))}
    if not matches:
        raise Unusable(f"{package}: no modules of releases, such as v5_16.py")
    return {(int(match["major"]), int(match["minor"])): found[name] for name, match in matches.items()}


def read_module(text: str, release: tuple[int, int]) -> Source:
    """Return the tree of one release's module; Unusable if it does not say what it is made from."""
    digest, version = _DIGEST.search(text), _VERSION.search(text)
    if digest is None or version is None:
        raise Unusable(f"the module of {release[0]}.{release[1]} does not name the specification it is made from")
    classes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    if _ROOT not in classes:
        raise Unusable(f"the module of {release[0]}.{release[1]} has no class {_ROOT}")
    return Source(release, version[1], digest[1], _Reader(classes).place(_ROOT))


class _Reader:
    def __init__(self, classes: Mapping[str, ast.ClassDef]) -> None:
        self._classes = classes

    def place(self, name: str) -> Place:
        """Return the place that a class describes."""
        found = Place()
        for field in self._classes[name].body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                found.words[_word(field)] = self._tree(field.annotation)
        return found

    def _tree(self, annotation: ast.expr) -> Tree:
        inner = _inside(annotation)
        if isinstance(inner, ast.Name) and inner.id in self._classes:
            return self.place(inner.id)
        if isinstance(inner, ast.Subscript) and _name(inner.value) == "Dict":
            assert isinstance(inner.slice, ast.Tuple)
            entry = _name(inner.slice.elts[1])
            if entry not in self._classes:
                return Place(open=True)
            stated = _PATH.search(ast.get_docstring(self._classes[entry]) or "")
            return Place(name=(stated and chosen_name(stated[1])) or _UNNAMED, below=self.place(entry))
        return _value(inner)


def _word(field: ast.AnnAssign) -> str:
    """Return the word of a field: its alias, or its name."""
    assert isinstance(field.target, ast.Name)
    assert isinstance(field.value, ast.Call)
    alias = _keyword(field.value, "alias")
    return field.target.id if alias is None else str(alias)


def _inside(annotation: ast.expr) -> ast.expr:
    """Return what is inside `Optional[...]`."""
    while isinstance(annotation, ast.Subscript) and _name(annotation.value) == "Optional":
        annotation = annotation.slice
    return annotation


def _value(node: ast.expr) -> Value:
    node = _inside(node)
    if not isinstance(node, ast.Subscript):
        return {"int": Value(ranges=frozenset({(0, NO_LIMIT)})), "IPv4Address": Value(ip4=True)}.get(_name(node), ANY)
    kind = _name(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if kind == "Literal":
        return Value(words=frozenset(str(part.value) for part in parts if isinstance(part, ast.Constant)))
    if kind == "Union":
        found = Value()
        for part in parts:
            found |= _value(part)
        return found
    if kind == "Annotated" and _name(parts[0]) == "int" and isinstance(parts[1], ast.Call):
        low, high = _keyword(parts[1], "ge"), _keyword(parts[1], "le")
        low, high = 0 if low is None else low, NO_LIMIT if high is None else high
        return Value(ranges=frozenset({(low, high)})) if low >= 0 else ANY
    return ANY


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _keyword(call: ast.Call, name: str) -> Any:
    return next((ast.literal_eval(one.value) for one in call.keywords if one.arg == name), None)
