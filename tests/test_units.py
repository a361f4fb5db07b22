"""Quantities: what users may write for them, what is refused, and how they are spelt."""

import contextlib
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop import units
from nodrop.units import MalformedText

READ = [
    (units.parse_speed_mbps, "400G", 400_000),
    (units.parse_speed_mbps, "1.6T", 1_600_000),
    (units.parse_speed_mbps, "2.5G", 2_500),
    (units.parse_speed_mbps, "100M", 100),
    (units.parse_speed_mbps, "0.001G", 1),
    (units.parse_size_bytes, "9216B", 9_216),
    (units.parse_size_bytes, "150kB", 150_000),
    (units.parse_size_bytes, "1.5MB", 1_500_000),
    (units.parse_size_bytes, "128KiB", 131_072),
    (units.parse_size_bytes, "0.5KiB", 512),
    (units.parse_size_bytes, "2MiB", 2_097_152),
    (units.parse_size_bytes, "0B", 0),
    (units.parse_time_ms, "200ms", 200),
    (units.parse_time_ms, "60s", 60_000),
    (units.parse_time_us, "500us", 500),
    (units.parse_time_us, "12.75ms", 12_750),
    (units.parse_time_us, "1s", 1_000_000),
    (units.parse_length_m, "30m", 30),
    (units.parse_length_m, "007m", 7),
    (units.parse_percent, "0%", 0),
    (units.parse_percent, "100%", 100),
    (units.parse_integer, "4096", 4096),
    (units.parse_number, "1", 1.0),
    (units.parse_number, "3.5", 3.5),
]

REFUSED = [
    (
        units.parse_speed_mbps,
        "a speed such as 400G",
        ["400", "400 G", "400g", "G", "-1G", "1e3G", "0G", "400.G", ""],
    ),
    (units.parse_speed_mbps, "a speed such as 400G", ["٤٠٠G", "400G\n", " 400G", "1,5G", "0.0001G", ".5G", "1000000G"]),
    (
        units.parse_size_bytes,
        "bytes as 150kB, 1.5MB, 128KiB or 1MiB (kB is 1000 bytes, KiB is 1024)",
        ["150", "150KB", "150kb", "150 kB", "1.5B", "0.0001kB", "1GB", "1kiB", "150000000000000B"],
    ),
    (units.parse_time_us, "a time such as 10ms or 500us", ["10", "0.5us", "10 ms", "1m", "0.0001ms", "-1us"]),
    (units.parse_time_ms, "a time such as 200ms or 1s", ["200", "0.2s", "200 ms", "1m", "200us", "2000000000s", "-1s"]),
    (
        units.parse_length_m,
        "a length in whole metres such as 30m",
        ["30", "30 m", "1.5m", "3 meters", "3km", "3ft", "m"],
    ),
    (units.parse_percent, "a percentage such as 60%", ["60", "60 %", "0.6", "1.5%", "%", "1000%", "٦٠%"]),
    (units.parse_percent, "at most 100%", ["101%", "999%"]),
    (units.parse_integer, "a whole number", ["", "1.0", "+1", "-1", "1_000", "0x1", "²", "٣", "1" * 19]),
    (units.parse_number, "a number such as 1 or 3.5", ["", "1.", ".5", "1e3", "nan", "inf", "-1", "1,5", "1" * 7]),
]


@pytest.mark.parametrize(("read", "text", "value"), READ)
def test_read(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value
    assert type(read(text)) is type(value)


@pytest.mark.parametrize(
    ("read", "expected", "text"), [(read, expected, text) for read, expected, texts in REFUSED for text in texts]
)
def test_refused(read: Callable[[str], object], expected: str, text: str) -> None:
    with pytest.raises(MalformedText) as raised:
        read(text)
    assert (raised.value.expected, raised.value.found, raised.value.hint) == (expected, "", "")
    assert str(raised.value) == f"expected {expected}"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("7", (7,)),
        ("0", (0,)),
        ("1-4", (1, 2, 3, 4)),
        ("1-4, 7", (1, 2, 3, 4, 7)),
        ("7,1-4", (1, 2, 3, 4, 7)),
        ("  3 ,  1-2 ", (1, 2, 3)),
        ("5-5", (5,)),
        ("9999999", (9_999_999,)),
    ],
)
def test_ids(text: str, numbers: tuple[int, ...]) -> None:
    assert units.parse_ids(text) == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4-1", "4-1 runs backwards; expected 1-4"),
        ("1-3, 9-7", "9-7 runs backwards; expected 7-9"),
        ("1-4, 3", "3 twice; expected each number once"),
        ("1-4, 2-3, 2, 9, 9", "2-3, 9 twice; expected each number once"),
        ("1-100001", "more than 100,000 numbers; expected at most 100,000"),
        ("1-60000, 70000-110000", "more than 100,000 numbers; expected at most 100,000"),
        ("0-9999999", "more than 100,000 numbers; expected at most 100,000"),
        *((text, "expected numbers such as 1-16 or 1-4, 7") for text in ["", ",", "1-", "-1", "1..4", "1-2-3", "1;2"]),
        *((text, "expected numbers such as 1-16 or 1-4, 7") for text in ["a", "1 2", "1,", "١", "10000000", "1 - 4"]),
    ],
)
def test_ids_refused(text: str, said: str) -> None:
    with pytest.raises(MalformedText, match=f"^{re.escape(said)}$"):
        units.parse_ids(text)


def test_ids_up_to_the_limit() -> None:
    assert units.parse_ids("1-100000") == tuple(range(1, 100_001))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((), ""), ((3,), "3"), ((1, 2), "1-2"), ((1, 2, 3, 7), "1-3, 7"), ((9, 1, 8, 3), "1, 3, 8-9"), ({2, 1}, "1-2")],
)
def test_show_ids(numbers: tuple[int, ...], text: str) -> None:
    assert units.show_ids(numbers) == text


@pytest.mark.parametrize(
    ("mbps", "text"),
    [
        (1, "1M"),
        (999, "999M"),
        (1_000, "1G"),
        (2_500, "2.5G"),
        (400_000, "400G"),
        (999_999, "999.999G"),
        (1_000_000, "1T"),
        (25_600_000, "25.6T"),
        (1_234_567, "1.234567T"),
    ],
)
def test_show_speed(mbps: int, text: str) -> None:
    assert units.show_speed(mbps) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (77_824, "77.82 kB"),
        (150_000, "150 kB"),
        (1_500_000, "1.5 MB"),
        (60_817_392, "60.82 MB"),
        (205_000_000, "205 MB"),
    ],
)
def test_show_bytes(count: int, text: str) -> None:
    assert units.show_bytes(count) == text


@given(st.sets(st.integers(0, 9_999_999), min_size=1, max_size=40))
def test_ids_are_read_as_they_are_spelt(numbers: set[int]) -> None:
    assert units.parse_ids(units.show_ids(numbers)) == tuple(sorted(numbers))


@given(st.integers(1, 999_999_999_999))
def test_speeds_are_read_as_they_are_spelt(mbps: int) -> None:
    assert units.parse_speed_mbps(units.show_speed(mbps)) == mbps


@given(st.integers(0, 999_999_999))
def test_a_short_time_that_is_shown_reads_the_same(us: int) -> None:
    assert units.parse_time_us(units.show_us(us)) == us


@given(
    st.sampled_from(
        [
            units.parse_speed_mbps,
            units.parse_size_bytes,
            units.parse_time_ms,
            units.parse_time_us,
            units.parse_length_m,
            units.parse_percent,
            units.parse_ids,
        ]
    )
    | st.sampled_from([units.parse_integer, units.parse_number]),
    st.text(st.sampled_from("0123456789.-, GMTkBimsé٣%²\n"), max_size=12) | st.text(max_size=12),
)
def test_anything_else_is_misread_and_nothing_worse(read: Callable[[str], object], text: str) -> None:
    with contextlib.suppress(MalformedText):
        read(text)
        assert text.isascii()
