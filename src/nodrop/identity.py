"""Objects as keys by identity, not by value: equal things at different places, and things that are large or can change.

Every object is held, so that no other gets its identity.
"""

from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any, Generic, TypeVar, overload

_Object = TypeVar("_Object")
_Value = TypeVar("_Value")
_Default = TypeVar("_Default")


class IdentityMap(MutableMapping[_Object, _Value]):
    """Values by object, in the order in which they were first set."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[tuple[_Object, _Value]] = ()) -> None:
        self._entries: dict[int, tuple[_Object, _Value]] = {id(key): (key, value) for key, value in entries}

    def __getitem__(self, key: _Object) -> _Value:
        return self._entries[id(key)][1]

    def __setitem__(self, key: _Object, value: _Value) -> None:
        self._entries[id(key)] = key, value

    def __delitem__(self, key: _Object) -> None:
        del self._entries[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._entries

    def __iter__(self) -> Iterator[_Object]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self.items()),)

    @overload
    def get(self, key: _Object, default: None = None, /) -> _Value | None: ...
    @overload
    def get(self, key: _Object, default: _Value, /) -> _Value: ...
    @overload
    def get(self, key: _Object, default: _Default, /) -> _Value | _Default: ...
    def get(self, key: _Object, default: object = None, /) -> object:
        """Return the value of an object, else the default."""
        entry = self._entries.get(id(key))
        return default if entry is None else entry[1]


class IdentitySet(MutableSet[_Object]):
    """Objects, in the order in which they were added."""

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[_Object] = ()) -> None:
        self._members: dict[int, _Object] = {id(member): member for member in members}

    def __contains__(self, member: object) -> bool:
        return id(member) in self._members

    def __iter__(self) -> Iterator[_Object]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)

    def add(self, value: _Object) -> None:
        """Add an object, unless that very object is in the set."""
        self._members.setdefault(id(value), value)

    def discard(self, value: _Object) -> None:
        """Remove an object, if that very object is in the set."""
        self._members.pop(id(value), None)


class IdentityKey(Generic[_Object]):
    """An object as a part of a key, or as the argument of a cached function: it equals only itself."""

    __slots__ = ("value",)

    def __init__(self, value: _Object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
