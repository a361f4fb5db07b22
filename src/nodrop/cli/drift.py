"""`nodrop drift`: compares running switches with the intended fabric."""

from dataclasses import replace

import click

from nodrop.cli.choices import Choices
from nodrop.cli.options import Sections, judging_into, no_cache
from nodrop.cli.planning import patch_option, rollout_option
from nodrop.cli.reading import Stated, stating

DRIFT_FORMATS = ("text", "markdown", "json")


def _wrap_in_tuple(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, ...]:
    return (value,)


@click.command(cls=Sections)
@click.argument("running", nargs=-1, required=True, metavar="RUNNING...", type=click.Path())
@click.argument("intents", metavar="INTENT", type=click.Path(), callback=_wrap_in_tuple)
@patch_option("make it equal to INTENT")
@rollout_option()
@no_cache
@stating
@judging_into(DRIFT_FORMATS)
def command(
    running: tuple[str, ...],
    intents: tuple[str, ...],
    patch: str | None,
    rollout: str,
    stated: Stated,
    no_cache: bool,
    choices: Choices,
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
    from nodrop.cli.output import Progress, emit, exit_code
    from nodrop.cli.patching import patched
    from nodrop.cli.working import at_work, working
    from nodrop.inputs import find

    if "-" in intents:
        raise click.UsageError("standard input can be what runs, not what is wanted; name a file or a folder")
    with at_work(choices, (*running, *intents), no_cache=no_cache) as given_settings:
        settings = stated.settings(replace(given_settings, both=True))
        collected = stated.inputs(running, settings)
        wanted_inputs = find(intents, exclude=settings.config.excludes)
        devices = max(len(inputs.bundles) for inputs in (collected, wanted_inputs))
        with working(devices, choices.jobs) as executor, Progress(quiet=choices.quiet) as progress:
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
            patched(patch, [(drift_report.drift.plan, before, after)], choices.jobs)
        emit(drift_report.outcome, choices, kind="drift", result=drift_report, own=DRIFT_FORMATS)
    code = exit_code(drift_report.outcome, choices.fail_on)
    return FOUND if code in (0, NOTHING) and not drift_report.drift.empty else code
