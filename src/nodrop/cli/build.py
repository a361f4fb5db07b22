"""`nodrop build`: intents become configurations, which are read back and linted before anything is replaced."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import Choices, judging

if TYPE_CHECKING:
    from nodrop.intent.schema import Intent
    from nodrop.report.outcome import Outcome


@click.command()
@click.argument("intents", nargs=-1, required=True, metavar="INTENT...")
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="Folder to write; replaced as a whole or not at all."
)
@click.option(
    "--check", "check_only", is_flag=True, help="Write nothing; exit 1 where DIR is not what would be written."
)
@click.option("--write-anyway", is_flag=True, help="Write although findings reach --fail-on.")
@judging
def command(intents: tuple[str, ...], output: str, check_only: bool, write_anyway: bool, choices: Choices) -> int:
    """Build intents into configurations.

    DIR gets one folder per device, or per fabric and device where there are several intents, and a fabric.yaml.

    What is linted is the text that was rendered, never the intent. DIR is replaced in one step; anything in it that
    an earlier build did not write is refused, never deleted.
    """
    from nodrop.cli.main import FAILED, WRONG
    from nodrop.cli.output import calm_collector, emit, exit_code, merged, reaches, tell

    if not output:
        raise click.UsageError("--output is empty; expected a folder")
    calm_collector()
    output = output.rstrip("/") or "/"
    made = _made(intents, output, choices)
    outcome = merged(made.outcomes)
    emit(outcome, choices)
    code = exit_code(outcome, choices.fail_on)
    if code in (FAILED, WRONG):
        tell(f"nothing was written to {output}")
    elif check_only:
        return _check(output, made) or code
    elif reaches(outcome, choices.fail_on) and not write_anyway:
        tell(f"nothing was written to {output}: findings reach --fail-on {choices.fail_on} (--write-anyway writes it)")
    else:
        _publish(output, made)
    return code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What the intents come to: files by their paths below DIR, the digest of each intent, and what is wrong."""

    files: dict[str, bytes] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    outcomes: "list[Outcome]" = field(default_factory=list)


def _made(intents: tuple[str, ...], output: str, choices: Choices) -> _Made:
    """Build, write and lint every intent, each by itself; nothing touches the disk."""
    from nodrop.cli.judging import built, chosen_rules, collecting, judged
    from nodrop.publish import digest

    rules = chosen_rules(choices)
    made, names = _Made(), dict[str, str]()
    for path in intents:
        with collecting(made.outcomes):
            raw, intent = _loaded(path, names)
            top = f"{intent.fabric}/" if len(intents) > 1 else ""
            artifacts, reading = built(intent, path, f"{output}/{top}".rstrip("/"))
            for one in artifacts:
                name = f"{one.device}/{one.path}" if one.device else one.path
                made.files[top + name] = one.text.encode()
            made.inputs[Path(path).name if Path(path).is_absolute() else path] = digest(raw)
            made.outcomes.append(judged(reading, rules, choices))
    return made


def _loaded(path: str, names: dict[str, str]) -> "tuple[bytes, Intent]":
    """Read an intent; its fabric must not have the name of an earlier one's, by which folders are called."""
    from nodrop.cli.judging import intent_of
    from nodrop.errors import InputProblems
    from nodrop.inputs import named

    raw, intent = intent_of(named(path))
    if intent.fabric in names:
        found = f"{intent.fabric}, which is the name of the fabric of {names[intent.fabric]} too"
        raise InputProblems([intent.problem(("fabric",), found, "a name for each fabric")])
    names[intent.fabric] = path
    return raw, intent


def _publish(output: str, made: _Made) -> None:
    from nodrop.cli.output import tell
    from nodrop.publish import publish

    done = publish(Path(output), made.files, inputs=made.inputs, display=output)
    devices = len({name.rpartition("/")[0] for name in made.files if not name.endswith("fabric.yaml")})
    parts = [f"{len(done.written)} written", f"{len(done.unchanged)} unchanged"]
    parts += [f"{len(done.removed)} removed"] if done.removed else []
    tell(f"{output}: {devices} devices, {len(made.files)} files ({', '.join(parts)})")


def _check(output: str, made: _Made) -> int:
    """Tell how DIR differs from what would be written, and return the exit code."""
    from nodrop.cli.main import FOUND
    from nodrop.cli.output import tell
    from nodrop.publish import check

    words = {"missing": "is missing", "differs": "differs from the build", "unexpected": "is not of the build"}
    drifts = check(Path(output), made.files, display=output)
    for drift in drifts:
        line = "" if drift.line is None else f":{drift.line}"
        tell(f"drift: {output}/{drift.path}{line}: {words[drift.kind]}")
    if not drifts:
        tell(f"{output}: {len(made.files)} files are what the intents say")
    return FOUND if drifts else 0
