"""What is known to go wrong in lossless Ethernet, row by row: each row has rules that find it, or says why not."""

from typing import Any

from nodrop.engine.rules import shipped_rules
from nodrop.syntax.yaml import parse_yaml
from support.places import TESTS

PATH = TESTS / "rules" / "catalogue" / "table.yaml"
TABLE: dict[str, list[dict[str, Any]]] = parse_yaml(PATH.read_bytes(), PATH.name).data
ROWS = [row for rows in TABLE.values() for row in rows]


def test_every_row_has_rules_or_says_why_not() -> None:
    known = {rule.name for rule in shipped_rules()}
    for row in ROWS:
        assert row["says"], row["id"]
        assert set(row) - {"id", "says"} in ({"rules"}, {"undecided"}), row["id"]
        assert set(row.get("rules", ())) <= known, row["id"]


def test_all_rows_are_there() -> None:
    counts = {"PFC": 14, "WDG": 14, "CLS": 15, "ECN": 17, "BUF": 16, "SCH": 6, "DLK": 11, "LNK": 11, "BGP": 11}
    counts |= {"MGT": 6, "HST": 9, "TEL": 5, "HYG": 10}
    assert sorted(row["id"] for row in ROWS) == sorted(
        f"{kind}{number:03}" for kind, count in counts.items() for number in range(1, count + 1)
    )


def test_what_no_rule_decides_is_said() -> None:
    undecided = {row["id"] for row in ROWS if "undecided" in row}
    assert undecided == {"ECN006", "ECN017", "DLK002", "DLK008", "TEL005", "HYG006", "HYG008", "HYG010"}
