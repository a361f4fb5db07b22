"""`nodrop schema`: JSON Schemas, for editors and for programs that read nodrop's output."""

import click

from nodrop.cli.options import WordChoice
from nodrop.schemas import SCHEMA_KINDS


@click.command()
@click.argument("kind", metavar="KIND", type=WordChoice(SCHEMA_KINDS))
def command(kind: str) -> None:
    """Print a JSON Schema.

    KIND is an input file (intent; fabric, for fabric.yaml; config, for nodrop.yaml; profile; rule), or what
    `--format json` prints: findings (of lint, validate and others), plan, check or drift.

    \b
    Example:
      nodrop schema intent > intent.schema.json
    """
    from nodrop.cli.output import write_output
    from nodrop.schemas import render_schema

    write_output(render_schema(kind))
