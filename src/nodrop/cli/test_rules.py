"""`nodrop test-rules`: whether rules find the faults in their examples."""

from pathlib import Path

import click

from nodrop.cli import completing
from nodrop.cli.options import single_format_option, unknown_word_message


@click.command()
@click.argument("paths", nargs=-1, metavar="[DIR|FILE]...", type=click.Path())
@click.option(
    "--select",
    multiple=True,
    metavar="RULE,AREA",
    shell_complete=completing.complete_rules_and_areas,
    help="Test only these rules or areas (repeatable).",
)
@click.option(
    "--mutants", is_flag=True, help="Also change each condition slightly, and fail if no example notices the change."
)
@single_format_option("text", "json", "junit")
def command(paths: tuple[str, ...], select: tuple[str, ...], mutants: bool, form: str) -> int:
    """Test rules with their examples.

    DIR is a folder of rules (DIR/area/name.yaml), FILE is one rule. Without either, the folders under `rules` in
    the nearest nodrop.yaml are tested.

    Each example is a change of a small fabric. It is written for each platform that supports it, read back and
    checked: the rule must report exactly the subjects that the example names. It is an error if a rule's name is
    taken, its condition can never be true, or it uses an unknown name.

    \b
    Examples:
      nodrop test-rules rules
      nodrop test-rules rules/hosts/mtu-of-servers.yaml --mutants
    """
    from nodrop.cli.main import FOUND
    from nodrop.cli.output import write_output
    from nodrop.engine.site_rules import load_rules_to_test
    from nodrop.report.rule_tests import render
    from nodrop.rule_tests import run_rule_examples

    rules = load_rules_to_test(tuple(map(Path, paths)) or _configured_rule_folders())
    known_words = {word for rule in rules for word in (rule.name, rule.area, *rule.aliases)}
    selected_words = {word.strip() for value in select for word in value.split(",")}
    if wrong := sorted(selected_words - known_words):
        raise click.UsageError(unknown_word_message("rule or area", wrong[0], known_words))
    chosen = [rule for rule in rules if not selected_words or selected_words & {rule.name, rule.area, *rule.aliases}]
    results = list(run_rule_examples(chosen, mutants=mutants))
    write_output(render(results, form))
    return FOUND if any(rule_test.faults for rule_test in results) else 0


def _configured_rule_folders() -> tuple[Path, ...]:
    """Return the folders of rules that the nearest configuration names."""
    from nodrop.config import find_config_file, load

    path = find_config_file(())
    folders = load(path).rules if path is not None else ()
    if not folders:
        raise click.UsageError("no folder of rules; expected DIR or FILE, or `rules: [DIR]` in nodrop.yaml")
    return folders
