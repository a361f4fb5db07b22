"""`nodrop export batfish`: a snapshot of a fabric, as Batfish reads it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import OUTPUT, Sections, configured, option
from nodrop.cli.reading import Stated, stating

if TYPE_CHECKING:
    from nodrop.judging import Settings


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@option(
    OUTPUT,
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(),
    help="Folder to write; replaced as a whole or not at all.",
)
@stating
@configured
def command(paths: tuple[str, ...], output: str, stated: Stated, settings: "Settings") -> int:
    """Write a snapshot for Batfish.

    PATH is as for `nodrop lint`: configurations of one fabric, or an intent. DIR gets what Batfish takes of each
    switch, its cables and its hosts, to be given to a service as it is (pybatfish: `init_snapshot("DIR")`).

    SONiC's tables are cut down to those that Batfish reads. A switch with more than it reads of them (VRFs, port
    channels, VXLAN), and any other switch, is written in the form of Cumulus Linux. frr.conf is the switch's own
    wherever its files have one. What Batfish does not see of the fabric is told, with the reason.
    """
    from nodrop.cli.main import WRONG
    from nodrop.cli.output import calm_collector, tell
    from nodrop.export.batfish import LAYER1, snapshot, told
    from nodrop.publish import publish

    if not output:
        raise click.UsageError("--output is empty; expected a folder")
    calm_collector()
    reading = stated.fabric(paths, stated.settings(settings))
    for problem in reading.problems:
        tell(f"error: {problem}")
    if reading.problems:
        tell(f"nothing was written to {output}")
        return WRONG
    made = snapshot(reading)
    output = output.rstrip("/") or "/"
    files = {name: text.encode() for name, text in made.files.items()}
    publish(Path(output), files, inputs={}, display=output, mark=LAYER1)
    for line in told(made):
        tell(line)
    hosts = sum(name.startswith("hosts/") for name in files)
    tell(f"{output}: {len(made.names) - hosts} switches, {hosts} hosts, {made.links} cables, {len(files)} files")
    return 0
