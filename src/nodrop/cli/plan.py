"""`nodrop plan`: what lies between two trees of configurations or intents, how risky it is, and the patch."""

from typing import TYPE_CHECKING

import click

from nodrop.cli.options import OUTPUT, Formats, Sections, Word, configured, formats_of, option

if TYPE_CHECKING:
    from nodrop.fabric.reading import Reading
    from nodrop.judging import Settings
    from nodrop.plan.model import Plan

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
@configured
def command(
    paths: tuple[str, str],
    formats: Formats,
    color: str,
    verbose: bool,
    patch: str | None,
    settings: "Settings",
) -> int:
    """Show what changes from OLD to NEW, and what that does to switches that run.

    Each of OLD and NEW is an intent, or a folder of configurations, whoever wrote them. Told are switches that come, go
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
    from nodrop.judging import reading_at
    from nodrop.plan.planning import plan

    if patch == "":
        raise click.UsageError("--patch is empty; expected a folder")
    calm_collector()
    old, new = (reading_at(path, settings) for path in paths)
    made = plan(old, new)
    if patch is not None and not made.problems:
        _patched(patch, made, old, new)
    for name, file in formats:
        data = _rendered(made, name, color=file is None and wants_color(color), verbose=verbose)
        if file is None:
            say(data)
        else:
            save(file, data)
    if made.problems:
        return WRONG
    return 0 if made.empty else FOUND


def _patched(directory: str, made: "Plan", old: "Reading", new: "Reading") -> None:
    from nodrop.cli.output import calm_collector, tell
    from nodrop.cli.patching import write
    from nodrop.parallel import processes
    from nodrop.plan.effects import bundle
    from nodrop.plan.patches import patches
    from nodrop.report.names import count

    with processes(len(made.devices), preload=("nodrop.plan.patches",), begin=calm_collector) as executor:
        found = list(patches(made, old, new, executor))
    write(directory, ((one.device, one.files, bundle(old, one.device) or {}) for one in found))
    hands = sum(bool(one.by_hand) for one in found)
    end = f"; {count(hands, 'switch')} with something to do by hand: see by-hand.txt" if hands else ""
    tell(f"patches of {count(len(found), 'switch')} are in {directory}{end}")


def _rendered(made: "Plan", name: str, *, color: bool, verbose: bool) -> bytes:
    from nodrop.report import plan_json, plan_markdown, plan_text
    from nodrop.report.escape import utf8

    if name == "json":
        return plan_json.render(made)
    if name == "markdown":
        return utf8(plan_markdown.render(made)).encode()
    return utf8(plan_text.render(made, color=color, verbose=verbose)).encode()
