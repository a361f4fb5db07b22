"""`nodrop lint`: what is wrong with configurations, own or foreign."""

import re
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import Choices, judging, unknown

if TYPE_CHECKING:
    from nodrop.fabric.declared import Declared
    from nodrop.fabric.fabric import Mode, TrafficClass
    from nodrop.fabric.reading import Reading
    from nodrop.inputs import Text


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--platform", metavar="NAME", help="Read every file as this platform's instead of recognising it.")
@click.option(
    "--assume",
    multiple=True,
    metavar="KEY=VALUE",
    help="State what no file says: mode=lossless|pfc-only|lossy|trim, rdma=DSCP; may be repeated.",
)
@judging
def command(paths: tuple[str, ...], platform: str | None, assume: tuple[str, ...], choices: Choices) -> int:
    """Judge configurations, or intents.

    PATH is a file, a folder of files, or `-` for standard input.

    Files in one folder under their canonical names (config_db.json, frr.conf) are one device; any other file is a
    device of its own. Intents are built first, and what is judged is what the switches would be given. A fabric.yaml
    beside a path states what the files cannot say.
    """
    from nodrop.cli.judging import chosen_rules, collecting, judged
    from nodrop.cli.output import calm_collector, emit, exit_code, merged
    from nodrop.collect import read_inputs
    from nodrop.inputs import find
    from nodrop.report.outcome import Outcome

    calm_collector()
    _require_known(platform)
    declared = _declared(assume)
    rules = chosen_rules(choices)
    inputs = find(paths, platform)
    outcomes: list[Outcome] = [judged(read_inputs(one, declared), rules, choices) for one in inputs.fabrics()]
    for intent in inputs.all_intents():
        with collecting(outcomes):
            outcomes.append(judged(_read_back(intent), rules, choices))
    outcome = merged(outcomes)
    emit(outcome, choices)
    return exit_code(outcome, choices.fail_on)


def _read_back(text: "Text") -> "Reading":
    """Return what the switches of an intent would be given, read as if it lay beside the intent."""
    from nodrop.cli.judging import built, intent_of

    _, reading = built(intent_of(text)[1], text.display, text.display)
    return reading


def _require_known(platform: str | None) -> None:
    from nodrop import platforms

    if platform is not None and platform not in platforms.names():
        raise click.UsageError(unknown("platform", platform, platforms.names()))


def _declared(assume: tuple[str, ...]) -> "Declared":
    """Return what --assume states; the last of several values for one key counts."""
    from nodrop.fabric.declared import Declared

    stated = {}
    for text in assume:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"{text!r} assumes nothing; expected KEY=VALUE: mode=lossless, rdma=26")
        if key not in ("mode", "rdma"):
            raise click.UsageError(unknown("assumption", key, ("mode", "rdma")))
        stated[key] = value
    mode = _mode(stated["mode"]) if "mode" in stated else None
    return Declared(mode=mode, classes=(_rdma(stated["rdma"], mode),) if "rdma" in stated else None)


def _mode(word: str) -> "Mode":
    from nodrop.fabric.fabric import MODES

    for mode in MODES:
        if mode == word:
            return mode
    raise click.UsageError(unknown("mode", word, MODES))


def _rdma(dscp: str, mode: "Mode | None") -> "TrafficClass":
    from nodrop.fabric.fabric import TrafficClass
    from nodrop.fabric.states import UNKNOWN

    if not re.fullmatch(r"[0-9]{1,2}", dscp) or int(dscp) > 63:
        raise click.UsageError(f"{dscp!r} is no DSCP; expected rdma=0 to rdma=63")
    lossless = mode not in ("lossy", "trim")
    return TrafficClass(name="rdma", purpose="rdma", dscp=(int(dscp),), tc=UNKNOWN, lossless=lossless)
