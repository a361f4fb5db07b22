"""`nodrop show`: what an intent means, before anything is built."""

import click

from nodrop.cli.options import form_option


@click.command()
@click.argument("intent", metavar="INTENT")
@form_option("text", "json")
def command(intent: str, form: str) -> None:
    """Show what an intent means.

    Devices, links, bandwidth, classes, watchdogs, headroom, thresholds, pools, and which defaults hold and why.
    """
    import json

    import nodrop
    from nodrop.cli.judging import intent_of
    from nodrop.cli.output import say
    from nodrop.design import adaptations
    from nodrop.design.defaults import defaulted
    from nodrop.inputs import named
    from nodrop.report.fabric import facts
    from nodrop.report.page import text

    _, loaded = intent_of(named(intent))
    shown = facts(nodrop.build(loaded), defaulted(loaded), adaptations(loaded))
    say(json.dumps(shown, indent=2, ensure_ascii=False) + "\n" if form == "json" else text(shown))
