"""`nodrop explain`: a rule's page."""

import click

from nodrop.cli.options import unknown


@click.command()
@click.argument("name", metavar="RULE")
def command(name: str) -> None:
    """Explain a rule.

    What it finds, why that matters, what to do, its options, examples and references.
    """
    from nodrop.cli.output import say
    from nodrop.lint.rules import shipped
    from nodrop.report.rules import page

    rules = {name: rule for rule in shipped() for name in (rule.name, *rule.aliases)}
    if area := [rule.name for rule in shipped() if rule.area == name]:
        raise click.UsageError(f"{name} is an area; its rules: {', '.join(area)}")
    if name not in rules:
        raise click.UsageError(unknown("rule", name, rules))
    say(page(rules[name]) + "\n")
