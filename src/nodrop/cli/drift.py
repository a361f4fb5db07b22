"""`nodrop drift`: compares running switches with the intended fabric."""

from dataclasses import replace
from functools import partial

import click

from nodrop.cli.choices import CheckChoices
from nodrop.cli.options import SectionedHelpCommand, add_check_report_options, no_cache_option
from nodrop.cli.planning import patch_option, rollout_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

DRIFT_FORMATS = ("text", "markdown", "json")


def _wrap_in_tuple(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, ...]:
    return (value,)


@click.command(cls=SectionedHelpCommand)
@click.argument("running", nargs=-1, required=True, metavar="RUNNING...", type=click.Path())
@click.argument("intents", metavar="INTENT", type=click.Path(), callback=_wrap_in_tuple)
@patch_option("make it equal to INTENT")
@rollout_option()
@no_cache_option
@add_reading_options
@add_check_report_options(DRIFT_FORMATS)
def command(
    running: tuple[str, ...],
    intents: tuple[str, ...],
    patch: str | None,
    rollout: str,
    stated: ReadingOptions,
    no_cache: bool,
    choices: CheckChoices,
) -> int:
    """Compare running configurations with the intended ones.

    RUNNING are files collected from switches, or folders of them, one for each switch: leaf1/config_db.json from
    `show runningconfiguration all` (SONiC), leaf1/startup.yaml from `nv config show -o yaml` (NVUE). INTENT is an
    intent, the folder of its build, or other intended configurations. Facts that one side does not state are listed
    separately, and are not drift. SONiC tables and NVUE settings outside the model (access lists, accounts) are
    compared by name, their values are not shown.

    Exit 1 if something differs, a switch is on one side only, or a finding reaches --fail-on.

    \b
    Examples:
      nodrop drift running intent.yaml
      nodrop drift running build --patch patches
    """
    from nodrop.checking.drifted import compare_with_wanted
    from nodrop.cli.main import FOUND, NOTHING
    from nodrop.cli.output import ProgressLine, emit_outcome, exit_code
    from nodrop.cli.patching import write_patches
    from nodrop.cli.working import open_command_settings, open_executor
    from nodrop.inputs import find_inputs
    from nodrop.report.drift_document import build_document

    if "-" in intents:
        raise click.UsageError("standard input can be what runs, not what is wanted; name a file or a folder")
    with open_command_settings(choices, (*running, *intents), no_cache=no_cache) as given_settings:
        settings = stated.with_stated_facts(replace(given_settings, both=True))
        collected = stated.inputs(running, settings)
        wanted_inputs = find_inputs(intents, exclude=settings.config.excludes)
        devices = max(len(inputs.bundles) for inputs in (collected, wanted_inputs))
        with open_executor(devices, choices.jobs) as executor, ProgressLine(quiet=choices.quiet) as progress:
            drift_report, (before, after) = compare_with_wanted(
                collected,
                wanted_inputs,
                intents[0],
                settings,
                executor,
                running_name=" ".join(running),
                rollout=rollout != "off",
                progress=progress,
            )
        if patch is not None and not drift_report.outcome.problems:
            write_patches(patch, [(drift_report.drift.plan, before, after)], choices.jobs)
        emit_outcome(
            drift_report.outcome,
            choices,
            kind="drift",
            result=drift_report,
            own=DRIFT_FORMATS,
            build_document=partial(build_document, drift_report),
        )
    code = exit_code(drift_report.outcome, choices.fail_on)
    return FOUND if code in (0, NOTHING) and not drift_report.drift.is_empty else code
