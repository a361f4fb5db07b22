"""`nodrop hardware`: the known switches, NICs and media, and the facts of one of them."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import single_format_option, unknown_word_message

if TYPE_CHECKING:
    from nodrop.report.hardware import SwitchListFilters


@click.command()
@single_format_option("text", "json")
@click.option("--asic", metavar="NAME", help="List switches with this ASIC, such as spectrum-4.")
@click.option("--speed", metavar="SPEED", help="List switches with ports of this speed, such as 400G.")
@click.option("--platform", metavar="NAME", help="List switches for which this network OS is written.")
@click.option("--release", metavar="RELEASE", help="List switches that this release has, such as 202505.")
@click.argument("model", required=False, metavar="[MODEL]")
def command(
    form: str, asic: str | None, speed: str | None, platform: str | None, release: str | None, model: str | None
) -> None:
    """List the known switches, NICs and media, or show one model.

    The list has the ports, the ASIC and the platforms of each switch, and the data that nodrop lacks of it. The page
    of a MODEL says what it can be in a fabric, with which splits, and which media join it to which NIC. It has ports,
    lanes, breakouts, port names, memory, buffer pools and headroom tables, with their sources.

    \b
    Examples:
      nodrop hardware
      nodrop hardware --asic spectrum-4 --speed 400G --release 5.16
      nodrop hardware SN5600
    """
    from nodrop.cli.output import write_output
    from nodrop.report.hardware import SwitchListFilters, names_with_pages, render_catalogue_list, render_model_page

    filters = _parse_switch_filters(asic, speed, platform, release)
    if model is None:
        listed = render_catalogue_list(form, filters)
        write_output(listed + "\n")
        return
    if filters != SwitchListFilters():
        raise click.UsageError("--asic, --speed, --platform and --release filter the list; expected no MODEL")
    if model not in names_with_pages():
        raise click.UsageError(unknown_word_message("model", model, names_with_pages(), listed_by="nodrop hardware"))
    write_output(render_model_page(model, form) + "\n")


def _parse_switch_filters(
    asic: str | None, speed: str | None, platform: str | None, release: str | None
) -> "SwitchListFilters":
    """Return what is asked of switches; BadParameter for a word that is not known."""
    from nodrop import platforms
    from nodrop.hardware import asics
    from nodrop.platforms.kit.traits import traits_of_platform
    from nodrop.report.hardware import SwitchListFilters
    from nodrop.units import MalformedText, parse_speed_mbps

    writable = platforms.writable_platforms()
    if asic is not None and asic not in asics():
        raise click.BadParameter(unknown_word_message("ASIC", asic, asics()), param_hint="'--asic'")
    if platform is not None and platform not in writable:
        raise click.BadParameter(unknown_word_message("platform", platform, writable), param_hint="'--platform'")
    if release is not None:
        releases = {
            each: name for name in ([platform] if platform else writable) for each in traits_of_platform(name).releases
        }
        if release not in releases:
            raise click.BadParameter(unknown_word_message("release", release, releases), param_hint="'--release'")
        platform = releases[release]
    try:
        return SwitchListFilters(asic, None if speed is None else parse_speed_mbps(speed), platform, release)
    except MalformedText as error:
        raise click.BadParameter(f"{speed!r}: {error}", param_hint="'--speed'") from None
