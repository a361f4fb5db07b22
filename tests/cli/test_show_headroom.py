"""`nodrop show --headroom`: what each kind of port has, its terms, and what it is held against."""

import json
from functools import cache
from typing import Any

from support.command import nodrop


@cache
def rows(intent: str) -> dict[tuple[str, str], dict[str, Any]]:
    done = nodrop("show", "--headroom", "--format", "json", f"intents/{intent}.yaml")
    assert (done.code, done.err) == (0, "")
    shown = json.loads(done.out)
    assert (shown["version"], shown["fabric"]) == (2, intent)
    return {(row["role"], row["facing"]): row for row in shown["headroom"]}


def test_bounds_of_a_computed_headroom() -> None:
    """400G, 30 m, port MTU 9216: the SKU's 40 m row; the formula, in the release's pattern of 1024 bytes and 50 % small
    packets:

    (9216 + 15152 + 819.2 + 57920) × 1.2353 + 1024 = 103686 -> 104448;
    IEEE (2 × (8 × 9216 + 160) + 672 + 2 × 5 ns/m × 30 m × 400 Gb/s + 905 × 512) bits = 91476 bytes.
    """
    found = rows("two-by-two")
    assert found["leaf", "spine"]["bounds"] == {"sku_row": 77824, "formula": 104448, "ieee": 91476}
    assert found["leaf", "gpu"]["bounds"] == {"sku_row": 38912, "formula": 87040, "ieee": 77976}
    assert set(found) == {("leaf", "gpu"), ("leaf", "storage"), ("leaf", "spine"), ("spine", "leaf")}


def test_the_page() -> None:
    done = nodrop("show", "--headroom", "intents/two-by-two.yaml")
    lines = [line.split() for line in done.out.splitlines()]
    assert done.code == 0
    assert done.out.splitlines()[0] == "two-by-two: headroom of lossless ports"
    assert ["leaf", "spine", "8", "SN4700", "400G", "30", "m", "3", "104448", "38912", "152576"] in lines
    assert [
        "leaf",
        "spine",
        "30",
        "m",
        "9216",
        "15152",
        "819",
        "57920",
        "×",
        "1.2353",
        "1024",
        "763",
        "104448",
    ] in lines
    assert ["leaf", "spine", "SN4700", "400G", "30", "m", "104448", "computed", "77824", "104448", "91476"] in lines
    assert max(map(len, done.out.splitlines())) <= 100
    assert "Buffer pools" not in done.out


def test_a_fabric_without_lossless_ports() -> None:
    assert nodrop("show", "--headroom", "intents/lossy.yaml").out == (
        "lossy: no port is lossless, so none has headroom\n"
    )
