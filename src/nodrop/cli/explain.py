"""`nodrop explain`: a rule's page."""

import click


@click.command()
@click.argument("name", metavar="RULE")
def command(name: str) -> None:
    """Explain a rule: what it finds, why that matters, what to do, and examples."""
    from nodrop.hardware import nearest
    from nodrop.lint.rules import shipped
    from nodrop.report.rules import page

    rules = {name: rule for rule in shipped() for name in (rule.name, *rule.aliases)}
    if name not in rules:
        raise click.UsageError(f"no rule {name!r} ({nearest(name, tuple(sorted(rules)))})")
    click.echo(page(rules[name]))
