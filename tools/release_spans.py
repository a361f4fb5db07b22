"""How the schema files of platforms write the releases that have something: `since A until B`."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def span(has: Sequence[_T], around: Sequence[_T], spelled: Callable[[_T], str]) -> str:
    """Return since and until when something is there, `has` being the releases that have it, oldest first.

    An end that is also an end of the releases `around` is left out.
    """
    words = []
    if has[0] != around[0]:
        words.append(f"since {spelled(has[0])}")
    if has[-1] != around[-1]:
        words.append(f"until {spelled(has[-1])}")
    return " ".join(words)
