"""`nodrop rules`: the list of rules."""

import click

from nodrop.cli.options import form_option


@click.command()
@form_option("text", "json", "markdown")
def command(form: str) -> None:
    """List the rules.

    Name, area, severity, and why it matters; --select and --ignore take names and areas.
    """
    from nodrop.cli.output import say
    from nodrop.lint.rules import shipped
    from nodrop.report.rules import rule_list

    say(rule_list(shipped(), form) + "\n")
