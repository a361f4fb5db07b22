"""`nodrop twin`: a fabric in real FRR daemons."""

import click

from nodrop.cli.choices import Choices
from nodrop.cli.options import Sections, judging, no_cache


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@click.option(
    "--devices",
    type=click.IntRange(min=1),
    metavar="N",
    help="Start at most N switches, of more a sample of pods; the default is as many as this machine holds.",
)
@judging
@no_cache
def command(paths: tuple[str, ...], devices: int | None, no_cache: bool, choices: Choices) -> int:
    """Run a fabric in real FRR daemons, and see whether it does what it should.

    PATH is as for `nodrop lint`. Each switch is a network namespace with the daemons that its platform would start and
    the frr.conf that it would have, each cable a pair of veth. Sessions, routes and packets of full size are looked at,
    cables and switches taken away and brought back, and all of it is held against what nodrop computes. It needs FRR
    and iproute2, and to be root or a user who may make user namespaces; nothing of it is left behind, however it ends.
    """
    from nodrop.cli.validate import Ask, validated
    from nodrop.validating.twin import Options

    return validated(paths, choices, Ask(twin=Options(devices=devices)), no_cache=no_cache)
