"""`nodrop explain`: a rule's page, or what a fabric has at a subject and where that comes from."""

import click

from nodrop.cli import completing
from nodrop.cli.options import unknown


@click.command()
@click.option("--at", metavar="SUBJECT", help="Explain what the configurations at PATH have there, and why.")
@click.argument("name", metavar="RULE | PATH", shell_complete=completing.rules)
def command(name: str, at: str | None) -> None:
    """Explain a rule, or a part of a fabric.

    Of a rule, its page in the rule book: what it finds and where, why that matters, what to do, its options, examples,
    references, and the other rules of its area.

    With --at, of an intent, a file or a folder of configurations: the value that stands at a subject, such as
    leaf1/Ethernet0/qos/priority_groups/3, the line that it comes from, or why nobody states it; for headroom, what it
    is made of and held against.
    """
    from nodrop.cli.output import say

    say(_rule(name) if at is None else _part(name, at))


def _rule(name: str) -> str:
    from nodrop.lint.rules import shipped
    from nodrop.report.rules import page

    rules = {name: rule for rule in shipped() for name in (rule.name, *rule.aliases)}
    if area := [rule.name for rule in shipped() if rule.area == name]:
        raise click.UsageError(f"{name} is an area; its rules: {', '.join(area)}")
    if name not in rules:
        raise click.UsageError(unknown("rule", name, rules))
    return page(rules[name], shipped()) + "\n"


def _part(path: str, at: str) -> str:
    from nodrop import platforms
    from nodrop.fabric.subject import parse
    from nodrop.judging import reading_at
    from nodrop.locate import place_of
    from nodrop.report.explained import text

    reading, subject = reading_at(path), parse(at)
    try:
        return text(reading, subject, place_of(subject, reading, platforms.where))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
