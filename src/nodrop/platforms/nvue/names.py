"""Lists and ranges in NVUE's keys: `swp1-16,swp17s0-3` for interfaces, `0-2,4` for numbers (NVUE Format Reference)."""

import re
from functools import lru_cache

from nodrop.units import parse_whole_number

MAX_NAMES_IN_KEY = 8192
"""More names than any switch has ports, in one key."""

PARENTS_OF_INTERFACE_KEYS = frozenset({"interface", "neighbor", "member"})
"""Parents of keys that are names of interfaces."""
PARENTS_OF_NUMBER_KEYS = frozenset({"switch-priority", "traffic-class", "dscp", "pcp", "priority-group", "vlan"})
"""Parents of keys that are numbers."""

RESERVED_NAMES = frozenset({"auto", "none", "null", "any", "all"})
"""Words that are no names of interfaces, profiles and policies (NVUE Format Reference)."""

_NAME_PATTERN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_NAME_RANGE_PATTERN = re.compile(r"(.*?)([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NUMBER_LIST_PATTERN = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*")


def reason_not_a_name(config_text: str) -> str | None:
    """Return why a text cannot be the name of a VRF, a route map or a list; None if it can."""
    return (
        None
        if _NAME_PATTERN.fullmatch(config_text) and config_text not in RESERVED_NAMES
        else f"{config_text!r} is no name in NVUE"
    )


@lru_cache(maxsize=16384)
def expand_names(key: str) -> tuple[str, ...]:
    """Return the names that a key stands for; a part without letters goes on with those before it: `swp1-4,7`.

    A range that runs backwards, or stands for more than MAX_NAMES, is no list, and stands for itself.
    """
    if "," not in key and "-" not in key:
        return (key,)
    found_names: list[str] = []
    before = ""
    for name_part in key.split(","):
        match = _NAME_RANGE_PATTERN.fullmatch(name_part)
        if match is None:
            found_names.append(name_part)
            continue
        before = match[1] or before
        start, last = int(match[2]), int(match[3] or match[2])
        if not start <= last or len(found_names) + last - start >= MAX_NAMES_IN_KEY:
            return (key,)
        if match[3] is None:
            found_names.append(before + match[2])
        else:
            found_names.extend(f"{before}{number}" for number in range(start, last + 1))
    return tuple(found_names)


@lru_cache(maxsize=4096)
def expand_numbers(key: str) -> tuple[int, ...]:
    """Return the numbers that a key stands for; none where it is no list of numbers, or of too many."""
    if (number := parse_whole_number(key)) is not None:
        return (number,)
    if not _NUMBER_LIST_PATTERN.fullmatch(key):
        return ()
    found_numbers: list[int] = []
    for range_text in key.split(","):
        start, _, last = range_text.partition("-")
        span = range(int(start), int(last or start) + 1)
        if not span or len(found_numbers) + len(span) > MAX_NAMES_IN_KEY:
            return ()
        found_numbers += span
    return tuple(found_numbers)


def expand_key(parent: str, key: str) -> tuple[str, ...]:
    """Return the single keys that a key below `parent` stands for: itself, unless it is a list."""
    if parent in PARENTS_OF_INTERFACE_KEYS:
        return expand_names(key)
    if parent in PARENTS_OF_NUMBER_KEYS and ("," in key or "-" in key):
        return tuple(map(str, expand_numbers(key))) or (key,)
    return (key,)
