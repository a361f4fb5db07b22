"""`nodrop lint`: the faults of configurations, own or foreign."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import CheckChoices
from nodrop.cli.options import SectionedHelpCommand, add_judging_options, no_cache_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from nodrop.inputs import FabricInputs, FileText
    from nodrop.judging import CheckSettings
    from nodrop.results.outcome import FabricOutcome

ASSUMED_DEVICES_PER_INTENT = 25
"""A guess, by which it is decided whether processes are worth starting for several intents."""


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@add_reading_options
@add_judging_options
@no_cache_option
def command(
    paths: tuple[str, ...],
    stated: ReadingOptions,
    no_cache: bool,
    choices: CheckChoices,
) -> int:
    """Check configurations or intents for RoCE faults.

    PATH is a file, a folder, or `-` for standard input. Files in one folder under their usual names
    (config_db.json, frr.conf) are one device; any other file is a separate device. NIC settings of hosts are checked
    with the switches. An intent is linted by its generated configurations. A fabric.yaml beside PATH states facts that
    configurations lack (cables, models, classes).

    Routing rules check the computed sessions and routes; `nodrop validate` adds failures. With -v, files that are not
    configurations are listed.

    \b
    Examples:
      nodrop lint config_db.json
      ssh leaf1 show runningconfiguration all | nodrop lint -
    """
    from nodrop.cli.output import emit_outcome, exit_code
    from nodrop.cli.working import open_result_cache
    from nodrop.fabric_readings import read_fabric_or_intent
    from nodrop.judging import add_faults_of_configured_suppressions, chosen_rules
    from nodrop.results.merged import merge_outcomes
    from nodrop.results.outcome import ReadAndIgnoredFiles
    from nodrop.shared_identifiers import add_shared_identifier_findings

    with open_result_cache(paths, nothing=no_cache, verbose=choices.verbose) as store:
        settings = stated.with_stated_facts(replace(choices.settings, store=store))
        inputs = stated.inputs(paths, settings)
        fabrics: list[FabricInputs | FileText] = [*inputs.fabrics(), *inputs.all_intents()]
        tasks = [_FabricCheckTask(what=fabric, settings=settings) for fabric in fabrics]
        outcomes = _lint_all_fabrics(tasks, choices)
        if len(tasks) > 1:
            reads = [partial(read_fabric_or_intent, task.what, settings) for task in tasks]
            one_site = settings.config.path is not None
            outcomes = add_shared_identifier_findings(
                outcomes, reads, partial(chosen_rules, settings), settings, one_site=one_site
            )
        outcome = add_faults_of_configured_suppressions(merge_outcomes(outcomes), settings)
        outcome = replace(outcome, files=ReadAndIgnoredFiles.of(inputs))
    emit_outcome(outcome, replace(choices, settings=settings))
    return exit_code(outcome, choices.fail_on)


def _lint_all_fabrics(tasks: "list[_FabricCheckTask]", choices: CheckChoices) -> "list[FabricOutcome]":
    """Judge fabrics: one with all processes for its devices, several each in a process."""
    from nodrop.cli.output import ProgressLine
    from nodrop.cli.working import open_executor
    from nodrop.parallel import map_chunks

    with (
        open_executor(sum(map(_estimate_device_count, tasks)), choices.jobs) as executor,
        ProgressLine(quiet=choices.quiet) as progress,
    ):
        if len(tasks) == 1:
            return [_lint_fabric(tasks[0], executor, progress)]
        outcomes = []
        for outcome in map_chunks(_lint_fabric, tasks, executor=executor, chunk=1):
            outcomes.append(outcome)
            progress(f"checked: {len(outcomes)} of {len(tasks)} fabrics")
        return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class _FabricCheckTask:
    """A fabric to judge: files of switches, or an intent."""

    what: "FabricInputs | FileText"
    settings: "CheckSettings"


def _estimate_device_count(task: _FabricCheckTask) -> int:
    """Return an estimate of a fabric's devices; the size of an intent's fabric is unknown before it is read."""
    from nodrop.inputs import FabricInputs

    return len(task.what.bundles) if isinstance(task.what, FabricInputs) else ASSUMED_DEVICES_PER_INTENT


def _lint_fabric(
    task: _FabricCheckTask, executor: "Executor | None" = None, progress: "Callable[[str], None] | None" = None
) -> "FabricOutcome":
    """Judge one fabric; its devices are read by the executor if there is one."""
    from nodrop.collect import find_stage_files_contradicting_devices
    from nodrop.inputs import FabricInputs
    from nodrop.judging import turn_input_problems_into_outcome
    from nodrop.outcome_cache import check_or_recall_outcome

    source, settings = task.what, task.settings
    outcomes: list[FabricOutcome] = []
    with turn_input_problems_into_outcome(outcomes):
        outcomes.append(check_or_recall_outcome(source, settings, executor, progress))
    (outcome,) = outcomes
    if isinstance(source, FabricInputs) and source.stages:
        outcome = replace(outcome, problems=(*outcome.problems, *find_stage_files_contradicting_devices(source)))
    return replace(outcome, name=source.folder_of_fabric if isinstance(source, FabricInputs) else source.display)
