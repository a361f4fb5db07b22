"""`nodrop schema`: JSON Schemas, for editors and for programs that read nodrop's output."""

import click


@click.command()
@click.argument("kind", type=click.Choice(["intent", "fabric", "rule", "findings"]))
def command(kind: str) -> None:
    """Print the JSON Schema of intents, of fabric.yaml, of rule files, or of `--format json`."""
    import json

    click.echo(json.dumps(_schema(kind), indent=2, ensure_ascii=False))


def _schema(kind: str) -> object:
    if kind == "intent":
        from nodrop.intent.schema import Intent

        return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Intent.model_json_schema()
    if kind == "fabric":
        from nodrop.stated import Stated

        return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Stated.model_json_schema()
    if kind == "rule":
        from nodrop.lint.rule_file import RuleFile

        return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | RuleFile.model_json_schema()
    from nodrop.report.schema import findings_schema

    return findings_schema()
