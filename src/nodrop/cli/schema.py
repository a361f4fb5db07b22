"""`nodrop schema`: JSON Schemas, for editors and for programs that read nodrop's output."""

import click

from nodrop.cli.options import Word
from nodrop.schemas import KINDS


@click.command()
@click.argument("kind", type=Word(KINDS))
def command(kind: str) -> None:
    """Print a JSON Schema.

    Of intents, of fabric.yaml, of nodrop.yaml, of profiles, of rule files, or of what `--format json` prints: findings
    of lint, validate and others, and what plan, check and drift tell. The same lie in the folder schemas/ of nodrop.
    """
    from nodrop.cli.output import say
    from nodrop.schemas import render_schema

    say(render_schema(kind))
