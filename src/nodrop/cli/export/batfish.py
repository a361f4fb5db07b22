"""`nodrop export batfish`: a snapshot of a fabric, as Batfish reads it."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import Sections, configured, into
from nodrop.cli.reading import Stated, stating

if TYPE_CHECKING:
    from nodrop.judging import Settings


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@into
@stating
@configured
def command(paths: tuple[str, ...], output: str, stated: Stated, settings: "Settings") -> int:
    """Write a Batfish snapshot of a fabric.

    PATH is as for `nodrop lint`: configurations of one fabric, or an intent. DIR gets the configurations, cables
    and hosts in the form that Batfish reads (pybatfish: `init_snapshot("DIR")`).

    SONiC tables that Batfish does not read are left out. A switch with VRFs, port channels or VXLAN, and any switch
    that does not run SONiC, is written as Cumulus Linux. frr.conf is the switch's own if its files have one.
    Everything that Batfish cannot see is listed, with the reason.

    \b
    Example:
      nodrop export batfish intent.yaml -o snapshot
    """
    from nodrop.cli.main import WRONG
    from nodrop.cli.output import tell
    from nodrop.cli.writing import write_folder
    from nodrop.export.batfish import LAYER1, NAMES, report_omissions, snapshot

    reading = stated.whole(paths, settings)
    if reading is None:
        tell(f"nothing was written to {output}")
        return WRONG
    new_snapshot = snapshot(reading)
    write_folder(output, new_snapshot.files, NAMES, mark=LAYER1)
    for line in report_omissions(new_snapshot):
        tell(line)
    hosts = sum(name.startswith("hosts/") for name in new_snapshot.files)
    tell(
        f"{output}: {len(new_snapshot.names) - hosts} switches, {hosts} hosts, "
        f"{new_snapshot.links} cables, {len(new_snapshot.files)} files"
    )
    return 0
