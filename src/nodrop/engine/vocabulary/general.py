"""Words of every area: formatting of quantities, and questions about texts, lists and known values.

The formatting filters take None too and write `none`, so a message can show any value that a rule has checked.
"""

from nodrop import units
from nodrop.engine.vocabulary import declare_word
from nodrop.model.states import Unknown


def _format_number(value: int | float) -> str:
    return str(value if isinstance(value, int) else round(value, 3)).removesuffix(".0")


@declare_word("filter")
def priorities(numbers: tuple[int, ...] | None) -> str:
    """PFC priorities in words: (3,) is `priority 3`, (3, 4) is `priorities 3 and 4`, () is `no priority`."""
    if not numbers:
        return "no priority"
    return f"{'priority' if len(numbers) == 1 else 'priorities'} {listed(tuple(map(str, numbers)))}"


@declare_word("filter")
def listed(texts: tuple[str, ...] | None) -> str:
    """Texts as a sentence lists them: `a`, `a and b`, `a, b and c`."""
    if not texts:
        return "none"
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


@declare_word("filter")
def ranges(numbers: tuple[int, ...] | None) -> str:
    """Numbers as ranges: (0, 1, 2, 5) is `0-2, 5`."""
    return units.show_ids(numbers) if numbers else "none"


@declare_word("filter")
def bytes_(count: int | float | None) -> str:
    """Bytes in powers of ten: 1500000 is `1.5 MB`, 9216 is `9.216 kB`."""
    return "none" if count is None else units.show_bytes(round(count))


@declare_word("filter")
def speed(mbps: int | float | None) -> str:
    """Format a speed in Mb/s: 400000 is `400G`, and 0.02 is `20 kbit/s`."""
    if mbps is not None and 0 < mbps < 1:
        return f"{mbps * 1000:.3g} kbit/s"
    return "none" if mbps is None else units.show_speed(round(mbps))


@declare_word("filter")
def ms(milliseconds: int | float | None) -> str:
    """Format a time in milliseconds: 200 is `200 ms`."""
    return "none" if milliseconds is None else f"{_format_number(milliseconds)} ms"


@declare_word("filter")
def length(metres: int | float | None) -> str:
    """Format a length in metres: 5 is `5 m`."""
    return "none" if metres is None else f"{_format_number(metres)} m"


@declare_word("filter")
def percent(share: int | float | None) -> str:
    """Format a share in percent: 60 is `60 %`."""
    return "none" if share is None else f"{_format_number(share)} %"


@declare_word("function")
def count(rows: tuple[object, ...]) -> int:
    """How many rows there are."""
    return len(rows)


@declare_word("function")
def fewer(rows: tuple[object, ...] | Unknown, least: int) -> bool:
    """Whether there are known to be fewer rows than `least`."""
    return not isinstance(rows, Unknown) and len(rows) < least


@declare_word("function")
def contains(text: str | None, part: str) -> bool:
    """Whether a text holds another one; no text holds nothing. For lists write `x in list`."""
    return text is not None and part in text


@declare_word("test")
def within(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Whether every item is among others: `interface.qos.pfc_priorities is within(options.lossless)`."""
    return all(item in others for item in some)


@declare_word("test")
def known(fact: object | Unknown) -> bool:
    """Whether the source states the fact, be it none; the one way to go on without it."""
    return not isinstance(fact, Unknown)
