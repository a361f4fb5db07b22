"""`nodrop hardware`: the known switches, NICs and media, and the facts of one of them."""

import click

from nodrop.cli.options import form_option


@click.command()
@form_option("text", "json")
@click.argument("model", required=False, metavar="[MODEL]")
def command(form: str, model: str | None) -> None:
    """List the hardware that is known, or show one model.

    Of every switch: its ports, its ASIC, the platforms that it is written for, and what no source says. Of one: ports,
    lanes, breakouts, names, memory, shipped pools and headroom tables, and the source of it all. NICs and media too.
    """
    from nodrop.cli.options import unknown
    from nodrop.cli.output import say
    from nodrop.report.hardware import listing, names, page

    if model is None:
        say(listing(form) + "\n")
        return
    if model not in names():
        raise click.UsageError(unknown("model", model, names()))
    say(page(model, form) + "\n")
