"""Words that are all but a known one: what was meant by a line that nothing understands."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_SHORT = 5
"""Letters below which a word with one other letter may well be another word."""


def slip(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that another is all but: a letter more, less, other, or two swapped; None where none is.

    Words that a number tells apart (`dhcp-relay6`) are others, and a known word is none of itself.
    """
    first_word, lengths = word[:1], (len(word) - 1, len(word), len(word) + 1)
    begun = _by_first(known).get(first_word, ()) if isinstance(known, frozenset) else known
    near = [each for each in begun if each[:1] == first_word and len(each) in lengths and each != word]
    return next((each for each in sorted(near) if _is_slip(each, word)), None)


@lru_cache(maxsize=16)
def _by_first(known: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """Return words by their first letter, once for a list that thousands of unknown lines are compared with."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in known:
        found[word[:1]].append(word)
    return found


def _is_slip(known: str, word: str) -> bool:
    if word in (f"{known}s", known.removesuffix("s")):
        return True
    if len(known) < _SHORT or any(letter.isdigit() for letter in known + word):
        return False
    shorter = min(len(known), len(word))
    at = next((at for at in range(shorter) if known[at] != word[at]), shorter)
    rests = (known[at + 1 :], word[at:]), (known[at:], word[at + 1 :]), (known[at + 1 :], word[at + 1 :])
    return any(one == other for one, other in rests) or (
        known[at : at + 2] == word[at : at + 2][::-1] and known[at + 2 :] == word[at + 2 :]
    )
