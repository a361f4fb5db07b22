"""`nodrop validate`: the behavior of the control plane of configurations, and whether other validators agree."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import Choices
from nodrop.cli.options import Sections, judging, no_cache, option

if TYPE_CHECKING:
    from nodrop.engine.rule import Rule
    from nodrop.judging import Settings
    from nodrop.results.outcome import Outcome
    from nodrop.validating.twin import Options

VALIDATORS = "Validators"
HERE = "127.0.0.1"
SERVICE = "NODROP_BATFISH"
"""The variable that names a Batfish service."""


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@option(VALIDATORS, "--batfish", metavar="HOST[:PORT]", help="Also ask a Batfish service.")
@option(
    VALIDATORS,
    "--against",
    metavar="OTHER",
    type=click.Path(),
    help="Report packets that OTHER delivers and PATH does not (Batfish).",
)
@option(VALIDATORS, "--twin", is_flag=True, help="Also run the fabric in real FRR daemons, as `nodrop twin` does.")
@option(
    VALIDATORS,
    "--all",
    "every",
    is_flag=True,
    help=f"Use both; the Batfish service is that of --batfish, else ${SERVICE}, else on this machine.",
)
@judging
@no_cache
def command(
    paths: tuple[str, ...],
    batfish: str | None,
    against: str | None,
    twin: bool,
    every: bool,
    no_cache: bool,
    choices: Choices,
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
    service = batfish or (os.environ.get(SERVICE) or HERE if every else None)
    if against is not None and (service is None or len(paths) > 1):
        raise click.UsageError("--against compares one PATH with another build, and asks Batfish: give --batfish HOST")
    options = None
    if twin or every:
        from nodrop.validating.twin import Options

        options = Options()
    return validated(paths, choices, Ask(batfish=service, against=against, twin=options), no_cache=no_cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Who else is asked: the service at an address, also how another build differs, and a twin run in some way."""

    batfish: str | None = None
    against: str | None = None
    twin: "Options | None" = None


def validated(paths: tuple[str, ...], choices: Choices, ask: Ask, *, no_cache: bool) -> int:
    """Validate the fabrics at some paths, report the findings, and return the exit code."""
    from nodrop.cli.output import Progress, emit, exit_code
    from nodrop.cli.working import at_work
    from nodrop.judging import chosen_rules, collecting, concluded, reading_at
    from nodrop.results.merged import merge_outcomes
    from nodrop.shared_identifiers import with_others

    observed = ask != Ask()
    rules = chosen_rules(choices.settings, files=False, failures=True, observed=observed)
    outcomes: list[Outcome] = []
    with at_work(choices, paths, no_cache=no_cache) as settings, Progress(quiet=choices.quiet) as progress:
        for path in paths:
            with collecting(outcomes):
                outcomes.append(_validate_fabric(path, settings, rules, ask, progress))
        if len(paths) > 1:
            reads = [partial(reading_at, fabric_outcome.name, settings) for fabric_outcome in outcomes]
            one_site = settings.config.path is not None
            outcomes = with_others(outcomes, reads, lambda: rules, settings, one_site=one_site)
    outcome = concluded(merge_outcomes(outcomes), choices.settings, failures=True, observed=observed)
    emit(outcome, choices)
    return exit_code(outcome, choices.fail_on)


def _validate_fabric(
    path: str,
    settings: "Settings",
    rules: "tuple[Rule, ...]",
    ask: Ask,
    progress: Callable[[str], None],
) -> "Outcome":
    from nodrop.judging import reading_at, run_rules
    from nodrop.model.identifiers import identifiers_of
    from nodrop.model.index import Index
    from nodrop.model.reading import Note
    from nodrop.report.routes import summarize_control_plane
    from nodrop.results.agreement import validation
    from nodrop.routing.observation import OBSERVATIONS
    from nodrop.validating import observations

    progress(f"reading {path}")
    reading = reading_at(path, settings)
    index = Index(reading.fabric)
    against = None if ask.against is None else reading_at(ask.against, settings)
    given_observations = observations(
        reading, index, batfish=ask.batfish, against=against, twin=ask.twin, progress=progress
    )
    seen = tuple(given_observations)
    index.set_value(OBSERVATIONS, seen)
    outcome = run_rules(reading, rules, settings, index=index, progress=progress)
    outcome = replace(outcome, identifiers=identifiers_of(reading.fabric), an_intent=reading.decided is not None)
    notes = tuple(Note(kind="routing", message=text) for text in summarize_control_plane(index))
    shown = (validation(index, seen),) if seen else ()
    return replace(outcome, name=path, notes=(*outcome.notes, *notes), validations=shown)
