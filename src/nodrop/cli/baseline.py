"""`nodrop baseline`: records today's findings to report them no more unless their facts change."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import INPUT, OUTPUT, SectionedHelpCommand, add_rule_options, grouped_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

if TYPE_CHECKING:
    from nodrop.inputs import FabricInputs, FileText
    from nodrop.judging import CheckSettings
    from nodrop.results.outcome import FabricOutcome


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@grouped_option(
    OUTPUT,
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="File to write.  [default: `baseline` of nodrop.yaml, else nodrop.baseline.yaml beside it, or here]",
)
@grouped_option(OUTPUT, "--prune", is_flag=True, help="Remove entries of findings that no longer occur.")
@grouped_option(INPUT, "--routing", is_flag=True, help="Also record findings about failures (see `nodrop validate`).")
@add_reading_options
@add_rule_options
def command(
    paths: tuple[str, ...],
    output: str | None,
    prune: bool,
    routing: bool,
    stated: ReadingOptions,
    settings: "CheckSettings",
) -> int:
    """Record today's findings so that only new ones are reported.

    PATH is as for `nodrop lint`. A finding whose facts change is reported again. Suppressed findings are not
    recorded.

    If the file exists, new findings are added. Entries of findings that no longer occur remain, unless --prune is
    given.

    nodrop uses the file that nodrop.yaml names (`baseline: nodrop.baseline.yaml`), or --baseline.

    \b
    Examples:
      nodrop baseline configs
      nodrop lint configs --baseline nodrop.baseline.yaml
    """
    from nodrop.cli.main import NOTHING, WRONG
    from nodrop.cli.output import write_error_line
    from nodrop.engine.baseline import BASELINE_FILE, Baseline, format_baseline, load
    from nodrop.errors import describe_os_failure
    from nodrop.fabric_readings import read_fabric_or_intent
    from nodrop.judging import chosen_rules, update_baseline
    from nodrop.publish.file import replace_file
    from nodrop.publish.landing import resolve_real_output_path
    from nodrop.results.merged import merge_outcomes
    from nodrop.shared_identifiers import add_shared_identifier_findings

    config = settings.config
    beside = config.path.parent if config.path is not None else Path()
    path = Path(output) if output else config.baseline or beside / BASELINE_FILE
    settings = replace(
        stated.with_stated_facts(replace(settings, both=routing)),
        whole=False,
        advised=False,
        config=replace(config, baseline=None),
    )
    try:
        output_path = Path(resolve_real_output_path(path))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {path}: {describe_os_failure(error)}") from None
    before = load(output_path, str(path)) if output_path.exists() else Baseline()
    inputs = stated.inputs(paths, settings)
    fabrics: list[FabricInputs | FileText] = [*inputs.fabrics(), *inputs.all_intents()]
    outcomes = [_check_fabric(fabric, settings, routing=routing) for fabric in fabrics]
    if len(fabrics) > 1:
        rules, reads = (
            partial(chosen_rules, settings),
            [partial(read_fabric_or_intent, fabric, settings) for fabric in fabrics],
        )
        outcomes = add_shared_identifier_findings(outcomes, reads, rules, settings, one_site=config.path is not None)
    outcome = merge_outcomes(outcomes)
    for problem in outcome.problems:
        write_error_line(f"error: {problem}")
    if outcome.problems:
        write_error_line(f"nothing was written to {path}")
        return WRONG
    if not outcome.devices and not outcome.hosts:
        write_error_line("nothing to check")
        return NOTHING
    baseline_update = update_baseline(before, outcome, settings, prune=prune)
    try:
        replace_file(path, format_baseline(baseline_update.baseline).encode())
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {path}: {describe_os_failure(error)}") from None
    write_error_line(f"{path}: {baseline_update}")
    return 0


def _check_fabric(source: "FabricInputs | FileText", settings: "CheckSettings", *, routing: bool) -> "FabricOutcome":
    from nodrop.fabric_readings import read_fabric_or_intent
    from nodrop.inputs import FabricInputs
    from nodrop.judging import chosen_rules, run_rules, turn_input_problems_into_outcome
    from nodrop.model.identifiers import identifiers_of

    outcomes: list[FabricOutcome] = []
    with turn_input_problems_into_outcome(outcomes):
        reading = read_fabric_or_intent(source, settings)
        rule = run_rules(reading, chosen_rules(settings, failures=routing), settings)
        outcomes.append(
            replace(rule, identifiers=identifiers_of(reading.fabric), an_intent=not isinstance(source, FabricInputs))
        )
    (outcome,) = outcomes
    return replace(outcome, name=source.folder_of_fabric if isinstance(source, FabricInputs) else source.display)
