"""`nodrop plan`: what lies between two trees of configurations or intents, how risky it is, and the patch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import OUTPUT, Formats, Sections, Word, configured, formats_of, no_cache, option

if TYPE_CHECKING:
    from nodrop.judging import Settings
    from nodrop.plan.model import Plan
    from nodrop.plan.pairing import Pair

FORMATS = ("text", "json", "markdown")


@click.command(cls=Sections)
@click.argument("paths", nargs=2, required=True, metavar="OLD NEW", type=click.Path())
@option(
    OUTPUT,
    "--format",
    "formats",
    multiple=True,
    callback=formats_of(FORMATS),
    metavar="NAME[=FILE]",
    help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}, to standard output or a file; may be repeated.  [default: text]",
)
@option(
    OUTPUT,
    "--color",
    type=Word(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Color the text; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
)
@option(OUTPUT, "-v", "--verbose", is_flag=True, help="Show every value, also where only names and addresses differ.")
@option(
    OUTPUT,
    "--patch",
    metavar="DIR",
    type=click.Path(),
    help="Write to DIR what the tools of each switch take to get from OLD to NEW; replaced as a whole.",
)
@no_cache
@configured
def command(
    paths: tuple[str, str],
    formats: Formats,
    color: str,
    verbose: bool,
    patch: str | None,
    no_cache: bool,
    settings: "Settings",
) -> int:
    """Show what changes from OLD to NEW, and what that does to switches that run.

    Each of OLD and NEW is an intent, or a folder of intents or of configurations, whoever wrote them; where there are
    several fabrics, those of one name are held side by side. Told are switches that come, go
    and change, and on them the facts that change: equal changes of many ports and switches once. With each stands what
    it does to a switch that runs (traffic-affecting, service restart, port bounce, reboot, refused by the device), and
    why; and what is to be done by hand. What one side does not say is no change, and told apart. Last comes the order
    in which switches may be changed.

    --patch writes a folder for each switch: what its own tool takes, as `nodrop fix --patch` does, files whole where
    that cannot make the change, and in by-hand.txt what is left to a person. Switches that come have all their files.

    Exit 1 where something changes.
    """
    from nodrop.cli.main import FOUND, WRONG
    from nodrop.cli.output import calm_collector, save, say, wants_color
    from nodrop.plan.planning import plan

    if patch == "":
        raise click.UsageError("--patch is empty; expected a folder")
    calm_collector()
    held = _held(paths, settings, nothing=no_cache)
    made = [(pair, plan(pair.old, pair.new)) for pair in held]
    wrong = any(one.problems for _, one in made)
    if patch is not None and not wrong:
        patched(patch, made)
    for name, file in formats:
        data = _rendered([one for _, one in made], name, color=file is None and wants_color(color), verbose=verbose)
        if file is None:
            say(data)
        else:
            save(file, data)
    if wrong:
        return WRONG
    return 0 if all(one.empty for _, one in made) else FOUND


def _held(paths: tuple[str, str], settings: "Settings", *, nothing: bool) -> "list[Pair]":
    """Return the fabrics of both trees, side by side; what was read is kept for the next run, unless `nothing` is."""
    from nodrop import cache
    from nodrop.cli.output import calm_collector
    from nodrop.inputs import find
    from nodrop.judging import readings_of
    from nodrop.parallel import processes
    from nodrop.plan.pairing import pairs

    store = None if nothing else cache.opened()
    settings = replace(settings, store=store)
    found = [find((path,), exclude=settings.config.excludes) for path in paths]
    switches = max(sum(len(fabric.bundles) for fabric in one.fabrics()) for one in found)
    with processes(switches, preload=("nodrop.collect",), begin=calm_collector) as executor:
        old, new = (readings_of(one, settings, path, executor) for one, path in zip(found, paths, strict=True))
    if store is not None:
        store.prune()
    return list(pairs(old, new, paths))


def patched(directory: str, made: "Sequence[tuple[Pair, Plan]]") -> None:
    """Write the patches of all fabrics, in a folder for each where there are several."""
    from nodrop.cli.output import calm_collector, tell
    from nodrop.cli.patching import write
    from nodrop.parallel import processes
    from nodrop.plan.effects import bundle
    from nodrop.plan.patches import patches
    from nodrop.report.names import count

    files = []
    hands = 0
    with processes(sum(len(one.devices) for _, one in made), begin=calm_collector) as executor:
        for pair, one in made:
            above = f"{pair.name}/" if len(made) > 1 else ""
            for patch in patches(one, pair.old, pair.new, executor):
                hands += bool(patch.by_hand)
                files.append((above, patch.device, patch.files, bundle(pair.old, patch.device) or {}))
    write(directory, files)
    end = f"; {count(hands, 'switch')} with something to do by hand: see by-hand.txt" if hands else ""
    tell(f"patches of {count(len(files), 'switch')} are in {directory}{end}")


def _rendered(made: "Sequence[Plan]", name: str, *, color: bool, verbose: bool) -> bytes:
    from nodrop.report import plan_json, plan_markdown, plan_text
    from nodrop.report.escape import utf8

    if name == "json":
        return plan_json.render(made)
    if name == "markdown":
        return utf8(plan_markdown.render(made)).encode()
    return utf8(plan_text.render(made, color=color, verbose=verbose)).encode()
