"""`nodrop build`: intents become configurations, which are read back and linted before anything is replaced."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import report_options, rule_options

if TYPE_CHECKING:
    from nodrop.publish import Drift, Published


@click.command()
@click.argument("intents", nargs=-1, required=True, metavar="INTENT...")
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="Folder to write; replaced as a whole or not at all."
)
@click.option(
    "--check", "check_only", is_flag=True, help="Write nothing; exit 1 where DIR is not what would be written."
)
@click.option("--write-anyway", is_flag=True, help="Write although findings reach --fail-on.")
@rule_options
@report_options
def command(
    intents: tuple[str, ...],
    output: str,
    check_only: bool,
    write_anyway: bool,
    fail_on: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strictness: str,
    formats: tuple[tuple[str, str | None], ...],
    color: str,
    verbose: bool,
) -> int:
    """Build intents into DIR, one folder per device (per fabric and device where there are several intents).

    What is linted is the text that was rendered, never the intent. DIR is replaced in one step; anything in it that
    an earlier build did not write is refused, never deleted.
    """
    import nodrop
    from nodrop.cli.main import FOUND
    from nodrop.cli.output import calm_collector, chosen_rules, emit, exit_code, merged, outcome_of, reaches, whole
    from nodrop.collect import digest
    from nodrop.errors import InputProblems, Problem
    from nodrop.formats.places import read_limited
    from nodrop.intent.load import MAX_BYTES, loads
    from nodrop.lint.engine import judge
    from nodrop.report.outcome import Outcome

    calm_collector()
    rules = chosen_rules(select, ignore)
    files: dict[str, bytes] = {}
    inputs: dict[str, str] = {}
    outcomes, problems, crashed = [], [], False
    names: dict[str, str] = {}
    for text in intents:
        try:
            raw = read_limited(Path(text), text, MAX_BYTES)
            intent = loads(raw, text)
            if intent.fabric in names:
                raise InputProblems(
                    [intent.problem(("fabric",), f"{intent.fabric} is {names[intent.fabric]}'s name too")]
                )
            names[intent.fabric] = text
            fabric = nodrop.build(intent)
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        top = f"{intent.fabric}/" if len(intents) > 1 else ""
        artifacts = list(nodrop.write(fabric))
        for artifact in artifacts:
            files[f"{top}{artifact.device}/{artifact.path}" if artifact.device else f"{top}{artifact.path}"] = (
                artifact.text.encode()
            )
        inputs[text if not Path(text).is_absolute() else Path(text).name] = digest(raw)
        reading = nodrop.read_back(artifacts, fabric, f"{output}/{top}".rstrip("/"))
        verdict = judge(reading, rules, strictness=strictness)
        crashed = crashed or bool(verdict.problems)
        outcomes.append(outcome_of(reading, verdict, whole(formats, verbose)))
    wrong: tuple[Problem, ...] = tuple(problems)
    outcome = merged([*outcomes, Outcome(devices=0, interfaces=0, rules=0, problems=wrong)])
    emit(outcome, formats, color, verbose)
    code = exit_code(outcome, fail_on, crashed=crashed)
    if problems or crashed:
        click.echo(f"{output} is unchanged", err=True)
        return code
    if check_only:
        return _check(output, files) or code
    if reaches(outcome, fail_on) and not write_anyway:
        click.echo(f"{output} is unchanged, for findings reach --fail-on; --write-anyway writes it", err=True)
        return FOUND
    _publish(output, files, inputs)
    return code


def _publish(output: str, files: dict[str, bytes], inputs: dict[str, str]) -> None:
    from nodrop.publish import publish

    done: Published = publish(Path(output), files, inputs=inputs, display=output)
    devices = len({name.rpartition("/")[0] for name in files if "/" in name})
    parts = [f"{len(done.written)} written", f"{len(done.unchanged)} unchanged"]
    parts += [f"{len(done.removed)} removed"] if done.removed else []
    click.echo(f"{output}: {devices} devices, {len(files)} files ({', '.join(parts)})", err=True)


def _check(output: str, files: dict[str, bytes]) -> int:
    from nodrop.cli.main import FOUND
    from nodrop.publish import check

    drifts: tuple[Drift, ...] = check(Path(output), files, display=output)
    for drift in drifts:
        line = "" if drift.line is None else f":{drift.line}"
        words = {"missing": "is missing", "differs": "differs from the build", "unexpected": "is not of the build"}
        click.echo(f"drift: {output}/{drift.path}{line}: {words[drift.kind]}", err=True)
    if not drifts:
        click.echo(f"{output}: {len(files)} files are what the intents say", err=True)
    return FOUND if drifts else 0
