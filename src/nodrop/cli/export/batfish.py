"""`nodrop export batfish`: a snapshot of a fabric, as Batfish reads it."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import SectionedHelpCommand, add_site_options, output_folder_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

if TYPE_CHECKING:
    from nodrop.judging import CheckSettings


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@output_folder_option
@add_reading_options
@add_site_options
def command(paths: tuple[str, ...], output: str, stated: ReadingOptions, settings: "CheckSettings") -> int:
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
    from nodrop.cli.output import write_error_line
    from nodrop.cli.writing import write_folder
    from nodrop.export.batfish import LAYER1_FILE, SNAPSHOT_FILE_PATTERNS, build_snapshot, report_omissions

    reading = stated.read_fabric_or_report(paths, settings)
    if reading is None:
        write_error_line(f"nothing was written to {output}")
        return WRONG
    new_snapshot = build_snapshot(reading)
    write_folder(output, new_snapshot.files, SNAPSHOT_FILE_PATTERNS, mark=LAYER1_FILE)
    for line in report_omissions(new_snapshot):
        write_error_line(line)
    hosts = sum(name.startswith("hosts/") for name in new_snapshot.files)
    write_error_line(
        f"{output}: {len(new_snapshot.names) - hosts} switches, {hosts} hosts, "
        f"{new_snapshot.links} cables, {len(new_snapshot.files)} files"
    )
    return 0
