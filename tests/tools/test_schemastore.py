"""tools/schemastore.py: what SchemaStore is given fits its schema, its examples, and takes no name of other tools."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

import schemastore
from nodrop.schemas import USER_FILE_KINDS, json_schema

OTHERS = [{"name": name, "description": "-", "url": f"https://example.com/{name}"} for name in ("A", "Nest", "z")]
GENERIC = {"fabric.yaml", "intent.yaml", "profile.yaml", "rule.yaml", "config.yaml", "*.yaml", "intents/*.yaml"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of SchemaStore, with few entries."""
    for folder in ("src/schemas/json", "src/api/json", "src/test"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/api/json/catalog.json").write_text(json.dumps({"version": 1, "schemas": OTHERS}))
    return tmp_path


def test_each_schema_has_its_entry_in_order_and_others_stay(clone: Path) -> None:
    schemastore.write(clone)
    first = (clone / "src/api/json/catalog.json").read_text()
    schemastore.write(clone)
    assert (clone / "src/api/json/catalog.json").read_text() == first, "again, nothing changes"
    entries = json.loads(first)["schemas"]
    own = ["nodrop fabric.yaml", "nodrop intent", "nodrop profile", "nodrop rule", "nodrop.yaml"]
    assert [entry["name"] for entry in entries] == ["A", "Nest", *own, "z"]
    for entry in entries[2:-1]:
        path = clone / "src/schemas/json" / entry["url"].rpartition("/")[2]
        text = json.loads(path.read_text())
        assert (text["$id"], text["title"]) == (entry["url"], entry["name"])
        assert text["description"] == f"{entry['description']}.", "an entry must not end with a full stop"
        assert text["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_examples_fit_their_schemas(clone: Path) -> None:
    examples = [path for path in schemastore.write(clone) if path.parent.parent == clone / "src/test"]
    assert {path.parent.name for path in examples} == {"nodrop-intent", "nodrop-profile", "nodrop-rule"}
    for path in examples:
        kind = path.parent.name.removeprefix("nodrop-")
        Draft7Validator(json_schema(kind)).validate(YAML(typ="safe").load(path.read_text()))


def test_no_name_is_one_that_other_tools_use() -> None:
    patterns = [pattern for kind in USER_FILE_KINDS for pattern in schemastore.catalog_entry(kind).get("fileMatch", [])]
    assert patterns == ["*.nodrop.yaml", "nodrop.yaml"]
    assert not GENERIC & {*patterns}
