"""From outcomes to reports and an exit code."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.main import FAILED, FOUND, NOTHING, WRONG

if TYPE_CHECKING:
    from nodrop.fabric.reading import Reading
    from nodrop.lint.finding import Verdict
    from nodrop.lint.rule import Rule
    from nodrop.report.outcome import Outcome

Formats = Sequence[tuple[str, str | None]]
_RANK = {"note": 1, "warning": 2, "error": 3}
_NEEDED = {"error": 3, "warning": 2, "unknown": 2, "note": 1, "never": 4}


def calm_collector() -> None:
    """Let the garbage collector look seldom: a fabric is a million objects without cycles that all stay."""
    import gc

    gc.freeze()
    gc.set_threshold(200_000, 50, 50)


def wants_color(choice: str) -> bool:
    """Whether to color standard output: NO_COLOR and FORCE_COLOR decide for `auto`, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def chosen_rules(select: Iterable[str], ignore: Iterable[str]) -> "tuple[Rule, ...]":
    """Return the shipped rules that were selected and not ignored; an unknown word is a usage error."""
    from nodrop.hardware import nearest
    from nodrop.lint.rules import shipped

    rules = shipped()
    words = {rule.name for rule in rules} | {rule.area for rule in rules}

    def split(values: Iterable[str]) -> set[str]:
        named = {word.strip() for value in values for word in value.split(",") if word.strip()}
        for word in sorted(named - words):
            raise click.UsageError(f"no rule or area {word!r} ({nearest(word, tuple(sorted(words)))})")
        return named

    wanted, unwanted = split(select), split(ignore)
    return tuple(
        rule
        for rule in rules
        if (not wanted or rule.name in wanted or rule.area in wanted)
        and rule.name not in unwanted
        and rule.area not in unwanted
    )


def outcome_of(reading: "Reading", verdict: "Verdict", whole: bool) -> "Outcome":
    """Return an outcome with places: of every finding where `whole`, else of the first of each group."""
    from nodrop import platforms
    from nodrop.locate import locate
    from nodrop.report.outcome import Outcome, heads

    pointed = locate(verdict.findings, reading, platforms.where, only=None if whole else heads(verdict.findings))
    return Outcome.of(reading, verdict, findings=pointed.findings, notes=pointed.notes, line=pointed.line)


def merged(outcomes: Sequence["Outcome"]) -> "Outcome":
    """Return several outcomes as one."""
    from nodrop.report.outcome import Outcome

    if len(outcomes) == 1:
        return outcomes[0]

    def line(file: str, number: int) -> str | None:
        return next((text for one in outcomes if (text := one.line(file, number)) is not None), None)

    return Outcome(
        devices=sum(one.devices for one in outcomes),
        interfaces=sum(one.interfaces for one in outcomes),
        rules=max((one.rules for one in outcomes), default=0),
        findings=tuple(finding for one in outcomes for finding in one.findings),
        unknown=tuple(verdict for one in outcomes for verdict in one.unknown),
        notes=tuple(note for one in outcomes for note in one.notes),
        problems=tuple(problem for one in outcomes for problem in one.problems),
        assumed=tuple(fact for one in outcomes for fact in one.assumed),
        line=line,
    )


def emit(outcome: "Outcome", formats: Formats, color: str, verbose: bool) -> None:
    """Write the outcome in every format asked for."""
    for name, file in formats:
        if name == "json":
            from nodrop.report.json import render as render_json

            data = render_json(outcome)
        else:
            from nodrop.report.text import render as render_text

            colored = file is None and wants_color(color)
            data = render_text(outcome, color=colored, verbose=verbose).encode("utf-8", "backslashreplace")
        if file is None:
            click.get_binary_stream("stdout").write(data)
            click.get_binary_stream("stdout").flush()
        else:
            _write(Path(file), data)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def whole(formats: Formats, verbose: bool) -> bool:
    """Whether any report lists every finding with its place."""
    return verbose or any(name == "json" for name, _ in formats)


def reaches(outcome: "Outcome", fail_on: str) -> bool:
    """Whether a finding, or an unknown verdict where that was asked for, reaches the threshold."""
    if fail_on == "unknown" and outcome.unknown:
        return True
    return any(_RANK[finding.severity] >= _NEEDED[fail_on] for finding in outcome.findings)


def exit_code(outcome: "Outcome", fail_on: str, *, crashed: bool = False, nothing: bool = False) -> int:
    """Return the exit code of contract 9.15: 70 > 2 > 1 > 3 > 0."""
    if crashed:
        return FAILED
    if outcome.problems:
        return WRONG
    if reaches(outcome, fail_on):
        return FOUND
    return NOTHING if nothing else 0
