"""`nodrop rules`: the list of rules, and which are on."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nodrop.cli import completing
from nodrop.cli.options import OUTPUT, SectionedHelpCommand, WordChoice, add_rule_options, grouped_option

if TYPE_CHECKING:
    from nodrop.judging import CheckSettings


@click.command(cls=SectionedHelpCommand)
@click.argument("areas", nargs=-1, metavar="[AREA|RULE]...", shell_complete=completing.complete_rules_and_areas)
@add_rule_options
@grouped_option(
    OUTPUT,
    "--format",
    "form",
    type=WordChoice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Output format.",
)
def command(areas: tuple[str, ...], settings: "CheckSettings", form: str) -> None:
    """List the rules: a summary, and one line for each.

    The list has the shipped rules and custom ones, by area, with their severity and message. A rule that is off has
    the reason: --ignore, nodrop.yaml, or a higher strictness. --format json lists all rules, also without AREA or
    RULE.

    \b
    Examples:
      nodrop rules
      nodrop rules buffers ecn
    """
    from nodrop.cli.output import write_output
    from nodrop.judging import list_rules
    from nodrop.report.rule_list import render

    write_output(render(list_rules(replace(settings, select=(*settings.select, *areas))), form))
