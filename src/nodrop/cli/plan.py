"""`nodrop plan`: what lies between two trees of configurations or intents, how risky it is, and the patch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import Formats
from nodrop.cli.options import (
    OUTPUT,
    Sections,
    color_option,
    configured,
    format_option,
    no_cache,
    option,
)
from nodrop.cli.planning import patch_option, rollout_option

if TYPE_CHECKING:
    from nodrop.judging import Settings
    from nodrop.plan.model import Plan
    from nodrop.plan.pairing import Pair

FORMATS = ("text", "json", "markdown")


@click.command(cls=Sections)
@click.argument("paths", nargs=2, required=True, metavar="OLD NEW", type=click.Path())
@format_option(FORMATS)
@color_option
@option(OUTPUT, "-v", "--verbose", is_flag=True, help="Show every value, also where only names and addresses differ.")
@patch_option("get from OLD to NEW; replaced as a whole")
@rollout_option(after="will be", before="are")
@no_cache
@configured
def command(
    paths: tuple[str, str],
    formats: Formats,
    color: str,
    verbose: bool,
    patch: str | None,
    rollout: str,
    no_cache: bool,
    settings: "Settings",
) -> int:
    """Show what changes from OLD to NEW, and what that does to switches that run.

    Each of OLD and NEW is an intent, or a folder of intents or of configurations, whoever wrote them; where there are
    several fabrics, those of one name are held side by side. Told are switches that come, go
    and change, and on them the facts that change: equal changes of many ports and switches once. With each stands what
    it does to a switch that runs (traffic-affecting, service restart, port bounce, reboot, refused by the device), and
    why; and what is to be done by hand. What one side does not say is no change, and told apart. Last comes the order
    in which switches may be changed: one in which no state between has an error that neither OLD nor NEW has, wherever
    there is such an order; else what it brings on the way.

    --patch writes a folder for each switch: what its own tool takes, as `nodrop fix --patch` does, files whole where
    that cannot make the change, and in by-hand.txt what is left to a person. Switches that come have all their files.
    Where switches are changed in several passes, each stage has a folder of its own, by its number in the order: 3, or
    3.1, 3.2 for switches that go one after the other.

    Exit 1 where something changes.
    """
    from nodrop.cli.main import FOUND, WRONG
    from nodrop.cli.output import wants_color, write_report
    from nodrop.cli.patching import patched
    from nodrop.plan.planning import plan

    pairs = _read_pairs(paths, settings, nothing=no_cache)
    plans = [plan(old, new) for old, new in pairs]
    if rollout != "off":
        plans = [
            _add_rollout_to_plan(draft, pair, settings, len(pairs)) for draft, pair in zip(plans, pairs, strict=True)
        ]
    wrong = any(fabric_plan.problems for fabric_plan in plans)
    if patch is not None and not wrong:
        patched(patch, [(fabric_plan, *pair) for fabric_plan, pair in zip(plans, pairs, strict=True)])
    write_report(
        formats,
        lambda name, *, terminal: _render_plans(plans, name, color=terminal and wants_color(color), verbose=verbose),
    )
    if wrong:
        return WRONG
    return 0 if all(fabric_plan.empty for fabric_plan in plans) else FOUND


def _read_pairs(paths: tuple[str, str], settings: "Settings", *, nothing: bool) -> "list[Pair]":
    """Return the fabrics of both trees, side by side; keep the readings for the next run, unless `nothing`."""
    from nodrop.cli.working import keeping, working
    from nodrop.inputs import find
    from nodrop.judging import readings_of
    from nodrop.plan.pairing import pairs

    with keeping(paths, nothing=nothing) as store:
        settings = replace(settings, store=store)
        inputs = [find((path,), exclude=settings.config.excludes) for path in paths]
        with working(max(sum(len(fabric.bundles) for fabric in tree.fabrics()) for tree in inputs)) as executor:
            old, new = (readings_of(tree, settings, path, executor) for tree, path in zip(inputs, paths, strict=True))
    return list(pairs(old, new, paths))


def _add_rollout_to_plan(plan: "Plan", pair: "Pair", settings: "Settings", fabrics: int) -> "Plan":
    from nodrop.checking.rollout import reroutes, rolled_out

    routing = reroutes(plan, pair.old, pair.new)
    return rolled_out(plan, pair.old, pair.new, settings, routing=routing, fabrics=fabrics)


def _render_plans(plans: "Sequence[Plan]", name: str, *, color: bool, verbose: bool) -> bytes:
    from nodrop.report import plan_json, plan_markdown, plan_text
    from nodrop.report.escape import utf8

    if name == "json":
        return plan_json.render(plans)
    if name == "markdown":
        return utf8(plan_markdown.render(plans)).encode()
    return utf8(plan_text.render(plans, color=color, verbose=verbose)).encode()
