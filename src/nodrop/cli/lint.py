"""`nodrop lint`: what is wrong with configurations, own or foreign."""

import click

from nodrop.cli.options import report_options, rule_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--platform", help="Read every file as this platform's instead of recognising it.")
@click.option(
    "--assume",
    multiple=True,
    metavar="KEY=VALUE",
    help="State what no file says: mode=lossless|pfc-only|lossy|trim, rdma=DSCP; may be repeated.",
)
@rule_options
@report_options
def command(
    paths: tuple[str, ...],
    platform: str | None,
    assume: tuple[str, ...],
    fail_on: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strictness: str,
    formats: tuple[tuple[str, str | None], ...],
    color: str,
    verbose: bool,
) -> int:
    """Judge configurations, folders of them, or intents; `-` reads standard input.

    Files in one folder under their canonical names (config_db.json, frr.conf) are one device; any other file is a
    device of its own. Intents are built first, and what is judged is what the switches would be given. A fabric.yaml
    beside a path states what the files cannot say.
    """
    from nodrop import collect, platforms
    from nodrop.cli.output import calm_collector, chosen_rules, emit, exit_code, merged, whole
    from nodrop.hardware import nearest
    from nodrop.report.outcome import Outcome

    calm_collector()
    if platform is not None and platform not in platforms.names():
        raise click.UsageError(f"no platform {platform!r} ({nearest(platform, platforms.names())})")
    declared = _declared(assume)
    rules = chosen_rules(select, ignore)
    everything = whole(formats, verbose)
    inputs = collect.find(paths, platform)
    outcomes, crashed = [], False
    for fabric_inputs in inputs.fabrics():
        outcome, failed = _judge(collect.read_inputs(fabric_inputs, declared), rules, strictness, everything)
        outcomes.append(outcome)
        crashed = crashed or failed
    for path, display in inputs.intents:
        outcome, failed = _lint_intent(path, display, rules, strictness, everything)
        outcomes.append(outcome)
        crashed = crashed or failed
    nothing = not any(outcome.devices for outcome in outcomes)
    outcome = (
        merged(outcomes) if outcomes else Outcome(devices=0, interfaces=0, rules=0, problems=tuple(inputs.problems))
    )
    emit(outcome, formats, color, verbose)
    return exit_code(outcome, fail_on, crashed=crashed, nothing=nothing)


def _judge(reading, rules, strictness, everything):  # type: ignore[no-untyped-def]
    from nodrop.cli.output import outcome_of
    from nodrop.lint.engine import judge

    verdict = judge(reading, rules, strictness=strictness)
    return outcome_of(reading, verdict, everything), bool(verdict.problems)


def _lint_intent(path, display, rules, strictness, everything):  # type: ignore[no-untyped-def]
    import nodrop
    from nodrop.errors import InputProblems
    from nodrop.intent.load import load
    from nodrop.report.outcome import Outcome

    try:
        fabric = nodrop.build(load(path, display))
    except InputProblems as error:
        return Outcome(devices=0, interfaces=0, rules=0, problems=error.problems), False
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric, display)
    return _judge(reading, rules, strictness, everything)


def _declared(assume: tuple[str, ...]):  # type: ignore[no-untyped-def]
    """Return what --assume states; anything but the two keys is a usage error."""
    from nodrop.fabric.declared import Declared
    from nodrop.fabric.fabric import MODES, TrafficClass
    from nodrop.fabric.states import UNKNOWN
    from nodrop.hardware import nearest

    mode, classes = None, None
    for text in assume:
        key, _, value = text.partition("=")
        if key == "mode":
            mode = next((one for one in MODES if one == value), None)
            if mode is None:
                raise click.UsageError(f"no mode {value!r} ({nearest(value, MODES)})")
        elif key == "rdma":
            if not value.isdecimal() or int(value) > 63:
                raise click.UsageError(f"{value!r} is no DSCP; expected 0 to 63")
            classes = (TrafficClass(name="rdma", purpose="rdma", dscp=(int(value),), tc=UNKNOWN, lossless=True),)
        else:
            raise click.UsageError(f"nothing called {key!r} can be assumed ({nearest(key, ('mode', 'rdma'))})")
    return Declared(mode=mode, classes=classes)
