"""The thirty sizes of `tests/sizing/sizes.yaml`, and the request for each."""

from fractions import Fraction
from typing import Any

from nodrop.sizing.request import SizeRequest
from nodrop.syntax.yaml import parse_yaml
from support.places import TESTS

_SIZES = TESTS / "sizing" / "sizes.yaml"


def _read_cases() -> list[dict[str, Any]]:
    rows: Any = parse_yaml(_SIZES.read_bytes(), _SIZES.name).data
    return [
        row
        | {key: int(row[key]) for key in ("gpus", "ratio", "largest") if key in row}
        | {"rails": str(row["rails"]).lower() == "true"}
        | {"switches": [int(number) for number in row.get("switches", [])]}
        for row in rows
    ]


CASES = _read_cases()


def name_of(case: dict[str, Any]) -> str:
    """What a case is called in the name of a test."""
    return f"{case['model']}-{case['gpus']}-{'rails' if case['rails'] else 'flat'}-{case['ratio']}"


def request_of(case: dict[str, Any]) -> SizeRequest:
    """The request of a case: servers with 8 GPUs and 8 ports, one model for all switches."""
    model = case["model"]
    return SizeRequest(
        gpus=case["gpus"], gpus_of_server=8, ports=8, rails=case["rails"], platform="sonic", leaf=model, spine=model,
        storage_leaf=model, nic="ConnectX-7", ratio=Fraction(case["ratio"]),
    )  # fmt: skip
