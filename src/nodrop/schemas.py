"""JSON Schemas of users' files and nodrop's output, for editors and for programs."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

DRAFT = "https://json-schema.org/draft/2020-12/schema"
WRITTEN = ("intent", "fabric", "config", "profile", "rule")
REPORTED = ("findings", "plan", "check", "drift", "proof", "storm", "certificate")
KINDS = (*WRITTEN, *REPORTED)
"""What there is a schema of: intents, fabric.yaml, nodrop.yaml, profiles and rule files, which users write; and what
commands print as JSON."""


def schema(kind: str) -> dict[str, Any]:
    """Return a new copy of a schema, draft 2020-12. KeyError where there is none of that kind."""
    return {"$schema": DRAFT} | _schema_of_kind(kind)


def render_schema(kind: str) -> str:
    """Return the text of a schema, as it is printed and as its file holds it."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def _schema_of_kind(kind: str) -> dict[str, Any]:
    if kind in REPORTED:
        from nodrop.report.schema import REPORT_SCHEMAS

        return REPORT_SCHEMAS[kind]()
    return model(kind).model_json_schema()


def model(kind: str) -> "type[BaseModel]":
    """Return the model that reads a file of a kind that users write. KeyError where there is none."""
    if kind == "intent":
        from nodrop.intent.schema import Intent

        return Intent
    if kind == "fabric":
        from nodrop.context import Stated

        return Stated
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
