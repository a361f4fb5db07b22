"""JSON Schemas of users' files and nodrop's output, for editors and for programs."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

JSON_SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"
EDITOR_DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that all editors and SchemaStore read; SchemaStore recommends no later one."""
_TITLE_BY_FILE_KIND = {
    "intent": "nodrop intent",
    "fabric": "nodrop fabric.yaml",
    "config": "nodrop.yaml",
    "profile": "nodrop profile",
    "rule": "nodrop rule",
}
USER_FILE_KINDS = tuple(_TITLE_BY_FILE_KIND)
REPORT_SCHEMA_KINDS = ("findings", "plan", "check", "drift", "proof", "storm", "certificate")
SCHEMA_KINDS = (*USER_FILE_KINDS, *REPORT_SCHEMA_KINDS)
"""What there is a schema of: intents, fabric.yaml, nodrop.yaml, profiles and rule files, which users write; and what
commands print as JSON."""


def json_schema(kind: str) -> dict[str, Any]:
    """Return a new copy of a schema: draft-07 of what users write, draft 2020-12 of what commands print.

    KeyError where there is none of that kind.
    """
    if kind in REPORT_SCHEMA_KINDS:
        from nodrop.report.schema import SCHEMA_MAKER_BY_REPORT_KIND

        return {"$schema": JSON_SCHEMA_DRAFT} | SCHEMA_MAKER_BY_REPORT_KIND[kind]()
    from nodrop.schema_names import PublishedSchemaGenerator

    written = pydantic_model_of_file_kind(kind).model_json_schema(schema_generator=PublishedSchemaGenerator)
    head = {
        "$schema": EDITOR_DRAFT,
        "$id": f"https://www.schemastore.org/nodrop-{kind}.json",
        "title": _TITLE_BY_FILE_KIND[kind],
        "description": written["description"],
    }
    return head | {key: _as_draft_07(value) for key, value in written.items() if key not in head}


def render_schema(kind: str) -> str:
    """Return the text of a schema, as it is printed and as its file holds it."""
    return json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"


def _as_draft_07(part: object) -> object:
    """Return a part of a schema that pydantic made, with the item types of a tuple where draft-07 has them."""
    if isinstance(part, dict):
        return {"items" if key == "prefixItems" else key: _as_draft_07(value) for key, value in part.items()}
    return [_as_draft_07(each) for each in part] if isinstance(part, list) else part


def pydantic_model_of_file_kind(kind: str) -> "type[BaseModel]":
    """Return the model that reads a file of a kind that users write. KeyError where there is none."""
    if kind == "intent":
        from nodrop.intent.schema import Intent

        return Intent
    if kind == "fabric":
        from nodrop.context import FabricFile

        return FabricFile
    if kind == "config":
        from nodrop.config import ConfigFile

        return ConfigFile
    if kind == "profile":
        from nodrop.context.profile import ProfileFile

        return ProfileFile
    if kind == "rule":
        from nodrop.engine.rule_file import RuleFile

        return RuleFile
    raise KeyError(kind)
