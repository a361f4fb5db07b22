"""Recognition of objects that many parts share, such as the QoS profile of a thousand ports, without comparing them.

Equal profiles are one object (`intern`). Its identity costs a thousandth of the hash of its content.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_Object = TypeVar("_Object")
_Result = TypeVar("_Result")


def distinct_objects(objects: Iterable[_Object]) -> list[_Object]:
    """Return each object once, in the order of first appearance."""
    return list({id(shared): shared for shared in objects}.values())


class ObjectCache(Generic[_Object, _Result]):
    """The results of a function by object, computed once for each object."""

    def __init__(self, compute: Callable[[_Object], _Result]) -> None:
        self._compute = compute
        self._results: dict[int, tuple[_Object, _Result]] = {}
        """By the id of an object, which is held so that no other gets its id."""

    def __call__(self, shared: _Object) -> _Result:
        """Return the result for an object."""
        held = self._results.get(id(shared))
        if held is None:
            held = self._results[id(shared)] = shared, self._compute(shared)
        return held[1]
