"""`nodrop lint`: what is wrong with configurations, own or foreign."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from nodrop.cli import completing
from nodrop.cli.options import INPUT, RULES, Choices, Sections, judging, no_cache, option, unknown

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nodrop.fabric.declared import Declared
    from nodrop.fabric.fabric import Mode, TrafficClass
    from nodrop.inputs import Inputs, Text
    from nodrop.judging import Settings
    from nodrop.report.outcome import Outcome

DEVICES_OF_AN_INTENT = 25
"""A guess, by which it is decided whether processes are worth starting for several intents."""


@click.command(cls=Sections)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@option(
    INPUT,
    "--platform",
    metavar="NAME",
    shell_complete=completing.platforms,
    help="Read every file as this platform's instead of recognising it.",
)
@option(
    INPUT,
    "--stdin-filename",
    "stdin_name",
    metavar="FILE",
    type=click.Path(),
    help="What stands on standard input is this file's text, be the file there or not.",
)
@option(
    INPUT,
    "--assume",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=completing.assumptions,
    help="State what no file says: mode=lossless|pfc-only|lossy|trim, rdma=DSCP; may be repeated.",
)
@option(
    RULES,
    "--profile",
    metavar="NAME|FILE",
    shell_complete=completing.profiles,
    help="Hold thresholds, timers and shares against the bands of a vendor, or of a file of your own.",
)
@judging
@no_cache
def command(
    paths: tuple[str, ...],
    platform: str | None,
    stdin_name: str | None,
    assume: tuple[str, ...],
    profile: str | None,
    no_cache: bool,
    choices: Choices,
) -> int:
    """Judge configurations, or intents.

    PATH is a file, a folder of files, or `-` for standard input.

    Files in one folder under their canonical names (config_db.json, frr.conf) are one device; any other file is a
    device of its own. Files that say how NICs of hosts are set (what mlnx_qos -i and mlxconfig query print, scripts,
    NicConfigurationTemplate, NCCL environment) are judged with the switches. Intents are built first, and what is
    judged is what the switches would be given. A fabric.yaml beside a path states what the files cannot say.

    Profiles that are shipped are called nvidia, sonic, sonic-lossy and dell; `nodrop schema profile` says what a file
    of your own has. Without one, the rules about profiles are silent.
    """
    from nodrop.cli.output import calm_collector, emit, exit_code, merged
    from nodrop.cli.working import keeping
    from nodrop.inputs import find
    from nodrop.judging import chosen_rules

    calm_collector()
    _require_known(platform)
    settings = replace(choices.settings, declared=_declared(assume, profile))
    chosen_rules(settings)
    named, held = _held(paths, stdin_name)
    inputs = find(named, platform, exclude=settings.config.excludes, held=held)
    fabrics: list[Inputs | Text] = [*inputs.fabrics(), *inputs.all_intents()]
    with keeping(choices, nothing=no_cache) as store:
        tasks = [_Task(what=one, settings=replace(settings, store=store)) for one in fabrics]
        outcome = merged(_all_done(tasks, choices))
    emit(outcome, choices)
    return exit_code(outcome, choices.fail_on)


def _all_done(tasks: "list[_Task]", choices: Choices) -> "list[Outcome]":
    """Judge fabrics: one with all processes for its devices, several each in a process."""
    from nodrop.cli.working import working
    from nodrop.parallel import map_chunks

    with working(sum(map(_devices, tasks)), choices) as executor:
        if len(tasks) == 1:
            return [_done(tasks[0], executor)]
        return list(map_chunks(_done, tasks, executor=executor, chunk=1))


def _held(paths: tuple[str, ...], stdin_name: str | None) -> tuple[list[str], dict[str, bytes]]:
    """Return the paths with a name for standard input, if it was given one, and its text under that name."""
    from nodrop.inputs import STDIN, standard_input

    if stdin_name is None:
        return list(paths), {}
    if STDIN not in paths or not stdin_name:
        raise click.UsageError("--stdin-filename names what `-` reads; expected `-` among the paths, and a name")
    return [stdin_name if path == STDIN else path for path in paths], {stdin_name: standard_input()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A fabric to judge: files of switches, or an intent."""

    what: "Inputs | Text"
    settings: "Settings"


def _devices(task: _Task) -> int:
    """Return about how many devices a fabric has; what an intent comes to is not known before it is read."""
    from nodrop.inputs import Inputs

    return len(task.what.bundles) if isinstance(task.what, Inputs) else DEVICES_OF_AN_INTENT


def _done(task: _Task, executor: "Executor | None" = None) -> "Outcome":
    """Judge one fabric; its devices are read by the executor if there is one."""
    from nodrop.inputs import Inputs
    from nodrop.judging import chosen_rules, collecting, judged, read

    what, settings = task.what, task.settings
    outcomes: list[Outcome] = []
    with collecting(outcomes):
        outcomes.append(judged(read(what, settings, executor), chosen_rules(settings), settings))
    (outcome,) = outcomes
    return replace(outcome, name=what.name if isinstance(what, Inputs) else what.display)


def _require_known(platform: str | None) -> None:
    from nodrop import platforms

    if platform is not None and platform not in platforms.names():
        raise click.UsageError(unknown("platform", platform, platforms.names()))


def _declared(assume: tuple[str, ...], profile: str | None) -> "Declared":
    """Return what --assume states, and the profile; the last of several values for one key counts."""
    from nodrop.fabric.declared import Declared
    from nodrop.stated.profile import load_profile

    stated = {}
    for text in assume:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"{text!r} assumes nothing; expected KEY=VALUE: mode=lossless, rdma=26")
        if key not in ("mode", "rdma"):
            raise click.UsageError(unknown("assumption", key, ("mode", "rdma")))
        stated[key] = value
    mode = _mode(stated["mode"]) if "mode" in stated else None
    return Declared(
        mode=mode,
        classes=(_rdma(stated["rdma"], mode),) if "rdma" in stated else None,
        profile=None if profile is None else load_profile(profile),
    )


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
