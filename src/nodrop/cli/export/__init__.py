"""`nodrop export`: fabrics in the forms that validators and labs read; each module here is one form."""

import click

from nodrop.cli.commands import LazyCommandGroup


@click.group(cls=LazyCommandGroup, package="nodrop.cli.export")
def command() -> None:
    """Write a fabric in the format of another program.

    Start Batfish with the snapshot folder, or the lab with `containerlab deploy`.

    \b
    Examples:
      nodrop export batfish intent.yaml -o snapshot
      nodrop export containerlab intent.yaml -o lab
    """
