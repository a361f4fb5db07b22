"""`nodrop export containerlab`: a lab of virtual switches, wired and configured as the fabric is."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import OUTPUT, SectionedHelpCommand, add_site_options, grouped_option, output_folder_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

if TYPE_CHECKING:
    from nodrop.judging import CheckSettings


def _image_help() -> str:
    from nodrop.platforms import default_platform
    from nodrop.platforms.kit.virtual_switches import virtual_switch_modules_by_platform

    able = sorted(virtual_switch_modules_by_platform(), key=lambda platform: (platform != default_platform(), platform))
    return f"Image of the switches of a platform ({', '.join(able)}), or of hosts (repeatable)."


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@output_folder_option
@grouped_option(
    OUTPUT,
    "--image",
    "named",
    multiple=True,
    metavar="PLATFORM=IMAGE",
    described=_image_help,
)
@add_reading_options
@add_site_options
def command(
    paths: tuple[str, ...], output: str, named: tuple[str, ...], stated: ReadingOptions, settings: "CheckSettings"
) -> int:
    """Write a containerlab topology of a fabric.

    PATH is as for `nodrop lint`: configurations of one fabric, or an intent. DIR gets a topology file and the
    startup files of each switch. SONiC runs as a container (SONiC-VS), Cumulus Linux as a virtual machine (Cumulus
    VX). You provide the images.

    The files of switches are used as they are, except for settings that an image does not support. Each of these
    changes is printed, and listed at the head of the topology file.

    \b
    Example:
      nodrop export containerlab intent.yaml -o lab
    """
    from nodrop.cli.main import WRONG
    from nodrop.cli.output import write_error_line
    from nodrop.cli.writing import write_folder
    from nodrop.export.containerlab import export_lab, image_keys, lab_file_patterns

    chosen = _parse_image_options(named, image_keys())
    reading = stated.read_fabric_or_report(paths, settings)
    if reading is None:
        write_error_line(f"nothing was written to {output}")
        return WRONG
    new_lab = export_lab(reading, chosen)
    write_folder(output, new_lab.files, lab_file_patterns(), mark=new_lab.topology)
    for text in (*new_lab.remarks, *(f"changed: {change}" for change in new_lab.changed)):
        write_error_line(text)
    write_error_line(
        f"{output}: {new_lab.switches} switches, {new_lab.hosts} hosts, "
        f"{new_lab.cables} cables, {len(new_lab.files)} files"
    )
    write_error_line(f"start it with: containerlab deploy -t {output}/{new_lab.topology}")
    return 0


def _parse_image_options(image_options: tuple[str, ...], platforms: tuple[str, ...]) -> dict[str, str]:
    from nodrop.cli.options import unknown_word_message

    chosen: dict[str, str] = {}
    for text in image_options:
        name, equals, image = text.partition("=")
        if not equals or not image or not image.isprintable() or " " in image:
            raise click.UsageError(f"--image {text}: expected PLATFORM=IMAGE")
        if name not in platforms:
            raise click.UsageError(unknown_word_message("platform", name, platforms))
        chosen[name] = image
    return chosen
