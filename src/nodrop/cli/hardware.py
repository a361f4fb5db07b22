"""`nodrop hardware`: the known switches, NICs and media, and the facts of one of them."""

import click

from nodrop.cli.options import form_option


@click.command()
@form_option("text", "json")
@click.argument("model", required=False, metavar="[MODEL]")
def command(form: str, model: str | None) -> None:
    """List the known switches, NICs and media, or show one model.

    The list has the ports, the ASIC and the platforms of each switch, and the data that nodrop lacks of it. The page
    of a MODEL has its ports, lanes, breakouts, port names, memory, shipped buffer pools and headroom tables, with
    their sources.

    \b
    Examples:
      nodrop hardware
      nodrop hardware SN5600
    """
    from nodrop.cli.options import unknown
    from nodrop.cli.output import say
    from nodrop.report.hardware import names, render_catalogue_list, render_model_page

    if model is None:
        say(render_catalogue_list(form) + "\n")
        return
    if model not in names():
        raise click.UsageError(unknown("model", model, names(), listed_by="nodrop hardware"))
    say(render_model_page(model, form) + "\n")
