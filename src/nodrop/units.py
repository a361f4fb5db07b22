"""Quantities as users write them (`400G`, `150kB`, `30m`, `200ms`, `60%`, `1-16, 20`), read and spelt in one place."""

import re

_SPEED = re.compile(r"(\d+(?:\.\d+)?)([GM])")
_BYTES = re.compile(r"(\d+(?:\.\d+)?)(B|kB|MB|KiB|MiB)")
_FACTORS = {"B": 1, "kB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
_TIME = re.compile(r"(\d+)(ms|s)")
_LENGTH = re.compile(r"(\d+)m")
_PERCENT = re.compile(r"(\d{1,3})%")
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")
MAX_IDS = 100_000


def speed_mbps(text: str) -> int:
    """Read `400G` or `1000M` as Mb/s; ValueError says what was expected."""
    found = _SPEED.fullmatch(text)
    if not found:
        raise ValueError("expected a speed such as 400G")
    return round(float(found[1]) * (1000 if found[2] == "G" else 1))


def size_bytes(text: str) -> int:
    """Read `150kB` (10³ bytes), `1.5MB` (10⁶), `128KiB` (2¹⁰) or `1MiB` (2²⁰) as bytes."""
    found = _BYTES.fullmatch(text)
    if not found:
        raise ValueError("expected bytes as 150kB, 1.5MB, 128KiB or 1MiB (kB is 1000 bytes, KiB is 1024)")
    return round(float(found[1]) * _FACTORS[found[2]])


def time_ms(text: str) -> int:
    """Read `200ms` or `1s` as milliseconds."""
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError("expected a time such as 200ms")
    return int(found[1]) * (1000 if found[2] == "s" else 1)


def length_m(text: str) -> int:
    """Read `30m` as metres."""
    found = _LENGTH.fullmatch(text)
    if not found:
        raise ValueError("expected a length in whole metres such as 30m")
    return int(found[1])


def percent(text: str) -> int:
    """Read `60%` as 60."""
    found = _PERCENT.fullmatch(text)
    if not found or int(found[1]) > 100:
        raise ValueError("expected a percentage such as 60%")
    return int(found[1])


def ids(text: str) -> tuple[int, ...]:
    """Read `1-16, 20` as the numbers meant, sorted; reversed, repeated and absurdly long ranges are refused."""
    numbers: list[int] = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        if not found:
            raise ValueError("expected numbers such as 1-16 or 1-4, 7")
        first = int(found[1])
        last = int(found[2] or first)
        if last < first:
            raise ValueError(f"{part.strip()} runs backwards; expected {last}-{first}")
        if len(numbers) + last - first >= MAX_IDS:
            raise ValueError(f"more than {MAX_IDS} numbers")
        numbers.extend(range(first, last + 1))
    if len(set(numbers)) != len(numbers):
        raise ValueError("a number is named twice")
    return tuple(sorted(numbers))


def show_ids(numbers: tuple[int, ...]) -> str:
    """Spell numbers as ranges: (1, 2, 3, 7) is `1-3, 7`."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def show_speed(mbps: int) -> str:
    """Spell Mb/s: 400000 is `400G`, 25600000 is `25.6T`."""
    if mbps >= 1_000_000:
        return f"{mbps / 1_000_000:g}T"
    return f"{mbps / 1000:g}G" if mbps >= 1000 else f"{mbps}M"


def show_bytes(count: int) -> str:
    """Spell bytes in powers of ten: four digits: 1500000 is `1.5 MB`, 77824 is `77.82 kB`, 999 is `999 B`."""
    if count >= 10**6:
        return f"{count / 10**6:.4g} MB"
    return f"{count / 10**3:.4g} kB" if count >= 10**3 else f"{count} B"
