"""`nodrop size`: how many switches, cables and modules a fabric of so many GPUs takes."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import SectionedHelpCommand, single_format_option
from nodrop.cli.size_options import add_size_options, compute_for_request

if TYPE_CHECKING:
    from nodrop.sizing.request import SizeRequest


@click.command(cls=SectionedHelpCommand)
@add_size_options(needs_gpus=True)
@single_format_option("text", "json")
def command(form: str, request: "SizeRequest", **_: str) -> None:
    """Compute the fewest switches for a number of GPUs, with cables and modules.

    The page lists switches by tier, panel ports in use, cables by medium and length, and modules. One to three tiers
    are tried. Every leaf has equally many links to each spine. `nodrop init` with the same options writes the intent.

    \b
    Examples:
      nodrop size --gpus 512 --nics 8 --rails --leaf SN5600 --storage 16x2x400G
      nodrop size --gpus 16384 --leaf SN5600 --ratio 2:1 --format json
    """
    from nodrop.cli.output import write_output
    from nodrop.report.document_text import render
    from nodrop.report.json import encode_json_document
    from nodrop.report.size_document import build_size_document, size_facts
    from nodrop.sizing.request import size_request

    facts = size_facts(compute_for_request(size_request, request), request)
    write_output(encode_json_document(facts).decode() if form == "json" else render(build_size_document(facts)))
