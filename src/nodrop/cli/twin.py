"""`nodrop twin`: a fabric in real FRR daemons."""

import click

from nodrop.cli.choices import CheckChoices
from nodrop.cli.options import RUNNING, SectionedHelpCommand, add_judging_options, grouped_option, no_cache_option


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@add_judging_options
@grouped_option(
    RUNNING,
    "--devices",
    type=click.IntRange(min=1),
    metavar="N",
    help="Start at most N switches; of a larger fabric, some leaves with their spines.  [default:"
    " what this machine can run]",
)
@no_cache_option
def command(paths: tuple[str, ...], devices: int | None, no_cache: bool, choices: CheckChoices) -> int:
    """Run a fabric in real FRR daemons, and compare it with the computed fabric.

    PATH is as for `nodrop lint`. Each switch is a network namespace with its frr.conf and the FRR daemons of its
    platform; each cable is a veth pair. Sessions, routes and full-size packets are compared with what nodrop
    computes, and again while cables and switches fail and return.

    Requires FRR, iproute2, and root or user namespaces. All of it is removed at the end, even after an interrupt.

    \b
    Example:
      nodrop twin intent.yaml
    """
    from nodrop.cli.validate import ValidatorRequest, validate_and_report
    from nodrop.validating.twin import TwinOptions

    return validate_and_report(paths, choices, ValidatorRequest(twin=TwinOptions(devices=devices)), no_cache=no_cache)
