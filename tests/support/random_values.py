"""Any value that a field of the model may hold by its own annotation, and a device with one field so replaced."""

import dataclasses
from collections.abc import Iterator
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from nodrop.model.fabric import Device
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import subject_text
from nodrop.model.types import key_of

Path = tuple[str | int, ...]
texts = st.text(max_size=6) | st.sampled_from(
    ["", " ", "a b", "a  b", "a,b", "a|b", "a/b", "a\nb", '"', "NULL", "\ud800", "Ethernet0", "Ethernet1", "0", "1.2",
     "10.0.0.1", "10.0.0.0/31", "::1", "master", "202505", "leaf", "ingress_lossless", "-", "é", "x" * 100, "\u00a0"]
)  # fmt: skip
numbers = st.integers(-3, 20) | st.sampled_from([64, 255, 9216, 65536, 2**31, 2**32, 10**17, 10**18, 10**30, -(10**18)])


@cache
def of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation of the model."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return reduce(or_, map(of, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        if arguments[-1] is ...:
            return st.lists(of(arguments[0]), max_size=3).map(tuple)
        return st.tuples(*map(of, arguments))
    if annotation is NoneType:
        return st.none()
    if annotation is Unknown:
        return st.just(UNKNOWN)
    simple: dict[Any, st.SearchStrategy[Any]] = {bool: st.booleans(), int: numbers, str: texts}
    if annotation in simple:
        return simple[annotation]
    return st.builds(annotation, **{name: of(hint) for name, hint in hints(annotation).items()})


@cache
def hints(owner: type[Any]) -> dict[str, Any]:
    """The fields of a part of the model with their annotations."""
    return {name: hint for name, hint in get_type_hints(owner).items() if not name.startswith("_")}


def fields(part: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every field in a part of the model: the way to it by attributes and positions, and its annotation."""
    if isinstance(part, tuple) and not hasattr(part, "_fields"):
        for position, row in enumerate(part):
            yield from fields(row, (*path, position))
    elif type(part).__module__.startswith("nodrop.") and not isinstance(part, Unknown):
        for name, hint in hints(type(part)).items():
            yield (*path, name), hint
            yield from fields(getattr(part, name), (*path, name))


def replaced(part: Any, path: Path, value: Any) -> Any:
    """The part of the model with another value at a path; what was shared by value stays shared."""
    if not path:
        return value
    head, *rest = path
    if isinstance(head, int):
        return tuple(replaced(row, tuple(rest), value) if at == head else row for at, row in enumerate(part))
    new = replaced(getattr(part, head), tuple(rest), value)
    return part._replace(**{head: new}) if hasattr(part, "_fields") else dataclasses.replace(part, **{head: new})


def at(part: Any, path: Path) -> Any:
    for step in path:
        part = part[step] if isinstance(step, int) else getattr(part, step)
    return part


def named(part: Any, path: Path) -> str:
    """The path as errors spell it: rows by their names."""
    names = []
    for step in path:
        names.append(key_of(part[step], step) if isinstance(step, int) else step)
        part = at(part, (step,))
    return subject_text(tuple(names))


@st.composite
def altered(draw: st.DrawFn, device: Device) -> Device:
    """The device with one field replaced by anything that its annotation allows, or with its rows turned round."""
    path, hint = draw(st.sampled_from(list(fields(device))))
    old = at(device, path)
    if type(old) is tuple and old and draw(st.booleans()):
        changed: Device = replaced(device, path, draw(st.sampled_from([old[::-1], (*old, old[0]), old[1:]])))
    else:
        changed = replaced(device, path, draw(of(hint)))
    return changed


def leads_somewhere(device: Device, path: str) -> bool:
    """Whether a path by attributes and names of rows, as an error states it, is one of the device's."""
    parts: list[Any] = [device]
    for step in path.split("/"):
        name = step.replace("%2F", "/").replace("%25", "%")
        parts = [inner for part in parts for inner in _inside(part, name)]
    return bool(parts)


def _inside(part: Any, name: str) -> list[Any]:
    if type(part) is tuple:
        return [row for position, row in enumerate(part) if key_of(row, position) == name]
    return [getattr(part, name)] if name in hints(type(part)) else []
