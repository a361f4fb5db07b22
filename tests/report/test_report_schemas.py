"""Schemas of what plan, check and drift print: all that tests' stories print fits (command.py), and nothing else does.

The documents here are kept examples; what is taken away from them, or put in, no longer fits.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nodrop.schemas import REPORT_SCHEMA_KINDS, json_schema
from support.places import TESTS

PLANS = sorted((TESTS / "plan" / "golden").glob("*.json"))


@pytest.mark.parametrize("kind", REPORT_SCHEMA_KINDS)
def test_a_schema_is_one(kind: str) -> None:
    Draft202012Validator.check_schema(json_schema(kind))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_kept_report_fits(path: Path) -> None:
    document = json.loads(path.read_text())
    Draft202012Validator(json_schema(document["kind"])).validate(document)


def _objects(document: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document but values of the model, which may hold anything."""
    if isinstance(document, dict):
        yield document
        for key, value in document.items():
            if key not in ("old", "new", "facts") or (key == "facts" and isinstance(value, list)):
                yield from _objects(value)
    elif isinstance(document, list):
        for one in document:
            yield from _objects(one)


@pytest.mark.parametrize("name", ["drift", "storage-in-dscp-26"])
def test_a_key_more_or_less_does_not_fit(name: str) -> None:
    document = json.loads((TESTS / "plan" / "golden" / f"{name}.json").read_text())
    fits = Draft202012Validator(json_schema(document["kind"])).is_valid
    shapes = {tuple(one): one for one in _objects(document) if one}
    assert len(shapes) >= 8
    for keys, one in shapes.items():
        one["unheard_of"] = 1
        assert not fits(document), keys
        del one["unheard_of"]
        for key in keys:
            value = one.pop(key)
            assert not fits(document), (keys, key)
            one[key] = value
    assert fits(document)


@pytest.mark.parametrize(("kind", "other"), [("plan", "drift"), ("drift", "plan")])
def test_one_kind_is_not_another(kind: str, other: str) -> None:
    path = next(path for path in PLANS if json.loads(path.read_text())["kind"] == kind)
    assert not Draft202012Validator(json_schema(other)).is_valid(json.loads(path.read_text()))
