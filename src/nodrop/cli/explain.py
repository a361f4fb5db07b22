"""`nodrop explain`: a rule's page, the value of a fabric at a subject and its source, or a rule's view of it."""

from typing import TYPE_CHECKING

import click

from nodrop.cli import completing
from nodrop.cli.options import INPUT, SectionedHelpCommand, add_site_options, grouped_option, unknown_word_message

if TYPE_CHECKING:
    from nodrop.judging import CheckSettings


@click.command(cls=SectionedHelpCommand)
@click.argument("words", nargs=-1, required=True, metavar="[RULE] [PATH]", shell_complete=completing.complete_rules)
@grouped_option(INPUT, "--at", metavar="SUBJECT", help="Explain the values at this part of the fabric at PATH.")
@grouped_option(
    INPUT,
    "--platform",
    metavar="NAME",
    shell_complete=completing.complete_platforms,
    help="Show the examples of the rule on this platform; with PATH, read every file as this platform's.",
)
@add_site_options
def command(words: tuple[str, ...], at: str | None, platform: str | None, settings: "CheckSettings") -> None:
    """Explain a rule, a part of a fabric, or a finding.

    \b
    nodrop explain RULE                     the page of the rule: fault, reason, remedy, examples
    nodrop explain RULE --platform NAME     its examples as configurations of a platform
    nodrop explain --at SUBJECT PATH        the values of a part, with the line or reason of each
    nodrop explain RULE --at SUBJECT PATH   the values that the rule used there, and the text to change

    SUBJECT is what lint shows after ^^^ or the first =, such as leaf1/@bgp, leaf1/Ethernet0 or
    leaf1/Ethernet0/qos/priority_groups/3. PATH is an intent, a file or a folder of configurations.
    The page of a part begins with a summary of at most ten lines: kind, place, worst finding and
    remedy. For headroom, the summands of the computed size are shown too.

    \b
    Examples:
      nodrop explain pfc-without-watchdog
      nodrop explain --at leaf1/@bgp intent.yaml
      nodrop explain pfc-without-watchdog --at leaf1/Ethernet0 intent.yaml
    """
    from nodrop import platforms
    from nodrop.cli.output import write_output

    if platform is not None and platform not in platforms.platform_names():
        raise click.UsageError(unknown_word_message("platform", platform, platforms.platform_names()))
    max_words = 1 if at is None else 2
    if len(words) > max_words:
        raise click.UsageError(f"{len(words)} words; expected {'RULE' if at is None else 'RULE PATH, or PATH'}")
    try:
        write_output(_render_explanation(words, at, settings, platform))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _render_explanation(words: tuple[str, ...], at: str | None, settings: "CheckSettings", platform: str | None) -> str:
    """Return the page; ValueError where a rule or a subject is not there."""
    from nodrop.explaining import render_rule_at_subject, rule_of_name
    from nodrop.judging import all_rules
    from nodrop.report import rule_on, rules
    from nodrop.results.rulings import BUILTIN_VERDICTS

    if at is not None:
        return (
            render_rule_at_subject(words[0], at, words[1], settings, platform)
            if words[1:]
            else _render_subject_page(words[0], at, settings, platform)
        )
    if words[0] in BUILTIN_VERDICTS:
        return BUILTIN_VERDICTS[words[0]].page
    rule = rule_of_name(words[0], settings)
    return (
        rules.render_rule_page(rule, all_rules(settings.config, settings.store)) + "\n"
        if platform is None
        else rule_on.render_rule_examples(rule, platform)
    )


def _render_subject_page(path: str, at: str, settings: "CheckSettings", platform: str | None) -> str:
    from nodrop import platforms
    from nodrop.fabric_readings import read_fabric_at_path
    from nodrop.judging import chosen_rules, run_rules
    from nodrop.locate import place_of
    from nodrop.model.edit import get_value
    from nodrop.model.subject import parse_subject
    from nodrop.report.explained import render_explanation

    reading, subject = read_fabric_at_path(path, settings, platform), parse_subject(at)
    get_value(reading.fabric, subject)
    place = place_of(subject, reading, platforms.make_place_finder)
    return render_explanation(reading, subject, place, run_rules(reading, chosen_rules(settings), settings))
