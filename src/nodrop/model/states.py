"""The third state of a fact: UNKNOWN, which nobody may mistake for a value or for an absence."""

from collections.abc import Iterator
from typing import Final, NoReturn, TypeVar, final

_T = TypeVar("_T")


class UnknownFact(Exception):
    """Something tried to use a fact that the source does not state."""


@final
class Unknown:
    """The type of `UNKNOWN`; there is one object of it. Using it in any way but `is` raises `UnknownFact`."""

    __slots__ = ()
    _only: "Unknown | None" = None

    def __new__(cls) -> "Unknown":
        """Return the one object, also when unpickled."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __reduce__(self) -> tuple[type["Unknown"], tuple[()]]:
        return (Unknown, ())

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __hash__(self) -> int:
        return 0x75_6E_6B

    def __bool__(self) -> NoReturn:
        raise UnknownFact

    def __eq__(self, other: object) -> NoReturn:
        raise UnknownFact

    def __ne__(self, other: object) -> NoReturn:
        raise UnknownFact

    def __lt__(self, other: object) -> NoReturn:
        raise UnknownFact

    def __le__(self, other: object) -> NoReturn:
        raise UnknownFact

    def __gt__(self, other: object) -> NoReturn:
        raise UnknownFact

    def __ge__(self, other: object) -> NoReturn:
        raise UnknownFact

    def __iter__(self) -> Iterator[NoReturn]:
        raise UnknownFact

    def __len__(self) -> int:
        raise UnknownFact

    def __contains__(self, item: object) -> bool:
        raise UnknownFact

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownFact

    def _refuse_arithmetic(self, _other: object) -> NoReturn:
        raise UnknownFact

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_arithmetic
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refuse_arithmetic


UNKNOWN: Final = Unknown()


def known_rows(values: tuple[_T, ...] | Unknown) -> tuple[_T, ...]:
    """Return rows that are known; none where they are unknown, as callers that check only existing rows need."""
    return () if isinstance(values, Unknown) else values


def is_known_off(state: bool | Unknown) -> bool:
    """Whether something is known to be off; unknown counts as on, as it is when not stated."""
    return not isinstance(state, Unknown) and not state


def require_fact(value: _T | Unknown, path: str = "") -> _T:
    """Return `value` where it is known; raise `UnknownFact`, naming the model path that is missing, where it is not."""
    if isinstance(value, Unknown):
        raise UnknownFact(path)
    return value
