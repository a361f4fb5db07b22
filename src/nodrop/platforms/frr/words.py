"""Words of FRR's commands as values; CommandNotUnderstood for a word that FRR does not take."""

from hashlib import blake2b
from typing import Literal

from nodrop.limits import MAX_UINT32
from nodrop.model.addresses import is_address_or_prefix
from nodrop.syntax.lines import CommandNotUnderstood
from nodrop.units import parse_whole_number


def checked_number(word: str, min_value: int = 0, most: int = MAX_UINT32) -> int:
    """Return the decimal number of a word; raise CommandNotUnderstood where it is no number that FRR takes."""
    integer = parse_whole_number(word, most)
    if integer is None or integer < min_value:
        raise CommandNotUnderstood
    return integer


def checked_prefix_or_address(word: str) -> str:
    """Return a word that is a prefix, or an address alone; CommandNotUnderstood for any other."""
    if not is_address_or_prefix(word):
        raise CommandNotUnderstood
    return word


def checked_address(word: str) -> str:
    """Return a word that is an address; CommandNotUnderstood for any other."""
    if "/" in word or not is_address_or_prefix(word):
        raise CommandNotUnderstood
    return word


def password_digest(password: str) -> str:
    """Return sixteen bits of a digest of a password: enough to compare two, too few to find one."""
    return blake2b(password.encode(), digest_size=2).hexdigest()


def strip_no_word(line_words: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return the words of a command without `no`, and whether there was none."""
    return (line_words[1:], False) if line_words[0] == "no" and len(line_words) > 1 else (line_words, True)


def checked_action(word: str) -> Literal["permit", "deny"]:
    """Return a rule's action on matches, permit or deny; raise CommandNotUnderstood where the word is neither."""
    if word == "permit":
        return "permit"
    if word == "deny":
        return "deny"
    raise CommandNotUnderstood


def is_neighbor_address(key: str) -> bool:
    """Whether FRR takes a neighbor's name for an address rather than an interface."""
    return ":" in key or (key.replace(".", "").isdecimal() and key.isascii())
