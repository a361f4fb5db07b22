"""`nodrop rules`: the list of rules."""

import click


@click.command()
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def command(form: str) -> None:
    """List the rules: name, severity, modes and what they find."""
    from nodrop.lint.rules import shipped
    from nodrop.report.rules import rule_list

    click.echo(rule_list(shipped(), form))
