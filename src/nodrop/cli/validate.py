"""`nodrop validate`: what the control plane of configurations will do."""

import click

from nodrop.cli.options import Choices, Sections, judging, no_cache


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@judging
@no_cache
def command(paths: tuple[str, ...], no_cache: bool, choices: Choices) -> int:
    """Compute BGP sessions, routes and failures, and judge them.

    PATH is as for `nodrop lint`. What every switch will learn is worked out from the configurations alone: which
    sessions come up, what is reached over how many equal paths, and what is left of it after failures. The rules are
    those about routing; the others are `nodrop lint`'s.
    """
    from dataclasses import replace

    from nodrop.cli.output import Progress, calm_collector, emit, exit_code, merged
    from nodrop.cli.working import keeping, working
    from nodrop.fabric.index import Index
    from nodrop.fabric.reading import Note
    from nodrop.judging import chosen_rules, collecting, concluded, judged, reading_at
    from nodrop.report.outcome import Outcome
    from nodrop.report.routes import summary

    calm_collector()
    rules = chosen_rules(choices.settings, routing=True)
    outcomes: list[Outcome] = []
    with keeping(choices, nothing=no_cache) as store, working(0, choices), Progress(quiet=choices.quiet) as progress:
        settings = replace(choices.settings, store=store)
        for path in paths:
            with collecting(outcomes):
                progress(f"reading {path}")
                reading = reading_at(path, settings)
                index = Index(reading.fabric)
                found = judged(reading, rules, settings, index=index, progress=progress)
                notes = tuple(Note(kind="routing", message=text) for text in summary(index))
                outcomes.append(replace(found, name=path, notes=(*found.notes, *notes)))
    outcome = concluded(merged(outcomes), choices.settings, routing=True)
    emit(outcome, choices)
    return exit_code(outcome, choices.fail_on)
