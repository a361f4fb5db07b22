"""`nodrop baseline`: what is found today is not told tomorrow, unless its facts change."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import INPUT, OUTPUT, Sections, choosing, option
from nodrop.cli.reading import Stated, stating

if TYPE_CHECKING:
    from nodrop.inputs import Inputs, Text
    from nodrop.judging import Settings
    from nodrop.report.outcome import Outcome


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@option(
    OUTPUT,
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="File to write.  [default: that of `baseline` in nodrop.yaml, else nodrop.baseline.yaml beside it, or here]",
)
@option(OUTPUT, "--prune", is_flag=True, help="Drop entries of findings that do not occur any more.")
@option(INPUT, "--routing", is_flag=True, help="Also failures, as `nodrop validate` computes them.")
@stating
@choosing
def command(
    paths: tuple[str, ...], output: str | None, prune: bool, routing: bool, stated: Stated, settings: "Settings"
) -> int:
    """Keep what is found today, so that only new faults are told.

    PATH is what `nodrop lint` takes. The file is read where nodrop.yaml names it (`baseline: nodrop.baseline.yaml`) or
    `--baseline FILE` does; it holds rules, subjects, fingerprints and digests of facts. A finding whose facts are not
    the same any more is told again. What is suppressed does not go into the file.

    Written again, the file gets what is new and keeps what was in it, also what does not occur any more, unless --prune
    says otherwise, and what was not judged.
    """
    from nodrop.cli.main import NOTHING, WRONG
    from nodrop.cli.output import tell
    from nodrop.judging import baselined, chosen_rules, read
    from nodrop.lint.baseline import FILE, Baseline, load, spell
    from nodrop.paths import reason
    from nodrop.publish.file import replace_file
    from nodrop.publish.landing import resolved
    from nodrop.report.merged import merged
    from nodrop.several import with_others

    config = settings.config
    beside = config.path.parent if config.path is not None else Path()
    path = Path(output) if output else config.baseline or beside / FILE
    settings = replace(
        stated.settings(replace(settings, both=routing)), whole=False, config=replace(config, baseline=None)
    )
    try:
        there = Path(resolved(path))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {path}: {reason(error)}") from None
    before = load(there, str(path)) if there.exists() else Baseline()
    inputs = stated.inputs(paths, settings)
    fabrics: list[Inputs | Text] = [*inputs.fabrics(), *inputs.all_intents()]
    outcomes = [_judged(one, settings, routing=routing) for one in fabrics]
    if len(fabrics) > 1:
        rules, reads = partial(chosen_rules, settings), [partial(read, one, settings) for one in fabrics]
        outcomes = with_others(outcomes, reads, rules, settings, one_site=config.path is not None)
    found = merged(outcomes)
    for problem in found.problems:
        tell(f"error: {problem}")
    if found.problems:
        tell(f"nothing was written to {path}")
        return WRONG
    if not found.devices and not found.hosts:
        tell("nothing to look at")
        return NOTHING
    made = baselined(before, found, settings, prune=prune)
    try:
        replace_file(path, spell(made.baseline).encode())
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {path}: {reason(error)}") from None
    tell(f"{path}: {made}")
    return 0


def _judged(what: "Inputs | Text", settings: "Settings", *, routing: bool) -> "Outcome":
    from nodrop.inputs import Inputs
    from nodrop.judging import chosen_rules, collecting, judged, read
    from nodrop.model.identifiers import identifiers_of

    outcomes: list[Outcome] = []
    with collecting(outcomes):
        reading = read(what, settings)
        made = judged(reading, chosen_rules(settings, failures=routing), settings)
        outcomes.append(
            replace(made, identifiers=identifiers_of(reading.fabric), an_intent=not isinstance(what, Inputs))
        )
    (outcome,) = outcomes
    return replace(outcome, name=what.name if isinstance(what, Inputs) else what.display)
