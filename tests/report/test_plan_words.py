"""Values of a plan in words: the unit that an attribute has, and what is shown of it."""

import pytest

from nodrop.model.fabric import End
from nodrop.model.states import UNKNOWN
from nodrop.plan.model import ChangedFact, DifferingEntry
from nodrop.report.plan_words import format_fact_lines, format_value


@pytest.mark.parametrize(
    ("part", "given", "said"),
    [
        ("speed_mbps", 400_000, "400G"),
        ("peak_bytes_per_s", 2_500_000_000, "20 Gb/s"),
        ("guaranteed_bytes_per_s", 1_562_500, "0.0125 Gb/s"),
        ("mtu_bytes", 9216, "9216 B"),
        ("xoff_bytes", 87_040, "85 KiB"),
        ("min_bytes", 200_000, "200 kB"),
        ("dynamic_th", -3, "2^-3"),
        ("dynamic_th", 1, "2"),
        ("probability_percent", 50, "50%"),
        ("detection_ms", 200, "200 ms"),
        ("length_m", 30, "30 m"),
        ("enabled", False, "off"),
        ("remote", End("leaf1", "swp1"), "leaf1:swp1"),
        ("pfc_rx_priorities", (3, 4, 5), "3-5"),
        ("networks", (), "none"),
        ("advertised_speeds_mbps", (100_000, 200_000), "100G, 200G"),
        ("advertised_speeds_mbps", None, "all"),
        ("hwsku", None, "the base one of the model"),
        ("trust", None, "none"),
        ("trust", UNKNOWN, "unknown"),
    ],
)
def test_a_value_has_the_unit_of_its_attribute(part: str, given: object, said: str) -> None:
    assert format_value(part, given) == said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (123_148_800, 123_439_104, "123.1488 MB -> 123.439104 MB"),
        (152_576, 1_048_576, "149 KiB -> 1 MiB"),
        (150_000, 200_000, "150 kB -> 200 kB"),
        (None, 152_576, "none -> 149 KiB"),
        (9216, 0, "9 KiB -> 0 B"),
    ],
)
def test_both_sizes_of_a_change_are_in_units_of_1000_or_both_in_units_of_1024(
    old: object, new: object, said: str
) -> None:
    fact = ChangedFact(entries=(DifferingEntry(("buffer_pools", "ingress_lossless", "size_bytes"), old, new),))
    (line,) = format_fact_lines(fact)
    assert line.endswith(f": {said}")
