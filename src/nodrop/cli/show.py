"""`nodrop show`: what an intent means, before anything is built."""

import click


@click.command()
@click.argument("intent", metavar="INTENT")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(intent: str, form: str) -> None:
    """Show the fabric of an intent: devices, links, bandwidth, classes, headroom, thresholds, and what was defaulted."""
    import json
    from pathlib import Path

    import nodrop
    from nodrop.design.defaults import defaulted
    from nodrop.report.fabric import facts
    from nodrop.report.page import text

    loaded = nodrop.load(Path(intent))
    shown = facts(nodrop.build(loaded), defaulted(loaded))
    click.echo(
        json.dumps(shown, indent=2, ensure_ascii=False) if form == "json" else text(shown), nl=form == "json"
    )
