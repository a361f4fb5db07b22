"""Numbers with a unit, where NVUE takes plain numbers: the numbers that they may mean, in the unit of their setting.

`KB` of a size may be 1,000 bytes, or 1,024: `nv show` prints KiB as KB and MiB as MB (Cumulus Linux 5.16, RDMA over
Converged Ethernet: 150000 bytes are shown as 146.48 KB), rounded.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from nodrop.model.change import FILE_SETTING_AREA, CommandsForCase
from nodrop.model.reading import NO_REMEDY, FileCorrection, Remedy
from nodrop.platforms.kit.command_lines import is_typable
from nodrop.platforms.nvue.corrections import MAX_REBOUND_PORTS, find_settings_of_same_kind, spell_value
from nodrop.platforms.nvue.edit_operations import combine_operations
from nodrop.platforms.nvue.edit_script import format_command
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.schema_types import Release, SettingLeaf
from nodrop.platforms.nvue.tree import Path

_NUMBER_AND_SUFFIX_PATTERN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(\S+)")
_FACTORS_BY_UNIT: Mapping[str, Mapping[str, Fraction]] = {
    "bytes": {"B": Fraction(1), "KiB": Fraction(2**10), "MiB": Fraction(2**20), "GiB": Fraction(2**30)},
    "kb/s": {
        suffix: Fraction(factor)
        for letters, factor in (("kK", 1), ("M", 10**3), ("G", 10**6))
        for letter in letters
        for suffix in (letter, f"{letter}bps", f"{letter}bit", f"{letter}b/s")
    },
    "m": {"m": Fraction(1), "km": Fraction(1000), "cm": Fraction(1, 100)},
    "ms": {"ms": Fraction(1), "s": Fraction(1000), "sec": Fraction(1000), "us": Fraction(1, 1000)},
    "percent": {"%": Fraction(1), "pct": Fraction(1)},
    "s": {"s": Fraction(1), "sec": Fraction(1), "ms": Fraction(1, 1000), "min": Fraction(60), "h": Fraction(3600)},
}
"""By the unit of a setting and the suffix of a number: what the number is multiplied with."""
_POWERS_BY_LETTER = {"K": 1, "M": 2, "G": 3}


def remedy_for_number_with_unit(
    top: ConfigNodeView, path: Path, text: str, leaf: SettingLeaf, release: Release | None
) -> Remedy:
    """Return what writes a number with a unit at all of its places as the plain number that it means.

    Where it may mean several numbers, those that the setting takes are choices.
    """
    numbers = {
        number: condition
        for number, condition in _possible_numbers(text, leaf.unit)
        if spell_value(leaf, number, release) is not None
    }
    places = [place for place, value in find_settings_of_same_kind(top.node, path) if value == text]
    if not numbers or not places or len(places) > MAX_REBOUND_PORTS:
        return NO_REMEDY
    (number, condition), *_ = numbers.items()
    if not condition:
        return Remedy(corrections=tuple(FileCorrection((FILE_SETTING_AREA, *place), text, number) for place in places))
    if not all(is_typable(step) for place in places for step in place):
        return NO_REMEDY
    return Remedy(
        choices=tuple(
            CommandsForCase(
                condition=condition,
                language="nvue",
                lines=tuple(map(format_command, combine_operations(dict.fromkeys(places, number)))),
            )
            for number, condition in numbers.items()
        )
    )


def _possible_numbers(text: str, unit: str) -> Iterator[tuple[str, str]]:
    """Yield the whole numbers of a unit that a text may mean, and the case for each."""
    match = _NUMBER_AND_SUFFIX_PATTERN.fullmatch(text)
    if match is None:
        return
    quantity, suffix = Fraction(match[1]), match[2]
    power = _POWERS_BY_LETTER.get(suffix[0].upper()) if unit == "bytes" and suffix[1:].upper() in ("", "B") else None
    if power is None:
        factor = _FACTORS_BY_UNIT.get(unit, {}).get(suffix)
        possible = [] if factor is None else [(factor, "")]
    else:
        possible = [
            (Fraction(1000**power), f"if {suffix} is {1000**power:,} bytes"),
            (Fraction(1024**power), f"if it is copied from `nv show`, where {suffix} is {1024**power:,} bytes"),
        ]
    for factor, condition in possible:
        if (number := quantity * factor).denominator == 1:
            yield str(number.numerator), condition
