"""`nodrop import`: configurations that are there become an intent."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import OUTPUT, Sections, configured, option
from nodrop.cli.reading import Stated, stating

if TYPE_CHECKING:
    from nodrop.fabric.fabric import Fabric
    from nodrop.importing import Imported
    from nodrop.judging import Settings


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@option(
    OUTPUT,
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="File to write, one that is not there yet.  [default: standard output]",
)
@stating
@configured
def command(paths: tuple[str, ...], output: str | None, stated: Stated, settings: "Settings") -> int:
    """Derive an intent from configurations.

    PATH is as for `nodrop lint`: configurations of the switches of one fabric, of any platform that nodrop reads. What
    a fabric.yaml beside them, nodrop.yaml or --assume states is used; roles that nobody states follow from names and
    cables.

    The intent states what is regular and leaves out what it comes to anyway; what no file says is guessed, with the
    reason beside it, or told to be added. Settings beside the model go to `extra`, secrets never. The intent is built
    and held against the files: what it does not carry is listed at its end, alike facts as one, by switch and port as
    the files call them.

    Exit 0 where the intent comes to the fabric that was read, 1 where something is not carried or is to be added.
    """
    from nodrop.cli.main import FOUND, WRONG
    from nodrop.cli.output import calm_collector, say, tell
    from nodrop.cli.writing import written_anew
    from nodrop.importing import derive, files_of

    if output == "":
        raise click.UsageError("--output is empty; expected a file")
    calm_collector()
    reading = stated.fabric(paths, stated.settings(settings))
    for problem in reading.problems:
        tell(f"error: {problem}")
    if reading.problems:
        return WRONG
    source = " ".join(Path(path).name or path for path in paths)
    made = derive(_called(reading.fabric, paths[0]), source=source, files=files_of(reading))
    if output is None:
        say(made.text)
    else:
        written_anew(Path(output), made.text)
    tell(_said(made, output))
    return 0 if made.equal else FOUND


def _called(fabric: "Fabric", path: str) -> "Fabric":
    """Return a fabric under the name of the folder or file that it is read from, where nobody states one."""
    from nodrop.fabric.assemble import UNNAMED
    from nodrop.intent.types import NAME_PATTERN

    name = Path(path).resolve().stem
    return replace(fabric, name=name) if fabric.name == UNNAMED and re.fullmatch(NAME_PATTERN, name) else fabric


def _said(made: "Imported", output: str | None) -> str:
    """Return in a line how well the intent says what the files do."""
    where = f"{output}: written; " if output else ""
    if made.equal:
        how = "it comes to the fabric that was read"
    elif made.intent is None or made.problems:
        count = len(made.lacking) + len(made.problems)
        how = (
            f"it does not build yet: {count} thing{'s' if count > 1 else ''} to add or to change, told in its comments"
        )
    else:
        count = len(made.left)
        how = f"{count} kind{'s' if count > 1 else ''} of facts are not carried, told at its end"
    guessed = f"; {len(made.guessed)} guessed" if made.guessed else ""
    return f"{where}{how}{guessed}"
