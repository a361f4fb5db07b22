"""Near matches of known words: the meaning of a line that nothing understands."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_MIN_LETTERS_OF_MISSPELT_WORD = 5
"""Letters below which a word with one other letter may well be another word."""


def find_near_word(word: str, known_words: Iterable[str]) -> str | None:
    """Return the known word that another almost matches; None where none is.

    The words differ in a letter more, less or changed, or two swapped. Words that differ in a number (`dhcp-relay6`)
    are others, and a known word is no near match of itself.
    """
    first_word, lengths = word[:1], (len(word) - 1, len(word), len(word) + 1)
    begun = (
        _words_by_first_letter(known_words).get(first_word, ()) if isinstance(known_words, frozenset) else known_words
    )
    near = [option for option in begun if option[:1] == first_word and len(option) in lengths and option != word]
    return next((option for option in sorted(near) if _is_likely_typo(option, word)), None)


@lru_cache(maxsize=16)
def _words_by_first_letter(known_words: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """Return words by their first letter, once for a list that thousands of unknown lines are compared with."""
    words_by_letter: defaultdict[str, list[str]] = defaultdict(list)
    for word in known_words:
        words_by_letter[word[:1]].append(word)
    return words_by_letter


def _is_likely_typo(term: str, word: str) -> bool:
    if word in (f"{term}s", term.removesuffix("s")):
        return True
    if len(term) < _MIN_LETTERS_OF_MISSPELT_WORD or any(letter.isdigit() for letter in term + word):
        return False
    return differs_in_letters(word, term, 1)


def differs_in_letters(word: str, meant: str, most: int) -> bool:
    """Whether a word comes from another by at most so many letters more, less, changed, or swapped with the next.

    What both begin with alike needs no change (optimal string alignment distance).
    """
    if abs(len(word) - len(meant)) > most:
        return False
    shorter = min(len(word), len(meant))
    at = next((at for at in range(shorter) if word[at] != meant[at]), shorter)
    word, meant = word[at:], meant[at:]
    if word == meant or most == 0:
        return word == meant
    rests = [(word[1:], meant), (word, meant[1:]), (word[1:], meant[1:])]
    if word[:2] == meant[:2][::-1]:
        rests.append((word[2:], meant[2:]))
    return any(differs_in_letters(word_rest, meant_rest, most - 1) for word_rest, meant_rest in rests)
