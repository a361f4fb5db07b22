"""How a value of the model is declared: frozen, slotted, keyword-only, equal by content, safe with UNKNOWN."""

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, dataclass_transform

from nodrop.model.states import UnknownFact

_C = TypeVar("_C", bound=type[Any])
_V = TypeVar("_V")
_FieldSetter = Callable[[object, object], None]
"""Sets a field of a value."""


_StateFiller = Callable[[object, tuple[object, ...]], None]
"""Sets all fields of a value."""


class _Copier(Protocol):
    """Copies a value of a class."""

    def __call__(self, old: _V, /) -> _V: ...


_COPIER_BY_CLASS: dict[type[object], tuple[_Copier, dict[str, _FieldSetter]]] = {}
"""Of every class made here: how to copy a value field by field, and how to set each field."""


class ValueWithKeptHash:
    """A value that keeps the hash of its content, which makes it as cheap a key as a number."""

    __slots__ = ("_kept_hash",)
    _kept_hash: int


@dataclass_transform(frozen_default=True, kw_only_default=True)
def model_dataclass(cls: _C) -> _C:
    """Make `cls` a frozen, slotted, keyword-only dataclass whose equality knows three states.

    Two values are equal when every field is; an UNKNOWN field equals only UNKNOWN, and comparing it never raises.
    """
    value_class = dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)(cls)
    names = [field.name for field in dataclasses.fields(value_class)]
    content = attrgetter(*names) if len(names) > 1 else lambda self: (getattr(self, names[0]),)

    def equal(self: object, other: object) -> object:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        try:
            return content(self) == content(other)  # tuples compare by identity first, so UNKNOWN equals itself
        except UnknownFact:
            return False

    def digest(self: object) -> int:
        return hash(content(self))

    def digest_once(self: ValueWithKeptHash) -> int:
        try:
            return self._kept_hash
        except AttributeError:
            kept_hash = hash(content(self))
            object.__setattr__(self, "_kept_hash", kept_hash)
            return kept_hash

    def state(self: object) -> object:
        return content(self)

    setters = {name: getattr(value_class, name).__set__ for name in names}
    _COPIER_BY_CLASS[value_class] = _make_copier(value_class, setters), setters
    value_class.__getstate__ = state  # type: ignore[assignment]
    value_class.__setstate__ = _make_state_filler(setters)
    value_class.__init__ = _make_initializer(value_class, setters)
    value_class.__eq__ = equal  # type: ignore[assignment]
    value_class.__hash__ = digest_once if issubclass(cls, ValueWithKeptHash) else digest  # type: ignore[assignment]
    return value_class  # type: ignore[return-value]


def value_classes() -> tuple[type[object], ...]:
    """Return the classes of this package that were made here, in order of creation."""
    return tuple(
        copy_function for copy_function in _COPIER_BY_CLASS if copy_function.__module__.startswith(__package__)
    )


def _make_copier(cls: type[object], setters: dict[str, _FieldSetter]) -> _Copier:
    """Return a function that copies a value of a class; written out, it takes a quarter of the time of a loop."""
    sets = "".join(f"    set_{name}(new, old.{name})\n" for name in setters)
    copy: _Copier = _compile_function(
        "copy", f"def copy(old):\n    new = make(made)\n{sets}    return new\n", setters, cls
    )
    return copy


def _make_initializer(cls: type[Any], setters: dict[str, _FieldSetter]) -> Callable[..., None]:
    """Return the `__init__` of a class: that of a frozen dataclass, at half of its cost."""
    defaults = {
        field.name: field.default for field in dataclasses.fields(cls) if field.default is not dataclasses.MISSING
    }
    keywords = ", ".join(f"{name}=default_{name}" if name in defaults else name for name in setters)
    sets = "".join(f"    set_{name}(self, {name})\n" for name in setters)
    bound = {f"default_{name}": default for name, default in defaults.items()}
    make: Callable[..., None] = _compile_function(
        "__init__", f"def __init__(self, *, {keywords}):\n{sets}", setters, cls, bound
    )
    make.__qualname__ = f"{cls.__name__}.__init__"
    return make


def _make_state_filler(setters: dict[str, _FieldSetter]) -> _StateFiller:
    """Return the `__setstate__` of a class, which fills a value that was unpickled with its fields in their order."""
    sets = "".join(f"    set_{name}(new, state[{number}])\n" for number, name in enumerate(setters))
    fill: _StateFiller = _compile_function("fill", f"def fill(new, state):\n{sets}", setters, None)
    return fill


def _compile_function(
    name: str,
    code: str,
    setters: dict[str, _FieldSetter],
    cls: type[object] | None,
    bound: Mapping[str, object] = MappingProxyType({}),
) -> Any:
    names: dict[str, object] = {f"set_{field}": setter for field, setter in setters.items()}
    names |= {"make": object.__new__, "made": cls, **bound}
    exec(code, names)  # noqa: S102 -- the source is ours, made of names of fields
    return names[name]


def replace_fields(old: _V, **fields: object) -> _V:
    """Return `old` with other values in some fields: `dataclasses.replace` at a tenth of its cost.

    A fleet has a million ports, and each is completed once or twice while a fabric is put together.
    """
    copy, setters = _COPIER_BY_CLASS[type(old)]
    new = copy(old)
    for name, field in fields.items():
        setters[name](new, field)
    return new
