"""`nodrop rules`: the list of rules, and which are on."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import OUTPUT, Sections, Word, choosing, option

if TYPE_CHECKING:
    from nodrop.judging import Settings


@click.command(cls=Sections)
@choosing
@option(
    OUTPUT,
    "--format",
    "form",
    type=Word(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def command(settings: "Settings", form: str) -> None:
    """List the rules.

    Name, area, severity, and why it matters: of the rules that are shipped, and of a site's own. A rule that is off
    says why: it was ignored, a nodrop.yaml turns it off, or it waits for a stricter reader. JSON has all of them, the
    others only those that were selected.
    """
    from nodrop.cli.output import say
    from nodrop.judging import list_rules
    from nodrop.report.rule_list import render

    say(render(list_rules(settings), form))
