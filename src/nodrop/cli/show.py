"""`nodrop show`: the meaning of an intent, before anything is built."""

import click

from nodrop.cli.options import single_format_option


@click.command()
@click.argument("intent", metavar="INTENT", type=click.Path())
@click.option("--headroom", is_flag=True, help="Show only the headroom: its parts, and the available memory.")
@single_format_option("text", "json")
def command(intent: str, headroom: bool, form: str) -> None:
    """Show the fabric that an intent describes.

    The report has devices, links, bandwidth, classes, watchdogs, headroom, thresholds, pools, and the defaults in
    effect with their reasons.

    \b
    Examples:
      nodrop show intent.yaml
      nodrop show intent.yaml --headroom
    """
    import nodrop
    from nodrop.cli.output import write_output
    from nodrop.design import find_adaptations
    from nodrop.design.boxes import groups_by_switch
    from nodrop.design.classes import keep_one_lossless_class
    from nodrop.design.defaults import applied_defaults
    from nodrop.design.naming import naming_of
    from nodrop.design.topology import topology_of
    from nodrop.fabric_readings import read_intent
    from nodrop.inputs import find_named_intent
    from nodrop.report import buffering
    from nodrop.report.document_text import render
    from nodrop.report.fabric import fabric_facts
    from nodrop.report.fabric_document import build_fabric_document
    from nodrop.report.headroom_document import build_headroom_document
    from nodrop.report.json import encode_json_document

    _, loaded = read_intent(find_named_intent(intent))
    fabric = nodrop.build(loaded)
    shown: dict[str, object]
    if headroom:
        rows = buffering.headroom_facts(fabric)
        shown = {"version": 2, "fabric": fabric.name, "headroom": rows}
        document = build_headroom_document(fabric.name, rows)
    else:
        first_intent = keep_one_lossless_class(loaded)
        alone = nodrop.build(first_intent) if first_intent else None
        shown = fabric_facts(
            fabric,
            applied_defaults(loaded),
            find_adaptations(loaded),
            alone,
            groups_by_switch(topology_of(loaded), naming_of(loaded)),
        )
        document = build_fabric_document(shown)
    write_output(encode_json_document(shown).decode() if form == "json" else render(document))
