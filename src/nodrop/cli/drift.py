"""`nodrop drift`: compares running switches with the intended fabric."""

from dataclasses import replace

import click

from nodrop.cli.choices import Choices
from nodrop.cli.options import Sections, judging_into, no_cache
from nodrop.cli.planning import patch_option, rollout_option
from nodrop.cli.reading import Stated, stating

FORMATS = ("text", "markdown", "json")


def _wrap_in_tuple(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, ...]:
    return (value,)


@click.command(cls=Sections)
@click.argument("running", nargs=-1, required=True, metavar="RUNNING...", type=click.Path())
@click.argument("intents", metavar="INTENT", type=click.Path(), callback=_wrap_in_tuple)
@patch_option("get back to INTENT; replaced as a whole")
@rollout_option(after="are wanted", before="run")
@no_cache
@stating
@judging_into(FORMATS)
def command(
    running: tuple[str, ...],
    intents: tuple[str, ...],
    patch: str | None,
    rollout: str,
    stated: Stated,
    no_cache: bool,
    choices: Choices,
) -> int:
    """Show where switches run otherwise than is wanted.

    RUNNING are files collected from switches as they run, or folders of them, one for each switch; docs/collecting.md
    says how to get them. INTENT is an intent, the folder of its build, or any other configurations that are wanted.

    Told are switches that were not collected, or that INTENT does not have; and of the others, the facts that differ:
    what runs, and what is wanted. What one side does not say is no drift, and told apart; neither is what a switch
    writes into its configuration by itself (its MAC address, default tables), which -v tells. What else the tables of
    SONiC or the settings of NVUE have otherwise (access lists, accounts) is told by table and row, never with values;
    of files that are lines, such as frr.conf, the facts alone are compared. Findings are those that the running files
    have, and INTENT has not. With each fact stands what the way back does to the switch, and last in
    which order switches may be changed, as `nodrop plan` tells it.

    --patch writes a folder for each switch that differs: what its own tool takes, as `nodrop fix --patch` does, files
    whole where that cannot make the change, and in by-hand.txt what is left to a person.

    Exit 1 where something differs, a switch was not collected or is not wanted, or such a finding reaches --fail-on.
    """
    from nodrop.checking.drifted import drifted
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
            drift_report, (before, after) = drifted(
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
        emit(drift_report.outcome, choices, kind="drift", told=drift_report, own=FORMATS)
    code = exit_code(drift_report.outcome, choices.fail_on)
    return FOUND if code in (0, NOTHING) and not drift_report.drift.empty else code
