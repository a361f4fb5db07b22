"""`nodrop schema`: JSON Schemas, for editors and for programs that read nodrop's output."""

from typing import Any

import click

from nodrop.cli.options import Word

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@click.command()
@click.argument("kind", type=Word(["intent", "fabric", "config", "profile", "rule", "findings"]))
def command(kind: str) -> None:
    """Print a JSON Schema.

    Of intents, of fabric.yaml, of nodrop.yaml, of profiles, of rule files, or of the findings that `--format json`
    prints.
    """
    import json

    from nodrop.cli.output import say

    say(json.dumps({"$schema": _DRAFT} | _schema(kind), indent=2, ensure_ascii=False) + "\n")


def _schema(kind: str) -> dict[str, Any]:
    if kind == "intent":
        from nodrop.intent.schema import Intent

        return Intent.model_json_schema()
    if kind == "fabric":
        from nodrop.stated import Stated

        return Stated.model_json_schema()
    if kind == "config":
        from nodrop.config import ConfigFile

        return ConfigFile.model_json_schema()
    if kind == "profile":
        from nodrop.stated.profile import ProfileFile

        return ProfileFile.model_json_schema()
    if kind == "rule":
        from nodrop.lint.rule_file import RuleFile

        return RuleFile.model_json_schema()
    from nodrop.report.schema import findings_schema

    return findings_schema()
