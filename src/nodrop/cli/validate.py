"""`nodrop validate`: the behavior of the control plane of configurations, and whether other validators agree."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import CheckChoices
from nodrop.cli.options import SectionedHelpCommand, add_judging_options, grouped_option, no_cache_option

if TYPE_CHECKING:
    from nodrop.engine.rule import Rule
    from nodrop.judging import CheckSettings
    from nodrop.results.outcome import FabricOutcome
    from nodrop.validating.twin import TwinOptions

VALIDATORS_HELP_SECTION = "Validators"
LOCAL_HOST_ADDRESS = "127.0.0.1"
BATFISH_SERVICE_VARIABLE = "NODROP_BATFISH"
"""The variable that names a Batfish service."""


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@grouped_option(VALIDATORS_HELP_SECTION, "--batfish", metavar="HOST[:PORT]", help="Also ask a Batfish service.")
@grouped_option(
    VALIDATORS_HELP_SECTION,
    "--against",
    metavar="OTHER",
    type=click.Path(),
    help="Report packets that OTHER delivers and PATH does not (Batfish).",
)
@grouped_option(
    VALIDATORS_HELP_SECTION,
    "--twin",
    is_flag=True,
    help="Also run the fabric in real FRR daemons, as `nodrop twin` does.",
)
@grouped_option(
    VALIDATORS_HELP_SECTION,
    "--all",
    "every",
    is_flag=True,
    help=f"Use both; the Batfish service is that of --batfish, else ${BATFISH_SERVICE_VARIABLE}, else on this machine.",
)
@add_judging_options
@no_cache_option
def command(
    paths: tuple[str, ...],
    batfish: str | None,
    against: str | None,
    twin: bool,
    every: bool,
    no_cache: bool,
    choices: CheckChoices,
) -> int:
    """Compute BGP sessions, routes and failures, and check them.

    PATH is as for `nodrop lint`. From the configurations, nodrop computes which sessions come up, which addresses
    are reached over how many equal paths, and what remains after failures. The routing rules of `nodrop lint` run,
    and the rules about failures and other validators, which only this command has.

    Batfish and FRR daemons can validate the same fabric. Faults that they see are findings too; a table shows for
    each check where all agree, where they differ, and what each cannot see.

    \b
    Examples:
      nodrop validate intent.yaml
      nodrop validate build --batfish localhost
    """
    if batfish == "":
        raise click.UsageError("--batfish is empty: give HOST or HOST:PORT, or leave the option out")
    service = batfish or (os.environ.get(BATFISH_SERVICE_VARIABLE) or LOCAL_HOST_ADDRESS if every else None)
    if against is not None and (service is None or len(paths) > 1):
        raise click.UsageError("--against compares one PATH with another build, and asks Batfish: give --batfish HOST")
    options = None
    if twin or every:
        from nodrop.validating.twin import TwinOptions

        options = TwinOptions()
    return validate_and_report(
        paths, choices, ValidatorRequest(batfish=service, against=against, twin=options), no_cache=no_cache
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorRequest:
    """Who else is asked: the service at an address, also how another build differs, and a twin run in some way."""

    batfish: str | None = None
    against: str | None = None
    twin: "TwinOptions | None" = None


def validate_and_report(paths: tuple[str, ...], choices: CheckChoices, ask: ValidatorRequest, *, no_cache: bool) -> int:
    """Validate the fabrics at some paths, report the findings, and return the exit code."""
    from nodrop.cli.output import ProgressLine, emit_outcome, exit_code
    from nodrop.cli.working import open_command_settings
    from nodrop.fabric_readings import read_fabric_at_path
    from nodrop.judging import add_faults_of_configured_suppressions, chosen_rules, turn_input_problems_into_outcome
    from nodrop.results.merged import merge_outcomes
    from nodrop.shared_identifiers import add_shared_identifier_findings

    observed = ask != ValidatorRequest()
    rules = chosen_rules(choices.settings, files=False, failures=True, observed=observed)
    outcomes: list[FabricOutcome] = []
    with (
        open_command_settings(choices, paths, no_cache=no_cache) as settings,
        ProgressLine(quiet=choices.quiet) as progress,
    ):
        for path in paths:
            with turn_input_problems_into_outcome(outcomes):
                outcomes.append(_validate_fabric(path, settings, rules, ask, progress))
        if len(paths) > 1:
            reads = [partial(read_fabric_at_path, fabric_outcome.name, settings) for fabric_outcome in outcomes]
            one_site = settings.config.path is not None
            outcomes = add_shared_identifier_findings(outcomes, reads, lambda: rules, settings, one_site=one_site)
    outcome = add_faults_of_configured_suppressions(
        merge_outcomes(outcomes), choices.settings, failures=True, observed=observed
    )
    emit_outcome(outcome, choices)
    return exit_code(outcome, choices.fail_on)


def _validate_fabric(
    path: str,
    settings: "CheckSettings",
    rules: "tuple[Rule, ...]",
    ask: ValidatorRequest,
    progress: Callable[[str], None],
) -> "FabricOutcome":
    from nodrop.fabric_readings import read_fabric_at_path
    from nodrop.judging import run_rules
    from nodrop.model.identifiers import identifiers_of
    from nodrop.model.index import Index
    from nodrop.model.reading import Note
    from nodrop.report.routes import summarize_control_plane
    from nodrop.results.agreement import compare_validators_by_check
    from nodrop.routing.observation import OBSERVATIONS_CHANNEL
    from nodrop.validating import run_validators

    progress(f"reading {path}")
    reading = read_fabric_at_path(path, settings)
    index = Index(reading.fabric)
    against = None if ask.against is None else read_fabric_at_path(ask.against, settings)
    given_observations = run_validators(
        reading, index, batfish=ask.batfish, against=against, twin=ask.twin, progress=progress
    )
    seen = tuple(given_observations)
    index.set_channel_value(OBSERVATIONS_CHANNEL, seen)
    outcome = run_rules(reading, rules, settings, index=index, progress=progress)
    outcome = replace(outcome, identifiers=identifiers_of(reading.fabric), an_intent=reading.decided is not None)
    notes = tuple(Note(kind="routing", message=text) for text in summarize_control_plane(index))
    shown = (compare_validators_by_check(index, seen),) if seen else ()
    return replace(outcome, name=path, notes=(*outcome.notes, *notes), validations=shown)
