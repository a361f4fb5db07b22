"""Quantities as users write them (`400G`, `150kB`, `30m`, `200ms`, `60%`, `1-16, 20`), read and written in one place.

The patterns are also shown to editors in JSON Schemas, so they use ASCII digits: `[0-9]`, never `\\d`.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise

from nodrop.limits import MAX_DIGITS

NUMBER_REGEX = r"[0-9]{1,6}(\.[0-9]{1,6})?"
INTEGER_REGEX = r"[0-9]{1,18}"
SPEED_REGEX = r"[0-9]{1,6}(\.[0-9]{1,6})?[MGT]"
SIZE_REGEX = r"[0-9]{1,12}(\.[0-9]{1,6})?(B|kB|MB|KiB|MiB)"
TIME_REGEX = r"[0-9]{1,9}(ms|s)"
SHORT_TIME_REGEX = r"[0-9]{1,6}(\.[0-9]{1,6})?(us|ms|s)"
LENGTH_REGEX = r"[0-9]{1,6}m"
PERCENT_REGEX = r"[0-9]{1,3}%"
ID_LIST_REGEX = r"[0-9]{1,7}(-[0-9]{1,7})?( *, *[0-9]{1,7}(-[0-9]{1,7})?)*"

_MBPS_BY_UNIT = {"M": 1, "G": 10**3, "T": 10**6}
_BYTES_BY_UNIT = {"B": 1, "kB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
_MS_BY_UNIT = {"ms": 1, "s": 10**3}
_US_BY_UNIT = {"us": 1, "ms": 10**3, "s": 10**6}
MAX_IDS = 100_000


class MalformedText(ValueError):
    """A text that is not the expected one; `found` and `hint` add details if there are any."""

    def __init__(self, expected: str, actual_text: str = "", hint: str = "") -> None:
        self.expected, self.found, self.hint = expected, actual_text, hint
        super().__init__(f"{actual_text}; expected {expected}" if actual_text else f"expected {expected}")


def parse_whole_number(quantity_text: str, most: int | None = None) -> int | None:
    """Return the number that ASCII digits form; None for other text, more than MAX_DIGITS digits, or above `most`."""
    if not quantity_text.isdecimal() or len(quantity_text) > MAX_DIGITS or not quantity_text.isascii():
        return None
    number = int(quantity_text)
    return None if most is not None and number > most else number


def parse_integer(quantity_text: str) -> int:
    """Read `4096`."""
    return _parse_whole_quantity(INTEGER_REGEX, quantity_text, {"": 1}, "a whole number")


def parse_number(quantity_text: str) -> float:
    """Read `1` or `3.5`."""
    if not re.fullmatch(NUMBER_REGEX, quantity_text):
        raise MalformedText("a number such as 1 or 3.5")
    return float(quantity_text)


def parse_speed_mbps(quantity_text: str) -> int:
    """Read `400G`, `1.6T` or `1000M` as Mb/s."""
    expected = "a speed such as 400G"
    speed = _parse_whole_quantity(SPEED_REGEX, quantity_text, _MBPS_BY_UNIT, expected)
    if not speed:
        raise MalformedText(expected)
    return speed


def parse_size_bytes(quantity_text: str) -> int:
    """Read `150kB` (10³ bytes), `1.5MB` (10⁶), `128KiB` (2¹⁰) or `1MiB` (2²⁰) as bytes."""
    return _parse_whole_quantity(
        SIZE_REGEX,
        quantity_text,
        _BYTES_BY_UNIT,
        "bytes as 150kB, 1.5MB, 128KiB or 1MiB (kB is 1000 bytes, KiB is 1024)",
    )


def parse_time_ms(quantity_text: str) -> int:
    """Read `200ms` or `1s` as milliseconds."""
    return _parse_whole_quantity(TIME_REGEX, quantity_text, _MS_BY_UNIT, "a time such as 200ms or 1s")


def parse_time_us(quantity_text: str) -> int:
    """Read `500us`, `12.75ms` or `1s` as microseconds."""
    return _parse_whole_quantity(SHORT_TIME_REGEX, quantity_text, _US_BY_UNIT, "a time such as 10ms or 500us")


def parse_length_m(quantity_text: str) -> int:
    """Read `30m` as metres."""
    return _parse_whole_quantity(LENGTH_REGEX, quantity_text, {"m": 1}, "a length in whole metres such as 30m")


def parse_percent(quantity_text: str) -> int:
    """Read `60%` as 60; no more than 100%."""
    value = _parse_whole_quantity(PERCENT_REGEX, quantity_text, {"%": 1}, "a percentage such as 60%")
    if value > 100:
        raise MalformedText("at most 100%")
    return value


def _parse_whole_quantity(pattern: str, text: str, factors: Mapping[str, int], expected: str) -> int:
    """Return a quantity in the unit whose factor is 1; a fraction of that unit is refused, like all that is not one."""
    if re.fullmatch(pattern, text):
        unit = text.lstrip("0123456789.")
        value = Fraction(text.removesuffix(unit)) * factors[unit]
        if value.denominator == 1:
            return value.numerator
    raise MalformedText(expected)


def parse_ids(quantity_text: str) -> tuple[int, ...]:
    """Read `1-16, 20` as the numbers meant, sorted; reversed, repeated and absurdly long ranges are refused."""
    if not re.fullmatch(ID_LIST_REGEX, quantity_text.strip()):
        raise MalformedText("numbers such as 1-16 or 1-4, 7")
    numbers: list[int] = []
    for range_text in quantity_text.split(","):
        start_text, _, last = range_text.strip().partition("-")
        span = range(int(start_text), int(last or start_text) + 1)
        if not span:
            raise MalformedText(f"{last}-{start_text}", f"{range_text.strip()} runs backwards")
        if len(numbers) + len(span) > MAX_IDS:
            raise MalformedText(f"at most {MAX_IDS:,}", f"more than {MAX_IDS:,} numbers")
        numbers += span
    numbers.sort()
    twice = tuple(sorted({prior_id for prior_id, next_id in pairwise(numbers) if prior_id == next_id}))
    if twice:
        raise MalformedText("each number once", f"{show_ids(twice)} twice")
    return tuple(numbers)


def show_ids(numbers: Iterable[int]) -> str:
    """Spell numbers as ranges: (1, 2, 3, 7) is `1-3, 7`."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def show_speed(mbps: int) -> str:
    """Write Mb/s in the form that `parse_speed_mbps` reads back: 400000 is `400G`, 25600000 is `25.6T`."""
    unit = next((unit for unit in "TG" if mbps >= _MBPS_BY_UNIT[unit]), "M")
    return f"{mbps / _MBPS_BY_UNIT[unit]:.12g}{unit}"


def show_us(us: int) -> str:
    """Write microseconds in the form that `parse_time_us` reads back: 12750 is `12.75ms`, 500 is `500us`."""
    unit = next((unit for unit in ("s", "ms") if us >= _US_BY_UNIT[unit]), "us")
    return f"{us / _US_BY_UNIT[unit]:.12g}{unit}"


def show_bytes(count: int) -> str:
    """Spell bytes in powers of ten: four digits: 1500000 is `1.5 MB`, 77824 is `77.82 kB`, 999 is `999 B`."""
    if count >= 10**6:
        return f"{count / 10**6:.4g} MB"
    return f"{count / 10**3:.4g} kB" if count >= 10**3 else f"{count} B"
