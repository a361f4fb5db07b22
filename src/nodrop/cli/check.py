"""`nodrop check`: what a change of configurations or intents does, and which findings it brings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import FORMATS, OUTPUT, Choices, Sections, judging_into, no_cache, option
from nodrop.cli.reading import Stated, stating

if TYPE_CHECKING:
    from pathlib import Path

    from nodrop.former import Former
    from nodrop.report.checked import Checked

_COMPARING = "Comparing"
_OWN = ("text", "markdown", "json")
"""Formats that tell of all; the others tell of new findings."""


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path())
@option(
    _COMPARING,
    "--base",
    required=True,
    metavar="REV|DIR",
    help="Compare with where HEAD left this revision, such as origin/main, or with a folder that holds the files as"
    " they were.",
)
@option(_COMPARING, "--exact", is_flag=True, help="Compare with the revision itself, not with where HEAD left it.")
@option(
    _COMPARING,
    "--routing/--no-routing",
    default=None,
    help="Work out what becomes of sessions, routes and failures.  [default: where what changes may matter to it, up to"
    " 500 switches]",
)
@option(
    _COMPARING, "--batfish", metavar="HOST[:PORT]", help="Ask a Batfish service too which packets fare differently."
)
@option(
    OUTPUT,
    "--patch",
    metavar="DIR",
    type=click.Path(),
    help="Write to DIR what the tools of each switch take to make the change, as `nodrop plan --patch` does.",
)
@stating
@judging_into((*_OWN, *(one for one in FORMATS if one not in _OWN)))
@no_cache
def command(
    paths: tuple[str, ...],
    base: str,
    exact: bool,
    routing: bool | None,
    batfish: str | None,
    patch: str | None,
    stated: Stated,
    no_cache: bool,
    choices: Choices,
) -> int:
    """Tell what a change does before it is merged.

    PATH is what `nodrop lint` takes, the working directory if there is none. Files as they lie there, committed or
    not, are held against those of --base: of git, nothing is written, and nothing runs that a repository configures.

    Told are, fabric by fabric, switches and facts that change, what that does to switches that run and in which order
    they may be changed (as `nodrop plan` does); new findings with their lines, and those that are fixed; sessions,
    routes and failures that fare differently. Findings that were there before are counted. Where an intent and its
    build both lie there, the intent is told of, and a build that is not what it comes to.

    Both states are judged by the rules, severities, suppressions and the baseline of now. Formats other than text,
    markdown and json hold the new findings alone.

    Exit 1 where a new finding reaches --fail-on, or a build does not fit its intent. That something changes is no
    fault.
    """
    from nodrop.checking.check import Ask, check
    from nodrop.cli.main import FOUND, NOTHING
    from nodrop.cli.output import Progress, calm_collector, exit_code, tell
    from nodrop.cli.working import keeping, working

    if patch == "":
        raise click.UsageError("--patch is empty; expected a folder")
    paths = paths or (".",)
    if "-" in paths:
        raise click.UsageError("standard input has no former state; name files or folders")
    calm_collector()
    with (
        keeping(choices, nothing=no_cache) as store,
        _former(paths, base, exact=exact) as (former, name),
        Progress(quiet=choices.quiet) as progress,
    ):
        settings = stated.settings(replace(choices.settings, store=store))
        ask = Ask(routing=True if batfish else routing, batfish=batfish, platform=stated.platform)
        checked, planned = check(
            paths, settings, former, name, ask, workers=lambda number: working(number, choices), progress=progress
        )
        if patch is not None and not checked.outcome.problems:
            from nodrop.cli.plan import patched
            from nodrop.plan.pairing import Pair

            patched(patch, [(Pair(name=one.new, old=old, new=new), one) for one, old, new in planned])
        _report(checked, choices)
    code = exit_code(checked.outcome, choices.fail_on)
    if code in (0, NOTHING) and checked.unfit:
        return FOUND
    if code == NOTHING and (checked.same or checked.fabrics):
        return 0
    if code == NOTHING:
        tell("nothing to look at")
    return code


@contextmanager
def _former(paths: tuple[str, ...], base: str, *, exact: bool) -> "Iterator[tuple[Former, str]]":
    """Give the state to compare with, and its name."""
    from pathlib import Path

    from nodrop.errors import InputProblems
    from nodrop.former import of_folder, of_revision, open_repository

    folder = Path(base)
    if folder.is_dir() and (folder.is_absolute() or base.endswith("/") or base.startswith(".")):
        with of_folder(folder) as former:
            yield former, base
        return
    try:
        repository = open_repository(_nearest(paths))
        commit = repository.base(base, exact=exact)
    except InputProblems:
        if not folder.is_dir():
            raise
        with of_folder(folder) as former:
            yield former, base
        return
    with of_revision(repository, commit) as former:
        yield former, f"{base} ({commit[:12]})"


def _nearest(paths: tuple[str, ...]) -> "Path":
    """Return the folder nearest to the first path that there is."""
    from pathlib import Path

    at = Path(paths[0]).absolute()
    return next(one for one in (at, *at.parents) if one.is_dir())


def _report(checked: "Checked", choices: Choices) -> None:
    from nodrop.cli.output import emit, save, say, tell

    for name, file in choices.formats:
        if name not in _OWN:
            emit(checked.outcome, replace(choices, formats=((name, file),)))
            continue
        data = _rendered(checked, name, choices, terminal=file is None)
        if file is None:
            say(data)
        else:
            save(file, data)
    if checked.outcome.crashed and all(name in _OWN for name, _ in choices.formats):
        tell("a rule failed; this is a bug of nodrop, please report it")


def _rendered(checked: "Checked", name: str, choices: Choices, *, terminal: bool) -> bytes:
    from nodrop.cli.output import wants_color, wants_links
    from nodrop.judging import all_rules
    from nodrop.report import check_json, check_markdown, check_text
    from nodrop.report.escape import utf8
    from nodrop.report.links import Links

    if name == "json":
        return check_json.render(checked)
    if name == "markdown":
        return utf8(check_markdown.render(checked)).encode()
    links = Links(all_rules(choices.settings.config)) if terminal and wants_links(choices.color) else None
    color = terminal and wants_color(choices.color)
    text = check_text.render(checked, color=color, verbose=choices.verbose, quiet=choices.quiet, links=links)
    return utf8(text).encode()
