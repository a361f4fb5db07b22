"""The names of the fields that a word may read below the parts of the fabric that it is given."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from types import CodeType, FunctionType

from nodrop.model import access, bridging, buffers, fabric, index, qos, routing

_MODEL_MODULES = (access, bridging, buffers, fabric, index, qos, routing)
_PACKAGE_PREFIX = "nodrop."
_TEXT_READING_MODULES = ("nodrop.syntax.", "nodrop.resources")
"""Modules that read texts, such as shipped data, and no fabric."""
_LRU_CACHE_TYPE = type(lru_cache(lambda: None))
"""The type of functions whose answers are kept."""


@cache
def find_attribute_names_used_by_code(function: Callable[..., object]) -> frozenset[str]:
    """Return the names of attributes in a function, and in nodrop's functions, classes and properties that it uses."""
    names: set[str] = set()
    pending, seen = [inspect.unwrap(function)], set[object]()
    while pending:
        called = pending.pop()
        module = getattr(called, "__module__", None) or ""
        if called in seen or not isinstance(called, FunctionType) or not module.startswith(_PACKAGE_PREFIX):
            continue
        if module.startswith(_TEXT_READING_MODULES):
            continue
        seen.add(called)
        for name in _names_of_code(called.__code__):
            names.add(name)
            pending += _functions_called(name, called.__globals__)
    return frozenset(names)


def _names_of_code(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of_code(constant)


def _functions_called(name: str, names_of_module: Mapping[str, object]) -> Iterator[object]:
    """Yield the functions that a name may call: those of its module, and the methods of the model that have it."""
    known = names_of_module.get(name)
    if isinstance(known, FunctionType | _LRU_CACHE_TYPE):
        yield inspect.unwrap(known)
    elif isinstance(known, type) and known.__module__.startswith(_PACKAGE_PREFIX):
        yield from (function for _, function in _methods_of(known))
    yield from _methods_of_model().get(name, ())


@cache
def _methods_of_model() -> Mapping[str, tuple[FunctionType, ...]]:
    """Return the properties and methods of the classes of the model, by name."""
    methods: dict[str, tuple[FunctionType, ...]] = {}
    for module in _MODEL_MODULES:
        for _, model_class in inspect.getmembers(module, inspect.isclass):
            for name, function in _methods_of(model_class):
                methods[name] = (*methods.get(name, ()), function)
    return methods


def _methods_of(own_class: type) -> Iterator[tuple[str, FunctionType]]:
    """Yield the properties and methods that a class has itself, by name."""
    for name, member in vars(own_class).items():
        match inspect.unwrap(member) if isinstance(member, _LRU_CACHE_TYPE) else member:
            case property(fget=FunctionType() as function) | cached_property(func=FunctionType() as function):
                yield name, function
            case FunctionType() as function if not name.startswith("__") or name == "__init__":
                yield name, function
