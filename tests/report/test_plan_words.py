"""Values of a plan in words: the unit that an attribute has, and what is shown of it."""

import pytest

from nodrop.model.fabric import End
from nodrop.model.states import UNKNOWN
from nodrop.report.plan_words import format_value


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
