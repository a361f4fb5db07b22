"""Rows that bind fields to a platform: what is derived from them for any platform."""

from collections.abc import Mapping
from typing import Any

import pytest

from nodrop.errors import UnsupportedByPlatform
from nodrop.model.routing import BgpNeighbor
from nodrop.platforms.kit.bindings import (
    FieldBinding,
    NumberRangeCheck,
    bound_fields,
    check_fields,
    check_release_has_fields,
    decode_fields,
    encode_fields,
    places_of_field,
    refuse_unless_default,
)

Row = FieldBinding[str, Mapping[str, str], str, str]


def number(source: Mapping[str, str]) -> int | None:
    return int(source["hold"]) if "hold" in source else None


ROWS: tuple[Row, ...] = (
    FieldBinding(
        field="hold_s",
        where=("hold", "timers"),
        decode=number,
        encode=lambda value, release: f"{release}: hold {value}",
        refuses=(NumberRangeCheck(3, 65535, frozenset({0})),),
        since="hold times",
    ),
    FieldBinding(field="description", where=("name",), encode=lambda value, release: f"{release}: name {value}"),
    FieldBinding(field="bfd", refuses=(refuse_unless_default("there is no BFD", default=False),)),
)


def lacks(what: str) -> str | None:
    return f"{what} are missing"


def refusal(**fields: Any) -> tuple[str, str] | None:
    try:
        check_fields(ROWS, BgpNeighbor(**fields), "bgp", "swp1")
    except UnsupportedByPlatform as error:
        return error.path, error.reason
    return None


def test_a_field_has_the_value_that_its_source_states() -> None:
    assert decode_fields(ROWS, {"hold": "9", "name": "spine1"}) == {"hold_s": 9}
    assert decode_fields(ROWS, {"hold": "0"}) == {"hold_s": 0}
    assert decode_fields(ROWS, {}) == {}


def test_fields_are_written_in_the_order_of_the_rows_unless_they_are_none() -> None:
    one = BgpNeighbor(hold_s=0, description="spine1", bfd=True)
    assert list(encode_fields(ROWS, one, "2")) == ["2: hold 0", "2: name spine1"]
    assert list(encode_fields(ROWS, BgpNeighbor(), "2")) == []


def test_places_of_a_field() -> None:
    assert [places_of_field(ROWS, field) for field in ("hold_s", "bfd", "active")] == [("hold", "timers"), (), ()]
    assert bound_fields(ROWS) == {"hold_s", "description", "bfd"}


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"hold_s": 3}, None),
        ({"hold_s": 65535}, None),
        ({"hold_s": 0}, None),
        ({"hold_s": None}, None),
        ({"hold_s": 2}, ("bgp/swp1/hold_s", "is not from 3 to 65535")),
        ({"hold_s": 65536}, ("bgp/swp1/hold_s", "is not from 3 to 65535")),
        ({"bfd": True}, ("bgp/swp1/bfd", "there is no BFD")),
        ({"bfd": True, "hold_s": 1}, ("bgp/swp1/hold_s", "is not from 3 to 65535")),
    ],
)
def test_values_that_a_row_refuses(fields: dict[str, Any], refused: tuple[str, str] | None) -> None:
    assert refusal(**fields) == refused


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"hold_s": 9}, ("bgp/swp1/hold_s", "hold times are missing")),
        ({"hold_s": 0}, ("bgp/swp1/hold_s", "hold times are missing")),
        ({}, None),
        ({"description": "spine1"}, None),
    ],
)
def test_values_that_a_release_does_not_have(fields: dict[str, Any], refused: tuple[str, str] | None) -> None:
    found = None
    try:
        check_release_has_fields(ROWS, BgpNeighbor(**fields), lacks, "bgp", "swp1")
    except UnsupportedByPlatform as error:
        found = error.path, error.reason
    assert found == refused
    check_release_has_fields(ROWS, BgpNeighbor(**fields), {}.get, "bgp", "swp1")
