"""`nodrop plan`: what lies between two trees of configurations or intents, how risky it is, and the patch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import OutputFormats
from nodrop.cli.options import (
    OUTPUT,
    SectionedHelpCommand,
    add_site_options,
    color_option,
    grouped_option,
    no_cache_option,
    report_format_option,
)
from nodrop.cli.planning import patch_option, rollout_option

if TYPE_CHECKING:
    from nodrop.judging import CheckSettings
    from nodrop.plan.model import Plan
    from nodrop.plan.pairing import OldAndNewFabric

PLAN_FORMATS = ("text", "json", "markdown")


def _require_old_and_new(ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, str]:
    """Return both paths; raise UsageError with an example unless there are two."""
    if len(values) > 2:
        raise click.UsageError(f"{len(values)} paths; expected OLD and NEW", ctx)
    if len(values) < 2:
        missing = "'NEW'" if values else "'OLD'"
        raise click.UsageError(f"Missing argument {missing}. Example: nodrop plan before build", ctx)
    return values[0], values[1]


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, metavar="OLD NEW", type=click.Path(), callback=_require_old_and_new)
@report_format_option(PLAN_FORMATS)
@color_option
@grouped_option(
    OUTPUT,
    "--exit-code/--no-exit-code",
    "tells_changes",
    default=True,
    show_default=True,
    help="Exit 1, or 0, if anything changes.",
)
@grouped_option(
    OUTPUT, "-v", "--verbose", is_flag=True, help="Show every value, even if only names and addresses differ."
)
@patch_option("make OLD equal to NEW")
@rollout_option()
@no_cache_option
@add_site_options
def command(
    paths: tuple[str, str],
    formats: OutputFormats,
    color: str,
    tells_changes: bool,
    verbose: bool,
    patch: str | None,
    rollout: str,
    no_cache: bool,
    settings: "CheckSettings",
) -> int:
    """Compare OLD with NEW: changes, their impact on running switches, rollout order.

    OLD and NEW are each an intent, or a folder of intents or configurations. Several fabrics are matched by name.
    Facts that one side does not state are listed separately, and are not changes.

    --patch writes a folder for each switch (and rollout stage): files that the switch itself applies, and by-hand.txt
    with the manual steps.

    Exit 1 if anything changes, unless --no-exit-code is given.

    \b
    Examples:
      nodrop plan build intent.yaml
      nodrop plan before build --patch patches
    """
    from nodrop.cli.main import FOUND, WRONG
    from nodrop.cli.output import wants_color, write_report
    from nodrop.cli.patching import write_patches
    from nodrop.plan.planning import plan

    pairs = _read_pairs(paths, settings, nothing=no_cache)
    plans = [plan(old, new) for old, new in pairs]
    if rollout != "off":
        plans = [
            _add_rollout_to_plan(draft, pair, settings, len(pairs)) for draft, pair in zip(plans, pairs, strict=True)
        ]
    wrong = any(fabric_plan.problems for fabric_plan in plans)
    if patch is not None and not wrong:
        write_patches(patch, [(fabric_plan, *pair) for fabric_plan, pair in zip(plans, pairs, strict=True)])
    write_report(
        formats,
        lambda name, *, terminal: _render_plans(plans, name, color=terminal and wants_color(color), verbose=verbose),
    )
    if wrong:
        return WRONG
    return FOUND if tells_changes and not all(fabric_plan.is_empty for fabric_plan in plans) else 0


def _read_pairs(paths: tuple[str, str], settings: "CheckSettings", *, nothing: bool) -> "list[OldAndNewFabric]":
    """Return the fabrics of both trees, side by side; keep the readings for the next run, unless `nothing`.

    InputProblems where nothing of a tree could be read: that all of its switches are gone is no plan.
    """
    from nodrop.cli.working import open_executor, open_result_cache
    from nodrop.errors import InputProblems
    from nodrop.fabric_readings import readings_of
    from nodrop.inputs import find_inputs
    from nodrop.plan.pairing import pair_fabrics

    with open_result_cache(paths, nothing=nothing) as store:
        settings = replace(settings, store=store)
        inputs = [find_inputs((path,), exclude=settings.config.excludes) for path in paths]
        with open_executor(max(sum(len(fabric.bundles) for fabric in tree.fabrics()) for tree in inputs)) as executor:
            old, new = (readings_of(tree, settings, path, executor) for tree, path in zip(inputs, paths, strict=True))
    for readings in (old, new):
        if not any(reading.fabric.devices for reading in readings):
            raise InputProblems(problem for reading in readings for problem in reading.problems)
    return list(pair_fabrics(old, new, paths))


def _add_rollout_to_plan(plan: "Plan", pair: "OldAndNewFabric", settings: "CheckSettings", fabrics: int) -> "Plan":
    from nodrop.checking.rollout import order_rollout, should_compute_routing

    routing = should_compute_routing(plan, pair.old, pair.new)
    return order_rollout(plan, pair.old, pair.new, settings, routing=routing, fabrics=fabrics)


def _render_plans(plans: "Sequence[Plan]", name: str, *, color: bool, verbose: bool) -> bytes:
    from nodrop.cli.output import render_document
    from nodrop.report import plan_json
    from nodrop.report.plan_document import build_plans_document

    if name == "json":
        return plan_json.render(plans)
    options = {"color": color, "verbose": verbose} if name == "text" else {}
    return render_document(build_plans_document(plans, verbose=options.get("verbose", False)), name, options)
